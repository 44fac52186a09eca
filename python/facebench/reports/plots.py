"""Plots of curves, distributions and matrices, as inline SVG."""

import html as _html

from facebench.reports.axes import log_numbers, log_rates, numbers, percent, rates
from facebench.reports.charts import WIDTH, Chart, opened
from facebench.reports.error_curves import det_shown, roc_shown


def _chart(name, title, x, y, curves, kind="step", bands=(), marks=(), levels=(), broken=False):
    """``x``, ``y``: axis and title of each; ``curves``: (title, class number, xs, ys); ``bands``:
    (class number, xs, lows, highs).

    ``kind``: step (y holds until the next x), line, or area (a step, filled down to zero).
    ``marks``: (class number, x, y, interval along y or None, hollow, value as text) of points on
    the curves; ``levels``: (x, name) of lines across; ``broken``: y begins above zero.
    """
    legend = [(number, label) for label, number, _, _ in curves]
    reading = "line" if kind == "line" else "step"
    chart = Chart(name, title, x[0], y[0], x[1], y[1], legend, kind=reading)
    for number, xs, lows, highs in bands:
        there, back = (
            [(chart.x(a), chart.y(b)) for a, b in zip(xs, ys, strict=True)] for ys in (highs, lows)
        )
        chart.area(number, [*there, *reversed(back)])
    for _, number, xs, ys in curves:
        points: list[tuple[float, float]] = []
        for place in ((chart.x(a), chart.y(b)) for a, b in zip(xs, ys, strict=True)):
            if points and kind != "line" and place[0] != points[-1][0]:
                points.append((place[0], points[-1][1]))
            if not points or place != points[-1]:
                points.append(place)
        if kind == "area" and points:
            ends = [(points[0][0], chart.bottom), *points, (points[-1][0], chart.bottom)]
            chart.area(number, ends)
        chart.curve(number, points)
        if len(points) == 1:  # a line of one point shows nothing
            chart.dot(number, *points[0])
    for number, at, value, interval, hollow, text in marks:
        chart.whisker(chart.x(at), chart.y(value), interval)
        chart.dot(number, chart.x(at), chart.y(value), 5, hollow, text)
    for row, (at, label) in enumerate(levels):
        chart.line_at(at, label, row)
    if broken:
        chart.broken()
    return chart.svg()


def _floats(values):
    return [float(v) for v in values]


def _error_curves(name, title, drawn, x, y, broken=False):
    bands = [(i, *d.band) for i, d in enumerate(drawn) if d.band[0]]
    marks = [
        (i, m.far, m.tar, m.interval, m.few, _mark_text(d.title, m, x[1], y[1]))
        for i, d in enumerate(drawn)
        for m in d.marks
    ]
    curves = [(d.title, i, d.xs, d.ys) for i, d in enumerate(drawn)]
    return _chart(name, title, x, y, curves, bands=bands, marks=marks, broken=broken)


def _mark_text(title, mark, x_title, y_title):
    interval = mark.interval and " [{}, {}]".format(*(f"{100 * v:.2f}" for v in mark.interval))
    few = ", of a handful of errors" if mark.few else ""
    return (
        f"{title}: {y_title} {100 * mark.tar:.2f} %{interval or ''} at {x_title} "
        f"{percent(mark.far)}{few}"
    )


def roc_svg(curves):
    """ROC curves over a logarithmic FAR, from what the comparisons can show. ``curves``: an
    `ErrorCurve`, or the beginning of one, ``(title, far, tar)``, each.

    >>> from facebench.reports.plots import roc_svg
    >>> roc_svg([("one", [0, 0.1, 1], [0, 0.8, 1])]).startswith("<svg")
    True
    """
    drawn, across, up = roc_shown(curves)
    title = "ROC: true accept rate over false accept rate"
    x, y = (across, "false accept rate"), (up, "true accept rate")
    return _error_curves("roc", title, drawn, x, y, broken=up.low > 0)


def det_svg(curves, x_title="false accept rate", y_title="false reject rate", axes="normal"):
    """DET curves on axes of normal deviates, or logarithmic ones (``axes="log"``). ``curves``: an
    `ErrorCurve`, or the beginning of one, ``(title, far, tar)``, each.

    With FPIR and DIR it is the curve of open-set identification.

    >>> from facebench.reports.plots import det_svg
    >>> "polyline" in det_svg([("one", [0.001, 0.1, 1], [0.8, 0.9, 1])])
    True
    """
    drawn, across, up = det_shown(curves, axes)
    x, y = (across, x_title), (up, y_title)
    return _error_curves("det", f"DET: {y_title} over {x_title}", drawn, x, y)


def _numbered(bands):
    return [(i, *map(_floats, band)) for i, band in enumerate(bands or []) if band is not None]


def discard_svg(curves, start, limit, what):
    """FNMR over the share of discards. ``curves``: ``(title, share, fnmr)`` each.

    ``start``: the FNMR before anything is discarded, which random discards keep; ``limit``: the
    largest share that is shown; ``what``: "comparisons" or "images".

    >>> from facebench.reports.plots import discard_svg
    >>> discard_svg([("one", [0, 0.5], [0.1, 0])], 0.1, 0.6, "images").count("polyline")
    2
    """
    lines = [*curves, ("at random", [0, limit], [start, start])]
    shown: list[tuple[str, int, list[float], list[float]]] = [
        (title, i, [*(s for s in shares if s <= limit), limit], [])
        for i, (title, shares, _) in enumerate(lines)
    ]
    for (_, _, xs, ys), (_, _, errors) in zip(shown, lines, strict=True):
        ys += _floats(errors)[: len(xs) - 1]
        ys += ys[-1:]
    highest = max([*(y for c in shown for y in c[3]), 1e-6])
    return _chart(
        "discard",
        f"FNMR over the share of {what} discarded",
        (numbers(0, limit, percent), f"{what} discarded"),
        (numbers(0, highest, percent), "false non-match rate"),
        shown,
    )


def tippett_svg(log10_lr, genuine, impostor):
    """Tippett plot: the share of either class with at least a log10 likelihood ratio.

    >>> from facebench.reports.plots import tippett_svg
    >>> tippett_svg([-1, 0, 1], [1, 1, 0.5], [1, 0.5, 0]).count("polyline")
    2
    """
    xs = _floats(log10_lr)
    return _chart(
        "tippett",
        "Tippett plot: share of comparisons over the likelihood ratio",
        (numbers(xs[0], xs[-1]), "log10 of the likelihood ratio"),
        (rates(), "share with at least so much"),
        [("genuine", 0, xs, _floats(genuine)), ("impostor", 1, xs, _floats(impostor))],
        kind="line",
    )


def cmc_svg(curves):
    """CMC curves. ``curves``: ``(title, rate)`` each, ``rate[k - 1]`` for rank k.

    >>> from facebench.reports.plots import cmc_svg
    >>> cmc_svg([("one", [0.5, 0.75, 1.0])]).count("polyline")
    1
    """
    curves = [(t, i, range(1, len(rate) + 1), _floats(rate)) for i, (t, rate) in enumerate(curves)]
    lowest = min((r for c in curves for r in c[3]), default=0.0)
    # The upper part alone where everything lies there.
    low = next(b for b in (0.9, 0.8, 0.5, 0.0) if lowest >= b)
    return _chart(
        "cmc",
        "CMC: share of searches whose mate is found, over rank",
        (log_numbers(1, max([2, *(len(c[3]) for c in curves)]), "{:.0f}".format), "rank"),
        (rates(low), "identified"),
        curves,
        broken=low > 0,
    )


def gallery_svg(curves):
    """FNIR over gallery size, both logarithmic. ``curves``: ``(title, sizes, fnir, low, high)``.

    >>> from facebench.reports.plots import gallery_svg
    >>> gallery_svg([("one", [10, 20], [0.1, 0.2], [0.05, 0.1], [0.2, 0.3])]).count("polygon")
    1
    """
    shown = [(t, i, _floats(n), _floats(fnir)) for i, (t, n, fnir, _, _) in enumerate(curves)]
    sizes = [n for c in curves for n in c[1]]
    return _chart(
        "det",
        "FNIR over people in the gallery",
        (log_numbers(min(sizes), max(sizes), "{:.0f}".format), "people in the gallery"),
        (log_rates([v for c in curves for v in [*c[2], *c[3]]]), "FNIR"),
        shown,
        kind="line",
        bands=_numbered([c[1:2] + c[3:] for c in curves]),
    )


def steps_svg(curves, title, y_title, bands=(), signed=False):
    """Curves over the steps of a training. ``curves``: ``(title, class number, steps, values)``;
    ``bands``: ``(class number, steps, lows, highs)``; ``signed``: whether values may be below 0.

    >>> from facebench.reports.plots import steps_svg
    >>> steps_svg([("one", 0, [20, 40], [3.2, 2.9])], "Loss", "loss").count("polyline")
    1
    """
    steps = [float(s) for c in [*curves, *((0, *b) for b in bands)] for s in c[2]]
    values = [float(v) for c in curves for v in c[3]] + ([] if signed else [0.0])
    values += [float(v) for b in bands for side in b[2:] for v in side]
    return _chart(
        "steps",
        title,
        (numbers(min(0.0, *steps), max(steps)), "step"),
        (numbers(min(values), max(values) or 1.0), y_title),
        curves,
        kind="line",
        bands=bands,
    )


def histogram_svg(edges, genuine, impostor, levels=()):
    """Distributions of genuine and impostor scores, each as shares of its own comparisons.

    ``edges``: the bins' borders, one more than the counts; ``levels``: (score, name) of thresholds.

    >>> from facebench.reports.plots import histogram_svg
    >>> histogram_svg([0, 1, 2], [1, 3], [2, 0], [(1.5, "EER")]).count("polygon")
    2
    """
    edges = _floats(edges)
    curves: list[tuple[str, int, list[float], list[float]]] = []
    for title, counts in (("genuine", genuine), ("impostor", impostor)):
        total = sum(counts)
        shares = [float(c) / total if total else 0.0 for c in counts]
        curves.append((title, len(curves), edges, [*shares, *shares[-1:]]))
    highest = max((v for c in curves for v in c[3]), default=0)
    # What lies outside of the axis has no place on it.
    inside = sorted((at, name) for at, name in levels if edges[0] <= at <= edges[-1])
    return _chart(
        "scores",
        "Scores of genuine and impostor comparisons",
        (numbers(edges[0], edges[-1]), "score"),
        (numbers(0, highest or 1, percent), "share of comparisons"),
        curves,
        kind="area",
        levels=inside,
    )


_LEAST_CELL = 146  # what two numbers with a dash between them take


def matrix_svg(rows, columns, values, notes=None, title="", texts=None):
    """A matrix as a heat map with its numbers; the higher, the stronger the colour.

    ``rows``, ``columns``: labels; ``values``: rows of numbers (None is undefined), the colour runs
    from 0 to 1 or to the highest of them; ``notes``: a small text below each number (its interval,
    say), rows of text. ``texts`` stand in place of the numbers.

    >>> from facebench.reports.plots import matrix_svg
    >>> svg = matrix_svg(["young", "mature"], ["young", "mature"], [[0.5, 0.2], [0.3, 0.6]])
    >>> svg.count("<rect"), ">0.500<" in svg
    (4, True)
    """
    left, head, cell_height = 170, 44, 84
    highest = max([1.0, *(float(v) for row in values for v in row if v is not None)])
    cell_width = max(_LEAST_CELL, (WIDTH - left) / len(columns))
    width = left + cell_width * len(columns)
    out = [opened("matrix", title or "Matrix", head + cell_height * len(rows), width)]

    def write(x, y, text, anchor="middle", style=""):
        out.append(
            f'<text{style} x="{x}" y="{y}" text-anchor="{anchor}">{_html.escape(text)}</text>'
        )

    for j, label in enumerate(columns):
        write(f"{left + cell_width * (j + 0.5):.1f}", head - 14, _label(label))
    for i, label in enumerate(rows):
        top = head + cell_height * i
        write(left - 12, top + 48, _label(label), "end")
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
            middle, base = f"{x + cell_width / 2 - 1.5:.1f}", top + (38 if note else 48)
            write(middle, base, texts[i][j] if texts else number, style=' class="value"')
            if note:
                write(middle, base + 24, note, style=' class="note"')
    return "".join(out) + "</svg>"


def _label(text):
    return str(text).replace("_", " ")[:20]
