"""How far a long call is, on the terminal or in a log.

Both classes are what the library calls while it works: ``begin(stage, total, unit)``,
``update(done, note)``, ``end()``. Everything goes to the error stream, so that the answer on the
output stream stays clean.
"""

import sys
import time
from typing import TextIO


def rate_text(done: int, seconds: float, unit: str) -> str:
    """How fast it went, e.g. ``626 images/s`` or ``0.35 images/s``.

    >>> rate_text(626, 1.0, "images")
    '626 images/s'
    >>> rate_text(1, 4.0, "images")
    '0.25 images/s'
    """
    rate = done / max(seconds, 1e-9)
    return f"{rate:.0f} {unit}/s" if rate >= 10 else f"{rate:.2g} {unit}/s"


class LineProgress:
    """Plain lines: one when a stage begins, one every few seconds, one when it ends."""

    def __init__(self, stream: TextIO | None = None, every: float = 10.0, clock=time.monotonic):
        self._stream = stream or sys.stderr
        self._every = every
        self._clock = clock
        self._stages: list[dict] = []

    def _print(self, text: str) -> None:
        print("  " * (len(self._stages) - 1) + text, file=self._stream, flush=True)

    def begin(self, stage: str, total: int, unit: str) -> None:
        now = self._clock()
        self._stages.append(
            {"name": stage, "total": total, "unit": unit, "start": now, "last": now, "done": 0}
        )
        self._print(f"{stage}: {total} {unit}" if total else f"{stage} ...")

    def update(self, done: int, note: str = "") -> None:
        stage = self._stages[-1]
        stage["done"] = done
        now = self._clock()
        if now - stage["last"] < self._every:
            return
        stage["last"] = now
        seconds = now - stage["start"]
        of = f"/{stage['total']}" if stage["total"] else ""
        text = f"{stage['name']}: {done}{of} {stage['unit']}"
        text += f", {rate_text(done, seconds, stage['unit'])}"
        if stage["total"] and done:
            text += f", {seconds * (stage['total'] - done) / done:.0f} s left"
        self._print(text + (f", {note}" if note else ""))

    def end(self) -> None:
        stage = self._stages[-1]
        seconds = self._clock() - stage["start"]
        text = f"{stage['name']}: done in {seconds:.1f} s"
        if stage["done"] > 1:
            text += f" ({rate_text(stage['done'], seconds, stage['unit'])})"
        self._print(text)
        self._stages.pop()


class BarProgress:
    """A bar for each stage with rate and time left, for terminals."""

    def __init__(self, stream: TextIO | None = None):
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
        from rich.progress import TimeRemainingColumn as Remaining

        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=30),
            TextColumn("{task.completed:.0f}/{task.total:.0f}"),
            TextColumn("{task.fields[rate]}"),
            TimeElapsedColumn(),
            Remaining(),
            TextColumn("{task.fields[note]}"),
            console=Console(file=stream or sys.stderr, stderr=stream is None),
        )
        self._stages: list[tuple] = []

    def begin(self, stage: str, total: int, unit: str) -> None:
        if not self._stages:
            self._progress.start()
        task = self._progress.add_task(stage, total=total or 1, rate="", note="")
        self._stages.append((task, unit, total, time.monotonic()))

    def update(self, done: int, note: str = "") -> None:
        task, unit, total, start = self._stages[-1]
        self._progress.update(
            task,
            completed=done,
            total=total or max(done, 1),
            rate=rate_text(done, time.monotonic() - start, unit),
            note=note,
        )

    def end(self) -> None:
        self._stages.pop()
        if not self._stages:
            self._progress.stop()


def make_progress() -> LineProgress | BarProgress:
    """A bar where the error stream is a terminal, plain lines otherwise."""
    return BarProgress() if sys.stderr.isatty() else LineProgress()
