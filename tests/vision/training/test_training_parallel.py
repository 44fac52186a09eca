"""Processes that train together do what one does with the whole batch."""

import json
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("facebench._full")
if not torch.distributed.is_available():
    pytest.skip("torch was built without distributed", allow_module_level=True)

from facebench import losses, training  # noqa: E402
from light_torchrun import interpreter  # noqa: E402

SCRIPT = """
import json, os, sys
import numpy as np
import torch
from facebench import training

group, device = training.torchrun_process_group()
images = np.load(sys.argv[1])
settings = json.loads(sys.argv[3])
layers = (torch.nn.Flatten(), torch.nn.Linear(768, 32), torch.nn.PReLU(), torch.nn.Linear(32, 8))
own = torch.nn.Sequential(*layers) if settings.pop("own", False) else None
seen = []
result = training.train(
    training.load_recipe("small4.softmax", **settings),
    (images, [i % 4 for i in range(len(images))]),
    sys.argv[2],
    threads=1,
    log_every=1,
    checkpoint_every=7,
    resume="--resume" in sys.argv,
    process_group=group,
    network=own,
    on_step=lambda r: seen.append(r["loss"]),
)
if os.environ["RANK"] == "1":
    with open(sys.argv[2] + ".rank1", "w") as f:
        json.dump(seen, f)
"""

SETTINGS = {"network": "sphereface4", "embedding": 32, "batch": 16, "iterations": 20, "lr": 0.01}


def torchrun(*arguments, python=sys.executable):
    command = [python, "-m", "torch.distributed.run", "--standalone"]
    return subprocess.run(
        [*command, "--nproc-per-node", "2", *arguments], capture_output=True, text=True, timeout=240
    )


def losses_of(run):
    lines = (run / "log.jsonl").read_text().splitlines()
    return [json.loads(line)["loss"] for line in lines]


def train_with_two(tmp_path, settings, *flags):
    """SCRIPT in two processes on images.npy, into the folder `two`."""
    done = torchrun(
        str(tmp_path / "two.py"),
        str(tmp_path / "images.npy"),
        str(tmp_path / "two"),
        json.dumps(SETTINGS | settings),
        *flags,
        python=interpreter(tmp_path),
    )
    assert done.returncode == 0, done.stderr


def compare(tmp_path, **settings):
    """The losses of a training in one process, and in two."""
    rng = np.random.default_rng(0)
    base = rng.integers(0, 256, (4, 16, 16, 3))
    images = np.clip(base[np.arange(40) % 4] + rng.integers(-60, 60, (40, 16, 16, 3)), 0, 255)
    images = images.astype(np.uint8)
    np.save(tmp_path / "images.npy", images)
    (tmp_path / "two.py").write_text(SCRIPT)
    train_with_two(tmp_path, settings)
    training.train(
        training.load_recipe("small4.softmax", **(SETTINGS | settings)),
        (images, [i % 4 for i in range(40)]),
        tmp_path / "one",
        threads=1,
        log_every=1,
    )
    return losses_of(tmp_path / "one"), losses_of(tmp_path / "two")


def test_two_processes_train_a_network_of_the_users(tmp_path):
    """Begun with different values, which become those of the first."""
    images = np.random.default_rng(0).integers(0, 256, (40, 16, 16, 3), dtype=np.uint8)
    np.save(tmp_path / "images.npy", images)
    (tmp_path / "two.py").write_text(SCRIPT)
    train_with_two(tmp_path, {"own": True, "iterations": 6})
    first = json.loads((tmp_path / "two.rank1").read_text())
    assert losses_of(tmp_path / "two") == first
    assert first[-1] != first[0]


@pytest.mark.filterwarnings("ignore:nothing was learned")  # of noise
def test_two_processes_equal_one(tmp_path):
    """fp32, no batch norm, an uneven last batch: the same curve, on both ranks."""
    one, two = compare(tmp_path, last_batch="keep")
    assert len(one) == len(two) == 20
    assert two == pytest.approx(one, abs=1e-5)
    assert min(one[-3:]) < one[0] - 0.01  # it learns
    assert json.loads((tmp_path / "two.rank1").read_text()) == two
    run = json.loads((tmp_path / "two" / "run.json").read_text())
    assert run["content"]["processes"] == 2


# Settings of a loss beside its defaults, and what else differs from small4.softmax with it.
OTHER_SETTINGS = {
    "center": {"loss__weight": 0.1, "sampler": "balanced", "images_per_person": 4},
    "sphereface": {"accumulate": 2, "clip_norm": 1.0},
    "cosface": {"ema": 0.9},
    "triplet": {"sampler": "people", "images_per_person": 5},
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:nothing was learned", "ignore:sphereface. lambda")
@pytest.mark.parametrize("loss", [entry["name"] for entry in losses.list_losses()])
def test_two_processes_equal_one_with_every_loss(tmp_path, loss):
    one, two = compare(tmp_path, loss=loss, **OTHER_SETTINGS.get(loss, {}))
    # Centres: what two processes move adds up; a person on both counts a little more. Each
    # process's moving averages come from its own images.
    if loss in ("center", "adaface", "curricularface"):
        tolerance = {"abs": 2e-3} if loss == "center" else {"rel": 2e-2}
        assert two == pytest.approx(one, **tolerance)
        return
    assert two[:5] == pytest.approx(one[:5], rel=1e-6, abs=1e-6)
    # Rounding grows from step to step, where scale and margin make the losses large faster: by
    # which factor, the instruction set decides.
    assert two == pytest.approx(one, rel=1e-3)


@pytest.mark.filterwarnings("ignore:nothing was learned")
@pytest.mark.slow
def test_a_resume_of_two_processes_ends_with_the_same_bytes(tmp_path):
    compare(tmp_path, last_batch="wrap")
    whole = (tmp_path / "two" / "model.safetensors").read_bytes()
    checkpoints = sorted((tmp_path / "two" / "checkpoints").iterdir())
    assert len(checkpoints) == 2
    checkpoints[-1].unlink()
    (tmp_path / "two" / "model.safetensors").unlink()
    train_with_two(tmp_path, {"last_batch": "wrap"}, "--resume")
    assert (tmp_path / "two" / "model.safetensors").read_bytes() == whole
    log = (tmp_path / "two" / "log.jsonl").read_text().splitlines()
    steps = [json.loads(line)["iteration"] for line in log]
    assert all(b - a == 1 for a, b in pairwise(steps))


@pytest.mark.slow
def test_command_line_under_torchrun(tmp_path):
    facebench = [sys.executable, "-m", "facebench"]
    synth = ["data", "synth", "--out", "data", "--people", "20", "--images", "2", "--size", "48"]
    pack = ["pack", "lfw", "--root", "data", "--detector", "none", "--out", "pack.h5"]
    for arguments in (synth, pack):
        subprocess.run([*facebench, *arguments], cwd=tmp_path, check=True, capture_output=True)
    judge = ["--validate", "lfw", "--validation-pack", tmp_path / "pack.h5"]
    done = torchrun(
        *("-m", "facebench", "train", "small4.softmax", "--pack", str(tmp_path / "pack.h5")),
        *("--out", str(tmp_path / "run"), "--set", "batch=8", "--set", "epochs=2", "--json"),
        *map(str, judge),
        *("--root", str(tmp_path / "data"), "--validation-metric", "auc"),
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout[done.stdout.index("{") :])
    assert result["best_score"] >= 0.3
    assert (tmp_path / "run" / "best.safetensors").exists()
