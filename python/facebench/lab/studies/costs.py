"""What a model costs: parameters, multiply-accumulates, images a second, memory."""

import contextlib
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

IMAGES = 64
ROUNDS = 5


def measure_cost(model, settings: dict, threads: int = 0) -> dict:
    """What embedding with a model costs, on crops of its size without detection.

    ``model``, ``settings``: as rows of a study have them. ``parameters`` and ``macs``
    (multiply-accumulates of convolutions and matrix products for one image, without mirroring) are
    None where the model does not show its network; ``images_per_second`` is the median of five
    rounds of 64 images, with ``slowest`` and ``fastest``; ``others`` is what other processes took
    of the processors meanwhile, ``busy`` whether more than 5 %; ``memory_bytes`` is how far the
    peak of a process of its own lies above what it took before loading, None for a Python object,
    measured in this process.
    """
    if not isinstance(model, (str, os.PathLike)):
        return _measure(model, settings, threads) | {"memory_bytes": None}
    work = {"model": os.fspath(model), "settings": settings, "threads": threads}
    path = os.pathsep.join(p or os.getcwd() for p in sys.path)
    done = subprocess.run(
        [sys.executable, "-P", "-m", "facebench.lab.studies.costs"],
        input=json.dumps(work, default=str),
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        return {"failed": f"the process that measured it ended with {done.returncode}"}
    return json.loads(done.stdout.splitlines()[-1])


def _measure(model, settings, threads):
    from facebench import embedding
    from facebench.embedding._foreign import PIXELS
    from facebench.lab.timing import ProcessMeter

    before = _memory("VmRSS")
    _forget_peak()
    pixels = {k: v for k, v in settings.items() if k in PIXELS}
    fields = embedding.ExtractOptions().to_dict()
    how = {k: v for k, v in settings.items() if k in fields}
    try:
        options = embedding.ExtractOptions(**how)
        embedder = embedding.load_embedder(model, options, **pixels)
        shape = (IMAGES, *_size(embedder, settings), 3)
        images = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
        embedding.extract(embedder, images, options, threads=threads, progress=False)
        meter = ProcessMeter()
        rates = [_rate(embedder, images, options, threads) for _ in range(ROUNDS)]
        used = meter.stop()
    except Exception as error:  # a model is somebody's code: whatever it raises
        return {"failed": f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"}
    parameters, macs = _size_of_network(embedder, model)
    return {
        "parameters": parameters,
        "macs": macs,
        "images_per_second": statistics.median(rates),
        "slowest": min(rates),
        "fastest": max(rates),
        "others": used["processors"]["others"],
        "busy": used["busy"],
        "memory_bytes": max(_memory("VmHWM") - before, 0),
    }


def _rate(embedder, images, options, threads):
    from facebench import embedding

    start = time.perf_counter()
    embedding.extract(embedder, images, options, threads=threads, progress=False)
    return len(images) / (time.perf_counter() - start)


def _memory(name) -> int:
    """A line of /proc/self/status in bytes: VmRSS (now), VmHWM (the peak)."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) * 1024
    return 0


def _forget_peak() -> None:
    """Makes the peak of this process begin anew (proc(5), clear_refs); what imports took before is
    no part of a model's memory."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _size(embedder, settings):
    size = settings.get("crop_size")
    if size is not None:
        width, height = size if isinstance(size, (tuple, list)) else (size, size)
        return height, width
    graph = getattr(getattr(embedder, "weights", None), "graph", None)
    if graph is not None:
        return tuple(graph.input_shape[1:])
    height, width = getattr(embedder, "_input", (0, 0))
    return height or 112, width or 112


def _size_of_network(embedder, model):
    graph = getattr(getattr(embedder, "weights", None), "graph", None)
    if graph is not None:
        return graph.count_parameters(), graph.count_macs()
    if isinstance(model, str) and model.endswith(".onnx"):
        return _onnx_size(Path(model))
    module = getattr(embedder, "_module", None)
    return (
        (sum(p.numel() for p in module.parameters()), None) if module is not None else (None, None)
    )


def _onnx_size(path):
    """Parameters, and multiply-accumulates for a batch of one, from the shapes of the graph."""
    try:
        import onnx
    except ImportError:
        return None, None
    model = onnx.shape_inference.infer_shapes(onnx.load(path, load_external_data=False))
    graph = model.graph
    weights = {w.name: list(w.dims) for w in graph.initializer}
    shapes = {
        v.name: [d.dim_value for d in v.type.tensor_type.shape.dim]
        for v in (*graph.input, *graph.value_info, *graph.output)
    }
    macs = 0
    for node in graph.node:
        if node.op_type not in ("Conv", "Gemm", "MatMul"):
            continue
        weight = next((weights[name] for name in node.input[1:2] if name in weights), None)
        if weight is None:
            return _count(weights), None
        # Of a convolution every weight is used at each place of its output, once for each image.
        places = shapes.get(node.output[0], [])[2:] if node.op_type == "Conv" else []
        if node.op_type == "Conv" and (len(places) != 2 or 0 in places):
            return _count(weights), None
        macs += int(np.prod(weight)) * int(np.prod(places))
    return _count(weights), macs


def _count(weights):
    return int(sum(np.prod(dims) for dims in weights.values()))


if __name__ == "__main__":  # the process of measure_cost()
    print(json.dumps(_measure(**json.load(sys.stdin))))
