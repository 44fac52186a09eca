"""Embeddings from the files that other tools write, for `facebench.io.read_embeddings`."""

import csv
import os
import zipfile
from pathlib import Path

from facebench import _eval
from facebench._arguments import brief

Error = _eval.Error
EmbeddingSet = _eval.EmbeddingSet

VALUES = ("embeddings", "embedding", "values", "features", "feature", "feats", "vectors", "arr_0")
NAMES = ("names", "name", "paths", "path", "files", "file", "filenames", "filename", "images")
# How files begin, and what they are.
_BEGINNINGS = (
    (b"\x89HDF\r\n\x1a\n", "h5"),
    (b"\x93NUMPY", "npy"),
    (b"PAR1", "parquet"),
    (b"PK\x03\x04", "npz"),
    (b"\x80", "pickle"),
)
_KINDS = "facebench reads .h5, .npz, .npy with names, .csv and .parquet (docs/your-own-model.md)"


def _kind(where):
    try:
        with open(where, "rb") as file:
            first = file.read(8)
    except OSError as error:
        raise Error(f"{brief(where)}: cannot be read: {error.strerror}") from None
    kind = next((kind for start, kind in _BEGINNINGS if first.startswith(start)), None)
    if kind is None and Path(where).suffix.lower() in (".csv", ".tsv", ".txt"):
        return "csv"
    return kind


def is_ours(path):
    """Whether facebench's own reader takes the file: HDF5, or what it has to refuse."""
    return _kind(os.fspath(path)) in (None, "h5")


def read(path, names=None):
    """The `EmbeddingSet` in a file of any kind that is known, told apart by its first bytes.

    ``names``: for a file without them, a sequence or the path of a text file with one a line; of
    ``x.npy`` also looked for in ``x.txt``. facebench.Error says what the file is and what to do.
    """
    where = os.fspath(path)
    kind = _kind(where)
    if kind in (None, "h5"):
        return _eval.read_embeddings(where)
    if kind == "pickle":
        raise Error(
            f"{where}: is a pickle, which is not read, since that can run any code. Write it with "
            "numpy.savez(FILE, embeddings=values, names=names)"
        )
    values, found, status = _READERS[kind](where)
    names = _names(names, where, found)
    return make(values, names, status, where)


def make(values, names, status=None, where="embeddings"):
    """An `EmbeddingSet` of numbers of any type, (N, D), and their names."""
    import numpy as np

    values, names = np.asarray(values), list(names)
    if values.ndim != 2 or values.dtype.kind not in "fiu":
        raise Error(f"{where}: expected numbers (N, D), found {values.shape} of {values.dtype}")
    if len(names) != len(values):
        raise Error(f"{where}: {len(values)} embeddings and {len(names)} names")
    with np.errstate(over="ignore"):
        return EmbeddingSet(values.astype(np.float32), [str(n) for n in names], status)


def of_mapping(values):
    """An `EmbeddingSet` of a dict {name: vector}."""
    import numpy as np

    return make(np.stack([np.asarray(v) for v in values.values()]), values.keys())


def _names(given, where, found):
    beside = Path(where).with_suffix(".txt")
    if given is None and found is None and beside.is_file() and beside != Path(where):
        given = beside
    if given is None:
        if found is None:
            raise Error(
                f"{where}: holds no names. Give a text file with one a line: --names FILE (in "
                f"Python names=), or {beside.name} beside it"
            )
        return found
    if isinstance(given, str | os.PathLike):
        return Path(given).read_text(encoding="utf-8").splitlines()
    return list(given)


def _read_npz(where):
    import numpy as np

    try:
        with open(where, "rb") as raw, np.load(raw, allow_pickle=False) as file:
            arrays = {key: file[key] for key in file.files}
    except (ValueError, OSError, KeyError, zipfile.BadZipFile) as error:
        raise Error(
            f"{where}: is a zip archive, but no .npz of plain arrays ({brief(str(error))}). "
            f"{_KINDS}; names must be an array of text, not of objects"
        ) from None
    rows = next((arrays[key] for key in VALUES if key in arrays), None)
    names = next((arrays[key] for key in NAMES if key in arrays), None)
    if rows is None and arrays and all(a.ndim == 1 for a in arrays.values()):
        rows, names = np.stack(list(arrays.values())), list(arrays)  # {name: vector}
    if rows is None:
        raise Error(
            f"{where}: holds {', '.join(map(brief, list(arrays)[:5]))}; expected 'embeddings' "
            "(N, D) and 'names' (N)"
        )
    return rows, None if names is None else [str(n) for n in names], arrays.get("status")


def _read_npy(where):
    import numpy as np

    try:
        return np.load(where, allow_pickle=False), None, None
    except ValueError as error:
        raise Error(f"{where}: {brief(str(error))}. {_KINDS}") from None


def _read_csv(where):
    """A column of names, by its header or the first; all other columns are the vector."""
    import numpy as np

    with open(where, newline="", encoding="utf-8-sig") as file:
        line = file.readline()
        file.seek(0)
        separator = next((s for s in "\t;," if s in line), ",")
        rows = [row for row in csv.reader(file, delimiter=separator) if row]
    if not rows:
        raise Error(f"{where}: is empty. {_KINDS}")
    header = [cell.strip().lower() for cell in rows[0]]
    at = next((header.index(key) for key in NAMES if key in header), 0)
    first = 1 if at or header[at] in NAMES or not _is_number(header[-1]) else 0
    names, values = [], []
    for number, row in enumerate(rows[first:], first + 1):
        try:
            values.append([float(cell) for i, cell in enumerate(row) if i != at])
        except ValueError:
            raise Error(
                f"{where}:{number}: a value is not a number. A name (column '{header[at]}') and "
                "the numbers of its embedding are expected"
            ) from None
        names.append(row[at])
        if len(row) != len(rows[first]):
            raise Error(
                f"{where}:{number}: {len(row)} columns, {len(rows[first])} in the rows before"
            )
    return np.array(values, np.float64).reshape(len(values), -1), names, None


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def _read_parquet(where):
    import numpy as np

    try:
        import pyarrow.parquet
    except ImportError:
        raise ImportError(f"{where}: Parquet needs pyarrow: pip install pyarrow") from None
    table = pyarrow.parquet.read_table(where)
    at = {name.lower(): name for name in table.column_names}
    name = next((at[key] for key in NAMES if key in at), None)
    if name is None:
        raise Error(f"{where}: has no column of names ({', '.join(NAMES[:4])}, ...)")
    rows = next((at[key] for key in VALUES if key in at), None)
    if rows is not None:
        values = np.stack([np.asarray(v) for v in table[rows].to_pylist()])
    else:
        columns = [c for c in table.column_names if c != name]
        values = np.stack([table[c].to_numpy() for c in columns], axis=1)
    return values, table[name].to_pylist(), None


_READERS = {"npz": _read_npz, "npy": _read_npy, "csv": _read_csv, "parquet": _read_parquet}
