"""Seeds of the target of ONNX files (onnx_reader.py): small networks, written field by field after
onnx.proto, that together hold every operation that is read."""

import struct

from onnx_reader import field, varint

FLOAT, UINT8, INT32, INT64, BOOL, HALF, DOUBLE = 1, 2, 6, 7, 9, 10, 11


def floats(*values):
    return struct.pack(f"<{len(values)}f", *values)


def tensor(name, shape, raw=b"", kind=FLOAT, more=b""):
    sides = b"".join(field(1, side) for side in shape)
    return sides + field(2, kind) + field(8, name) + (field(9, raw) if raw else b"") + more


def numbers(name, *shape):
    """A tensor of 0.1, 0.2, ..."""
    count = 1
    for side in shape:
        count *= side
    return tensor(name, shape, floats(*(0.1 * (k + 1) for k in range(count))))


def elsewhere(name, shape, **place):
    """A tensor in another file."""
    entries = b"".join(field(13, field(1, k) + field(2, v)) for k, v in place.items())
    return tensor(name, shape, more=entries + field(14, 1))


def integers(name, *values):
    return tensor(name, [len(values)], struct.pack(f"<{len(values)}q", *values), INT64)


def attribute(name, value):
    if isinstance(value, float):
        content = field(2, value)
    elif isinstance(value, int):
        content = field(3, value)
    elif isinstance(value, str):
        content = field(4, value)
    elif isinstance(value, bytes):
        content = field(5, value)
    else:
        content = b"".join(field(7 if isinstance(v, float) else 8, v) for v in value)
    return field(1, name) + content


def node(op, inputs, outputs, **attributes):
    texts = b"".join(field(1, i) for i in inputs.split()) + b"".join(
        field(2, o) for o in outputs.split()
    )
    return texts + field(4, op) + b"".join(
        field(5, attribute(n, v)) for n, v in attributes.items()
    )  # fmt: skip


def info(name, *sides, kind=b""):
    dims = b"".join(field(1, field(1, s) if s else field(2, "n")) for s in sides)
    return field(1, name) + field(2, field(1, kind + field(2, dims)))


def model(nodes, tensors=(), sides=(0, 2, 8, 8), output="y", kind=b""):
    graph = b"".join(field(1, n) for n in nodes) + b"".join(field(5, t) for t in tensors)
    graph += field(11, info("x", *sides, kind=kind))
    graph += b"".join(field(12, info(name, 0, 4)) for name in output.split())
    entry = field(1, "embedding") + field(2, "4")
    return field(1, 8) + field(7, graph) + field(14, entry)


def channels(*names, size=2):
    return [numbers(name, size) for name in names]


def seeds():
    norm = channels("scale", "shift", "mean", "variance", size=4)
    typed = tensor("c.weight", [4, 2, 1, 1], more=field(4, floats(*[0.5] * 8)))
    return {
        "blocks": model(
            [
                node("Conv", "x c.weight c.bias", "a", pads=[1, 1, 1, 1], strides=[2, 2],
                     kernel_shape=[3, 3], dilations=[1, 1], group=1),
                node("BatchNormalization", "a scale shift mean variance", "b", epsilon=1e-5),
                node("PRelu", "b slope", "d"),
                node("Add", "d a", "e"),
                node("GlobalAveragePool", "e", "f"),
                node("Flatten", "f", "g", axis=1),
                node("Gemm", "g m v", "h", transB=1, alpha=1.0, beta=1.0),
                node("LpNormalization", "h", "y", axis=1, p=2),
            ],
            [numbers("c.weight", 4, 2, 3, 3), *channels("c.bias", size=4), *norm,
             numbers("slope", 4, 1, 1), numbers("m", 4, 4), numbers("v", 4)],
        ),
        "affine": model(
            [
                node("Sub", "x half", "a"), node("Mul", "two a", "b"), node("Div", "b two", "c"),
                node("Add", "c each", "d"), node("Sub", "half d", "e"), node("LeakyRelu", "e", "f"),
                node("Sigmoid", "f", "g"), node("Relu", "g", "h"), node("Clip", "h", "i", min=0.0,
                max=6.0), node("LRN", "i", "j", size=3), node("Identity", "j", "k"),
                node("Dropout", "k", "l"), node("Concat", "l k", "n", axis=1),
                node("ReduceMean", "n", "y", axes=[2, 3], keepdims=0),
            ],
            [tensor("half", [], floats(0.5)), tensor("two", [1], floats(2.0)),
             numbers("each", 2, 1, 1)],
        ),
        "pools": model(
            [
                node("Pad", "x", "a", pads=[0, 0, 1, 1, 0, 0, 1, 1]),
                node("AveragePool", "a", "b", kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1),
                node("MaxPool", "b", "c", kernel_shape=[2, 2]),
                node("Pad", "c pads", "d"), node("Conv", "d c.weight", "e", auto_pad="SAME_UPPER"),
                node("Conv", "e w", "f", auto_pad="SAME_LOWER"),
                node("Clip", "f low high", "h"),
                node("GlobalAveragePool", "h", "i"), node("Squeeze", "i", "y"),
            ],
            [typed, numbers("w", 4, 4, 2, 2), integers("pads", 0, 0, 1, 0, 0, 0, 0, 1),
             tensor("low", [], floats(0.0)), tensor("high", [], floats(6.0))],
        ),
        "halves": model(
            [
                node("Split", "x", "a b", axis=1, split=[1, 1]), node("Max", "a b", "c"),
                node("Concat", "c c", "d", axis=1), node("Slice", "d s0 s1 one one", "e"),
                node("Slice", "d s1 s2 one one", "f"), node("Max", "e f", "g"),
                node("Shape", "g", "h"), node("Gather", "h zero", "i"),
                node("Unsqueeze", "i", "j", axes=[0]), node("Concat", "j minus", "k", axis=0),
                node("Cast", "k", "l", to=7), node("Reshape", "g l", "m"),
                node("MatMul", "m matrix", "o"), node("ReduceL2", "o", "p", axes=[1]),
                node("Clip", "p low", "q"), node("Expand", "q h", "r"), node("Div", "o r", "y"),
            ],
            [integers("s0", 0), integers("s1", 1), integers("s2", 2), integers("one", 1),
             tensor("zero", [], struct.pack("<q", 0), INT64), integers("minus", -1),
             numbers("matrix", 64, 4),
             tensor("low", [], floats(1e-12))],
        ),
        "constants": model(
            [
                node("Constant", "", "a", value=numbers("", 2, 1, 1)), node("Add", "x a", "b"),
                node("Constant", "", "c", value_floats=[0.5]), node("Mul", "b c", "d"),
                node("Constant", "", "e", value_ints=[0, -1]), node("Reshape", "d e", "f"),
                node("Constant", "", "g", value_float=1.5), node("Mul", "f g", "h"),
                node("ReduceL2", "h", "i", axes=[-1]), node("Constant", "", "j", value_int=1),
                node("Add", "i j", "k"), node("Max", "k j", "l"), node("Div", "h l", "y"),
            ],
        ),
        "types": model(
            [node("Add", "x half", "a"), node("Mul", "a double", "b"),
             node("Reshape", "b int", "y")],
            [tensor("half", [1], more=field(5, 15360), kind=HALF),
             tensor("double", [1], more=field(10, struct.pack("<d", 0.5)), kind=DOUBLE),
             tensor("int", [2], more=field(7, varints(0, 128)), kind=INT64),
             tensor("bool", [1], more=field(5, 1), kind=BOOL)],
        ),
        "gates": model(
            [
                node("GlobalAveragePool", "x", "a"), node("Sigmoid", "a", "b"),
                node("Mul", "b x", "c"), node("HardSwish", "c", "d"), node("Flatten", "a", "e"),
                node("HardSigmoid", "e", "f", alpha=0.2), node("Reshape", "f sides", "g"),
                node("Mul", "d g", "h"), node("Unsqueeze", "e", "i", axes=[2]),
                node("Unsqueeze", "i", "j", axes=[3]), node("Mul", "h j", "k"),
                node("Slice", "k zero two one one", "l"), node("GlobalAveragePool", "l", "y"),
            ],
            [integers("sides", -1, 2, 1, 1), integers("zero", 0), integers("two", 2),
             integers("one", 1)],
        ),
        # What older exports have in place of a PReLU.
        "rectified": model(
            [
                node("Max", "x nothing", "a"), node("Neg", "one", "m"), node("Mul", "x m", "b"),
                node("Min", "nothing b", "c"), node("Sub", "a c", "d"), node("Tanh", "d", "e"),
                node("PRelu", "e slopes", "f"), node("Neg", "f", "g"), node("Sub", "g one", "y"),
            ],
            [tensor("nothing", [], floats(0.0)), tensor("one", [1], floats(1.0)),
             tensor("slopes", [2], floats(0.25, 0.5))],
        ),
        # What stands before the first layer, up to it.
        "pixels": model(
            [
                node("Sub", "x half", "a"), node("Mul", "a each", "b"),
                node("Conv", "b swap", "c"), node("Shape", "c", "s"),
                node("Constant", "", "d", value=numbers("", 2, 1, 1)), node("Add", "c d", "e"),
                node("Conv", "e c.weight", "f"), node("GlobalAveragePool", "f", "y"),
            ],
            [tensor("half", [], floats(127.5)), numbers("each", 1, 2, 1, 1),
             tensor("swap", [2, 2, 1, 1], floats(0, 1, 1, 0)), numbers("c.weight", 4, 2, 3, 3)],
            kind=field(1, FLOAT),
        ),
        "pixels.statistics": model(
            [
                node("BatchNormalization", "x scale shift mean variance", "a"),
                node("Conv", "a c.weight", "b"), node("GlobalAveragePool", "b", "y"),
            ],
            [*channels("scale", "shift", "mean", "variance"), numbers("c.weight", 4, 2, 3, 3)],
            kind=field(1, FLOAT),
        ),
        "wrong.pixels": model(
            [
                node("Clip", "x low high", "a"), node("Gather", "a swap", "b", axis=1),
                node("Split", "b", "d e", axis=1), node("Concat", "e d", "f", axis=1),
                node("QuantizeLinear", "f step zero", "g"), node("MatMul", "g left", "h"),
                node("DequantizeLinear", "g step zero", "i"), node("MatMul", "i right", "j"),
                node("Add", "j x", "y"),
            ],
            [tensor("low", [], floats(0.0)), tensor("high", [], floats(255.0)),
             integers("swap", 1, 0), tensor("step", [], floats(1.0)),
             tensor("zero", [], b"\x00", kind=UINT8), numbers("left", 8, 8),
             elsewhere("right", [8, 8], location="m.onnx", offset="0", length="256")],
            kind=field(1, FLOAT),
        ),
        "wrong.pixels.beside": model(
            [
                node("BatchNormalization", "x s s s s", "a b"), node("Sub", "x mean", "c"),
                node("QuantizeLinear", "c s zero", "d"), node("Relu", "d", "y"),
            ],
            [elsewhere("mean", [1], location="m.onnx", offset="0", length="4"),
             elsewhere("zero", [], location="m.onnx", offset="0", length="1"), numbers("s", 2)],
            kind=field(1, HALF),
        ),
        # Weights in another file, which is this one: read as what it is written to.
        "beside": model(
            [node("Add", "x half", "a"), node("GlobalAveragePool", "a", "y")],
            [elsewhere("half", [1], location="m.onnx", offset="0", length="4")],
        ),
        "wrong.place": model(
            [node("Add", "x half", "y")],
            [elsewhere("half", [1], location="../m.onnx", offset="0", length="4")],
        ),
        "wrong.domain": model([field(7, "other") + node("Relu", "x", "y")]),
        "wrong.operation": model([node("Loop", "x", "y")]),
        "wrong.absent": model([node("Relu", "z", "y")]),
        "wrong.joined": model([node("Concat", "x x", "y", axis=2)]),
        "wrong.halves": model([node("Split", "x", "a b", axis=2), node("Add", "a b", "y")]),
        "wrong.part": model([node("Slice", "x", "y", starts=[0], ends=[1], axes=[2])]),
        "wrong.larger": model([node("Max", "x x", "y")]),
        "wrong.rows": model([node("Reshape", "x sides", "y")], [integers("sides", 4, 4)]),
        "wrong.flat": model([node("Flatten", "x", "y", axis=2)]),
        "wrong.sides": model([node("Squeeze", "x", "y")]),
        "wrong.elsewhere": model([node("Add", "x w", "y")], [tensor("w", [1], more=field(14, 1))]),
        "wrong.type": model([node("Add", "x w", "y")], [tensor("w", [1], b"a", kind=8)]),
        "wrong.raw": model([node("Add", "x w", "y")], [tensor("w", [3], b"abcd")]),
        "wrong.shape": model([node("Add", "x w", "y")], [tensor("w", [1 << 40, 1 << 40], b"a")]),
        "wrong.input": model([node("Relu", "x", "y")], sides=(0, 0, 8)),
        "wrong.size": model([node("Relu", "x", "y")], sides=(0, 2, 9, 8)),
        "wrong.number": model([node("LRN", "x", "y", size=3, alpha=float("nan"))]),
        "wrong.output": model([node("Relu", "x", "z")]),
        "wrong.graphs": field(1, 8),
        "wrong.cut": model([node("Relu", "x", "y")])[:-30],
        "wrong.text": model([field(3, b"\xff") + node("Relu", "x", "y")]),
        "wrong.wire": b"\x07",
        "wrong.varint": b"\xff" * 12,
    }  # fmt: skip


def varints(*values):
    return b"".join(varint(v) for v in values)
