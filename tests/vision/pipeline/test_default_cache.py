"""Where runs keep packs and embeddings unless it is said: one place, for Python and the command."""

import logging

import facebench
import pytest
from command_line import invoke
from facebench import embedding


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A working directory with drawn faces and a model file."""
    few = facebench.datasets.SyntheticOptions(people=40, images=2, size=32, pairs_per_fold=2)
    facebench.datasets.write_synthetic_dataset(few, tmp_path / "faces")
    embedding.make_model("small4", seed=1).save(tmp_path / "m.safetensors")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("facebench.core._files.KEPT", "runs/cache")
    return tmp_path


HOW = {"model": "m.safetensors", "root": "faces", "detector": "none", "interval": "none"}
TYPED = ["run", "lfw", "--model", "m.safetensors", "--root", "faces", "--detector", "none",
         "--interval", "none", "--quiet"]  # fmt: skip


def test_python_keeps_as_the_command_does(here, caplog):
    with caplog.at_level(logging.INFO, "facebench"):
        first = facebench.run("lfw", out="a", **HOW)
    assert (first.cache, first.reused) == ("runs/cache", [])
    assert "packs and embeddings are kept in runs/cache" in caplog.messages
    typed = invoke(*TYPED, "--out", "b")
    assert "taken from runs/cache: pack, embeddings" in typed.output
    again = facebench.run("lfw", out="c", **HOW)
    assert again.reused == ["pack", "embeddings"]
    content = [facebench.analysis.read_run(run)["content"] for run in "abc"]
    assert content[0] == content[1] == content[2]
    several = facebench.run(["lfw"], out="d", **HOW)
    assert several["lfw"].reused == ["pack", "embeddings"]


@pytest.mark.parametrize("how", [{"cache": ""}, {"discard": True}])
def test_nothing_is_kept_where_it_is_said(here, how):
    assert facebench.run("lfw", out="a", **HOW, **how).cache == ""
    assert not (here / "runs").exists()


def test_nothing_is_kept_of_what_is_not_saved(here):
    assert facebench.run("lfw", **HOW).cache == ""
    assert not (here / "runs").exists()


def test_another_place(here):
    result = facebench.run("lfw", out="a", cache=here / "kept", **HOW)
    assert result.cache == str(here / "kept") and (here / "kept").is_dir()
    assert not (here / "runs").exists()
