"""Forged run folders (tests/support/forgeries.py): none is the same for `verify --again`."""

import contextlib
import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import facebench
import pytest
from click.testing import CliRunner
from facebench.cli.app import app

pytest.importorskip("torch")
pytest.importorskip("facebench._full")
pytest.importorskip("h5py")
import forgeries

pytestmark = pytest.mark.usefixtures("forged")

# What a run only states, or whose proof was taken away: nothing differs, something is unchecked.
UNCHECKED = {
    "a later version",
    "a title of its own",
    "another file",
    "narrow intervals, no rule",
    "narrow intervals, rule 1",
    "narrow intervals, rule 2",
    "neither, and not named",
    "no embeddings",
    "no pack",
}


# What was seen before these forgeries were written, and is tried by `make test-slow` alone.
SEEN = {
    "a card",
    "a convention",
    "a curve",
    "a limit",
    "a metric",
    "a page",
    "another detector",
    "another flip",
    "another limit of pixels",
    "another precision",
    "counts taken out",
    "crops of other images",
    "embeddings a little turned",
    "embeddings of other people",
    "embeddings with another sign",
    "failures that were none, left out",
    "folds",
    "format 2",
    "format 4",
    "half of the rows ideal",
    "hashes of other images, and over all",
    "ideal rows",
    "ideal rows, the pack cut to three",
    "ideal rows, the pack names three images",
    "ideal scores",
    "labels of pairs",
    "names of samples",
    "narrow intervals",
    "no notes",
    "other pairs",
    "pairs in scores.h5",
    "people",
    "scores given",
    "statuses",
}


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    return forgeries.make(tmp_path_factory.mktemp("forgeries"))


def test_the_honest_folder_is_the_same(made, tmp_path):
    found = forgeries.Forger(made, tmp_path).verify()
    assert found.verdict == "same", str(found)
    assert "These are all of the run" in str(found)


def test_a_folder_that_was_only_sealed_is_the_same(made, tmp_path):
    forger = forgeries.Forger(made, tmp_path)
    forger.evaluate()
    forger.seal()
    found = forger.verify()
    assert found.verdict == "same", str(found)


def marked(name):
    return pytest.param(name, marks=[pytest.mark.slow] if name in SEEN else [])


@pytest.mark.parametrize("name", [marked(name) for name in forgeries.FORGERIES])
def test_a_forged_folder_is_not_the_same(made, tmp_path, name):
    forger = forgeries.forge(made, tmp_path, name)
    found = forger.verify()
    expected = "unchecked" if name in UNCHECKED else "different"
    assert found.verdict == expected, str(found)


def test_a_folder_that_changes_meanwhile(made, tmp_path, monkeypatch):
    """What was hashed and what was rendered are then perhaps not one folder."""
    from facebench.verbs import _verify

    forger = forgeries.Forger(made, tmp_path)
    pages = _verify.verify_pages

    def rewritten(run):
        text = (forger.run / "metrics.json").read_bytes()
        (forger.run / "metrics.json").write_bytes(text)  # the same bytes again
        return pages(run)

    monkeypatch.setattr(_verify, "verify_pages", rewritten)
    found = forger.verify(again=1)
    assert found.verdict == "different"
    assert "changed while it was verified: metrics.json" in str(found)


def test_what_is_hashed_is_what_is_parsed(made, tmp_path, monkeypatch):
    """Files that are exchanged once they were read: everything is of the bytes that were read."""
    from facebench.verbs import _snapshot, _verify

    forger = forgeries.Forger(made, tmp_path)
    forged = forgeries.forge(made, tmp_path / "forged", "a metric").run

    @contextlib.contextmanager
    def exchanged(run):
        with _snapshot.snapshot(run) as copy:
            for path in forged.iterdir():
                shutil.copy(path, run / path.name)
            yield copy

    monkeypatch.setattr(_verify, "snapshot", exchanged)
    found = forger.verify(again=1)
    assert {c["name"] for c in found.checks if c["same"] is not True} == {"the folder"}
    monkeypatch.undo()
    assert "metrics from scores" in str(forger.verify(again=1)).splitlines()[-1]


def test_a_file_that_is_exchanged_as_it_is_opened(made, tmp_path, monkeypatch):
    """The second opening would find another file: there is none."""
    from facebench.core import _files

    forger = forgeries.Forger(made, tmp_path)
    opened, whole = [], _files.open_file

    def exchanged(path, most=None):
        file = whole(path, most)
        if Path(path).parent == forger.run:
            opened.append(os.path.basename(path))
            os.unlink(path)
            os.mkfifo(path)  # who opens it once more is refused
        return file

    monkeypatch.setattr(_files, "open_file", exchanged)
    found = forger.verify(again=1)
    assert sorted(opened) == sorted(set(opened)) and set(opened) >= {"run.json", "pack.h5"}
    assert {c["name"] for c in found.checks if c["same"] is not True} == {"the folder"}


OPENED = """
import ctypes, sys
import facebench
run, root, log, untrusted = sys.argv[1:]
if untrusted:
    facebench.io.confine_readers()
ctypes.CDLL(None).opened_start(log.encode())
print(facebench.verify(run, root, again=2).verdict)
"""


@pytest.mark.skipif(not shutil.which("cc"), reason="no compiler for the library to preload")
@pytest.mark.parametrize("untrusted", ["", "yes"])
def test_each_file_of_the_folder_is_opened_once(made, tmp_path, untrusted, request):
    if untrusted:
        request.getfixturevalue("confinable")
    shim, log = tmp_path / "opened.so", tmp_path / "log"
    source = Path(__file__).parents[1] / "hostile/opened.c"
    subprocess.run(["cc", "-O1", "-fPIC", "-shared", "-o", shim, source, "-ldl"], check=True)
    packages = str(Path(facebench.__file__).absolute().parents[1])
    done = subprocess.run(
        [sys.executable, "-c", OPENED, made / "run", made / "faces", log, untrusted],
        env=os.environ | {"LD_PRELOAD": str(shim), "PYTHONPATH": packages},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    verdict = "different" if untrusted else "same"  # the model lies elsewhere
    assert done.stdout.split() == [verdict], done.stdout
    below = str(made / "run") + "/"
    opened = [line for line in log.read_text().splitlines() if line.startswith(below)]
    assert sorted(opened) == sorted(str(path) for path in (made / "run").iterdir())


def test_no_room_for_the_copy(made, tmp_path, monkeypatch):
    from facebench.core import _files

    def full(source, target, chunk):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(_files.shutil, "copyfileobj", full)
    with pytest.raises(
        facebench.Error,
        match=r"there is no room in .* Name another folder for temporary files: TMPDIR",
    ):
        facebench.verify(made / "run")


def test_fewer_images_than_asked_for(made, tmp_path):
    """Images that the verifier lacks cannot be drawn."""
    forger = forgeries.Forger(made, tmp_path)
    forger.root = tmp_path / "faces"
    shutil.copytree(made / "faces", forger.root)
    for path in sorted(forger.root.rglob("*.jpg"))[5:]:
        path.unlink()
    found = forger.verify(again=10)
    check = found.checks[-1]
    assert check["same"] is None and "only 5 of the 10 images asked for" in check["detail"]


def test_exit_codes_of_verify(made, tmp_path):
    forger = forgeries.Forger(made, tmp_path)

    def code(*arguments):
        answer = CliRunner().invoke(app, ["verify", str(forger.run), *map(str, arguments)])
        return answer.exit_code

    assert code("--root", forger.root) == 0
    (forger.run / "notes.txt").write_text("mine")
    assert code("--root", forger.root) == 4
    (forger.run / "card.md").write_text("99.75 %")
    assert code("--root", forger.root) == 3
    assert code("--again", "-1") == 2
    (forger.run / "run.json").unlink()
    assert code() == 1


def test_the_callers_own_file_of_a_protocol(made, tmp_path):
    forger = forgeries.forge(made, tmp_path, "a title of its own")
    assert forger.verify(again=1).verdict == "unchecked"
    assert forger.verify(again=1, protocol=tmp_path / "own.toml").verdict == "same"
    (tmp_path / "other.toml").write_text((tmp_path / "own.toml").read_text() + "# another\n")
    assert forger.verify(again=1, protocol=tmp_path / "other.toml").verdict == "different"


def test_pages_say_whose_the_protocol_is(made, tmp_path):
    forger = forgeries.forge(made, tmp_path, "a title of its own")
    said = "Not facebench's lfw (LFW View 2, version 1): a protocol of the submitter's own"
    head = (forger.run / "report.md").read_text().splitlines()[2]
    assert said in head.replace("\\", "")
    for page in ("report.html", "card.md"):
        assert (
            "of the submitter&#39;s own"
            in (text := (forger.run / page).read_text().replace("\\", ""))
            or "of the submitter's own" in text
        )


@pytest.mark.parametrize("rules", [1, 2, None])
def test_intervals_of_another_rule_are_not_on_a_page_made_anew(made, tmp_path, rules):
    name = "narrow intervals, no rule" if rules is None else f"narrow intervals, rule {rules}"
    forger = forgeries.forge(made, tmp_path, name)
    numbers = facebench.analysis.rows(forger.run)
    assert numbers and not any(row["low"] or row["high"] for row in numbers)
    assert any(row["low"] for row in facebench.analysis.rows(made / "run"))
    assert "is not today's" in facebench.report(forger.run, format="text")
    assert any("band" in c for c in facebench.reports.curves(made / "run").values())
    assert not any("band" in c for c in facebench.reports.curves(forger.run).values())
