"""Thresholds for a wanted FMR, and likelihood ratios."""

import os

from facebench import _eval
from facebench._eval import CalibrationOptions, ThresholdReportOptions
from facebench.core._arguments import path_text
from facebench.core._files import write_text
from facebench.core._finding import Finding


class ThresholdReport(Finding):
    """A recommended threshold and its test. Its fields are those of :meth:`to_dict`.

    ``threshold`` and ``safe`` (None where no bound holds); ``at_threshold`` and ``at_safe``: fmr,
    fnmr, gfar, gfrr, each with errors, comparisons, rate and interval.
    """


class CalibrationReport(Finding):
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
