"""Makes the jobs of a study: each once, by its content, in this process or in others, and
again from where it was when it was stopped."""

import contextlib
import ctypes
import errno
import hashlib
import json
import multiprocessing
import os
import shutil
import signal
import time
from concurrent.futures import (
    FIRST_COMPLETED,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from facebench import __version__, analysis, reports
from facebench.core import Error
from facebench.core._files import read_json
from facebench.core._inside import refuse_links
from facebench.core._shards import executor_of
from facebench.io import canonical_json, sha256_file
from facebench.lab.studies.stopping import answered
from facebench.lab.studies.work import ALONE, RESUMED, WORK


@dataclass(frozen=True, eq=False)
class Job:
    """Something to make. ``request`` and ``needs`` (other jobs, by what they are for) decide its
    result and its ``key``; ``how`` does not (threads, Python objects)."""

    kind: str
    name: str
    request: dict
    needs: dict = field(default_factory=dict)
    how: dict = field(default_factory=dict)

    @property
    def key(self) -> str:
        needs = {name: job.key for name, job in self.needs.items()}
        identity = {"facebench": __version__, "kind": self.kind, "request": self.request}
        text = canonical_json(json.loads(json.dumps(identity | {"needs": needs}, default=str)))
        return hashlib.sha256(text.encode()).hexdigest()

    def folder(self, out) -> Path:
        """Where it lies in a study's folder: its files, and `job.json`, with its name, once it is
        done."""
        return Path(out) / "jobs" / self.kind / self.key[:16]


@dataclass
class Outcome:
    """What became of a job: ``made``, ``kept`` (it was there, whole), ``failed``, or ``not made``,
    where the study was stopped; why."""

    job: Job
    status: str
    result: dict = field(default_factory=dict)
    reason: str = ""

    @property
    def is_there(self) -> bool:
        return self.status in ("made", "kept")


class Stopped(KeyboardInterrupt):
    """Ctrl-C, with what became of the jobs until then: ``outcomes``."""

    def __init__(self, outcomes: dict[str, Outcome]):
        super().__init__()
        self.outcomes = outcomes


def read_whole(job: Job, folder: Path) -> dict | None:
    """The result of a job that is there and whose files, and its run's lists, have the hashes that
    were recorded; else None."""
    try:
        record = read_json(folder / "job.json")
        if record["key"] != job.key or record["files"] != _hashes(folder):
            return None
        if (folder / "run").is_dir() and not all(
            c["same"] is not False for c in analysis.verify_inputs(folder / "run")
        ):
            return None
        return record["result"]
    except (OSError, ValueError, KeyError, TypeError, Error):
        return None


def _hashes(folder: Path) -> dict:
    return {
        path.relative_to(folder).as_posix(): sha256_file(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path != folder / "job.json"
    }


def perform(job: Job, out: Path, progress=None) -> tuple[dict, str, str]:
    """Makes one job whose needs are there, in this process: its result, why it failed or "", and
    what is to be said of it. Anything but Ctrl-C that goes wrong is this job's failure."""
    folder, start = job.folder(out), time.monotonic()
    try:
        refuse_links(out, folder)
        refuse_links(out, Path(out) / "cache")
    except Error as error:
        return {}, str(error), ""
    for name in ("job.json", _FAILED):
        (folder / name).unlink(missing_ok=True)
    if job.kind not in RESUMED:
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    needs = {name: need.folder(out) for name, need in job.needs.items()}
    try:
        how = {"cache": str(Path(out) / "cache"), **job.how, "progress": progress}
        result = WORK[job.kind](job.request, needs, folder, how) or {}
        duration = f"in {time.monotonic() - start:.1f} s{result.pop('told', '')}"
        record = {"key": job.key, "name": job.name, "request": job.request, "result": result}
        text = json.dumps(
            record | {"files": _hashes(folder)}, indent=1, sort_keys=True, default=str
        )
        reports.write_text(folder / "job.json", text + "\n")
    except Exception as error:  # a model is somebody's code: whatever it raises
        known = isinstance(error, (Error, ValueError))
        text = " ".join(str(error).split())[:500]
        reason = text if known else f"{type(error).__name__}: {text}"
        _record_failure(job, folder, reason)
        return {}, reason, ""
    return json.loads(json.dumps(result, default=str)), "", duration


def _record_failure(job, folder, reason):
    """Kept for who may not make the job himself (``kinds`` of `run_jobs`)."""
    with contextlib.suppress(OSError, Error):  # a full disk has failed the job already
        reports.write_text(folder / _FAILED, json.dumps({"key": job.key, "reason": reason}) + "\n")


def _why_not_made(job, folder) -> str:
    """Why a job that is not made here is not there: its failure, where there was one."""
    try:
        record = read_json(folder / _FAILED)
        if record["key"] == job.key and isinstance(record["reason"], str):
            return record["reason"]
    except (OSError, ValueError, KeyError, TypeError, Error):
        pass
    return _NOT_MADE


def perform_at(place: str, job: Job, out: Path) -> tuple[dict, str, str]:
    """`perform` on a worker that began elsewhere: relative paths are those of who asked."""
    if os.path.isdir(place):
        os.chdir(place)
    return perform(job, out)


_FAILED = "failed.json"  # in a job's folder
_NOT_MADE = (
    "is not there as a whole, and what a suite's folder names is not run again from there: run the "
    "suite itself, with its models and sets"
)


def run_jobs(
    targets, out, *, jobs=1, executor=None, progress=None, say=lambda text: None, kinds=None
) -> dict:
    """Makes what is not there as a whole of the wanted jobs and of all that they need; an `Outcome`
    for each, by its key. Jobs that time something run alone, after the others. ``kinds``: of jobs
    that may be made, None: all; others that are not there fail. Ctrl-C is `Stopped`."""
    if executor is not None:
        executor_of(executor, "executor")
    waiting, outcomes = _in_order(targets), {}
    for key, job in list(waiting.items()):
        result = read_whole(job, job.folder(out))
        if result is not None:
            outcomes[key] = Outcome(waiting.pop(key), "kept", result)
    total = len(outcomes) + len(waiting)
    if outcomes:
        say(f"{len(outcomes)} of {total} jobs are there and whole; kept")

    def ended(job, result, reason, answer=""):
        status = "failed" if reason else "made"
        outcomes[job.key] = Outcome(job, status, result, reason)
        details = f": {reason}" if reason else f" {answer}"
        say(f"[{len(outcomes)}/{total}] {job.kind} {job.name}: {status}{details}")

    pool = executor or (_Here(progress) if jobs == 1 else _Pool(jobs))
    work = partial(perform_at, os.getcwd()) if executor else perform
    limit = 1 if jobs == 1 and executor is None else total if executor else jobs
    running: dict[Future, Job] = {}
    suspects: set[str] = set()  # were running when a process died

    for key, job in list(waiting.items()):
        if kinds is not None and job.kind not in kinds:
            ended(waiting.pop(key), {}, _why_not_made(job, job.folder(out)))

    def alone(job):
        return job.kind in ALONE or job.key in suspects

    def may_start(job):
        free = len(running) < limit and not any(map(alone, running.values()))
        return free and not (alone(job) and running)

    begun: list[Job] = []  # the last ones, of which some may have ended

    def answer():
        names = [f"{j.kind} {j.name}" for j in begun if j.key not in outcomes] or ["nothing"]
        say(f"stopping: waits for {', '.join(names)}; then writes the page of what is done")

    answering = ExitStack()
    answering.enter_context(answered(answer))
    try:
        while waiting or running:
            # What may run beside others first.
            for key, job in sorted(waiting.items(), key=lambda item: alone(item[1])):
                needed = [outcomes.get(need.key) for need in job.needs.values()]
                failed = next((o for o in needed if o and o.status == "failed"), None)
                if failed:
                    ended(waiting.pop(key), {}, failed.reason)
                elif None not in needed and may_start(job):
                    begun.append(job)
                    running[pool.submit(work, job, Path(out).absolute())] = waiting.pop(key)
            if not running:
                continue
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                job = running.pop(future)
                try:
                    ended(job, *future.result())
                except BrokenProcessPool:
                    # One process that dies takes the others' jobs with it: each once more, alone.
                    if job.key in suspects:
                        why = "its process died: out of memory, or a crash in the model"
                        ended(job, {}, why)
                    suspects.add(job.key)
                    waiting |= {} if job.key in outcomes else {job.key: job}
                except CancelledError:
                    why = "not made: the executor's scheduler or workers are gone; run it again"
                    ended(job, {}, why)
                except Exception as error:  # of an executor of somebody else's
                    ended(job, {}, f"{type(error).__name__}: {error}")
    except KeyboardInterrupt:
        why = "the study was stopped; the same command goes on"
        for key, job in _in_order(targets).items():
            outcomes.setdefault(key, Outcome(job, "not made", {}, why))
        raise Stopped(outcomes) from None
    finally:
        answering.close()
        if executor is None:
            pool.shutdown(cancel_futures=True)
    return outcomes


def _in_order(targets) -> dict[str, Job]:
    """All jobs by their keys, what a job needs before it."""
    jobs: dict[str, Job] = {}

    def add(job):
        for need in job.needs.values():
            add(need)
        jobs.setdefault(job.key, job)

    for job in targets:
        add(job)
    return jobs


class _Here(Executor):
    """Runs what is submitted at once, in this process."""

    def __init__(self, progress):
        self._progress = progress

    def submit(self, function, /, *arguments, **named):
        future: Future = Future()
        future.set_result(function(*arguments, self._progress, **named))
        return future


class _Pool(Executor):
    """Processes that end with this one, however it ends; new ones where one has died."""

    def __init__(self, jobs: int):
        self._jobs = jobs
        self._pool: ProcessPoolExecutor | None = None
        self._others = set(multiprocessing.active_children())

    def submit(self, function, /, *arguments, **named):
        try:
            return self._started().submit(function, *arguments, **named)
        except BrokenProcessPool:
            self._pool = None
            return self._started().submit(function, *arguments, **named)
        except OSError as error:
            if error.errno not in (errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM):
                raise
            raise Error(
                f"{self._jobs} jobs at once do not start: {error.strerror}. Allow more open files "
                "and processes (ulimit -n, ulimit -u), or take fewer jobs (--jobs 1)"
            ) from None

    def _started(self):
        if self._pool is None:
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(
                self._jobs, context, initializer=_end_with, initargs=(os.getpid(),)
            )
        return self._pool

    def shutdown(self, wait=True, *, cancel_futures=False):
        if self._pool is None:
            return
        for process in set(multiprocessing.active_children()) - self._others:
            process.terminate()  # all is done, or was stopped
        self._pool.shutdown(cancel_futures=cancel_futures)


def _end_with(parent: int) -> None:
    """Makes this process die with its parent (prctl, PR_SET_PDEATHSIG), and leaves Ctrl-C to it."""
    set_parent_death_signal = 1
    ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
