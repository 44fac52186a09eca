"""Which files of a folder are a table of images: the Hub's layout, and what save_to_disk writes."""

import re
from collections import defaultdict
from pathlib import Path

from facebench._full import is_litter, numbering_note, require_all_shards, shard_note
from facebench.core import Error
from facebench.core._files import read_json
from facebench.datasets._remote import listed

_ENDINGS = (".parquet", ".arrow")
_DEEPEST = 3
# SPLIT-00000-of-00002.parquet, with a hash behind on the Hub.
_SHARD = re.compile(r"(.+?)-\d{5}-of-\d{5}(-[0-9a-f]+)?")
_SPLITS = "train|training|validation|valid|val|dev|test|testing|eval"
# As in Hugging Face's own rule: the word stands between others, or alone.
_WORD = re.compile(rf"(?:^|[-._ 0-9])({_SPLITS})(?:$|[-._ 0-9])", re.IGNORECASE)


def _entries(folder):
    """What lies in a folder, without what other programs left there, by name."""
    return sorted(entry for entry in folder.iterdir() if not is_litter(entry.name))


def _json(path):
    try:
        return read_json(path)
    except (Error, ValueError, RecursionError):
        return {}


def _split_of(name):
    """The split that a file's name says without its ending; "" where it says none."""
    if shard := _SHARD.fullmatch(name):
        return "" if shard[1] == "data" else shard[1]
    word = _WORD.search(name)
    return word[1] if word else ""


def _saved(folder):
    """The files of a folder of save_to_disk, as its state.json lists them; None of another one.
    `map` and `filter` leave cache-*.arrow beside them."""
    listed = _json(folder / "state.json")
    listed = listed.get("_data_files") if isinstance(listed, dict) else None
    if not isinstance(listed, list):
        return None
    names = [one.get("filename") if isinstance(one, dict) else None for one in listed]
    for name in names:
        if not isinstance(name, str) or Path(name).name != name:
            raise Error(f"{folder / 'state.json'}: lists a file that is not in its folder: {name}")
        if not (folder / name).is_file():
            raise Error(f"{folder / name}: is not there, and state.json lists it.")
    return [folder / name for name in names]


def _find(folder, before, depth, found):
    """Adds {split: files} of a folder, and of those below where it holds no table itself."""
    files = _saved(folder)
    saved = files is not None
    if files is None:
        files = [f for f in _entries(folder) if f.suffix.lower() in _ENDINGS and f.is_file()]
        files = [f for f in files if not (f.name.startswith("cache-") and f.suffix == ".arrow")]
    for file in files:
        split = "" if saved else _split_of(file.stem)
        found["/".join(part for part in (before, split) if part)].append(file)
    if files or depth == _DEEPEST:
        return
    for below in _entries(folder):
        if below.is_dir():
            inner = "" if below.name == "data" else below.name
            _find(below, "/".join(p for p in (before, inner) if p), depth + 1, found)


def table_files(path, split=""):
    """The files of one table: the file itself, or those of a folder in the order of their names;
    and what should be known of them, a sentence each.

    A split is told by the names of files (``train-00000-of-00002.parquet``, ``test.parquet``) and
    of folders (``train/``, a DatasetDict of ``save_to_disk``). Where there are several, ``split``
    names one, or several joined by ``+``. Error where it does not, where the folder holds no table,
    and where a part of those that names count (``-of-00002``) is not there.
    """
    if not path.is_dir():
        if split and _split_of(path.stem) not in ("", split):
            raise Error(f"{path}: is of the split {_split_of(path.stem)}, not {split}.")
        return [path], [note] if (note := shard_note(path.name)) else []
    found: defaultdict[str, list] = defaultdict(list)
    _find(path, "", 0, found)
    if not found:
        there = [entry.name for entry in _entries(path)]
        more = ", ..." if len(there) > 5 else ""
        raise Error(
            f"{path}: no .parquet or .arrow file in this folder or below it; it holds "
            f"{', '.join(there[:5]) + more or 'nothing'}."
        )
    files = _chosen(path, found, split)
    below = [file.relative_to(path).as_posix() for file in files]
    require_all_shards(below, str(path))
    return files, [note] if (note := numbering_note(below)) else []


def remote_table_files(address: str, split: str = "") -> tuple[list[str], list[str]]:
    """The same of an address: a file, a pattern with ``*``, or a folder on an object store."""
    if address.lower().endswith(_ENDINGS) and "*" not in address:
        stem = address.rpartition("/")[2].rpartition(".")[0]
        if split and _split_of(stem) not in ("", split):
            raise Error(f"{address}: is of the split {_split_of(stem)}, not {split}.")
        note = shard_note(address.rpartition("/")[2])
        return [address], [note] if note else []
    folder = address.partition("*")[0].rpartition("/")[0] if "*" in address else address
    start = len(folder.rstrip("/")) + 1
    found: defaultdict[str, list] = defaultdict(list)
    for file in listed(address):
        *folders, name = file[start:].split("/")
        if name.lower().endswith(_ENDINGS) and not is_litter(name):
            parts = [part for part in folders if part != "data"]
            parts.append(_split_of(name.rpartition(".")[0]))
            found["/".join(part for part in parts if part)].append(file)
    if not found:
        raise Error(f"{address}: no .parquet or .arrow file there.")
    files = _chosen(address, found, split)
    below = [file[start:] for file in files]
    require_all_shards(below, address)
    return files, [note] if (note := numbering_note(below)) else []


def _chosen(path, found, split):
    """The files of the splits that are asked for, of all that were found by split."""
    names = ", ".join(f"{name or '(no split)'} ({len(files)})" for name, files in found.items())
    if not split:
        if len(found) > 1:
            first = next(name for name in found if name)
            raise Error(
                f"{path}: holds several splits, by number of files: {names}. Name one (--split "
                f"{first}), or several joined by +; or give a file."
            )
        chosen = list(found)
    else:
        chosen = split.split("+")
        for one in chosen:
            if one not in found:
                raise Error(f"{path}: no split '{one}'; there are, by number of files: {names}.")
    files = [file for one in dict.fromkeys(chosen) for file in found[one]]
    if len({str(file).lower().rpartition(".")[2] for file in files}) != 1:
        raise Error(
            f"{path}: .parquet and .arrow files are mixed in this folder. Give one of them."
        )
    return files
