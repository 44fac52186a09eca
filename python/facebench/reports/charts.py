"""What every plot of a page is drawn on: axes with a grid, marks, a legend, as inline SVG.

Plots take their colours from the page, light or dark. Series are told apart by dash as well as by
colour (classes c0 to c7, filled a0 to a7); text has the page's colour.
"""

import html as _html
import math

_DASHES = ("", "7 4", "2 3", "9 3 2 3", "12 5", "4 2", "1 2", "10 3 3 3")
# Room for labels at the size that narrow screens get (the page enlarges them there).
LEFT, RIGHT, TOP, BOTTOM, LINE = 96, 22, 14, 66, 26
NAMES = 170  # room for names at the left
WIDTH, HEIGHT = 640, 400


class Axis:
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


def percent(rate):
    return f"{100 * rate:.6g} %"


def rates(low=0.0):
    """A linear axis from ``low`` to 100 %."""
    ticks = [low + (1 - low) * k / 5 for k in range(6)]
    return Axis(low, 1, [(v, percent(v)) for v in ticks])


def log_rates(values):
    """Decades down to the smallest positive value; zero lies on the lower end."""
    smallest = min((v for v in values if v > 0), default=0.1)
    decades = max(1, math.ceil(-math.log10(smallest) - 1e-9))
    every = 1 if decades <= 4 else 2
    ticks = [(10.0**-k, percent(10.0**-k) if k % every == 0 else "") for k in range(decades + 1)]
    return Axis(10.0**-decades, 1, ticks, log=True)


def numbers(low, high, label="{:.6g}".format):
    """A linear axis with round ticks around low to high."""
    if high <= low:
        low, high = low - 0.5, high + 0.5
    raw = (high - low) / 5
    step = 10.0 ** math.floor(math.log10(raw))
    step *= next(m for m in (1, 2, 5, 10) if m * step >= raw * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = [(k * step, label(k * step)) for k in range(first, last + 1)]
    return Axis(first * step, last * step, ticks)


def log_numbers(low, high, label="{:g}".format):
    """A logarithmic axis from low to high, with ticks at 1, 2 and 5 of each decade."""
    high = max(high, 2 * low) if high <= low else high
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    marked = [m * 10.0**d for d in decades for m in (1, 2, 5)]
    return Axis(low, high, [(v, label(v)) for v in marked if low <= v <= high], log=True)


def opened(name, title, height, width=WIDTH):
    """The start of a picture of that class."""
    # A page shows what is wider than other plots in a line of its own, at the width of a table.
    wide = f' wide" style="min-width: {0.7 * width:.0f}px' if width > WIDTH else ""
    return (
        f'<svg class="plot {name}{wide}" viewBox="0 0 {width:.0f} {height}" role="img" '
        f'xmlns="http://www.w3.org/2000/svg"><title>{_html.escape(title)}</title>'
    )


class Chart:
    """A picture with axes; an axis that is None has no ticks, and the caller's own labels.

    ``left``: room at the left; ``height``: of the axes with the room for their labels; ``legend``:
    the number and name of each series, below.
    """

    def __init__(
        self, name, title, x_axis, y_axis, x_title, y_title, legend=(), left=LEFT, height=HEIGHT
    ):
        self.left, self.right, self.bottom = left, WIDTH - RIGHT, height - BOTTOM
        self.width, self.height = self.right - left, self.bottom - TOP
        self._x, self._y, self._legend, self._below = x_axis, y_axis, list(legend), height
        self.parts = [opened(name, title, height + LINE * len(self._legend))]
        for value, label in x_axis.ticks if x_axis else []:
            at = self.x(value)
            self.grid(at, TOP, at, self.bottom)
            # The last label ends at the picture's edge.
            edge = x_axis(value) == 1
            self.text(WIDTH if edge else at, self.bottom + 24, label, "end" if edge else "middle")
        for value, label in y_axis.ticks if y_axis else []:
            at = self.y(value)
            self.grid(left, at, self.right, at)
            self.text(left - 8, at + 5, label, "end")
        self.text(left + self.width / 2, self.bottom + 50, x_title)
        if y_title:
            turned = f' transform="translate(22 {TOP + self.height / 2:.1f}) rotate(-90)"'
            self.text(0, 0, y_title, attributes=turned)

    def x(self, value):
        return self.left + self.width * self._x(value)

    def y(self, value):
        return TOP + self.height * (1 - self._y(value))

    def add(self, svg):
        self.parts.append(svg)

    def text(self, x, y, text, anchor="middle", attributes=""):
        if text != "":
            self.add(
                f'<text{attributes} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">'
                f"{_html.escape(str(text))}</text>"
            )

    def grid(self, x1, y1, x2, y2, style="grid"):
        self.add(f'<line class="{style}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>')

    def curve(self, number, points):
        joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.add(f'<polyline {_stroke(number)} points="{joined}"/>')

    def area(self, number, points):
        joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.add(f'<polygon class="area a{number % 8}" points="{joined}"/>')

    def bar(self, number, x, y, width, height):
        self.add(
            f'<rect class="bar a{number % 8}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
            f'height="{height:.1f}"/>'
        )

    def dot(self, number, x, y, radius=6, hollow=False):
        style = f"curve c{number % 8} hollow" if hollow else f"bar a{number % 8}"
        self.add(f'<circle class="{style}" cx="{x:.1f}" cy="{y:.1f}" r="{radius}"/>')

    def whisker(self, x, y, interval, across=False):
        """The interval of a value along the y axis, or ``across`` along the x axis; None: none."""
        if not interval:
            return
        low, high = map(self.x if across else self.y, interval)
        if across:
            drawn = f"M{low:.1f} {y:.1f}H{high:.1f}"
            drawn += "".join(f"M{end:.1f} {y - 5:.1f}v10" for end in (low, high))
        else:
            drawn = f"M{x:.1f} {low:.1f}V{high:.1f}"
            drawn += "".join(f"M{x - 4:.1f} {end:.1f}h8" for end in (low, high))
        self.add(f'<path class="whisker" d="{drawn}"/>')

    def svg(self, mark="line"):
        """The whole picture; ``mark``: what stands for a series in the legend, line or bar."""
        for i, (number, label) in enumerate(self._legend):
            row = self._below + LINE * i + 10
            if mark == "line":
                self.add(
                    f'<line {_stroke(number)} x1="{self.left}" y1="{row}" x2="{self.left + 34}" '
                    f'y2="{row}"/>'
                )
            else:
                self.bar(number, self.left, row - 8, 34, 14)
            self.text(self.left + 42, row + 5, str(label)[:56], "start")
        return "".join(self.parts) + "</svg>"


def _stroke(number):
    dash = _DASHES[number % len(_DASHES)]
    return f'class="curve c{number % 8}" stroke-dasharray="{dash}"'
