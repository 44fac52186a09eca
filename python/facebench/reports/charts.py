"""What every plot of a page is drawn on: axes with a grid, marks, a legend, as inline SVG.

Plots take their colours from the page, light or dark. Series are told apart by dash as well as by
colour (classes c0 to c7, filled a0 to a7); text has the page's colour.
"""

import html as _html

_DASHES = ("", "7 4", "2 3", "9 3 2 3", "12 5", "4 2", "1 2", "10 3 3 3")
# Room for labels at the size that narrow screens get (the page enlarges them there).
LEFT, RIGHT, TOP, BOTTOM, LINE = 96, 22, 14, 66, 26
NAMES = 170  # room for names at the left
WIDTH, HEIGHT = 640, 400


def opened(name, title, height, width=WIDTH, data=""):
    """The start of a picture of that class; ``data``: attributes for the page's script."""
    # A page shows what is wider than other plots in a line of its own, at the width of a table.
    wide = f' wide" style="min-width: {0.7 * width:.0f}px' if width > WIDTH else ""
    return (
        f'<svg class="plot {name}{wide}" viewBox="0 0 {width:.0f} {height}" role="img"{data} '
        f'xmlns="http://www.w3.org/2000/svg"><title>{_html.escape(title)}</title>'
    )


class Chart:
    """A picture with axes; an axis that is None has no ticks, and the caller's own labels.

    ``left``: room at the left; ``height``: of the axes with the room for their labels; ``legend``:
    the number and name of each series, below; ``kind``: of its curves, step (y holds until the next
    x) or line, as the page's script reads values off them.
    """

    def __init__(
        self,
        name,
        title,
        x_axis,
        y_axis,
        x_title,
        y_title,
        legend=(),
        left=LEFT,
        height=HEIGHT,
        kind="",
    ):
        self.left, self.right, self.bottom = left, WIDTH - RIGHT, height - BOTTOM
        self.width, self.height = self.right - left, self.bottom - TOP
        self._x, self._y, self._legend, self._below = x_axis, y_axis, list(legend), height
        self._names = dict(self._legend)
        data = f' data-kind="{kind}"' if kind else ""
        sides = ("x", x_axis, x_title, left, self.right), ("y", y_axis, y_title, self.bottom, TOP)
        for letter, axis, words, first, last in sides:
            if axis is not None and kind:
                # What the script needs to turn a place into a value.
                unit = "%" if any("%" in label for _, label in axis.ticks) else ""
                data += (
                    f' data-{letter}="{axis.scale} {axis.low:.9g} {axis.high:.9g} {first} {last} '
                    f'{unit}" data-{letter}-title="{_html.escape(words)}"'
                )
        self.parts = [opened(name, title, height + LINE * len(self._legend), data=data)]
        for value, label in x_axis.ticks if x_axis else []:
            at = self.x(value)
            self.grid(at, TOP, at, self.bottom)
            # The last label ends at the picture's edge, a long first one near the axis.
            edge, long = x_axis(value) == 1, x_axis(value) == 0 and len(label) > 5
            place = WIDTH if edge else at + 20 if long else at
            self.text(place, self.bottom + 24, label, "end" if edge or long else "middle")
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
        joined = " ".join(f"{_short(x)},{_short(y)}" for x, y in points)
        name = _html.escape(str(self._names.get(number, "")))
        self.add(f'<polyline {_stroke(number)} data-name="{name}" points="{joined}"/>')

    def broken(self):
        """A mark that the y axis does not begin at zero."""
        x, y = self.left, self.bottom
        self.add(
            f'<path class="broken" d="M{x - 8} {y - 10}l16 -8M{x - 8} {y - 4}l16 -8">'
            "<title>This axis does not begin at zero.</title></path>"
        )

    def area(self, number, points):
        joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.add(f'<polygon class="area a{number % 8}" points="{joined}"/>')

    def bar(self, number, x, y, width, height):
        self.add(
            f'<rect class="bar a{number % 8}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
            f'height="{height:.1f}"/>'
        )

    def dot(self, number, x, y, radius=6, hollow=False, value=""):
        """A point; ``value``: what the page says of it when it is pointed at."""
        style = f"curve c{number % 8} hollow" if hollow else f"bar a{number % 8}"
        circle = f'<circle class="{style}" cx="{x:.1f}" cy="{y:.1f}" r="{radius}"'
        self.add(f"{circle}{_said(value)}")

    def line_at(self, value, label, row=0):
        """A line across the axes at a value of x, with a name at its head, in one of several
        rows."""
        x = self.x(value)
        self.add(f'<path class="level" d="M{x:.1f} {TOP}V{self.bottom:.1f}"/>')
        right = x > self.left + 0.8 * self.width
        anchor = "end" if right else "start"
        over = ' class="over"'  # it may cross the next line
        self.text(x + (-5 if right else 5), TOP + 15 + 20 * row, label, anchor, over)

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


def _short(place):
    """A place in a picture: two decimals, of which the page's script reads values off."""
    return f"{place:.2f}".rstrip("0").rstrip(".")


def _said(value):
    """The end of an element that says a value when it is pointed at."""
    text = _html.escape(value)
    return f' data-value="{text}"><title>{text}</title></circle>' if value else "/>"


def _stroke(number):
    dash = _DASHES[number % len(_DASHES)]
    return f'class="curve c{number % 8}" stroke-dasharray="{dash}"'
