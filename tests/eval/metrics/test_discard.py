"""Error versus discard against a literal transcription in numpy, and planted truths."""

import itertools

import numpy as np
import pytest
from facebench import metrics
from facebench.metrics import DiscardOptions, error_versus_discard
from planted_truths import wrong_pairs

QUICK = {"replicates": 20}


def case(rng, people=30, ties=False):
    """Each person has four images; genuine pairs of neighbours, impostor pairs of strangers."""
    person = np.repeat(np.arange(people), 4)
    first = np.concatenate([np.arange(4 * people), rng.integers(0, 4 * people, 400)])
    second = np.concatenate(
        [
            np.arange(4 * people) // 4 * 4 + (np.arange(4 * people) + 1) % 4,
            (first[4 * people :] + rng.integers(4, 4 * people - 4, 400)) % (4 * people),
        ]
    )
    labels = (person[first] == person[second]).astype(np.uint8)
    quality = rng.normal(size=4 * people)
    low = np.minimum(quality[first], quality[second])
    scores = rng.normal(2.0 * labels + 0.7 * labels * low, 1)
    if ties:
        quality, scores = np.round(quality), np.round(scores * 2) / 2
    return scores, labels, first, second, person, quality - quality.min()


def fnmr_at_far(scores, labels, far):
    """The lowest threshold whose FAR is not above the target; every threshold is tried."""
    best = None
    for t in [np.inf, *sorted(set(scores), reverse=True)]:
        if np.mean(scores[labels == 0] >= t) > far:
            break
        best = np.mean(scores[labels == 1] < t)
    return best


def transcription(data, options, threshold):
    """[(share discarded, FNMR of the rest)], one for each distinct quality."""
    scores, labels, first, second, _, quality = data
    genuine = labels == 1
    pair = np.minimum(quality[first], quality[second])
    if options.pair_quality == "product":
        pair = quality[first] * quality[second]
    compared = np.unique(np.r_[first, second])
    of_unit = quality[compared] if options.discard == "images" else pair[genuine]
    points = []
    for cut in np.unique(of_unit):
        # Nothing is discarded at the lowest quality.
        kept = (pair >= cut) | (cut == of_unit.min())
        if not (kept & genuine).any():
            break
        if options.discard_threshold == "kept":
            error = np.mean(scores[kept & genuine] < threshold)
        else:
            if not (kept & ~genuine).any():
                break
            error = fnmr_at_far(scores[kept], labels[kept], options.far)
        points.append((np.mean(of_unit < cut), error))
    return points


def area(points, limit):
    shares = [*(x for x, _ in points if x < limit), limit]
    errors = [e for x, e in points if x < limit]
    return np.dot(np.diff(shares), errors) / limit


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize(
    ("discard", "pair_quality", "again"),
    [
        ("comparisons", "minimum", False),
        ("comparisons", "product", False),
        ("comparisons", "minimum", True),
        ("images", "minimum", False),
        ("images", "minimum", True),
    ],
)
def test_curves_equal_the_transcription(ties, discard, pair_quality, again):
    for seed in range(5):
        data = case(np.random.default_rng(seed), ties=ties)
        options = DiscardOptions(
            discard=discard,
            pair_quality=pair_quality,
            discard_threshold="chosen_again" if again else "kept",
            far=0.05,
            limits=[0.2, 0.3, 1],
            **QUICK,
        )
        found = error_versus_discard(*data[:5], {"q": data[5]}, options)
        assert found.fnmr == fnmr_at_far(*data[:2], 0.05)
        wanted = transcription(data, options, found.threshold)
        (measure,) = found.measures
        points = list(zip(measure.curve.rejected, measure.curve.error, strict=True))
        assert np.allclose(points, wanted, atol=1e-12, rtol=0)
        for a in measure.areas:
            assert a.value == pytest.approx(area(wanted, a.limit), abs=1e-12)


def test_intervals_draw_people_and_differences_are_paired():
    scores, labels, first, second, person, quality = case(np.random.default_rng(3))
    options = DiscardOptions(threshold=1.0, limits=[0.3], replicates=60)
    other = np.random.default_rng(4).normal(size=len(quality))
    found = error_versus_discard(
        scores, labels, first, second, person, {"q": quality, "chance": other}, options
    )
    genuine = labels == 1
    values = {"q": quality, "chance": other}
    of_pair = {k: np.minimum(v[first], v[second])[genuine] for k, v in values.items()}
    wrong = scores[genuine] < 1.0

    def weighted_area(name):
        def value(weights):
            w, q = weights[genuine], of_pair[name]
            cuts = np.unique(q)
            kept = np.array([w[q >= c].sum() for c in cuts])
            bad = np.array([(w * wrong)[q >= c].sum() for c in cuts])
            there = kept > 0
            share, error = 1 - kept[there] / w.sum(), bad[there] / kept[there]
            return area(list(zip(share, error, strict=True)), 0.3)

        return value

    how = metrics.BootstrapOptions(replicates=60)
    wanted = metrics.dyadic_bootstrap(
        [weighted_area("q"), weighted_area("chance")], person[first], person[second], options=how
    )
    for measure, interval in zip(found.measures, wanted, strict=True):
        assert measure.areas[0].interval.low == pytest.approx(interval.low, rel=1e-6)
        assert measure.areas[0].interval.high == pytest.approx(interval.high, rel=1e-6)
    (difference,) = found.differences
    assert difference.paired.value == found.measures[0].areas[0].value - (
        found.measures[1].areas[0].value
    )
    assert difference.paired.interval.high < 0 and difference.paired.p_value < 0.05


def test_the_true_order_of_errors_comes_to_the_oracle():
    scores, labels, first, second, person, wrong = wrong_pairs(np.random.default_rng(5))
    true = np.ones(len(person))
    true[first[:400]] = 1 - wrong  # one image of each wrong pair is the bad one
    true += np.random.default_rng(6).uniform(0, 0.5, len(true))
    for discard in ("comparisons", "images"):
        options = DiscardOptions(discard=discard, threshold=0.5, **QUICK)
        found = error_versus_discard(
            scores, labels, first, second, person, {"true": true, "opposite": -true}, options
        )
        for a, worst in zip(*(m.areas for m in found.measures), strict=True):
            assert a.value == pytest.approx(a.oracle, rel=0.02)
            assert 0.98 <= a.gain <= 1 and worst.gain < 0.3
        # Random discards leave the error where it is.
        noise = {str(k): np.random.default_rng(k).normal(size=len(true)) for k in range(30)}
        chance = error_versus_discard(scores, labels, first, second, person, noise, options)
        gains = [m.areas[0].gain for m in chance.measures]
        assert abs(np.mean(gains)) < 4 * np.std(gains) / np.sqrt(len(gains))


def test_the_oracle_of_images_takes_who_is_in_the_most_wrong_comparisons():
    # Images 0..4 of one person: 0 is wrong with every other, the others are right.
    pairs = [*list(itertools.combinations(range(5), 2)), (0, 5), (3, 6)]
    first, second = np.array(pairs).T
    labels = np.r_[np.ones(10), np.zeros(2)].astype(np.uint8)
    scores = np.where((first == 0) | (labels == 0), 0.1, 0.9)
    found = error_versus_discard(
        scores,
        labels,
        first,
        second,
        [0] * 5 + [1, 2],
        {"q": np.arange(7.0)},
        DiscardOptions(discard="images", threshold=0.5, **QUICK),
    )
    assert found.oracle.error.tolist() == [0.4, 0]
    assert found.oracle.rejected.tolist() == [0, 1 / 7]


def test_equal_qualities_go_together():
    scores, labels, first, second, person, _ = wrong_pairs(np.random.default_rng(7))
    options = DiscardOptions(threshold=0.5, limits=[0.3], **QUICK)
    same = {"constant": np.ones(len(person))}
    (measure,) = error_versus_discard(scores, labels, first, second, person, same, options).measures
    assert measure.curve.rejected.tolist() == [0]
    assert measure.areas[0].value == pytest.approx(0.04) and measure.areas[0].gain == 0


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({"qualities": {}}, {}, "no quality"),
        ({"qualities": {"q": [1, 2]}}, {}, "3 samples but 2 values"),
        ({"qualities": {"q": [1, np.nan, 2]}}, {}, "finite"),
        ({"qualities": {"q": [1, -1, 2]}}, {"pair_quality": "product"}, "not negative"),
        ({}, {"pair_quality": "product", "discard": "images"}, "product"),
        ({}, {"threshold": 0.5, "discard_threshold": "chosen_again"}, "chosen again"),
        ({}, {"limits": [1.5]}, "limits"),
        ({"first_sample": [0, 7]}, {}, "sample 7"),
        ({"labels": [0, 0]}, {}, "no genuine"),
    ],
)
def test_wrong_use_is_refused(change, options, message):
    arguments = {
        "scores": [0.9, 0.1],
        "labels": [1, 0],
        "first_sample": [0, 0],
        "second_sample": [1, 2],
        "person": [0, 0, 1],
        "qualities": {"q": [1, 2, 3]},
    }
    with pytest.raises(ValueError, match=message):
        error_versus_discard(**(arguments | change), options=DiscardOptions(**options))
