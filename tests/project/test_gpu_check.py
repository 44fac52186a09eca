"""What is run first on a machine with a GPU works: its dry run on the processor."""

import json
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("facebench._full")

ROOT = Path(__file__).resolve().parents[2]


def test_dry_run(tmp_path):
    out = tmp_path / "found.json"
    done = subprocess.run(
        ["scripts/gpu_check.sh", "--dry-run", "--out", str(out)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(out.read_text())
    assert report["dry_run"] and report["machine"]["torch"]
    stages = report["stages"]
    assert {stage["status"] for stage in stages.values()} == {"ok"}
    assert stages["check_losses"]["found"]["arcface"] < 2e-3
    assert stages["check_onnx"]["found"]
    assert stages["race_heads"]["found"]["rows"][0]["facebench"] > 0
