"""Run folders: their content as tables and curves, and their verification."""

import os

from facebench import _eval, _rows


def report_formats():
    """The formats that :func:`table` knows.

    >>> from facebench.reports import report_formats
    >>> "latex" in report_formats()
    True
    """
    return _eval.report_format_names()


def read_run(run):
    """A run folder as a dict: ``content``, ``circumstance`` (the manifest) and ``metrics``."""
    return _eval.read_run(run)


def table(runs, format="markdown", titles=None):
    """The numbers of one or more run folders side by side, as text."""
    return _eval.report_table(as_list(runs), format, list(titles or []))


def rows(runs, titles=None):
    """A dict for each number of each run: run, protocol, track, metric, value, low, high, ...

    ``run``: the run's title, by default the folder's name.
    """
    runs = as_list(runs)
    names = list(titles or []) or [os.path.basename(os.path.abspath(run)) for run in runs]
    return [
        {"run": name, **row}
        for name, run in zip(names, runs, strict=True)
        for row in _rows.rows_of(read_run(run)["metrics"])
    ]


def frame(runs, titles=None):
    """:func:`rows` as a pandas DataFrame (the extra ``frame``)."""
    return _rows.frame(rows(runs, titles))


def run_report(run):
    """The text of ``report.md`` of a run."""
    return _eval.run_report(run)


def curves(run, count=500, bins=60, band_draws=0):
    """What can be plotted of a run, for each track a dict of what its kind has.

    ``roc``: (far, tar), at most ``count`` exact points; ``scores``: (edges, genuine, impostor), a
    histogram; ``cmc``: rates by rank; ``dir``: (fpir, dir), points of open-set identification;
    with ``band_draws`` (replicates) also ``band``: (far, low, high), pointwise intervals of the TAR
    at the level of the run, the threshold chosen again in each draw. A run without intervals has
    no band.
    """
    return _eval.run_curves(run, count, bins, band_draws)


def verify_scores(run, threads=0, progress=None):
    """Hashes of the run's files, and ``metrics.json`` computed again from ``scores.h5``.

    A list of ``{"name", "same", "detail"}``.
    """
    return _eval.verify_scores(run, threads, progress)


def verify_inputs(run, root=None, progress=None):
    """SHA-256 of every recorded input against the files as they are now, below ``root`` if given.

    A list of ``{"name", "same", "detail"}``.
    """
    return _eval.verify_inputs(run, root or "", progress)


def as_list(runs):
    """One run or several, as a list.

    >>> from facebench.reports import as_list
    >>> as_list("runs/a")
    ['runs/a']
    """
    return [runs] if isinstance(runs, (str, os.PathLike)) else list(runs)
