"""``facebench threshold`` and ``calibrate``: from a run to a decision."""

from pathlib import Path

import facebench
from facebench.cli import common
from facebench.cli.options import argument, fields, keywords, option
from facebench.cli.verb import verb

Run = argument("A run folder.", Path)
Test = option("A run with other comparisons, to test on.", Path)


@verb(
    "facebench threshold runs/run-lfw_view1-1 --test runs/run-lfw-1 --fmr 0.001",
    lambda: [
        *keywords(facebench.threshold, test=Test, threads=common.Threads),
        *fields(facebench.analysis.ThresholdReportOptions),
    ],
)
def threshold(run: Run, **options):
    """A threshold for a wanted FMR, tested elsewhere. With its bound, FMR and FNMR there."""
    return facebench.threshold(run, **options)


@verb(
    "facebench calibrate runs/run-lfw_view1-1 --test runs/run-lfw-1 --save lr.json",
    lambda: [
        *keywords(
            facebench.calibrate,
            test=Test,
            save=option("Write the calibration here (.json).", Path),
            out=option("Also write a page with a Tippett plot (.html).", Path),
            threads=common.Threads,
        ),
        *fields(facebench.analysis.CalibrationOptions),
    ],
)
def calibrate(run: Run, **options):
    """Scores as likelihood ratios, tested elsewhere. Cllr, min Cllr and calibration error."""
    return facebench.calibrate(run, **options)
