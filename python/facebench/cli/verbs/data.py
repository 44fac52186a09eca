"""``facebench data``: make and check data sets."""

import json as json_module
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
    show,
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
    """Make a data set of synthetic faces. In the official format of a protocol."""
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
    """Validate a data set. Finds files that are missing, empty, unreadable or there twice."""
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


@data_app.command("overlap", epilog="Example: facebench data overlap webface.h5 lfw.h5")
@verb
def overlap_command(
    train: Annotated[
        Path, typer.Argument(help="The training set: a pack, a folder of people, or embeddings.")
    ],
    test: Annotated[Path, typer.Argument(help="The test set: one of the same.")],
    train_embeddings: Annotated[
        Path | None, typer.Option("--train-embeddings", help="Of a pack or folder.")
    ] = None,
    test_embeddings: Annotated[
        Path | None, typer.Option("--test-embeddings", help="Of a pack or folder, same model.")
    ] = None,
    threshold: Annotated[
        float, typer.Option("--threshold", help="Cosine of one person; 0 = chosen on the test set.")
    ] = 0.0,
    false_alarms: Annotated[
        float,
        typer.Option("--false-alarms", help="Pairs of strangers that may pass the chosen one."),
    ] = 1.0,
    audit: Annotated[
        Path | None,
        typer.Option("--audit", help="Write who would be dropped and why (.csv, .json)."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Write the list for --exclude of pack.")
    ] = None,
    threads: Threads = 0,
    json: Json = False,
) -> None:
    """People whom a training set shares with a test set. By name and by similarity."""
    if audit is not None and audit.suffix.lower() not in (".csv", ".json"):
        raise ValueError(f"--audit {audit}: its name must end in .csv or .json")
    found = facebench.datasets.find_overlap(
        train,
        test,
        train_embeddings=train_embeddings or "",
        test_embeddings=test_embeddings or "",
        threshold=threshold,
        false_alarms=false_alarms,
        threads=threads,
        progress=make_progress(),
    )
    if audit is not None:
        as_json = audit.suffix.lower() == ".json"
        text = (
            json_module.dumps(found.to_dict(), indent=2, ensure_ascii=False)
            if as_json
            else found.csv
        )
        facebench.reports.write_text(audit, text)
    if out is not None:
        facebench.reports.write_text(out, found.exclusion)
    show(found, json)
