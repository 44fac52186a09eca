"""How often intervals cover a truth that is known, because the data are drawn from it.

Used by test_coverage.py; run by itself it draws docs/images/coverage.svg:

    python tests/python/coverage_simulation.py --out docs/images/coverage.svg
"""

import argparse
import math

import numpy as np
from facebench import metrics

SEED = 20


def covers(interval, truth):
    return interval.low <= truth <= interval.high


class Dense:
    """All pairs of people, five genuine comparisons each; people and matches have effects.

    A comparison's score is person + person + noise, genuine ones with a match effect on top, so
    comparisons that share a person are alike. The truth is the TAR of an endless supply of people.
    """

    fars = (0.01, 0.001)

    def __init__(self, people=250):
        self.people = people
        a, b = np.triu_indices(people, 1)
        own = np.repeat(np.arange(people), 5)
        self.first, self.second = np.r_[own, a], np.r_[own, b]
        self.labels = (self.first == self.second).astype(int)

    def draw(self, rng):
        person, match = rng.normal(0, 0.08, self.people), rng.normal(0, 0.12, self.people)
        scores = person[self.first] + person[self.second] + rng.normal(0, 0.1, len(self.first))
        return scores + self.labels * (0.55 + match[self.first])

    def truth(self):
        """Sums of normal effects are normal: impostor sd, threshold, then the genuine tail."""
        impostor = math.sqrt(2 * 0.08**2 + 0.1**2)
        genuine = math.sqrt(4 * 0.08**2 + 0.12**2 + 0.1**2)  # twice the same person
        thresholds = [-metrics.normal_quantile(far) * impostor for far in self.fars]
        return [0.5 * math.erfc((t - 0.55) / genuine / math.sqrt(2)) for t in thresholds]

    def coverage(self, simulations, replicates, rng):
        """Of each FAR: (vertex bootstrap, comparisons taken as independent)."""
        truth, hits = self.truth(), np.zeros((len(self.fars), 2))
        options = metrics.BootstrapOptions(replicates=replicates)
        for _ in range(simulations):
            c = metrics.Comparisons(self.draw(rng), self.labels)
            statistics = [metrics.tar_at_far_statistic(c, far) for far in self.fars]
            intervals = metrics.vertex_bootstrap(
                statistics, self.first, self.second, options=options
            )
            for k, far in enumerate(self.fars):
                cell = metrics.tar_at_far(c, far)
                alone = metrics.wilson(cell.genuine_accepted, cell.genuine)
                hits[k] += covers(intervals[k], truth[k]), covers(alone, truth[k])
        return hits / simulations


class Sparse:
    """LFW's shape: ten folds of 300 genuine and 300 impostor pairs, people of their own."""

    names = ("AUC", "EER", "accuracy", "TAR at 10 %", "TAR at 1 %", "TAR at 0.1 %")

    def __init__(self, shift):
        self.shift = shift
        # 60 people a fold appear often, 500 seldom: components of many sizes.
        rng = np.random.default_rng(SEED)
        pairs, people = 600, 560
        chance = np.r_[np.full(60, 2.0), np.full(500, 1.0)]
        chance /= chance.sum()
        fold = np.repeat(np.arange(10), pairs)
        labels = np.tile(np.repeat([1, 0], pairs // 2), 10)
        a = rng.choice(people, len(fold), p=chance)
        b = (a + 1 + rng.integers(0, people - 1, len(fold))) % people
        # Impostor pairs by neighbourhood, so that a fold falls into many components.
        b = np.where(labels == 1, a, np.where(rng.random(len(fold)) < 0.65, a ^ 1, b))
        self.first, self.second = a + fold * people, b + fold * people
        self.labels, self.fold, self.people = labels, fold, 10 * people

    def draw(self, rng):
        person, match = rng.normal(0, 0.05, self.people), rng.normal(0, 0.05, self.people)
        scores = person[self.first] + person[self.second] + rng.normal(0, 0.1, len(self.fold))
        scores += self.labels * (self.shift + match[self.first])
        return metrics.Comparisons(scores, self.labels, self.fold)

    @staticmethod
    def statistics(c):
        return [
            metrics.auc_statistic(c),
            metrics.eer_statistic(c),
            metrics.accuracy_statistic(c),
            *(metrics.tar_at_far_statistic(c, far) for far in (0.1, 0.01, 0.001)),
        ]

    def truth(self, rng, draws):
        """The mean of each statistic over other data sets."""
        ones = np.ones(len(self.fold))
        return np.mean(
            [[s(ones) for s in self.statistics(self.draw(rng))] for _ in range(draws)], axis=0
        )

    def coverage(self, simulations, replicates, rng, truth):
        hits = np.zeros(len(self.names))
        options = metrics.BootstrapOptions(replicates=replicates)
        for _ in range(simulations):
            intervals = metrics.component_bootstrap(
                self.statistics(self.draw(rng)),
                self.first,
                self.second,
                self.fold,
                options=options,
            )
            hits += [covers(i, t) for i, t in zip(intervals, truth, strict=True)]
        return hits / simulations


def plot(out, dense, sparse):
    """dense: coverage of both intervals at each FAR; sparse: {AUC: coverage of each number}."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "coverage"
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), width_ratios=[1, 2])
    places = np.arange(len(Dense.fars))
    left.bar(places - 0.2, 100 * dense[:, 0], 0.4, label="vertex bootstrap, logit")
    left.bar(places + 0.2, 100 * dense[:, 1], 0.4, label="pairs as independent")
    left.set_xticks(places, [f"TAR at FAR {100 * far:g} %" for far in Dense.fars])
    left.set_title("All pairs of 250 people")
    left.set_ylabel("intervals that cover the truth [%]")
    places = np.arange(len(Sparse.names))
    for k, (auc, coverage) in enumerate(sparse.items()):
        right.plot(places, 100 * coverage, "os^D"[k], label=f"AUC {auc:.5f}")
    right.set_xticks(places, Sparse.names)
    right.set_title("Ten folds of pairs, component bootstrap (logit, t)")
    for axes in (left, right):
        axes.axhline(95, color="black", linewidth=0.8)
        axes.axhspan(92, 98, color="black", alpha=0.07)
    left.set_ylim(0, 125)
    left.legend(loc="upper left")
    right.set_ylim(70, 101)
    right.legend(loc="lower left")
    figure.tight_layout()
    figure.savefig(out, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True)
    parser.add_argument("--dense", type=int, default=500, help="data sets of all pairs")
    parser.add_argument("--sparse", type=int, default=100, help="data sets of lists")
    parser.add_argument("--replicates", type=int, default=200)
    arguments = parser.parse_args()
    rng = np.random.default_rng(SEED)
    dense = Dense().coverage(arguments.dense, arguments.replicates, rng)
    print("dense, vertex and independent:", dense.tolist(), flush=True)
    sparse = {}
    for shift in (0.4, 0.55, 0.7, 0.8):
        lists = Sparse(shift)
        truth = lists.truth(rng, 2000)
        sparse[truth[0]] = lists.coverage(arguments.sparse, arguments.replicates, rng, truth)
        print("sparse", shift, truth.tolist(), sparse[truth[0]].tolist(), flush=True)
    plot(arguments.out, dense, sparse)


if __name__ == "__main__":
    main()
