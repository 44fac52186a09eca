"""``facebench eval``: embeddings or scores from anywhere under a protocol."""

from pathlib import Path

import facebench
from facebench.cli import common
from facebench.cli.options import fields, flag, keywords, option
from facebench.cli.progress import make_progress
from facebench.cli.verb import verb


@verb(
    "facebench eval lfw --embeddings lfw-m.h5 --root LFW",
    lambda: [
        *keywords(
            facebench.evaluate,
            embeddings=option("A file of embeddings: .h5, .npz, .npy, .csv or .parquet.", Path),
            scores=option(
                "CSV of scores: with names (see: facebench pairs), or in the order of the lists. "
                "Without --root: files that say which are genuine, such as genuine.txt "
                "impostor.txt.",
                list[Path],
                metavar="FILE...",
            ),
            form=option("The form of such files (see: facebench list score-forms).", str),
            names=option("The names of an .npy file, one a line.", Path),
            distance=flag("--distance", "Low scores are alike (distances)."),
            lists=common.Lists,
            exclude=common.Exclude,
            limit=common.Limit,
            overwrite=common.Overwrite,
            threads=common.Threads,
        ),
        *fields(facebench.protocols.EvaluationOptions),
    ],
    several=("--scores",),
)
def evaluate(
    protocol: common.Protocol,
    root: common.Root = None,
    columns: option(
        "With --scores: the headers of first, second and score, e.g. a,b,sim.", metavar="A,B,C"
    ) = None,
    out: common.Out = None,
    **options,
):
    """Score and measure embeddings, or scores, from anywhere. Needs neither torch nor images."""
    if (options["embeddings"] is None) == (not options["scores"]):
        raise ValueError("give either --embeddings or --scores")
    options["scores"] = options["scores"] or None
    out = common.out_path(out, "eval", Path(protocol).stem)
    result = facebench.evaluate(
        protocol,
        root=root,
        out=out,
        columns=columns.split(",") if columns else None,
        progress=make_progress(),
        command=common.command_line(),
        **options,
    )
    return common.result_answer(result, out)
