"""The folder of a result's parts, OUT.shards: which folder is ours, and which parts still hold."""

import hashlib
import json
import os
import re
import secrets
from pathlib import Path

from facebench import _eval
from facebench._eval import Error
from facebench.core import _log
from facebench.core._arguments import brief
from facebench.core._files import read_json

# The file that tells a folder of ours, and the first words in it.
MARKER, _FORMAT = "facebench-parts.json", "parts of a result of facebench"
_PART = re.compile(r"[0-9]+-of-[0-9]+\.h5|\.[0-9]+-of-[0-9]+\.h5\.facebench\.tmp-[0-9a-f]{16}")
_MOST = 64 << 20  # bytes of the marker
_DEEPEST = 32  # folders in a folder that are looked at, links to others included


def state_of(path, without=()) -> str:
    """A hash over a file, or all files of a folder: their names, sizes and the times at which they
    were last written, and last changed in any way, which no program can set. Of a file also those
    beside it that differ in their endings (an index); of a pattern, ``shards-{000..}.tar``, all
    that begin as it does. ``without``: files and folders left out."""
    path, without = Path(path).absolute(), {str(Path(p).absolute()) for p in without}
    lines, seen = [], set()

    def look(folder, below, depth, wanted=lambda name: True):
        seen.add(os.path.realpath(folder))
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.path in without or not wanted(entry.name):
                    continue
                name = f"{below}{entry.name}"
                try:
                    facts = entry.stat()
                except OSError:  # a link to nothing
                    lines.append((os.fsencode(name), 0, 0, 0))
                    continue
                if entry.is_dir():
                    if depth < _DEEPEST and os.path.realpath(entry.path) not in seen:
                        look(entry.path, f"{name}/", depth + 1)
                else:
                    times = (facts.st_mtime_ns, facts.st_ctime_ns)
                    lines.append((os.fsencode(name), facts.st_size, *times))

    if path.is_dir():
        look(path, "", 0)
    elif path.is_file():
        stem = path.name.partition(".")[0]
        look(path.parent, "", 0, lambda name: name.partition(".")[0] == stem)
    elif path.parent.is_dir():  # several files by a pattern, shards-{000..099}.tar
        start = path.name.partition("{")[0]
        look(path.parent, "", 0, lambda name: name.startswith(start))
    return hashlib.sha256(repr(sorted(lines)).encode()).hexdigest()


class Parts:
    """The folder beside ``out`` with the files of its ``count`` shards, made or found.

    ``count``: None is as many as an earlier attempt of this identity had, else ``usual``.
    ``identity`` is all that decides their bytes; ``files`` are by shard, "3/16". Parts of an
    attempt with another identity are removed, with a UserWarning that counts them and says what
    differs. facebench.Error for a folder that is not ours: nothing in it is touched.
    """

    def __init__(self, out, identity: dict, count: int | None, usual: int = 16):
        self._place = Path(f"{out}.shards").absolute()
        attempts = self._attempts() if os.path.lexists(self._place) else None
        if count is None:  # other workers now do not make parts of no use
            said = json.loads(json.dumps(identity, default=str))
            begun = [(a, a.get("shards")) for a in (attempts or {}).values()]
            counts = [n for a, n in begun if type(n) is int and a == said | {"shards": n}]
            count = next((n for n in counts if n > 0), usual)
        text = json.dumps(identity | {"shards": count}, sort_keys=True, default=str)
        key = hashlib.sha256(text.encode()).hexdigest()[:16]
        if attempts is None:
            self._begin()
        self._forget({k: said for k, said in (attempts or {}).items() if k != key}, text)
        self._write_marker(self._place, {key: json.loads(text)})
        self.folder = self._place / key
        self.folder.mkdir(exist_ok=True)
        self.files = {
            f"{k}/{count}": self.folder / f"{k}-of-{count}.h5" for k in range(1, count + 1)
        }

    def _attempts(self) -> dict:
        """The earlier attempts, by the marker; facebench.Error where the folder is not ours."""
        marker = self._place / MARKER
        if not self._place.is_symlink() and marker.is_file() and not marker.is_symlink():
            try:
                record = read_json(marker, _MOST)
                if record["format"] == _FORMAT and record["result"] == self._place.stem:
                    return {k: v for k, v in record["attempts"].items() if isinstance(v, dict)}
            except (Error, ValueError, KeyError, TypeError, AttributeError):
                pass
        raise Error(
            f"{self._place}: is there already, and facebench did not make it (it has no {MARKER} "
            f"of this result). Its parts would lie there: move it elsewhere, or write another file"
        )

    def _begin(self):
        """The folder with its marker, both or neither."""
        self._place.parent.mkdir(parents=True, exist_ok=True)
        new = self._place.with_name(f".{self._place.name}.{secrets.token_hex(8)}")
        new.mkdir()
        self._write_marker(new, {})
        new.rename(self._place)

    def _write_marker(self, folder, attempts):
        record = {"format": _FORMAT, "version": 1, "result": self._place.stem, "attempts": attempts}
        text = json.dumps(record, indent=1, sort_keys=True)
        _eval.write_file(folder / MARKER, text.encode() + b"\n")

    def _forget(self, attempts, text):
        """Removes the parts of attempts that had other inputs."""
        now, removed, differs = json.loads(text), 0, set()
        for key, said in attempts.items():
            if re.fullmatch("[0-9a-f]{16}", key):
                removed += _remove_parts(self._place / key)
                differs |= {k for k in {*now, *said} if now.get(k) != said.get(k)}
        if removed:
            what = ", ".join(sorted(map(brief, differs)))
            _log.warn(
                f"{self._place}: {removed} parts of an earlier attempt are removed and made again: "
                f"since then {what} changed",
                stacklevel=5,
            )

    def remove(self):
        """Removes the parts and the folder; what others put there stays, with a UserWarning."""
        _remove_parts(self.folder)
        left = sorted(p.name for p in self._place.iterdir() if p.name != MARKER)
        if left:
            names = f"{', '.join(left[:3])}{', ...' if len(left) > 3 else ''}"
            _log.warn(
                f"{self._place}: stays, since it holds {len(left)} things that facebench did not "
                f"write: {brief(names)}",
                stacklevel=4,
            )
            return
        (self._place / MARKER).unlink()
        self._place.rmdir()


def _remove_parts(folder) -> int:
    """Removes the parts in a folder, and it where it is then empty; how many whole ones."""
    if folder.is_symlink() or not folder.is_dir():
        return 0
    found = [path for path in folder.iterdir() if _PART.fullmatch(path.name) and path.is_file()]
    for path in found:
        path.unlink()
    if not any(folder.iterdir()):
        folder.rmdir()
    return sum(not path.name.startswith(".") for path in found)
