"""Inputs of ONNX files that are not float32 (N, C, H, W)."""

import facebench
import numpy as np
import pytest
from facebench import embedding

RNG = np.random.default_rng(3)
FACES = RNG.integers(0, 256, (5, 16, 12, 3), np.uint8)
WEIGHTS = RNG.normal(size=(8, 3, 3, 3)).astype(np.float32) * 0.1
PLAIN = embedding.ExtractOptions(flip="none", normalization="none")


@pytest.fixture
def write(tmp_path):
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    h = onnx.helper

    def written(kind="FLOAT", last=False, sides=(16, 12), inside=False, channels=3):
        kind = getattr(onnx.TensorProto, kind)
        nodes = [h.make_node("Cast", ["x"], ["x32"], to=onnx.TensorProto.FLOAT)]
        if last:
            nodes.append(h.make_node("Transpose", ["x32"], ["first"], perm=[0, 3, 1, 2]))
        else:
            nodes.append(h.make_node("Identity", ["x32"], ["first"]))
        constants = {"w": WEIGHTS, "mean": np.float32(127.5), "std": np.float32(128)}
        if inside:
            nodes.append(h.make_node("Sub", ["first", "mean"], ["less"]))
            nodes.append(h.make_node("Div", ["less", "std"], ["ready"]))
        else:
            nodes.append(h.make_node("Identity", ["first"], ["ready"]))
        nodes.append(h.make_node("Conv", ["ready", "w"], ["conv"]))
        nodes.append(h.make_node("Relu", ["conv"], ["relu"]))
        nodes.append(h.make_node("GlobalAveragePool", ["relu"], ["pool"]))
        nodes.append(h.make_node("Flatten", ["pool"], ["y"]))
        shape = ["N", *sides, channels] if last else ["N", channels, *sides]
        graph = h.make_graph(
            nodes,
            "g",
            [h.make_tensor_value_info("x", kind, shape)],
            [h.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["N", 8])],
            [onnx.numpy_helper.from_array(v, k) for k, v in constants.items()],
        )
        model = h.make_model(graph, opset_imports=[h.make_opsetid("", 13)], ir_version=8)
        onnx.save(model, tmp_path / "n.onnx")
        return tmp_path / "n.onnx"

    return written


def by_hand(numbers):
    """The network's rows of numbers (N, H, W, C), by numpy."""
    windows = np.lib.stride_tricks.sliding_window_view(numbers.astype(np.float64), (3, 3), (1, 2))
    conv = np.einsum("nhwcij,ocij->nhwo", windows, WEIGHTS.astype(np.float64))
    return np.maximum(conv, 0).mean((1, 2))


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize(
    ("kind", "limit"), [("FLOAT", 1e-5), ("FLOAT16", 2e-3), ("DOUBLE", 1e-5), ("UINT8", 1e-5)]
)
def test_each_type_and_order_gives_the_numbers_of_numpy(write, kind, limit, last):
    path = write(kind, last)
    pixels = (0, 1) if kind == "UINT8" else (127.5, 128)
    embedder = embedding.load_embedder(path, mean=pixels[0], std=pixels[1], color="rgb")
    rows = embedding.extract(embedder, FACES, PLAIN).values
    right = by_hand((FACES - pixels[0]) / pixels[1])
    np.testing.assert_allclose(rows, right, atol=limit * np.abs(right).max())


@pytest.mark.parametrize("sides", [(16, 12), ("H", "W"), (None, None)])
@pytest.mark.parametrize("kind", ["FLOAT", "UINT8"])
def test_a_graph_with_channels_last_is_asked_how_it_normalises(write, kind, sides):
    path = write(kind, last=True, sides=sides, inside=True)
    embedder = embedding.load_embedder(path)
    assert embedder.assumed().startswith("mean 0, std 1, color rgb")
    rows = embedding.extract(embedder, FACES, PLAIN).values
    right = by_hand((FACES - 127.5) / 128)
    np.testing.assert_allclose(rows, right, atol=1e-5 * np.abs(right).max())


def test_grey_with_channels_last(write):
    with pytest.raises(facebench.Error, match=r"expected \(N, 1, H, W\) or \(N, H, W, 1\)"):
        embedding.load_embedder(write(last=True), mean=0, std=1, color="gray")
    assert embedding.load_embedder(write(last=True, channels=1), mean=0, std=1, color="gray")


def test_bytes_are_not_normalised_outside(write):
    with pytest.raises(ValueError, match="uint8, which takes pixels as they are"):
        embedding.load_embedder(write("UINT8"), mean=127.5, std=128, color="rgb")


def test_another_type_is_named_where_the_file_is_opened(write):
    with pytest.raises(facebench.Error, match=r"is a tensor\(int8\), which is not given"):
        embedding.load_embedder(write("INT8"), mean=0, std=1, color="rgb")


@pytest.mark.parametrize("kind", ["FLOAT", "FLOAT16"])
def test_casts_between_floats_are_converted(write, tmp_path, kind):
    path = write(kind)
    embedding.convert(path, out=tmp_path / "m.safetensors", mean=127.5, std=128, color="rgb")
    model = embedding.load_model(tmp_path / "m.safetensors")
    right = by_hand((FACES - 127.5) / 128)
    rows = embedding.extract(model, FACES, PLAIN).values
    np.testing.assert_allclose(rows, right, atol=2e-3 * np.abs(right).max())


@pytest.mark.parametrize("kind", ["UINT8", "DOUBLE"])
def test_casts_of_other_inputs_are_refused(write, kind):
    with pytest.raises(facebench.Error, match="is a Cast, which cannot be converted"):
        embedding.convert(write(kind), mean=0, std=1, color="rgb")


@pytest.mark.parametrize("sides", [(16, 12), (None, None)])
def test_channels_last_are_not_converted(write, sides):
    with pytest.raises(facebench.Error, match=r"channels last: .* onnxruntime runs them"):
        embedding.convert(write(last=True, sides=sides), mean=127.5, std=128, color="rgb")


def test_a_quantised_file_is_called_so(write):
    path = write()
    onnx = pytest.importorskip("onnx")
    model = onnx.load(path)
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.int8([0, 1]), "zero"))
    onnx.save(model, path)
    with pytest.raises(facebench.Error, match="'zero' is int8, a quantised network"):
        embedding.convert(path, mean=127.5, std=128, color="rgb")
