"""The examples in Python run as they are; those in C++ are built and run by ctest."""

import json
import os
import shutil
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


def test_a_package_of_ones_own_brings_a_protocol_and_a_model(tmp_path):
    """Installed beside facebench; its names are then as good as built-in ones."""
    if not FULL:
        pytest.skip("needs the full library")
    pytest.importorskip("setuptools", minversion="64")
    shutil.copytree(FOLDER / "package", tmp_path / "package")
    offline = ["--no-deps", "--no-build-isolation", "--no-index", "--quiet"]
    pip = [sys.executable, "-m", "pip", "install", *offline, "--target", tmp_path / "site"]
    subprocess.run([*pip, tmp_path / "package"], check=True, capture_output=True)
    few = facebench.datasets.SyntheticOptions(people=20, images=2, size=64, pairs_per_fold=1)
    facebench.datasets.write_synthetic_dataset(few, tmp_path / "faces")
    paths = [tmp_path / "site", Path(facebench.__file__).absolute().parents[1]]

    def answer(*words):
        done = subprocess.run(
            [sys.executable, "-m", "facebench", *words, "--json"],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    how = ["--model", "thumbnail", "--root", "faces/images", "--detector", "none"]
    found = answer("run", "office", *how, "--no-cache", "--out", "run", "--replicates", "20")
    assert 0 < found["tracks"]["verification"]["metrics"]["eer"]["value"] < 1
    assert answer("show", "office")["protocols"]["title"] == "Photographs of an office"
    assert "office" in [p["name"] for p in answer("list", "protocols")]
    with pytest.raises(ValueError, match="unknown protocol 'office'"):
        facebench.protocols.load_protocol("office")
