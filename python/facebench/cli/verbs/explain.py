"""``facebench explain``: why two numbers differ, and whether a printed one can exist."""

from pathlib import Path
from typing import Annotated

import typer

import facebench
from facebench.cli.app import app
from facebench.cli.common import Json, Level, Replicates, Seed, Threads, show, verb
from facebench.cli.progress import make_progress


@app.command(
    "explain",
    epilog="Example: facebench explain runs/run-lfw-1 runs/run-lfw-2. "
    "Or: facebench explain --claim 99.64 --protocol lfw --against 99.53",
)
@verb
def explain_command(
    runs: Annotated[list[Path] | None, typer.Argument(help="Two run folders.")] = None,
    claim: Annotated[
        str, typer.Option("--claim", help="A printed number (99.63 is percent) in place of runs.")
    ] = "",
    protocol: Annotated[
        str, typer.Option("--protocol", help="The claim's protocol: a name or a TOML file.")
    ] = "",
    metric: Annotated[
        str, typer.Option("--metric", help="accuracy, far, tar@far=0.001 or rate.")
    ] = "accuracy",
    track: Annotated[str, typer.Option("--track", help="The protocol's track.")] = "",
    genuine: Annotated[
        int, typer.Option("--genuine", min=0, help="Genuine comparisons; 0 = the protocol's.")
    ] = 0,
    impostor: Annotated[
        int, typer.Option("--impostor", min=0, help="Impostor comparisons; 0 = the protocol's.")
    ] = 0,
    folds: Annotated[int, typer.Option("--folds", min=0, help="Folds; 0 = the protocol's.")] = 0,
    against: Annotated[
        str, typer.Option("--against", help="A second claim, to be told apart from the first.")
    ] = "",
    power: Annotated[
        float, typer.Option("--power", help="Wanted probability of telling two claims apart.")
    ] = 0.8,
    level: Level = 0.95,
    replicates: Replicates = 1000,
    seed: Seed = 0,
    threads: Threads = 0,
    json: Json = False,
) -> None:
    """Why two runs differ, or what a claim can be. Data, images, model, convention or chance."""
    if bool(runs) == bool(claim):
        raise ValueError("give either two run folders or --claim")
    if claim:
        finding = facebench.reports.check_claim(
            claim,
            protocol or None,
            against=against,
            metric=metric,
            track=track,
            genuine=genuine,
            impostor=impostor,
            folds=folds,
            level=level,
            power=power,
        )
    else:
        if len(runs) != 2:
            raise ValueError(f"two run folders are compared, {len(runs)} are given")
        finding = facebench.explain(
            *runs,
            level=level,
            replicates=replicates,
            seed=seed,
            threads=threads,
            progress=make_progress(),
        )
    show(finding, json)
