"""ONNX files as plain values, without the package onnx: nodes, tensors, inputs, outputs.

An ONNX file is a protobuf message. This reads the fields that describe a network's inference and
skips the others. Every length is checked against the bytes that are there. Numbers of fields:
https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
"""

import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain, count
from pathlib import Path

import numpy as np

from facebench.core import Error
from facebench.core._arguments import brief
from facebench.core._files import open_file, read_bytes
from facebench.io import sha256_file

MOST_ELEMENTS = 1 << 31  # of a tensor
MOST_SIDES = 16
MOST_NODES = 20_000
MOST_INTEGERS = 1 << 22  # of a list that keeps each by itself
LONGEST_NAME = 512

# TensorProto.DataType, and the field that holds its numbers where they are not raw bytes.
_TYPES: dict[int, tuple[np.dtype, int]] = {
    1: (np.dtype("<f4"), 4),
    6: (np.dtype("<i4"), 5),
    7: (np.dtype("<i8"), 7),
    9: (np.dtype("?"), 5),
    10: (np.dtype("<f2"), 5),
    11: (np.dtype("<f8"), 10),
}


class Malformed(ValueError):
    """The bytes are not a protobuf message, or not of ONNX."""


class Unread(Malformed):
    """A tensor of a type that this does not read."""


# Others of TensorProto.DataType, by the names that ONNX has for them.
_UNREAD = {
    **{2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 8: "string", 12: "uint32", 13: "uint64"},
    **{16: "bfloat16", 17: "float8e4m3fn", 21: "uint4", 22: "int4"},
}


@dataclass
class OnnxNode:
    op: str
    name: str
    domain: str
    inputs: list[str]
    outputs: list[str]
    attributes: dict
    message: memoryview = field(default=memoryview(b""), repr=False)  # the bytes it was read from


@dataclass
class OnnxFile:
    """The part of a file that inference needs."""

    nodes: list[OnnxNode] = field(default_factory=list)
    tensors: dict[str, np.ndarray] = field(default_factory=dict)
    inputs: dict[str, list] = field(default_factory=dict)  # name -> sides; None: not fixed
    outputs: list[str] = field(default_factory=list)
    metadata: dict[str, str] = field(default_factory=dict)
    input_types: dict[str, int] = field(default_factory=dict)  # TensorProto.DataType
    ir_version: int = 0
    opsets: dict[str, int] = field(default_factory=dict)  # by domain


@dataclass
class _Elsewhere:
    """A tensor whose numbers lie in a file beside it, as torch's exporter writes them."""

    dtype: np.dtype
    sides: list[int]
    place: dict[str, str]

    def read(self, path: Path, name: str) -> np.ndarray:
        size = math.prod(self.sides) * self.dtype.itemsize
        try:
            offset, length = (
                int(self.place.get(k, d)) for k, d in (("offset", 0), ("length", size))
            )
        except ValueError:
            raise Malformed(f"tensor '{name}' lies at no place of a file") from None
        if length != size or offset < 0:
            raise Malformed(f"tensor '{name}' has {length} bytes at {offset} for {self.sides}")
        with open_file(path) as file:
            if offset + size > os.fstat(file.fileno()).st_size:
                raise Malformed(f"tensor '{name}' ends beyond {path.name}")
            file.seek(offset)
            return np.frombuffer(file.read(size), self.dtype).reshape(self.sides)


def read(path) -> OnnxFile:
    """facebench.Error where the file is not an ONNX file, is damaged, or keeps weights outside of
    its folder."""
    with _reading(path) as data:
        file = _model(2, data)
        for name, tensor in file.tensors.items():
            if isinstance(tensor, _Elsewhere):
                beside = Path(path).parent / _inside(path, tensor.place)
                file.tensors[name] = tensor.read(beside, name)
    return file


def outline(path) -> tuple[OnnxFile, dict[str, memoryview]]:
    """The graph of a file without its tensors, and these as they lie there, by name: nothing is
    made of their numbers. facebench.Error as of `read`."""
    with _reading(path) as data:
        graphs = _message(2, data, {7: _bytes})[7]
        if len(graphs) != 1:
            raise Malformed(f"it has {len(graphs)} graphs")
        tensors = _message(2, graphs[0], {5: _bytes})[5]
        named = {_last(_message(2, t, {8: _name})[8], ""): t for t in tensors}
        return _model(2, data, tensors=False), named


def tensor_of(path, tensor) -> np.ndarray | None:
    """A tensor of `outline`, or one that was read. None where it is of a type that is not read;
    facebench.Error as of `read`."""
    if isinstance(tensor, np.ndarray):
        return tensor
    try:
        name, numbers = _tensor(2, tensor)
        if isinstance(numbers, _Elsewhere):
            numbers = numbers.read(Path(path).parent / _inside(path, numbers.place), name)
    except Malformed:
        return None
    return numbers


def lies_elsewhere(tensor: memoryview) -> bool:
    """Whether a tensor of `outline` is in another file."""
    try:
        return 1 in _message(2, tensor, {14: _integer})[14]
    except Malformed:
        return False


def needed(nodes, outputs) -> list[OnnxNode]:
    """Those that compute any of the outputs, in their order."""
    values, found = set(outputs), []
    for node in reversed(nodes):
        if values.intersection(node.outputs):
            values.update(filter(None, node.inputs))
            found.append(node)
    return found[::-1]


@dataclass
class OnnxCall:
    """A node as a step: what it calls, and the graphs in it."""

    op: str
    name: str
    domain: str
    inputs: list[str]
    outputs: list[str]
    graphs: list[list["OnnxCall"]]


def calls(path) -> tuple[list[OnnxCall], dict[tuple[str, str], list[OnnxCall]], list[str]]:
    """The nodes of the graph of a file, those of its functions by (domain, name), and the names of
    its inputs that are not weights. facebench.Error as of `read`."""
    with _reading(path) as data:
        numbers = count(1)
        model = _message(2, data, {7: _bytes, 25: _bytes})
        nodes, inputs, weights = [], [], set()
        for graph in model[7]:
            nodes += _calls(graph, 1, numbers, 0)
            infos = _message(2, graph, {11: _bytes})[11]
            inputs += [_last(_message(2, info, {1: _text})[1], "") for info in infos]
            for tensor in _message(2, graph, {5: _bytes})[5]:
                weights.add(_last(_message(2, tensor, {8: _text})[8], ""))
        functions: dict[tuple[str, str], list[OnnxCall]] = {}
        for function in model[25]:
            names = _message(2, function, {1: _text, 10: _text})
            key = (_last(names[10], ""), _last(names[1], ""))
            functions.setdefault(key, []).extend(_calls(function, 7, numbers, 0))
        return nodes, functions, [name for name in inputs if name not in weights]


_DEEPEST = 64  # graphs within nodes within graphs


def _calls(message, field_of_nodes, numbers, depth) -> list[OnnxCall]:
    found = []
    if depth > _DEEPEST:
        raise Malformed(f"its graphs lie in each other more than {_DEEPEST} deep")
    for node in _message(2, message, {field_of_nodes: _bytes})[field_of_nodes]:
        if next(numbers) > 10 * MOST_NODES:
            raise Malformed(f"it has more than {10 * MOST_NODES} nodes")
        fields = _message(2, node, dict.fromkeys((1, 2, 3, 4, 7), _text) | {5: _bytes})
        graphs = []
        for attribute in fields[5]:
            inner = _message(2, attribute, {6: _bytes, 11: _bytes})
            graphs += [_calls(g, 1, numbers, depth + 1) for g in (*inner[6], *inner[11])]
        name, op, domain = (_last(fields[number], "") for number in (3, 4, 7))
        name = name or next(iter(fields[2]), "")
        found.append(OnnxCall(op, name, domain, fields[1], fields[2], graphs))
    return found


# Which fields of a message hold which messages, down to tensors.
_PARTS = {
    "model": {7: "graph", 25: "function"},
    "graph": {1: "node", 5: "tensor", 15: "sparse"},
    "function": {7: "node"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 6: "graph", 10: "tensor", 11: "graph", 22: "sparse", 23: "sparse"},
    "sparse": {1: "tensor", 2: "tensor"},
}


def hashes_beside(path, fetch=None) -> dict[str, str]:
    """The files beside an ONNX file that hold weights, wherever in it those are used, each with its
    SHA-256. ``fetch``: called with each name, where they are not there yet. facebench.Error as of
    `read`."""
    found = set()
    with _reading(path) as data:
        left = [("model", data)]
        while left:
            kind, message = left.pop()
            if kind == "tensor":
                fields = _message(2, message, {13: _property, 14: _integer})
                if 1 in fields[14]:
                    found.add(_inside(path, dict(fields[13])))
                continue
            parts = _PARTS[kind]
            left += [(parts[n], _bytes(w, v)) for n, w, v in _fields(message) if n in parts]
    for name in sorted(found) if fetch else ():
        fetch(name)
    return {name: sha256_file(Path(path).parent / name) for name in sorted(found)}


@contextmanager
def _reading(path):
    try:
        yield memoryview(read_bytes(path))
    except Unread as e:
        raise Error(f"{path}: {e}") from None
    except Malformed as e:
        raise Error(f"{path}: is not an ONNX file, or a damaged one ({e})") from None


def _inside(path, place: dict[str, str]) -> str:
    """The name of a file in the folder of the ONNX file, or below."""
    name = place.get("location", "")
    if not name or Path(name).is_absolute() or ".." in Path(name).parts:
        raise Error(f"{path}: keeps weights outside of its folder, in {brief(name)!r}")
    return name


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            raise Malformed("it ends within a number")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, at
    raise Malformed("a number has more than ten bytes")


def _fields(data: memoryview) -> Iterator[tuple[int, int, int | memoryview]]:
    """(number, wire type, value) of every field: a whole number, or bytes."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = _varint(data, at)
        else:
            if wire == 2:
                size, at = _varint(data, at)
            elif wire in (1, 5):
                size = 8 if wire == 1 else 4
            else:
                raise Malformed(f"a field of wire type {wire}")
            if size > len(data) - at:
                raise Malformed("a field is longer than the file")
            value = data[at : at + size]
            at += size
        yield number, wire, value


def _bytes(wire: int, value) -> memoryview:
    if wire != 2:
        raise Malformed(f"a field has wire type {wire}, expected 2")
    return value


def _text(wire: int, value) -> str:
    try:
        return str(_bytes(wire, value), "utf-8")
    except UnicodeDecodeError:
        raise Malformed("a text is not UTF-8") from None


def _name(wire: int, value) -> str:
    text = _text(wire, value)
    if len(text) > LONGEST_NAME:
        raise Malformed(f"a name has {len(text)} characters; at most {LONGEST_NAME} are read")
    return text


def _signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value


def _integer(wire: int, value) -> int:
    if wire != 0:
        raise Malformed(f"a whole number has wire type {wire}")
    return _signed(value)


def _integers(wire: int, value) -> list[int]:
    """Of a repeated field: packed, or one of them."""
    if wire == 0:
        return [_signed(value)]
    numbers, at, data = [], 0, _bytes(wire, value)
    while at < len(data):
        number, at = _varint(data, at)
        numbers.append(_signed(number))
        if len(numbers) > MOST_INTEGERS:
            raise Malformed(f"a list has more than {MOST_INTEGERS} whole numbers")
    return numbers


def _floats(wire: int, value, kind: str = "<f4") -> list[float]:
    """Of a repeated field: packed, or one of them."""
    if wire == 0 or len(value) % np.dtype(kind).itemsize:
        raise Malformed("a list of floating-point numbers is cut")
    return np.frombuffer(value, kind).tolist()


def _float(wire: int, value) -> float:
    if wire != 5:
        raise Malformed("a floating-point number is cut")
    return _floats(wire, value)[0]


def _message(wire: int, value, readers: dict[int, Callable]) -> dict[int, list]:
    """{number: values} of the fields that have a reader, in the order of the file."""
    values: dict[int, list] = {number: [] for number in readers}
    for number, field_wire, field_value in _fields(_bytes(wire, value)):
        if number in readers:
            values[number].append(readers[number](field_wire, field_value))
    return values


def _last(values: list, default):
    """What counts of a field that is there once, or by mistake more often."""
    return values[-1] if values else default


def _model(wire: int, value, tensors: bool = True) -> OnnxFile:
    readers = {1: _integer, 7: lambda w, v: _graph(w, v, tensors), 8: _opset, 14: _property}
    fields = _message(wire, value, readers)
    if len(fields[7]) != 1:
        raise Malformed(f"it has {len(fields[7])} graphs")
    file = fields[7][0]
    file.metadata = dict(fields[14])
    file.ir_version, file.opsets = _last(fields[1], 0), dict(fields[8])
    return file


def _opset(wire: int, value) -> tuple[str, int]:
    fields = _message(wire, value, {1: _text, 2: _integer})
    return _last(fields[1], ""), _last(fields[2], 0)


def _property(wire: int, value) -> tuple[str, str]:
    fields = _message(wire, value, {1: _text, 2: _text})
    return _last(fields[1], ""), _last(fields[2], "")


def _graph(wire: int, value, tensors: bool) -> OnnxFile:
    numbers = count(1)

    def node(wire, value):
        if next(numbers) > MOST_NODES:
            raise Malformed(f"it has more than {MOST_NODES} nodes")
        return _node(wire, value)

    readers = {1: node, 11: _value_info, 12: _value_info} | ({5: _tensor} if tensors else {})
    fields = _message(wire, value, readers)
    outputs = [name for name, _, _ in fields[12]]
    inputs = {name: sides for name, sides, _ in fields[11]}
    types = {name: kind for name, _, kind in fields[11]}
    return OnnxFile(fields[1], dict(fields.get(5, ())), inputs, outputs, input_types=types)


def _node(wire: int, value) -> OnnxNode:
    names = dict.fromkeys((1, 2, 3, 4, 7), _name)
    fields = _message(wire, value, names | {5: _attribute})
    name, op, domain = (_last(fields[number], "") for number in (3, 4, 7))
    name = name or next(iter(fields[2]), "")
    message = _bytes(wire, value)
    return OnnxNode(op, name, domain, fields[1], fields[2], dict(fields[5]), message)


def _attribute(wire: int, value):
    """Its name and value; None for a kind that no known operation has (a graph, say)."""
    readers = {1: _name, 2: _float, 3: _integer, 4: _bytes, 5: _tensor, 7: _floats, 8: _integers}
    fields = _message(wire, value, readers)
    if any(isinstance(tensor, _Elsewhere) for _, tensor in fields[5]):
        raise Malformed("an attribute's tensor lies in another file")
    texts = [bytes(text).decode("utf-8", "replace") for text in fields[4]]
    single = [*fields[2], *fields[3], *texts, *(tensor for _, tensor in fields[5])]
    several = [*chain(*fields[8])] or [*chain(*fields[7])]
    return _last(fields[1], ""), several or _last(single, None)


def _tensor(wire: int, value) -> tuple[str, np.ndarray | _Elsewhere]:
    readers: dict[int, Callable] = {
        1: _integers, 2: _integer, 8: _name, 9: _bytes, 13: _property, 14: _integer
    }  # fmt: skip
    # Numbers, by their type.
    readers |= {4: _floats, 5: _integers, 7: _integers, 10: lambda w, v: _floats(w, v, "<f8")}
    fields = _message(wire, value, readers)
    name, kind, raw = _last(fields[8], ""), _last(fields[2], 0), _last(fields[9], None)
    sides = [*chain(*fields[1])]
    if kind not in _TYPES:
        if kind not in _UNREAD:
            raise Malformed(f"tensor '{name}' is of type {kind}, which is not read")
        quantised = ", a quantised network," if kind in (2, 3, 21, 22) else ""
        raise Unread(
            f"its tensor '{brief(name)}' is {_UNREAD[kind]}{quantised} which is not converted; "
            "onnxruntime may run the file as it is"
        )
    dtype, numbers = _TYPES[kind]
    if len(sides) > MOST_SIDES or any(not 0 <= side <= MOST_ELEMENTS for side in sides):
        raise Malformed(f"tensor '{name}' has an impossible shape {sides[:MOST_SIDES]}")
    if math.prod(sides) > MOST_ELEMENTS:
        raise Malformed(f"tensor '{name}' has an impossible shape {sides}")
    if 1 in fields[14]:
        return name, _Elsewhere(dtype, sides, dict(fields[13]))
    if raw is not None:
        if len(raw) != math.prod(sides) * dtype.itemsize:
            raise Malformed(f"tensor '{name}' has {len(raw)} bytes for the shape {sides}")
        return name, np.frombuffer(raw, dtype).reshape(sides)
    values = [*chain(*fields[numbers])]
    if len(values) != math.prod(sides):
        raise Malformed(f"tensor '{name}' has {len(values)} numbers for the shape {sides}")
    if kind == 10:  # each half as a whole number of its bits
        return name, np.array(values, np.int64).astype("<u2").view("<f2").reshape(sides)
    given = np.array(values)
    kept = given.astype(dtype)
    if given.dtype.kind == "i" and (kept != given).any():
        raise Malformed(f"tensor '{name}' has a number that its type does not hold")
    return name, kept.reshape(sides)


def _value_info(wire: int, value) -> tuple[str, list, int]:
    """Name, sides, and the type of its numbers; a side without a number is None."""
    fields = _message(wire, value, {1: _name, 2: _bytes})
    messages, kind = fields[2][-1:], 0
    for number in (1, 2, 1):  # the tensor's type, its shape, the dimensions of that
        if number == 2:
            kinds = [_message(2, message, {1: _integer})[1] for message in messages]
            kind = _last([*chain(*kinds)], 0)
        inner = [_message(2, message, {number: _bytes})[number] for message in messages]
        messages = [*chain(*inner)]
    lengths = [_message(2, dimension, {1: _integer})[1] for dimension in messages]
    sides = [_last([n for n in numbers if n > 0], None) for numbers in lengths]
    return _last(fields[1], ""), sides, kind
