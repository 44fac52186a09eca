"""``facebench threshold``, ``calibrate`` and ``fuse``: from runs to a decision."""

from pathlib import Path

import facebench
from facebench.cli import common
from facebench.cli.options import argument, fields, keywords, option
from facebench.cli.verb import Answer, verb

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


@verb(
    "facebench fuse runs/run-lfw-1 runs/run-lfw-2 --out runs/fused",
    lambda: [
        *keywords(
            facebench.fuse,
            train=option(
                "Fit to these runs of the same systems on another list, in the same order; "
                "default: each fold to the others.",
                list[Path],
                metavar="RUN...",
            ),
            overwrite=common.Overwrite,
            threads=common.Threads,
        ),
        *fields(facebench.analysis.FusionOptions),
    ],
    several=("--train",),
)
def fuse(
    runs: argument("Run folders of one protocol on the same lists.", list[Path]),
    out: common.Out = None,
    **options,
):
    """Several systems as one: logistic regression of their scores. With what that gains."""
    out = common.out_path(out, "fuse", "-".join(run.resolve().name for run in runs))
    report = facebench.fuse(*runs, out=out, command=common.command_line(), **options)
    return Answer(
        report.to_dict() | {"path": str(out)},
        f"{report!r}\n\n{common.result_answer(report.result, out).text}",
    )
