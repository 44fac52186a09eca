"""A study for other programs and papers: Markdown, CSV, LaTeX, model cards with a model-index."""

from pathlib import Path

from facebench import analysis, reports
from facebench.analysis.headlines import cells_of
from facebench.core._files import write_text
from facebench.core._inside import refuse_links
from facebench.lab.studies.comparisons import best_of, order_of
from facebench.lab.studies.description import slug
from facebench.lab.studies.differences import chance_left_out
from facebench.lab.studies.page import of_tables
from facebench.lab.studies.texts import cell_text, heading, number, percent, spans
from facebench.reports.cards import card, index_result
from facebench.reports.escape import escape_latex, escape_markdown, spreadsheet


def write_exports(out: Path, content: dict) -> None:
    """study.md, study.csv, study.tex, and for each row with a model cards/ROW.md, which begins with
    the ``model-index`` of Hugging Face (YAML, of which JSON is a part)."""
    write_text(out / "study.md", markdown(out, content))
    write_text(out / "study.csv", csv_text(out, content))
    write_text(out / "study.tex", "\n".join(map(latex, content["tables"])))
    for table in content["tables"]:
        for row in table["rows"] if table["order"] or table["plot"].get("cost") else []:
            if any(cell.get("run") for cell in row["cells"]):
                refuse_links(out, out / "cards")
                write_text(out / "cards" / f"{slug(row['name'])}.md", model_card(content, row))


def markdown(out: Path, content: dict) -> str:
    """The page's tables as Markdown."""
    title = f"# {escape_markdown(content['title'])}\n\n"
    return title + reports.report_markdown(of_tables(out, content))


def _digits(value) -> str:
    return f"{value:.15g}" if isinstance(value, float) else "" if value is None else str(value)


_HEADS = (
    *("table", "row", "column", "seed", "protocol", "version", "track", "metric", "less"),
    *("value", "low", "high", "level", "interval_over", "p_value"),
    *("printed", "difference", "differs", "note"),
)


def csv_text(out: Path, content: dict) -> str:
    """All numbers of all runs and all other cells, a line each, with 15 digits (.993 and not
    .9930000000000001). A name that a spreadsheet would take for a formula gets a ' before it.

    Of several seeds each run has its lines (``seed`` 0, 1, ...), and their mean a line for each of
    its intervals (``seed`` mean, ``interval_over`` people or seeds). A difference between rows says
    the other row in ``less``.
    """
    lines = [dict(zip(_HEADS, _HEADS, strict=True))]
    for table in content["tables"]:
        for row in table["rows"]:
            known: set[tuple] = set()  # what has a line: of its own, or among the numbers of a run
            for column, cell in zip(table["columns"], row["cells"], strict=True):
                known |= {(run, column["track"], column["metric"]) for run in cell.get("runs", ())}
            for column, cell in zip(table["columns"], row["cells"], strict=True):
                start = {"table": table["id"], "row": row["name"], "column": column["name"]}
                start |= {k: column.get(k, "") for k in ("protocol", "version", "track")}
                start["metric"] = column.get("metric") or column["name"]
                lines += [start | line for line in _lines_of_cell(cell)]
                lines += [start | line for line in _lines_of_runs(out, cell, known)]
        lines += _lines_of_differences(table)
    return spreadsheet([_digits(line.get(head)) for head in _HEADS] for line in lines)


def _ends(interval, over):
    low, high = interval or ("", "")
    return {"low": low, "high": high, "interval_over": over if interval else ""}


def _lines_of_cell(cell):
    """What stands in a cell; of several seeds their mean by both intervals, and each of them."""
    said = {"printed": (cell["printed"] or {}).get("text", ""),
            "difference": cell.get("difference"),
            "differs": "; ".join(cell["differs"]) or "same" if "differs" in cell else "",
            "note": "; ".join(dict.fromkeys(cell.get("warnings", ())))}  # fmt: skip
    if "value" not in cell and not cell.get("text"):
        return
    seeds, level = cell.get("seeds", 1), {"level": cell.get("level", "")}
    value = cell["value"] if cell.get("value") is not None else cell.get("text")
    value = {"seed": 0 if seeds == 1 else "mean", "value": value} | said
    yield value | level | _ends(cell.get("interval"), cell.get("interval_over", ""))
    if cell.get("seed_interval") and cell["interval_over"] != "seeds":
        yield value | level | _ends(cell["seed_interval"], "seeds")
    for seed, one in enumerate(cell["values"] if seeds > 1 else ()):
        own = cell["intervals"][seed] if "intervals" in cell else None
        yield {"seed": seed, "value": one} | level | _ends(own, "people")


def _lines_of_runs(out, cell, known):
    """The numbers of a cell's runs that no column shows, each once."""
    for seed, run in enumerate(cell.get("runs", ())):
        metrics = analysis.read_run(out / run, check=False)["metrics"]
        for track, name, one in cells_of(metrics):
            if known.isdisjoint({(run, track, name), (run, "", name)}):
                known.add((run, track, name))
                yield {"track": track, "metric": name, "seed": seed, "value": one["value"],
                       "level": one["level"], **_ends(one["interval"], "people")}  # fmt: skip


def _lines_of_differences(table):
    for found in table.get("differences", ()):
        column = table["columns"][found["column"]]
        for part in found["parts"]:
            yield {"table": table["id"], "row": part["row"], "less": found["baseline"],
                   "column": column["name"], "metric": column.get("metric") or column["name"],
                   **{k: column.get(k, "") for k in ("protocol", "version", "track")},
                   "seed": "mean" if part["seeds"] > 1 else 0, "value": part["difference"],
                   **_ends(part["interval"], part["interval_over"]), "p_value": part["p_value"],
                   "note": chance_left_out(table, [part])}  # fmt: skip


def latex(table: dict) -> str:
    """A table as a tabular (booktabs); the best of a column bold, intervals in brackets."""
    escape = escape_latex
    columns = table["columns"]
    best = [best_of(table, i) for i in range(len(columns))]

    def shown(column, cell, bold):
        text = escape(cell_text(column, cell)).replace("–", "--")
        text = rf"\textbf{{{text}}}" if bold else text
        intervals = [one.replace(" – ", "--") for one in spans(column, cell)]
        return " ".join([text, *(rf"{{\scriptsize [{one}]}}" for one in intervals)])

    rows = []
    for row in table["rows"]:
        cells = zip(columns, row["cells"], best, strict=True)
        shown_cells = [shown(c, x, row["name"] in b) for c, x, b in cells]
        rows.append(" & ".join([escape(row["name"]), *shown_cells]) + r" \\")
    heads = " & ".join(["", *(escape(heading(c)) for c in columns)])
    return "\n".join([
        r"\begin{tabular}{l" + "c" * len(columns) + "}", r"\toprule", heads + r" \\", r"\midrule",
        *rows, r"\bottomrule", r"\end{tabular}", "",
    ])  # fmt: skip


# --- model cards ------------------------------------------------------------------------------


def _of_row(content, name):
    """(column, cell, its place in the order) of every run of a row."""
    for table in content["tables"]:
        for row in table["rows"]:
            if row["name"] != name:
                continue
            for i, (column, cell) in enumerate(zip(table["columns"], row["cells"], strict=True)):
                order = order_of(table, i)
                k = table["rows"].index(row)
                place = order and k in order["rows"] and (
                    order["ranking"]["places"][order["rows"].index(k)],
                    len(order["rows"]),
                )  # fmt: skip
                yield column, cell, place


def model_index(content: dict, name: str) -> list[dict]:
    """Hugging Face's ``model-index`` of one row: a result for each run."""
    results = []
    for column, cell, _ in _of_row(content, name):
        if cell.get("run") and cell["value"] is not None:
            arguments = {"track": column["track"], "protocol_version": column["version"]}
            metric = {"type": column["metric"], "name": column["metric_title"], "args": arguments}
            dataset = {"name": column["name"], "type": column["protocol"]}
            results.append(index_result(dataset, metric, cell))
    return [{"name": name, "results": results}]


def model_card(content: dict, row: dict) -> str:
    """What the study says of one model: its numbers with intervals, its place, its limits."""
    name = row["name"]
    rows, limits, costs = [], [], []
    for column, cell, place in _of_row(content, name):
        if column["kind"] == "cost" and cell.get("value") is not None:
            costs.append(f"{heading(column)}: {number(column, cell['value'])}")
        if cell.get("failed"):
            limits.append(f"{column['name']}: {cell['why']}")
        if not cell.get("run"):
            continue
        unit = " %" if column["rate"] else ""
        interval = ", ".join(span + unit for span in spans(column, cell))
        ranked = place and place[0]["first"] is not None
        rank = "{:g} – {:g} of {}".format(*place[0]["rank_interval"], place[1]) if ranked else "–"
        rows.append(
            [
                f"{column['name']} ({column['protocol_title']})",
                column["metric_title"],
                number(column, cell["value"]) + unit,
                interval or "none",
                percent(cell["failure_to_enrol_rate"]),
                rank,
            ]
        )
        limits += [f"{column['name']}: {warning}" for warning in cell["warnings"]]
    columns = ["set", "number", "value", "interval", "failed to enrol", "rank"]
    note = "The ranks are among the rows of the study, over draws of people."
    results = model_index(content, name)[0]["results"]
    return card(name, results, columns, rows, note, limits, costs)
