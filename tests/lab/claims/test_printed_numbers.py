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


DIVISORS = {
    "standard_deviation": lambda n: n,
    "sample_standard_deviation": lambda n: n - 1,
    "standard_error": lambda n: n * (n - 1),
    "standard_error_of_n": lambda n: n * n,
}


def sums_of_squares(errors, folds, size, largest=None):
    """Of every way to share so many errors among folds, by recursion."""
    largest = min(size, errors if largest is None else largest)
    if folds == 0:
        return {0} if errors == 0 else set()
    if folds * largest < errors:
        return set()
    return {
        most * most + rest
        for most in range(-(-errors // folds), min(largest, errors) + 1)
        for rest in sums_of_squares(errors - most, folds - 1, size, most)
    }


@pytest.mark.parametrize(
    ("errors", "folds", "size"),
    [(28, 10, 600), (21, 10, 700), (12, 5, 20), (17, 4, 9), (9, 3, 50)],
)
def test_wide_spreads_are_enumerated(errors, folds, size):
    """Near the widest spreads the sums of squares have gaps: 28 errors over ten folds of 600 print
    1.3095 or 1.3604, nothing between."""
    total = folds * size
    squares = np.array(sorted(sums_of_squares(errors, folds, size)))
    for kind, divisor in DIVISORS.items():
        spreads = np.sqrt((squares - errors**2 / folds) / divisor(folds)) / size
        middles = (spreads[1:] + spreads[:-1]) / 2
        tried = np.r_[spreads[-12:], middles[-12:], spreads[:4]]
        for spread in tried:
            text = f"{1 - errors / total:.7f} +- {spread:.7f}"
            claim = claims.check_claim(text, metric="rate", genuine=total, folds=folds)
            there = np.any(np.abs(spreads - float(f"{spread:.7f}")) <= 5e-8 * (1 + 1e-6))
            assert claim.spread["untried"] == []
            assert (errors in [total - k for k in claim.spread["kinds"][kind]]) == there, text


def test_what_the_issue_says_of_ten_folds():
    kinds = claims.check_claim("99.533 +- 1.335", "lfw").spread["kinds"]
    assert not any(kinds.values())
    said = str(claims.check_claim("99.533 +- 1.335", "lfw"))
    assert "cannot exist: no counts with that mean" in said
    for printed in ("1.3095", "1.3604"):
        kinds = claims.check_claim(f"99.533 +- {printed}", "lfw").spread["kinds"]
        assert kinds["sample_standard_deviation"] == [5972]


def test_spreads_that_cannot_be_tried_may_be():
    """Of a million comparisons there are too many sums of squares."""
    claim = claims.check_claim("70.00 +- 9.00", metric="rate", genuine=1_000_000, folds=10)
    assert "standard_deviation" in claim.spread["untried"]
    assert "may be their standard deviation" in str(claim)
    assert "not every sum of squares was tried" in str(claim)


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


@pytest.mark.parametrize("printed", ["99.47 +- 0.01", "99.47 +- 0.00", "99.467 ± 0.020"])
def test_a_spread_with_few_digits_is_in_the_unit_of_its_mean(printed):
    """5,968 of 6,000 over ten folds have .067 % at least; 1 % is another spread."""
    said = str(claims.check_claim(printed, "lfw"))
    assert "cannot exist" in said and "The spread 1 %" not in said
