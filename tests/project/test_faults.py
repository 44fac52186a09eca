"""A sample of the faults of tests/faults/faults.py; `make faults` injects all of them."""

import pathlib
import shutil
import subprocess
import sys

import pytest

pytest.importorskip("torch")
pytest.importorskip("facebench._full")

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
