"""Reports: tables, plots and pages made of run folders; and verification of their numbers.

>>> report_formats()
['markdown', 'csv', 'latex']
"""

import base64
import html as _html
import math
import mimetypes
import os
import re
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

from facebench import _eval

__all__ = [
    "image_section",
    "read_run",
    "report_formats",
    "report_html",
    "roc_points",
    "roc_svg",
    "run_report",
    "runs_section",
    "table",
    "table_section",
    "text_section",
    "verify_inputs",
    "verify_scores",
    "write_html",
    "write_text",
]


def report_formats():
    """The formats that :func:`table` knows.

    >>> "latex" in report_formats()
    True
    """
    return _eval.report_format_names()


def read_run(run):
    """A run folder as a dict: ``content``, ``circumstance`` (the manifest) and ``metrics``."""
    return _eval.read_run(run)


def table(runs, format="markdown", titles=None):
    """The numbers of one or more run folders side by side, as text."""
    return _eval.report_table(_list(runs), format, list(titles or []))


def run_report(run):
    """The text of ``report.md`` of a run."""
    return _eval.run_report(run)


def roc_points(run, track, count=500):
    """``(far, tar)`` of a track of a run: at most ``count`` exact points, ends included."""
    return _eval.run_roc_points(run, track, count)


def verify_scores(run, threads=0, progress=None):
    """Hashes of the run's files, and ``metrics.json`` computed again from ``scores.h5``.

    A list of ``{"name", "same", "detail"}``.
    """
    return _eval.verify_scores(run, threads, progress)


def verify_inputs(run, root=None, progress=None):
    """SHA-256 of every recorded input against the files as they are now, below ``root`` if given.

    A list of ``{"name", "same", "detail"}``.
    """
    return _eval.verify_inputs(run, root or "", progress)


def _list(runs):
    return [runs] if isinstance(runs, (str, os.PathLike)) else list(runs)


# --- the page ------------------------------------------------------------------------------------


@dataclass
class Section:
    """One part of a page: a title and what stands below it, in order."""

    title: str
    blocks: list = field(default_factory=list)


def text_section(title, text):
    """Plain text; an empty line begins a paragraph.

    >>> len(text_section("Note", "One.\\n\\nTwo.").blocks)
    2
    """
    paragraphs = [p.strip() for p in re.split(r"\n\s*\n", text) if p.strip()]
    return Section(title, [{"kind": "text", "text": p} for p in paragraphs])


def table_section(title, columns, rows, note=""):
    """A table: ``columns`` are its headings, ``rows`` lists of cells (numbers or text).

    >>> table_section("Steps", ["step", "s"], [["pack", 3.2]]).blocks[0]["kind"]
    'table'
    """
    return Section(
        title, [_table(columns, rows), *([{"kind": "text", "text": note}] if note else [])]
    )


def image_section(title, path, caption=""):
    """A picture, embedded in the page."""
    path = Path(path)
    kind = mimetypes.guess_type(path.name)[0]
    if kind not in ("image/png", "image/jpeg", "image/svg+xml"):
        raise ValueError(f"{path.name}: only PNG, JPEG and SVG pictures can be embedded")
    data = base64.b64encode(path.read_bytes()).decode("ascii")
    return Section(
        title, [{"kind": "image", "source": f"data:{kind};base64,{data}", "caption": caption}]
    )


def runs_section(title, runs, titles=None, notes=()):
    """Run folders side by side: numbers with intervals, ROC curves, failures, provenance.

    ``titles`` name the runs; ``notes`` are paragraphs that stand below the table.
    """
    runs = _list(runs)
    titles = list(titles or [Path(os.path.abspath(r)).name for r in runs])
    if len(titles) != len(runs):
        raise ValueError(f"{len(titles)} titles for {len(runs)} runs")
    data = [read_run(r) for r in runs]
    section = Section(title)
    section.blocks.append({"kind": "numbers", **_numbers(data, titles)})
    section.blocks += [{"kind": "text", "text": n} for n in notes]
    tracks = list(dict.fromkeys(t for d in data for t in d["metrics"]["tracks"]))
    for track in tracks:
        curves = [
            (t, *roc_points(r, track))
            for r, t, d in zip(runs, titles, data, strict=True)
            if track in d["metrics"]["tracks"]
        ]
        svg = roc_svg(curves)
        section.blocks.append({"kind": "plot", "svg": svg, "caption": f"ROC, track {track}"})
    section.blocks.append(_counts(data, titles))
    failures = _failures(data, titles)
    if failures:
        section.blocks.append(failures)
    section.blocks.append(_provenance(data, titles))
    return section


def _table(columns, rows, summary=""):
    cells = [
        [
            {
                "text": f"{c:.4g}" if isinstance(c, float) else str(c),
                "number": isinstance(c, (int, float)),
            }
            for c in row
        ]
        for row in rows
    ]
    heads = [
        {"text": str(c), "number": bool(cells) and all(row[i]["number"] for row in cells)}
        for i, c in enumerate(columns)
    ]
    return {"kind": "table", "columns": heads, "rows": cells, "summary": summary}


def _numbers(data, titles):
    rows = {}
    for i, d in enumerate(data):
        protocol = d["content"]["protocol"]["title"]
        for track, content in d["metrics"]["tracks"].items():
            for metric, cell in content["metrics"].items():
                row = rows.setdefault((protocol, track, metric), [None] * len(data))
                row[i] = {
                    "value": f"{100 * cell['value']:.2f}",
                    "interval": None
                    if cell["interval"] is None
                    else f"{100 * cell['interval'][0]:.2f} – {100 * cell['interval'][1]:.2f}",
                    "unreliable": cell.get("reliable") is False,
                    "title": _behind(cell),
                }
    groups = {}
    for (protocol, track, metric), cells in rows.items():
        groups.setdefault(f"{protocol}, track {track}", []).append(
            (_eval.metric_title(metric), cells)
        )
    used = [c for cells in rows.values() for c in cells if c]
    levels = {
        f"{100 * c['level']:g} %"
        for d in data
        for t in d["metrics"]["tracks"].values()
        for c in t["metrics"].values()
        if c["level"] is not None
    }
    return {
        "runs": titles,
        "groups": list(groups.items()),
        "marked": any(c["unreliable"] for c in used),
        "levels": ", ".join(sorted(levels)),
        "conventions": ", ".join(sorted({d["metrics"]["convention"] for d in data})),
    }


def _behind(cell):
    text = f"method: {cell['method']}"
    if "far_achieved" in cell and cell["far_achieved"] is not None:
        text += (
            f"; FAR achieved {100 * cell['far_achieved']:.4g} %, "
            f"{cell['false_accepts']} false accepts"
        )
    if cell.get("standard_error") is not None:
        text += f"; sd {100 * cell['sd']:.2f}, standard error {100 * cell['standard_error']:.2f}"
    return text


def _counts(data, titles):
    rows = []
    for d, title in zip(data, titles, strict=True):
        for track, content in d["metrics"]["tracks"].items():
            c, more = content["counts"], d["content"]["tracks"].get(track, {})
            rows.append(
                [
                    title,
                    track,
                    c["genuine"],
                    c["impostor"],
                    more.get("samples", "?"),
                    more.get("identities", "?"),
                    c["failed_enrolments"],
                    more.get("dropped", "?"),
                ]
            )
    columns = ["run", "track", "genuine", "impostor", "images", "people", "failed", "left out"]
    return _table(columns, rows)


def _failures(data, titles):
    rows = []
    for d, title in zip(data, titles, strict=True):
        for track, content in d["content"]["tracks"].items():
            rows += [[title, track, f["name"], f["status"]] for f in content["failed"]]
    if not rows:
        return None
    return _table(
        ["run", "track", "sample", "status"], rows, summary=f"Failed enrolments ({len(rows)})"
    )


def _provenance(data, titles):
    rows = []
    for d, title in zip(data, titles, strict=True):
        c = d["content"]
        rows.append([title, "facebench", c.get("facebench", "?")])
        rows.append([title, f"protocol {c['protocol']['id']}", c["protocol"]["sha256"]])
        rows += [[title, i["role"], i["sha256"]] for i in c["inputs"]]
        rows += [[title, name, digest] for name, digest in c["outputs"].items()]
        rows += [[title, "note", note] for note in c.get("notes", [])]
    return _table(["run", "what", "version or SHA-256"], rows, summary="Where it comes from")


# --- the plot ------------------------------------------------------------------------------------

# Told apart by dash as well as by colour.
_DASHES = ("", "7 4", "2 3", "9 3 2 3", "12 5", "4 2", "1 2", "10 3 3 3")


def roc_svg(curves, width=640, height=400):
    """ROC curves as an inline SVG with a logarithmic FAR axis.

    ``curves``: ``(title, far, tar)`` each. Colours come from the page's style (classes c0 to c7).

    >>> roc_svg([("one", [0, 0.1, 1], [0, 0.8, 1])]).startswith("<svg")
    True
    """
    curves = [(str(t), [float(f) for f in far], [float(v) for v in tar]) for t, far, tar in curves]
    positive = [f for _, far, _ in curves for f in far if f > 0]
    decades = max(1, math.ceil(-math.log10(min(positive, default=0.1)) - 1e-9))
    # Room for labels at the size that narrow screens get (the template enlarges them there).
    left, right, top, bottom, line = 96, 16, 14, 66, 26
    legend = line * len(curves)

    def x(far):
        at = max(math.log10(far), -decades) if far > 0 else -decades
        return left + (width - left - right) * (1 + at / decades)

    def y(tar):
        return top + (height - top - bottom) * (1 - tar)

    out = [
        f'<svg class="roc" viewBox="0 0 {width} {height + legend}" role="img" '
        'xmlns="http://www.w3.org/2000/svg"><title>ROC: true accept rate over false accept rate'
        "</title>"
    ]
    for k in range(decades + 1):
        at, label = x(10.0**-k), f"{100 * 10.0**-k:g} %"
        out.append(f'<line class="grid" x1="{at:.1f}" y1="{top}" x2="{at:.1f}" y2="{y(0):.1f}"/>')
        anchor = "end" if k == 0 else "middle"
        out.append(f'<text x="{at:.1f}" y="{y(0) + 24:.1f}" text-anchor="{anchor}">{label}</text>')
    for k in range(6):
        at = y(k / 5)
        out.append(
            f'<line class="grid" x1="{left}" y1="{at:.1f}" x2="{width - right}" y2="{at:.1f}"/>'
        )
        out.append(f'<text x="{left - 8}" y="{at + 5:.1f}" text-anchor="end">{20 * k} %</text>')
    middle = (left + width - right) / 2
    out.append(
        f'<text x="{middle:.1f}" y="{y(0) + 50:.1f}" text-anchor="middle">false accept rate</text>'
    )
    out.append(
        f'<text transform="translate(22 {(top + y(0)) / 2:.1f}) rotate(-90)" '
        'text-anchor="middle">true accept rate</text>'
    )
    for i, (title, far, tar) in enumerate(curves):
        style = f'class="curve c{i % 8}" stroke-dasharray="{_DASHES[i % len(_DASHES)]}"'
        # A step: TAR holds until the next false accept.
        steps, last = [], None
        for f, t in zip(far, tar, strict=True):
            if last is not None and x(f) != last[0]:
                steps.append(f"{x(f):.1f},{last[1]:.1f}")
            last = (x(f), y(t))
            steps.append(f"{last[0]:.1f},{last[1]:.1f}")
        out.append(f'<polyline {style} points="{" ".join(steps)}"/>')
        row = height + line * i + 10
        out.append(f'<line {style} x1="{left}" y1="{row}" x2="{left + 34}" y2="{row}"/>')
        out.append(f'<text x="{left + 42}" y="{row + 5}">{_html.escape(title[:48])}</text>')
    return "".join(out) + "</svg>"


def report_html(title, sections):
    """A page as text; see :func:`write_html`."""
    from jinja2 import Environment

    text = files("facebench").joinpath("templates/report.html").read_text(encoding="utf-8")
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(text).render(
        title=title, sections=sections, version=_eval.version()
    )


def write_html(path, title, sections):
    """Write a self-contained page (no scripts, nothing loaded from elsewhere), whole or not at all.

    ``sections``: what :func:`runs_section`, :func:`text_section`, :func:`table_section` and
    :func:`image_section` make, in the order of the page.
    """
    write_text(path, report_html(title, sections))


def write_text(path, text):
    """Write a text file, whole or not at all; missing folders are made."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.tmp-{os.getpid()}")
    try:
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
