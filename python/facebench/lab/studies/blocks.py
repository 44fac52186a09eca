"""Matrices as their paper prints them: a block for each protocol, side by side, a band a row."""

import os.path

from facebench.lab.studies.texts import LABELS, Reasons, compared, heading, shown
from facebench.reports.page import Cell, matrices_block

# A part of a table: "title", "columns" (texts), "lines" ((label, numbers of columns) each).


def parts_of(table: dict) -> list[dict]:
    """The blocks of a table, in order: a matrix, the tracks and metrics of a protocol, or a column
    alone."""
    parts: list[dict] = []
    columns, start = table["columns"], 0
    while start < len(columns):
        end = start + 1
        while end < len(columns) and _together(columns[start], columns[end]):
            end += 1
        numbers = list(range(start, end))
        part = _matrix(columns, numbers) or _tracks(columns, numbers)
        alone = [{"title": heading(columns[n]), "columns": [], "lines": [("", [n])]}
                 for n in numbers]  # fmt: skip
        parts += [part] if part else alone
        start = end
    return parts


def _together(one, other):
    alike = all(one.get(k) == other.get(k) for k in ("kind", "protocol", "name", "matrix"))
    return alike and one["kind"] == "metric"


def _matrix(columns, numbers):
    """A metric of templates of one group against those of another."""
    if "row" not in columns[numbers[0]]:
        return None
    at = {(columns[n]["row"], columns[n]["column"]): n for n in numbers}
    groups = list(dict.fromkeys(a for a, _ in at))
    names = [LABELS.get(g, g) for g in groups]
    lines = [(name, [at[g, other] for other in groups])
             for name, g in zip(names, groups, strict=True)]  # fmt: skip
    return {"title": columns[numbers[0]]["name"], "columns": names, "lines": lines}


def _tracks(columns, numbers):
    """Metrics over the tracks of a protocol, where each track has all of them."""
    at = {(columns[n]["track"], columns[n]["metric"]): n for n in numbers}
    tracks, metrics = (list(dict.fromkeys(words)) for words in zip(*at, strict=True))
    if len(numbers) < 2 or len(at) != len(numbers) or len(tracks) * len(metrics) != len(at):
        return None
    first = columns[numbers[0]]
    titles = [columns[at[tracks[0], m]]["metric_title"] for m in metrics]
    common = os.path.commonprefix(titles).rpartition(" ")[0] if len(titles) > 1 else titles[0]
    names = [t.removeprefix(common).strip() for t in titles] if len(titles) > 1 else [""]
    unit = ", %" if all(columns[n]["rate"] for n in numbers) else ""
    title = ", ".join(part for part in (first["name"], common) if part) + unit
    lines = [(track, [at[track, m] for m in metrics]) for track in tracks]
    return {"title": title, "columns": names, "lines": lines}


def matrices(table: dict, reasons: Reasons) -> dict:
    """The table as its paper prints it: a band for each row, in it the blocks; below, folded, by
    what the row differs. Markdown has a line for each line of the blocks."""
    parts, columns = parts_of(table), table["columns"]
    bands = []
    for row in table["rows"]:

        def cell(number, row=row):
            return shown(columns[number], row["cells"][number], reasons=reasons, compact=True)

        blocks = [
            p | {"lines": [(label, [cell(n) for n in ns]) for label, ns in p["lines"]]}
            for p in parts
        ]
        why = compared(row).split("\n")
        bands.append({"name": row["name"], "blocks": blocks, "differs": [w for w in why if w]})
    return matrices_block([p["title"] for p in parts], bands, *flat(table, parts, reasons))


def flat(table: dict, parts: list[dict], reasons: Reasons) -> tuple[list[str], list[list]]:
    """Headings and rows of the same as one table: as many lines a row as its blocks have."""
    columns, heads = table["columns"], [""]
    for part in parts:
        heads += [part["title"], *part["columns"]]
    lines = max(len(part["lines"]) for part in parts)
    rows = []
    for row in table["rows"]:
        for line in range(lines):
            cells = [Cell("" if line else row["name"])]
            for part in parts:
                width = len(part["columns"])
                if line >= len(part["lines"]):
                    cells += [Cell("")] * (1 + width)
                    continue
                label, numbers = part["lines"][line]
                values = [shown(columns[n], row["cells"][n], reasons=reasons) for n in numbers]
                cells += [*([Cell(label)] if width else []), *values]
            rows.append(cells)
    return heads, rows
