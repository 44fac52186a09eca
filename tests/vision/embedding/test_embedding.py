"""Model files, conversion and extraction."""

import os
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from facebench import Error, embedding, io, nn  # noqa: E402

DATA = os.environ.get("FACEBENCH_DATA")


def faces(n, size, seed=0):
    return np.random.default_rng(seed).integers(0, 256, (n, size, size, 3), np.uint8)


@pytest.fixture(scope="module")
def model():
    return embedding.make_model(
        "small4", height=32, width=32, embedding=16, flip="sum", mean=[120, 110, 100], std=[60]
    )


@pytest.mark.kernels
def test_equals_plain_pytorch(model):
    images = faces(5, 32)
    x = (images.astype(np.float64) - [120, 110, 100]) / 60
    x = torch.from_numpy(x.transpose(0, 3, 1, 2).astype(np.float32).copy())
    expected = model.weights.infer(x) + model.weights.infer(x.flip(3))
    got = embedding.extract(model, images, threads=1)
    unit = torch.nn.functional.normalize(expected).numpy()
    np.testing.assert_allclose(got.values, unit, atol=1e-5)
    raw = embedding.ExtractOptions(flip="concat", normalization="none")
    both = embedding.extract(model, images, raw, threads=1).values
    np.testing.assert_allclose(both[:, :16] + both[:, 16:], expected.numpy(), atol=1e-4)


@pytest.mark.kernels
def test_colour_orders():
    images = faces(2, 16)
    rgb = embedding.make_model("small4", height=16, width=16)
    bgr = embedding.make_model("small4", height=16, width=16, color="bgr")
    np.testing.assert_array_equal(
        embedding.extract(bgr, images[..., ::-1].copy()).values,
        embedding.extract(rgb, images).values,
    )
    gray = embedding.make_model("small4", height=16, width=16, channels=1, color="gray")
    assert embedding.extract(gray, images).values.shape == (2, 128)
    with pytest.raises(ValueError, match="does not fit"):
        embedding.make_model("small4", channels=1)


@pytest.mark.kernels
@pytest.mark.parametrize(("name", "size"), [("small4", 32), ("mobilefacenet", 112)])
def test_same_bits_for_any_threads_and_place(name, size):
    model = embedding.make_model(name, height=size, width=size)
    images = faces(11, size)
    options = embedding.ExtractOptions(micro_batch=4)
    one = embedding.extract(model, images, options, threads=1).values
    assert one.tobytes() == embedding.extract(model, images, options, threads=2).values.tobytes()
    torch.set_num_threads(2)
    assert one.tobytes() == embedding.extract(model, images, options, threads=3).values.tobytes()
    assert torch.get_num_threads() == 2
    # Another place in the micro-batch, other neighbours.
    order = np.random.default_rng(1).permutation(11)
    moved = embedding.extract(model, images[order], options, threads=2).values
    assert moved.tobytes() == one[order].tobytes()
    for threads in (1, 3):  # with three, all of them compute the one image
        alone = embedding.extract(model, images[7:8], options, threads=threads).values
        assert alone.tobytes() == one[7:8].tobytes()
    # The networks that the inference engine covers do not depend on the micro-batch either.
    for micro_batch in (1, 7, 64):
        options = embedding.ExtractOptions(micro_batch=micro_batch)
        values = embedding.extract(model, images, options, threads=2).values
        assert values.tobytes() == one.tobytes()


@pytest.mark.kernels
def test_failed_rows_are_zeros(model):
    images = faces(4, 32)
    status = [0, 1, 0, 3]
    got = embedding.extract(model, images, names=list("abcd"), status=status)
    assert got.names == list("abcd")
    assert got.status.tolist() == status
    assert not got.values[[1, 3]].any()
    assert got.values[[0, 2]].any(1).all()
    full = embedding.extract(model, images)
    assert got.values[2].tobytes() == full.values[2].tobytes()
    none = embedding.extract(model, images, status=[2] * 4)
    assert not none.values.any()
    assert got.manifest["extract"]["flip"] == "sum"
    with pytest.raises(ValueError, match="takes 32 x 32"):
        embedding.extract(model, faces(1, 16))


@pytest.mark.kernels
def test_model_file_round_trip(model, tmp_path):
    path, again = tmp_path / "m.safetensors", tmp_path / "n.safetensors"
    model.save(path)
    loaded = embedding.load_model(path)
    assert loaded.options == model.options
    assert loaded.network_options == model.network_options
    assert loaded.sha256 == io.sha256_file(path)
    assert not loaded.weights.training
    images = faces(3, 32)
    assert (
        embedding.extract(loaded, images).values.tobytes()
        == embedding.extract(model, images).values.tobytes()
    )
    loaded.save(again)
    assert again.read_bytes() == path.read_bytes()


def test_wrong_model_files_are_refused(model, tmp_path):
    path = tmp_path / "m.safetensors"
    model.save(path)
    tensors, metadata = io.read_safetensors(path)

    def refusal(change_tensors=None, **change_metadata):
        io.write_safetensors(path, tensors | (change_tensors or {}), metadata | change_metadata)
        with pytest.raises(Error) as e:
            embedding.load_model(path)
        assert str(path) in str(e.value)
        return str(e.value)

    assert "'fc.weight' is (3x3), expected (16x1024)" in refusal(
        {"fc.weight": np.zeros((3, 3), np.float32)}
    )
    assert "'extra' (1) is not part" in refusal({"extra": np.zeros(1, np.float32)})
    assert "is F64, expected F32" in refusal({"fc.weight": np.zeros((16, 1024))})
    assert "not a facebench model" in refusal(format="pt")
    assert "version '2'" in refusal(version="2")
    text = metadata["model"]
    assert "did you mean 'small4'" in refusal(model=text.replace('"small4"', '"smal4"'))
    assert "did you mean 'flip'" in refusal(model=text.replace('"flip"', '"flipp"'))
    assert "did you mean 'embedding'" in refusal(
        model=text.replace('"tap":"embedding"', '"tap":"embeding"')
    )
    # A size that would need 270 GB is refused by the file's own shapes, before anything is made.
    assert "'classifier.weight' (100000000x16) is missing" in refusal(
        model=text.replace('"classes":0', '"classes":100000000')
    )
    del tensors["bn1.bias"]
    assert "'bn1.bias' (32) is missing" in refusal()


class Evil:
    def __reduce__(self):
        return os.mkdir, ("evil-was-here",)


def test_convert(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    theirs = nn.build_network("mobilefacenet", seed=3)
    state = {"module." + k: v for k, v in theirs.state_dict().items()}
    state["module.bn.num_batches_tracked"] = torch.tensor(7)
    state["module.classifier.weight"] = torch.zeros(5, 128)
    torch.save({"state_dict": state, "epoch": 3}, "w.pt")
    with pytest.raises(Error, match=r"'classifier.weight'.*not part"):
        embedding.convert("w.pt", network="mobilefacenet")
    weights = {"network": "mobilefacenet", "drop": ["classifier"], "flip": "none"}
    with pytest.raises(ValueError, match=r"different pixels.*color=rgb mean=123.675,116.28") as e:
        embedding.convert("w.pt", **weights, out="m.safetensors", mean=[1.0], std=[1.0])
    assert io.sha256_file("w.pt") in str(e.value) and "color=bgr mean=127.5 std=128" in str(e.value)
    assert not Path("m.safetensors").exists()
    pixels = {"color": "rgb", "mean": [123.675, 116.28, 103.53], "std": [58.395, 57.12, 57.375]}
    model = embedding.convert("w.pt", **weights, **pixels, out="m.safetensors")
    loaded = embedding.load_model("m.safetensors")
    assert loaded.options == model.options
    assert (loaded.options.flip, loaded.options.crop) == ("none", "arcface112")
    assert loaded.options.detector_mode == "facenet"
    assert loaded.options.selection == "nearest_center"
    assert loaded.options.mean == [123.675, 116.28, 103.53]
    assert torch.equal(loaded.weights.state_dict()["bn.bias"], theirs.state_dict()["bn.bias"])

    torch.save(Evil(), "evil.pt")
    with pytest.raises(Error, match="without running code"):
        embedding.convert("evil.pt", network="mobilefacenet")
    assert not Path("evil-was-here").exists()
    torch.save({"weights": [1, 2]}, "odd.pt")
    with pytest.raises(Error, match="'weights' is a list"):
        embedding.convert("odd.pt", network="mobilefacenet")
    torch.save({"weight": torch.zeros(1), "step": 7}, "mixed.pt")
    with pytest.raises(Error, match="'step' is a int, expected a tensor"):
        embedding.convert("mixed.pt", network="mobilefacenet")
    with pytest.raises(Error, match="no such file"):
        embedding.convert("absent.pt", network="mobilefacenet")
    with pytest.raises(ValueError, match="did you mean 'flip'"):
        embedding.convert("w.pt", network="mobilefacenet", flib="sum")


def test_convert_safetensors(tmp_path):
    state = {k: v.numpy() for k, v in nn.build_network("small4", seed=2).state_dict().items()}
    io.write_safetensors(tmp_path / "w.safetensors", state)
    model = embedding.convert(tmp_path / "w.safetensors", network="small4", mean=[0.0])
    assert model.options.mean == [0.0]


@pytest.mark.kernels
def test_foreign_callables(tmp_path):
    def mean_colour(batch):
        assert batch.dtype == np.uint8
        assert batch.shape[1:] == (8, 8, 3)
        return batch.reshape(len(batch), -1)[:, :5]

    images = faces(5, 8)
    options = embedding.ExtractOptions(micro_batch=2, flip="concat", normalization="none")
    got = embedding.extract(mean_colour, images, options, status=[0, 0, 1, 0, 0])
    np.testing.assert_array_equal(got.values[4, :5], images[4].reshape(-1)[:5])
    np.testing.assert_array_equal(got.values[4, 5:], images[4, :, ::-1].reshape(-1)[:5])
    assert not got.values[2].any()
    unit = embedding.extract(mean_colour, images).values
    np.testing.assert_allclose((unit**2).sum(1), 1, rtol=1e-5)
    with pytest.raises(ValueError, match=r"gave the shape \(3\) for 8 images, expected \(8, D\)"):
        embedding.extract(lambda batch: np.zeros(3), images[:2])
    with pytest.raises(ValueError, match=r"gave the shape \(7, 2\) for 8 images"):
        embedding.extract(lambda batch: np.zeros((7, 2)), images)
    with pytest.raises(ValueError, match="an array of <U1, expected real numbers"):
        embedding.extract(lambda batch: [["a"]] * len(batch), images)
    widths = iter([1, 2])
    with pytest.raises(ValueError, match="gave embeddings of 2 numbers, expected 1"):
        embedding.extract(lambda batch: np.ones((8, next(widths))), faces(9, 8))
    with pytest.raises(Error, match="no image has a face"):
        embedding.extract(mean_colour, images, status=[1] * 5)
    with pytest.raises(ValueError, match=r"expected FILE\.safetensors"):
        embedding.load_embedder("model.pkl")
    with pytest.raises(ValueError, match="no_such_thing"):
        embedding.load_embedder("math:no_such_thing")


def test_a_number_that_is_not_finite_names_its_image():
    images = np.zeros((3, 8, 8, 3), np.uint8)
    images[1] = 7
    with pytest.raises(Error, match="image 'b' has a number that is not finite"):
        embedding.extract(
            lambda batch: np.where(batch[:, 0, 0] == 7, np.inf, 1.0), images, names=list("abc")
        )


@pytest.mark.kernels
def test_callables_get_full_batches_and_the_manifest_says_as_much_as_ours(model):
    sizes = []

    def corner(batch):
        sizes.append(len(batch))
        return batch[:, 0, 0]

    images = faces(7, 32)
    options = embedding.ExtractOptions(micro_batch=3, normalization="none")
    got = embedding.extract(corner, images, options)
    assert sizes == [3, 3, 3, 1] + [3] * 3  # four look whether rows depend on each other
    np.testing.assert_array_equal(got.values, images[:, 0, 0])
    ours = embedding.extract(model, images, options)
    assert set(got.manifest) == set(ours.manifest)
    assert got.manifest["model"] == {"callable": f"{__name__}:{corner.__qualname__}"}
    assert got.manifest["extract"]["micro_batch"] == 3


def test_an_exception_of_a_callable_is_raised_as_it_is():
    class Odd(Exception):
        pass

    def fails(batch):
        raise Odd("out of cheese")

    with pytest.raises(Odd, match="out of cheese"):
        embedding.extract(fails, faces(2, 8))


@pytest.mark.kernels
def test_mobilefacenet_weights_and_onnx_agree():
    if not DATA:
        pytest.skip("FACEBENCH_DATA is not set: no weights")
    pytest.importorskip("onnxruntime")
    folder = Path(DATA) / "weights" / "mobilefacenet"
    model = embedding.convert(folder / "mobilefacenet.pt", network="mobilefacenet")
    theirs = embedding.load_embedder(
        str(folder / "mobilefacenet.onnx"), mean=model.options.mean, std=model.options.std
    )
    images = faces(3, 112)
    options = embedding.ExtractOptions(flip="sum")
    a = embedding.extract(model, images, options).values
    b = embedding.extract(theirs, images, options).values
    assert np.abs(a - b).max() < 1e-4


class Net(torch.nn.Module):
    """Two outputs, of which the first is the embedding; one channel or three."""

    def __init__(self, channels=3):
        super().__init__()
        self.conv = torch.nn.Conv2d(channels, 4, 3)
        self.drop = torch.nn.Dropout(0.5)

    def forward(self, x):
        return self.drop(self.conv(x)), x


@pytest.mark.kernels
def test_a_callable_can_be_told_its_pixels():
    images = faces(3, 8)
    got = []

    def network(batch):
        got.append(batch)
        return batch.mean((2, 3))

    embedder = embedding.load_embedder(network, mean=[100, 90, 80], std=50, color="bgr")
    options = embedding.ExtractOptions(micro_batch=3, normalization="none")
    found = embedding.extract(embedder, images, options)
    expected = (images[..., ::-1].astype(np.float32) - np.float32([100, 90, 80])) / np.float32(50)
    assert got[0].dtype == np.float32 and got[0].shape == (3, 3, 8, 8)
    np.testing.assert_allclose(got[0], expected.transpose(0, 3, 1, 2), atol=1e-6)
    np.testing.assert_allclose(found.values, expected.mean((1, 2)), atol=1e-5)
    assert found.manifest["model"]["mean"] == [100, 90, 80]
    # Without any of them it gets the pixels themselves.
    assert embedding.load_embedder(network) is network
    assert embedding.load_embedder("math:sqrt", std=1)._options.std == [1]
    with pytest.raises(ValueError, match="was made with its own"):
        embedding.load_embedder(embedder, mean=1)


@pytest.mark.kernels
@pytest.mark.filterwarnings("ignore:.*does not say what its pixels are")
def test_pytorch_modules():
    torch.manual_seed(0)
    images, net = faces(5, 8), Net()
    embedder = embedding.load_embedder(net, mean=[100.0, 90.0, 80.0], std=50.0, color="bgr")
    options = embedding.ExtractOptions(micro_batch=2, normalization="none")
    got = embedding.extract(embedder, images, options)
    x = (images[..., ::-1].astype(np.float32) - np.float32([100, 90, 80])) / np.float32(50)
    with torch.no_grad():
        expected = net.conv(torch.from_numpy(x.transpose(0, 3, 1, 2).copy())).flatten(1)
    np.testing.assert_allclose(got.values, expected, atol=1e-5)
    assert net.training  # as it was
    assert got.manifest["model"]["color"] == "bgr"
    # A module may be given as it is; so may one of our networks.
    assert embedding.extract(net, images).values.shape == (5, 4 * 36)
    own = nn.build_network("small4", height=8, width=8)
    theirs = embedding.extract(own, images, options).values
    x = torch.from_numpy(((images - np.float32(127.5)) / 127.5).transpose(0, 3, 1, 2).copy())
    np.testing.assert_allclose(theirs, own.infer(x.float()), atol=1e-5)
    with pytest.raises(ValueError, match="a model file of ours says this itself"):
        embedding.load_embedder(embedding.make_model("small4"), mean=3)


@pytest.mark.kernels
@pytest.mark.filterwarnings("ignore:.*does not say what its pixels are")
def test_gray_foreign_models_see_the_librarys_gray():
    images = faces(3, 16)
    model = embedding.make_model("small4", height=16, width=16, channels=1, color="gray", std=[64])
    options = embedding.ExtractOptions(normalization="none")
    ours = embedding.extract(model, images, options).values
    embedder = embedding.TorchEmbedder(model.weights, color="gray", std=64)
    np.testing.assert_allclose(embedding.extract(embedder, images, options).values, ours, atol=1e-4)


@pytest.mark.kernels
@pytest.mark.parametrize("color", ["rgb", "bgr", "gray"])
def test_exported_model_describes_itself(tmp_path, color):
    pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    model = embedding.make_model(
        "small4", height=32, width=32, channels=1 if color == "gray" else 3, color=color,
        mean=[110.0], std=[70.0], flip="concat", normalization="none",
    )  # fmt: skip
    embedding.export_onnx(model, tmp_path / "m.onnx")
    embedder = embedding.load_embedder(tmp_path / "m.onnx")
    images = faces(5, 32)
    ours = embedding.extract(model, images)
    theirs = embedding.extract(embedder, images)
    assert ours.values.shape == (5, 256)
    np.testing.assert_allclose(theirs.values, ours.values, atol=1e-4)
    assert theirs.manifest["extract"] | {"executor": "own"} == ours.manifest["extract"]
    assert theirs.manifest["model"]["color"] == color
    assert theirs.manifest["model"]["exported"] == ours.manifest["model"]
    assert theirs.manifest["model_sha256"] == io.sha256_file(tmp_path / "m.onnx")
    # Called by itself it gives what the network gives.
    alone = embedder(images)
    np.testing.assert_allclose(np.concatenate([alone, embedder(images[:, :, ::-1])], 1),
                               ours.values, atol=1e-4)  # fmt: skip
    # What the caller says goes first.
    other = embedding.load_embedder(tmp_path / "m.onnx", std=35.0)
    assert np.abs(embedding.extract(other, images).values - ours.values).max() > 1e-3
    # A model file may be turned into ONNX later, too.
    model.save(tmp_path / "m.safetensors")
    embedding.convert(tmp_path / "m.safetensors", out=tmp_path / "later.onnx")
    assert (tmp_path / "later.onnx").read_bytes() == (tmp_path / "m.onnx").read_bytes()
    back = embedding.extract(embedding.convert(tmp_path / "m.onnx"), images)
    np.testing.assert_allclose(back.values, ours.values, atol=1e-5)
    with pytest.raises(ValueError, match="what network it is"):
        embedding.convert(tmp_path / "m.onnx", network="small4")
    (tmp_path / "m.npz").write_bytes(b"")
    with pytest.raises(ValueError, match="must be named"):
        embedding.convert(tmp_path / "m.npz")
    with pytest.raises(ValueError, match="takes 32 x 32"):
        embedding.extract(embedder, faces(1, 16))
    other = "rgb" if color == "gray" else "gray"
    with pytest.raises(Error, match=r"\(N, [13], 32, 32\), expected \(N, [13], H, W\)"):
        embedding.load_embedder(tmp_path / "m.onnx", color=other)
    with pytest.raises(ValueError, match="it has embedding"):
        embedding.load_embedder(tmp_path / "m.onnx", output="logits")
    (tmp_path / "bad.onnx").write_bytes(b"no network")
    with pytest.raises(Error, match="is not an ONNX file, or a damaged one"):
        embedding.load_embedder(tmp_path / "bad.onnx")


@pytest.mark.kernels
def test_weights_in_other_files_are_hashed(tmp_path):
    pytest.importorskip("onnxruntime")
    onnx = pytest.importorskip("onnx")
    embedding.export_onnx(embedding.make_model("small4", height=32, width=32), tmp_path / "m.onnx")
    whole = onnx.load(tmp_path / "m.onnx")
    onnx.save(whole, tmp_path / "n.onnx", save_as_external_data=True, location="n.bin")
    got = embedding.extract(embedding.load_embedder(tmp_path / "n.onnx"), faces(1, 32))
    known = {"n.bin": io.sha256_file(tmp_path / "n.bin")}
    assert got.manifest["model"]["external_data"] == known
    # What torch and oneDNN may use of the processor stands beside our own instruction set.
    assert set(got.manifest["torch_isa"]) == {"torch", "onednn_max"}


@pytest.mark.kernels
def test_an_exported_model_keeps_its_view(tmp_path):
    pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    model = embedding.make_model(
        "small4", height=32, width=32, image_height=40, image_width=44, view="center_crop"
    )
    embedding.export_onnx(model, tmp_path / "m.onnx")
    images = np.random.default_rng(0).integers(0, 256, (3, 40, 44, 3), np.uint8)
    theirs = embedding.extract(tmp_path / "m.onnx", images).values
    np.testing.assert_allclose(theirs, embedding.extract(model, images).values, atol=1e-5)


def test_damaged_metadata_of_an_onnx_file_is_refused(tmp_path):
    pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    network = nn.build_network("small4", height=8, width=8)
    for text, message in (("{", "metadata 'facebench'"), ("{}", "has no 'network'")):
        nn.export_onnx(network, tmp_path / "m.onnx", metadata={"facebench": text})
        with pytest.raises(Error, match=message):
            embedding.load_embedder(tmp_path / "m.onnx")


@pytest.mark.kernels
def test_an_onnx_file_that_fails_while_it_runs(tmp_path, capfd):
    """ONNX Runtime printed names of the file as they are, of any length, past what a terminal may
    be shown."""
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    sides = onnx.numpy_helper.from_array(np.array([-1, 511]), "sides")
    node = onnx.helper.make_node("Reshape", ["x", "sides"], ["y"], name="\x1b[2J" + "n" * 40_000)
    given, made = (
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
        for name, shape in (("x", ["n", 3, 8, 8]), ("y", ["n", 511]))
    )
    graph = onnx.helper.make_graph([node], "g", [given], [made], [sides])
    opset = onnx.helper.make_opsetid("", 13)
    onnx.save(
        onnx.helper.make_model(graph, opset_imports=[opset], ir_version=8), tmp_path / "m.onnx"
    )
    embedder = embedding.load_embedder(tmp_path / "m.onnx", mean=127.5, std=127.5, color="rgb")
    with pytest.raises(Error, match="onnxruntime cannot run it") as caught:
        embedding.extract(embedder, faces(2, 8))
    assert len(str(caught.value)) < 700 and capfd.readouterr() == ("", "")


@pytest.mark.kernels
def test_given_weights_go_to_onnx(tmp_path):
    """The given MobileFaceNet: our graph, its own ONNX file, and the one that we write."""
    if not DATA:
        pytest.skip("FACEBENCH_DATA is not set: no weights")
    pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    folder = Path(DATA) / "weights" / "mobilefacenet"
    model = embedding.convert(
        folder / "mobilefacenet.pt", network="mobilefacenet", out=tmp_path / "m.onnx"
    )
    images = faces(3, 112)
    ours = embedding.extract(model, images).values
    for path, extra in (
        (tmp_path / "m.onnx", {}),
        (folder / "mobilefacenet.onnx", {"mean": model.options.mean, "std": model.options.std}),
    ):
        options = embedding.ExtractOptions(flip="sum")
        theirs = embedding.extract(embedding.load_embedder(path, **extra), images, options).values
        assert np.abs(theirs - ours).max() < 1e-4


@pytest.mark.kernels
def test_progress_of_foreign_models():
    calls = []

    class Progress:
        def begin(self, stage, total, unit):
            calls.append((stage, total, unit))

        def update(self, done, note):
            calls.append(done)

        def end(self):
            calls.append("end")

    options = embedding.ExtractOptions(micro_batch=2)
    images = faces(3, 8)
    embedding.extract(lambda b: b[:, 0, 0], images, options, progress=Progress())
    assert calls == [("embed", 2, "batches"), 1, 2, "end"]


def test_torchvision_weights_convert_as_they_are(tmp_path):
    models = pytest.importorskip("torchvision.models")
    theirs = models.resnet18(weights=None).eval()
    torch.save(theirs.state_dict(), tmp_path / "w.pth")
    model = embedding.convert(
        tmp_path / "w.pth", network="resnet18", drop=["fc."], height=64, width=64
    )
    theirs.fc = torch.nn.Identity()
    x = torch.randn(2, 3, 64, 64)
    with torch.no_grad():
        torch.testing.assert_close(model.weights.infer(x), theirs(x), rtol=1e-4, atol=1e-5)


def test_insightface_weights_convert(tmp_path):
    """Its state dicts have the scale of the last batch norm, which it keeps at 1."""
    state = nn.build_network("iresnet18", height=32, width=32).state_dict()
    state["features.weight"] = torch.ones(512)
    torch.save(state, tmp_path / "w.pt")
    size = {"height": 32, "width": 32}
    with pytest.raises(ValueError, match=r"color=bgr mean=0 std=255 \(IrvingMeng/MagFace\)"):
        embedding.convert(tmp_path / "w.pt", network="iresnet18", **size)
    pixels = {"color": "rgb", "mean": [127.5], "std": [127.5]}
    model = embedding.convert(tmp_path / "w.pt", network="iresnet18", **size, **pixels)
    assert (model.options.mean, model.options.flip) == ([127.5], "sum")
    state["features.weight"][3] = 1.5
    torch.save(state, tmp_path / "w.pt")
    with pytest.raises(Error, match=r"'features\.weight' is not 1"):
        embedding.convert(tmp_path / "w.pt", network="iresnet18", height=32, width=32)
