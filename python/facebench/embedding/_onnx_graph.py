"""The graph that an ONNX file becomes, while its nodes are read one after the other."""

import math
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from facebench._onnx.file import OnnxNode
from facebench.core import Error

# Numbers of a layer's result, and of all constants that nodes compute: a small file can join a
# value with itself until no memory holds it. Of all tensors: those made of one number count, too.
MOST_NUMBERS = 1 << 26
MOST_WEIGHTS = 1 << 30

# What a network is not told by.
ARRANGING = {"Cast", "Constant", "Expand", "Gather", "Identity", "Shape", "Squeeze", "Unsqueeze"}


def short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."


@dataclass
class Layer:
    """The result of a node of the graph."""

    index: int
    shape: tuple


@dataclass
class Padded(Layer):
    """The same with a border of zeros, which the next layer takes as its own."""

    pads: list


@dataclass
class Half(Layer):
    """The first or second half of its channels."""

    second: bool


@dataclass
class Column(Layer):
    """A vector with sides of 1 after it, to multiply an image with."""


@dataclass
class Length(Layer):
    """The lengths of its rows."""


@dataclass
class Unit(Layer):
    """It, divided by its length: only as the result of the whole."""


class GrowingGraph:
    """The graph's nodes and tensors, of the file's nodes one after the other. A method `_Name` of a
    derived class is ONNX's operation: its inputs are its arguments, its results are returned."""

    node: OnnxNode  # of the file, in work

    def __init__(self, path, shape, input_type=1):
        self.path = path
        self.input_type = input_type  # TensorProto.DataType
        self.nodes: list[dict] = [
            {"name": "input", "op": "input", "inputs": [], "shape": list(shape)}
        ]
        self.tensors: dict[str, np.ndarray] = {}
        self.names: set[str] = set()
        self.numbers = self.weights = 0  # of computed constants, and of tensors, so far
        self.values = self.work = 0  # numbers of layers, and multiply-adds, of an image, so far

    def run(self, node, values) -> list:
        """The results of the file's node, whose inputs are among the named ``values``."""
        self.node = node
        if node.domain not in ("", "ai.onnx"):
            self.refuse(f"is of the domain '{node.domain}'")
        named = node.op[:1].isupper()  # other methods are no operations
        operation = getattr(self, "_" + node.op, None) if named else None
        if operation is None:
            known = {n[1:] for n in dir(self) if n[:1] == "_" and n[1:2].isupper()}
            self.refuse(f"facebench computes {', '.join(sorted(known - ARRANGING))}")
        for name in node.inputs:
            if name and name not in values:
                self.refuse(f"nothing computes its input '{name}'")
        try:
            result = operation(*[values[name] if name else None for name in node.inputs])
        except (TypeError, ValueError, LookupError, ArithmeticError) as e:
            self.refuse(f"its inputs or attributes are not those of the operation ({e})")
        return result if isinstance(result, list) else [result]

    def refuse(self, why: str) -> NoReturn:
        name, op = short(self.node.name, 40), short(self.node.op, 30)
        raise Error(
            f"{self.path}: the node '{name}' is a {op}, which cannot be "
            f"converted: {short(why, 400)}. onnxruntime may still run the file as it is"
        )

    def _bounded(self, count, most=MOST_NUMBERS):
        if count > most:
            self.refuse(f"its result has {count} numbers, more than {most}")

    def _computed(self, count):
        """Counts the numbers of a constant before it is made."""
        self.numbers += count
        self._bounded(self.numbers)

    def _attribute(self, name, default=None):
        return self.node.attributes.get(name, default)

    def _layer(self, value) -> Layer:
        if type(value) is not Layer:
            self.refuse("its input is a constant, or of a kind that it is not known with")
        return value

    def _image(self, value) -> Layer:
        if len(self._layer(value).shape) != 3:
            self.refuse(f"its input is {value.shape}, no image")
        return value

    def _constant(self, value, what) -> np.ndarray:
        if not isinstance(value, np.ndarray):
            self.refuse(f"{what} is not a constant")
        return value

    def _integers(self, value, what) -> list[int]:
        """Of an attribute or an input."""
        if isinstance(value, np.ndarray):
            value = value.reshape(-1).tolist()
        if not isinstance(value, list) or not all(isinstance(v, int) for v in value):
            self.refuse(f"{what} is not a list of whole numbers")
        return value

    def _append(self, op, inputs, shape, options=None, tensors=None) -> Layer:
        """A layer with its tensors by the last part of their names; called as the file calls it,
        where that tells."""
        self._bounded(math.prod(shape))
        self.values += math.prod(shape)
        if op in ("conv", "linear"):
            self.work += math.prod(shape) * math.prod(np.shape(tensors["weight"])[1:])
        elif options and "kernel" in options:
            self.work += 16 * math.prod(shape) * math.prod(options["kernel"])  # which take longer
        stems = [n[:-7] for n in self.node.inputs if n.endswith(".weight")]
        name = stems[0] if stems and stems[0] not in self.names else f"{op}_{len(self.nodes)}"
        self.names.add(name)
        node = {"name": name, "op": op, "inputs": [i.index for i in inputs]}
        if options is not None:
            node["options"] = options
        self.nodes.append(node)
        for part, numbers in (tensors or {}).items():
            self.weights += np.size(numbers)
            self._bounded(self.weights, MOST_WEIGHTS)
            self.tensors[f"{name}.{part}"] = np.array(numbers, np.float32, order="C")
        return Layer(len(self.nodes) - 1, tuple(shape))
