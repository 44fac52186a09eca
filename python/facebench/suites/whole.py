"""``facebench.suite``: from a description to a folder of runs with one page."""

import json
import os
import shutil
import tempfile
from pathlib import Path

from facebench import __version__, reports
from facebench.core import Error
from facebench.io import canonical_json
from facebench.reports import write_text
from facebench.suites.costs import measure_cost
from facebench.suites.description import (
    SuiteDescription,
    SuiteModel,
    SuiteSet,
    models_of,
    read_suite,
    sets_of,
)
from facebench.suites.exports import markdown, write_exports
from facebench.suites.page import write_page
from facebench.suites.results import collect, reasons
from facebench.suites.running import place_of, places, run_all
from facebench.timing import machine_facts


class Suite:
    """What a suite found: ``folder``, ``page`` (suite.html), ``content`` (as in suite.json),
    ``outcomes`` (a list of what became of each run in this call) and ``failures``."""

    def __init__(self, folder, content, outcomes=()):
        self.folder = Path(folder)
        self.page = self.folder / "suite.html"
        self.content = content
        self.outcomes = list(outcomes)

    @property
    def failures(self) -> list[dict]:
        """Runs that are not in the tables: set, model, reason."""
        return self.content["failures"]

    def to_dict(self):
        return {"folder": str(self.folder), "page": str(self.page), **self.content}

    def __repr__(self):
        return markdown(self.content) + f"\npage: {self.page}"


def suite(
    description=None,
    *,
    models=None,
    sets=None,
    add=None,
    name="",
    out,
    jobs=1,
    executor=None,
    cost=True,
    threads=0,
    command="",
    progress=None,
    say=None,
):
    """Every model under every protocol, and one page with all of it: ``out``/suite.html.

    ``description``: a TOML file or a `facebench.suites.SuiteDescription`; or ``models`` (a list of
    what `facebench.run` takes, or a dict with their names) and ``sets`` (a dict {protocol: folder},
    or texts ``PROTOCOL=FOLDER``; several protocols of one folder have commas between).

    A run that is there, was asked for in the same words and still has its hashes is kept, so a
    suite that was stopped goes on where it was. A run that fails is a row with its reason
    (``failures``); the others go on. Everything that earlier calls made in ``out`` stays in the
    tables. ``add``: a run folder from elsewhere, called ``name``, that is to stand in them too;
    `facebench.Error` says why where it is not comparable.

    ``jobs``: runs at the same time, in processes of their own (models are then given by name; a
    script needs ``if __name__ == "__main__":`` around the call, as multiprocessing asks for).
    ``executor``: any `concurrent.futures.Executor` in place of them, for several machines that
    share ``out`` and the data: ``dask.distributed.Client(...).get_executor()``. ``cost``: measure
    what each model costs, once. ``say``: called with a line for each run. Returns a `Suite`.

    >>> import pathlib, tempfile, facebench
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> few = facebench.datasets.SyntheticOptions(people=40, images=2, size=64, pairs_per_fold=4)
    >>> _ = facebench.datasets.write_synthetic_dataset(few, folder / "faces")
    >>> def colours(batch):
    ...     return batch[:, ::16, ::16].reshape(len(batch), -1)
    >>> found = facebench.suite(
    ...     models={"colours": colours}, sets={"lfw": folder / "faces"}, out=folder / "suite",
    ...     cost=False)
    >>> [run["model"] for run in found.content["sets"][0]["runs"]]
    ['colours']
    """
    out = Path(out)
    if add is not None:
        if description is not None or models is not None or sets is not None:
            raise ValueError("add= puts one run into a suite; give nothing else to run")
        described, outcomes = _described_before(out), []
        _add(out, Path(add), name)
    else:
        described = _describe(description, models, sets)
        outcomes = run_all(
            described,
            out,
            jobs=jobs,
            executor=executor,
            threads=threads,
            command=command,
            progress=progress,
            say=say or (lambda text: None),
        )
    content = collect(out, described, outcomes, threads, progress)
    circumstance = _circumstance(out, described, cost and add is None, threads)
    _write(out, content, circumstance)
    return Suite(out, content, outcomes)


def _describe(description, models, sets):
    described = _given(description, models, sets)
    if not described.models or not described.sets:
        raise ValueError("a suite needs a model and a set")
    return described


def _given(description, models, sets):
    if description is not None:
        if models is not None or sets is not None:
            raise ValueError("give a description, or models and sets; not both")
        if isinstance(description, SuiteDescription):
            return description
        return read_suite(description)
    if models is None or sets is None:
        raise ValueError("give a suite's TOML file, or models and sets")
    return SuiteDescription(models_of(models), sets_of(sets))


def _read(out):
    """suite.json, or None where the folder has none."""
    path = out / "suite.json"
    if not path.is_file():
        return None
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
        said["content"]["comparisons"]["seed"]
    except (OSError, ValueError, KeyError, TypeError):
        raise Error(f"{path}: is not what facebench suite writes; remove it") from None
    return said


def _described_before(out):
    """What a suite's folder says of itself, as a description: its models are not run again."""
    said = _read(out) or {"content": {"title": "Suite", "comparisons": {}, "sets": []}}
    content = said["content"]
    models = dict.fromkeys(run["model"] for part in content["sets"] for run in part["runs"])
    return SuiteDescription(
        [SuiteModel(name, None) for name in models],
        [SuiteSet(s["name"], "", {}, s["track"], s["metric"]) for s in content["sets"]],
        content["title"],
        **content["comparisons"],
    )


def _add(out, run, name):
    """Copies a run folder into the suite, if it may stand beside the others."""
    protocol = reports.read_run(run)["metrics"]["protocol"]["id"]
    name = name or run.resolve().name
    refused = []
    for note, folder in _runs_under(out, protocol):
        differences = reports.why_not_comparable(folder, run)
        if not differences:
            name_of_set = note["set"]
            break
        refused.append(
            f"{run}: cannot be compared with {note['model']} in {note['set']}: "
            f"{reasons(differences)}"
        )
    else:
        if refused:
            raise Error(refused[0])
        name_of_set = protocol  # the first run under it
    place = place_of(out, name_of_set, name)
    if place.folder.exists():
        raise Error(f"{place.folder}: the suite has such a model already; give another name")
    place.folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.folder.parent, prefix=".add-") as work:
        shutil.copytree(run, Path(work) / "run")
        place.write_note(name_of_set, name, None)
        os.rename(Path(work) / "run", place.folder)


def _runs_under(out, protocol):
    """The first whole run of each set under that protocol, and its note."""
    seen = set()
    for place in places(out):
        note = place.read_note()
        if note is None or note["set"] in seen or not place.folder.is_dir():
            continue
        if reports.read_run(place.folder)["metrics"]["protocol"]["id"] == protocol:
            seen.add(note["set"])
            yield note, place.folder


def _circumstance(out, described, measure, threads):
    """What decides no number: costs by model, the machine. Costs are measured once."""
    before = (_read(out) or {}).get("circumstance", {})
    costs = dict(before.get("costs", {}))
    for model in described.models if measure else []:
        if "images_per_second" not in costs.get(model.name, {}):
            costs[model.name] = measure_cost(model.model, model.settings, threads)
    return {"costs": costs, "cpu": machine_facts()["cpu"]["model"]}


def _write(out, content, circumstance):
    text = json.dumps(
        {"facebench": __version__, "content": content, "circumstance": circumstance},
        indent=1,
        sort_keys=True,
        ensure_ascii=False,
    )
    canonical_json(content)  # refuses what is no JSON (NaN) before anything is written
    write_exports(out, content, circumstance)
    write_page(out / "suite.html", content, circumstance)
    write_text(out / "suite.json", text + "\n")
