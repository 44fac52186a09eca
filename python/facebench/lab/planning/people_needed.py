"""How much data a statement takes."""

import os

from facebench import _eval
from facebench._eval import PlanOptions
from facebench.core._finding import Finding
from facebench.reports.drawn import draws
from facebench.reports.page import Section, percent, table_block, text


class PlanReport(Finding):
    """What a run can show and what more takes. Its fields are those of :meth:`to_dict`."""


def plan(run, **options):
    """What a run can show, and how many people and pairs it takes to show more.

    Keywords: ``fmr`` to bound, ``difference`` of two systems' FNMR to show, ``likeness`` of their
    errors, ``far``, ``level``, ``power``, ``track``. Comparisons that share people count for less:
    see the vertex model in docs/metrics.md.

    >>> print(plan("runs/lfw", fmr=1e-5))  # doctest: +SKIP
    """
    return PlanReport(_eval.plan_report(os.fspath(run), PlanOptions(**options)))


@draws
def draw_plan_report(report: PlanReport):
    title = f"{report.protocol}: how much data it takes"
    o = report.options
    likeness = (
        f", if the systems' errors correlate by {o['likeness']:g}"
        if o["likeness"] > 0
        else ". Systems that fail on the same comparisons need fewer (--likeness)"
    )
    rows = [
        [
            kind,
            m["comparisons"],
            m["people"],
            f"{m['correlation']:.3f}",
            _rounded(m["effective"]),
            percent(m["rate"]),
        ]
        for kind, m in (("impostor", report.impostor), ("genuine", report.genuine))
    ]
    columns = ["comparisons", "number", "people", "correlation", "independent", "error, %"]
    impostor, genuine = report.impostor, report.genuine
    shown = (
        f"show differences of {percent(report.smallest_difference)} %"
        if report.smallest_difference < 1
        else "cannot show a difference, be it of 100 %,"
    )
    blocks = [
        text(
            f"{report.protocol} can bound an FMR of {percent(report.bound)} % at best, and "
            f"{shown} in FNMR: its "
            f"{impostor['comparisons']} impostor comparisons count as "
            f"{_rounded(impostor['effective'])} independent ones, its "
            f"{genuine['comparisons']} genuine ones as {_rounded(genuine['effective'])}."
        ),
        table_block(columns, rows),
        text(
            f"To bound an FMR of {100 * o['fmr']:g} % at {100 * o['level']:g} %: "
            f"{_rounded(report.impostor_needed)} independent impostor comparisons without a "
            f"false match. That is {report.people_all_pairs:.0f} people of whom every two are "
            f"compared, or {report.people_disjoint:.0f} in one pair each."
        ),
        text(
            f"To show a difference of {100 * o['difference']:g} % in FNMR with a probability "
            f"of {100 * o['power']:g} %: {report.genuine_needed:.0f} genuine comparisons of "
            f"{report.people_genuine:.0f} people, as many of each as here{likeness}."
        ),
        text(
            "Correlation: of the errors of two comparisons that share a person, at a threshold "
            "with more errors."
        ),
    ]
    return title, [Section("", blocks)]


def _rounded(count):
    """Three digits, never as a power of ten.

    >>> _rounded(12345.6), _rounded(12.345)
    ('12300', '12.3')
    """
    return f"{count:.3g}" if count < 1000 else f"{float(f'{count:.3g}'):.0f}"
