"""``facebench plan``, ``gallery`` and ``budget``: how much data a statement takes."""

from pathlib import Path

import facebench
from facebench.cli import common
from facebench.cli.options import argument, fields, keywords, option
from facebench.cli.verb import verb
from facebench.lab.planning import GalleryOptions, PlanOptions

Run = argument("A run folder.", Path)


@verb(
    "facebench plan runs/run-lfw-1 --fmr 1e-5 --difference 0.002",
    lambda: fields(PlanOptions),
)
def plan(run: Run, **options):
    """What a run can show, and what more takes. In people and pairs."""
    return facebench.plan(run, **options)


@verb(
    "facebench gallery runs/run-lfw-1 --extrapolate 10000 --out gallery.html",
    lambda: [
        *keywords(
            facebench.gallery,
            pack=option("The pack that says who is who. Default: the run's own.", Path),
            embeddings=option("The embeddings. Default: the run's own.", Path),
            out=option("Also write a page with a figure (.html).", Path),
            threads=common.Threads,
        ),
        *fields(GalleryOptions, "sizes", "draws", "extrapolate", "level", "seed"),
    ],
)
def gallery(
    run: Run,
    fpir: option("The FPIRs, with commas between.", metavar="X,X") = "0.01,0.1",
    **options,
):
    """FNIR at an FPIR by gallery size. Draws of the gallery; extrapolation is marked."""
    rates = [float(rate) for rate in fpir.split(",")]
    return facebench.gallery(run, fpir=rates, **options)


@verb(
    "facebench budget runs/base runs/seed-2 runs/seed-3 runs/hog --metric auc",
    lambda: keywords(
        facebench.budget,
        metric=option("accuracy, auc, eer or tar@far=X. Default: the run's first."),
        track=option("Track of the runs. Default: their only one."),
        replicates=option("Resampled data sets.", int, min=20, max=10_000_000),
        seed=common.Seed,
        threads=common.Threads,
    ),
)
def budget(
    runs: argument("Run folders; all but the first differ from it in one thing.", list[Path]),
    **options,
):
    """Where a number's uncertainty comes from. People, images, training, detector, crop."""
    return facebench.budget(runs, **options)
