"""Fusion of systems: against scikit-learn, with folds that are never trained on what they test."""

import json

import facebench
import numpy as np
import pytest
from command_line import run as command
from facebench import Error, metrics

PEOPLE, FOLDS = 300, 3


def write_lists(folder, people=PEOPLE, first=0):
    """An LFW of folds of people of their own: a genuine and an impostor pair of each person."""
    folder.mkdir(exist_ok=True)
    lines = [f"{FOLDS}\t{people // FOLDS}"]
    for f in range(FOLDS):
        of_fold = [first + k for k in range(people) if k % FOLDS == f]
        lines += [f"p{k}\t1\t2" for k in of_fold]
        lines += [f"p{k}\t3\tp{of_fold[j - 1]}\t4" for j, k in enumerate(of_fold)]
    (folder / "pairs.txt").write_text("\n".join(lines) + "\n")
    half = [1] * (people // FOLDS) + [0] * (people // FOLDS)
    return np.array(half * FOLDS), np.repeat(np.arange(FOLDS), 2 * people // FOLDS)


def systems(folder, count=2, people=PEOPLE, first=0, seed=0, status=None):
    """Runs of systems whose errors are their own; labels, folds and scores."""
    labels, folds = write_lists(folder, people, first)
    rng = np.random.default_rng(seed)
    scores = [
        0.3 + (0.15 + 0.05 * s) * labels + 0.12 * rng.normal(size=len(labels)) for s in range(count)
    ]
    runs = [folder / f"run{s}" for s in range(count)]
    for run, given in zip(runs, scores, strict=True):
        facebench.evaluate(
            "lfw", scores=given, root=folder, out=run, interval="none", status=status
        )
    return runs, labels, folds, np.array(scores).T


def regression(x, y, prior=0.5):
    """scikit-learn's without a penalty; log likelihood ratios."""
    from sklearn.linear_model import LogisticRegression

    weights = np.where(y == 1, prior / y.sum(), (1 - prior) / (1 - y).sum())
    fit = LogisticRegression(C=np.inf, tol=1e-12, max_iter=10000)
    fit.fit(x, y, sample_weight=weights * len(y))
    return lambda z: fit.decision_function(z) - np.log(prior / (1 - prior))


@pytest.mark.parametrize("prior", [0.5, 0.05])
def test_each_fold_is_fused_by_the_others_as_scikit_learn_does(tmp_path, prior):
    pytest.importorskip("sklearn")
    runs, labels, folds, x = systems(tmp_path / "d", 3)
    report = facebench.fuse(*runs, prior=prior, out=tmp_path / "fused", replicates=50)
    wanted = np.empty(len(labels))
    for f in range(FOLDS):
        rest = folds != f
        wanted[~rest] = regression((x[rest] - 0.3) * 10, labels[rest], prior)((x[~rest] - 0.3) * 10)
    got = report.result.tracks["view2"].scores
    np.testing.assert_allclose(got, wanted, atol=2e-4)
    assert report.cllr == pytest.approx(metrics.cllr(got, labels), rel=1e-12)
    assert report.min_cllr == pytest.approx(metrics.min_cllr(got, labels), rel=1e-12)
    for system in report.systems:
        assert report.cllr < system["cllr"]
        less = system["less"]["cllr"]
        assert less["value"] == pytest.approx(report.cllr - system["cllr"], rel=1e-9)
        assert less["interval"]["low"] < less["value"] < less["interval"]["high"]
        assert {"accuracy", "auc", "eer", "min_cllr"} <= set(system["less"])
    said = json.loads((tmp_path / "fused" / "run.json").read_text())["content"]
    assert said["score"] == "fusion" and len(said["backend"]["fusions"]) == FOLDS
    assert [i["role"] for i in said["inputs"]].count("fused") == 3
    checks = facebench.verify(tmp_path / "fused", root=tmp_path / "d").checks
    assert all(c["same"] is not False for c in checks)
    assert "| fusion |" in repr(report)
    explained = facebench.explain(runs[0], tmp_path / "fused")
    assert any(d["kind"] == "back end" for d in explained.differences)


def test_one_system_by_folds_is_its_calibration(tmp_path):
    runs, labels, folds, x = systems(tmp_path / "d", 1)
    report = facebench.fuse(runs[0], replicates=20)
    rest = folds != 0
    map_ = metrics.fit_calibrator(x[rest, 0], labels[rest], "logistic")
    got = report.result.tracks["view2"].scores[~rest]
    np.testing.assert_allclose(got, map_.apply(x[~rest, 0]), rtol=1e-9)
    assert report.systems[0]["cllr"] == pytest.approx(report.cllr, rel=1e-12)


def test_a_plan_of_another_list_is_fitted_to_it_alone(tmp_path):
    runs, _, _, x = systems(tmp_path / "test")
    other, y, _, z = systems(tmp_path / "dev", first=1000, seed=5)
    report = facebench.fuse(*runs, train=other, replicates=20)
    wanted = regression((z - 0.3) * 10, y)((x - 0.3) * 10)
    np.testing.assert_allclose(report.result.tracks["view2"].scores, wanted, atol=2e-4)
    with pytest.raises(
        Error, match="300 of the 300 people that the fusion is trained on are tested"
    ):
        facebench.fuse(*runs, train=runs)
    report = facebench.fuse(*runs, train=runs, allow_overlap=True, replicates=20)
    assert "as was allowed" in report.result.warnings[0]
    with pytest.raises(ValueError, match="1 runs are trained on for 2"):
        facebench.fuse(*runs, train=other[:1])


def test_people_of_a_fold_are_left_out_of_its_training(tmp_path):
    """Somebody of fold 0 stands in fold 1 with scores that would turn the weights around."""
    folder = tmp_path / "d"
    labels, _ = write_lists(folder)
    lines = (folder / "pairs.txt").read_text().splitlines()
    planted = [i for i, line in enumerate(lines) if line == "p1\t1\t2"]
    lines[planted[0]] = "p0\t1\t2"
    (folder / "pairs.txt").write_text("\n".join(lines) + "\n")
    rng = np.random.default_rng(0)
    scores = 0.3 + 0.2 * labels + 0.12 * rng.normal(size=len(labels))
    runs, results = [tmp_path / "a", tmp_path / "b"], []
    for run, value in zip(runs, [0.5, -50], strict=True):
        scores[planted[0] - 1] = value
        facebench.evaluate("lfw", scores=scores, root=folder, out=run, interval="none")
        results.append(facebench.fuse(run, replicates=20).fusions)
    assert results[0][0] == results[1][0]  # fold 0 never saw it
    assert results[0][2] != results[1][2]


def test_side_information(tmp_path):
    folder = tmp_path / "d"
    labels, _ = write_lists(folder)
    rng = np.random.default_rng(1)
    pairs = [line.split("\t") for line in (folder / "pairs.txt").read_text().splitlines()[1:]]
    sides = [((p[0], p[1]), (p[0], p[2]) if len(p) == 3 else (p[2], p[3])) for p in pairs]
    quality = {s: rng.random() for pair in sides for s in pair}
    low = np.array([min(quality[a], quality[b]) for a, b in sides])
    scores = 0.3 + 0.3 * labels - 0.4 * (1 - low) + 0.1 * rng.normal(size=len(labels))
    run = tmp_path / "run"
    facebench.evaluate("lfw", scores=scores, root=folder, out=run, interval="none")
    table, groups = tmp_path / "q.csv", tmp_path / "g.csv"
    rows = [f"{p}/{p}_{int(i):04d}.jpg,{q}" for (p, i), q in quality.items()]
    table.write_text("\n".join(["image,sharpness", *rows]) + "\n")
    groups.write_text(
        "\n".join(["person,group", *(f"p{k},{k // 6 % 2}" for k in range(PEOPLE))]) + "\n"
    )
    alone = facebench.fuse(run, replicates=20)
    both = facebench.fuse(run, quality=table, groups=groups, replicates=20)
    assert both.inputs == ["score of run", "lower sharpness", "higher sharpness", "another group"]
    assert both.cllr < 0.9 * alone.cllr
    table.write_text("\n".join(["image,sharpness", *rows[1:]]) + "\n")
    with pytest.raises(Error, match="has no quality of"):
        facebench.fuse(run, quality=table)


def test_what_cannot_be_fused_is_said(tmp_path):
    runs, labels, _, x = systems(tmp_path / "d")
    other, *_ = systems(tmp_path / "e", first=500)
    with pytest.raises(Error, match="does not hold the comparisons of"):
        facebench.fuse(runs[0], other[0])
    with pytest.raises(ValueError, match="give runs"):
        facebench.fuse()
    facebench.evaluate(
        "lfw", scores=labels, root=tmp_path / "d", out=tmp_path / "s", interval="none"
    )
    with pytest.raises(ValueError, match="separates"):
        facebench.fuse(tmp_path / "s", runs[0])
    facebench.evaluate(
        "pairs", scores=x[:, 0], labels=labels, out=tmp_path / "flat", interval="none"
    )
    with pytest.raises(ValueError, match="no folds"):
        facebench.fuse(tmp_path / "flat")


def test_a_failed_image_of_either_system_fails_in_the_fusion(tmp_path):
    folder = tmp_path / "d"
    runs, _, _, x = systems(folder)
    trials = facebench.protocols.read_trials("lfw", folder)
    status = [1 if n == trials.names[0] else 0 for n in trials.names]
    broken = tmp_path / "broken"
    facebench.evaluate(
        "lfw", scores=x[:, 0], root=folder, out=broken, interval="none", status=status
    )
    fused = facebench.fuse(runs[1], broken, replicates=20).result
    assert fused.tracks["view2"].failed[0][0] == trials.names[0]
    assert fused.tracks["view2"].scores[0] == min(fused.tracks["view2"].scores)


def test_the_command_line(tmp_path):
    runs, *_ = systems(tmp_path / "d")
    out = tmp_path / "fused"
    done = command("fuse", *runs, "--replicates", "20", "--out", out, "--quiet")
    assert done.returncode == 0, done.stderr
    assert (out / "run.json").exists() and "min Cllr" in done.stdout


@pytest.mark.slow
def test_the_interval_of_a_gain_covers_by_simulation(tmp_path):
    """Of the gain that a fusion has on these folds in the mean of many draws."""
    gains, inside = [], []
    for seed in range(40):
        runs, *_ = systems(tmp_path / f"d{seed}", people=150, seed=seed)
        report = facebench.fuse(*runs, replicates=200)
        less = report.systems[1]["less"]["cllr"]
        gains.append(less["value"])
        inside.append(less["interval"])
    truth = np.mean(gains)
    covered = np.mean([i["low"] <= truth <= i["high"] for i in inside])
    assert 0.85 <= covered <= 1
