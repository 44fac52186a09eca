"""`bench scale` over hosts: two network namespaces with a cable between them, as two machines."""

import json
import os
import subprocess
import sys
import uuid
from pathlib import Path

import facebench
import pytest
from facebench.lab.timing.scale import _Hosts

pytest.importorskip("torch")


def ip(*words):
    return subprocess.run(["ip", *words], capture_output=True, text=True, check=True)


@pytest.fixture
def hosts():
    """Two namespaces, 10.77.0.1 and 10.77.0.2, each with a device of its own."""
    tag = uuid.uuid4().hex[:6]
    names = [f"fb{tag}{k}" for k in "ab"]
    try:
        for name in names:
            ip("netns", "add", name)
        ip("link", "add", names[0], "type", "veth", "peer", "name", names[1])
        for k, name in enumerate(names, 1):
            ip("link", "set", name, "netns", name)
            ip("-n", name, "addr", "add", f"10.77.0.{k}/24", "dev", name)
            for device in (name, "lo"):
                ip("-n", name, "link", "set", device, "up")
        yield names
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"network namespaces are not allowed here: {error}")
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


def test_two_hosts(hosts, tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(Path(facebench.__file__).parent.parent)}
    words = ["-m", "facebench", "bench", "scale", "small4", "--processes", "1", "--batch", "4",
             "--iterations", "3", "--rounds", "2", "--skip", "1", "--size", "32", "--threads", "1",
             "--set", "classes=10", "--nodes", "2", "--rendezvous", "10.77.0.1:29611"]  # fmt: skip
    running = []
    for k, name in enumerate(hosts):
        command = ["ip", "netns", "exec", name, sys.executable, *words, "--node", str(k)]
        command += ["--out", str(tmp_path / str(k))]
        own = environment | {"GLOO_SOCKET_IFNAME": name}
        running.append(subprocess.Popen(command, env=own, text=True, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT))  # fmt: skip
    said = [process.communicate(timeout=240)[0] for process in running]
    assert [process.returncode for process in running] == [0, 0], said
    rows = json.loads((tmp_path / "0/bench.json").read_text())["rows"]
    assert [(r["scaling"], r["processes"], r["batch"]) for r in rows] == [
        ("weak", 2, 8), ("strong", 2, 4)
    ]  # fmt: skip
    # They did exchange their gradients: that takes time on two hosts alone.
    assert all(row["model"]["aggregate_alone"] > 0 for row in rows)
    assert json.loads((tmp_path / "1/bench.json").read_text())["rows"] == []
    assert "figures are with host 0" in said[1]


def test_each_launch_has_a_port_of_its_own():
    hosts = _Hosts(2, 1, "there:29500")
    said = [hosts.arguments() for _ in range(2)]
    assert [words[words.index("--master-port") + 1] for words in said] == ["29500", "29501"]
    assert said[0][said[0].index("--node-rank") + 1] == "1"
    assert _Hosts(2, 0, "[fe80::1]:80").arguments()[5] == "fe80::1"
    assert _Hosts(1, 0, "").arguments() == ["--standalone"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"nodes": 2}, "expected HOST:PORT"),
        ({"nodes": 2, "rendezvous": "here"}, "expected HOST:PORT"),
        ({"nodes": 2, "rendezvous": ":29500"}, "expected HOST:PORT"),
        ({"nodes": 2, "rendezvous": "here:99999"}, "expected HOST:PORT"),
        ({"nodes": 2, "node": 2, "rendezvous": "here:1"}, "numbers are 0 to 1"),
        ({"node": 1}, "numbers are 0 to 0"),
        ({"nodes": 3, "rendezvous": "here:1", "batch": 8}, "cannot be shared by 3"),
    ],
)
def test_wrong_words(more, message):
    with pytest.raises(ValueError, match=message):
        facebench.timing.bench_scale("small4", processes=[1], **more)
