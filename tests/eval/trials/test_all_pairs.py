"""All pairs, listed pairs and TAR at several FARs against numpy and sorting."""

import pickle

import facebench
import numpy as np
import pytest
from facebench.metrics import (
    AllPairsOptions,
    all_pairs,
    dense_scores,
    listed_pair_scores,
    tar_at_far,
    tar_at_fars,
)

pytestmark = pytest.mark.kernels


def people(count, dim, identities, seed=0):
    rng = np.random.default_rng(seed)
    who = rng.integers(0, identities, count).astype(np.int32)
    middles = np.random.default_rng(99).normal(size=(identities, dim))
    rows = middles[who] + 1.3 * rng.normal(size=(count, dim))
    return (rows * rng.uniform(0.1, 5, (count, 1))).astype(np.float32), who


def cosines(a, b):
    a, b = a.astype(np.float64), b.astype(np.float64)
    a /= np.linalg.norm(a, axis=1, keepdims=True)
    b /= np.linalg.norm(b, axis=1, keepdims=True)
    return a @ b.T


@pytest.fixture(scope="module")
def data():
    return *people(400, 50, 40), *people(300, 50, 40, seed=1)


def test_listed_and_dense_scores_are_cosines(data):
    rows, _, columns, _ = data
    expected = cosines(rows, columns)
    first, second = np.unravel_index(np.arange(expected.size), expected.shape)
    listed = listed_pair_scores(rows, first, second, columns)
    assert listed.dtype == np.float64
    assert np.abs(listed - expected.ravel()).max() < 1e-14
    dense = dense_scores(rows, columns)
    assert dense.dtype == np.float32
    np.testing.assert_array_equal(dense, listed.reshape(expected.shape).astype(np.float32))
    np.testing.assert_array_equal(dense_scores(rows), dense_scores(rows, rows))
    for threads in (1, 3):
        again = listed_pair_scores(rows, first, second, columns, threads=threads)
        assert again.tobytes() == listed.tobytes()


@pytest.mark.parametrize("triangle", [True, False])
def test_all_pairs_is_scoring_everything_and_sorting(data, triangle):
    rows, who, columns, whom = data
    if triangle:
        first, second = np.triu_indices(len(rows), 1)
        scores, labels = listed_pair_scores(rows, first, second), who[first] == who[second]
        tail = all_pairs(rows, who, options=AllPairsOptions(far=0.02, bins=50))
    else:
        first, second = np.unravel_index(np.arange(len(rows) * len(columns)), (400, 300))
        scores = listed_pair_scores(rows, first, second, columns)
        labels = who[first] == whom[second]
        tail = all_pairs(rows, who, columns, whom, options=AllPairsOptions(far=0.02, bins=50))
    np.testing.assert_array_equal(tail.genuine, np.sort(scores[labels])[::-1])
    impostor = np.sort(scores[~labels])[::-1]
    assert tail.impostor_count == len(impostor)
    np.testing.assert_array_equal(tail.impostor, impostor[: len(tail.impostor)])
    assert tail.histogram.impostor.sum() == len(impostor)
    counts, _ = np.histogram(tail.genuine, tail.histogram.edges)
    np.testing.assert_array_equal(tail.histogram.genuine, counts)
    fars = [0, 1e-4, 1e-3, 0.013, 0.02]
    several = tar_at_fars(scores, labels, fars)
    for far, cell in zip(fars, several, strict=True):
        assert tar_at_far(tail, far) == tar_at_far(scores, labels, far) == cell
    with pytest.raises(facebench.Error, match=r"FAR of 0\.03"):
        tar_at_far(tail, 0.03)
    assert pickle.loads(pickle.dumps(tail)) == tail


def test_threshold_agrees_with_sklearn(data):
    metrics = pytest.importorskip("sklearn.metrics")
    rows, who, _, _ = data
    first, second = np.triu_indices(len(rows), 1)
    scores, labels = listed_pair_scores(rows, first, second), who[first] == who[second]
    fpr, tpr, _ = metrics.roc_curve(labels, scores, drop_intermediate=False)
    for far in (1e-4, 1e-3, 1e-2, 0.1, 0.5):
        at = np.flatnonzero(fpr <= far)[-1]
        (cell,) = tar_at_fars(scores, labels, [far])
        assert (cell.value, cell.far_achieved) == (tpr[at], fpr[at])


def test_takes_any_array(data):
    rows, who, _, _ = data
    plain = all_pairs(rows, who)
    assert all_pairs(rows.astype(np.float64), who.astype(np.int64)) == plain
    assert all_pairs(np.asfortranarray(rows), who.tolist()) == plain
    assert all_pairs(rows[::2], who[::2]) == all_pairs(rows[::2].copy(), who[::2].copy())

    class DLPackOnly:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **kwargs):
            return self.array.__dlpack__(**kwargs)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    assert all_pairs(DLPackOnly(rows), DLPackOnly(who)) == plain
    labels = np.arange(100) % 3 == 0
    scores = np.linspace(-1, 1, 100)
    for kind in (np.uint8, np.int64, np.float32, list):
        other = labels.tolist() if kind is list else labels.astype(kind)
        assert tar_at_fars(scores, other, [0.1]) == tar_at_fars(scores, labels, [0.1])


def test_takes_torch_tensors(data):
    torch = pytest.importorskip("torch")
    rows, who, _, _ = data
    assert all_pairs(torch.from_numpy(rows), torch.from_numpy(who)) == all_pairs(rows, who)
    indices = torch.tensor([0, 1, 2])
    assert len(listed_pair_scores(torch.from_numpy(rows), indices, indices + 1)) == 3


def test_names_what_is_wrong(data):
    rows, who, columns, whom = data
    with pytest.raises(ValueError, match="must have 2"):
        all_pairs(rows[0], who)
    with pytest.raises(ValueError, match="go together"):
        all_pairs(rows, who, columns)
    with pytest.raises(ValueError, match="dimension"):
        all_pairs(rows, who, columns[:, :20], whom)
    with pytest.raises(ValueError, match=r"identities \[1\]"):
        all_pairs(rows[:2], [0, 2**40])
    with pytest.raises(IndexError, match=r"pair \[1\] names row 400"):
        listed_pair_scores(rows, [0, 400], [1, 1])
    bad = rows.copy()
    bad[7, 3] = np.nan
    with pytest.raises(facebench.Error, match="row 7: holds a value that is not finite"):
        all_pairs(bad, who)
    with pytest.raises(ValueError, match="far"):
        AllPairsOptions(far=2)
    big = np.random.default_rng(0).normal(size=(10_000, 4)).astype(np.float32)
    with pytest.raises(ValueError, match="lower far"):
        all_pairs(big, np.arange(10_000), options=AllPairsOptions(far=1))


def test_progress_can_stop_it(data):
    rows, who, _, _ = data

    class Stop:
        stages = ()

        def begin(self, stage, total, unit):
            self.stages += (stage,)

        def update(self, done, note):
            if self.stages[-1] == "score all pairs":
                raise KeyboardInterrupt

        def end(self):
            pass

    progress = Stop()
    with pytest.raises(KeyboardInterrupt):
        all_pairs(rows, who, progress=progress)
    assert "score genuine pairs" in progress.stages
