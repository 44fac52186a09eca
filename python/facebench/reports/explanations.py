"""How the causes of a difference of two runs are drawn."""

import math
import re

from facebench import _eval
from facebench.analysis.explanations import Explanation, follows
from facebench.reports.drawn import draws
from facebench.reports.page import Code, Section, Strong, bullets, p_text, table_block, text


@draws
def draw_explanation(found: Explanation):
    title = "{} against {}".format(*found.runs)
    causes = {"same": "all numbers are the same", **_eval.difference_kinds()}
    summary = [Strong(found.cause), f": {causes[found.cause]}."]
    summary += _least(found)
    of_cause = [d for d in found.differences if d["matters"] and d["kind"] == found.cause]
    if of_cause:
        summary += ["\n", "First: ", *_evidence(of_cause[0]), "."]
    if len(found.together) > 1 and found.cause not in ("same", "convention"):
        what = "; ".join(d["what"] for d in found.together)
        summary += ["\n", f"Not told apart, as they differ together: {what}."]
        if not found.shares:
            resolving = " makes the runs between, one factor at a time."
            summary += [" ", Code("--resolve"), resolving]
    sections = [Section(title, [text(*summary)], level=1)]
    for title, matters in (
        ("What differs", True),
        ("What differs without changing a number", False),
    ):
        listed = [d for d in _news(found.differences) if d["matters"] == matters]
        if evidence := [(f"{d['kind']}: ", *_evidence(d)) for d in listed]:
            sections.append(Section(title, [bullets(evidence)]))
    sections.append(Section("Numbers", _numbers(found)))
    if found.shares or found.unmade:
        sections.append(Section("Shares", _shares(found)))
    marked = [f"{side}: {w}" for side, warnings in found.warnings.items() for w in warnings]
    if marked:
        sections.append(Section("Warnings of the runs", [bullets(marked)]))
    return title, sections


def _numbers(found):
    a, b = found.runs
    two_rules = found.conventions[0] != found.conventions[1] or any(
        n["a"] != n["a_by_b"] or n["b_by_a"] != n["b"] for n in found.numbers
    )
    columns = ["rates in %", a, b, "difference", "interval", "p", "p (Holm)", "cause"]
    if two_rules:
        columns[4:4] = ["of it scores", "of it rules"]
        columns[3:3] = [f"{a} by {b}'s rules", f"{b} by {a}'s rules"]
    blocks = [table_block(columns, [_number_row(n, two_rules) for n in found.numbers])]
    tests = sum(n["paired"] is not None for n in found.numbers)
    if tests:
        blocks.append(
            text(
                "Interval and p: of the difference on "
                f"{found.comparisons['common']} common comparisons under {a}'s rules, both runs "
                "on the same resampled people. Where the interval contains 0, the difference "
                "cannot be told from chance. Of many numbers some lie outside their intervals "
                f"by chance: p (Holm) is adjusted for the comparisons made, {tests}, and a cause "
                f"is named where it is below {1 - found.level:.4g}."
            )
        )
        paired = [n["paired"] for n in found.numbers if n["paired"]]
        notes = {p["note"] or p["no_interval"] for p in paired} - {None}
        blocks += [text(f"Of some differences: {note}.") for note in sorted(notes)]
    for why in dict.fromkeys(n["not_paired"] for n in found.numbers if n.get("not_paired")):
        blocks.append(text(f"No interval of a difference: {why.rstrip('.')}."))
    return blocks


def _shares(found):
    factors = list(found.shares[0]["factors"]) if found.shares else []
    rows = []
    for s in found.shares:
        metric = s["metric"].partition("[")[0]
        cells = [s["difference"], *s["factors"].values(), s["together"]]
        title = f"{s['track']}: {_eval.metric_title(metric)}" + s["metric"][len(metric) :]
        rows.append([title, *(_points(metric, value) for value in cells)])
    a, b = found.runs
    note = (
        f"Of each difference what {a} loses when one factor is as in {b}, under {a}'s rules; "
        "the last column is what the factors do together beyond their sum."
    )
    missing = [f"Not made, {factor}: {why}" for factor, why in found.unmade.items()]
    columns = ["rates in %", "difference", *factors, "together"]
    return [table_block(columns, rows), text(note), *map(text, missing)]


def _points(metric, value):
    """A difference, of rates in points, with a sign; "" where there is none."""
    if value is None:
        return ""
    return ("" if math.copysign(1, value) < 0 else "+") + _eval.metric_text(metric, value)


def _least(found):
    """Of numbers that are not told from chance the least p-value, as parts of a text."""
    adjusted = [n for n in found.numbers if n["adjusted_p"] is not None]
    if found.cause not in ("undecided", "chance") or not adjusted:
        return []
    least = min(adjusted, key=lambda n: n["paired"]["p_value"])
    return [
        f" The least p is {p_text(least['paired']['p_value'])}, "
        f"{p_text(least['adjusted_p'])} with all {len(adjusted)} numbers together (Holm)."
    ]


def _news(differences):
    """Without what others lead to: other crops have other bytes, and other embeddings. Failed
    enrolments explain those of the failed alone."""
    causes = [d for d in differences if d["matters"] and not follows(d)]
    explained = any(
        d["kind"] in ("data", "images", "model") and not d["what"].startswith("failed enrolments")
        for d in causes
    )
    return [d for d in differences if not (explained and follows(d))]


def _evidence(difference):
    """What differs, and what either run recorded, as parts of a text."""
    a, b = (re.sub(r"\b([0-9a-f]{12})[0-9a-f]{52}\b", r"\1…", difference[side]) for side in "ab")
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
        row += ["none" if n.get("not_paired") else "", "", ""]
    elif paired["interval"] is None:
        row += ["undefined", "", ""]
    else:
        low, high = map(points, paired["interval"])
        row += [f"[{low}, {high}]", p_text(paired["p_value"]), p_text(n["adjusted_p"])]
    return [*row, n["cause"]]
