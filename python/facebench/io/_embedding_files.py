"""Embeddings from the files that other tools write, for `facebench.io.read_embeddings`."""

import math
import os
import zipfile
import zlib
from pathlib import Path

from facebench import _eval
from facebench.core import _log
from facebench.core._arguments import brief
from facebench.core._files import open_file, read_text
from facebench.io import _embedding_tables as tables
from facebench.io._embedding_columns import NAMES, VALUES, apart_sentence

Error = _eval.Error
EmbeddingSet = _eval.EmbeddingSet

# What numpy and zipfile raise for damaged, encrypted or cut files.
_DAMAGED = (
    ValueError,
    OSError,
    KeyError,
    EOFError,
    RuntimeError,
    SystemError,  # of text that holds numbers beyond the last character
    zipfile.BadZipFile,
    zlib.error,
)
# How files begin, and what they are.
_BEGINNINGS = (
    (b"\x89HDF\r\n\x1a\n", "h5"),
    (b"\x93NUMPY", "npy"),
    (b"PAR1", "parquet"),
    (b"PK\x03\x04", "npz"),
    (b"\x80", "pickle"),
)
# A zip archive may stand for a thousand times its size. What is larger than this is refused where
# it is more than a hundred times the bytes that hold it; embeddings hardly compress at all.
_EXPANDED = 1 << 28
_KINDS = "facebench reads .h5, .npz, .npy with names, .csv and .parquet (docs/your-own-model.md)"


def _kind(where):
    with open_file(where) as file:
        first = file.read(8)
    kind = next((kind for start, kind in _BEGINNINGS if first.startswith(start)), None)
    if kind is None and Path(where).suffix.lower() in (".csv", ".tsv", ".txt"):
        return "csv"
    return kind


def is_ours(path):
    """Whether facebench's own reader takes the file: HDF5, or what it has to refuse."""
    return _kind(os.fspath(path)) in (None, "h5")


def read(path, names=None, columns=None):
    """The `EmbeddingSet` in a file of any kind that is known, told apart by its first bytes.

    ``names``: for a file without them, a sequence or the path of a text file with one a line; of
    ``x.npy`` also looked for in ``x.txt``. ``columns``: of a table, see `read_embeddings`.
    facebench.Error says what the file is and what to do.
    """
    where = os.fspath(path)
    kind = _kind(where)
    if columns is not None and kind not in _TABLES:
        raise ValueError(f"columns: {where} has none; they are those of .csv and .parquet")
    ending = Path(where).suffix.lower()
    if kind is None and ending in (".npy", ".npz", ".parquet"):
        raise Error(f"{where}: is not a {ending} file, by its first bytes. Is it cut off? {_KINDS}")
    if kind in (None, "h5"):
        return _eval.read_embeddings(where)
    if kind == "pickle":
        raise Error(
            f"{where}: is a pickle, which is not read, since that can run any code. Write it with "
            "numpy.savez(FILE, embeddings=values, names=names)"
        )
    manifest, status = None, None
    if kind in _TABLES:
        values, stored_names, manifest = _TABLES[kind](where, columns, names is not None)
    else:
        values, stored_names, status = _READERS[kind](where)
    names = _names(names, where, stored_names)
    try:
        return make(values, names, status, where, manifest)
    except (Error, ValueError, TypeError, IndexError) as error:  # of this file, not of an argument
        reason = str(error).removeprefix(f"{where}: ").removeprefix("embeddings: ")
        raise Error(f"{where}: {reason}") from None


def is_array(embeddings) -> bool:
    """Whether they are an array, or the file of one: nothing in it has names."""
    if isinstance(embeddings, str | os.PathLike):
        return _kind(os.fspath(embeddings)) == "npy"
    return not (isinstance(embeddings, dict | EmbeddingSet) or tables.is_frame(embeddings))


def of_frame(frame, names=None, columns=None, status=None):
    """An `EmbeddingSet` of a table of pandas, polars or pyarrow."""
    where = "embeddings"
    values, own, manifest = tables.read_frame(frame, where, columns, names is not None)
    return make(values, own if names is None else names, status, where, manifest)


def make(values, names, status=None, where="embeddings", manifest=None):
    """An `EmbeddingSet` of numbers of any type, (N, D), and their names."""
    import numpy as np

    values, names = np.asarray(values), list(names)
    if values.ndim != 2 or values.dtype.kind not in "fiu":
        raise Error(f"{where}: expected numbers (N, D), found {values.shape} of {values.dtype}")
    if len(names) != len(values):
        raise Error(f"{where}: {len(values)} embeddings and {len(names)} names")
    if values.shape[1] == 0:
        raise Error(f"{where}: holds {len(names)} names, but no numbers")
    with np.errstate(over="ignore", under="ignore"):
        kept = values.astype(np.float32)
    if values.dtype.itemsize > 4 and values.dtype.kind == "f":
        lost = (np.isinf(kept) & np.isfinite(values)).any(1) | (~kept.any(1) & values.any(1))
        if lost.any():
            row = int(lost.argmax())
            number = values[row][abs(values[row]).argmax()]
            raise Error(
                f"{where}: row {row} ({brief(_text(names[row]))}) holds {number:.3g}, which "
                "float32 does not hold. Bring the embeddings to another scale"
            )
    if manifest is None and (said := apart_sentence(where, values)):
        manifest = {"apart": said}
    if said := (manifest or {}).get("apart"):
        _log.warn(said, stacklevel=3)
    return EmbeddingSet(kept, [_text(n) for n in names], status, manifest)


def of_mapping(values):
    """An `EmbeddingSet` of a dict {name: vector}."""
    return make(_stack(values, "embeddings"), values.keys())


def _stack(vectors, where):
    """The rows of a dict {name: vector}; facebench.Error for vectors of several lengths."""
    import numpy as np

    rows = {name: np.asarray(vector) for name, vector in vectors.items()}
    if not rows:
        raise Error(f"{where}: holds no embedding")
    first = next(iter(rows))
    for name, row in rows.items():
        if row.shape != rows[first].shape:
            raise Error(
                f"{where}: the embedding of {brief(name)} has the shape {row.shape}, that of "
                f"{brief(first)} {rows[first].shape}"
            )
    return np.stack(list(rows.values()))


def _text(name):
    """A name; text of C programs and older numpy files is bytes."""
    return os.fsdecode(name) if isinstance(name, bytes) else str(name)


def _names(names, where, embedded_names):
    beside = Path(where).with_suffix(".txt")
    if (
        names is None
        and embedded_names is None
        and os.path.isfile(beside)
        and beside != Path(where)
    ):
        names = beside
    if names is None:
        if embedded_names is None:
            raise Error(
                f"{where}: holds no names. Give a text file with one a line: --names FILE (in "
                f"Python names=), or {beside.name} beside it"
            )
        return embedded_names
    if isinstance(names, str | os.PathLike):
        # Not splitlines(), which also cuts at characters that names may hold (U+0085, U+2028).
        lines = read_text(os.fspath(names)).replace("\r\n", "\n").split("\n")
        return lines[:-1] if lines[-1] == "" else lines
    return list(names)


def _check_claim(file, size, what):
    """ValueError where a .npy's header claims more numbers than the file of that size holds."""
    import numpy as np

    version = np.lib.format.read_magic(file)
    header = np.lib.format.read_array_header_1_0
    if version != (1, 0):
        header = np.lib.format.read_array_header_2_0
    try:
        shape, _, dtype = header(file)
    except Exception as error:  # whatever Python's own parser raises for it
        raise ValueError(f"{what} is malformed ({type(error).__name__})") from None
    if any(type(side) is not int or not 0 <= side < 1 << 62 for side in shape):
        raise ValueError(f"{what} has a side that is not a length: {brief(str(shape))}")
    claimed, there = math.prod(shape) * dtype.itemsize, size - file.tell()
    if claimed > there and not dtype.hasobject:
        raise ValueError(f"{what}: claims {claimed} bytes, {there} are there")


def _check_entries(archive):
    """The arrays of a .npz that are wanted, by name: embeddings, names and status where they are
    called so, else all. ValueError where they stand for too much, or claim more than is there."""
    entries = {}
    for entry in archive.infolist():
        if entry.filename in entries:
            raise ValueError(f"'{brief(entry.filename)}' is in it twice")
        entries[entry.filename] = entry
    keys = [name.removesuffix(".npy") for name in entries]
    if any(key in VALUES for key in keys):
        keys = [k for k in keys if k in VALUES or k in NAMES or k == "status"]
    members = [entries.get(f"{key}.npy") or entries[key] for key in keys]
    packed, expanded = (sum(getattr(e, s) for e in members) for s in ("compress_size", "file_size"))
    if expanded > max(_EXPANDED, 100 * packed):
        raise ValueError(f"its arrays expand {packed} bytes to {expanded}")
    for entry in members:
        if entry.filename.endswith(".npy"):
            with archive.open(entry) as file:
                _check_claim(file, entry.file_size, f"'{brief(entry.filename)}'")
    return keys


def _read_npz(where):
    import numpy as np

    try:
        with open_file(where) as raw:
            with zipfile.ZipFile(raw) as archive:
                keys = _check_entries(archive)
            raw.seek(0)
            with np.load(raw, allow_pickle=False) as file:
                arrays = {key: file[key] for key in keys}
        names = next((arrays[key] for key in NAMES if key in arrays), None)
        listed = None if names is None else names.tolist()
    except _DAMAGED as error:
        raise Error(
            f"{where}: is a zip archive, but no .npz of plain arrays ({brief(str(error))}). "
            f"{_KINDS}; names must be an array of text, not of objects"
        ) from None
    several = [key for key in VALUES if key in arrays and arrays[key].ndim == 2]
    if len(several) > 1:
        raise Error(
            f"{where}: {' and '.join(several)} can be the embedding. Keep the one that is meant: "
            "numpy.savez(FILE, embeddings=values, names=names)"
        )
    rows = next((arrays[key] for key in VALUES if key in arrays), None)
    if rows is None and arrays and all(getattr(a, "ndim", 0) == 1 for a in arrays.values()):
        rows, names = _stack(arrays, where), np.array(list(arrays))  # {name: vector}
        listed = names.tolist()
    if rows is None:
        raise Error(
            f"{where}: holds {', '.join(map(brief, list(arrays)[:5]))}; expected 'embeddings' "
            "(N, D) and 'names' (N)"
        )
    if names is not None and np.ndim(names) != 1:
        raise Error(f"{where}: its names have the shape {np.shape(names)}; expected (N)")
    return rows, listed, arrays.get("status")


def read_array(where):
    """The array of an .npy file."""
    import numpy as np

    try:
        with open_file(where) as file:
            _check_claim(file, os.fstat(file.fileno()).st_size, "the header")
            file.seek(0)
            return np.load(file, allow_pickle=False)
    except _DAMAGED as error:
        raise Error(f"{where}: {brief(str(error))}. {_KINDS}") from None


def _read_npy(where):
    return read_array(where), None, None


_READERS = {"npz": _read_npz, "npy": _read_npy}
_TABLES = {"csv": tables.read_csv, "parquet": tables.read_parquet}
