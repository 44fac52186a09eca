"""Error rates of a run by groups of people."""

import math
import os

from facebench import _eval
from facebench._eval import GroupRatesOptions, GroupReportOptions
from facebench.core._arguments import path_text
from facebench.reports.page import Report, Section, bounds, percent, plots, table_block, text
from facebench.reports.plots import matrix_svg
from facebench.reports.rate_plots import fnmr_fmr_svg, group_rates_svg


class GroupReport(Report):
    """Error rates by groups. Its fields are those of :meth:`to_dict`.

    ``groups``: name and number of people; ``fmr_cells`` and ``fnmr_cells``: of every pair of groups
    that is compared; ``measures``: inequality, each with an interval and the p of its permutation
    test. The page has the figures of NIST's FRTE: FMR by group, FNMR against FMR, and FMR of every
    pair of groups.
    """

    def __getitem__(self, measure):
        """The measure of that name."""
        return self._by_name("measures", measure)

    def _title(self):
        return f"{self.protocol} by {self.column}"

    def _sections(self):
        docs = {m["name"]: m["doc"] for m in _eval.group_measures()}
        cells = [
            {(c["first"], c["second"]): c for c in of} for of in (self.fmr_cells, self.fnmr_cells)
        ]
        within = [[_errors(of.get((g["name"], g["name"]))) for of in cells] for g in self.groups]
        rows = [
            [g["name"], g["people"], *fmr, *fnmr]
            for g, (fmr, fnmr) in zip(self.groups, within, strict=True)
        ]
        pairs = [
            [c["first"], c["second"], *_errors(c)]
            for c in self.fmr_cells
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
            for m in self.measures
        ]
        blocks = [
            *map(text, self._sentences()),
            plots(*self._figures(*cells)),
            table_block(["group", "people", *rates, "FNMR, %", "interval", "errors of"], rows),
            table_block(["impostors of", "and", *rates], pairs),
            text("* fewer than ten errors are expected: too few to judge."),
            table_block(["inequality", "value", "interval", "p"], measures),
            text(
                "p: the share of random assignments of the people to groups of these sizes that "
                "are at least as unequal. Below .05 the inequality is more than chance."
            ),
        ]
        return [Section(self._title(), blocks)]

    def _sentences(self):
        yield (
            f"Threshold {self.threshold:.6g}. {self.threshold_from} FMR {percent(self.fmr)} %, "
            f"FNMR {percent(self.fnmr)} % over all {self.comparisons} comparisons."
        )
        if self.left_out:
            yield f"{self.left_out} comparisons with a failed enrolment are left out."
        if self.not_matched:
            yield (
                f"Impostors are matched: {self.not_matched} impostor comparisons of two groups are "
                "left out. FMR is that of people of one group, and so is the FAR of a threshold "
                "that is chosen here. There is no permutation test."
            )
        if self.unknown:
            yield f"{self.unknown} people or photographs have no group: (unknown)."

    def _figures(self, fmr, fnmr):
        names = [g["name"] for g in self.groups]

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


def groups(run, attributes, *, threshold_from=None, out=None, threads=0, progress=None, **options):
    """FMR and FNMR of groups of people at one threshold, and how unequal they are.

    ``run``: a run folder whose track is a list of pairs. ``attributes``: a CSV file with a header;
    one column names people (or photographs), another gives their group. ``threshold_from``: a run
    folder on whose comparisons the threshold is chosen, so that it is tested on others. ``out``:
    also write a page with figures. Keywords:
    ``column``, ``key``, ``track``, ``threshold``, ``far``, ``impostors`` (of
    :class:`GroupReportOptions`);
    ``replicates``, ``level``, ``seed``, ``permutations`` (of
    :class:`facebench.metrics.GroupRatesOptions`).

    Sources: ISO/IEC 19795-10; Grother, NIST IR 8429, 2022.

    >>> report = groups("runs/lfw", "people.csv", column="sex", far=0.001)  # doctest: +SKIP
    >>> report["fmr_ratio"]["value"]  # doctest: +SKIP
    2.1
    """
    rates = {
        f: options.pop(f) for f in ("replicates", "level", "seed", "permutations") if f in options
    }
    where = os.fspath(run), os.fspath(attributes)
    how = GroupReportOptions(**options), GroupRatesOptions(**rates)
    chosen_on = path_text(threshold_from, "threshold_from")
    fields = _eval.group_report(*where, *how, chosen_on, threads, progress)
    return GroupReport(fields).with_page(out)
