"""Run folders, tables and pages from Python."""

import csv
import json
import re

import facebench
import numpy as np
import pytest
from facebench import protocols, reports
from facebench.reports import tables
from facebench.reports.cards import run_card
from facebench.reports.page import image_section, table_section, text_section
from facebench.reports.plots import roc_svg
from facebench.reports.results import run_report, runs_section


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
    assert all(c["same"] is not False for c in reports.verify_scores(runs[0]))
    assert all(c["same"] is not False for c in reports.verify_inputs(runs[0]))
    data = bytearray((runs[0] / "scores.h5").read_bytes())
    data[len(data) // 2] ^= 1
    (runs[0] / "scores.h5").write_bytes(data)
    assert not all(c["same"] is not False for c in reports.verify_scores(runs[0]))


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
    assert "unreadable" in run_report(runs[0])


def cell(value, text, **more):
    empty = dict.fromkeys(("interval", "bounds", "support", "counted", "sd", "standard_error"))
    how = {"level": 0, "method": "none", "note": ""}
    return {"text": text, "value": value, **how, **empty, **more}


def made_up_table():
    """Of a protocol with a matrix and a rate at a FAR, by hand."""
    support = {"rate": "FAR", "target": 0.001, "achieved": 0.0005, "errors": 2, "expected": 4.0}
    rows = [
        ("mean_similarity", "front", "front", cell(0.5, "0.500 [0.400, 0.600]", level=0.95,
                                                   interval=[0.4, 0.6], method="vertex",
                                                   note="at least: x")),
        ("mean_similarity", "side", "front", cell(0.125, "0.125", level=0.95, method="vertex")),
        ("tar@far=0.001", "", "", cell(0.5, "50.00* (2 at FAR 0.05 %)",
                                       support={**support, "reliable": False})),
        ("failure_to_enrol_rate", "", "", cell(0.25, "25.00 (2 of 8)",
                                               counted={"count": 2, "total": 8})),
    ]  # fmt: skip
    return {
        "columns": ["one & two"],
        "rows": [
            {"protocol": "poses", "track": "pose", "metric": metric, "row": row, "column": column,
             "title": f"{metric} {row}-{column}", "cells": [c]}
            for metric, row, column, c in rows
        ],
        "notes": ["* Fewer than ten: a handful.", "+ at least: few errors."],
        "no_interval": ["nobody else to draw"],
        "text": "as C++ says",
    }  # fmt: skip


def test_formats_of_a_table():
    write = tables._FORMATS
    csv = write["csv"](**made_up_table()).splitlines()
    head = "protocol,track,metric,row,column,run,value,low,high,level,method,note,rate,rate_target,"
    assert csv[0] == head + "rate_achieved,errors,expected_errors,reliable,count,total"
    line = "poses,pose,mean_similarity,front,front,one & two,0.5,0.4,0.6,0.95,vertex,"
    assert csv[1] == line + "at least: x,,,,,,,,"
    line = "poses,pose,mean_similarity,side,front,one & two,0.125,,,,vertex,,,,,,,,,"
    assert csv[2] == line
    line = "poses,pose,tar@far=0.001,,,one & two,0.5,,,,none,,FAR,0.001,0.0005,2,4,false,,"
    assert csv[3] == line
    assert csv[4].endswith("none,,,,,,,,2,8")
    latex = write["latex"](**made_up_table()).splitlines()
    assert latex[:4] == ["% needs booktabs", r"\begin{tabular}{lr}", r"\toprule",
                         r"rates in \% & one \& two \\"]  # fmt: skip
    assert latex[4:6] == [r"\midrule", r"\multicolumn{2}{l}{poses, pose} \\"]
    assert latex.count(r"\midrule") == 1
    assert latex[8] == r"tar@far=0.001 - & 50.00* (2 at FAR 0.05 \%) \\"
    notes = [r"\multicolumn{2}{l}{\footnotesize * Fewer than ten: a handful.} \\",
             r"\multicolumn{2}{l}{\footnotesize + at least: few errors.} \\"]  # fmt: skip
    assert latex[-5:-2] == [r"\bottomrule", *notes]
    markdown = write["markdown"](**made_up_table()).splitlines()
    assert markdown[:2] == ["| rates in % | one & two |", "|---|---|"]
    assert r"| 50.00\* (2 at FAR 0.05 %) |" in markdown[4]
    assert markdown[6:] == ["", r"\* Fewer than ten: a handful.", "",
                            "+ at least: few errors.", "",
                            "No interval: nobody else to draw."]  # fmt: skip
    assert write["text"](**made_up_table()) == "as C++ says"


def test_a_table_as_plain_text(runs):
    lines = reports.table(runs, "text").splitlines()
    assert lines[0].split() == ["rates", "in", "%", "good", "worse", "<b>"]
    (row,) = (line for line in lines if line.startswith("lfw view2: accuracy"))
    place = lines[0].index("worse")
    assert row[place - 2 : place] == "  " and row[place].isdigit()


def test_the_page_is_self_contained_and_escapes(runs, tmp_path):
    picture = tmp_path / "x.svg"
    picture.write_text('<svg xmlns="http://www.w3.org/2000/svg"/>')
    sections = [
        text_section("What <it> is", "One.\n\nTwo."),
        runs_section("Numbers", runs, notes=["A note."]),
        table_section("Time", ["step", "s"], [["pack", 3.25]]),
        image_section("Picture", picture, "a caption"),
    ]
    reports.write_html(tmp_path / "out" / "report.html", "A & B", sections)
    page = (tmp_path / "out" / "report.html").read_text()
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["report.html"]
    for part in ("A &amp; B", "What &lt;it&gt; is", "worse &lt;b&gt;", "color-scheme: dark"):
        assert part in page
    # Its script reads values off the plots; nothing is loaded.
    for part in ("<b>", "<script ", "<link"):
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
    page = reports.report_html("A", [runs_section("B", [tmp_path / k for k in "abc"])])
    unfolded = re.sub("<details.*?</details>", "", page, flags=re.S)
    assert unfolded.count("<strong>Note (a, b):</strong> The scores given are distances") == 1
    alone = reports.report_html("A", [runs_section("B", [tmp_path / "a"])])
    assert "<strong>Note:</strong> The scores given are distances" in alone


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
    page = reports.report_html("A", [runs_section("B", [runs[0], tmp_path / "other"], ["s", "s"])])
    assert re.findall("<h3[^>]*>(.*?)</h3>", page) == ["LFW View 2", "My people"]
    assert page.count('<th scope="col">s</th>') == 2
    # The summary: a row for the system, of each protocol its accuracy as the runs have it.
    row = re.findall("<tr><td>s</td>(.*?)</tr>", page)[0]
    shown = [float(v) for v in re.findall(r'<td class="number">([\d.]+)', row)]
    values = [r["value"] for k in (runs[0], tmp_path / "other") for r in reports.rows(k)
              if r["metric"] == "accuracy"]  # fmt: skip
    assert shown == pytest.approx([100 * v for v in values], abs=0.005)
    with pytest.raises(ValueError, match="titled 's'"):
        runs_section("B", runs, ["s", "s"])
    markdown = reports.table([runs[0], tmp_path / "other"], titles=["s", "s"])
    assert markdown.splitlines()[0] == "| rates in % | s |"


def test_tables_say_what_numbers_rest_on(runs):
    rows = list(csv.DictReader(reports.table(runs, "csv").splitlines()))
    cell = next(r for r in rows if r["metric"] == "tar@far=0.1" and r["run"] == "good")
    assert (cell["rate"], cell["rate_target"], cell["expected_errors"]) == ("FAR", "0.1", "2")
    assert cell["reliable"] == "false"
    failed = next(r for r in rows if r["metric"] == "failure_to_enrol_rate")
    assert (failed["count"], failed["total"]) == ("1", "60")


def test_rows_as_parquet(runs, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow: pip install pyarrow")
    path = facebench.report(runs, format="parquet", out=tmp_path / "r.parquet")
    assert parquet.read_table(path).to_pylist() == reports.rows(runs)
    with pytest.raises(ValueError, match="parquet needs out="):
        facebench.report(runs, format="parquet")


def test_a_card_says_what_the_run_says():
    cell = {"value": 0.9, "interval": [0.8, 0.95], "level": 0.9}
    metrics = {"tracks": {"view2": {"metrics": {"accuracy": cell, "auc": cell | {"value": None}}}}}
    protocol = {"id": "lfw", "title": "LFW | View 2", "version": 1}
    content = {"protocol": protocol, "embedder": "m.onnx", "notes": ["Not the official list."]}
    written = {"value": "90.00", "interval": ["80.00", "95.00"]}
    row = {"track": "view2", "metric": "accuracy", "row": "", "column": "", "is_rate": True}
    row |= {"quantity": "accuracy", "cells": [{"written": written}]}
    card = run_card(content, metrics, {"rows": [row]})
    head = dict(line.split(": ", 1) for line in card.split("---\n")[1].splitlines())
    assert head["library_name"] == "facebench" and "license" not in head  # a comment asks for it
    (index,) = json.loads(head["model-index"])
    (result,) = index["results"]
    assert index["name"] == "m.onnx" and result["dataset"]["type"] == "lfw"
    assert result["metrics"][0]["value"] == 0.9
    assert result["metrics"][0]["args"]["interval_low"] == 0.8
    assert "90.00 %" in card and "80.00 – 95.00 %" in card
    assert r"LFW \| View 2" in card and "- Not the official list." in card


def test_the_plot_begins_at_the_smallest_rate():
    # Exactly there, and not with the decade below, where no comparison is.
    svg = roc_svg([("one", [0, 0.004, 0.5, 1], [0.2, 0.5, 0.9, 1])])
    assert ">0.4 %<" in svg
    assert ">0.1 %<" not in svg
