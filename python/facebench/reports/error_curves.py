"""ROC and DET as they are drawn: which points, on which axes, with which numbers marked. Pages and
matplotlib (`facebench.plots`) draw the same."""

from dataclasses import dataclass
from typing import NamedTuple

from facebench.reports.axes import Axis, log_rates, log_rates_from, normal_rates, numbers, percent

AXES = ("normal", "log")  # of a DET curve

_BELOW = 0.05  # how far below what it shows a ROC's axis begins


class Mark(NamedTuple):
    """A TAR at a FAR that a table has. ``few``: it rests on a handful of errors."""

    far: float
    tar: float
    interval: tuple[float, float] | None = None
    few: bool = False


class ErrorCurve(NamedTuple):
    """A ROC curve: ``far`` ascending, ``band`` (far, low, high) of the TAR, how many comparisons it
    rests on (0: not known), and the numbers that are marked on it."""

    title: str
    far: list[float]
    tar: list[float]
    band: tuple | None = None
    genuine: int = 0
    impostor: int = 0
    marks: tuple[Mark, ...] = ()

    @property
    def lowest(self) -> float:
        """The lowest FAR that its comparisons can show."""
        positive = [float(f) for f in self.far if f > 0]
        return 1 / self.impostor if self.impostor else min(positive, default=1.0)


@dataclass
class Drawn:
    """A curve on its axes: a step function (each y holds until the next x), its band and marks."""

    title: str
    xs: list[float]
    ys: list[float]
    band: tuple[list[float], list[float], list[float]]  # x, low, high
    marks: list[Mark]  # with the place (far, tar) and the interval along y


def _from(curve, low):
    """The points of a curve from the FAR ``low`` on. It begins there with what it has reached:
    the way up to it is a stroke that no comparison stands for."""
    points = [(float(f), float(t)) for f, t in zip(curve.far, curve.tar, strict=True)]
    begin = max(low, curve.lowest)
    reached = [t for f, t in points if f <= begin * (1 + 1e-9)]
    start = [(begin, max(reached))] if reached else []
    return start + [(f, t) for f, t in points if f > begin * (1 + 1e-9)]


def _lowest(curves):
    return min(min((c.lowest for c in curves), default=0.1), 0.5)


def _shown(curve, low, flip):
    points = _from(curve, low)
    y = (lambda t: 1 - t) if flip else float
    far, lows, highs = ([float(v) for v in side] for side in (curve.band or ((), (), ())))
    lows, highs = ([y(v) for v in side] for side in ((highs, lows) if flip else (lows, highs)))
    marks = [
        m._replace(tar=y(m.tar), interval=m.interval and tuple(sorted(map(y, m.interval))))
        for m in curve.marks
        if m.far >= low * (1 - 1e-9)
    ]
    xs, ys = [f for f, _ in points], [y(t) for _, t in points]
    return Drawn(curve.title, xs, ys, (far, lows, highs), marks)


def roc_shown(curves) -> tuple[list[Drawn], Axis, Axis]:
    """ROC curves with the axes of FAR and TAR, both from the data: the FAR from one false accept,
    the TAR from five points below the lowest of what is shown."""
    curves = [ErrorCurve(*c) for c in curves]
    low = _lowest(curves)
    drawn = [_shown(c, low, flip=False) for c in curves]
    tars = [v for d in drawn for v in (*d.ys, *d.band[1], *_ends(d.marks))]
    return drawn, log_rates_from(low), numbers(max(min(tars, default=0.0) - _BELOW, 0), 1, percent)


def _ends(marks):
    return [v for m in marks for v in (m.tar, *(m.interval or ()))]


def det_shown(curves, axes="normal") -> tuple[list[Drawn], Axis, Axis]:
    """DET curves with the axes of FAR and FRR, from one error on: on normal deviates, or
    logarithmic. A curve ends where nobody genuine is refused any more."""
    curves = [ErrorCurve(*c) for c in curves]
    low = _lowest(curves)
    drawn = [_without_zero(_shown(c, low, flip=True)) for c in curves]
    rates = [v for d in drawn for v in (*d.ys, *d.band[2], *_ends(d.marks)) if v > 0]
    one = [1 / c.genuine for c in curves if c.genuine]
    least = min([*one, *(y for d in drawn for y in d.ys if y > 0)], default=0.001)
    if axes == "log":
        return drawn, log_rates_from(low), log_rates([least])
    highest = max(rates, default=least)
    up = next((v for v in (0.05, 0.1, 0.2, 0.5, 0.9) if v >= highest and v > least), 0.999)
    across = next((v for v in (0.5, 0.9) if v > low and all(_at(d, v) <= 0.2 for d in drawn)), 0.99)
    for d in drawn:
        _cut(d, across)
    return drawn, normal_rates(low, across), normal_rates(min(least, 0.04), up)


def _at(drawn, x):
    """What a curve is at an x."""
    return next((b for a, b in reversed(list(zip(drawn.xs, drawn.ys, strict=True))) if a <= x), 0.0)


def _cut(drawn, end):
    """Ends a curve and its band where the axis ends."""
    if drawn.xs and drawn.xs[-1] > end:
        drawn.xs, drawn.ys = (
            [x for x in drawn.xs if x < end] + [end],
            [y for x, y in zip(drawn.xs, drawn.ys, strict=True) if x < end] + [_at(drawn, end)],
        )
    band = list(zip(*drawn.band, strict=True))
    kept = [b for b in band if b[0] <= end]
    beyond = [(end, low, high) for x, low, high in band[len(kept) : len(kept) + 1]]
    drawn.band = tuple(map(list, zip(*kept, *beyond, strict=True))) or ([], [], [])


def _without_zero(drawn):
    """Without the points of no error: a DET curve holds its last error rate until there."""
    last = max((i for i, y in enumerate(drawn.ys) if y > 1e-12), default=-1)
    end = drawn.xs[last + 1 : last + 2] if last >= 0 else []
    drawn.xs = drawn.xs[: last + 1] + end
    drawn.ys = drawn.ys[: last + 1] + drawn.ys[last : last + 1] * len(end)
    drawn.marks = [m for m in drawn.marks if m.tar > 0]
    return drawn
