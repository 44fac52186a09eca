"""ONNX networks as graphs of ours, for `facebench.convert`: the nodes of a file that its output
needs, in their order. What each becomes is in `_onnx_operations`."""

import json
import math
from dataclasses import dataclass

import numpy as np

from facebench._onnx import file as onnx_file
from facebench.core import Error
from facebench.core._arguments import brief, cut, of_kind
from facebench.embedding._onnx_beginning import channels_last
from facebench.embedding._onnx_graph import MOST_NUMBERS, Layer, Length, Unit, short
from facebench.embedding._onnx_operations import Operations
from facebench.embedding._outputs import one_number


@dataclass
class Imported:
    """What `facebench._full.imported_model` takes, and whether rows ended at unit length; beside
    it what was accepted of the file, and what it takes to compute it for an image."""

    graph: str
    tensors: dict[str, np.ndarray]
    unit: bool
    file: onnx_file.OnnxFile
    nodes: list[onnx_file.OnnxNode]
    input: str
    output: str
    shape: tuple[int, int, int]
    work: int  # multiply-adds
    values: int  # numbers of all layers

    @property
    def metadata(self) -> dict[str, str]:
        return self.file.metadata

    @property
    def input_type(self) -> int:
        return self.file.input_types.get(self.input, 0)

    @property
    def batch(self) -> int | None:
        """The number of images that the file is for; None: any."""
        return self.file.inputs[self.input][0]


def read(path, height: int | None = None, width: int | None = None, output: str | None = None):
    """The network of an ONNX file up to ``output`` (default: the first). facebench.Error names the
    node that cannot be computed."""
    file = onnx_file.read(path)
    inputs = [name for name in file.inputs if name not in file.tensors]
    if len(inputs) != 1 or not file.outputs:
        raise Error(f"{path}: has {len(inputs)} inputs and {len(file.outputs)} outputs, not one")
    of_kind(output, (str, type(None)), "output")
    if output is not None and output not in file.outputs:
        known = cut(", ".join(file.outputs))
        raise ValueError(f"{path} has no output {brief(output)!r}; it has {known}")
    shape = _input_shape(path, inputs[0], file.inputs[inputs[0]], height, width)
    operations = Operations(path, shape, file.input_types.get(inputs[0], 0))
    values = {**file.tensors, inputs[0]: Layer(0, shape)}
    named = output is not None
    output = output or file.outputs[0]
    nodes = onnx_file.needed(file.nodes, [output])
    try:
        for node in nodes:
            values.update(zip(node.outputs, operations.run(node, values), strict=False))
    except Error as e:
        if named or len(file.outputs) == 1:
            raise
        there = short(", ".join(file.outputs), 60)
        raise Error(
            f"{short(str(e), len(str(path)) + 250)}. It is needed for the first of the outputs "
            f"{there}; output= (--set output=NAME) names the embedding"
        ) from None
    last = values.get(output)
    if not named and (
        isinstance(last, Length) or (type(last) is Layer and math.prod(last.shape) == 1)
    ):
        raise Error(one_number(path, output, file.outputs, ", ".join))
    if not isinstance(last, Layer) or type(last) not in (Layer, Unit):
        raise Error(f"{path}: its output '{output}' is nothing that was computed")
    graph = {"nodes": operations.nodes, "taps": {"embedding": last.index}}
    try:
        text = json.dumps(graph, allow_nan=False)
    except ValueError:
        raise Error(f"{path}: an attribute of a node is not a finite number") from None
    parts = file, nodes, inputs[0], output, shape, operations.work, operations.values
    return Imported(text, operations.tensors, type(last) is Unit, *parts)


def _input_shape(path, name, sides, height, width):
    if channels_last(sides, 1, 3):
        raise Error(
            f"{path}: its input '{name}' has its channels last: {sides}. Such files are not "
            "converted; onnxruntime runs them as they are"
        )
    if len(sides) != 4 or sides[1] is None:
        raise Error(f"{path}: its input '{name}' is {sides}, expected (N, C, H, W)")
    shape = (sides[1], sides[2] or height, sides[3] or width)
    if None in shape:
        raise ValueError(f"{path}: takes images of any size; state height and width")
    if (height or shape[1], width or shape[2]) != shape[1:]:
        raise ValueError(f"{path}: takes images of {shape[1]} x {shape[2]}")
    if math.prod(shape) > MOST_NUMBERS:
        raise Error(f"{path}: its input is {shape}: more than {MOST_NUMBERS} numbers")
    return shape
