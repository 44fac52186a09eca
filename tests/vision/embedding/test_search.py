"""The search for what differs: its statistic and probabilities."""

import numpy as np
import pytest
from facebench.lab.diagnosis.search import dprime_statistic, probability_of
from scipy import stats


def test_expected_accuracies_have_probabilities():
    beta = stats.betabinom(6000, 990.5, 10.5)
    assert probability_of(0.99, 6000, 990, 1000) == pytest.approx(beta.sf(5939), rel=1e-9)


def test_dprime_is_the_distance_of_means():
    scores, genuine = np.array([0.9, 0.7, 0.1, 0.3, 0.2]), np.array([1, 1, 0, 0, 0])
    high, low = scores[:2], scores[2:]
    expected = (high.mean() - low.mean()) / np.sqrt((high.var() + low.var()) / 2)
    assert dprime_statistic(scores, genuine)(np.ones(5)) == pytest.approx(expected)
