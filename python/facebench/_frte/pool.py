"""Several processes of one library, as NIST forks several: it need not be safe with threads."""

import queue
import tempfile
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

from facebench.core import available_processors


class Pool:
    """So many processes, each of which does one thing at a time; with ``with``."""

    def __init__(self, library, count: int):
        self._library = library
        self.count = count or available_processors()
        self._free: queue.SimpleQueue = queue.SimpleQueue()
        self._all: list = []

    def __enter__(self):
        self._empty = tempfile.TemporaryDirectory()
        try:
            # From this thread: a process ends with the thread that started it.
            for _ in range(self.count):
                self._all.append(self._library.start(self._empty.name))
                self._free.put(self._all[-1])
        except BaseException:
            self.__exit__()
            raise
        self.interface, self.structures = self.first.interface, self.first.structures
        return self

    @property
    def first(self):
        return self._all[0]

    def __exit__(self, *_):
        for process in self._all:
            process.close()
        self._empty.cleanup()

    def map(self, work: Callable, tasks: Iterable, moved: Callable[[int], None]) -> list:
        """``work(process, task)`` of each, in the order of the tasks; what one throws is thrown,
        and ends the processes."""

        def one(task):
            process = self._free.get()
            try:
                return work(process, task)
            finally:
                self._free.put(process)

        done = []
        with ThreadPoolExecutor(self.count) as threads:
            waiting = [threads.submit(one, task) for task in tasks]
            try:
                for future in waiting:
                    done.append(future.result())
                    moved(len(done))
            except BaseException:
                for future in waiting:
                    future.cancel()
                for process in self._all:  # what they compute is not waited for
                    process.stop()
                raise
        return done

    def refused(self) -> dict[str, int]:
        """What the library asked of the kernel and did not get, in all processes."""
        sums: dict[str, int] = {}
        for process in self._all:
            for what, count in process.refused().items():
                sums[what] = sums.get(what, 0) + count
        return sums
