"""What is read is a regular file of a bounded size: seen before anything is read, everywhere."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import facebench
import numpy as np
import pytest
from facebench import io, protocols, reports
from facebench.core import _files
from facebench.embedding import _onnx_file
from facebench.io._toml import read_toml

PACKAGE = Path(facebench.__file__).resolve().parent
LARGE = 3 << 30
PAIRS = "2\t1\nAnn\t1\t2\nAnn\t1\tBob\t1\nCat\t1\t2\nCat\t1\tDan\t1\n"


def scores(path):
    (path.parent / "pairs.txt").write_text(PAIRS)
    facebench.evaluate("lfw", scores=path, root=path.parent, interval="none")


# By the ending of the file's name: who reads it.
READERS = {
    "scores.csv": scores,
    "embeddings.csv": io.read_embeddings,
    "embeddings.npy": lambda path: io.read_embeddings(path, names=["a"]),
    "embeddings.npz": io.read_embeddings,
    "embeddings.h5": io.read_embeddings,
    "embeddings.parquet": io.read_embeddings,
    "names.txt": lambda path: io.read_embeddings(array_beside(path), names=path),
    "suite.toml": read_toml,
    "protocol.toml": protocols.load_protocol,
    "rules.toml": reports.read_rules,
    "study.toml": read_toml,
    "model.onnx": _onnx_file.read,
    "run.json": io.read_manifest,
    "pairs.csv": lambda path: protocols.read_trials("pairs", path.parent),
    "page.png": lambda path: reports.page.image_section("A picture", path),
    "model.safetensors": io.read_safetensors,
}


def array_beside(path):
    np.save(path.with_name("e.npy"), np.ones((1, 4), np.float32))
    return path.with_name("e.npy")


@pytest.mark.parametrize("name", READERS)
def test_a_pipe_is_refused_at_once(name, tmp_path):
    os.mkfifo(tmp_path / name)
    with pytest.raises(facebench.Error, match="not a regular file"):
        READERS[name](tmp_path / name)


@pytest.mark.parametrize("name", READERS)
def test_a_file_larger_than_memory_is_refused(name, tmp_path):
    """Without content: what is not seen by its size is by its first bytes. The reader runs in a
    process that is given 1.5 GiB more than it starts with."""
    with open(tmp_path / name, "wb") as file:
        file.truncate(LARGE)
    program = (
        "import resource, sys; sys.path.insert(0, sys.argv[2])\n"
        "import test_files, facebench, pathlib\n"
        "used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        "path = pathlib.Path(sys.argv[1])\n"
        # What is mapped is not in memory.
        "limit = used + (6 << 30) + (3 << 29)\n"
        "resource.setrlimit(resource.RLIMIT_AS, (limit, limit))\n"
        "try: test_files.READERS[path.name](path)\n"
        "except facebench.Error as error: print(error)\n"
        # Not getrusage(): that of a process begins with what its parent had.
        "status = open('/proc/self/status').read()\n"
        "peak = int(status.split('VmHWM:')[1].split()[0])\n"
        "assert peak < 1 << 20, f'{peak} KiB'\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, tmp_path / name, Path(__file__).parent],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-500:]
    assert name in done.stdout


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
_MAY = {"core/_files.py", "cli/app.py", "cli/common.py"}


def reading_calls(text):
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if isinstance(node.func, ast.Name) and name != "open":
            continue  # those of _files
        said = ast.unparse(node)
        mode = getattr(node.args[-1], "value", "") if node.args else ""
        writes = name == "open" and isinstance(mode, str) and mode[:1] in ("w", "a")
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
        if not (name := path.relative_to(PACKAGE).as_posix()).startswith("engines/")
        and name not in _MAY
        and (calls := list(reading_calls(path.read_text())))
    }
    assert found == {}


def test_the_lint_sees_what_is_wrong():
    text = "open(p)\np.read_bytes()\nopen(p, 'w')\nPath('/proc/x').read_text()\nnp.fromfile(p)\n"
    assert [call.split(":")[0] for call in reading_calls(text)] == ["1", "2", "5"]
