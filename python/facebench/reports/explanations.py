"""Why two runs differ."""

import math
import os

from facebench import _eval
from facebench.reports.page import Code, Report, Section, Strong, bullets, table_block, text
from facebench.reports.runs import read_run


class Explanation(Report):
    """Why two runs differ. Its fields are those of :meth:`to_dict`.

    ``cause``: "data", "images", "model", "convention", "chance", or "same" where all numbers are
    equal. ``differences``: what the runs recorded differently, in that order, each with evidence
    and whether it ``matters``. ``warnings``: what each run warns of, for example of a model whose
    pixels were assumed. ``numbers``: each number under both runs' rules, with the paired
    difference and its own cause. ``together``: the differences of data, images and model, where
    more than one matters: no number tells them apart. ``shares``: after ``resolve`` what each
    factor is of the differences.
    """

    def __getitem__(self, metric):
        """The number of that metric: of the first track that has it."""
        for number in self.numbers:
            if number["metric"] == metric:
                return number
        known = ", ".join(dict.fromkeys(n["metric"] for n in self.numbers))
        raise KeyError(f"{metric!r}; there are: {known}")

    def take_shares(self, middle_runs):
        """Work out ``shares`` of the runs between: a dict for each number with ``track``,
        ``metric``, ``difference``, what of it each of the ``factors`` is when changed alone, and
        what they do ``together`` beyond their sum. ``unmade``: why a factor's run is missing."""
        shares = []
        for n in self.numbers:
            name = n["metric"] + (f"[{n['row']},{n['column']}]" if "row" in n else "")
            a, b = n["a"], n["b_by_a"]
            if a is None or b is None:
                continue
            alone = {m["factor"]: m["numbers"].get((n["track"], name)) for m in middle_runs}
            factors = {f: None if value is None else a - value for f, value in alone.items()}
            known = None not in factors.values()
            together = a - b - sum(factors.values()) if known else None
            one = {"track": n["track"], "metric": name, "difference": a - b}
            shares.append(one | {"factors": factors, "together": together})
        unmade = {m["factor"]: m["why"] for m in middle_runs if m["why"]}
        self._fields |= {"shares": shares, "unmade": unmade}

    def _title(self):
        return "{} against {}".format(*self.runs)

    def _sections(self):
        causes = {"same": "all numbers are the same", **_eval.difference_kinds()}
        summary = [Strong(self.cause), f": {causes[self.cause]}."]
        of_cause = [d for d in self.differences if d["matters"] and d["kind"] == self.cause]
        if of_cause:
            summary += ["\n", "First: ", *_evidence(of_cause[0]), "."]
        if len(self.together) > 1 and self.cause not in ("same", "convention"):
            what = "; ".join(d["what"] for d in self.together)
            summary += ["\n", f"Not told apart, as they differ together: {what}."]
            if not self.shares:
                resolving = " makes the runs between, one factor at a time."
                summary += [" ", Code("--resolve"), resolving]
        sections = [Section(self._title(), [text(*summary)], level=1)]
        for title, matters in (
            ("What differs", True),
            ("What differs without changing a number", False),
        ):
            listed = [d for d in self.differences if d["matters"] == matters]
            if evidence := [(f"{d['kind']}: ", *_evidence(d)) for d in listed]:
                sections.append(Section(title, [bullets(evidence)]))
        sections.append(Section("Numbers", self._numbers()))
        if self.shares or self.unmade:
            sections.append(Section("Shares", self._shares()))
        marked = [f"{side}: {w}" for side, warnings in self.warnings.items() for w in warnings]
        if marked:
            sections.append(Section("Warnings of the runs", [bullets(marked)]))
        return sections

    def _numbers(self):
        a, b = self.runs
        two_rules = self.conventions[0] != self.conventions[1] or any(
            n["a"] != n["a_by_b"] or n["b_by_a"] != n["b"] for n in self.numbers
        )
        columns = ["rates in %", a, b, "difference", "interval", "p", "cause"]
        if two_rules:
            columns[4:4] = ["of it scores", "of it rules"]
            columns[3:3] = [f"{a} by {b}'s rules", f"{b} by {a}'s rules"]
        blocks = [table_block(columns, [_number_row(n, two_rules) for n in self.numbers])]
        tests = sum(n["paired"] is not None for n in self.numbers)
        if tests:
            blocks.append(
                text(
                    "Interval and p: of the difference on "
                    f"{self.comparisons['common']} common comparisons under {a}'s rules, both runs "
                    "on the same resampled people. Where the interval contains 0, the difference "
                    "cannot be told from chance. With many numbers some lie outside their "
                    "intervals by chance, so the heading counts a difference only where p times "
                    f"the number of comparisons made, {tests}, is below {1 - self.level:.4g} "
                    "(Bonferroni)."
                )
            )
            paired = [n["paired"] for n in self.numbers if n["paired"]]
            notes = {p["note"] or p["no_interval"] for p in paired} - {None}
            blocks += [text(f"Of some differences: {note}.") for note in sorted(notes)]
        return blocks

    def _shares(self):
        factors = list(self.shares[0]["factors"]) if self.shares else []
        rows = []
        for s in self.shares:
            metric = s["metric"].partition("[")[0]
            cells = [s["difference"], *s["factors"].values(), s["together"]]
            title = f"{s['track']}: {_eval.metric_title(metric)}" + s["metric"][len(metric) :]
            rows.append([title, *(_points(metric, value) for value in cells)])
        a, b = self.runs
        note = (
            f"Of each difference what {a} loses when one factor is as in {b}, under {a}'s rules; "
            "the last column is what the factors do together beyond their sum."
        )
        missing = [f"Not made, {factor}: {why}" for factor, why in self.unmade.items()]
        columns = ["rates in %", "difference", *factors, "together"]
        return [table_block(columns, rows), text(note), *map(text, missing)]


def _points(metric, value):
    """A difference, of rates in points, with a sign; "" where there is none."""
    if value is None:
        return ""
    return ("" if math.copysign(1, value) < 0 else "+") + _eval.metric_text(metric, value)


def _evidence(difference):
    """What differs, and what either run recorded, as parts of a text."""
    a, b = difference["a"], difference["b"]
    seen = [": ", Code(a), " against ", Code(b)] if a or b else []
    return [difference["what"], *seen]


def _number_row(n, two_rules):
    metric = n["metric"]

    def number(value):
        return "none" if value is None else _eval.metric_text(metric, value)

    def points(value):
        return _points(metric, value)

    title = _eval.metric_title(metric) + (f", {n['row']} - {n['column']}" if "row" in n else "")
    row = [f"{n['track']}: {title}", number(n["a"]), number(n["b"])]
    if two_rules:
        row += [number(n["a_by_b"]), number(n["b_by_a"])]
    both = n["a"] is not None and n["b"] is not None
    row.append(points(n["a"] - n["b"] if both else None))
    if two_rules:
        row += [points(n["by_scores"]), points(n["by_convention"])]
    paired = n["paired"]
    if paired is None:
        row += ["", ""]
    elif paired["interval"] is None:
        row += ["undefined", ""]
    else:
        low, high = map(points, paired["interval"])
        p = paired["p_value"]
        row += [f"[{low}, {high}]", f"{p:.3g}" if p else "below 1e-12"]
    return [*row, n["cause"]]


def explain(a, b, *, replicates=1000, level=0.95, seed=0, threads=0, progress=None):
    """Why the numbers of two run folders differ: data, images, model, convention or chance.

    Compares what the runs recorded and what their ``scores.h5`` hold, computes both numbers under
    both conventions, and, where both hold the same comparisons, gives the difference an interval
    and a p-value (``replicates``, ``level`` and ``seed`` of the bootstrap). Returns an
    :class:`Explanation`, which shows itself as a text.

    >>> import pathlib, tempfile, facebench
    >>> from facebench import explain
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> text = "2\\t1\\nAnn\\t1\\t2\\nAnn\\t1\\tBob\\t1\\nCat\\t1\\t2\\nCat\\t1\\tDan\\t1\\n"
    >>> _ = (folder / "pairs.txt").write_text(text)
    >>> for name, last in (("a", 0.2), ("b", 0.95)):
    ...     scores = [0.9, 0.1, 0.8, last]
    ...     _ = facebench.evaluate("lfw", scores=scores, root=folder, out=folder / name)
    >>> explanation = explain(folder / "a", folder / "b", replicates=50)
    >>> explanation["auc"]["a"], explanation["auc"]["b"]
    (1.0, 0.5)
    """
    options = _eval.BootstrapOptions(replicates=replicates, level=level, seed=seed)
    fields = _eval.explain(os.fspath(a), os.fspath(b), options, threads, progress)
    fields["warnings"] = {
        side: read_run(run)["content"].get("warnings", []) for side, run in (("a", a), ("b", b))
    }
    together = [d for d in fields["differences"] if d["matters"] and not _follows(d)]
    together = [d for d in together if d["kind"] in ("data", "images", "model")]
    fields |= {"together": together if len(together) > 1 else [], "shares": [], "unmade": {}}
    return Explanation(fields)


def _follows(difference):
    """Whether it is what others lead to: other crops, and embeddings of them."""
    return difference["what"].startswith(("the crops themselves", "the embeddings"))
