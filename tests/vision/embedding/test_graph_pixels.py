"""Networks that normalise their pixels before their first layer, by whatever operations: they get
them as they expect, and what is not a normalisation is left alone."""

import numpy as np
import pytest
import torch
from facebench import embedding
from facebench.embedding._graph_pixels import graph_pixels
from torch.nn import functional

FACES = np.random.default_rng(0).integers(0, 256, (5, 16, 16, 3), np.uint8)
PLAIN = embedding.ExtractOptions(normalization="none")
RNG = np.random.default_rng(1)
MEAN_IMAGE = RNG.uniform(0, 255, (1, 3, 16, 16)).astype(np.float32)
MEAN_IMAGE[:, :, :2] = 3  # a border
MEANS = MEAN_IMAGE.mean((0, 2, 3))
EYE = np.eye(3, dtype=np.float32).reshape(3, 3, 1, 1)
THREE = {"r": 123, "g": 117, "b": 104}
IMAGENET = {"m": [0.485, 0.456, 0.406], "s": [0.229, 0.224, 0.225]}


def f(*values):
    return np.float32(values[0]) if len(values) == 1 else np.float32(values).reshape(1, -1, 1, 1)


def i(*values):
    return np.array(values, np.int64)


# Nodes as "operation inputs > outputs" with attributes; constants by name. The value "z" goes into
# the first convolution. `AFTER` ends those that arrange: mean 127.5, std 128.
AFTER = ["Sub a m > c", "Mul c s > z"]
OF_AFTER = {"m": f(127.5), "s": f(1 / 128)}


def after(*nodes, **constants):
    return [*nodes, *AFTER], OF_AFTER | constants, (127.5, 128)


NORM = {"g": np.float32([9, 8, 7]), "o": np.float32([0.1, -0.2, 0.3])}
STATISTICS = {"u": np.float32([124, 117, 104]), "v": np.float32([3600, 3481, 3364])}
BYTES = {
    "clip": after("Clip x low high > a", low=f(0), high=f(255)),
    "power of 1": after("Pow x e > a", e=f(1)),
    "resize": after(("Resize x  k > a", {"mode": "linear"}), k=np.float32([1, 1, 0.5, 0.5])),
    "split": after(("Split x > r g b", {"axis": 1}), ("Concat b g r > a", {"axis": 1})),
    "gather": after(("Gather x k > a", {"axis": 1}), k=i(2, 1, 0)),
    "slice": after(
        "Slice x from to axis step > a", **{"from": i(-1), "to": i(-9), "axis": i(1), "step": i(-1)}
    ),
    "crop": after(
        "Slice x from to axis > a", **{"from": i(2, 2), "to": i(14, 14), "axis": i(2, 3)}
    ),
    "pool": after(("AveragePool x > a", {"kernel_shape": [2, 2], "strides": [2, 2]})),
    "pad": after("Pad x k > a", k=i(0, 0, 1, 1, 0, 0, 1, 1)),
    "absolute": after("Abs x > a"),
    "no less than 0": after("Less x zero > l", "Where l zero x > a", zero=f(0)),
    "bytes": after(("Cast x > k", {"to": 2}), ("Cast k > a", {"to": 1})),
    "colours by a matrix": after(
        ("Transpose x > t", {"perm": [0, 2, 3, 1]}),
        "MatMul t k > q",
        ("Transpose q > a", {"perm": [0, 3, 1, 2]}),
        k=np.eye(3, dtype=np.float32)[::-1].copy(),
    ),
    "a second reader": after(
        "Shape x > n", ("ReduceMean x > q", {"axes": [2, 3]}), "Identity x > a"
    ),
    "grey": (
        [
            "Mul x w > p",
            ("ReduceSum p k > a", {"keepdims": 1}),
            "Sub a m > c",
            "Mul c s > d",
            ("Concat d d d > z", {"axis": 1}),
        ],
        OF_AFTER | {"w": f(0.299, 0.587, 0.114), "k": i(1)},
        (127.5, 128),
    ),
    "gamma": (
        ["Div x k > a", "Pow a e > c", "Sub c h > d", "Div d h > z"],
        {"k": f(255), "e": f(2.2), "h": f(0.5)},
        (127.5, 127.5),
    ),
    "each by itself": (
        [
            ("Split x > x0 x1 x2", {"axis": 1}),
            "Sub x0 r > y0",
            "Sub x1 g > y1",
            "Sub x2 b > y2",
            ("Concat y0 y1 y2 > z", {"axis": 1}),
        ],
        {name: f(mean) for name, mean in THREE.items()},
        ((123, 117, 104), 1),
    ),
    "mean image": (["Sub x k > z"], {"k": MEAN_IMAGE}, (tuple(MEANS), 1)),
    "mean image, scaled": (
        ["Sub x k > a", "Div a s > z"],
        {"k": MEAN_IMAGE, "s": f(58)},
        (tuple(MEANS), 58),
    ),
    "mean spread": (
        ["Shape x > n", "Expand k n > a", "Sub x a > z"],
        {"k": f(123, 117, 104)},
        ((123, 117, 104), 1),
    ),
    "1 x 1 convolution": (
        ["Conv x w k > z"],
        {"w": EYE / 128, "k": np.full(3, -1, np.float32)},
        (128, 128),
    ),
    "1 x 1 that exchanges": (
        ["Conv x w k > z"],
        {"w": EYE[::-1].copy() / 64, "k": np.float32([-2, -1, -1.5])},
        ((96, 64, 128), 64),
    ),
    "by channel": (
        [("Conv x w k > z", {"group": 3})],
        {"w": np.full((3, 1, 1, 1), 1 / 64, np.float32), "k": np.float32([-2, -1, -1.5])},
        ((128, 64, 96), 64),
    ),
    "turned round": (["Sub m x > z"], OF_AFTER, (127.5, -1)),
    "turned and scaled": (["Sub m x > a", "Mul a s > z"], OF_AFTER, (127.5, -128)),
    "negated": (["Neg x > a", "Add a m > z"], OF_AFTER, (127.5, -1)),
    "a root and a reciprocal": (
        ["Sqrt v > q", "Reciprocal q > p", "Sub x m > a", "Mul a p > z"],
        {"m": f(127.5), "v": f(64**2)},
        (127.5, 64),
    ),
    "statistics": (
        ["BatchNormalization x g o u v > z"],
        NORM | STATISTICS,
        ((124, 117, 104), (60, 59, 58)),
    ),
    "quantised": (
        ["Sub x m > a", "Mul a s > c", "QuantizeLinear c q k > p", "DequantizeLinear p q k > z"],
        OF_AFTER | {"q": f(1 / 128), "k": np.int8(0)},
        (128, 128),  # -127.5 is rounded
    ),
    "learned after it": (
        ["Sub x m > a", "Mul a s > c", "Mul c k > z"],
        OF_AFTER | {"k": f(0.4, -0.3, 0.2)},
        None,
    ),
    "cut to bytes alone": (["Clip x low high > z"], {"low": f(0), "high": f(255)}, (0, 1)),
}
UNIT = {
    "cut to 0..1": (
        ["Clip x low high > a", "Sub a m > c", "Div c s > z"],
        {"low": f(0), "high": f(1), "m": f(*IMAGENET["m"]), "s": f(*IMAGENET["s"])},
        (tuple(IMAGENET["m"]), tuple(IMAGENET["s"])),
    ),
    "made bytes": (["Mul x k > z"], {"k": f(255)}, (0, 1 / 255)),
    "made bytes, less a mean": (
        ["Mul x k > a", "Sub a m > z"],
        {"k": f(255), "m": f(123.675, 116.28, 103.53)},
        (tuple(IMAGENET["m"]), 1 / 255),
    ),
    "turned 0..1": (["Sub m x > a", "Div a m > z"], {"m": f(0.5)}, (0.5, -0.5)),
}
NEITHER = {
    "nothing": (["Identity x > z"], {}),
    "relu": (["Relu x > z"], {}),
    "prelu": (["PRelu x k > z"], {"k": np.full((3, 1, 1), 0.25, np.float32)}),
    "tanh": (["Tanh x > z"], {}),
    "cut to -1..1": (["Clip x low high > z"], {"low": f(-1), "high": f(1)}),
    "made bytes of -1..1": (["Mul x k > a", "Add a k > z"], {"k": f(127.5)}),
    "by its own deviation": (["InstanceNormalization x g o > z"],
                             {"g": np.ones(3, np.float32), "o": np.zeros(3, np.float32)}),
    "by its own mean": ([("ReduceMean x > a", {"axes": [1, 2, 3]}), "Sub x a > z"], {}),
    "learned": (["Mul x k > a", "Add a o > z"], {"k": f(0.9, 1.1, 1.3), "o": f(0.1, -0.1, 0.2)}),
    "learned statistics": (["BatchNormalization x g o u v > z"], {
        "g": np.full(3, 0.8, np.float32), "o": np.float32([0.1, -0.2, 0.3]),
        "u": np.float32([0.1, 0.2, 0.05]), "v": np.float32([0.3, 0.25, 0.3])}),
    "colours that are mixed": (["Conv x w > z"],
                               {"w": RNG.normal(size=(3, 3, 1, 1)).astype(np.float32)}),
    "after a layer": (["Conv x w > a", "Sub a m > c", "Mul c s > z"],
                      OF_AFTER | {"w": RNG.normal(size=(3, 3, 3, 3)).astype(np.float32)}),
}  # fmt: skip


@pytest.fixture
def write(tmp_path):
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    helper, numpy_helper = onnx.helper, onnx.numpy_helper

    def written(nodes, constants, kind=np.float32, sides=("N", 3, 16, 16), **how):
        kind = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
        tensors = constants | {"layer": RNG.normal(size=(8, 3, 3, 3)).astype(np.float32)}
        if kind != onnx.TensorProto.FLOAT:
            dtype = helper.tensor_dtype_to_np_dtype(kind)
            tensors = {n: v.astype(dtype) for n, v in tensors.items()}
        made = []
        for node in [
            *nodes,
            "Conv z layer > end0",
            "GlobalAveragePool end0 > end1",
            "Flatten end1 > y",
        ]:
            text, attributes = node if isinstance(node, tuple) else (node, {})
            inputs, outputs = text.split(" > ")
            op, *inputs = inputs.split(" ")
            made.append(helper.make_node(op, inputs, outputs.split(), **attributes))
        ends = [
            helper.make_tensor_value_info("x", kind, list(sides)),
            helper.make_tensor_value_info("y", kind, [sides[0], 8]),
        ]
        initializers = [numpy_helper.from_array(v, k) for k, v in tensors.items()]
        graph = helper.make_graph(made, "g", ends[:1], ends[1:], initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
        onnx.save(model, tmp_path / "n.onnx", **how)
        return tmp_path / "n.onnx"

    return written


def by_runtime(path, pixels):
    """What the file makes of these numbers, beside this library."""
    import onnxruntime

    session = onnxruntime.InferenceSession(path)
    return session.run(None, {"x": pixels.transpose(0, 3, 1, 2).astype(np.float32)})[0]


@pytest.mark.parametrize("name", [*BYTES, *UNIT])
def test_a_normalisation_is_told_whatever_it_is_made_of(write, name):
    unit = name in UNIT
    nodes, constants, expected = (UNIT if unit else BYTES)[name]
    path = write(nodes, constants)
    found = graph_pixels(path)
    assert found.unit == unit
    if expected is not None:
        mean, std = (np.broadcast_to(v, 3) for v in expected)
        np.testing.assert_allclose(np.broadcast_to(found.mean, 3), mean, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(np.broadcast_to(found.std, 3), std, rtol=1e-4)
    embedder = embedding.load_embedder(path)
    assert embedder.assumed().startswith(f"mean 0, std {255 if unit else 1}, color rgb, since")
    rows = embedding.extract(embedder, FACES, PLAIN).values
    right = by_runtime(path, FACES / 255 if unit else FACES)
    np.testing.assert_allclose(rows, right, atol=1e-4 * np.abs(right).max())
    assert "twice is rarely" in embedding.load_embedder(path, mean=127.5, std=127.5)._warnings()[0]


@pytest.mark.parametrize("name", NEITHER)
def test_what_is_not_a_normalisation_is_not_taken_for_one(write, name):
    path = write(*NEITHER[name])
    assert graph_pixels(path) is None
    embedder = embedding.load_embedder(path)
    assert embedder.assumed() == "mean 127.5, std 127.5, color rgb, no flip"


@pytest.mark.parametrize(
    "how",
    [
        {"kind": np.float16},
        {"sides": (4, 3, 16, 16)},
        {"sides": ("N", 3, "H", "W")},
        {"sides": ("N", "C", "H", "W")},
        {"save_as_external_data": True, "location": "w", "size_threshold": 0},
    ],
)
def test_files_of_any_kind(write, how):
    path = write(["Identity x > a", *AFTER], {"m": f(127.5), "s": f(1 / 128)}, **how)
    assert str(graph_pixels(path)) == "of pixels 0..255 mean 127.5, std 128"


def test_another_output_is_asked_for(write):
    onnx = pytest.importorskip("onnx")
    path = write(["Identity x > z"], {"m": f(127.5)})
    model = onnx.load(path)
    model.graph.node.append(onnx.helper.make_node("Sub", ["x", "m"], ["centred"]))
    model.graph.output.append(onnx.helper.make_tensor_value_info("centred", 1, None))
    onnx.save(model, path)
    assert graph_pixels(path) is None and graph_pixels(path, "centred").mean == (127.5,)


@pytest.mark.parametrize("name", ["turned round", "1 x 1 convolution", "learned after it"])
def test_a_conversion_says_it_too(write, name):
    path = write(*BYTES[name][:2])
    with pytest.raises(ValueError, match=r"Its graph normalises them itself, of pixels 0\.\.255"):
        embedding.convert(path)
    with pytest.warns(UserWarning, match="twice is rarely meant"):
        embedding.convert(path, color="rgb", mean=127.5, std=127.5)


class Net(torch.nn.Module):
    def __init__(self, before):
        super().__init__()
        torch.manual_seed(0)
        self.conv, self.norm = torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(3)
        self.norm.running_mean += 120
        self.norm.running_var *= 3600
        self.register_buffer("mean", torch.tensor([123.7, 116.3, 103.5]).reshape(3, 1, 1))
        self.before = before

    def forward(self, x):
        return self.conv(self.before(self, x)).mean((2, 3))


COLOURS = [torch.tensor(values).reshape(3, 1, 1) for values in IMAGENET.values()]
MODULES = {
    "buffers": (lambda net, x: (x - net.mean) / 58, False),
    "in place": (lambda net, x: x.clone().sub_(127.5).div_(128), False),
    "exchanged": (lambda net, x: (x[:, [2, 1, 0]] - net.mean) / 58, False),
    "resized": (lambda net, x: functional.interpolate(x, size=(9, 9)) / 127.5 - 1, False),
    "clamped": (lambda net, x: (x.clamp(0, 255) / 255 - 0.5) / 0.5, False),
    "turned": (lambda net, x: 127.5 - x, False),
    "statistics": (lambda net, x: net.norm(x), False),
    "joined": (lambda net, x: torch.cat([x[:, :1] - 123, x[:, 1:] - 104], 1), False),
    "0..1": (lambda net, x: (x - COLOURS[0]) / COLOURS[1], True),
}


@pytest.mark.parametrize("scripted", [False, True])
@pytest.mark.parametrize("name", MODULES)
def test_a_module_that_normalises_pixels_gets_them_as_they_are(name, scripted):
    before, unit = MODULES[name]
    net = Net(before).eval()
    pixels = torch.from_numpy(FACES).permute(0, 3, 1, 2) / (255 if unit else 1)
    with torch.no_grad():
        right = net(pixels.float()).numpy()
    module = torch.jit.trace(net, pixels.float()) if scripted else net
    embedder = embedding.TorchEmbedder(module)
    assert ", since the module normalises them itself, of pixels 0.." in embedder.assumed()
    rows = embedding.extract(embedder, FACES, PLAIN).values
    np.testing.assert_allclose(rows, right, atol=1e-5 * np.abs(right).max())
    assert embedding.TorchEmbedder(module, mean=127.5, std=127.5, color="rgb")._warnings()
    wrapped = torch.nn.DataParallel(torch.nn.Sequential(module))
    assert embedding.TorchEmbedder(wrapped).assumed() == embedder.assumed()


@pytest.mark.parametrize(
    "module",
    [
        Net(lambda net, x: x),
        Net(lambda net, x: torch.tanh(x)),
        Net(lambda net, x: (x - x.mean((1, 2, 3), keepdim=True)) / x.std((1, 2, 3), keepdim=True)),
        torch.nn.Sequential(torch.nn.BatchNorm2d(3), torch.nn.Conv2d(3, 4, 16)).train(),
        torch.nn.Linear(16, 4),  # which takes no image of any other size
    ],
)
def test_a_module_that_does_not(module):
    training = module.training
    assert embedding.TorchEmbedder(module).assumed() == "mean 127.5, std 127.5, color rgb, no flip"
    assert module.training == training
