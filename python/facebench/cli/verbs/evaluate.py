"""``facebench eval``: embeddings or scores from anywhere under a protocol."""

from pathlib import Path

import facebench
from facebench.cli import common
from facebench.cli.options import fields, keywords, option
from facebench.cli.progress import make_progress
from facebench.cli.verb import verb


@verb(
    "facebench eval lfw --embeddings lfw-m.h5 --root LFW",
    lambda: [
        *keywords(
            facebench.evaluate,
            embeddings=option("HDF5 file of embeddings.", Path),
            scores=option("CSV of scores, in the order of the lists.", Path),
            lists=common.Lists,
            overwrite=common.Overwrite,
            threads=common.Threads,
        ),
        *fields(facebench.protocols.EvaluationOptions),
    ],
)
def evaluate(protocol: common.Protocol, root: common.Root, out: common.Out = None, **options):
    """Score and measure embeddings, or scores, from anywhere. Needs neither torch nor images."""
    if (options["embeddings"] is None) == (options["scores"] is None):
        raise ValueError("give either --embeddings or --scores")
    return facebench.evaluate(
        protocol,
        root=root,
        out=common.out_path(out, "eval", Path(protocol).stem),
        progress=make_progress(),
        command=common.command_line(),
        **options,
    )
