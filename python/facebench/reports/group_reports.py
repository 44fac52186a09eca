"""How error rates by groups of people are drawn."""

import math

from facebench import _eval
from facebench.analysis.group_rates import GroupReport
from facebench.reports.drawn import draws
from facebench.reports.page import Section, bounds, percent, plots, table_block, text
from facebench.reports.plots import matrix_svg
from facebench.reports.rate_plots import fnmr_fmr_svg, group_rates_svg


@draws
def draw_group_report(report: GroupReport):
    title = f"{report.protocol} by {report.column}"
    docs = {m["name"]: m["doc"] for m in _eval.group_measures()}
    cells = [
        {(c["first"], c["second"]): c for c in of} for of in (report.fmr_cells, report.fnmr_cells)
    ]
    within = [[_errors(of.get((g["name"], g["name"]))) for of in cells] for g in report.groups]
    rows = [
        [g["name"], g["people"], *fmr, *fnmr]
        for g, (fmr, fnmr) in zip(report.groups, within, strict=True)
    ]
    pairs = [
        [c["first"], c["second"], *_errors(c)]
        for c in report.fmr_cells
        if c["first"] != c["second"]
    ]
    rates = ["FMR, %", "interval", "errors of"]
    measures = [
        [
            docs[m["name"]],
            "undefined" if m["value"] is None else f"{m['value']:.4g}",
            bounds(m["interval"]),
            "" if m["p"] is None else f"{m['p']:.3g}",
        ]
        for m in report.measures
    ]
    blocks = [
        *map(text, _sentences(report)),
        plots(*_figures(report, *cells)),
        table_block(["group", "people", *rates, "FNMR, %", "interval", "errors of"], rows),
        table_block(["impostors of", "and", *rates], pairs),
        text("* fewer than ten errors are expected: too few to judge."),
        table_block(["inequality", "value", "interval", "p"], measures),
        text(
            "p: the share of random assignments of the people to groups of these sizes that "
            "are at least as unequal. Below .05 the inequality is more than chance."
        ),
    ]
    return title, [Section(title, blocks)]


def _sentences(report):
    yield (
        f"Threshold {report.threshold:.6g}. {report.threshold_from} FMR {percent(report.fmr)} %, "
        f"FNMR {percent(report.fnmr)} % over all {report.comparisons} comparisons."
    )
    if report.left_out:
        yield f"{report.left_out} comparisons with a failed enrolment are left out."
    if report.not_matched:
        yield (
            f"Impostors are matched: {report.not_matched} impostor comparisons of two groups are "
            "left out. FMR is that of people of one group, and so is the FAR of a threshold "
            "that is chosen here. There is no permutation test."
        )
    if report.unknown:
        yield f"{report.unknown} people or photographs have no group: (unknown)."


def _figures(report, fmr, fnmr):
    names = [g["name"] for g in report.groups]

    def within(cells):
        return [
            (n, c["rate"], _ends(c["interval"]), c["few"])
            for n in names
            if (c := cells.get((n, n))) and c["rate"] is not None
        ]

    for name, cells in (("FMR", within(fmr)), ("FNMR", within(fnmr))):
        if cells:
            caption = f"{name} within each group; hollow: fewer than ten expected errors"
            yield group_rates_svg(cells, f"{name} by group", name), caption
    both = [
        (n, fmr[n, n]["rate"], fnmr[n, n]["rate"])
        for n in names
        if all(cells.get((n, n), {}).get("rate") is not None for cells in (fmr, fnmr))
    ]
    if both:
        yield fnmr_fmr_svg(both), "FNMR against FMR of each group at this threshold"
    yield (
        _matrix(names, fmr),
        "FMR of every two groups, coloured by its logarithm; * fewer than ten expected errors",
    )


def _errors(cell):
    """Rate, interval and errors of a cell of groups."""
    if cell is None:
        return ["", "", "0 of 0"]
    few = " *" if cell["few"] else ""
    return [
        percent(cell["rate"]),
        bounds(cell["interval"], 100),
        f"{cell['errors']}{few} of {cell['comparisons']}",
    ]


def _ends(interval):
    return interval and (interval["low"], interval["high"])


def _matrix(names, cells):
    """FMR of every two groups as a heat map of its logarithm, stronger where it is higher."""
    rates = [c["rate"] for c in cells.values() if c["rate"]]
    lowest = math.floor(math.log10(min(rates, default=0.1)) - 0.01)

    def cell(a, b):
        return cells.get((a, b)) or cells.get((b, a))

    def strength(c):
        if c is None or c["rate"] is None:
            return None
        return (math.log10(c["rate"]) - lowest) / -lowest if c["rate"] else 0.0

    def written(c):
        if c is None or c["rate"] is None:
            return "no comparison"
        return f"{100 * c['rate']:.3g} %{' *' if c['few'] else ''}"

    table = [[cell(a, b) for b in names] for a in names]
    return matrix_svg(
        names,
        names,
        [[strength(c) for c in row] for row in table],
        title="FMR of every two groups",
        texts=[[written(c) for c in row] for row in table],
    )
