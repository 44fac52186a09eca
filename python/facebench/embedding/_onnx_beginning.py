"""What an ONNX graph does to its input before its first layer, cut out as a file of its own."""

import math
from dataclasses import dataclass, field

import numpy as np

from facebench._onnx import file as onnx_file
from facebench.embedding import _onnx_writing
from facebench.embedding._pixel_probes import SIDE

# What has weights, or nodes of its own: with it a network begins.
_LAYERS = {
    *("Attention", "Conv", "ConvInteger", "ConvTranspose", "DeformConv", "Einsum", "Gemm", "GRU"),
    *("LSTM", "MatMul", "MatMulInteger", "QLinearConv", "QLinearMatMul", "RNN"),
    *("If", "Loop", "Scan", "SequenceMap"),
}
# Weights of at most so many numbers, of one pixel: three colours become three.
MOST_COLOURS = 9
MOST_NODES = 200
MOST_BYTES = 1 << 26  # of constants
MOST_NUMBERS = 1 << 24  # of the images that go in together
FLOATS = {1: np.float32, 10: np.float16, 11: np.float64}


@dataclass
class Beginning:
    """The nodes before the first layers, as an ONNX file, and the names of their values."""

    file: bytes
    kind: int  # of the input's numbers, TensorProto.DataType
    shape: tuple[int, int, int, int]  # N, C, H, W
    last: bool = False  # whether its channels come last
    passed: list[str] = field(default_factory=list)
    read: list[str] = field(default_factory=list)
    norms: list[str] = field(default_factory=list)


def channels_last(sides, *channels) -> bool:
    """Whether an input is (N, H, W, C), of any of these numbers of channels. Sides that the file
    leaves open are 0 or None."""
    return len(sides) == 4 and sides[3] in channels and sides[1] not in channels


def cut(path, graph, nodes, tensors, sides=None) -> Beginning | None:
    """What stands before the first layers; None: nothing, or it is not one input, an image.
    ``sides``: of the input, where the caller knows more of them than the file says."""
    names = [name for name in graph.inputs if name not in tensors]
    if len(names) != 1:
        return None
    sides = sides or graph.inputs[names[0]]
    kind = graph.input_types.get(names[0], 0)
    if len(sides) != 4 or kind not in FLOATS:
        return None
    last = channels_last(sides, 1, 3)
    if last:
        sides = [sides[0], sides[3], sides[1], sides[2]]
    shape = (sides[0] or 1, sides[1] or 3, sides[2] or SIDE, sides[3] or SIDE)
    if shape[1] > 4 or math.prod(shape) > MOST_NUMBERS:
        return None
    return _Cut(path, nodes, tensors, names[0]).beginning(graph, kind, shape, last)


def _arranged(shape, last):
    images, channels, height, width = shape
    return (images, height, width, channels) if last else shape


class _Cut:
    def __init__(self, path, nodes, tensors, image):
        self._path, self._nodes, self._image = path, nodes, image
        self._tensors = dict(tensors)
        self._known = {*tensors, image, ""}  # values that are computed without a layer
        self._moving = {image}  # those of them that the input moves
        self._taken = []

    def beginning(self, graph, kind, shape, last) -> Beginning | None:
        found = Beginning(b"", kind, shape, last)
        ends = []
        for node in self._nodes:
            if not self._known.issuperset(node.inputs):
                found.read += [n for n in node.inputs if n in self._moving]
                continue
            inside = [n for n in node.inputs if n in self._moving]
            if inside and node.op == "BatchNormalization" and not node.domain:
                found.read += inside
                ends += self._norm(node)
            elif inside and self._is_layer(node):
                found.read += inside
            else:
                self._taken.append(node)
                self._known.update(node.outputs)
                value = node.attributes.get("value")
                if node.op == "Constant" and isinstance(value, np.ndarray):
                    self._tensors.update(dict.fromkeys(node.outputs, value))
                if inside:
                    outputs = [n for n in node.outputs if n]
                    self._moving.update(outputs)
                    found.passed += outputs if node.op != "Shape" else []
        if not found.passed and not ends:
            return None
        found.norms = [name for node in ends for name in node.outputs]
        # Numbers that are read by nothing end the network.
        consumed = {n for node in self._nodes for n in node.inputs}
        found.read += [n for n in found.passed if n not in consumed]
        found.read = [n for n in dict.fromkeys(found.read) if n != self._image]
        wanted = [*found.passed, *found.norms]
        nodes = onnx_file.needed([*self._taken, *ends], wanted)
        constants = self._constants(nodes)
        if constants is None or len(nodes) > MOST_NODES:
            return None
        found.file = _onnx_writing.model(
            [node.message for node in nodes],
            constants,
            [_onnx_writing.value(self._image, kind, _arranged(shape, last))],
            [_onnx_writing.field(1, name) for name in wanted],
            graph.ir_version,
            graph.opsets,
        )
        return found

    def _number_of(self, name) -> np.ndarray | None:
        """A constant, where it is small."""
        tensor = self._tensors.get(name)
        if isinstance(tensor, memoryview) and len(tensor) > 1 << 16:
            return None
        return None if tensor is None else onnx_file.tensor_of(self._path, tensor)

    def _is_layer(self, node) -> bool:
        if node.domain not in ("", "ai.onnx"):
            return True
        if node.op not in _LAYERS:
            return False
        weights = [self._number_of(n) for n in node.inputs if n not in self._moving][:1]
        if node.op not in ("Conv", "Gemm", "MatMul", "Einsum") or not weights:
            return True
        # Colours to colours: a swap, a factor for each, grey of them.
        (weight,) = weights
        return weight is None or weight.size > MOST_COLOURS or math.prod(weight.shape[2:]) != 1

    def _norm(self, node) -> list:
        """A batch norm as its statistics have it, without what was learned after it."""
        if len(node.inputs) != 5 or len(node.outputs) != 1:
            return []
        mean = self._number_of(node.inputs[3])
        if mean is None or mean.dtype not in _onnx_writing.TYPES or mean.ndim != 1:
            return []
        name = f"{node.outputs[0]}/statistics"
        learned = [f"{name}/scale", f"{name}/shift"]
        for learned_name, numbers in zip(learned, (np.ones_like(mean), 0 * mean), strict=True):
            self._tensors[learned_name] = numbers
        inputs = [node.inputs[0], *learned, *node.inputs[3:]]
        write = _onnx_writing.field
        message = b"".join([*(write(1, n) for n in inputs), write(2, name), write(4, node.op)])
        return [onnx_file.OnnxNode(node.op, name, "", inputs, [name], {}, memoryview(message))]

    def _constants(self, nodes) -> list[bytes] | None:
        """Messages of the tensors that nodes read; None where they are too large or not read."""
        computed = {name for node in nodes for name in node.outputs}
        used = {n for node in nodes for n in node.inputs if n in self._tensors} - computed
        messages, size = [], 0
        for name in sorted(used):
            tensor = self._tensors[name]
            size += len(tensor) if isinstance(tensor, memoryview) else tensor.nbytes
            if size > MOST_BYTES:
                return None
            if (numbers := onnx_file.tensor_of(self._path, tensor)) is not None:
                messages.append(_onnx_writing.tensor(name, numbers))
            elif onnx_file.lies_elsewhere(tensor):
                return None
            else:
                messages.append(bytes(tensor))
        return messages
