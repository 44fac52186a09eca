"""Training over two hosts, which are two network namespaces joined by a cable."""

import os
import shutil
import signal
import subprocess
import sys
import time

import facebench
import numpy as np
import pytest
from command_line import ENVIRONMENT
from light_torchrun import interpreter

torch = pytest.importorskip("torch")
if not torch.distributed.is_available():
    pytest.skip("torch was built without distributed", allow_module_level=True)

PORT = "29577"


def ip(*words):
    return subprocess.run(["ip", *words], check=True, capture_output=True, text=True).stdout


def lose(host):
    """Ends all that runs there."""
    for process in ip("netns", "pids", host).split():
        os.kill(int(process), signal.SIGKILL)


@pytest.fixture
def hosts():
    """The names of two network namespaces, .1 and .2 of a network of their own."""
    names = [f"facebench-{os.getpid()}-{k}" for k in (1, 2)]
    cable = ["type", "veth", "peer", "name", "cable", "netns", names[1]]
    try:
        for name in names:
            ip("netns", "add", name)
        ip("link", "add", "cable", "netns", names[0], *cable)
        for k, name in enumerate(names, 1):
            ip("-n", name, "addr", "add", f"10.99.0.{k}/24", "dev", "cable")
            for device in ("lo", "cable"):
                ip("-n", name, "link", "set", device, "up")
        yield names
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"two hosts need network namespaces, which are not allowed here: {error}")
    finally:
        if shutil.which("ip"):
            for name in set(names) & set(ip("netns", "list").split()):
                lose(name)
                ip("netns", "del", name)


@pytest.fixture(scope="module")
def pack(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hosts")
    random = np.random.default_rng(0)
    for k in range(48):
        path = folder / "faces" / f"p{k % 6}" / f"{k}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        pixels = 30 * (k % 6) + random.integers(0, 60, (32, 32, 3))
        facebench.images.write(path, pixels.astype(np.uint8))
    how = {"detector": "none", "crop_size": 32}
    facebench.pack("folder", folder / "faces", folder / "faces.h5", **how)
    return folder / "faces.h5"


def start(host, nodes, pack, out, iterations, *more, module=("-m", "facebench", "train")):
    """`facebench train` under torchrun: on the host, one of two, or (None) two processes here."""
    where = ["--standalone", "--nproc-per-node", "2"]
    prefix, environment, python = [], ENVIRONMENT, sys.executable
    if host is None:
        python = interpreter(out.parent)
    else:
        prefix = ["ip", "netns", "exec", host]
        where = ["--nnodes", str(len(nodes)), "--nproc-per-node", "1"]
        where += ["--node-rank", str(nodes.index(host))]
        where += ["--master-addr", "10.99.0.1", "--master-port", PORT]
        environment = ENVIRONMENT | {"GLOO_SOCKET_IFNAME": "cable"}
    command = [*prefix, python, "-m", "torch.distributed.run", *where, *module]
    command += ["small4.softmax", "--pack", pack, "--out", out, "--threads", "1"]
    for setting in ("embedding=16", "batch=16", "lr=0.01", f"iterations={iterations}"):
        command += ["--set", setting]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.Popen([*map(str, command), *more], env=environment, **pipes)


def finish(*processes):
    for process in processes:
        output = process.communicate(timeout=240)[0]
        assert process.returncode == 0, output


def test_two_hosts_give_the_weights_of_two_processes_on_one(hosts, pack, tmp_path):
    finish(*(start(host, hosts, pack, tmp_path / "two", 8) for host in hosts))
    finish(start(None, [], pack, tmp_path / "one", 8))
    models = [(tmp_path / run / "model.safetensors").read_bytes() for run in ("one", "two")]
    assert models[0] == models[1]


def wait_for_checkpoint(out, process, after=0):
    """The step of a checkpoint behind that one, once there is such a one."""
    patience = time.monotonic() + 120
    while True:
        steps = [int(file.name[5:14]) for file in (out / "checkpoints").glob("step-*.safetensors")]
        if max(steps, default=0) > after:
            return max(steps)
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < patience, steps
        time.sleep(0.1)


def test_a_lost_host_is_said_and_one_goes_on_alone(hosts, pack, tmp_path):
    out = tmp_path / "run"
    often = ("--checkpoint-every", "5")
    first, second = (start(host, hosts, pack, out, 10**6, *often) for host in hosts)
    wait_for_checkpoint(out, first, after=5)
    lose(hosts[1])
    output = first.communicate(timeout=60)[0]
    second.communicate()
    assert first.returncode == 1
    assert "process 0 of 2: another process of this training has ended" in output
    newest = wait_for_checkpoint(out, first)
    alone = start(hosts[0], hosts[:1], pack, out, 10**6, *often, "--resume")
    assert wait_for_checkpoint(out, alone, after=newest) == newest + 5
    lose(hosts[0])
    alone.communicate()


IMPATIENT = """
import datetime, sys
import torch
from facebench.cli import main

torch.distributed.init_process_group("gloo", timeout=datetime.timedelta(seconds=10))
sys.argv[1:1] = ["train"]
main()
"""


@pytest.mark.slow
def test_a_host_that_vanishes_is_said_after_the_limit(hosts, pack, tmp_path):
    """Its cable is cut: no connection is closed, and nothing answers. torch waits half an hour; the
    group of processes that is there already, with a limit that a test can wait for, is taken."""
    script = tmp_path / "impatient.py"
    script.write_text(IMPATIENT)
    often = ("--checkpoint-every", "5")
    out = tmp_path / "run"
    first, second = (
        start(host, hosts, pack, out, 10**6, *often, module=[script]) for host in hosts
    )
    wait_for_checkpoint(out, first, after=5)
    ip("-n", hosts[1], "link", "set", "cable", "down")
    output = first.communicate(timeout=120)[0]
    lose(hosts[1])
    second.communicate()
    assert first.returncode == 1
    assert "process 0 of 2: another process of this training has ended" in output
