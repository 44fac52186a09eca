"""Signals that wait until something is done which cannot be done twice."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_STOPPING = ("SIGINT", "SIGTERM", "SIGHUP")


@contextmanager
def held_signals() -> Iterator[None]:
    """Ctrl-C, and what ends a program else, waits for the end of the block and is raised there.

    For imports: a compiled module that is interrupted while it is set up cannot be imported again
    in this process (torch: "partially initialized module"). Only the main thread gets signals.
    What the caller ignores, or leaves to the system, stays so.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = {}
    for name in _STOPPING:
        number = getattr(signal, name, None)
        if number is not None and callable(signal.getsignal(number)):
            before[number] = signal.signal(number, lambda n, _: came.append(n))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in dict.fromkeys(came):
            signal.raise_signal(number)
