"""Several systems as one: a logistic regression of their scores."""

import os

from facebench import _eval
from facebench._eval import FusionOptions
from facebench.core._finding import Finding
from facebench.protocols._results import Result


class FusionReport(Finding):
    """A fusion and what it gains. Its fields are those of :meth:`to_dict`.

    ``cllr``, ``min_cllr`` of the fusion, in bits; ``systems``: the same of each system, calibrated
    alone on what the fusion was trained on, and ``less``: for every number the fusion's less this
    one's, with a paired interval and p. ``fusions``: mean, sd, weight of each of ``inputs``, and
    offset, one a fold. ``result``: the fused scores, a `facebench.protocols.Result`.
    """

    def __init__(self, fields, result):
        super().__init__(fields)
        self.result = result


def fuse(
    *runs, train=None, out=None, overwrite=False, command="", threads=0, progress=None, **options
):
    """One score of several systems' on the same comparisons, as a natural-log likelihood ratio.

    ``runs``: run folders of one protocol on the same lists. Each fold is fused by a logistic
    regression of the others', without anyone of the fold; or ``train`` names runs of the same
    systems on another list, in the same order. What is reported is never trained on. ``out``: the
    run folder of the fusion, which `facebench.verify`, `explain` and others read. Keywords:
    ``track``, ``prior`` (share of genuine comparisons that the fit assumes), ``quality`` (a CSV
    file of qualities of images, inputs too), ``groups`` (one of groups: whether both differ),
    ``allow_overlap``, ``replicates``, ``level``, ``seed``.

    >>> report = fuse("runs/a", "runs/b", out="runs/both")  # doctest: +SKIP
    >>> report.cllr, report.systems[0]["less"]["cllr"]["interval"]  # doctest: +SKIP
    (0.021, {'low': -0.009, 'high': -0.002, ...})
    """
    places = [os.fspath(run) for run in runs], [os.fspath(run) for run in train or ()]
    fields, raw = _eval.fuse(*places, FusionOptions(**options), threads, progress)
    report = FusionReport(fields, Result(raw, "", threads))
    if out is not None:
        report.result.save(out, overwrite=overwrite, command=command)
    return report
