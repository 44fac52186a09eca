"""Protocols from Python: every kind of input, and the numbers against scikit-learn."""

import pickle
import subprocess
import sys

import facebench
import numpy as np
import pytest
from facebench import protocols

PAIRS = (
    "2\t2\n"
    "Ann\t1\t2\nBob\t1\t2\nAnn\t1\tBob\t1\nAnn\t2\tCat\t1\n"
    "Dan\t1\t2\nEve\t1\t2\nDan\t3\tEve\t3\nEve\t1\tFay\t2\n"
)


@pytest.fixture
def root(tmp_path):
    (tmp_path / "pairs.txt").write_text(PAIRS)
    return tmp_path


@pytest.fixture
def embeddings(root):
    trials = protocols.read_trials("lfw", root)
    random = np.random.default_rng(5)
    people = random.normal(size=(len(trials.identity_names), 16))
    values = people[trials.identity] + 0.8 * random.normal(size=(len(trials.names), 16))
    return values.astype(np.float32), trials.names


def test_import_needs_no_torch():
    code = "import sys, facebench.protocols, facebench.reports; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_unknown_protocol_is_answered_with_did_you_mean():
    with pytest.raises(ValueError, match="did you mean 'lfw'"):
        protocols.load_protocol("lfv")


def test_arrays_sets_and_files_give_the_same_numbers(root, embeddings, tmp_path):
    values, names = embeddings
    made = facebench.io.EmbeddingSet(values, names)
    facebench.io.write_embeddings(tmp_path / "e.h5", made)
    results = [
        protocols.evaluate("lfw", embeddings=values, names=names, root=root, replicates=50),
        protocols.evaluate("lfw", embeddings=made, lists=root, replicates=50),
        protocols.evaluate("lfw", embeddings=tmp_path / "e.h5", root=root, replicates=50),
    ]
    assert results[0].to_dict() == results[1].to_dict() == results[2].to_dict()


def test_numbers_equal_scikit_learn(root, embeddings):
    metrics = pytest.importorskip("sklearn.metrics")
    values, names = embeddings
    result = protocols.evaluate("lfw", embeddings=values, names=names, root=root, interval="none")
    track = result["view2"]
    trials = protocols.read_trials("lfw", root)
    unit = values.astype(np.float64)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    first, second = trials.tracks[0].trials.comparisons.T
    scores = (unit[first] * unit[second]).sum(axis=1)
    np.testing.assert_allclose(track.scores, scores, atol=1e-12)
    assert result.auc.value == pytest.approx(metrics.roc_auc_score(track.labels, scores), abs=1e-12)
    assert result.auc.low is None
    far, tar = track.roc()
    assert (far[0], tar[0], far[-1], tar[-1]) == (0, 0, 1, 1)


def test_failures_are_listed(root, embeddings):
    values, names = embeddings
    values[0] = 0
    status = [1] + [0] * (len(names) - 1)
    result = protocols.evaluate(
        "lfw", embeddings=values, names=names, status=status, root=root, replicates=50
    )
    assert result["view2"].failed == [("Ann/Ann_0001.jpg", "no_face")]
    assert result.to_dict()["tracks"]["view2"]["counts"]["failed_enrolments"] == 1
    assert "1 failed" in repr(result)
    assert "<table>" in result._repr_html_()
    with pytest.raises(facebench.Error, match="Ann_0001"):
        protocols.evaluate(
            "lfw", embeddings=values, names=names, status=status, root=root, strict=True
        )


def test_wrong_use(root, embeddings):
    values, _ = embeddings
    with pytest.raises(ValueError, match="names"):
        protocols.evaluate("lfw", embeddings=values, root=root)
    with pytest.raises(ValueError, match="either"):
        protocols.evaluate("lfw", root=root)
    with pytest.raises(ValueError, match="root"):
        protocols.evaluate("lfw", scores=[1.0])
    with pytest.raises(ValueError, match="did you mean"):
        protocols.evaluate("lfw", scores=[1.0], root=root, convension="exact")
    with pytest.raises(ValueError, match="convention"):
        protocols.evaluate("lfw", scores=[0.5] * 8, root=root, convention="exakt")
    with pytest.raises(facebench.Error, match="row 2"):
        protocols.evaluate("lfw", scores=[0.5, 0.5, np.nan] + [0.5] * 5, root=root)


def test_a_protocol_of_ones_own(root, tmp_path):
    text = protocols.load_protocol("lfw").text.replace('id = "lfw"', 'id = "mine"')
    (tmp_path / "mine.toml").write_text(text)
    assert protocols.load_protocol(tmp_path / "mine.toml").id == "mine"
    (tmp_path / "mine.toml").write_text(text.replace("[data]", "[date]"))
    with pytest.raises(facebench.Error, match=r"mine\.toml"):
        protocols.load_protocol(tmp_path / "mine.toml")


def test_what_is_unset_is_none():
    options = protocols.EvaluationOptions()
    assert options.convention is None
    assert options.to_dict()["fusion"] is None
    assert options == protocols.EvaluationOptions(convention=None)
    options.convention = "facenet"
    assert "convention='facenet'" in repr(options) and "fusion=None" in repr(options)
    assert pickle.loads(pickle.dumps(options)) == options
    options.convention = None
    assert options == protocols.EvaluationOptions()
    fields = {field["name"]: field for field in protocols.EvaluationOptions.fields()}
    assert (fields["fusion"]["type"], fields["fusion"]["default"]) == ("text", None)
    assert fields["fusion"]["optional"] and not fields["level"]["optional"]
    with pytest.raises(ValueError, match=r"'fusion': expected text or none, got integer \(3\)"):
        protocols.EvaluationOptions(fusion=3)
    with pytest.raises(ValueError, match=r"'level': expected number \(0.95\), got none"):
        protocols.EvaluationOptions(level=None)


def test_an_interval_that_cannot_be_says_why(root):
    (root / "pairs.txt").write_text("2\t1\nAnn\t1\t2\nAnn\t1\tBob\t1\nCat\t1\t2\nCat\t1\tDan\t1\n")
    result = protocols.evaluate("lfw", scores=[0.9, 0.1, 0.8, 0.2], root=root)
    why = "too few people: most replicates are undefined"
    assert result.auc.no_interval == why and np.isnan(result.auc.low)
    # On many lines the reason is a footnote, said once; of one number it stands beside it.
    assert "auc = 100.00 % (no interval [1])" in repr(result)
    assert repr(result).count(why) == 1 and f"[1] no interval: {why}" in repr(result)
    assert repr(result.auc) == f"auc = 100.00 % (no interval: {why})"
    assert f"<td>no interval: {why}</td>" in result._repr_html_()
    assert "undefined, undefined" not in repr(result)


def test_scores_that_are_all_equal_are_warned_of(tmp_path):
    names = [f"p{k}/{i}.jpg" for k in range(4) for i in range(2)]
    lines = [f"{names[2 * k]},{names[(2 * k + i) % 8]},{i % 2}" for k in range(4) for i in (1, 2)]
    (tmp_path / "pairs.csv").write_text("\n".join(["first,second,label", *lines]) + "\n")
    rng = np.random.default_rng(1)
    for values, warned in ((np.ones((8, 4)), True), (rng.normal(size=(8, 4)), False)):
        result = protocols.evaluate(
            "pairs", values.astype("f4"), names, root=tmp_path, interval="none"
        )
        said = [w for w in result.warnings if "all 8 comparisons have the same score" in w]
        assert bool(said) is warned
