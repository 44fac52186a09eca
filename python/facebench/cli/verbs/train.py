"""``facebench train``: a network from a recipe and a pack."""

from pathlib import Path
from typing import Annotated

import typer

import facebench
from facebench.cli.app import app
from facebench.cli.common import (
    Device,
    Json,
    Out,
    Threads,
    check_device,
    out_path,
    parse_assignments,
    print_json,
    verb,
)
from facebench.cli.progress import make_progress


@app.command("train", epilog="Example: facebench train demo --pack faces.h5 --set epochs=4")
@verb
def train_command(
    recipe: Annotated[str, typer.Argument(help="A recipe's name or TOML file.")],
    pack: Annotated[Path, typer.Option("--pack", help="The images to train on.")],
    out: Out = None,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", help="KEY=VALUE of the recipe, e.g. lr=0.05 or network=small4."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the last checkpoint in --out.")
    ] = False,
    seed: Annotated[int | None, typer.Option("--seed", min=0, help="The recipe's seed.")] = None,
    threads: Threads = 0,
    device: Device = "cpu",
    json: Json = False,
) -> None:
    """Train any network with any loss by a recipe; the model ends up in --out.

    The number of compute threads is part of what decides the numbers, and is recorded.
    """
    settings = parse_assignments(setting or [])
    if seed is not None:
        settings["seed"] = seed
    if check_device(device) != "cpu":
        settings["device"] = device
    if resume and out is None:
        raise ValueError("--resume needs --out, the folder of the run to go on with")
    result = facebench.train(
        facebench.training.recipe(recipe, **settings),
        pack,
        out_path(out, "train", Path(recipe).stem),
        resume=resume,
        threads=threads,
        progress=make_progress(),
    )
    if json:
        print_json(result)
    else:
        print(f"{result['model']}: {result['epochs']} epochs, loss {result['loss']:.4g}")
