"""What a run says of itself: images that its model was trained on, a part of a protocol, several
protocols, what it keeps, and the page that shows several of them."""

import json
import re
from pathlib import Path

import facebench
import pytest
from facebench.cli.app import app
from typer.testing import CliRunner

pytest.importorskip("facebench._full")
from facebench import datasets, embedding, training

PROTOCOL = Path(__file__).parents[3] / "protocols/lfw.toml"
QUICK = ("--detector", "none", "--crop-size", 32, "--interval", "none", "--quiet")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """LFW-like faces, and two models: one trained on them, one on others."""
    root = tmp_path_factory.mktemp("hour")
    for name, first in (("faces", 0), ("others", 40)):
        options = datasets.SyntheticOptions(
            people=40, images=2, size=64, pairs_per_fold=4, first_person=first
        )
        datasets.write_synthetic_dataset(options, root / name)
        pack = root / f"{name}.h5"
        facebench.pack("lfw", root / name, pack, detector="none", crop_size=32)
        recipe = training.load_recipe(
            "small4.softmax", epochs=1, batch=16, embedding=16, channel_multiplier=0.125
        )
        facebench.train(recipe, pack, root / f"on-{name}", threads=1)
    return root


def invoke(*words):
    return CliRunner().invoke(app, [str(w) for w in words])


def run(data, model, **more):
    where = {"root": data / "faces", "detector": "none", "crop_size": 32}
    return facebench.run("lfw", model=model, interval="none", **where, **more)


def test_a_model_trained_on_the_tested_images_is_reported(data, tmp_path):
    manifest = json.loads((data / "on-faces/run.json").read_text())["content"]
    assert manifest["trained_images"]["images"] == 80
    assert len(set(manifest["trained_images"]["sha256"])) == 80
    seen = run(data, data / "on-faces/model.safetensors", out=tmp_path / "run")
    assert seen.warnings[0] == (
        "The model was trained on images that it is tested on: 80 of the 80 images, going by 80 of "
        "its training images."
    )
    assert "trained on images" in (tmp_path / "run/report.html").read_text()
    others = run(data, data / "on-others/model.safetensors")
    assert not [w for w in others.warnings if "trained on" in w]
    # A model file elsewhere: nothing says what it was trained on.
    moved = tmp_path / "model.safetensors"
    moved.write_bytes((data / "on-faces/model.safetensors").read_bytes())
    assert not [w for w in run(data, moved).warnings if "trained on" in w]


def test_what_is_left_out_is_not_opened(data, tmp_path):
    names = datasets.read_dataset("lfw", data / "faces").label_names
    (tmp_path / "out.txt").write_text(f"person\t{names[3]}\nperson\t{names[7]}\n")
    model = embedding.make_model("small4", seed=1, height=32, width=32)
    model.save(tmp_path / "m.safetensors")
    result = run(data, tmp_path / "m.safetensors", exclude=tmp_path / "out.txt", out=tmp_path / "r")
    packed = datasets.Pack(tmp_path / "r/pack.h5").names
    assert not [n for n in packed if names[3] in n or names[7] in n]
    assert len(packed) == len(result._raw.trials.names) < 80
    assert facebench.verify(tmp_path / "r").same
    part = run(data, tmp_path / "m.safetensors", limit=10, out=tmp_path / "q")
    assert part.tracks["view2"].comparisons == 10
    assert len(datasets.Pack(tmp_path / "q/pack.h5").names) <= 20
    assert facebench.verify(tmp_path / "q").same


def test_the_command_line_keeps_what_it_made(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ("run", "lfw", "--model", data / "on-others/model.safetensors", *QUICK)
    words = (*words, "--root", data / "faces", "--limit", 40)
    first, again = invoke(*words), invoke(*words, "--batch-size", 8)
    assert (first.exit_code, again.exit_code) == (0, 0), first.output + again.output
    assert "taken from runs/cache: pack, embeddings" in again.stderr
    assert "taken from" not in first.stderr
    assert "taken from" not in invoke(*words, "--no-cache").stderr
    assert first.stdout.startswith("WARNING: A quick look (limit 40)")
    assert invoke(*words, "--no-cache", "--cache", "x").exit_code == 2


def test_several_protocols_in_one_call(data, tmp_path):
    own = tmp_path / "mine.toml"
    own.write_text(PROTOCOL.read_text().replace('id = "lfw"', 'id = "mine"'))
    words = ("run", "lfw", own, "--model", data / "on-others/model.safetensors", *QUICK)
    out = tmp_path / "both"
    done = invoke(*words, "--root", data / "faces", "--out", out, "--no-cache", "--json")
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert sorted(said) == ["lfw", "mine"]
    assert said["lfw"]["out"] == str(out / "lfw")
    assert (out / "mine/report.html").is_file()
    with pytest.raises(ValueError, match="different names"):
        facebench.run(["lfw", "lfw"], model="m", root=data / "faces")


def test_the_page_links_runs_and_shows_the_worst_pairs(data, tmp_path):
    run(data, data / "on-others/model.safetensors", out=tmp_path / "a b")
    page = facebench.report([tmp_path / "a b"], format="html", out=tmp_path / "page").read_text()
    assert 'href="../a%20b/report.html"' in page
    assert 'href="../a%20b"' in page
    worst = page.split("Worst pairs: a b")[1]
    assert len(re.findall(r'<img src="data:image/jpeg', worst)) == 4 * 6
    run(data, data / "on-others/model.safetensors", out=tmp_path / "no", discard=True)
    page = facebench.report([tmp_path / "no"], format="html", out=tmp_path / "n").read_text()
    assert "Worst pairs" not in page


def test_the_word_of_a_description_names_the_key():
    with pytest.raises(ValueError, match=r"'margin'; did you mean 'loss\.m' \(margin"):
        training.load_recipe("small4.cosface", margin=0.2)
    with pytest.raises(ValueError, match="did you mean 'lr'"):
        training.load_recipe("small4.cosface", lrr=0.2)
