"""Ctrl-C while torch is imported: raised when it is there, and the session goes on."""

import os
import signal
import subprocess
import sys

import pytest
from facebench.core._held import held_signals


def interrupted_twice(done):
    with held_signals():
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        done.append(True)


def test_what_came_is_raised_at_the_end():
    done = []
    with pytest.raises(KeyboardInterrupt):
        interrupted_twice(done)
    assert done and signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_error_within_is_not_hidden_and_the_handlers_are_back():
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(ZeroDivisionError), held_signals():
        raise ZeroDivisionError
    assert signal.getsignal(signal.SIGINT) is before


def nested(done):
    with held_signals():
        with held_signals():
            os.kill(os.getpid(), signal.SIGINT)
        done.append(True)


def test_one_within_another():
    done = []
    with pytest.raises(KeyboardInterrupt):
        nested(done)
    assert done


# A finder sends Ctrl-C when the import of a module of torch has begun, as a user might.
SESSION = """
import os, signal, sys
import facebench

class Finder:
    left = [{module!r}]
    def find_spec(self, name, path=None, target=None):
        if name in self.left:
            self.left.remove(name)
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
stopped = 0
try:
    {call}
except KeyboardInterrupt:
    stopped = 1
assert stopped and not Finder.left
{call}
import torch
print(torch.ones(2).sum().item(), facebench.training.load_recipe("small4.softmax") is not None)
"""


@pytest.mark.parametrize(
    ("module", "call"),
    [
        ("torch.storage", "facebench.train"),
        ("torch._tensor", "facebench.nn.export_onnx"),
        ("torch.nn.functional", "from facebench import training"),
        ("torch._ops", "from facebench._torch import torch"),
        ("torch.autograd", "facebench.losses"),
    ],
)
def test_a_session_goes_on(module, call):
    pytest.importorskip("torch")
    pytest.importorskip("facebench._full")
    program = SESSION.format(module=module, call=call)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=os.environ, timeout=120
    )
    assert (done.returncode, done.stdout.strip()) == (0, "2.0 True"), done.stderr
