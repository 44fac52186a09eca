"""Metrics on scores: verification, identification, and their intervals.

Scores are similarities (higher = more alike); labels are 1 (genuine) or 0 (impostor). Every
function takes arrays of any number type, lists, torch tensors and DLPack objects.

>>> from facebench.metrics import Comparisons, accuracy, auc, tar_at_far
>>> c = Comparisons(scores=[0.9, 0.7, 0.4, 0.8, 0.3, 0.1], labels=[1, 1, 0, 1, 0, 0],
...                 folds=[0, 0, 0, 1, 1, 1])
>>> auc(c), accuracy(c).value, tar_at_far(c, far=0.1).value
(1.0, 1.0, 1.0)
"""

from facebench import _eval
from facebench._eval import (
    AllPairsOptions,
    BootstrapOptions,
    Comparisons,
    DiscardOptions,
    GroupRatesOptions,
    Interval,
    Searches,
    accuracy_conventions,
    all_pairs,
    centred_accuracy,
    cllr,
    cmc,
    compare_paired,
    dense_scores,
    det,
    dir_at_fpir,
    dprime,
    dyadic_bootstrap,
    error_versus_discard,
    error_versus_reject,
    fit_calibrator,
    group_measures,
    group_rates,
    histogram,
    identification_conventions,
    listed_pair_scores,
    rank_rate,
    rates_at,
    recommend_threshold,
    roc,
    search_embeddings,
    tar_at_far_conventions,
    tar_at_fars,
    wilson,
)
from facebench.core._arguments import brief, did_you_mean
from facebench.metrics._with_interval import (
    Measured as Measured,
)
from facebench.metrics._with_interval import (
    accuracy,
    auc,
    eer,
    min_cllr,
    tar_at_far,
)

__all__ = [
    "AllPairsOptions",
    "BootstrapOptions",
    "Comparisons",
    "DiscardOptions",
    "GroupRatesOptions",
    "Interval",
    "Searches",
    "accuracy",
    "accuracy_conventions",
    "all_pairs",
    "auc",
    "centred_accuracy",
    "cllr",
    "cmc",
    "compare_paired",
    "dense_scores",
    "det",
    "dir_at_fpir",
    "dprime",
    "dyadic_bootstrap",
    "eer",
    "error_versus_discard",
    "error_versus_reject",
    "fit_calibrator",
    "group_measures",
    "group_rates",
    "histogram",
    "identification_conventions",
    "listed_pair_scores",
    "min_cllr",
    "rank_rate",
    "rates_at",
    "recommend_threshold",
    "roc",
    "search_embeddings",
    "statistic",
    "tar_at_far",
    "tar_at_far_conventions",
    "tar_at_fars",
    "wilson",
]

_STATISTICS = {
    name.removesuffix("_statistic"): getattr(_eval, name)
    for name in dir(_eval)
    if name.endswith("_statistic")
}


def statistic(metric, data, *parameters, **named_parameters) -> _eval.Statistic:
    """A metric of comparisons or searches that can be drawn again: what a bootstrap measures.

    ``metric``: "accuracy", "auc", "calibration_error", "eer", "fmr", "fnmr", "min_cllr" or
    "tar_at_far" of Comparisons, "dir_at_fpir" or "rank_rate" of Searches; ``parameters`` are those
    of the function of that name (a threshold for "fmr" and "fnmr"). The statistic itself takes
    weights, one for each comparison (probe), and returns the number. ValueError for another name.

    >>> from facebench.metrics import Comparisons, statistic
    >>> c = Comparisons([0.9, 0.8, 0.7, 0.1], [1, 0, 1, 0])
    >>> statistic("tar_at_far", c, 0.1)([1, 1, 1, 1])
    0.5
    """
    try:
        make = _STATISTICS[metric]
    except KeyError:
        raise ValueError(
            f"metric is {brief(metric)}; known are {', '.join(_STATISTICS)}"
            + did_you_mean(metric, _STATISTICS)
        ) from None
    return make(data, *parameters, **named_parameters)
