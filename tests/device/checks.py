"""What a device computes against the processor. Each check takes the device ("cuda", or "cpu" in a
dry run) and whether it is one, returns what it measured, and raises AssertionError."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import facebench
import numpy as np
import torch
from contest import contest
from facebench import datasets, detection, embedding, losses, nn, training
from facebench._onnx import sessions

FEATURES, CLASSES, IMAGES = 64, 1001, 48
DATA = os.environ.get("FACEBENCH_DATA")


def largest_difference(a, b) -> float:
    """Relative to the largest value of b."""
    a, b = a.detach().double().cpu(), b.detach().double().cpu()
    return ((a - b).abs().max() / b.abs().max().clamp_min(1e-12)).item()


def head_step(head, features, labels):
    features = features.clone().requires_grad_(True)
    loss, _ = head(features, labels)
    loss.backward()
    gradients = [p.grad for p in head.parameters()]
    return [loss.reshape(1), features.grad, *gradients]


def check_losses(device, dry):
    """Every loss with its gradients, in float32 on the device and in float64 on the processor."""
    random = torch.Generator().manual_seed(1)
    features = torch.randn(IMAGES, FEATURES, generator=random)
    labels = torch.randint(0, CLASSES, (IMAGES,), generator=random)
    labels[1::2] = labels[::2]  # pairs, for the triplet loss
    found = {}
    for entry in losses.list_losses():
        name = entry["name"]
        options = {"margin": 2.0, "pick": "nearest"} if name == "triplet" else {}
        heads = [
            losses.make_head(name, features=FEATURES, classes=CLASSES, float64=wide, **options)
            for wide in (True, False)
        ]
        heads[0].load_state_dict(heads[1].state_dict())
        exact = head_step(heads[0], features.double(), labels)
        ours = head_step(heads[1].to(device), features.to(device), labels.to(device))
        found[name] = max(largest_difference(a, b) for a, b in zip(ours, exact, strict=True))
        assert found[name] < 2e-3, f"{name}: {found[name]:.2g} from float64"
    return found


def check_networks(device, dry):
    """Embedding of every network, float32 against float64, and its first layer's gradient: loosely,
    by its norm, for where two inputs of a maximum are alike rounding decides where it flows."""
    return check_some_networks(["small4"] if dry else network_names()[::2], device)


def check_more_networks(device, dry):
    """The other half of them, which takes as long."""
    return check_some_networks(["sphereface4"] if dry else network_names()[1::2], device)


def network_names():
    return [entry["name"] for entry in nn.list_networks()]


def check_some_networks(names, device):
    random = torch.Generator().manual_seed(2)
    found, failed = {}, {}
    for name in names:
        network = nn.build_network(name)
        shape = network.graph.nodes[0]["shape"]
        images = torch.randn(2, *shape, generator=random)
        if network.graph.vocabulary:
            images = torch.randint(network.graph.vocabulary, (2, *shape), generator=random)
        try:
            found[name] = apart = from_exact(network, images, device)
        except RuntimeError as error:
            failed[name] = str(error)[:300]
            continue
        if not (apart["embedding"] < 1e-4 and apart["gradient"] < 0.15):
            failed[name] = apart
    assert not failed, failed
    return found


def from_exact(network, images, device):
    """How far float32 on the device lies from float64 on the processor."""
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
    results = []
    for where, dtype in (("cpu", torch.float64), (device, torch.float32)):
        # Batch norm of two images would amplify rounding: its running statistics are used. An LSTM
        # has a gradient on a card while it trains alone.
        moved = network.clone().train(bool(network.graph.vocabulary))
        moved.to(torch.device(where), dtype)
        output = moved(images.to(where, dtype if images.is_floating_point() else None))
        output.square().mean().backward()
        first = next(p.grad for _, p in moved.named_parameters() if p.grad is not None)
        results.append((output, first.double().cpu()))
    (wanted, wanted_gradient), (output, gradient) = results
    return {
        "embedding": largest_difference(output, wanted),
        "gradient": ((gradient - wanted_gradient).norm() / wanted_gradient.norm()).item(),
    }


def check_embeddings(device, dry):
    """The embeddings of networks by torch on the device against our own inference."""
    random = np.random.default_rng(2)
    names = ["mobilefacenet", "iresnet50", "iresnet100", "inception_resnet_v1", "lightcnn29"]
    precisions = {"float32": 1e-4, "bfloat16": 0.1} | ({} if dry else {"tf32": 0.01})
    found = {}
    for name in ["small4"] if dry else [*names, "resnet50", "sphereface64", "vgg16", "vit_b"]:
        model = embedding.make_model(name)
        images = random.integers(0, 256, (4, *model_size(model), 3), np.uint8)
        wanted = embedding.extract(model, images).values
        for precision, tolerance in precisions.items():
            how = embedding.ExtractOptions(
                device=device, executor="torch", precision=precision, micro_batch=4
            )
            case = f"{name} {precision}"
            found[case] = largest_in_embeddings(case, model, images, how, wanted, tolerance)
    return found


def largest_in_embeddings(case, model, images, how, wanted, tolerance) -> float:
    twice = [embedding.extract(model, images, how).values for _ in range(2)]
    assert np.array_equal(*twice), f"{case}: other bits the second time"
    worst = float(np.abs(twice[0] - wanted).max())
    assert worst < tolerance, f"{case}: {worst:.2g} from the processor"
    return worst


def check_onnx(device, dry):
    """The embeddings of ONNX files by ONNX Runtime on the device against our own inference."""
    installed = find_spec("onnx") and find_spec("onnxruntime")
    if not installed or not (dry or sessions.has_cuda()):
        return {"left out": "needs onnx, and an onnxruntime with CUDA"}
    random = np.random.default_rng(3)
    found = {}
    precisions = {"float32": 1e-4} | ({} if dry else {"tf32": 0.01})
    for name in ["small4"] if dry else ["mobilefacenet", "iresnet50", "inception_resnet_v1"]:
        model = embedding.make_model(name)
        images = random.integers(0, 256, (4, *model_size(model), 3), np.uint8)
        wanted = embedding.extract(model, images).values
        with tempfile.TemporaryDirectory() as folder:
            embedding.export_onnx(model, f"{folder}/m.onnx")
            for precision, tolerance in precisions.items():
                how = embedding.ExtractOptions(device=device, precision=precision, micro_batch=4)
                theirs = embedding.load_embedder(f"{folder}/m.onnx", how)
                assert isinstance(theirs, embedding.OnnxEmbedder)
                case = f"{name} {precision}"
                found[case] = largest_in_embeddings(case, theirs, images, how, wanted, tolerance)
    return found


def model_size(model):
    said = model.network_options
    return said.height, said.width


def check_mtcnn(device, dry):
    """The faces of the processor to the bit, in both modes."""
    from mtcnn_pictures import pictures

    faces = 0
    options = {} if dry else {"device": device}
    for mode in ("facenet", "facenet_pytorch"):
        ours = detection.make_detector("mtcnn", mode=mode, **options)
        exact = detection.make_detector("mtcnn", mode=mode)
        for name, picture in list(pictures().items())[: 2 if dry else None]:
            a, b = (detection.detect(picture, detector) for detector in (ours, exact))
            assert len(a) == len(b), f"{mode}, {name}: {len(a)} faces, {len(b)} on the processor"
            for x, y in zip(a, b, strict=True):
                for value in ("box", "score", "landmarks"):
                    np.testing.assert_array_equal(
                        getattr(x, value), getattr(y, value), f"{mode}, {name}: {value}"
                    )
            faces += len(a)
    return {"faces": faces}


def lfw(folder, dry):
    """Where LFW is, else drawn faces in its layout; and how many comparisons are run of it."""
    if DATA and not dry:
        return Path(DATA) / "lfw", None
    options = datasets.SyntheticOptions(people=20, images=2, size=64)
    datasets.write_synthetic_dataset(options, Path(folder) / "faces")
    return Path(folder) / "faces", 40


def network_of():
    """The given MobileFaceNet where it is, else a small network with drawn weights."""
    if DATA:
        given = Path(DATA) / "weights/mobilefacenet/mobilefacenet.pt"
        return embedding.convert(given, network="mobilefacenet")
    return embedding.make_model("small4", height=112, width=112)


def run_of_lfw(model, root, device, limit):
    options = {} if device == "cpu" else {"detector_options": {"device": device}}
    how = {"device": device, "executor": "torch", "limit": limit, "interval": "none"}
    return facebench.run("lfw", model=model, root=root, **how, **options)


def check_run(device, dry):
    """LFW's run on the device, detector too: the processor's scores to 1e-4, its accuracy."""
    with tempfile.TemporaryDirectory() as folder:
        root, limit = lfw(folder, dry)
        ours, exact = (
            run_of_lfw(network_of(), root, where, limit).tracks["view2"]
            for where in (device, "cpu")
        )
    accuracy = [track["accuracy"].value for track in (ours, exact)]
    found = {
        "largest_difference": float(np.abs(ours.scores - exact.scores).max()),
        "differ_by_1e-4": int((np.abs(ours.scores - exact.scores) > 1e-4).sum()),
        "comparisons": len(ours.scores),
        "accuracy": accuracy,
        "failed": [len(ours.failed), len(exact.failed)],
    }
    assert found["largest_difference"] <= 1e-4, found
    assert len(set(accuracy)) == len(set(found["failed"])) == 1, found
    return found


def check_sanitizer(device, dry):
    """The detector's kernels under compute-sanitizer, where it is: memory, and races of blocks."""
    options = "" if dry else f", device='{device}'"
    code = (
        "from facebench import detection; from mtcnn_pictures import pictures; "
        f"detector = detection.make_detector('mtcnn', mode='facenet_pytorch'{options}); "
        "print(sum(len(detection.detect(p, detector)) for p in list(pictures().values())[:2]))"
    )
    tools = ("memcheck", "racecheck") if not dry and shutil.which("compute-sanitizer") else ("",)
    for tool in tools:
        before = ["compute-sanitizer", "--tool", tool, "--error-exitcode", "9"] if tool else []
        where = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        command = [*before, sys.executable, "-c", code]
        done = subprocess.run(command, env=where, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{tool}: {done.stdout[-1000:]}{done.stderr[-1000:]}"
    return {"tools": [tool or "none: compute-sanitizer is not run" for tool in tools]}


def train(out, device, steps, **more):
    random = np.random.default_rng(0)
    labels = np.arange(64) % 8
    pixels = 25 * labels[:, None, None, None] + random.integers(0, 40, (64, 32, 32, 3))
    settings = {"network": "sphereface4", "embedding": 32, "batch": 16, "lr": 0.01}
    recipe = training.load_recipe("small4.cosface", **settings, iterations=steps)
    images = (pixels.astype(np.uint8), labels)
    run = {"threads": 1, "log_every": 1, "checkpoint_every": 5, "deterministic": True}
    training.train(recipe, images, out, device=device, **run, **more)
    lines = (Path(out) / "log.jsonl").read_text().splitlines()
    return [json.loads(line)["loss"] for line in lines]


def check_training(device, dry):
    """The processor's losses over 50 steps to 1e-3, and a resume to the bit."""
    steps = 10 if dry else 50
    with tempfile.TemporaryDirectory() as folder:
        curves = [
            train(f"{folder}/{where}", where, steps) for where in dict.fromkeys(["cpu", device])
        ]
        worst = float(np.abs(np.subtract(curves[0], curves[-1])).max())
        assert worst < 1e-3, f"losses differ by {worst:.2g}"
        run = Path(folder) / device
        whole = (run / "model.safetensors").read_bytes()
        (run / "model.safetensors").unlink()
        sorted((run / "checkpoints").iterdir())[-1].unlink()
        train(run, device, steps, resume=True)
        assert (run / "model.safetensors").read_bytes() == whole, "a resume gave other bytes"
    return {"largest_difference": worst}


def check_graph(device, dry):
    """A step recorded as a CUDA graph gives the losses of the step itself."""
    if dry:
        return {"left out": "graphs are CUDA's"}
    random = torch.Generator().manual_seed(3)
    images = torch.randn(8, 3, 32, 32, generator=random).to(device)
    labels = torch.randint(0, 16, (8,), generator=random).to(device)

    def parts():
        network = nn.build_network("small4", height=32, width=32)
        network.to(torch.device(device), torch.float32)
        features = network.graph.taps["embedding"][0]
        head = losses.make_head("arcface", features=features, classes=16).to(device)
        parameters = [*network.parameters(), *head.parameters()]
        return network, head, torch.optim.SGD(parameters, lr=0.01)

    def step(network, head, optimizer):
        optimizer.zero_grad()
        loss, _ = head(network(images), labels)
        loss.backward()
        optimizer.step()
        return loss

    eager, recorded = parts(), parts()
    wanted = [step(*eager).item() for _ in range(8)]
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        found = [step(*recorded).item() for _ in range(3)]
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = step(*recorded)
    for _ in range(5):
        graph.replay()
        found.append(loss.item())
    np.testing.assert_allclose(found, wanted, rtol=1e-3)
    return {"losses": found}


def check_compiled_inference(device, dry):
    """What torch.compile makes of a network gives our outputs. What it compiled is kept by torch,
    so that the races need not wait for it."""
    return compiled(64, "inference", device, dry)


def check_compiled_training(device, dry):
    """The same of training steps, by their losses."""
    return compiled(128, "training", device, dry)


def compiled(batch, mode, device, dry):
    if dry:
        return {"left out": "compiled for cards"}
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "2"  # other checks want processors, too
    found = {}
    for precision in ("float32", "bfloat16"):
        how = {"mode": mode, "precision": precision, "device": device, "classes": 10_575}
        (row,) = contest("iresnet50", batch, ("pytorch-compiled",), times=(0, 0), **how)
        assert "message" not in row, row["message"]
        found[precision] = row["difference"]
    return found
