"""``facebench data``: make and check data sets."""

from pathlib import Path
from typing import Annotated

import typer

import facebench
from facebench.cli.app import app
from facebench.cli.common import (
    EXIT_FAILED,
    Json,
    Lists,
    Out,
    Root,
    Seed,
    Threads,
    out_path,
    parse_assignments,
    print_json,
    verb,
)
from facebench.cli.progress import make_progress

data_app = typer.Typer(
    no_args_is_help=True, help="Make and check data sets.", rich_markup_mode=None
)
app.add_typer(data_app, name="data")


@data_app.command(
    "synth", epilog="Example: facebench data synth --people 40 --images 4 --sheet sheet.png"
)
@verb
def synth_command(
    out: Out = None,
    people: Annotated[int, typer.Option("--people", help="Number of people.")] = 40,
    images: Annotated[int, typer.Option("--images", help="Images of each of them.")] = 4,
    size: Annotated[int, typer.Option("--size", help="Side of the images, pixels.")] = 160,
    spread: Annotated[float, typer.Option("--spread", help="How much people differ.")] = 0.6,
    protocol: Annotated[
        str, typer.Option("--protocol", help="Whose folders and lists to write.")
    ] = "lfw",
    sheet: Annotated[
        Path | None, typer.Option("--sheet", help="Also write a contact sheet (PNG, JPEG).")
    ] = None,
    setting: Annotated[
        list[str] | None, typer.Option("--set", help="NAME=VALUE of another option.")
    ] = None,
    seed: Seed = 0,
    threads: Threads = 0,
    json: Json = False,
) -> None:
    """Make a data set of synthetic faces in the official format of a protocol."""
    datasets = facebench.datasets
    options = datasets.SyntheticOptions(
        people=people,
        images=images,
        size=size,
        spread=spread,
        protocol=protocol,
        seed=seed,
        **parse_assignments(setting or []),
    )
    path = out_path(out, "data-synth", protocol)
    progress = make_progress()
    summary = datasets.write_synthetic_dataset(options, path, threads, progress)
    if sheet is not None:
        rows = datasets.SheetOptions(people=min(people, 12), spread=spread, seed=seed)
        facebench.images.write(sheet, datasets.render_sheet(rows, threads, progress))
    if json:
        print_json(
            {
                "folder": str(summary.folder),
                "people": summary.people,
                "images": summary.images,
                "tree_sha256": summary.tree_sha256,
                "sheet": None if sheet is None else str(sheet),
            }
        )
    else:
        print(f"{summary.folder}: {summary.images} images of {summary.people} people")
        if sheet is not None:
            print(f"{sheet}: contact sheet")


@data_app.command("check", epilog="Example: facebench data check lfw --root LFW --protocol lfw")
@verb
def check_command(
    dataset: Annotated[str, typer.Argument(help="See: facebench list datasets.")],
    root: Root,
    protocol: Annotated[
        str, typer.Option("--protocol", help="Also check every name in this protocol's lists.")
    ] = "",
    lists: Lists = None,
    setting: Annotated[
        list[str] | None, typer.Option("--set", help="NAME=VALUE of a check, e.g. decode=false.")
    ] = None,
    threads: Threads = 0,
    json: Json = False,
) -> None:
    """Validate a data set: files that are missing, empty, unreadable or there twice."""
    datasets = facebench.datasets
    options = datasets.CheckOptions(**parse_assignments(setting or []))
    listed: list[str] = []
    if protocol:
        listed = list(facebench.protocols.read_trials(protocol, root, lists).names)
    report = datasets.check_dataset(
        datasets.read_dataset(dataset, root), listed, options, threads, make_progress()
    )
    findings = [{"kind": f.kind, "id": f.id, "detail": f.detail} for f in report.findings]
    if json:
        print_json(
            {
                "images": report.images,
                "people": report.people,
                "listed": report.listed,
                "findings": findings,
            }
        )
    else:
        print(f"{root}: {report.images} images of {report.people} people, {len(findings)} findings")
        for finding in findings:
            print(f"  {finding['kind']}: {finding['id']}: {finding['detail']}")
    if findings:
        raise typer.Exit(EXIT_FAILED)
