"""Whether a converted ONNX file gives what ONNX Runtime gives, on three images of random pixels.

What runs there is not the file: it is written anew from the nodes and tensors that the import has
accepted, whose sizes are bounded, without functions, other outputs and what is not read.
"""

import math

import numpy as np

from facebench._onnx import sessions
from facebench.core import Error
from facebench.core._arguments import cut
from facebench.embedding import _onnx_writing
from facebench.embedding._onnx_writing import TYPES

IMAGES = 3
# Of the largest number of a row. What kernels round otherwise is below 1e-5; float16 has 11 bits.
LIMIT = {np.dtype("<f4"): 1e-4, np.dtype("<f2"): 2e-2}
# Beyond these a file is not run here: multiply-adds, and numbers of all layers, of an image.
MOST_WORK = 1 << 37
MOST_VALUES = 1 << 28
MOST_BYTES = 1_900_000_000  # of a message


def compare(path, imported, model) -> str:
    """What was found, as a sentence; facebench.Error where the model gives other numbers than
    ONNX Runtime. Where it is not installed, or cannot run the graph, that is the sentence."""
    try:
        import onnxruntime  # noqa: F401
    except ImportError:
        return (
            "not compared with onnxruntime, which is not installed: pip install onnxruntime. "
            "Whether it normalises its pixels itself was not asked either"
        )
    kind = next((dtype for dtype, n in TYPES.items() if n == imported.input_type), None)
    if kind is None or kind not in LIMIT:
        return f"not compared with onnxruntime: its input is of type {imported.input_type}"
    size = sum(t.nbytes for t in imported.file.tensors.values())
    if imported.work > MOST_WORK or imported.values > MOST_VALUES or size > MOST_BYTES:
        return "not compared with onnxruntime: the network is too large to be run for that"
    images = _images(model, imported.shape)
    try:
        session = sessions.session(_written(imported, kind), sessions.quiet_options())
        rows = _run(session, images.astype(kind), imported.batch)
    except Exception as e:  # onnxruntime has no class that all of its errors share
        return f"not compared with onnxruntime, which cannot run it: {cut(e).splitlines()[0]}"
    difference = _difference(rows, _ours(model, images), imported.unit)
    halves = kind.itemsize == 2 or any(t.dtype == "<f2" for t in imported.file.tensors.values())
    limit = LIMIT[np.dtype("<f2")] if halves else LIMIT[kind]
    if not difference <= limit:
        raise Error(
            f"{path}: its network gives other embeddings here than by onnxruntime: on three images "
            f"of random pixels they differ by {difference:.2g} of the largest number. A node means "
            "something else here; onnxruntime runs the file as it is"
        )
    return f"compared with onnxruntime on three inputs: largest difference {difference:.1e}"


def _images(model, shape) -> np.ndarray:
    """Pixels as the model's options turn them into numbers, (3, C, H, W)."""
    pixels = np.random.default_rng(0).integers(0, 256, (IMAGES, *shape), np.uint8)
    mean, std = (
        np.asarray(values, np.float32).reshape(-1, 1, 1)
        for values in (model.options.mean, model.options.std)
    )
    return ((pixels - mean) / std).astype(np.float32)


def _ours(model, images) -> np.ndarray:
    from facebench._library import full
    from facebench._torch import torch

    network = full.InferenceNetwork(model.weights)
    return network.infer(torch.from_numpy(images), model.options.tap).numpy().reshape(IMAGES, -1)


def _run(session, images, batch) -> np.ndarray:
    """Rows of the images; of a file for one number of images they are repeated to that."""
    name, step = session.get_inputs()[0].name, batch or 1
    rows = []
    for image in images:
        out = session.run(None, {name: np.repeat(image[None], step, 0)})[0]
        rows.append(np.asarray(out, np.float64).reshape(step, -1)[0])
    return np.stack(rows)


def _difference(theirs, ours, unit) -> float:
    if theirs.shape != ours.shape:
        return math.inf
    if unit:
        ours = ours / np.linalg.norm(ours, axis=1, keepdims=True).clip(1e-30)
    largest = np.abs(theirs).max(1).clip(1e-30)
    return float((np.abs(ours - theirs).max(1) / largest).max())


def _written(imported, kind) -> bytes:
    """The accepted graph as an ONNX file."""
    file = imported.file
    used = {name for node in imported.nodes for name in node.inputs}
    sides = (imported.batch or 1, *imported.shape)
    return _onnx_writing.model(
        [node.message for node in imported.nodes],
        [_onnx_writing.tensor(n, t) for n, t in file.tensors.items() if n in used],
        [_onnx_writing.value(imported.input, TYPES[kind], sides)],
        [_onnx_writing.field(1, imported.output)],  # of whatever type the last node gives
        file.ir_version,
        file.opsets,
    )
