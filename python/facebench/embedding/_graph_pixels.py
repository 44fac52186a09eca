"""How an ONNX graph normalises its input: what stands before its first layer is run by ONNX Runtime
on images of one colour, and told by its numbers."""

import numpy as np

from facebench._onnx import file as onnx_file
from facebench._onnx import sessions
from facebench.core import Error
from facebench.embedding._onnx_beginning import FLOATS, cut
from facebench.embedding._pixel_probes import GraphPixels, normalisation, probes

MOST_VALUES = 1 << 23  # of an image, before the first layer


def graph_pixels(path, output=None) -> GraphPixels | None:
    """How the graph of an ONNX file normalises its input, up to ``output`` (default: the first),
    with whatever operations or a batch norm whose statistics are those of pixels, before its first
    layer. None: it does not, or it is not known: onnxruntime is absent, or does not run it."""
    try:
        graph, tensors = onnx_file.outline(path)
        nodes = onnx_file.needed(graph.nodes, [output or next(iter(graph.outputs), "")])
        return _asked(cut(path, graph, nodes, tensors))
    except Error:
        return None


def pixels_of_import(path, imported) -> GraphPixels | None:
    """The same of the nodes and tensors that an import has accepted, and no others."""
    file, sides = imported.file, [imported.batch, *imported.shape]
    return _asked(cut(path, file, imported.nodes, file.tensors, sides))


def _asked(beginning) -> GraphPixels | None:
    if beginning is None:
        return None
    try:
        import onnxruntime  # noqa: F401
    except ImportError:
        return None
    values = []
    try:
        session = sessions.session(beginning.file, sessions.quiet_options())
        name, images = session.get_inputs()[0].name, beginning.shape[0]
        for image in probes(*beginning.shape[1:]):
            batch = np.repeat(image, images, 0).astype(FLOATS[beginning.kind])
            if beginning.last:
                batch = batch.transpose(0, 2, 3, 1)
            out = session.run(None, {name: batch})
            values.append([v[:1] if np.shape(v)[:1] == (images,) else v for v in out])
            if sum(np.size(v) for v in values[-1]) > MOST_VALUES:
                return None
    except Exception:  # onnxruntime has no class that all of its errors share
        return None
    names = [*beginning.passed, *beginning.norms]
    by_name = dict(zip(names, zip(*values, strict=True), strict=True))
    return normalisation(
        *(
            [by_name[n] for n in part if n in by_name and _is_numbers(by_name[n])]
            for part in (beginning.passed, beginning.read, beginning.norms)
        )
    )


def _is_numbers(values) -> bool:
    """Whether they are floats, of one shape for every image."""
    return all(
        isinstance(v, np.ndarray) and v.dtype.kind == "f" and v.shape == values[0].shape
        for v in values
    )
