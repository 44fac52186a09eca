"""How thresholds and calibrations are drawn."""

from facebench.analysis.operating_points import CalibrationReport, ThresholdReport
from facebench.reports.drawn import draws
from facebench.reports.page import (
    Code,
    Section,
    Strong,
    bounds,
    percent,
    plots,
    table_block,
    text,
)
from facebench.reports.plots import tippett_svg


@draws
def draw_threshold_report(report: ThresholdReport):
    title = f"A threshold for an FMR of {100 * report.fmr:g} %, from {report.protocol}"
    weak = "" if report.reliable else " (fewer than ten are expected: a weak choice)"
    chosen = text(
        Strong(f"{report.threshold:.6g}"),
        f" has {report.false_matches} false matches among {report.impostor} impostor comparisons "
        f"of {report.people} people{weak}.",
    )
    level = f"{100 * report.level:g} %"
    if report.safe is None:
        safe = text(
            f"No threshold is safe: even without a false match the FMR may be "
            f"{percent(report.least_bound)} % (one-sided bound at {level}). ",
            Code("facebench plan"),
            " says how many people it takes.",
        )
    else:
        safe = text(
            Strong(f"{report.safe:.6g}"),
            f" is safe: its FMR is not above {100 * report.fmr:g} % by a one-sided bound at "
            f"{level} ({report.safe_false_matches} false matches here).",
        )
    itself = "the comparisons that it was chosen on", ": rates look better than they are."
    elsewhere = f"the run {report.tested_on}, on which it was not chosen."
    failed = percent(report.failed / max(report.samples, 1))
    rows = _tested("recommended", report.at_threshold)
    rows += _tested("safe", report.at_safe) if report.at_safe else []
    blocks = [
        chosen,
        safe,
        _tested_on(report.same, itself, elsewhere),
        text(
            f"{report.failed} of {report.samples} samples could not be enrolled (failure to enrol "
            f"and to acquire: {failed} %)."
        ),
        table_block(["threshold", "score", "rate", "%", "interval", "errors of"], rows),
        text(
            "FMR and FNMR: of the comparisons that were made. GFAR and GFRR (ISO/IEC 19795-1): "
            "of all, those with a failed sample rejected. Intervals draw people again."
        ),
    ]
    return title, [Section(title, blocks)]


@draws
def draw_calibration_report(report: CalibrationReport):
    title = f"Likelihood ratios of {report.protocol} by {report.calibrator['method']}"
    itself = "the comparisons that it was made on", ": errors look smaller than they are."
    t = report.tippett
    svg = tippett_svg(t["log10_lr"], t["genuine"], t["impostor"])
    caption = (
        "Tippett plot: the share of either class with at least this likelihood ratio. Left of "
        "0 the genuine ones that are missing, and right of 0 the impostors, are misleading."
    )
    rows = [
        [name, f"{report._fields[key]:.4g}", bounds(report._fields[f"{key}_interval"])]
        for name, key in (
            ("Cllr, bits", "cllr"),
            ("min Cllr, bits", "min_cllr"),
            (f"expected calibration error, prior {report.prior:g}", "calibration_error"),
        )
    ]
    rows.append(["calibration loss, bits", f"{report.cllr - report.min_cllr:.4g}", ""])
    blocks = [
        _tested_on(report.same, itself, f"the run {report.tested_on}."),
        table_block(["", "value", "interval"], rows),
        plots((svg, caption)),
        text(
            f"Misleading evidence: {report.misleading_genuine} of {report.genuine} genuine "
            f"comparisons have a likelihood ratio below 1, {report.misleading_impostor} of "
            f"{report.impostor} impostor comparisons one above 1. Intervals draw people again."
        ),
    ]
    return title, [Section(title, blocks)]


def _tested_on(same, itself, elsewhere):
    where, consequence = itself
    if same:
        return text("Tested on ", Strong(where), consequence)
    return text(f"Tested on {elsewhere}")


def _tested(name, tested):
    return [
        [
            name,
            f"{tested['threshold']:.6g}",
            rate.upper(),
            percent(tested[rate]["rate"]),
            "" if tested[rate]["rate"] is None else bounds(tested[rate]["interval"], 100),
            "{errors} of {comparisons}".format(**tested[rate]),
        ]
        for rate in ("fmr", "fnmr", "gfar", "gfrr")
    ]
