"""``facebench bench``: the papers' timing methods."""

from pathlib import Path
from typing import Annotated

import typer

import facebench
from facebench.cli.app import app
from facebench.cli.common import (
    Device,
    Json,
    Out,
    Overwrite,
    Seed,
    Threads,
    check_device,
    command_line,
    out_path,
    parse_assignments,
    print_json,
    verb,
)
from facebench.cli.progress import make_progress

bench_app = typer.Typer(
    no_args_is_help=True, help="Time steps, loading, detection, scoring.", rich_markup_mode=None
)
app.add_typer(bench_app, name="bench")

Rounds = Annotated[int, typer.Option("--rounds", min=1, help="Repeats, in turns.")]
SomeThreads = Annotated[
    str, typer.Option("--threads", help="Numbers of threads to try, e.g. 1,2,4; 0: all processors.")
]


def numbers(text: str, what: str) -> list[int]:
    """``"16,32"`` as integers; ``"16..512"`` doubles from one to the other.

    >>> numbers("16..128", "batch"), numbers("1,0", "threads")
    ([16, 32, 64, 128], [1, 0])
    """
    first, dots, last = text.partition("..")
    try:
        if not dots:
            return [int(part) for part in text.split(",")]
        result = [int(first)]
        while result[-1] > 0 and result[-1] * 2 <= int(last):
            result.append(result[-1] * 2)
        return result
    except ValueError:
        raise ValueError(
            f"--{what}: '{text}' is not a list of numbers (16,32 or 16..512)"
        ) from None


def byte_size(text: str) -> int:
    """``"2GiB"`` in bytes.

    >>> byte_size("1.5GiB"), byte_size("0")
    (1610612736, 0)
    """
    units = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
    unit = next((u for u in units if text.endswith(u)), "")
    try:
        return int(float(text.removesuffix(unit)) * units.get(unit, 1))
    except ValueError:
        raise ValueError(f"'{text}' is not a size (e.g. 512MiB, 2GiB)") from None


def finish(result: dict, out: Path | None, name: str, json: bool, overwrite: bool) -> None:
    """Writes the run folder and shows the tables."""
    kind = result["kind"]
    folder = out_path(out, f"bench-{kind}", name)
    facebench.timing.write_bench(result, folder, command_line(), overwrite)
    if json:
        print_json(result)
    else:
        show_tables(result)
        print(f"{folder}/report.html")


def show_tables(result: dict) -> None:
    """The first table and the notes, on the terminal."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from facebench.timing.results import machine_line
    from facebench.timing.results import notes as notes_of
    from facebench.timing.tables import KINDS

    console = Console()
    console.print(Text(machine_line(result["machine"])))
    for title, columns, rows in KINDS[result["kind"]].tables(result):
        table = Table(title=title, title_justify="left")
        for column in columns:
            table.add_column(column, overflow="fold")
        for row in rows:
            cells = ["" if c is None else f"{c:.4g}" if isinstance(c, float) else c for c in row]
            table.add_row(*[Text(str(c)) for c in cells])
        console.print(table)
    for note in notes_of(result):
        console.print(Text(note.replace("**", "")))


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
    skip: Annotated[
        int, typer.Option("--skip", min=0, help="First iterations, reported apart.")
    ] = 10,
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
    size: Annotated[
        int, typer.Option("--size", help="Side of the input; 0: the network's own.")
    ] = 0,
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
    """Time of an iteration: any network, batch size, input, engine; split into its parts."""
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
        network_options={"height": size, "width": size} if size else {},
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
    skip: Annotated[
        int, typer.Option("--skip", min=0, help="First iterations, reported apart.")
    ] = 10,
    size: Annotated[
        int, typer.Option("--size", help="Side of the input; 0: the network's own.")
    ] = 0,
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
    """What more processes bring: weak and strong scaling, equation 6, time to an accuracy."""
    result = facebench.timing.bench_scale(
        network,
        processes=numbers(processes, "processes"),
        scalings=scaling.split(","),
        batch=batch,
        iterations=iterations,
        rounds=rounds,
        skip=skip,
        network_options={"height": size, "width": size} if size else {},
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
    seconds: Annotated[float, typer.Option("--seconds", help="About this long a row.")] = 2.0,
    rounds: Rounds = 5,
    out: Out = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Images loaded a second: decoded, made into batches, out of files and packs."""
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
    seconds: Annotated[float, typer.Option("--seconds", help="About this long a row.")] = 4.0,
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
    seconds: Annotated[float, typer.Option("--seconds", help="About this long a row.")] = 4.0,
    rounds: Rounds = 5,
    seed: Seed = 0,
    out: Out = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Comparisons a second: scoring lists and all pairs, TAR at FAR."""
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


Seeds = Annotated[int, typer.Option("--seeds", min=2, help="Trainings of each.")]
Replicates = Annotated[int, typer.Option("--replicates", help="Of the protocols' intervals.")]


def study_tests(roots: list[str] | None, packs: list[str] | None):
    """Tests out of PROTOCOL=ROOT and PROTOCOL=PACK; None where none are given."""
    from facebench.studies.cases import Test

    where, crops = parse_assignments(roots or []), parse_assignments(packs or [])
    if set(where) != set(crops):
        raise ValueError("--test-root and --test-pack name each test protocol once")
    return [Test(name, Path(where[name]), Path(crops[name])) for name in where] or None


TestRoot = Annotated[
    list[str] | None,
    typer.Option("--test-root", help="PROTOCOL=FOLDER of a data set to test on; none: synthetic."),
]
TestPack = Annotated[
    list[str] | None, typer.Option("--test-pack", help="PROTOCOL=FILE.h5, that data set's pack.")
]


@bench_app.command(
    "factors", epilog="Example: facebench bench factors resnet50.caffe resnet50.pytorch --seeds 5"
)
@verb
def factors_command(
    recipes: Annotated[
        list[str] | None, typer.Argument(help="Two recipes; none: the small case.")
    ] = None,
    pack: Annotated[
        Path | None, typer.Option("--pack", help="Images to train on; none: synthetic.")
    ] = None,
    test_root: TestRoot = None,
    test_pack: TestPack = None,
    setting: Annotated[
        list[str] | None, typer.Option("--set", help="KEY=VALUE that both recipes get.")
    ] = None,
    seeds: Seeds = 5,
    threads: Threads = 1,
    replicates: Replicates = 200,
    out: Out = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Why two recipes differ: one factor exchanged at a time, several seeds."""
    from facebench import studies

    if recipes and len(recipes) != 2:
        raise ValueError("give two recipes, or none")
    result = studies.bench_factors(
        *(recipes or [None, None]),
        data=pack,
        tests=study_tests(test_root, test_pack),
        settings=parse_assignments(setting or []),
        seeds=seeds,
        threads=threads,
        replicates=replicates,
        progress=make_progress(),
    )
    finish(result, out, "", json, overwrite)


@bench_app.command(
    "compare-datasets",
    epilog="Example: facebench bench compare-datasets --pack web=w.h5 --pack umd=u.h5 --seeds 3",
)
@verb
def compare_datasets_command(
    pack: Annotated[
        list[str] | None,
        typer.Option("--pack", help="NAME=FILE.h5, a set to train on; none: synthetic ones."),
    ] = None,
    recipe: Annotated[str, typer.Option("--recipe", help="None: a small one.")] = "",
    test_root: TestRoot = None,
    test_pack: TestPack = None,
    keep_overlap: Annotated[
        bool, typer.Option("--keep-overlap", help="Train on people who are tested, too.")
    ] = False,
    seeds: Seeds = 3,
    threads: Threads = 1,
    replicates: Replicates = 200,
    out: Out = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Which training set is better: one recipe, several seeds, all protocols."""
    from facebench import studies

    packs = {name: Path(path) for name, path in parse_assignments(pack or []).items()}
    result = studies.bench_compare_datasets(
        packs or None,
        recipe=recipe or None,
        tests=study_tests(test_root, test_pack),
        remove_overlap=not keep_overlap,
        seeds=seeds,
        threads=threads,
        replicates=replicates,
        progress=make_progress(),
    )
    finish(result, out, "", json, overwrite)
