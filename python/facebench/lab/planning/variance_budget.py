"""How much of a number's uncertainty comes from people, images, training, detector and crop."""

import os

from facebench import _eval
from facebench.analysis.runs import as_list
from facebench.core._finding import Finding
from facebench.reports.drawn import draws
from facebench.reports.page import Section, table_block, text


class Budget(Finding):
    """A table of standard deviations. Its fields are those of :meth:`to_dict`.

    ``sources``: name, ``sd`` of the number, ``share`` of the sum of variances, and ``values`` of
    the runs (or None).
    """


def budget(runs, metric=None, *, track=None, replicates=1000, seed=0, threads=0, progress=None):
    """Where the uncertainty of a number comes from: people, images, and what runs differ in.

    ``runs``: the first is the one whose number is looked at; each other run holds the same
    comparisons and differs from it in one of detector, crop and model. Those that differ in the
    same part are one source; a model of another network is not a training again: that is the
    caller's to see. ``metric``: ``accuracy``, ``auc``, ``eer`` or ``tar@far=0.001`` (default: the
    protocol's first of them). The sd of people and of images is half of a bootstrapped interval at
    68.27 %, that of runs the sample's. Throws `facebench.Error` for runs that are not comparable or
    differ in several parts.

    >>> print(budget(["runs/mtcnn", "runs/hog"], "auc"))  # doctest: +SKIP
    """
    folders = [os.fspath(run) for run in as_list(runs)]
    how = _eval.BootstrapOptions(replicates=replicates, seed=seed)
    return Budget(_eval.variance_budget(folders, metric, track, how, threads, progress))


_FROM = {
    "people": "other people, drawn again (dyadic bootstrap)",
    "images": "other images of everybody, drawn again as if each were a person of its own",
    "training": "models trained again",
    "detector": "other detectors",
    "crop": "other crops",
}


@draws
def draw_budget(budgeted: Budget):
    title = f"Where the uncertainty of {_eval.metric_title(budgeted.metric)} comes from"

    def number(value):
        return "undefined" if value is None else _eval.metric_text(budgeted.metric, value)

    rows = [
        [
            s["name"],
            number(s["sd"]),
            "" if s["share"] is None else f"{100 * s['share']:.0f} %",
            _FROM[s["name"]] + (f" ({len(s['values'])} runs)" if s["values"] else ""),
        ]
        for s in budgeted.sources
    ]
    blocks = [
        text(f"{budgeted.protocol}, track {budgeted.track}: {number(budgeted.value)}."),
        table_block(["source", "sd", "share of variance", "from"], rows),
        text(
            "The draw of images is a part of that of people, so it is not added to the sum. "
            "The spread of few runs is rough: of two it may be wrong by a factor of thirty, of "
            "five by three."
        ),
    ]
    return title, [Section(title, blocks)]
