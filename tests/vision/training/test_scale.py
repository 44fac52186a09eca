"""Several processes: the same losses as one, equation 6, refusals."""

import json
import os
import re
import subprocess
from pathlib import Path
from types import SimpleNamespace

import facebench
import numpy as np
import pytest

torch = pytest.importorskip("torch")

from facebench import timing  # noqa: E402
from facebench.lab.timing import scale  # noqa: E402
from light_torchrun import interpreter  # noqa: E402

# Each rank takes its share of every batch and writes its losses; the test averages them. (No
# collective on a tensor of Python's here: Gloo's thread may still let go of it while the
# interpreter ends, and the process then aborts.)
RANK = """
import json, sys
import torch
from facebench import nn, timing, training
group, device = training.torchrun_process_group("cpu")
ranks, rank = group.size(), group.rank()
options = timing.StepOptions(network="sphereface4", batch=8, classes=5, threads=1, lr=0.02)
bench = timing.StepBench(options, nn.NetworkOptions(height=32, width=32), {}, group)
images = torch.randn(8, 3, 32, 32, generator=torch.Generator().manual_seed(0))
labels = torch.arange(8) % 5
losses = bench.losses(images[rank::ranks], labels[rank::ranks], 20)
with open(f"{sys.argv[1]}/{ranks}.{rank}.json", "w") as f:
    json.dump(losses, f)
"""


@pytest.fixture
def light_torchrun(monkeypatch, tmp_path):
    """`bench_scale` starts its processes without torchrun itself; the test of accuracies has it."""
    monkeypatch.setattr(scale, "sys", SimpleNamespace(executable=interpreter(tmp_path)))


def losses_of(processes, folder):
    (folder / "rank.py").write_text(RANK)
    command = [interpreter(folder), "-m", "torch.distributed.run", "--standalone"]
    command += ["--nproc-per-node", str(processes), str(folder / "rank.py"), str(folder)]
    package = str(Path(facebench.__file__).absolute().parents[1])
    environment = {**os.environ, "PYTHONPATH": package, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    shares = [json.loads((folder / f"{processes}.{i}.json").read_text()) for i in range(processes)]
    return np.mean(shares, axis=0)


def test_two_processes_have_the_losses_of_one(tmp_path):
    one, two = losses_of(1, tmp_path), losses_of(2, tmp_path)
    assert len(one) == 20 and one[-1] < one[0]
    assert np.allclose(one, two, rtol=1e-5, atol=1e-5)


@pytest.mark.usefixtures("light_torchrun")
def test_scaling_of_two_processes(tmp_path):
    result = timing.bench_scale(
        "sphereface4",
        processes=[1, 2],
        batch=4,
        iterations=3,
        rounds=2,
        skip=1,
        network_options={"height": 32, "width": 32},
        classes=5,
    )
    rows = {(r["scaling"], r["processes"]): r for r in result["rows"]}
    assert rows["weak", 2]["batch"] == 8 and rows["strong", 2]["batch"] == 4
    for scaling in ("weak", "strong"):
        one, two = rows[scaling, 1], rows[scaling, 2]
        assert one["speedup"] is None and one["efficiency"] == 1
        expected = two["images_per_second"] / one["images_per_second"] - 1
        assert two["speedup"] == pytest.approx(expected)
        assert two["efficiency"] == pytest.approx((1 + expected) / 2)
        assert two["phases"]["aggregate"] > 0 and two["model"]["aggregate_alone"] > 0
        assert "aggregate" not in one["phases"]
    folder = timing.write_bench(result, tmp_path / "run")
    assert "eq. 6" in (folder / "report.md").read_text()


@pytest.mark.usefixtures("light_torchrun")
def test_pytorchs_processes_make_the_same_steps(tmp_path):
    """Their outputs and losses are compared before anything is timed."""
    small = {"network_options": {"height": 32, "width": 32}, "classes": 5, "scalings": ["weak"]}
    small |= {"processes": [1, 2], "batch": 4, "iterations": 2, "rounds": 2, "skip": 1}
    result = timing.bench_scale("sphereface4", engines="pytorch", **small)
    one, two = result["rows"]
    assert (one["engine"], two["engine"], two["batch"]) == ("pytorch", "pytorch", 8)
    expected = two["images_per_second"] / one["images_per_second"] - 1
    assert two["speedup"] == pytest.approx(expected)
    assert two["model"] is None  # what it aggregates is not measured apart
    text = (timing.write_bench(result, tmp_path / "run") / "report.md").read_text()
    assert re.search(r"\| weak +\| pytorch +\| 2 +\| 8 ", text)
    for wrong, said in (
        ({"engines": "keras-jax"}, "'keras-jax' trains in one process"),
        ({"engines": "pytorch", "loss": "arcface"}, "with softmax and the input synthetic alone"),
    ):
        with pytest.raises(ValueError, match=said):
            timing.bench_scale("sphereface4", **small | wrong)


def test_time_to_accuracy(tmp_path):
    import facebench

    few = facebench.datasets.SyntheticOptions(people=20, images=4)
    facebench.datasets.write_synthetic_dataset(few, tmp_path / "faces", 1)
    pack = tmp_path / "a.h5"
    facebench.pack("lfw", tmp_path / "faces", pack, crop_size=64, threads=1)
    result = timing.bench_scale(
        "sphereface4",
        processes=[1],
        scalings=["weak"],
        batch=4,
        iterations=1,
        rounds=1,
        skip=0,
        network_options={"height": 32, "width": 32},
        classes=5,
        accuracy=0.0,
        recipe="small4.softmax",
        data=pack,
        seeds=1,
        threads=1,
    )
    (row,) = result["accuracy"]
    assert row["reached"] == 1 and row["epochs"] == [1] and row["median"] > 0


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"processes": [1, 3], "batch": 4}, "shared"),
        ({"processes": [0]}, "processes"),
        ({"scalings": ["week"]}, "weak"),
        ({"accuracy": 0.5}, "recipe"),
    ],
)
def test_wrong_use(changes, words):
    with pytest.raises(ValueError, match=words):
        timing.bench_scale("small4", **changes)
