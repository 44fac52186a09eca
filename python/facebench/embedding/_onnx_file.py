"""ONNX files as plain values, without the package onnx: nodes, tensors, inputs, outputs.

An ONNX file is a protobuf message. This reads the fields that describe a network's inference and
skips the others. Every length is checked against the bytes that are there. Numbers of fields:
https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
"""

import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from facebench.core import Error
from facebench.core._files import read_bytes

MOST_ELEMENTS = 1 << 31  # of a tensor
MOST_SIDES = 16
MOST_NODES = 20_000
MOST_INTEGERS = 1 << 22  # of a list that keeps each by itself
LONGEST_NAME = 512

# TensorProto.DataType, and the field that holds its numbers where they are not raw bytes.
_TYPES = {
    1: (np.dtype("<f4"), 4),
    6: (np.dtype("<i4"), 5),
    7: (np.dtype("<i8"), 7),
    9: (np.dtype("?"), 5),
    10: (np.dtype("<f2"), 5),
    11: (np.dtype("<f8"), 10),
}


class Malformed(ValueError):
    """The bytes are no protobuf message, or not of ONNX."""


@dataclass
class OnnxNode:
    op: str
    name: str
    domain: str
    inputs: list[str]
    outputs: list[str]
    attributes: dict


@dataclass
class OnnxFile:
    """The part of a file that inference needs."""

    nodes: list[OnnxNode] = field(default_factory=list)
    tensors: dict[str, np.ndarray] = field(default_factory=dict)
    inputs: dict[str, list] = field(default_factory=dict)  # name -> sides; None: not fixed
    outputs: list[str] = field(default_factory=list)
    metadata: dict[str, str] = field(default_factory=dict)


def read(path) -> OnnxFile:
    """facebench.Error where the file is no ONNX file, is damaged or keeps weights elsewhere."""
    data = memoryview(read_bytes(path))
    try:
        return _model(data)
    except Malformed as e:
        raise Error(f"{path}: is no ONNX file, or a damaged one ({e})") from None


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


def _floats(wire: int, value, kind: str = "<f4") -> np.ndarray:
    if wire == 0 or len(value) % np.dtype(kind).itemsize:
        raise Malformed("a list of floating-point numbers is cut")
    return np.frombuffer(value, kind)


def _model(data: memoryview) -> OnnxFile:
    file = OnnxFile()
    graphs = 0
    for number, wire, value in _fields(data):
        if number == 7:
            graphs += 1
            _graph(_bytes(wire, value), file)
        elif number == 14:
            entry = {n: _text(w, v) for n, w, v in _fields(_bytes(wire, value)) if n in (1, 2)}
            file.metadata[entry.get(1, "")] = entry.get(2, "")
    if graphs != 1:
        raise Malformed(f"it has {graphs} graphs")
    return file


def _graph(data: memoryview, file: OnnxFile) -> None:
    for number, wire, value in _fields(data):
        if number == 1:
            file.nodes.append(_node(_bytes(wire, value)))
            if len(file.nodes) > MOST_NODES:
                raise Malformed(f"it has more than {MOST_NODES} nodes")
        elif number == 5:
            name, tensor = _tensor(_bytes(wire, value))
            file.tensors[name] = tensor
        elif number == 11:
            name, sides = _value_info(_bytes(wire, value))
            file.inputs[name] = sides
        elif number == 12:
            file.outputs.append(_value_info(_bytes(wire, value))[0])


def _node(data: memoryview) -> OnnxNode:
    node = OnnxNode("", "", "", [], [], {})
    for number, wire, value in _fields(data):
        if number == 1:
            node.inputs.append(_name(wire, value))
        elif number == 2:
            node.outputs.append(_name(wire, value))
        elif number == 3:
            node.name = _name(wire, value)
        elif number == 4:
            node.op = _name(wire, value)
        elif number == 5:
            name, attribute = _attribute(_bytes(wire, value))
            node.attributes[name] = attribute
        elif number == 7:
            node.domain = _name(wire, value)
    node.name = node.name or next(iter(node.outputs), "")
    return node


def _attribute(data: memoryview):
    """Its name and value; None for a kind that no known operation has (a graph, say)."""
    name, value_of = "", None
    integers: list[int] = []
    floats: list[float] = []
    for number, wire, value in _fields(data):
        if number == 1:
            name = _name(wire, value)
        elif number == 2:
            if wire != 5:
                raise Malformed("a floating-point number is cut")
            value_of = struct.unpack("<f", value)[0]
        elif number == 3:
            value_of = _integer(wire, value)
        elif number == 4:
            value_of = bytes(_bytes(wire, value)).decode("utf-8", "replace")
        elif number == 5:
            value_of = _tensor(_bytes(wire, value))[1]
        elif number == 7:
            floats += _floats(wire, value).tolist()
        elif number == 8:
            integers += _integers(wire, value)
    return name, integers or floats or value_of


def _tensor(data: memoryview) -> tuple[str, np.ndarray]:
    name, kind, raw = "", 0, None
    sides: list[int] = []
    typed: dict[int, list] = {}
    for number, wire, value in _fields(data):
        if number == 1:
            sides += _integers(wire, value)
        elif number == 2:
            kind = _integer(wire, value)
        elif number == 8:
            name = _name(wire, value)
        elif number == 9:
            raw = _bytes(wire, value)
        elif number == 13 or (number == 14 and _integer(wire, value) == 1):
            raise Malformed("it keeps weights in other files, which are not read")
        elif number in (4, 10):
            kind_of = "<f4" if number == 4 else "<f8"
            typed.setdefault(number, []).extend(_floats(wire, value, kind_of).tolist())
        elif number in (5, 7):
            typed.setdefault(number, []).extend(_integers(wire, value))
    if kind not in _TYPES:
        raise Malformed(f"tensor '{name}' is of type {kind}, which is not read")
    dtype, numbers = _TYPES[kind]
    if len(sides) > MOST_SIDES or any(not 0 <= side <= MOST_ELEMENTS for side in sides):
        raise Malformed(f"tensor '{name}' has an impossible shape {sides[:MOST_SIDES]}")
    if math.prod(sides) > MOST_ELEMENTS:
        raise Malformed(f"tensor '{name}' has an impossible shape {sides}")
    if raw is not None:
        if len(raw) != math.prod(sides) * dtype.itemsize:
            raise Malformed(f"tensor '{name}' has {len(raw)} bytes for the shape {sides}")
        return name, np.frombuffer(raw, dtype).reshape(sides)
    values = typed.get(numbers, [])
    if len(values) != math.prod(sides):
        raise Malformed(f"tensor '{name}' has {len(values)} numbers for the shape {sides}")
    if kind == 10:  # each half as a whole number of its bits
        return name, np.array(values, np.int64).astype("<u2").view("<f2").reshape(sides)
    try:
        return name, np.array(values, dtype).reshape(sides)
    except OverflowError:
        raise Malformed(f"tensor '{name}' has a number that its type does not hold") from None


def _value_info(data: memoryview) -> tuple[str, list]:
    """Name and sides; a side without a number is None."""
    name, sides = "", []
    for number, wire, value in _fields(data):
        if number == 1:
            name = _name(wire, value)
        elif number == 2:
            for kind, kind_wire, tensor in _fields(_bytes(wire, value)):
                if kind == 1:
                    sides = _sides(_bytes(kind_wire, tensor))
    return name, sides


def _sides(tensor_type: memoryview) -> list:
    sides = []
    for number, wire, shape in _fields(tensor_type):
        if number != 2:
            continue
        for _, dim_wire, dim in _fields(_bytes(wire, shape)):
            side = None
            for n, w, value in _fields(_bytes(dim_wire, dim)):
                if n == 1 and _integer(w, value) > 0:
                    side = _integer(w, value)
            sides.append(side)
    return sides
