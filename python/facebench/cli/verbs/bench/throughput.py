"""``facebench bench load``, ``detect`` and ``eval``: how much of a thing is done in a second."""

from pathlib import Path
from typing import Annotated

import typer

import facebench
from facebench.cli.common import (
    Json,
    Out,
    Overwrite,
    Seed,
    verb,
)
from facebench.cli.progress import make_progress
from facebench.cli.verbs.bench.common import (
    Rounds,
    RowSeconds,
    SomeThreads,
    bench_app,
    finish,
    numbers,
)


@bench_app.command("load", epilog="Example: facebench bench load --files LFW --threads 1,2,4")
@verb
def load_command(
    pack: Annotated[Path | None, typer.Option("--pack", help="A pack; none: noise.")] = None,
    files: Annotated[
        Path | None, typer.Option("--files", help="A folder of images; none: synthetic faces.")
    ] = None,
    size: Annotated[int, typer.Option("--size", help="Side of the batches' images.")] = 112,
    batch: Annotated[int, typer.Option("--batch", help="Images of a batch.")] = 64,
    threads: SomeThreads = "1,0",
    seconds: RowSeconds = 2.0,
    rounds: Rounds = 5,
    out: Out = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Images loaded a second. Decoded, made into batches, out of files and packs."""
    result = facebench.timing.bench_load(
        pack=pack,
        files=files,
        size=size,
        batch=batch,
        threads=numbers(threads, "threads"),
        seconds=seconds,
        rounds=rounds,
        progress=make_progress(),
    )
    finish(result, out, "", json, overwrite)


@bench_app.command("detect", epilog="Example: facebench bench detect --detector mtcnn --threads 1")
@verb
def detect_command(
    detector: Annotated[str, typer.Option("--detector", help="Names, by commas.")] = "mtcnn,hog",
    sizes: Annotated[
        str, typer.Option("--sizes", help="WIDTHxHEIGHT of the images, by commas.")
    ] = "250x250,640x480,1920x1080",
    threads: SomeThreads = "1,0",
    seconds: RowSeconds = 4.0,
    rounds: Rounds = 5,
    out: Out = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Images a second of the detectors, by size."""
    result = facebench.timing.bench_detect(
        detectors=detector.split(","),
        sizes=sizes.split(","),
        threads=numbers(threads, "threads"),
        seconds=seconds,
        rounds=rounds,
        progress=make_progress(),
    )
    finish(result, out, "", json, overwrite)


@bench_app.command("eval", epilog="Example: facebench bench eval --templates 10000 --threads 1,2")
@verb
def eval_command(
    templates: Annotated[int, typer.Option("--templates", min=8, help="Embeddings.")] = 4000,
    pairs: Annotated[int, typer.Option("--pairs", min=100, help="Listed comparisons.")] = 200_000,
    dimension: Annotated[int, typer.Option("--dimension", min=1, help="Of an embedding.")] = 512,
    threads: SomeThreads = "1,0",
    seconds: RowSeconds = 4.0,
    rounds: Rounds = 5,
    seed: Seed = 0,
    out: Out = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Comparisons a second. Scoring lists and all pairs, TAR at FAR."""
    result = facebench.timing.bench_eval(
        templates=templates,
        pairs=pairs,
        dimension=dimension,
        threads=numbers(threads, "threads"),
        seconds=seconds,
        rounds=rounds,
        seed=seed,
        progress=make_progress(),
    )
    finish(result, out, "", json, overwrite)
