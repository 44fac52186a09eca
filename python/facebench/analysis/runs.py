"""Run folders: their content as tables and curves, and their inputs."""

import json
import os
from importlib.resources import files

from facebench import _eval
from facebench._eval import read_run
from facebench.core import _rows
from facebench.core._arguments import listed, one_of, path_text, printable


def rows(runs, titles=None):
    """A dict for each number of each run: run, protocol, track, metric, value, low, high, ...

    ``run``: the run's title, by default the folder's name.
    """
    runs = as_list(runs)
    names = listed(titles, "titles") or [os.path.basename(os.path.abspath(run)) for run in runs]
    return [
        {"run": name, **row}
        for name, run in zip(names, runs, strict=True)
        for row in _rows.rows_of(read_run(run)["metrics"])
    ]


def frame(runs, titles=None):
    """:func:`rows` as a pandas DataFrame."""
    return _rows.frame(rows(runs, titles))


def curves(run, check=True):
    """What is plotted of a run, for each track a dict of what its kind has.

    ``roc``: (far, tar), at most 500 exact points; ``band``: (far, low, high), pointwise intervals
    of the TAR from the draws of the run's own intervals, the threshold chosen again in each;
    ``scores``: (edges, genuine, impostor), a histogram; ``cmc``: rates by rank; ``dir``: (fpir,
    dir), points of open-set identification. A run without intervals has no band.
    """
    return _eval.run_curves(run, check)


def verify_inputs(run, root=None, progress=None):
    """SHA-256 of every recorded input against the files as they are now, below ``root`` if given.

    A list of ``{"name", "same", "detail"}``.
    """
    return _eval.verify_inputs(run, path_text(root, "root"), progress)


def model_name(content) -> str:
    """What made the scores of a run, by the content of its manifest: the model, or the library of
    FRTE; "" where it was neither."""
    matcher = content.get("matcher")
    name = matcher.get("name") if isinstance(matcher, dict) else ""
    return content.get("embedder") or (printable(name) if isinstance(name, str) else "")


def schema(name):
    """The JSON schema (draft 2020-12) of a file of a run folder, as a dict: ``"metrics"`` of
    metrics.json, ``"run"`` of run.json. Of runs that this version writes. Also as files:
    ``importlib.resources.files("facebench") / "schemas" / "metrics.json"``.

    >>> from facebench import analysis
    >>> analysis.schema("metrics")["required"]
    ['protocol', 'convention', 'tracks']
    """
    one_of(name, ("metrics", "run"), "schema")
    return json.loads(files("facebench").joinpath(f"schemas/{name}.json").read_text("utf-8"))


def as_list(runs):
    """One run or several, as a list.

    >>> from facebench.analysis.runs import as_list
    >>> as_list("runs/a")
    ['runs/a']
    """
    return [runs] if isinstance(runs, (str, os.PathLike)) else listed(runs, "runs")
