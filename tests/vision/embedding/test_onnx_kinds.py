"""ONNX files as other tools write them: they run, or one sentence says what does."""

import json

import facebench
import numpy as np
import pytest
from command_line import invoke
from facebench import embedding, images
from facebench._library import full
from facebench.lab.studies import shorter
from lfw_like import lfw_like

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
h, T = onnx.helper, onnx.TensorProto
RNG = np.random.default_rng(2)
FACES = RNG.integers(0, 256, (4, 12, 10, 3), np.uint8)
W = RNG.normal(size=(6, 3, 3, 3)).astype(np.float32) * 0.2
M = RNG.normal(size=(6 * 10 * 8, 5)).astype(np.float32) * 0.1
SLOPE = RNG.random(6).astype(np.float32)
PLAIN = embedding.ExtractOptions(flip="none", normalization="none")
PIXELS = {"mean": 127.5, "std": 127.5, "color": "rgb"}


def write(path, middle, constants, opset=13, outputs=("y",), more=()):
    """Convolution, ``middle`` from "c" to "e", a matrix."""
    nodes = [
        h.make_node("Conv", ["x", "w"], ["c"]),
        *middle,
        h.make_node("Flatten", ["e"], ["f"]),
        h.make_node("MatMul", ["f", "m"], ["y"]),
        *more,
    ]
    values = {"w": W, "m": M, **constants}
    graph = h.make_graph(
        nodes,
        "g",
        [h.make_tensor_value_info("x", T.FLOAT, ["N", 3, 12, 10])],
        [h.make_tensor_value_info(name, T.FLOAT, ["N", n]) for name, n in outputs]
        if outputs != ("y",)
        else [h.make_tensor_value_info("y", T.FLOAT, ["N", 5])],
        [onnx.numpy_helper.from_array(np.asarray(v), k) for k, v in constants_of(values)],
    )
    version = 4 if opset < 10 else 8
    onnx.save(
        h.make_model(graph, opset_imports=[h.make_opsetid("", opset)], ir_version=version), path
    )
    return path


def constants_of(values):
    return values.items()


def rows(function):
    """What the network gives, by numpy; ``function`` of the convolution (N, 6, H, W)."""
    x = (FACES.astype(np.float64) - 127.5) / 127.5
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (1, 2))
    conv = np.einsum("nhwcij,ocij->nohw", windows, W.astype(np.float64))
    return function(conv).reshape(len(x), -1) @ M.astype(np.float64)


def prelu(x):
    return np.maximum(x, 0) + SLOPE[:, None, None] * np.minimum(x, 0)


BN = {name: np.abs(RNG.normal(size=6)).astype(np.float32) + 0.5 for name in ("s", "b", "mu", "v")}


def batch_norm(x):
    s, b, mu, v = (BN[name].astype(np.float64)[:, None, None] for name in ("s", "b", "mu", "v"))
    return (x - mu) / np.sqrt(v + 1e-5) * s + b


SPREAD = {"sl": SLOPE.reshape(6, 1, 1), "z": np.float32(0)}
KINDS = {
    "max and min": (
        [
            h.make_node("Max", ["c", "z"], ["p"]),
            h.make_node("Min", ["z", "c"], ["n"]),
            h.make_node("Mul", ["n", "sl"], ["q"]),
            h.make_node("Add", ["p", "q"], ["e"]),
        ],
        SPREAD,
        13,
        prelu,
    ),
    "relu and relu": (
        [
            h.make_node("Relu", ["c"], ["p"]),
            h.make_node("Neg", ["c"], ["n"]),
            h.make_node("Relu", ["n"], ["r"]),
            h.make_node("Mul", ["r", "sl"], ["q"]),
            h.make_node("Sub", ["p", "q"], ["e"]),
        ],
        {"sl": SPREAD["sl"]},
        13,
        prelu,
    ),
    "spatial=0": (
        [
            h.make_node(
                "BatchNormalization", ["c", "s", "b", "mu", "v"], ["e"], spatial=0, epsilon=1e-5
            )
        ],
        BN,
        7,
        batch_norm,
    ),
    "tanh": ([h.make_node("Tanh", ["c"], ["e"])], {}, 13, np.tanh),
}


@pytest.mark.parametrize("kind", KINDS)
def test_it_runs_and_is_converted(kind, tmp_path):
    middle, constants, opset, function = KINDS[kind]
    path = write(tmp_path / "m.onnx", middle, constants, opset)
    right = rows(function)
    most = 1e-5 * np.abs(right).max()
    run = embedding.load_embedder(path, **PIXELS)
    np.testing.assert_allclose(embedding.extract(run, FACES, PLAIN).values, right, atol=most)
    model = embedding.convert(path, **PIXELS)
    np.testing.assert_allclose(embedding.extract(model, FACES, PLAIN).values, right, atol=most)


def test_slopes_without_sides_are_those_of_channels(tmp_path):
    """As mxnet writes them; onnxruntime spreads them over the last side, and refuses."""
    path = write(tmp_path / "m.onnx", [h.make_node("PRelu", ["c", "sl"], ["e"])], {"sl": SLOPE}, 9)
    with pytest.raises(facebench.Error, match=r"cannot run it.*facebench convert reads it"):
        embedding.extract(embedding.load_embedder(path, **PIXELS), FACES)
    with pytest.warns(UserWarning, match="not compared"):
        model = embedding.convert(path, **PIXELS)
    right = rows(prelu)
    np.testing.assert_allclose(
        embedding.extract(model, FACES, PLAIN).values, right, atol=1e-5 * np.abs(right).max()
    )


@pytest.mark.parametrize("operation", ["Erf", "Softplus", "Elu", "Softsign"])
def test_what_is_not_converted_is_run_and_named(operation, tmp_path):
    path = write(tmp_path / "m.onnx", [h.make_node(operation, ["c"], ["e"])], {})
    assert embedding.extract(embedding.load_embedder(path, **PIXELS), FACES).values.shape == (4, 5)
    with pytest.raises(facebench.Error, match=f"is an? {operation}, which cannot be converted"):
        embedding.convert(path, **PIXELS)


def relu(path, **more):
    return write(path, [h.make_node("Relu", ["c"], ["e"])], {}, **more)


@pytest.mark.parametrize("names", [["cpu"], ["CPUExecutionProvider"], "cpu", ("CPU",)])
def test_providers_by_name(names, tmp_path):
    path = relu(tmp_path / "m.onnx")
    plain = embedding.extract(embedding.load_embedder(path, **PIXELS), FACES).values
    embedder = embedding.load_embedder(path, providers=names, **PIXELS)
    np.testing.assert_array_equal(embedding.extract(embedder, FACES).values, plain)
    assert embedder.description["providers"] == ["CPUExecutionProvider"]


@pytest.mark.parametrize(
    ("names", "error", "text"),
    [
        (["openvimo"], ValueError, "has .*CPUExecutionProvider.*onnxruntime-openvino"),
        ([], TypeError, "expected names"),
        ([3], TypeError, "expected names"),
        ({"cpu": 1}, TypeError, "expected names"),
        (["cpu", "CPUExecutionProvider"], ValueError, "named twice"),
        ("cpu,,", ValueError, "provider '' is not"),
    ],
)
def test_providers_that_are_none(names, error, text, tmp_path):
    with pytest.raises(error, match=text):
        embedding.load_embedder(relu(tmp_path / "m.onnx"), providers=names, **PIXELS)


def test_a_provider_that_does_not_start_is_not_replaced(tmp_path, monkeypatch):
    monkeypatch.setattr(
        onnxruntime, "get_available_providers", lambda: ["TensorrtExecutionProvider"]
    )
    with pytest.raises(facebench.Error, match="TensorrtExecutionProvider"):
        embedding.load_embedder(relu(tmp_path / "m.onnx"), providers="tensorrt", **PIXELS)


def test_providers_are_of_onnx_files_alone(tmp_path):
    embedding.make_model("small4", height=12, width=10).save(tmp_path / "m.safetensors")
    for model in (tmp_path / "m.safetensors", "dlib", len, "math:sqrt"):
        with pytest.raises(ValueError, match="providers: are of ONNX files"):
            embedding.load_embedder(model, providers=["cpu"])
    with pytest.raises(ValueError, match="both given"):
        embedding.OnnxEmbedder(relu(tmp_path / "m.onnx"), providers=["cpu"], precision="tf32")


@pytest.fixture
def two(tmp_path):
    norm = h.make_node("ReduceL2", ["y"], ["norm"], axes=[1], keepdims=1)
    return relu(tmp_path / "two.onnx", outputs=(("norm", 1), ("y", 5)), more=[norm])


def test_the_command_line_names_outputs_and_providers(two, tmp_path):
    lfw_like(tmp_path / "lfw", size=32)
    pixels = ("--set", "mean=127.5", "--set", "std=127.5", "--set", "color=rgb")
    how = (
        *("run", "lfw", "--model", two, "--root", tmp_path / "lfw", "--detector", "none"),
        *("--crop-size", "10x12", "--quiet", "--interval", "none", "--no-cache", *pixels),
    )
    run = tmp_path / "run"
    invoke(*how, "--output", "y", "--providers", "cpu", "--out", run)
    said = json.dumps(json.loads((run / "run.json").read_text()))
    assert '"output": "y"' in said and '"providers": ["CPUExecutionProvider"]' in said
    done = invoke(*how, "--out", tmp_path / "b", code=1)
    assert "has one number for each image; others: y" in done.output + done.stderr
    done = invoke(*how, "--output", "z", "--out", tmp_path / "c", code=2)
    assert "has no output 'z'; it has norm, y" in done.output + done.stderr
    done = invoke(*how, "--output", "y", "--set", "output=y", "--out", tmp_path / "d", code=2)
    assert "are both given" in done.output + done.stderr
    invoke("convert", two, "--output", "y", *pixels, "--out", tmp_path / "m.safetensors")
    assert embedding.load_model(tmp_path / "m.safetensors").embedding_size == 5


def test_devices_of_pack_compare_and_suite(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(full, "pack", lambda *given: asked.append(given[3].detector_options))
    facebench.pack("folder", tmp_path, tmp_path / "p.h5", device="cuda:1")
    more = {"mode": "facenet"}
    facebench.pack("folder", tmp_path, tmp_path / "p.h5", device="cuda", detector_options=more)
    own = {"device": "cpu"}
    facebench.pack("folder", tmp_path, tmp_path / "p.h5", device="cuda", detector_options=own)
    facebench.pack("folder", tmp_path, tmp_path / "p.h5")
    assert asked[0] == ["device=cuda:1"] and sorted(asked[1]) == ["device=cuda", "mode=facenet"]
    assert asked[2:] == [["device=cpu"], None]
    with pytest.raises(ValueError, match="no detector is run"):
        facebench.pack("folder", tmp_path, tmp_path / "p.h5", device="cuda", detector="none")

    class Described(Exception):
        pass

    def stop(study, *_, device, **__):
        raise Described(device, [row["prepare"] for row in study.tables[0].rows])

    monkeypatch.setattr(shorter, "make_study", stop)
    with pytest.raises(Described) as found:
        facebench.suite(models=["m.onnx"], sets=["lfw=LFW"], out=tmp_path / "s", device="cuda")
    assert found.value.args == ("cuda", [{"device": "cuda"}])
    images.write(tmp_path / "a.png", np.zeros((20, 20, 3), np.uint8))
    photo = tmp_path / "a.png"
    for words in (
        ("compare", photo, photo, "--device", "gpu"),
        ("suite", "--models", "m.onnx", "--sets", "lfw=LFW", "--device", "gpu"),
        ("pack", "folder", "--root", tmp_path, "--device", "gpu"),
    ):
        done = invoke(*words, code=2)
        assert "device" in done.output + done.stderr


def test_assumed_pixels_are_said_once_by_extract(tmp_path, recwarn):
    path = relu(tmp_path / "m.onnx")
    embedder = embedding.load_embedder(path)
    for _ in range(2):
        embedding.extract(embedder, FACES)
    said = [str(w.message) for w in recwarn]
    assert len(said) == 1 and "assumed: mean 127.5, std 127.5, color rgb" in said[0]
    recwarn.clear()
    embedding.extract(embedding.load_embedder(path, mean=0, std=255), FACES)  # of color none
    normalises = [
        h.make_node("Sub", ["c", "b"], ["e"]),
    ]
    inside = write(tmp_path / "n.onnx", normalises, {"b": np.float32(1)})
    model = onnx.load(inside)
    model.graph.node.insert(0, h.make_node("Sub", ["x", "half"], ["x0"]))
    model.graph.node[1].input[0] = "x0"
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.float32(127.5), "half"))
    onnx.save(model, inside)
    embedding.extract(embedding.load_embedder(inside), FACES)  # which normalises them itself
    assert [str(w.message) for w in recwarn] == []
