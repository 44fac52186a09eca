"""``facebench bench step`` and ``bench scale``: iterations of a network."""

from pathlib import Path
from typing import Annotated

import typer

import facebench
from facebench.cli.common import (
    Device,
    Json,
    Out,
    Overwrite,
    Seed,
    Threads,
    check_device,
    parse_assignments,
    verb,
)
from facebench.cli.progress import make_progress
from facebench.cli.verbs.bench.common import Rounds, bench_app, byte_size, finish, numbers

Skip = Annotated[int, typer.Option("--skip", min=0, help="First iterations, reported apart.")]
InputSize = Annotated[int, typer.Option("--size", help="Side of the input; 0: the network's own.")]


def input_size(side: int) -> dict[str, int]:
    """Of the network's options, the input's size; none where it is the network's own."""
    return {"height": side, "width": side} if side else {}


@bench_app.command(
    "step",
    epilog="Example: facebench bench step resnet50 --batch 16..512 --engine all",
)
@verb
def step_command(
    network: Annotated[list[str], typer.Argument(help="See: facebench list networks.")],
    batch: Annotated[
        str, typer.Option("--batch", help="Batch sizes: 16,32, or 16..512 by doubling.")
    ] = "16",
    engine: Annotated[
        str, typer.Option("--engine", help="Engines, e.g. facebench,pytorch; all: every one.")
    ] = "facebench",
    inference: Annotated[
        bool, typer.Option("--inference", help="Time inference in place of training.")
    ] = False,
    iterations: Annotated[
        int, typer.Option("--iterations", min=1, help="Of each round; the papers: 64 to 2000.")
    ] = 64,
    rounds: Rounds = 5,
    skip: Skip = 10,
    narrow: Annotated[
        float,
        typer.Option("--narrow", help="Go on until the mean is known to this share, e.g. 0.01."),
    ] = 0.0,
    seconds: Annotated[
        float, typer.Option("--seconds", help="About this long a row: fewer iterations if slow.")
    ] = 0.0,
    memory_limit: Annotated[
        str, typer.Option("--memory-limit", help="Address space of a step, e.g. 2GiB; 0: no limit.")
    ] = "0",
    limit: Annotated[
        float, typer.Option("--limit", help="Seconds after which a preparing engine is given up.")
    ] = 600.0,
    size: InputSize = 0,
    python: Annotated[
        list[str] | None,
        typer.Option("--python", help="ENGINE=PATH of an interpreter that has this engine."),
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="NAME=VALUE of the step: classes, loss, input, path, precision, ..."
        ),
    ] = None,
    threads: Threads = 0,
    device: Device = "cpu",
    seed: Seed = 0,
    out: Out = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Time of an iteration and of its parts. Any network, batch size, input and engine."""
    from facebench.engines import ENGINES

    engines = list(ENGINES) if engine == "all" else engine.split(",")
    result = facebench.timing.bench_step(
        network,
        batches=numbers(batch, "batch"),
        engines=engines,
        mode="inference" if inference else "training",
        iterations=iterations,
        rounds=rounds,
        skip=skip,
        narrow=narrow,
        seconds=seconds,
        memory_limit=byte_size(memory_limit),
        limit=limit,
        pythons={k: str(v) for k, v in parse_assignments(python or []).items()},
        network_options=input_size(size),
        threads=threads,
        device=check_device(device),
        seed=seed,
        progress=make_progress(),
        **parse_assignments(setting or []),
    )
    finish(result, out, network[0] if len(network) == 1 else "networks", json, overwrite)


@bench_app.command(
    "scale", epilog="Example: facebench bench scale resnet50 --processes 1,2,4 --batch 16"
)
@verb
def scale_command(
    network: Annotated[str, typer.Argument(help="See: facebench list networks.")],
    processes: Annotated[
        str, typer.Option("--processes", help="Numbers of processes: 1,2,4 or 1..8 by doubling.")
    ] = "1,2",
    scaling: Annotated[
        str, typer.Option("--scaling", help="weak, strong, or both by a comma.")
    ] = "weak,strong",
    batch: Annotated[
        int, typer.Option("--batch", min=1, help="Of each process (weak), of all (strong).")
    ] = 16,
    iterations: Annotated[int, typer.Option("--iterations", min=1, help="Of each round.")] = 32,
    rounds: Rounds = 5,
    skip: Skip = 10,
    size: InputSize = 0,
    accuracy: Annotated[
        float | None,
        typer.Option("--accuracy", help="Also: seconds until an epoch's training accuracy."),
    ] = None,
    recipe: Annotated[str, typer.Option("--recipe", help="What --accuracy trains.")] = "",
    pack: Annotated[Path | None, typer.Option("--pack", help="On what it trains.")] = None,
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="Trainings of each.")] = 3,
    setting: Annotated[
        list[str] | None, typer.Option("--set", help="NAME=VALUE of the step, as for bench step.")
    ] = None,
    threads: Annotated[
        int, typer.Option("--threads", min=0, help="Of each process; 0: an equal share.")
    ] = 0,
    device: Device = "cpu",
    out: Out = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """What more processes bring. Weak and strong scaling, equation 6, time to an accuracy."""
    result = facebench.timing.bench_scale(
        network,
        processes=numbers(processes, "processes"),
        scalings=scaling.split(","),
        batch=batch,
        iterations=iterations,
        rounds=rounds,
        skip=skip,
        network_options=input_size(size),
        accuracy=accuracy,
        recipe=recipe or None,
        data=pack,
        seeds=seeds,
        threads=threads,
        device=check_device(device),
        progress=make_progress(),
        **parse_assignments(setting or []),
    )
    finish(result, out, network, json, overwrite)
