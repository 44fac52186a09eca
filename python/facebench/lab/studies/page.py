"""study.html: the tables of a study as their paper prints them, measured beside printed."""

import math
from pathlib import Path

from facebench import _eval, reports
from facebench.core._files import read_json
from facebench.lab.studies.differences import chance_left_out
from facebench.lab.studies.seeds import paired
from facebench.reports.page import (
    Cell,
    Section,
    bullets,
    image_section,
    plots,
    table_block,
    text,
    text_section,
)
from facebench.reports.rate_plots import bars_svg, differences_svg, lines_svg, points_svg

# Results that are shown in percent.
_SHARES = (
    *("accuracy", "validation_accuracy", "gain", "speedup 2", "speedup 4"),
    *("user", "system", "iowait", "total", "others"),
)
# Units of results, by a part of their names.
_UNITS = {"memory": "MiB", "seconds": "s", "macs": "million", "parameters": "million"}
_LABELS = {"three_quarter": "three-quarter"}


def write_page(out: Path, content: dict, circumstance: dict) -> None:
    """Writes ``study.html``; ``content``, ``circumstance``: as in ``study.json``."""
    sections = [_about(content, circumstance), *of_tables(out, content), _made_of(content)]
    day = circumstance.get("day", "")
    shown = [section for section in sections if section.blocks]
    reports.write_html(Path(out) / "study.html", content["title"], shown, day)


def of_tables(out: Path, content: dict) -> list[Section]:
    """What stands on the page of the tables and of what failed."""
    sections = [s for table in content["tables"] for s in _sections(Path(out), table, content)]
    if content["failures"]:
        rows = [[f["row"], f["column"], f["reason"]] for f in content["failures"]]
        block = table_block(["row", "column", "reason"], rows, sortable=True)
        sections.append(Section(f"Failures ({len(rows)})", [block]))
    return sections


def all_cells(table: dict):
    """(row, column, cell) of every cell, row by row."""
    for row in table["rows"]:
        for column, cell in zip(table["columns"], row["cells"], strict=True):
            yield row, column, cell


def _number_of(table, **values):
    """The number of the first column with these values; None where there is none."""
    columns = enumerate(table["columns"])
    return next((i for i, column in columns if values.items() <= column.items()), None)


def _about(content, circumstance):
    section = Section("What this is", [text(note) for note in content["notes"]])
    if any(cell["printed"] for t in content["tables"] for _, _, cell in all_cells(t)):
        section.blocks.append(text(
            "Below a measured value stand its 95 % interval and over what it is (draws of test "
            "people, seeds, iterations), the printed value, the measured less "
            "the printed one, and where the printed one lies of the interval. The last column says "
            "by what the measured system is not the printed one; “same”: by nothing that the paper "
            "states."
        ))  # fmt: skip
    if circumstance.get("machine"):
        section.blocks.append(text(f"Times were measured on: {circumstance['machine']}"))
    section.blocks += [text(c) for c in content["citations"]]
    return section


# --- cells ------------------------------------------------------------------------------------


def number(column: dict, value) -> str:
    """A value of a column as reports print it; rates in percent."""
    if value is None:
        return "undefined"
    if column["kind"] == "metric":
        return _eval.metric_text(column["metric"], value)
    name = column["name"]
    if name in _SHARES:
        return f"{100 * value:.2f}"
    if name.startswith("memory"):
        return f"{value / 2**20:.0f}"
    if column.get("unit") == "million" or name in ("macs", "parameters"):
        return f"{value / 1e6:.2f}"
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.4g}"


def span(column: dict, interval) -> str:
    """An interval of a column; "" for none."""
    if not interval or None in interval:
        return ""
    return " – ".join(number(column, end) for end in interval)


def spans(column: dict, cell: dict) -> list[str]:
    """The intervals of a cell, each with what it is over: draws of people of the test, seeds of the
    training, iterations."""
    seeds, over = cell.get("seeds", 1), cell.get("interval_over", "")
    both = {over: cell.get("interval")}
    if cell.get("seed_interval"):
        both["seeds"] = cell["seed_interval"]
    named = [(span(column, ends), f"{seeds} seeds" if over == "seeds" else over)
             for over, ends in both.items()]  # fmt: skip
    return [f"{text} over {over}" if over else text for text, over in named if text]


def heading(column: dict) -> str:
    """A column's title with its unit."""
    name = column.get("name", "")
    unit = column.get("unit") or next((u for k, u in _UNITS.items() if k in name), "")
    rate = column.get("rate") or (column["kind"] == "result" and name in _SHARES)
    unit = "%" if rate else unit
    return column["title"] + (
        f", {unit}" if unit and not column["title"].endswith(f", {unit}") else ""
    )


def beside(cell: dict) -> str:
    """What is printed, and how far the measured value lies from it; "" where nothing is printed."""
    printed = cell["printed"]
    if not printed:
        return ""
    parts = [f"printed {printed['text']}"]
    if cell.get("difference") or cell.get("interval"):
        # A count has no decimals, all else two or more.
        counts = printed["scale"] == 1 and "." not in printed["text"] and cell["value"] % 1 == 0
        digits = max(2, len(f"{printed['half_unit']:f}".rstrip("0").partition(".")[2]) - 1)
        lies = f", {cell['printed_lies']}" if cell.get("printed_lies") else ""
        parts.append(f"{cell['difference']:+,.{0 if counts else digits}f}{lies}")
    return "\n".join(parts)


def cell_text(column: dict, cell: dict) -> str:
    """A cell's own text: its value, or why there is none."""
    if cell.get("why"):
        return cell["why"]
    if cell.get("text"):
        return cell["text"]
    return (
        "–" if cell.get("value") is None and "value" not in cell else number(column, cell["value"])
    )


def _shown(column, cell, strong=False):
    shown = cell_text(column, cell) or "–"
    why = cell.get("no_interval") and f"no interval: {cell['no_interval']}"
    load = dict.fromkeys(cell.get("warnings", ())) if cell.get("timed") else ()
    below = ["; ".join([*spans(column, cell), *load]), beside(cell)]
    if why and cell.get("interval_over") != "people":
        below.insert(0, why)
    if cell.get("why"):
        below.insert(0, shown)
        shown = "–"
    below = "\n".join(line for line in below if line)
    href = f"{cell['run']}/report.html" if cell.get("run") else ""
    return Cell(shown, below, href=href, sort=cell.get("value"), strong=strong)


def compared(row: dict) -> str:
    """By what a row is not the printed system; "" where nothing is printed."""
    if not any(c["printed"] and "differs" in c for c in row["cells"]):
        return ""
    return "\n".join(row["differs"]) or "same"


def order_of(table: dict, number_of: int) -> dict | None:
    """The order of the rows by a column; None where it is not tested, or could not be."""
    return next((o for o in table["order"] if o["column"] == number_of and o["ranking"]), None)


def best_of(table: dict, number_of: int) -> set[str]:
    """The rows with the best number of a column whose order is tested; of one alone none is."""
    order = order_of(table, number_of)
    if order is None:
        return set()
    rows = [table["rows"][k] for k in order["rows"]]
    values = {row["name"]: row["cells"][number_of]["value"] for row in rows}
    values = {name: value for name, value in values.items() if value is not None}
    choose = min if order["ranking"]["lower_is_better"] else max
    return {k for k, v in values.items() if v == choose(values.values())}


# --- tables -----------------------------------------------------------------------------------


def _sections(out, table, content):
    place = table["place"]
    known = not place or place.split(",")[0].lower() in table["title"].lower()
    section = Section(table["title"] + ("" if known else f" ({place})"))
    warned = dict.fromkeys(
        f"Warning: {row['name']}, {column['name']}: {w}"
        for row, column, cell in all_cells(table)
        for w in cell.get("warnings", ())
        if not cell.get("timed")
    )
    section.blocks += [text(w) for w in [*warned, *_busy(table)]]
    if table["layout"] == "pictures":
        section.blocks += _pictures(out, table)
    else:
        section.blocks.append(table_block(*grid(table), sortable=table["layout"] != "blocks"))
    found = table.get("differences", ())
    over = {part["interval_over"] for one in found for part in one["parts"]}
    if table["baseline"] and "people" not in over:
        section.blocks += _differences(table)
    elif found:
        section.blocks += _row_differences(table)
    drawn = _plots(out, table)
    if drawn:
        section.blocks.append(plots(*drawn))
    section.blocks += _confusion(out, table)
    if table["notes"]:
        section.blocks.append(bullets(table["notes"]))
    return [section, *(s for s in (_order(table, o, content) for o in table["order"]) if s)]


def grid(table: dict) -> tuple[list[str], list[list]]:
    """Headings and rows of cells: a line a row, or as many as its blocks have."""
    columns = table["columns"]
    if table["layout"] == "blocks":
        return _blocks(table)
    best = [best_of(table, i) for i in range(len(columns))]
    heads, rows = ["", *map(heading, columns)], []
    for row in table["rows"]:
        cells = zip(columns, row["cells"], best, strict=True)
        rows.append([Cell(row["name"]), *(_shown(c, x, row["name"] in b) for c, x, b in cells)])
    return _with_compared(table, heads, [[row] for row in rows])


def _with_compared(table, heads, rows):
    """The last column, where values are printed; ``rows``: the lines of each row."""
    whys = [compared(row) for row in table["rows"]]
    if any(whys):
        heads = [*heads, "by what it differs"]
        last = [Cell(why.partition("\n")[0], why.partition("\n")[2]) for why in whys]
        rows = [[[*line, why if k == 0 else Cell("")] for k, line in enumerate(lines)]
                for lines, why in zip(rows, last, strict=True)]  # fmt: skip
    return heads, [line for lines in rows for line in lines]


def _blocks(table):
    """A matrix as its paper prints it: a line for each group of the first template."""
    parts: list[int | dict] = []  # numbers of columns, or the blocks that they are entries of
    for i, column in enumerate(table["columns"]):
        if "row" not in column:
            parts.append(i)
            continue
        key = column["name"], column["matrix"]
        block = parts[-1] if parts else None
        if not isinstance(block, dict) or block["key"] != key:
            block = {"key": key, "title": column["name"], "at": {}}
            parts.append(block)
        block["at"][column["row"], column["column"]] = i
    heads, lines = [""], 1
    for part in parts:
        if isinstance(part, int):
            heads.append(heading(table["columns"][part]))
        else:
            part["groups"] = list(dict.fromkeys(a for a, _ in part["at"]))
            heads += [part["title"], *(_LABELS.get(g, g) for g in part["groups"])]
            lines = max(lines, len(part["groups"]))
    rows = []
    for row in table["rows"]:
        lines_of_row = []
        for line in range(lines):
            cells = [Cell(row["name"] if line == 0 else "")]
            for part in parts:
                if isinstance(part, int):
                    one = _shown(table["columns"][part], row["cells"][part])
                    cells.append(one if line == 0 else Cell(""))
                elif line < len(part["groups"]):
                    group = part["groups"][line]
                    numbers = [part["at"][group, g] for g in part["groups"]]
                    cells.append(Cell(_LABELS.get(group, group)))
                    cells += [_shown(table["columns"][n], row["cells"][n]) for n in numbers]
                else:
                    cells += [Cell("")] * (1 + len(part["groups"]))
            lines_of_row.append(cells)
        rows.append(lines_of_row)
    return _with_compared(table, heads, rows)


def _pictures(out, table):
    for _, column, cell in all_cells(table):
        if cell.get("why"):
            yield text(f"{column['title']}: {cell['why']}")
        else:
            path = out / cell["jobs"][0] / cell["text"]
            yield image_section("", path, column["title"]).blocks[0]


# --- differences and factors ------------------------------------------------------------------


def differences(table: dict) -> list[dict]:
    """Of each column the differences of the rows to the baseline, of the same seeds; with layout
    "factors" what the factors do together beyond their sum, too."""
    names = [row["name"] for row in table["rows"]]
    base = names.index(table["baseline"])
    by_column = []
    for i in range(len(table["columns"])):
        values = {r["name"]: r["cells"][i].get("values") for r in table["rows"]}
        if any(not v or None in v for v in values.values()):
            continue
        first = values[names[base]]
        limits = (-1, 1) if table["columns"][i].get("rate") else (-math.inf, math.inf)
        others = {n: v for n, v in values.items() if n != names[base]}
        parts = {n: paired(first, v, limits=limits) for n, v in others.items()}
        if table["layout"] == "factors":
            ends = [b - a for a, b in zip(first, values[names[-1]], strict=True)]
            middle = [values[n] for n in names[1:-1]]
            sums = [sum(v[s] - first[s] for v in middle) for s in range(len(first))]
            parts["interaction"] = paired(sums, ends)
        by_column.append({"column": i, "parts": parts})
    return by_column


def _row_differences(table):
    """What the rows have more than the baseline of each column."""
    rows, found = [], table["differences"]
    for one in found:
        column = table["columns"][one["column"]]
        for part in one["parts"]:
            ends = part["interval"]
            seeds, over = part["seeds"], part["interval_over"]
            shown = ends and None not in ends and " – ".join(_signed(column, e) for e in ends)
            over = f"{seeds} seeds" if over == "seeds" else over
            value = part["difference"]
            text_of = "undefined" if value is None else _signed(column, value)
            below = f"{shown} over {over}" if shown else ""
            rows.append([heading(column), part["row"], one["baseline"],
                         Cell(text_of + " *" * part["clear"], below, sort=value),
                         Cell(p_value(part["p_value"]), sort=part["p_value"])])  # fmt: skip
    parts = [part for one in found for part in one["parts"]]
    note = (
        "Each row less the baseline, paired: rows of one training in the same draws of test "
        "people, rows of several by seed (Student's t; on these test people). * marks intervals "
        "without zero; of many, one in twenty is so by chance. p is two-sided, of one pair alone."
    )
    heads = ["number", "row", "less", "difference", "p"]
    blocks = [text(note), *map(text, filter(None, [chance_left_out(table, parts)]))]
    summary = f"Differences between rows ({len(rows)})"
    return [*blocks, table_block(heads, rows, summary=summary, sortable=True)]


def _busy(table):
    """A sentence on what others took of the machine while something was timed."""
    busy = {row["name"]: said for row, _, cell in all_cells(table) if cell.get("timed")
            for said in cell.get("warnings", ())}  # fmt: skip
    if not busy:
        return []
    return [f"Warning: {'; '.join(f'{name}: {said}' for name, said in busy.items())}. These times "
            "are not those of an idle machine."]  # fmt: skip


def _signed(column, value):
    shown = number(column, value)
    return shown if shown.startswith("-") else f"+{shown}"


def _differences(table):
    by_column = differences(table)
    if not by_column:
        return [text("Without a value in every row, so no differences.")]
    names = list(by_column[0]["parts"])
    rows: list[list[str | Cell]] = []
    drawn: list[tuple[str, str]] = []
    for one in by_column:
        column = table["columns"][one["column"]]
        cells: list[str | Cell] = [heading(column)]
        for part in one["parts"].values():
            span_of = part["interval"] and " – ".join(_signed(column, v) for v in part["interval"])
            clear = " *" if part["clear"] else ""
            cells.append(Cell(_signed(column, part["difference"]) + clear, span_of or ""))
        rows.append(cells)
        if column.get("rate") and len(drawn) < 4:
            values = [(n, 100 * p["difference"], p["interval"] and [100 * v for v in p["interval"]])
                      for n, p in one["parts"].items()]  # fmt: skip
            title = f"{column['title']}: difference"
            drawn.append((differences_svg(values, title, "percentage points"), f"{title}, 95 %."))
    note = (
        f"Differences to {table['baseline']}, of the same seeds; the interval (95 %, Student's t "
        "over seeds) says what other seeds would give. * marks those whose interval leaves out "
        "zero; of many, one in twenty does so by chance."
    )
    if table["layout"] == "factors":
        note += " The interaction is what the factors do together beyond the sum of each alone."
    blocks = [text(note), table_block(["metric", *names], rows)]
    return [*blocks, *([plots(*drawn)] if drawn else [])]


# --- order ------------------------------------------------------------------------------------


def percent(share) -> str:
    """A share in percent, with one decimal.

    >>> percent(0.123)
    '12.3 %'
    """
    return f"{100 * share:.1f} %"


def p_value(p) -> str:
    """A p-value with two digits; below what a normal distribution's tail can still say, a bound.

    >>> p_value(0.0123), p_value(0.0), p_value(None)
    ('0.012', '< 1e-15', '–')
    """
    return "–" if p is None else "< 1e-15" if p < 1e-15 else f"{p:.2g}"


def _order(table, order, content):
    column, ranking = table["columns"][order["column"]], order["ranking"]
    title = f"{column['name']}: the order, by {column['metric_title']}"
    if ranking is None:
        return text_section(title, f"The order has no uncertainty: {order['no_ranking']}")
    cells = [table["rows"][k]["cells"][order["column"]] for k in order["rows"]]
    names = [table["rows"][k]["name"] for k in order["rows"]]
    rows = [
        [
            Cell(name),
            _shown(column, cell),
            *_place(place),
            Cell(percent(cell["failure_to_enrol_rate"]), sort=cell["failure_to_enrol_rate"]),
        ]
        for name, cell, place in zip(names, cells, ranking["places"], strict=True)
    ]
    pairs = [_pair(column, ranking, names, pair) for pair in ranking["pairs"]]
    note = (
        "All are measured in the same draws of test people. “First in”: in how many of them one is "
        f"the best; “ranks”: where it stands in {100 * content['level']:g} % of them. p is of a "
        "paired test over draws of people, two-sided; corrected, it holds for all pairs together "
        "(Holm)."
    )
    if ranking["undefined"]:
        note = f"The order has no uncertainty: {ranking['undefined']}. {note}"
    notes = {pair[key] for pair in ranking["pairs"] for key in ("note", "no_interval")} - {None}
    note += "".join(f" Differences: {sentence}." for sentence in sorted(notes))
    more = [chance_left_out(table, cells)]
    if any(cell["seeds"] > 1 for cell in cells):
        more.append("Of rows with several seeds the run of the first is compared.")
    heads = ["better", "worse", "difference", "p", "p corrected", "at 5 %, over people"]
    columns = ["", column["metric_title"], "first in", "ranks", "failed to enrol"]
    summary = f"Differences ({len(pairs)})"
    said = [text(sentence) for sentence in (note, *more) if sentence]
    return Section(title, [*said, table_block(columns, rows, sortable=True),
                           table_block(heads, pairs, summary=summary, sortable=True)])  # fmt: skip


def _place(place):
    """How often a row is first, and its ranks."""
    if place["first"] is None:
        return [Cell("–"), Cell("–")]
    ranks = place["rank_interval"]
    return [
        Cell(percent(place["first"]), sort=place["first"]),
        Cell("{:g} – {:g}".format(*ranks), sort=ranks[0]),
    ]


def _pair(column, ranking, names, pair):
    a, b = names[pair["a"]], names[pair["b"]]
    value, interval = pair["difference"], pair["interval"]
    if value is not None and (value > 0) == ranking["lower_is_better"] and value != 0:
        a, b, value = b, a, -value  # the better one first
        interval = [None if e is None else -e for e in reversed(interval)]
    p, adjusted = pair["p_value"], pair["adjusted_p"]
    verdict = (
        "not tested" if adjusted is None else "significant" if adjusted < 0.05 else "not shown"
    )
    shown = Cell(number(column, value), span(column, interval), sort=value)
    return [a, b, shown, Cell(p_value(p), sort=p), Cell(p_value(adjusted), sort=adjusted), verdict]


# --- plots ------------------------------------------------------------------------------------


def _plots(out, table):
    """What ``plot`` asks for: "bars" of columns, a group a row; "lines" of a column over the words
    of the rows' names, or over columns; "cost": accuracy over images a second; "epochs": accuracy
    over epochs; "first_iterations": the speed at each of so many."""
    asked, columns = table["plot"], table["columns"]
    drawn = []
    for name in asked.get("bars", ()):
        for i in [i for i, c in enumerate(columns) if name in (c["id"], c["name"])]:
            column = columns[i]
            percents = column.get("rate") or column["name"] in _SHARES
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
    series, accuracy = [], _number_of(table, name="accuracy")
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
    numbers = [_number_of(table, id=column) for column in columns]
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
    rate = _number_of(table, kind="cost", name="images_per_second")
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


def _confusion(out, table):
    """Who was taken for whom, in the row with the highest accuracy."""
    number_of = _number_of(table, kind="result", name="accuracy")
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


def _made_of(content):
    return text_section(
        "Provenance",
        f"Comparisons between rows: {content['replicates']} draws of people, seed "
        f"{content['seed']}, level {100 * content['level']:g} %. A value leads to its run.",
    )
