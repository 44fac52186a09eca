"""Planted truths in 200 draws: the figures of docs/evidence.md. Run by `make test-slow`.

A planted ratio of groups is in test_groups.py, safe thresholds are in test_operating_points.py.
"""

import facebench
import numpy as np
import pytest
from facebench import reports
from facebench.metrics import DiscardOptions, error_versus_discard
from planted_truths import WrongLabels, auc_and_variance, shifted_runs, write_pairs, wrong_pairs
from scipy.stats import norm

pytestmark = pytest.mark.slow
DRAWS = 200


def test_the_true_order_is_within_two_percent_of_the_oracle():
    worst, gains = 0.0, []
    for draw in range(DRAWS):
        rng = np.random.default_rng(1000 + draw)
        scores, labels, first, second, person, wrong = wrong_pairs(rng)
        true = np.ones(len(person))
        true[first[:400]] = 1 - wrong
        true += rng.uniform(0, 0.5, len(true))
        for discard in ("comparisons", "images"):
            options = DiscardOptions(discard=discard, threshold=0.5, replicates=20)
            found = error_versus_discard(
                scores, labels, first, second, person, {"true": true}, options
            )
            for area in found.measures[0].areas:
                worst = max(worst, abs(area.value / area.oracle - 1))
                gains.append(area.gain)
    print(f"largest distance from the oracle {100 * worst:.2f} %, gain {np.mean(gains):.4f}")
    assert worst <= 0.02 and np.min(gains) >= 0.98


def test_planted_label_errors_are_among_twenty_inspected(tmp_path):
    recall = []
    for draw in range(DRAWS):
        folder = tmp_path / str(draw)
        folder.mkdir()
        data = WrongLabels(folder, seed=1000 + draw)
        found = facebench.inspect(data.run, far=0.01)
        inspected = {name for s in found.suspects[:20] for name in s["samples"]}
        recall.append(len(data.wrong & inspected) / len(data.wrong))
    print(f"recall at 20 inspected: mean {np.mean(recall):.3f}, least {np.min(recall):.2f}")
    assert np.mean(recall) >= 0.95


def test_a_planted_margin_is_first_as_often_as_theory_says(tmp_path):
    pairs, shifts = 300, (1.3, 1.1)
    write_pairs(tmp_path / "lists", pairs)
    labels = np.arange(pairs) < pairs // 2
    random = np.random.default_rng(8)
    first, better = [], 0
    for draw in range(DRAWS):
        runs = shifted_runs(tmp_path / f"d{draw}", tmp_path / "lists", shifts, labels, random)
        ranking = reports.rank_runs(runs, "pairs", "auc", replicates=200, seed=draw)
        first.append(ranking["places"][0]["first"])
        better += ranking["places"][0]["value"] > ranking["places"][1]["value"]
    (a, va), (b, vb) = (auc_and_variance(s, pairs // 2, pairs // 2) for s in shifts)
    z = (a - b) / np.sqrt(va + vb)
    share, rate = norm.cdf(z / np.sqrt(2)), norm.cdf(z)
    print(f"share of draws {np.mean(first):.3f}, theory {share:.3f}; "
          f"ranked first {better / DRAWS:.3f}, theory {rate:.3f}")  # fmt: skip
    # Three standard errors of 200 draws.
    assert np.mean(first) == pytest.approx(share, abs=3 * np.std(first) / np.sqrt(DRAWS))
    assert better / DRAWS == pytest.approx(rate, abs=3 * np.sqrt(rate * (1 - rate) / DRAWS))
