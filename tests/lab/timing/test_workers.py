"""Processes of engines: one that dies, takes too long or is asked for something unknown."""

import os
import signal
from pathlib import Path

import pytest

pytest.importorskip("torch")
from facebench.lab.timing.workers import Worker, WorkerFailed


def test_a_worker_that_dies_is_an_answer():
    with Worker("pytorch", 1) as worker:
        os.kill(worker.pid, signal.SIGKILL)
        with pytest.raises(WorkerFailed, match="killed") as caught:
            worker.ask("load", threads=1)
    assert caught.value.kind == "out_of_memory"


def test_a_worker_that_takes_too_long_is_given_up():
    with Worker("pytorch", 1) as worker:
        with pytest.raises(WorkerFailed, match="longer") as caught:
            worker.ask("load", 0.001, threads=1)
        pid = worker.pid
    assert caught.value.kind == "timeout"
    assert not Path(f"/proc/{pid}").exists()


def test_an_unknown_command_is_refused():
    with Worker("pytorch", 1) as worker, pytest.raises(WorkerFailed, match="unknown command"):
        worker.ask("rm")
