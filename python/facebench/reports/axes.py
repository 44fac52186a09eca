"""Axes of plots: linear, logarithmic, and of normal deviates, with their ticks."""

import math
from collections.abc import Callable
from statistics import NormalDist

# A scale is a growing function of the value.
SCALES: dict[str, Callable[[float], float]] = {
    "linear": float,
    "log": math.log,
    "normal": NormalDist().inv_cdf,
}


_SCARCE = 0.13  # of an axis: what a label of a rate takes where narrow screens enlarge it


class Axis:
    """The mapping of values to 0..1, and the ticks as (value, label)."""

    def __init__(self, low, high, ticks, scale="linear"):
        self.low, self.high, self.ticks, self.scale = low, high, ticks, scale
        self._scaled = SCALES[scale]
        self._ends = self._scaled(low), self._scaled(high)

    def __call__(self, value):
        # Outside of the axis lies what a scale may not know, such as the logarithm of 0.
        if value <= self.low:
            return 0.0
        if value >= self.high:
            return 1.0
        first, last = self._ends
        return (self._scaled(value) - first) / (last - first)

    def with_end(self):
        """Its lower end as a tick, and of the others, in their order, those for which there is
        room."""
        kept = [(self.low, f"{100 * self.low:.2g} %")]
        for value, label in self.ticks:
            # The label of the end stands at its left, the others below their ticks.
            if all(abs(self(value) - self(k)) >= _SCARCE for k, _ in kept[1:]) and (
                self(value) >= 0.75 * _SCARCE
            ):
                kept.append((value, label))
        return Axis(self.low, self.high, sorted(kept), self.scale)


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
    return Axis(10.0**-decades, 1, ticks, "log")


def log_rates_from(low):
    """A logarithmic axis from exactly ``low`` to 100 %, with that end, decades and, where there are
    few, 2 and 5 of each as ticks."""
    decades = math.ceil(-math.log10(low) - 1e-9)
    steps = (1, 5, 2) if decades <= 2 else (1,)
    marked = [m * 10.0**-d for m in steps for d in range(decades + 1)]
    return Axis(low, 1, [(v, percent(v)) for v in marked if low <= v <= 1], "log").with_end()


# Rates that are marked on an axis of normal deviates, those first that are rather left out last.
_DEVIATES = [
    *(10.0**-d for d in range(1, 10)), 0.5, 0.01, 0.2, 0.8, 0.02, 0.05, 0.3, 0.9, 0.95, 0.99, 0.002,
    0.005, 0.4, 0.6, 0.7, 0.98, 0.999,
]  # fmt: skip


def normal_rates(low, high):
    """An axis of normal deviates: the error rates of scores that are normally distributed lie on a
    straight line. Source: Martin et al., The DET curve in assessment of detection task performance,
    Eurospeech 1997."""
    ticks = [(v, percent(v)) for v in dict.fromkeys(_DEVIATES) if low <= v <= high]
    return Axis(low, high, ticks, "normal").with_end()


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
    return Axis(low, high, [(v, label(v)) for v in marked if low <= v <= high], "log")
