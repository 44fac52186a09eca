"""``facebench eval``: embeddings or scores from anywhere under a protocol."""

from pathlib import Path
from typing import Annotated

import typer

import facebench
from facebench.cli.app import app
from facebench.cli.common import (
    Convention,
    FailedEnrolments,
    Fusion,
    Interval,
    Json,
    Level,
    Lists,
    Out,
    Overwrite,
    Replicates,
    Root,
    Seed,
    Strict,
    Threads,
    command_line,
    out_path,
    show,
    verb,
)
from facebench.cli.progress import make_progress


@app.command("eval", epilog="Example: facebench eval lfw --embeddings lfw-m.h5 --root LFW")
@verb
def eval_command(
    protocol: Annotated[str, typer.Argument(help="See: facebench list protocols; or a TOML file.")],
    root: Root,
    embeddings: Annotated[
        Path | None, typer.Option("--embeddings", help="HDF5 file of embeddings.")
    ] = None,
    scores: Annotated[
        Path | None, typer.Option("--scores", help="CSV of scores, in the order of the lists.")
    ] = None,
    out: Out = None,
    lists: Lists = None,
    convention: Convention = "",
    failed_enrolments: FailedEnrolments = "",
    fusion: Fusion = "",
    interval: Interval = "",
    replicates: Replicates = 1000,
    level: Level = 0.95,
    strict: Strict = False,
    overwrite: Overwrite = False,
    seed: Seed = 0,
    threads: Threads = 0,
    json: Json = False,
) -> None:
    """Score and measure embeddings, or scores, from anywhere. Needs neither torch nor images."""
    if (embeddings is None) == (scores is None):
        raise ValueError("give either --embeddings or --scores")
    result = facebench.evaluate(
        protocol,
        embeddings,
        scores=scores,
        root=root,
        lists=lists,
        out=out_path(out, "eval", Path(protocol).stem),
        convention=convention,
        failed_enrolments=failed_enrolments,
        fusion=fusion,
        interval=interval,
        replicates=replicates,
        level=level,
        strict=strict,
        overwrite=overwrite,
        seed=seed,
        threads=threads,
        progress=make_progress(),
        command=command_line(),
    )
    show(result, json)
