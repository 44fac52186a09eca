"""What `verify` opens of the paths that a stranger's run folder names."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import facebench
import pytest
from facebench import protocols, reports

SHIM = pathlib.Path(__file__).parents[2] / "hostile/opened.c"
PACKAGES = pathlib.Path(facebench.__file__).absolute().parents[1]
PAIRS = "2\t1\nAnn\t1\t2\nAnn\t1\tBob\t1\nCat\t1\t2\nCat\t1\tDan\t1\n"


@pytest.fixture
def places(tmp_path):
    """(run folder, root, a file that is none of anybody's business)."""
    root, secret = tmp_path / "root", tmp_path / "secret"
    root.mkdir()
    (root / "pairs.txt").write_text(PAIRS)
    secret.write_text("nothing to see")
    result = protocols.evaluate("lfw", scores=[0.9, 0.1, 0.8, 0.2], root=root, interval="none")
    result.save(tmp_path / "run")
    return tmp_path / "run", root, secret


def point(run, path, below_root=None):
    """Lets run.json say that its first input lay there."""
    file = run / "run.json"
    document = json.loads(file.read_text())
    document["circumstance"]["inputs"][0] = {"path": str(path), "below_root": below_root}
    file.write_text(json.dumps(document))


def inputs(run, root):
    return [c for c in reports.verify_inputs(run, root) if c["same"] is False]


def test_what_lies_below_the_root_is_read(places, confined):
    run, root, _ = places
    assert inputs(run, root) == []


def test_only_the_run_folder_and_the_root_are_read(places, confined):
    run, root, secret = places
    (root / "link").symlink_to(secret)
    for path, below in [
        (secret, None),
        (secret, "../secret"),
        (root / "../secret", None),
        (root / "link", None),
        (secret, "link"),
        (secret, str(secret)),
        ("/dev/zero", None),
    ]:
        point(run, path, below)
        (found,) = inputs(run, root)
        assert "not read" in found["detail"], (path, below)
        assert "SHA-256" not in found["detail"]


def test_without_confinement_run_json_is_believed(places):
    run, _, secret = places
    point(run, secret)
    (found,) = inputs(run, "")
    assert "has SHA-256" in found["detail"]
    os.mkfifo(secret.with_name("pipe"))  # but nothing waits on a pipe
    point(run, secret.with_name("pipe"))
    (found,) = inputs(run, "")
    assert "is not a regular file" in found["detail"]


def test_a_run_folder_of_links_is_refused(places, confined):
    run, _, secret = places
    (run / "metrics.json").unlink()
    (run / "metrics.json").symlink_to(secret)
    with pytest.raises(facebench.Error, match="link that leads out of the run folder"):
        reports.verify_scores(run)


def test_images_outside_the_root_are_not_read(places, confined):
    pytest.importorskip("torch")
    full = pytest.importorskip("facebench._full")
    run, _, secret = places
    file = run / "run.json"
    document = json.loads(file.read_text())
    document["content"]["images_sha256"] = "0" * 64
    document["circumstance"]["images"] = str(secret.parent)
    file.write_text(json.dumps(document))
    (found,) = [c for c in full.verify(run, "", 0, None) if c["name"] == "images"]
    assert "not read" in found["detail"]


VERIFY = """
import ctypes, json, sys
import facebench.io as fio
from facebench import reports
run, root, log = sys.argv[1:]
fio.confine_readers()
def verify():
    return reports.verify_scores(run) + reports.verify_inputs(run, root)
verify()  # what Python imports late is there now
ctypes.CDLL(None).opened_start(log.encode())
print(json.dumps([c["detail"] for c in verify() if c["same"] is False]))
"""


@pytest.mark.skipif(not shutil.which("cc"), reason="no compiler for the library to preload")
def test_every_path_that_is_opened(places, confinable, tmp_path):
    run, root, secret = places
    point(run, secret)
    shim, log = tmp_path / "opened.so", tmp_path / "log"
    subprocess.run(["cc", "-O1", "-fPIC", "-shared", "-o", shim, SHIM, "-ldl"], check=True)
    done = subprocess.run(
        [sys.executable, "-c", VERIFY, run, root, log],
        env=os.environ | {"LD_PRELOAD": str(shim), "PYTHONPATH": str(PACKAGES)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert any("not read" in detail for detail in json.loads(done.stdout))
    opened = {pathlib.Path(line) for line in log.read_text().splitlines()}
    assert run / "scores.h5" in opened
    of_the_machine = {pathlib.Path("/sys/fs/cgroup/cpu.max")}
    lists = {root / "pairs.txt"}  # below the root, read again
    assert {p for p in opened - of_the_machine - lists if run not in p.parents} == set()
