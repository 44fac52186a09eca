"""Error rates of groups of people, against transcriptions and planted truths."""

import csv
import json
import math

import facebench
import numpy as np
import pytest
from facebench import metrics, protocols, reports
from facebench.protocols import EmbeddingSet


def gini(x):
    n = len(x)
    total = sum(abs(a - b) for a in x for b in x)
    return n / (n - 1) * total / (2 * n**2 * np.mean(x))


# Of the FMRs and FNMRs within the groups, as their sources define them.
DEFINITIONS = {
    "fmr_ratio": lambda fmr, fnmr: max(fmr) / min(fmr),
    "fnmr_ratio": lambda fmr, fnmr: max(fnmr) / min(fnmr),
    "fmr_geometric": lambda fmr, fnmr: max(fmr) / math.prod(fmr) ** (1 / len(fmr)),
    "fnmr_geometric": lambda fmr, fnmr: max(fnmr) / math.prod(fnmr) ** (1 / len(fnmr)),
    "fmr_difference": lambda fmr, fnmr: max(fmr) - min(fmr),
    "fnmr_difference": lambda fmr, fnmr: max(fnmr) - min(fnmr),
    "fmr_gini": lambda fmr, fnmr: gini(fmr),
    "fnmr_gini": lambda fmr, fnmr: gini(fnmr),
    "garbe": lambda fmr, fnmr: 0.5 * gini(fmr) + 0.5 * gini(fnmr),
    "inequity_rate": lambda fmr, fnmr: (
        (max(fmr) / min(fmr)) ** 0.5 * (max(fnmr) / min(fnmr)) ** 0.5
    ),
    "fairness_discrepancy_rate": lambda fmr, fnmr: (
        1 - 0.5 * (max(fmr) - min(fmr)) - 0.5 * (max(fnmr) - min(fnmr))
    ),
}


class Data:
    """Pairs of people in groups; `fmr` and `fnmr` of each group, impostors also across groups."""

    def __init__(self, rng, fmr, fnmr, people=40, genuine=300, impostor=600, across=200):
        n = len(fmr)
        group = np.repeat(np.arange(n), people)
        first, second = [], []
        for g in range(n):
            own = np.flatnonzero(group == g)
            i = rng.choice(own, genuine)
            x, y = rng.choice(own, impostor), rng.choice(own, impostor)
            y = np.where(x == y, own[0] + (y - own[0] + 1) % people, y)
            first += [i, x]
            second += [i, y]
        x = rng.choice(people, across)
        first.append(x)
        second.append(x + people)
        self.first, self.second = np.concatenate(first), np.concatenate(second)
        self.labels = (self.first == self.second).astype(np.uint8)
        self.groups = group[self.first], group[self.second]
        rate = np.where(self.labels, np.array(fnmr)[self.groups[0]], np.array(fmr)[self.groups[0]])
        wrong = rng.random(len(rate)) < rate
        self.scores = np.where(wrong ^ (self.labels == 1), 0.9, 0.1)
        self.names = [f"g{k}" for k in range(n)]

    def rates(self, unknown=-1, **options):
        return metrics.group_rates(
            self.scores,
            self.labels,
            self.first,
            self.second,
            *self.groups,
            self.names,
            0.5,
            unknown=unknown,
            options=metrics.GroupRatesOptions(**({"replicates": 60, "permutations": 0} | options)),
        )

    def counts(self, genuine):
        """{(group, group): [errors, comparisons]}, pair by pair."""
        cells = {}
        for s, label, g, h in zip(self.scores, self.labels, *self.groups, strict=True):
            if label == genuine:
                cell = cells.setdefault((min(g, h), max(g, h)), [0, 0])
                cell[0] += (s >= 0.5) != bool(genuine)
                cell[1] += 1
        return cells


def test_cells_and_measures_equal_their_definitions():
    data = Data(np.random.default_rng(1), [0.05, 0.1, 0.2], [0.3, 0.1, 0.2])
    found = data.rates()
    within = []
    for cells, genuine in ((found.fmr_cells, 0), (found.fnmr_cells, 1)):
        wanted = data.counts(genuine)
        assert {(c.first, c.second): [c.errors, c.comparisons] for c in cells} == wanted
        within.append([wanted[g, g][0] / wanted[g, g][1] for g in range(3)])
    assert {m.name for m in found.measures} == set(DEFINITIONS)
    assert [m["name"] for m in metrics.group_measures()] == [m.name for m in found.measures]
    for m in found.measures:
        assert m.value == pytest.approx(DEFINITIONS[m.name](*within), rel=1e-12), m.name
        assert m.interval.low < m.value < m.interval.high
    assert list(found.people) == [40, 40, 40]
    every = data.counts(0).values()
    assert found.fmr == sum(e for e, _ in every) / sum(n for _, n in every)


def test_intervals_draw_people_as_other_rates_do():
    data = Data(np.random.default_rng(2), [0.05, 0.2], [0.3, 0.1])
    found = data.rates(replicates=100)
    cell = next(c for c in found.fmr_cells if (c.first, c.second) == (1, 1))
    own = (data.labels == 0) & (data.groups[0] == 1) & (data.groups[1] == 1)

    def rate(weights):
        return np.average(data.scores[own] >= 0.5, weights=weights[own])

    (wanted,) = metrics.dyadic_bootstrap(
        [rate],
        data.first,
        data.second,
        options=metrics.BootstrapOptions(replicates=100),
    )
    # A Python function has no resolution, which matters near 0 and 1 alone.
    assert cell.interval.low == pytest.approx(wanted.low, rel=1e-9)
    assert cell.interval.high == pytest.approx(wanted.high, rel=1e-9)


def test_the_unknown_group_has_rates_but_no_say():
    data = Data(np.random.default_rng(3), [0.05, 0.1, 0.9], [0.3, 0.1, 0.9])
    found = data.rates(unknown=2)
    assert any((c.first, c.second) == (2, 2) for c in found.fmr_cells)
    rates = [c.rate for c in found.fmr_cells if c.first == c.second != 2]
    ratio = next(m for m in found.measures if m.name == "fmr_ratio")
    assert ratio.value == pytest.approx(max(rates) / min(rates))


def test_a_rate_of_zero_leaves_ratios_undefined():
    data = Data(np.random.default_rng(4), [0.0, 0.1], [0.1, 0.1], across=1)
    found = {m.name: m for m in data.rates(permutations=5).measures}
    assert math.isnan(found["fmr_ratio"].value) and math.isnan(found["fmr_ratio"].interval.low)
    assert math.isnan(found["fmr_ratio"].p)
    assert found["fmr_difference"].value > 0 and found["fmr_difference"].p > 0


def test_cells_with_few_expected_errors_are_marked():
    data = Data(np.random.default_rng(5), [0.05, 0.05], [0.1, 0.1], across=20)
    few = {(c.first, c.second): c.few for c in data.rates().fmr_cells}
    assert few == {(0, 0): False, (1, 1): False, (0, 1): True}


def test_permutations_tell_chance_from_difference():
    rng = np.random.default_rng(6)
    unequal = Data(rng, [0.05, 0.3], [0.1, 0.1]).rates(permutations=99)
    by_name = {m.name: m.p for m in unequal.measures}
    assert by_name["fmr_gini"] == by_name["fmr_ratio"] == 0.01
    assert by_name["fairness_discrepancy_rate"] == 0.01
    chance = []
    for _ in range(20):
        data = Data(rng, [0.1, 0.1, 0.1], [0.1, 0.1, 0.1], people=15, genuine=60, impostor=100)
        chance.append({m.name: m.p for m in data.rates(permutations=49).measures}["fmr_gini"])
    # Uniform: a mean of 20 such p has a standard deviation of .065.
    assert 0.25 < np.mean(chance) < 0.75


@pytest.mark.parametrize("rates", [([0.1] * 2, [0.1] * 2), ([0.05, 0.1, 0.2], [0.1, 0.2, 0.2])])
def test_intervals_hold_the_truth_where_groups_are_equal(rates):
    """A largest rate less a smallest is never below 0: its replicates cannot say 0."""
    rng = np.random.default_rng(8)
    hits, draws = dict.fromkeys(DEFINITIONS, 0), 60
    for _ in range(draws):
        data = Data(rng, *rates, people=60, genuine=600, impostor=1500)
        for m in data.rates(replicates=200).measures:
            truth = DEFINITIONS[m.name](*rates)
            hits[m.name] += m.interval.low - 1e-9 <= truth <= m.interval.high + 1e-9
            assert m.interval.low <= m.value <= m.interval.high
    # Of 60 with 95 % fewer than 50 come once in 1,000 times.
    assert min(hits.values()) >= 50, hits


def test_equal_rates_and_no_errors_have_wide_intervals():
    data = Data(np.random.default_rng(9), [0.1, 0.1], [0.1, 0.1])
    wrong = np.zeros(len(data.scores), bool)
    for label in (0, 1):
        for group in (0, 1):
            own = (data.labels == label) & (data.groups[0] == group) & (data.groups[1] == group)
            wrong[np.flatnonzero(own)[::20]] = True
    data.scores = np.where(wrong ^ (data.labels == 1), 0.9, 0.1)
    found = {m.name: m for m in data.rates(replicates=200).measures}
    for kind in ("fmr", "fnmr"):
        rate = found[f"{kind}_difference"]
        # Two rates of 5 % of 600 and of 300, were they independent: 1.96 times .0126 and .0178.
        assert rate.value == rate.interval.low == 0 and 0.01 < rate.interval.high < 0.06
        assert found[f"{kind}_ratio"].interval.low == 1 < found[f"{kind}_ratio"].interval.high
    assert found["fairness_discrepancy_rate"].interval.high == 1

    data.scores = np.where(data.labels == 1, 0.9, 0.1)
    found = {m.name: m for m in data.rates(replicates=60).measures}
    rate = found["fmr_difference"].interval
    wilson = metrics.wilson(0, 40)  # the people of one group
    assert (rate.low, rate.high) == (0, pytest.approx(wilson.high, abs=1e-9))
    assert math.isnan(found["fmr_ratio"].interval.low)


@pytest.mark.slow
def test_a_planted_ratio_lies_in_its_interval():
    """A group with twice the FMR of the other, which both differ by a planted truth."""
    rng = np.random.default_rng(7)
    hits, draws = 0, 200
    for _ in range(draws):
        data = Data(rng, [0.1, 0.2], [0.1, 0.1], people=120, impostor=3000)
        ratio = next(m for m in data.rates(replicates=200).measures if m.name == "fmr_ratio")
        hits += ratio.interval.low <= 2 <= ratio.interval.high
    print(f"a ratio of 2 lies in its interval in {hits} of {draws} draws")
    assert 0.92 <= hits / draws <= 0.985


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"first_group": [0, 5]}, "without a name"),
        ({"first_person": [0, -1]}, "numbers"),
        ({"second_group": [0]}, "one number for each"),
        ({"threshold": math.nan}, "NaN"),
    ],
)
def test_wrong_use_is_refused(change, message):
    arguments = {
        "scores": [0.9, 0.1],
        "labels": [1, 0],
        "first_person": [0, 1],
        "second_person": [0, 2],
        "first_group": [0, 0],
        "second_group": [0, 0],
        "groups": ["a"],
        "threshold": 0.5,
    }
    with pytest.raises(ValueError, match=message):
        metrics.group_rates(**(arguments | change))


class Run:
    """A run of LFW's kind whose men's embeddings are noisier, and a table of sexes."""

    def __init__(self, folder):
        people = [f"P{f}{k:02}" for f in range(5) for k in range(24)]
        lines = ["5\t12"]
        for f in range(5):
            own = people[24 * f : 24 * f + 24]
            lines += [f"{n}\t1\t2" for n in own[:12]]
            lines += [f"{own[k]}\t1\t{own[k + 2]}\t1" for k in range(12)]
        (folder / "pairs.txt").write_text("\n".join(lines) + "\n")
        trials = protocols.read_trials("lfw", folder)
        self.sex = {n: "female" if i % 2 else "male" for i, n in enumerate(people)}
        rng = np.random.default_rng(9)
        centre = {n: rng.normal(size=8) for n in people}
        values = []
        for k in trials.identity:
            name = trials.identity_names[k]
            noise = 1.5 if self.sex[name] == "male" else 0.4
            values.append(centre[name] + noise * rng.normal(size=8))
        data = EmbeddingSet(np.array(values, np.float32), trials.names)
        result = protocols.evaluate("lfw", embeddings=data, trials=trials, replicates=50)
        self.folder = folder / "run"
        result.save(self.folder)
        self.table = folder / "people.csv"
        with self.table.open("w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["person", "region", "sex"])
            # One person has no row, one an empty cell; one row names nobody.
            rows.writerows([n, "", "" if n == people[1] else s] for n, s in self.sex.items())
            rows.writerow(["Nobody", "", "male"])

    def groups(self, **options):
        quick = {"column": "sex", "far": 0.2, "replicates": 40, "permutations": 20}
        return reports.groups(self.folder, self.table, **(quick | options))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return Run(tmp_path_factory.mktemp("groups"))


def test_groups_of_a_run(run):
    found = run.groups()
    assert [g["name"] for g in found.groups] == ["female", "male", "(unknown)"]
    assert found.unknown > 0 and found.unused_rows >= 1
    rate = {
        (c["first"], c["second"]): c["rate"] for c in found.fnmr_cells if c["first"] == c["second"]
    }
    assert rate["male", "male"] > rate["female", "female"]
    assert found["fnmr_difference"]["p"] == pytest.approx(1 / 21)
    text = str(found)
    assert "| female |" in text and "It gives a FAR of 0.2 on these comparisons." in text
    # The threshold of the run itself, given or chosen there, is the same.
    given = run.groups(threshold=found.threshold)
    assert given.fmr_cells == found.fmr_cells
    chosen = run.groups(threshold_from=run.folder)
    assert chosen.threshold == found.threshold and "in the run run" in chosen.threshold_from
    total = sum(c["comparisons"] for c in found.fmr_cells + found.fnmr_cells)
    assert total == found.comparisons == 120


def test_groups_by_photograph(run, tmp_path):
    """Sample names count before people's, with or without their extensions."""
    table = tmp_path / "photos.csv"
    names = protocols.read_trials("lfw", run.folder.parent).names
    table.write_text(
        "photo,age\n" + "".join(f"{n.removesuffix('.jpg')},{i % 2}\n" for i, n in enumerate(names))
    )
    found = reports.groups(run.folder, table, far=0.2, replicates=40)
    assert [g["name"] for g in found.groups] == ["0", "1"]
    assert found.unknown == 0 and found.unused_rows == 0
    # People are in both groups: nobody can be dealt to one.
    assert all(m["p"] is None for m in found.measures)


def test_matched_impostors_are_of_one_group(run):
    every, matched = run.groups(), run.groups(impostors="matched", threshold=0.5)
    across = [c for c in every.fmr_cells if c["first"] != c["second"]]
    unknown = [c for c in every.fmr_cells if c["first"] == c["second"] == "(unknown)"]
    assert matched.not_matched == sum(c["comparisons"] for c in across + unknown) > 0
    assert all(c["first"] == c["second"] != "(unknown)" for c in matched.fmr_cells)
    assert matched.comparisons == every.comparisons - matched.not_matched
    assert "Impostors are matched" in str(matched)
    assert all(m["p"] is None for m in matched.measures)
    # A threshold that is chosen on matched impostors gives them the FAR that was asked for.
    own = run.groups(impostors="matched", far=0.2)
    assert own.fmr <= 0.2


def test_the_page_has_the_figures(run, tmp_path):
    found = run.groups(out=tmp_path / "groups.html")
    text = (tmp_path / "groups.html").read_text()
    within = {c["first"] for c in found.fmr_cells if c["first"] == c["second"]}
    for figure in ("grouprates", "fnmrfmr", "matrix"):
        assert text.count(f'class="plot {figure}"') >= 1
    assert "FMR by group" in text and all(name in text for name in within)


def test_tables_that_say_nothing_are_refused(run, tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("person,sex\nNobody,male\n")
    with pytest.raises(facebench.Error, match="no row names anybody"):
        reports.groups(run.folder, table)
    table.write_text("person,sex\nP000,male\nP000,female\n")
    with pytest.raises(facebench.Error, match=r"table\.csv:3.*P000"):
        reports.groups(run.folder, table)
    with pytest.raises(facebench.Error, match="colour"):
        reports.groups(run.folder, run.table, column="colour")
    with pytest.raises(ValueError, match="track"):
        run.groups(track="nothing")


def test_command_line(run):
    from click.testing import CliRunner
    from facebench.cli.app import app

    arguments = ["groups", str(run.folder), "--attributes", str(run.table), "--column", "sex"]
    done = CliRunner().invoke(app, [*arguments, "--far", "0.2", "--replicates", "40", "--json"])
    fields = json.loads(done.stdout)
    assert fields["column"] == "sex" and len(fields["measures"]) == len(DEFINITIONS)
