"""Cells of a study as its pages and exports say them."""

from facebench import _eval
from facebench.reports.page import Cell

SHARES = (
    *("accuracy", "validation_accuracy", "gain", "speedup 2", "speedup 4"),
    *("user", "system", "iowait", "total", "others"),
)


_UNITS = {"memory": "MiB", "seconds": "s", "macs": "million", "parameters": "million"}


LABELS = {"three_quarter": "three-quarter"}


def all_cells(table: dict):
    """(row, column, cell) of every cell, row by row."""
    for row in table["rows"]:
        for column, cell in zip(table["columns"], row["cells"], strict=True):
            yield row, column, cell


def column_number(table, **values):
    """The number of the first column with these values; None where there is none."""
    columns = enumerate(table["columns"])
    return next((i for i, column in columns if values.items() <= column.items()), None)


def number(column: dict, value) -> str:
    """A value of a column as reports print it; rates in percent."""
    if value is None:
        return "undefined"
    if column["kind"] == "metric":
        return _eval.metric_text(column["metric"], value)
    name = column["name"]
    if name in SHARES:
        return f"{100 * value:.2f}"
    if name.startswith("memory"):
        return f"{value / 2**20:.0f}"
    if column.get("unit") == "million" or name in ("macs", "parameters"):
        return f"{value / 1e6:.2f}"
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.4g}"


def span(column: dict, interval) -> str:
    """An interval of a column; "" for none."""
    if not interval or None in interval:
        return ""
    return " – ".join(number(column, end) for end in interval)


def spans(column: dict, cell: dict) -> list[str]:
    """The intervals of a cell, each with what it is over: draws of people of the test, seeds of the
    training, iterations."""
    seeds, over = cell.get("seeds", 1), cell.get("interval_over", "")
    both = {over: cell.get("interval")}
    if cell.get("seed_interval"):
        both["seeds"] = cell["seed_interval"]
    named = [(span(column, ends), f"{seeds} seeds" if over == "seeds" else over)
             for over, ends in both.items()]  # fmt: skip
    return [f"{text} over {over}" if over else text for text, over in named if text]


def heading(column: dict) -> str:
    """A column's title with its unit."""
    name = column.get("name", "")
    unit = column.get("unit") or next((u for k, u in _UNITS.items() if k in name), "")
    rate = column.get("rate") or (column["kind"] == "result" and name in SHARES)
    unit = "%" if rate else unit
    return column["title"] + (
        f", {unit}" if unit and not column["title"].endswith(f", {unit}") else ""
    )


def beside(cell: dict) -> str:
    """What is printed, and how far the measured value lies from it; "" where nothing is printed."""
    printed = cell["printed"]
    if not printed:
        return ""
    parts = [f"printed {printed['text']}"]
    if cell.get("difference") or cell.get("interval"):
        # A count has no decimals, all else two or more.
        counts = printed["scale"] == 1 and "." not in printed["text"] and cell["value"] % 1 == 0
        digits = max(2, len(f"{printed['half_unit']:f}".rstrip("0").partition(".")[2]) - 1)
        lies = f", {cell['printed_lies']}" if cell.get("printed_lies") else ""
        parts.append(f"{cell['difference']:+,.{0 if counts else digits}f}{lies}")
    return "\n".join(parts)


def cell_text(column: dict, cell: dict) -> str:
    """A cell's own text: its value, or why there is none."""
    if cell.get("why"):
        return cell["why"]
    if cell.get("text"):
        return cell["text"]
    return (
        "–" if cell.get("value") is None and "value" not in cell else number(column, cell["value"])
    )


def shown(column, cell, strong=False):
    shown = cell_text(column, cell) or "–"
    why = cell.get("no_interval") and f"no interval: {cell['no_interval']}"
    load = dict.fromkeys(cell.get("warnings", ())) if cell.get("timed") else ()
    below = ["; ".join([*spans(column, cell), *load]), beside(cell)]
    if why and cell.get("interval_over") != "people":
        below.insert(0, why)
    if cell.get("why"):
        below.insert(0, shown)
        shown = "–"
    below = "\n".join(line for line in below if line)
    href = f"{cell['run']}/report.html" if cell.get("run") else ""
    return Cell(shown, below, href=href, sort=cell.get("value"), strong=strong)


def compared(row: dict) -> str:
    """By what a row is not the printed system; "" where nothing is printed."""
    if not any(c["printed"] and "differs" in c for c in row["cells"]):
        return ""
    return "\n".join(row["differs"]) or "same"


def percent(share) -> str:
    """A share in percent, with one decimal.

    >>> percent(0.123)
    '12.3 %'
    """
    return f"{100 * share:.1f} %"


def p_value(p) -> str:
    """A p-value with two digits; below what a normal distribution's tail can still say, a bound.

    >>> p_value(0.0123), p_value(0.0), p_value(None)
    ('0.012', '< 1e-15', '–')
    """
    return "–" if p is None else "< 1e-15" if p < 1e-15 else f"{p:.2g}"


def signed(column, value):
    shown = number(column, value)
    return shown if shown.startswith("-") else f"+{shown}"
