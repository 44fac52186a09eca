"""Text that comes from files (names of people, samples, tracks, runs, notes) as part of a report.

HTML is escaped by its template. In all other formats control characters are shown as
``printable`` does, and line ends become blanks.
"""

import csv
import io
import re

from facebench.core._arguments import printable

_LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
_LATEX |= {c: "\\" + c for c in "&%$#_{}"}


def on_one_line(text) -> str:
    """``text`` as a report shows it, without line ends.

    >>> on_one_line("a\\nb")
    'a b'
    """
    return printable(re.sub(r"[\n\r\t]", " ", str(text)))


def escape_markdown(text) -> str:
    """What means something in Markdown, escaped: no markup, link, image or cell can begin.

    >>> escape_markdown("[x](y) | 99.37 [99.10, 99.60]")
    '[x\\\\](y) \\\\| 99.37 [99.10, 99.60]'
    """
    # A link needs what follows the bracket, a reference to a character a letter or number sign.
    return re.sub(r"[|\\`*<>]|\](?=[(\[:])|&(?=[#A-Za-z])", r"\\\g<0>", on_one_line(text))


def escape_latex(text) -> str:
    """What means something in LaTeX, escaped.

    >>> escape_latex("50 %")
    '50 \\\\%'
    """
    return "".join(_LATEX.get(c, c) for c in on_one_line(text))


def spreadsheet_record(fields) -> str:
    """A line of CSV for spreadsheets: a field that they would take for a formula (it begins with =,
    +, -, @, a tab or a carriage return, and is not a number) gets a ' before it.

    >>> spreadsheet_record(["=1", "-2.5", None])
    "'=1,-2.5,\\n"
    """
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow([_field(f) for f in fields])
    return line.getvalue()


def spreadsheet(lines) -> str:
    """Lines of CSV, each of them as `spreadsheet_record` writes it."""
    return "".join(map(spreadsheet_record, lines))


def _field(value):
    text = "" if value is None else str(value)
    return "'" * _is_formula(text) + on_one_line(text)


def _is_formula(text):
    number = re.fullmatch(r"-?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", text, re.IGNORECASE)
    return text[:1] in tuple("=+-@\t\r\n") and not number
