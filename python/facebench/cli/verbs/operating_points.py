"""``facebench threshold``, ``calibrate`` and ``plan``: from a run to a decision."""

from pathlib import Path

import facebench
from facebench.cli import common
from facebench.cli.options import argument, fields, option
from facebench.cli.progress import make_progress
from facebench.cli.verb import verb

Run = argument("A run folder.", Path)
Test = option("A run with other comparisons, to test on.", Path)


@verb(
    "facebench threshold runs/run-lfw_view1-1 --test runs/run-lfw-1 --fmr 0.001",
    lambda: fields(facebench.reports.ThresholdReportOptions),
)
def threshold(run: Run, test: Test = None, threads: common.Threads = 0, **options):
    """A threshold for a wanted FMR, tested elsewhere. With its bound, FMR and FNMR there."""
    return facebench.threshold(run, test, threads=threads, progress=make_progress(), **options)


@verb(
    "facebench calibrate runs/run-lfw_view1-1 --test runs/run-lfw-1 --save lr.json",
    lambda: fields(facebench.reports.CalibrationOptions),
)
def calibrate(
    run: Run,
    test: Test = None,
    save: option("Write the calibration here (.json).", Path) = None,
    out: option("Also write a page with a Tippett plot (.html).", Path) = None,
    threads: common.Threads = 0,
    **options,
):
    """Scores as likelihood ratios, tested elsewhere. Cllr, min Cllr and calibration error."""
    return facebench.calibrate(
        run, test, save=save, out=out, threads=threads, progress=make_progress(), **options
    )


@verb(
    "facebench plan runs/run-lfw-1 --fmr 1e-5 --difference 0.002",
    lambda: fields(facebench.reports.PlanOptions),
)
def plan(run: Run, **options):
    """What a run can show, and what more takes. In people and pairs."""
    return facebench.plan(run, **options)
