"""Thresholds for a wanted FMR, and likelihood ratios."""

import os

from facebench import _eval
from facebench._eval import CalibrationOptions, ThresholdReportOptions
from facebench.core._arguments import path_text
from facebench.reports.page import (
    Code,
    Report,
    Section,
    Strong,
    bounds,
    percent,
    plots,
    table_block,
    text,
    write_text,
)
from facebench.reports.plots import tippett_svg


class ThresholdReport(Report):
    """A recommended threshold and its test. Its fields are those of :meth:`to_dict`.

    ``threshold`` and ``safe`` (None where no bound holds); ``at_threshold`` and ``at_safe``: fmr,
    fnmr, gfar, gfrr, each with errors, comparisons, rate and interval.
    """

    def _title(self):
        return f"A threshold for an FMR of {100 * self.fmr:g} %, from {self.protocol}"

    def _sections(self):
        weak = "" if self.reliable else " (fewer than ten are expected: a weak choice)"
        chosen = text(
            Strong(f"{self.threshold:.6g}"),
            f" has {self.false_matches} false matches among {self.impostor} impostor comparisons "
            f"of {self.people} people{weak}.",
        )
        level = f"{100 * self.level:g} %"
        if self.safe is None:
            safe = text(
                f"No threshold is safe: even without a false match the FMR may be "
                f"{percent(self.least_bound)} % (one-sided bound at {level}). ",
                Code("facebench plan"),
                " says how many people it takes.",
            )
        else:
            safe = text(
                Strong(f"{self.safe:.6g}"),
                f" is safe: its FMR is not above {100 * self.fmr:g} % by a one-sided bound at "
                f"{level} ({self.safe_false_matches} false matches here).",
            )
        itself = "the comparisons that it was chosen on", ": rates look better than they are."
        elsewhere = f"the run {self.tested_on}, on which it was not chosen."
        failed = percent(self.failed / max(self.samples, 1))
        rows = _tested("recommended", self.at_threshold)
        rows += _tested("safe", self.at_safe) if self.at_safe else []
        blocks = [
            chosen,
            safe,
            _tested_on(self.same, itself, elsewhere),
            text(
                f"{self.failed} of {self.samples} samples could not be enrolled (failure to enrol "
                f"and to acquire: {failed} %)."
            ),
            table_block(["threshold", "score", "rate", "%", "interval", "errors of"], rows),
            text(
                "FMR and FNMR: of the comparisons that were made. GFAR and GFRR (ISO/IEC 19795-1): "
                "of all, those with a failed sample rejected. Intervals draw people again."
            ),
        ]
        return [Section(self._title(), blocks)]


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


class CalibrationReport(Report):
    """A calibration and its test. Its fields are those of :meth:`to_dict`.

    ``cllr``, ``min_cllr``, ``calibration_error`` with their intervals; ``tippett``: log10_lr,
    genuine, impostor. The page has a Tippett plot.
    """

    def __init__(self, fields, file):
        super().__init__(fields)
        self._file = file

    def save(self, path):
        """Write the calibration as JSON, for :func:`read_calibrator`."""
        write_text(path, self._file)

    def _title(self):
        return f"Likelihood ratios of {self.protocol} by {self.calibrator['method']}"

    def _sections(self):
        itself = "the comparisons that it was made on", ": errors look smaller than they are."
        t = self.tippett
        svg = tippett_svg(t["log10_lr"], t["genuine"], t["impostor"])
        caption = (
            "Tippett plot: the share of either class with at least this likelihood ratio. Left of "
            "0 the genuine ones that are missing, and right of 0 the impostors, are misleading."
        )
        rows = [
            [name, f"{self._fields[key]:.4g}", bounds(self._fields[f"{key}_interval"])]
            for name, key in (
                ("Cllr, bits", "cllr"),
                ("min Cllr, bits", "min_cllr"),
                (f"expected calibration error, prior {self.prior:g}", "calibration_error"),
            )
        ]
        rows.append(["calibration loss, bits", f"{self.cllr - self.min_cllr:.4g}", ""])
        blocks = [
            _tested_on(self.same, itself, f"the run {self.tested_on}."),
            table_block(["", "value", "interval"], rows),
            plots((svg, caption)),
            text(
                f"Misleading evidence: {self.misleading_genuine} of {self.genuine} genuine "
                f"comparisons have a likelihood ratio below 1, {self.misleading_impostor} of "
                f"{self.impostor} impostor comparisons one above 1. Intervals draw people again."
            ),
        ]
        return [Section(self._title(), blocks)]


def threshold(run, test=None, *, threads=0, progress=None, **options):
    """A threshold for a wanted FMR, chosen on one run and tested on another.

    ``test``: a run folder with other comparisons; without it give ``same=True``. Keywords:
    ``fmr``, ``track``, ``same``, ``replicates``, ``level``, ``seed``. "safe" is the lowest
    threshold whose FMR is not above the wanted one by a one-sided bound that draws people again.
    Failed samples count in both ways of ISO/IEC 19795-1: FMR and FNMR leave them out, GFAR and GFRR
    reject them.

    >>> report = threshold("runs/lfw", "runs/mine", fmr=0.001)  # doctest: +SKIP
    >>> report.safe, report.at_safe["fnmr"]["rate"]  # doctest: +SKIP
    (0.41, 0.012)
    """
    options = ThresholdReportOptions(**options)
    where = os.fspath(run), path_text(test, "test")
    return ThresholdReport(_eval.threshold_report(*where, options, threads, progress))


def calibrate(run, test=None, *, save=None, out=None, threads=0, progress=None, **options):
    """Likelihood ratios of scores: a calibration made on one run and tested on another.

    ``test``: a run folder with other comparisons; without it give ``same=True``. ``save``: where
    the calibration is written as JSON, for :func:`read_calibrator`. ``out``: also write a page with
    a Tippett plot. Keywords: ``method`` ("logistic", "pav"), ``track``, ``same``, ``prior``,
    ``bins``, ``replicates``, ``level``, ``seed``.

    >>> report = calibrate("runs/view1", "runs/lfw", save="lr.json")  # doctest: +SKIP
    >>> read_calibrator("lr.json").apply([0.3, 0.6])  # doctest: +SKIP
    array([ 0.7, 11.2])
    """
    options, where = CalibrationOptions(**options), (os.fspath(run), path_text(test, "test"))
    report = CalibrationReport(*_eval.calibration_report(*where, options, threads, progress))
    if save is not None:
        report.save(save)
    return report.with_page(out)


def read_calibrator(path):
    """The calibration in a file of :func:`calibrate`: a ``ScoreCalibrator``, whose ``apply`` turns
    scores into natural-logarithm likelihood ratios. facebench.Error for any other file."""
    return _eval.read_calibrator(os.fspath(path))
