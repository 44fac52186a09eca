"""Embedding by torch on a device, seen on the processor; and devices that are not there."""

import facebench
import numpy as np
import pytest
import torch
from click.testing import CliRunner
from facebench import embedding, io, nn
from facebench.cli.app import app
from PIL import Image

NO_CARD = not torch.cuda.is_available()
IMAGES = [entry["name"] for entry in nn.list_networks() if entry["name"] != "lstm"]
# One of each kind: plain, depthwise, residual with pools, local normalisation, attention.
SOME = ["small4", "mobilefacenet", "inception_resnet_v1", "alexnet_s", "cifar10_tensorflow"]


def crops(model, count=5):
    said = model.network_options
    random = np.random.default_rng(1)
    return random.integers(0, 256, (count, said.height, said.width, 3), np.uint8)


def by(model, images, **options):
    return embedding.extract(model, images, embedding.ExtractOptions(**options))


def check_same(name):
    model = embedding.make_model(name, seed=3)
    images = crops(model)
    own = by(model, images).values
    torchs = by(model, images, executor="torch", micro_batch=2).values
    np.testing.assert_allclose(torchs, own, atol=1e-5)
    np.testing.assert_array_equal(torchs, by(model, images, executor="torch", micro_batch=2).values)


@pytest.mark.parametrize("name", SOME)
def test_torch_gives_what_our_own_inference_gives(name):
    check_same(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({*IMAGES} - {*SOME}))
def test_torch_gives_it_for_every_network(name):
    check_same(name)


@pytest.mark.parametrize(
    "pixels",
    [
        {"color": "rgb", "mean": [1.1, 127.5, 3], "std": [58.395, 57.12, 57.375]},
        {"color": "bgr", "mean": [104, 117, 123.68], "std": [1]},
        {"color": "gray", "mean": [0], "std": [255], "channels": 1},
    ],
)
def test_bytes_become_the_numbers_that_they_become_on_the_processor(pixels):
    model = embedding.make_model("small4", seed=4, height=32, width=32, flip="concat", **pixels)
    images = crops(model, 3)
    torchs = by(model, images, executor="torch").values
    np.testing.assert_allclose(torchs, by(model, images).values, atol=2e-6)


def test_a_batch_that_is_not_full_has_the_bits_of_a_full_one():
    model = embedding.make_model("small4")
    images = crops(model, 8)
    whole = by(model, images, executor="torch", micro_batch=4).values
    part = by(model, images[:6], executor="torch", micro_batch=4).values
    np.testing.assert_array_equal(part, whole[:6])


@pytest.mark.parametrize(("precision", "far"), [("bfloat16", 1e-3), ("float16", 1e-5)])
def test_lower_precisions_are_near(precision, far):
    model = embedding.make_model("mobilefacenet", seed=2)
    images = crops(model)
    exact = by(model, images).values
    lower = by(model, images, executor="torch", precision=precision).values
    assert ((1 - (exact * lower).sum(1)) < far).all()
    assert np.abs(lower - exact).max() > 1e-5


def test_the_manifest_says_what_computed():
    model = embedding.make_model("small4")
    said = by(model, crops(model)).manifest["extract"]
    assert (said["device"], said["executor"], said["micro_batch"]) == ("cpu", "own", 8)
    said = by(model, crops(model), executor="torch", micro_batch=3, device="auto").manifest
    if NO_CARD:
        assert said["extract"]["device"] == "cpu" and "device" not in said
    assert (said["extract"]["executor"], said["extract"]["micro_batch"]) == ("torch", 3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"precision": "float16"}, "float16"),
        ({"executor": "torch", "precision": "int8"}, "torch on cpu has float32, bfloat16, float16"),
        ({"executor": "torch", "precision": "tf32"}, "tf32 is of cards"),
        ({"executor": "tensorrt"}, "executor"),
        ({"device": "gpu"}, r"unknown device 'gpu' \(known: cpu, cuda, cuda:N\)"),
        ({"device": "cuda:-1"}, "unknown device 'cuda:-1'"),
        ({"device": ""}, "unknown device ''"),
    ],
)
def test_what_there_is_not_is_refused(options, message):
    model = embedding.make_model("small4")
    with pytest.raises(ValueError, match=message):
        by(model, crops(model), **options)


@pytest.mark.skipif(not NO_CARD, reason="there is a card here")
@pytest.mark.parametrize("device", ["cuda", "cuda:7"])
def test_a_card_that_is_not_there_is_refused_with_the_reason(device):
    model = embedding.make_model("small4")
    with pytest.raises(ValueError, match=f"no device '{device}' on this machine: .+"):
        by(model, crops(model), device=device)


@pytest.mark.filterwarnings("ignore:.*does not say what its pixels are")
def test_models_of_others_run_where_they_are():
    class Mean(torch.nn.Module):
        def forward(self, x):
            return x.mean((2, 3))

    embedder = embedding.TorchEmbedder(Mean())
    images = np.zeros((2, 8, 8, 3), np.uint8)
    images[1] = 255
    assert by(embedder, images, device="auto").values.shape == (2, 3)
    with pytest.raises(ValueError, match=r"executor torch: the model .* is computed by its own"):
        by(embedder, images, executor="torch")
    with pytest.raises(ValueError, match="float16"):
        by(embedder, images, precision="float16")


@pytest.mark.filterwarnings("ignore:.*does not say what its pixels are")
def test_a_batch_without_memory_for_it_is_halved_once():
    class Mean(torch.nn.Module):
        room = 4

        def forward(self, x):
            if len(x) > self.room:
                text = "CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total of 1 GiB"
                raise torch.OutOfMemoryError(text)
            return x.mean((2, 3))

    module = Mean()
    embedder = embedding.TorchEmbedder(module)
    images = np.random.default_rng(0).integers(0, 256, (11, 8, 8, 3), np.uint8)
    with pytest.warns(UserWarning, match="for 8 images at once: they were embedded 4 at once"):
        halved = by(embedder, images, micro_batch=8)
    four = by(embedder, images, micro_batch=4)
    np.testing.assert_array_equal(halved.values, four.values)
    assert halved.manifest == four.manifest
    module.room = 3
    sentence = r"for 4 images at once \(Tried to allocate 20.00 MiB\)\. Take a smaller"
    with pytest.raises(facebench.Error, match=sentence):
        by(embedder, images, micro_batch=8)


def test_commands_take_a_device_and_an_executor(tmp_path):
    model = embedding.make_model("small4", seed=5)
    model.save(tmp_path / "m.safetensors")
    for number, crop in enumerate(crops(model, 4)):
        person = tmp_path / "faces" / f"p{number // 2}"
        person.mkdir(parents=True, exist_ok=True)
        Image.fromarray(crop).save(person / f"{number}.png")
    pack, size = tmp_path / "faces.h5", model.network_options.height
    how = {"detector": "none", "crop": "paper", "crop_size": size}
    facebench.pack("folder", tmp_path / "faces", pack, **how)
    sets = {}
    for executor in ("own", "torch"):
        out = tmp_path / f"{executor}.h5"
        arguments = ["embed", tmp_path / "m.safetensors", pack, "--device", "auto", "--out", out]
        answer = CliRunner().invoke(app, [*map(str, arguments), "--executor", executor])
        assert answer.exit_code == 0, answer.output
        sets[executor] = io.read_embeddings(out)
        assert sets[executor].manifest["extract"]["executor"] == executor
    np.testing.assert_allclose(sets["own"].values, sets["torch"].values, atol=1e-5)
