"""A file of a stranger is loaded by ONNX Runtime, and run once, in a process of its own that has so
much time and memory, before this process does it: what is there computed cannot be interrupted. The
kernel lets that process compute and read files, and nothing else."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from facebench import _eval
from facebench._onnx import sessions
from facebench._onnx.bounds import check_bounds
from facebench._onnx.file import hashes_beside
from facebench.core import Error, _log
from facebench.io import sha256_file

SECONDS = 60.0  # of processor time
MEMORY = 4 << 30  # bytes, beside eight times those of the files
SIDE = 112  # of images whose size the file leaves open

# Exit codes of the child.
_PASSED, _NO_MEMORY, _FREE = 0, 3, 4  # _FREE: passed, and the kernel did not confine it

_known: set[tuple[str, str, float, int, int]] = set()  # files that passed, by their SHA-256

_PROGRAM = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from facebench._onnx import trial
trial.in_child(*sys.argv[2:])
"""


def check_file(path, seconds: float = SECONDS, memory: int = MEMORY, side: int = SIDE) -> dict:
    """All that a file of a stranger, `held`, has to pass before a session opens it; the files
    beside it that hold weights, with their SHA-256. facebench.Error where it is not bounded;
    ValueError for limits that are none."""
    if not 1 <= seconds <= 86_400 or not 1 << 20 <= memory <= 1 << 50:
        raise ValueError("seconds: 1 to 86400; memory: bytes, a MiB or more")
    outside = hashes_beside(path)
    check_bounds(path)
    try_file(path, outside, seconds, memory, side)
    return outside


def try_file(path, beside, seconds: float, memory: int, side: int) -> None:
    """facebench.Error where loading the file and running it once, on images of that side where it
    leaves them open, takes more than ``seconds`` of processor time or ``memory`` bytes beyond eight
    times those of the file and the files ``beside`` it. Once for each file in a process; Ctrl-C and
    signals end it."""
    key = (sha256_file(path), repr(sorted(beside.items())), seconds, memory, side)
    if key in _known or not hasattr(signal, "SIGXCPU"):
        return
    files = [Path(path), *(Path(path).parent / name for name in beside)]
    most = memory + 8 * sum(file.stat().st_size for file in files)
    arguments = [json.dumps(sys.path), os.fspath(path), str(most), str(int(seconds) + 1), str(side)]
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _PROGRAM, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        # Time by the clock bounds what sleeps; a busy machine gets four times the processor time.
        ended = process.wait(4 * seconds + 30)
    except subprocess.TimeoutExpired:
        ended = -signal.SIGXCPU
    finally:
        process.kill()
        process.wait()
    if ended in (-signal.SIGXCPU, -signal.SIGKILL):
        raise Error(
            f"{path}: loading and running it once took more than {seconds:g} s of processor time. "
            "If it is yours, give it more: seconds="
        )
    if ended == _NO_MEMORY:
        raise Error(
            f"{path}: loading and running it once took more than {most >> 20} MiB of memory. If it "
            "is yours, give it more: memory="
        )
    if ended < 0:
        name = signal.Signals(-ended).name
        raise Error(f"{path}: onnxruntime ended with {name} on it")
    if ended not in (_PASSED, _FREE):
        raise Error(f"{path}: the process that tries it did not start (exit code {ended})")
    if ended == _FREE:
        _log.warn(
            "ONNX files are tried with bounds on time and memory alone: this system does not "
            "confine a process. Open those of strangers in a container",
            stacklevel=2,
        )
    _known.add(key)


def in_child(path: str, memory: str, seconds: str, side: str) -> None:
    """Ends the process with one of the exit codes above."""
    import ctypes
    import resource

    import numpy
    import onnxruntime  # noqa: F401

    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # it ends with its parent
    numpy.zeros(1, "f2").astype("f4")
    options, passed = sessions.quiet_options(), _PASSED
    try:
        _eval._confine_to_reading(int(memory), int(seconds))
    except Error:
        passed = _FREE
        for kind, most in ((resource.RLIMIT_CPU, seconds), (resource.RLIMIT_AS, memory)):
            hard = resource.getrlimit(kind)[1]
            least = int(most) if hard == resource.RLIM_INFINITY else min(int(most), hard)
            resource.setrlimit(kind, (least, least))
    try:
        session = sessions.session(path, options)
        session.run(None, {i.name: _zeros(i, int(side)) for i in session.get_inputs()})
    except MemoryError:
        os._exit(_NO_MEMORY)
    except Exception as error:  # its reader finds what is wrong
        text = str(error).lower()
        os._exit(_NO_MEMORY if "alloc" in text or "memory" in text else passed)
    os._exit(passed)


def _zeros(value, side: int):
    import numpy

    kinds = {"tensor(float16)": "f2", "tensor(double)": "f8", "tensor(uint8)": "u1"}
    sides = [
        s if isinstance(s, int) else side if len(value.shape) == 4 and n > 0 else 1
        for n, s in enumerate(value.shape)
    ]
    if len(sides) == 4 and not any(isinstance(s, int) and s <= 4 for s in value.shape[1:]):
        sides[1] = 3
    return numpy.zeros(sides, kinds.get(value.type, "f4"))
