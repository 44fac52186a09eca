"""Embedding: our networks against ONNX Runtime and, where it is installed, OpenVINO, which run the
file that we export. Same weights and images, embeddings compared first. With --precisions instead
of them our own networks in lower precision."""

import functools
import importlib.util
import tempfile
from pathlib import Path

import harness
import numpy as np
from harness import Comparison, Contestant

# The network and the batches that it is measured with.
NETWORKS = {
    "mobilefacenet": (1, 8, 32),
    "iresnet18": (1, 8, 32),
    "iresnet50": (1, 8, 32),
    "iresnet100": (1, 8),
    "sphereface20": (1, 8, 32),
    "lightcnn29": (1, 8, 32),
    "resnet50": (1, 8, 32),
    "densenet121": (1, 8),
    "inception_v3": (1, 8),
    "googlenet": (1, 8, 32),
    "alexnet_v2": (1, 8, 32),
    "vgg16": (1, 8),
}
GOAL = 1.3


def images(network, batch):
    shape = (batch, *network.graph.input_shape)
    return np.random.default_rng(0).standard_normal(shape, dtype=np.float32)


def build(name):
    from facebench import nn

    network = nn.build_network(name, seed=1)
    network.eval()
    return network


def ours_setup(name, batch, folder, threads, precision="float32"):
    import torch
    from facebench import nn

    torch.set_num_threads(threads)
    network = build(name)
    x = torch.from_numpy(images(network, batch))
    ranges = nn.InferenceNetwork(network, 1).input_ranges(x[:1])[0] if precision == "int8" else {}
    return nn.InferenceNetwork(network, batch, precision, ranges), x


def ours(state):
    network, x = state
    return network.infer(x).numpy()


def onnx_setup(name, batch, folder, threads):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    path = str(Path(folder) / f"{name}.onnx")
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return session, images(build(name), batch)


def onnx(state):
    session, x = state
    return session.run(["embedding"], {"images": x})[0]


def openvino_setup(name, batch, folder, threads):
    import openvino

    core = openvino.Core()
    x = images(build(name), batch)
    model = core.read_model(str(Path(folder) / f"{name}.onnx"))
    model.reshape({"images": list(x.shape)})
    how = {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY"}
    # In float32, as the others; its default is bfloat16 where the processor has it.
    return core.compile_model(model, "CPU", {**how, "INFERENCE_PRECISION_HINT": "f32"}), x


def openvino(state):
    model, x = state
    return next(iter(model([x]).values()))


def same(mine, theirs, least=0.999998):
    mine, theirs = (v.reshape(len(v), -1).astype(np.float64) for v in (mine, theirs))
    norms = np.linalg.norm(mine, axis=1) * np.linalg.norm(theirs, axis=1)
    cosine = ((mine * theirs).sum(1) / norms).min()
    assert cosine > least, f"cosine {cosine:.8f}"


def race(name, settings):
    from facebench import nn

    network = build(name)
    results = []
    with tempfile.TemporaryDirectory() as folder:
        nn.export_onnx(network, Path(folder) / f"{name}.onnx")
        for batch in NETWORKS[name]:
            if settings.batches and batch not in settings.batches:
                continue

            def sized(setup, batch=batch):
                return functools.partial(setup, name, batch, folder)

            peers = [Contestant("ONNX Runtime", sized(onnx_setup), onnx)]
            if settings.precisions:
                peers = [
                    Contestant(
                        f"facebench {p}", sized(functools.partial(ours_setup, precision=p)), ours
                    )
                    for p in ("bfloat16", "int8")
                ]
            elif importlib.util.find_spec("openvino"):
                peers.append(
                    Contestant("OpenVINO", sized(openvino_setup), openvino, reference=True)
                )
            comparison = Comparison(
                f"{name}, batch {batch}",
                "images",
                batch,
                functools.partial(same, least=0.9) if settings.precisions else same,
                goal=None if settings.precisions else GOAL,
                limit=("fma", 2 * network.graph.count_macs()),
            )
            mine = Contestant("facebench", sized(ours_setup), ours)
            results.append(harness.compare(comparison, mine, peers, settings))
    return results


def batches(parser):
    parser.add_argument("--batches", type=int, nargs="*", help="those of the networks' batches")
    parser.add_argument("--precisions", action="store_true", help="ours in lower precision alone")


if __name__ == "__main__":
    races = {name: functools.partial(race, name) for name in NETWORKS}
    harness.main(races, batches)
