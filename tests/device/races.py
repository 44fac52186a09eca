"""Times on a device, beside PyTorch's. Each race returns its figures."""

import importlib.util
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from contest import contest
from facebench import detection, embedding, images, losses, nn, timing
from facebench._onnx import sessions
from mtcnn_pictures import face

# Name, side of the images (None: its own), batch.
STEPS = [
    ("mobilefacenet", None, 256),
    ("resnet50", 224, 64),
    ("iresnet18", None, 128),
    ("iresnet100", None, 64),
    ("iresnet50", None, 128),  # also compiled, which may take what is left of the time
]
# Whose embeddings are timed with a batch of 64.
TEN = (
    *("mobilefacenet", "iresnet18", "iresnet50", "iresnet100", "inception_resnet_v1"),
    *("lightcnn29", "resnet50", "sphereface64", "vgg16", "vit_b"),
)
CLASSES = (85_742, 360_232, 2_000_000)


def wait(device):
    if device.startswith("cuda"):
        torch.cuda.synchronize()


def seconds(call, device, times):
    """The median of so many calls, after two."""
    found = []
    for _ in range(times + 2):
        wait(device)
        started = time.perf_counter()
        call()
        wait(device)
        found.append(time.perf_counter() - started)
    return statistics.median(found[2:])


def race_mtcnn(device, dry):
    """Images a second of MTCNN from JPEG files, beside facenet-pytorch where it is: what it finds
    in the same photographs of 250 x 250, one after the other, and 64 at once where it can."""
    options = {} if dry else {"device": device}
    ours = detection.make_detector("mtcnn", mode="facenet_pytorch", **options)
    count = 2 if dry else 1024
    with tempfile.TemporaryDirectory() as folder:
        drawn = [images.encode_jpeg(face(i, size=250).image, 90) for i in range(min(count, 64))]
        for i in range(count):
            (Path(folder) / f"{i}.jpg").write_bytes(drawn[i % len(drawn)])

        def run():
            return detection.detect_files(folder, ours)

        result = {"images_per_second": count / seconds(run, device, 1 if dry else 3)}
        if importlib.util.find_spec("facenet_pytorch") is None:
            return result | {"facenet_pytorch": "not installed"}
        from facenet_pytorch import MTCNN

        theirs = MTCNN(keep_all=True, device=device)
        some = sorted(Path(folder).iterdir())[: 2 if dry else 128]

        def peer():
            for begin in range(0, len(some), 64):
                theirs.detect([images.read(path) for path in some[begin : begin + 64]])

        return result | {"facenet_pytorch": len(some) / seconds(peer, device, 1 if dry else 3)}


def race_steps(device, dry):
    """Milliseconds of a training step: mixed precision and float32, NHWC, 10,575 classes."""
    for precision in ("bfloat16", "float32"):
        for name, side, batch in [("small4", 32, 4)] if dry else STEPS:
            engines = ("facebench", "pytorch", "pytorch-compiled")
            yield from contest(
                name,
                4 if dry else batch,
                engines[: 3 if name == "iresnet50" else 2],
                mode="training",
                precision=precision,
                device=device,
                classes=100 if dry else 10_575,
                times=(1, 1) if dry else (3, 5),
                **({} if side is None else {"height": side, "width": side}),
            )


def race_heads(device, dry):
    """Milliseconds and memory of ArcFace with its update, batch 128 of 512 dimensions."""
    for classes in (1000,) if dry else CLASSES:
        x = torch.randn(128, 512, device=device)
        y = torch.randint(0, classes, (128,), device=device)

        head = losses.make_head("arcface", features=512, classes=classes).to(device)

        def ours(features, head=head, y=y):
            return head(features, y)[0]

        weight = torch.nn.Parameter(head.weight.detach().clone())

        def plain(features, weight=weight, y=y):
            unit = torch.nn.functional.normalize
            cosine = torch.nn.functional.linear(unit(features), unit(weight)).clamp(-1, 1)
            target = (cosine.gather(1, y[:, None]).acos() + 0.5).cos()
            return torch.nn.functional.cross_entropy(64 * cosine.scatter(1, y[:, None], target), y)

        row = {"classes": classes}
        for name, loss_of, own in (("facebench", ours, head.weight), ("pytorch", plain, weight)):
            optimizer = torch.optim.SGD([own], lr=0.01, momentum=0.9, fused=True)

            def step(loss_of=loss_of, optimizer=optimizer, x=x):
                optimizer.zero_grad()
                loss_of(x.clone().requires_grad_(True)).backward()
                optimizer.step()

            if not dry:
                torch.cuda.reset_peak_memory_stats()
            row[name] = 1000 * seconds(step, device, 1 if dry else 10)
            if not dry:
                row[f"{name}_mb"] = torch.cuda.max_memory_allocated() / 1e6
            own.grad = None
        yield row


def race_embedding(device, dry):
    """Milliseconds and memory of embedding a batch: a ladder of batches beside other engines, and
    ten networks beside PyTorch."""
    how = {"mode": "inference", "device": device, "times": (1, 1) if dry else (3, 10)}
    for precision in ("bfloat16", "float32"):
        for batch in (1, 4) if dry else (1, 8, 64, 256):
            engines = ["facebench", "pytorch", "onnxruntime"]
            if batch == 64:
                engines.append("pytorch-compiled")
            name = "small4" if dry else "iresnet50"
            yield from contest(
                name, batch, engines[: 2 if dry else None], precision=precision, **how
            )
        for name in () if dry else TEN:
            yield from contest(name, 64, ("facebench", "pytorch"), precision=precision, **how)


def race_graph(device, dry):
    """Milliseconds of a network's forward pass, eager and replayed as a CUDA graph."""
    if dry:
        return
    for name, batch in (("mobilefacenet", 64), ("mobilefacenet", 256), ("iresnet50", 1)):
        network = nn.build_network(name)
        network.to(torch.device(device), torch.bfloat16)
        network.channels_last()
        network.eval()
        pixels = torch.zeros(batch, 3, 112, 112, device=device, dtype=torch.bfloat16)
        pixels = pixels.contiguous(memory_format=torch.channels_last)
        with torch.inference_mode():
            eager = seconds(lambda call=network, x=pixels: call(x), device, 10)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                network(pixels)
        replayed = seconds(graph.replay, device, 10)
        yield {"network": name, "batch": batch, "eager": 1000 * eager, "graph": 1000 * replayed}


def race_crops(device, dry):
    """Images a second from crops in memory to embeddings, as `facebench embed` makes them."""
    for name in ("small4",) if dry else ("mobilefacenet", "iresnet50"):
        for precision in ("bfloat16", "float32"):
            for batch in (2,) if dry else (64, 128, 256):
                yield from_crops(name, batch, precision, device, dry)


def from_crops(name, batch, precision, device, dry):
    model = embedding.make_model(name)
    said, count = model.network_options, 4 if dry else 4096
    random = np.random.default_rng(0)
    crops = random.integers(0, 256, (count, said.height, said.width, 3), np.uint8)
    how = embedding.ExtractOptions(
        device=device, executor="torch", precision=precision, micro_batch=batch
    )
    rate = count / seconds(lambda: embedding.extract(model, crops, how), device, 1 if dry else 3)
    return {"network": name, "precision": precision, "batch": batch, "images_per_second": rate}


def race_run(device, dry):
    """LFW's run from photographs: photographs a second, beside facenet-pytorch and ONNX Runtime on
    some of them where both are installed: detected, cut out and embedded one after the other."""
    from checks import lfw, network_of, run_of_lfw

    with tempfile.TemporaryDirectory() as folder:
        root, limit = lfw(folder, dry)
        model = network_of()
        run_of_lfw(model, root, device, 20)  # what the first one waits for is not timed
        started = time.perf_counter()
        count = run_of_lfw(model, root, device, limit).tracks["view2"].samples
        rate = count / (time.perf_counter() - started)
        yield {"chain": "facebench", "photographs": count, "images_per_second": rate}
        absent = [n for n in ("facenet_pytorch", "onnxruntime") if not importlib.util.find_spec(n)]
        if absent or not (device == "cpu" or sessions.has_cuda()):
            why = f"not installed: {', '.join(absent)}" if absent else "onnxruntime has no CUDA"
            yield {"chain": "other", "message": why}
            return
        embedding.export_onnx(model, f"{folder}/m.onnx")
        count = min(count, 256)
        rate = count / other_chain(root, f"{folder}/m.onnx", count, device)
        yield {"chain": "other", "photographs": count, "images_per_second": rate}


def other_chain(root, model, photographs, device):
    """Seconds of facenet-pytorch's detector and its crops through ONNX Runtime."""
    import onnxruntime
    from facenet_pytorch import MTCNN
    from PIL import Image

    card = None if device == "cpu" else torch.device(device).index or 0
    session = sessions.session(model, onnxruntime.SessionOptions(), card)
    detector = MTCNN(image_size=112, device=device)
    paths = sorted(root.rglob("*.jpg"))[:photographs]

    def crop_and_embed(path):
        crop = detector(Image.open(path))
        if crop is not None:
            session.run(None, {session.get_inputs()[0].name: crop[None].numpy()})

    crop_and_embed(paths[0])
    started = time.perf_counter()
    for path in paths:
        crop_and_embed(path)
    return time.perf_counter() - started


def race_processor(device, dry):
    """Where one thread of the processor spends its time in two networks: each is another kind."""
    for name in ("small4",) if dry else ("mobilefacenet", "resnet50"):
        measured = timing.bench_layers(name, threads=1, rounds=1 if dry else 9)
        yield {"network": name, "milliseconds": 1000 * measured["seconds"], **{
            key: measured[key] for key in ("limit", "machine", "rows")
        }}  # fmt: skip
