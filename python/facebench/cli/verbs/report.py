"""``facebench report``: tables and plots of runs, side by side."""

from pathlib import Path

import facebench
from facebench.cli import common
from facebench.cli.options import argument, completion, flag, option
from facebench.cli.verb import Answer, verb
from facebench.reports.error_curves import AXES
from facebench.reports.trainings import is_training


@verb("facebench report runs/run-lfw-1 --against wang-guo-2019 --as loss=softmax")
def report(
    runs: argument("Run folders, or folders of trainings.", list[Path]),
    against: option(
        "A paper's tables (facebench list published), or your own TOML file.", metavar="NAME|FILE"
    ) = "",
    stated: option(
        "NAME=VALUE of what the runs do not record, or RUN:NAME=VALUE of the run of that title "
        "alone: loss, training_set, training, of embeddings from elsewhere also network, detector, "
        "crop, flip, fusion, as the paper's tables name them; only numbers of the same system, "
        "prepared alike, are compared.",
        list[str],
        "--as",
        metavar="[RUN:]NAME=VALUE",
    ) = None,
    all: flag("--all", "With --against, list every printed value, not the ten nearest.") = False,
    format: option(
        "markdown, csv, latex, html, parquet or hub (json with --against); printed without --out, "
        "which html, parquet and hub need.",
        metavar="FORMAT",
    ) = "markdown",
    title: option(
        "The column of each run, in their order; runs of one system under several protocols may "
        "share one. Default: the folders' names.",
        list[str],
        metavar="TEXT",
    ) = None,
    rows: option(
        "metrics, or systems: a table for a paper, a row for each --title, the best in bold.",
        str,
        metavar="[metrics|systems]",
        **completion("", ("metrics", "systems")),
    ) = "metrics",
    metrics: option(
        "With --rows systems: which numbers, as metrics.json names them, separated by commas; "
        "default: all.",
        metavar="NAME,NAME",
    ) = "",
    digits: option("With --rows systems: decimals, of rates in percent.", int, min=0) = None,
    interval: option(
        "With --rows systems: intervals in brackets, as ± (pm), or none.",
        str,
        metavar="[brackets|pm|none]",
        **completion("", ("brackets", "pm", "none")),
    ) = "brackets",
    baseline: option(
        "With --rows systems: the title of a system; the others get their difference to it, with "
        "its p-value. With html: the run that the others are compared with; default: the first.",
        metavar="TEXT",
    ) = None,
    attributes: option(
        "With html: a CSV file with groups of people or photographs; the page shows their errors.",
        Path,
    ) = None,
    qualities: option(
        "With html: a CSV file with qualities of photographs; the page shows error versus discard.",
        Path,
    ) = None,
    column: option("With --attributes or --qualities: the column of that file.") = None,
    axes: option(
        "With html: the axes of DET curves, of normal deviates or logarithmic.",
        str,
        metavar="[normal|log]",
        **completion("", AXES),
    ) = "normal",
    hub: option(
        "With hub, the card and results of a model's repository on Hugging Face's Hub: "
        "PROTOCOL=ORG/NAME, its benchmark there; also license=, datasets=, source=.",
        list[str],
        metavar="NAME=VALUE",
    ) = None,
    out: option("The file to write, or the folder for html.", Path) = None,
    json: common.Json = False,
):
    """Markdown, HTML, CSV, LaTeX and plots of one or several runs, or of trainings."""
    conditions = {k: str(v) for k, v in common.parse_assignments(stated).items()}
    if json and any(map(is_training, runs)):
        data = {"steps": facebench.reports.training_rows(runs, title)}
        if out is None:
            return Answer(data, "")
    elif json:
        data = {"numbers": facebench.analysis.rows(runs, title)}
        if against:
            data["against"] = facebench.claims.against(runs, against, conditions, titles=title)
        if out is None:
            return Answer(data, "")
    paper = {}
    if rows == "systems":
        names = metrics.split(",") if metrics else ()
        paper = {"metrics": names, "digits": digits, "interval": interval}
    elif metrics or digits is not None or interval != "brackets":
        raise ValueError("--metrics, --digits and --interval go with --rows systems")
    written = facebench.report(
        runs,
        against=against,
        stated=conditions,
        nearest=None if all else 10,
        format=format,
        titles=title,
        rows=rows,
        axes=axes,
        baseline=baseline,
        attributes=attributes,
        qualities=qualities,
        column=column,
        hub=common.parse_assignments(hub) if hub else None,
        out=out,
        **paper,
    )
    return Answer({**data, "path": str(written)}, "") if json else written
