"""Differences between the rows of a table: of one training each over draws of people, of several
over their seeds."""

import math
from pathlib import Path

from facebench import analysis
from facebench.core import Error
from facebench.lab.studies.seeds import paired


def row_differences(table: dict, study, out, threads=0) -> list[dict]:
    """Of each column what its rows have more than the baseline, or than the first that has a value:
    {"column", "baseline", "parts"}, a part a row: row, difference, interval, interval_over,
    p_value, seeds. Rows of one seed are compared in the same draws of people, rows of several by
    seed. What is timed is left out, and what has no chance that is known."""
    found = []
    for number, column in enumerate(table["columns"]):
        cells = {row["name"]: row["cells"][number] for row in table["rows"]}
        there = {n: c for n, c in cells.items() if _has_values(c)}
        baseline = table["baseline"] or next(iter(there), "")
        if baseline not in there or len(there) < 2:
            continue
        base = there.pop(baseline)
        parts = [_part(name, column, base, cell, study, Path(out), threads)
                 for name, cell in there.items()]  # fmt: skip
        parts = [part for part in parts if part]
        if parts:
            found.append({"column": number, "baseline": baseline, "parts": parts})
    return found


def _has_values(cell):
    return bool(cell.get("values")) and None not in cell["values"] and not cell.get("timed")


def _part(name, column, base, cell, study, out, threads):
    seeds = min(len(base["values"]), len(cell["values"]))
    if seeds > 1:
        limits = (-1, 1) if column.get("rate") else (-math.inf, math.inf)
        pairs = paired(base["values"][:seeds], cell["values"][:seeds], limits=limits)
        known = {"interval_over": "seeds", "p_value": None, "clear": pairs["clear"]}
        return {"row": name, "seeds": seeds, "difference": pairs["difference"],
                "interval": pairs["interval"], **known}  # fmt: skip
    if not cell.get("run") or not base.get("run"):
        return None
    if any(c["interval_over"] != "people" or None in c["interval"] for c in (base, cell)):
        return None  # too few people to draw from: the cells say why
    try:
        (pair,) = analysis.rank_runs(
            [out / cell["run"], out / base["run"]], column["track"], column["metric"],
            replicates=study.replicates, seed=study.seed, level=study.level, threads=threads,
        )["pairs"]  # fmt: skip
    except (ValueError, Error):  # of other comparisons, or a number without draws
        return None
    ends, p = pair["interval"], pair["p_value"]
    clear = bool(ends) and None not in ends and (ends[0] > 0 or ends[1] < 0)
    return {"row": name, "seeds": 1, "difference": pair["difference"], "interval": ends,
            "interval_over": "people", "p_value": p, "clear": clear}  # fmt: skip


def chance_left_out(table: dict, parts) -> str:
    """What the intervals of differences do not hold, as a sentence; "" where they hold all.
    ``parts``: of `row_differences`, or cells."""
    if not any(part["seeds"] == 1 for part in parts):
        return ""
    trained = any(row.get("trained") for row in table["rows"])
    what = "set seeds = 3 or more." if trained else "this compares models, not methods."
    return (
        "Each row is one training. Draws of test people do not hold the training's own chance, "
        f"which another seed shows: {what}"
    )
