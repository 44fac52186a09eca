"""Identification against definitions by brute force and transcriptions of published scripts."""

import heapq
import itertools
import math
import pickle

import facebench
import numpy as np
import pytest
from facebench import _eval, metrics


def random_search(rng, mated_only=False, several=False, dtype=float):
    """A similarity matrix with its identities; about half of the cases are tie-heavy."""
    people = int(rng.integers(2, 12))
    gallery = rng.permutation(people)
    if several:
        gallery = np.r_[gallery, rng.integers(0, people, int(rng.integers(0, 8)))]
    probes = rng.integers(0, people if mated_only else people + 6, int(rng.integers(2, 40)))
    probes[0] = 0
    if not mated_only:
        probes[1] = people
    similarity = rng.normal(0, 0.3, (len(probes), len(gallery)))
    similarity += 0.4 * (probes[:, None] == gallery)
    if rng.random() < 0.5:
        similarity = np.round(similarity * 4) / 4
    return similarity.astype(dtype), probes, gallery


def searches_by_hand(similarity, probes, gallery):
    """Of each probe: is it mated, score, people ahead of the mate, people tied with it."""
    people = sorted(set(gallery))
    for row, probe in zip(similarity, probes, strict=True):
        best = {g: max(row[gallery == g]) for g in people}
        if probe in best:
            others = [best[g] for g in people if g != probe]
            yield (
                True,
                best[probe],
                sum(o > best[probe] for o in others),
                sum(o == best[probe] for o in others),
            )
        else:
            yield False, max(best.values()), 0, 0


@pytest.mark.kernels
@pytest.mark.parametrize("threads", [1, 2])
def test_searches_of_embeddings_are_those_of_their_cosines(threads):
    rng = np.random.default_rng(3)
    probes, gallery = (rng.normal(size=(n, 12)).astype(np.float32) for n in (70, 23))
    who, whom = rng.integers(0, 25, 70), rng.integers(0, 18, 23)
    found = metrics.search_embeddings(probes, who, gallery, whom, threads=threads)
    a, b = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in (probes, gallery))
    by_hand = list(searches_by_hand(a @ b.T, who, whom))
    mated = [s for s in by_hand if s[0]]
    assert (found.mated, found.non_mated) == (len(mated), 70 - len(mated))
    ranks = np.array([1 + ahead for _, _, ahead, _ in mated])
    expected = [(ranks <= k).mean() for k in range(1, found.gallery + 1)]
    np.testing.assert_allclose(metrics.cmc(found).rate, expected, atol=1e-12)
    with pytest.raises(ValueError, match="70 probes with 23 identities"):
        metrics.search_embeddings(probes, whom, gallery, whom)
    with pytest.raises(facebench.Error, match="direction"):
        metrics.search_embeddings(probes * 0, who, gallery, whom)
    many = np.tile(probes, (60, 1))
    many[4150] = 0  # named by its own row, whatever the blocks
    with pytest.raises(facebench.Error, match="row 4150: is zero"):
        metrics.search_embeddings(many, np.tile(who, 60), gallery, whom)


@pytest.mark.parametrize("dtype", [float, np.float32])
def test_cmc_by_definition(dtype):
    rng = np.random.default_rng(1)
    for _ in range(400):
        case = random_search(rng, several=bool(rng.integers(2)), dtype=dtype)
        hand = list(searches_by_hand(*case))
        mated = [(ahead, tied) for is_mated, _, ahead, tied in hand if is_mated]
        people = len(set(case[2]))
        s = metrics.Searches(*case, threads=2)
        assert (s.mated, s.non_mated, s.gallery) == (len(mated), len(hand) - len(mated), people)
        ranks = {
            "pessimistic": [[a + t + 1] for a, t in mated],
            "optimistic": [[a + 1] for a, _ in mated],
            "expected": [list(range(a + 1, a + t + 2)) for a, t in mated],
        }
        for ties, of_probe in ranks.items():
            curve = metrics.cmc(s, ties)
            expected = [
                np.mean([np.mean([r <= k for r in rs]) for rs in of_probe])
                for k in range(1, people + 1)
            ]
            np.testing.assert_allclose(curve.rate, expected, rtol=0, atol=1e-12)
            assert curve.rate[-1] == 1
            assert (curve.mated, curve.gallery) == (len(mated), people)
            assert curve.tied == sum(t > 0 for _, t in mated)
            k = int(rng.integers(1, people + 1))
            assert metrics.rank_rate(s, k, ties) == pytest.approx(curve.rate[k - 1], abs=1e-12)


def test_dir_at_fpir_by_definition():
    rng = np.random.default_rng(2)
    for _ in range(600):
        case = random_search(rng, several=bool(rng.integers(2)))
        hand = list(searches_by_hand(*case))
        mated = [(score, a + t + 1) for is_mated, score, a, t in hand if is_mated]
        top = np.array([score for is_mated, score, _, _ in hand if not is_mated])
        fpir = float(rng.choice([0, 0.01, 0.1, 0.25, 0.5, 1]))
        rank = int(rng.integers(0, 3))
        allowed = [t for t in [*(h[1] for h in hand), np.inf] if np.mean(top >= t) <= fpir]

        def identified(t, mated=mated, rank=rank):
            return sum(score >= t and (rank == 0 or r <= rank) for score, r in mated)

        s = metrics.Searches(*case)
        cell = metrics.dir_at_fpir(s, fpir, rank)
        assert cell.identified == max(identified(t) for t in allowed)
        assert cell.identified == identified(cell.threshold)
        assert cell.value == cell.identified / len(mated)
        assert cell.fnir == (len(mated) - cell.identified) / len(mated)
        assert cell.false_positives == np.sum(top >= cell.threshold)
        assert cell.fpir_achieved == np.mean(top >= cell.threshold) <= fpir
        assert cell.expected_false_positives == fpir * len(top)
        assert cell.reliable == (fpir * len(top) >= 10)
        assert (cell.mated, cell.non_mated, cell.rank) == (len(mated), len(top), rank)

        curve = _eval.identification_curve(s, rank)
        distinct = sorted({h[1] for h in hand}, reverse=True)
        np.testing.assert_array_equal(curve.threshold, [np.inf, *distinct])
        np.testing.assert_array_equal(curve.identified, [identified(t) for t in curve.threshold])
        np.testing.assert_array_equal(curve.fpir, [np.mean(top >= t) for t in curve.threshold])
        np.testing.assert_array_equal(curve.dir, curve.identified / len(mated))


# --- published scripts ---------------------------------------------------------------------------


def ijb_1n(similarity, probes, gallery, far):
    """Pooled negatives of mated probes, thresholded at a rank that counts probes."""
    mate = np.array([np.flatnonzero(gallery == p)[0] for p in probes])
    of_mate = similarity[np.arange(len(probes)), mate]
    others = similarity.copy()
    others[np.arange(len(probes)), mate] = -np.inf
    k = math.ceil(len(probes) * far)
    threshold = heapq.nlargest(k, others[np.isfinite(others)])[k - 1]
    return np.sum(of_mate > threshold) / len(probes), threshold


def ijb_evals(similarity, probes, gallery, far):
    of_mate, best_other, alone = [], [], []
    for row, probe in zip(similarity, probes, strict=True):
        if probe in gallery:
            of_mate.append(row[gallery == probe][0])
            best_other.append(row[gallery != probe].max())
        else:
            alone.append(row.max())
    of_mate, best_other = np.array(of_mate), np.array(best_other)
    threshold = np.sort(alone)[::-1][max(int(len(alone) * far) - 1, 0)]
    right = (of_mate > best_other) & (of_mate > threshold)
    return right.sum() / len(of_mate), threshold


@pytest.mark.parametrize("rule", [ijb_1n, ijb_evals])
def test_conventions_equal_their_transcription(rule):
    rng = np.random.default_rng(3)
    convention = rule.__name__
    for _ in range(500):
        case = random_search(rng, mated_only=rule is ijb_1n)
        far = float(rng.choice([0.001, 0.01, 0.1, 0.3, 1]))
        s = metrics.Searches(*case, threads=2)
        cell = metrics.dir_at_fpir(s, far, convention=convention)
        value, threshold = rule(*case, far)
        assert (cell.value, cell.threshold, cell.convention) == (value, threshold, convention)
    described = {c["name"]: c for c in metrics.identification_conventions()}
    assert set(described) == {"exact", "ijb_1n", "ijb_evals"}
    assert described[convention]["rank"] == cell.rank
    assert all(c["doc"] and c["source"] for c in [*described.values(), *_eval.rank_ties()])


def test_the_pooled_reading_is_no_fpir():
    # Five mated probes that resemble everybody fill the pooled list of highest scores: its
    # threshold then answers no search at all where one in five was asked for.
    rng = np.random.default_rng(4)
    gallery, probes = np.arange(1000), np.r_[np.arange(500), np.arange(2000, 2500)]
    similarity = rng.normal(0, 0.1, (1000, 1000)) + (probes[:, None] == gallery)
    similarity[:5] += 1
    s = metrics.Searches(similarity, probes, gallery)
    assert metrics.dir_at_fpir(s, 0.2).false_positives == 100
    assert metrics.dir_at_fpir(s, 0.2, convention="ijb_evals").false_positives == 99
    pooled = metrics.dir_at_fpir(s, 0.2, convention="ijb_1n")
    assert (pooled.expected_false_positives, pooled.false_positives) == (100, 0)


# --- weights and intervals -----------------------------------------------------------------------


def test_weights_equal_repeated_probes():
    rng = np.random.default_rng(5)
    for _ in range(100):
        similarity, probes, gallery = random_search(rng)
        weights = rng.integers(0, 3, len(probes))
        weights[:2] = np.maximum(weights[:2], 1)
        weighted = metrics.Searches(similarity, probes, gallery)
        repeated = metrics.Searches(
            np.repeat(similarity, weights, axis=0), np.repeat(probes, weights), gallery
        )
        assert metrics.cmc(weighted, "optimistic", weights) == metrics.cmc(repeated, "optimistic")
        for far, rank in itertools.product((0.0, 0.2), (0, 1)):
            assert _eval.identification_curve(
                weighted, rank, weights
            ) == _eval.identification_curve(repeated, rank)
            for convention in ("exact", "ijb_evals"):
                args = far, rank, convention
                assert metrics.dir_at_fpir(weighted, *args, weights) == metrics.dir_at_fpir(
                    repeated, *args
                )
        for make in (
            lambda s: _eval.rank_rate_statistic(s, 1, "expected"),
            lambda s: _eval.dir_at_fpir_statistic(s, 0.2),
        ):
            ones = np.ones(len(repeated))
            assert make(weighted)(weights) == pytest.approx(make(repeated)(ones), abs=1e-12)


def test_weighted_ijb_1n_equals_repeated_probes():
    rng = np.random.default_rng(6)
    for _ in range(100):
        similarity, probes, gallery = random_search(rng, mated_only=True)
        weights = np.maximum(rng.integers(0, 3, len(probes)), np.arange(len(probes)) == 0)
        repeated = np.repeat(similarity, weights, axis=0), np.repeat(probes, weights), gallery
        statistic = _eval.dir_at_fpir_statistic(
            metrics.Searches(similarity, probes, gallery), 0.1, convention="ijb_1n"
        )
        assert statistic(weights) == ijb_1n(*repeated, 0.1)[0]


def test_intervals_draw_people_among_the_probes():
    rng = np.random.default_rng(7)
    probes, gallery = np.repeat(np.arange(60), 4), np.arange(40)
    hard = rng.normal(0, 0.3, 60)[probes]  # some people are hard to recognise, in all their images
    similarity = rng.normal(0, 0.2, (240, 40)) + (0.6 + hard)[:, None] * (
        probes[:, None] == gallery
    )
    s = metrics.Searches(similarity, probes, gallery)
    statistics = [_eval.rank_rate_statistic(s, 1), _eval.dir_at_fpir_statistic(s, 0.1)]
    points = [metrics.rank_rate(s, 1), metrics.dir_at_fpir(s, 0.1).value]
    intervals = _eval.vertex_bootstrap(statistics, probes, probes)
    for point, interval in zip(points, intervals, strict=True):
        alone = metrics.wilson(round(point * s.mated), s.mated)  # as if images were people
        assert interval.low < point < interval.high
        assert interval.high - interval.low > 1.2 * (alone.high - alone.low)


# --- what goes in --------------------------------------------------------------------------------


def test_equal_scores_identify_nobody():
    # A failed probe: the lowest score with everybody.
    s = metrics.Searches(np.full((2, 5), -1.0), [0, 9], np.arange(5))
    assert metrics.cmc(s).rate.tolist() == [0, 0, 0, 0, 1]
    assert metrics.cmc(s, "expected").rate.tolist() == pytest.approx([0.2, 0.4, 0.6, 0.8, 1])
    assert metrics.dir_at_fpir(s, 1.0).value == 0
    assert metrics.dir_at_fpir(s, 1.0, rank=0).value == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[0.1, np.nan]], [0], [0, 1]), r"score \[0, 1\] is nan"),
        (([[0.1, 0.2]], [0, 1], [0, 1]), "similarity is 1 x 2 for 2 probes and 2 gallery"),
        (([0.1, 0.2], [0], [0, 1]), "similarity has 1 dimensions"),
        ((np.zeros((0, 2)), [], [0, 1]), "no probes"),
        ((np.zeros((2, 0)), [0, 1], []), "gallery is empty"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        metrics.Searches(*arguments)


def test_wrong_use_is_named():
    s = metrics.Searches([[0.9, 0.2], [0.4, 0.3]], [1, 2], [1, 2])
    with pytest.raises(ValueError, match="needs mated and non-mated probes"):
        metrics.dir_at_fpir(s, 0.1)
    with pytest.raises(ValueError, match="an FPIR above 0"):
        metrics.dir_at_fpir(s, 0.0, convention="ijb_1n")
    with pytest.raises(ValueError, match="did you mean 'ijb_1n'"):
        metrics.dir_at_fpir(s, 0.1, convention="ijb1n")
    with pytest.raises(ValueError, match="did you mean 'optimistic'"):
        metrics.cmc(s, "optimist")
    with pytest.raises(ValueError, match=r"rank 3 is outside \[1, 2\]"):
        metrics.rank_rate(s, 3)
    with pytest.raises(ValueError, match=r"target FPIR is -0\.5"):
        metrics.dir_at_fpir(s, -0.5)
    with pytest.raises(ValueError, match="2 probes but 3 weights"):
        metrics.cmc(s, weights=[1, 1, 1])
    with pytest.raises(ValueError, match="no probe has a mate"):
        metrics.cmc(metrics.Searches([[0.9]], [1], [2]))


def test_results_are_values():
    s = metrics.Searches([[0.9, 0.2], [0.4, 0.3]], [1, 7], [1, 2])
    for result in (
        metrics.cmc(s),
        metrics.dir_at_fpir(s, 0.5),
        _eval.identification_curve(s),
    ):
        assert pickle.loads(pickle.dumps(result)) == result
