"""What becomes of a run's FNMR when samples of low quality are left out."""

import os

from facebench import _eval
from facebench._eval import DiscardOptions
from facebench.core._arguments import path_text
from facebench.reports.page import Report, Section, bounds, percent, plots, table_block, text
from facebench.reports.plots import discard_svg


class QualityReport(Report):
    """Error versus discard of several qualities. Its fields are those of :meth:`to_dict`.

    ``measures``: of each quality its ``areas`` (limit, value, interval, oracle, gain) and ``curve``
    (discarded, fnmr); ``oracle``: a curve; ``differences`` of every two qualities.
    """

    def __getitem__(self, name):
        """The quality of that name."""
        return self._by_name("measures", name)

    def _title(self):
        return f"{self.protocol} by quality"

    def _sections(self):
        blocks = [
            text(
                f"Threshold {self.threshold:.6g}. {self.threshold_from} FNMR {percent(self.fnmr)} "
                f"% over {self.genuine} genuine comparisons of {self.samples} images.",
                "\n",
                self.convention,
            )
        ]
        for count, what in (
            (self.left_out, "with a failed enrolment"),
            (self.without_quality, "of an image without all qualities"),
        ):
            if count:
                blocks.append(text(f"{count} comparisons {what} are left out."))
        shown = [(m["name"], m["curve"]) for m in self.measures]
        if self.oracle["fnmr"]:
            shown.append(("oracle", self.oracle))
        svg = discard_svg(
            [(name, c["discarded"], c["fnmr"]) for name, c in shown],
            self.fnmr,
            2 * max(self.options["limits"]),
            self.options["discard"],
        )
        blocks.append(plots((svg, f"FNMR of what is left, track {self.track}")))
        rows = [
            [
                m["name"],
                f"{100 * a['limit']:g}",
                percent(a["value"]),
                bounds(a["interval"], 100),
                "" if a["gain"] is None else f"{a['gain']:.3f}",
            ]
            for m in self.measures
            for a in m["areas"]
        ]
        rows += [
            ["the oracle", f"{100 * a['limit']:g}", percent(a["value"]), "", "1"]
            for a in self.oracle["areas"]
        ]
        rows.append(["at random", "", percent(self.fnmr), "", "0"])
        columns = ["quality", "discarded up to, %", "mean FNMR, %", "interval", "gain"]
        blocks.append(table_block(columns, rows))
        if self.differences:
            rows = [
                [
                    d["first"],
                    d["second"],
                    f"{100 * d['limit']:g}",
                    "" if d["value"] is None else f"{100 * d['value']:.3g}",
                    bounds(d["interval"], 100),
                    "" if d["p"] is None else f"{d['p']:.3g}",
                ]
                for d in self.differences
            ]
            columns = ["quality", "less", "up to, %", "difference, %", "interval", "p"]
            blocks += [
                table_block(columns, rows),
                text(
                    "A difference below 0: the first quality leaves fewer errors. p is not "
                    "corrected for the number of pairs."
                ),
            ]
        blocks.append(
            text(
                "Gain: the share of what the oracle saves over random discards. Equal qualities "
                "are discarded together. Intervals draw people again."
            )
        )
        return [Section(self._title(), blocks)]


def quality_report(
    run, qualities, *, track=None, threshold_from=None, threads=0, progress=None, **options
):
    """Error versus discard of a run; :func:`facebench.quality` gathers qualities from files.

    ``qualities``: {name: (names of samples, values)}, higher = better. ``threshold_from``: a run
    folder on whose comparisons the threshold is chosen. ``options``: see
    :class:`facebench.metrics.DiscardOptions`.
    """
    chosen_on = path_text(threshold_from, "threshold_from")
    what = (os.fspath(run), qualities, track, DiscardOptions(**options), chosen_on)
    return QualityReport(_eval.quality_report(*what, threads, progress))
