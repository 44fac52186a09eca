"""What a run says of itself: images that its model was trained on, a part of a protocol, several
protocols, what it keeps, and the page that shows several of them."""

import json
import re
from pathlib import Path

import facebench
import pytest
from click.testing import CliRunner
from facebench.cli.app import app

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
        "The model was trained on people that it is tested on: 40 of the 40, by their names and "
        "images. It was trained on 80 of the 80 images, going by 80 of its training images."
    )
    assert "trained on people" in (tmp_path / "run/report.html").read_text()
    others = run(data, data / "on-others/model.safetensors")
    assert not [w for w in others.warnings if "trained on" in w]
    # A model file elsewhere: nothing says what it was trained on.
    moved = tmp_path / "model.safetensors"
    moved.write_bytes((data / "on-faces/model.safetensors").read_bytes())
    assert not [w for w in run(data, moved).warnings if "trained on" in w]


def test_new_photographs_of_trained_people_are_reported(data, tmp_path):
    """Of people of the same names one photograph was trained on: these are two counts."""
    manifest = json.loads((data / "on-faces/run.json").read_text())["content"]
    names = sorted(datasets.Pack(data / "faces.h5").label_names)
    assert manifest["trained_people"] == {"people": 40, "names": names}
    photographs = {
        person: sorted((data / folder / "images" / person).iterdir())
        for folder in ("faces", "others")
        for person in sorted(p.name for p in (data / folder / "images").iterdir())
    }
    trained, new = names, sorted(set(photographs) - set(names))
    root = tmp_path / "people"
    for k, (person, other) in enumerate(zip(trained[:5], new[:5], strict=True)):
        (root / person).mkdir(parents=True)
        for i, image in enumerate(photographs[other]):
            source = photographs[person][0] if (k, i) == (0, 0) else image
            (root / person / f"{i}.png").write_bytes(source.read_bytes())
    (root / "Somebody Else").mkdir()
    for i, image in enumerate(photographs[new[5]]):
        (root / "Somebody Else" / f"{i}.png").write_bytes(image.read_bytes())
    result = facebench.run(
        "folders",
        model=data / "on-faces/model.safetensors",
        root=root,
        detector="none",
        crop_size=32,
        interval="none",
    )
    assert result.warnings[0] == (
        "The model was trained on people that it is tested on: 5 of the 6, by their names and "
        "images. It was trained on 1 of the 12 images, going by 80 of its training images."
    )


def test_images_of_the_crops_size_ask_for_no_detector(data, tmp_path):
    """Faces of 64 x 64 pixels under a crop of 64 x 64 are cut again, under one of 32 x 32 not."""
    model = embedding.make_model("small4", seed=1, height=64, width=64)
    model.save(tmp_path / "m.safetensors")

    def said(size, **more):
        result = facebench.run(
            "lfw",
            model=tmp_path / "m.safetensors",
            root=data / "faces",
            crop="paper",
            crop_size=size,
            interval="none",
            **more,
        )
        return [w for w in result.warnings if "--detector none" in w]

    wanted = "80 of 80 images have the crop's own size, 64 x 64"
    cache = tmp_path / "cache"
    for _ in range(2):  # the second time out of the cache
        (warning,) = said(64, detector="hog", cache=cache, out=tmp_path / "r", overwrite=True)
        assert warning.startswith(wanted)
    assert wanted in (tmp_path / "r/report.md").read_text()
    assert facebench.verify(tmp_path / "r").same
    assert not said(64, detector="none")
    packed = {
        size: facebench.pack(
            "lfw",
            data / "faces",
            tmp_path / f"{size}.h5",
            detector="hog",
            crop="paper",
            crop_size=size,
        )
        for size in (64, 32)
    }
    assert packed[64].crop_sized.warning == warning and packed[32].crop_sized.warning == ""
    words = ("pack", "lfw", "--root", data / "faces", "--detector", "hog", "--crop", "paper")
    shown = invoke(*words, "--crop-size", 64, "--out", tmp_path / "c.h5", "--quiet")
    assert warning in shown.stdout


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


@pytest.mark.parametrize(("limit", "why"), [(1, "0 impostor comparisons are"), (2, "has no folds")])
def test_a_quick_look_that_is_too_small_is_not_the_protocols_fault(data, tmp_path, limit, why):
    model = data / "on-others/model.safetensors"
    with pytest.raises(
        facebench.Error, match=f"{why}.*: limit {limit} leaves too few.*--limit"
    ) as e:
        run(data, model, limit=limit, out=tmp_path / "q")
    assert "out of the protocol" not in str(e.value)
    assert run(data, model, limit=9, out=tmp_path / "r").tracks["view2"].comparisons == 9


def test_the_command_line_keeps_what_it_made(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("facebench.core._files.KEPT", "runs/cache")
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
    worst = page.split("Worst pairs: small4")[1]  # the model
    assert len(re.findall(r'<img src="data:image/jpeg', worst)) == 4 * 6
    run(data, data / "on-others/model.safetensors", out=tmp_path / "no", discard=True)
    page = facebench.report([tmp_path / "no"], format="html", out=tmp_path / "n").read_text()
    assert "Worst pairs" not in page


def test_the_word_of_a_description_names_the_key():
    with pytest.raises(ValueError, match=r"'margin'; did you mean 'loss\.m' \(margin"):
        training.load_recipe("small4.cosface", margin=0.2)
    with pytest.raises(ValueError, match="did you mean 'lr'"):
        training.load_recipe("small4.cosface", lrr=0.2)
