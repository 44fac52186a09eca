"""ONNX networks as models of ours: the same numbers as ONNX Runtime, refusals by name."""

import os
from pathlib import Path

import numpy as np
import pytest
import torch
from click.testing import CliRunner
from facebench import Error, embedding, io, nn
from facebench._onnx import file as onnx_file
from facebench.cli.app import app
from facebench.embedding import _onnx_import
from facebench.io import read_safetensors, write_safetensors

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
helper = onnx.helper

DATA = os.environ.get("FACEBENCH_DATA")
PIXELS = {"color": "rgb", "mean": 127.5, "std": 128.0}


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


def runtime(path, x):
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    return np.concatenate([session.run(None, {name: x[i : i + 1]})[0] for i in range(len(x))])


def converted(path, folder, **options):
    """Converted, written and read again."""
    embedding.convert(path, out=folder / "m.safetensors", **PIXELS, **options)
    return embedding.load_model(folder / "m.safetensors")


def check_same(path, folder, x, unit=False):
    model = converted(path, folder)
    ours = nn.InferenceNetwork(model.weights).infer(torch.from_numpy(x)).numpy()
    plain = model.weights.eval()(torch.from_numpy(x)).detach().numpy()
    wanted = runtime(path, x).reshape(len(x), -1)
    if unit:
        ours, plain = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in (ours, plain))
    for result in (ours, plain):
        assert np.abs(result.reshape(wanted.shape) - wanted).max() < 1e-5 * np.abs(wanted).max()
    return model


@pytest.mark.parametrize(
    ("name", "size", "fold"),
    [
        ("mobilefacenet", 112, True),
        ("mobilefacenet", 112, False),
        ("iresnet18", 64, False),
        ("lightcnn9", 128, True),
        ("densenet121", 64, False),
        ("inception_v3", 107, True),
        ("googlenet_bvlc", 224, True),
        ("small4", 32, True),
    ],
)
def test_exported_networks_come_back(tmp_path, name, size, fold):
    options = {"height": size, "width": size}
    if name == "lightcnn9":
        options["channels"] = 1
    network = nn.build_network(name, seed=1, **options).eval()
    nn.export_onnx(network, tmp_path / "n.onnx", fold=fold)
    x = numbers(1, *network.graph.input_shape)
    imported = _onnx_import.read(tmp_path / "n.onnx")
    tensors = {k: torch.from_numpy(v) for k, v in imported.tensors.items()}
    gray = "gray" if options.get("channels") == 1 else "rgb"
    model = embedding.full.imported_model(
        imported.graph, tensors, embedding.ModelOptions(color=gray), "n.onnx"
    )
    assert model.network == "imported"
    assert model.weights.graph.count_macs() == network.graph.count_macs()
    ours = nn.InferenceNetwork(model.weights).infer(torch.from_numpy(x)).numpy()
    wanted = runtime(tmp_path / "n.onnx", x)
    assert np.abs(ours - wanted).max() < 1e-5 * np.abs(wanted).max()


@pytest.mark.skipif(not DATA, reason="FACEBENCH_DATA is not set: no weights")
def test_the_given_file_gives_the_same_embeddings(tmp_path):
    path = Path(DATA) / "weights" / "mobilefacenet" / "mobilefacenet.onnx"
    model = check_same(path, tmp_path, numbers(3, 3, 112, 112))
    faces = np.random.default_rng(1).integers(0, 256, (5, 112, 112, 3), np.uint8)
    theirs = embedding.load_embedder(path, **PIXELS)
    mine, others = (embedding.extract(m, faces, threads=1).values for m in (model, theirs))
    assert np.abs(mine - others).max() < 1e-5


class Block(torch.nn.Module):
    """As AdaFace's IR: batch norm, convolution, batch norm, PReLU, strided pool as the shortcut."""

    def __init__(self, channels, out, stride):
        super().__init__()
        self.short = torch.nn.MaxPool2d(1, stride) if channels == out else None
        self.match = torch.nn.Conv2d(channels, out, 1, stride, bias=False)
        self.body = torch.nn.Sequential(
            torch.nn.BatchNorm2d(channels),
            torch.nn.Conv2d(channels, out, 3, 1, 1, bias=False),
            torch.nn.BatchNorm2d(out),
            torch.nn.PReLU(out),
            torch.nn.Conv2d(out, out, 3, stride, 1, bias=False),
            torch.nn.BatchNorm2d(out),
        )

    def forward(self, x):
        return self.body(x) + (self.short(x) if self.short else self.match(x))


class Ir(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = torch.nn.Sequential(
            torch.nn.Conv2d(3, 8, 3, 1, 1, bias=False), torch.nn.BatchNorm2d(8), torch.nn.PReLU(8)
        )
        self.blocks = torch.nn.Sequential(Block(8, 8, 2), Block(8, 16, 2))
        self.head = torch.nn.Sequential(
            torch.nn.BatchNorm2d(16),
            torch.nn.Dropout(0.4),
            torch.nn.Flatten(),
            torch.nn.Linear(16 * 8 * 8, 24),
            torch.nn.BatchNorm1d(24, affine=False),
        )

    def forward(self, x):
        x = self.head(self.blocks(self.stem(x)))
        norm = torch.norm(x, 2, 1, True)
        return torch.div(x, norm), norm


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # the exporter that needs no onnxscript
def test_an_adaface_ir_as_torch_exports_it(tmp_path):
    torch.manual_seed(3)
    network = Ir().eval()
    for module in network.modules():
        if isinstance(module, torch.nn.BatchNorm1d | torch.nn.BatchNorm2d):
            module.running_mean.uniform_(-1, 1)
            module.running_var.uniform_(0.5, 2)
    x = numbers(3, 3, 32, 32, seed=2)
    for folding in (True, False):
        torch.onnx.export(
            network,
            torch.from_numpy(x[:1]),
            str(tmp_path / "ir.onnx"),
            dynamo=False,
            do_constant_folding=folding,
            training=torch.onnx.TrainingMode.EVAL if folding else torch.onnx.TrainingMode.PRESERVE,
            dynamic_axes={"input": {0: "N"}},
            input_names=["input"],
        )
        model = check_same(tmp_path / "ir.onnx", tmp_path, x, unit=True)
        assert model.options.normalization == "unit"


class Gated(torch.nn.Module):
    """Squeeze-and-excitation with convolutions and with linear layers; SiLU and hard kinds."""

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Sequential(
            torch.nn.Conv2d(3, 16, 3, 2, 1), torch.nn.BatchNorm2d(16), torch.nn.PReLU(16)
        )
        self.gate = torch.nn.Sequential(
            torch.nn.AdaptiveAvgPool2d(1),
            torch.nn.Conv2d(16, 4, 1, bias=False),
            torch.nn.ReLU(),
            torch.nn.Conv2d(4, 16, 1, bias=False),
            torch.nn.Sigmoid(),
        )
        self.rows = torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.Hardsigmoid())
        self.kinds = torch.nn.Sequential(torch.nn.SiLU(), torch.nn.Hardswish())
        self.last = torch.nn.Linear(16, 12)

    def forward(self, x):
        x = self.first(x)
        x = x + x * self.gate(x)
        x = x * self.rows(x.mean((2, 3))).view(-1, 16, 1, 1)
        x = x * self.rows(x.mean((2, 3)))[:, :, None, None]
        return self.last(self.kinds(x)[:, :16].mean((2, 3)))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_gates_as_torch_exports_them(tmp_path):
    torch.manual_seed(4)
    network = Gated().eval()
    network.first[1].running_mean.uniform_(-1, 1)
    x = numbers(3, 3, 32, 32, seed=2)
    torch.onnx.export(
        network,
        torch.from_numpy(x[:1]),
        str(tmp_path / "g.onnx"),
        dynamo=False,
        opset_version=14,  # HardSwish is one operation
        dynamic_axes={"input": {0: "N"}},
        input_names=["input"],
    )
    model = check_same(tmp_path / "g.onnx", tmp_path, x)
    operations = [node["op"] for node in model.weights.graph.nodes]
    assert operations.count("multiply") == 5
    embedding.export_onnx(model, tmp_path / "again.onnx")
    np.testing.assert_allclose(
        runtime(tmp_path / "again.onnx", x), runtime(tmp_path / "g.onnx", x), rtol=1e-4, atol=1e-5
    )


def test_weights_that_lie_beside_the_file(tmp_path):
    """As torch's exporter writes them unless it is told otherwise."""
    nodes = [node("Conv", "x w", "c", strides=[2, 2]), node("GlobalAveragePool", "c", "out")]
    weights = {"w": numbers(4, 3, 3, 3)}
    whole = write(tmp_path / "whole.onnx", nodes, weights)
    path = tmp_path / "n.onnx"
    onnx.save(
        onnx.load(whole), str(path), save_as_external_data=True, location="n.onnx.data",
        size_threshold=0,
    )  # fmt: skip
    model = converted(path, tmp_path)
    assert f"n.onnx.data sha256:{io.sha256_file(tmp_path / 'n.onnx.data')}" in model.options.origin
    x = torch.from_numpy(numbers(2, 3, 12, 12, seed=3))
    theirs = nn.InferenceNetwork(converted(whole, tmp_path).weights).infer(x)
    assert torch.equal(nn.InferenceNetwork(model.weights).infer(x), theirs)

    def refused(says, **place):
        graph = onnx.load(path, load_external_data=False)
        for entry in graph.graph.initializer[0].external_data:
            entry.value = str(place.get(entry.key, entry.value))
        (tmp_path / "bad.onnx").write_bytes(graph.SerializeToString())
        with pytest.raises(Error, match=says):
            embedding.convert(tmp_path / "bad.onnx", **PIXELS)

    refused("outside of its folder, in '/etc/passwd'", location="/etc/passwd")
    refused("outside of its folder", location="a/../../n.onnx.data")
    refused("outside of its folder, in ''", location="")
    refused("ends beyond n.onnx.data", offset=8)
    refused("bytes at -4", offset=-4)
    refused("has 12 bytes at 0", length=12)
    refused("at no place of a file", offset="there")
    (tmp_path / "n.onnx.data").unlink()
    refused("n.onnx.data: cannot be read")


def write(path, nodes, tensors, shape=("N", 3, 12, 12), outputs=("out",)):
    kind = onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", kind, shape)],
        [helper.make_tensor_value_info(name, kind, None) for name in outputs],
        [onnx.numpy_helper.from_array(np.asarray(v), k) for k, v in tensors.items()],
    )
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8, producer_name="test"
    )
    onnx.save(model, str(path))
    return path


def node(op, inputs, output, **attributes):
    name = f"the {op}" if output == "out" else f"the {op} of {output}"
    return helper.make_node(op, inputs.split(), [output], name=name, **attributes)


def test_what_other_exporters_write(tmp_path):
    """Pixels scaled in the graph, padding by name, halves by Slice, rows by the input's shape."""
    nodes = [
        node("Sub", "x mean", "a"),
        node("Mul", "a factor", "b"),
        node("Conv", "b w", "c", auto_pad="SAME_UPPER", strides=[2, 2], kernel_shape=[3, 3]),
        node("Add", "c shift", "d"),
        node("LeakyRelu", "d", "e", alpha=0.2),
        node("Slice", "e zero four one", "f1"),
        node("Slice", "e four end one", "f2"),
        node("Max", "f1 f2", "g"),
        node("Pad", "g sides", "h"),
        node("AveragePool", "h", "i", kernel_shape=[3, 3]),
        node("Concat", "g i", "j", axis=1),
        node("Clip", "j low high", "k"),
        node("ReduceMean", "k", "l", axes=[2, 3], keepdims=1),
        node("Shape", "l", "s"),
        node("Gather", "s index", "n", axis=0),
        node("Unsqueeze", "n zero", "o"),
        node("Concat", "o minus", "p", axis=0),
        node("Reshape", "l p", "q"),
        node("MatMul", "q m", "r"),
        node("Div", "r halves", "out"),
    ]
    whole = np.int64
    tensors = {
        "mean": np.float32(0.5),
        "factor": numbers(1, 3, 1, 1, seed=5),
        "w": numbers(8, 3, 3, 3, seed=6),
        "shift": numbers(8, 1, 1, seed=7),
        "zero": np.array([0], whole),
        "four": np.array([4], whole),
        "one": np.array([1], whole),
        "end": np.array([np.iinfo(whole).max], whole),
        "sides": np.array([0, 0, 1, 1, 0, 0, 1, 1], whole),
        "low": np.float32(0),
        "high": np.float32(6),
        "index": np.array(0, whole),
        "minus": np.array([-1], whole),
        "m": numbers(8, 5, seed=8),
        "halves": np.array([2, 4, 8, 2, 4], np.float32),
    }
    path = write(tmp_path / "n.onnx", nodes, tensors)
    check_same(path, tmp_path, numbers(3, 3, 12, 12, seed=9))


@pytest.mark.parametrize(
    ("nodes", "tensors", "says"),
    [
        ([node("Softmax", "x", "out")], {}, "node 'the Softmax' is a Softmax.*computes Add"),
        ([node("bounded", "x", "out")], {}, "node 'the bounded' is a bounded.*computes Add"),
        ([node("Relu", "lost", "out")], {}, "nothing computes its input 'lost'"),
        ([node("Gemm", "x m", "out")], {"m": numbers(3, 3)}, "the Gemm.*input is"),
        ([node("Div", "c x", "out")], {"c": np.float32(1)}, "the Div"),
        ([node("Clip", "x", "out")], {}, "its bounds are"),
        ([node("Slice", "x a b a", "out")], {"a": np.array([1]), "b": np.array([3])}, "halve"),
        ([node("Conv", "x w", "out")], {"w": numbers(4, 2, 1, 1)}, "not 3 channels"),
        ([node("Conv", "x w", "out")], {"w": numbers(4, 3, 13, 13)}, "larger than its input"),
        ([node("Custom", "x", "out", domain="me")], {}, "of the domain 'me'"),
        ([node("Relu", "x", "other")], {}, "'out' is nothing that was computed"),
    ],
)
def test_what_cannot_be_computed_is_refused_by_name(tmp_path, nodes, tensors, says):
    path = write(tmp_path / "n.onnx", nodes, tensors)
    with pytest.raises(Error, match=says):
        embedding.convert(path, out=tmp_path / "m.safetensors", **PIXELS)
    assert [p.name for p in tmp_path.iterdir()] == ["n.onnx"]


def test_pixels_and_sizes_are_not_assumed(tmp_path):
    nodes = [node("Conv", "x w", "c"), node("GlobalAveragePool", "c", "out")]
    path = write(tmp_path / "n.onnx", nodes, {"w": numbers(4, 3, 3, 3)}, ("N", 3, "H", "W"))
    with pytest.raises(ValueError, match="state height and width"):
        embedding.convert(path, **PIXELS)
    with pytest.raises(ValueError, match="state color, mean, std"):
        embedding.convert(path, height=8, width=8)
    model = converted(path, tmp_path, height=8, width=10)
    assert model.weights.graph.input_shape == [3, 8, 10]
    with pytest.raises(ValueError, match="what network it is"):
        embedding.convert(path, network="small4")


def test_damaged_files_are_refused(tmp_path):
    nodes = [node("Conv", "x w", "c", strides=[2, 2]), node("GlobalAveragePool", "c", "out")]
    whole = write(tmp_path / "n.onnx", nodes, {"w": numbers(4, 3, 3, 3)}).read_bytes()
    path = tmp_path / "damaged.onnx"
    random = np.random.default_rng(0)
    cases = [whole[:n] for n in range(0, len(whole), 3)]
    for _ in range(300):
        changed = bytearray(whole)
        for at in random.integers(0, len(whole), random.integers(1, 4)):
            changed[at] = random.integers(0, 256)
        cases.append(bytes(changed))
    said = []
    for case in cases:
        path.write_bytes(case)
        try:
            _onnx_import.read(path)
        except (Error, ValueError) as e:
            said.append(str(e))
    assert len(said) > len(cases) // 2
    assert all("damaged.onnx" in text for text in said)


def test_halves_and_whole_numbers_of_any_storage(tmp_path):
    """Numbers as raw bytes and as lists, by the package that writes them."""
    for kind, values in (
        (onnx.TensorProto.FLOAT, [0.5, -2]),
        (onnx.TensorProto.DOUBLE, [0.25, 3]),
        (onnx.TensorProto.FLOAT16, [1.5, -0.125]),
        (onnx.TensorProto.INT64, [-7, 1 << 40]),
        (onnx.TensorProto.INT32, [-7, 8]),
    ):
        tensor = helper.make_tensor("t", kind, [2], values)
        assert onnx_file._tensor(2, memoryview(tensor.SerializeToString()))[1].tolist() == values
        raw = onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(tensor), "t")
        assert onnx_file._tensor(2, memoryview(raw.SerializeToString()))[1].tolist() == values


def test_a_damaged_graph_in_a_model_file_is_refused(tmp_path):
    nodes = [node("Conv", "x w", "c"), node("GlobalAveragePool", "c", "out")]
    path = write(tmp_path / "n.onnx", nodes, {"w": numbers(4, 3, 3, 3)})
    converted(path, tmp_path)
    arrays, metadata = read_safetensors(tmp_path / "m.safetensors")
    for old, new, says in (
        ('"op":"conv"', '"op":"cnv"', "no operation 'cnv'"),
        ('"out":4', '"out":5', "conv"),
        ('"out":4', '"out":-4', "'out'"),
        ('"out":4', '"out":4,"more":1', "not known"),
        ('"inputs":[0]', '"inputs":[7]', "not a value of this graph"),
        ('"shape":[3,12,12]', '"shape":[3,12]', "'shape'"),
        ('"shape":[3,12,12]', '"shape":[3,120000,12]', "4096"),
        ('"taps"', '"tips"', "has no 'taps'"),
    ):
        assert old in metadata["graph"]
        changed = metadata | {"graph": metadata["graph"].replace(old, new)}
        write_safetensors(tmp_path / "bad.safetensors", arrays, changed)
        with pytest.raises(Error, match=says):
            embedding.load_model(tmp_path / "bad.safetensors")


def test_the_command(tmp_path):
    network = embedding.make_model("small4", height=16, width=16, flip="sum", mean=[100.0])
    embedding.export_onnx(network, tmp_path / "n.onnx")
    out = str(tmp_path / "m.safetensors")
    result = CliRunner().invoke(app, ["convert", str(tmp_path / "n.onnx"), "--out", out])
    assert result.exit_code == 0, result.output
    model = embedding.load_model(out)
    # What the file itself says of its images.
    assert (model.options.flip, model.options.mean) == ("sum", [100.0])
