"""``facebench verify``: does a result come out again?"""

from pathlib import Path
from typing import Annotated

import typer

import facebench
from facebench.cli.app import app
from facebench.cli.common import EXIT_FAILED, Json, Threads, show, verb
from facebench.cli.progress import make_progress


@app.command("verify", epilog="Example: facebench verify runs/run-lfw-1 --root LFW")
@verb
def verify_command(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    root: Annotated[
        Path | None, typer.Option("--root", help="Where the data set lies now; default: as then.")
    ] = None,
    threads: Threads = 0,
    json: Json = False,
) -> None:
    """Compute a run's numbers again and check every input. Exit code 1 where anything differs."""
    result = facebench.verify(run, root=root or "", threads=threads, progress=make_progress())
    show(result, json)
    if not result.same:
        raise typer.Exit(EXIT_FAILED)
