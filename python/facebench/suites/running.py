"""The runs of a suite: which are to be made, and making them, in one process or several."""

import ctypes
import json
import multiprocessing
import os
import shutil
import signal
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from facebench import __version__, reports
from facebench.core import Error
from facebench.io import sha256_file
from facebench.reports import write_text
from facebench.suites.description import SuiteDescription, SuiteModel, SuiteSet, slug


@dataclass
class Place:
    """Where a run of a suite lies: ``folder``, and beside it ``note``, what was asked for."""

    folder: Path

    @property
    def note(self) -> Path:
        return self.folder.with_name(self.folder.name + ".json")

    def read_note(self) -> dict | None:
        """What was asked for; None where nothing was, or not by this version's form."""
        try:
            said = json.loads(self.note.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return said if isinstance(said, dict) and {"set", "model", "request"} <= set(said) else None

    def write_note(self, set_name: str, model: str, request: dict | None) -> None:
        note = {"set": set_name, "model": model, "request": request}
        write_text(self.note, json.dumps(note, indent=1, sort_keys=True) + "\n")


@dataclass
class Outcome:
    """What became of a run: ``made``, ``kept`` (it was there, whole) or ``failed`` and why."""

    set: str
    model: str
    status: str
    reason: str = ""
    seconds: float = 0.0
    reused: tuple = ()


def place_of(out: Path, set_name: str, model: str) -> Place:
    return Place(Path(out) / "runs" / slug(set_name) / slug(model))


def places(out: Path) -> list[Place]:
    """All runs that were ever asked for in a suite's folder, by set and model."""
    notes = sorted((Path(out) / "runs").glob("*/*.json"))
    return [Place(note.with_suffix("")) for note in notes]


def request_of(model: SuiteModel, data: SuiteSet) -> dict:
    """All that decides a run, as far as it is known before the images are read. JSON."""
    source = model.model
    if isinstance(source, (str, os.PathLike)):
        said = {"name": os.fspath(source)}
        if Path(source).is_file():
            said["sha256"] = sha256_file(source)
    else:
        said = {
            "python": f"{type(source).__module__}.{type(source).__qualname__}",
            "name": model.name,
        }
    request = {
        "facebench": __version__,
        "model": said,
        "settings": model.settings,
        "protocol": data.protocol,
        "set": data.settings,
    }
    return json.loads(json.dumps(request, default=str))


def is_whole(place: Place, request: dict) -> bool:
    """Whether the run that is there was asked for in these words, and its files, its lists and its
    model still have the hashes that it recorded."""
    said = place.read_note()
    if said is None or said["request"] != request or not place.folder.is_dir():
        return False
    try:
        checks = reports.verify_scores(place.folder) + reports.verify_inputs(place.folder)
    except Error:
        return False
    return all(check["same"] for check in checks)


def make_run(job: dict, progress=None) -> tuple[str, float, list]:
    """One run, in this process: why it failed or "", its seconds, what its cache gave. ``job``: the
    keywords of `facebench.run`. Anything but Ctrl-C that goes wrong is this run's failure."""
    import facebench

    start = time.monotonic()
    try:
        result = facebench.run(**job, progress=progress)
    except Exception as error:  # a model is somebody's code: whatever it raises
        known = isinstance(error, (Error, ValueError))
        text = " ".join(str(error).split())[:500]
        return (text if known else f"{type(error).__name__}: {text}"), time.monotonic() - start, []
    if result.all_failed:
        return "not one image could be enrolled", time.monotonic() - start, result.reused
    return "", time.monotonic() - start, result.reused


def run_all(
    description: SuiteDescription,
    out: Path,
    *,
    jobs=1,
    executor=None,
    threads=0,
    command="",
    progress=None,
    say=lambda text: None,
) -> list[Outcome]:
    """Makes every run of a suite that is not there as a whole; see `facebench.suite`."""
    outcomes, todo = [], {}
    for model in description.models:
        for data in description.sets:
            place, request = place_of(out, data.name, model.name), request_of(model, data)
            if is_whole(place, request):
                outcomes.append(Outcome(data.name, model.name, "kept"))
                continue
            # First what is old goes, then the note: no old run ever stands under a new request.
            shutil.rmtree(place.folder, ignore_errors=True)
            place.write_note(data.name, model.name, request)
            todo[(data.name, model.name)] = {
                "protocol": data.protocol,
                "model": model.model,
                "out": str(place.folder),
                "cache": str(out / "cache"),
                "overwrite": True,
                "command": command,
                "threads": threads or _share_of_processors(jobs),
                **_settings(model, data),
            }
    total, done = len(outcomes) + len(todo), len(outcomes)
    if outcomes:
        say(f"{len(outcomes)} of {total} runs are there and whole; kept")
    for (data, model), (reason, seconds, reused) in _perform(todo, jobs, executor, progress):
        status = "failed" if reason else "made"
        outcomes.append(Outcome(data, model, status, reason, seconds, tuple(reused)))
        done += 1
        more = f": {reason}" if reason else f" in {seconds:.1f} s"
        taken = f", {' and '.join(reused)} from the cache" if reused else ""
        say(f"[{done}/{total}] {data}, {model}: {status}{more}{taken}")
    return outcomes


def _settings(model, data):
    own = ("detector", "detector_options", "selection") if "detector" in data.settings else ()
    return {k: v for k, v in model.settings.items() if k not in own} | data.settings


def _share_of_processors(jobs: int) -> int:
    return 0 if jobs == 1 else max(1, len(os.sched_getaffinity(0)) // jobs)


def _perform(todo, jobs, executor, progress):
    """(key, result of `make_run`) of each job, in the order in which they end."""
    if executor is not None:
        futures = {executor.submit(make_run, job): key for key, job in todo.items()}
        for future in as_completed(futures):
            error = future.exception()
            failed = (f"{type(error).__name__}: {error}", 0.0, [])
            yield futures[future], failed if error else future.result()
    elif jobs == 1:
        for key, job in todo.items():
            yield key, make_run(job, progress)
    else:
        yield from _in_processes(todo, jobs)


def _in_processes(todo, jobs):
    died = []
    with _pool(jobs) as pool:
        futures = {pool.submit(make_run, job): key for key, job in todo.items()}
        for future in as_completed(futures):
            try:
                yield futures[future], future.result()
            except BrokenProcessPool:
                died.append(futures[future])
    # One process that dies takes the pool's other runs with it: each once more, alone.
    for key in died:
        with _pool(1) as pool:
            try:
                yield key, pool.submit(make_run, todo[key]).result()
            except BrokenProcessPool:
                yield key, ("its process died: out of memory, or a crash in the model", 0.0, [])


@contextmanager
def _pool(jobs):
    """Processes that end with this one, however it ends, and do not wait for their work when it is
    stopped."""
    others = set(multiprocessing.active_children())
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, context, initializer=_end_with, initargs=(os.getpid(),))
    try:
        yield pool
    except BaseException:
        for process in set(multiprocessing.active_children()) - others:
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _end_with(parent: int) -> None:
    """Makes this process die with its parent (prctl, PR_SET_PDEATHSIG), and leaves Ctrl-C to it."""
    set_parent_death_signal = 1
    ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
