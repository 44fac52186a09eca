"""``facebench report``: tables and plots of runs, side by side."""

from pathlib import Path
from typing import Annotated

import typer

import facebench
from facebench.cli.app import app
from facebench.cli.common import Json, parse_assignments, show, verb


@app.command(
    "report",
    epilog="Example: facebench report runs/run-lfw-1 --against wang-guo-2019 --as loss=softmax",
)
@verb
def report_command(
    runs: Annotated[list[Path], typer.Argument(help="Run folders.")],
    against: Annotated[
        str,
        typer.Option(
            "--against", help="A paper's tables (facebench list published), or your own TOML file."
        ),
    ] = "",
    stated: Annotated[
        list[str] | None,
        typer.Option(
            "--as",
            help="NAME=VALUE of what the runs do not record: network, loss, training_set, as the "
            "paper's tables name them; only numbers of the same system are compared.",
        ),
    ] = None,
    format: Annotated[
        str,
        typer.Option(
            "--format",
            help="markdown, csv, latex or html (json with --against); printed without --out.",
        ),
    ] = "markdown",
    title: Annotated[
        list[str] | None,
        typer.Option(
            "--title",
            help="The column of each run, in their order; runs of one system under several "
            "protocols may share one. Default: the folders' names.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="The file to write, or the folder for html.")
    ] = None,
    json: Json = False,
) -> None:
    """Markdown, HTML, CSV, LaTeX and plots of one or several runs."""
    said = {k: str(v) for k, v in parse_assignments(stated or []).items()}
    text = facebench.report(
        runs, against=against, stated=said, format=format, titles=title, out=out
    )
    show(text, json)
