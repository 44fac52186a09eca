"""Two systems on the same comparisons, and the draws of people, against numpy and scipy."""

import numpy as np
import pytest
from facebench import _eval, metrics
from scipy.stats import norm


def sparse(rng, better=0.0, common=0.1):
    """Lists like LFW's, scored by two systems with a common difficulty of each comparison."""
    folds, pairs, identities = 5, 120, 150
    fold = np.repeat(np.arange(folds), pairs)
    labels = np.tile([1, 0], folds * pairs // 2)
    first = rng.integers(0, identities, len(fold)) + fold * identities
    second = np.where(
        labels == 1, first, rng.integers(0, identities, len(fold)) + fold * identities
    )
    shared = 0.35 * labels + rng.normal(0, common, len(fold))
    a = shared + better * labels + rng.normal(0, 0.05, len(fold))
    b = shared + rng.normal(0, 0.05, len(fold))
    return [metrics.Comparisons(s, labels, fold) for s in (a, b)], first, second, fold


def dyadic_sd(values):
    """Of replicates in opposed pairs, by the definition in docs/metrics.md."""
    one, other = values[0::2], values[1::2]
    of_people = np.mean((one - other) ** 2) / 4
    of_pairs = np.var((one + other) / 2, ddof=1)
    return np.sqrt(max(of_people - of_pairs, (of_people + of_pairs) / 3))


@pytest.mark.parametrize(
    ("resampling", "method", "sd_of"),
    [
        ("components", "component_bootstrap_paired", lambda v: np.std(v, ddof=1)),
        ("dyadic", "dyadic_bootstrap_paired", dyadic_sd),
    ],
)
def test_difference_is_that_of_the_same_replicates(resampling, method, sd_of):
    (a, b), first, second, fold = sparse(np.random.default_rng(1))
    options = metrics.BootstrapOptions(replicates=300, seed=5)
    seen = {"a": [], "b": []}

    def recorded(name, comparisons):
        def auc(weights):
            seen[name].append(metrics.auc(comparisons, weights))
            return seen[name][-1]

        return auc

    d = metrics.compare_paired(
        recorded("a", a),
        recorded("b", b),
        first,
        second,
        fold,
        resampling=resampling,
        options=options,
        threads=1,
    )
    values = np.array([seen["a"][1:], seen["b"][1:]])  # the first is the value itself
    assert values.shape == (2, 300)
    sd = sd_of(values[0] - values[1])
    assert d.value == d.a - d.b == metrics.auc(a) - metrics.auc(b)
    z = norm.ppf(0.975)
    assert d.interval.low == pytest.approx(d.value - z * sd, abs=1e-11)
    assert d.interval.high == pytest.approx(d.value + z * sd, abs=1e-11)
    assert d.p_value == pytest.approx(2 * norm.sf(abs(d.value) / sd), abs=1e-11)
    assert d.interval.method == method
    # What both find hard cancels: shorter than of two systems that know nothing of each other.
    alone = np.hypot(sd_of(values[0]), sd_of(values[1]))
    assert sd < 0.8 * alone


def test_interval_and_p_value_agree():
    rng = np.random.default_rng(2)
    for better in (0, 0.02, 0.05, 0.1):
        (a, b), first, second, fold = sparse(rng, better)
        pairs = [(_eval.auc_statistic(c), _eval.accuracy_statistic(c)) for c in (a, b)]
        options = metrics.BootstrapOptions(replicates=100)
        for resampling in ("components", "vertices", "dyadic"):
            for d in metrics.compare_paired(
                *pairs, first, second, fold, resampling=resampling, options=options
            ):
                outside = d.interval.low > 0 or d.interval.high < 0
                assert outside == (d.p_value < 0.05)
    same = metrics.compare_paired(pairs[0], pairs[0], first, second, fold, options=options)
    assert [(d.value, d.p_value, d.interval.low) for d in same] == [(0, 1, 0)] * 2
    with pytest.raises(ValueError, match="2 statistics of one system but 1 of the other"):
        metrics.compare_paired(list(pairs[0]), pairs[1][0], first, second, fold)
    with pytest.raises(ValueError, match="did you mean 'vertices'"):
        metrics.compare_paired(*pairs, first, second, resampling="vertice")


def test_the_interval_of_a_difference_of_rates_ends_at_what_is_possible():
    """Few people: one system is nearly always right, the other nearly always wrong."""
    count = 12
    labels, people = np.tile([1, 0], count), np.repeat(np.arange(count), 2)
    other = np.where(labels == 1, people, (people + 1) % count)
    scores = labels - 1.5 * (np.arange(2 * count) == 0)
    pair = [_eval.auc_statistic(metrics.Comparisons(s, labels)) for s in (scores, -scores)]
    d = metrics.compare_paired(*pair, people, other, np.zeros(2 * count, int))
    assert 0 < d.interval.low < d.value < d.interval.high == 1


@pytest.mark.slow
def test_p_value_is_uniform_where_systems_do_not_differ():
    rng = np.random.default_rng(3)
    options = metrics.BootstrapOptions(replicates=200)
    p = []
    for _ in range(300):
        (a, b), first, second, fold = sparse(rng)
        p.append(
            metrics.compare_paired(
                _eval.auc_statistic(a),
                _eval.auc_statistic(b),
                first,
                second,
                fold,
                options=options,
            ).p_value
        )
    assert 0.02 <= np.mean(np.array(p) < 0.05) <= 0.08
    assert 0.4 <= np.mean(p) <= 0.6


def test_dyadic_draws_people_twice_or_not_at_all_in_opposed_pairs():
    people = 40
    a, b = np.triu_indices(people)
    seen = []

    def inspect(weights):
        seen.append(weights.copy())
        return float(0.5 + 0.1 * (weights[1] > 0))

    options = metrics.BootstrapOptions(replicates=200)
    interval = metrics.dyadic_bootstrap(inspect, a, b, options=options, threads=1)
    assert interval.method == "dyadic_bootstrap_logit_t"
    own = np.flatnonzero(a == b)
    kept = []
    for weights in seen[1:201]:
        drawn = weights[own]
        assert set(drawn) <= {0, 2}
        np.testing.assert_array_equal(weights, np.where(a == b, drawn[a], drawn[a] * drawn[b]))
        kept.append(drawn)
    kept = np.array(kept)
    np.testing.assert_array_equal(kept[0::2] + kept[1::2], 2)
    assert abs(np.mean(kept[0::2]) - 1) < 0.03
    # Then the jackknife: each of the 40 people left out once.
    assert len(seen) == 1 + 200 + people
    for person, weights in enumerate(seen[201:]):
        np.testing.assert_array_equal(weights, (a != person) & (b != person))


def test_a_persons_draws_do_not_depend_on_who_else_is_there():
    def drawn(people):
        seen = []

        def inspect(weights):
            seen.append(weights.copy())
            return 0.5

        options = metrics.BootstrapOptions(replicates=100, seed=3)
        metrics.dyadic_bootstrap(inspect, people, people, options=options, threads=1)
        return np.array(seen[1:101])

    some, all_of_them = np.array([2, 5, 11, 17]), np.arange(20)
    np.testing.assert_array_equal(drawn(some), drawn(all_of_them)[:, some])
