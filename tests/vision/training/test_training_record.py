"""What a model file says of its training, and how a report beside a paper uses it."""

import json

import facebench
import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("facebench._full")

from facebench import embedding, images, training  # noqa: E402
from facebench.io import read_safetensors, sha256_file  # noqa: E402

PEOPLE, EACH = 5, 4


@pytest.fixture
def folder(tmp_path):
    random = np.random.default_rng(3)
    for person in range(PEOPLE):
        for number in range(EACH):
            path = tmp_path / "webface" / f"Person_{person}" / f"{number}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            images.write(path, random.integers(0, 256, (16, 16, 3), np.uint8))
    return tmp_path / "webface"


def recipe(name="small4.cosface", **overrides):
    small = {"epochs": 1, "batch": 4, "embedding": 4, "channel_multiplier": 0.125}
    return training.load_recipe(name, **small | overrides)


def record(path):
    _, metadata = read_safetensors(path)
    return json.loads(metadata["training"])


def test_a_model_file_says_how_it_was_trained(folder, tmp_path):
    (tmp_path / "out.txt").write_text("Person_1\n")
    result = training.train(
        recipe(seed=5), folder, tmp_path / "run", threads=1, exclude=tmp_path / "out.txt"
    )
    found = record(result["model"])
    assert (found["recipe"], found["loss"]) == ("small4.cosface", "cosface")
    assert (found["engine"], found["device"]) == ("facebench", "cpu")
    changed = {"training.epochs", "training.batch", "network.embedding"}
    assert set(found["changed"]) == changed | {"network.channel_multiplier"}
    data = found["training_set"]
    assert (data["name"], data["people"], data["images"]) == ("webface", PEOPLE - 1, 16)
    assert data["content"].startswith(f"{PEOPLE * EACH} of {PEOPLE * EACH} images: ")
    manifest = json.loads((tmp_path / "run" / "run.json").read_text())["content"]
    assert data["sha256"] == manifest["data"]
    assert data["removed"] == manifest["excluded"] and data["removed"]["people"] == 1
    model = embedding.load_model(result["model"])
    assert model.training == found
    model.save(tmp_path / "again.safetensors")
    assert sha256_file(tmp_path / "again.safetensors") == sha256_file(result["model"])


def test_a_recipe_as_it_is_has_no_changed_settings(folder, tmp_path):
    (tmp_path / "own.toml").write_text(
        'version = 1\ntitle = "own"\n[network]\nname = "small4"\nembedding = 4\n'
        'channel_multiplier = 0.125\n[loss]\nname = "softmax"\n[training]\nepochs = 1\nbatch = 4\n'
    )
    own = training.load_recipe(tmp_path / "own.toml", lr=0.5)
    found = record(training.train(own, folder, tmp_path / "own", threads=1)["model"])
    assert (found["recipe"], found["changed"]) == ("own", [])


def test_own_networks_and_losses_are_said_too(folder, tmp_path):
    def own_loss(features, labels):
        return features.square().mean()

    module = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(768, 4))
    options = {"threads": 1, "network": module, "loss": own_loss}
    result = training.train(recipe(), folder, tmp_path / "run", **options)
    found = record(result["model"])
    assert "own_loss" in json.dumps(found["loss"])
    again = embedding.TorchEmbedder(module, weights=result["model"])
    assert again.description["training"] == found
    again.save(tmp_path / "again.safetensors")
    assert record(tmp_path / "again.safetensors") == found


def test_a_fresh_model_has_no_record(tmp_path):
    model = embedding.make_model("small4", embedding=4)
    assert model.training is None
    model.save(tmp_path / "m.safetensors")
    assert "training" not in read_safetensors(tmp_path / "m.safetensors")[1]


def test_a_run_knows_the_training_of_its_model(folder, tmp_path):
    result = training.train(recipe(), folder, tmp_path / "run", threads=1)
    options = {"root": folder, "detector": "none", "replicates": 20, "threads": 1}
    facebench.run("folders", model=result["model"], out=tmp_path / "r", **options)
    content = json.loads((tmp_path / "r" / "run.json").read_text())["content"]
    assert content["embeddings"]["manifest"]["model"]["training"] == record(result["model"])
    assert facebench.verify(tmp_path / "r").same
