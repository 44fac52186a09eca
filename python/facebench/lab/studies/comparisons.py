"""What the rows of a study have more than each other: differences, and the order."""

import math

from facebench.lab.studies.differences import chance_left_out
from facebench.lab.studies.seeds import paired
from facebench.lab.studies.texts import (
    all_cells,
    heading,
    number,
    p_value,
    percent,
    shown,
    signed,
    span,
)
from facebench.reports.page import Cell, Section, plots, table_block, text, text_section
from facebench.reports.rate_plots import differences_svg


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


def less_columns(table: dict) -> dict[int, tuple[str, list[Cell]]]:
    """For a table of few measured columns: {number of a column: the heading "less NAME" and what
    each row has more than that one}. Wide tables have their differences below alone."""
    measured = [k for k, c in enumerate(table["columns"]) if c["kind"] in ("metric", "result")]
    names, found = [row["name"] for row in table["rows"]], {}
    if len(measured) > _FEW:
        return {}
    for one in table.get("differences", ()):
        column, parts = table["columns"][one["column"]], {p["row"]: p for p in one["parts"]}
        cells = [_difference(column, parts[n]) if n in parts else Cell("–") for n in names]
        found[one["column"]] = (f"less {one['baseline']}", cells)
    for order in table["order"]:
        less = order["ranking"] and _less_first(
            table, table["columns"][order["column"]], order["ranking"], order["rows"]
        )
        if less:
            base, of_rows = less
            there = dict(zip(order["rows"], of_rows, strict=True))
            cells = [there.get(k, Cell("–")) for k in range(len(names))]
            found[order["column"]] = (f"less {names[order['rows'][base]]}", cells)
    return found


_FEW = 3  # measured columns that stand with their differences on a page of 1280 px


def _difference(column, part) -> Cell:
    """What a row has more than another; a star where its interval leaves out zero."""
    value, ends = part["difference"], part["interval"]
    if value is None:
        return Cell("undefined")
    over = f"{part['seeds']} seeds" if part["interval_over"] == "seeds" else part["interval_over"]
    shown = ends and None not in ends and " – ".join(signed(column, e) for e in ends)
    text_of = signed(column, value) + " *" * part["clear"]
    return Cell(text_of, f"{shown} over {over}" if shown else "", sort=value)


def row_differences(table):
    """What the rows have more than the baseline of each column."""
    rows, found = [], table["differences"]
    for one in found:
        column = table["columns"][one["column"]]
        for part in one["parts"]:
            rows.append([heading(column), part["row"], one["baseline"], _difference(column, part),
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


def busy(table):
    """A sentence on what others took of the machine while something was timed."""
    busy = {row["name"]: said for row, _, cell in all_cells(table) if cell.get("timed")
            for said in cell.get("warnings", ())}  # fmt: skip
    if not busy:
        return []
    return [f"Warning: {'; '.join(f'{name}: {said}' for name, said in busy.items())}. These times "
            "are not those of an idle machine."]  # fmt: skip


def baseline_differences(table):
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
            span_of = part["interval"] and " – ".join(signed(column, v) for v in part["interval"])
            clear = " *" if part["clear"] else ""
            cells.append(Cell(signed(column, part["difference"]) + clear, span_of or ""))
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


def order_section(table, order, content):
    column, ranking = table["columns"][order["column"]], order["ranking"]
    title = f"{column['name']}: the order, by {column['metric_title']}"
    if ranking is None:
        return text_section(title, f"The order has no uncertainty: {order['no_ranking']}")
    cells = [table["rows"][k]["cells"][order["column"]] for k in order["rows"]]
    names = [table["rows"][k]["name"] for k in order["rows"]]
    columns = ["", column["metric_title"]]
    rows: list[list] = [
        [Cell(name), shown(column, cell)] for name, cell in zip(names, cells, strict=True)
    ]
    less = _less_first(table, column, ranking, order["rows"])
    if less is not None:
        base, cells_of_difference = less
        columns.append(f"less {names[base]}")
        for row, difference in zip(rows, cells_of_difference, strict=True):
            row.append(difference)
    if any(place["first"] is not None for place in ranking["places"]):
        columns += ["first in", "ranks"]
        for row, place in zip(rows, ranking["places"], strict=True):
            row += _place(place)
    columns.append("failed to enrol")
    for row, cell in zip(rows, cells, strict=True):
        rate = cell["failure_to_enrol_rate"]
        row.append(Cell(percent(rate), sort=rate))
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
    summary = f"Differences ({len(pairs)})"
    said = [text(sentence) for sentence in (note, *more) if sentence]
    return Section(title, [*said, table_block(columns, rows, sortable=True),
                           table_block(heads, pairs, summary=summary, sortable=True)])  # fmt: skip


def _less_first(table, column, ranking, numbers):
    """The place of the baseline (else of the first row) among the ranked, and what each row has
    more than it; None where no pair has a difference. ``numbers``: of the ranked rows."""
    names = [table["rows"][k]["name"] for k in numbers]
    base = names.index(table["baseline"]) if table.get("baseline") in names else 0
    found = {}
    for pair in ranking["pairs"]:
        value, interval = pair["difference"], pair["interval"]
        if base not in (pair["a"], pair["b"]) or value is None:
            continue
        if pair["a"] == base:  # a pair says its first row less its second
            value = -value
            interval = interval and [None if e is None else -e for e in reversed(interval)]
        other = pair["b"] if pair["a"] == base else pair["a"]
        ends = ""
        if interval and None not in interval:
            ends = " – ".join(signed(column, e) for e in interval)
        p = "" if pair["adjusted_p"] is None else f"p {p_value(pair['adjusted_p'])}"
        below = "\n".join(filter(None, [ends, p]))
        found[other] = Cell(signed(column, value), below, sort=value)
    if not found:
        return None
    return base, [found.get(k, Cell("–")) for k in range(len(names))]


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
