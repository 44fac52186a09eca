"""Several runs of one protocol: whether they may stand in one table, and in which order."""

import os

from facebench import _eval
from facebench.core._arguments import type_text


def rank_runs(
    runs, track, metric, *, replicates=1000, level=0.95, seed=0, threads=0, progress=None
):
    """Two or more run folders by one number, all in the same draws of people.

    A dict: ``places``, in the order of ``runs``, with ``value`` (on what no run leaves out),
    ``first`` (the share of draws in which it is the best) and ``rank_interval``, both None where
    ``undefined`` says why; ``pairs`` (``a``, ``b``: numbers of runs) with ``difference``, its
    ``interval``, ``p_value``, ``note`` (what the level does not say), ``no_interval`` (why there is
    none) and ``adjusted_p`` (Holm, over the pairs). Throws `facebench.Error` for runs that are not
    comparable.

    >>> import pathlib, tempfile, facebench
    >>> from facebench.analysis import rank_runs
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> text = "2\\t1\\nAnn\\t1\\t2\\nAnn\\t1\\tBob\\t1\\nCat\\t1\\t2\\nCat\\t1\\tDan\\t1\\n"
    >>> _ = (folder / "pairs.txt").write_text(text)
    >>> for name, last in (("a", 0.2), ("b", 0.95)):
    ...     scores = [0.9, 0.1, 0.8, last]
    ...     _ = facebench.evaluate("lfw", scores=scores, root=folder, out=folder / name)
    >>> ranking = rank_runs([folder / "a", folder / "b"], "view2", "auc", replicates=50)
    >>> [place["value"] for place in ranking["places"]]
    [1.0, 0.5]
    """
    options = _eval.BootstrapOptions(replicates=replicates, level=level, seed=seed)
    folders = [os.fspath(run) for run in runs]
    return _eval.rank_runs(folders, track, metric, options, threads, progress)


def holm_adjusted(p_values):
    """p-values adjusted for their number by Holm's method; NaN stays and does not count.

    >>> from facebench.analysis import holm_adjusted
    >>> holm_adjusted([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    if getattr(p_values, "ndim", 1) != 1:
        raise TypeError(f"p_values: expected a list of numbers, found {type_text(p_values)}")
    return _eval.holm_adjusted(list(p_values))
