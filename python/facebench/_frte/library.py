"""A library of NIST's FRTE 1:1 as it is named: what it is, without running any of it."""

import mmap
import os
import re
from pathlib import Path

from facebench import _eval
from facebench._frte.process import LibraryProcess, code_text
from facebench.core import Error
from facebench.core._arguments import brief
from facebench.core._files import open_file
from facebench.core._other_files import refuse_other
from facebench.images import pixels
from facebench.io import canonical_json, sha256_file

SECONDS = 60.0  # for each template, and for each thousand comparisons
MEMORY = 4 << 30  # bytes of each process
_MOST_FILES = 10_000  # of a configuration

# libfrte_11_NAME_001.so, and until 2023 libfrvt_11_NAME_001.so.
_NAME = re.compile(r"lib(?:frte|frvt)_?11_(.+)")


def is_library(source) -> bool:
    """Whether a model is given as the path of a shared library."""
    return isinstance(source, str | os.PathLike) and Path(source).suffix == ".so"


def library_of(model) -> "FrteLibrary | None":
    """A library that is given as such, or by its path; None for other models."""
    if isinstance(model, FrteLibrary):
        return model
    return FrteLibrary(model) if is_library(model) else None


def library_from(model, options: dict) -> "FrteLibrary | None":
    """`library_of`, with its settings out of keywords (``config``, ``seconds``, ``memory``), which
    are taken away."""
    if not is_library(model):
        return library_of(model)
    names = ("config", "seconds", "memory")
    return FrteLibrary(model, **{name: options.pop(name) for name in names if name in options})


def refuse_library(model) -> None:
    """ValueError for a library where embeddings are needed."""
    if isinstance(model, FrteLibrary) or is_library(model):
        raise ValueError(
            f"'{brief(str(model))}' is a library of NIST's FRTE: its templates are opaque, so it "
            "gives scores and no embeddings. run, compare and suite take it"
        )


class FrteLibrary:
    """A submission to NIST's FRTE 1:1, ``libfrte_11_NAME_001.so``, as a model of `facebench.run`,
    `compare` and `suite`.

    Its code is run, in child processes that may compute and read files, and neither write one, nor
    open a connection, nor start a program (docs/security.md). Nothing is run before it is used.

    ``config``: the folder that its initialize() is given; None: ``config`` beside it, or beside its
    folder where that is called lib, or else an empty one. ``seconds``: for each template, for each
    thousand comparisons and to initialise; ``memory``: bytes of each process. ValueError for limits
    that are none, facebench.Error for a file or folder that is not there.

    ``name``: NAME_001 of the file's name, or that; ``sha256`` and ``config_sha256`` are recorded by
    runs.

    >>> from facebench.pipeline import FrteLibrary
    >>> FrteLibrary("libfrte_11_acme_001.so")
    Traceback (most recent call last):
    ...
    facebench._eval.Error: libfrte_11_acme_001.so: cannot be read: No such file or directory
    """

    def __init__(self, path, config=None, seconds: float = SECONDS, memory: int = MEMORY):
        numbers = all(isinstance(n, int | float) for n in (seconds, memory))
        if not numbers or not 0 < seconds <= 86_400 or not 1 << 20 <= memory <= 1 << 50:
            raise ValueError("seconds: above 0, at most 86400; memory: bytes, a MiB or more")
        self.path = Path(os.path.abspath(path))
        self.seconds, self.memory = float(seconds), int(memory)
        with open_file(path) as file:
            starts = file.read(4)
        if starts != b"\x7fELF":
            refuse_other(path, "a library of FRTE 1:1")
            raise Error(f"{path}: is not a shared library of Linux (ELF)")
        _refuse_old_strings(self.path)
        stem = self.path.name.removesuffix(".so")
        named = _NAME.fullmatch(stem)
        self.name = named[1] if named else stem
        self.sha256 = sha256_file(self.path)
        self.config = self._find_config(config)
        self.config_sha256 = _hash_of_folder(self.config) if self.config else None

    def _find_config(self, given) -> Path | None:
        if given is not None:
            if not isinstance(given, str | os.PathLike) or not os.path.isdir(given):
                raise Error(f"{given}: is not a folder (config= of {self.path.name})")
            return Path(os.path.abspath(given))
        folder = self.path.parent
        places = [folder / "config", *([folder.parent / "config"] if folder.name == "lib" else [])]
        return next((place for place in places if place.is_dir()), None)

    def start(self, empty) -> LibraryProcess:
        """A process that has loaded and initialised it. ``empty``: the folder in place of a
        configuration that is not there."""
        return LibraryProcess(self.path, self.config or empty, self.seconds, self.memory)

    def compare(self, a, b, empty) -> float:
        """The similarity of two photographs, uint8 (H, W, 3): a is the enrolment. facebench.Error
        where a template or the comparison fails."""
        process = self.start(empty)
        try:
            made = []
            for role, photograph, name in ((0, a, "the first"), (1, b, "the second")):
                code, data, said = process.template(role, [in_colour(photograph)], name)
                if code:
                    raise Error(
                        f"{self.path}: made no template of {name} photograph: "
                        f"{code_text(code)}{said and f' ({said})'}"
                    )
                made.append(data)
            codes, scores = process.compare(made, [(0, 1)], lambda k: "the two photographs")
        finally:
            process.close()
        if codes[0]:
            raise Error(f"{self.path}: the comparison failed: {code_text(int(codes[0]))}")
        return float(scores[0])

    def refuse_settings(self, names) -> None:
        """ValueError where something is asked that a library decides by itself."""
        if names:
            raise ValueError(
                f"{', '.join(names)}: a library of FRTE ({self.path.name}) finds, crops and "
                "compares faces by itself; leave that out"
            )

    def warning(self) -> str:
        """What whoever named it should know before it runs."""
        return (
            f"{self.path.name}: its code is run. Its processes may compute and read files; they "
            f"have no network and write no file; each {self.memory >> 20} MiB, "
            f"{self.seconds:g} s for a template."
        )

    def __str__(self):
        return str(self.path)

    def __repr__(self):
        return f"FrteLibrary('{self.path}')"


def in_colour(image):
    """Pixels as the interface takes them: R, G, B, whatever the photograph has."""
    image = pixels(image)
    return image if image.ndim == 3 else image.repeat(3).reshape(*image.shape, 3)


def _refuse_old_strings(path: Path) -> None:
    """facebench.Error for a library whose functions take another std::string than ours."""
    with open_file(path) as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as code:
        old, new = (code.find(b"initializeERK" + s) for s in (b"Ss", b"NSt7__cxx1112basic_string"))
    if old >= 0 > new:
        raise Error(
            f"{path}: is built with the std::string from before GCC 5 (_GLIBCXX_USE_CXX11_ABI=0). "
            "Build it with a later one, as NIST's present systems have it"
        )


def _hash_of_folder(folder: Path) -> str:
    """One hash over the names and bytes of all its files."""
    files = sorted(p for p in folder.rglob("*") if p.is_file())
    if len(files) > _MOST_FILES:
        raise Error(f"{folder}: holds more than {_MOST_FILES} files: is it the configuration?")
    hashes = {p.relative_to(folder).as_posix(): sha256_file(p) for p in files}
    return _eval.sha256_hex(canonical_json(hashes).encode())
