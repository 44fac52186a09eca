"""Tables in Markdown, whose columns are as wide as their longest cell."""

import unicodedata

from facebench.core._arguments import of_kind


def markdown_table(columns, rows) -> str:
    """A table as Markdown. Cells are texts, in which the caller has escaped what Markdown reads.

    >>> print(markdown_table(["a", "b"], [["long", "1"]]))
    | a    | b |
    |------|---|
    | long | 1 |
    """
    return "\n".join(_aligned([list(columns), ["---"] * len(columns), *rows]))


def align_tables(text):
    """Markdown whose tables have columns of one width, to be read as text.

    >>> from facebench.reports.markdown import align_tables
    >>> print(align_tables("| a | b |\\n|---|---|\\n| long | 1 |"))
    | a    | b |
    |------|---|
    | long | 1 |
    """
    lines, table = [], []
    for line in [*of_kind(text, str, "text").split("\n"), ""]:
        if line.startswith("|") and line.endswith("|"):
            table.append(_cells_of(line))
            continue
        lines += _aligned(table)
        table = []
        lines.append(line)
    return "\n".join(lines[:-1])


def _cells_of(line):
    cells, start = [], 1
    for at in range(1, len(line)):
        if line[at] == "|" and line[at - 1] != "\\":
            cells.append(line[start:at].strip())
            start = at + 1
    return cells


def _aligned(table):
    if not table or len({len(row) for row in table}) != 1:
        return ["| " + " | ".join(row) + " |" for row in table]

    def is_rule(row):
        return all(cell and set(cell) <= set("-: ") for cell in row)

    cells = [row for row in table if not is_rule(row)] or table
    widths = [max(map(_width, column)) for column in zip(*cells, strict=True)]
    lines = []
    for row in table:
        if is_rule(row):
            lines.append("|" + "|".join("-" * (w + 2) for w in widths) + "|")
        else:
            padded = (c + " " * (w - _width(c)) for c, w in zip(row, widths, strict=True))
            lines.append("| " + " | ".join(padded) + " |")
    return lines


def _width(text):
    return sum(1 + (unicodedata.east_asian_width(c) in "WF") for c in text)
