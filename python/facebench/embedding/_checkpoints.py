"""Checkpoints of trainings: the state dict that one is or holds, read without running its code."""

import pickletools
import re
import zipfile
from _compat_pickle import IMPORT_MAPPING, NAME_MAPPING  # names of Python 2, as torch maps them
from collections.abc import Callable
from pathlib import Path
from typing import Any

from facebench.core import Error
from facebench.core._arguments import brief
from facebench.core._files import open_file
from facebench.core._other_files import refuse_other
from facebench.io import read_safetensors


def _state_dict(loaded, key: str | None, where: Path, option: str) -> tuple[dict, str | None]:
    """The state dict that a checkpoint is, or the one that it holds and under which name."""
    from facebench._torch import torch

    def holds_tensors(part) -> bool:
        return isinstance(part, dict) and any(isinstance(v, torch.Tensor) for v in part.values())

    if not isinstance(loaded, dict):
        raise Error(f"{where}: holds a {type(loaded).__name__}, expected a state dict")
    held = {str(name): part for name, part in loaded.items() if holds_tensors(part)}
    if key is None and not held and holds_tensors(loaded):
        return loaded, None
    if key not in held and (key is not None or not held):
        held |= _held_within(loaded, holds_tensors)
    if key is not None and key not in held:
        there = ", ".join(held) or "none"
        raise Error(f"{brief(where)}: holds no state dict {brief(key)!r}; those it holds: {there}")
    if key is None and len(held) > 1:
        raise Error(f"{where}: holds several state dicts: {', '.join(held)}. Name one: {option}")
    if not held:
        entries = ", ".join(f"'{k}' is a {type(v).__name__}" for k, v in list(loaded.items())[:9])
        raise Error(f"{where}: holds no state dict ({entries}). Save the network's state_dict()")
    name = key or next(iter(held))
    return held[name], name


def _held_within(loaded: dict, fits, before: str = "", depth: int = 4) -> dict[str, dict]:
    """The state dicts within the entries of a checkpoint, called ``a.b``. Those of an optimizer are
    numbered, not named."""
    found: dict[str, dict] = {}
    for name, part in loaded.items():
        if isinstance(name, str) and isinstance(part, dict):
            if before and fits(part):
                found[f"{before}{name}"] = part
            elif depth:
                found |= _held_within(part, fits, f"{before}{name}.", depth - 1)
    return found


class _Nothing:
    """In place of what a checkpoint holds beside tensors: takes what it is given, does nothing."""

    def __new__(cls, *values):
        return super().__new__(cls)

    def __init__(self, *values):
        pass

    def __setstate__(self, state):
        pass


# What torch fills by itself, and takes no class of ours for.
_PLAIN: dict[str, Callable[..., Any]] = {
    "collections.defaultdict": lambda *_: {},
    "collections.deque": lambda *_: [],
}


def _without_code(path: Path) -> list:
    """Classes without code for those that a checkpoint names beside its tensors: a log's numbers
    of numpy, a parser's arguments, Lightning's callbacks."""
    from torch.serialization import get_unsafe_globals_in_checkpoint

    if zipfile.is_zipfile(path):
        names = get_unsafe_globals_in_checkpoint(path)
    else:
        names = _names_before_zip(path)
    return [
        (_PLAIN.get(name) or type(name.rpartition(".")[2], (_Nothing,), {}), name) for name in names
    ]


def _names_before_zip(path: Path) -> set[str]:
    """What a checkpoint of torch before 1.6 names that torch does not allow: it is four pickles,
    of which the last is the object, and the numbers. Nothing is built of them here."""
    from torch._weights_only_unpickler import _get_allowed_globals

    names = set()
    try:
        with open_file(path) as file:
            for _ in range(4):
                for operation, argument, _ in pickletools.genops(file):
                    if operation.name == "GLOBAL" and isinstance(argument, str):
                        module, _, name = argument.partition(" ")
                        moved = IMPORT_MAPPING.get(module, module), name
                        names.add(".".join(NAME_MAPPING.get((module, name), moved)))
    except ValueError:  # not pickles: torch says so
        return set()
    return names - set(_get_allowed_globals())


def _why_not_read(error: Exception) -> str:
    """One sentence of torch's, which says no more than what it met."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error)).strip() or type(error).__name__
    before, met, what = text.partition("WeightsUnpickler error:")
    said = f"{met} {what.strip()}" if met else before
    return brief(said.splitlines()[0].split(". ")[0].rstrip("."))


def read(path: Path, key: str | None, option="key= (--key)") -> tuple[dict, str | None]:
    """The tensors of a file by name, and the entry of the file that they are. ``option``: what
    names the entry, in messages."""
    from facebench._torch import torch

    if path.suffix == ".safetensors":
        refuse_other(path, "a safetensors file", but=("a safetensors file",))
        arrays, _ = read_safetensors(path)
        return {name: torch.from_numpy(array) for name, array in arrays.items()}, None
    refuse_other(path, "a checkpoint of PyTorch", but=("a checkpoint of PyTorch",))
    try:
        # Nothing but tensors, plain containers and _Nothing is built: no code of the file runs.
        with torch.serialization.safe_globals(_without_code(path)):
            loaded = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as e:
        raise Error(
            f"{path}: not weights that can be read without running code of the file "
            f"({_why_not_read(e)}). Save "
            "its state_dict() with torch.save, or as safetensors"
        ) from None
    tensors, entry = _state_dict(loaded, key, path, option)
    for name, value in tensors.items():
        if not isinstance(name, str):
            raise Error(
                f"{path}: the name of a tensor is of type {type(name).__name__}, not a text"
            )
        if not isinstance(value, torch.Tensor):
            raise Error(
                f"{path}: '{name}' is a {type(value).__name__}, expected a tensor. Save the "
                "network's state_dict() alone"
            )
    return dict(tensors), entry
