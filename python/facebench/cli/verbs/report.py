"""``facebench report``: tables and plots of runs, side by side."""

from pathlib import Path
from typing import Annotated

import typer

import facebench
from facebench.cli.app import app
from facebench.cli.common import Json, show, verb


@app.command("report", epilog="Example: facebench report runs/run-lfw-1 runs/run-lfw-2")
@verb
def report_command(
    runs: Annotated[list[Path], typer.Argument(help="Run folders.")],
    against: Annotated[
        str, typer.Option("--against", help="A published table, e.g. wang-guo-2019.")
    ] = "",
    format: Annotated[
        str, typer.Option("--format", help="markdown, csv, latex or html; printed without --out.")
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
    show(facebench.report(runs, against=against, format=format, titles=title, out=out), json)
