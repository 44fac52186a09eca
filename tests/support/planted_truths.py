"""Data with planted truths, for test_discard.py, test_inspect.py, test_suite.py and
test_decision_coverage.py."""

import csv
import itertools
from pathlib import Path

import facebench
import numpy as np
from facebench import protocols
from facebench.protocols import EmbeddingSet
from scipy.stats import multivariate_normal, norm

PEOPLE, IMAGES = 60, 4


def wrong_pairs(rng, people=400, rate=0.04):
    """A genuine and an impostor pair of each person; images are in one genuine pair alone."""
    person = np.repeat(np.arange(people), 2)
    genuine = np.arange(people)
    first = np.r_[2 * genuine, 2 * genuine]
    second = np.r_[2 * genuine + 1, (2 * genuine + 2) % (2 * people)]
    labels = np.r_[np.ones(people), np.zeros(people)].astype(np.uint8)
    wrong = rng.permutation(people) < rate * people
    scores = np.r_[np.where(wrong, 0.1, 0.9), np.full(people, 0.2)]
    return scores, labels, first, second, person, wrong


class WrongLabels:
    """All pairs within 60 people and as many impostors; 10 photographs show somebody else."""

    def __init__(self, folder, errors=10, noise=0.35, seed=1):
        rng = np.random.default_rng(seed)
        names = [f"P{k // IMAGES:02}/{k % IMAGES}.jpg" for k in range(PEOPLE * IMAGES)]
        pairs = [
            (person * IMAGES + a, person * IMAGES + b, 1)
            for person in range(PEOPLE)
            for a, b in itertools.combinations(range(IMAGES), 2)
        ]
        strangers = rng.integers(0, len(names), (len(pairs), 2))
        strangers = strangers[strangers[:, 0] // IMAGES != strangers[:, 1] // IMAGES]
        pairs += [(a, b, 0) for a, b in strangers]
        with open(folder / "pairs.csv", "w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["first", "second", "label"])
            rows.writerows([names[a], names[b], same] for a, b, same in pairs)
        # People are folders.
        spec = (Path(__file__).resolve().parents[2] / "protocols/pairs.toml").read_text()
        self.protocol = folder / "own.toml"
        changes = {'identity = "genuine"': 'identity = "folder"', 'id = "pairs"': 'id = "planted"'}
        changes['title = "List of pairs"'] = 'title = "Planted pairs"'
        for line, changed in changes.items():
            spec = spec.replace(f"\n{line}\n", f"\n{changed}\n")
        self.protocol.write_text(spec)
        self.folder, self.names = folder, names
        person = np.arange(len(names)) // IMAGES
        wrong = rng.choice(PEOPLE, errors, replace=False)
        wrong = [p * IMAGES + rng.integers(IMAGES) for p in wrong]
        self.wrong = {names[i] for i in wrong}
        shown = person.copy()
        for i in wrong:  # not of the set, whose order is another one in each process
            shown[i] = (person[i] + 1 + rng.integers(PEOPLE - 1)) % PEOPLE
        centre = rng.normal(size=(PEOPLE, 16))
        self.values = centre[shown] + noise * rng.normal(size=(len(names), 16))
        self.run = self.evaluate(folder / "run")

    def evaluate(self, out=None, values=None, **more):
        data = EmbeddingSet(np.float32(self.values if values is None else values), self.names)
        result = protocols.evaluate(self.protocol, data, root=self.folder, replicates=20, **more)
        if out is not None:
            result.save(out)
        return out or result


def write_pairs(folder, pairs):
    """Half genuine, half impostor; nobody is in two of them, so comparisons are independent."""
    lines = ["first,second,label"]
    for i in range(pairs):
        other = f"p{i}/2" if i < pairs // 2 else f"q{i}/1"
        lines.append(f"p{i}/1.jpg,{other}.jpg,{int(i < pairs // 2)}")
    folder.mkdir()
    (folder / "pairs.csv").write_text("\n".join(lines) + "\n")


def shifted_runs(folder, root, shifts, labels, random):
    """A run for each shift: normal scores, the genuine ones higher by the shift."""
    runs = []
    for number, shift in enumerate(shifts):
        scores = random.standard_normal(len(labels)) + shift * labels
        runs.append(folder / str(number))
        facebench.evaluate("pairs", scores=scores, root=root, interval="none", out=runs[-1])
    return runs


def auc_and_variance(shift, genuine, impostor):
    """Of binormal scores: Hanley & McNeil, Radiology 1982, with the exact Q1 and Q2."""
    auc = norm.cdf(shift / np.sqrt(2))
    both = multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]])
    q = both.cdf([shift / np.sqrt(2)] * 2)
    spread = auc * (1 - auc) + (genuine + impostor - 2) * (q - auc**2)
    return auc, spread / (genuine * impostor)
