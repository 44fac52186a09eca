"""Embeddings in tables: text (CSV), Parquet, and the frames of pandas, polars and pyarrow."""

import operator
import re

from facebench import _eval
from facebench.core._arguments import brief
from facebench.core._files import read_text
from facebench.io import _embedding_columns as columns_of
from facebench.io._text_tables import is_number, number
from facebench.io._text_tables import rows as text_rows

Error = _eval.Error

_SEPARATORS = "\t;,"


def read_csv(where, asked, named):
    """Values, names and what they were read from, of a text in rows."""
    import numpy as np

    text = read_text(where)
    first_line = text.partition("\n")[0]
    separator = max(_SEPARATORS, key=first_line.count) if first_line else ","
    numbered_rows = list(text_rows(where, text, separator))
    if not numbered_rows:
        raise Error(f"{where}: is empty")
    lines, rows = zip(*numbered_rows, strict=True)  # and the line that each row ends in
    headers = rows[0] if _is_header(rows[0]) else None
    begin = 0 if headers is None else 1
    for line, row in zip(lines[begin:], rows[begin:], strict=True):
        if len(row) != len(rows[begin]):
            raise Error(
                f"{where}:{line}: {len(row)} columns, {len(rows[begin])} in the rows before"
            )
    if headers is not None and len(rows) > 1 and len(headers) != len(rows[1]):
        raise Error(f"{where}:{lines[1]}: {len(rows[1])} columns, {len(headers)} headers")
    if len(rows) == begin:
        raise Error(f"{where}: holds no rows, and so no numbers")
    kinds = [_kind_of_cell(cell) for cell in rows[begin]]
    if headers is not None:
        kinds = _numbers_of_families(headers, kinds)
    if len(kinds) == 1:
        raise Error(
            f"{where}: holds {len(rows) - begin} names, but no numbers. Columns are separated by "
            "commas, semicolons or tabs"
        )

    def column(at):
        """Its cells; their numbers where all are."""
        cells = [row[at] for row in rows[begin:]]
        try:
            return np.array([number(cell) for cell in cells])
        except ValueError:
            return cells

    table = columns_of.Table(where, headers, kinds, column)
    if "numbers" not in kinds and "lists" not in kinds:
        raise Error(_not_a_number(table, lines[begin], rows[begin], range(1, len(kinds))))
    choice = columns_of.choose(table, asked, named)
    lists = kinds[choice.values[0]] == "lists"
    cells_of = operator.itemgetter(*choice.values)
    values = []
    for line, row in zip(lines[begin:], rows[begin:], strict=True):
        cells = cells_of(row)
        try:
            if lists:
                cells = _list_cells(cells)
            values.append([number(cell) for cell in ([cells] if isinstance(cells, str) else cells)])
        except ValueError:
            raise Error(_not_a_number(table, line, row, choice.values)) from None
        if len(values[-1]) != len(values[0]):
            raise Error(
                f"{where}:{line}: a list of {len(values[-1])} numbers, {len(values[0])} before"
            )
    names = None if choice.name is None else [row[choice.name] for row in rows[begin:]]
    return _checked(choice, np.array(values, np.float64), names)


def _not_a_number(table, line, row, places):
    """The message for the first cell there that is not a number, with what to do."""
    if table.headers is not None and [c.strip() for c in row] == [h.strip() for h in table.headers]:
        return (
            f"{table.where}:{line}: the line of headers is there once more. Take it out: tables "
            "that were put one behind the other have one each"
        )
    at = next((at for at in places if not is_number(row[at])), places[0])
    cell, title = row[at].strip(), table.title(at)
    said = f"{brief(cell)!r} in {title}" if cell else f"the cell of {title} is empty"
    if "," in cell and is_number(cell.replace(",", "")):
        todo = "write 0.5 for 0,5, and 1234 for 1,234"
    elif cell.endswith("%"):
        todo = "write it without the sign"
    else:
        todo = "a name and the numbers of its embedding are expected"
    return f"{table.where}:{line}: a value is not a number ({said}); {todo}"


def _numbers_of_families(headers, kinds):
    """The kinds, where a text in a column of e0, e1, ... is a number that is written wrongly."""
    found = [columns_of.NUMBERED.fullmatch(header.strip()) for header in headers]
    prefixes = {f[1] for f, kind in zip(found, kinds, strict=True) if f and kind == "numbers"}
    return [
        "numbers" if f and f[1] and f[1] in prefixes else kind
        for f, kind in zip(found, kinds, strict=True)
    ]


def _checked(choice, values, names):
    columns_of.check_numbers(choice, values)
    manifest = choice.manifest(values.shape[1])
    said = "" if choice.asked else columns_of.apart_sentence(choice.table.where, values, choice)
    if said:
        manifest["apart"] = said
    return values, names, manifest


def _is_header(row):
    """Whether a first row names the columns: pandas also calls them 0, 1, 2, ..."""
    cells = [cell.strip() for cell in row]
    if any(cell.lower() in columns_of.NAMES for cell in cells):
        return True
    numbers = [at for at, cell in enumerate(cells) if is_number(cell)]
    if any(not cells[at].isdigit() for at in numbers) or any(c.startswith("[") for c in cells):
        return False
    if len(cells) < 2 or not numbers or numbers[-1] != len(cells) - 1:
        return len(cells) > 1 or not numbers
    counted = [int(cells[at]) for at in numbers]
    first = cells[0] == "" or numbers[0] == 0 or len(cells) > 8
    return first and counted in (list(range(len(counted))), list(range(1, len(counted) + 1)))


def _kind_of_cell(cell):
    if cell.startswith("["):
        return "lists"
    return "numbers" if cell.strip() == "" or is_number(cell) else "text"


def _list_cells(cell):
    """Those of "[0.5, 1.5]", as Python and numpy write it; ValueError where it is cut short."""
    if not (cell.startswith("[") and cell.endswith("]")):
        raise ValueError
    return re.split(r"[\s,]+", cell[1:-1].strip())


def read_parquet(where, asked, named):
    """The same of a Parquet file."""
    try:
        import pyarrow.parquet
    except ImportError:
        raise ImportError(f"{where}: Parquet needs pyarrow: pip install pyarrow") from None
    try:
        table = pyarrow.parquet.read_table(where)
    except (OSError, ValueError) as error:  # ArrowInvalid is a ValueError
        raise Error(f"{where}: is not a Parquet file, or damaged ({brief(str(error))})") from None
    return read_frame(table, where, asked, named)


def is_frame(values):
    """Whether it is a table of pandas, polars or pyarrow, none of which is imported."""
    one_column = getattr(values, "ndim", 2) == 1  # a Series of pandas
    return not one_column and any(
        hasattr(values, name) for name in ("column_names", "iloc", "get_columns")
    )


def read_frame(frame, where, asked, named):
    """The same of a table in memory. An index of pandas that holds texts is a column of names."""
    import numpy as np

    arrays = [(str(header), values) for header, values in _columns(frame)]
    kinds = [_kind_of_array(values) for _, values in arrays]
    table = columns_of.Table(
        where, [header for header, _ in arrays], kinds, lambda at: arrays[at][1]
    )
    choice = columns_of.choose(table, asked, named)
    if kinds[choice.values[0]] == "lists":
        values = _stacked(arrays[choice.values[0]][1], where)
    else:
        values = np.stack([arrays[at][1] for at in choice.values], axis=1)
    names = None if choice.name is None else list(arrays[choice.name][1])
    return _checked(choice, values, names)


def _columns(frame):
    """(header, array) of each column."""
    import numpy as np

    if hasattr(frame, "column_names"):  # pyarrow
        for header in frame.column_names:
            column = frame[header]
            plain = column.to_numpy() if _is_plain(column.type) else None
            yield (
                header,
                np.array([*column.to_pylist(), None], object)[:-1] if plain is None else plain,
            )
    elif hasattr(frame, "iloc"):  # pandas
        if frame.index.dtype.kind not in "iu":
            yield frame.index.name or "", np.asarray(frame.index)
        for at, header in enumerate(frame.columns):
            yield header, frame.iloc[:, at].to_numpy()
    else:  # polars
        for column in frame.get_columns():
            yield column.name, column.to_numpy()


def _is_plain(kind):
    return str(kind).startswith(("int", "uint", "float", "double", "halffloat"))


def _kind_of_array(values):
    if values.dtype.kind in "fiu":
        return "lists" if values.ndim == 2 else "numbers"
    first = values[0] if len(values) else None
    if isinstance(first, (str, bytes)):
        return "text"
    if isinstance(first, (list, tuple)) or getattr(first, "ndim", 0) == 1:
        return "lists"
    return "text" if values.dtype.kind in "UT" else f"{values.dtype}"


def _stacked(vectors, where):
    import numpy as np

    rows = [np.asarray(vector) for vector in vectors]
    for k, row in enumerate(rows):
        if row.shape != rows[0].shape:
            raise Error(f"{where}: row {k} has the shape {row.shape}, row 0 {rows[0].shape}")
    return np.stack(rows)
