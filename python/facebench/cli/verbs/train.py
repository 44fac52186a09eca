"""``facebench train``: a network from a recipe and a pack."""

from pathlib import Path
from typing import Annotated

import typer

import facebench
from facebench.cli.app import app
from facebench.cli.common import (
    Device,
    Exclude,
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


@app.command(
    "train",
    epilog="Example: facebench train demo --pack faces.h5 --set epochs=4. Several processes: "
    "torchrun --nproc-per-node 2 -m facebench train demo --pack faces.h5 --out RUN",
)
@verb
def train_command(
    recipe: Annotated[str, typer.Argument(help="A recipe's name or TOML file.")],
    pack: Annotated[Path, typer.Option("--pack", help="The images to train on.")],
    out: Out = None,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", help="KEY=VALUE of the recipe, e.g. lr=0.05 or network=small4."),
    ] = None,
    exclude: Exclude = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the last checkpoint in --out.")
    ] = False,
    checkpoint_every: Annotated[
        int, typer.Option("--checkpoint-every", min=0, help="Steps; 0: at the end of each epoch.")
    ] = 0,
    keep: Annotated[int, typer.Option("--keep", min=1, help="Checkpoints kept.")] = 2,
    log_every: Annotated[
        int, typer.Option("--log-every", min=1, help="Steps between lines of log.jsonl.")
    ] = 20,
    validate: Annotated[
        str, typer.Option("--validate", help="Protocol that judges the model after each epoch.")
    ] = "",
    validation_pack: Annotated[
        Path | None, typer.Option("--validation-pack", help="The images of its lists, packed.")
    ] = None,
    root: Annotated[
        str, typer.Option("--root", help="Its data set, as its authors unpack it.")
    ] = "",
    lists: Annotated[
        str, typer.Option("--lists", help="The folder of its lists, where not found in --root.")
    ] = "",
    validation_metric: Annotated[
        str,
        typer.Option("--validation-metric", help="As in metrics.json; left out: the first."),
    ] = "",
    validation_track: Annotated[
        str, typer.Option("--validation-track", help="Left out: the mean over tracks, or the first")
    ] = "",
    validate_every: Annotated[
        int, typer.Option("--validate-every", min=1, help="Epochs between validations.")
    ] = 1,
    seed: Annotated[int | None, typer.Option("--seed", min=0, help="The recipe's seed.")] = None,
    threads: Threads = 0,
    data_threads: Annotated[
        int, typer.Option("--data-threads", min=0, help="Threads that make batches.")
    ] = 1,
    device: Device = "cpu",
    deterministic: Annotated[
        bool,
        typer.Option("--deterministic", help="On CUDA: only kernels that repeat to the bit."),
    ] = False,
    json: Json = False,
) -> None:
    """Train any network with any loss by a recipe. The model ends up in --out.

    The number of compute threads is part of what decides the numbers, and is recorded.
    """
    settings = parse_assignments(setting or [])
    if seed is not None:
        settings["seed"] = seed
    if resume and out is None:
        raise ValueError("--resume needs --out, the folder of the run to go on with")
    if validate and validation_pack is None:
        raise ValueError("--validate needs --validation-pack, the images of the protocol's lists")
    training = facebench.training
    group, device = training.torchrun_process_group(check_device(device))
    first = group is None or group.rank() == 0  # the one that writes and shows
    judge = None
    if validate and first:
        judge = training.validation(
            validate,
            validation_pack,
            root=root,
            lists=lists,
            metric=validation_metric,
            track=validation_track,
            every=validate_every,
        )
    result = facebench.train(
        training.load_recipe(recipe, **settings),
        pack,
        out_path(out, "train", Path(recipe).stem) if first else Path("runs"),
        exclude=exclude,
        resume=resume,
        checkpoint_every=checkpoint_every,
        keep=keep,
        log_every=log_every,
        validation=judge,
        threads=threads,
        data_threads=data_threads,
        device=device,
        deterministic=deterministic,
        progress=make_progress() if first else None,
        process_group=group,
    )
    if not first:
        return
    if json:
        print_json(result)
        return
    print(f"{result['model']}: {result['epochs']} epochs, loss {result['loss']:.4g}")
    if exclude:
        print(f"left out by {exclude}: {result['excluded']} images")
    if result["best_score"] is not None:
        print(f"best epoch {result['best_epoch']}: score {result['best_score']:.6g}")
