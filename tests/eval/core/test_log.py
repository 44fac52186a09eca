"""The logger facebench: each warning, and silence by default."""

import ast
import logging
import subprocess
import sys
from pathlib import Path

import facebench
import numpy as np
import pytest

SAME = """
import facebench, numpy as np
rows = np.eye(4)[[0, 0, 1, 0, 2, 3]]
facebench.evaluate("folders", rows, labels=[0, 0, 1, 1, 2, 2], interval="none")
"""


def test_a_warning_is_logged_each_time_and_points_at_the_caller(caplog):
    rows = np.eye(4)[[0, 0, 1, 0, 2, 3]]
    for _ in range(2):
        with (
            caplog.at_level(logging.INFO, "facebench"),
            pytest.warns(UserWarning, match="are the same numbers") as seen,
        ):
            facebench.evaluate("folders", rows, labels=[0, 0, 1, 1, 2, 2], interval="none")
    assert Path(seen[0].filename).name != "_log.py"
    logged = [r.getMessage() for r in caplog.records if r.name == "facebench"]
    assert logged == [str(seen[0].message)] * 2


def test_silent_by_default():
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SAME], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""


def test_every_warning_of_the_package_is_logged():
    package = Path(facebench.__file__).resolve().parent
    for path in package.rglob("*.py"):
        calls = (n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Attribute))
        direct = [n for n in calls if ast.unparse(n) == "warnings.warn"]
        assert not direct or path.name == "_log.py", path
