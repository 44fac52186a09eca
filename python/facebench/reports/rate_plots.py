"""Plots of rates, times and differences: bars, lines and points with intervals, as inline SVG."""

from facebench.reports.axes import Axis, log_numbers, log_rates, numbers
from facebench.reports.charts import BOTTOM, LEFT, NAMES, TOP, WIDTH, Chart


def bars_svg(groups, series, title, x_title, y_title):
    """Bars side by side, a group for each of ``groups``.

    ``series``: (name, values, intervals) each, one value a group; None where there is none, and
    then a text in place of the interval says why ("memory").

    >>> from facebench.reports.rate_plots import bars_svg
    >>> svg = bars_svg(["16"], [("a", [2.0], [(1.9, 2.1)])], "Times", "batch", "ms")
    >>> svg.count('class="bar a0"'), svg.count("whisker")
    (2, 1)
    """
    tops = [i[1] for _, _, bars in series for i in bars if i and not isinstance(i, str)]
    highest = max([*(v for _, values, _ in series for v in values if v is not None), *tops, 0])
    # Names of several words stand in two lines, and need no title below them.
    labels = [str(group).split(" ", 1) for group in groups]
    x_title = x_title if all(len(words) == 1 for words in labels) else ""
    legend = [(i, s[0]) for i, s in enumerate(series)]
    chart = Chart("bars", title, None, numbers(0, highest or 1), x_title, y_title, legend)
    room = chart.width / max(len(groups), 1)
    # Small enough not to run into each other where narrow screens enlarge the text (to 20).
    fitting = room * 1.7 / max((len(w) for words in labels for w in words), default=1)
    style = "" if fitting >= 20 else f' style="font-size:{max(min(fitting, 17), 8):.0f}px"'
    wide = room * 0.8 / max(len(series), 1)
    for g, words in enumerate(labels):
        left = LEFT + room * (g + 0.1)
        for line, word in enumerate(words):
            chart.text(left + room * 0.4, chart.bottom + 24 + 20 * line, word, attributes=style)
        for s, (_, values, intervals) in enumerate(series):
            x, value, interval = left + wide * s, values[g], intervals[g]
            if value is None:
                if interval:
                    place = f"{x + wide / 2 + 5:.1f} {chart.bottom - 6}"
                    size = f"font-size:{max(min(wide - 2, 15), 6):.0f}px"
                    turned = f' style="{size}" transform="translate({place}) rotate(-90)"'
                    chart.text(0, 0, interval, "start", turned)
                continue
            top = chart.y(value)
            chart.bar(s, x + 1, top, max(wide - 2, 1), chart.bottom - top)
            chart.whisker(x + wide / 2, top, interval)
    return chart.svg("bar")


def lines_svg(series, title, x_title, y_title):
    """Lines with points; x values are equally spaced in the order of their size.

    ``series``: (name, xs, values, intervals) each.

    >>> from facebench.reports.rate_plots import lines_svg
    >>> lines_svg([("a", [1, 2], [10.0, 19.0], [None, None])], "t", "processes", "images/s").count(
    ...     "circle")
    2
    """
    xs = sorted({x for _, values, *_ in series for x in values})
    tops = [i[1] for *_, intervals in series for i in intervals if i]
    highest = max([*(v for _, _, values, _ in series for v in values), *tops, 0])
    legend = [(i, s[0]) for i, s in enumerate(series)]
    chart = Chart("lines", title, None, numbers(0, highest or 1), x_title, y_title, legend)
    place = {x: LEFT + chart.width * (i + 0.5) / max(len(xs), 1) for i, x in enumerate(xs)}
    for x in xs:
        chart.text(place[x], chart.bottom + 24, x)
    for s, (_, xs_of_line, values, intervals) in enumerate(series):
        points = [(place[x], chart.y(v)) for x, v in zip(xs_of_line, values, strict=True)]
        chart.curve(s, points)
        for (x, y), interval in zip(points, intervals, strict=True):
            chart.dot(s, x, y, 4)
            chart.whisker(x, y, interval)
    return chart.svg()


def front(points):
    """Which of the points (x, y) no other beats in one coordinate without losing in the other, both
    better where they are higher.

    >>> front([(1, 3), (2, 2), (1, 2)])
    [True, True, False]
    """
    return [not any((a >= x and b >= y) and (a > x or b > y) for a, b in points) for x, y in points]


def points_svg(points, title, x_title, y_title):
    """Points with intervals of y over a logarithmic x; the best for their x are joined by a line.

    ``points``: (name, x, y, interval or None) each, x > 0; both are better where they are higher.

    >>> from facebench.reports.rate_plots import points_svg
    >>> svg = points_svg([("a", 10, 0.9, (0.8, 0.95)), ("b", 90, 0.7, None)], "Cost", "x", "y")
    >>> svg.count("circle"), svg.count("whisker")
    (2, 1)
    """
    xs = [x for _, x, _, _ in points]
    ends = [end for _, _, y, interval in points for end in (interval or (y, y))]
    x_axis, y_axis = log_numbers(min(xs) / 1.3, max(xs) * 1.3), numbers(min(ends), max(ends))
    legend = [(i, f"{i + 1}  {name}") for i, (name, *_) in enumerate(points)]
    chart = Chart("points", title, x_axis, y_axis, x_title, y_title, legend)
    best = front([(x, y) for _, x, y, _ in points])
    kept = [(chart.x(x), chart.y(y)) for (_, x, y, _), b in zip(points, best, strict=True) if b]
    chart.curve(0, sorted(kept))
    for i, (_, x, y, interval) in enumerate(points):
        at = chart.x(x), chart.y(y)
        chart.whisker(*at, interval)
        chart.dot(i, *at)
        # A point at the top has its number beside it.
        chart.text(at[0] + 10, max(at[1] - 8, TOP + 14), i + 1, "start")
    return chart.svg("bar")


def _rows(name, title, axis, x_title, values, room):
    """A row for each of ``values``: (name, value, interval or None, hollow)."""
    height = TOP + room * len(values) + BOTTOM
    chart = Chart(name, title, axis, None, x_title, "", left=NAMES, height=height)
    for i, (label, value, interval, hollow) in enumerate(values):
        y = TOP + room * (i + 0.5)
        chart.text(NAMES - 12, y + 5, str(label)[:20], "end")
        chart.whisker(chart.x(value), y, interval, across=True)
        chart.dot(0, chart.x(value), y, hollow=hollow, value=_value(label, value, interval, axis))
    return chart


def _value(label, value, interval, axis):
    """What a point says when it is pointed at: rates in percent where the axis has them."""
    unit = 100 if axis.scale == "log" else 1
    ends = "[{:.4g}, {:.4g}]".format(*(unit * e for e in interval)) if interval else ""
    return f"{label}: {unit * value:.4g}{' %' if unit == 100 else ''} {ends}".rstrip()


def differences_svg(values, title, x_title):
    """Differences from zero as points with their intervals, one below the other.

    ``values``: (name, difference, interval or None) each.

    >>> svg = differences_svg([("a", 0.1, (0.05, 0.15)), ("b", -0.1, None)], "Differences", "x")
    >>> svg.count("<circle"), svg.count("whisker")  # one of them is the line at zero
    (2, 2)
    """
    ends = [0.0, *(v for _, v, _ in values), *(e for *_, i in values if i for e in i)]
    axis = numbers(min(ends), max(ends))
    # Every other label where they would run into each other.
    every = 1 if len(axis.ticks) <= 6 else 2
    axis = Axis(
        axis.low,
        axis.high,
        [(v, label if k % every == 0 else "") for k, (v, label) in enumerate(axis.ticks)],
    )
    chart = _rows("differences", title, axis, x_title, [(*v, False) for v in values], 46)
    chart.grid(chart.x(0), TOP, chart.x(0), chart.bottom, "whisker")
    return chart.svg()


def group_rates_svg(values, title, x_title):
    """Error rates of groups on a logarithmic axis, one below the other.

    ``values``: (name, rate, interval or None, whether it rests on few errors) each. A rate of 0
    lies on the left edge; what rests on few errors is hollow.

    >>> svg = group_rates_svg([("a", 0.01, (0.005, 0.02), False), ("b", 0, None, True)], "t", "FMR")
    >>> svg.count("<circle"), svg.count("hollow")
    (2, 1)
    """
    axis = log_rates([v for _, rate, i, _ in values for v in (rate, *(i or ()))])
    return _rows("grouprates", title, axis, x_title, values, 40).svg()


def fnmr_fmr_svg(values):
    """FNMR against FMR of groups at one threshold, both logarithmic. ``values``: (name, FMR, FNMR).

    >>> fnmr_fmr_svg([("a", 0.01, 0.1), ("b", 0.02, 0.2)]).count("circle")
    2
    """
    across, up = (log_rates([v[k] for v in values]) for k in (1, 2))
    chart = Chart("fnmrfmr", "FNMR against FMR of each group", across, up, "FMR", "FNMR")
    for i, (name, fmr, fnmr) in enumerate(values):
        x, y = chart.x(fmr), chart.y(fnmr)
        chart.dot(i, x, y)
        # Beside the point, on the side where there is room.
        right = x > WIDTH * 0.7
        chart.text(x - 11 if right else x + 11, y + 5, str(name)[:20], "end" if right else "start")
    return chart.svg()
