"""How often 95 % intervals contain the true value where it is 0, 1 or a few errors away from them.

Used by test_edge_coverage.py; run by itself it prints the table of docs/metrics.md:

    python tests/support/edge_simulation.py
"""

import argparse
from dataclasses import dataclass
from statistics import NormalDist

import coverage_simulation as coverage
import numpy as np
from facebench import _eval, metrics

NORMAL = NormalDist()
SEED = 41


@dataclass
class Edge:
    """Normal scores of a list: a share of each score is its person's, and the true rate is known.

    ``people`` share the genuine comparisons evenly; without ``shared`` the impostor comparisons are
    of other people, each of two of their own.
    """

    number: str  # "TAR at 10 %", "AUC", "EER"
    rate: float
    genuine: int
    people: int
    impostor: int = 1000
    shared: bool = False

    @property
    def name(self):
        of = "the same people" if self.shared else "others"
        people = f"{self.genuine} genuine comparisons of {self.people} people"
        return f"{people}, {self.impostor} impostor ones of {of}"

    def __post_init__(self):
        self.own = np.arange(self.genuine) * self.people // self.genuine
        pairs = np.arange(self.impostor)
        if self.shared:
            ahead = 1 + pairs // self.people % (self.people - 1)
            self.a, self.b = pairs % self.people, (pairs + ahead) % self.people
        else:
            self.a, self.b = self.people + 2 * pairs, self.people + 2 * pairs + 1
        self.labels = np.r_[np.ones(self.genuine, np.uint8), np.zeros(self.impostor, np.uint8)]

    def distance(self):
        """Between the two classes, in standard deviations of a score."""
        at = NORMAL.inv_cdf(self.rate)
        if self.number == "AUC":
            return at * np.sqrt(2)
        if self.number == "EER":
            return -2 * at
        return at + NORMAL.inv_cdf(0.9)

    def statistic(self, rng):
        people = int(max(self.a.max(), self.b.max(), self.own.max())) + 1
        of_person, of_pair = rng.normal(size=(2, people))
        genuine = (of_person[self.own] + rng.normal(size=self.genuine)) / np.sqrt(2)
        pairs = (of_pair[self.a] + of_pair[self.b]) / 2
        impostor = pairs + rng.normal(size=self.impostor) / np.sqrt(2)
        scores = np.r_[genuine + self.distance(), impostor]
        c = metrics.Comparisons(scores, self.labels)
        if self.number == "AUC":
            return _eval.auc_statistic(c)
        if self.number == "EER":
            return _eval.eer_statistic(c)
        return _eval.tar_at_far_statistic(c, 0.1)

    def interval(self, rng, replicates):
        first, second = np.r_[self.own, self.a], np.r_[self.own, self.b]
        options = metrics.BootstrapOptions(replicates=replicates)
        return metrics.dyadic_bootstrap(self.statistic(rng), first, second, options=options)


def coverage_of(edge, data_sets, replicates, rng):
    """Share of the intervals that contain the truth, and of those that say "at least"."""
    found = [edge.interval(rng, replicates) for _ in range(data_sets)]
    holds = np.mean([i.low <= edge.rate <= i.high for i in found])
    return holds, np.mean([i.note.startswith("at least") for i in found])


def look(lists, limit=200):
    """What --limit compares of a list: as many, spread evenly over both classes."""
    chosen = []
    for label in (1, 0):
        of_class = np.flatnonzero(lists.labels == label)
        count = min(limit // 2, len(of_class))
        chosen.append(of_class[np.arange(count) * len(of_class) // count])
    return taken(lists, np.concatenate(chosen), f"--limit {limit}")


def smallest(lists):
    """The smallest fold; of a list without folds every tenth comparison."""
    folds = lists.folds
    if folds is None:
        folds = np.arange(len(lists.labels)) % 10
    numbers, counts = np.unique(folds, return_counts=True)
    return taken(lists, np.flatnonzero(folds == numbers[counts.argmin()]), "smallest part")


def taken(lists, chosen, scale):
    units = np.unique(np.r_[lists.first[chosen], lists.second[chosen]])
    people = np.unique(lists.person[units])
    return coverage.Lists(
        lists.name,
        np.searchsorted(people, lists.person[units]),
        np.searchsorted(units, lists.first[chosen]),
        np.searchsorted(units, lists.second[chosen]),
        difficulty=0.42,  # a few errors at FAR 10 %
        scale=scale,
    )


def protocol_lists():
    """A look and the smallest part of every protocol's list, and all pairs of ten people."""
    lists = [make() for make in coverage.PROTOCOLS.values()]
    yield from map(look, lists)
    yield from (smallest(each) for each in lists if len(each.labels) < 20_000)
    yield coverage.dense("all pairs", 10, 2, 3, difficulty=0.5, scale="10 people")


def coverage_of_lists(lists, data_sets, replicates, rng):
    """The same of each number of the lists: name, truth, share, share of "at least"."""
    truth = lists.truth(rng, 4 * data_sets)
    options = metrics.BootstrapOptions(replicates=replicates)
    holds, notes = np.zeros((2, len(truth)))
    for _ in range(data_sets):
        found = metrics.dyadic_bootstrap(
            lists.statistics(lists.draw(rng)), lists.a, lists.b, options=options
        )
        holds += [i.low <= t <= i.high for i, t in zip(found, truth, strict=True)]
        notes += [i.note.startswith("at least") for i in found]
    return zip(lists.names(), truth, holds / data_sets, notes / data_sets, strict=True)


EDGES = [
    Edge("TAR at 10 %", 0.97, 50, 50),
    Edge("TAR at 10 %", 0.99, 50, 50),
    Edge("TAR at 10 %", 0.995, 200, 200),
    Edge("TAR at 10 %", 0.995, 200, 40),
    Edge("TAR at 10 %", 0.98, 200, 40, shared=True),
    *(
        Edge("AUC", rate, n, people, n, shared)
        for rate in (0.99, 0.999, 0.9999)
        for n in (50, 300, 3000)
        for people, shared in ((n, False), (max(n // 5, 40), True))
    ),
    Edge("EER", 0.01, 100, 100, 100),
    Edge("EER", 0.01, 300, 60, 300, shared=True),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-sets", type=int, default=300)
    parser.add_argument("--replicates", type=int, default=300)
    how = parser.parse_args()

    def held(holds, says):
        return f"{100 * holds:.1f} % ({100 * says:.0f} %)"

    for edge in EDGES:
        rng = np.random.default_rng(SEED)
        found = coverage_of(edge, how.data_sets, how.replicates, rng)
        print(f"| {edge.name} | {edge.number} {100 * edge.rate:g} % | {held(*found)} |", flush=True)
    for lists in protocol_lists():
        rng = np.random.default_rng(SEED)
        cells = [
            f"{name} {100 * truth:.4g} %: {held(*found)}"
            for name, truth, *found in coverage_of_lists(lists, how.data_sets, how.replicates, rng)
        ]
        print(f"| {lists.name}, {lists.scale} | {'; '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
