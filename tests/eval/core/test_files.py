"""What is read is a regular file of a bounded size: seen before anything is read, everywhere."""

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import facebench
import numpy as np
import pytest
from facebench import io
from facebench.core import _files

PACKAGE = Path(facebench.__file__).resolve().parent
ROOT = Path(__file__).resolve().parents[3]
HOSTILE = ROOT / "tests/hostile/readers.py"
MAY_BE_LARGE = {"hashed.bin"}  # of any size
IN_A_ROW = {"folder/a.jpg"}  # of images the answer is a status, not an error
MAPPED = {"images.tar"}  # its zeros are looked through where they lie, in memory that can be taken


@pytest.fixture(scope="module")
def answers():
    """What every reader says, by name and kind of file (tests/hostile/readers.py)."""
    done = subprocess.run(
        [sys.executable, HOSTILE, "--json"],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-500:]
    return {(row["reader"], row["file"]): row for row in json.loads(done.stdout)}


def test_a_pipe_is_refused_at_once(answers):
    said = {name: row["says"] for (name, kind), row in answers.items() if kind == "pipe"}
    assert len(said) >= 30
    wrong = {
        name: text
        for name, text in said.items()
        if not text.startswith("Error: ") and name not in IN_A_ROW
    }
    assert wrong == {}


def test_a_file_larger_than_memory_is_refused(answers):
    """Without content: what is not seen by its size is by its first bytes."""
    rows = {name: row for (name, kind), row in answers.items() if kind == "large"}
    said = {name: row["says"] for name, row in rows.items()}
    wrong = {
        name: text
        for name, text in said.items()
        if not text.startswith("Error: ") and name not in MAY_BE_LARGE | IN_A_ROW
    }
    assert wrong == {}
    assert {name for name, row in rows.items() if row["peak"] >= 1 << 30} <= MAPPED


def test_what_says_that_it_is_empty_is_not_read():
    """A file of /proc may wait for ever (kmsg); its size is 0."""
    assert _files.read_bytes("/proc/self/status") == b""


def test_the_archive_is_bounded_as_a_whole(tmp_path):
    """Fourteen entries of which each alone is within the bound; and what is not wanted stays
    packed."""
    many = {f"a{k}": np.zeros((1 << 16, 512), np.float32) for k in range(4)}
    np.savez_compressed(tmp_path / "many.npz", **many)
    with pytest.raises(facebench.Error, match=r"expand \d+ bytes to 5368"):
        io.read_embeddings(tmp_path / "many.npz")
    np.savez_compressed(tmp_path / "e.npz", embeddings=np.ones((1, 4)), names=["a"], **many)
    assert io.read_embeddings(tmp_path / "e.npz").names == ["a"]


# A name that opens or reads a file.
_READS = {"open", "read_bytes", "read_text", "fromfile", "loadtxt", "genfromtxt", "memmap"}
# The one that looks first; what opens no file of others: descriptors of the process. (Engines that
# are compared with read what the benchmark wrote.)
# Addresses are opened by fsspec.
_MAY = {"core/_files.py", "cli/app.py", "cli/common.py", "datasets/_remote.py"}


def reading_calls(text):
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if isinstance(node.func, ast.Name) and name != "open":
            continue  # those of _files
        said = ast.unparse(node)
        mode = getattr(node.args[-1], "value", "") if node.args else ""
        writes = name == "open" and isinstance(mode, str) and mode[:1] in ("w", "a", "x")
        # The kernel's own, and what the package holds.
        ours = (
            "'/proc/" in said
            or "files('facebench')" in said
            or "archive.open" in said
            or "(fileobj=" in said
        )
        if name in _READS and not writes and not ours:
            yield f"{node.lineno}: {said[:60]}"


def test_nothing_else_opens_files():
    found = {
        name: calls
        for path in sorted(PACKAGE.rglob("*.py"))
        if not (name := path.relative_to(PACKAGE).as_posix()).startswith("lab/engines/")
        and name not in _MAY
        and (calls := list(reading_calls(path.read_text())))
    }
    assert found == {}


# C++ sources that open files by themselves. All others go through read_file() and MappedFile.
_OPENING = {
    "io/file.cc": "looks first",
    "guard/hdf5_driver.cc": "after MappedFile has looked",
    "io/image_files.cc": "regular files alone",
    "archives/internal/rec_index.cc": "after their size, which a pipe has not",
    "archives/internal/compression.cc": "regular files alone",
    "pipeline/internal/kept_faces.cc": "the cache of this user",
    **dict.fromkeys(
        ("core/job.cc", "core/memory.cc", "guard/confinement.cc", "io/manifest.cc"),
        "the kernel's",
    ),
    **dict.fromkeys(("timing/proc.cc", "timing/process_meter.cc"), "the kernel's"),
    **dict.fromkeys(
        ("io/file_lock.cc", "io/internal/temporary.cc", "io/hdf5_writer.cc"), "to write"
    ),
    "training/internal/training_log.cc": "to write",
}


def test_nothing_else_opens_files_in_cpp():
    opens = re.compile(r"\bifstream\b[^;]*\(|\bfopen\(|(?<!\w)::open\(")
    found = {
        path.relative_to(door / "facebench").as_posix()
        for door in sorted((ROOT / "cpp").glob("*/"))
        for path in door.rglob("*.cc")
        if opens.search(path.read_text())
    }
    assert found == set(_OPENING)


def test_the_lint_sees_what_is_wrong():
    text = "open(p)\np.read_bytes()\nopen(p, 'w')\nPath('/proc/x').read_text()\nnp.fromfile(p)\n"
    assert [call.split(":")[0] for call in reading_calls(text)] == ["1", "2", "5"]
