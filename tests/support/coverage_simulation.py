"""How often 95 % intervals contain the true value, for the lists of each protocol.

Who is compared with whom is as in the protocol: its own lists where the data folder has them
(FACEBENCH_DATA), else lists drawn with the official counts, smaller where `scale` says so. Scores
are drawn: every person is a direction in a space of embeddings, near the directions of similar
people, and has a noise of its own; every image is its person plus noise; a score is a cosine. So
people, pairs of people and images have effects, and none of them is told to the intervals. The true
value is the mean of a statistic over many such draws.

Used by test_coverage.py; run by itself it prints the table of docs/metrics.md:

    python tests/support/coverage_simulation.py
"""

import argparse
import csv
import os
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from facebench import _eval, metrics

SEED = 20
DIMENSIONS = 40
KINDS = 6  # of people who resemble each other
ENOUGH = 10  # expected false accepts, below which a TAR is marked as unreliable


@dataclass
class Lists:
    """Comparison k is of unit first[k] with unit second[k]; unit u is of person[u]."""

    name: str
    person: np.ndarray
    first: np.ndarray
    second: np.ndarray
    folds: np.ndarray | None = None
    difficulty: float = 0.65  # noise of an image, as a share of the length of an embedding
    scale: str = ""  # what is smaller than in the protocol
    a: np.ndarray = field(init=False)
    b: np.ndarray = field(init=False)
    labels: np.ndarray = field(init=False)

    def __post_init__(self):
        self.a, self.b = self.person[self.first], self.person[self.second]
        self.labels = (self.a == self.b).astype(np.uint8)

    def draw(self, rng):
        """Scores of one data set."""
        people = int(self.person.max()) + 1
        kinds = np.random.default_rng(SEED).normal(size=(KINDS, DIMENSIONS))  # always the same
        centre = (
            rng.normal(size=(people, DIMENSIONS)) + 0.55 * kinds[rng.integers(0, KINDS, people)]
        )
        centre /= np.linalg.norm(centre, axis=1, keepdims=True)
        noise = self.difficulty * np.exp(rng.normal(0, 0.35, people))
        own = noise[self.person] * np.exp(rng.normal(0, 0.2, len(self.person)))
        x = rng.normal(size=(len(self.person), DIMENSIONS)) / np.sqrt(DIMENSIONS)
        x = centre[self.person] + own[:, None] * x
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        return np.einsum("nd,nd->n", x[self.first], x[self.second])

    def fars(self):
        impostors = np.sum(self.labels == 0)
        return [far for far in (0.1, 0.01, 0.001) if far * impostors >= ENOUGH]

    def names(self):
        accuracy = ["accuracy"] if self.folds is not None else []
        return [*accuracy, "AUC", "EER", *(f"TAR at {100 * far:g} %" for far in self.fars())]

    def statistics(self, scores):
        c = metrics.Comparisons(scores, self.labels, self.folds)
        accuracy = [_eval.accuracy_statistic(c)] if self.folds is not None else []
        return [
            *accuracy,
            _eval.auc_statistic(c),
            _eval.eer_statistic(c),
            *(_eval.tar_at_far_statistic(c, far) for far in self.fars()),
        ]

    def truth(self, rng, draws):
        once = np.ones(len(self.labels), np.uint32)
        return np.mean(
            [[s(once) for s in self.statistics(self.draw(rng))] for _ in range(draws)], axis=0
        )

    def earlier(self):
        """What the protocol had before: with folds components, where a fold falls into several."""
        if self.folds is None:
            return _eval.vertex_bootstrap
        c = _eval.connected_components(self.a, self.b, self.folds)
        several = len(c.fold) > len(np.unique(self.folds))
        return _eval.component_bootstrap if several else _eval.vertex_bootstrap

    def coverage(self, bootstraps, data_sets, replicates, rng, truth):
        """Share of the intervals that contain the truth: (bootstraps, statistics)."""
        hits = np.zeros((len(bootstraps), len(truth)))
        options = metrics.BootstrapOptions(replicates=replicates)
        for _ in range(data_sets):
            statistics = self.statistics(self.draw(rng))
            for k, bootstrap in enumerate(bootstraps):
                found = bootstrap(statistics, self.a, self.b, self.folds, options=options)
                hits[k] += [i.low <= t <= i.high for i, t in zip(found, truth, strict=True)]
        return hits / data_sets


def data_folder():
    folder = os.environ.get("FACEBENCH_DATA")
    return Path(folder) if folder else None


def compact(name, keys, pairs, folds=None, **more):
    """Lists out of pairs of units, each (person, image)."""
    people = {p: i for i, p in enumerate(sorted({k[0] for k in keys}))}
    unit = {k: i for i, k in enumerate(keys)}
    person = np.array([people[k[0]] for k in keys])
    first, second = (np.array([unit[pair[side]] for pair in pairs]) for side in (0, 1))
    return Lists(name, person, first, second, folds, **more)


def drawn(name, people, genuine, impostor, folds, skew, own_people=False, **more):
    """Pairs of images of their own, of people who appear unequally often.

    own_people: each fold has people of its own, and every person as many pairs.
    """
    rng = np.random.default_rng(SEED)
    if own_people:
        fold_of = np.repeat(np.arange(folds), people // folds)
        i = np.repeat(np.arange(people), genuine // people)
        x = np.repeat(np.arange(people), impostor // people)
        y = x.copy()
        while np.any(y == x):
            step = rng.integers(0, people // folds, len(x))
            y = np.where(y == x, fold_of[x] * (people // folds) + step, y)
        fold = np.r_[fold_of[i], fold_of[x]]
    else:
        chance = np.exp(rng.normal(0, skew, people))
        chance /= chance.sum()
        i, x, y = (rng.choice(people, n, p=chance) for n in (genuine, impostor, impostor))
        while np.any(x == y):
            y = np.where(x == y, rng.choice(people, impostor, p=chance), y)
        cut = [np.arange(n) * (folds or 1) // n for n in (genuine, impostor)]
        fold = np.concatenate(cut)
    person = np.r_[i, i, x, y]
    person = np.searchsorted(np.unique(person), person)
    first = np.r_[np.arange(genuine), 2 * genuine + np.arange(impostor)]
    second = first + np.r_[np.full(genuine, genuine), np.full(impostor, impostor)]
    return Lists(name, person, first, second, fold if folds else None, **more)


def lfw():
    root = data_folder()
    path = root / "lfw/protocol/pairs.txt" if root else None
    if not path or not path.exists():
        return drawn("LFW", 4280, 3000, 3000, 10, 0.6, scale="drawn")
    keys, pairs = {}, []
    for line in path.read_text().splitlines()[1:]:
        t = line.split("\t")
        pair = (t[0], t[1]), (t[0] if len(t) == 3 else t[2], t[-1])
        for k in pair:
            keys.setdefault(k)
        pairs.append(pair)
    return compact("LFW", list(keys), pairs, np.repeat(np.arange(10), 600), difficulty=0.55)


def ijba():
    """Split 1 of the 1:1 protocol; units are templates."""
    root = data_folder()
    folder = root / "ijba/protocol/IJB-A_11_sets/split1" if root else None
    if not folder or not folder.exists():
        return drawn("IJB-A 1:1, a split", 167, 1800, 10000, None, 0.5, scale="drawn")
    with (folder / "verify_metadata_1.csv").open(newline="") as file:
        subject = {row[0]: row[1] for row in list(csv.reader(file))[1:]}
    with (folder / "verify_comparisons_1.csv").open(newline="") as file:
        rows = [tuple(t.strip() for t in row[:2]) for row in csv.reader(file) if row]
    keys = list(dict.fromkeys((subject[t], t) for row in rows for t in row))
    pairs = [tuple((subject[t], t) for t in row) for row in rows]
    return compact("IJB-A 1:1, a split", keys, pairs, difficulty=0.9)


def dense(name, people, rows, columns, **more):
    """Every row with every column, so many images of each person in both."""
    person = np.r_[np.repeat(np.arange(people), rows), np.repeat(np.arange(people), columns)]
    first = np.repeat(np.arange(people * rows), people * columns)
    second = people * rows + np.tile(np.arange(people * columns), people * rows)
    return Lists(name, person, first, second, **more)


def disguised():
    """DFW's first track: a subject's images with its own, and with those of impersonators.

    Impersonators are people who appear with one subject alone.
    """
    subjects, own, fakes = 600, 4, 6
    person = np.r_[np.repeat(np.arange(subjects), own), subjects + np.arange(subjects * fakes)]
    first, second = [], []
    for s in range(subjects):
        images = s * own + np.arange(own)
        i, j = np.triu_indices(own, 1)
        first += [*images[i], *np.repeat(images, fakes)]
        second += [*images[j], *np.tile(subjects * own + s * fakes + np.arange(fakes), own)]
    return Lists("DFW, impersonation", person, np.array(first), np.array(second), difficulty=0.9)


PROTOCOLS = {
    "lfw": lfw,
    "calfw": lambda: drawn("CALFW, CPLFW", 4000, 3000, 3000, 10, 0.6, scale="drawn"),
    "agedb30": lambda: drawn("AgeDB-30", 440, 3000, 3000, 10, 0.7, scale="drawn"),
    "cfp": lambda: drawn(
        "CFP", 500, 3500, 3500, 10, 0, own_people=True, scale="drawn: 50 people a fold"
    ),
    "umdfaces": lambda: drawn(
        "UMDFaces", 3000, 5000, 5000, None, 0.7, difficulty=0.9, scale="drawn"
    ),
    "dfw": disguised,
    "dfw_dense": lambda: dense(
        "DFW, obfuscation", 120, 1, 3, difficulty=0.9, scale="120 of 600 subjects"
    ),
    "ijba": ijba,
    "ijba_quality": lambda: dense(
        "IJB-A quality", 150, 1, 4, difficulty=0.9, scale="150 of 500 people, 5 of 15 images"
    ),
}


class Templates:
    """VGGFace2's matrices: two templates of each of 368 subjects in one of the cells."""

    names = ("mean similarity", "that of different subjects", "d'")

    def __init__(self, subjects=368):
        self.lists = dense("VGGFace2", subjects, 1, 1, difficulty=0.9)
        self.name, self.scale = self.lists.name, "one cell"
        self.genuine = self.lists.labels == 1

    def values(self, scores, weights):
        g, i = self.genuine, ~self.genuine
        moments = []
        for chosen in (g, i):
            w = weights[chosen].astype(float)
            mean = np.average(scores[chosen], weights=w)
            moments.append((mean, np.sum(w * (scores[chosen] - mean) ** 2) / (w.sum() - 1)))
        (same, own), (other, noise) = moments
        return same, other, (same - other) / np.sqrt((own + noise) / 2)

    def truth(self, rng, draws):
        once = np.ones(len(self.genuine), np.uint32)
        return np.mean([self.values(self.lists.draw(rng), once) for _ in range(draws)], axis=0)

    def coverage(self, data_sets, replicates, rng, truth):
        """By the definition of the interval, since a Python statistic is called a rate."""
        hits = np.zeros(len(truth))
        people = int(self.lists.person.max()) + 1
        for _ in range(data_sets):
            scores = self.lists.draw(rng)

            def value(drawn, scores=scores):
                a, b = drawn[self.lists.a], drawn[self.lists.b]
                return np.array(self.values(scores, np.where(self.genuine, a, a * b)))

            point = value(np.ones(people, np.uint32))
            pairs = []
            for _ in range(replicates // 2):
                one = 2 * rng.integers(0, 2, people)
                pairs.append((value(one), value(2 - one)))
            one, other = np.array(pairs).transpose(1, 0, 2)
            of_people = np.mean((one - other) ** 2, axis=0) / 4
            of_pairs = np.var((one + other) / 2, axis=0, ddof=1)
            half = 1.96 * np.sqrt(np.maximum(of_people - of_pairs, (of_people + of_pairs) / 3))
            hits += np.abs(point - truth) <= half
        return hits / data_sets


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-sets", type=int, default=200)
    parser.add_argument("--replicates", type=int, default=300)
    parser.add_argument("--protocols", nargs="*", default=list(PROTOCOLS))
    arguments = parser.parse_args()
    for name in arguments.protocols:
        rng = np.random.default_rng(SEED)
        lists = PROTOCOLS[name]()
        truth = lists.truth(rng, 4 * arguments.data_sets)
        earlier, now = lists.coverage(
            [lists.earlier(), metrics.dyadic_bootstrap],
            arguments.data_sets,
            arguments.replicates,
            rng,
            truth,
        )
        for s, t, before, after in zip(lists.names(), truth, earlier, now, strict=True):
            print(
                f"| {lists.name} | {s} | {100 * t:.2f} % | {100 * before:.1f} % | "
                f"{100 * after:.1f} % |",
                flush=True,
            )


if __name__ == "__main__":
    main()
