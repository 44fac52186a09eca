"""``facebench eval``: embeddings or scores from anywhere under a protocol."""

from pathlib import Path

import facebench
from facebench.cli import common
from facebench.cli.options import fields, flag, keywords, option
from facebench.cli.verb import Answer, verb


@verb(
    "facebench eval lfw --embeddings lfw-m.h5 --root LFW",
    lambda: [
        *keywords(
            facebench.evaluate,
            embeddings=option("A file of embeddings: .h5, .npz, .npy, .csv or .parquet.", Path),
            scores=option(
                "CSV of scores: with names (see: facebench pairs), or in the order of the lists. "
                "Without --root: files that say which are genuine, such as genuine.txt "
                "impostor.txt, or a table with labels.",
                list[Path],
                metavar="FILE...",
            ),
            form=option("The form of such files (see: facebench list score-forms).", str),
            names=option("The names of an .npy file, one a line.", Path),
            labels=option(
                "Whose each embedding is, one a line (.txt, .npy), in place of --root (folders).",
                Path,
            ),
            distance=flag("--distance", "Low scores are alike (distances)."),
            allow_missing=flag(
                "--allow-missing",
                "Names of the lists without an embedding count as failed enrolments.",
            ),
            shard_files=option(
                "All images with all, shared out: what eval --shard wrote, of all shards.",
                list[Path],
                metavar="FILE...",
            ),
            shards=common.Shards,
            lists=common.Lists,
            exclude=common.Exclude,
            only=common.Only,
            limit=common.Limit,
            overwrite=common.Overwrite,
            threads=common.Threads,
        ),
        *fields(facebench.protocols.EvaluationOptions),
    ],
    several=("--scores", "--shard-files"),
)
def evaluate(
    protocol: common.Protocol,
    root: common.Root = None,
    columns: option(
        "Headers of the columns that are read, names first: of scores a,b,sim (or a,b,sim,label), "
        "of embeddings name,e0..e511.",
        metavar="A,B,C",
    ) = None,
    shard: common.Shard = "",
    workers: common.Workers = "",
    out: common.Out = None,
    **options,
):
    """Score and measure embeddings, or scores, from anywhere. Needs neither torch nor images."""
    if (options["embeddings"] is None) == (not options["scores"]):
        raise ValueError("give either --embeddings or --scores")
    name = common.shard_name(Path(protocol).stem, shard)
    how = {"root": root}
    if shard:
        out = common.out_path(out, "eval", name, ".h5")
        for field in ("scores", "form", "names", "labels", "distance", "shard_files", "overwrite"):
            if options.pop(field):
                raise ValueError(f"--{field.replace('_', '-')} does not go with --shard")
        options.pop("shards")
        if columns:
            raise ValueError("--columns does not go with --shard")
        facebench.protocols.evaluate_shard(protocol, out=out, shard=shard, **how, **options)
        return Answer({"path": str(out)}, f"{out}: shard {shard} of the comparisons")
    options["scores"] = options["scores"] or None
    options["shard_files"] = options["shard_files"] or None
    out = common.out_path(out, "eval", name)
    result = facebench.evaluate(
        protocol,
        out=out,
        columns=columns.split(",") if columns else None,
        workers=common.executor(workers),
        command=common.command_line(),
        **how,
        **options,
    )
    return common.result_answer(result, out)
