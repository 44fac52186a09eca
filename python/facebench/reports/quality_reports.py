"""How error versus discard is drawn."""

from facebench.analysis.quality import QualityReport
from facebench.reports.drawn import draws
from facebench.reports.page import Section, bounds, percent, plots, table_block, text
from facebench.reports.plots import discard_svg


@draws
def draw_quality_report(found: QualityReport):
    title = f"{found.protocol} by quality"
    blocks = [
        text(
            f"Threshold {found.threshold:.6g}. {found.threshold_from} FNMR {percent(found.fnmr)} "
            f"% over {found.genuine} genuine comparisons of {found.samples} images.",
            "\n",
            found.convention,
        )
    ]
    for count, what in (
        (found.left_out, "with a failed enrolment"),
        (found.without_quality, "of an image without all qualities"),
    ):
        if count:
            blocks.append(text(f"{count} comparisons {what} are left out."))
    shown = [(m["name"], m["curve"]) for m in found.measures]
    if found.oracle["fnmr"]:
        shown.append(("oracle", found.oracle))
    svg = discard_svg(
        [(name, c["discarded"], c["fnmr"]) for name, c in shown],
        found.fnmr,
        2 * max(found.options["limits"]),
        found.options["discard"],
    )
    blocks.append(plots((svg, f"FNMR of what is left, track {found.track}")))
    rows = [
        [
            m["name"],
            f"{100 * a['limit']:g}",
            percent(a["value"]),
            bounds(a["interval"], 100),
            "" if a["gain"] is None else f"{a['gain']:.3f}",
        ]
        for m in found.measures
        for a in m["areas"]
    ]
    rows += [
        ["the oracle", f"{100 * a['limit']:g}", percent(a["value"]), "", "1"]
        for a in found.oracle["areas"]
    ]
    rows.append(["at random", "", percent(found.fnmr), "", "0"])
    columns = ["quality", "discarded up to, %", "mean FNMR, %", "interval", "gain"]
    blocks.append(table_block(columns, rows))
    if found.differences:
        rows = [
            [
                d["first"],
                d["second"],
                f"{100 * d['limit']:g}",
                "" if d["value"] is None else f"{100 * d['value']:.3g}",
                bounds(d["interval"], 100),
                "" if d["p"] is None else f"{d['p']:.3g}",
            ]
            for d in found.differences
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
    return title, [Section(title, blocks)]
