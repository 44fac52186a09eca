"""Nominal 95 % intervals cover a known truth about as often as they say (slow)."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
import coverage_simulation


@pytest.mark.slow
def test_vertex_bootstrap_covers_where_independent_pairs_do_not():
    rng = np.random.default_rng(coverage_simulation.SEED)
    coverage = coverage_simulation.Dense().coverage(500, 200, rng)
    assert np.all((coverage[:, 0] >= 0.92) & (coverage[:, 0] <= 0.98)), coverage
    assert np.all(coverage[:, 1] < 0.85), coverage


@pytest.mark.slow
@pytest.mark.parametrize("shift", [0.4, 0.55, 0.7])
def test_component_bootstrap_covers(shift):
    rng = np.random.default_rng(2)
    lists = coverage_simulation.Sparse(shift)
    truth = lists.truth(rng, 2000)
    coverage = lists.coverage(200, 200, rng, truth)
    # 92 % is what is asked for; one number of 200 data sets has a standard error of 1.9 %.
    assert coverage.mean() >= 0.92
    assert np.all(coverage >= 0.88), dict(zip(lists.names, coverage, strict=True))
