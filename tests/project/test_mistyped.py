"""What is mistyped is told with what was meant: rows of docs/what-goes-in.md, and others."""

import facebench
import numpy as np
import pytest
from command_line import runner
from facebench import datasets, images, protocols
from facebench.cli.app import app
from facebench.core import cuda_devices

NO_CARD = not cuda_devices()["devices"]


def said(*words, code=2):
    result = runner.invoke(app, [str(word) for word in words])
    assert result.exit_code == code, result.output
    return " ".join(result.output.split())


@pytest.mark.parametrize("verb", [
    ["run", "lfw", "--root", "faces", "--model", "m.onnx"],
    ["embed", "m.onnx", "faces.h5"],
    ["compare", "a.jpg", "b.jpg", "--model", "m.onnx"],
    ["train", "small4.softmax", "--pack", "faces.h5"],
])  # fmt: skip
@pytest.mark.parametrize(("typed", "meant"), [("colour=bgr", "color")])
def test_a_setting(verb, typed, meant):
    assert f"did you mean '{meant}'?" in said(*verb, "--set", typed)


@pytest.mark.parametrize(
    ("call", "meant"),
    [
        (lambda: facebench.run("lfw", model=len, root="x", colour="bgr"), "color"),
        (lambda: facebench.run("lfw", model=len, root="x", detectr="mtcnn"), "detector"),
        (lambda: facebench.run("lfw", model=len, root="x", onyl="a.txt"), "only"),
        (lambda: facebench.pack("folder", "x", "y.h5", exlude="a.txt"), "exclude"),
        (lambda: facebench.embed("m.onnx", "x.h5", flipp="sum"), "flip"),
        (lambda: facebench.train("demo", "x.h5", "y", epoch_on=None), "on_epoch"),
        (lambda: facebench.compare("a", "b", stdd=1), "std"),
    ],
)
def test_a_keyword(call, meant):
    with pytest.raises(ValueError, match=f"(did you mean '{meant}'|It takes .*{meant})"):
        call()


def test_a_recipe():
    assert "small4.arcface" in said("train", "arcface", "--pack", "x.h5")


PROTOCOL = """id = "mine"
version = 1
title = "Mine"
description = "Pairs."
[data]
images = ["."]
lists = ["."]
match = "exact"
[reader]
name = "pairs"
file = "pairs.csv"
track = "pairs"
separator = "comma"
header = true
lines_per_pair = 1
first = "first"
second = "second"
label = "label"
genuine = ["1"]
impostor = ["0"]
folds = "none"
prefix = ""
suffix = ""
identity = "folder"
[evaluation]
convention = "exact"
interval = "none"
failed_enrolments = "lowest_score"
[[metrics]]
name = "tar_at_far"
targets = [0.1]
"""


@pytest.mark.parametrize("key", ["fars", "far", "fmr", "rates", "FAR", "target"])
def test_a_key_of_a_protocol(tmp_path, key):
    path = tmp_path / "mine.toml"
    path.write_text(PROTOCOL)
    assert protocols.load_protocol(path).id == "mine"
    path.write_text(PROTOCOL.replace("targets =", f"{key} ="))
    with pytest.raises(
        facebench.Error, match=rf"'metrics\[0\].targets' is missing. Did you write '{key}' for it"
    ):
        protocols.load_protocol(path)


def test_many_keys_that_are_unknown_are_not_all_named(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(
        PROTOCOL.replace("targets =", "fars =").replace("[[metrics]]", "[[metrics]]\na = 1")
    )
    with pytest.raises(facebench.Error, match=r"Did you write '(a' or 'fars|fars' or 'a)' for it"):
        protocols.load_protocol(path)


@pytest.mark.skipif(not NO_CARD, reason="there is a card here")
@pytest.mark.parametrize("device", ["cuda", "cuda:1"])
def test_a_card_that_is_not_there(device):
    text = said("detect", "a.jpg", "--device", device)
    assert f"no device '{device}' on this machine: no NVIDIA card or driver" in text
    assert "leave the device out" in text and "nvidia-smi" in text


def test_a_folder_with_two_bins(tmp_path):
    for name in ("lfw", "agedb_30"):
        (tmp_path / f"{name}.bin").write_bytes(b"\x80\x02x")
    text = said("data", "check", "bin", "--root", tmp_path, code=1)
    assert "there are 2 .bin files in this folder: agedb_30.bin, lfw.bin" in text
    assert str(tmp_path / "agedb_30.bin") in text
    with pytest.raises(facebench.Error, match=r"2 \.bin files .*: agedb_30\.bin, lfw\.bin"):
        datasets.read_dataset("bin", tmp_path)


def test_a_metric_of_several_tracks(tmp_path):
    rows = np.random.default_rng(0).normal(size=(40, 4))
    result = facebench.evaluate("folders", rows, labels=[k % 8 for k in range(40)], interval="none")
    assert result["rank@1"] is result.tracks["identification"]["rank@1"]
    assert result.auc is result.tracks["verification"].auc
    with pytest.raises(KeyError, match=r"'rank1'; did you mean 'rank@1'?"):
        result["rank1"]
    with pytest.raises(KeyError, match=r"there are: verification \(auc, .*identification \(rank@1"):
        result["nothing alike at all"]
    two = next(iter(result.tracks.values()))
    result.tracks["again"] = two
    two_names = (
        r"'auc' is of several tracks: verification, .*; say result\['verification'\]\['auc'\]"
    )
    with pytest.raises(KeyError, match=two_names):
        result["auc"]


def test_curves_of_several_results():
    pytest.importorskip("matplotlib").use("agg")
    scores, labels = np.arange(20) / 20, [k % 2 for k in range(20)]
    one = facebench.evaluate("pairs", scores=scores, labels=labels, interval="none")
    other = facebench.evaluate("pairs", scores=-scores, labels=labels, interval="none")
    axes = facebench.plots.plot_roc([one, other])
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["result 1", "result 2"]


def test_no_image():
    with pytest.raises(TypeError, match=r"expected|path|None"):
        facebench.detect(None)
    assert images is not None
