"""How far a long call is: bars of tqdm, lines in a log, or calls of a function.

The library calls ``begin(stage, total, unit)``, ``update(done, note)`` and ``end()`` of an object
while it works; stages nest. :func:`sink` makes that object out of what ``progress=`` was given.
Terminals and logs get it on the error stream, so that the answer on the output stream stays clean.
"""

import functools
import sys
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from facebench import _threads

ANNOUNCED_AFTER = 1.0  # seconds: what is done sooner is not worth a line
LINES_EVERY = 10.0  # seconds


@dataclass
class Stage:
    """What is known of one stage."""

    name: str
    total: int
    unit: str
    begun: float = field(default_factory=time.time)
    first: int | None = None  # where a stage that begins in its middle (a resumed training) began
    done: int = 0
    bar: Any = None
    timer: threading.Timer | None = None


# Held while stages change and bars are drawn, by the timers' threads too. One lock for both, so
# that no two threads wait for each other. Bars have it in place of tqdm's own, a lock in Python,
# which Ctrl-C can leave half taken.
_drawing = threading.RLock()


def _drawn_in_turns(tqdm: Any):
    """The class with `_drawing` as its lock, which Ctrl-C while a bar is drawn releases: what
    tqdm's ``refresh`` takes stays taken, and the next thread that draws waits for ever."""

    class Bar(tqdm):
        def refresh(self, nolock=False, lock_args=None):
            with _drawing:
                return super().refresh(nolock=True)

    Bar.set_lock(_drawing)
    return Bar


class BarProgress:
    """A bar of ``tqdm`` for each stage that lasts longer than ``after`` seconds, also for one that
    says nothing in that time; those around it come first. ``how``: what `tqdm` takes."""

    def __init__(self, tqdm, after: float = ANNOUNCED_AFTER, **how):
        self._tqdm, self._after, self._how = _drawn_in_turns(tqdm), after, how
        self._stages: list[Stage] = []

    def begin(self, stage: str, total: int, unit: str) -> None:
        with _drawing:
            added = Stage(stage, total, unit)
            # A stage without updates is announced by a timer's thread.
            added.timer = threading.Timer(self._after, self._announce, [added])
            added.timer.daemon = True
            self._stages.append(added)
            with suppress(RuntimeError):  # no thread may be started: the next update announces it
                added.timer.start()

    def update(self, done: int, note: str = "") -> None:
        with _drawing:
            stage = self._stages[-1]
            stage.first = done if stage.first is None else stage.first
            stage.done = done
            if stage.bar is None and time.time() - stage.begun >= self._after:
                self._announce(stage)
            if stage.bar is not None:
                stage.bar.set_postfix_str(note, refresh=False)
                stage.bar.update(done - stage.bar.n)

    def end(self) -> None:
        with _drawing:
            stage = self._stages.pop()
            if stage.timer is not None:
                stage.timer.cancel()
            if stage.bar is not None:
                stage.bar.close()

    def _announce(self, stage: Stage) -> None:
        with _drawing:
            if stage not in self._stages:
                return
            for place, one in enumerate(self._stages[: self._stages.index(stage) + 1]):
                if one.bar is None:
                    one.bar = self._bar(one, place)

    def _bar(self, stage: Stage, place: int):
        counted = {"unit": "B", "unit_scale": True} if stage.unit == "bytes" else {}
        how = {"unit": f" {stage.unit}", "position": place, "dynamic_ncols": True, **counted}
        bar = self._tqdm(
            desc=stage.name,
            total=stage.total or None,
            initial=stage.first or 0,
            **how | self._how,
        )
        bar.start_t = stage.begun
        if stage.done > bar.n:
            bar.update(stage.done - bar.n)
        return bar


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


def lines(file, **how) -> BarProgress:
    """A line every few seconds, for logs: tqdm would write over the one before."""
    from tqdm import tqdm

    class Lines(tqdm):
        disable: bool

        def display(self, msg=None, pos=None):
            print("  " * abs(self.pos) + str(self), file=self.fp, flush=True)

        def close(self):
            if not self.disable:
                self.display()
                self.disable = True
                self._decr_instances(self)

    form = "{desc}: {n_fmt}/{total_fmt} [{elapsed}<{remaining}, {rate_fmt}{postfix}]"
    return BarProgress(
        Lines, **{"file": file, "mininterval": LINES_EVERY, "bar_format": form, **how}
    )


def terminal() -> BarProgress:
    """A bar where the error stream is a terminal, plain lines otherwise."""
    if not sys.stderr.isatty():
        return lines(sys.stderr)
    from tqdm import tqdm

    if _threads.few:
        tqdm.monitor_interval = 0
    return BarProgress(tqdm)


def in_notebook() -> bool:
    """Whether the code runs in a kernel of Jupyter."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


def notebook() -> BarProgress:
    """Bars in the output of a Jupyter cell, which go when their stage has ended."""
    with warnings.catch_warnings():  # where ipywidgets is not there, bars are of text
        warnings.simplefilter("ignore")
        from tqdm.auto import tqdm
    return BarProgress(tqdm, after=2.0, leave=False, file=sys.stdout)


_standard: Callable[[], Any] | None = None  # makes what None stands for outside of Jupyter


@contextmanager
def standard(make: Callable[[], Any]):
    """In the block a call without ``progress=`` reports to what ``make()`` gives, which is made
    once, for the first such call."""
    global _standard
    before, _standard = _standard, functools.cache(make)
    try:
        yield
    finally:
        _standard = before


def sink(progress):
    """What the library reports to, out of what ``progress=`` was given.

    None: a bar in Jupyter, on the command line what `terminal` gives, else nothing. False: nothing.
    True: a bar, or lines where the error stream is not a terminal. A function: called with (stage,
    done, total, unit). An object with ``begin``, ``update`` and ``end``: itself. TypeError for
    anything else.

    >>> sink(False) is None
    True
    """
    if progress is None:
        if in_notebook():
            return notebook()
        return _standard() if _standard else None
    if progress is False:
        return None
    if progress is True:
        return notebook() if in_notebook() else terminal()
    if all(hasattr(progress, name) for name in ("begin", "update", "end")):
        return progress
    if callable(progress):
        return CallingProgress(progress)
    raise TypeError(
        "progress must be True, False, a function of (stage, done, total, unit) or an object with "
        f"begin, update and end, not {type(progress).__name__}"
    )


@contextmanager
def stage(progress, name: str, total: int, unit: str):
    """Reports one stage to what ``progress=`` was given (`sink`): gives the function that is told
    how much is done, ``moved(done, note="")``."""
    target = sink(progress)
    if target is None:
        yield lambda done, note="": None
        return
    target.begin(name, total, unit)
    try:
        yield target.update
    finally:
        target.end()
