"""``facebench bench factors`` and ``compare-datasets``: many small trainings, and what tells them
apart."""

from pathlib import Path
from typing import Annotated

import typer

from facebench.cli.common import (
    Json,
    Out,
    Overwrite,
    Threads,
    parse_assignments,
    verb,
)
from facebench.cli.progress import make_progress
from facebench.cli.verbs.bench.common import bench_app, finish

Seeds = Annotated[int, typer.Option("--seeds", min=2, help="Trainings of each.")]
Replicates = Annotated[int, typer.Option("--replicates", help="Of the protocols' intervals.")]
TestRoot = Annotated[
    list[str] | None,
    typer.Option("--test-root", help="PROTOCOL=FOLDER of a data set to test on; none: synthetic."),
]
TestPack = Annotated[
    list[str] | None, typer.Option("--test-pack", help="PROTOCOL=FILE.h5, that data set's pack.")
]


def study_tests(roots: list[str] | None, packs: list[str] | None):
    """Tests out of PROTOCOL=ROOT and PROTOCOL=PACK; None where none are given."""
    from facebench.studies.cases import Test

    where, crops = parse_assignments(roots or []), parse_assignments(packs or [])
    if set(where) != set(crops):
        raise ValueError("--test-root and --test-pack name each test protocol once")
    return [Test(name, Path(where[name]), Path(crops[name])) for name in where] or None


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
    """Why two recipes differ. One factor is exchanged at a time, with several seeds."""
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
    """Which training set is better. One recipe, several seeds, all protocols."""
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
