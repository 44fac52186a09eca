"""Times on a device, beside PyTorch's. Each race returns its figures."""

import importlib.util
import statistics
import time

import numpy as np
import torch
from facebench import detection, embedding, images, losses, nn, timing

# Name, side of the images (None: its own), batch.
NETWORKS = [
    ("resnet50", 224, 64),
    ("iresnet18", None, 128),
    ("iresnet50", None, 128),
    ("iresnet100", None, 64),
    ("mobilefacenet", None, 256),
]
ENGINES = ("facebench", "pytorch", "pytorch-compiled")
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
    """Images a second of MTCNN from the bytes of JPEG files, beside facenet-pytorch where it is."""
    from mtcnn_pictures import face

    files = [images.encode_jpeg(face(i, size=250).image, 90) for i in range(2 if dry else 256)]
    options = {} if dry else {"device": device}
    ours = detection.make_detector("mtcnn", mode="facenet_pytorch", **options)

    def run():
        detection.detect([images.decode(f) for f in files], ours)

    result = {"images_per_second": len(files) / seconds(run, device, 1 if dry else 5)}
    if importlib.util.find_spec("facenet_pytorch") is None:
        return result | {"facenet_pytorch": "not installed"}
    from facenet_pytorch import MTCNN

    theirs = MTCNN(keep_all=True, device=device)

    def peer():
        theirs.detect([images.decode(f) for f in files])

    return result | {"facenet_pytorch": len(files) / seconds(peer, device, 1 if dry else 5)}


def race_steps(device, dry):
    """Milliseconds of a training step: float32 and mixed precision, NHWC."""
    rows = []
    for name, side, batch in [("small4", 32, 4)] if dry else NETWORKS:
        for precision in ("float32", "bfloat16"):
            result = timing.bench_step(
                name,
                batches=[4 if dry else batch],
                engines=("facebench",) if dry else ENGINES,
                iterations=2 if dry else 20,
                rounds=1 if dry else 2,
                skip=1 if dry else 5,
                limit=90.0,
                network_options={} if side is None else {"height": side, "width": side},
                device=device,
                precision=precision,
                loss="arcface",
                classes=100 if dry else 10_575,
            )
            for row in result["rows"]:
                kept = ("network", "batch", "engine", "status", "message", "milliseconds", "mean")
                rows.append({k: row[k] for k in kept if k in row} | {"precision": precision})
                assert row["engine"] != "facebench" or row["status"] == "ok", row
    return {"rows": rows}


def race_heads(device, dry):
    """Milliseconds and memory of ArcFace with its update, batch 128 of 512 dimensions."""
    rows = []
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
        rows.append(row)
    return {"rows": rows}


def race_embedding(device, dry):
    """Images a second through a network without gradients."""
    rows = []
    for name, batch in (("small4", 2),) if dry else (("iresnet50", 256), ("mobilefacenet", 512)):
        for dtype in (torch.float32, torch.bfloat16):
            network = nn.build_network(name).eval()
            shape = network.graph.nodes[0]["shape"]
            network.to(torch.device(device), dtype)
            batch_of = torch.randn(batch, *shape).to(device, dtype)

            def run(network=network, batch_of=batch_of):
                with torch.no_grad():
                    network(batch_of)

            rate = batch / seconds(run, device, 1 if dry else 20)
            rows.append({"network": name, "dtype": str(dtype), "images_per_second": rate})
        rows.append(from_crops(name, batch, device, dry))
    return {"rows": rows}


def from_crops(name, batch, device, dry):
    """The same from crops in memory to embeddings in memory, as `facebench embed` does it."""
    model = embedding.make_model(name)
    said, count = model.network_options, batch * (1 if dry else 16)
    random = np.random.default_rng(0)
    crops = random.integers(0, 256, (count, said.height, said.width, 3), np.uint8)
    how = embedding.ExtractOptions(device=device, executor="torch", micro_batch=batch)
    rate = count / seconds(lambda: embedding.extract(model, crops, how), device, 1 if dry else 3)
    return {"network": name, "from": "crops", "images_per_second": rate}
