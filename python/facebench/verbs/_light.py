"""The verb that reads run folders side by side: report. `facebench` offers it by name."""

import os
from pathlib import Path

from facebench import _eval, analysis, reports
from facebench.analysis.runs import as_list
from facebench.core import _rows
from facebench.core._above import from_above
from facebench.core._arguments import brief, listed, of_kind, one_of
from facebench.reports.comparisons import differences_section
from facebench.reports.drawn import drawing
from facebench.reports.error_curves import AXES
from facebench.reports.markdown import align_tables
from facebench.reports.page import Section, heading
from facebench.reports.results import (
    folders_section,
    named,
    page_title,
    runs_section,
    write_hub_files,
)
from facebench.reports.trainings import is_training, trainings_sections, trainings_table
from facebench.verbs import _inspect
from facebench.verbs._quality import quality


def report(
    runs,
    *,
    against="",
    stated=None,
    nearest=10,
    format="markdown",
    titles=None,
    rows="metrics",
    axes="normal",
    baseline=None,
    attributes=None,
    qualities=None,
    column=None,
    hub=None,
    out=None,
    **paper,
):
    """Run folders side by side as text (markdown, csv, latex, text) or as an HTML page.

    ``rows="systems"``: a table for a paper, with a row for each system; ``paper`` are its keywords:
    metrics, digits, interval, ... (see `facebench.reports.system_table`). ``baseline``: a title;
    the others get their difference to it. As html that is the first of several runs by default.

    ``against``: the name of a paper whose tables are built in (see ``claims.list_published``),
    or your own TOML file. Its numbers are shown beside those of the runs;
    :func:`facebench.claims.against` explains ``stated`` and ``nearest``. As csv and json that
    comparison is the whole output, one entry per printed value.

    ``format="frame"``: a pandas DataFrame, a row for each number of each run; ``format="parquet"``
    writes the same rows to the file ``out`` (pyarrow).

    ``format="hub"``: the card and the results of one model's runs as its repository on Hugging
    Face's Hub has them, below the folder ``out``: README.md and .eval_results/PROTOCOL.yaml.
    ``hub``: a dict, of each protocol the Hub's data set that hosts the benchmark, and what the runs
    do not say: ``{"lfw": "ORG/NAME", "license": "mit", "datasets": ["ORG/NAME"], "source":
    "https://..."}``.

    Folders of trainings: what each reached, and as html their curves side by side; as csv, frame
    and parquet a row for each logged step.

    As html the page links to the folders, and shows the worst pairs of runs that kept their crops;
    ``axes`` of DET curves: "normal" (deviates, as the field draws them) or "log". Several runs of a
    protocol are compared: paired differences with intervals, p-values and a forest plot, and of two
    runs the pairs that they decide differently. ``attributes``: a CSV file with the groups of
    people or photographs, ``qualities``: one with qualities of photographs, ``column``: its column;
    the page then has the error rates of the groups, or the FNMR as images are discarded.

    Returns the text; with ``out`` it is written there (``format="html"`` needs it: a file, or a
    folder that then gets ``report.html``) and the path is returned.
    """
    runs = as_list(runs)
    one_of(rows, ("metrics", "systems"), "rows")
    one_of(axes, AXES, "axes")
    of_kind(format, str, "format")
    of_kind(against, (str, os.PathLike, type(None)), "against")
    if baseline is not None and rows != "systems" and format != "html":
        raise ValueError("baseline: goes with rows='systems', or with format='html'")
    if format != "html" and (attributes is not None or qualities is not None):
        raise ValueError("attributes and qualities: go with format='html'")
    if (format == "hub") != (hub is not None):
        raise ValueError("format='hub' goes with hub=, of each protocol ORG/NAME on the Hub")
    if any(map(is_training, runs)):
        if against or baseline or rows != "metrics" or paper:
            raise ValueError(
                "trainings have no rows='systems', and no paper's tables to go against"
            )
        return _report_trainings(runs, format, titles, out)
    if format == "frame":
        if against or out is not None:
            raise ValueError("a frame is of runs alone and is returned; leave against and out away")
        return analysis.frame(runs, titles)
    if format == "hub":
        if out is None or against or rows != "metrics":
            raise ValueError("hub needs out=, a folder, and is of rows='metrics' without against")
        stated = dict(hub)
        said = {name: stated.pop(name) for name in ("license", "source") if name in stated}
        sets = stated.pop("datasets", ())
        said["datasets"] = sets.split(",") if isinstance(sets, str) else listed(sets, "datasets")
        return write_hub_files(out, runs, **said, benchmarks=stated)[0]
    if format == "parquet":
        if against:
            raise ValueError("parquet is of runs alone; leave against away, or take csv")
        return _rows.write_parquet(analysis.rows(runs, titles), out)
    if paper and rows != "systems":
        raise ValueError(f"{next(iter(paper))}: goes with rows='systems'")
    if rows == "systems":
        if against:
            raise ValueError("against: goes with rows='metrics'")
        return _text_to(out, reports.system_table(runs, format, titles, baseline=baseline, **paper))
    if format != "html":
        parts = (
            [] if against and format in ("csv", "json") else [reports.table(runs, format, titles)]
        )
        if against:
            parts.append(
                from_above("against")(runs, against, stated, format, titles, nearest=nearest)
            )
        text = "\n".join(parts)
        return _text_to(out, align_tables(text) if format == "markdown" else text)
    path = _html_path(out)
    sections = [runs_section("Results", runs, titles, axes=axes)]
    names = listed(titles, "titles") or _eval.run_titles([os.fspath(run) for run in runs])
    sections += filter(None, [_differences(runs, names, baseline)])
    if against:
        sections.append(from_above("against_section")(runs, against, stated, titles))
    if len(runs) == 2:
        sections += filter(None, [_inspect.disagreements(*runs, *names)])
    for run, name in zip(runs, names, strict=True):
        if attributes is not None:
            found = analysis.groups(run, attributes, **({"column": column} if column else {}))
            sections.append(_as_section(found, f"Groups: {name}"))
        if qualities is not None:
            found = quality(run, csv=qualities, column=None if column is None else [column])
            sections.append(_as_section(found, f"Error versus discard: {name}"))
    sections += filter(None, map(_inspect.worst_pairs, runs, names))
    sections.append(folders_section(runs, names, path.parent))
    reports.write_html(path, page_title(runs, names), sections)
    return path


def _as_section(found, title):
    """What was found as a section of a page of runs."""
    blocks: list[dict] = []
    for section in drawing(found)[1]:
        if section.title and blocks:
            blocks.append(heading(section.title))
        blocks += section.blocks
    return Section(title, blocks)


def _differences(runs, names, baseline):
    """The section of differences to the baseline, by default the first of several."""
    if baseline is not None and baseline not in names:
        raise ValueError(f"baseline {brief(baseline)} is not a title; titles: {', '.join(names)}")
    if len(set(names)) < 2:
        return None
    return differences_section(runs, names, names[0] if baseline is None else baseline)


def _report_trainings(folders, format, titles, out):
    if format == "frame":
        return _rows.frame(reports.training_rows(folders, titles))
    if format == "parquet":
        return _rows.write_parquet(reports.training_rows(folders, titles), out)
    if format == "html":
        path = _html_path(out)
        names = titles or [Path(os.path.abspath(folder)).name for folder in folders]
        reports.write_html(path, named(names), trainings_sections(folders, titles))
        return path
    return _text_to(out, trainings_table(folders, format, titles))


def _text_to(out, text):
    """The text, or the file that it was written to."""
    if out is None:
        return text
    reports.write_text(out, text)
    return Path(out)


def _html_path(out):
    if out is None:
        raise ValueError("an HTML report needs out=, the file or folder to write")
    path = Path(out)
    return path if path.suffix.lower() in (".html", ".htm") else path / "report.html"
