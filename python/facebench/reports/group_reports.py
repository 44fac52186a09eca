"""Error rates of a run by groups of people."""

import math
import os

from facebench import _eval
from facebench._eval import GroupRatesOptions, GroupReportOptions
from facebench._fields import Fields
from facebench.reports.page import Section, table_block, write_html
from facebench.reports.plots import matrix_svg
from facebench.reports.rate_plots import fnmr_fmr_svg, group_rates_svg


class GroupReport(Fields):
    """Error rates by groups. Its fields are those of :meth:`to_dict`.

    ``groups``: name and number of people; ``fmr_cells`` and ``fnmr_cells``: of every pair of groups
    that is compared; ``measures``: inequality, each with an interval and the p of its permutation
    test.
    """

    def __init__(self, text, fields):
        super().__init__(fields)
        self._text = text

    def __getitem__(self, measure):
        """The measure of that name."""
        for m in self.measures:
            if m["name"] == measure:
                return m
        raise KeyError(f"{measure!r}; there are: {', '.join(m['name'] for m in self.measures)}")

    def __repr__(self):
        return self._text.rstrip()

    def _repr_markdown_(self):
        return self._text

    def write_html(self, path):
        """Write the report as a page with the figures of NIST's FRTE: FMR by group, FNMR against
        FMR, and FMR of every pair of groups."""
        names = [g["name"] for g in self.groups]
        fmr = {(c["first"], c["second"]): c for c in self.fmr_cells}
        fnmr = {(c["first"], c["second"]): c for c in self.fnmr_cells}

        def within(cells):
            return [
                (n, c["rate"], _bounds(c["interval"]), c["few"])
                for n in names
                if (c := cells.get((n, n))) and c["rate"] is not None
            ]

        plots = []
        for name, cells in (("FMR", within(fmr)), ("FNMR", within(fnmr))):
            if cells:
                svg = group_rates_svg(cells, f"{name} by group", name)
                caption = f"{name} within each group; hollow: fewer than ten expected errors"
                plots.append({"svg": svg, "caption": caption})
        both = [
            (n, fmr[n, n]["rate"], fnmr[n, n]["rate"])
            for n in names
            if all(cells.get((n, n), {}).get("rate") is not None for cells in (fmr, fnmr))
        ]
        if both:
            caption = "FNMR against FMR of each group at this threshold"
            plots.append({"svg": fnmr_fmr_svg(both), "caption": caption})
        caption = (
            "FMR of every two groups, coloured by its logarithm; * fewer than ten expected errors"
        )
        plots.append({"svg": _matrix(names, fmr), "caption": caption})
        blocks = [{"kind": "text", "text": t} for t in self._sentences()]
        rows = [
            [m["doc"], *_value(m), "" if m["p"] is None else f"{m['p']:.3g}"] for m in self._named()
        ]
        blocks += [
            {"kind": "plots", "plots": plots},
            table_block(["inequality", "value", "p"], rows),
        ]
        write_html(path, f"{self.protocol} by {self.column}", [Section("Groups", blocks)])

    def _sentences(self):
        yield (
            f"Threshold {self.threshold:.6g}. {self.threshold_from} FMR {_percent(self.fmr)}, FNMR "
            f"{_percent(self.fnmr)} over all {self.comparisons} comparisons."
        )
        if self.not_matched:
            yield (
                f"Impostors are matched: {self.not_matched} impostor comparisons of two groups are "
                "left out, so FMR is that of people of one group."
            )
        if self.left_out:
            yield f"{self.left_out} comparisons with a failed enrolment are left out."
        if self.unknown:
            yield f"{self.unknown} people or photographs have no group."

    def _named(self):
        docs = {m["name"]: m["doc"] for m in _eval.group_measures()}
        return [{**m, "doc": docs[m["name"]]} for m in self.measures]


def _bounds(interval):
    return interval and (interval["low"], interval["high"])


def _percent(rate):
    return "undefined" if rate is None else f"{100 * rate:.4g} %"


def _value(measure):
    if measure["value"] is None:
        return ["undefined"]
    bounds = measure["interval"]
    text = f"{bounds['low']:.4g} – {bounds['high']:.4g}" if bounds else ""
    return [(f"{measure['value']:.4g}", text)]


def _matrix(names, cells):
    """FMR of every two groups as a heat map of its logarithm, stronger where it is higher."""
    found = [c["rate"] for c in cells.values() if c["rate"]]
    lowest = math.floor(math.log10(min(found, default=0.1)) - 0.01)

    def cell(a, b):
        return cells.get((a, b)) or cells.get((b, a))

    def strength(c):
        if c is None or c["rate"] is None:
            return None
        return (math.log10(c["rate"]) - lowest) / -lowest if c["rate"] else 0.0

    def text(c):
        if c is None or c["rate"] is None:
            return "no comparison"
        return f"{100 * c['rate']:.3g} %{' *' if c['few'] else ''}"

    table = [[cell(a, b) for b in names] for a in names]
    return matrix_svg(
        names,
        names,
        [[strength(c) for c in row] for row in table],
        title="FMR of every two groups",
        texts=[[text(c) for c in row] for row in table],
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
    report = GroupReport(
        *_eval.group_report(
            os.fspath(run),
            os.fspath(attributes),
            GroupReportOptions(**options),
            GroupRatesOptions(**rates),
            os.fspath(threshold_from or ""),
            threads,
            progress,
        )
    )
    if out is not None:
        report.write_html(out)
    return report
