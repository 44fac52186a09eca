"""The protocols' pages are those that their TOML files make."""

import importlib.util
from pathlib import Path

import pytest
from facebench import protocols

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def pages():
    spec = importlib.util.spec_from_file_location("pages", ROOT / "scripts/protocol_pages.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_pages_are_current(pages):
    old = [str(p.relative_to(ROOT)) for p in pages.stale()]
    assert old == [], "run: PYTHONPATH=build/python python scripts/protocol_pages.py"


def test_a_page_says_what_a_reader_asks(pages):
    text = pages.page(protocols.load_protocol("lfw"))
    for part in (
        "# LFW View 2",
        "`tar_at_far` at 10 %, 1 %, 0.1 %",
        "pairs.txt",
        "vis-www.cs.umass.edu/lfw",
        "`lowest_score`",
        "| view2 | 6000 | 3000 | 3000 | 10 | 7701 | 4281 |",
        "Wang & Guo 2019",
        "07-49",
    ):
        assert part in text


def test_every_protocol_says_where_to_ask_and_which_files(pages):
    for entry in protocols.list_protocols():
        about = protocols.load_protocol(entry["name"]).about
        assert about["files"], entry["name"]
        assert about["ask"], entry["name"]


def test_an_old_page_is_seen(pages, monkeypatch, tmp_path):
    monkeypatch.setattr(pages, "FOLDER", tmp_path)
    (tmp_path / "gone.md").write_text("")
    assert {p.name for p in pages.stale()} >= {"gone.md", "lfw.md", "index.md"}
