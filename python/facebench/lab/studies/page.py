"""study.html: the tables of a study as their paper prints them, measured beside printed."""

from pathlib import Path

from facebench import reports
from facebench.lab.studies.comparisons import (
    baseline_differences,
    best_of,
    busy,
    order_section,
    row_differences,
)
from facebench.lab.studies.figures import confusion, figures, pictures
from facebench.lab.studies.texts import LABELS, all_cells, compared, heading, shown
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
    if content["failures"]:
        rows = [[f["row"], f["column"], f["reason"]] for f in content["failures"]]
        block = table_block(["row", "column", "reason"], rows, sortable=True)
        sections.append(Section(f"Failures ({len(rows)})", [block]))
    return sections


def _about(content, circumstance):
    section = Section("What this is", [text(note) for note in content["notes"]])
    if any(cell["printed"] for t in content["tables"] for _, _, cell in all_cells(t)):
        section.blocks.append(text(
            "Below a measured value stand its 95 % interval and over what it is (draws of test "
            "people, seeds, iterations), the printed value, the measured less "
            "the printed one, and where the printed one lies of the interval. The last column says "
            "by what the measured system is not the printed one; “same”: by nothing that the paper "
            "states."
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
        section.blocks.append(table_block(*grid(table), sortable=table["layout"] != "blocks"))
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


def grid(table: dict) -> tuple[list[str], list[list]]:
    """Headings and rows of cells: a line a row, or as many as its blocks have."""
    columns = table["columns"]
    if table["layout"] == "blocks":
        return _blocks(table)
    best = [best_of(table, i) for i in range(len(columns))]
    heads, rows = ["", *map(heading, columns)], []
    for row in table["rows"]:
        cells = zip(columns, row["cells"], best, strict=True)
        rows.append([Cell(row["name"]), *(shown(c, x, row["name"] in b) for c, x, b in cells)])
    return _with_compared(table, heads, [[row] for row in rows])


def _with_compared(table, heads, rows):
    """The last column, where values are printed; ``rows``: the lines of each row."""
    whys = [compared(row) for row in table["rows"]]
    if any(whys):
        heads = [*heads, "by what it differs"]
        last = [Cell(why.partition("\n")[0], why.partition("\n")[2]) for why in whys]
        rows = [[[*line, why if k == 0 else Cell("")] for k, line in enumerate(lines)]
                for lines, why in zip(rows, last, strict=True)]  # fmt: skip
    return heads, [line for lines in rows for line in lines]


def _blocks(table):
    """A matrix as its paper prints it: a line for each group of the first template."""
    parts: list[int | dict] = []  # numbers of columns, or the blocks that they are entries of
    for i, column in enumerate(table["columns"]):
        if "row" not in column:
            parts.append(i)
            continue
        key = column["name"], column["matrix"]
        block = parts[-1] if parts else None
        if not isinstance(block, dict) or block["key"] != key:
            block = {"key": key, "title": column["name"], "at": {}}
            parts.append(block)
        block["at"][column["row"], column["column"]] = i
    heads, lines = [""], 1
    for part in parts:
        if isinstance(part, int):
            heads.append(heading(table["columns"][part]))
        else:
            part["groups"] = list(dict.fromkeys(a for a, _ in part["at"]))
            heads += [part["title"], *(LABELS.get(g, g) for g in part["groups"])]
            lines = max(lines, len(part["groups"]))
    rows = []
    for row in table["rows"]:
        lines_of_row = []
        for line in range(lines):
            cells = [Cell(row["name"] if line == 0 else "")]
            for part in parts:
                if isinstance(part, int):
                    one = shown(table["columns"][part], row["cells"][part])
                    cells.append(one if line == 0 else Cell(""))
                elif line < len(part["groups"]):
                    group = part["groups"][line]
                    numbers = [part["at"][group, g] for g in part["groups"]]
                    cells.append(Cell(LABELS.get(group, group)))
                    cells += [shown(table["columns"][n], row["cells"][n]) for n in numbers]
                else:
                    cells += [Cell("")] * (1 + len(part["groups"]))
            lines_of_row.append(cells)
        rows.append(lines_of_row)
    return _with_compared(table, heads, rows)


def _made_of(content):
    return text_section(
        "Provenance",
        f"Comparisons between rows: {content['replicates']} draws of people, seed "
        f"{content['seed']}, level {100 * content['level']:g} %. A value leads to its run.",
    )
