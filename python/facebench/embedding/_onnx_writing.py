"""Messages of an ONNX file, as bytes. Numbers of fields are in onnx.proto."""

import numpy as np

# TensorProto.DataType
TYPES: dict[np.dtype, int] = {
    np.dtype("<f4"): 1,
    np.dtype("<i4"): 6,
    np.dtype("<i8"): 7,
    np.dtype("?"): 9,
    np.dtype("<f2"): 10,
    np.dtype("<f8"): 11,
}


def _varint(number: int) -> bytes:
    number &= (1 << 64) - 1
    out = b""
    while number > 127:
        out, number = out + bytes([number & 127 | 128]), number >> 7
    return out + bytes([number])


def field(number: int, value) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    value = value.encode() if isinstance(value, str) else bytes(value)
    return b"".join([_varint(number << 3 | 2), _varint(len(value)), value])


def tensor(name: str, numbers) -> bytes:
    fields = [field(1, int(side)) for side in numbers.shape]
    fields += [field(2, TYPES[numbers.dtype]), field(8, name)]
    return b"".join([*fields, field(9, np.ascontiguousarray(numbers).tobytes())])


def value(name: str, kind: int, sides=None) -> bytes:
    """An input or output with its type."""
    shape = b"" if sides is None else field(2, b"".join(field(1, field(1, n)) for n in sides))
    return field(1, name) + field(2, field(1, field(1, kind) + shape))


def model(nodes, tensors, inputs, outputs, ir_version: int, opsets: dict[str, int]) -> bytes:
    """A file of messages: nodes, tensors, inputs and outputs."""
    parts = [(1, nodes), (2, ["facebench"]), (5, tensors), (11, inputs), (12, outputs)]
    graph = b"".join(field(number, message) for number, messages in parts for message in messages)
    versions = [field(8, field(1, domain) + field(2, n)) for domain, n in opsets.items()]
    return b"".join([field(1, ir_version), *versions, field(7, graph)])
