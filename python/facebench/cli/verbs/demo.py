"""``facebench demo``: the main job on synthetic faces."""

from typing import Annotated

import typer

import facebench
from facebench.cli.app import app
from facebench.cli.common import Json, Out, Seed, Threads, out_path, parse_assignments, show, verb
from facebench.cli.progress import make_progress


@app.command("demo", epilog="Example: facebench demo --out runs/demo")
@verb
def demo_command(
    out: Out = None,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", help="NAME=VALUE of a demo option, e.g. train_people=50."),
    ] = None,
    seed: Seed = 0,
    threads: Threads = 0,
    json: Json = False,
) -> None:
    """The whole way on synthetic faces, in minutes. Detect, crop, train, embed, evaluate."""
    settings = parse_assignments(setting or [])
    result = facebench.demo(
        out_path(out, "demo"), seed=seed, threads=threads, progress=make_progress(), **settings
    )
    show(result, json)
