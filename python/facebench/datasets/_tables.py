"""Images in the rows of Parquet and Arrow files, read by pyarrow: what C++ asks for them."""

import os
import threading
from bisect import bisect_right
from collections import OrderedDict
from itertools import accumulate
from pathlib import Path

from facebench.core import Error

# As for gzip and xz: encoded images hardly shrink.
_MOST_FOLDED, _SMALL = 64, 64 << 20
_KEPT_GROUPS = 8


class _Parquet:
    """A file whose groups of rows are decoded when one of them is asked for."""

    def __init__(self, path, arrow):
        import pyarrow.parquet

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


class _Table:
    """The images of one or several files, by row, as an archive."""

    def __init__(self, paths, arrow):
        self._arrow = arrow
        self._paths, self._files = [], []
        self._groups = []  # (file, group), and where its rows begin
        self._labels = []
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
        try:
            file = (_Parquet if path.suffix.lower() == ".parquet" else _Arrow)(path, arrow)
            column, is_struct = _image_column(file.schema, arrow, path)
            if self._files and (column, is_struct) != self._column:
                raise Error(f"{path}: its images are in '{column}', those of others elsewhere.")
            self._column = column, is_struct
            kind = file.schema.field("label").type if "label" in file.schema.names else None
            if kind is not None and not arrow.types.is_integer(kind):
                raise Error(f"{path}: the column 'label' is {kind}, not whole numbers.")
            for group, rows in enumerate(file.rows):
                self._groups.append((len(self._files), group))
                labels = [-1] * rows if kind is None else file.column("label", group).to_pylist()
                if len(labels) != rows:
                    raise Error(f"{path}: {len(labels)} labels for {rows} rows.")
                self._labels.append(labels)
        except (arrow.ArrowException, OSError, KeyError) as error:
            raise Error(f"{path}: cannot be read: {_one_line(error)}") from None
        self._paths.append(path)
        self._files.append(file)
        self._labelled = kind is not None

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

    def label(self, index):
        group, row = self._place(index)
        label = self._labels[group][row]
        if label is None or (label < 0 and self._labelled):
            raise Error(f"{self.where(index)}: the label is {label}, no whole number from 0 on.")
        return label

    def name(self, index):
        label = self.label(index)
        return f"{index:09}" if label < 0 else f"{label}/{index:09}"

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
        self.label(index)
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


def open_table(path):
    """The archive of a .parquet or .arrow file, or of all in a folder in the order of names."""
    path = Path(path)
    try:
        import pyarrow
        import pyarrow.ipc
    except ImportError:
        raise Error(f"{path}: Parquet and Arrow files need pyarrow: pip install pyarrow") from None
    if not os.path.isdir(path):
        return _Table([path], pyarrow)
    files = [p for p in sorted(path.iterdir()) if p.suffix.lower() in (".parquet", ".arrow")]
    if len({p.suffix.lower() for p in files}) != 1:
        raise Error(
            f"{path}: .parquet and .arrow files are mixed in this folder. Give one of them."
        )
    return _Table(files, pyarrow)
