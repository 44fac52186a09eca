"""A measurement's tables on a terminal: whole columns, as many as fit."""


def show_tables(result: dict) -> None:
    """Tables and notes. Columns that have no room are named; they are in the report."""
    from rich.console import Console
    from rich.text import Text

    from facebench.lab.timing.results import machine_line
    from facebench.lab.timing.results import notes as notes_of
    from facebench.lab.timing.tables import KINDS

    console = Console()
    if not console.is_terminal:
        # A file or a pipe has no edge to break lines at.
        console = Console(width=10_000)
    console.print(Text(machine_line(result["machine"])))
    for title, columns, rows in KINDS[result["kind"]].tables(result):
        _show(console, title, columns, rows)
    for note in notes_of(result):
        console.print(Text(note.replace("**", "")))


def _show(console, title, columns, rows):
    from rich.table import Table
    from rich.text import Text

    cells = [[_text(c) for c in row] for row in rows]
    notes = []
    if columns and columns[-1] == "note":
        # Sentences, for few rows: they would take the room of the figures.
        notes = [" ".join([*row[:3], row[-1]]) for row in cells if row[-1]]
        columns, cells = columns[:-1], [row[:-1] for row in cells]
    filled = [i for i in range(len(columns)) if any(row[i] for row in cells)]
    shown = fitting(filled, columns, cells, console.width)
    table = Table(title=title, title_justify="left")
    for i in shown:
        table.add_column(columns[i], overflow="fold")
    for row in cells:
        table.add_row(*[Text(row[i]) for i in shown])
    console.print(table)
    for text in notes:
        console.print(Text(text))
    if left := [columns[i] for i in filled if i not in shown]:
        console.print(Text(f"In the report, for want of room here: {'; '.join(left)}."))


def _text(value):
    from facebench.lab.timing.results import cell_text

    # An interval stands below its value, as on the page.
    return "\n".join(filter(None, value)) if isinstance(value, tuple) else cell_text(value)


def fitting(columns_by_worth, columns, cells, width):
    """The first of the wanted columns (their numbers), as many as a width of characters holds.

    >>> fitting([0, 1, 2], ["a", "b", "c"], [["x", "long", "y"]], 12)
    [0, 1]
    """
    shown: list[int] = []
    used = 1
    for i in columns_by_worth:
        # A heading may be broken between its words, a figure may not.
        words = [*columns[i].split(), *(line for row in cells for line in row[i].split("\n"))]
        used += max(map(len, words), default=0) + 3
        if shown and used > width:
            break
        shown.append(i)
    return shown
