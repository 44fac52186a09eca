"""Images in the rows of Parquet and Arrow files, read by pyarrow: what C++ asks for them."""

import json
import threading
from bisect import bisect_right
from collections import OrderedDict
from itertools import accumulate
from pathlib import Path

from facebench._full import remote_address
from facebench.core import Error
from facebench.core._files import open_file
from facebench.datasets._remote import RemoteFile, fetch
from facebench.datasets._table_files import remote_table_files, table_files

# As for gzip and xz: encoded images hardly shrink.
_MOST_FOLDED, _SMALL = 64, 64 << 20
_KEPT_GROUPS = 8


class _Parquet:
    """A file whose groups of rows are decoded when one of them is asked for."""

    def __init__(self, path, arrow):
        import pyarrow.parquet

        if remote_address(path):
            self._file = pyarrow.parquet.ParquetFile(RemoteFile(path))
        else:
            self._file = pyarrow.parquet.ParquetFile(path, memory_map=True)
        self.schema = self._file.schema_arrow
        meta = self._file.metadata
        self.rows = [meta.row_group(i).num_rows for i in range(meta.num_row_groups)]
        for i in range(meta.num_row_groups):
            group = meta.row_group(i)
            columns = [group.column(k) for k in range(group.num_columns)]
            unfolded = sum(c.total_uncompressed_size for c in columns)
            folded = sum(c.total_compressed_size for c in columns)
            if unfolded > max(_SMALL, _MOST_FOLDED * folded):
                raise Error(f"{path}: row group {i} unfolds from {folded} to {unfolded} bytes.")

    def column(self, name, group):
        return self._file.read_row_group(group, columns=[name]).column(0)


class _Arrow:
    """An Arrow IPC file or stream, mapped into memory."""

    def __init__(self, path, arrow):
        if remote_address(path):
            source = arrow.BufferReader(fetch(path))
        else:
            source = arrow.memory_map(str(path))
        try:
            reader = arrow.ipc.open_file(source)
            self._batches = [reader.get_batch(i) for i in range(reader.num_record_batches)]
        except arrow.ArrowInvalid:
            source.seek(0)
            reader = arrow.ipc.open_stream(source)
            self._batches = list(reader)
        self.schema = reader.schema
        self.rows = [batch.num_rows for batch in self._batches]

    def column(self, name, group):
        column = self._batches[group].column(self.schema.get_field_index(name))
        column.validate(full=True)
        return column


def _image_column(schema, arrow, path):
    """The name of the one column of images, and whether it is a struct of bytes and path."""

    def is_bytes(kind):
        return arrow.types.is_binary(kind) or arrow.types.is_large_binary(kind)

    def holds_bytes(kind):
        return arrow.types.is_struct(kind) and any(
            f.name == "bytes" and is_bytes(f.type) for f in kind
        )

    structs = [f.name for f in schema if holds_bytes(f.type)]
    plain = [f.name for f in schema if is_bytes(f.type)]
    columns = structs or plain
    if len(columns) == 1:
        return columns[0], bool(structs)
    has = ", ".join(f"{f.name} ({f.type})" for f in schema) or "no columns"
    what = "no column" if not columns else f"{len(columns)} columns"
    raise Error(
        f"{path}: {what} of images; the table has {has}. Expected is one: a struct of 'bytes' and "
        "'path', or plain binary."
    )


def _class_names(schema, column):
    """The names of a ClassLabel, as Hugging Face's datasets keeps them in a schema's metadata; []
    where there are none."""
    try:
        told = json.loads((schema.metadata or {})[b"huggingface"])
        names = told["info"]["features"][column]["names"]
    except (KeyError, TypeError, ValueError, RecursionError):
        return []
    good = isinstance(names, list) and all(isinstance(name, str) and name for name in names)
    return names if good else []


def _label_kind(kind, arrow, path, column):
    """ "number" or "text" of a column's type; a dictionary's is that of its values."""
    if arrow.types.is_dictionary(kind):
        kind = kind.value_type
    # A column of whole numbers with a gap becomes one of floats in pandas.
    if arrow.types.is_integer(kind) or arrow.types.is_floating(kind):
        return "number"
    if arrow.types.is_string(kind) or arrow.types.is_large_string(kind):
        return "text"
    raise Error(f"{path}: the column '{column}' is {kind}, neither whole numbers nor texts.")


def _whole(value):
    """7 of 7.0; another value as it is."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


class _Table:
    """The images of one or several files, by row, as an archive."""

    _column: tuple[str, bool]  # of the images, and whether it is a struct
    _kind: str | None  # of the labels: text or number

    def __init__(self, paths, arrow, label, notes):
        self._arrow = arrow
        self.notes = notes
        self._column_of_labels = label or "label"
        self._label_asked = bool(label)
        self._class_names: list[str] = []
        self._paths: list[Path | str] = []  # str: addresses
        self._files: list[_Parquet | _Arrow] = []
        self._groups: list[tuple[int, int]] = []  # (file, group), and where its rows begin
        self._labels: list[list] = []
        for path in paths:
            self._add(path)
        counts = [self._files[f].rows[g] for f, g in self._groups]
        self._begins = [0, *accumulate(counts)]
        if not self._begins[-1]:
            raise Error(f"{paths[0]}: there is no row in the table.")
        self._recent = OrderedDict()
        self._lock = threading.Lock()

    def _add(self, path):
        arrow = self._arrow
        if not remote_address(path):
            open_file(path).close()  # no pipe, which pyarrow would wait for
        try:
            file = (_Parquet if str(path).lower().endswith(".parquet") else _Arrow)(path, arrow)
            column, is_struct = _image_column(file.schema, arrow, path)
            if self._files and (column, is_struct) != self._column:
                raise Error(f"{path}: its images are in '{column}', those of others elsewhere.")
            self._column = column, is_struct
            label, names = self._column_of_labels, file.schema.names
            if self._label_asked and label not in names:
                raise Error(f"{path}: no column '{label}'; there are {', '.join(names)}.")
            kind = None
            if label in names:
                kind = _label_kind(file.schema.field(label).type, arrow, path, label)
            if self._files and kind != self._kind:
                raise Error(f"{path}: its labels are {kind}, those of others {self._kind}.")
            self._kind = kind
            classes = _class_names(file.schema, label) if kind == "number" else []
            if self._files and classes != self._class_names:
                raise Error(f"{path}: its labels have other names than those of the files before.")
            self._class_names = classes
            others = [name for name in names if name != column]
            self.label_places = "its other columns are " + (", ".join(others) or "none")
            for group, rows in enumerate(file.rows):
                self._groups.append((len(self._files), group))
                labels = [-1] * rows if kind is None else file.column(label, group).to_pylist()
                if len(labels) != rows:
                    raise Error(f"{path}: {len(labels)} labels for {rows} rows.")
                self._labels.append(labels)
        except (arrow.ArrowException, OSError, KeyError) as error:
            raise Error(f"{path}: cannot be read: {_one_line(error)}") from None
        self._paths.append(path)
        self._files.append(file)

    def __len__(self):
        return self._begins[-1]

    def _place(self, index):
        """(number of the group, row in it)"""
        group = bisect_right(self._begins, index, hi=len(self._groups)) - 1
        return group, index - self._begins[group]

    def where(self, index):
        group, row = self._place(index)
        file, number = self._groups[group]
        row += sum(self._files[file].rows[:number])
        return f"{self._paths[file]}: row {row}"

    def _value(self, index):
        """A whole number from 0 on, a name, or None where there are no labels."""
        if self._kind is None:
            return None
        group, row = self._place(index)
        value = _whole(self._labels[group][row])
        if self._kind == "text":
            if value is None or not value.strip():
                raise Error(f"{self.where(index)}: the label is empty.")
            return value.strip()
        if isinstance(value, int) and value >= 1 << 62:
            raise Error(
                f"{self.where(index)}: the label {value} is larger than 2^62 - 1, the largest that "
                "is read. Write the column as text: its values are then names of people."
            )
        if not isinstance(value, int) or value < 0:
            raise Error(f"{self.where(index)}: the label is {value}, not a whole number from 0 on.")
        if self._class_names and value >= len(self._class_names):
            count = len(self._class_names)
            raise Error(f"{self.where(index)}: the label is {value} of {count} names.")
        return value

    def label(self, index):
        value = self._value(index)
        return value if isinstance(value, int) else -1

    def person(self, index):
        value = self._value(index)
        if self._class_names:
            return self._class_names[value]
        return "" if value is None else str(value)

    def name(self, index):
        value = self._value(index)
        return f"{index:09}" if value is None else f"{value}/{index:09}"

    def _group(self, group):
        with self._lock:
            if group in self._recent:
                self._recent.move_to_end(group)
                return self._recent[group]
            file, number = self._groups[group]
            column = self._files[file].column(self._column[0], number)
            self._recent[group] = column
            if len(self._recent) > _KEPT_GROUPS:
                self._recent.popitem(last=False)
            return column

    def read(self, index):
        self._value(index)
        group, row = self._place(index)
        try:
            value = self._group(group)[row].as_py()
        except (self._arrow.ArrowException, OSError) as error:
            raise Error(f"{self.where(index)}: cannot be read: {_one_line(error)}") from None
        path = None
        if self._column[1] and value is not None:
            path, value = value.get("path"), value["bytes"]
        if not value:
            why = f"names the file '{path}' and holds no bytes" if path else "holds no image"
            raise Error(f"{self.where(index)}: {why}.")
        return value


def _one_line(error):
    return " ".join(str(error).split())[:300]


def open_table(path, label="", split=""):
    """The archive of a .parquet or .arrow file, or of those in a folder (`table_files`).

    ``label``: the column that says who it is; "" = ``label``.
    """
    address = remote_address(path)
    try:
        import pyarrow
        import pyarrow.ipc
    except ImportError:
        raise Error(f"{path}: Parquet and Arrow files need pyarrow: pip install pyarrow") from None
    files: list  # of paths, or of addresses
    if address:
        files, notes = remote_table_files(address, split)
    else:
        files, notes = table_files(Path(path), split)
    return _Table(files, pyarrow, label, notes)
