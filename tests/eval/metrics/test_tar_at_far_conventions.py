"""Every TAR@FAR convention against a transcription of the published rule in numpy."""

import math

import convention_table
import generated_page
import numpy as np
import pytest
from facebench import metrics
from sklearn.metrics import roc_curve


def ijb(scores, labels, far):
    fpr, tpr, _ = roc_curve(labels, scores)
    fpr, tpr = np.flipud(fpr), np.flipud(tpr)
    nearest = min(range(len(fpr)), key=lambda i: (abs(fpr[i] - far), i))
    return tpr[nearest], fpr[nearest]


def at(scores, labels, accept):
    return accept(scores[labels == 1]).mean(), accept(scores[labels == 0]).mean()


def by_round(scores, labels, far, epsilon):
    negatives = np.sort(scores[labels == 0])[::-1]
    k = int(np.round(len(negatives) * far))
    threshold = negatives[0] + epsilon if k == 0 else negatives[k - 1]
    return at(scores, labels, lambda s: s >= threshold)


def pfe(scores, labels, far):
    return by_round(scores, labels, far, 1e-8)


def cvlface(scores, labels, far):
    return by_round(scores, labels, far, 1e-5)


def ijb_1n(scores, labels, far):
    negatives = np.sort(scores[labels == 0])[::-1]
    k = math.ceil(len(negatives) * far)
    return None if k == 0 else at(scores, labels, lambda s: s > negatives[k - 1])


def bob(scores, labels, far):
    negatives = np.sort(scores[labels == 0])
    if len(negatives) < 2:
        return None
    threshold = np.nextafter(negatives[-1], negatives[-1] + 1)
    if far >= 1 - np.finfo(float).eps:
        threshold = np.nextafter(negatives[0], negatives[0] - 1)
    else:
        for t in np.unique(negatives)[::-1]:
            if np.sum(negatives >= t) / len(negatives) > far:
                break
            threshold = t
    return at(scores, labels, lambda s: s >= threshold)


def openbr(scores, labels, far):
    scores, f = scores.astype(np.float32), np.float32
    points, before = [], (0, 0)
    for t in np.unique(scores)[::-1]:
        true, false = np.sum(scores[labels == 1] >= t), np.sum(scores[labels == 0] >= t)
        if false > before[0] and true > before[1]:
            before = false, true
            points.append((f(false) / f(np.sum(labels == 0)), f(true) / f(np.sum(labels == 1))))
    points = points or [(f(1), f(1))]
    if len(points) == 1:
        points = [(f(0), f(0)), *points]
    if len(points) > 2:
        points.pop()
    i = next((i for i, p in enumerate(points) if p[0] >= f(far)), None)
    if i is None:
        return 1.0, None
    x1, y1 = points[i - 1] if i else (f(0), f(0))
    x2, y2 = points[i]
    if x1 == x2:
        return None
    m = (y2 - y1) / (x2 - x1)
    return float(m * f(far) + (y1 - m * x1)), None


def fare(scores, labels, far):
    fpr, tpr, _ = roc_curve(labels, scores)
    return np.interp(far, fpr, tpr), None


def insightface_gui(scores, labels, far):
    positives, negatives = scores[labels == 1], scores[labels == 0]
    allowed = math.floor(far * len(negatives))
    if allowed == 0:
        return None
    candidates = np.unique([np.nextafter(negatives.max(), np.inf), *scores])
    valid = [t for t in candidates if np.sum(negatives >= t) <= allowed]
    best = max(np.sum(positives >= t) for t in valid)
    threshold = min(t for t in valid if np.sum(positives >= t) == best)
    return at(scores, labels, lambda s: s >= threshold)


RULES = [ijb, pfe, cvlface, ijb_1n, bob, openbr, fare, insightface_gui]
FARS = [0.0, 0.001, 0.01, 0.05, 0.1, 0.125, 0.25, 0.3, 0.5, 0.9, 1.0]


def cases():
    rng = np.random.default_rng(1)
    for _ in range(250):
        n = int(rng.integers(3, 80))
        labels = rng.integers(0, 2, n)
        labels[:3] = [0, 1, 0]
        scores = np.clip(rng.normal(0.25 * labels, 0.3), -1, 1)
        if rng.random() < 0.5:
            scores = np.round(scores * 8) / 8
        yield scores, labels
    yield np.full(6, 0.25), np.arange(6) % 2  # one score only
    yield np.linspace(0, 1, 8), np.r_[np.zeros(4, int), np.ones(4, int)]  # perfect
    yield np.linspace(0, 1, 8), np.r_[np.ones(4, int), np.zeros(4, int)]  # inverted
    yield np.arange(40) / 40, np.arange(40) % 2  # a straight run of equal steps
    yield np.array([0.5, 0.1]), np.array([0, 1])  # one impostor


@pytest.mark.parametrize("rule", RULES, ids=lambda r: r.__name__)
def test_equals_its_transcription(rule):
    convention = rule.__name__
    undefined = 0
    for scores, labels in cases():
        c = metrics.Comparisons(scores, labels)
        for far in FARS:
            expected = rule(scores, labels, far)
            if expected is None:
                undefined += 1
                with pytest.raises(ValueError, match=f"undefined under '{convention}'"):
                    metrics.tar_at_far(c, far, convention)
                continue
            cell = metrics.tar_at_far(c, far, convention)
            assert cell.value == pytest.approx(expected[0], abs=1e-12), (far, scores, labels)
            if expected[1] is not None:
                assert cell.far_achieved == expected[1]
                assert cell.value == cell.genuine_accepted / cell.genuine
                assert cell.far_achieved == cell.false_accepts / cell.impostor
            assert cell.convention == convention
    if rule in (ijb_1n, insightface_gui, bob, openbr):
        assert undefined > 0


def test_every_convention_has_a_transcription():
    names = {c["name"] for c in metrics.tar_at_far_conventions()}
    # exact, facenet and insightface are in test_metrics.py.
    assert names == {r.__name__ for r in RULES} | {"exact", "facenet", "insightface"}
    assert all(c["doc"] and c["source"] for c in metrics.tar_at_far_conventions())


def test_only_some_conventions_keep_to_the_target():
    rng = np.random.default_rng(2)
    above = dict.fromkeys(["exact", *(r.__name__ for r in RULES)], 0)
    for _ in range(200):
        labels = np.arange(200) % 2
        scores = np.round(np.clip(rng.normal(0.4 * labels, 0.25), -1, 1) * 50) / 50
        c = metrics.Comparisons(scores, labels)
        for name in above:
            above[name] += metrics.tar_at_far(c, 0.03, name).far_achieved > 0.03
    conservative = {"exact", "bob", "insightface_gui", "ijb_1n", "openbr", "fare"}
    assert {name for name, n in above.items() if n == 0} == conservative


def test_the_example_of_the_docs_is_what_the_script_makes():
    old = generated_page.stale(convention_table.generated())
    assert old == [], "run: PYTHONPATH=build/python python scripts/convention_table.py"
