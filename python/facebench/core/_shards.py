"""One result out of shards that other processes make: any `concurrent.futures.Executor`."""

from collections.abc import Callable
from concurrent.futures import CancelledError, Executor, Future, as_completed
from contextlib import contextmanager
from pathlib import Path

from facebench import _eval
from facebench._eval import Error
from facebench.core._arguments import path_text, type_text
from facebench.core._parts import Parts

_PARTS_PER_THREAD = 4  # a worker that is done early takes over what others have not begun
_PARTS = 16  # of an executor that does not say how many threads it has


def executor_of(workers, name: str = "workers") -> Executor:
    """The executor, where it is one; else TypeError names those that are.

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> isinstance(executor_of(ThreadPoolExecutor(1)), ThreadPoolExecutor)
    True
    """
    if isinstance(workers, Executor):
        return workers
    raise TypeError(
        f"{name}: expected a concurrent.futures.Executor, found {type_text(workers)}. Those of the "
        "standard library, loky, mpi4py.futures and Parsl are such, and get_executor() of Dask's "
        "Client, whose workers dask-jobqueue starts under Slurm, PBS and others"
    )


def threads_of(workers: Executor) -> int | None:
    """The threads of all workers; None where the executor does not say."""
    if (client := getattr(workers, "_client", None)) is not None:  # Dask's
        return sum(client.nthreads().values()) or None
    # The standard library's and loky's; mpi4py's.
    return getattr(workers, "_max_workers", None) or getattr(workers, "num_workers", None)


def missing_shards(files) -> tuple[list[int], int]:
    """The numbers of the shards that are still to be made, and how many there are of the whole.

    ``files``: shards of one whole, as ``pack``, ``embed`` and `evaluate_shard` write them with
    ``shard="3/16"``; of each its manifest alone is read. facebench.Error names a file that is not a
    shard or is one of another number of shards, ValueError a shard that is there twice.

    >>> import pathlib, tempfile
    >>> from facebench import io
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file, manifest = pathlib.Path(folder, "2.h5"), {"shard": {"number": 2, "count": 3}}
    ...     io.write_embeddings(file, io.EmbeddingSet([[1.0]], ["a.jpg"], manifest=manifest))
    ...     io.missing_shards([file])
    ([1, 3], 3)
    """
    there: dict[int, str] = {}
    of_first: tuple[int, str] | None = None
    for file in files:
        path = path_text(file, "files")
        number, count = _place_of(path)
        of_first = of_first or (count, path)
        if count != of_first[0]:
            raise Error(
                f"{path}: is one of {count} shards, and {of_first[1]} is one of {of_first[0]}: "
                "give those of one whole"
            )
        if number in there:
            raise ValueError(
                f"shard {number} of {count} is there twice: {there[number]} and {path}"
            )
        there[number] = path
    if of_first is None:
        raise ValueError("files: expected one shard at least, which says how many there are")
    return [n for n in range(1, of_first[0] + 1) if n not in there], of_first[0]


_MOST_SHARDS = 1_000_000  # as of core/shard.h


def _place_of(path: str) -> tuple[int, int]:
    """(number, count) of a shard, by its manifest."""
    manifest = _eval.read_h5_manifest(path)
    place = manifest.get("shard") if isinstance(manifest, dict) else None
    if place is None and isinstance(manifest, dict):  # of comparisons, of each of its tracks
        place = next(iter(manifest.get("shards") or []), None)
    if isinstance(place, dict):
        number, count = place.get("number"), place.get("count")
        if type(number) is int and type(count) is int and 1 <= number <= count <= _MOST_SHARDS:
            return number, count
    raise Error(f"{path}: is not a shard: pack, embed and eval with --shard NUMBER/COUNT make them")


@contextmanager
def made_by(workers: Executor, out, identity: dict, count: int | None, make: Callable):
    """The files of ``count`` shards, each by make(shard=..., out=...) on one of the workers.

    ``count``: None is as many as an earlier attempt had, else four for each thread of the workers.
    They lie beside ``out`` (`_parts`) and go when the block has ended well. Those that are there
    are kept, by all that ``identity`` says of them. To try a shard again, and to give what a lost
    worker had to another, is the executor's part.
    """
    if count is not None and count < 1:
        raise ValueError(f"shards is {count}: expected a number from 1")
    parts = Parts(out, identity, count, _PARTS_PER_THREAD * (threads_of(workers) or _PARTS // 4))
    missing = {shard: file for shard, file in parts.files.items() if not file.exists()}
    _make_all(missing, workers, make, parts.folder)
    yield list(parts.files.values())
    parts.remove()


def _make_all(missing: dict[str, Path], workers: Executor, make: Callable, folder: Path) -> None:
    running: dict[Future, str] = {}
    try:
        for shard, file in missing.items():
            running[workers.submit(_made, make, shard, file)] = shard
        for future in as_completed(running):
            try:
                future.result()
            except (CancelledError, Exception) as error:  # of an executor of somebody else's
                raise Error(_failure(running[future], error, folder)) from error
    finally:
        for future in running:
            future.cancel()


def _made(make: Callable, shard: str, file: Path) -> None:
    """On a worker: its answer stays there, and would not be small."""
    make(shard=shard, out=file)


# What a function says of its arguments, and would say again; another try is for files, machines
# and connections that fail.
_NO_OTHER_ANSWER = (ValueError, TypeError)


def _failure(shard: str, error: BaseException, folder: Path) -> str:
    why = " ".join(str(error).split())[:500] or type(error).__name__
    if isinstance(error, _NO_OTHER_ANSWER):
        return f"shard {shard}: {why}"
    if isinstance(error, CancelledError):
        why = "the scheduler or its workers are gone"
    there = len(list(folder.glob("*.h5")))
    return f"shard {shard}: {why}. {there} shards are kept in {folder}: run it again to go on"
