"""Run folders, tables and pages from Python."""

import re

import facebench
import numpy as np
import pytest
from facebench import protocols, reports


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
    assert page.count("<svg") == 1
    assert page.count("polyline") == 2
    assert not re.search(r'(?:src|href)="(?!data:)', page)
    assert page == reports.report_html("A & B", sections)


def test_the_plot_begins_at_the_smallest_rate():
    svg = reports.roc_svg([("one", [0, 0.004, 0.5, 1], [0.2, 0.5, 0.9, 1])])
    assert ">0.1 %<" in svg
    assert ">0.01 %<" not in svg
