"""Templates of a protocol's units by a library, each photograph decoded as it lies; kept by content
where a cache is named."""

import functools
import os
from collections import Counter
from pathlib import Path

import numpy as np

from facebench import __version__, _eval
from facebench._frte.library import in_colour
from facebench._frte.process import code_text
from facebench.core import Error
from facebench.images import decode
from facebench.io import (
    SampleStatus,
    canonical_json,
    read_safetensors,
    sha256_file,
    write_safetensors,
)

OK, NO_FACE, UNREADABLE, MISSING, REJECTED = (
    int(getattr(SampleStatus, name))
    for name in ("ok", "no_face", "unreadable", "missing", "rejected")
)
ENROLMENT, VERIFICATION = 0, 1
_LONGEST_SIDE = 65_535  # of a photograph, in the interface
# The library's own decision; everything else is a face that was not found or not made use of.
_ELECTIVE = ("RefuseInput", "TemplateCreationError")


class Photographs:
    """The photographs of a protocol's samples: which are there, and what they hold."""

    def __init__(self, dataset, names, decoding):
        places = {sample.id: sample for sample in dataset.samples}
        self.names, self._decoding = names, decoding
        self._samples = [places[name] for name in names]

    @functools.cached_property
    def hashes(self) -> list[str]:
        """SHA-256 of each file, "" of one that is not there."""
        there = (os.path.exists(s.path) and s.read() for s in self._samples)
        return [(data and _eval.sha256_hex(data)) or "" for data in there]

    def pixels(self, number: int):
        """(status, uint8 (H, W, 3) or None) of a sample."""
        sample = self._samples[number]
        if not os.path.exists(sample.path):
            return MISSING, None
        try:
            image = in_colour(decode(sample.read(), sample.where, **self._decoding))
        except Error:
            return UNREADABLE, None
        return (OK, image) if max(image.shape) <= _LONGEST_SIDE else (REJECTED, None)


class Templates:
    """A template for each (role, unit): its bytes and the library's return code, -1 where there was
    no photograph to give it. ``status`` is per sample."""

    def __init__(self, keys, samples_of, photographs):
        self.keys, self._samples_of, self._photographs = keys, samples_of, photographs
        self.status = np.zeros(len(photographs.names), np.uint8)
        self.codes = dict.fromkeys(keys, -1)
        self.data = dict.fromkeys(keys, b"")

    def make(self, pool, moved) -> None:
        def one(process, key):
            role, unit = key
            opened = [(k, *self._photographs.pixels(k)) for k in self._samples_of(unit)]
            images = [image for _, _, image in opened if image is not None]
            found = [(k, status) for k, status, _ in opened if status != OK]
            if not images:
                return -1, b"", found
            code, data, _ = process.template(role, images, self._photographs.names[opened[0][0]])
            return code, data, found

        made = pool.map(one, self.keys, moved)
        for key, (code, data, found) in zip(self.keys, made, strict=True):
            self.codes[key], self.data[key] = code, data
            for sample, status in found:
                self.status[sample] = status

    def mark_failed(self) -> Counter:
        """Gives the samples of units without a template their status; how many templates were not
        made, by return code."""
        failed = {key: code for key, code in self.codes.items() if code > 0}
        for (_, unit), code in failed.items():
            status = REJECTED if code_text(code) in _ELECTIVE else NO_FACE
            for sample in self._samples_of(unit):
                if self.status[sample] == OK:
                    self.status[sample] = status
        return Counter(code_text(code) for code in failed.values())

    def usable(self, unit: int) -> bool:
        return any(self.status[sample] == OK for sample in self._samples_of(unit))

    def identity(self, library, interface: str, decoding) -> dict:
        """All that decides them."""
        hashes = self._photographs.hashes
        units = {unit: [hashes[k] for k in self._samples_of(unit)] for _, unit in self.keys}
        return {
            "library": library.sha256,
            "config": library.config_sha256,
            "interface": interface,
            "facebench": __version__,
            "decode": decoding,
            "templates": [[role, units[unit]] for role, unit in self.keys],
        }

    def save(self, path) -> None:
        sizes = [len(self.data[key]) for key in self.keys]
        whole = np.frombuffer(b"".join(self.data[key] for key in self.keys), np.uint8)
        tensors = {
            "size": np.array(sizes, np.int64),
            "code": np.array([self.codes[key] for key in self.keys], np.int64),
            "status": self.status,
        }
        write_safetensors(path, tensors | ({"templates": whole} if len(whole) else {}))

    def load(self, path) -> None:
        tensors = read_safetensors(path)[0]
        whole = tensors.get("templates", np.zeros(0, np.uint8)).tobytes()
        at = 0
        for key, size, code in zip(
            self.keys, tensors["size"].tolist(), tensors["code"].tolist(), strict=True
        ):
            self.codes[key], self.data[key] = code, whole[at : at + size]
            at += size
        self.status[:] = tensors["status"]


def take_or_make(templates: Templates, cache, identity: dict, make) -> bool:
    """Fills them from the folder ``cache`` (None: none), where all that decides them is the same
    and the file still has the bytes that its name says, or by ``make``; whether they were there."""
    if cache is None:
        make()
        return False
    folder = Path(cache) / "templates"
    key = _eval.sha256_hex(canonical_json(identity).encode())
    for path in folder.glob(f"{key}-*.safetensors"):
        if path.stem.partition("-")[2] == sha256_file(path):
            templates.load(path)
            return True
        path.unlink()
    make()
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = folder / f".{key}-{os.getpid()}.safetensors"
    try:
        templates.save(unfinished)
        unfinished.replace(folder / f"{key}-{sha256_file(unfinished)}.safetensors")
    finally:
        unfinished.unlink(missing_ok=True)
    return False
