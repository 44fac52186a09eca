"""Means over seeds and their intervals."""

import math
import statistics


def seed_interval(values, level=0.95, limits=(-math.inf, math.inf)):
    """Student's t interval of the mean over seeds; None for fewer than two.

    It covers the mean over many more seeds. It does not cover other test images; a protocol's own
    interval does. The interval is cut off at ``limits`` (0 and 1 for a rate).
    """
    n = len(values)
    if n < 2:
        return None
    half = student_quantile((1 + level) / 2, n - 1) * statistics.stdev(values) / math.sqrt(n)
    mean = statistics.fmean(values)
    return [max(mean - half, limits[0]), min(mean + half, limits[1])]


_RATES = ("accuracy", "auc", "eer", "tar@", "gar@", "rank@", "dir@", "fnir@", "fnmr@", "frr@")


def metric_limits(metric):
    """Where a metric's values can lie.

    >>> metric_limits("tar@far=0.01"), metric_limits("dprime")
    ((0.0, 1.0), (-inf, inf))
    """
    return (0.0, 1.0) if metric.startswith(_RATES) else (-math.inf, math.inf)


def seed_mean(metric, values):
    """A metric's mean over seeds and its interval: {"mean", "interval"}."""
    interval = seed_interval(values, limits=metric_limits(metric))
    return {"mean": statistics.fmean(values), "interval": interval}


def everywhere(runs):
    """The metrics that every run of every variant has, and those that some lack.

    A rate that a protocol cannot give (a FAR that its impostors do not reach) has no value.
    ``runs``: {variant: [{"metrics": {key: cell}}]}.
    """
    tables = [r["metrics"] for own in runs.values() for r in own]
    keys = list(dict.fromkeys(k for table in tables for k in table))
    whole = [k for k in keys if all(k in table for table in tables)]
    return whole, [k for k in keys if k not in whole]


def paired(before, after, level=0.95):
    """The mean difference of the same seeds, after minus before, with its interval.

    >>> from facebench.studies import paired
    >>> paired([0.5, 0.6], [0.7, 0.8])["difference"]
    0.2
    """
    differences = [b - a for a, b in zip(before, after, strict=True)]
    interval = seed_interval(differences, level)
    mean = round(statistics.fmean(differences), 12)
    clear = interval is not None and (interval[0] > 0 or interval[1] < 0)
    return {"difference": mean, "interval": interval, "seeds": len(differences), "clear": clear}


def student_quantile(p, freedom):
    """The quantile of Student's t for p > 1/2: the distribution function inverted by halving."""
    low, high = 0.0, 1.0
    while _student_cdf(high, freedom) < p:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        if _student_cdf(middle, freedom) < p:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _student_cdf(t, freedom):
    """Exact for whole degrees of freedom (Abramowitz & Stegun 26.7.3 and 26.7.4), t >= 0."""
    angle = math.atan(t / math.sqrt(freedom))
    cos2 = math.cos(angle) ** 2
    term = total = 1.0 if freedom % 2 == 0 else math.cos(angle)
    if freedom % 2 == 0:
        for k in range(2, freedom - 1, 2):
            term *= cos2 * (k - 1) / k
            total += term
        share = math.sin(angle) * total
    elif freedom == 1:
        share = 2 * angle / math.pi
    else:
        for k in range(3, freedom - 1, 2):
            term *= cos2 * (k - 1) / k
            total += term
        share = 2 / math.pi * (angle + math.sin(angle) * total)
    return 0.5 + share / 2
