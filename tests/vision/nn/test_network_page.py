"""docs/networks.md is what the library's table of networks makes."""

import pytest

pytest.importorskip("torch")
pytest.importorskip("facebench._full")

import generated_page
import network_page as page


def test_the_page_is_current():
    run = "run: PYTHONPATH=build/python python scripts/network_page.py"
    assert generated_page.stale(page.generated()) == [], run


def test_every_network_has_a_row():
    from facebench import nn

    text = page.PAGE.read_text()
    for entry in nn.list_networks():
        assert f"| `{entry['name']}` | {entry['doc']} |" in text
    assert "| `resnet50` |" in text and "45,176,207" in text


def test_published_counts_are_met_to_the_printed_digit():
    """But for the two that the page says differ."""
    misses = {"ResNet-50, Caffe", "Inception-v3, Caffe"}
    seen = set()
    for row in page.published()[2:]:
        title, printed, _, _, count = (c.strip() for c in row.strip("|").split("|"))
        if abs(int(count.replace(",", "")) / 1e6 - float(printed)) > 0.0051:
            seen.add(title)
    assert seen == misses


def test_an_old_page_is_seen(monkeypatch, tmp_path):
    old = tmp_path / "networks.md"
    old.write_text(page.PAGE.read_text().replace("45,176,207", "45,176,208"))
    monkeypatch.setattr(page, "PAGE", old)
    assert generated_page.stale(page.generated()) == [old]
