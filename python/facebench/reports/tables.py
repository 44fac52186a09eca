"""The numbers of runs side by side, in every format."""

import functools

from facebench import _eval
from facebench.analysis.runs import as_list
from facebench.core._arguments import brief, did_you_mean, listed
from facebench.reports.escape import spreadsheet
from facebench.reports.page import written

_FORMATS = {
    "markdown": functools.partial(written, "table.md"),
    "csv": lambda **table: _table_csv(table),
    "latex": functools.partial(written, "table.tex"),
    "text": lambda **table: table["text"],
}


def report_formats():
    """The formats that :func:`table` knows.

    >>> from facebench.reports import report_formats
    >>> "latex" in report_formats()
    True
    """
    return list(_FORMATS)


def chosen_format(formats, name):
    """The writer of a format. ValueError names the others."""
    if name in formats:
        return formats[name]
    meant = did_you_mean(str(name), formats)
    known = f"{', '.join(formats)}, html as a page, parquet, and hub"
    raise ValueError(f"unknown report format '{brief(name)}'{meant} (known: {known})")


def table(runs, format="markdown", titles=None):
    """The numbers of one or more run folders side by side, as text."""
    write = chosen_format(_FORMATS, format)
    return write(**_eval.report_table(as_list(runs), listed(titles, "titles")))


def numbers_of(cell) -> dict:
    """A cell of a table as a line of CSV has it: each number with 15 digits, so that .993 is not
    .9930000000000001; "" where there is none."""

    def digits(value):
        return "" if value is None else f"{value:.15g}"

    low, high = cell["interval"] or (None, None)
    support, counted = cell["support"] or {}, cell["counted"] or {}
    reliable = {None: "", True: "true", False: "false"}
    return {
        "value": digits(cell["value"]),
        "low": digits(low),
        "high": digits(high),
        "level": digits(cell["level"]) if cell["interval"] else "",
        "method": cell["method"],
        "note": cell["note"],
        "rate": support.get("rate"),
        "rate_target": digits(support.get("target")),
        "rate_achieved": digits(support.get("achieved")),
        "errors": support.get("errors"),
        "expected_errors": digits(support.get("expected")),
        "reliable": reliable[support.get("reliable")],
        "count": counted.get("count"),
        "total": counted.get("total"),
    }


PLACE = ["protocol", "track", "metric", "row", "column"]


def _table_csv(table):
    """One line a number."""
    lines = [
        {**{key: row[key] for key in PLACE}, "run": run, **numbers_of(cell)}
        for row in table["rows"]
        for run, cell in zip(table["columns"], row["cells"], strict=True)
        if cell
    ]
    return csv_text(lines)


def csv_text(lines):
    """Lines of CSV under their keys."""
    return spreadsheet([*lines[:1], *(line.values() for line in lines)])
