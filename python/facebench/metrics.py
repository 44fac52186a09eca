"""Metrics on scores: ROC, AUC, EER, TAR at FAR, accuracy by folds, and their intervals.

Scores are similarities (higher = more alike); labels are 1 (genuine) or 0 (impostor). Every
function takes arrays of any number type, lists, torch tensors and DLPack objects.

>>> from facebench.metrics import Comparisons, accuracy, auc, tar_at_far
>>> c = Comparisons(scores=[0.9, 0.7, 0.4, 0.8, 0.3, 0.1], labels=[1, 1, 0, 1, 0, 0],
...                 folds=[0, 0, 0, 1, 1, 1])
>>> auc(c), accuracy(c).value, tar_at_far(c, far=0.1).value
(1.0, 1.0, 1.0)
"""

from facebench._eval import (
    Accuracy,
    BootstrapOptions,
    Comparisons,
    Components,
    Interval,
    Moments,
    RocCurve,
    ScoreHistogram,
    ScoreSummary,
    Statistic,
    TarAtFar,
    accuracy,
    accuracy_conventions,
    accuracy_statistic,
    auc,
    auc_statistic,
    component_bootstrap,
    connected_components,
    dprime,
    eer,
    eer_convex_hull,
    eer_statistic,
    histogram,
    roc,
    summarize,
    tar_at_far,
    tar_at_far_conventions,
    tar_at_far_statistic,
    vertex_bootstrap,
    wilson,
)

__all__ = [
    "Accuracy",
    "BootstrapOptions",
    "Comparisons",
    "Components",
    "Interval",
    "Moments",
    "RocCurve",
    "ScoreHistogram",
    "ScoreSummary",
    "Statistic",
    "TarAtFar",
    "accuracy",
    "accuracy_conventions",
    "accuracy_statistic",
    "auc",
    "auc_statistic",
    "component_bootstrap",
    "connected_components",
    "dprime",
    "eer",
    "eer_convex_hull",
    "eer_statistic",
    "histogram",
    "roc",
    "summarize",
    "tar_at_far",
    "tar_at_far_conventions",
    "tar_at_far_statistic",
    "vertex_bootstrap",
    "wilson",
]
