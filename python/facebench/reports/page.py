"""What a report is made of, and how it is written: as a self-contained HTML page, as Markdown.

A report is a list of sections, a section a list of blocks: texts, lists, tables, plots, pictures.
Each report says once what stands in it; templates write it.
"""

import base64
import functools
import mimetypes
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

from facebench import _eval
from facebench.core._arguments import brief, listed, of_kind, printable
from facebench.core._files import read_bytes, write_text
from facebench.reports.escape import escape_latex, escape_markdown, on_one_line


@dataclass
class Section:
    """One part of a page: a title and what stands below it, in order."""

    title: str
    blocks: list = field(default_factory=list)
    level: int = 2  # of the heading in Markdown


class Strong(str):
    """A part of a text that stands out."""


class Code(str):
    """A part of a text as it was typed or recorded."""


def text(*parts):
    """A paragraph of texts, of which some may be `Strong` or `Code`; ``"\\n"`` ends a line."""
    return {"kind": "text", "text": parts}


def bullets(items):
    """A list; an item is a text or a tuple of parts of one."""
    return {"kind": "list", "list": list(items)}


def heading(title):
    return {"kind": "heading", "text": title}


def plots(*drawn):
    """Figures side by side: (SVG, caption) each."""
    return {"kind": "plots", "plots": [{"svg": svg, "caption": caption} for svg, caption in drawn]}


def text_section(title, text):
    """Plain text; an empty line begins a paragraph.

    >>> from facebench.reports.page import text_section
    >>> len(text_section("Note", "One.\\n\\nTwo.").blocks)
    2
    """
    paragraphs = [p.strip() for p in re.split(r"\n\s*\n", text) if p.strip()]
    return Section(title, [{"kind": "text", "text": p} for p in paragraphs])


def table_section(title, columns, rows, note=""):
    """A table: ``columns`` are its headings, ``rows`` lists of cells (numbers or text).

    >>> from facebench.reports.page import table_section
    >>> table_section("Steps", ["step", "s"], [["pack", 3.2]]).blocks[0]["kind"]
    'table'
    """
    return Section(title, [table_block(columns, rows), *([text(note)] if note else [])])


def image_section(title, path, caption="", place=""):
    """A picture, embedded in the page; ``place``: where Markdown finds it."""
    path = Path(path)
    kind = mimetypes.guess_type(path.name)[0]
    if kind not in ("image/png", "image/jpeg", "image/svg+xml"):
        raise ValueError(f"{brief(path.name)}: only PNG, JPEG and SVG pictures can be embedded")
    source = data_url(kind, read_bytes(path))
    block = {"kind": "image", "source": source, "caption": caption, "place": place}
    return Section(title, [block])


def data_url(kind, data) -> str:
    """Bytes of a media type as the source of a picture."""
    return f"data:{kind};base64,{base64.b64encode(data).decode('ascii')}"


# A text that stands for a number and is aligned as one.
_NUMBER = re.compile(r"[+-]?\d[\d,]*(\.\d+)?(e-?\d+)?( %)?")
# A cell with a longer line is wrapped.
_LINE = 48


@dataclass
class Cell:
    """A cell of a table: a text, what stands below it, where it leads, what it is sorted by."""

    text: str
    below: str = ""
    href: str = ""
    sort: float | None = None
    strong: bool = False
    number: bool | None = None  # whether it is aligned as one; None: if sorted by one, or a dash

    def __post_init__(self):
        if self.number is None:
            self.number = self.sort is not None or self.text == "–"

    @property
    def long(self) -> bool:
        """Whether its lines are to be wrapped."""
        return max(map(len, [self.text, *self.below.split("\n")])) > _LINE


def table_block(columns, rows, summary="", sortable=False):
    """A table inside a section, folded away under ``summary`` where one is given.

    A cell is a number, a text, a pair of texts (a value and its interval, which stands below it) or
    a :class:`Cell`. Columns of numbers, also as texts, are aligned at the right. ``sortable``: a
    click on a heading sorts the rows.
    """
    cells = [[_cell(value) for value in row] for row in rows]
    heads = [
        {
            "text": str(c),
            "number": any(row[i].number for row in cells)
            and all(row[i].number or not row[i].text for row in cells),
        }
        for i, c in enumerate(columns)
    ]
    block = {"kind": "table", "columns": heads, "rows": cells, "summary": summary}
    return block | {"sortable": sortable}


def matrices_block(titles, bands, columns, rows):
    """Blocks side by side, a band a row; in Markdown ``columns`` and ``rows`` of a table.

    ``titles``: of the blocks; a band is a dict of ``name``, ``blocks`` (``title``, ``columns``:
    texts, ``lines``: a label and its cells each) and ``differs``, texts that are folded below it.
    """
    table = table_block(columns, rows)
    return table | {"kind": "matrices", "titles": titles, "bands": bands}


def _cell(value) -> Cell:
    if isinstance(value, Cell):
        return value
    text, below = value if isinstance(value, tuple) else (value, "")
    if isinstance(text, (int, float)):
        return Cell(f"{text:.4g}" if isinstance(text, float) else str(text), below, sort=text)
    return Cell(str(text), below, number=bool(_NUMBER.fullmatch(str(text))))


def percent(rate, unit=""):
    """A rate in percent with four digits; "" where there is none.

    >>> percent(0.0123456), percent(None)
    ('1.235', '')
    """
    return "" if rate is None else f"{100 * rate:.4g}{unit}"


def bounds(interval, scale=1):
    """An interval (a dict with low and high) as text; "too few" where there is none.

    >>> bounds({"low": 0.01, "high": 0.02}, 100)
    '[1, 2]'
    >>> bounds({"low": 0, "high": 0.02, "note": "at least: few errors decide it"}, 100)
    '[0, 2] (at least)'
    """
    if interval is None:
        return "too few"
    note = interval.get("note", "").partition(":")[0]
    text = f"[{scale * interval['low']:.3g}, {scale * interval['high']:.3g}]"
    return f"{text} ({note})" if note else text


def p_text(p) -> str:
    """A p-value to three digits; "–" where there is none.

    >>> p_text(0.02345), p_text(1e-9), p_text(None)
    ('0.0234', 'below 0.0001', '–')
    """
    if p is None or p != p:
        return "–"
    return "below 0.0001" if p < 1e-4 else f"{p:.3g}"


def _parts(text):
    return [text] if isinstance(text, str) else text


def _markdown_words(text):
    marks: dict[type, tuple[str, Callable[[str], str]]] = {
        Strong: ("**", escape_markdown),
        Code: ("`", on_one_line),
        str: ("", escape_markdown),
    }
    out = ""
    for part in _parts(text):
        mark, escape = marks[type(part)]
        if mark == "`" and "`" in part:
            out += f"`` {escape(part)} ``"
        else:
            out += part if part == "\n" else f"{mark}{escape(part)}{mark}"
    return out


def _html_words(text):
    from markupsafe import Markup, escape

    tags: dict[type, str] = {Strong: "<strong>{}</strong>", Code: "<code>{}</code>", str: "{}"}
    shown = [
        Markup("<br>") if part == "\n" else Markup(tags[type(part)]).format(escape(part))
        for part in _parts(text)
    ]
    return Markup("").join(shown)


@functools.cache
def _templates():
    """The environments of HTML and of texts, where a line "@ if x" is the statement "if x"."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    def load(name):
        text = files("facebench").joinpath("templates", name).read_text(encoding="utf-8")
        return re.sub("^@ (.*)$", r"{% \1 %}", text, flags=re.MULTILINE)

    environment = functools.partial(
        Environment, loader=FunctionLoader(load), trim_blocks=True, lstrip_blocks=True
    )
    html = environment(autoescape=True)
    html.filters["words"] = _html_words
    texts = environment(keep_trailing_newline=True, undefined=StrictUndefined)
    texts.filters |= {"md": escape_markdown, "tex": escape_latex, "words": _markdown_words}
    return html, texts


def written(template, **values) -> str:
    """What a template of the package makes of the values."""
    html, texts = _templates()
    return (html if template.endswith(".html") else texts).get_template(template).render(**values)


def _sections(sections) -> list:
    return [of_kind(section, Section, "sections") for section in listed(sections, "sections")]


def report_markdown(sections) -> str:
    """Sections as Markdown: all but plots and pictures without a place.

    >>> from facebench.reports import report_markdown
    >>> from facebench.reports.page import table_section
    >>> print(report_markdown([table_section("Steps", ["step", "s"], [["pack", 3.2]])]), end="")
    ## Steps
    <BLANKLINE>
    | step | s |
    |---|---|
    | pack | 3.2 |
    """
    return written("report.md", sections=_sections(sections)).rstrip("\n") + "\n"


_LONG = 6  # headings of a page with contents


def pairs_block(kinds):
    """Pairs of photographs to filter, to sort, to see large and to mark.

    ``kinds``: (title, items) each; an item is a dict of ``score``, ``names`` (what is searched),
    ``groups`` (separated by tabs), ``quality`` (or None), ``caption`` and two ``sides``: the
    ``name`` of a sample, its ``crop`` and its ``photo`` as sources, "" where there is none.
    """
    shown = [{"title": t, "pairs": items, "id": f"pairs-{k}"} for k, (t, items) in enumerate(kinds)]
    return {"kind": "pairs", "kinds": shown}


def _contents(title, sections):
    """(level, id, heading) of what stands on a long page; ids are the numbers of section and
    block."""
    headings = []
    for number, section in enumerate(sections, 1):
        if section.title and section.title != title:
            headings.append((2, f"{number}", section.title))
        headings += [
            (3, f"{number}-{kind['id']}", kind["title"])
            for block in section.blocks
            if block["kind"] == "pairs"
            for kind in block["kinds"]
        ]
        headings += [
            (3, f"{number}-{k}", block["text"])
            for k, block in enumerate(section.blocks, 1)
            if block["kind"] == "heading"
        ]
    return headings if len(headings) >= _LONG else []


def _scripts(sections) -> list[str]:
    """What makes the blocks of a page answer; it can be read without."""
    blocks = [block for section in sections for block in section.blocks]
    needed = {
        "sorting.js": any(block.get("sortable") for block in blocks),
        "plots.js": any(block["kind"] == "plots" for block in blocks),
        "marking.js": any(block["kind"] == "pairs" for block in blocks),
        "pairs.js": any(block["kind"] == "pairs" for block in blocks),
    }
    return [script(name) for name, is_needed in needed.items() if is_needed]


def script(name) -> str:
    """A script of the package, to stand in a page."""
    return files("facebench").joinpath("templates", name).read_text(encoding="utf-8")


def report_html(title, sections, subtitle=""):
    """A page as text; see :func:`write_html`."""
    of_kind(title, str, "title")
    of_kind(subtitle, str, "subtitle")
    sections = _sections(sections)
    page = written(
        "report.html",
        title=title,
        subtitle=subtitle,
        sections=sections,
        contents=_contents(title, sections),
        version=_eval.version(),
        scripts=_scripts(sections),
    )
    # Markup is escaped by the template; names may hold control characters and marks of direction.
    return printable(page)


def write_html(path, title, sections, subtitle=""):
    """Write a self-contained page (nothing loaded from elsewhere), whole or not at all. Its
    scripts sort tables, read values off plots and filter pairs; it says the same without them.

    ``sections``: what :func:`runs_section`, :func:`text_section`, :func:`table_section` and
    :func:`image_section` make, in the order of the page. ``subtitle`` stands below the title.
    """
    write_text(path, report_html(title, sections, subtitle))
