"""An answer to Ctrl-C at once, also while compiled code has the main thread."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def answered(answer: Callable[[], None]) -> Iterator[None]:
    """Calls ``answer`` once, in a thread of its own, as soon as SIGINT or SIGTERM comes; Python
    itself raises KeyboardInterrupt when the main thread is back in the interpreter. Without effect
    in other threads than the main one, which get no signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)

    def listen() -> None:
        said = False
        while number := os.read(reading, 1):
            if not said and number[0] in (signal.SIGINT, signal.SIGTERM):
                said = True
                answer()

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before, warn_on_full_buffer=False)
        os.close(writing)
        listener.join()
        os.close(reading)
