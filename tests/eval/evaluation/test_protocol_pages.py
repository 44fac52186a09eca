"""The protocols' pages are those that their TOML files make."""

import re

import generated_page
import protocol_pages as pages
import pytest
from facebench import protocols


def stale():
    return generated_page.stale(pages.generated(), pages.FOLDER)


def test_the_pages_are_current():
    old = [str(p.relative_to(generated_page.ROOT)) for p in stale()]
    assert old == [], "run: PYTHONPATH=build/python python scripts/protocol_pages.py"


def test_a_page_says_what_a_reader_asks():
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


def test_every_protocol_says_where_to_ask_and_which_files():
    for entry in protocols.list_protocols():
        about = protocols.load_protocol(entry["name"]).about
        assert about["files"], entry["name"]
        assert about["ask"], entry["name"]


def test_an_old_page_is_seen(monkeypatch, tmp_path):
    monkeypatch.setattr(pages, "FOLDER", tmp_path)
    (tmp_path / "gone.md").write_text("")
    assert {p.name for p in stale()} == {"gone.md", "index.md"}


@pytest.mark.parametrize("spec", pages.all_specs(), ids=lambda spec: spec.id)
def test_every_protocol_has_a_page(spec):
    """Made with the site; every link leads to a page that is there."""
    text = pages.page(spec)
    assert text.startswith("<!--") and f"# {spec.title}" in text
    for target in re.findall(r"\]\((?!https?:)([^)#\s]+)", text):
        known = {f"{other.id}.md" for other in pages.all_specs()}
        assert target in known or (pages.FOLDER / target).resolve().exists(), target
