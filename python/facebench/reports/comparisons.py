"""Runs against one of them: their paired differences, as a section of a page."""

import math
import os

from facebench import _eval
from facebench.analysis.explanations import explain
from facebench.analysis.ranking import holm_adjusted
from facebench.analysis.runs import read_run
from facebench.core import Error
from facebench.reports.page import Section, heading, p_text, plots, table_block, text
from facebench.reports.paper import lower_is_better
from facebench.reports.rate_plots import differences_svg


def differences_section(runs, titles, baseline, **bootstrap):
    """Each run less the run ``baseline`` (its title) on the same draws of people, a table and a
    forest plot for each protocol that several of them have; None where there is none.

    The p-values are adjusted by Holm over all differences that the section shows. ``bootstrap``:
    replicates, seed, ... of `explain`.
    """
    section = Section(f"Differences to {baseline}")
    measured, reasons = [], []
    for first, run, title in _pairs(runs, titles, baseline):
        try:
            # Under the baseline's rules, so that all runs go by the same ones.
            measured.append((title, explain(first, run, **bootstrap)))
        except Error as error:
            reasons.append(f"{title} has no difference: {error}")
    shown = [
        (title, found, n)
        for title, found in measured
        for n in found.numbers
        if n["paired"] and n["paired"]["value"] is not None and "row" not in n
    ]
    p_values = [n["paired"]["p_value"] for _, _, n in shown]
    adjusted = holm_adjusted([float("nan") if p is None else p for p in p_values])
    rows = [(*one, p) for one, p in zip(shown, adjusted, strict=True)]
    for title, found in measured:
        own = [(n, p) for _, other, n, p in rows if other is found]
        if len(measured) > 1:
            section.blocks.append(heading(title))
        section.blocks += _blocks(title, baseline, found, own)
    section.blocks += map(text, reasons)
    if rows:
        section.blocks.append(text(_how(rows, measured)))
    return section if section.blocks else None


def _pairs(runs, titles, baseline):
    """(run of the baseline, another run, its title) of the same protocol."""
    known = {}
    for run, title in zip(runs, titles, strict=True):
        protocol = read_run(run)["content"]["protocol"]["id"]
        known[protocol, title] = os.fspath(run)
    return [
        (known[protocol, baseline], run, title)
        for (protocol, title), run in known.items()
        if title != baseline and (protocol, baseline) in known
    ]


def _blocks(title, baseline, found, rows):
    if not rows:
        reasons = dict.fromkeys(n["not_paired"] for n in found.numbers if n.get("not_paired"))
        why = "; ".join(reasons).rstrip(".") or "all numbers are the same"
        return [text(f"{title} and {baseline}: {why}, so no difference is shown.")]
    lines = []
    for n, p in rows:
        paired, metric = n["paired"], n["metric"]
        interval = paired["interval"]
        ends = interval and "[{}, {}]".format(*(_points(metric, -e) for e in reversed(interval)))
        name = f"{n['track']}: {_eval.metric_title(metric)}"
        # An explanation says the first run less the second; here the second is what is looked at.
        values = [_number(metric, n[side]) for side in ("a", "b_by_a")]
        why = f"none: {paired['no_interval'] or 'undefined'}"
        difference = _points(metric, -paired["value"])
        better = "not told apart"
        if p < 1 - found.level:
            better = baseline if (paired["value"] > 0) != lower_is_better(metric) else title
        p_texts = p_text(paired["p_value"]), p_text(p)
        lines.append([name, *values, difference, ends or why, *p_texts, better])
    columns = ["rates in %", baseline, title, "difference", "interval", "p", "p (Holm)", "better"]
    return [table_block(columns, lines), *_without(found), *_forests(title, baseline, rows)]


def _without(found):
    """The numbers that have no difference, by the reason."""
    titles: dict[str, list[str]] = {}
    for n in found.numbers:
        if why := n.get("not_paired", "").rstrip("."):
            name = f"{n['track']}: {_eval.metric_title(n['metric'])}"
            titles.setdefault(why, []).append(name)
    return [
        text(f"Without a difference, {why}: {', '.join(dict.fromkeys(of))}.")
        for why, of in titles.items()
    ]


def _forests(title, baseline, rows):
    """A forest plot of the rates of each track; what is not a rate has no place on its axis."""
    drawn = []
    rates = [n for n, _ in rows if _eval.metric_is_rate(n["metric"])]
    for track in dict.fromkeys(n["track"] for n in rates):
        values = [
            (
                _eval.metric_title(n["metric"]),
                -100 * n["paired"]["value"],
                n["paired"]["interval"] and [-100 * e for e in reversed(n["paired"]["interval"])],
            )
            for n in rates
            if n["track"] == track
        ]
        name = f"{title} less {baseline}, points of percent"
        drawn.append((differences_svg(values, "Paired differences", name), f"Track {track}"))
    return [plots(*drawn)] if drawn else []


def _how(rows, measured):
    level = measured[0][1].level
    told = sum(p < 1 - level for *_, p in rows)
    return (
        f"Both runs on the same draws of people; intervals at {100 * level:g} %, each for itself. "
        f"p (Holm) holds for all {len(rows)} differences shown together: by it {told} of them "
        f"{'is' if told == 1 else 'are'} told from chance at {100 * (1 - level):.4g} %. "
        "Two intervals of single runs may overlap although the runs differ; this table decides. "
        "The chance of a training, which another seed shows, is in none of these numbers."
    )


def _number(metric, value):
    return "none" if value is None else _eval.metric_text(metric, value)


def _points(metric, value):
    return ("" if math.copysign(1, value) < 0 else "+") + _eval.metric_text(metric, value)
