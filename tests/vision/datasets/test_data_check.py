"""What a data set's lists have wrong, and what is there of it."""

import json
import os
from pathlib import Path

import facebench
import pytest
from click.testing import CliRunner
from facebench import protocols, reports
from facebench.cli.app import app

ROOT = Path(__file__).parents[3]
DATA = Path(os.environ.get("FACEBENCH_DATA", "nowhere"))
PAIRS = "1\t3\nAnn\t1\t2\nAnn\t2\t1\nAnn\t1\t3\n" + "".join(
    f"Ann\t{k}\tBob\t{k}\n" for k in (1, 2, 3)
)


@pytest.fixture
def lfw(tmp_path):
    (tmp_path / "pairs.txt").write_text(PAIRS)
    for person in ("Ann", "Bob"):
        (tmp_path / "lfw" / person).mkdir(parents=True)
        for k in (1, 2, 3):
            (tmp_path / "lfw" / person / f"{person}_{k:04d}.jpg").write_bytes(b"")
    return tmp_path


def invoke(*args, code=0):
    result = CliRunner().invoke(app, [str(a) for a in args])
    assert result.exit_code == code, result.output
    return result


def test_the_rules_are_documented():
    text = (ROOT / "docs/evaluation.md").read_text()
    for kind in protocols.blemish_rules():
        assert f"| `{kind['name']}` | {kind['doc']} | {kind['rule']} |" in text


def test_blemishes_are_in_the_run_folder_and_its_report(lfw):
    # View 1 has no folds, so that two classes are enough.
    (lfw / "pairs.txt").rename(lfw / "pairsDevTest.txt")
    text = PAIRS.replace("1\t3\n", "3\n", 1)
    (lfw / "pairsDevTest.txt").write_text(text)
    scores = [0.9, 0.1, 0.8, 0.2, 0.3, 0.0]
    result = facebench.evaluate(
        "lfw_view1", scores=scores, root=lfw, out=lfw / "run", interval="none"
    )
    where = {"file": "pairsDevTest.txt", "line": 3}
    what = "Ann/Ann_0002.jpg and Ann/Ann_0001.jpg, as in line 2"
    expected = [{"kind": "repeated_pair", "count": 1, "first": [where | {"what": what}]}]
    manifest = json.loads((lfw / "run/run.json").read_text())
    assert manifest["content"]["blemishes"] == expected
    assert protocols.read_trials("lfw_view1", lfw).blemishes == expected
    sentence = "this order or the other: 1; every row counts. It is in pairsDevTest.txt:3: Ann"
    assert any(sentence in note for note in result.notes)
    for report in ("report.md", "report.html"):
        assert "every row counts" in (lfw / "run" / report).read_text(), report
    assert all(check["same"] is not False for check in reports.verify_scores(lfw / "run"))
    for strict in (
        lambda: protocols.read_trials("lfw_view1", lfw, strict=True),
        lambda: facebench.evaluate("lfw_view1", scores=scores, root=lfw, strict=True),
    ):
        with pytest.raises(
            facebench.Error, match=r"the lists have 1 blemishes.*pairsDevTest.txt:3"
        ):
            strict()


def test_check_says_what_is_there_and_what_differs(lfw):
    check = protocols.check_data("lfw", lfw)
    assert (check.listed, check.missing, check.complete) == (6, 0, False)
    assert check.tracks["view2"]["comparisons"] == {"found": 6, "official": 6000}
    (lfw / "lfw/Ann/Ann_0003.jpg").unlink()
    shown = invoke("data", "check", "lfw", "--root", lfw, code=3).stdout
    assert "lfw: not complete" in shown
    assert "6 comparisons (official: 6,000)" in shown
    assert "images: 5 of 6 are there, in" in shown
    assert "missing: Ann/Ann_0003.jpg" in shown
    assert "this order or the other: 1; every row counts" in shown
    fields = json.loads(invoke("data", "check", "lfw", "--root", lfw, "--json", code=3).stdout)
    assert fields["first_missing"] == ["Ann/Ann_0003.jpg"]
    assert fields == protocols.check_data("lfw", lfw).to_dict()


def test_check_says_where_it_looked_for_images(lfw):
    (lfw / "lfw").rename(lfw / "elsewhere.zip")
    for folder in (lfw / "elsewhere.zip").iterdir():
        folder.rename(folder.with_name("not " + folder.name))
    check = protocols.check_data("lfw", lfw)
    assert check.images is None and check.missing == 6
    shown = invoke("data", "check", "lfw", "--root", lfw, code=3).stdout
    assert f"images: 0 of 6 are there: {check.no_images}" in shown
    assert f"in {lfw}" in check.no_images and "Ann/Ann_0001.jpg" in check.no_images


def test_check_without_official_counts_is_complete_and_strict_is_not(tmp_path):
    (tmp_path / "pairs.csv").write_text("first,second,label\na/1,a/2,1\na/2,a/1,1\na/1,b/1,0\n")
    for name in ("a/1", "a/2", "b/1"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    invoke("data", "check", "pairs", "--root", tmp_path)
    invoke("data", "check", "pairs", "--root", tmp_path, "--strict", code=3)


def test_check_without_lists_names_three_of_them(tmp_path):
    result = invoke("data", "check", "cfp_ff", "--root", tmp_path, code=1)
    assert "missing: Pair_list_F.txt, Split/FF/01/same.txt, Split/FF/01/diff.txt and 18 more" in (
        result.stderr
    )


@pytest.mark.skipif(not (DATA / "lfw").is_dir(), reason="FACEBENCH_DATA has no LFW")
def test_the_official_lists_of_lfw_are_complete_and_clean():
    check = protocols.check_data("lfw", DATA / "lfw")
    assert check.complete
    assert check.blemishes == []
    view1 = protocols.check_data("lfw_view1", DATA / "lfw")
    assert view1.first_missing == ["Betsy_Coffin/Betsy_Coffin_0001.jpg"]
    assert view1.differences == []
