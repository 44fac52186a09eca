"""metrics.NAME(scores, labels, people=...): the arrays call's value, with interval and counts."""

import inspect
import unicodedata

import facebench
import numpy as np
import pytest
from facebench import _eval, metrics

CALLS = {
    "accuracy": [np.arange(600) % 10],
    "auc": [],
    "eer": [],
    "min_cllr": [],
    "tar_at_far": [0.05],
}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 2, 600)
    first = rng.integers(0, 60, 600)
    second = np.where(labels, first, rng.integers(60, 120, 600))
    return rng.normal(size=600) + 2 * labels, labels, first, second


@pytest.mark.parametrize("name", CALLS)
def test_value_is_that_of_the_arrays_call_and_interval_that_of_the_bootstrap(name, data):
    scores, labels, first, second = data
    function, rest = getattr(metrics, name), CALLS[name]
    plain = function(scores, labels, *rest)
    cell = function(scores, labels, *rest, people=(first, second))
    assert cell.value == float(getattr(plain, "value", plain)) == float(cell)
    folds = rest if name == "accuracy" else []
    c = metrics.Comparisons(scores, labels, *folds)
    statistic = metrics.statistic(name, c, *([] if folds else rest))
    # People are numbered in the order of their names.
    number = {p: k for k, p in enumerate(sorted({*map(str, first), *map(str, second)}))}
    sides = ([number[str(p)] for p in side] for side in (first, second))
    asked = metrics.dyadic_bootstrap(statistic, *sides)
    assert (cell.low, cell.high, cell.method) == (asked.low, asked.high, asked.method)
    assert cell.low < cell.value < cell.high
    assert (cell.genuine, cell.impostor) == (labels.sum(), 600 - labels.sum())
    assert cell.people == len(number)
    assert list(inspect.signature(function).parameters)[:2] == ["scores", "labels"]
    # Rows in another order, people as texts: the same people are drawn.
    order = np.random.default_rng(0).permutation(600)
    texts = [[str(p) for p in side[order]] for side in (first, second)]
    moved = [r[order] if isinstance(r, np.ndarray) else r for r in rest]
    again = function(scores[order], labels[order], *moved, people=texts)
    assert (again.low, again.high) == pytest.approx((cell.low, cell.high), rel=1e-12)


def test_counts_of_a_tar_are_there_and_old_calls_go_on(data):
    scores, labels, first, second = data
    cell = metrics.tar_at_far(scores, labels, far=0.05, people=(first, second))
    assert cell.false_accepts == metrics.tar_at_far(scores, labels, 0.05).false_accepts
    c = metrics.Comparisons(scores, labels)
    assert metrics.tar_at_far(c, 0.05).value == cell.value
    assert metrics.tar_at_far(comparisons=c, far=0.05, people=(first, second)).low == cell.low
    assert metrics.eer(c) == _eval.eer(scores, labels)


@pytest.mark.parametrize(
    ("people", "words"),
    [
        (([1],), "give a pair"),
        (([1, None], [2, 3]), "entry 1"),
        (([1, 2], [3, float("nan")]), "entry 1"),
        (([1], [2]), "1 of 2 comparisons"),
        (3, "people"),
    ],
)
def test_people_that_cannot_be(people, words):
    with pytest.raises((ValueError, TypeError), match=words):
        metrics.auc([0.9, 0.1], [1, 0], people=people)


def test_what_belongs_to_an_interval_needs_people():
    with pytest.raises(ValueError, match="give people"):
        metrics.auc([0.9, 0.1], [1, 0], options=metrics.BootstrapOptions(replicates=20))
    with pytest.raises(ValueError, match="weights"):
        metrics.auc([0.9, 0.1], [1, 0], weights=[1, 1], people=([1, 2], [1, 3]))


KINDS = {
    "texts": lambda p: [f"person {k}" for k in p],
    "numbers": lambda p: p,
    "numbers as floats": lambda p: p.astype(float),
    "two Unicode forms": lambda p: [
        unicodedata.normalize("NFD" if k % 2 else "NFC", f"José {one}") for k, one in enumerate(p)
    ],
    "blanks around": lambda p: [f" {k} " for k in p],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["auc", "eer", "tar@far=0.01"])
def test_both_doors_give_the_same_digits(name, kind, data):
    """evaluate(scores=, labels=, people=) and the metric's own people= number people alike."""
    scores, labels, first, second = data
    people = tuple(KINDS[kind](np.asarray(side)) for side in (first, second))
    result = facebench.evaluate("pairs", scores=scores, labels=labels, people=people)
    whole = result[name]
    function, rest = ("tar_at_far", [0.01]) if "@" in name else (name, [])
    cell = getattr(metrics, function)(scores, labels, *rest, people=people)
    assert (cell.value, cell.low, cell.high) == (whole.value, whole.low, whole.high)
    order = np.random.default_rng(1).permutation(len(scores))
    moved = tuple(np.asarray(side)[order] for side in people)
    again = facebench.evaluate("pairs", scores=scores[order], labels=labels[order], people=moved)
    assert (again[name].low, again[name].high) == pytest.approx((whole.low, whole.high), rel=1e-12)
