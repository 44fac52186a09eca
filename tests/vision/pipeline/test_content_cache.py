"""Packs and embeddings that are kept by content: what is taken, what is not, and the same bytes."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import facebench
import pytest
from facebench import embedding
from lfw_like import lfw_like

FILES = (
    "pack.h5", "embeddings.h5", "scores.h5", "metrics.json", "curves.json", "report.md"
)  # fmt: skip


@pytest.fixture(scope="module")
def faces(tmp_path_factory):
    return lfw_like(tmp_path_factory.mktemp("cache") / "faces")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "small.safetensors"
    embedding.make_model("small4", seed=1).save(path)
    return path


def run(faces, model, out, **options):
    options = {"detector": "none", "interval": "none"} | options
    return facebench.run("lfw", model=model, root=faces, out=out, **options)


@pytest.mark.kernels
def test_the_second_run_takes_both_and_has_the_same_bytes(faces, model, tmp_path):
    plain = run(faces, model, tmp_path / "plain")
    first = run(faces, model, tmp_path / "first", cache=tmp_path / "cache")
    again = run(faces, model, tmp_path / "again", cache=tmp_path / "cache")
    assert (plain.reused, first.reused, again.reused) == ([], [], ["pack", "embeddings"])
    for name in FILES:
        bytes_ = {(tmp_path / run / name).read_bytes() for run in ("plain", "first", "again")}
        assert len(bytes_) == 1, name
    manifests = [
        json.loads((tmp_path / name / "run.json").read_text()) for name in ("plain", "again")
    ]
    assert manifests[0]["content"] == manifests[1]["content"]
    assert "cache" not in manifests[0]["circumstance"]
    assert manifests[1]["circumstance"]["cache"] == {"pack": True, "embeddings": True}
    assert facebench.verify(tmp_path / "again").same


@pytest.mark.kernels
def test_content_decides_and_not_where_it_lies(faces, model, tmp_path):
    cache = tmp_path / "cache"
    run(faces, model, tmp_path / "run", cache=cache, discard=True)

    def reused(faces=faces, model=model, **options):
        return facebench.run(
            "lfw", model=model, root=faces, cache=cache, detector="none", interval="none", **options
        ).reused

    copy, other = tmp_path / "copy", tmp_path / "other.safetensors"
    shutil.copytree(faces, copy)
    assert reused(copy) == ["pack", "embeddings"]
    shutil.copy(model, other)
    assert reused(model=other) == ["pack", "embeddings"]
    embedding.make_model("small4", seed=2).save(other)
    assert reused(model=other) == ["pack"]
    assert reused(flip="sum") == ["pack"]
    assert reused(max_pixels=10**6) == []
    image = next((copy / "images").rglob("*.jpg"))
    image.write_bytes(image.read_bytes() + b"\0")
    assert reused(copy) == []
    image.unlink()
    assert reused(copy) == []


def test_what_a_function_gives_is_not_kept(faces, tmp_path):
    def colours(batch):
        return batch[:, ::16, ::16].reshape(len(batch), -1)

    for taken in ([], ["pack"], ["pack"]):
        assert run(faces, colours, None, cache=tmp_path / "cache").reused == taken


@pytest.mark.kernels
def test_a_damaged_entry_is_made_again(faces, model, tmp_path):
    cache = tmp_path / "cache"
    run(faces, model, None, cache=cache)
    (pack,) = (cache / "pack").glob("*.h5")
    whole = pack.read_bytes()
    pack.write_bytes(whole[:-100] + bytes(100))
    result = run(faces, model, tmp_path / "run", cache=cache)
    assert result.reused == ["embeddings"]
    (pack,) = (cache / "pack").glob("*.h5")
    assert pack.read_bytes() == whole == (tmp_path / "run" / "pack.h5").read_bytes()
    pack.unlink()
    pack.with_name(pack.name.replace(".h5", "")).mkdir()  # no entry: of another form
    assert run(faces, model, None, cache=cache).reused == ["embeddings"]


def test_two_at_once_make_one_pack(faces, model, tmp_path):
    made = {}

    def work(name):
        made[name] = run(faces, model, tmp_path / name, cache=tmp_path / "cache", threads=1)

    threads = [threading.Thread(target=work, args=(name,)) for name in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # One made the pack; the one that waited for it may have been first with the embeddings.
    assert sorted(made["a"].reused + made["b"].reused) == ["embeddings", "pack"]
    assert (tmp_path / "a/pack.h5").read_bytes() == (tmp_path / "b/pack.h5").read_bytes()


def test_a_run_that_was_stopped_leaves_its_pack(faces, model, tmp_path):
    class Stop:
        def begin(self, stage, total, unit):
            if stage == "embed":
                raise KeyboardInterrupt

        def update(self, done, note=""):
            pass

        def end(self):
            pass

    with pytest.raises(KeyboardInterrupt):
        run(faces, model, tmp_path / "run", cache=tmp_path / "cache", progress=Stop())
    assert not (tmp_path / "run").exists()
    assert run(faces, model, tmp_path / "run", cache=tmp_path / "cache").reused == ["pack"]


KILLED = """
import os, signal, sys, facebench
model, root, cache, out = sys.argv[1:]
def progress(stage, done, total, unit):
    if stage == "pack and embed" and 0 < done < total:
        os.kill(os.getpid(), signal.SIGKILL)
where = {"model": model, "root": root, "cache": cache, "out": out}
facebench.run("lfw", interval="none", progress=progress, **where)
"""


def test_a_run_that_was_killed_does_not_detect_again(model, tmp_path):
    faces, cache, out = tmp_path / "faces", tmp_path / "cache", tmp_path / "run"
    lfw_like(faces, images=6, size=128)
    options = {"detector": None, "interval": "none"}
    plain = run(faces, model, tmp_path / "plain", **options)
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, *map(str, (model, faces, cache, out))],
        env={**os.environ, "PYTHONPATH": str(Path(facebench.__file__).parents[1])},
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL
    assert not out.exists()

    (kept,) = (cache / "unfinished").iterdir()
    lines = kept.read_text().splitlines()
    assert 0 < len(lines) < plain.tracks["view2"].samples
    with open(kept, "a") as file:  # a line that was not written whole
        file.write(lines[0][: len(lines[0]) // 2])
    other = tmp_path / "other"
    shutil.copytree(cache, other)
    assert run(faces, model, out, cache=cache, **options).reused == []
    for name in FILES:
        assert (out / name).read_bytes() == (tmp_path / "plain" / name).read_bytes(), name
    assert list((cache / "unfinished").iterdir()) == []

    # What the file says is taken: here that no face was found.
    (kept,) = (other / "unfinished").iterdir()
    first = json.loads(lines[0])
    assert first["faces"]
    kept.write_text("\n".join([json.dumps({**first, "faces": []}), *lines[1:], ""]))
    result = run(faces, model, tmp_path / "none", cache=other, **options)
    assert [name for name, _ in result.tracks["view2"].failed] == [first["id"]]
