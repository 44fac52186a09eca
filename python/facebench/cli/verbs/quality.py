"""``facebench quality``: what discarding images of low quality saves."""

from pathlib import Path

import facebench
from facebench.cli import common
from facebench.cli.options import argument, fields, keywords, option
from facebench.cli.verb import verb

Page = option("Also write a page with figures (.html).", Path)


@verb(
    "facebench quality runs/run-lfw-1 --measure sharpness --csv faces.csv --column score",
    lambda: [
        *keywords(
            facebench.quality,
            csv=option("CSV with a header: names of images, and columns of qualities.", Path),
            column=option("A column of --csv; may be repeated. Default: all.", list[str]),
            key=option("The column of --csv that names images. Default: the first."),
            measure=option(
                "box_size, eye_distance, sharpness or frontality, from the pack; norm, from the "
                "embeddings; ofiq, by python-ofiq, of the photographs. May be repeated. Default, "
                "without --csv: the four of the pack.",
                list[str],
            ),
            pack=option("The pack of --measure. Default: the run's own.", Path),
            embeddings=option("The embeddings of norm. Default: the run's own.", Path),
            embedding_column=option("The value of each embedding that is its quality.", int),
            reversed=option("A quality whose low values are good; may be repeated.", list[str]),
            track=option("Track of the run. Default: its only verification."),
            threshold_from=option("Choose the threshold on this run instead.", Path),
            out=Page,
            threads=common.Threads,
        ),
        *fields(facebench.metrics.DiscardOptions),
    ],
)
def quality(run: argument("A run folder.", Path), **options):
    """Error versus discard. The FNMR that is left when images of low quality are left out."""
    return facebench.quality(run, **options)
