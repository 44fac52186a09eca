"""DET, Cllr, error versus reject, and fixed thresholds against definitions and scikit-learn."""

import math

import numpy as np
import pytest
from facebench import _eval, metrics
from scipy.stats import norm
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import det_curve


def random_case(rng, low=4):
    n = int(rng.integers(low, 60))
    labels = rng.integers(0, 2, n)
    labels[:2] = [0, 1]
    scores = rng.normal(1.5 * labels, 1)
    if rng.random() < 0.5:
        scores = np.round(scores * 2) / 2
    return scores, labels


# --- DET -----------------------------------------------------------------------------------------


def test_det_equals_scikit_learn():
    rng = np.random.default_rng(1)
    for _ in range(1000):
        scores, labels = random_case(rng)
        curve = metrics.det(scores, labels)
        points = dict(zip(curve.threshold, zip(curve.fmr, curve.fnmr, strict=True), strict=True))
        # scikit-learn's curve is a part of ours: it leaves out the ends.
        for fpr, fnr, threshold in zip(*det_curve(labels, scores), strict=True):
            if np.isfinite(threshold):
                assert points[threshold] == pytest.approx((fpr, fnr), abs=1e-12)
        assert (curve.fmr[0], curve.fnmr[0], curve.fmr[-1], curve.fnmr[-1]) == (0, 1, 1, 0)


def test_normal_quantile_equals_scipy():
    for p in np.r_[np.linspace(0.001, 0.999, 999), 1e-9, 1e-300]:
        assert _eval.normal_quantile(p) == pytest.approx(norm.ppf(p), rel=1e-12, abs=1e-14)


# --- Cllr ----------------------------------------------------------------------------------------


def brute_cllr(llr, labels):
    with np.errstate(over="ignore", divide="ignore"):
        genuine = np.logaddexp(0, -llr[labels == 1]).mean()
        impostor = np.logaddexp(0, llr[labels == 0]).mean()
    return (genuine + impostor) / (2 * math.log(2))


def test_cllr_by_definition():
    rng = np.random.default_rng(2)
    for _ in range(1000):
        scores, labels = random_case(rng)
        assert metrics.cllr(scores, labels) == pytest.approx(brute_cllr(scores, labels), abs=1e-12)
    assert metrics.cllr([800.0, -800.0], [1, 0]) == 0
    assert metrics.cllr([-800.0, 800.0], [1, 0]) == pytest.approx(800 / math.log(2))


def test_min_cllr_equals_scikit_learns_isotonic_regression():
    rng = np.random.default_rng(3)
    for _ in range(1000):
        scores, labels = random_case(rng)
        posterior = IsotonicRegression().fit(scores, labels).predict(scores)
        with np.errstate(divide="ignore"):
            llr = np.log(posterior / (1 - posterior)) - np.log(labels.sum() / np.sum(1 - labels))
        value = metrics.min_cllr(scores, labels)
        assert value == pytest.approx(brute_cllr(llr, labels), abs=1e-7)  # its posteriors round
        assert 0 <= value <= 1
        assert value <= metrics.cllr(scores, labels) + 1e-12
        assert value == pytest.approx(metrics.min_cllr(np.exp(scores), labels), abs=1e-15)


def test_min_cllr_by_definition():
    # The best of all ways to cut the distinct scores into blocks of rising likelihood ratio.
    rng = np.random.default_rng(4)
    for _ in range(100):
        labels = np.r_[0, 1, rng.integers(0, 2, int(rng.integers(1, 6)))]
        scores = rng.integers(0, 5, len(labels)).astype(float)
        distinct = np.unique(scores)
        best = math.inf
        for cuts in range(2 ** (len(distinct) - 1)):
            block = np.cumsum([0, *(cuts >> i & 1 for i in range(len(distinct) - 1))])
            of_score = block[np.searchsorted(distinct, scores)]
            g = np.array([np.sum(labels[of_score == b] == 1) for b in range(block[-1] + 1)])
            i = np.array([np.sum(labels[of_score == b] == 0) for b in range(block[-1] + 1)])
            with np.errstate(divide="ignore"):
                llr = np.log(g / labels.sum()) - np.log(i / np.sum(1 - labels))
            if np.all(llr[1:] >= llr[:-1]):
                best = min(best, brute_cllr(llr[of_score], labels))
        assert metrics.min_cllr(scores, labels) == pytest.approx(best, abs=1e-12)


def test_weights_repeat_comparisons():
    rng = np.random.default_rng(5)
    for _ in range(100):
        scores, labels = random_case(rng)
        weights = np.maximum(rng.integers(0, 3, len(labels)), np.arange(len(labels)) < 2)
        c = metrics.Comparisons(scores, labels)
        again = metrics.Comparisons(np.repeat(scores, weights), np.repeat(labels, weights))
        assert metrics.min_cllr(c, weights) == metrics.min_cllr(again)
        assert _eval.min_cllr_statistic(c)(weights) == metrics.min_cllr(again)
        assert metrics.cllr(c, weights) == pytest.approx(metrics.cllr(again), abs=1e-12)
        assert metrics.det(c, weights) == metrics.det(again)
        for make, name in ((_eval.fmr_statistic, "fmr"), (_eval.fnmr_statistic, "fnmr")):
            assert make(c, 0.5)(weights) == getattr(metrics.rates_at(again, 0.5), name)


# --- error versus reject -------------------------------------------------------------------------


def test_reject_curve_by_definition():
    rng = np.random.default_rng(6)
    for _ in range(1000):
        n = int(rng.integers(1, 30))
        wrong = rng.integers(0, 2, n)
        quality = np.round(rng.random(n), 1) if rng.random() < 0.5 else rng.random(n)
        curve = metrics.error_versus_reject(wrong, quality)
        distinct = np.unique(quality)
        np.testing.assert_array_equal(curve.quality, distinct)
        kept = [wrong[quality >= q] for q in distinct]
        np.testing.assert_array_equal(curve.kept, [len(k) for k in kept])
        np.testing.assert_array_equal(curve.wrong, [k.sum() for k in kept])
        np.testing.assert_array_equal(curve.error, [k.sum() / len(k) for k in kept])
        np.testing.assert_array_equal(curve.rejected, [(n - len(k)) / n for k in kept])
        # The area as the mean of the step function over the middles of a fine grid.
        limit = float(rng.choice([0.2, 0.5, 1.0]))
        grid = (np.arange(n * 50) + 0.5) / (n * 50)
        grid = grid[grid < limit] if limit < 1 else grid
        step = curve.error[np.searchsorted(curve.rejected, grid, "right") - 1]
        assert curve.area(limit) == pytest.approx(step.mean(), abs=0.03 if limit < 1 else 1e-9)
        # No other quality does better than the best.
        ideal = metrics.error_versus_reject(wrong, 1.0 - wrong + np.arange(n) * 1e-9)
        assert curve.best_area(limit) == pytest.approx(ideal.area(limit), abs=1e-12)
        assert curve.best_area(limit) <= curve.area(limit) + 1e-12


def test_reject_curves_of_few_comparisons():
    assert metrics.error_versus_reject([0, 1], [1, 1]).area() == 0.5
    with pytest.raises(ValueError, match=r"quality \[1\] is nan"):
        metrics.error_versus_reject([0, 1], [1, np.nan])
    with pytest.raises(ValueError, match="2 comparisons but 1 qualities"):
        metrics.error_versus_reject([0, 1], [1])
    with pytest.raises(ValueError, match=r"wrong \[0\] is 2"):
        metrics.error_versus_reject([2], [1])
    with pytest.raises(ValueError, match="no comparisons"):
        metrics.error_versus_reject([], [])
    with pytest.raises(ValueError, match="limit is 0"):
        metrics.error_versus_reject([0, 1], [1, 2]).area(0)


# --- fixed thresholds ----------------------------------------------------------------------------


def test_rates_at_a_fixed_threshold():
    rng = np.random.default_rng(7)
    for _ in range(300):
        (s1, y1), (s2, y2) = random_case(rng), random_case(rng)
        source, target = metrics.Comparisons(s1, y1), metrics.Comparisons(s2, y2)
        threshold = metrics.tar_at_far(source, 0.1).threshold
        rates = metrics.rates_at(target, threshold)
        assert rates.fmr == np.mean(s2[y2 == 0] >= threshold)
        assert rates.fnmr == np.mean(s2[y2 == 1] < threshold)
        expected = metrics.wilson(rates.false_matches, rates.impostor)
        assert (rates.fmr_interval.low, rates.fmr_interval.high) == (expected.low, expected.high)
        assert rates.fnmr_interval.method == "wilson_fixed_threshold"
    alone = metrics.rates_at(metrics.Comparisons([0.5], [1]), 0.4)
    assert math.isnan(alone.fmr) and math.isnan(alone.fmr_interval.low) and alone.fnmr == 0
    with pytest.raises(ValueError, match="threshold is NaN"):
        metrics.rates_at(target, math.nan)
    with pytest.raises(ValueError, match="no impostor"):
        _eval.fmr_statistic(metrics.Comparisons([0.5], [1]), 0.4)
