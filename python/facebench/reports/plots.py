"""Plots as inline SVG: they take their colours from the page, light or dark.

Curves are told apart by dash as well as by colour (classes c0 to c7); text has the page's colour.
"""

import html as _html
import math

_DASHES = ("", "7 4", "2 3", "9 3 2 3", "12 5", "4 2", "1 2", "10 3 3 3")
# Room for labels at the size that narrow screens get (the page enlarges them there).
_LEFT, _RIGHT, _TOP, _BOTTOM, _LINE = 96, 22, 14, 66, 26
_WIDTH, _HEIGHT = 640, 400


class _Axis:
    """The mapping of values to 0..1, and the ticks as (value, label)."""

    def __init__(self, low, high, ticks, log=False):
        self.low, self.high, self.ticks, self.log = low, high, ticks, log

    def __call__(self, value):
        if self.log:
            if value <= self.low:
                return 0.0
            at = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            at = (value - self.low) / (self.high - self.low)
        return min(max(at, 0.0), 1.0)


def _percent(rate):
    return f"{100 * rate:.6g} %"


def _rates():
    return _Axis(0, 1, [(k / 5, f"{20 * k} %") for k in range(6)])


def _log_rates(values):
    """Decades down to the smallest positive value; zero lies on the lower end."""
    smallest = min((v for v in values if v > 0), default=0.1)
    decades = max(1, math.ceil(-math.log10(smallest) - 1e-9))
    every = 1 if decades <= 4 else 2
    ticks = [(10.0**-k, _percent(10.0**-k) if k % every == 0 else "") for k in range(decades + 1)]
    return _Axis(10.0**-decades, 1, ticks, log=True)


def _numbers(low, high):
    """A linear axis with round ticks around low to high."""
    if high <= low:
        low, high = low - 0.5, high + 0.5
    raw = (high - low) / 5
    step = 10.0 ** math.floor(math.log10(raw))
    step *= next(m for m in (1, 2, 5, 10) if m * step >= raw * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = [(k * step, f"{k * step:.6g}") for k in range(first, last + 1)]
    return _Axis(first * step, last * step, ticks)


def _sizes(values):
    low, high = min(values), max(values)
    marked = [m * 10**e for e in range(9) for m in (1, 2, 5) if low <= m * 10**e <= high]
    return _Axis(low, max(high, low + 1), [(n, str(n)) for n in marked], log=True)


def _ranks(last):
    marked = [m * 10**e for e in range(7) for m in (1, 2, 5) if m * 10**e <= last]
    return _Axis(1, max(last, 2), [(r, str(r)) for r in marked], log=True)


def _open(name, title, height, width=_WIDTH):
    # A page shows what is wider than other plots in a line of its own, at the width of a table.
    wide = f' wide" style="min-width: {0.7 * width:.0f}px' if width > _WIDTH else ""
    return (
        f'<svg class="plot {name}{wide}" viewBox="0 0 {width:.0f} {height}" role="img" '
        f'xmlns="http://www.w3.org/2000/svg"><title>{_html.escape(title)}</title>'
    )


def _chart(name, title, x_axis, y_axis, x_title, y_title, curves, kind="step", bands=()):
    """``curves``: (title, class number, xs, ys); ``bands``: (class number, xs, lows, highs).

    ``kind``: step (y holds until the next x), line, or area (a step, filled down to zero).
    """
    inner_width, inner_height = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM

    def x(value):
        return _LEFT + inner_width * x_axis(value)

    def y(value):
        return _TOP + inner_height * (1 - y_axis(value))

    bottom = _TOP + inner_height
    out = [_open(name, title, _HEIGHT + _LINE * len(curves))]
    for value, label in x_axis.ticks:
        at = f"{x(value):.1f}"
        out.append(f'<line class="grid" x1="{at}" y1="{_TOP}" x2="{at}" y2="{bottom}"/>')
        # The last label ends at the picture's edge.
        place = f'{_WIDTH}" y="{bottom + 24}" text-anchor="end' if x_axis(value) == 1 else ""
        place = place or f'{at}" y="{bottom + 24}" text-anchor="middle'
        out.append(f'<text x="{place}">{label}</text>')
    for value, label in y_axis.ticks:
        at = y(value)
        out.append(
            f'<line class="grid" x1="{_LEFT}" y1="{at:.1f}" x2="{_WIDTH - _RIGHT}" y2="{at:.1f}"/>'
        )
        out.append(f'<text x="{_LEFT - 8}" y="{at + 5:.1f}" text-anchor="end">{label}</text>')
    out.append(
        f'<text x="{_LEFT + inner_width / 2:.1f}" y="{bottom + 50}" '
        f'text-anchor="middle">{x_title}</text>'
    )
    out.append(
        f'<text transform="translate(22 {_TOP + inner_height / 2:.1f}) rotate(-90)" '
        f'text-anchor="middle">{y_title}</text>'
    )
    for number, xs, lows, highs in bands:
        there = [f"{x(a):.1f},{y(b):.1f}" for a, b in zip(xs, highs, strict=True)]
        back = [f"{x(a):.1f},{y(b):.1f}" for a, b in zip(xs, lows, strict=True)]
        corners = " ".join([*there, *reversed(back)])
        out.append(f'<polygon class="area a{number % 8}" points="{corners}"/>')
    for i, (label, number, xs, ys) in enumerate(curves):
        style = f'class="curve c{number % 8}" stroke-dasharray="{_DASHES[number % len(_DASHES)]}"'
        points, last = [], None
        for a, b in zip(xs, ys, strict=True):
            here = (x(a), y(b))
            if here == last:
                continue
            if kind != "line" and last is not None and here[0] != last[0]:
                points.append(f"{here[0]:.1f},{last[1]:.1f}")
            points.append(f"{here[0]:.1f},{here[1]:.1f}")
            last = here
        text = " ".join(points)
        if kind == "area" and points:
            start, end = points[0].split(",")[0], points[-1].split(",")[0]
            corners = f"{start},{bottom:.1f} {text} {end},{bottom:.1f}"
            out.append(f'<polygon class="area a{number % 8}" points="{corners}"/>')
        out.append(f'<polyline {style} points="{text}"/>')
        row = _HEIGHT + _LINE * i + 10
        out.append(f'<line {style} x1="{_LEFT}" y1="{row}" x2="{_LEFT + 34}" y2="{row}"/>')
        out.append(f'<text x="{_LEFT + 42}" y="{row + 5}">{_html.escape(str(label)[:48])}</text>')
    return "".join(out) + "</svg>"


def _floats(values):
    return [float(v) for v in values]


def roc_svg(curves, bands=None):
    """ROC curves with a logarithmic FAR axis. ``curves``: ``(title, far, tar)`` each; ``bands``: of
    each curve ``(far, low, high)`` or None.

    >>> from facebench.reports import roc_svg
    >>> roc_svg([("one", [0, 0.1, 1], [0, 0.8, 1])]).startswith("<svg")
    True
    """
    curves = [(t, i, _floats(far), _floats(tar)) for i, (t, far, tar) in enumerate(curves)]
    return _chart(
        "roc",
        "ROC: true accept rate over false accept rate",
        _log_rates([f for c in curves for f in c[2]]),
        _rates(),
        "false accept rate",
        "true accept rate",
        curves,
        bands=_numbered(bands),
    )


def _numbered(bands):
    return [(i, *map(_floats, band)) for i, band in enumerate(bands or []) if band is not None]


def det_svg(curves, x_title="false accept rate", y_title="false reject rate", bands=None):
    """DET curves, both axes logarithmic. ``curves``: ``(title, x, y)`` each, error rates;
    ``bands``: of each curve ``(x, low, high)`` or None.

    A rate of zero lies on the edge. With FPIR and FNIR it is the curve of open-set identification.

    >>> from facebench.reports import det_svg
    >>> "polyline" in det_svg([("one", [0.001, 0.1, 1], [0.2, 0.1, 0])])
    True
    """
    curves = [(t, i, _floats(x), _floats(y)) for i, (t, x, y) in enumerate(curves)]
    return _chart(
        "det",
        f"DET: {y_title} over {x_title}",
        _log_rates([v for c in curves for v in c[2]]),
        _log_rates([v for c in curves for v in c[3]]),
        x_title,
        y_title,
        curves,
        bands=_numbered(bands),
    )


def discard_svg(curves, start, limit, what):
    """FNMR over the share of discards. ``curves``: ``(title, share, fnmr)`` each.

    ``start``: the FNMR before anything is discarded, which random discards keep; ``limit``: the
    largest share that is shown; ``what``: "comparisons" or "images".

    >>> from facebench.reports import discard_svg
    >>> discard_svg([("one", [0, 0.5], [0.1, 0])], 0.1, 0.6, "images").count("polyline")
    2
    """
    lines = [*curves, ("at random", [0, limit], [start, start])]
    shown = [
        (title, i, [*(s for s in shares if s <= limit), limit], [])
        for i, (title, shares, _) in enumerate(lines)
    ]
    for (_, _, xs, ys), (_, _, errors) in zip(shown, lines, strict=True):
        ys += _floats(errors)[: len(xs) - 1]
        ys += ys[-1:]
    y_axis = _numbers(0, max([*(y for c in shown for y in c[3]), 1e-6]))
    y_axis.ticks = [(v, _percent(v)) for v, _ in y_axis.ticks]
    x_axis = _numbers(0, limit)
    x_axis.ticks = [(v, _percent(v)) for v, _ in x_axis.ticks]
    return _chart(
        "discard",
        f"FNMR over the share of {what} discarded",
        x_axis,
        y_axis,
        f"{what} discarded",
        "false non-match rate",
        shown,
    )


def tippett_svg(log10_lr, genuine, impostor):
    """Tippett plot: the share of either class with at least a log10 likelihood ratio.

    >>> from facebench.reports import tippett_svg
    >>> tippett_svg([-1, 0, 1], [1, 1, 0.5], [1, 0.5, 0]).count("polyline")
    2
    """
    xs = _floats(log10_lr)
    return _chart(
        "tippett",
        "Tippett plot: share of comparisons over the likelihood ratio",
        _numbers(xs[0], xs[-1]),
        _rates(),
        "log10 of the likelihood ratio",
        "share with at least so much",
        [("genuine", 0, xs, _floats(genuine)), ("impostor", 1, xs, _floats(impostor))],
        kind="line",
    )


def cmc_svg(curves):
    """CMC curves. ``curves``: ``(title, rate)`` each, ``rate[k - 1]`` for rank k.

    >>> from facebench.reports import cmc_svg
    >>> cmc_svg([("one", [0.5, 0.75, 1.0])]).count("polyline")
    1
    """
    curves = [(t, i, range(1, len(rate) + 1), _floats(rate)) for i, (t, rate) in enumerate(curves)]
    lowest = min((r for c in curves for r in c[3]), default=0.0)
    # The upper part alone where everything lies there.
    low = next(b for b in (0.9, 0.8, 0.5, 0.0) if lowest >= b)
    steps = 5
    ticks = [
        (low + (1 - low) * k / steps, _percent(low + (1 - low) * k / steps))
        for k in range(steps + 1)
    ]
    return _chart(
        "cmc",
        "CMC: share of searches whose mate is found, over rank",
        _ranks(max((len(c[3]) for c in curves), default=1)),
        _Axis(low, 1, ticks),
        "rank",
        "identified",
        curves,
    )


def gallery_svg(curves):
    """FNIR over gallery size, both logarithmic. ``curves``: ``(title, sizes, fnir, low, high)``.

    >>> from facebench.reports import gallery_svg
    >>> gallery_svg([("one", [10, 20], [0.1, 0.2], [0.05, 0.1], [0.2, 0.3])]).count("polygon")
    1
    """
    shown = [(t, i, _floats(n), _floats(fnir)) for i, (t, n, fnir, _, _) in enumerate(curves)]
    return _chart(
        "det",
        "FNIR over people in the gallery",
        _sizes([n for c in curves for n in c[1]]),
        _log_rates([v for c in curves for v in [*c[2], *c[3]]]),
        "people in the gallery",
        "FNIR",
        shown,
        kind="line",
        bands=_numbered([c[1:2] + c[3:] for c in curves]),
    )


def steps_svg(curves, title, y_title, bands=()):
    """Curves over the steps of a training. ``curves``: ``(title, class number, steps, values)``;
    ``bands``: ``(class number, steps, lows, highs)``.

    >>> from facebench.reports import steps_svg
    >>> steps_svg([("one", 0, [20, 40], [3.2, 2.9])], "Loss", "loss").count("polyline")
    1
    """
    steps = [float(s) for c in [*curves, *((0, *b) for b in bands)] for s in c[2]]
    values = [float(v) for c in curves for v in c[3]]
    values += [float(v) for b in bands for side in b[2:] for v in side]
    return _chart(
        "steps",
        title,
        _numbers(min(0.0, *steps), max(steps)),
        _numbers(min(values), max(values)),
        "step",
        y_title,
        curves,
        kind="line",
        bands=bands,
    )


def histogram_svg(edges, genuine, impostor):
    """Distributions of genuine and impostor scores, each as shares of its own comparisons.

    ``edges``: the bins' borders, one more than the counts.

    >>> from facebench.reports import histogram_svg
    >>> histogram_svg([0, 1, 2], [1, 3], [2, 0]).count("polygon")
    2
    """
    edges = _floats(edges)
    curves = []
    for title, counts in (("genuine", genuine), ("impostor", impostor)):
        total = sum(counts)
        shares = [float(c) / total if total else 0.0 for c in counts]
        curves.append((title, len(curves), edges, [*shares, *shares[-1:]]))
    highest = max((v for c in curves for v in c[3]), default=0)
    y_axis = _numbers(0, highest or 1)
    y_axis.ticks = [(v, _percent(v)) for v, _ in y_axis.ticks]
    return _chart(
        "scores",
        "Scores of genuine and impostor comparisons",
        _numbers(edges[0], edges[-1]),
        y_axis,
        "score",
        "share of comparisons",
        curves,
        kind="area",
    )


_LEAST_CELL = 146  # what two numbers with a dash between them take


def matrix_svg(rows, columns, values, notes=None, title="", texts=None):
    """A matrix as a heat map with its numbers; the higher, the stronger the colour.

    ``rows``, ``columns``: labels; ``values``: rows of numbers (None is undefined), the colour runs
    from 0 to 1 or to the highest of them; ``notes``: a small text below each number (its interval,
    say), rows of text. ``texts`` stand in place of the numbers.

    >>> from facebench.reports import matrix_svg
    >>> svg = matrix_svg(["young", "mature"], ["young", "mature"], [[0.5, 0.2], [0.3, 0.6]])
    >>> svg.count("<rect"), ">0.500<" in svg
    (4, True)
    """
    left, head, cell_height = 170, 44, 84
    highest = max([1.0, *(float(v) for row in values for v in row if v is not None)])
    cell_width = max(_LEAST_CELL, (_WIDTH - left) / len(columns))
    width = left + cell_width * len(columns)
    out = [_open("matrix", title or "Matrix", head + cell_height * len(rows), width)]
    for j, label in enumerate(columns):
        at = left + cell_width * (j + 0.5)
        out.append(
            f'<text x="{at:.1f}" y="{head - 14}" text-anchor="middle">{_label(label)}</text>'
        )
    for i, label in enumerate(rows):
        top = head + cell_height * i
        out.append(f'<text x="{left - 12}" y="{top + 48}" text-anchor="end">{_label(label)}</text>')
        for j in range(len(columns)):
            value, x = values[i][j], left + cell_width * j
            # Never so strong that text in the page's colour could not be read on it.
            strength = 0.04 + 0.51 * max(value or 0.0, 0.0) / highest
            out.append(
                f'<rect x="{x:.1f}" y="{top}" width="{cell_width - 3:.1f}" '
                f'height="{cell_height - 3}" rx="4" fill-opacity="{strength:.3f}"/>'
            )
            note = notes[i][j] if notes else ""
            number = "undefined" if value is None else format(value, ".3f")
            middle, base = x + cell_width / 2 - 1.5, top + (38 if note else 48)
            out.append(
                f'<text class="value" x="{middle:.1f}" y="{base}" text-anchor="middle">'
                f"{_html.escape(texts[i][j]) if texts else number}</text>"
            )
            if note:
                out.append(
                    f'<text class="note" x="{middle:.1f}" y="{base + 24}" text-anchor="middle">'
                    f"{_html.escape(note)}</text>"
                )
    return "".join(out) + "</svg>"


def _label(text):
    return _html.escape(str(text).replace("_", " ")[:20])
