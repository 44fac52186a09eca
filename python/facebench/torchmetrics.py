"""Metrics for torchmetrics and Lightning, equal to `facebench.metrics` to the last digit.

They keep exact counts of distinct scores (or of searches), which are joined over processes when a
metric is computed; nothing is binned. Needs the extra ``torchmetrics``.

>>> import torch
>>> from facebench.torchmetrics import TarAtFar  # doctest: +SKIP
>>> metric = TarAtFar(far=0.5)  # doctest: +SKIP
>>> metric.update(torch.tensor([0.9, 0.8, 0.7, 0.1]), torch.tensor([1, 0, 1, 0]))  # doctest: +SKIP
>>> metric.compute()  # doctest: +SKIP
tensor(1., dtype=torch.float64)
"""

import torch

try:
    from torchmetrics import Metric  # type: ignore[import-not-found,unused-ignore]
    from torchmetrics.utilities import (  # type: ignore[import-not-found,unused-ignore]
        dim_zero_cat,
    )
except ImportError as error:
    raise ImportError(
        "facebench.torchmetrics needs torchmetrics: pip install facebench[torchmetrics]"
    ) from error

from facebench import metrics

__all__ = ["EqualErrorRate", "RankRate", "TarAtFar"]


class _OfComparisons(Metric):
    """A metric of scores (higher = more alike) and labels (1 genuine, 0 impostor)."""

    is_differentiable = False
    full_state_update = False

    def __init__(self, **keywords):
        super().__init__(**keywords)
        for name in ("scores", "labels", "counts"):
            self.add_state(name, default=[], dist_reduce_fx="cat")

    def update(self, scores, labels):
        """Add comparisons: one score and one label each, of any shape, as many of both."""
        scores, labels = scores.detach().flatten(), labels.detach().flatten()
        if scores.shape != labels.shape:
            raise ValueError(f"{labels.numel()} labels of {scores.numel()} scores")
        if not scores.numel():
            return
        if not scores.isfinite().all():
            at = (~scores.isfinite()).nonzero()[0].item()
            raise ValueError(f"scores[{at}] is {scores[at].item()}, not a finite number")
        if not ((labels == 0) | (labels == 1)).all():
            raise ValueError("labels: expected 1 (genuine) and 0 (impostor)")
        both = torch.stack([scores.double(), labels.double()])
        distinct, counts = both.unique(dim=1, return_counts=True)
        self.scores.append(distinct[0])
        self.labels.append(distinct[1].to(torch.uint8))
        self.counts.append(counts)

    def compute(self):
        """The number, of all comparisons of all processes; float64."""
        states = [dim_zero_cat(s) if len(s) else torch.empty(0) for s in self._states()]
        scores, labels, counts = (s.cpu().numpy() for s in states)
        value = self._value(metrics.Comparisons(scores, labels), counts.astype("int64"))
        return torch.tensor(value, dtype=torch.float64, device=self.device)

    def _states(self):
        return self.scores, self.labels, self.counts

    def set_dtype(self, dst_type):  # scores stay as exact as they came
        return self


class TarAtFar(_OfComparisons):
    """The TAR at a FAR: `facebench.metrics.tar_at_far`. ``convention``: one that needs no folds."""

    higher_is_better = True

    def __init__(self, far, convention="exact", **keywords):
        super().__init__(**keywords)
        self.far, self.convention = far, convention

    def _value(self, comparisons, counts):
        return metrics.tar_at_far(comparisons, self.far, self.convention, weights=counts).value


class EqualErrorRate(_OfComparisons):
    """The EER: `facebench.metrics.eer`."""

    higher_is_better = False

    def _value(self, comparisons, counts):
        return metrics.eer(comparisons, weights=counts)


class RankRate(Metric):
    """The identification rate at rank ``rank`` of mated probes: `facebench.metrics.rank_rate`.

    ``update`` takes the similarity of probes (rows) to the whole gallery (columns) and the
    identities of both; probes may come in any batches.
    """

    is_differentiable = False
    full_state_update = False
    higher_is_better = True

    def __init__(self, rank=1, ties="pessimistic", **keywords):
        super().__init__(**keywords)
        self.rank, self.ties = rank, ties
        for name in ("found", "mated"):
            self.add_state(name, default=torch.tensor(0), dist_reduce_fx="sum")

    def update(self, similarity, probe_identity, gallery_identity):
        """Add searches. Whole numbers name the people."""
        arrays = (a.detach().cpu().numpy() for a in (similarity, probe_identity, gallery_identity))
        searches = metrics.Searches(*arrays)
        if not searches.mated:
            return
        rate = metrics.rank_rate(searches, self.rank, self.ties)
        self.found += round(rate * searches.mated)
        self.mated += searches.mated

    def compute(self):
        """The rate; float64, NaN without a mated probe."""
        return self.found.double() / self.mated.double()
