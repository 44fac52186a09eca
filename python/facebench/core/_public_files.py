"""Public files by name, in the places where people have them. Nothing is downloaded."""

import os
from dataclasses import dataclass, field
from pathlib import Path

from facebench._eval import Error, sha256_file
from facebench.core._arguments import brief
from facebench.core._files import read_text
from facebench.core._other_files import refuse_other

FOLDER = "FACEBENCH_MODELS"  # the environment variable that names the user's own folder


@dataclass(frozen=True)
class PublicFile:
    """A file that its authors give away.

    ``packs``: the packs of insightface that hold it; ``hub``: repositories of the Hugging Face Hub,
    ``ORG/NAME``, with its path in each; ``other_files``: PACK/FILE where it has another name;
    ``sha256``: "" where it is not known to us; ``origin``:
    where it comes from; ``published``: what its authors print of it, and ``source``, where.
    """

    name: str
    file: str
    doc: str
    licence: str
    origin: str
    sha256: str = ""
    packs: tuple[str, ...] = ()
    hub: tuple[tuple[str, str], ...] = ()
    other_files: tuple[str, ...] = ()
    published: dict[str, float] = field(default_factory=dict)
    source: str = ""

    def places(self) -> list[Path]:
        """Where it may lie, in the order in which it is looked for."""
        own, home = own_folder(), Path(os.path.expanduser("~"))
        inside = [self.file, f"{self.name}.onnx", *(f"{pack}/{self.file}" for pack in self.packs)]
        places = [own / name for name in inside] if own else []
        inside += self.other_files
        packs = home / ".insightface" / "models"
        for pack in self.packs:  # antelopev2.zip holds a folder of its own name
            within = packs / pack
            places += [within / self.file, within / pack / self.file]
        places += [packs / name for name in self.other_files]
        for repository, path in self.hub:
            folder = hub_folder() / f"models--{repository.replace('/', '--')}" / "snapshots"
            places += [snapshot / path for snapshot in _snapshots(folder)]
        return places

    def here(self) -> Path | None:
        """The first place where there is a file; its content is not looked at."""
        return next((path for path in self.places() if path.is_file()), None)

    def find(self) -> tuple[Path, str, str]:
        """Its path, the SHA-256 of what lies there, and a sentence where that is another file than
        the table's. Of several the one with the table's hash. facebench.Error where there is none,
        and what to do."""
        found = []
        for path in self.places():
            if path.is_file():
                refuse_other(path, "a model")
                found.append((path, sha256_file(path)))
                if found[-1][1] == self.sha256:
                    return *found[-1], ""
        if not found:
            raise Error(f"{self.name}: {self.file} is not on this machine. {self.advice()}")
        path, sha256 = found[0]
        if not self.sha256:
            return path, sha256, ""
        text = (
            f"{path}: is not the file that the table means by '{self.name}': its SHA-256 begins "
            f"with {sha256[:12]}, the table's with {self.sha256[:12]}. It is taken all the same, "
            f"prepared as '{self.name}' is; published numbers are not of it"
        )
        return path, sha256, text

    def advice(self) -> str:
        """What to do where it is not there."""
        own = own_folder()
        if own is not None and not own.is_dir():
            return f"{FOLDER} names {own}, which is not a folder"
        ways = [f"put it into {own}" if own else f"put it into a folder that {FOLDER} names"]
        if self.packs:
            ways.append(f"unpack {self.packs[0]}.zip to ~/.insightface/models/{self.packs[0]}")
        if self.hub:
            ways.append("hf download " + " ".join(self.hub[0]))
        return f"It comes from {self.origin}. One of: {'; '.join(ways)}. Nothing is downloaded here"

    def to_dict(self) -> dict:
        """A row of the table, and where the file was found: ``here``, None where it was not."""
        here = self.here()
        return {
            "name": self.name,
            "doc": f"{self.doc}; {self.licence}; {'here' if here else 'not here'}",
            "file": self.file,
            "sha256": self.sha256 or None,
            "licence": self.licence,
            "origin": self.origin,
            "published": self.published,
            "source": self.source or None,
            "here": None if here is None else str(here),
        }


def own_folder() -> Path | None:
    """The folder that FACEBENCH_MODELS names; None: it names none."""
    folder = os.environ.get(FOLDER)
    return Path(os.path.expanduser(folder)) if folder else None


def hub_folder() -> Path:
    """Where the tools of the Hugging Face Hub keep what they download."""
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        if folder := os.environ.get(name):
            return Path(os.path.expanduser(folder))
    if home := os.environ.get("HF_HOME"):
        return Path(os.path.expanduser(home)) / "hub"
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(cache) / "huggingface" / "hub"


def _snapshots(folder: Path) -> list[Path]:
    """The snapshots of a repository: first the one that its branch main names."""
    try:
        names = sorted(path.name for path in folder.iterdir())
    except OSError:
        return []
    try:
        main = read_text(folder.parent / "refs" / "main", 1 << 10).strip()
    except Error:
        main = ""
    return [folder / name for name in sorted(names, key=lambda name: name != main)]


def own_file(name: str, endings: tuple[str, ...]) -> Path | None:
    """A file of the user's own folder by its name without its ending."""
    folder = own_folder()
    if folder is None or not name or os.sep in name:
        return None
    paths = (folder / f"{name}{ending}" for ending in endings)
    return next((path for path in paths if path.is_file()), None)


def own_files(endings: tuple[str, ...], but: set[str]) -> list[dict]:
    """The files of the user's own folder, as `PublicFile.to_dict` shows others."""
    folder = own_folder()
    try:
        paths = sorted(folder.iterdir()) if folder else []
    except OSError as error:
        raise Error(f"{FOLDER} names {brief(folder)}: cannot be read: {error.strerror}") from None
    return [
        {"name": path.stem, "doc": f"your own, {path.name} in {FOLDER}", "here": str(path)}
        for path in paths
        if path.suffix in endings and path.stem not in but and path.is_file()
    ]
