"""Metrics of scores and labels with their interval, in one call."""

import functools
import inspect
from typing import Any

from facebench import _eval
from facebench.core._arguments import either_side, listed, of_kind

_HOW = """

``people``, a pair of sequences (names or numbers), says who is on either side of each comparison;
the answer is then a `Measured`: the same value, with its interval (people are drawn) and counts.
``options`` (:class:`BootstrapOptions`) and ``threads`` go with ``people``.

>>> from facebench.metrics import {name}
>>> people = ["a", "b", "a", "a", "b", "c"], ["a", "b", "a", "b", "c", "a"]
>>> cell = {name}([0.9, 0.8, 0.3, 0.4, 0.2, 0.1], [1, 1, 1, 0, 0, 0]{arguments}, people=people)
>>> cell.genuine, cell.impostor, cell.people, cell.level
(3, 3, 3, 0.95)
"""


class Measured:
    """A number with its interval and the counts behind it.

    ``value`` (also ``float(...)``), ``low``, ``high``, ``level``, ``method``, ``note`` (what the
    level does not say; "" where it is meant as it is), ``genuine`` and ``impostor`` comparisons,
    ``people``; of a TAR or an accuracy also the fields of what the function gives without
    ``people`` (``false_accepts``, ``threshold``, ...).
    """

    def __init__(self, name, of, interval, comparisons, people):
        self._of = of
        self.name = of_kind(name, str, "name")
        self.interval = interval = of_kind(interval, _eval.Interval, "interval")
        of_kind(comparisons, _eval.Comparisons, "comparisons")
        self.value = float(getattr(of, "value", of))
        self.low, self.high, self.level = interval.low, interval.high, interval.level
        self.method, self.note = interval.method, interval.note
        self.genuine, self.impostor = comparisons.genuine, comparisons.impostor
        self.people = people

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or isinstance(self._of, float):
            raise AttributeError(f"a {self.name} with its interval has no {name!r}")
        return getattr(self._of, name)

    def __float__(self):
        return self.value

    def __repr__(self):
        counts = f"{self.genuine} genuine + {self.impostor} impostor, {self.people} people"
        note = f"; {self.note}" if self.note else ""
        ends = f"[{self.low:.6g}, {self.high:.6g}]"
        return f"{self.name} = {self.value:.6g} {ends} ({counts}{note})"


def _numbered(people, comparisons):
    """Both sides' people as numbers from 0, and how many there are."""
    names = []
    for side in either_side(people):
        values = side.tolist() if hasattr(side, "tolist") else listed(side, "people")
        for k, one in enumerate(values):
            if one is None or one != one or not str(one).strip():
                raise ValueError(f"people: entry {k} of a side is missing")
        if len(values) != comparisons:
            raise ValueError(f"people: a side has {len(values)} of {comparisons} comparisons")
        names.append([_eval.compared_name(str(one)) for one in values])
    # In the order of the names, as evaluate(..., people=) has it: draws go by number, and must not
    # depend on the order of the rows.
    number = {one: k for k, one in enumerate(sorted({*names[0], *names[1]}))}
    return *([number[one] for one in side] for side in names), len(number)


def with_interval(name, *parameters, example=""):
    """The compiled metric ``name``, which with ``people`` gives a `Measured`. ``parameters``: names
    and defaults after scores (or Comparisons) and labels."""
    compiled = getattr(_eval, name)
    draw_again = getattr(_eval, f"{name}_statistic")

    @functools.wraps(compiled)
    def metric(*arguments, people=None, options=None, threads=0, **named):
        if people is None:
            if options is not None:
                raise ValueError("options are those of the interval: give people, too")
            return compiled(*arguments, **named)
        if named.get("weights") is not None:
            raise ValueError("weights go without people: the interval draws them")
        given, rest = list(arguments), dict(named)

        def take(*names):
            for one in names:
                if one in rest:
                    return rest.pop(one)
            return given.pop(0) if given else None

        first = take("scores", "comparisons")
        if not isinstance(first, _eval.Comparisons):
            labels = take("labels")
            folds = rest.pop("folds", None)
            if name == "accuracy" and folds is None and given:
                folds = given.pop(0)
            first = _eval.Comparisons(first, labels, folds)
        left, right, count = _numbered(people, len(first))
        of = compiled(first, *given, **rest)
        statistic = draw_again(first, *given, **rest)
        how = {} if options is None else {"options": options}
        interval = _eval.dyadic_bootstrap(statistic, left, right, threads=threads, **how)
        return Measured(name, of, interval, first, count)

    extra = [("people", None), ("options", None), ("threads", 0)]
    metric.__dict__["__signature__"] = inspect.Signature([
        *(inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=d)
          for n, d in (("scores", inspect.Parameter.empty), ("labels", None), *parameters)),
        *(inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY, default=d) for n, d in extra),
    ])  # fmt: skip
    metric.__doc__ = (compiled.__doc__ or "") + _HOW.format(name=name, arguments=example)
    metric.__module__, metric.__qualname__ = "facebench.metrics", name  # pickle finds it there
    return metric


_CONVENTION, _FOLDS, _WEIGHTS = ("convention", "exact"), ("folds", None), ("weights", None)

accuracy = with_interval("accuracy", _FOLDS, _CONVENTION, _WEIGHTS, example=", [0, 1, 0, 1, 0, 1]")
auc = with_interval("auc", _WEIGHTS)
eer = with_interval("eer", _WEIGHTS)
min_cllr = with_interval("min_cllr", _WEIGHTS)
tar_at_far = with_interval(
    "tar_at_far", ("far", None), _CONVENTION, _FOLDS, _WEIGHTS, example=", far=0.4"
)
