"""How far a long call is: on a terminal, in a log, in a notebook, or by calls of a function.

The library calls ``begin(stage, total, unit)``, ``update(done, note)`` and ``end()`` of an object
while it works; stages nest. :func:`sink` makes that object out of what ``progress=`` was given.
Terminals and logs get it on the error stream, so that the answer on the output stream stays clean.
"""

import html
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from typing import TextIO

from facebench import _threads

ANNOUNCED_AFTER = 1.0  # seconds: what is done sooner is not worth a line
_SCALES = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1, "bytes"))


def _scale(count: float, unit: str) -> tuple[float, str]:
    """Bytes in what people count them in; everything else as it is."""
    if unit != "bytes":
        return 1, unit
    return next((s for s in _SCALES if abs(count) >= s[0]), _SCALES[-1])


def _number(count: float, exact: bool) -> str:
    return f"{count:.0f}" if exact or count >= 100 else f"{count:.2g}"


def count_text(done: int, total: int, unit: str) -> str:
    """How much is done: ``50/100 images``, ``1.2/34 MB``.

    >>> count_text(50, 100, "images"), count_text(1_200_000, 34_000_000, "bytes")
    ('50/100 images', '1.2/34 MB')
    """
    scale, name = _scale(total or done, unit)
    of = f"/{_number(total / scale, scale == 1)}" if total else ""
    return f"{_number(done / scale, scale == 1)}{of} {name}"


def rate_text(done: float, seconds: float, unit: str) -> str:
    """How fast it went, e.g. ``626 images/s``, ``0.35 images/s`` or ``120 MB/s``.

    >>> rate_text(626, 1.0, "images"), rate_text(1, 4.0, "images")
    ('626 images/s', '0.25 images/s')
    >>> rate_text(240_000_000, 2.0, "bytes")
    '120 MB/s'
    """
    rate = done / max(seconds, 1e-9)
    scale, name = _scale(rate, unit)
    return f"{_number(rate / scale, rate / scale >= 10)} {name}/s"


def duration_text(seconds: float) -> str:
    """A time as people say it.

    >>> duration_text(80), duration_text(4000), duration_text(200_000)
    ('80 s', '67 min', '2 d 8 h')
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 120:
        return f"{minutes} min"
    hours = round(seconds / 3600)
    return f"{hours} h" if hours < 48 else f"{hours // 24} d {hours % 24} h"


class Stage:
    """What is known of one stage."""

    def __init__(self, name: str, total: int, unit: str, depth: int, now: float):
        self.name, self.total, self.unit, self.depth = name, total, unit, depth
        self.start = self.last = now
        self.done = 0
        self.note = ""
        self.announced = False
        self._base = (now, 0)  # the rate counts from here
        self._updated = False
        self.timer: threading.Timer | None = None

    def update(self, done: int, note: str, now: float) -> None:
        # A stage that begins in its middle (training that was resumed) says so at once.
        if not self._updated and now - self.start < 0.5:
            self._base = (now, done)
        self._updated = True
        self.done, self.note = done, note

    def rate(self, now: float) -> str:
        """ "" where too little is known."""
        done, seconds = self.done - self._base[1], now - self._base[0]
        return rate_text(done, seconds, self.unit) if done > 0 and seconds > 0 else ""

    def left(self, now: float) -> str:
        done, seconds = self.done - self._base[1], now - self._base[0]
        if not self.total or done <= 0:
            return ""
        return f"{duration_text(seconds * (self.total - self.done) / done)} left"

    def head(self) -> str:
        return (
            f"{self.name}: {count_text(0, self.total, self.unit)[2:]}"
            if self.total
            else (f"{self.name} ...")
        )

    def line(self, now: float) -> str:
        parts = [
            f"{self.name}: {count_text(self.done, self.total, self.unit)}"
            if self.done
            else self.head(),
            self.rate(now),
            self.left(now),
            self.note,
        ]
        return ", ".join(filter(None, parts))

    def end_line(self, now: float) -> str:
        if self.total and 0 < self.done < self.total:  # it was stopped
            count = count_text(self.done, self.total, self.unit)
            return f"{self.name}: {count} after {now - self.start:.1f} s"
        rate = self.rate(now) if self.done > 1 else ""
        return f"{self.name}: done in {now - self.start:.1f} s" + (f" ({rate})" if rate else "")


class Progress(ABC):
    """Keeps the stages, and shows those that last longer than ``after`` seconds: a kind of display
    says what is done when a stage is announced, has moved and has ended."""

    def __init__(self, after: float = ANNOUNCED_AFTER, clock: Callable[[], float] = time.monotonic):
        self._after, self._clock = after, clock
        self._stages: list[Stage] = []
        self._lock = threading.RLock()  # a stage without updates is announced by a timer's thread

    def begin(self, stage: str, total: int, unit: str) -> None:
        with self._lock:
            made = Stage(stage, total, unit, len(self._stages), self._clock())
            self._stages.append(made)
            made.timer = threading.Timer(self._after, self._announce, [made])
            made.timer.daemon = True
            with suppress(RuntimeError):  # no thread may be started: the next update announces it
                made.timer.start()

    def update(self, done: int, note: str = "") -> None:
        with self._lock:
            stage, now = self._stages[-1], self._clock()
            stage.update(done, note, now)
            if not stage.announced and now - stage.start >= self._after:
                self._announce(stage)
            if stage.announced:
                self.moved(stage, now)

    def end(self) -> None:
        with self._lock:
            stage = self._stages.pop()
            stage.timer.cancel()
            if stage.announced:
                self.ended(stage, self._clock())

    def _announce(self, stage: Stage) -> None:
        with self._lock:
            for one in self._stages[: stage.depth + 1]:  # those around it first
                if not one.announced and stage in self._stages:
                    one.announced = True
                    self.announced(one)

    @abstractmethod
    def announced(self, stage: Stage) -> None:
        """A stage is worth showing."""

    @abstractmethod
    def moved(self, stage: Stage, now: float) -> None:
        """More of it is done."""

    @abstractmethod
    def ended(self, stage: Stage, now: float) -> None:
        """It is over."""


class LineProgress(Progress):
    """Plain lines: one for a stage that goes on, one every few seconds, one when it ends."""

    def __init__(self, stream: TextIO | None = None, every: float = 10.0, **how):
        super().__init__(**how)
        self._stream = stream or sys.stderr
        self._every = every

    def _print(self, stage: Stage, text: str) -> None:
        print("  " * stage.depth + text, file=self._stream, flush=True)

    def announced(self, stage):
        self._print(stage, stage.head())

    def moved(self, stage, now):
        if now - stage.last >= self._every:
            stage.last = now
            self._print(stage, stage.line(now))

    def ended(self, stage, now):
        self._print(stage, stage.end_line(now))


class BarProgress(Progress):
    """A bar for each stage with rate and time left, for terminals; a line when it has ended."""

    def __init__(self, stream: TextIO | None = None, **how):
        super().__init__(**how)
        from rich.console import Console

        self._console = Console(file=stream or sys.stderr, stderr=stream is None)
        self._shown = None
        self._tasks: dict[Stage, int] = {}

    def announced(self, stage):
        from rich.progress import BarColumn, Progress, TextColumn

        if self._shown is None:
            columns = (TextColumn("{task.description}"), BarColumn(bar_width=30))
            self._shown = Progress(
                *columns, console=self._console, transient=True, auto_refresh=not _threads.few
            )
            self._shown.start()
        # Without a total the bar moves to and fro.
        self._tasks[stage] = self._shown.add_task(self._text(stage), total=stage.total or None)

    def moved(self, stage, now):
        text = "  " * stage.depth + stage.line(now)
        self._shown.update(
            self._tasks[stage], completed=stage.done, description=text, refresh=_threads.few
        )

    def ended(self, stage, now):
        self._shown.remove_task(self._tasks.pop(stage))
        self._shown.console.print("  " * stage.depth + stage.end_line(now), highlight=False)
        if not self._tasks:
            self._shown.stop()
            self._shown = None

    def _text(self, stage):
        return "  " * stage.depth + stage.head()


class NotebookProgress(Progress):
    """A bar in the output of a Jupyter cell for what lasts longer than two seconds; it goes when
    the outermost stage has ended."""

    def __init__(self, every: float = 0.2, **how):
        super().__init__(**{"after": 2.0, **how})
        self._every = every
        self._display = None

    def _show(self, now: float) -> None:
        from IPython.display import HTML, display

        rows = []
        for s in self._stages:
            value = f' value="{s.done}" max="{s.total}"' if s.total else ""
            rows.append(f"<div><progress{value}></progress> {html.escape(s.line(now))}</div>")
        shown = HTML("".join(rows))
        if self._display is None:
            self._display = display(shown, display_id=True)
        else:
            self._display.update(shown)

    def announced(self, stage):
        self._show(self._clock())

    def moved(self, stage, now):
        if now - stage.last >= self._every:
            stage.last = now
            self._show(now)

    def ended(self, stage, now):
        if self._display is not None:
            self._show(now)
            if not self._stages:
                self._display = None


class CallingProgress:
    """Calls ``function(stage, done, total, unit)`` when a stage begins and when it has moved."""

    def __init__(self, function: Callable[[str, int, int, str], object]):
        self._function = function
        self._stages: list[tuple[str, int, str]] = []

    def begin(self, stage: str, total: int, unit: str) -> None:
        self._stages.append((stage, total, unit))
        self._function(stage, 0, total, unit)

    def update(self, done: int, note: str = "") -> None:
        stage, total, unit = self._stages[-1]
        self._function(stage, done, total, unit)

    def end(self) -> None:
        self._stages.pop()


def in_notebook() -> bool:
    """Whether the code runs in a kernel of Jupyter."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


def terminal() -> LineProgress | BarProgress:
    """A bar where the error stream is a terminal, plain lines otherwise."""
    return BarProgress() if sys.stderr.isatty() else LineProgress()


def sink(progress):
    """What the library reports to, out of what ``progress=`` was given.

    None: a bar in Jupyter, else nothing. False: nothing. True: a bar, or lines where the error
    stream is no terminal. A function: called with (stage, done, total, unit). An object with
    ``begin``, ``update`` and ``end``: itself. TypeError for anything else.

    >>> sink(False) is None
    True
    """
    if progress is None:
        return NotebookProgress() if in_notebook() else None
    if progress is False:
        return None
    if progress is True:
        return NotebookProgress() if in_notebook() else terminal()
    if all(hasattr(progress, name) for name in ("begin", "update", "end")):
        return progress
    if callable(progress):
        return CallingProgress(progress)
    raise TypeError(
        "progress must be True, False, a function of (stage, done, total, unit) or an object with "
        f"begin, update and end, not {type(progress).__name__}"
    )
