"""Two systems on the same comparisons, and the draws of people, against numpy and scipy."""

import numpy as np
import pytest
from facebench import _eval, metrics
from scipy.stats import beta, binomtest, t


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
    """Of a difference's replicates in opposed pairs, by the definition in docs/metrics.md."""
    one, other = values[0::2], values[1::2]
    of_people = np.mean((one - other) ** 2) / 4
    of_pairs = np.var((one + other) / 2, ddof=1)
    return np.sqrt(max(of_people - of_pairs / 2, (of_people + of_pairs) / 3))


@pytest.mark.parametrize(
    ("resampling", "method", "sd_of"),
    [
        ("components", "component_bootstrap_paired_t", lambda v: np.std(v, ddof=1)),
        ("dyadic", "dyadic_bootstrap_paired_t", dyadic_sd),
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
    values = np.array([seen["a"], seen["b"]])  # the value itself, replicates, 200 without a group
    assert values.shape == (2, 1 + 300 + 200)
    sd = sd_of(values[0, 1:301] - values[1, 1:301])
    assert d.value == d.a - d.b == metrics.auc(a) - metrics.auc(b)
    assert d.sd == pytest.approx(sd, abs=1e-15)
    left_out = values[0, 301:] - values[1, 301:]
    squares = (left_out - left_out.mean()) ** 2
    freedom = 2 * squares.sum() ** 2 / (np.sum(squares**2) - squares.sum() ** 2 / 200)
    half = t.ppf(0.975, min(freedom, 199)) * sd
    assert d.interval.low == pytest.approx(d.value - half, abs=1e-11)
    assert d.interval.high == pytest.approx(d.value + half, abs=1e-11)
    expected = 2 * t.sf(abs(d.value) / sd, min(freedom, 199))
    assert d.p_value == pytest.approx(expected, abs=1e-11)
    assert d.differing > 25 and d.interval.note == ""
    assert d.interval.method == method
    # What both find hard cancels: shorter than of two systems that know nothing of each other.
    alone = np.hypot(sd_of(values[0, 1:301]), sd_of(values[1, 1:301]))
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
    for d in same:
        assert (d.value, d.p_value) == (0, 1) and d.interval.low == -d.interval.high < 0
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


def decided(right_a, right_b, **more):
    """Two systems on a genuine pair of each person: which of them each has right."""
    count = len(right_a)
    labels, people = np.repeat([1, 0], count), np.tile(np.arange(count), 2)
    other = np.r_[np.arange(count), count + np.arange(count)]
    systems = []
    for right in (right_a, right_b):
        scores = np.r_[np.where(right, 0.9, 0.1), np.full(count, 0.2)]
        comparisons = metrics.Comparisons(scores, labels)
        systems.append(_eval.tar_at_far_statistic(comparisons, 0.01))
    return metrics.compare_paired(*systems, people, other, **more)


FEW_OF_BOTH = [
    (1, 0),
    (2, 0),
    (3, 0),
    (4, 0),
    (5, 0),
    (6, 0),
    (9, 1),
    (0, 7),
    (3, 3),
    (5, 1),
    (8, 1),
]


@pytest.mark.parametrize("people", [5, 6, 9, 10, 12, 14, 20, 40, 150])
@pytest.mark.parametrize(("for_a", "for_b"), FEW_OF_BOTH)
def test_few_discordant_people_have_the_exact_test(for_a, for_b, people):
    """Whatever share of the people they are."""
    if for_a + for_b > people:
        pytest.skip("more discordant people than people")
    a, b = np.ones((2, people), bool)
    b[:for_a], a[for_a : for_a + for_b] = False, False
    d = decided(a, b)
    exact = binomtest(for_a, for_a + for_b).pvalue
    assert d.p_value >= exact * (1 - 1e-9)
    assert (d.interval.low > 0 or d.interval.high < 0) == (d.p_value < 0.05)
    assert d.interval.low <= d.value <= d.interval.high
    assert d.interval.note
    if for_a + for_b >= people:  # nobody is alike to both
        return
    # The variance of the replicates, so the number of trials, has an error of chance; with few
    # people draws also change what the rate is divided by.
    assert d.differing == pytest.approx(for_a + for_b, rel=0.1 if people == 150 else 0.25)
    if people >= 40:
        assert d.p_value <= max(exact * 1.6, 0.05 if exact < 0.05 else 0), exact
        assert d.interval.note.startswith("at least:")
        assert d.interval.method == "dyadic_bootstrap_paired_t_exact"


def test_people_who_agree_by_chance_are_no_more_than_their_number():
    """A number that is not a rate: Student's t of two people may be as large as it likes."""
    for people in (2, 3, 5, 9):
        own = 0.1 + 1e-4 * np.arange(people)
        kept = np.arange(people)

        def mean(values):
            return lambda w, v=values: float(w @ v / w.sum()) if w.any() else np.nan

        d = metrics.compare_paired(mean(own + 5), mean(np.full(people, 5.0)), kept, kept)
        if not d.no_interval:
            assert d.p_value == pytest.approx(binomtest(people, people).pvalue), people
            assert (d.interval.low > 0) == (d.p_value < 0.05)
        else:
            assert people < 4


def test_two_perfect_systems_have_the_bound_of_their_people():
    for people in (20, 50, 150):
        d = decided(np.ones(people, bool), np.ones(people, bool))
        most = beta.ppf(0.975, 1, people)  # Clopper and Pearson; Wilson is near
        assert (d.value, d.p_value, d.differing) == (0, 1, 0)
        assert d.interval.low == pytest.approx(-most, rel=0.04)
        assert d.interval.high == pytest.approx(most, rel=0.04)
        assert d.interval.note


def test_one_system_right_everywhere_and_one_nowhere():
    """No draw changes the difference: as many signs as people."""
    people = 30
    d = decided(np.ones(people, bool), np.zeros(people, bool))
    assert d.value == 1 == d.interval.high
    assert d.p_value == pytest.approx(binomtest(people, people).pvalue, rel=0.5)
    assert d.interval.low > 0.8


def test_more_errors_of_one_system_are_never_surer_of_less():
    """The p-value falls with each further person who speaks for the first system."""
    people = 100
    found = []
    for wrong in range(9):
        b = np.ones(people, bool)
        b[:wrong] = False
        found.append(decided(np.ones(people, bool), b))
    p = [d.p_value for d in found]
    assert p == sorted(p, reverse=True)
    low = [d.interval.low for d in found]
    assert low == sorted(low)


def test_a_number_that_is_no_rate_and_never_moves_has_no_interval():
    people = np.arange(20)
    d = metrics.compare_paired(lambda w: 2.0, lambda w: 3.0, people, people)
    assert np.isnan([d.interval.low, d.interval.high, d.p_value]).all()
    assert d.no_interval == "no draw of people changes the difference"


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
