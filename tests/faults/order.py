"""What a power cut may leave: the order in which a verb writes, syncs and renames, replayed.

Nothing is kept that was not synced: a file is what it was at its last fsync, a folder has the names
that it had at its own. Names may arrive before the bytes of their files. So a name that a user
looks for must be given to synced files alone, must not be written to any more, and must be synced
itself before the verb says that it is done.
"""

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent


def build(folder) -> Path:
    shim = folder / "order.so"
    subprocess.run(
        ["cc", "-O1", "-fPIC", "-shared", "-o", shim, HERE / "order.c", "-ldl"], check=True
    )
    return shim


def recorded(words, root, shim) -> tuple[subprocess.CompletedProcess, list[list[str]]]:
    """A command line of facebench, and its calls below ``root``."""
    log = shim.parent / "order.log"
    log.unlink(missing_ok=True)
    done = subprocess.run(
        [sys.executable, "-m", "facebench", *words],
        env=os.environ
        | {
            "LD_PRELOAD": str(shim),
            "FACEBENCH_ORDER_ROOT": str(root),
            "FACEBENCH_ORDER_LOG": str(log),
        },
        capture_output=True,
        text=True,
    )
    lines = log.read_text().splitlines() if log.exists() else []
    return done, [line.split("\t") for line in lines]


def is_hidden(path) -> bool:
    """Of a temporary or what lies in one: nobody looks for it."""
    return any(part.startswith(".") for part in Path(path).parts)


@dataclass
class Disk:
    """The files below a folder, and what of them is not on the disk yet."""

    logs: tuple[str, ...] = ()  # names that grow line by line, and are read so
    inodes: dict[str, int] = field(default_factory=dict)
    unsynced: set[int] = field(default_factory=set)  # inodes of files and folders
    wrong: list[str] = field(default_factory=list)
    renamed: int = 0

    def replay(self, calls) -> "Disk":
        for what, inode, path, other in calls:
            getattr(self, what)(int(inode), path, other)
        for path, inode in self.inodes.items():
            if not is_hidden(path) and inode in self.unsynced:
                self.wrong.append(f"at the end {path} is not synced")
        return self

    def _folder(self, path):
        folder = os.path.dirname(path)
        if os.path.isdir(folder):
            self.inodes.setdefault(folder, os.stat(folder).st_ino)
        if folder in self.inodes:
            self.unsynced.add(self.inodes[folder])

    def make(self, inode, path, _):
        self.inodes[path] = inode
        self.unsynced.add(inode)
        self._folder(path)
        if not is_hidden(path) and not path.endswith(self.logs):
            self.wrong.append(f"{path} is made where it is looked for")

    def folder(self, inode, path, _):
        self.inodes[path] = inode
        self.unsynced.add(inode)
        self._folder(path)

    def write(self, inode, path, _):
        self.unsynced.add(inode)
        if not is_hidden(path) and not path.endswith(self.logs):
            self.wrong.append(f"{path} is written to where it is looked for")

    def fsync(self, inode, path, _):
        self.unsynced.discard(inode)

    def rename(self, inode, path, other):
        self.renamed += not is_hidden(other)
        below = [p for p in self.inodes if p == path or p.startswith(path + "/")]
        if not is_hidden(other):
            self.wrong += [
                f"{other} gets its name before {p} is synced"
                for p in below
                if self.inodes[p] in self.unsynced
            ]
            self.wrong += [
                f"{other} gets its name before a folder above it has one: {above}"
                for above in map(str, Path(other).parents)
                if above != os.path.dirname(other) and self.inodes.get(above) in self.unsynced
            ]
        for p in below:
            self.inodes[other + p[len(path) :]] = self.inodes.pop(p)
        self._folder(path)
        self._folder(other)

    def exchange(self, inode, path, other):
        self.rename(inode, path, other + "\0")
        self.rename(inode, other, path)
        self.rename(inode, other + "\0", other)

    def remove(self, inode, path, _):
        self.inodes.pop(path, None)
