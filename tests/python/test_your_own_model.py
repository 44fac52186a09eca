"""What is not stated of a model is said aloud; what cannot work is refused before an image."""

import json
import warnings

import facebench
import pytest
import torch
from facebench import datasets, embedding, nn

SHARED = {"detector": "none", "interval": "none"}


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("faces") / "lfw"
    options = datasets.SyntheticOptions(people=40, images=2, size=64, pairs_per_fold=4)
    datasets.write_synthetic_dataset(options, folder)
    return folder


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
