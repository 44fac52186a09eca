"""What is not stated of a model is said aloud; what cannot work is refused before an image."""

import json
import warnings

import facebench
import numpy as np
import pytest
import torch
from facebench import datasets, embedding, nn
from lfw_like import lfw_like

SHARED = {"detector": "none", "interval": "none"}


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return lfw_like(tmp_path_factory.mktemp("faces") / "lfw")


@pytest.fixture(scope="module")
def onnx(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m.onnx"
    nn.export_onnx(nn.build_network("small4", height=32, width=32), path)
    return path


def test_what_an_onnx_file_does_not_say_is_printed_and_recorded(tmp_path, root, onnx):
    own = {**SHARED, "crop_size": 32, "crop": "paper"}
    with pytest.warns(
        UserWarning, match=r"assumed: mean 127.5, std 127.5, color rgb, no flip\. St"
    ):
        result = facebench.run("lfw", model=onnx, root=root, out=tmp_path / "a", **own)
    said = "Assumed, since the model does not say it: mean 127.5, std 127.5, color rgb, no flip."
    assert said in result.warnings
    assert said in (tmp_path / "a/report.md").read_text().replace("\\", "")
    manifest = json.loads((tmp_path / "a/run.json").read_text())["content"]["embeddings"]
    assert manifest["manifest"]["model"]["assumed"].startswith("mean 127.5")
    with pytest.warns(UserWarning, match=r"assumed: std 127.5, color rgb\. "):
        facebench.run("lfw", model=onnx, root=root, mean=127.5, flip="sum", **own)
    stated = {"mean": [123.675, 116.28, 103.53], "std": 58, "color": "bgr"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = facebench.run("lfw", model=onnx, root=root, out=tmp_path / "b", **stated, **own)
    assert not any("ssumed" in w for w in result.warnings)
    explained = str(facebench.explain(tmp_path / "a", tmp_path / "b"))
    assert "- a: Assumed, since the model does not say it: mean 127.5" in explained


def test_embedders_know_what_was_assumed():
    pool = torch.nn.AdaptiveAvgPool2d(2)
    assert embedding.TorchEmbedder(pool).assumed() == "mean 127.5, std 127.5, color rgb, no flip"
    assert embedding.TorchEmbedder(pool, mean=0, std=[1, 2, 3]).assumed("sum") == "color rgb"
    assert embedding.TorchEmbedder(pool, mean=0, std=1, color="bgr").assumed() == ""


def test_what_cannot_work_is_refused_before_the_first_image(tmp_path, root):
    def never(crops):
        raise AssertionError("an image was opened")

    with pytest.raises(ValueError, match="'hog' finds no landmarks, and the crop 'arcface112'"):
        facebench.run("lfw", model=never, root=root, detector="hog", crop="arcface112")
    with pytest.raises(ValueError, match="'hog' finds no landmarks"):
        facebench.pack("lfw", root, tmp_path / "p.h5", detector="hog")
    with pytest.raises(ValueError, match=r"no crop 'none'.*with the detector 'none'"):
        facebench.run("lfw", model=never, root=root, crop="none")
    model = embedding.make_model("small4", height=32, width=32)
    model.save(tmp_path / "m.safetensors")
    for options, said in (
        ({"crop": "arcface"}, "unknown crop 'arcface'; did you mean 'arcface112'"),
        ({"detector": "mtcn"}, "unknown detector 'mtcn'; did you mean 'mtcnn'"),
        ({"out": tmp_path / "m.h5"}, "ends with .safetensors or .onnx"),
    ):
        with pytest.raises(ValueError, match=said):
            embedding.convert(tmp_path / "m.safetensors", **options)
    assert not (tmp_path / "p.h5").exists() and not (tmp_path / "m.h5").exists()


def colours(batch):
    return batch[:, ::16, ::16].reshape(len(batch), -1)


def test_two_photographs_to_a_score_in_any_form(tmp_path, root):
    from PIL import Image

    photos = sorted(root.rglob("*.jpg"))[:2]
    run = facebench.run("lfw", model=colours, root=root, out=tmp_path / "run", **SHARED)
    found = facebench.compare(*photos, model=colours, detector="none", run=tmp_path / "run")
    first, second = (facebench.images.read(path) for path in photos)
    forms = [
        (first, second),
        (Image.fromarray(first), Image.fromarray(second)),
        (torch.from_numpy(first), torch.from_numpy(second).permute(2, 0, 1)),
    ]
    for pair in forms:
        assert facebench.compare(*pair, model=colours, detector="none").score == found.score
    cell = next(m for m in run.tracks["view2"].metrics.values() if "threshold" in m.details)
    row = next(p for p in found.passes if p["metric"] == cell.name)
    assert len({(p["track"], p["threshold"]) for p in found.passes}) == len(found.passes)
    assert row["passes"] == (found.score >= cell.threshold) and row["far"] == cell.far_achieved
    with pytest.raises(facebench.Error, match="image: no face, so there is nothing to compare"):
        facebench.compare(np.zeros_like(first), first, model=colours, detector="hog", crop="paper")


def test_a_folder_of_photographs_is_embedded_without_people(tmp_path):
    face = datasets.render_face(
        datasets.make_identity(seed=1, index=0), datasets.make_nuisance("frontal", seed=1), size=200
    )
    facebench.images.write(tmp_path / "someone.png", face.image)
    facebench.images.write(tmp_path / "nobody.png", np.zeros((80, 80, 3), np.uint8))
    (tmp_path / "broken.jpg").write_text("no image")
    found = facebench.embed(colours, tmp_path, tmp_path / "e.h5")
    status = dict(zip(found.names, found.status.tolist(), strict=True))
    assert status == {"broken.jpg": 2, "nobody.png": 1, "someone.png": 0}
    kept = facebench.io.read_embeddings(tmp_path / "e.h5").manifest
    assert kept == found.manifest and kept["preparation"]["crop"]["name"] == "arcface112"
    assert kept["preparation"]["detector"]["detector"] == "mtcnn"
    assert kept["preparation"]["selection"] == "nearest_center"
    alone = embedding.extract(colours, np.ones((1, 112, 112, 3), np.uint8)).manifest
    assert {k: v for k, v in kept.items() if k != "preparation"} == alone
    by_hand = facebench.crops.crop_face(
        face.image, facebench.detection.detect(face.image)[0], "arcface112"
    )[0]
    expected = embedding.extract(colours, by_hand[None]).values[0]
    assert np.array_equal(found.values[found.names.index("someone.png")], expected)


def test_a_result_is_numbers_rows_and_plots(tmp_path, root):
    import matplotlib

    matplotlib.use("Agg")
    result = facebench.run("lfw", model=colours, root=root, **SHARED)
    auc = result["auc"]
    assert auc is result["view2"]["auc"] and float(auc) == auc.value == auc
    assert f"{auc:.3f}" == f"{auc.value:.3f}" and auc < 2 and auc >= 0 and "auc" in dir(result)
    with pytest.raises(KeyError, match="there are: "):
        result["aucc"]
    rows = result.to_rows()
    of_auc = next(row for row in rows if row["metric"] == "auc")
    assert of_auc["value"] == auc.value and of_auc["track"] == "view2"
    far, tar = result.tracks["view2"].roc()
    axes = result.plot_roc()
    assert np.array_equal(axes.lines[0].get_xdata(), far[far > 0])  # a logarithmic axis
    assert np.array_equal(axes.lines[0].get_ydata(), tar[far > 0])
    both = facebench.plots.plot_det({"a": result, "b": result})
    assert [text.get_text() for text in both.get_legend().texts] == ["a", "b"]
    result.plot_scores().figure.savefig(tmp_path / "scores.svg")
    assert b"<svg" in (tmp_path / "scores.svg").read_bytes()
    matplotlib.pyplot.close("all")
