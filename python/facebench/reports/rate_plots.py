"""Plots of rates, times and differences: bars, lines and points with intervals, as inline SVG."""

import html as _html
import math

from facebench.reports.plots import (
    _BOTTOM,
    _DASHES,
    _HEIGHT,
    _LEFT,
    _LINE,
    _RIGHT,
    _TOP,
    _WIDTH,
    _Axis,
    _log_rates,
    _numbers,
    _open,
)


class _Frame:
    """Axes, grid and legend; what is drawn inside goes into ``parts``."""

    def __init__(self, name, title, x_title, y_title, legend, highest):
        self.bottom = _HEIGHT - _BOTTOM
        self.width, self.height = _WIDTH - _LEFT - _RIGHT, self.bottom - _TOP
        self._y = _numbers(0, highest or 1)
        self.parts = [_open(name, title, _HEIGHT + _LINE * len(legend))]
        for value, label in self._y.ticks:
            at = self.y(value)
            self.parts.append(
                f'<line class="grid" x1="{_LEFT}" y1="{at:.1f}" x2="{_WIDTH - _RIGHT}" '
                f'y2="{at:.1f}"/><text x="{_LEFT - 8}" y="{at + 5:.1f}" text-anchor="end">'
                f"{label}</text>"
            )
        self.text(_LEFT + self.width / 2, self.bottom + 50, x_title)
        self.parts.append(
            f'<text transform="translate(22 {_TOP + self.height / 2:.1f}) rotate(-90)" '
            f'text-anchor="middle">{_html.escape(y_title)}</text>'
        )
        self.legend = legend

    def y(self, value):
        return _TOP + self.height * (1 - self._y(value))

    def text(self, x, y, text, style="", anchor="middle"):
        self.parts.append(
            f'<text{style} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">'
            f"{_html.escape(str(text))}</text>"
        )

    def whisker(self, x, interval):
        if not interval:
            return
        low, high = (self.y(v) for v in interval)
        self.parts.append(
            f'<path class="whisker" d="M{x:.1f} {low:.1f}V{high:.1f}M{x - 4:.1f} {low:.1f}h8'
            f'M{x - 4:.1f} {high:.1f}h8"/>'
        )

    def close(self, mark):
        for i, label in enumerate(self.legend):
            row = _HEIGHT + _LINE * i + 10
            self.parts.append(mark(i, row))
            self.text(_LEFT + 42, row + 5, str(label)[:48], anchor="start")
        return "".join(self.parts) + "</svg>"


def bars_svg(groups, series, title, x_title, y_title):
    """Bars side by side, a group for each of ``groups``.

    ``series``: (name, values, intervals) each, one value a group; None where there is none, and
    then a text in place of the interval says why ("memory").

    >>> from facebench.reports import bars_svg
    >>> svg = bars_svg(["16"], [("a", [2.0], [(1.9, 2.1)])], "Times", "batch", "ms")
    >>> svg.count('class="bar a0"'), svg.count("whisker")
    (2, 1)
    """
    tops = [i[1] for _, _, bars in series for i in bars if i and not isinstance(i, str)]
    highest = max([*(v for _, values, _ in series for v in values if v is not None), *tops, 0])
    # Names of several words stand in two lines, and need no title below them.
    labels = [str(group).split(" ", 1) for group in groups]
    x_title = x_title if all(len(words) == 1 for words in labels) else ""
    frame = _Frame("bars", title, x_title, y_title, [s[0] for s in series], highest)
    room = frame.width / max(len(groups), 1)
    # Small enough not to run into each other where narrow screens enlarge the text (to 20).
    fitting = room * 1.7 / max((len(w) for words in labels for w in words), default=1)
    style = "" if fitting >= 20 else f' style="font-size:{max(min(fitting, 17), 8):.0f}px"'
    wide = room * 0.8 / max(len(series), 1)
    for g, words in enumerate(labels):
        left = _LEFT + room * (g + 0.1)
        for line, word in enumerate(words):
            frame.text(left + room * 0.4, frame.bottom + 24 + 20 * line, word, style=style)
        for s, (_, values, intervals) in enumerate(series):
            x, value, interval = left + wide * s, values[g], intervals[g]
            if value is None:
                if interval:
                    place = f"{x + wide / 2 + 5:.1f} {frame.bottom - 6}"
                    size = max(min(wide - 2, 15), 6)
                    frame.parts.append(
                        f'<text style="font-size:{size:.0f}px" '
                        f'transform="translate({place}) rotate(-90)">'
                        f"{_html.escape(str(interval))}</text>"
                    )
                continue
            top = frame.y(value)
            frame.parts.append(
                f'<rect class="bar a{s % 8}" x="{x + 1:.1f}" y="{top:.1f}" '
                f'width="{max(wide - 2, 1):.1f}" height="{frame.bottom - top:.1f}"/>'
            )
            frame.whisker(x + wide / 2, interval)

    def mark(i, row):
        return (
            f'<rect class="bar a{i % 8}" x="{_LEFT}" y="{row - 8}" width="34" height="14" rx="2"/>'
        )

    return frame.close(mark)


def lines_svg(series, title, x_title, y_title):
    """Lines with points; x values are equally spaced in the order of their size.

    ``series``: (name, xs, values, intervals) each.

    >>> from facebench.reports import lines_svg
    >>> lines_svg([("a", [1, 2], [10.0, 19.0], [None, None])], "t", "processes", "images/s").count(
    ...     "circle")
    2
    """
    xs = sorted({x for _, values, *_ in series for x in values})
    tops = [i[1] for *_, intervals in series for i in intervals if i]
    highest = max([*(v for _, _, values, _ in series for v in values), *tops, 0])
    frame = _Frame("lines", title, x_title, y_title, [s[0] for s in series], highest)
    place = {x: _LEFT + frame.width * (i + 0.5) / max(len(xs), 1) for i, x in enumerate(xs)}
    for x in xs:
        frame.text(place[x], frame.bottom + 24, x)
    for s, (_, own, values, intervals) in enumerate(series):
        points = " ".join(
            f"{place[x]:.1f},{frame.y(v):.1f}" for x, v in zip(own, values, strict=True)
        )
        frame.parts.append(f'<polyline {_stroke(s)} points="{points}"/>')
        for x, v, interval in zip(own, values, intervals, strict=True):
            frame.parts.append(
                f'<circle class="bar a{s % 8}" cx="{place[x]:.1f}" cy="{frame.y(v):.1f}" r="4"/>'
            )
            frame.whisker(place[x], interval)

    def mark(i, row):
        return f'<line {_stroke(i)} x1="{_LEFT}" y1="{row}" x2="{_LEFT + 34}" y2="{row}"/>'

    return frame.close(mark)


def _stroke(number):
    dash = _DASHES[number % len(_DASHES)]
    return f'class="curve c{number % 8}" stroke-dasharray="{dash}"'


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

    >>> from facebench.reports import points_svg
    >>> svg = points_svg([("a", 10, 0.9, (0.8, 0.95)), ("b", 90, 0.7, None)], "Cost", "x", "y")
    >>> svg.count("circle"), svg.count("whisker")
    (2, 1)
    """
    xs = [x for _, x, _, _ in points]
    ends = [end for _, _, y, interval in points for end in (interval or (y, y))]
    y_axis, x_axis = _numbers(min(ends), max(ends)), _log_numbers(min(xs), max(xs))
    bottom, inner = _HEIGHT - _BOTTOM, (_WIDTH - _LEFT - _RIGHT, _HEIGHT - _BOTTOM - _TOP)

    def place(x, y):
        return _LEFT + inner[0] * x_axis(x), _TOP + inner[1] * (1 - y_axis(y))

    parts = [_open("points", title, _HEIGHT + _LINE * len(points))]
    for value, label in x_axis.ticks:
        at = f"{place(value, 0)[0]:.1f}"
        parts.append(f'<line class="grid" x1="{at}" y1="{_TOP}" x2="{at}" y2="{bottom}"/>')
        parts.append(f'<text x="{at}" y="{bottom + 24}" text-anchor="middle">{label}</text>')
    for value, label in y_axis.ticks:
        at = place(xs[0], value)[1]
        parts.append(
            f'<line class="grid" x1="{_LEFT}" y1="{at:.1f}" x2="{_WIDTH - _RIGHT}" y2="{at:.1f}"/>'
        )
        parts.append(f'<text x="{_LEFT - 8}" y="{at + 5:.1f}" text-anchor="end">{label}</text>')
    parts.append(
        f'<text x="{_LEFT + inner[0] / 2:.1f}" y="{bottom + 50}" text-anchor="middle">'
        f"{_html.escape(x_title)}</text>"
    )
    parts.append(
        f'<text transform="translate(22 {_TOP + inner[1] / 2:.1f}) rotate(-90)" '
        f'text-anchor="middle">{_html.escape(y_title)}</text>'
    )
    best = front([(x, y) for _, x, y, _ in points])
    line = sorted(place(x, y) for (_, x, y, _), kept in zip(points, best, strict=True) if kept)
    joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in line)
    parts.append(f'<polyline {_stroke(0)} points="{joined}"/>')
    for i, (name, x, y, interval) in enumerate(points):
        at = place(x, y)
        if interval:
            low, high = (place(x, end)[1] for end in interval)
            parts.append(
                f'<path class="whisker" d="M{at[0]:.1f} {low:.1f}V{high:.1f}M{at[0] - 4:.1f} '
                f'{low:.1f}h8M{at[0] - 4:.1f} {high:.1f}h8"/>'
            )
        dot = f'<circle class="bar a{i % 8}" cx="{{}}" cy="{{}}" r="6"/>'
        parts.append(dot.format(f"{at[0]:.1f}", f"{at[1]:.1f}"))
        label_y = max(at[1] - 8, _TOP + 14)  # a point at the top has its number beside it
        parts.append(f'<text x="{at[0] + 10:.1f}" y="{label_y:.1f}">{i + 1}</text>')
        row = _HEIGHT + _LINE * i + 10
        label = _html.escape(f"{i + 1}  {name}"[:56])
        parts.append(
            f'<rect class="bar a{i % 8}" x="{_LEFT}" y="{row - 8}" width="14" height="14"/>'
        )
        parts.append(f'<text x="{_LEFT + 24}" y="{row + 5}">{label}</text>')
    return "".join(parts) + "</svg>"


def _log_numbers(low, high):
    """A logarithmic axis around low to high, with ticks at 1, 2 and 5 of each decade."""
    low, high = low / 1.3, high * 1.3
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    marked = [m * 10.0**d for d in decades for m in (1, 2, 5) if low <= m * 10.0**d <= high]
    return _Axis(low, high, [(v, f"{v:g}") for v in marked], log=True)


def _row(name, value, interval, few, x, left, y):
    """A name, and right of it a value with its interval, if there is one."""
    label = _html.escape(str(name)[:20])
    parts = [f'<text x="{left - 12}" y="{y + 5:.1f}" text-anchor="end">{label}</text>']
    if interval:
        low, high = (f"{x(v):.1f}" for v in interval)
        parts.append(
            f'<path class="whisker" d="M{low} {y:.1f}H{high}M{low} {y - 5:.1f}v10'
            f'M{high} {y - 5:.1f}v10"/>'
        )
    return "".join(parts) + _point(x(value), y, 0, few)


def differences_svg(values, title, x_title):
    """Differences from zero as points with their intervals, one below the other.

    ``values``: (name, difference, interval or None) each.

    >>> svg = differences_svg([("a", 0.1, (0.05, 0.15)), ("b", -0.1, None)], "Differences", "x")
    >>> svg.count("circle"), svg.count("whisker")  # one of them is the line at zero
    (2, 2)
    """
    ends = [0.0, *(v for _, v, _ in values), *(e for *_, i in values if i for e in i)]
    axis = _numbers(min(ends), max(ends))
    left, room = 170, 46
    width, bottom = _WIDTH - left - _RIGHT, _TOP + room * len(values)

    def x(value):
        return left + width * axis(value)

    parts = [_open("differences", title, bottom + 62)]
    # Every other label where they would run into each other.
    every = 1 if len(axis.ticks) <= 6 else 2
    for k, (value, label) in enumerate(axis.ticks):
        at = f"{x(value):.1f}"
        style = "whisker" if abs(value) < 1e-12 else "grid"
        parts.append(f'<line class="{style}" x1="{at}" y1="{_TOP}" x2="{at}" y2="{bottom}"/>')
        if k % every == 0:
            end = "end" if axis(value) == 1 else "middle"
            place = _WIDTH if axis(value) == 1 else at
            parts.append(f'<text x="{place}" y="{bottom + 24}" text-anchor="{end}">{label}</text>')
    middle = f"{left + width / 2:.1f}"
    parts.append(
        f'<text x="{middle}" y="{bottom + 50}" text-anchor="middle">{_html.escape(x_title)}</text>'
    )
    for i, (name, value, interval) in enumerate(values):
        parts.append(_row(name, value, interval, False, x, left, _TOP + room * (i + 0.5)))
    return "".join(parts) + "</svg>"


def group_rates_svg(values, title, x_title):
    """Error rates of groups on a logarithmic axis, one below the other.

    ``values``: (name, rate, interval or None, whether it rests on few errors) each. A rate of 0
    lies on the left edge; what rests on few errors is hollow.

    >>> svg = group_rates_svg([("a", 0.01, (0.005, 0.02), False), ("b", 0, None, True)], "t", "FMR")
    >>> svg.count("circle"), svg.count("hollow")
    (2, 1)
    """
    axis = _log_rates([v for _, rate, i, _ in values for v in (rate, *(i or ()))])
    left, room = 170, 40
    width, bottom = _WIDTH - left - _RIGHT, _TOP + room * len(values)

    def x(value):
        return left + width * axis(value)

    parts = [_open("grouprates", title, bottom + 62)]
    for value, label in axis.ticks:
        at = f"{x(value):.1f}"
        parts.append(f'<line class="grid" x1="{at}" y1="{_TOP}" x2="{at}" y2="{bottom}"/>')
        place = f'{_WIDTH}" text-anchor="end' if value == 1 else f'{at}" text-anchor="middle'
        parts.append(f'<text y="{bottom + 24}" x="{place}">{label}</text>')
    parts.append(
        f'<text x="{left + width / 2:.1f}" y="{bottom + 50}" text-anchor="middle">'
        f"{_html.escape(x_title)}</text>"
    )
    for i, (name, rate, interval, few) in enumerate(values):
        parts.append(_row(name, rate, interval, few, x, left, _TOP + room * (i + 0.5)))
    return "".join(parts) + "</svg>"


def _point(x, y, number, few):
    style = f"curve c{number % 8} hollow" if few else f"bar a{number % 8}"
    return f'<circle class="{style}" cx="{x:.1f}" cy="{y:.1f}" r="6"/>'


def fnmr_fmr_svg(values):
    """FNMR against FMR of groups at one threshold, both logarithmic. ``values``: (name, FMR, FNMR).

    >>> fnmr_fmr_svg([("a", 0.01, 0.1), ("b", 0.02, 0.2)]).count("circle")
    2
    """
    x_axis, y_axis = (_log_rates([v[k] for v in values]) for k in (1, 2))
    width, height = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
    bottom = _TOP + height
    parts = [_open("fnmrfmr", "FNMR against FMR of each group", _HEIGHT)]
    for value, label in x_axis.ticks:
        at = f"{_LEFT + width * x_axis(value):.1f}"
        place = f'{_WIDTH}" text-anchor="end' if value == 1 else f'{at}" text-anchor="middle'
        parts.append(
            f'<line class="grid" x1="{at}" y1="{_TOP}" x2="{at}" y2="{bottom}"/>'
            f'<text y="{bottom + 24}" x="{place}">{label}</text>'
        )
    for value, label in y_axis.ticks:
        at = _TOP + height * (1 - y_axis(value))
        parts.append(
            f'<line class="grid" x1="{_LEFT}" y1="{at:.1f}" x2="{_WIDTH - _RIGHT}" y2="{at:.1f}"/>'
            f'<text x="{_LEFT - 8}" y="{at + 5:.1f}" text-anchor="end">{label}</text>'
        )
    parts.append(
        f'<text x="{_LEFT + width / 2:.1f}" y="{bottom + 50}" text-anchor="middle">FMR</text>'
        f'<text transform="translate(22 {_TOP + height / 2:.1f}) rotate(-90)" '
        'text-anchor="middle">FNMR</text>'
    )
    for i, (name, fmr, fnmr) in enumerate(values):
        x, y = _LEFT + width * x_axis(fmr), _TOP + height * (1 - y_axis(fnmr))
        parts.append(_point(x, y, i, False))
        # Beside the point, on the side where there is room.
        away, anchor = (-11, "end") if x > _WIDTH * 0.7 else (11, "start")
        label = _html.escape(str(name)[:20])
        parts.append(
            f'<text x="{x + away:.1f}" y="{y + 5:.1f}" text-anchor="{anchor}">{label}</text>'
        )
    return "".join(parts) + "</svg>"
