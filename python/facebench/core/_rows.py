"""Results as rows of a table, for data frames, Parquet and JSON."""

import os
from pathlib import Path

from facebench import _eval


def rows_of(metrics: dict) -> list[dict]:
    """A dict for each number in what ``metrics.json`` holds: protocol, track, metric, value, low,
    high, level, method. Of a matrix ``row`` and ``column`` say which of its numbers it is."""
    rows = []
    for track, measured in metrics["tracks"].items():
        for name, cell in measured["metrics"].items():
            for place, one in _numbers(cell):
                low, high = one["interval"] or (None, None)
                same = {"protocol": metrics["protocol"]["id"], "track": track, "metric": name}
                value = {"value": one["value"], "low": low, "high": high}
                rest = {"level": one["level"], "method": one["method"]}
                rows.append(same | place | value | rest)
    return rows


def entries(cells: dict) -> dict:
    """The numbers of a track, each as its cell in ``metrics.json``; a matrix gives one for each
    entry, called as ``dprime[frontal,profile]``."""
    return {
        cell_name({"metric": name, **place}): one
        for name, cell in cells.items()
        for place, one in _numbers(cell)
    }


def cell_name(row: dict) -> str:
    """What the number of a row is called among its track's, with the place in a matrix.

    >>> from facebench.core._rows import cell_name
    >>> cell_name({"metric": "dprime", "row": "frontal", "column": "profile"})
    'dprime[frontal,profile]'
    """
    place = (row.get("row"), row.get("column"))
    return row["metric"] + ("[{},{}]".format(*place) if any(place) else "")


def _numbers(cell):
    """(row and column of a matrix, the cell of this number) of each number in a cell."""
    if "rows" not in cell:
        yield {}, cell
        return
    for i, row in enumerate(cell["rows"]):
        for j, column in enumerate(cell["columns"]):
            interval = cell["interval"] and cell["interval"][i][j]
            one = cell | {"value": cell["value"][i][j], "interval": interval}
            yield {"row": row, "column": column}, one


def frame(rows: list[dict]):
    """The rows as a pandas DataFrame."""
    try:
        import pandas
    except ImportError:
        raise ImportError("a frame needs pandas: pip install pandas") from None
    return pandas.DataFrame(rows)


def write_parquet(rows: list[dict], out) -> Path:
    """Write the rows to a Parquet file, whole or not at all; its path."""
    if out is None:
        raise ValueError("parquet needs out=, the file to write")
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise ImportError("Parquet files need pyarrow: pip install pyarrow") from None
    columns = list(dict.fromkeys(key for row in rows for key in row))
    buffer = pa.BufferOutputStream()
    parquet.write_table(pa.table({c: [row.get(c) for row in rows] for c in columns}), buffer)
    _eval.write_file(os.fspath(out), buffer.getvalue().to_pybytes())
    return Path(out)


def rests_on(cell):
    """The counts behind a number at a false accept (or false positive identification) rate, as
    text.

    ``cell``: the number as in ``metrics.json``; "" for numbers of another kind.

    >>> from facebench.core._rows import rests_on
    >>> rests_on({"far_achieved": 0.001, "false_accepts": 3})
    'FAR 0.1 %, 3 false accepts'
    """
    for rate, achieved, errors in (
        ("FAR", "far_achieved", "false_accepts"),
        ("FPIR", "fpir_achieved", "false_positives"),
    ):
        if cell.get(achieved) is not None:
            return f"{rate} {100 * cell[achieved]:.4g} %, {cell[errors]} {errors.replace('_', ' ')}"
    return ""
