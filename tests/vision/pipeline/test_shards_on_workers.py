"""Packs and embeddings in shards on workers of a cluster that die: the bytes of one process."""

import re
import signal
import time
from concurrent.futures import ThreadPoolExecutor

import facebench
import pytest
from command_line import invoke
from facebench import embedding, images
from facebench.cli import common
from facebench.core import _shards
from noise_photographs import write_noise_photographs

COUNT, SHARDS = 240, 8


@pytest.fixture(scope="module")
def faces(tmp_path_factory):
    """Photographs of noise, one of which is none; their pack, a model, and its embeddings."""
    folder = tmp_path_factory.mktemp("faces")
    write_noise_photographs(folder / "faces", COUNT, 48, ".jpg")[-1].write_bytes(b"no image")
    facebench.pack("folder", folder / "faces", folder / "faces.h5", detector="none")
    embedding.make_model("mobilefacenet").save(folder / "m.safetensors")
    facebench.embed(folder / "m.safetensors", folder / "faces.h5", folder / "e.h5", threads=1)
    return folder


def embed(faces, out, workers):
    files = (faces / "m.safetensors", faces / "faces.h5")
    return facebench.embed(*files, out, workers=workers, shards=SHARDS, threads=1)


def embed_until(faces, out, cluster, happens):
    """Embeds on the cluster, to which something happens once there is a shard; the future."""
    with ThreadPoolExecutor(1) as beside:
        embedded = beside.submit(embed, faces, out, cluster.executor)
        folder = out.with_name(out.name + ".shards")
        patience = time.monotonic() + 60
        while not list(folder.glob("*/*.h5")):
            assert time.monotonic() < patience and not embedded.done(), embedded
        happens()
        assert len(list(folder.glob("*/*.h5"))) < SHARDS - 2  # in the middle
    return embedded


@pytest.mark.parametrize(
    ("with_signal", "cluster"),
    [(signal.SIGKILL, "5 minutes"), (signal.SIGSTOP, "3s")],
    indirect=["cluster"],
)
def test_a_worker_that_is_killed_or_stops(faces, cluster, tmp_path, with_signal):
    out = tmp_path / "e.h5"
    hit = cluster.workers[0]
    embedded = embed_until(faces, out, cluster, lambda: hit.send_signal(with_signal))
    assert len(embedded.result()) == COUNT
    assert out.read_bytes() == (faces / "e.h5").read_bytes()
    assert [p.name for p in tmp_path.iterdir()] == ["e.h5"]
    if with_signal == signal.SIGKILL:
        assert hit.wait() == -signal.SIGKILL


def test_a_scheduler_that_is_gone(faces, cluster, tmp_path):
    out = tmp_path / "e.h5"
    embedded = embed_until(faces, out, cluster, cluster.scheduler.kill)
    with pytest.raises(facebench.Error, match=r"scheduler or its workers are gone.*run it again"):
        embedded.result()
    assert list(tmp_path.glob("e.h5.shards/*/*.h5"))
    with ThreadPoolExecutor(2) as workers:
        embed(faces, out, workers)
    assert out.read_bytes() == (faces / "e.h5").read_bytes()


def test_commands_share_out_what_they_make(faces, cluster, tmp_path):
    share = ["--workers", cluster.address, "--shards", "3"]
    words = ["pack", "folder", "--root", faces / "faces", "--detector", "none", *share]
    invoke(*words, "--out", tmp_path / "faces.h5")
    assert (tmp_path / "faces.h5").read_bytes() == (faces / "faces.h5").read_bytes()
    words = ["embed", faces / "m.safetensors", tmp_path / "faces.h5", *share]
    invoke(*words, "--out", tmp_path / "e.h5")
    assert (tmp_path / "e.h5").read_bytes() == (faces / "e.h5").read_bytes()


def test_the_dashboard_is_named_and_threads_are_counted(cluster, capsys, monkeypatch):
    executor = common.executor(cluster.address)
    assert re.search(r"the workers at work: http://127.0.0.1:\d+/status", capsys.readouterr().err)
    assert _shards.threads_of(executor) == 2
    monkeypatch.setattr("dask.distributed.Client.scheduler_info", lambda self: {"services": {}})
    common.executor(cluster.address)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("detector", ["none", "mtcnn"])
def test_shards_of_a_pack_are_merged_to_its_bytes(tmp_path, detector):
    """Faces that are found, one that leaves its image, files that are none: all of a manifest."""
    options = facebench.datasets.SyntheticOptions(people=20, images=2, size=64)
    facebench.datasets.write_synthetic_dataset(options, tmp_path / "data")
    photos = sorted((tmp_path / "data").rglob("*.jpg"))
    photos[3].write_bytes(b"no image")
    images.write(photos[5], images.read(photos[5])[:40])
    how = ["pack", "lfw", "--root", tmp_path / "data", "--detector", detector]
    invoke(*how, "--out", tmp_path / "whole.h5")
    for count in (1, 5):
        parts = [tmp_path / f"{k}-of-{count}.h5" for k in range(1, count + 1)]
        for k, part in enumerate(parts, 1):
            invoke(*how, "--shard", f"{k}/{count}", "--out", part)
        merged = tmp_path / f"merged-{count}.h5"
        said = invoke("data", "merge", *reversed(parts), "--out", merged)
        assert f"40 images out of {count} shards" in said.output
        assert merged.read_bytes() == (tmp_path / "whole.h5").read_bytes()
    merge = facebench.pipeline.merge_packs
    with pytest.raises(ValueError, match="missing: 2, 3, 4, 5 of 5"):
        merge(parts[:1], merged)
    with pytest.raises(facebench.Error, match=r"whole.h5: is not a shard"):
        merge([tmp_path / "whole.h5"], merged)
    invoke(*how, "--crop", "paper", "--shard", "2/5", "--out", parts[1])
    with pytest.raises(facebench.Error, match=r"2-of-5.h5: .*other options"):
        merge(parts, merged)
    with pytest.raises(ValueError, match="41 shards of 40 images"):
        facebench.pack("lfw", tmp_path / "data", merged, shard="1/41", detector=detector)
