"""The page: a self-contained HTML report made of sections."""

import base64
import mimetypes
import re
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

from facebench import _eval
from facebench._arguments import brief


@dataclass
class Section:
    """One part of a page: a title and what stands below it, in order."""

    title: str
    blocks: list = field(default_factory=list)


def text_section(title, text):
    """Plain text; an empty line begins a paragraph.

    >>> from facebench.reports import text_section
    >>> len(text_section("Note", "One.\\n\\nTwo.").blocks)
    2
    """
    paragraphs = [p.strip() for p in re.split(r"\n\s*\n", text) if p.strip()]
    return Section(title, [{"kind": "text", "text": p} for p in paragraphs])


def table_section(title, columns, rows, note=""):
    """A table: ``columns`` are its headings, ``rows`` lists of cells (numbers or text).

    >>> from facebench.reports import table_section
    >>> table_section("Steps", ["step", "s"], [["pack", 3.2]]).blocks[0]["kind"]
    'table'
    """
    return Section(
        title, [table_block(columns, rows), *([{"kind": "text", "text": note}] if note else [])]
    )


def image_section(title, path, caption=""):
    """A picture, embedded in the page."""
    path = Path(path)
    kind = mimetypes.guess_type(path.name)[0]
    if kind not in ("image/png", "image/jpeg", "image/svg+xml"):
        raise ValueError(f"{brief(path.name)}: only PNG, JPEG and SVG pictures can be embedded")
    data = base64.b64encode(path.read_bytes()).decode("ascii")
    return Section(
        title, [{"kind": "image", "source": f"data:{kind};base64,{data}", "caption": caption}]
    )


# A text that stands for a number and is aligned as one.
_NUMBER = re.compile(r"-?\d[\d,]*(\.\d+)?(e-?\d+)?( %)?")


@dataclass
class Cell:
    """A cell of a table: a text, what stands below it, where it leads, what it is sorted by."""

    text: str
    below: str = ""
    href: str = ""
    sort: float | None = None
    strong: bool = False


def table_block(columns, rows, summary="", sortable=False):
    """A table inside a section, folded away under ``summary`` where one is given.

    A cell is a number, a text, a pair of texts (a value and its interval, which stands below it) or
    a :class:`Cell`. Columns of numbers, also as texts, are aligned at the right. ``sortable``: a
    click on a heading sorts the rows.
    """
    cells = [[_table_cell(c) for c in row] for row in rows]
    heads = [
        {
            "text": str(c),
            "number": any(row[i]["number"] for row in cells)
            and all(row[i]["number"] or not row[i]["text"] for row in cells),
        }
        for i, c in enumerate(columns)
    ]
    block = {"kind": "table", "columns": heads, "rows": cells, "summary": summary}
    return block | {"sortable": sortable}


def _table_cell(value):
    if isinstance(value, Cell):
        more = {"href": value.href, "sort": value.sort, "strong": value.strong}
        return {
            "text": value.text,
            "number": value.sort is not None or value.text == "–",
            "interval": value.below,
        } | more
    text, interval = value if isinstance(value, tuple) else (value, "")
    return {
        "text": f"{text:.4g}" if isinstance(text, float) else str(text),
        "number": isinstance(text, (int, float)) or bool(_NUMBER.fullmatch(str(text))),
        "interval": interval,
        "sort": text if isinstance(text, (int, float)) else None,
    }


def report_html(title, sections):
    """A page as text; see :func:`write_html`."""
    from jinja2 import Environment

    text = files("facebench").joinpath("templates/report.html").read_text(encoding="utf-8")
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    sortable = any(block.get("sortable") for s in sections for block in s.blocks)
    page = environment.from_string(text).render(
        title=title, sections=sections, version=_eval.version(), sortable=sortable
    )
    # Markup is escaped by the template; names may hold control characters and marks of direction.
    return _eval.printable(page.encode("utf-8", "surrogateescape"))


def write_html(path, title, sections):
    """Write a self-contained page (nothing loaded from elsewhere), whole or not at all. Without
    tables that can be sorted it has no scripts.

    ``sections``: what :func:`runs_section`, :func:`text_section`, :func:`table_section` and
    :func:`image_section` make, in the order of the page.
    """
    write_text(path, report_html(title, sections))


def write_text(path, text):
    """Write a text file, whole or not at all; missing folders are made."""
    _eval.write_file(path, text.encode("utf-8"))
