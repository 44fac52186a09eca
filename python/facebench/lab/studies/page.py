"""study.html: the tables of a study as their paper prints them, measured beside printed."""

from pathlib import Path

from facebench import reports
from facebench.lab.studies.blocks import matrices
from facebench.lab.studies.comparisons import (
    baseline_differences,
    best_of,
    busy,
    less_columns,
    order_section,
    row_differences,
)
from facebench.lab.studies.figures import confusion, figures, pictures
from facebench.lab.studies.texts import Reasons, all_cells, compared, heading, legend, shown
from facebench.reports.page import Cell, Section, bullets, plots, table_block, text, text_section


def write_page(out: Path, content: dict, circumstance: dict) -> None:
    """Writes ``study.html``; ``content``, ``circumstance``: as in ``study.json``."""
    sections = [_about(content, circumstance), *of_tables(out, content), _made_of(content)]
    day = circumstance.get("day", "")
    shown = [section for section in sections if section.blocks]
    reports.write_html(Path(out) / "study.html", content["title"], shown, day)


def of_tables(out: Path, content: dict) -> list[Section]:
    """What stands on the page of the tables and of what failed."""
    sections = [s for table in content["tables"] for s in _sections(Path(out), table, content)]
    found: dict[tuple[str, str], list[str]] = {}
    for failure in content["failures"]:
        found.setdefault((failure["row"], failure["reason"]), []).append(failure["column"])
    if found:
        rows = [[row, "; ".join(columns), reason] for (row, reason), columns in found.items()]
        block = table_block(["row", "columns", "reason"], rows, sortable=True)
        sections.append(Section(f"Failures ({len(content['failures'])})", [block]))
    return sections


def _about(content, circumstance):
    section = Section("What this is", [text(note) for note in content["notes"]])
    if any(cell["printed"] for t in content["tables"] for _, _, cell in all_cells(t)):
        section.blocks.append(text(
            "Below a measured value stand its 95 % interval and over what it is (draws of test "
            "people, seeds, iterations), and the printed value with the measured less "
            "the printed one, and where the printed one lies of the interval; in a narrow block "
            "the printed value in brackets, with an arrow. “By what it differs” "
            "says by what the measured system is not the printed one; “same”: by nothing that the "
            "paper states."
        ))  # fmt: skip
    if circumstance.get("machine"):
        section.blocks.append(text(f"Times were measured on: {circumstance['machine']}"))
    section.blocks += [text(c) for c in content["citations"]]
    return section


def _sections(out, table, content):
    place = table["place"]
    known = not place or place.split(",")[0].lower() in table["title"].lower()
    section = Section(table["title"] + ("" if known else f" ({place})"))
    warned = dict.fromkeys(
        f"Warning: {row['name']}, {column['name']}: {w}"
        for row, column, cell in all_cells(table)
        for w in cell.get("warnings", ())
        if not cell.get("timed")
    )
    section.blocks += [text(w) for w in [*warned, *busy(table)]]
    if table["layout"] == "pictures":
        section.blocks += pictures(out, table)
    else:
        reasons = Reasons(table)
        if table["layout"] == "blocks":
            section.blocks.append(matrices(table, reasons))
        else:
            section.blocks.append(table_block(*grid(table, reasons), sortable=True))
        section.blocks += [text(note) for note in [*reasons.notes(), *legend(table)]]
    found = table.get("differences", ())
    over = {part["interval_over"] for one in found for part in one["parts"]}
    if table["baseline"] and "people" not in over:
        section.blocks += baseline_differences(table)
    elif found:
        section.blocks += row_differences(table)
    drawn = figures(out, table)
    if drawn:
        section.blocks.append(plots(*drawn))
    section.blocks += confusion(out, table)
    if table["notes"]:
        section.blocks.append(bullets(table["notes"]))
    return [section, *(s for s in (order_section(table, o, content) for o in table["order"]) if s)]


def grid(table: dict, reasons: Reasons) -> tuple[list[str], list[list]]:
    """Headings and rows of cells, a line a row."""
    columns = table["columns"]
    best = [best_of(table, i) for i in range(len(columns))]
    heads, rows, less = [""], [], less_columns(table)
    for number, column in enumerate(columns):
        heads += [heading(column), *([less[number][0]] if number in less else [])]
    whys = [compared(row) for row in table["rows"]]
    for k, (row, why) in enumerate(zip(table["rows"], whys, strict=True)):
        line = []
        for number, (column, cell) in enumerate(zip(columns, row["cells"], strict=True)):
            line.append(shown(column, cell, row["name"] in best[number], reasons))
            line += [less[number][1][k]] if number in less else []
        first, _, others = why.partition("\n")
        rows.append([Cell(row["name"]), *line, *([Cell(first, others)] if any(whys) else [])])
    return [*heads, *(["by what it differs"] if any(whys) else [])], rows


def _made_of(content):
    return text_section(
        "Provenance",
        f"Comparisons between rows: {content['replicates']} draws of people, seed "
        f"{content['seed']}, level {100 * content['level']:g} %. A value leads to its run.",
    )
