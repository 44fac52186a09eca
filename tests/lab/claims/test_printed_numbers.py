"""Whether a printed number can exist, and how many comparisons tell two apart: numpy and scipy."""

import math

import numpy as np
import pytest
from facebench import claims
from scipy.stats import norm


def test_claims():
    claim = claims.check_claim("99.64", "lfw", against="99.53")
    assert not claim.exists
    assert claim.possible["up"] == [5978, 5978]
    said = repr(claim)
    for part in ("99.64 % cannot exist", "5978 of 6000", "99.6333 %", "99.64", "85 of"):
        assert part in said, said
    small = claims.check_claim("69.84", metric="tar@far=0.0001", genuine=5000, impostor=5000)
    assert "follows from the convention" in repr(small)
    assert "too few even in the first case" in repr(
        claims.check_claim("99.63", "lfw", against="99.53")
    )
    field = repr(claims.check_claim("96.37", "ijbc_1_1", metric="tar@far=0.0001"))
    assert "Printed as 96.37 for iresnet50, ms1mv3" in field
    assert claim.to_dict()["against"]["paired_nested"] > 6000
    with pytest.raises(ValueError, match="did you mean"):
        claims.check_claim("99.64", "lfw", metrik="accuracy")
    with pytest.raises(AttributeError, match="exists"):
        _ = claim.exist


# The formulas again, with scipy's quantiles.
@pytest.mark.parametrize(("a", "b"), [(0.9963, 0.9953), (0.6, 0.55), (1.0, 0.99), (0.2, 0.3)])
def test_sample_sizes_agree_with_the_formulas(a, b):
    z, power = norm.ppf(0.975), norm.ppf(0.8)
    d, mean, apart = abs(a - b), (a + b) / 2, a * (1 - b) + b * (1 - a)
    claim = claims.check_claim(f"{100 * a:.2f} %", metric="rate", genuine=10000, against=str(b))

    def size(null, alternative):
        return math.ceil((z * null**0.5 + power * alternative**0.5) ** 2 / d**2)

    assert claim.against["unpaired"] == size(2 * mean * (1 - mean), a * (1 - a) + b * (1 - b))
    assert claim.against["paired_nested"] == size(d, d - d * d)
    assert claim.against["paired_independent"] == size(apart, apart - d * d)
    assert claim.against["identities"] == claim.against["paired_independent"]


def test_a_spread_over_folds_is_tested():
    """Against numpy: what ten folds print with it is found, and of one more digit nothing else."""
    random = np.random.default_rng(5)
    for _ in range(20):
        right = 600 - random.binomial(600, 0.004, 10)
        rates = right / 600
        printed = {
            "standard_deviation": rates.std(),
            "sample_standard_deviation": rates.std(ddof=1),
            "standard_error": rates.std(ddof=1) / 10**0.5,
        }
        for kind, spread in printed.items():
            claim = claims.check_claim(f"{rates.mean():.7f} +- {spread:.7f}", "lfw")
            assert claim.spread["kinds"][kind] == [right.sum()]
            beside = claims.check_claim(f"{rates.mean():.7f} +- {spread + 3e-6:.7f}", "lfw")
            assert beside.spread["kinds"][kind] == []
    said = str(claims.check_claim("99.78 ± 0.28 %", "lfw"))
    assert (
        "The spread 0.28 % over 10 folds of 600 can be their sample standard deviation or" in said
    )
    said = str(claims.check_claim("0.99783+-0.00003", "lfw"))
    assert "cannot exist: no counts with that mean" in said
    said = str(claims.check_claim("99.78(28)", metric="rate", genuine=900))
    assert "their number is not known" in said
