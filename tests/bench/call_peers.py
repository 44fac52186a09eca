"""Calls with few images, as a service, a notebook and `compare` make them: a model of ours beside
a session of ONNX Runtime that runs the file that we export. Both take the same bytes; the peer's
pixels are made by numpy. Embeddings compared first. --beside 2: on a busy machine.

    scripts/bench.sh call                     mobilefacenet, 1 and 8 images, idle
    scripts/bench.sh call --beside 2          the same beside two programs that compute all the time
    scripts/bench.sh call module --beside 2   a module of torch in extract(), beside torch alone
"""

import functools
import os
import tempfile
from pathlib import Path

import harness
import numpy as np
from harness import Comparison, Contestant

NETWORK, SIZE, CALLS = "mobilefacenet", 112, 50


def faces(batch):
    return np.random.default_rng(0).integers(0, 256, (batch, SIZE, SIZE, 3), np.uint8)


def ours_setup(batch, folder, threads):
    from facebench import embedding

    return embedding.load_embedder(Path(folder) / "m.safetensors"), faces(batch)


def ours(state):
    model, images = state
    for _ in range(CALLS):
        rows = model(images)
    return rows


def session_setup(batch, folder, threads):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    path = str(Path(folder) / "m.onnx")
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"]), faces(
        batch
    )


def session(state):
    runs, images = state
    for _ in range(CALLS):
        numbers = (images.transpose(0, 3, 1, 2).astype(np.float32) - 127.5) / 128
        rows = runs.run(None, {"images": numbers})[0]
    return rows


def same(mine, theirs):
    assert np.abs(mine - theirs).max() < 1e-4 * np.abs(theirs).max()


def calls(settings):
    from facebench import embedding

    results = []
    with tempfile.TemporaryDirectory() as folder:
        model = embedding.make_model(NETWORK, seed=1)
        model.save(Path(folder) / "m.safetensors")
        embedding.export_onnx(model, Path(folder) / "m.onnx")
        for batch in (1, 8):
            comparison = Comparison(
                f"{CALLS} calls of {NETWORK}, images {batch}", "images", CALLS * batch, same, goal=1
            )
            mine = Contestant("facebench", functools.partial(ours_setup, batch, folder), ours)
            peer = Contestant(
                "ONNX Runtime", functools.partial(session_setup, batch, folder), session
            )
            results.append(harness.compare(comparison, mine, [peer], settings))
    return results


def network():
    import torch
    import torchvision

    torch.manual_seed(0)
    return torchvision.models.mobilenet_v2(num_classes=128).eval()


def module_setup(threads):
    from facebench import embedding  # before torch: how long its threads wait is set

    model = embedding.load_embedder(network(), mean=127.5, std=128.0, color="rgb")
    return model, faces(8)


def module(state):
    from facebench import embedding

    model, images = state
    plain = embedding.ExtractOptions(normalization="none")
    return embedding.extract(model, images, plain).values


def alone_setup(threads):
    return network(), faces(8)


def alone(state):
    import torch

    net, images = state
    numbers = (torch.from_numpy(images).permute(0, 3, 1, 2).float() - 127.5) / 128
    with torch.inference_mode():
        return net(numbers).numpy()


def modules(settings):
    """What torch's threads cost as they wait here, and as they wait by themselves."""
    waits = ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")
    for name in waits:
        os.environ.pop(name, None)
    return harness.compare(
        Comparison("a module of torch, images 8", "images", 8, same),
        Contestant("facebench.extract", module_setup, module),
        [Contestant("torch", alone_setup, alone)],
        settings,
    )


if __name__ == "__main__":
    harness.main({"calls": calls, "module": modules})
