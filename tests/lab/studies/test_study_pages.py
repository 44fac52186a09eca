"""The page of a paper: its matrices side by side, reasons once, also in a real browser."""

import json
import re

import facebench
import numpy as np
import pytest
from browser import Browser
from facebench.lab.studies import blocks, page, texts
from facebench.reports import report_markdown

TRACKS = ("low2high", "middle2high")
RATES = ("0.01", "0.001", "0.0001")


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Table 14 without data: every cell says what it needs."""
    return facebench.study("wang-guo-2019/table-14", out=tmp_path_factory.mktemp("s"))


def test_blocks_are_those_of_the_paper(study):
    parts = blocks.parts_of(study["table-14"])
    assert [p["title"] for p in parts] == [
        "LFW, accuracy, %", "VGGFace2, pose", "VGGFace2, age", "IJB-A, TAR at FAR, %"
    ]  # fmt: skip
    assert parts[1]["columns"] == ["frontal", "three-quarter", "profile"]
    assert [label for label, _ in parts[2]["lines"]] == ["young", "mature"]
    assert parts[3]["columns"] == ["1 %", "0.1 %", "0.01 %"]
    columns = study["table-14"]["columns"]
    for (label, numbers), track in zip(parts[3]["lines"], TRACKS, strict=True):
        assert label == track
        metrics = [columns[n]["metric"] for n in numbers]
        assert metrics == [f"tar@far={rate}" for rate in RATES]
    # Each column stands once.
    numbers = [n for p in parts for _, line in p["lines"] for n in line]
    assert sorted(numbers) == list(range(len(columns)))
    # With or without runs the six are told by their tracks.
    named = [c["title"] for c in columns if c["protocol"] == "ijba_quality"]
    assert [n.split(", ")[1] for n in named] == [t for t in TRACKS for _ in RATES]


def test_a_reason_stands_once_below_its_table(study):
    for name in ("study.html", "study.md"):
        text = (study.folder / name).read_text()
        assert text.count("test vggface2=FOLDER") == 1
        assert "(52 cells)" in text  # 4 rows of 9 + 4 entries
    assert (study.folder / "study.md").read_text().count("– (2)") == 52 + 1


def column(name, **more):
    return {"kind": "metric", "name": name, "protocol": name, "title": name, "rate": False,
            "metric": "auc", "metric_title": "AUC", "track": "", "id": ""} | more  # fmt: skip


@pytest.mark.parametrize(
    ("columns", "titles"),
    [
        ([column("a"), column("b")], ["a", "b"]),
        ([column("a", track=t) for t in "xy"], ["a, AUC"]),
        # Tracks of unlike metrics are columns of their own.
        ([column("a", track="x"), column("a", track="y", metric="eer")], ["a", "a"]),
        ([column("a", metric=m, metric_title=m) for m in ("auc", "eer")], ["a"]),
        ([column("a", kind="result"), column("a", kind="result")], ["a", "a"]),
        ([column("a", matrix="m", row=r, column=c) for r in "xy" for c in "xy"], ["a"]),
    ],
)  # fmt: skip
def test_what_is_a_block(columns, titles):
    assert [p["title"] for p in blocks.parts_of({"columns": columns})] == titles


def test_only_one_reason_has_no_number():
    cell = {"why": "needs a GPU", "printed": None}
    table = {"columns": [column("a")], "rows": [{"name": "r", "cells": [cell]}]}
    reasons = texts.Reasons(table)
    assert texts.shown(column("a"), cell, reasons=reasons).text == "–"
    assert reasons.notes() == ["–: needs a GPU"]


@pytest.mark.parametrize(
    ("printed", "value", "known"),
    [("96", 96, True), ("17.76", 17.79, False), ("17.79", 17.7949, True), ("-", None, True),
     ("5e-4", None, False)],
)  # fmt: skip
def test_what_is_as_printed_is_not_printed_twice(printed, value, known):
    number = None if printed in ("-", "5e-4") else float(printed)
    digits = len(printed.partition(".")[2])
    cell = {"value": value, "printed": {"text": printed, "value": number, "scale": 1,
            "half_unit": 0.5 * 10**-digits}}  # fmt: skip
    if number is not None:
        cell["difference"] = value - number
    else:
        cell["text"] = "–"
    fact = {"kind": "fact", "name": "batch", "title": "batch"}
    assert texts.as_printed(fact, cell) == known
    assert (texts.shown(fact, cell).below == "") == known
    assert not texts.as_printed({"kind": "result"} | fact | {"kind": "result"}, cell)


def test_markdown_has_the_pictures(tmp_path):
    found = facebench.study("wang-guo-2019/figure-1", rehearse=True, out=tmp_path / "s")
    places = re.findall(r"!\[[^]]+\]\(([^)]+)\)", (tmp_path / "s/study.md").read_text())
    assert len(places) == 3 and all((tmp_path / "s" / place).is_file() for place in places)
    assert found.failures == []


def test_differences_to_the_baseline_are_a_column():
    parts = [{"row": "b", "difference": 0.02, "interval": [0.01, 0.03], "interval_over": "people",
              "seeds": 1, "clear": True, "p_value": 0.01}]  # fmt: skip
    cells = [{"value": v, "printed": None, "interval_over": ""} for v in (0.8, 0.82, None)]
    rows = [{"name": n, "cells": [c]} for n, c in zip("abc", cells, strict=True)]
    found = [{"column": 0, "baseline": "a", "parts": parts}]
    table = {"columns": [column("LFW", rate=True, metric="accuracy")], "rows": rows, "order": [],
             "differences": found}  # fmt: skip
    heads, lines = page.grid(table, texts.Reasons(table))
    assert heads == ["", "LFW, %", "less a"]
    assert [line[2].text for line in lines] == ["–", "+2.00 *", "–"]
    assert lines[1][2].below == "+1.00 – +3.00 over people" and lines[1][2].sort == 0.02
    # Of many columns they stand below alone.
    wide = table | {"columns": table["columns"] * 4}
    wide["rows"] = [row | {"cells": row["cells"] * 4} for row in rows]
    assert len(page.grid(wide, texts.Reasons(wide))[0]) == 5


@pytest.fixture(scope="module")
def filled(study, tmp_path_factory):
    """The same table with numbers in all its cells, intervals and all."""
    content = json.loads((study.folder / "study.json").read_text())["content"]
    random = np.random.default_rng(0)
    for row in content["tables"][0]["rows"]:
        for column, cell in zip(content["tables"][0]["columns"], row["cells"], strict=True):
            scale = 1 if column["rate"] else 0.9
            value = float(random.uniform(0.4, 0.95)) * scale
            cell.pop("why")
            cell |= {"value": value, "values": [value], "interval": [value - 0.03, value + 0.03],
                     "interval_over": "people", "seeds": 1, "difference": -1.0,
                     "printed_lies": "above",
                     "differs": ["the run's lists are not the official ones"]}  # fmt: skip
        row["differs"] = ["network is small4, not resnet50", "training_set is drawn faces"]
    out = tmp_path_factory.mktemp("filled")
    page.write_page(out, content, {})
    assert "by what it differs" not in report_markdown(page.of_tables(out, content)).split("---")[0]
    return out / "study.html"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    browser = Browser(tmp_path_factory.mktemp("browser"))
    yield browser
    browser.close()


SEEN = """
const box = document.querySelector(".scroll:has(> .matrices)");
return [box.scrollWidth <= box.clientWidth, document.documentElement.scrollWidth,
        box.getBoundingClientRect().height, document.querySelectorAll(".block td.number").length]
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_table_14_is_read_in_one_glance(browser, filled, scheme):
    browser.open(filled, 1280, scheme)
    whole, width, height, values = browser.run(SEEN)
    assert whole and width <= 1280 and height <= 900
    assert values == 4 * 20
    name = "return getComputedStyle(document.querySelector('.matrices tbody th')).position"
    assert browser.run(name) == "sticky"
    folded = "return [...document.querySelectorAll('.unfolds details')].map(d => d.open)"
    assert browser.run(folded) == [False] * 4
    assert browser.asked() == [] and browser.complaints() == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_the_blocks_stack(browser, filled, scheme):
    browser.open(filled, 400, scheme)
    whole, width, *_ = browser.run(SEEN)
    assert whole and width <= 400
    lefts = browser.run(
        "return [...document.querySelectorAll('.matrices > tbody > tr.band:first-child > td')]"
        ".map(cell => cell.getBoundingClientRect().left)"
    )
    assert len(lefts) == 4 and len(set(lefts)) == 1  # one below the other
    titles = (
        "return [...document.querySelectorAll('tr.band:first-child caption')].map(c => c.innerText)"
    )
    assert browser.run(titles)[3] == "IJB-A, TAR at FAR, %"
    assert browser.complaints() == []
