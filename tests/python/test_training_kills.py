"""A training that is killed at random moments and resumed ends with the same bytes."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("torch")
pytest.importorskip("facebench._full")

# A checkpoint after each step: a good part of all moments lies within the writing of one.
SCRIPT = """
import sys
import numpy as np
from facebench import training

rng = np.random.default_rng(0)
images = rng.integers(0, 256, (24, 16, 16, 3)).astype(np.uint8)
recipe = training.recipe(
    "small4.cosface",
    loss="sphereface",
    epochs=int(sys.argv[2]),
    batch=8,
    embedding=64,
    ema=0.9,
    sampler="balanced",
    images_per_person=2,
)
print("ready", flush=True)
training.train(
    recipe,
    (images, [i % 6 for i in range(24)]),
    sys.argv[1],
    resume=True,
    threads=1,
    checkpoint_every=1,
    log_every=1,
    on_epoch=lambda report, model: -report["loss"],
)
"""


def start(out, epochs):
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(out), str(epochs)], stdout=subprocess.PIPE, text=True
    )


def killed_and_resumed(tmp_path, kills, epochs):
    seed = int.from_bytes(os.urandom(4), "little")
    print(f"seed of the moments: {seed}")
    moments = random.Random(seed)
    begun = time.monotonic()
    whole = start(tmp_path / "whole", epochs)
    assert whole.stdout.readline() == "ready\n"
    trained_from = time.monotonic()
    whole.communicate()
    assert whole.returncode == 0
    duration = time.monotonic() - trained_from
    print(f"uninterrupted: {time.monotonic() - begun:.1f} s, {duration:.1f} s of them training")

    out = tmp_path / "killed"
    done = []
    while len(done) < kills:
        process = start(out, epochs)
        assert process.stdout.readline() == "ready\n"
        try:
            # On average each run gets through so much that all kills hit a training.
            process.wait(timeout=moments.uniform(0, 1.6 * duration / (kills + 1)))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            process.stdout.close()
            names = sorted(p.name for p in out.rglob("*")) if out.exists() else []
            done.append([n for n in names if ".tmp-" in n])
        else:
            assert process.returncode == 0
            process.stdout.close()
            break
    print(f"kills: {len(done)}; unfinished files they left: {done}")
    process = start(out, epochs)
    process.communicate()
    assert process.returncode == 0
    for name in ("model.safetensors", "best.safetensors"):
        assert (out / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    log = [(tmp_path / run / "log.jsonl").read_text().splitlines() for run in ("whole", "killed")]
    assert len(log[0]) == len(log[1])
    assert not [p for p in out.rglob("*") if ".tmp-" in p.name]
    return len(done)


def test_two_kills(tmp_path):
    assert killed_and_resumed(tmp_path, 2, 30) > 0


@pytest.mark.slow
def test_ten_kills(tmp_path):
    assert killed_and_resumed(tmp_path, 10, 300) == 10
