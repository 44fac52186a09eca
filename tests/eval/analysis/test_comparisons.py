"""Several runs on one page: their paired differences, and the pairs they decide differently."""

import re

import facebench
import numpy as np
import pytest
from facebench import analysis


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compared")
    lines = ["2\t60"]
    for fold in range(2):
        lines += [f"P{fold}{k:02}\t1\t2" for k in range(60)]
        lines += [f"P{fold}{k:02}\t1\tP{fold}{(k + 1) % 60:02}\t1" for k in range(60)]
    (folder / "pairs.txt").write_text("\n".join(lines) + "\n")
    labels = np.tile(np.repeat([1, 0], 60), 2)
    rng = np.random.default_rng(2)
    hard = rng.normal(size=240)
    shifts = {"good": 3, "weak": 1, "twin": 3}
    for name, shift in shifts.items():
        noise = rng.normal(size=240) * (0.05 if name == "twin" else 0)
        facebench.evaluate("lfw", scores=shift * labels + hard + noise, root=folder,
                           replicates=200, out=folder / name)  # fmt: skip
    facebench.evaluate("lfw", scores=labels + hard, root=folder, out=folder / "copy",
                       replicates=200)  # fmt: skip
    return {name: folder / name for name in (*shifts, "copy")}


def cells(page):
    return [
        [re.sub("<[^>]+>", "", c) for c in re.findall(r"<td[^>]*>(.*?)</td>", row)]
        for row in re.findall(r"<tr>(.*?)</tr>", page, re.DOTALL)
    ]


def by_hand(p_values):
    """Holm 1979: the k-th smallest times what is left, never falling, at most 1."""
    order = np.argsort(p_values)
    adjusted, least = {}, 0.0
    for k, i in enumerate(order):
        least = max(least, min(1.0, p_values[i] * (len(p_values) - k)))
        adjusted[i] = least
    return [adjusted[i] for i in range(len(p_values))]


def test_a_page_of_two_runs_compares_them(runs, tmp_path):
    two = [runs["good"], runs["twin"]]
    page = facebench.report(two, format="html", out=tmp_path / "page.html").read_text()
    assert "<title>good and twin on LFW View 2</title>" in page
    section = page[page.index("<h2>Differences to good") :].partition("<h2>Run folders")[0]
    found = analysis.explain(*two)
    numbers = [n for n in found.numbers if n["paired"]]
    rows = [row for row in cells(section) if row and row[0].startswith("view2")]
    assert [row[0].partition(": ")[2] for row in rows][:3] == ["accuracy", "AUC", "EER"]
    assert len(rows) == len(numbers)
    adjusted = by_hand([n["paired"]["p_value"] for n in numbers])
    for row, n, p in zip(rows, numbers, adjusted, strict=True):
        assert row[3] == f"{-100 * n['paired']['value']:+.2f}"
        assert row[6] == ("below 0.0001" if p < 1e-4 else f"{p:.3g}")
        assert (row[7] == "not told apart") == (p >= 0.05)
    assert 'class="plot differences"' in section and "Holm" in section


def test_which_one_is_better_depends_on_the_metric(runs, tmp_path):
    two = [runs["good"], runs["weak"]]
    page = facebench.report(two, format="html", out=tmp_path / "page.html").read_text()
    rows = {row[0]: row for row in cells(page) if row and row[0].startswith("view2: ")}
    # The weak one has less accuracy and more EER: the good one is better in both.
    assert rows["view2: accuracy"][3].startswith("-") and rows["view2: EER"][3].startswith("+")
    assert rows["view2: accuracy"][7] == rows["view2: EER"][7] == "good"
    assert "Pairs that the two decide differently" in page
    other = facebench.report(two, format="html", baseline="weak", out=tmp_path / "o.html")
    assert "Differences to weak" in other.read_text()


def test_the_pairs_are_those_of_either_threshold(runs, tmp_path):
    two = [runs["good"], runs["weak"]]
    page = facebench.report(two, format="html", out=tmp_path / "page.html").read_text()
    said = re.search(r"<p>(\d+) at a FAR of 0.1 % of either: weak alone decides (\d+)", page)
    right = []
    for run in two:
        result = facebench.load(run)["view2"]
        scores, labels = result.labelled_scores()
        threshold = facebench.inspect(run).threshold
        right.append((scores >= threshold) == (labels == 1))
    assert int(said[1]) == (right[0] != right[1]).sum()
    assert int(said[2]) == (right[1] & ~right[0]).sum()


def test_what_cannot_be_compared_is_said(runs, tmp_path):
    def page(*names, **more):
        where = tmp_path / "-".join(names)
        folders = [runs[n] for n in names]
        return facebench.report(folders, format="html", out=where, **more).read_text()

    assert "Differences to" not in page("good")
    assert "all numbers are the same, so no difference is shown" in page("weak", "copy")
    three = page("good", "weak", "twin")
    assert three.count('class="plot differences"') == 2
    assert "Pairs that the two decide" not in three
    with pytest.raises(ValueError, match="baseline nobody is not a title; titles: good, weak"):
        page("good", "weak", baseline="nobody")
    with pytest.raises(ValueError, match="baseline: goes with"):
        facebench.report(runs["good"], baseline="good")


def test_a_table_of_attributes_or_qualities_gets_its_pictures(runs, tmp_path):
    names = [f"P{fold}{k:02}" for fold in range(2) for k in range(60)]
    table = tmp_path / "people.csv"
    halves = (f"{n},{'low' if k % 60 < 30 else 'high'}\n" for k, n in enumerate(names))
    table.write_text("name,half\n" + "".join(halves))
    sharp = tmp_path / "sharp.csv"
    photographs = [f"{n}/{n}_000{k}.jpg" for n in names for k in (1, 2)]
    sharp.write_text("name,sharp\n" + "".join(f"{p},{k % 7}\n" for k, p in enumerate(photographs)))
    page = facebench.report(runs["weak"], format="html", attributes=table, column="half",
                            out=tmp_path / "g.html").read_text()  # fmt: skip
    assert "<h2>Groups: weak</h2>" in page and 'class="plot grouprates"' in page
    assert "high: " in page  # what a point says when it is pointed at
    page = facebench.report(runs["weak"], format="html", qualities=sharp,
                            out=tmp_path / "q.html").read_text()  # fmt: skip
    assert "<h2>Error versus discard: weak</h2>" in page and 'class="plot discard"' in page
    with pytest.raises(ValueError, match="go with format='html'"):
        facebench.report(runs["weak"], attributes=table)
