"""Back ends against scikit-learn, numpy, and integration by hand."""

import itertools

import numpy as np
import pytest
from facebench import Error, _eval, backends

sklearn = pytest.importorskip("sklearn")

pytestmark = pytest.mark.kernels


def people(seed=0, count=60, images=6, dim=7, between=1.0, within=0.5):
    rng = np.random.default_rng(seed)
    mix = rng.normal(size=(dim, dim))
    labels = np.repeat(np.arange(count), images)
    y = between * rng.normal(size=(count, dim)) * np.linspace(1, 2, dim)
    return 3 + y[labels] + within * rng.normal(size=(len(labels), dim)) @ mix, labels


def agree_but_for_signs(ours, theirs, tolerance=1e-8):
    signs = np.sign((ours * theirs).sum(0))
    np.testing.assert_allclose(ours * signs, theirs, rtol=0, atol=tolerance)


@pytest.mark.parametrize("shape", [(400, 7), (20, 60)])
def test_pca_is_that_of_scikit_learn(shape):
    from sklearn.decomposition import PCA

    x = np.random.default_rng(1).normal(size=shape) * np.linspace(1, 3, shape[1])
    ours = backends.fit("pca=5", x).transform(x)
    agree_but_for_signs(ours, PCA(5, svd_solver="full").fit_transform(x))


def test_pca_by_share_keeps_as_many_as_scikit_learn():
    from sklearn.decomposition import PCA

    x, _ = people()
    assert backends.fit("pca=0.9", x).transform(x).shape[1] == PCA(0.9).fit(x).n_components_


def test_lda_is_that_of_scikit_learn():
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    x, labels = people()
    other = LinearDiscriminantAnalysis(solver="eigen", n_components=4).fit(x, labels)
    theirs = (x - x.mean(0)) @ other.scalings_[:, :4]
    agree_but_for_signs(backends.fit("lda=4", x, labels).transform(x), theirs)


def test_ledoit_wolf_is_that_of_scikit_learn():
    from sklearn.covariance import ledoit_wolf_shrinkage

    x = np.random.default_rng(2).normal(size=(15, 30))
    fitted = backends.fit("whiten", x)
    assert fitted.fitted.steps[0]["shrinkage"] == pytest.approx(ledoit_wolf_shrinkage(x), abs=1e-10)
    (note,) = fitted.notes
    assert "Ledoit-Wolf" in note and "15 images" in note and "30 dimensions" in note


@pytest.mark.parametrize("form", ["zca", "pca"])
def test_whitened_rows_have_unit_covariance(form):
    x, _ = people()
    white = backends.fit(f"whiten={form}", x).transform(x)
    np.testing.assert_allclose(np.cov(white.T, bias=True), np.eye(7), atol=1e-9)


def within_of(x, labels):
    centred = x - np.array([x[labels == k].mean(0) for k in labels])
    return centred.T @ centred / len(x)


def test_wccn_and_mahalanobis_by_definition():
    x, labels = people()
    inverse = np.linalg.inv(within_of(x, labels))
    d = x[:9] - x[20:29]
    wanted = -np.einsum("ij,jk,ik->i", d, inverse, d)
    got = backends.fit("mahalanobis", x, labels).score(x[:9], x[20:29])
    np.testing.assert_allclose(got, wanted, rtol=1e-9)
    z = backends.fit("wccn", x, labels).transform(x)
    np.testing.assert_allclose(within_of(z, labels), np.eye(7), atol=1e-9)


def covariances(backend):
    """Between and within, from the axes in which both are diagonal (of full rank)."""
    step = backend.fitted.steps[-1]
    back = np.linalg.inv(step["basis"])
    ratio = backend.fitted.cross / (1 - 2 * backend.fitted.cross)
    return back @ np.diag(ratio) @ back.T, back @ back.T, step["mean"]


def likelihood(x, labels, mean, between, within):
    """Of the two-covariance model, with the whole covariance of each person's images."""
    total = 0.0
    for k in np.unique(labels):
        rows = (x[labels == k] - mean).ravel()
        n, d = (labels == k).sum(), x.shape[1]
        cov = np.kron(np.ones((n, n)), between) + np.kron(np.eye(n), within)
        total += -0.5 * (rows @ np.linalg.solve(cov, rows) + np.linalg.slogdet(cov)[1])
        total -= 0.5 * n * d * np.log(2 * np.pi)
    return total


def numpy_plda(x, labels, steps):
    """EM of the two covariances, person by person."""
    mean, d = x.mean(0), x.shape[1]
    within, between = within_of(x, labels), np.cov(x.T, bias=True)
    for _ in range(steps):
        b, w = np.zeros((d, d)), np.zeros((d, d))
        for k in np.unique(labels):
            rows = x[labels == k] - mean
            cov = np.linalg.inv(np.linalg.inv(between) + len(rows) * np.linalg.inv(within))
            y = cov @ np.linalg.solve(within, rows.sum(0))
            b += cov + np.outer(y, y)
            w += (rows - y).T @ (rows - y) + len(rows) * cov
        between, within = b / len(np.unique(labels)), w / len(x)
    return between, within


def test_plda_finds_the_highest_likelihood():
    x, labels = people(count=40, images=4, dim=3)
    keep = np.random.default_rng(3).random(len(x)) < 0.8  # not as many images of each
    x, labels = x[keep], labels[keep]
    between, within = numpy_plda(x, labels, 3000)
    ours_between, ours_within, mean = covariances(backends.fit("plda:iterations=3000", x, labels))
    best = likelihood(x, labels, x.mean(0), between, within)
    assert likelihood(x, labels, mean, ours_between, ours_within) >= best - 1e-4
    np.testing.assert_allclose(ours_within, within, rtol=0.01, atol=0.01)
    np.testing.assert_allclose(ours_between, between, rtol=0.01, atol=0.03)


def drawn(count, images, seed):
    rng = np.random.default_rng(seed)
    between, within = np.diag([2.0, 1.0, 0.5]), np.array([[1, 0.3, 0], [0.3, 1, 0], [0, 0, 0.5]])
    labels = np.repeat(np.arange(count), images)
    y = rng.multivariate_normal(np.zeros(3), between, count)
    return y[labels] + rng.multivariate_normal(np.zeros(3), within, len(labels)), labels, between


def test_plda_finds_what_was_drawn_the_better_the_more_people():
    errors = []
    for count in (50, 800, 12800):
        runs = []
        for seed in range(4):
            x, labels, between = drawn(count, 4, seed)
            runs.append(np.abs(covariances(backends.fit("plda", x, labels))[0] - between).max())
        errors.append(np.mean(runs))
    assert errors[0] > 2 * errors[1] > 4 * errors[2]


def test_joint_bayesian_nears_plda_with_images_a_person():
    distance = []
    for images in (4, 64):
        x, labels, _ = drawn(400, images, 5)
        plda, joint = backends.fit("plda", x, labels), backends.fit("joint_bayesian", x, labels)
        distance.append(np.abs(covariances(plda)[0] - covariances(joint)[0]).max())
    assert distance[1] < 0.2 * distance[0]


def test_the_ratio_by_integration_over_the_latent_variable():
    from scipy.stats import multivariate_normal as normal

    x, labels = people(count=30, images=4, dim=3, between=0.4, within=1.0)
    backend = backends.fit("plda", x, labels)
    between, within, mean = covariances(backend)
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    root = np.linalg.cholesky(between)
    y = mean + np.array(list(itertools.product(nodes, repeat=3))) @ root.T
    w = np.prod(list(itertools.product(weights, repeat=3)), axis=1) / np.sqrt(2 * np.pi) ** 3
    for a, b in [(0, 1), (0, 9), (5, 60)]:
        pa, pb = normal.pdf(y - x[a], cov=within), normal.pdf(y - x[b], cov=within)
        wanted = np.log(w @ (pa * pb)) - np.log(w @ pa) - np.log(w @ pb)
        assert backend.score(x[a : a + 1], x[b : b + 1])[0] == pytest.approx(wanted, abs=1e-6)


def test_scores_are_symmetric_and_those_of_all_pairs():
    x, labels = people()
    for spec in ("cosine", "mahalanobis", "pca=5,plda=3", "joint_bayesian", "unit,lda=3"):
        backend = backends.fit(spec, x, labels)
        a, b = x[:30], x[100:130]
        scores = backend.score(a, b)
        np.testing.assert_array_equal(scores, backend.score(b, a))
        np.testing.assert_allclose(np.diag(backend.score_all(a, b)), scores, atol=1e-10)


def test_threads_change_nothing():
    x, labels = people(count=1500, images=5, dim=24)
    one, more = (backends.fit("pca=20,lda=12,plda", x, labels, threads=t) for t in (1, 3))
    assert one.sha256 == more.sha256
    assert (one.score_all(x[:600], x) == more.score_all(x[:600], x)).all()


def test_a_file_gives_the_same_back_end_and_a_changed_one_is_refused(tmp_path):
    x, labels = people()
    backend = backends.fit("pca=5,plda=3:shrinkage=0.1", x, labels)
    path, again = tmp_path / "a.backend", tmp_path / "b.backend"
    backend.save(path)
    read = backends.load(path)
    assert (read.spec, read.sha256) == ("pca=5,plda=3:shrinkage=0.1", backend.sha256)
    read.save(again)
    assert again.read_bytes() == path.read_bytes()
    data = bytearray(path.read_bytes())
    at = data.find(np.float64(backend.fitted.cross[0]).tobytes())
    data[at] ^= 1
    path.write_bytes(data)
    with pytest.raises(Error, match="SHA-256"):
        backends.load(path)
    _eval.write_embeddings(tmp_path / "e.h5", _eval.EmbeddingSet(np.ones((1, 2)), ["a"]))
    with pytest.raises(Error, match="not a back end"):
        backends.load(tmp_path / "e.h5")


def test_arrays_are_taken_and_given_without_a_copy():
    x = np.random.default_rng(0).normal(size=(9, 4))
    assert _eval.matrix_address(x) == x.ctypes.data
    backend = backends.fit("pca=2", x)
    first, second = (backend.fitted.steps[0]["basis"] for _ in range(2))
    assert first.ctypes.data == second.ctypes.data and not first.flags.writeable


def test_scikit_learn_clones_it_and_puts_it_in_a_pipeline():
    from sklearn.base import clone
    from sklearn.pipeline import make_pipeline

    x, labels = people()
    pipeline = make_pipeline(clone(backends.Backend("pca=4")), backends.Backend("lda=2"))
    assert pipeline.fit(x, labels).transform(x).shape == (len(x), 2)


X, LABELS = people(count=8, images=3, dim=5)
WRONG = {
    "pcaa=3": "did you mean 'pca'",
    "": "unknown back end",
    "pca=6": "6 dimensions are asked for",
    "pca=-1": "number from 1",
    "pca=x": "not 'x'",
    "pca=2.5": "whole",
    "lda=8": "8 people",
    "whiten=abc": "zca or pca",
    "cosine=3": "takes no value",
    "plda,pca": "nothing follows it",
    "plda:rank=3": "no setting 'rank'",
    "plda:shrinkage=2": "from 0 to 1",
    "plda:iterations=0": "from 1",
    "center,": "unknown back end",
}


@pytest.mark.parametrize("spec", WRONG)
def test_a_wrong_spec_is_refused_by_what_is_wrong(spec):
    with pytest.raises(ValueError, match=WRONG[spec]):
        backends.fit(spec, X, LABELS)


def test_what_is_missing_is_named():
    for labels, said in [
        (None, "needs labels"),
        ([0] * 24, "two people"),
        (range(24), "two images"),
        ([0, 1], "2 labels for 24 rows"),
    ]:
        with pytest.raises(ValueError, match=said):
            backends.fit("lda", X, labels)
    with pytest.raises(ValueError, match="row 3 holds NaN"):
        backends.fit("pca", np.where(np.arange(24)[:, None] == 3, np.nan, X))
    with pytest.raises(ValueError, match="not fitted"):
        backends.Backend("pca").transform(X)
    with pytest.raises(ValueError, match="4 numbers, the back end was fitted to 5"):
        backends.fit("pca", X).transform(X[:, :4])
    with pytest.raises(Error, match="no spread"):
        backends.fit("plda:shrinkage=0", np.hstack([X, X[:, :1]]), LABELS)
