"""One library in one child process, under confinement: questions and answers over pipes.

`_eval._serve_frte_library` is the other end (facebench/io/frte_child.h has the conversation).
"""

import contextlib
import functools
import json
import os
import select
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from typing import NoReturn

import numpy as np

from facebench.core import Error
from facebench.core._arguments import brief, printable

MOST_BYTES = 64 << 20  # of a template
_START = 30.0  # seconds that Python may take to start, on a machine that others use

# The interface's words for its return codes (frvt_structs.h).
CODES = (
    "Success", "UnknownError", "ConfigError", "RefuseInput", "ExtractError", "ParseError",
    "TemplateCreationError", "VerifTemplateError", "FaceDetectionError", "NumDataError",
    "TemplateFormatError", "EnrollDirError", "InputLocationError", "MemoryError", "MatchError",
    "QualityAssessmentError", "NotImplemented", "VendorError",
)  # fmt: skip
_FAILED = -(2**31)  # in place of a return code: a sentence follows

_PROGRAM = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from facebench import _eval
_eval._serve_frte_library(sys.argv[2], sys.argv[3], int(sys.argv[4]))
"""


def code_text(code: int) -> str:
    """A return code by its name.

    >>> code_text(8), code_text(77)
    ('FaceDetectionError', 'code 77')
    """
    return CODES[code] if 0 <= code < len(CODES) else f"code {code}"


def _comparing(name_of, k: int) -> str:
    return f"it compared {name_of(k)}"


class LibraryProcess:
    """A child that has loaded and initialised the library. facebench.Error names the library, what
    it did and what to do; the child is ended then."""

    def __init__(self, path, config, seconds: float, memory: int):
        self._path, self._seconds = path, seconds
        arguments = [json.dumps(sys.path), os.fspath(path), os.fspath(config), str(int(memory))]
        single = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        # Nothing of the caller's environment, which may hold keys, is there.
        self._child = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _PROGRAM, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={"LC_ALL": "C.UTF-8", **single},
            bufsize=0,
        )
        assert self._child.stdin and self._child.stdout
        self._in, self._out = self._child.stdin.fileno(), self._child.stdout.fileno()
        for end in (self._in, self._out):
            os.set_blocking(end, False)
        self._doing: Callable[[], str] = lambda: "it was loaded and initialised"
        try:
            versions = struct.unpack("<4i", self._answer(seconds + _START, 16))
        except BaseException:
            self.close()
            raise
        self.interface = f"{versions[0]}.{versions[1]}"
        self.structures = f"{versions[2]}.{versions[3]}"

    def template(self, role: int, photographs, name: str) -> tuple[int, bytes, str]:
        """(return code, template, what the library says of it) of photographs of one person,
        uint8 (H, W, 3). ``role``: 0 enrolment, 1 verification. ``name`` stands in messages."""
        self._doing = lambda: f"it made the template of {brief(name)}"
        head = struct.pack("<3I", 1, role, len(photographs))
        sides = b"".join(struct.pack("<2I", p.shape[1], p.shape[0]) for p in photographs)
        self._send(head + sides, *(np.ascontiguousarray(p).data.cast("B") for p in photographs))
        answer = self._answer(self._seconds, MOST_BYTES)
        code, size = struct.unpack_from("<iQ", answer)
        if 12 + size > len(answer):
            self._lost("gave an answer that is none")
        said = answer[12 + size :].decode("utf-8", "replace")
        return code, answer[12 : 12 + size], printable(said)

    def compare(self, templates, pairs, name_of) -> tuple[np.ndarray, np.ndarray]:
        """(return codes, similarities) of pairs (enrolment, verification), places in templates.
        ``name_of(k)``: pair k in words."""
        sizes = struct.pack(f"<{len(templates)}Q", *map(len, templates))
        head = struct.pack("<3I", 2, len(templates), len(pairs))
        self._doing = functools.partial(_comparing, name_of, 0)
        self._send(head, sizes, np.ascontiguousarray(pairs, "<u4").tobytes(), *templates)
        end = time.monotonic() + self._seconds
        outcome, size = struct.unpack("<BQ", self._read(9, end))
        if outcome or size != 12 * len(pairs):
            self._lost("gave an answer that is none")
        results = np.zeros(len(pairs), [("code", "<i4"), ("similarity", "<f8")])
        for k in range(len(pairs)):
            self._doing = functools.partial(_comparing, name_of, k)
            results[k] = np.frombuffer(self._read(12, end), results.dtype)[0]
            if results[k]["code"] == _FAILED:
                self._answer(self._seconds, 0)
        return results["code"].astype(int), results["similarity"]

    def refused(self) -> dict[str, int]:
        """What the library asked of the kernel and did not get, with how often."""
        self._doing = lambda: "it was asked what it had tried"
        self._send(struct.pack("<I", 3))
        lines = self._answer(self._seconds, 4096).decode().splitlines()
        return {what: int(count) for count, what in (line.split(" ", 1) for line in lines)}

    def stop(self) -> None:
        """Ends the child; a thread that waits for it is told that it has gone."""
        self._child.kill()
        self._child.wait()

    def close(self) -> None:
        """Ends the child, when no thread waits for it."""
        self.stop()
        for end in (self._child.stdin, self._child.stdout):
            if end:
                end.close()

    def _answer(self, seconds: float, most: int) -> bytes:
        end = time.monotonic() + seconds
        outcome, size = struct.unpack("<BQ", self._read(9, end))
        if outcome == 0 and size <= most:
            return self._read(size, end)
        if outcome == 1 and size <= 4096:
            said = printable(self._read(size, end).decode("utf-8", "replace"))
            self.stop()
            raise Error(f"{self._path}: {said} (while {self._doing()})")
        self._lost(f"gave an answer of {size} bytes, more than {most}")

    def _send(self, *parts) -> None:
        end = time.monotonic() + self._seconds
        for part in parts:
            rest = memoryview(part)
            while len(rest):
                self._wait(self._in, select.POLLOUT, end)
                with contextlib.suppress(BlockingIOError):
                    try:
                        rest = rest[os.write(self._in, rest[: 1 << 20]) :]
                    except BrokenPipeError:
                        self._ended()

    def _read(self, size: int, end: float) -> bytes:
        parts, left = [], size
        while left:
            self._wait(self._out, select.POLLIN, end)
            try:
                part = os.read(self._out, min(left, 1 << 20))
            except BlockingIOError:
                continue
            if not part:
                self._ended()
            parts.append(part)
            left -= len(part)
        return b"".join(parts)

    def _wait(self, descriptor: int, event: int, end: float) -> None:
        poll = select.poll()
        poll.register(descriptor, event)
        if not poll.poll(max(0.0, end - time.monotonic()) * 1000):
            self._lost(
                f"did not answer within {self._seconds:g} s",
                "If it is slow and not stuck, give it more: --set seconds=",
            )

    def _ended(self) -> NoReturn:
        code = self._child.wait()
        if code == -signal.SIGKILL:
            self._lost("was killed", "Where memory is short, the kernel does that: --threads 1")
        name = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        self._lost(
            f"ended with {name}",
            "Its code failed, or the file is damaged; it may take so much memory and time as --set "
            "memory= and seconds= say, and write no file",
        )

    def _lost(
        self, what: str, advice: str = "It is not a library of FRTE that can be used"
    ) -> NoReturn:
        self.stop()
        raise Error(f"{self._path}: {what} while {self._doing()}. {advice}")
