"""The figures of a study's page."""

from facebench.core._files import read_json
from facebench.lab.studies.comparisons import order_of
from facebench.lab.studies.texts import (
    SHARES,
    all_cells,
    column_number,
    heading,
)
from facebench.reports.page import image_section, table_block, text
from facebench.reports.rate_plots import bars_svg, lines_svg, points_svg


def figures(out, table):
    """What ``plot`` asks for: "bars" of columns, a group a row; "lines" of a column over the words
    of the rows' names, or over columns; "cost": accuracy over images a second; "epochs": accuracy
    over epochs; "first_iterations": the speed at each of so many."""
    asked, columns = table["plot"], table["columns"]
    drawn = []
    for name in asked.get("bars", ()):
        for i in [i for i, c in enumerate(columns) if name in (c["id"], c["name"])]:
            column = columns[i]
            percents = column.get("rate") or column["name"] in SHARES
            scale = 100 if percents else 2**-20 if column["name"].startswith("memory") else 1
            groups, members = _grouped([row["name"] for row in table["rows"]])
            cells = [row["cells"][i] for row in table["rows"]]
            values = [c.get("value") and scale * c["value"] for c in cells]
            spans = [c.get("interval") and [scale * e for e in c["interval"]] for c in cells]
            count = len(members)
            series = [(m, values[k::count], spans[k::count]) for k, m in enumerate(members)]
            series = [one for one in series if any(v is not None for v in one[1])] or series[:1]
            printed = [c["printed"] and c["printed"]["value"] for c in cells]
            if count == 1 and any(p is not None for p in printed):
                series.append(("printed", printed, [None] * len(printed)))
            title = column["title"]
            drawn.append((bars_svg(groups, series, title, "", heading(column)), f"{title}."))
    if asked.get("epochs"):
        drawn += _by_epoch(out, table)
    if "first_iterations" in asked:
        drawn += _first_iterations(out, table, asked["first_iterations"])
    if "lines" in asked:
        drawn += _lines(table, asked["lines"])
    if asked.get("cost"):
        drawn += [p for p in (_cost(table, i) for i in range(len(columns))) if p]
    return drawn


def _grouped(names):
    """Groups, and the members of each, of names that are all combinations of both in order; else
    each name is a group.

    >>> _grouped(["16, ours", "16, theirs", "32, ours", "32, theirs"])
    (['16', '32'], ['ours', 'theirs'])
    >>> _grouped(["batch 50, 20 steps", "batch 500, 2 steps"])
    (['batch 50, 20 steps', 'batch 500, 2 steps'], ['measured'])
    """
    parts = [name.rpartition(", ")[::2] for name in names]
    groups, members = (list(dict.fromkeys(words)) for words in zip(*parts, strict=True))
    crossed = [(group, member) for group in groups for member in members]
    if parts == crossed and len(groups) > 1 and len(members) > 1:
        return groups, members
    return names, ["measured"]


def _by_epoch(out, table):
    """The accuracy of each row in the course of its training."""
    series, accuracy = [], column_number(table, name="accuracy")
    for row in table["rows"]:
        cell = row["cells"][accuracy]
        if cell.get("value") is not None:
            points = _result(out, cell["jobs"][0])["accuracy_by_epoch"]
            epochs, shares = zip(*points, strict=True)
            shown = [round(e, 1) for e in epochs], [100 * a for a in shares], [None] * len(points)
            series.append((row["name"], *shown))
    title = "accuracy by epoch"
    return [(lines_svg(series, title, "epochs", "accuracy, %"), f"{title}.")] if series else []


def _first_iterations(out, table, count):
    """The speed of each engine at each of its first iterations, those before the rounds too."""
    jobs = dict.fromkeys(j for r in table["rows"] for c in r["cells"] for j in c.get("jobs", ()))
    series = []
    for measured in [m for job in jobs for m in _result(out, job)["rows"] if m["status"] == "ok"]:
        rates = [measured["batch"] / seconds for seconds in measured["series"][:count]]
        numbers = range(1, len(rates) + 1)
        series.append((measured["engine"], numbers, rates, [None] * len(rates)))
    title = "images/s by iteration"
    return [(lines_svg(series, title, "iteration", "images/s"), f"{title}.")] if series else []


def _result(out, job):
    """What a job of a study's folder found."""
    return read_json(out / job / "job.json")["result"]


def _lines(table, columns):
    """A line a row over the columns, its printed values beside: one plot for each beginning of the
    rows' names (up to the comma)."""
    numbers = [column_number(table, id=column) for column in columns]
    plots_of: dict[str, list] = {}
    for row in table["rows"]:
        first, _, rest = row["name"].partition(", ")
        xs = [int("".join(d for d in table["columns"][n]["title"] if d.isdigit())) for n in numbers]
        cells = [row["cells"][n] for n in numbers]
        for what, values in (
            (rest, [c.get("value") for c in cells]),
            (f"{rest}, printed", [c["printed"] and c["printed"]["value"] for c in cells]),
        ):
            there = [(x, v) for x, v in zip(xs, values, strict=True) if v is not None]
            if there:
                points = [x for x, _ in there], [v for _, v in there], [None] * len(there)
                plots_of.setdefault(first, []).append((what, *points))
    y_title = table["columns"][numbers[0]].get("unit") or "images/s"
    x_title = table["plot"].get("x", "")
    return [(lines_svg(series, name, x_title, y_title), f"{name}: {table['title']}.")
            for name, series in plots_of.items()]  # fmt: skip


def _cost(table, number_of):
    column = table["columns"][number_of]
    rate = column_number(table, kind="cost", name="images_per_second")
    if column["kind"] != "metric" or rate is None:
        return None
    order = order_of(table, number_of)
    lower = bool(order and order["ranking"]["lower_is_better"])
    sign = (-1 if lower else 1) * (100 if column["rate"] else 1)
    points = []
    for row in table["rows"]:
        cell, speed = row["cells"][number_of], row["cells"][rate].get("value")
        if cell.get("value") is not None and speed:
            interval = cell["interval"] and sorted(sign * e for e in cell["interval"])
            points.append((row["name"], speed, sign * cell["value"], interval))
    if len(points) < 2:
        return None
    y_title = f"{'- ' if lower else ''}{heading(column)}"
    caption = (
        f"{column['name']}: {column['metric_title']} over images a second. The line joins those "
        "that no other beats in both."
    )
    return points_svg(points, f"{column['name']}: cost", "images/s", y_title), caption


def confusion(out, table):
    """Who was taken for whom, in the row with the highest accuracy."""
    number_of = column_number(table, kind="result", name="accuracy")
    if number_of is None:
        return []
    there = [r for r in table["rows"] if r["cells"][number_of].get("value") is not None]
    if not there:
        return []
    best = max(there, key=lambda r: r["cells"][number_of]["value"])
    tables = [_result(out, job)["confusion"] for job in best["cells"][number_of]["jobs"]]
    summed = [[sum(row) for row in zip(*rows, strict=True)] for rows in zip(*tables, strict=True)]
    heads = ["class", *(f"as {c}" for c in range(len(summed)))]
    rows = [[c, *row] for c, row in enumerate(summed)]
    return [table_block(heads, rows, summary=f"Confusion matrix of the best row ({best['name']})")]


def pictures(out, table):
    for _, column, cell in all_cells(table):
        if cell.get("why"):
            yield text(f"{column['title']}: {cell['why']}")
        else:
            path = out / cell["jobs"][0] / cell["text"]
            place = path.relative_to(out).as_posix()
            yield image_section("", path, column["title"], place).blocks[0]
