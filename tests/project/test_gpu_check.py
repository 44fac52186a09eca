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


def dry(tmp_path, *stages):
    """The rows of some stages of papers, in small on the processor."""
    words = ["scripts/gpu_check.sh", "--dry-run", "--out", str(tmp_path / "f.json"), "--only"]
    done = subprocess.run([*words, *stages], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads((tmp_path / "f.json").read_text())["stages"]
    assert list(report) == list(stages) and {s["status"] for s in report.values()} == {"ok"}
    return {name: stage["found"]["rows"] for name, stage in report.items()}


def test_dry_run_of_papers(tmp_path):
    rows = dry(tmp_path, "liu_figures", "embed_layouts")
    assert rows["liu_figures"][0]["column"] == "images/s" and rows["liu_figures"][0]["value"] > 0
    layouts = [row["layout"] for row in rows["embed_layouts"]]
    assert layouts == ["contiguous_format", "channels_last"]


@pytest.mark.slow
def test_dry_run_of_all_papers(tmp_path):
    figures = [f"figure_2_{n}" for n in ("vgg16", "inception_v3", "resnet50", "densenet121")]
    rows = dry(tmp_path, *figures, "largest_batch", "shi_table_7")
    assert all(rows[name][0]["value"] > 0 for name in figures)
    assert {(row["batch"], row["does_not_fit"]) for row in rows["largest_batch"]} == {(4, None)}
    shi = rows["shi_table_7"]
    assert [row["engine"] for row in shi] == ["facebench", "pytorch"]
    assert shi[0]["seconds"] > 0 and shi[0]["printed"]["Caffe"]["gtx1080"] == "0.254"


@pytest.mark.parametrize("fits", [1, 3, 255, 256, 300, 1000, 4095, 4096, 20000])
def test_the_largest_batch_is_found_to_an_eighth(fits, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tests/device"))
    from papers import searched

    tried = []

    def fit(batch):
        tried.append(batch)
        return batch <= fits

    good, bad = searched(fit, 256, 4096)
    if fits < 256:
        assert (good, bad) == (0, 256)
    elif fits >= 4096:
        assert (good, bad) == (4096, None)
    else:
        assert good <= fits < bad and bad - good <= max(1, good // 8)
    assert len(tried) <= 9
