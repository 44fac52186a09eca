"""One result out of shards that other processes make: any `concurrent.futures.Executor`."""

import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from contextlib import contextmanager
from pathlib import Path

from facebench._eval import Error
from facebench.core._parts import Parts


@contextmanager
def made_by(workers: Executor, out, identity: dict, count: int, make: Callable):
    """The files of ``count`` shards, each by make(shard=..., out=...) on one of the workers.

    They lie beside ``out`` (`_parts`) and go when the block has ended well. Those that are there
    are kept, by all that ``identity`` says of them. A shard that fails is made once more, and so is
    one that is much slower than others: its worker may have stopped.
    """
    if count < 1:
        raise ValueError(f"shards is {count}: expected a number from 1")
    parts = Parts(out, identity, count)
    missing = {shard: file for shard, file in parts.files.items() if not file.exists()}
    _make_all(missing, workers, make, parts.folder)
    yield list(parts.files.values())
    parts.remove()


def _make_all(missing: dict[str, Path], workers: Executor, make: Callable, folder: Path) -> None:
    running: dict[Future, str] = {}
    again: set[str] = set()  # begun twice
    longest = None  # seconds of a shard

    def begin(shard):
        running[workers.submit(_timed, make, shard, missing[shard])] = shard

    def begin_again(shards):
        again.update(shards)
        for shard in sorted(shards):
            begin(shard)

    try:
        for shard in missing:
            begin(shard)
        while running:
            # So long after the last that has ended, those left wait for a worker that has stopped.
            patience = None if longest is None else 2 + 3 * longest
            done = wait(running, patience, FIRST_COMPLETED).done
            if not done:
                begin_again(set(running.values()) - again)
                longest = None
            for future in done & running.keys():
                shard = running.pop(future)
                try:
                    longest = max(longest or 0.0, future.result())
                except (CancelledError, Exception) as error:  # of an executor of somebody else's
                    if shard in running.values():
                        continue
                    if isinstance(error, _NO_OTHER_ANSWER):
                        raise Error(f"shard {shard}: {_said(error)}") from error
                    if isinstance(error, CancelledError) or shard in again:
                        raise Error(_failure(shard, error, folder)) from error
                    begin_again({shard})
                else:
                    for other in [f for f, s in running.items() if s == shard]:
                        other.cancel()
                        del running[other]
    finally:
        for future in running:
            future.cancel()


# What a function says of its arguments, and would say again; another try is for files, machines
# and connections that fail.
_NO_OTHER_ANSWER = (ValueError, TypeError)


def _said(error: BaseException) -> str:
    return " ".join(str(error).split())[:500] or type(error).__name__


def _failure(shard: str, error: BaseException, folder: Path) -> str:
    why = "the scheduler or its workers are gone"
    if not isinstance(error, CancelledError):
        why = f"failed twice: {_said(error)}"
    there = len(list(folder.glob("*.h5")))
    return f"shard {shard}: {why}. {there} shards are kept in {folder}: run it again to go on"


def _timed(make: Callable, shard: str, file: Path) -> float:
    """On a worker: how many seconds the shard took."""
    started = time.monotonic()
    make(shard=shard, out=file)
    return time.monotonic() - started
