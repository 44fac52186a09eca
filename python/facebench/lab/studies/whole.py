"""``facebench.study``: from a description to a folder with every model, every run and one page."""

import fcntl
import json
import os
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from facebench import __version__
from facebench.core import Error
from facebench.core._arguments import mapping
from facebench.core._files import read_json, write_text
from facebench.core._inside import refuse_links
from facebench.io import canonical_json
from facebench.lab.studies.cells import cell_jobs, collect
from facebench.lab.studies.conditions import check_statements
from facebench.lab.studies.description import Study, load_study
from facebench.lab.studies.engine import Stopped, run_jobs
from facebench.lab.studies.exports import markdown, write_exports
from facebench.lab.studies.page import write_page
from facebench.lab.studies.plan import Plan, check_names
from facebench.lab.studies.texts import all_cells

_KEPT = ("id", "title", "publication", "citations", "replicates", "seed", "level")  # as described
_LOCK = ".lock"  # in the folder of a study
_WRITTEN = ("study.json", "study.html", "study.md", "study.csv", "study.tex", "suite.json", "cards",
            "jobs", "cache")  # fmt: skip
_REHEARSAL = "A rehearsal: drawn faces, small networks. No number is comparable with anybody's."


class StudyResult:
    """What a study found: ``folder``, ``page`` (study.html), ``content`` (as in study.json),
    ``outcomes`` (what became of each job in this call) and ``failures``."""

    def __init__(self, folder, content, outcomes=()):
        self.folder = Path(folder)
        self.page = self.folder / "study.html"
        self.content = content
        self.outcomes = list(outcomes)

    @property
    def failures(self) -> list[dict]:
        """Cells whose job failed: row, column, reason."""
        return self.content["failures"]

    def __getitem__(self, table) -> dict:
        """A table by its id."""
        return next(t for t in self.content["tables"] if t["id"] == table)

    def to_dict(self):
        return {"folder": str(self.folder), "page": str(self.page), **self.content}

    def __repr__(self):
        return markdown(self.folder, self.content) + f"\npage: {self.page}"


def study(
    description,
    *,
    train=None,
    test=None,
    out,
    rehearse=False,
    device="cpu",
    jobs=1,
    executor=None,
    threads=0,
    command="",
    progress=None,
    say=None,
) -> StudyResult:
    """Makes every row and column of a study, and one page: ``out``/study.html.

    ``description``: a name (`facebench.studies.study_names`), ``NAME/TABLE``, a TOML file or a
    `facebench.studies.Study`. ``train``: {training set: folder or pack}; ``test``: {protocol or
    data set: folder}. What is not given is a cell that says what it needs. ``rehearse``: all of it
    on drawn faces with small networks, to see that it works.

    Jobs (pack, remove overlap, train, embed and evaluate, time) are made by their content: what two
    cells share is made once, and what is there and still has its hashes is kept, so a study that
    was stopped goes on where it was; Ctrl-C leaves a page of what is done. A job that fails is a
    cell with its reason; the others go on.

    ``jobs``: at the same time, in processes of their own (models are then given by name; a script
    needs ``if __name__ == "__main__":`` around the call). What times something runs alone.
    ``executor``: any `concurrent.futures.Executor` in place of them, for several machines that
    share ``out`` and the data: ``dask.distributed.Client(...).get_executor()``. ``say``: called
    with a line for each job.

    >>> import tempfile, facebench
    >>> from facebench.lab.studies import read_study
    >>> mine = read_study({"tables": [{"id": "settings", "rows": [{"recipe": "small4.softmax"}],
    ...     "columns": [{"fact": "batch"}, {"protocol": "lfw"}]}]}, "mine")
    >>> found = facebench.study(mine, out=tempfile.mkdtemp())
    >>> [cell.get("value") or cell["why"] for cell in found["settings"]["rows"][0]["cells"]]
    [64, 'needs lfw: --test lfw=FOLDER.']
    """
    data = {"train": train, "test": test, "rehearse": rehearse, "device": device}
    how = {"jobs": jobs, "executor": executor, "threads": threads, "command": command}
    return make_study(description, out=out, **data, **how, progress=progress, say=say)


def make_study(
    description, kinds=None, *, train=None, test=None, out, rehearse=False, device="cpu", jobs=1,
    executor=None, threads=0, command="", progress=None, say=None,
) -> StudyResult:  # fmt: skip
    """`study`; ``kinds``: of the jobs that may be made, None: all."""
    described = description if isinstance(description, Study) else load_study(description)
    check_names(described)
    check_statements(described)
    if rehearse:
        described = described.rehearsed()
    out = Path(out)
    if jobs != 1 and threads == 0:
        threads = max(1, len(os.sched_getaffinity(0)) // jobs)
    how = {"threads": threads, "command": command}
    plan = Plan(described, mapping(train, "train"), mapping(test, "test"), rehearse, device, how)
    cells = cell_jobs(plan)
    read_before(out)  # refuses a folder of something else before anything is made
    say = say or (lambda text: None)
    how = {"jobs": jobs, "executor": executor, "progress": progress, "say": say, "kinds": kinds}
    with _alone_in(out):
        return _made(plan, cells, out, how)


@contextmanager
def _alone_in(out: Path):
    """Keeps other processes out of a folder while this one makes a study in it."""
    out.mkdir(parents=True, exist_ok=True)
    refuse_links(out, out / _LOCK)
    with (out / _LOCK).open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Error(f"{out}: another process makes a study here. Wait for it, or take another "
                        "folder") from None  # fmt: skip
        yield


def _made(plan, cells, out, how) -> StudyResult:
    """The study, its jobs and its files. ``how``: for `run_jobs`."""
    wanted = [job for of_cell in cells.values() if isinstance(of_cell, list) for job in of_cell]
    try:
        outcomes = run_jobs(wanted, out, **how)
    except Stopped as stop:
        if any(outcome.is_there for outcome in stop.outcomes.values()):
            page = _written(plan, cells, wanted, stop.outcomes, out).page
            raise KeyboardInterrupt(f"what is done: {page}") from None
        raise
    return _written(plan, cells, wanted, outcomes, out)


def _written(plan, cells, wanted, outcomes, out) -> StudyResult:
    content = {name: getattr(plan.study, name) for name in _KEPT}
    content["notes"] = [_REHEARSAL] * plan.rehearse + plan.study.notes
    content["tables"] = collect(plan, cells, outcomes, out, plan.how["threads"])
    content["failures"] = [
        {"row": row["name"], "column": column["title"],
         "reason": cell["why"].removeprefix("failed: ")}
        for table in content["tables"]
        for row, column, cell in all_cells(table)
        if cell.get("failed")
    ]  # fmt: skip
    _write(out, content, _circumstance(wanted))
    return StudyResult(out, content, outcomes.values())


def read_before(out: Path) -> dict | None:
    """``study.json`` of a folder, or None where it has none."""
    path = Path(out) / "study.json"
    if not path.is_file():
        # A study that was stopped before its first page has its lock.
        others = [] if (Path(out) / _LOCK).is_file() else _WRITTEN
        for other in (Path(out) / name for name in others):
            if os.path.lexists(other):
                raise Error(f"{other}: is not of a study, which would replace it. Take another "
                            "folder")  # fmt: skip
        return None
    try:
        content = read_json(path)
        has_kinds = as_written(content) and all(
            {"rows", "columns"} <= t.keys() and all("cells" in row for row in t["rows"])
            for t in content["content"]["tables"]
        )
        content["content"]["tables"][0]["rows"]
    except (Error, ValueError, KeyError, TypeError, IndexError, AttributeError):
        has_kinds = False
    if not has_kinds:
        raise Error(f"{path}: is not what facebench study writes; remove it") from None
    return content


# What the values of a study's JSON are, by their keys, wherever these stand but in
# a cell and in the order of the rows, which have numbers under such keys.
_KINDS = {
    **dict.fromkeys(("name", "title", "id", "model", "protocol"), str),
    **dict.fromkeys(("prepare", "data", "settings", "plot", "rehearsal"), dict),
    **dict.fromkeys(("tables", "rows", "columns", "cells", "notes", "citations"), list),
}
_LISTED = {
    **dict.fromkeys(("tables", "rows", "columns", "cells"), dict),
    **dict.fromkeys(("notes", "citations"), str),
}


def as_written(value: Any) -> bool:
    """Whether the values of a study.json or suite.json are of the kinds that a study writes, and
    rows have names."""
    if isinstance(value, list):
        return all(map(as_written, value))
    if not isinstance(value, dict):
        return True
    for key, member in value.items():
        kind = _KINDS.get(key)
        if kind is not None and not isinstance(member, kind):
            return False
        if key in _LISTED and not all(isinstance(one, _LISTED[key]) for one in member):
            return False
        if key == "rows" and not all("name" in row for row in member):
            return False
    return all(as_written(value[key]) for key in value.keys() - {"cells", "order"})


def _circumstance(jobs):
    """The day, and the machine where something was timed on it."""
    from facebench.lab.studies.work import ALONE

    day = {"day": datetime.now(UTC).date().isoformat()}
    if not any(job.kind in ALONE for job in jobs):
        return day
    from facebench.lab.timing import machine_facts
    from facebench.lab.timing.results import machine_line

    return day | {"machine": machine_line(machine_facts())}


def _write(out, content, circumstance):
    canonical_json(content)  # refuses what is not JSON (NaN) before anything is written
    whole = {"facebench": __version__, "content": content, "circumstance": circumstance}
    text = json.dumps(whole, indent=1, sort_keys=True, ensure_ascii=False)
    write_exports(out, content)
    write_page(out, content, circumstance)
    write_text(out / "study.json", text + "\n")
