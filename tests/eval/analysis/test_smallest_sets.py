"""The smallest sets of each kind of protocol, through all that is asked of runs: no crash, and no
number without a basis."""

import contextlib
import itertools
import json
import math

import facebench
import numpy as np
import pytest
from facebench import Error, protocols, reports
from facebench.protocols import EmbeddingSet
from scipy.stats import binomtest, norm

# Embeddings of the people's images: every image of a person alike, all of them alike, or random.
CASES = ("perfect", "all the same", "random", "most failed", "all failed")
FEW = {"replicates": 40}


def values_of(case, person, seed):
    rng = np.random.default_rng([seed, len(person)])
    own = np.eye(max(person) + 1, 16)[np.array(person)]
    values = {"perfect": own, "all the same": np.ones_like(own)}.get(case)
    if values is None:
        values = own + rng.normal(size=own.shape) * 0.4
    status = np.zeros(len(person), np.uint8)
    if case == "most failed":
        status[2:] = 1
    if case == "all failed":
        status[:] = 1
    return np.where(status[:, None] > 0, 0, values).astype(np.float32), status


def write_folders(root, images):
    for p, count in enumerate(images):
        for k in range(count):
            path = root / f"p{p}" / f"{k}.jpg"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(f"{p} {k}".encode())


def write_lfw(root, images):
    """A fold of each two people."""
    root.mkdir()
    lines = []
    for p, q in itertools.pairwise(range(len(images))):
        lines += [f"P{p}\t1\t2", f"P{p}\t1\tP{q}\t1"]
    (root / "pairs.txt").write_text(f"{len(lines) // 2}\t1\n" + "\n".join(lines) + "\n")


def write_list(root, images):
    root.mkdir()
    names = [f"p{p}/{k}.jpg" for p, n in enumerate(images) for k in range(n)]
    rows = [
        f"{a},{b},{int(a.split('/')[0] == b.split('/')[0])}"
        for a, b in itertools.combinations(names, 2)
    ]
    (root / "pairs.csv").write_text("\n".join(["first,second,label", *rows]) + "\n")


SETS = {
    "folders": write_folders,
    "lfw": write_lfw,
    "pairs": write_list,
}
SIZES = ([2], [2, 2], [1, 1], [2, 1], [3, 2, 2], [2] * 5)


def made_runs(root, protocol, case):
    """Two runs that differ by their seed, and a copy of the first; None where nothing is to be
    compared, which is an error that says so."""
    try:
        trials = protocols.read_trials(protocol, root)
    except Error:
        return None
    made = []
    for name, seed in (("a", 1), ("b", 2), ("c", 1)):
        values, status = values_of(case, trials.identity, seed)
        data = EmbeddingSet(values, trials.names, status, {})
        try:
            result = protocols.evaluate(protocol, embeddings=data, trials=trials, **FEW)
        except Error:
            return None
        result.save(root.parent / name)
        made.append(root.parent / name)
    return made


def has_a_basis(ranking):
    """Ranks and p-values only where draws of people say them; else the reason stands there."""
    pairs = ranking["pairs"]
    for pair in pairs:
        low, high = pair["interval"]
        assert (pair["p_value"] is None) == (low is None) == (high is None)
        assert (pair["p_value"] is None) == bool(pair["no_interval"]), pair
        if pair["p_value"] is not None:
            assert low <= pair["difference"] <= high
            assert (pair["p_value"] < 0.05) == (low > 0 or high < 0), pair
            assert pair["note"] or pair["difference"] == 0 or low != high
    for place in ranking["places"]:
        undefined = place["first"] is None
        assert undefined == bool(ranking["undefined"])
        assert place["rank_interval"] == [None, None] if undefined else place["first"] <= 1
    if all(pair["p_value"] is None for pair in pairs):
        assert ranking["undefined"], ranking


@pytest.mark.parametrize("protocol", SETS)
@pytest.mark.parametrize("case", CASES)
def test_everything_asked_of_the_smallest_sets(protocol, case, tmp_path):
    asked = 0
    for number, images in enumerate(SIZES):
        root = tmp_path / f"{number}" / "set"
        root.parent.mkdir()
        SETS[protocol](root, images)
        runs = made_runs(root, protocol, case)
        if runs is None:
            continue
        asked += 1
        metrics = json.loads((runs[0] / "metrics.json").read_text())["tracks"]
        for track, measured in metrics.items():
            for metric in measured["metrics"]:
                # A number that is undefined is not ranked, with a sentence.
                with contextlib.suppress(ValueError):
                    has_a_basis(reports.rank_runs(runs, track, metric, **FEW))
        explained = facebench.explain(*runs[:2], **FEW)
        for n in explained.numbers:
            if n["paired"] and n["paired"]["interval"] is None:
                assert n["paired"]["no_interval"] and n["paired"]["p_value"] is None
        assert str(explained)
        attributes = root.parent / "attributes.csv"
        people = sorted(set(protocols.read_trials(protocol, root).identity_names))
        rows = [f"{name},{'ab'[k % 2]}" for k, name in enumerate(people)]
        attributes.write_text("\n".join(["identity,group", *rows]) + "\n")
        for ask in (
            lambda: facebench.groups(runs[0], attributes, **FEW),  # noqa: B023
            lambda: facebench.gallery(runs[0], sizes=[1, 2]),  # noqa: B023
            lambda: facebench.budget(runs[:1], **FEW),  # noqa: B023
            lambda: facebench.plan(runs[0]),  # noqa: B023
            lambda: facebench.threshold(runs[0], same=True, **FEW),  # noqa: B023
        ):
            with contextlib.suppress(Error, ValueError):
                assert "nan" not in str(ask()).lower()
    assert asked or case == "all failed"


def decided_runs(root, people, for_a, for_b):
    """Two runs of a genuine pair of each person, of which the second has `for_a` wrong, the first
    `for_b`."""
    (root / "set").mkdir(parents=True)
    rows, scores = ["first,second,label"], []
    for p in range(people):
        rows.append(f"p{p}/0.jpg,p{p}/1.jpg,1")
        scores.append([0.1 if for_a <= p < for_a + for_b else 0.9, 0.1 if p < for_a else 0.9])
    for p in range(people):
        rows.append(f"p{p}/0.jpg,p{(p + 1) % people}/0.jpg,0")
        scores.append([0.2, 0.2])
    (root / "set/pairs.csv").write_text("\n".join(rows) + "\n")
    for name, of_run in zip("ab", np.array(scores).T, strict=True):
        facebench.evaluate("pairs", scores=of_run, root=root / "set", out=root / name)
    return [root / "a", root / "b"]


@pytest.mark.parametrize(
    ("for_a", "for_b"), [(0, 0), (1, 0), (2, 0), (1, 1), (4, 0), (6, 0), (3, 3)]
)
@pytest.mark.parametrize("people", [2, 3, 5, 10, 40])
def test_few_who_differ_make_no_order(people, for_a, for_b, tmp_path):
    """What is said of two runs is no surer than the exact sign test."""
    if for_a + for_b > people:
        pytest.skip("more discordant people than people")
    runs = decided_runs(tmp_path, people, for_a, for_b)
    exact = binomtest(for_a, for_a + for_b).pvalue if for_a + for_b else 1
    for n in facebench.explain(*runs, replicates=300).numbers:
        p = n["paired"]["p_value"] if n["paired"] else None
        assert p is None or p >= exact * (1 - 1e-9), n
        adjusted = n["adjusted_p"]  # Holm, over the numbers of the pair of runs
        assert adjusted is None or adjusted >= p
        assert n["cause"] == "same" or (adjusted is not None and adjusted < 0.05) == (
            n["cause"] == "model"
        ), n
        assert n["cause"] != "undecided" or p < 0.05 <= adjusted, n
    ranking = reports.rank_runs(runs, "pairs", "tar@far=0.01", replicates=300)
    has_a_basis(ranking)
    if ranking["undefined"] is None:
        assert exact < 0.05 or ranking["places"][0]["first"] <= 1 - exact / 2 + 1e-9
        alone = ranking["places"][0]["rank_interval"] == [1, 1]
        assert not alone or exact < 0.05


def test_ranks_of_copies_have_no_basis(tmp_path):
    """Two copies of one training: no draw of people tells them apart."""
    root = tmp_path / "set"
    write_folders(root, [2] * 40)
    runs = made_runs(root, "folders", "random")
    tracks = json.loads((runs[0] / "metrics.json").read_text())["tracks"]
    track = next(name for name, measured in tracks.items() if "auc" in measured["metrics"])
    copies = reports.rank_runs([runs[0], runs[2]], track, "auc", **FEW)
    assert copies["undefined"] == "no draw of people tells the runs apart; compare more people"
    assert [p["first"] for p in copies["places"]] == [None, None]
    pair = copies["pairs"][0]
    assert pair["p_value"] == 1 and pair["interval"][0] < 0 < pair["interval"][1]
    others = reports.rank_runs(runs[:2], track, "auc", **FEW)
    assert others["undefined"] is None
    assert math.isclose(sum(p["first"] for p in others["places"]), 1)


@pytest.mark.parametrize("wrong", [0, 1, 5])
def test_a_plan_of_few_people_promises_nothing(tmp_path, wrong):
    """Without a right comparison the rate's variance is no more known than without a wrong one."""
    run = decided_runs(tmp_path, 5, wrong, 0)[1]
    found = facebench.plan(run, far=0)
    rate = found.genuine["rate"]
    assert rate == wrong / 5
    likely = {0: 1 - 0.05 ** (1 / 5), 1: 0.05 ** (1 / 5)}.get(rate, rate)
    independent = found.genuine["effective"]
    factor = norm.ppf(0.975) + norm.ppf(0.8)
    smallest = factor * math.sqrt(2 * likely * (1 - likely) / independent)
    assert found.smallest_difference == pytest.approx(smallest, rel=1e-6)
    assert found.genuine_needed > 1000
    says = "cannot show a difference, be it of 100 %" if smallest >= 1 else "show differences of"
    assert says in str(found)


def test_ranks_of_two_people_are_undefined(tmp_path):
    """The example of rank_runs with "accuracy": each person is half of the folds."""
    text = "2\t1\nAnn\t1\t2\nAnn\t1\tBob\t1\nCat\t1\t2\nCat\t1\tDan\t1\n"
    (tmp_path / "pairs.txt").write_text(text)
    for name, last in (("a", 0.2), ("b", 0.95)):
        facebench.evaluate("lfw", scores=[0.9, 0.1, 0.8, last], root=tmp_path, out=tmp_path / name)
    ranking = reports.rank_runs([tmp_path / "a", tmp_path / "b"], "view2", "accuracy", **FEW)
    assert ranking["undefined"].startswith("too few people: the number is undefined in ")
    assert ranking["pairs"][0]["no_interval"] == "too few people: most replicates are undefined"
    has_a_basis(ranking)
