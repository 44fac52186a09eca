"""A converted ONNX file gives what ONNX Runtime gives, or is refused; the conversion says which."""

import contextlib
import sys
import warnings

import numpy as np
import pytest
import torch
from command_line import invoke
from facebench import Error, embedding, nn
from facebench.embedding import _onnx_comparison, _onnx_operations

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
helper = onnx.helper
FLOAT = onnx.TensorProto.FLOAT
PIXELS = {"color": "rgb", "mean": 127.5, "std": 127.5}


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


def node(op, inputs, outputs, **attributes):
    name = f"the {op} of {outputs.split()[0]}"
    return helper.make_node(op, inputs.split(), outputs.split(), name=name, **attributes)


def write(path, nodes, opset=13, outputs=("out",), side=13, functions=(), **tensors):
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", FLOAT, ["N", 3, side, side])],
        [helper.make_tensor_value_info(name, FLOAT, None) for name in outputs],
        [onnx.numpy_helper.from_array(np.asarray(v), k) for k, v in tensors.items()],
    )
    opsets = [helper.make_opsetid("", opset)]
    onnx.save(
        helper.make_model(graph, opset_imports=opsets, ir_version=8, functions=functions), path
    )
    return path


def runtime(path, x):
    """Image by image, as ONNX Runtime has it, without this library."""
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return np.concatenate([session.run(None, {"x": image[None]})[0] for image in x]).reshape(
        len(x), -1
    )


def converted(path):
    """The model, and its embeddings of random images beside ONNX Runtime's."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = embedding.convert(path, **PIXELS)
    x = numbers(2, *model.weights.graph.input_shape, seed=5)
    ours = nn.InferenceNetwork(model.weights).infer(torch.from_numpy(x)).numpy().reshape(2, -1)
    return ours, runtime(path, x)


def assert_same(path):
    ours, theirs = converted(path)
    np.testing.assert_allclose(ours, theirs, atol=1e-5 * np.abs(theirs).max())


def after(*nodes):
    return [*nodes, node("Flatten", "y", "f"), node("MatMul", "f m", "out")]


PAD = np.array([0, 0, 1, 0, 0, 0, 2, 3])


@pytest.mark.parametrize("automatic", ["SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"])
@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize(("kernel", "dilation"), [(3, 1), (2, 1), (3, 2)])
@pytest.mark.parametrize("padded", [False, True])
def test_convolutions_with_padding_by_name(tmp_path, automatic, stride, kernel, dilation, padded):
    nodes = [node("Pad", "x pads", "p")] if padded else [node("Identity", "x", "p")]
    how = {"auto_pad": automatic, "strides": [stride] * 2, "dilations": [dilation] * 2}
    nodes += [node("Conv", "p w", "y", **how), node("GlobalAveragePool", "y", "z")]
    nodes += [node("Flatten", "z", "out")]
    path = write(tmp_path / "n.onnx", nodes, pads=PAD, w=numbers(4, 3, kernel, kernel))
    if dilation > 1 and automatic.startswith("SAME"):  # which onnxruntime does not compute
        with pytest.warns(UserWarning, match="not compared with onnxruntime, which cannot run it"):
            embedding.convert(path, **PIXELS)
        return
    assert_same(path)


@pytest.mark.parametrize("op", ["AveragePool", "MaxPool"])
@pytest.mark.parametrize(
    "how",
    [
        {"auto_pad": "SAME_UPPER"},
        {"auto_pad": "SAME_LOWER"},
        {"auto_pad": "VALID"},
        {"pads": [1, 1, 1, 1]},
        {"pads": [1, 1, 1, 1], "ceil_mode": 1},
        {"pads": [0, 0, 1, 1], "ceil_mode": 1},
        {"pads": [1, 0, 0, 1]},
        {"pads": [1, 1, 1, 1], "count_include_pad": 1},
        {"pads": [1, 1, 1, 1], "count_include_pad": 1, "ceil_mode": 1},
        {"ceil_mode": 1},
    ],
)
@pytest.mark.parametrize("padded", [False, True])
def test_pools_are_equal_or_refused(tmp_path, op, how, padded):
    """What ONNX Runtime and this library take for different things is an error, not a number."""
    if op == "MaxPool":
        how = {k: v for k, v in how.items() if k != "count_include_pad"}
    pad = node("Pad", "c pads", "p") if padded else node("Identity", "c", "p")
    nodes = [node("Conv", "x w", "c"), pad]
    nodes += after(node(op, "p", "y", kernel_shape=[3, 3], strides=[2, 2], **how))
    path = tmp_path / "n.onnx"
    tensors = {"pads": PAD, "w": numbers(4, 3, 1, 1)}
    for rows in range(4 * 4 * 4, 4 * 10 * 10, 4):  # the matrix that fits the pool's result
        write(path, nodes, **tensors, m=numbers(rows, 5))
        try:
            runtime(path, numbers(1, 3, 13, 13))
        except Exception:
            continue
        break
    may_be_refused = padded or "ceil_mode" in how or how.get("pads") == [1, 0, 0, 1]
    with contextlib.suppress(Error) if may_be_refused else contextlib.nullcontext():
        assert_same(path)


def test_a_batch_norm_in_training_mode_is_refused(tmp_path):
    norm = {k: np.abs(numbers(3, seed=i)) for i, k in enumerate(("s", "b", "a", "v"))}
    tail = [node("Flatten", "y", "f"), node("MatMul", "f m", "out")]
    path, m = tmp_path / "n.onnx", numbers(507, 5)
    assert_same(write(path, [node("BatchNormalization", "x s b a v", "y"), *tail], **norm, m=m))
    for outputs, opset, how in (("y a1 v1 a2 v2", 9, {}), ("y a1 v1", 15, {"training_mode": 1})):
        nodes = [node("BatchNormalization", "x s b a v", outputs, **how), *tail]
        write(path, nodes, opset, **norm, m=m)
        with pytest.raises(
            Error, match=r"is a BatchNormalization.*in training mode: it normalises"
        ):
            embedding.convert(path, **PIXELS)
    dropout = [node("Dropout", "x r t", "y"), *tail]
    write(path, dropout, r=np.float32(0.5), t=np.array(True), m=m)
    with pytest.raises(Error, match=r"is a Dropout.*in training mode"):
        embedding.convert(path, **PIXELS)
    assert_same(write(path, dropout, r=np.float32(0.5), t=np.array(False), m=m))


def plain(path, **how):
    nodes = [node("Conv", "x w", "y"), *after()]
    return write(path, nodes, **how, w=numbers(4, 3, 3, 3), m=numbers(4 * 121, 5))


def test_the_conversion_says_so(tmp_path, monkeypatch):
    path, out = plain(tmp_path / "n.onnx"), tmp_path / "m.safetensors"
    pixels = [f"--set={name}={value}" for name, value in PIXELS.items()]
    answer = invoke("convert", path, *pixels, "--out", out)
    assert "compared with onnxruntime on three inputs: largest difference" in answer.output
    with monkeypatch.context() as m:
        m.setitem(sys.modules, "onnxruntime", None)
        assert (
            "not compared with onnxruntime, which is not"
            in invoke("convert", path, *pixels, "--out", out).output
        )
        with pytest.warns(UserWarning, match="network was not compared with onnxruntime, which"):
            embedding.convert(path, **PIXELS)


@pytest.mark.parametrize("wrong", ["slope", "epsilon", "stride"])
def test_another_meaning_of_a_node_is_an_error(tmp_path, monkeypatch, wrong):
    """An import that takes a node for something else does not come through."""
    nodes = [node("Conv", "x w", "c"), node("LeakyRelu", "c", "r", alpha=0.2)]
    nodes += [node("BatchNormalization", "r s b a v", "n", epsilon=0.1)]
    nodes += [node("GlobalAveragePool", "n", "z"), node("Flatten", "z", "out")]
    norm = {k: np.abs(numbers(4, seed=i)) for i, k in enumerate(("s", "b", "a", "v"))}
    path = write(tmp_path / "n.onnx", nodes, w=numbers(4, 3, 3, 3), **norm)
    assert_same(path)
    before = _onnx_operations.Operations._attribute
    names = {"slope": "alpha", "epsilon": "epsilon", "stride": "strides"}
    instead = {"alpha": 0.1, "epsilon": 0.2, "strides": [2, 2]}

    def attribute(self, name, default=None):
        return instead[name] if name == names[wrong] else before(self, name, default)

    monkeypatch.setattr(_onnx_operations.Operations, "_attribute", attribute)
    with pytest.raises(Error, match="gives other embeddings here than by onnxruntime: on three"):
        embedding.convert(path, out=tmp_path / "m.safetensors", **PIXELS)
    assert not (tmp_path / "m.safetensors").exists()
    how = embedding.ExtractOptions(executor="torch")
    with pytest.raises(Error, match="gives other embeddings here"):
        embedding.load_embedder(path, how, **PIXELS)


def test_only_what_was_accepted_runs(tmp_path, monkeypatch):
    """Outputs that are not taken, functions and what a file is full of beside its network are not
    given to ONNX Runtime."""
    huge = [
        node("ConstantOfShape", "size", "big"),
        node("Exp", "big", "bigger"),
        node("ReduceSum", "bigger", "other", keepdims=0),
    ]
    body = [helper.make_node("Neg", ["a"], ["b"])]
    opset = [helper.make_opsetid("", 13)]
    functions = [helper.make_function("mine", "Relu", ["a"], ["b"], body, opset)]
    nodes = [node("Conv", "x w", "y"), *after(), *huge]
    path = tmp_path / "n.onnx"
    tensors = {"w": numbers(4, 3, 3, 3), "m": numbers(4 * 121, 5)}
    size = np.array([1 << 40])
    write(path, nodes, outputs=("out", "other"), functions=functions, size=size, **tensors)
    seen = []
    written = _onnx_comparison._written

    def kept(*args):
        seen.append(onnx.load_from_string(written(*args)))
        return written(*args)

    monkeypatch.setattr(_onnx_comparison, "_written", kept)
    embedding.convert(path, **PIXELS)
    (model,) = seen
    assert [n.op_type for n in model.graph.node] == ["Conv", "Flatten", "MatMul"]
    assert [t.name for t in model.graph.initializer] == ["w", "m"] and not model.functions
    assert [o.name for o in model.graph.output] == ["out"]


def test_what_is_too_large_is_not_run(tmp_path, monkeypatch):
    path = plain(tmp_path / "n.onnx")
    for bound in ("MOST_WORK", "MOST_VALUES", "MOST_BYTES"):
        with monkeypatch.context() as m:
            m.setattr(_onnx_comparison, bound, 100)
            with pytest.warns(UserWarning, match="too large to be run for that"):
                embedding.convert(path, **PIXELS)
    wide = np.array([0, 0, 1 << 20, 1 << 20, 0, 0, 1 << 20, 1 << 20])
    nodes = [node("Pad", "x pads", "p"), node("Conv", "p w", "y", strides=[1 << 19] * 2), *after()]
    write(path, nodes, pads=wide, w=numbers(4, 3, 1, 1), m=numbers(4, 5))
    with pytest.raises(Error, match=r"is a Pad.*more than 67108864"):
        embedding.convert(path, **PIXELS)


def test_an_output_of_one_number_is_no_embedding(tmp_path):
    """A norm, or a quality, first and the embedding second."""
    body = [node("Conv", "x w", "y"), node("Flatten", "y", "f"), node("MatMul", "f m", "emb")]
    tensors = {"w": numbers(4, 3, 3, 3), "m": numbers(4 * 121, 5)}
    faces = np.random.default_rng(0).integers(0, 256, (3, 13, 13, 3), np.uint8)
    firsts = {
        "norm": [node("ReduceL2", "emb", "norm", axes=[1], keepdims=1)],
        "flat": [node("ReduceL2", "emb", "flat", axes=[1], keepdims=0)],
        "quality": [node("MatMul", "f one", "q"), node("Sigmoid", "q", "quality")],
    }
    expected = None
    for name, nodes in firsts.items():
        path = tmp_path / f"{name}.onnx"
        one = numbers(4 * 121, 1)
        write(path, [*body, *nodes], outputs=(name, "emb"), **tensors, one=one)
        for use in (
            lambda p: embedding.extract(embedding.load_embedder(p, **PIXELS), faces),
            lambda p: embedding.convert(p, **PIXELS),
        ):
            with pytest.raises(Error, match=f"its output '{name}' has one number for each image;"):
                use(path)
        embedder = embedding.load_embedder(path, output="emb", **PIXELS)
        found = embedding.extract(embedder, faces)
        assert found.dim == 5 and found.manifest["model"]["output"] == "emb"
        expected = found.values if expected is None else expected
        assert np.array_equal(found.values, expected)
        model = embedding.convert(path, output="emb", **PIXELS)
        np.testing.assert_allclose(embedding.extract(model, faces).values, expected, atol=1e-5)
    write(tmp_path / "alone.onnx", [*body[:2], node("MatMul", "f one", "q")], outputs=("q",),
          w=tensors["w"], one=numbers(4 * 121, 1))  # fmt: skip
    with pytest.raises(Error, match="is not an embedding, and there is no other output"):
        embedding.extract(embedding.load_embedder(tmp_path / "alone.onnx", **PIXELS), faces)


def test_which_of_several_outputs_was_taken_is_said(tmp_path):
    body = [node("Conv", "x w", "y"), node("Flatten", "y", "f")]
    body += [node("MatMul", "f l", "logits"), node("MatMul", "f m", "emb")]
    path = tmp_path / "n.onnx"
    tensors = {"w": numbers(4, 3, 3, 3), "m": numbers(484, 5), "l": numbers(484, 9)}
    write(path, body, outputs=("logits", "emb"), **tensors)
    said = embedding.load_embedder(path, **PIXELS).assumed()
    assert said.startswith("output logits of logits")
    assert embedding.load_embedder(path, output="logits", **PIXELS).assumed() == ""
    with pytest.raises(ValueError, match="the outputs of an ONNX file have names"):
        embedding.load_embedder(lambda crops: crops, output="emb")


def test_torch_outputs_that_are_no_embedding():
    class Net(torch.nn.Module):
        def __init__(self, outputs):
            super().__init__()
            self.outputs = outputs

        def forward(self, x):
            rows = x.flatten(1)[:, :7]
            return self.outputs(rows.norm(dim=1, keepdim=True), rows)

    faces = np.random.default_rng(0).integers(0, 256, (3, 8, 8, 3), np.uint8)
    for outputs, why in (
        (lambda norm, rows: (norm, rows), r"its output 0 has one number for each image; others: 1"),
        (lambda norm, rows: [norm[:, 0], rows, rows], r"others: 1 \(7\), 2 \(7\)"),
        (lambda norm, rows: {"a": rows, "emb": rows}, r"a dict of a \(7\), emb \(7\); name the"),
    ):
        with pytest.raises(ValueError, match=why):
            embedding.extract(embedding.TorchEmbedder(Net(outputs), **PIXELS), faces)
    sound = embedding.TorchEmbedder(Net(lambda norm, rows: (rows, norm)), **PIXELS)
    assert embedding.extract(sound, faces).dim == 7


def test_whose_kernels_compute_a_converted_network(tmp_path):
    """A graph that begins with arithmetic on its pixels is computed by torch: that is said, and
    refused where this library's own kernels are asked for."""
    norm = [node("Sub", "x mean", "a"), node("Mul", "a scale", "b"), node("Conv", "b w", "y")]
    constants = {"mean": np.float32(127.5), "scale": np.float32(1 / 128)}
    tensors = {"w": numbers(4, 3, 3, 3), "m": numbers(4 * 121, 5)}
    path = write(tmp_path / "n.onnx", [*norm, *after()], **constants, **tensors)
    model = embedding.convert(path, color="rgb", mean=0, std=1)
    faces = np.random.default_rng(0).integers(0, 256, (3, 13, 13, 3), np.uint8)
    assert embedding.extract(model, faces).manifest["extract"]["executor"] == "torch"
    own = embedding.ExtractOptions(executor="own")
    with pytest.raises(ValueError, match="executor own: the model 'imported' is computed by torch"):
        embedding.extract(model, faces, own)
    model = embedding.convert(plain(tmp_path / "p.onnx"), **PIXELS)
    assert embedding.extract(model, faces, own).manifest["extract"]["executor"] == "own"
