"""What a network says of its pixels itself: an ONNX graph that normalises them, a PyTorch module
with the configuration of the library that it is from."""

import json
import warnings
from types import SimpleNamespace

import facebench
import numpy as np
import pytest
import torch
from facebench import embedding
from facebench.embedding._graph_pixels import graph_pixels
from lfw_like import lfw_like

FACES = np.random.default_rng(0).integers(0, 256, (5, 8, 8, 3), np.uint8)
IMAGENET = ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])
STATED = {"mean": [123.675, 116.28, 103.53], "std": [58.395, 57.12, 57.375]}


def by_channel(*values):
    return np.array(values, np.float32).reshape(1, 3, 1, 1)


WEIGHT = np.random.default_rng(1).normal(size=(192, 6)).astype(np.float32)
NORM = {"g": (1, 1, 1), "s": (0, 0, 0)}
# The graph's beginning: (operation, constants...) one after the other, what a run then assumes, and
# what is left of pixels 0..255.
BEGINNINGS = {
    "mxnet": ([("Sub", 127.5), ("Mul", 1 / 128)], ([0], [1]), (127.5, 128)),
    "sub": ([("Sub", by_channel(131, 103, 91))], ([0], [1]), ([131, 103, 91], 1)),
    "add": ([("Add", -128)], ([0], [1]), (128, 1)),
    "div": ([("Div", 255)], ([0], [1]), (0, 255)),
    "mul": ([("Mul", 1 / 255)], ([0], [1]), (0, 255)),
    "torch": (
        [("Mul", 1 / 255), ("Sub", by_channel(*IMAGENET[0])), ("Div", by_channel(*IMAGENET[1]))],
        ([0], [1]),
        (STATED["mean"], STATED["std"]),
    ),
    "unit": (
        [("Sub", by_channel(*IMAGENET[0])), ("Div", by_channel(*IMAGENET[1]))],
        ([0], [255]),
        (STATED["mean"], STATED["std"]),
    ),
    "doubled": ([("Mul", 2), ("Sub", 1)], ([0], [255]), (127.5, 127.5)),
    "data": ([("BatchNormalization", (124, 116, 104), (3600, 3500, 3400))], ([0], [1]), None),
    "inner": ([("BatchNormalization", (0.1, 0, -0.1), (0.3, 0.25, 0.3))], ([127.5], [127.5]), None),
    "half": ([("Sub", 0.5), ("Mul", by_channel(0.9, -1, 2))], ([127.5], [127.5]), None),
    "scale": ([("Mul", by_channel(0.9, 1.1, 1.3))], ([127.5], [127.5]), None),
    "none": ([], ([127.5], [127.5]), (127.5, 127.5)),
}


@pytest.fixture
def write(tmp_path):
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    helper, floats = onnx.helper, onnx.TensorProto.FLOAT

    def written(steps, between=()):
        tensors, nodes, value = {"w": WEIGHT}, [], "x"
        for k, (op, *constants) in enumerate(steps):
            names = [f"c{k}.{i}" for i in range(len(constants))]
            if op == "BatchNormalization":
                constants = (*NORM.values(), *constants)
                names = [f"c{k}.{i}" for i in range(4)]
            tensors |= {n: np.float32(c) for n, c in zip(names, constants, strict=True)}
            nodes.append(helper.make_node(op, [value, *names], [f"v{k}"]))
            value = f"v{k}"
        for op in between:
            nodes.append(helper.make_node(op, [value], [op]))
            value = op
        nodes.append(helper.make_node("Flatten", [value], ["f"]))
        nodes.append(helper.make_node("MatMul", ["f", "w"], ["y"]))
        ends = [
            helper.make_tensor_value_info("x", floats, ["N", 3, 8, 8]),
            helper.make_tensor_value_info("y", floats, ["N", 6]),
        ]
        initializers = [onnx.numpy_helper.from_array(v, k) for k, v in tensors.items()]
        graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
        onnx.save(model, tmp_path / "n.onnx")
        return tmp_path / "n.onnx"

    return written


@pytest.mark.filterwarnings("ignore:.*does not say what its pixels are")
@pytest.mark.parametrize("name", BEGINNINGS)
def test_a_graph_that_normalises_pixels_gets_them_as_they_are(write, name):
    steps, (mean, std), whole = BEGINNINGS[name]
    path = write(steps)
    embedder = embedding.load_embedder(path)
    assert embedder._pixels() == {"mean": mean, "std": std, "color": "rgb"}
    own = (mean, std) != ([127.5], [127.5])
    assert ("since the graph normalises them itself" in embedder.assumed()) == own
    assert ("graph_pixels" in embedder.description) == own
    if whole is not None:  # by hand, from the pixels 0..255
        plain = embedding.ExtractOptions(normalization="none")
        found = embedding.extract(embedder, FACES, plain).values
        x = (FACES.astype(np.float64) - whole[0]) / whole[1]
        expected = x.transpose(0, 3, 1, 2).reshape(5, -1) @ WEIGHT
        np.testing.assert_allclose(found, expected, atol=2e-5 * np.abs(expected).max())
    given = embedding.load_embedder(path, mean=127.5, std=128, color="bgr")
    assert bool(given._warnings()) == own and given._pixels()["std"] == [128]
    if own:
        with pytest.warns(UserWarning, match=f"twice is rarely.*mean=0, std={std[0]} it gets"):
            embedding._foreign.warn_of_assumptions(given, "none")
        right = embedding.load_embedder(path, mean=mean, std=std, color="rgb")
        assert right._warnings() == [] and right.assumed() == ""


def test_the_run_says_it(write, tmp_path):
    how = {
        "root": lfw_like(tmp_path / "lfw"),
        "detector": "none",
        "interval": "none",
        "crop": "paper",
    }
    path = write(BEGINNINGS["mxnet"][0])
    inside = "since the graph normalises them itself, of pixels 0..255 mean 127.5, std 128"
    with pytest.warns(UserWarning, match=f"assumed: mean 0, std 1, color rgb, {inside}, no flip"):
        result = facebench.run("lfw", model=path, crop_size=8, out=tmp_path / "a", **how)
    assert any(inside in w for w in result.warnings)
    stated = {"mean": 127.5, "std": 127.5, "color": "rgb", "flip": "sum"}
    with pytest.warns(UserWarning, match="twice is rarely meant"):
        result = facebench.run("lfw", model=path, crop_size=8, out=tmp_path / "b", **stated, **how)
    assert any("twice is rarely meant" in w for w in result.warnings)
    run = json.loads((tmp_path / "b/run.json").read_text())["content"]
    assert "twice" in run["embeddings"]["manifest"]["model"]["warnings"][0]
    assert "twice is rarely meant" in (tmp_path / "b/report.md").read_text()
    assert all(check["same"] is not False for check in facebench.verify(tmp_path / "b").checks)


def test_a_conversion_says_it(write):
    path = write([("Sub", 127.5), ("Mul", 1 / 128)], between=["Relu"])
    with pytest.raises(ValueError, match=r"state color, mean, std\. Its graph normalises them its"):
        embedding.convert(path)
    with pytest.warns(UserWarning, match="twice is rarely meant"):
        embedding.convert(path, color="rgb", mean=127.5, std=127.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        embedding.convert(path, color="rgb", mean=0, std=1)


def test_what_the_graph_does_later_is_its_own(write):
    assert graph_pixels(write([], between=["Relu"])) is None


class Net(torch.nn.Module):
    def __init__(self, **said):
        super().__init__()
        self.pool = torch.nn.AdaptiveAvgPool2d(2)
        for name, value in said.items():
            setattr(self, name, value)

    def forward(self, x):
        return self.pool(x).flatten(1)


MEAN, STD = IMAGENET
SIZE = (3, 8, 8)
MCN = {"mean": [129.186, 104.762, 93.594], "std": [1, 1, 1], "imageSize": [8, 8, 3]}
CADENE = {"mean": MEAN, "std": STD, "input_range": [0, 1], "input_size": [3, 8, 8]}


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        (Net(pretrained_cfg={"mean": MEAN, "std": STD, "input_size": SIZE}), STATED),
        (Net(pretrained_cfg=SimpleNamespace(mean=MEAN, std=STD, input_size=SIZE)), STATED),
        (Net(default_cfg={"mean": (0.5,) * 3, "std": (0.5,) * 3}), {"mean": [127.5] * 3}),
        (Net(pretrained_cfg={"mean": (0,) * 3, "std": (1,) * 3}), {"mean": [0] * 3}),
        (Net(config=SimpleNamespace(image_mean=MEAN, image_std=STD)), STATED),
        (Net(meta=MCN), {"mean": MCN["mean"], "std": [1, 1, 1]}),
        (Net(**CADENE, input_space="BGR"), STATED | {"color": "bgr"}),
        (torch.nn.DataParallel(Net(pretrained_cfg={"mean": MEAN, "std": STD})), STATED),
    ],
)
def test_a_module_that_says_its_pixels(module, expected):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        embedder = embedding.TorchEmbedder(module)
        found = embedding.extract(embedder, FACES)
    assert embedder.assumed() == ""
    stated = {"color": "rgb", **expected}
    stated["std"] = stated.get("std", embedder._pixels()["std"])
    assert embedder._pixels() == stated
    by_hand = embedding.extract(embedding.TorchEmbedder(module, **stated), FACES)
    assert np.array_equal(found.values, by_hand.values)
    assert found.manifest["model"]["stated_by_module"]["attribute"]


@pytest.mark.parametrize(
    "module",
    [
        Net(),
        Net(pretrained_cfg={}),
        Net(pretrained_cfg={"mean": MEAN}),
        Net(pretrained_cfg={"mean": "imagenet", "std": STD}),
        Net(pretrained_cfg={"mean": [123.7, 116.3, 103.5], "std": [58.4, 57.1, 57.4]}),
        Net(pretrained_cfg={"mean": MEAN, "std": STD, "input_size": (1, 8, 8)}),
        Net(mean=MEAN, std=STD),
        Net(config={"hidden": 3}),
    ],
)
def test_what_is_not_said_clearly_is_assumed(module):
    embedder = embedding.TorchEmbedder(module)
    assert embedder.assumed() == "mean 127.5, std 127.5, color rgb, no flip"


def test_what_the_caller_states_counts():
    module = Net(pretrained_cfg={"mean": MEAN, "std": STD})
    embedder = embedding.TorchEmbedder(module, mean=1, color="bgr")
    assert embedder._pixels() == {"mean": [1], "std": STATED["std"], "color": "bgr"}


def test_the_size_that_a_module_says():
    said = {"mean": MEAN, "std": STD, "input_size": (3, 9, 9)}
    with pytest.warns(UserWarning, match="pretrained_cfg says 9 x 9 pixels, the crops are 8 x 8"):
        embedding.extract(embedding.TorchEmbedder(Net(pretrained_cfg=said)), FACES)
    fixed = Net(pretrained_cfg={**said, "fixed_input_size": True})
    with pytest.raises(ValueError, match=r"the model .* takes 9 x 9"):
        embedding.extract(embedding.TorchEmbedder(fixed), FACES)
