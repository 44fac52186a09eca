"""A training that is killed at random moments and resumed ends with the same bytes."""

import random
import signal
import subprocess
import sys
import time
from itertools import pairwise

import pytest

pytest.importorskip("torch")
pytest.importorskip("facebench._full")

# A checkpoint after each step: a good part of all moments lies within the writing of one. Each step
# is told; at the last one that it may do, the training stands until somebody kills it, so that it
# cannot come to its end before it is killed, however slow this machine is at that moment.
SCRIPT = """
import sys
import numpy as np
from facebench import training

rng = np.random.default_rng(0)
images = rng.integers(0, 256, (24, 16, 16, 3)).astype(np.uint8)
recipe = training.load_recipe(
    "small4.cosface",
    loss="sphereface",
    epochs=int(sys.argv[2]),
    batch=8,
    embedding=64,
    ema=0.9,
    sampler="balanced",
    images_per_person=2,
)
last = int(sys.argv[3])


def on_step(report):
    print(report["iteration"], flush=True)
    if report["iteration"] >= last:
        sys.stdin.read()


training.train(
    recipe,
    (images, [i % 6 for i in range(24)]),
    sys.argv[1],
    resume=True,
    threads=1,
    checkpoint_every=1,
    log_every=1,
    on_step=on_step,
    on_epoch=lambda report, model: -report["loss"],
)
"""


STEPS_AN_EPOCH = 3
NEVER = 10**9


def start(out, epochs, last=NEVER):
    command = [sys.executable, "-c", SCRIPT, str(out), str(epochs), str(last)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def finish(out, epochs):
    """Trains to the end; the steps that were told, and when."""
    with start(out, epochs) as process:
        told = [(int(line), time.perf_counter()) for line in process.stdout]
    assert process.returncode == 0
    return told


def kill_after(process, step, delay):
    """SIGKILL, `delay` seconds after the step was told: somewhere in the next one or two."""
    for line in process.stdout:
        if int(line) >= step:
            break
    until = time.perf_counter() + delay
    while time.perf_counter() < until:
        pass
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL


def killed_and_resumed(tmp_path, kills, epochs):
    whole, out = tmp_path / "whole", tmp_path / "killed"
    steps = STEPS_AN_EPOCH * epochs
    told = finish(whole, epochs)
    assert [step for step, _ in told] == list(range(1, steps + 1))
    duration = sorted(b - a for (_, a), (_, b) in pairwise(told))[steps // 2]

    moments = random.Random(kills)
    share = steps // (kills + 1)
    begun, left = 0, []
    for _ in range(kills):
        with start(out, epochs, begun + share) as process:
            further = moments.randint(1, share - 3)
            kill_after(process, begun + further, moments.uniform(0, 2 * duration))
        begun = len((out / "log.jsonl").read_text().splitlines())
        left.append([p.name for p in sorted(out.rglob("*")) if ".tmp-" in p.name])
    print(f"a step: {1000 * duration:.1f} ms; unfinished files that the kills left: {left}")

    assert finish(out, epochs)[0][0] in (begun, begun + 1)  # it went on, it did not begin anew
    for name in ("model.safetensors", "best.safetensors"):
        assert (out / name).read_bytes() == (whole / name).read_bytes()
    log = [(run / "log.jsonl").read_text().splitlines() for run in (whole, out)]
    assert len(log[0]) == len(log[1])
    assert not [p for p in out.rglob("*") if ".tmp-" in p.name]


def test_two_kills(tmp_path):
    killed_and_resumed(tmp_path, 2, 30)


@pytest.mark.slow
def test_ten_kills(tmp_path):
    killed_and_resumed(tmp_path, 10, 300)
