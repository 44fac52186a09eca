"""Runs beside the numbers that a paper printed."""

import json
import os
from typing import Any

from facebench import _eval
from facebench.reports.page import Section, table_block
from facebench.reports.runs import as_list


def against(
    runs, publication="wang-guo-2019", stated=None, format=None, titles=None, *, nearest=10
) -> Any:
    """The numbers of run folders beside those of a published paper.

    A printed value is compared with a run's number if both have the same protocol, track, metric,
    matrix entry, official lists, network, loss, training set, detector, crop, flip and fusion, as
    far as the paper states them. All but loss and training set are read from the run's manifest
    where facebench made the embeddings; state the others, e.g. ``stated={"loss": "softmax",
    "training_set": "webface"}`` (names as in ``protocols.find_published``). All other printed
    values are listed apart, with what differs: the nearest first, and in Markdown ``nearest`` of
    them (None: all).

    Returns a dict: ``same``, ``other_systems``, ``not_measured``, each a list of printed values as
    ``protocols.find_published`` gives them, with the run's number, the ``difference`` (ours less
    the printed one, in the printed unit) and where the printed value lies of our interval; or,
    with ``format`` (markdown, csv, latex, json), a text.
    """
    text = _eval.against(
        [os.fspath(r) for r in as_list(runs)],
        os.fspath(publication),
        dict(stated or {}),
        format or "json",
        list(titles or []),
        nearest or 0,
    )
    return json.loads(text) if format is None else text


def against_section(runs, publication="wang-guo-2019", stated=None, titles=None):
    """The same as a section of a page, for :func:`write_html`."""
    found = against(runs, publication, stated, titles=titles)
    section = Section(f"Beside {found['publication']}", [_text(found["citation"])])
    if found["stated"]:
        said = ", ".join(f"{name} = {value}" for name, value in found["stated"].items())
        section.blocks.append(_text(f"Stated by the caller, not found in a manifest: {said}."))
    section.blocks += _same_blocks(found["same"])
    if found["other_systems"]:
        section.blocks.append(_other_systems(found["other_systems"]))
    if found["not_measured"]:
        section.blocks.append(_not_measured(found["not_measured"]))
    return section


def _text(text):
    return {"kind": "text", "text": text}


def _name(value):
    measures = value["measures"]
    return f"{measures['protocol']} {measures['track']}: {value['number']}"


def _same_blocks(values):
    if not values:
        return [
            _text(
                "No printed value is of the same system: the differences are listed below. State "
                "what the manifest does not record (network, loss, training set)."
            )
        ]
    notes, rows = [], []
    for value in values:
        marks = []
        for erratum in value["errata"]:
            if erratum not in notes:
                notes.append(erratum)
            marks.append(str(notes.index(erratum) + 1))
        printed = value["published_text"] + (f" [{', '.join(marks)}]" if marks else "")
        rows.append(
            [
                _name(value),
                value["run"],
                value["ours_text"],
                printed,
                value["difference_text"],
                value["published_lies"] or "no interval",
                value["source"],
            ]
        )
    columns = ["number", "run", "ours, %", "printed", "difference", "vs. our interval", "where"]
    blocks = [{"kind": "heading", "text": "The same measure of the same system"}]
    blocks.append(table_block(columns, rows))
    blocks.append(
        _text(
            "Difference: ours minus the printed value. The printed value, as wide as its last "
            "digit, is inside, above or below our interval; its own interval is not printed."
        )
    )
    for i, erratum in enumerate(notes, 1):
        more = f" Following from the rest: {erratum['suggests']}." if erratum["suggests"] else ""
        blocks.append(_text(f"[{i}] {erratum['kind'].replace('_', ' ')}: {erratum['note']}{more}"))
    return blocks


def _other_systems(values):
    rows = [
        [
            _name(value),
            value["run"],
            value["ours_text"],
            value["published_text"],
            value["source"],
            "; ".join(value["differs"]),
        ]
        for value in values
    ]
    columns = ["number", "run", "ours, %", "printed", "where", "what differs"]
    return table_block(columns, rows, f"The same measure of other systems ({len(rows)})")


def _not_measured(values):
    tables = {}
    for value in values:
        count, protocols = tables.setdefault((value["place"], value["about"]), [0, []])
        protocol = (value["measures"] or {}).get("protocol")
        if protocol and protocol not in protocols:
            protocols.append(protocol)
        tables[value["place"], value["about"]][0] = count + 1
    rows = [
        [*table, count, ", ".join(protocols) or "no protocol"]
        for table, (count, protocols) in tables.items()
    ]
    columns = ["where", "what", "values", "measured by"]
    return table_block(columns, rows, f"Not measured by these runs ({len(values)})")
