"""The examples in Python run as they are; those in C++ are built and run by ctest."""

import os
import subprocess
import sys
from pathlib import Path

import facebench
import pytest

FOLDER = Path(__file__).parents[2] / "examples"
EXAMPLES = sorted(path.name for path in (FOLDER / "python").glob("*.py"))
FULL = any(Path(facebench.__file__).parent.glob("_full.*"))
LIGHT = {"evaluate_scores.py"}


def test_both_languages_show_the_same_things():
    assert EXAMPLES == [
        "compare_two_photographs.py",
        "evaluate_onnx_model.py",
        "evaluate_scores.py",
        "time_a_network.py",
        "train_with_a_loss.py",
    ]
    assert sorted(path.stem for path in (FOLDER / "cpp").glob("*.cc")) == [
        "compare_two_photographs",
        "evaluate_own_model",
        "evaluate_scores",
        "time_a_network",
        "train_with_a_loss",
    ]


@pytest.mark.parametrize("name", EXAMPLES)
def test_it_runs(name, tmp_path):
    if not FULL and name not in LIGHT:
        pytest.skip("needs the full library")
    if "onnx" in name:
        pytest.importorskip("onnxruntime")
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(facebench.__file__).absolute().parents[1]),
    }
    done = subprocess.run(
        [sys.executable, "-W", "error", FOLDER / "python" / name],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
