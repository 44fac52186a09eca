"""The command line as tests call it: in a process of its own, or in this one."""

import os
import subprocess
import sys
from pathlib import Path

import facebench
from click.testing import CliRunner
from facebench.cli.app import app

runner = CliRunner()
# The package under test, also where PYTHONPATH names it relative to another folder.
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": str(Path(facebench.__file__).absolute().parents[1]),
    "PYTHONUNBUFFERED": "1",
}


def command(*args) -> list[str]:
    return [sys.executable, "-m", "facebench", *map(str, args)]


def run(*args, cwd=None) -> subprocess.CompletedProcess:
    return subprocess.run(
        command(*args),
        capture_output=True,
        text=True,
        cwd=cwd,
        env=ENVIRONMENT,
        timeout=120,
        check=False,
    )


def assert_user_error(result, code: int, *words: str) -> None:
    assert result.returncode == code, result.stderr
    assert "Traceback" not in result.stderr
    for word in words:
        assert word in result.stderr


def invoke(*args, code: int = 0):
    """The verb in this process; the result of click's runner."""
    result = runner.invoke(app, [str(a) for a in args])
    assert result.exit_code == code, result.output
    return result
