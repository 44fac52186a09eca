"""Processes of engines that several measurements use, one after the other: each takes two seconds
to import its framework. The tests of memory start their own."""

import contextlib
from unittest import mock

from facebench.lab.timing import step, workers
from facebench.lab.timing.workers import Worker


@contextlib.contextmanager
def patched(worker):
    """Within, measurements get their processes from `worker`."""
    with mock.patch.object(step, "Worker", worker), mock.patch.object(workers, "Worker", worker):
        yield


@contextlib.contextmanager
def kept():
    """Within, `bench_step` and `studies.fit` take an engine's idle process where there is one with
    as many threads and of the same interpreter. A process that failed or has a limit ends."""
    idle = {}

    class Kept(Worker):
        sound = True

        def ask(self, command, timeout=None, **arguments):
            self.sound, was = False, self.sound
            answer = super().ask(command, timeout, **arguments)
            self.sound = was and command != "limit"
            return answer

        def close(self):
            if not self.sound or self._process.poll() is not None:
                super().close()
            elif self not in idle.setdefault(self.kind, []):
                idle[self.kind].append(self)

    def worker(engine, threads=0, python=None):
        kind = engine, threads, python
        if idle.get(kind):
            return idle[kind].pop()
        made = Kept(engine, threads, python)
        made.kind = kind
        return made

    with patched(worker):
        yield
    for made in [one for several in idle.values() for one in several]:
        made.sound = False
        made.close()
