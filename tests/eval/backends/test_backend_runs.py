"""Back ends in evaluations: who is trained on, what a run says of it, and that verify sees it."""

import json

import facebench
import numpy as np
import pytest
from command_line import run as command
from facebench import Error, backends, io

PEOPLE, IMAGES, FOLDS, DIM = 30, 4, 3, 6


def person(k):
    return f"Person_{'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefgh'[k]}"


def name(k, i):
    return f"{person(k)}/{person(k)}_{i + 1:04d}.jpg"


def rows_of(seed, count, images=IMAGES):
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(count), images)
    y = rng.normal(size=(count, DIM)) * np.linspace(2, 1, DIM)
    mix = np.random.default_rng(99).normal(size=(DIM, DIM))
    return (3 + y[labels] + rng.normal(size=(len(labels), DIM)) @ mix).astype("float32"), labels


@pytest.fixture
def data(tmp_path):
    """An LFW of three folds of ten people, with embeddings: (root, file, values)."""
    lines = [f"{FOLDS}\t10"]
    for f in range(FOLDS):
        of_fold = [k for k in range(PEOPLE) if k % FOLDS == f]
        lines += [f"{person(k)}\t1\t2" for k in of_fold]
        lines += [f"{person(k)}\t3\t{person(of_fold[j - 1])}\t4" for j, k in enumerate(of_fold)]
    (tmp_path / "pairs.txt").write_text("\n".join(lines) + "\n")
    values, labels = rows_of(1, PEOPLE)
    names = [name(k, i % IMAGES) for i, k in enumerate(labels)]
    io.write_embeddings(tmp_path / "e.h5", io.EmbeddingSet(values, names))
    return tmp_path, tmp_path / "e.h5", values


def others(folder, prefix="Other", seed=2, more=()):
    """Embeddings of forty other people, PERSON/IMAGE."""
    values, labels = rows_of(seed, 40)
    names = [f"{prefix}_{chr(65 + k // 8)}{chr(97 + k % 8)}/{i}.jpg" for i, k in enumerate(labels)]
    for place, text in enumerate(more):
        names[place] = text
    io.write_embeddings(folder / f"{prefix}.h5", io.EmbeddingSet(values, names))
    return folder / f"{prefix}.h5"


def evaluate(data, **how):
    root, file, _ = data
    return facebench.evaluate("lfw", file, root=root, interval="none", **how)


def content(folder):
    return json.loads((folder / "run.json").read_text())["content"]


def test_each_fold_is_scored_by_what_never_saw_its_people(data, tmp_path):
    _, _, values = data
    result = evaluate(data, backend="pca=5,plda", out=tmp_path / "run")
    x, labels = values.astype(float), np.repeat(np.arange(PEOPLE), IMAGES)
    scores = result.tracks["view2"].scores
    used = np.arange(len(x))  # every image is named by some pair
    for f in range(FOLDS):
        train = used[labels % FOLDS != f]
        # In the order of the list, which decides the bits.
        order = [
            IMAGES * k + i
            for g in range(FOLDS)
            if g != f
            for k in range(g, PEOPLE, FOLDS)
            for i in (0, 1)
        ]
        assert set(order) < set(train)
        fitted = backends.fit("pca=5,plda", x[train], labels[train])
        of_fold = [k for k in range(PEOPLE) if k % FOLDS == f]
        a = [IMAGES * k for k in of_fold] + [IMAGES * k + 2 for k in of_fold]
        b = [IMAGES * k + 1 for k in of_fold] + [IMAGES * of_fold[j - 1] + 3 for j in range(10)]
        np.testing.assert_allclose(
            scores[20 * f : 20 * f + 20], fitted.score(x[a], x[b]), rtol=1e-8
        )
    said = content(tmp_path / "run")
    folds = said["backend"]["folds"]["view2"]
    assert [f["training"]["people"] for f in folds] == [20, 20, 20]
    assert [f["left_out"] for f in folds] == [0, 0, 0]
    assert said["score"] == "plda" and said["backend"]["spec"] == "pca=5,plda"


def test_whoever_is_in_the_fold_is_left_out_of_its_training(data, tmp_path):
    root, _, _ = data
    text = (root / "pairs.txt").read_text().replace(f"{person(1)}\t1\t2", f"{person(0)}\t1\t2")
    (root / "pairs.txt").write_text(text)  # a person of fold 1 stands in fold 2, too
    evaluate(data, backend="lda=4", out=tmp_path / "run")
    folds = content(tmp_path / "run")["backend"]["folds"]["view2"]
    assert [f["left_out"] for f in folds] == [2, 4, 0]
    assert folds[0]["training"]["images"] == 78


def test_people_of_the_test_set_in_training_are_named_and_refused(data, tmp_path):
    train = others(tmp_path, more=[f"{person(3).lower()}/a.jpg", "someone/b.jpg"])
    with pytest.raises(Error, match=r"1 of the 42 people .* are tested \(person_d\)"):
        evaluate(data, backend="lda=4", train=train)
    with pytest.raises(Error, match=r"the cohort are tested"):
        evaluate(data, normalise="s-norm", cohort=train)
    run = tmp_path / "run"
    result = evaluate(data, backend="lda=4", train=train, allow_overlap=True, out=run)
    assert "person_d" in result.warnings[0] and "flatter" in result.warnings[0]
    assert "person_d" in (run / "report.md").read_text().split("Protocol")[0]
    assert content(run)["backend"]["overlap"][0]["people"] == ["person_d"]
    checks = facebench.verify(run, root=data[0]).checks
    assert all(c["same"] for c in checks if "scores from" in c["name"])


def test_a_training_set_decides_the_scores_and_stands_in_the_run(data, tmp_path):
    train = others(tmp_path)
    run = tmp_path / "run"
    result = evaluate(data, backend="pca=5,plda", train=train, out=run)
    x, labels = rows_of(2, 40)
    fitted = backends.fit("pca=5,plda", x.astype(float), labels)
    v = data[2].astype(float)
    np.testing.assert_array_equal(result.tracks["view2"].scores[:1], fitted.score(v[:1], v[1:2]))
    said = content(run)
    assert (
        said["backend"]["training"]["people"] == 40 and said["backend"]["training"]["images"] == 160
    )
    assert [i["role"] for i in said["inputs"]] == ["pairs", "train", "embeddings"]
    assert "pca=5,plda: fitted to 160 images of 40 people" in (run / "report.html").read_text()


@pytest.mark.parametrize(
    "how",
    [
        {"backend": "pca=5,plda"},
        {"backend": "whiten"},
        {"backend": "lda=3", "normalise": "s-norm:top=5"},
        {"backend": "mahalanobis", "train": True},
        {"backend": "pca=4", "train": True},
        {"normalise": "z-norm", "cohort": True},
    ],
)
def test_verify_fits_it_again_and_sees_another_training_set(data, tmp_path, how):
    files = {k: others(tmp_path) for k in ("train", "cohort") if k in how}
    evaluate(data, out=tmp_path / "run", **how | files)

    def check():
        checks = facebench.verify(tmp_path / "run", root=data[0]).checks
        (one,) = [c for c in checks if c["name"].startswith("scores from e.h5")]
        return one, checks

    one, checks = check()
    assert (one["same"] and "back end" in one["detail"]) or "cosine" in str(one), one
    assert all(c["same"] is not False for c in checks)
    for file in files.values():
        file.unlink()
        others(tmp_path, seed=5)
        one, checks = check()
        assert one["same"] is None and "another one" in one["detail"]
        assert any(c["same"] is False for c in checks)


def test_explain_names_the_back_end(data, tmp_path):
    evaluate(data, out=tmp_path / "a")
    evaluate(data, backend="plda", out=tmp_path / "b")
    evaluate(data, backend="pca=3", out=tmp_path / "c")
    for other in "bc":
        found = facebench.explain(tmp_path / "a", tmp_path / other)
        (said,) = [d for d in found.differences if d["what"].startswith("the back end")]
        assert said["kind"] == "back end" and said["a"] == "none"
        assert not any(d["kind"] == "model" for d in found.differences)


def test_a_run_without_a_back_end_says_nothing_of_one(data, tmp_path):
    evaluate(data, out=tmp_path / "run")
    said = content(tmp_path / "run")
    assert "backend" not in said and said["score"] == "cosine"
    assert not {"backend", "train", "normalise", "cohort", "allow_overlap"} & set(said["options"])


def test_a_file_of_a_back_end_says_who_it_was_fitted_to(data, tmp_path):
    x, labels = rows_of(2, 40)
    named = [f"Somebody_{chr(65 + k // 8)}{chr(97 + k % 8)}" for k in labels]
    backends.fit("plda", x, named).save(tmp_path / "named.backend")
    backends.fit("plda", x, labels).save(tmp_path / "numbers.backend")
    backends.fit("plda", x, [person(k % 34) for k in labels]).save(tmp_path / "tested.backend")
    result = evaluate(data, backend=str(tmp_path / "named.backend"), out=tmp_path / "run")
    assert result.warnings == []
    assert any(i["role"] == "backend" for i in content(tmp_path / "run")["inputs"])
    checks = facebench.verify(tmp_path / "run", root=data[0]).checks
    assert all(c["same"] for c in checks if c["name"].startswith("scores from"))
    said = evaluate(data, backend=str(tmp_path / "numbers.backend")).warnings[0]
    assert "not checked" in said
    with pytest.raises(Error, match="34 of the 34 people"):
        evaluate(data, backend=str(tmp_path / "tested.backend"))
    with pytest.raises(ValueError, match="was fitted already"):
        evaluate(data, backend=str(tmp_path / "named.backend"), train=others(tmp_path))


WRONG = [
    ({"train": "x.h5"}, "say which"),
    ({"allow_overlap": True}, "say which"),
    ({"backend": "plda", "cohort": "x.h5"}, "say which"),
    ({"backend": "pldaa"}, "did you mean 'plda'"),
    ({"normalise": "snorm"}, "did you mean 's-norm'"),
    ({"normalise": "s-norm:top=1"}, "whole number from 2"),
    ({"normalise": "s-norm:best=9"}, "top=N"),
    ({"normalise": "s-norm:top=900"}, "900 images of a cohort are asked for"),
]


@pytest.mark.parametrize(("how", "said"), WRONG)
def test_what_does_not_go_together_is_refused(data, how, said):
    with pytest.raises(ValueError, match=said):
        evaluate(data, **how)


def test_scores_of_ones_own_and_lists_without_folds_are_refused(data, tmp_path):
    with pytest.raises(ValueError, match="go with embeddings"):
        facebench.evaluate("lfw", scores=np.zeros(60), root=data[0], backend="plda")
    values, labels = rows_of(1, 5)
    with pytest.raises(ValueError, match=r"no folds.*--train"):
        facebench.evaluate("folders", values, labels=labels.tolist(), backend="plda")
    result = facebench.evaluate(
        "folders",
        values,
        labels=labels.tolist(),
        backend="plda",
        train=others(tmp_path),
        interval="none",
    )
    x, y = rows_of(2, 40)
    fitted = backends.fit("plda", x.astype(float), y)
    all_pairs = fitted.score_all(values.astype(float), values.astype(float))
    scores = np.asarray(result.tracks["verification"].scores)
    first, second = np.triu_indices(len(values), 1)
    np.testing.assert_allclose(
        np.sort(scores[scores != 0].ravel()),
        np.sort(all_pairs[first, second]),
        rtol=1e-5,
        atol=1e-5,
    )


def test_what_a_training_set_lacks_is_said(data, tmp_path):
    io.write_embeddings(tmp_path / "flat.h5", io.EmbeddingSet(np.eye(DIM), list("abcdef")))
    with pytest.raises(Error, match=r"does not say who it is.*PERSON/IMAGE"):
        evaluate(data, backend="pca", train=tmp_path / "flat.h5")
    io.write_embeddings(
        tmp_path / "wide.h5", io.EmbeddingSet(np.eye(9), [f"{k}/a" for k in "abcdefghi"])
    )
    with pytest.raises(Error, match="9 numbers, those evaluated have 6"):
        evaluate(data, backend="pca", train=tmp_path / "wide.h5")
    one, two = (
        io.EmbeddingSet(np.eye(DIM), [f"{k}/a" for k in "abcdef"], manifest={"model_sha256": m})
        for m in "xy"
    )
    io.write_embeddings(tmp_path / "one.h5", one)
    with pytest.raises(Error, match="another model"):
        facebench.evaluate(
            "folders", two, labels=[1, 1, 2, 2, 3, 3], backend="pca=2", train=tmp_path / "one.h5"
        )


def numpy_normalised(kind, score, a, b, top):
    def by(cohort):
        best = np.sort(cohort, axis=1)[:, ::-1][:, : top or None]
        return (score - best.mean(1)) / best.std(1, ddof=1)

    return {"z-norm": by(a), "t-norm": by(b), "s-norm": (by(a) + by(b)) / 2}[kind]


@pytest.mark.parametrize("top", [0, 7])
@pytest.mark.parametrize("kind", ["z-norm", "t-norm", "s-norm"])
@pytest.mark.parametrize("spec", ["cosine", "pca=4,plda"])
def test_normalised_scores_are_those_of_numpy(spec, kind, top):
    x, labels = rows_of(3, 200)
    cohort, _ = rows_of(4, 60)
    backend = backends.fit(spec, x, labels)
    a, b = x[:500], x[300:800]
    text = f"{kind}:top={top}" if top else kind
    got = backend.score(a, b, normalise=text, cohort=cohort)
    of_a, of_b = backend.score_all(a, cohort), backend.score_all(b, cohort)
    wanted = numpy_normalised(kind, backend.score(a, b), of_a, of_b, top)
    np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-9)
    other = backend.score(b, a, normalise=text, cohort=cohort)
    assert (got == other).all() == (kind == "s-norm")


def test_a_cohort_that_tells_nothing_is_refused():
    x, labels = rows_of(3, 20)
    backend = backends.fit("plda", x, labels)
    with pytest.raises(Error, match="all the same"):
        backend.score(x, x, normalise="s-norm", cohort=x[[0, 0, 0]])
    with pytest.raises(ValueError, match="go together"):
        backend.score(x, x, normalise="s-norm")
    with pytest.raises(ValueError, match="2 images of a cohort are asked for, it has 1"):
        backend.score(x, x, normalise="s-norm", cohort=x[:1])


def test_the_command_line_takes_it(data, tmp_path):
    root, file, _ = data
    where = ["--root", root, "--embeddings", file, "--interval", "none", "--quiet"]
    how = ["--backend", "pca=5,lda=3,plda", "--train", others(tmp_path)]
    done = command("eval", "lfw", *where, *how, "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert content(tmp_path / "run")["backend"]["spec"] == "pca=5,lda=3,plda"
    assert "fitted to 160 images of 40 people" in done.stdout
    assert (tmp_path / "run" / "report.html").exists()
