"""``bench_sweep``: many trainings of one recipe with other settings, as a study file says."""

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path

import facebench
from facebench import training
from facebench._progress import sink
from facebench._toml import check_keys, read_toml
from facebench._torch import full as _full
from facebench.core import Error
from facebench.io import canonical_json, sha256_hex
from facebench.reports import write_text
from facebench.studies.seeds import seed_mean
from facebench.timing.workers import child_environment

FOLDER = Path(__file__).with_name("sweeps")
# Of a point, beside keys of recipes.
_OWN = ("threads", "published")


@dataclass
class Study:
    """What a sweep trains: ``points`` are {key of a recipe, or "threads": value}, ``published``
    what a paper prints of each ({"accuracy": percent, "training_seconds": s}; may be empty)."""

    title: str
    recipe: str
    images: str
    points: list[dict]
    published: list[dict]
    citations: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    settings: dict = field(default_factory=dict)
    seeds: int = 1


def study_names() -> list[str]:
    """The built-in studies.

    >>> from facebench.studies import study_names
    >>> "wu2018_table16" in study_names()
    True
    """
    return sorted(p.stem for p in FOLDER.glob("*.toml"))


def load_study(name_or_path) -> Study:
    """A study by name (`study_names`) or from a ``.toml`` file (docs/sweeps.md).

    ValueError for an unknown name, facebench.Error for a file that is not one.
    """
    text = os.fspath(name_or_path)
    path = Path(text)
    if path.suffix != ".toml":
        if text not in study_names():
            near = facebench.core.closest_name(text, study_names())
            hint = f"; did you mean '{near}'?" if near else ""
            raise ValueError(f"no study '{text}'{hint} (known: {', '.join(study_names())})")
        path = FOLDER / f"{text}.toml"
    table = read_toml(path)
    known = ("version", "title", "recipe", "images", "citations", "notes", "seeds", "settings")
    check_keys(path, "a study", table, (*known, "axes", "points"))
    for key in ("title", "recipe", "images"):
        if not isinstance(table.get(key), str):
            raise Error(f"{path}: '{key}' is missing, or is no text.")
    if table.get("version") != 1:
        raise Error(f"{path}: this library reads studies of version 1.")
    points = _points(path, table)
    return Study(
        table["title"],
        table["recipe"],
        table["images"],
        [{k: v for k, v in p.items() if k != "published"} for p in points],
        [p.get("published", {}) for p in points],
        *(list(table.get(k, [])) for k in ("citations", "notes")),
        dict(table.get("settings", {})),
        int(table.get("seeds", 1)),
    )


def _points(path, table) -> list[dict]:
    """The points one by one, then those of the axes, crossed."""
    points, axes = list(table.get("points", [])), table.get("axes", {})
    if not all(isinstance(p, Mapping) for p in points) or not isinstance(axes, Mapping):
        raise Error(f"{path}: points are tables [[points]], axes a table [axes] of lists.")
    for key, values in axes.items():
        if not isinstance(values, list) or not values:
            raise Error(f"{path}: axis '{key}' is no list of values.")
    if axes:
        points += [dict(zip(axes, v, strict=True)) for v in itertools.product(*axes.values())]
    if not points:
        raise Error(f"{path}: no [[points]] and no [axes]: nothing to train.")
    return points


def bench_sweep(
    study,
    *,
    work=None,
    root=None,
    seeds: int | None = None,
    settings: Mapping | None = None,
    train: int = 6000,
    test: int = 1000,
    jobs: int = 1,
    progress=None,
) -> dict:
    """Trains every point of a study with every seed, each in a process of its own.

    ``study``: a name of `study_names`, a ``.toml`` file or a `Study`. ``root``: the folder of its
    images; without one, ``train`` and ``test`` drawn images of their form. ``seeds`` and
    ``settings`` (keys of recipes, for all points) in place of and beside the study's. ``work``: the
    folder of the trainings, "runs/sweep" unless named; those that are there are not made again, one
    that was stopped goes on.
    ``jobs``: how many at a time. Returns a dict that `facebench.timing.write_bench` writes.
    ValueError for a setting that the recipe does not have, before anything is trained.

    >>> bench_sweep("wu2018_table16", work="sweep", seeds=3)  # doctest: +SKIP
    """
    study = study if isinstance(study, Study) else load_study(study)
    study.settings = study.settings | dict(settings or {})
    seeds = seeds or study.seeds
    requests = [
        _request(
            study, point, seed, Path(work or "runs/sweep"), root, {"train": train, "test": test}
        )
        for point in study.points
        for seed in range(seeds)
    ]
    progress = sink(progress)
    answers = {}
    if progress:
        progress.begin("trainings", len(requests), "trainings")
    try:
        with ThreadPoolExecutor(jobs) as pool:
            futures = {pool.submit(_answer, r): i for i, r in enumerate(requests)}
            try:
                for done, future in enumerate(as_completed(futures), 1):
                    answers[futures[future]] = future.result()
                    if progress:
                        progress.update(done, "")
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
    finally:
        if progress:
            progress.end()
    rows = [
        _row(point, published, [answers[i * seeds + s] for s in range(seeds)])
        for i, (point, published) in enumerate(zip(study.points, study.published, strict=True))
    ]
    source = answers[0]["source"]
    return {
        "kind": "sweep",
        "options": {
            "title": study.title,
            "citations": study.citations,
            "notes": study.notes,
            "recipe": study.recipe,
            "settings": study.settings,
            "images": study.images,
            "synthetic": source == "synthetic",
            "drawn": {"train": train, "test": test} if source == "synthetic" else None,
            "seeds": seeds,
            "keys": list(dict.fromkeys(k for p in study.points for k in p)),
        },
        "machine": _full.machine_facts(),
        "rows": rows,
    }


def _request(study, point, seed, work, root, drawn) -> dict:
    settings = study.settings | {k: v for k, v in point.items() if k not in _OWN}
    recipe = training.load_recipe(study.recipe, **settings)
    request = {
        "recipe": study.recipe,
        "settings": settings,
        "seed": seed,
        "threads": int(point.get("threads", 1)),
        "images": study.images,
        "root": None if root is None else os.fspath(root),
        "drawn": drawn,
    }
    content = {"facebench": facebench.__version__, "trained": recipe.to_dict(), **request}
    name = sha256_hex(canonical_json(content).encode())[:16]
    return request | {"folder": str(work / name)}


def _answer(request) -> dict:
    folder = Path(request["folder"])
    answer = folder.with_suffix(".json")
    if answer.exists():
        return json.loads(answer.read_text())
    asked = folder.with_suffix(".request.json")
    write_text(asked, json.dumps(request, indent=1, sort_keys=True) + "\n")
    done = subprocess.run(
        [sys.executable, "-m", "facebench.studies.sweep_training", str(asked), str(answer)],
        env=child_environment(),
        capture_output=True,
        text=True,
    )
    if done.returncode:
        said = (done.stderr.strip().splitlines() or [f"it ended with {done.returncode}"])[-1]
        raise Error(f"{asked}: this training failed: {said[:500]}")
    return json.loads(answer.read_text())


# What a row has the mean over seeds of.
_MEANS = (
    "training_seconds",
    "first_epoch_seconds",
    "later_epoch_seconds",
    "testing_seconds",
    "cpu_user",
    "cpu_system",
    "iowait",
    "peak_bytes",
    "loss",
)


def _row(point, published, answers) -> dict:
    diverged = [a["diverged"] for a in answers if "diverged" in a]
    if diverged:
        what = f"{len(diverged)} of {len(answers)}: {diverged[0]}"
        return {"point": point, "published": published, "status": "diverged", "message": what}

    def mean(key):
        values = [a[key] for a in answers]
        return None if None in values else sum(values) / len(values)

    return {
        "point": point,
        "published": published,
        "status": "ok",
        "accuracy": seed_mean("accuracy", [a["accuracy"] for a in answers]),
        "accuracies": [a["accuracy"] for a in answers],
        "confusion": [
            [sum(row) for row in zip(*rows, strict=True)]
            for rows in zip(*(a["confusion"] for a in answers), strict=True)
        ],
        "iterations": answers[0]["iterations"],
        **{key: mean(key) for key in _MEANS},
    }
