"""How often two systems that do not differ are told apart, and intervals hold a true difference.

Two systems embed the same images: each has a noise of its own beside what both find hard. Of
exchangeable systems the noises are alike; of a better and a worse one they differ, and the true
difference is the mean over many draws.

Used by test_difference_coverage.py; run by itself it prints the table of docs/metrics.md:

    python tests/support/difference_simulation.py
"""

import argparse
from dataclasses import dataclass, field

import coverage_simulation as coverage
import numpy as np
from facebench import _eval, metrics

SEED = 60
DIMENSIONS = 40
WORSE = 1.15  # noise of the worse system, of the better one's


@dataclass
class Setting:
    """Who is compared with whom: unit u is of person[u]."""

    name: str
    person: np.ndarray
    first: np.ndarray
    second: np.ndarray
    folds: np.ndarray | None = None
    difficulty: float = 0.9
    far: float = 0.01
    labels: np.ndarray = field(init=False)

    def __post_init__(self):
        self.a, self.b = self.person[self.first], self.person[self.second]
        self.labels = (self.a == self.b).astype(np.uint8)
        # Identification: the first image of each person is the gallery, the others are probes.
        self.gallery = np.unique(self.person, return_index=True)[1]
        self.probes = np.setdiff1d(np.arange(len(self.person)), self.gallery)
        self.ranked = self.folds is None

    def names(self):
        listed = ["accuracy"] if self.folds is not None else []
        return [*listed, "AUC", "EER", f"TAR at {100 * self.far:g} %"] + ["rank 1"] * self.ranked

    def draw(self, rng, worse):
        """The embeddings of both systems."""
        people = int(self.person.max()) + 1
        centre = rng.normal(size=(people, DIMENSIONS))
        noise = self.difficulty * np.exp(rng.normal(0, 0.35, people))[self.person][:, None]
        shape = (3, len(self.person), DIMENSIONS)
        common, *own = rng.normal(size=shape)
        systems = []
        for more, mine in zip((1.0, worse), own, strict=True):
            x = centre[self.person] + more * noise * (common + mine) / np.sqrt(2)
            systems.append(x / np.linalg.norm(x, axis=1, keepdims=True))
        return systems

    def statistics(self, x):
        c = metrics.Comparisons(
            np.einsum("nd,nd->n", x[self.first], x[self.second]), self.labels, self.folds
        )
        listed = [_eval.accuracy_statistic(c)] if self.folds is not None else []
        return [
            *listed,
            _eval.auc_statistic(c),
            _eval.eer_statistic(c),
            _eval.tar_at_far_statistic(c, self.far),
        ]

    def rank(self, x):
        similarity = x[self.probes] @ x[self.gallery].T
        searches = metrics.Searches(similarity, self.person[self.probes], self.person[self.gallery])
        return _eval.rank_rate_statistic(searches, 1)

    def compare(self, systems, options):
        found = metrics.compare_paired(
            *map(self.statistics, systems), self.a, self.b, self.folds, options=options
        )
        if self.ranked:
            people = self.person[self.probes]
            found.append(
                metrics.compare_paired(*map(self.rank, systems), people, people, options=options)
            )
        return found

    def difference(self, systems):
        once = np.ones(len(self.labels), np.uint32)
        a, b = ([s(once) for s in self.statistics(x)] for x in systems)
        if self.ranked:
            each = np.ones(len(self.probes), np.uint32)
            a, b = [*a, self.rank(systems[0])(each)], [*b, self.rank(systems[1])(each)]
        return np.subtract(a, b)

    def truth(self, rng, draws):
        return np.mean([self.difference(self.draw(rng, WORSE)) for _ in range(draws)], axis=0)


def all_pairs(name, images, **more):
    """Every image with every other, of people with so many images each."""
    person = np.repeat(np.arange(len(images)), images)
    first, second = np.triu_indices(len(person), 1)
    return Setting(name, person, first, second, **more)


def listed(name, people, pairs, **more):
    """Ten folds of their own people, half of the pairs genuine, as LFW has them."""
    lists = coverage.drawn(name, people, pairs, pairs, 10, 0, own_people=True)
    return Setting(name, lists.person, lists.first, lists.second, lists.folds, **more)


def settings():
    return [
        listed("list of 10 folds, 2 x 600 pairs of 600 people", 600, 600, far=0.05, difficulty=0.7),
        listed("list of 10 folds, few errors", 600, 600, far=0.05, difficulty=0.45),
        all_pairs("all pairs, 8 people x 5", [5] * 8, far=0.1, difficulty=1.1),
        all_pairs("all pairs, 8 people x 5, few errors", [5] * 8, far=0.1, difficulty=0.6),
        all_pairs("all pairs, 24 people x 2", [2] * 24, far=0.1, difficulty=1.1),
        all_pairs("all pairs, 40 people x 5", [5] * 40, difficulty=1.1),
        all_pairs(
            "all pairs, 63 people, 3 of them with 30 of 2 to 30 images", [30] * 3 + [2] * 60,
            difficulty=1.1,
        ),
    ]  # fmt: skip


@dataclass
class Found:
    """Of one number: shares over the data sets."""

    name: str
    truth: float
    alarms: float  # of exchangeable systems at 5 %
    holds: float  # the intervals of a true difference
    noted: float  # intervals of exchangeable systems that have a note
    conservative: float  # of them with "at least"
    noted_difference: float


def found_of(setting, data_sets, replicates, seed=SEED):
    rng = np.random.default_rng(seed)
    truth = setting.truth(rng, 4 * data_sets)
    options = metrics.BootstrapOptions(replicates=replicates)
    alarms, holds, noted, least, noted_too = np.zeros((5, len(truth)))
    for _ in range(data_sets):
        same = setting.compare(setting.draw(rng, 1.0), options)
        alarms += [d.p_value < 0.05 for d in same]
        noted += [d.interval.note != "" for d in same]
        least += [d.interval.note.startswith("at least") for d in same]
        differ = setting.compare(setting.draw(rng, WORSE), options)
        pairs = zip(differ, truth, strict=True)
        holds += [d.interval.low <= t <= d.interval.high for d, t in pairs]
        noted_too += [d.interval.note != "" for d in differ]
    return [
        Found(name, t, *(np.array(counts) / data_sets))
        for name, t, *counts in zip(
            setting.names(), truth, alarms, holds, noted, least, noted_too, strict=True
        )
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-sets", type=int, default=300)
    parser.add_argument("--replicates", type=int, default=300)
    parser.add_argument("--only", default="")
    how = parser.parse_args()
    for setting in settings():
        if how.only not in setting.name:
            continue
        for f in found_of(setting, how.data_sets, how.replicates):
            print(
                f"| {setting.name} | {f.name} | {100 * f.alarms:.1f} % ({100 * f.noted:.0f} %) | "
                f"{100 * f.truth:.2f} | {100 * f.holds:.1f} % ({100 * f.noted_difference:.0f} %) |",
                flush=True,
            )


if __name__ == "__main__":
    main()
