"""What becomes of a run's FNMR when samples of low quality are left out."""

import os

from facebench import _eval
from facebench._eval import DiscardOptions
from facebench._fields import Fields
from facebench.reports.page import Section, table_block, write_html
from facebench.reports.plots import discard_svg


class QualityReport(Fields):
    """Error versus discard of several qualities. Its fields are those of :meth:`to_dict`.

    ``measures``: of each quality its ``areas`` (limit, value, interval, oracle, gain) and ``curve``
    (discarded, fnmr); ``oracle``: a curve; ``differences`` of every two qualities.
    """

    def __init__(self, text, fields):
        super().__init__(fields)
        self._text = text

    def __getitem__(self, name):
        """The quality of that name."""
        for m in self.measures:
            if m["name"] == name:
                return m
        raise KeyError(f"{name!r}; there are: {', '.join(m['name'] for m in self.measures)}")

    def __repr__(self):
        return self._text.rstrip()

    def _repr_markdown_(self):
        return self._text

    def write_html(self, path):
        """Write the report as a page: curves, areas, differences."""
        write_html(path, f"{self.protocol}: error versus discard", [self._section()])

    def _section(self):
        def percent(value):
            return "" if value is None else f"{100 * value:.4g}"

        def bounds(interval):
            return interval and f"{percent(interval['low'])} – {percent(interval['high'])}"

        section = Section(
            "What quality saves",
            [
                {
                    "kind": "text",
                    "text": f"Threshold {self.threshold:.6g}. {self.threshold_from} FNMR "
                    f"{percent(self.fnmr)} % over {self.genuine} genuine comparisons of "
                    f"{self.samples} images. {self.convention}",
                }
            ],
        )
        for count, what in (
            (self.left_out, "comparisons with a failed enrolment are left out."),
            (self.without_quality, "comparisons of an image without all qualities are left out."),
        ):
            if count:
                section.blocks.append({"kind": "text", "text": f"{count} {what}"})
        shown = [(m["name"], m["curve"]) for m in self.measures]
        if self.oracle["fnmr"]:
            shown.append(("oracle", self.oracle))
        svg = discard_svg(
            [(name, c["discarded"], c["fnmr"]) for name, c in shown],
            self.fnmr,
            2 * max(self.options["limits"]),
            self.options["discard"],
        )
        caption = f"FNMR of what is left, track {self.track}"
        section.blocks.append({"kind": "plots", "plots": [{"svg": svg, "caption": caption}]})
        section.blocks.append(
            table_block(
                ["quality", "discarded up to, %", "mean FNMR, %", "gain"],
                [
                    [
                        m["name"],
                        100 * a["limit"],
                        (percent(a["value"]), bounds(a["interval"])),
                        "" if a["gain"] is None else round(a["gain"], 3),
                    ]
                    for m in self.measures
                    for a in m["areas"]
                ],
            )
        )
        note = "Gain: the share of what the oracle saves over random discards. Intervals draw "
        note += "people again. Equal qualities are discarded together."
        section.blocks.append({"kind": "text", "text": note})
        if self.differences:
            rows = [
                [
                    d["first"],
                    d["second"],
                    100 * d["limit"],
                    (percent(d["value"]), bounds(d["interval"])),
                    "" if d["p"] is None else f"{d['p']:.3g}",
                ]
                for d in self.differences
            ]
            section.blocks += [
                {"kind": "heading", "text": "Differences of mean FNMR"},
                table_block(["quality", "less", "up to, %", "difference, %", "p"], rows),
                {
                    "kind": "text",
                    "text": "Below 0 the first quality leaves fewer errors. p is not corrected for "
                    "the number of pairs.",
                },
            ]
        return section


def quality_report(
    run, qualities, *, track=None, threshold_from=None, threads=0, progress=None, **options
):
    """Error versus discard of a run; :func:`facebench.quality` gathers qualities from files.

    ``qualities``: {name: (names of samples, values)}, higher = better. ``threshold_from``: a run
    folder on whose comparisons the threshold is chosen. ``options``: see
    :class:`facebench.metrics.DiscardOptions`.
    """
    return QualityReport(
        *_eval.quality_report(
            os.fspath(run),
            qualities,
            track,
            DiscardOptions(**options),
            os.fspath(threshold_from or ""),
            threads,
            progress,
        )
    )
