"""Means over seeds and their intervals."""

import math
import statistics

import numpy as np


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


def mean_ends(intervals):
    """The interval of a mean over seeds that draws of people give: the mean of the ends of its
    runs' intervals. It is no narrower than that of the mean, whose deviation is at most the mean of
    the deviations; None where a run has none.

    >>> from facebench.lab.studies.seeds import mean_ends
    >>> mean_ends([[0.5, 0.75], [0.25, 0.5]])
    [0.375, 0.625]
    """
    if any(not ends or None in ends for ends in intervals):
        return None
    return [statistics.fmean(of_end) for of_end in zip(*intervals, strict=True)]


def paired(before, after, level=0.95, limits=(-math.inf, math.inf)):
    """The mean difference of the same seeds, after minus before, with its interval, which is cut
    off at ``limits`` (-1 and 1 for the difference of two rates).

    >>> from facebench.lab.studies import paired
    >>> paired([0.5, 0.6], [0.7, 0.8])["difference"]
    0.2
    """
    differences = [b - a for a, b in zip(before, after, strict=True)]
    interval = seed_interval(differences, level, limits)
    mean = round(statistics.fmean(differences), 12)
    clear = interval is not None and (interval[0] > 0 or interval[1] < 0)
    return {"difference": mean, "interval": interval, "seeds": len(differences), "clear": clear}


def student_quantile(p, freedom):
    """The quantile of Student's t for p > 1/2. Its distribution function, an integral of a power of
    the cosine (Abramowitz & Stegun 26.7.1, t = sqrt(freedom) tan(angle)), inverted by halving."""
    nodes, weights = np.polynomial.legendre.leggauss(100)
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(math.pi)
    low, high = 0.0, math.pi / 2
    for _ in range(60):
        angle = (low + high) / 2
        share = scale * angle / 2 * (weights @ np.cos(angle / 2 * (nodes + 1)) ** (freedom - 1))
        low, high = (angle, high) if share < p - 0.5 else (low, angle)
    return math.sqrt(freedom) * math.tan((low + high) / 2)
