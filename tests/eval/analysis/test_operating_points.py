"""Thresholds, likelihood ratios, plans: against transcriptions and planted truths."""

import json
import math
from fractions import Fraction

import facebench
import numpy as np
import pytest
from facebench import _eval, metrics, protocols
from facebench._eval import calibration_error_statistic
from facebench.protocols import EmbeddingSet
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression


def cllr(llr, labels):
    genuine = np.logaddexp(0, -llr[labels == 1]).mean()
    return (genuine + np.logaddexp(0, llr[labels == 0]).mean()) / (2 * math.log(2))


def case(rng, n=300, gap=1.5, ties=False):
    labels = (rng.random(n) < 0.3).astype(np.uint8)
    labels[:2] = [0, 1]
    scores = rng.normal(gap * labels, 1)
    return (np.round(scores * 4) / 4 if ties else scores), labels


# --- calibration ---------------------------------------------------------------------------------


def test_logistic_equals_scikit_learn_with_equal_weight_of_classes():
    for seed in range(20):
        scores, labels = case(np.random.default_rng(seed), ties=seed % 2)
        scores = 0.01 * scores + 5  # a unit in which plain gradient descent fails
        weight = np.where(labels, 0.5 / labels.sum(), 0.5 / (1 - labels).sum()) * len(labels)
        known = LogisticRegression(C=np.inf, tol=1e-12, max_iter=10000)
        known.fit((scores[:, None] - 5) * 100, labels, sample_weight=weight)
        found = metrics.fit_calibrator(scores, labels).apply(scores)
        assert np.allclose(found, known.decision_function((scores[:, None] - 5) * 100), atol=1e-3)
        # No line nearby costs less.
        best = cllr(found, labels)
        for a, b in ((1.01, 0), (0.99, 0), (1, 0.01), (1, -0.01)):
            assert cllr(a * found + b, labels) > best


def test_pav_equals_scikit_learn_and_comes_to_the_minimal_cllr():
    for seed in range(20):
        scores, labels = case(np.random.default_rng(seed), ties=seed % 2)
        genuine, impostor = labels.sum(), (1 - labels).sum()
        posterior = IsotonicRegression().fit(scores, labels).predict(scores)
        with np.errstate(divide="ignore"):
            wanted = np.log(posterior / (1 - posterior)) - math.log(genuine / impostor)
        wanted = np.clip(wanted, -math.log1p(genuine), math.log1p(impostor))
        found = metrics.fit_calibrator(scores, labels, "pav")
        assert np.allclose(found.apply(scores), wanted, atol=1e-5)
        assert np.all(np.diff(found.apply(np.linspace(-9, 9, 500))) >= 0)
        # The ends hold one class alone: their evidence is bounded, which costs a little.
        extra = cllr(found.apply(scores), labels) - metrics.min_cllr(scores, labels)
        assert 0 <= extra < 1.5 * (1 / genuine + 1 / impostor)


def calibration_error(llr, labels, prior=0.5, bins=15):
    c = metrics.Comparisons(llr, labels)
    return calibration_error_statistic(c, prior, bins)(np.ones(len(llr), np.int32))


def test_calibration_error_by_definition():
    rng = np.random.default_rng(3)
    for _ in range(20):
        llr, labels = case(rng)
        prior, bins = rng.choice([0.1, 0.5]), int(rng.choice([5, 15]))
        p = 1 / (1 + np.exp(-llr - math.log(prior / (1 - prior))))
        weight = np.where(labels, prior / labels.sum(), (1 - prior) / (1 - labels).sum())
        wanted = 0
        for k in range(bins):
            own = (p >= k / bins) & (p < (k + 1) / bins)
            if own.any():
                mean = np.average(p[own], weights=weight[own])
                share = np.average(labels[own], weights=weight[own])
                wanted += weight[own].sum() * abs(mean - share)
        assert calibration_error(llr, labels, prior, bins) == pytest.approx(wanted, abs=1e-12)


def test_true_likelihood_ratios_need_no_calibration():
    rng = np.random.default_rng(4)
    labels = np.repeat([1, 0], 20000)
    scores = rng.normal(2.0 * labels, 1)  # the log likelihood ratio is 2 s - 2
    found = metrics.fit_calibrator(scores, labels)
    assert found.slope == pytest.approx(2, abs=0.05)
    assert found.apply([1.0])[0] == pytest.approx(0, abs=0.05)
    llr = 2 * scores - 2
    assert calibration_error(llr, labels) < 0.01
    assert metrics.cllr(llr, labels) - metrics.min_cllr(llr, labels) < 0.005
    assert calibration_error(3 * llr, labels) > 0.03


def test_calibrations_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="separates"):
        metrics.fit_calibrator([0.9, 0.1], [1, 0])
    with pytest.raises(ValueError, match="did you mean 'pav'"):
        metrics.fit_calibrator([0.9, 0.1], [1, 0], "pva")
    with pytest.raises(ValueError, match="calibration"):
        metrics.fit_calibrator([0.9, 0.1], [1, 1])
    with pytest.raises(ValueError, match="prior"):
        calibration_error([0.9, 0.1], [1, 0], prior=1)
    # Scores that say the opposite are not evidence.
    upside_down = metrics.fit_calibrator([0.1, 0.3, 0.2, 0.9], [1, 1, 0, 0])
    assert upside_down.apply([0.1, 0.9]).tolist() == [0, 0]


# --- thresholds ----------------------------------------------------------------------------------


def test_recommended_thresholds_by_definition():
    rng = np.random.default_rng(5)
    first, second = rng.integers(0, 200, 4000), rng.integers(0, 200, 4000)
    labels = (first == second).astype(np.uint8)
    scores = np.round(rng.normal(3.0 * labels, 1), 2)
    how = metrics.BootstrapOptions(replicates=60)
    found = metrics.recommend_threshold(scores, labels, first, second, 0.02, options=how)
    impostor = scores[labels == 0]
    assert found.threshold == metrics.tar_at_far(scores, labels, 0.02).threshold
    assert found.false_matches == np.sum(impostor >= found.threshold)
    assert found.reliable and found.safe > found.threshold

    # The bound of the definition: its sd out of the two-sided interval at z = 1, its acceleration
    # by leaving every person out.
    def bound(threshold):
        wrong = (scores >= threshold) & (labels == 0)
        rate = wrong.sum() / np.sum(labels == 0)
        without = []
        for person in range(200):
            left = (first != person) & (second != person)
            without.append(wrong[left].sum() / np.sum(labels[left] == 0))
        moved = np.mean(without) - np.array(without)
        a = np.sum(moved**3) / 6 / np.sum(moved**2) ** 1.5
        shared = np.zeros(200)  # of each person the deviations of its comparisons
        deviation = np.where(labels == 0, wrong - rate, 0)
        np.add.at(shared, first, deviation)
        np.add.at(shared, second, np.where(first == second, 0, deviation))
        variance = (np.sum(shared**2) - np.sum(deviation**2)) / np.sum(labels == 0) ** 2
        w = a + 1.6448536
        step = w / (1 - a * w) ** 2 * np.sqrt(variance) / (rate * (1 - rate))
        return 1 / (1 + np.exp(-np.log(rate / (1 - rate)) - step))

    # The library's sd is that of 60 replicates.
    assert bound(found.safe) == pytest.approx(0.02, rel=0.12)
    assert found.safe_false_matches == np.sum(impostor >= found.safe)
    # An FMR that the people here cannot show.
    found = metrics.recommend_threshold(scores, labels, first, second, 1e-5, options=how)
    assert found.safe is None and found.least_bound > 1e-5 and not found.reliable


@pytest.mark.slow
@pytest.mark.parametrize(("people", "target"), [(60, 0.05), (150, 0.02), (150, 0.05)])
def test_safe_thresholds_keep_to_the_fmr_as_often_as_they_say(people, target):
    """People differ in how alike others find them; the true FMR is known."""
    rng = np.random.default_rng(6)
    kept, draws = 0, 200
    i, j = np.triu_indices(people, 1)
    sd = math.sqrt(1 + 2 * 0.4**2)  # of the impostor scores of all people there could be
    for _ in range(draws):
        lamb = 0.4 * rng.normal(size=people)
        scores = np.r_[lamb[i] + lamb[j] + rng.normal(size=len(i)), 9]
        found = metrics.recommend_threshold(
            scores,
            np.r_[np.zeros(len(i)), 1],
            np.r_[i, 0],
            np.r_[j, 0],
            target,
            options=metrics.BootstrapOptions(replicates=200),
        )
        kept += math.erfc(found.safe / sd / math.sqrt(2)) / 2 <= target
    print(f"{people} people, FMR {target}: kept to in {kept} of {draws} draws")
    # Meant are 0.95; docs/operating-points.md has the table.
    assert 0.92 <= kept / draws <= 1


# --- plans ---------------------------------------------------------------------------------------


def test_vertex_model_by_definition():
    rng = np.random.default_rng(7)
    first, second = rng.integers(0, 30, 200), rng.integers(0, 30, 200)
    # People differ, so that the errors of comparisons that share one are correlated.
    weak = rng.normal(size=30)
    wrong = (weak[first] + weak[second] + rng.normal(size=200) > 1).astype(np.uint8)
    found = _eval.fit_vertex_model(wrong, first, second)
    deviation = wrong - wrong.mean()
    shares = np.array(
        [
            [x != y and bool({first[x], second[x]} & {first[y], second[y]}) for y in range(200)]
            for x in range(200)
        ]
    )
    shared = shares.sum()
    # The expectations of both sides, with V = I + r shares for the errors' covariance, are linear
    # in r; it is where their ratio is the one that was seen.
    seen = (deviation @ shares @ deviation) / shared / deviation.var()
    centre = np.eye(200) - 1 / 200

    def parts(covariance):
        covariance = centre @ covariance @ centre
        return (covariance * shares).sum() / shared, np.trace(covariance) / 200

    (alone, own), (together, common) = parts(np.eye(200)), parts(1.0 * shares)
    correlation = np.clip((seen * own - alone) / (together - seen * common), 0, 1)
    assert found.shared == shared
    assert found.correlation == pytest.approx(correlation, abs=1e-12)
    assert found.effective == pytest.approx(200 / (1 + correlation * shared / 200))


@pytest.mark.parametrize("people", [15, 60])
def test_vertex_model_finds_the_spread_of_a_planted_truth(people):
    """Errors of pairs of whom some people are the cause: their rate spreads as the model says."""
    rng = np.random.default_rng(8)
    i, j = np.triu_indices(people, 1)
    rates, variances = [], []
    for _ in range(600):
        lamb = rng.normal(size=people)
        wrong = (0.7 * (lamb[i] + lamb[j]) + rng.normal(size=len(i)) > 2).astype(np.uint8)
        model = _eval.fit_vertex_model(wrong, i, j)
        rates.append(model.rate)
        variances.append(model.rate * (1 - model.rate) / model.effective)
    rate = np.mean(rates)
    assert np.var(rates) > 3 * rate * (1 - rate) / len(i)  # far more than of independent pairs
    assert 0.8 < np.mean(variances) / np.var(rates) < 1.25


def test_people_for_all_pairs():
    assert _eval.people_for_all_pairs(45, 0) == 10
    many = _eval.people_for_all_pairs(1000, 0.05)
    count = many * (many - 1) / 2 / (1 + 0.05 * 2 * (many - 2))
    assert 980 < count < 1030


def test_people_for_all_pairs_is_the_fewest_and_always_answers():
    def counts(people, correlation):
        return Fraction(people * (people - 1), 2) / (1 + 2 * correlation * (people - 2))

    for effective in (1, 2, 3, 44.5, 45.5, 1000, 299572.3, 1e12):
        for correlation in (0.0, 0.02, 0.5, 1.0):
            people = int(_eval.people_for_all_pairs(effective, correlation))
            exact = Fraction(correlation)
            assert counts(people, exact) >= effective
            assert people == 2 or counts(people - 1, exact) < effective
    # Where doubles are further apart than people, it ended never.
    assert _eval.people_for_all_pairs(1e40, 0) == pytest.approx(math.sqrt(2e40))
    assert _eval.people_for_all_pairs(1e300, 1) == pytest.approx(4e300)
    for effective, correlation in ((0.5, 0), (math.inf, 0), (10, -0.1), (10, 2), (10, math.nan)):
        with pytest.raises(ValueError, match=r"comparison|correlation"):
            _eval.people_for_all_pairs(effective, correlation)


# --- runs ----------------------------------------------------------------------------------------


def make_run(folder, seed, failed=()):
    """A run of LFW's kind: 5 folds of 24 people; samples named in `failed` were not enrolled."""
    rng = np.random.default_rng(seed)
    people = [f"R{seed}P{k:03}" for k in range(120)]
    lines = ["5\t12"]
    for f in range(5):
        own = people[24 * f : 24 * f + 24]
        lines += [f"{n}\t1\t2" for n in own[:12]]
        lines += [f"{own[k]}\t1\t{own[k + 2]}\t1" for k in range(12)]
    folder.mkdir()
    (folder / "pairs.txt").write_text("\n".join(lines) + "\n")
    trials = protocols.read_trials("lfw", folder)
    centre = rng.normal(size=(len(trials.identity_names), 8))
    values = centre[trials.identity] + 0.8 * rng.normal(size=(len(trials.names), 8))
    status = np.array([3 if n in failed else 0 for n in range(len(trials.names))], np.uint8)
    values[status > 0] = 0
    data = EmbeddingSet(np.array(values, np.float32), trials.names, status)
    result = protocols.evaluate("lfw", embeddings=data, trials=trials, replicates=20)
    result.save(folder / "run")
    return folder / "run"


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("operating")
    return make_run(folder / "one", 1), make_run(folder / "two", 2, failed=(0, 7))


QUICK = {"replicates": 40}


def test_a_run_has_its_name_however_its_path_is_spelled(runs, monkeypatch):
    monkeypatch.chdir(runs[1])
    for spelled in (f"{runs[1]}/", "."):
        assert facebench.calibrate(runs[0], test=spelled, **QUICK).tested_on == "run"
        assert facebench.threshold(runs[0], spelled, fmr=0.1, **QUICK).tested_on == "run"
        assert facebench.explain(runs[0], spelled, replicates=20).runs == ["run", "run"]


def test_a_threshold_is_tested_on_other_comparisons(runs):
    found = facebench.threshold(*runs, fmr=0.1, **QUICK)
    assert found.tested_on == "run" and not found.same
    at = found.at_threshold
    # Two samples failed, each in one genuine pair, and the first in an impostor pair, too.
    assert found.failed == 2
    for made, all_ in (("fmr", "gfar"), ("fnmr", "gfrr")):
        assert at[all_]["comparisons"] == 60 > at[made]["comparisons"]
    missing = 60 - at["fnmr"]["comparisons"]
    assert at["gfrr"]["errors"] == at["fnmr"]["errors"] + missing
    assert at["gfar"]["errors"] == at["fmr"]["errors"]
    assert at["gfrr"]["rate"] == pytest.approx(at["gfrr"]["errors"] / 60)
    assert at["fnmr"]["interval"]["low"] <= at["fnmr"]["rate"] <= at["fnmr"]["interval"]["high"]
    if found.safe is not None:
        assert found.safe >= found.threshold


def test_a_threshold_is_not_tested_where_it_was_chosen_unless_it_says_so(runs):
    with pytest.raises(ValueError, match="give another run"):
        facebench.threshold(runs[0], fmr=0.1, **QUICK)
    with pytest.raises(ValueError, match="nothing is tested"):
        facebench.threshold(runs[0], runs[0], fmr=0.1, **QUICK)
    with pytest.raises(ValueError, match="the same comparisons"):
        facebench.threshold(*runs, fmr=0.1, same=True, **QUICK)
    found = facebench.threshold(runs[0], fmr=0.1, same=True, **QUICK)
    assert found.same and "rates look better" in str(found)
    assert found.at_threshold["fmr"]["errors"] == found.false_matches
    few = facebench.threshold(runs[0], fmr=1e-4, same=True, **QUICK)
    assert few.safe is None and "facebench plan" in str(few)


def test_calibrations_are_saved_and_applied(runs, tmp_path):
    for method in ("logistic", "pav"):
        path = tmp_path / f"{method}.json"
        found = facebench.calibrate(
            *runs, method=method, save=path, out=tmp_path / "page.html", **QUICK
        )
        again = facebench.reports.read_calibrator(path)
        assert again.method == method
        x = np.linspace(-1, 1, 50)
        llr = again.apply(x)
        assert np.all(np.diff(llr) >= 0)
        assert again.to_dict()["slope"] == found.calibrator["slope"]
        assert found.min_cllr <= found.cllr
        assert found.cllr_interval["low"] < found.cllr < found.cllr_interval["high"]
        assert "Tippett" in (tmp_path / "page.html").read_text()
    same = facebench.calibrate(runs[0], same=True, method="logistic", **QUICK)
    assert same.min_cllr <= same.cllr < found.cllr + 1
    for text in ("{}", "[]", '{"format": "facebench calibration", "version": 9}', "nothing"):
        path.write_text(text)
        with pytest.raises(facebench.Error, match=r"pav\.json"):
            facebench.reports.read_calibrator(path)


def test_a_plan_answers_in_its_first_line(runs):
    found = facebench.plan(runs[0], fmr=0.001)
    first = str(found).splitlines()[0]
    assert first.startswith("lfw can bound an FMR of ") and "60 impostor comparisons" in first
    assert found.impostor["effective"] <= 60
    assert found.bound == pytest.approx(1 - 0.05 ** (1 / found.impostor["effective"]))
    assert found.impostor_needed == pytest.approx(math.log(0.05) / math.log(0.999))
    assert found.people_disjoint == math.ceil(2 * found.impostor_needed)
    twice = facebench.plan(runs[0], difference=0.01)
    half = facebench.plan(runs[0], difference=0.005)
    assert half.genuine_needed == pytest.approx(4 * twice.genuine_needed, rel=0.01)


def test_command_line(runs):
    from click.testing import CliRunner
    from facebench.cli.app import app

    one, two = map(str, runs)
    for arguments in (
        ["threshold", one, "--test", two, "--fmr", "0.1", "--replicates", "40", "--json"],
        ["calibrate", one, "--test", two, "--method", "pav", "--replicates", "40", "--json"],
        ["plan", one, "--json"],
    ):
        done = CliRunner().invoke(app, arguments)
        assert done.exit_code == 0, done.output
        assert json.loads(done.stdout)["protocol"] == "lfw"
