"""The comparisons that a search is made on."""

from types import SimpleNamespace

import numpy as np
from facebench.lab.diagnosis.development import Development


def test_a_failed_comparison_does_not_decide_d_prime():
    """Embeddings within some degrees of each other, and one image without a crop."""
    random = np.random.default_rng(2)
    rows = 5 + random.normal(size=(40, 16))
    first, second = np.arange(39), np.arange(1, 40)
    there = np.arange(40) != 7
    pairs = SimpleNamespace(pairs=SimpleNamespace(first=first, second=second))
    scores = Development._cosines(pairs, rows, there, 39)
    whole = Development._cosines(pairs, rows, np.ones(40, bool), 39)
    failed = (first == 7) | (second == 7)
    assert np.all(scores[failed] == whole[~failed].min())
    np.testing.assert_array_equal(scores[~failed], whole[~failed])
