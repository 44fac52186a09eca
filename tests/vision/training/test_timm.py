"""Networks of timm by a line of a recipe, and networks that the command line names; and that a
recipe's file runs no code."""

import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("facebench._full")

import facebench  # noqa: E402
from command_line import app, runner  # noqa: E402
from command_line import run as command  # noqa: E402
from facebench import embedding, training  # noqa: E402
from small_trainings import faces  # noqa: E402

RECIPE = """
version = 1
title = "own"
[network]
name = "{}"
[loss]
name = "softmax"
[training]
epochs = 1
batch = 4
{}
"""


def written(tmp_path, network, more=""):
    path = tmp_path / "own.toml"
    path.write_text(RECIPE.format(network, more))
    return path


REFUSED = [
    ("os:getcwd", "names code, and a recipe is data"),
    ("mymodule:make", "--set network=MODULE:FUNCTION"),
    ("timm:hf-hub:somebody/model", "hubs, folders and tags of weights are not looked up"),
    ("timm:local-dir:/tmp/model", "hubs, folders and tags of weights are not looked up"),
    ("timm:resnet18.a1_in1k", "hubs, folders and tags of weights are not looked up"),
    ("timm:", "a name of timm.list_models"),
    ("timm:../resnet18", "a name of timm.list_models"),
    ("resnet51", "did you mean 'resnet50'"),
]


@pytest.mark.parametrize(("network", "said"), REFUSED)
def test_a_recipes_file_runs_no_code(tmp_path, network, said, monkeypatch):
    (tmp_path / "mymodule.py").write_text("raise SystemExit('run')")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(facebench.Error, match=said) as caught:
        training.load_recipe(written(tmp_path, network))
    assert "own.toml:5" in str(caught.value)
    done = runner.invoke(app, ["train", "own.toml", "--pack", "faces"])
    assert done.exit_code == 1 and "own.toml:5" in done.stderr
    assert "mymodule" not in sys.modules
    if network != "resnet51":
        with pytest.raises(ValueError, match=said):
            training.load_recipe("small4.softmax", network=network)


def test_options_that_a_network_of_timm_lacks():
    with pytest.raises(ValueError, match=r"network\.auxiliary: a network of timm takes height"):
        training.load_recipe("small4.softmax", network="timm:resnet18", auxiliary=1)


def test_code_that_the_command_line_names(tmp_path):
    """As --model does; what comes out is a file of weights, and ONNX."""
    from PIL import Image

    code = "import torch\n\ndef make():\n    return torch.nn.Sequential(\n"
    code += "        torch.nn.Flatten(), torch.nn.Linear(768, 8))\n"
    (tmp_path / "mymodel.py").write_text(code)
    for k, (pixels, label) in enumerate(zip(*faces(), strict=True)):
        (tmp_path / "faces" / f"p{label}").mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).save(tmp_path / "faces" / f"p{label}" / f"{k}.png")
    words = ["train", "small4.softmax", "--pack", "faces", "--out", "run"]
    sets = ["--set", "epochs=1", "--set", "batch=4"]
    done = command(*words, *sets, "--set", "network=mymodel:make", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    content = json.loads((tmp_path / "run" / "run.json").read_text())["content"]
    assert content["recipe"]["network"]["python"] == "mymodel.make"
    if importlib.util.find_spec("onnx"):
        assert f"as ONNX: {Path('run/model.onnx')}" in done.stdout
        assert embedding.load_embedder(tmp_path / "run" / "model.onnx")(faces()[0]).shape == (12, 8)
    done = command(*words[:-1], "b", *sets, "--set", "network=mymodel:none", cwd=tmp_path)
    assert done.returncode == 2 and "has no attribute 'none'" in done.stderr


# --- with timm


@pytest.fixture
def timm():
    return pytest.importorskip("timm")


def recipe(name, **overrides):
    plain = {"network": f"timm:{name}", "epochs": 1, "batch": 4, "height": 32, "width": 32}
    return training.load_recipe("small4.softmax", **plain | overrides)


def pictures():
    return faces(size=32)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", ["test_resnet", "test_vit", "mobilenetv3_small_050"])
def test_a_line_of_a_recipe_trains_it(tmp_path, timm, name):
    """Its file is a model that run takes; its embeddings are those of timm's own module."""
    if name not in timm.list_models():
        pytest.skip(f"timm {timm.__version__} has no {name}")
    result = training.train(
        recipe(name, embedding=16, input__flip="none"), pictures(), tmp_path / "run", threads=1
    )
    cfg = timm.get_pretrained_cfg(name)
    loaded = embedding.load_embedder(result["model"])
    np.testing.assert_allclose(np.broadcast_to(loaded._options.mean, 3), np.multiply(cfg.mean, 255))
    np.testing.assert_allclose(np.broadcast_to(loaded._options.std, 3), np.multiply(cfg.std, 255))
    values = embedding.extract(loaded, pictures()[0], threads=1).values

    sized = {"img_size": (32, 32)} if cfg.fixed_input_size else {}
    theirs = timm.create_model(name, num_classes=16, **sized).eval()
    weights, _ = facebench.io.read_safetensors(result["model"])
    theirs.load_state_dict({n: torch.from_numpy(t) for n, t in weights.items()})
    pixels = pictures()[0].astype(np.float32) / 255
    pixels = (pixels - np.float32(cfg.mean)) / np.float32(cfg.std)
    with torch.no_grad():
        wanted = theirs(torch.from_numpy(pixels).permute(0, 3, 1, 2)).numpy()
    wanted /= np.linalg.norm(wanted, axis=1, keepdims=True)
    np.testing.assert_allclose(values, wanted, atol=1e-4)
    content = json.loads((tmp_path / "run" / "run.json").read_text())["content"]
    assert content["recipe"]["network"]["timm"] == timm.__version__


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_it_is_written_as_onnx_and_resumed(tmp_path, timm):
    pytest.importorskip("onnx")
    result = training.train(recipe("test_resnet"), pictures(), tmp_path / "run", threads=1)
    again = training.train(
        recipe("test_resnet"), pictures(), tmp_path / "run", threads=1, resume=True
    )
    assert again["iterations"] == result["iterations"]
    images = pictures()[0]
    ours = embedding.extract(embedding.load_embedder(result["model"]), images, threads=1).values
    onnx = embedding.load_embedder(tmp_path / "run" / "model.onnx")
    np.testing.assert_allclose(embedding.extract(onnx, images, threads=1).values, ours, atol=1e-4)
    embedding.convert(result["model"], out=tmp_path / "m.onnx")
    onnx = embedding.load_embedder(tmp_path / "m.onnx")
    np.testing.assert_allclose(embedding.extract(onnx, images, threads=1).values, ours, atol=1e-4)
    with pytest.raises(ValueError, match=r"written as \.onnx alone"):
        embedding.convert(result["model"], out=tmp_path / "m.safetensors")


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_it_is_fine_tuned(tmp_path, timm):
    first = training.train(recipe("test_resnet"), pictures(), tmp_path / "a", threads=1)
    result = training.train(
        recipe("test_resnet", freeze="*"),
        pictures(),
        tmp_path / "b",
        threads=1,
        init=first["model"],
    )
    one, other = (facebench.io.read_safetensors(r["model"])[0] for r in (first, result))
    weights = [n for n in one if not n.endswith(".num_batches_tracked")]
    assert all(np.array_equal(one[n], other[n]) for n in weights)
    assert result["begun_with"]["network"] == "timm:test_resnet"


def test_the_size_is_what_timm_says(tmp_path, timm):
    """224 x 224 where nobody says another; crops of another size are told what to do."""
    plain = training.load_recipe("small4.softmax", network="timm:resnet18", batch=4)
    with pytest.raises(ValueError, match=r"takes images of 224x224.*Crop to 224x224 \(--crop-size"):
        training.train(plain, pictures(), tmp_path / "run")


def test_names_that_timm_does_not_have(tmp_path, timm):
    with pytest.raises(ValueError, match="has no model 'resnet19'; did you mean"):
        training.train(recipe("resnet19"), pictures(), tmp_path / "run")


def test_without_timm(tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "timm", None)
    with pytest.raises(ImportError, match=r"pip install 'facebench\[timm\]'"):
        training.train(recipe("resnet18"), pictures(), tmp_path / "run")
