"""How much of a number's uncertainty comes from people, images, training, detector and crop."""

import math
import os
import statistics

import numpy as np

from facebench import _eval
from facebench._fields import Fields
from facebench.reports.markdown import markdown_table
from facebench.reports.runs import as_list, read_run

# What a run may differ in from the first one, and what is recorded of it.
_PARTS = {
    "detector": lambda content: content.get("preparation", {}).get("detector"),
    "crop": lambda content: [content.get("preparation", {}).get(k) for k in ("selection", "crop")],
    "training": lambda content: _manifest(content).get("model_sha256"),
}
_DOC = {
    "people": "other people, drawn again (dyadic bootstrap)",
    "images": "other images of everybody, drawn again as if each were a person of its own",
    "training": "models trained again",
    "detector": "other detectors",
    "crop": "other crops",
}


def _manifest(content):
    return (content.get("embeddings") or {}).get("manifest") or {}


class Budget(Fields):
    """A table of standard deviations. Its fields are those of :meth:`to_dict`.

    ``sources``: name, ``sd`` of the number, ``share`` of the sum of variances, ``values`` of the
    runs (or None) and ``what`` it is.
    """

    def __init__(self, fields):
        super().__init__(fields)

    def __repr__(self):
        def text(value):
            return _eval.metric_text(self.metric, value)

        def share(value):
            return "" if value is None else f"{100 * value:.0f} %"

        rows = [[s["name"], text(s["sd"]), share(s["share"]), s["what"]] for s in self.sources]
        lines = [
            f"## Where the uncertainty of {_eval.metric_title(self.metric)} comes from",
            "",
            f"{self.protocol}, track {self.track}: {text(self.value)}.",
            "",
            markdown_table(["source", "sd", "share of variance", "from"], rows),
            "",
            "The draw of images is a part of that of people, so it is not added to the sum. The "
            "spread of few runs is rough: of two it may be wrong by a factor of thirty, of five by "
            "three.",
        ]
        return "\n".join(lines)

    _repr_markdown_ = __repr__


def budget(runs, metric=None, *, track=None, replicates=1000, seed=0, threads=0):
    """Where the uncertainty of a number comes from: people, images, and what runs differ in.

    ``runs``: the first is the one whose number is looked at; each other run holds the same
    comparisons and differs from it in one of detector, crop and model. Those that differ in the
    same part are one source; a model of another network is no training again: that is the caller's
    to see. ``metric``: ``accuracy``, ``auc``, ``eer`` or ``tar@far=0.001`` (default: the protocol's
    first of them). The sd of people and of images is half of a bootstrapped interval at 68.27 %,
    that of runs the sample's. Throws `facebench.Error` for runs that are not comparable or differ
    in several parts.

    >>> print(budget(["runs/mtcnn", "runs/hog"], "auc"))  # doctest: +SKIP
    """
    folders = [os.fspath(run) for run in as_list(runs)]
    loaded = [read_run(folder) for folder in folders]
    base = _eval.listed_run(folders[0], track)
    track = base["track"]
    cells = loaded[0]["metrics"]["tracks"][track]["metrics"]
    metric = metric or next((m for m in cells if _statistic(m)), None)
    if metric not in cells or not _statistic(metric):
        known = ", ".join(m for m in cells if _statistic(m))
        raise ValueError(f"the run has no {metric!r} that can be drawn again; there are: {known}")
    values = {}
    for folder, run in zip(folders[1:], loaded[1:], strict=True):
        part = _difference(folders[0], loaded[0]["content"], folder, run["content"])
        values.setdefault(part, []).append(run["metrics"]["tracks"][track]["metrics"][metric])
    value = cells[metric]["value"]
    comparisons = _eval.Comparisons(base["scores"], base["labels"], base["folds"])
    statistic = _statistic(metric)(comparisons)
    sources = []
    for name, key in (("people", "people"), ("images", "units")):
        how = _eval.BootstrapOptions(replicates=replicates, seed=seed, level=0.6827)
        # Images are drawn without regard to folds, as people are.
        interval = _eval.dyadic_bootstrap(statistic, *base[key], options=how, threads=threads)
        sources.append(_source(name, (interval.high - interval.low) / 2, None))
    for name in ("training", "detector", "crop"):
        if name in values:
            all_values = [value, *(cell["value"] for cell in values[name])]
            sources.append(_source(name, statistics.stdev(all_values), all_values))
    total = math.fsum(s["sd"] ** 2 for s in sources if s["name"] != "images")
    for s in sources:
        s["share"] = None if s["name"] == "images" or not total else s["sd"] ** 2 / total
    return Budget(
        {
            "protocol": base["protocol"],
            "track": track,
            "metric": metric,
            "value": value,
            "sources": sources,
        }
    )


def _statistic(metric):
    if metric in ("accuracy", "auc", "eer"):
        return getattr(_eval, f"{metric}_statistic")
    if metric.startswith("tar@far="):
        far = float(metric.partition("=")[2])
        return lambda comparisons: _eval.tar_at_far_statistic(comparisons, far)
    return None


def _source(name, sd, values):
    return {
        "name": name,
        "sd": float(sd) if np.isfinite(sd) else None,
        "values": values,
        "what": _DOC[name] + (f" ({len(values)} runs)" if values else ""),
    }


def _difference(first, of_first, folder, content):
    reasons = _eval.why_not_comparable(first, folder)
    if reasons:
        raise _eval.Error(f"{folder}: is not comparable with {first}: {reasons[0]['what']}")
    parts = [name for name, get in _PARTS.items() if get(of_first) != get(content)]
    if len(parts) != 1:
        what = f"differs in {' and '.join(parts)}" if parts else "differs in nothing"
        raise _eval.Error(
            f"{folder}: {what}; a run of a variance budget differs in one of {', '.join(_PARTS)}"
        )
    return parts[0]
