"""Classes split over processes that torchrun starts, or that a user starts; one of them killed."""

import json
import os
import signal
import socket
import subprocess
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("facebench._full")
if not torch.distributed.is_available():
    pytest.skip("torch was built without distributed", allow_module_level=True)

# Processes as torchrun starts them, but with nobody beside them who would end them.
SCRIPT = """
import sys
import numpy as np
from facebench import Error, training

out, steps, resume = sys.argv[1], int(sys.argv[2]), "--resume" in sys.argv
rng = np.random.default_rng(0)
labels = np.arange(48) % 11
images = (20 * labels[:, None, None, None] + rng.integers(0, 30, (48, 16, 16, 3))).astype(np.uint8)
recipe = training.load_recipe(
    "small4.cosface",
    network="sphereface4",
    embedding=8,
    batch=16,
    lr=0.01,
    iterations=steps,
    split_classes=True,
    sample_rate=0.5,
)
group, device = training.torchrun_process_group()


def on_step(report):
    print(report["iteration"], flush=True)


try:
    training.train(
        recipe, (images, labels), out, threads=1, data_threads=0, log_every=1, checkpoint_every=5,
        resume=resume, process_group=group, device=device, on_step=on_step,
        on_start=lambda memory: print(len(memory), flush=True),
    )
except Error as error:
    sys.exit(str(error))
"""


def start(script, processes, *arguments):
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    started = []
    for rank in range(processes):
        environment = os.environ | {
            "TORCHELASTIC_RUN_ID": "test",
            "MASTER_ADDR": "localhost",
            "MASTER_PORT": str(port),
            "WORLD_SIZE": str(processes),
            "RANK": str(rank),
            "LOCAL_RANK": str(rank),
        }
        command = [sys.executable, str(script), *map(str, arguments)]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        started.append(subprocess.Popen(command, env=environment, text=True, **pipes))
    return started


def finish(processes):
    for process in processes:
        output = process.communicate(timeout=240)
        assert process.returncode == 0, output[1]


def test_a_killed_process_ends_the_other_and_leaves_the_last_checkpoint(tmp_path):
    script, out = tmp_path / "split.py", tmp_path / "run"
    script.write_text(SCRIPT)
    first, second = start(script, 2, out, 10**6)
    try:
        assert first.stdout.readline() == "2\n"
        for line in first.stdout:
            if int(line) >= 12:
                break
        second.send_signal(signal.SIGKILL)
        # 30 seconds from the kill on.
        output = first.communicate(timeout=30)[1]
    finally:
        for process in (first, second):
            process.kill()
            process.communicate()
    assert first.returncode == 1
    (sentence,) = [line for line in output.splitlines() if "process" in line]
    assert sentence.startswith("process 0 of 2: another process of this training has ended")

    # What is left is whole: one process alone goes on from it, with all classes.
    checkpoints = sorted(p.name for p in (out / "checkpoints").glob("step-*"))
    parts = sorted(p.name for p in (out / "checkpoints").glob("part-*"))
    newest = int(checkpoints[-1][5:14])
    assert newest >= 10 and newest % 5 == 0
    for rank in (0, 1):
        assert f"part-{newest:09}-{rank}-of-2.safetensors" in parts
    (alone,) = start(script, 1, out, 10**6, "--resume")
    try:
        assert alone.stdout.readline() == "1\n"
        assert int(alone.stdout.readline()) == newest + 1
    finally:
        alone.kill()
        alone.communicate()


@pytest.mark.slow
@pytest.mark.parametrize("processes", [2, 3])
def test_gloo_gives_what_one_process_gives(tmp_path, processes):
    script = tmp_path / "split.py"
    script.write_text(SCRIPT.replace("sample_rate=0.5", "sample_rate=1.0"))
    losses = []
    for count in (1, processes):
        out = tmp_path / str(count)
        finish(start(script, count, out, 20))
        lines = (out / "log.jsonl").read_text().splitlines()
        losses.append([json.loads(line)["loss"] for line in lines])
    np.testing.assert_allclose(losses[1], losses[0], atol=1e-5)
