"""A file of a stranger is loaded by ONNX Runtime, and run once, in a process of its own that has so
much time and memory, before this process does it: what is there computed cannot be interrupted."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from facebench.core import Error
from facebench.io import sha256_file

SECONDS = 60.0  # of processor time
MEMORY = 4 << 30  # bytes, beside eight times those of the files
_SIDE = 112  # of images whose size the file leaves open

_known: set[tuple[str, str, float, int]] = set()  # files that passed, by their SHA-256

# Arguments: file, bytes of memory, seconds. Ends with 3 where the memory was not enough.
_PROGRAM = f"""
import ctypes, json, os, resource, sys
sys.path[:] = json.loads(sys.argv[4])
ctypes.CDLL(None).prctl(1, 9)  # it ends with its parent
seconds = int(float(sys.argv[3])) + 1
for kind, most in ((resource.RLIMIT_CPU, seconds), (resource.RLIMIT_CORE, 0),
                   (resource.RLIMIT_AS, int(sys.argv[2]))):
    hard = resource.getrlimit(kind)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(kind, (most, most))
try:
    import numpy, onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])
    kinds = {{"tensor(float)": "f4", "tensor(float16)": "f2", "tensor(double)": "f8",
             "tensor(uint8)": "u1"}}
    feed = {{}}
    for k, i in enumerate(session.get_inputs()):
        sides = [s if isinstance(s, int) else {_SIDE} if len(i.shape) == 4 and n > 0 else 1
                 for n, s in enumerate(i.shape)]
        if len(sides) == 4 and not any(isinstance(s, int) and s <= 4 for s in i.shape[1:]):
            sides[1] = 3
        feed[i.name] = numpy.zeros(sides, kinds.get(i.type, "f4"))
    session.run(None, feed)
except MemoryError:
    os._exit(3)
except Exception as error:
    text = str(error).lower()
    os._exit(3 if "alloc" in text or "memory" in text else 0)  # its reader finds what is wrong
os._exit(0)
"""


def try_file(path, beside=(), seconds: float = SECONDS, memory: int = MEMORY) -> None:
    """facebench.Error where loading the file and running it once takes more than ``seconds`` of
    processor time or ``memory`` bytes beyond eight times those of the file and the files ``beside``
    it. Once for each file in a process; Ctrl-C and signals end it."""
    key = (sha256_file(path), repr(sorted(dict(beside).items())), seconds, memory)
    if key in _known or not hasattr(signal, "SIGXCPU"):
        return
    files = [Path(path), *(Path(path).parent / name for name in dict(beside))]
    most = memory + 8 * sum(file.stat().st_size for file in files)
    arguments = [os.fspath(path), str(most), str(seconds), json.dumps(sys.path)]
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
    if ended == 3:
        raise Error(
            f"{path}: loading and running it once took more than {most >> 20} MiB of memory. If it "
            "is yours, give it more: memory="
        )
    if ended < 0:
        name = signal.Signals(-ended).name
        raise Error(f"{path}: onnxruntime ended with {name} on it")
    _known.add(key)
