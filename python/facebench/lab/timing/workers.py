"""Engines as child processes: started, asked, stopped."""

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import facebench
from facebench.core._out_of_memory import is_out_of_memory
from facebench.lab.engines import elsewhere

# A shell that exports these halves the speed of OpenBLAS in every framework that uses it.
_UNSET = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")


def child_environment():
    """The environment of a child process that measures: without what halves OpenBLAS, with the
    package itself, for an interpreter that has it not installed, and without modules that lie in
    the working folder by chance."""
    environment = {k: v for k, v in os.environ.items() if k not in _UNSET}
    package = str(Path(facebench.__file__).parent.parent)
    path = [package, environment.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(p for p in path if p)
    environment["PYTHONSAFEPATH"] = "1"
    return environment


class WorkerFailed(Exception):
    """An engine could not do what it was asked: ``kind`` is out_of_memory, timeout or failed."""

    def __init__(self, kind, message):
        super().__init__(message)
        self.kind = kind


class Worker:
    """One engine in a process of its own, with ``threads`` threads.

    ``python``: the interpreter, for an engine that is installed in an environment of its own, or
    the folder of that environment; else what FACEBENCH_ENGINE_PYTHON names, if this one lacks it.
    """

    def __init__(self, engine, threads=0, python=None):
        self.engine = engine
        environment = child_environment()
        if threads:
            environment |= {
                k: str(threads)
                for k in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
            }
        python = Path(python or elsewhere(engine) or sys.executable)
        if os.path.isdir(python):
            python = python / "bin" / "python"
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  (closed by close())
        # Ctrl-C is for the measuring process, which then stops this one.
        try:
            self._process = subprocess.Popen(
                [str(python), "-m", "facebench.lab.engines.worker", engine],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                env=environment,
                start_new_session=True,
            )
        except OSError:
            self._errors.close()
            raise
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None  # pipes
        self._to, self._from = stdin, stdout
        os.set_blocking(self._from.fileno(), False)

    @property
    def pid(self):
        return self._process.pid

    def ask(self, command, timeout=None, **arguments):
        """The answer to one command. After WorkerFailed the worker cannot be used any more."""
        line = json.dumps({"command": command, **arguments}) + "\n"
        try:
            self._to.write(line.encode())
            self._to.flush()
        except BrokenPipeError:
            self._ended()
        answer = json.loads(self._read(timeout))
        if "error" in answer:
            raise WorkerFailed(answer["error"]["kind"], answer["error"]["message"])
        return answer["ok"]

    def _read(self, timeout):
        until = None if timeout is None else time.monotonic() + timeout
        text = b""
        with selectors.DefaultSelector() as selector:
            selector.register(self._from, selectors.EVENT_READ)
            while not text.endswith(b"\n"):
                left = None if until is None else max(until - time.monotonic(), 0)
                if not selector.select(left):
                    raise WorkerFailed("timeout", f"took longer than {timeout:.0f} s")
                part = self._from.read()
                if not part:
                    self._ended()
                text += part
        return text

    def _ended(self):
        code = self._process.wait()
        message = self._last_words()
        if code == -signal.SIGKILL:
            raise WorkerFailed("out_of_memory", "the system killed the process (out of memory)")
        # An allocation that fails inside a thread or a library ends the process with its words.
        kind = "out_of_memory" if is_out_of_memory(RuntimeError(message)) else "failed"
        raise WorkerFailed(kind, f"the process ended ({code}): {message}")

    def _last_words(self):
        self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(self._errors.tell() - 4000, 0))
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return " ".join(lines[-3:])[-500:]

    def close(self):
        """Ends the process."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        for stream in (self._to, self._from, self._errors):
            with contextlib.suppress(BrokenPipeError):
                stream.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
