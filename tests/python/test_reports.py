"""Run folders, tables and pages from Python."""

import csv
import math
import re

import facebench
import numpy as np
import pytest
from facebench import protocols, reports
from scipy.stats import norm


@pytest.fixture
def runs(tmp_path):
    lists = ["4\t5"]
    for fold in range(4):
        people = [f"P{fold}{k}" for k in range(10)]
        lists += [f"{p}\t1\t2" for p in people[:5]]
        lists += [f"{people[k]}\t1\t{people[k + 5]}\t1" for k in range(5)]
    (tmp_path / "pairs.txt").write_text("\n".join(lists) + "\n")
    trials = protocols.read_trials("lfw", tmp_path)
    random = np.random.default_rng(2)
    folders = []
    for name, noise in (("good", 0.6), ("worse <b>", 2.0)):
        people = random.normal(size=(len(trials.identity_names), 16))
        values = people[trials.identity] + noise * random.normal(size=(len(trials.names), 16))
        status = np.zeros(len(values), np.uint8)
        status[3], values[3] = 2, 0
        result = protocols.evaluate(
            "lfw",
            embeddings=values,
            names=trials.names,
            status=status,
            trials=trials,
            root=tmp_path,
            replicates=100,
        )
        result.save(tmp_path / name)
        folders.append(tmp_path / name)
    return folders


def test_a_saved_run_verifies_and_damage_is_found(runs):
    assert all(c["same"] for c in reports.verify_scores(runs[0]))
    assert all(c["same"] for c in reports.verify_inputs(runs[0]))
    data = bytearray((runs[0] / "scores.h5").read_bytes())
    data[len(data) // 2] ^= 1
    (runs[0] / "scores.h5").write_bytes(data)
    assert not all(c["same"] for c in reports.verify_scores(runs[0]))


def test_a_run_is_replaced_on_request_only(runs):
    trials = protocols.read_trials("lfw", runs[0].parent)
    result = protocols.evaluate("lfw", scores=np.linspace(0, 1, 40), trials=trials, replicates=50)
    with pytest.raises(facebench.Error):
        result.save(runs[0])
    result.save(runs[0], overwrite=True)
    assert reports.read_run(runs[0])["content"]["score"] == "given"


def test_tables(runs):
    for format in reports.report_formats():
        assert "accuracy" in reports.table(runs, format)
    with pytest.raises(ValueError, match="did you mean"):
        reports.table(runs, "latec")
    assert "unreadable" in reports.run_report(runs[0])


def test_the_page_is_self_contained_and_escapes(runs, tmp_path):
    picture = tmp_path / "x.svg"
    picture.write_text('<svg xmlns="http://www.w3.org/2000/svg"/>')
    sections = [
        reports.text_section("What <it> is", "One.\n\nTwo."),
        reports.runs_section("Numbers", runs, notes=["A note."]),
        reports.table_section("Time", ["step", "s"], [["pack", 3.25]]),
        reports.image_section("Picture", picture, "a caption"),
    ]
    reports.write_html(tmp_path / "out" / "report.html", "A & B", sections)
    page = (tmp_path / "out" / "report.html").read_text()
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["report.html"]
    for part in ("A &amp; B", "What &lt;it&gt; is", "worse &lt;b&gt;", "color-scheme: dark"):
        assert part in page
    for part in ("<b>", "<script", "<link"):
        assert part not in page
    # ROC and DET of both runs, and each run's scores.
    assert page.count("<svg") == 4
    assert page.count("<polyline") == 2 + 2 + 2 * 2
    assert "false accepts</span>" in page
    assert not re.search(r'(?:src|href)="(?!data:)', page)
    assert page == reports.report_html("A & B", sections)


def test_the_page_shows_notes_once_and_not_folded_away(runs, tmp_path):
    trials = protocols.read_trials("lfw", runs[0].parent)
    shared = {"scores": np.linspace(1, 0, 40), "trials": trials, "interval": "none"}
    for name in ("a", "b"):
        protocols.evaluate("lfw", distance=True, **shared).save(tmp_path / name)
    protocols.evaluate("lfw", **shared).save(tmp_path / "c")
    page = reports.report_html("A", [reports.runs_section("B", [tmp_path / k for k in "abc"])])
    unfolded = re.sub("<details.*?</details>", "", page, flags=re.S)
    assert unfolded.count("Note (a, b): The scores given are distances") == 1
    alone = reports.report_html("A", [reports.runs_section("B", [tmp_path / "a"])])
    assert "Note: The scores given are distances" in alone


def test_one_page_for_several_protocols(runs, tmp_path):
    text = protocols.load_protocol("lfw").text
    (tmp_path / "mine.toml").write_text(
        text.replace('id = "lfw"', 'id = "mine"').replace("LFW View 2", "My people")
    )
    trials = protocols.read_trials("lfw", tmp_path)
    other = protocols.evaluate(
        tmp_path / "mine.toml", scores=np.linspace(0, 1, 40), trials=trials, interval="none"
    )
    other.save(tmp_path / "other")
    page = reports.report_html(
        "A", [reports.runs_section("B", [runs[0], tmp_path / "other"], ["s", "s"])]
    )
    assert re.findall("<h3>(.*?)</h3>", page) == ["LFW View 2", "My people"]
    assert page.count('<th scope="col">s</th>') == 2
    with pytest.raises(ValueError, match="titled 's'"):
        reports.runs_section("B", runs, ["s", "s"])
    markdown = reports.table([runs[0], tmp_path / "other"], titles=["s", "s"])
    assert markdown.splitlines()[0] == "| rates in % | s |"


def test_tables_say_what_numbers_rest_on(runs):
    rows = list(csv.DictReader(reports.table(runs, "csv").splitlines()))
    cell = next(r for r in rows if r["metric"] == "tar@far=0.1" and r["run"] == "good")
    assert (cell["rate"], cell["rate_target"], cell["expected_errors"]) == ("FAR", "0.1", "2")
    assert cell["reliable"] == "false"
    failed = next(r for r in rows if r["metric"] == "failure_to_enrol_rate")
    assert (failed["count"], failed["total"]) == ("1", "60")


def test_matrices_are_heat_maps():
    svg = reports.matrix_svg(["a", "b<"], ["c", "d"], [[0.9, 0.1], [-0.2, 0.4]], [["i"] * 2] * 2)
    assert svg.count("<rect") == 4
    assert "b&lt;" in svg
    assert ">-0.200<" in svg
    assert ">undefined<" in reports.matrix_svg(["a"], ["b"], [[None]])
    # Numbers above 1 (d') have a scale of their own.
    svg_above_1 = reports.matrix_svg(["a"], ["b", "c"], [[1.0, 5.0]])
    assert re.findall(r'fill-opacity="([\d.]+)"', svg_above_1) == ["0.142", "0.550"]
    strengths = [float(v) for v in re.findall(r'fill-opacity="([\d.]+)"', svg)]
    assert strengths[0] > strengths[3] > strengths[1] > strengths[2] > 0
    assert max(strengths) < 0.6  # text stays readable on it


def test_a_matrix_of_many_groups_is_wide_enough_for_its_numbers():
    """Eight groups stood on top of one another in the width of a curve."""
    names = [f"group {i}" for i in range(8)]
    svg = reports.matrix_svg(names, names, [[0.5] * 8] * 8, [["0.480 – 0.520"] * 8] * 8)
    widths = {float(w) for w in re.findall(r'<rect [^>]*width="([\d.]+)"', svg)}
    assert min(widths) > 140
    view = float(re.search(r'viewBox="0 0 (\d+) ', svg)[1])
    assert view == pytest.approx(170 + 8 * (min(widths) + 3))
    assert 'class="plot matrix wide"' in svg
    assert "wide" not in reports.matrix_svg(["a"], ["b", "c", "d"], [[1, 2, 3]])


def test_curves_of_identification():
    svg = reports.cmc_svg([("one", [0.92, 0.95, 1.0]), ("two", [0.91, 0.95, 0.97])])
    assert ">90 %<" in svg
    assert ">0 %<" not in svg
    assert "0.5 %" not in reports.det_svg([("one", [0, 0.01, 1], [1, 0.5, 0])])


def test_claims():
    claim = reports.check_claim("99.64", "lfw", against="99.53")
    assert not claim.exists
    assert claim.possible["up"] == [5978, 5978]
    assert "cannot exist" in repr(claim)
    assert claim.to_dict()["against"]["paired_nested"] > 6000
    with pytest.raises(ValueError, match="did you mean"):
        reports.check_claim("99.64", "lfw", metrik="accuracy")
    with pytest.raises(AttributeError, match="exists"):
        _ = claim.exist


# The formulas again, with scipy's quantiles.
@pytest.mark.parametrize(("a", "b"), [(0.9963, 0.9953), (0.6, 0.55), (1.0, 0.99), (0.2, 0.3)])
def test_sample_sizes_agree_with_the_formulas(a, b):
    z, power = norm.ppf(0.975), norm.ppf(0.8)
    d, mean, apart = abs(a - b), (a + b) / 2, a * (1 - b) + b * (1 - a)
    claim = reports.check_claim(f"{100 * a:.2f} %", metric="rate", genuine=10000, against=str(b))

    def size(null, alternative):
        return math.ceil((z * null**0.5 + power * alternative**0.5) ** 2 / d**2)

    assert claim.against["unpaired"] == size(2 * mean * (1 - mean), a * (1 - a) + b * (1 - b))
    assert claim.against["paired_nested"] == size(d, d - d * d)
    assert claim.against["paired_independent"] == size(apart, apart - d * d)
    assert claim.against["identities"] == claim.against["paired_independent"]


def test_the_plot_begins_at_the_smallest_rate():
    svg = reports.roc_svg([("one", [0, 0.004, 0.5, 1], [0.2, 0.5, 0.9, 1])])
    assert ">0.1 %<" in svg
    assert ">0.01 %<" not in svg
