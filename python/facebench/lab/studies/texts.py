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


def spans(column: dict, cell: dict, over=True) -> list[str]:
    """The intervals of a cell, each with what it is over (``over``): draws of people of the test,
    seeds of the training, iterations."""
    seeds = cell.get("seeds", 1)
    both = {cell.get("interval_over", ""): cell.get("interval")}
    if cell.get("seed_interval"):
        both["seeds"] = cell["seed_interval"]
    named = [(span(column, ends), f"{seeds} seeds" if what == "seeds" else what)
             for what, ends in both.items()]  # fmt: skip
    return [f"{text} over {what}" if what and over else text for text, what in named if text]


def heading(column: dict) -> str:
    """A column's title with its unit."""
    name = column.get("name", "")
    unit = column.get("unit") or next((u for k, u in _UNITS.items() if k in name), "")
    rate = column.get("rate") or (column["kind"] == "result" and name in SHARES)
    unit = "%" if rate else unit
    return column["title"] + (
        f", {unit}" if unit and not column["title"].endswith(f", {unit}") else ""
    )


def as_printed(column: dict, cell: dict) -> bool:
    """Whether a setting or a count, which has no chance, is what the paper prints."""
    printed = cell["printed"]
    if column["kind"] != "fact" or not printed:
        return False
    if cell.get("difference") is not None:
        return abs(cell["difference"]) <= printed["half_unit"]
    return cell_text(column, cell).replace("–", "-") == printed["text"]


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


class Reasons:
    """Why cells of a table have no value: each once below it, in the cells a dash with its mark."""

    def __init__(self, table: dict):
        self._count: dict[str, int] = {}
        for _, _, cell in all_cells(table):
            if reason := cell.get("why"):
                self._count[reason] = self._count.get(reason, 0) + 1

    def mark(self, reason: str) -> str:
        """What stands in a cell: a dash, of several reasons with the number of this one."""
        return "–" if len(self._count) == 1 else f"– ({list(self._count).index(reason) + 1})"

    def notes(self) -> list[str]:
        """A sentence for each reason."""
        return [f"{self.mark(reason)}: {reason}" + (f" ({count} cells)" if count > 1 else "")
                for reason, count in self._count.items()]  # fmt: skip


def shown(column, cell, strong=False, reasons=None, compact=False):
    """A cell of the page. ``reasons``: of the table, which say below it why there is no value;
    ``compact``: no more than the value, its interval and the printed one."""
    text = cell_text(column, cell) or "–"
    why = cell.get("no_interval") and f"no interval: {cell['no_interval']}"
    load = dict.fromkeys(cell.get("warnings", ())) if cell.get("timed") else ()
    if compact:
        below = [*spans(column, cell, over=cell.get("seeds", 1) > 1), printed_mark(cell)]
    else:
        known = as_printed(column, cell)
        below = ["; ".join([*spans(column, cell), *load]), "" if known else beside(cell)]
    if why and cell.get("interval_over") != "people":
        below.insert(0, why)
    if cell.get("why"):
        text = reasons.mark(cell["why"]) if reasons else "–"
        below = below if reasons else [cell["why"], *below]
    below = "\n".join(line for line in below if line)
    href = f"{cell['run']}/report.html" if cell.get("run") else ""
    return Cell(text, below, href=href, sort=cell.get("value"), strong=strong)


def printed_mark(cell: dict) -> str:
    """What is printed, in brackets, with an arrow where it lies outside of the interval; "" for
    nothing."""
    if not cell["printed"]:
        return ""
    arrow = {"above": " ↑", "below": " ↓"}.get(cell.get("printed_lies", ""), "")
    return f"({cell['printed']['text'].removesuffix(' %')}{arrow})"


def legend(table: dict) -> list[str]:
    """What the signs of a table mean, of those that stand in it."""
    said, cells = [], list(all_cells(table))
    if any(as_printed(column, cell) for _, column, cell in cells):
        said.append("A setting or count with nothing below it is as the paper prints it.")
    if table["layout"] != "blocks":
        return said
    over = {cell["interval_over"] for _, _, cell in cells if cell.get("interval")}
    several = any(cell.get("seeds", 1) > 1 for _, _, cell in cells)
    if over and not several:
        said.append(f"Below a value its 95 % interval, over {' or '.join(sorted(over))}.")
    if any(cell["printed"] for _, _, cell in cells):
        said.append("In brackets the printed value.")
    if any(cell.get("printed_lies") in ("above", "below") for _, _, cell in cells):
        said.append("↑ and ↓: it lies above or below the interval.")
    return [" ".join(said)] if said else []


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
