"""The metrics against scikit-learn, brute-force definitions, transcriptions of published rules."""

import itertools
import math
import pickle

import numpy as np
import pytest
from facebench import _eval, metrics
from scipy.special import expit, logit
from scipy.stats import t as student
from sklearn.metrics import auc as trapezoids
from sklearn.metrics import roc_curve


def random_case(rng, n=None, ties=None, folds=0):
    """Scores in [-1, 1], with both classes in every fold; about half of the cases are tie-heavy."""
    n = n or int(rng.integers(4, 60))
    labels = rng.integers(0, 2, n)
    labels[:2] = [0, 1]
    fold = np.zeros(n, int)
    if folds:
        fold = np.arange(n) % folds
        labels[:folds], labels[folds : 2 * folds] = 0, 1
    scores = np.clip(rng.normal(0.25 * labels, 0.3), -1, 1)
    if ties if ties is not None else rng.random() < 0.5:
        scores = np.round(scores * 8) / 8
    return (scores, labels, fold) if folds else (scores, labels)


# --- ROC, AUC, EER -------------------------------------------------------------------------------


def test_roc_and_auc_equal_scikit_learn():
    rng = np.random.default_rng(1)
    for _ in range(2000):
        scores, labels = random_case(rng)
        curve = metrics.roc(scores, labels)
        fpr, tpr, threshold = roc_curve(labels, scores, drop_intermediate=False)
        np.testing.assert_array_equal(curve.threshold, threshold)
        np.testing.assert_allclose(curve.tpr, tpr, rtol=0, atol=1e-15)
        np.testing.assert_allclose(curve.fpr, fpr, rtol=0, atol=1e-15)
        np.testing.assert_array_equal(curve.fnr + curve.tpr, np.ones(len(curve)))
        assert abs(metrics.auc(scores, labels) - trapezoids(fpr, tpr)) < 1e-12


def brute_auc(scores, labels):
    g, i = scores[labels == 1], scores[labels == 0]
    return ((g[:, None] > i).sum() + (g[:, None] == i).sum() / 2) / (len(g) * len(i))


def brute_points(scores, labels):
    """(FPR, FNR) for every threshold that matters, by definition."""
    g, i = scores[labels == 1], scores[labels == 0]
    thresholds = [np.inf, *sorted(set(scores), reverse=True)]
    return [(np.mean(i >= t), np.mean(g < t)) for t in thresholds]


def line_crossing(a, b):
    """Where the segment from a to b crosses x = y, or None."""
    da, db = a[0] - a[1], b[0] - b[1]
    if da * db > 0 or da == db:
        return None
    share = da / (da - db)
    return a[0] + share * (b[0] - a[0])


def test_auc_and_eer_by_definition():
    rng = np.random.default_rng(2)
    for _ in range(1000):
        scores, labels = random_case(rng)
        points = brute_points(scores, labels)
        assert abs(metrics.auc(scores, labels) - brute_auc(scores, labels)) < 1e-12
        crossings = [line_crossing(a, b) for a, b in itertools.pairwise(points)]
        crossings = [c for c in crossings if c is not None]
        assert max(crossings) - min(crossings) < 1e-12  # the curve crosses the diagonal once
        assert abs(metrics.eer(scores, labels) - crossings[0]) < 1e-12


def test_rising_transforms_change_nothing_but_thresholds():
    rng = np.random.default_rng(4)
    for _ in range(200):
        scores, labels, _ = random_case(rng, n=60, folds=3)
        moved = np.exp(3 * scores)
        for f in (metrics.auc, metrics.eer):
            assert f(scores, labels) == f(moved, labels)
        a, b = metrics.tar_at_far(scores, labels, 0.1), metrics.tar_at_far(moved, labels, 0.1)
        assert (a.value, a.false_accepts) == (b.value, b.false_accepts)
        # Mirrored and with the classes exchanged it is the same problem.
        assert metrics.auc(-scores, 1 - labels) == metrics.auc(scores, labels)
        assert abs(metrics.eer(-scores, 1 - labels) - metrics.eer(scores, labels)) < 1e-12


def test_a_better_genuine_score_never_hurts():
    rng = np.random.default_rng(5)
    for _ in range(300):
        scores, labels = random_case(rng)
        better = scores.copy()
        better[rng.choice(np.flatnonzero(labels == 1))] += 0.3
        assert metrics.auc(better, labels) >= metrics.auc(scores, labels)
        for far in (0, 0.05, 0.3):
            new, old = (metrics.tar_at_far(s, labels, far).value for s in (better, scores))
            assert new >= old


# --- TAR at FAR ----------------------------------------------------------------------------------


def test_tar_at_far_exact_by_definition():
    rng = np.random.default_rng(6)
    for _ in range(1000):
        scores, labels = random_case(rng)
        g, i = scores[labels == 1], scores[labels == 0]
        far = float(rng.choice([0, 0.001, 0.1, 0.25, 0.5, 1]))
        allowed = [t for t in [*scores, np.inf] if np.mean(i >= t) <= far]
        cell = metrics.tar_at_far(scores, labels, far)
        assert cell.value == max(np.mean(g >= t) for t in allowed)
        # The threshold does what the cell says, and lies between scores.
        assert np.sum(g >= cell.threshold) == cell.genuine_accepted
        assert np.sum(i >= cell.threshold) == cell.false_accepts
        assert cell.far_achieved == np.mean(i >= cell.threshold) <= far
        assert cell.threshold not in scores or cell.threshold == scores.min()
        assert cell.expected_false_accepts == far * len(i)
        assert (cell.genuine, cell.impostor) == (len(g), len(i))


def test_tar_rises_with_far():
    rng = np.random.default_rng(7)
    scores, labels = random_case(rng, n=400)
    values = [metrics.tar_at_far(scores, labels, far).value for far in np.linspace(0, 1, 50)]
    assert values == sorted(values) and values[-1] == 1


@pytest.mark.parametrize("impostors", [30, 300, 1000, 3000, 7000, 100_000])
@pytest.mark.parametrize("far", [0.1, 0.01, 0.001, 0.3, 0.7])
def test_a_far_that_is_met_exactly_is_not_lost_to_rounding(impostors, far):
    allowed = round(far * impostors)
    if abs(allowed - far * impostors) > 1e-6:
        pytest.skip("the target is not a multiple of 1 / impostors")
    scores = np.r_[np.arange(impostors), -1.0]
    labels = np.r_[np.zeros(impostors), 1]
    cell = metrics.tar_at_far(scores, labels, far)
    assert cell.false_accepts == allowed
    assert cell.reliable == (allowed >= 10)


def facenet_val(scores, labels, folds, far):
    """The published rule in numpy, with the interpolation on the two grid points that it means."""
    dist, grid = np.maximum(2 - 2 * scores, 0), np.arange(0, 4, 0.001)
    val, fars = [], []
    for k in np.unique(folds):
        train = folds != k
        impostors = dist[train & (labels == 0)]
        far_train = np.mean(impostors < grid[:, None], axis=1)
        threshold = 0.0
        if far_train.max() >= far:
            last = np.flatnonzero(far_train <= far)[-1]
            if last + 1 == len(grid):
                threshold = grid[-1]
            else:
                x, y = far_train[last : last + 2], grid[last : last + 2]
                threshold = y[0] + (far - x[0]) / (x[1] - x[0]) * (y[1] - y[0])
        accept = (dist < threshold) & ~train
        val.append(accept[labels == 1].sum() / np.sum((labels == 1) & ~train))
        fars.append(accept[labels == 0].sum() / np.sum((labels == 0) & ~train))
    return np.mean(val), np.mean(fars)


def test_tar_at_far_facenet_equals_its_transcription():
    rng = np.random.default_rng(8)
    for _ in range(60):
        scores, labels, folds = random_case(rng, n=int(rng.integers(20, 120)), folds=4)
        far = float(rng.choice([0, 0.001, 0.05, 0.2, 0.9, 1]))
        expected = facenet_val(scores, labels, folds, far)
        for convention in ("facenet", "insightface"):
            cell = metrics.tar_at_far(scores, labels, far, convention, folds=folds)
            assert cell.value == pytest.approx(expected[0], abs=1e-12)
            assert cell.far_achieved == pytest.approx(expected[1], abs=1e-12)
            assert cell.convention == convention


def test_tar_at_far_facenet_gives_zero_where_the_training_far_stays_below_the_target():
    # Distances of 4 are never below a grid that ends at 3.999.
    scores, labels, folds = [1.0, -1.0] * 4, [1, 0] * 4, [0, 0, 1, 1] * 2
    assert metrics.tar_at_far(scores, labels, 0.5, "facenet", folds=folds).value == 0
    assert metrics.tar_at_far(scores, labels, 0.5).value == 1


# --- accuracy ------------------------------------------------------------------------------------


def published_accuracy(scores, labels, folds, choose, accept, reject):
    accuracies, thresholds = [], []
    for k in np.unique(folds):
        train = folds != k
        t = choose(scores[train], labels[train])
        test, truth = scores[~train], labels[~train]
        right = np.where(truth == 1, accept(test, t), reject(test, t))
        accuracies.append(right.sum() / len(right))
        thresholds.append(t)
    return accuracies, thresholds


def grid_accuracy(d, labels, grid):
    return np.mean((d < grid[:, None]) == (labels == 1), axis=1)


def choose_exact(s, labels):
    distinct = np.unique(s)[::-1]
    gaps = [(hi - lo, (lo + hi) / 2) for hi, lo in itertools.pairwise(distinct)]
    candidates = [(0.0, np.nextafter(distinct[0], np.inf)), *gaps, (0.0, distinct[-1])]
    correct = [np.sum((s >= t) == (labels == 1)) for _, t in candidates]
    best = [c for c, n in zip(candidates, correct, strict=True) if n == max(correct)]
    return max(best, key=lambda c: c[0])[1]  # the first, that is highest, of the widest


def choose_facenet(s, labels):
    grid = np.arange(0, 4, 0.01)
    return grid[np.argmax(grid_accuracy(np.maximum(2 - 2 * s, 0), labels, grid))]


def choose_magface(s, labels):
    grid = np.arange(0, 4, 0.01)
    return grid[np.argmax(grid_accuracy(np.arccos(np.clip(s, -1, 1)) / math.pi, labels, grid))]


def choose_facexzoo(s, labels):
    p, n = s[labels == 1], s[labels == 0]
    grid = s.min() + (s.max() - s.min()) / 1000 * np.arange(1, 1001)
    tpr = np.sum(p > grid[:, None], axis=1) / len(p)
    fpr = np.sum(n > grid[:, None], axis=1) / len(n)
    return grid[np.argmax(tpr - fpr)]


def choose_sphereface(s, labels):
    grid = np.arange(-10000, 10001) / 10000
    p, n = np.sort(s[labels == 1]), np.sort(s[labels == 0])
    right = len(p) - np.searchsorted(p, grid, "right") + np.searchsorted(n, grid, "left")
    best = grid[right == right.max()]
    return math.fsum(best) / len(best)


def choose_sphereface_pytorch(s, labels):
    grid = np.arange(-1.0, 1.0, 0.005)
    right = np.sum((s > grid[:, None]) == (labels == 1), axis=1)
    return grid[np.flatnonzero(right == right.max())[-1]]


def above(s, t):
    return s > t


def not_above(s, t):
    return s <= t


def below(s, t):
    return s < t


RULES = {
    "exact": (choose_exact, lambda s, t: s >= t, below, lambda t: t),
    "facenet": (
        choose_facenet,
        lambda s, t: np.maximum(2 - 2 * s, 0) < t,
        lambda s, t: np.maximum(2 - 2 * s, 0) >= t,
        lambda t: 1 - t / 2,
    ),
    "facexzoo": (choose_facexzoo, above, below, lambda t: t),
    "sphereface": (choose_sphereface, above, below, lambda t: t),
    "sphereface_pytorch": (choose_sphereface_pytorch, above, not_above, lambda t: t),
    "magface": (
        choose_magface,
        lambda s, t: np.arccos(np.clip(s, -1, 1)) / math.pi < t,
        lambda s, t: np.arccos(np.clip(s, -1, 1)) / math.pi >= t,
        lambda t: math.cos(math.pi * t),
    ),
}
RULES["insightface"] = RULES["facenet"]
SPREADS = {
    "sd": lambda a: np.std(a, ddof=1),
    "population_sd": np.std,
    "standard_error": lambda a: np.std(a, ddof=1) / np.sqrt(len(a)),
    "none": lambda a: math.nan,
}


def test_every_accuracy_convention_has_a_transcription():
    assert {c["name"] for c in metrics.accuracy_conventions()} == set(RULES)
    assert all(c["doc"] and c["source"] for c in metrics.accuracy_conventions())


@pytest.mark.parametrize("convention", sorted(RULES))
def test_accuracy_equals_its_transcription(convention):
    rng = np.random.default_rng(9)
    spread = {c["name"]: c["spread"] for c in metrics.accuracy_conventions()}[convention]
    choose, accept, reject, to_score = RULES[convention]
    edge = [
        (np.full(12, 0.25), np.arange(12) % 2, np.arange(12) // 4),  # one score only
        (np.where(np.arange(12) % 2, 1.0, -1.0), np.arange(12) % 2, np.arange(12) // 4),
        (np.where(np.arange(12) % 2, -0.5, 0.5), np.arange(12) % 2, np.arange(12) // 4),  # inverted
    ]
    cases = [random_case(rng, n=int(rng.integers(16, 90)), folds=4) for _ in range(100)]
    for scores, labels, folds in edge + cases:
        if convention == "sphereface":
            # A score in the middle of a symmetric set of maximisers would hang on their mean's last
            # bit, which the published script leaves to the order of summation.
            scores = scores * 0.98 + 0.0123456789
        expected, thresholds = published_accuracy(scores, labels, folds, choose, accept, reject)
        result = metrics.accuracy(scores, labels, folds, convention)
        np.testing.assert_array_equal(result.fold_accuracy, expected)
        np.testing.assert_allclose(
            result.fold_threshold, [to_score(t) for t in thresholds], rtol=0, atol=1e-12
        )
        assert result.value == pytest.approx(np.mean(expected), abs=1e-12)
        assert result.sd == pytest.approx(np.std(expected, ddof=1), abs=1e-12)
        assert result.standard_error == pytest.approx(result.sd / np.sqrt(len(expected)), abs=1e-12)
        assert result.spread == pytest.approx(SPREADS[spread](expected), abs=1e-12, nan_ok=True)
        sizes = np.unique(folds, return_counts=True)[1]
        assert result.wrong == round(np.sum((1 - np.array(expected)) * sizes))
        assert result.comparisons == len(scores)


def centred(first, second, labels, folds, rule):
    choose, accept, reject, _ = RULES[rule]
    accuracies = []
    for k in np.unique(folds):
        train = folds != k
        mean = np.concatenate([first[train], second[train]]).mean(0)
        a, b = first - mean, second - mean
        s = np.sum(a * b, 1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
        t = choose(s[train], labels[train])
        right = np.where(labels == 1, accept(s, t), reject(s, t))[~train]
        accuracies.append(right.mean())
    return accuracies


@pytest.mark.parametrize("rule", ["sphereface", "magface", "exact"])
def test_centred_accuracy_equals_its_transcription(rule):
    rng = np.random.default_rng(18)
    for _ in range(30):
        n, dim = int(rng.integers(16, 60)), int(rng.integers(2, 9))
        labels, folds = rng.integers(0, 2, n), np.arange(n) % 4
        common = rng.normal(1, 0.2, dim)  # what all embeddings share, and the mean takes away
        first = (common + rng.normal(0, 1, (n, dim))).astype(np.float32).astype(float)
        second = common + np.where(labels[:, None] == 1, first - common, 0)
        second = (second + rng.normal(0, 0.7, (n, dim))).astype(np.float32).astype(float)
        expected = centred(first, second, labels, folds, rule)
        result = metrics.centred_accuracy(first, second, labels, folds, rule)
        np.testing.assert_allclose(result.fold_accuracy, expected, rtol=0, atol=1e-12)
        assert result.value == pytest.approx(np.mean(expected), abs=1e-12)
        assert result.wrong == round(np.sum((1 - np.array(expected)) * np.bincount(folds)))
        assert (result.convention, result.comparisons) == (rule, n)
    with pytest.raises(ValueError, match="numbers of embeddings of 3 for 2 folds"):
        metrics.centred_accuracy(np.ones((2, 3)), np.ones((1, 3)), [0, 1], [0, 1])


def test_the_exact_threshold_maximises_the_training_accuracy():
    rng = np.random.default_rng(10)
    for _ in range(300):
        scores, labels, folds = random_case(rng, n=40, folds=2)
        result = metrics.accuracy(scores, labels, folds)
        for k, threshold in zip(result.folds, result.fold_threshold, strict=True):
            s, truth = scores[folds != k], labels[folds != k] == 1
            best = max(np.mean((s >= t) == truth) for t in [*s, np.inf])
            assert np.mean((s >= threshold) == truth) == best


# --- weights -------------------------------------------------------------------------------------


def test_weights_equal_repeated_data():
    rng = np.random.default_rng(11)
    for _ in range(60):
        scores, labels, folds = random_case(rng, n=60, folds=3)
        weights = rng.integers(0, 3, 60)
        weights[:6] = np.maximum(weights[:6], 1)  # both classes stay in every fold
        again = [np.repeat(x, weights) for x in (scores, labels, folds)]
        weighted, repeated = metrics.Comparisons(scores, labels, folds), metrics.Comparisons(*again)
        assert metrics.roc(weighted, weights) == metrics.roc(repeated)
        for f in (metrics.auc, metrics.eer):
            assert f(weighted, weights) == f(repeated)
        for name in RULES:
            assert metrics.accuracy(weighted, name, weights) == metrics.accuracy(repeated, name)
        for far in (0.0, 0.1, 0.5):
            for c in metrics.tar_at_far_conventions():
                args = far, c["name"]
                if far == 0 and c["name"] in ("ijb_1n", "insightface_gui"):
                    continue  # undefined
                assert metrics.tar_at_far(weighted, *args, weights) == metrics.tar_at_far(
                    repeated, *args
                )
        statistics = [
            _eval.auc_statistic,
            _eval.eer_statistic,
            lambda c: _eval.tar_at_far_statistic(c, 0.1),
            _eval.accuracy_statistic,
        ]
        for make in statistics:
            assert make(weighted)(weights) == make(repeated)(np.ones(len(repeated)))


# --- what goes in --------------------------------------------------------------------------------


class OnlyDlpack:
    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **kwargs):
        return self.array.__dlpack__(**kwargs)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


@pytest.mark.parametrize(
    "convert",
    [
        list,
        tuple,
        lambda a: a.astype(np.float32),
        lambda a: a.astype(np.float16),
        lambda a: np.repeat(a, 2)[::2],
        OnlyDlpack,
    ],
)
def test_scores_of_every_kind(convert):
    scores, labels = np.array([0.875, 0.25, 0.5, 0.125]), [1, 0, 1, 0]
    assert metrics.auc(convert(scores), labels) == 1
    assert metrics.auc(scores, np.array(labels, bool)) == 1
    assert metrics.auc(scores, np.array(labels, float)) == 1


def test_torch_tensors():
    torch = pytest.importorskip("torch")
    scores, labels = torch.tensor([0.9, 0.2, 0.5]), torch.tensor([True, False, True])
    assert metrics.auc(scores, labels) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.1, np.nan], [0, 1]), r"score \[1\] is nan"),
        (([0.1, 0.2, -np.inf], [0, 1, 1]), r"score \[2\] is -inf"),
        (([0.1, 0.2], [0, 2]), r"label \[1\] is 2"),
        (([0.1, 0.2], [0, -1]), r"labels \[1\] is -1"),
        (([0.1, 0.2], [0, 257]), r"labels \[1\] is 257"),
        (([0.1, 0.2], [0, 0.5]), r"labels \[1\] is 0.5"),
        (([0.1, 0.2], [0]), "2 scores but 1 labels"),
        (([], []), "no comparisons"),
        (([[0.1, 0.2]], [0, 1]), "scores has 2 dimensions"),
        (([0.1, 0.2], [1, 1]), "no impostor comparisons"),
        (([0.1, 0.2], [0, 0]), "no genuine comparisons"),
    ],
)
def test_bad_input_is_named(arguments, message):
    for f in (metrics.auc, metrics.eer):
        with pytest.raises(ValueError, match=message):
            f(*arguments)


def test_wrong_use_is_named():
    s, y, k = [0.1, 0.9, 0.2, 0.8], [0, 1, 0, 1], [0, 0, 1, 1]
    with pytest.raises(ValueError, match="did you mean 'facenet'"):
        metrics.accuracy(s, y, k, "facenett")
    with pytest.raises(ValueError, match="at least two folds"):
        metrics.accuracy(s, y, [0, 0, 0, 0])
    with pytest.raises(ValueError, match="at least two folds"):
        metrics.tar_at_far(s, y, 0.1, "facenet")
    with pytest.raises(ValueError, match=r"needs cosines in \[-1, 1\]; score \[2\] is 7"):
        metrics.accuracy([0.1, 0.9, 7, 0.8], y, k, "facenet")
    with pytest.raises(ValueError, match="one of the folds"):
        metrics.tar_at_far(s, [0, 0, 1, 1], 0.1, "facenet", folds=k)
    with pytest.raises(ValueError, match=r"target FAR is 1\.5"):
        metrics.tar_at_far(s, y, 1.5)
    with pytest.raises(ValueError, match="4 comparisons but 2 weights"):
        metrics.auc(s, y, [1, 1])
    with pytest.raises(TypeError, match="real numbers"):
        metrics.auc(["a", "b"], [0, 1])


def test_results_are_values():
    result = metrics.accuracy([0.1, 0.9, 0.2, 0.8], [0, 1, 0, 1], [0, 0, 1, 1])
    assert repr(result).startswith("Accuracy(value=1.0, folds=[0, 1], fold_accuracy=[1.0, 1.0]")
    assert pickle.loads(pickle.dumps(result)) == result
    assert result.to_dict()["wrong"] == 0
    assert result != metrics.accuracy([0.1, 0.9, 0.2, 0.1], [0, 1, 0, 1], [0, 0, 1, 1])
    with pytest.raises(ValueError, match="read-only"):
        result.fold_accuracy[0] = 0


def test_what_is_no_array_of_scores():
    masked = np.ma.array([0.9, 0.2, 5.0], mask=[0, 0, 1])  # numpy's asarray gives the 5, too
    for call in (metrics.auc, metrics.Comparisons, metrics.dprime):
        with pytest.raises(ValueError, match="scores has masked entries"):
            call(masked, [1, 0, 0])
    assert metrics.auc(masked[:2], [1, 0]) == 1
    for wrong, kind in (((x for x in (0.9, 0.2)), "generator"), (b"ab", "bytes"), ({}, "dict")):
        with pytest.raises(TypeError, match=f"scores must be an array of numbers, not {kind}"):
            metrics.auc(wrong, [1, 0])


def test_a_statistic_of_the_caller_that_returns_no_number():
    for value, kind in (("half", "str"), (None, "NoneType"), ([0.5], "list")):
        with pytest.raises(TypeError, match=f"must return a number, not {kind}"):
            metrics.dyadic_bootstrap(lambda w, v=value: v, [0, 1, 2], [1, 2, 0])


# --- summaries -----------------------------------------------------------------------------------


def test_summary_equals_numpy():
    rng = np.random.default_rng(12)
    scores, labels = random_case(rng, n=500)
    g, i = scores[labels == 1], scores[labels == 0]
    s = _eval.summarize(scores, labels)
    assert (s.genuine.count, s.impostor.count) == (len(g), len(i))
    assert s.genuine.mean == pytest.approx(g.mean(), abs=1e-12)
    assert s.impostor.sd == pytest.approx(i.std(ddof=1), abs=1e-12)
    expected = (g.mean() - i.mean()) / math.sqrt((g.var(ddof=1) + i.var(ddof=1)) / 2)
    assert metrics.dprime(scores, labels) == pytest.approx(expected, abs=1e-12)
    assert math.isnan(metrics.dprime([0.5, 0.5, 0.5, 0.5], [0, 0, 1, 1]))
    # A mean of equal values that is rounded gives them a spread: d' was 1.36 for these.
    for genuine, impostor in ((3, 8), (9, 11), (17, 4)):
        same = _eval.summarize([0.3] * (genuine + impostor), [1] * genuine + [0] * impostor)
        assert (same.genuine.mean, same.genuine.sd, same.impostor.sd) == (0.3, 0, 0)
        assert math.isnan(same.dprime)

    h = metrics.histogram(scores, labels, bins=20)
    np.testing.assert_array_equal(h.genuine, np.histogram(g, h.edges)[0])
    np.testing.assert_array_equal(h.impostor, np.histogram(i, h.edges)[0])
    assert h.edges[0] == scores.min() and h.edges[-1] == scores.max()
    assert metrics.histogram([0.5, 0.5], [0, 1], bins=3).genuine.sum() == 1


# --- intervals -----------------------------------------------------------------------------------


def sparse_lists(rng, folds=10, pairs=200, identities=250, spread=0.1):
    """LFW's shape: folds of their own identities, half genuine pairs, half impostors at random.

    Scores depend on who is compared (spread: how much), so comparisons that share an identity are
    not independent.
    """
    first = rng.integers(0, identities, folds * pairs)
    other = (first + rng.integers(1, identities, folds * pairs)) % identities
    labels = np.tile([1, 0], folds * pairs // 2)
    fold = np.repeat(np.arange(folds), pairs)
    second = np.where(labels == 1, first, other) + fold * identities
    first = first + fold * identities
    person = rng.normal(0, spread, folds * identities)
    scores = 0.35 * labels + person[first] + person[second] + rng.normal(0, 0.1, len(first))
    return scores, labels, fold, first, second


def test_bootstrap_statistics_and_functions_agree():
    scores, labels, fold, first, second = sparse_lists(np.random.default_rng(13), 4, 40, 30)
    c = metrics.Comparisons(scores, labels, fold)
    options = metrics.BootstrapOptions(replicates=50, seed=3)

    def auc(weights):
        return metrics.auc(c, weights)

    for bootstrap in (
        _eval.component_bootstrap,
        _eval.vertex_bootstrap,
        metrics.dyadic_bootstrap,
    ):
        ours, theirs = bootstrap(
            [_eval.auc_statistic(c), auc], first, second, fold, options=options, threads=2
        )
        assert ours.low == pytest.approx(theirs.low, abs=1e-6)
        assert ours.low < metrics.auc(c) < ours.high
        single = bootstrap(_eval.auc_statistic(c), first, second, fold, options=options)
        assert single == ours

    def fails(weights):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        _eval.component_bootstrap(fails, first, second, fold, threads=2)
    with pytest.raises(TypeError, match="a statistic is"):
        _eval.component_bootstrap(3, first, second, fold)


def test_component_bootstrap_equals_its_definition():
    # The same resampling in numpy, other random numbers: bounds agree within their sampling error.
    rng = np.random.default_rng(14)
    scores, labels, fold, first, second = sparse_lists(rng)
    c = metrics.Comparisons(scores, labels, fold)
    component = _eval.connected_components(first, second, fold).of_comparison
    of_fold = [np.unique(component[fold == k]) for k in range(10)]
    values = []
    for _ in range(1000):
        drawn = np.concatenate([rng.choice(members, len(members)) for members in of_fold])
        weights = np.bincount(drawn, minlength=component.max() + 1)[component]
        values.append(metrics.auc(c, weights))
    left_out = logit([metrics.auc(c, (component % 200 != g).astype(int)) for g in range(200)])
    square = (left_out - left_out.mean()) ** 2
    freedom = 2 * square.sum() ** 2 / (np.sum(square**2) - square.sum() ** 2 / 200)
    half = student.ppf(0.975, freedom) * np.std(logit(values), ddof=1)
    low, high = expit(logit(metrics.auc(c)) + np.array([-half, half]))
    interval = _eval.component_bootstrap(_eval.auc_statistic(c), first, second, fold)
    assert interval.method == "component_bootstrap_logit_t"
    assert abs(interval.low - low) < 0.1 * (high - low)
    assert abs(interval.high - high) < 0.1 * (high - low)


def test_few_components_that_decide_make_the_interval_wider():
    # 400 components; the AUC hangs on those with a genuine score below the impostors.
    labels, fold = np.tile([1, 0], 200), np.zeros(400, int)
    first, second = np.arange(400) * 2, np.arange(400) * 2 + 1 - labels
    factors = []
    for outliers in (1, 4, 60):
        scores = np.where(labels == 1, 1.0, 0.0) + np.arange(400) * 1e-6
        scores[np.flatnonzero(labels == 1)[:outliers]] = -1
        c = metrics.Comparisons(scores, labels, fold)
        values = []

        def recorded(weights, c=c, values=values):
            values.append(metrics.auc(c, weights))
            return values[-1]

        options = metrics.BootstrapOptions(replicates=300)
        metrics.compare_paired(
            recorded,
            recorded,
            first,
            second,
            fold,
            resampling="components",
            options=options,
            threads=1,
        )
        drawn = np.array(values[1:301])  # behind the value itself, before the jackknife
        sd = np.std(np.clip(logit(drawn), None, logit(1 - 0.5 / 40000)), ddof=1)
        i = _eval.component_bootstrap(_eval.auc_statistic(c), first, second, fold, options=options)
        # The other side ends at Wilson's for one and four of 200.
        assert i.low >= metrics.wilson(200 - outliers, 200).low or outliers > 4
        factors.append((logit(i.high) - logit(1 - outliers / 200)) / sd)
    assert factors[0] > 3 and factors[0] > factors[1] > factors[2] > 1.95
    assert factors[2] < 2.05


@pytest.mark.parametrize("people", [40, 4000], ids=["dense", "sparse"])
def test_dyadic_variance_is_that_of_comparisons_that_share_a_person(people):
    """Of a sum, by Aronow, Samii & Assenova 2015: products over all pairs of comparisons that share
    a person, each once."""
    rng = np.random.default_rng(18)
    first, second = rng.integers(0, people, (2, 600))
    second = np.where(np.arange(600) < 200, first, second)  # the first 200 are genuine
    person = rng.normal(0, 1, people)
    values = person[first] + person[second] + rng.normal(0, 1, 600)
    values -= values.mean()
    share = (
        (first[:, None] == first)
        | (first[:, None] == second)
        | (second[:, None] == first)
        | (second[:, None] == second)
    )
    variance = values @ share @ values

    def total(weights):
        return float(weights @ values)

    options = metrics.BootstrapOptions(replicates=20000)
    i = metrics.dyadic_bootstrap(total, first, second, options=options)
    assert i.method == "dyadic_bootstrap_t"
    assert i.low < 0 < i.high
    # Student's t has at least 30 degrees of freedom here, at most 200.
    half = (i.high - i.low) / 2
    assert 0.95 * 1.96 <= half / np.sqrt(variance) <= 1.05 * 2.06
    # People drawn with replacement count single pairs three times.
    vertex = metrics.compare_paired(
        total, lambda w: 0.0, first, second, resampling="vertices", options=options
    )
    wrong = (vertex.interval.high - vertex.interval.low) / 2
    assert (wrong > 1.25 * half) == (people == 4000)


def test_a_statistic_beyond_0_and_1_gets_percentiles():
    scores, _, fold, first, second = sparse_lists(np.random.default_rng(17), 4, 40, 30)

    def total(weights):
        return float(np.sum(weights * scores))

    options = metrics.BootstrapOptions(replicates=100)
    i = _eval.component_bootstrap(total, first, second, fold, options=options)
    assert i.method == "component_bootstrap_percentile"
    assert i.low < scores.sum() < i.high


def test_min_cllr_of_tied_scores_is_what_a_transformation_reaches():
    """Pool-adjacent-violators over groups of equal scores is ours. Taken one by one, genuine scores
    before impostor ones of the same value (Brummer's opt_loglr.m: "so that min_cllr(0,0) returns
    1, not 0") are pooled too. Behind them (bob.measure 4 and 5, min_cllr; ports to Python whose
    optimal_llr sorts [non, tar]) they print less than any function of the score can cost."""

    def pooled(labels, weights):
        blocks = []
        for value, weight in zip(labels, weights, strict=True):
            blocks.append([value, weight])
            while len(blocks) > 1 and blocks[-2][0] >= blocks[-1][0]:
                (a, m), (b, n) = blocks[-2:]
                blocks[-2:] = [[(a * m + b * n) / (m + n), m + n]]
        return np.concatenate([[value] * weight for value, weight in blocks])

    def cost(share, genuine):
        """share: of genuine comparisons, by pooling; as likelihood ratios at the classes' odds."""
        with np.errstate(divide="ignore"):
            ratio = share / (1 - share) * (genuine == 0).sum() / (genuine == 1).sum()
            return (
                np.mean(np.log2(1 + 1 / ratio[genuine == 1]))
                + np.mean(np.log2(1 + ratio[genuine == 0]))
            ) / 2

    rng = np.random.default_rng(8)
    genuine = np.repeat([0, 1], [400, 200])
    scores = np.round(rng.normal(2.0 * genuine, 1))  # a dozen values
    values, where, counts = np.unique(scores, return_inverse=True, return_counts=True)
    by_value = np.array([genuine[where == k].mean() for k in range(len(values))])
    sorted_labels = genuine[np.argsort(where, kind="stable")]
    grouped = cost(pooled(by_value, counts), sorted_labels)

    def one_by_one(within_a_tie):
        labels = genuine[np.lexsort((within_a_tie, scores))]
        return cost(pooled(labels.astype(float), np.ones(600, int)), labels)

    comparisons = metrics.Comparisons(scores, genuine.astype(np.uint8))
    assert metrics.min_cllr(comparisons) == pytest.approx(grouped, abs=1e-12)
    assert one_by_one(-genuine) == pytest.approx(grouped, abs=1e-12)
    assert one_by_one(genuine) < grouped - 0.02
    # No other increasing function of the score costs less.
    for _ in range(200):
        other = np.maximum.accumulate(by_value * (1 - 0.02 * rng.random(len(values))))
        assert cost(other[where], genuine) >= grouped


def test_a_statistic_is_the_metric_of_its_name():
    rng = np.random.default_rng(12)
    scores, labels, folds = random_case(rng, n=60, folds=3)
    c = metrics.Comparisons(scores, labels, folds)
    once = np.ones(60, np.int64)
    for name in ("auc", "eer", "min_cllr"):
        assert metrics.statistic(name, c)(once) == getattr(metrics, name)(c)
    assert metrics.statistic("accuracy", c, "exact")(once) == metrics.accuracy(c, "exact").value
    assert metrics.statistic("tar_at_far", c, far=0.1)(once) == metrics.tar_at_far(c, 0.1).value
    rates = metrics.rates_at(c, 0.4)
    assert metrics.statistic("fmr", c, 0.4)(once) == rates.fmr
    assert metrics.statistic("fnmr", c, threshold=0.4)(once) == rates.fnmr
    with pytest.raises(ValueError, match=r"metric is acu; known are .*did you mean 'auc'"):
        metrics.statistic("acu", c)
