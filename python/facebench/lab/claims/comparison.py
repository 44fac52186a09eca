"""The numbers of runs beside those of a paper, in every format."""

import os
from typing import Any

from facebench import _eval
from facebench.analysis.runs import as_list
from facebench.core._arguments import listed, mapping, of_kind
from facebench.reports.page import Section, heading, report_markdown, table_block, text, written
from facebench.reports.tables import PLACE, chosen_format, csv_text


def against(
    runs, publication="wang-guo-2019", stated=None, format=None, titles=None, *, nearest=10
) -> Any:
    """The numbers of run folders beside those of a published paper.

    A printed value is compared with a run's number if both have the same protocol, track, metric,
    matrix entry, official lists, network, loss, training set, detector, crop, flip and fusion, as
    far as the paper states them. They are read from the run's manifest where facebench made the
    embeddings; those of the training where it trained the model. State the others, e.g.
    ``stated={"loss": "softmax", "run-2:training_set": "webface"}``: of all runs, or after its title
    of one (names as in ``find_published``). All other printed
    values are listed apart, with what differs: the nearest first, and in Markdown ``nearest`` of
    them (None: all).

    Returns a dict: ``same``, ``other_systems``, ``not_measured``, each a list of printed values as
    ``find_published`` gives them, with the run's number, the ``difference`` (ours less
    the printed one, in the printed unit) and where the printed value lies of our interval; or,
    with ``format`` (markdown, csv, latex, json), a text.
    """
    of_kind(nearest, (int, type(None)), "nearest")
    formats = {
        "markdown": lambda comparison: report_markdown([_section(comparison, nearest or None)]),
        "csv": _against_csv,
        "latex": _against_latex,
        "json": _eval.pretty_json,
    }
    write = chosen_format(formats, format) if format is not None else lambda comparison: comparison
    return write(
        _eval.against(
            [os.fspath(r) for r in as_list(runs)],
            os.fspath(publication),
            mapping(stated, "stated"),
            listed(titles, "titles"),
        )
    )


def _same(comparison):
    """A row for each printed value of the same system, and the errata that are marked in them."""
    errata, rows = [], []
    for value in comparison["same"]:
        marks = []
        for erratum in value["errata"]:
            if erratum not in errata:
                errata.append(erratum)
            marks.append(str(errata.index(erratum) + 1))
        printed = value["published_text"] + (f" [{', '.join(marks)}]" if marks else "")
        rows.append(
            [
                _number(value),
                value["run"],
                value["ours_text"],
                printed,
                value["difference_text"],
                value["published_lies"] or "no interval",
                value["source"],
            ]
        )
    notes = []
    for i, e in enumerate(errata, 1):
        suggestion = f" Following from the rest: {e['suggests']}." if e["suggests"] else ""
        notes.append(f"[{i}] {e['kind'].replace('_', ' ')}: {e['note']}{suggestion}")
    return rows, notes


def _number(value):
    measures = value["measures"]
    return f"{measures['protocol']} {measures['track']}: {value['number']}"


def _missing(values):
    """How many values of each table the runs do not measure, and which protocols measure them."""
    tables: dict[str, dict] = {}
    for value in values:
        table = tables.setdefault(
            value["table"],
            {"place": value["place"], "about": value["about"], "values": 0, "protocols": []},
        )
        table["values"] += 1
        protocol = (value["measures"] or {}).get("protocol")
        if protocol and protocol not in table["protocols"]:
            table["protocols"].append(protocol)
    return [
        t
        | {
            "under": "under " + ", ".join(t["protocols"])
            if t["protocols"]
            else "which no protocol measures"
        }
        for t in tables.values()
    ]


def _shortest(value):
    return "" if value is None else repr(float(value)).removesuffix(".0")


def _against_csv(comparison):
    """One line a printed value and run, all digits."""
    lines = []
    for match in ("same", "other_systems", "not_measured"):
        for value in comparison[match]:
            measures = value["measures"] or {}
            low, high = value.get("interval") or (None, None)
            conditions = (f"{name}={stated}" for name, stated in value["conditions"].items())
            lines.append(
                {
                    "publication": comparison["publication"],
                    "table": value["table"],
                    "published_row": value["row"],
                    "published_column": value["column"],
                    "conditions": "; ".join(conditions),
                    "printed": value["printed"],
                    "unit": value["unit"],
                    "published": _shortest(value["value"]),
                    **{key: measures.get(key) for key in PLACE},
                    "match": "other_system" if match == "other_systems" else match,
                    "differs": "; ".join(value.get("differs", [])),
                    "run": value.get("run"),
                    "value": _shortest(value.get("ours")),
                    "low": _shortest(low),
                    "high": _shortest(high),
                    "difference": _shortest(value.get("difference")),
                    "published_lies": value.get("published_lies"),
                    "errata": " ".join(f"{e['kind']}: {e['note']}" for e in value["errata"]),
                }
            )
    return csv_text(lines)


def _against_latex(comparison):
    rows, notes = _same(comparison)
    return written(
        "against.tex",
        publication=comparison["publication"],
        rows=rows,
        notes=notes,
        missing=_missing(comparison["not_measured"]),
    )


def against_section(runs, publication="wang-guo-2019", stated=None, titles=None):
    """The same as a section of a page, for :func:`write_html`."""
    return _section(against(runs, publication, stated, titles=titles), None)


def _section(comparison, nearest):
    section = Section(f"Beside {comparison['publication']}", [text(comparison["citation"])])
    if comparison["stated"]:
        conditions = ", ".join(f"{name} = {value}" for name, value in comparison["stated"].items())
        section.blocks.append(text(f"Stated by the caller, not found in a manifest: {conditions}."))
    section.blocks.append(heading("The same measure of the same system"))
    rows, notes = _same(comparison)
    if rows:
        columns = ["number", "run", "ours, %", "printed", "difference", "vs. our interval", "where"]
        section.blocks += [
            table_block(columns, rows),
            text(
                "Difference: ours minus the printed value. The printed value, as wide as its last "
                "digit, is inside, above or below our interval; its own interval is not printed."
            ),
            *map(text, notes),
        ]
    else:
        section.blocks.append(
            text(
                "No printed value is of the same system: see the differences below. State what the "
                "manifest does not record (of models from elsewhere the loss and the training set, "
                "of embeddings the network too)."
            )
        )
    others = comparison["other_systems"]
    unknown: dict[str, set] = {}
    for value in others:
        unknown.setdefault(value["run"], set()).update(value["unknown"])
    for run, names in unknown.items():
        if names:
            section.blocks.append(
                text(
                    f"Not known of {run}, so what depends on it cannot match: "
                    f"{', '.join(sorted(names))}. State it with --as NAME=VALUE, or of this run "
                    f"alone with --as {run}:NAME=VALUE."
                )
            )
    if others:
        keys = ("run", "ours_text", "published_text", "source")
        rows = [
            # What is not known is said above, once.
            [
                _number(o),
                *(o[k] for k in keys),
                "; ".join(o["differs"][: -len(o["unknown"]) or None]),
            ]
            for o in others[:nearest]
        ]
        columns = ["number", "run", "ours, %", "printed", "where", "what differs"]
        summary = f"The same measure of other systems ({len(others)})"
        section.blocks.append(table_block(columns, rows, summary))
        if len(rows) < len(others):
            sentence = (
                f"These are the {nearest} nearest of {len(others)}; --all lists the others too."
            )
            section.blocks.append(text(sentence))
    missing = _missing(comparison["not_measured"])
    if missing:
        rows = [[m["place"], m["about"], m["values"], m["under"]] for m in missing]
        summary = f"Not measured by these runs ({sum(m['values'] for m in missing)})"
        columns = ["where", "what", "values", "measured by"]
        section.blocks.append(table_block(columns, rows, summary))
    return section
