"""A sample of the faults of tests/faults/faults.py; `make faults` injects all of them.
Limits of open files and of the size of a file."""

import pathlib
import shutil
import subprocess
import sys

import pytest

pytest.importorskip("torch")
pytest.importorskip("facebench._full")

import facebench

HARNESS = pathlib.Path(__file__).parents[1] / "faults/faults.py"


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("cc"), reason="no compiler for the library to preload")
def test_what_a_fault_leaves_is_whole_or_absent_and_a_rerun_succeeds():
    done = subprocess.run(
        [sys.executable, HARNESS, "--sample", "5"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    verbs = [line.split()[0] for line in done.stdout.splitlines()[1:]]
    assert verbs == ["pack", "embed", "eval", "run", "train", "convert", "report", "suite"]


FREE = """
import os, pathlib, resource, sys

def all_that_are_free():
    taken = []
    try:
        while True:
            taken.append(os.open("/dev/null", os.O_RDONLY))
    except OSError:
        return taken

def leave_open(most):
    # Descriptors that are held so that so many more may be opened.
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = max(map(int, os.listdir("/proc/self/fd")))
    resource.setrlimit(resource.RLIMIT_NOFILE, (highest + 9, before[1]))
    held = all_that_are_free()
    for _ in range(most):
        os.close(held.pop())
    return held
"""

# `most` is how many more files may be open, or how large one may be.
LIMITED = (
    FREE
    + """
import facebench
from facebench import training
folder = pathlib.Path(sys.argv[2])

work = {
    "run": lambda out: facebench.run(
        "lfw", model=folder / "model.safetensors", root=folder / "lfw", out=out, detector="none",
        crop_size=32, threads=2, replicates=20,
    ).to_dict(),
    "train": lambda out: facebench.train(
        training.load_recipe("small4.softmax", epochs=1, batch=8), folder / "pack.h5", out,
        threads=1, data_threads=0, resume=out.exists(),
    )["loss"],
}[sys.argv[1]]
whole = work(folder / "whole")
names = {p.name for p in (folder / "whole").rglob("*")}
sizes = sorted({p.stat().st_size for p in (folder / "whole").rglob("*") if p.is_file()})
limits = [("FSIZE", size - 1, "File too large") for size in sizes]
limits += [("NOFILE", left, "Too many open files") for left in range(8)]
for what, most, why in limits:
    out = folder / f"{what}-{most}"
    kind = getattr(resource, f"RLIMIT_{what}")
    before = resource.getrlimit(kind)
    if what == "FSIZE":
        resource.setrlimit(kind, (most, before[1]))
        held = []
    else:
        held = leave_open(most)
    try:
        assert work(out) == whole
        said = "the whole"
    except facebench.Error as error:
        assert f"{why}. Allow" in str(error), error
        said = "an error"
    for descriptor in held:
        os.close(descriptor)
    resource.setrlimit(kind, before)
    print(what, said)
    if said == "an error":
        assert sys.argv[1] == "train" or not out.exists(), list(out.iterdir())
        assert work(out) == whole
    assert {p.name for p in out.rglob("*")} == names
    assert not list(folder.rglob(".*.tmp-*"))
"""
)


@pytest.mark.parametrize("verb", ["run", "train"])
def test_under_a_limit_there_is_the_whole_or_an_error(tmp_path, monkeypatch, verb):
    monkeypatch.syspath_prepend(HARNESS.parent)
    from faults import make_inputs

    make_inputs(tmp_path)
    facebench.pack(
        "folder", tmp_path / "lfw/images", tmp_path / "pack.h5", detector="none", crop_size=32
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", LIMITED, verb, tmp_path],
        capture_output=True, text=True, timeout=400,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert {"FSIZE an error", "NOFILE an error", "NOFILE the whole"} <= set(done.stdout.split("\n"))


PACKED = (
    FREE
    + """
import numpy as np
import facebench
folder = pathlib.Path(sys.argv[1])
(folder / "images/Ann").mkdir(parents=True)
image = np.random.default_rng(0).integers(0, 256, (300, 300, 3)).astype(np.uint8)
for k in range(200):
    facebench.images.write(folder / f"images/Ann/{k}.png", image)
for most in (3, 4, 8):
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    held = leave_open(most)
    if most == 8:  # enough for all
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    try:
        found = facebench.pack(
            "folder", folder / "images", folder / "p.h5", detector="none", crop_size=32, threads=16
        )
        print(str(found).partition(": ")[2])
    except facebench.Error as error:
        print("Too many open files" in str(error))
    for descriptor in held:
        os.close(descriptor)
    resource.setrlimit(resource.RLIMIT_NOFILE, before)
"""
)


def test_a_photograph_that_could_not_be_opened_is_not_left_out(tmp_path):
    """With three descriptors for 16 threads most of 400 were packed as unreadable."""
    done = subprocess.run(
        [sys.executable, "-c", PACKED, tmp_path], capture_output=True, text=True, timeout=200
    )
    *few, enough = done.stdout.splitlines()
    assert enough == "200 ok)", done.stderr
    assert set(few) <= {"True", "200 ok)"}
