"""The metrics floor against what people use: listed pairs against the usual Python loop with
scikit-learn, all pairs against FAISS and numpy."""

from pathlib import Path

import harness
import numpy as np
from harness import Comparison, Contestant

DIM = 512
FARS = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1]


def people(count: int, identities: int, seed: int):
    """Unit vectors of that many people, genuine scores around 0.25."""
    rng = np.random.default_rng(seed)
    who = rng.integers(0, identities, count).astype(np.int32)
    middles = np.random.default_rng(0).standard_normal((identities, DIM), dtype=np.float32)
    rows = middles[who] + 1.7 * rng.standard_normal((count, DIM), dtype=np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True), who


# --- Listed pairs and exact thresholds, the size of IJB-C 1:1 -------------------------------------

TEMPLATES, PEOPLE, PAIRS, GENUINE = 23_124, 3_531, 15_658_489, 19_557


def listed_inputs(pairs: int):
    rows, who = people(TEMPLATES, PEOPLE, 1)
    rng = np.random.default_rng(2)
    first = rng.integers(0, TEMPLATES, pairs).astype(np.int32)
    second = rng.integers(0, TEMPLATES, pairs).astype(np.int32)
    order = np.argsort(who, kind="stable")
    neighbours = np.flatnonzero(who[order][:-1] == who[order][1:])
    some = rng.choice(neighbours, GENUINE * pairs // PAIRS)
    at = rng.choice(pairs, len(some), replace=False)
    first[at], second[at] = order[some], order[some + 1]
    return rows, first, second, (who[first] == who[second]).astype(np.uint8)


def listed_setup(threads: int, pairs: int):
    return (threads, *listed_inputs(pairs))


class Sized:
    """setup(threads) of a given size; a class, so that the child can import it."""

    def __init__(self, setup, *sizes):
        self.setup, self.sizes = setup, sizes

    def __call__(self, threads):
        return self.setup(threads, *self.sizes)


def listed_ours(state):
    from facebench.metrics import listed_pair_scores, tar_at_fars

    threads, rows, first, second, labels = state
    scores = listed_pair_scores(rows, first, second, threads=threads)
    cells = tar_at_fars(scores, labels, FARS, threads=threads)
    return [c.value for c in cells], [c.threshold for c in cells], scores[:: len(scores) // 1000]


def listed_loop(state):
    """Batches of pairs in numpy, then scikit-learn's curve and the point nearest to each FAR."""
    from sklearn.metrics import roc_curve

    _, rows, first, second, labels = state
    scores = np.zeros(len(first))
    batch = 100_000
    for start in range(0, len(first), batch):
        a, b = rows[first[start : start + batch]], rows[second[start : start + batch]]
        scores[start : start + batch] = np.sum(a * b, -1)
    fpr, tpr, thresholds = roc_curve(labels, scores)
    fpr, tpr, thresholds = np.flipud(fpr), np.flipud(tpr), np.flipud(thresholds)
    at = [int(np.argmin(np.abs(fpr - far))) for far in FARS]
    return (
        [tpr[i] for i in at],
        [thresholds[i] for i in at],
        scores[:: len(scores) // 1000],
    )


def same_listed(ours, theirs):
    # The loop sums in float32, and takes the nearest FAR where ours never exceeds it: one impostor
    # more or less, which moves little where a FAR stands for many.
    np.testing.assert_allclose(ours[2], theirs[2], atol=1e-5)
    np.testing.assert_allclose(ours[0][2:], theirs[0][2:], atol=0.02)
    np.testing.assert_allclose(ours[1][2:], theirs[1][2:], atol=0.005)


def check_listed(pairs: int):
    """The scores and thresholds of ours against numpy in double and a full sort."""
    state = listed_setup(0, pairs)
    from facebench.metrics import listed_pair_scores, tar_at_fars

    _, rows, first, second, labels = state
    scores = listed_pair_scores(rows, first, second)
    some = np.random.default_rng(3).integers(0, pairs, 100_000)
    a, b = rows[first[some]].astype(np.float64), rows[second[some]].astype(np.float64)
    expected = np.einsum("ij,ij->i", a, b)
    expected /= np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    assert np.abs(scores[some] - expected).max() < 1e-14
    impostor = np.sort(scores[labels == 0])[::-1]
    for far, cell in zip(FARS, tar_at_fars(scores, labels, FARS), strict=True):
        rejected = impostor[int(np.floor(far * len(impostor) + 1e-9))]
        assert cell.false_accepts == np.count_nonzero(impostor > rejected)
        assert cell.genuine_accepted == np.count_nonzero(scores[labels == 1] > rejected)
        assert rejected < cell.threshold
    print("  scores equal numpy's in double, counts and thresholds those of a full sort")


def listed(settings):
    pairs = int(PAIRS * settings.scale)
    setup = Sized(listed_setup, pairs)
    result = harness.compare(
        Comparison(
            "Listed pairs (IJB-C size) and exact thresholds",
            "pairs",
            pairs,
            same_listed,
            goal=20,
            limit=("read_8MB", 2 * DIM * 4),
        ),
        Contestant("facebench", setup, listed_ours),
        [Contestant("Python loop + scikit-learn", setup, listed_loop)],
        settings,
    )
    check_listed(pairs)
    return result


# --- All pairs -----------------------------------------------------------------------------------

ROWS, COLUMNS, ALL_FAR = 60_000, 16_384, 1e-5


def all_setup(threads: int, rows: int, columns: int):
    a, who = people(rows, rows // 5, 1)
    b, whom = people(columns, rows // 5, 2)
    return threads, a, who, b, whom, all_threshold(a, who, b, whom)


def all_threshold(a, who, b, whom) -> float:
    """A threshold that several FARs below ALL_FAR meet, in the middle of a gap between scores that
    float32 cannot misjudge. From ours: the peers are given it, who would have to search for it."""
    from facebench.metrics import AllPairsOptions, all_pairs

    tail = all_pairs(a, who, b, whom, options=AllPairsOptions(far=ALL_FAR))
    scores = np.sort(np.concatenate([tail.genuine, tail.impostor]))[::-1]
    half = len(tail.impostor) // 2
    window = scores[(scores >= tail.impostor[-1]) & (scores <= tail.impostor[half])]
    gaps = window[:-1] - window[1:]
    widest = int(np.argmax(gaps))
    assert gaps[widest] > 1e-6
    return float((window[widest] + window[widest + 1]) / 2)


def count_of(tail, threshold):
    scores = np.concatenate([tail.genuine, tail.impostor])
    return int(np.count_nonzero(scores >= threshold))


def all_ours(state, bins=0):
    from facebench.metrics import AllPairsOptions, all_pairs, tar_at_far

    threads, a, who, b, whom, threshold = state
    options = AllPairsOptions(far=ALL_FAR, bins=bins)
    tail = all_pairs(a, who, b, whom, options=options, threads=threads)
    tar_at_far(tail, ALL_FAR)
    return count_of(tail, threshold)


def all_ours_histogram(state):
    return all_ours(state, bins=400)


def faiss_setup(threads: int, rows: int, columns: int):
    import faiss

    state = all_setup(threads, rows, columns)
    faiss.omp_set_num_threads(threads)
    index = faiss.IndexFlatIP(DIM)
    index.add(state[3])
    return (index, *state)


def faiss_range(state):
    index, _, a, *_, threshold = state
    limits, _, _ = index.range_search(a, threshold)
    return int(limits[-1])


def faiss_top(state):
    """The highest score of each row alone: less than the task, and what search() does fastest."""
    index, _, a, *_ = state
    index.search(a, 1)
    return None


def numpy_blocks(state):
    _, a, _, b, _, threshold = state
    found = 0
    for start in range(0, len(a), 1024):
        found += int(np.count_nonzero(a[start : start + 1024] @ b.T >= threshold))
    return found


def same_count(ours, theirs):
    assert theirs is None or ours == theirs, f"{ours} and {theirs} scores above the threshold"


def all_pairs(settings):
    rows, columns = int(ROWS * settings.scale), COLUMNS
    cpu = Path("/proc/cpuinfo").read_text()
    limit = "bf16" if "avx512_bf16" in cpu else "fma"
    ours = Sized(all_setup, rows, columns)
    peer = Sized(faiss_setup, rows, columns)
    # FAISS runs the blocks in parallel itself: one thread inside each product is its best.
    single = {"OPENBLAS_NUM_THREADS": "1"}
    return harness.compare(
        Comparison(
            "All pairs at d = 512, exact tail",
            "scores",
            rows * columns,
            same_count,
            goal=4,
            limit=(limit, 2 * DIM),
        ),
        Contestant("facebench", ours, all_ours),
        [
            Contestant("FAISS IndexFlatIP range_search", peer, faiss_range, single),
            Contestant("FAISS IndexFlatIP search k=1", peer, faiss_top, single),
            Contestant("numpy GEMM + count", ours, numpy_blocks, reference=True),
        ],
        settings,
    )


if __name__ == "__main__":
    harness.main({"listed": listed, "all_pairs": all_pairs})
