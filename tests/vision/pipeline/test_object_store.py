"""Packs and embeddings on an object store, from workers that share no folder: fsspec's store in
memory, and where moto is at hand a server that speaks S3."""

import os
import signal
import subprocess
import sys
import time

import facebench
import numpy as np
import pytest
from archive_files import jpeg, write_tar
from command_line import ENVIRONMENT, invoke
from facebench import Error, embedding, io

fsspec = pytest.importorskip("fsspec")

COUNT = 60
CROPS = {"detector": "none", "crop_size": 16}


def colours(batch):
    return batch[:, ::8, ::8].reshape(len(batch), -1).astype(np.float32)


def shards_of(folder):
    files = [(f"p{i // 3}/{i:03}.jpg", jpeg(i)) for i in range(COUNT)]
    for k in range(3):
        write_tar(folder / f"faces-{k}.tar", files[20 * k : 20 * k + 20])


@pytest.fixture
def here(tmp_path):
    """What one process writes."""
    shards_of(tmp_path)
    facebench.pack("tar", tmp_path / "faces-{0..2}.tar", tmp_path / "whole.h5", **CROPS)
    facebench.embed(colours, tmp_path / "whole.h5", tmp_path / "whole-e.h5")
    return tmp_path


@pytest.fixture
def store(here):
    system = fsspec.filesystem("memory")
    for k in range(3):
        system.pipe(f"/b/faces-{k}.tar", (here / f"faces-{k}.tar").read_bytes())
    yield system
    system.rm("/b", recursive=True)


def test_parts_go_to_a_store_and_come_together_there(here, store):
    for k in (1, 2):
        how = {"shard": f"{k}/2", **CROPS}
        facebench.pack("tar", "memory://b/faces-{0..2}.tar", f"memory://b/crops-{k}.h5", **how)
    merged = facebench.pipeline.merge_packs(["memory://b/crops-*.h5"], "memory://b/whole.h5")
    assert merged.images == COUNT
    assert store.cat("/b/whole.h5") == (here / "whole.h5").read_bytes()
    assert facebench.pipeline.is_pack("memory://b/whole.h5")
    for k in (1, 2):
        facebench.embed(colours, "memory://b/whole.h5", f"memory://b/e-{k}.h5", shard=f"{k}/2")
    parts = ["memory://b/e-2.h5", "memory://b/e-1.h5"]
    assert embedding.merge_shard_files(parts, "memory://b/whole-e.h5") == (COUNT, 12)
    assert store.cat("/b/whole-e.h5") == (here / "whole-e.h5").read_bytes()
    assert len(embedding.merge_shards(["memory://b/e-*.h5"], here / "here.h5")) == COUNT
    assert (here / "here.h5").read_bytes() == (here / "whole-e.h5").read_bytes()


def test_nothing_is_sent_where_something_fails(here, store):
    with pytest.raises(ValueError, match="did you mean"):
        facebench.pack("tar", here / "faces-0.tar", "memory://b/x.h5", detector="none", crop="pape")
    with pytest.raises(Error, match=r"memory://b/none\.h5: is not there"):
        facebench.embed(colours, "memory://b/none.h5", "memory://b/x.h5")
    with pytest.raises(Error, match=r"memory://b/none-\*.h5: names no file"):
        facebench.pipeline.merge_packs(["memory://b/none-*.h5"], "memory://b/x.h5")
    with pytest.raises(ValueError, match="make the parts by shard=, and merge them"):
        facebench.pack(
            "tar", here / "faces-0.tar", "memory://b/x.h5", workers=object(), shards=2, **CROPS
        )
    with pytest.raises(Error, match=r"nonsense://b/x\.h5: is not understood"):
        facebench.pack("tar", here / "faces-0.tar", "nonsense://b/x.h5", **CROPS)
    assert not store.exists("/b/x.h5")


def test_data_merge_takes_addresses(here, store):
    for k in (1, 2):
        facebench.pack(
            "tar", here / "faces-{0..2}.tar", f"memory://b/c-{k}.h5", shard=f"{k}/2", **CROPS
        )
    out = invoke("data", "merge", "memory://b/c-*.h5", "--out", here / "merged.h5")
    assert f"{COUNT} images out of 2 shards" in out.output
    assert (here / "merged.h5").read_bytes() == (here / "whole.h5").read_bytes()


WORKER = """
import sys, time
import numpy as np
import facebench

what, part, marker = sys.argv[1:]

def colours(batch):
    if marker:
        open(marker, "w").close()
        time.sleep(60)
    return batch[:, ::8, ::8].reshape(len(batch), -1).astype(np.float32)

how = {"shard": f"{part}/4"}
if what == "pack":
    out = f"s3://faces/crops-{part}.h5"
    facebench.pack("tar", "s3://faces/faces-{0..2}.tar", out, detector="none", crop_size=16, **how)
else:
    facebench.embed(colours, "s3://faces/whole.h5", f"s3://faces/e-{part}.h5", **how)
"""


@pytest.mark.slow
def test_two_workers_with_a_store_alone_and_one_killed(here, tmp_path_factory, monkeypatch):
    """Each worker has a folder of its own; one is killed in the middle, and its part made again."""
    server = pytest.importorskip("moto.server", reason="needs moto[server]")
    pytest.importorskip("s3fs", reason="needs s3fs")
    running = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    running.start()
    address, port = running.get_host_and_port()
    for name, value in {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": f"http://{address}:{port}",
    }.items():
        monkeypatch.setenv(name, value)
    system = fsspec.filesystem("s3", skip_instance_cache=True)
    system.mkdir("faces")
    for k in range(3):
        system.pipe(f"faces/faces-{k}.tar", (here / f"faces-{k}.tar").read_bytes())

    def start(what, part, marker=""):
        folder = tmp_path_factory.mktemp("worker")
        environment = ENVIRONMENT | os.environ | {"TMPDIR": str(folder)}
        environment["PYTHONPATH"] = os.pathsep.join(
            [ENVIRONMENT["PYTHONPATH"], os.environ.get("PYTHONPATH", "")]
        )
        words = [sys.executable, "-c", WORKER, what, str(part), str(marker)]
        return subprocess.Popen(words, cwd=folder, env=environment)

    def all_parts(what):
        for parts in ((1, 2), (3, 4)):
            assert [worker.wait(120) for worker in [start(what, p) for p in parts]] == [0, 0]

    all_parts("pack")
    facebench.pipeline.merge_packs(["s3://faces/crops-*.h5"], "s3://faces/whole.h5")
    assert system.cat("faces/whole.h5") == (here / "whole.h5").read_bytes()
    marker = here / "begun"
    victim = start("embed", 3, marker)
    until = time.monotonic() + 60
    while not marker.exists() and time.monotonic() < until:
        time.sleep(0.05)
    victim.send_signal(signal.SIGKILL)
    victim.wait()
    system.invalidate_cache()
    assert not system.exists("faces/e-3.h5")  # nothing half-written
    for part in (1, 2, 4):
        assert start("embed", part).wait(120) == 0
    with pytest.raises(ValueError, match="missing: 3 of 4"):
        embedding.merge_shard_files(["s3://faces/e-*.h5"], "s3://faces/e.h5")
    assert start("embed", 3).wait(120) == 0
    embedding.merge_shard_files(["s3://faces/e-*.h5"], "s3://faces/e.h5")
    (here / "e.h5").write_bytes(system.cat("faces/e.h5"))
    running.stop()
    made, whole = (io.read_embeddings(here / name) for name in ("e.h5", "whole-e.h5"))
    assert made.values.tobytes() == whole.values.tobytes() and made.names == whole.names
    assert (made.status == whole.status).all()
