"""Thresholds for a wanted FMR, likelihood ratios, and how much data a statement takes."""

import os

from facebench import _eval
from facebench._eval import CalibrationOptions, PlanOptions, ThresholdReportOptions
from facebench._fields import Fields
from facebench.reports.page import Section, table_block, write_html, write_text
from facebench.reports.plots import tippett_svg


class _TextReport(Fields):
    def __init__(self, text, fields):
        super().__init__(fields)
        self._text = text

    def __repr__(self):
        return self._text.rstrip()

    def _repr_markdown_(self):
        return self._text


class ThresholdReport(_TextReport):
    """A recommended threshold and its test. Its fields are those of :meth:`to_dict`.

    ``threshold`` and ``safe`` (None where no bound holds); ``at_threshold`` and ``at_safe``: fmr,
    fnmr, gfar, gfrr, each with errors, comparisons, rate and interval.
    """


class PlanReport(_TextReport):
    """What a run can show and what more takes. Its fields are those of :meth:`to_dict`."""


class CalibrationReport(_TextReport):
    """A calibration and its test. Its fields are those of :meth:`to_dict`.

    ``cllr``, ``min_cllr``, ``calibration_error`` with their intervals; ``tippett``: log10_lr,
    genuine, impostor.
    """

    def __init__(self, text, fields, file):
        super().__init__(text, fields)
        self._file = file

    def save(self, path):
        """Write the calibration as JSON, for :func:`read_calibrator`."""
        write_text(path, self._file)

    def write_html(self, path):
        """Write the report as a page with a Tippett plot."""

        def row(name, value, interval):
            bounds = interval and f"{interval['low']:.4g} – {interval['high']:.4g}"
            return [name, (f"{value:.4g}", bounds)]

        tested = (
            "Tested on the comparisons that it was made on: errors look smaller than they are."
            if self.same
            else f"Tested on the run {self.tested_on}."
        )
        t = self.tippett
        svg = tippett_svg(t["log10_lr"], t["genuine"], t["impostor"])
        caption = (
            "Tippett plot: the share of either class with at least this likelihood ratio. Left of "
            "0 the genuine ones that are missing, and right of 0 the impostors, are misleading."
        )
        section = Section(
            f"Likelihood ratios by {self.calibrator['method']}",
            [
                {"kind": "text", "text": tested},
                table_block(
                    ["error", "value"],
                    [
                        row("Cllr, bits", self.cllr, self.cllr_interval),
                        row("min Cllr, bits", self.min_cllr, self.min_cllr_interval),
                        row(
                            f"expected calibration error, prior {self.prior:g}",
                            self.calibration_error,
                            self.calibration_error_interval,
                        ),
                    ],
                ),
                {"kind": "plots", "plots": [{"svg": svg, "caption": caption}]},
                table_block(
                    ["comparisons", "number", "misleading"],
                    [
                        ["genuine", self.genuine, self.misleading_genuine],
                        ["impostor", self.impostor, self.misleading_impostor],
                    ],
                ),
            ],
        )
        write_html(path, f"{self.protocol}: likelihood ratios", [section])


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
    found = _eval.threshold_report(
        os.fspath(run),
        os.fspath(test or ""),
        ThresholdReportOptions(**options),
        threads,
        progress,
    )
    return ThresholdReport(*found)


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
    report = CalibrationReport(
        *_eval.calibration_report(
            os.fspath(run), os.fspath(test or ""), CalibrationOptions(**options), threads, progress
        )
    )
    if save is not None:
        report.save(save)
    if out is not None:
        report.write_html(out)
    return report


def read_calibrator(path):
    """The calibration in a file of :func:`calibrate`: a ``ScoreCalibrator``, whose ``apply`` turns
    scores into natural-logarithm likelihood ratios. facebench.Error for any other file."""
    return _eval.read_calibrator(os.fspath(path))


def plan(run, **options):
    """What a run can show, and how many people and pairs it takes to show more.

    Keywords: ``fmr`` to bound, ``difference`` of two systems' FNMR to show, ``likeness`` of their
    errors, ``far``, ``level``, ``power``, ``track``. Comparisons that share people count for less:
    see :class:`facebench.metrics.VertexModel`.

    >>> print(plan("runs/lfw", fmr=1e-5))  # doctest: +SKIP
    """
    return PlanReport(*_eval.plan_report(os.fspath(run), PlanOptions(**options)))
