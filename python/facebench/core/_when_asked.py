"""Names of a package that are imported when they are first asked for.

The block ``if TYPE_CHECKING:`` in the package's own file is the one list of them, which editors and
type checkers read too: a verb then loads the modules that it uses, and no others.
"""

import re
import sys
from collections.abc import Callable
from importlib import import_module

from facebench.core._held import held_signals

# The block, and a line of it: "from MODULE import A as B, C", or with its names in brackets.
_BLOCK = re.compile(r"^if TYPE_CHECKING:.*\n((?: {4}.*\n|\n)+)", re.M)
_LINE = re.compile(r"^ {4}from ([\w.]+) import (?:\(([^)]*)\)|([^#\n]*))", re.M)


def listed(package: str) -> tuple[dict[str, tuple[str, str]], list[str]]:
    """By name the module that has it and what it is called there; the modules of ``import *``."""
    spec = sys.modules[package].__spec__
    source = spec.loader.get_data(spec.origin).decode()  # type: ignore[union-attr]
    names, whole = {}, []
    for module, inside, one_line in _LINE.findall("".join(_BLOCK.findall(source))):
        for item in filter(None, map(str.strip, (inside or one_line).split(","))):
            name, _, other = item.partition(" as ")
            if name == "*":
                whole.append(module)
            else:
                names[other or name] = (module, name)
    return names, whole


def when_asked(package: str) -> Callable[[str], object]:
    """The ``__getattr__`` of a package whose file lists its names under ``TYPE_CHECKING``; its
    modules are found, too."""
    names, whole = listed(package)

    def find(name: str) -> object:
        if name not in names:
            for module in () if name.startswith("_") else whole:
                if name in (found := import_module(module)).__all__:
                    return getattr(found, name)
            if not name.startswith("__"):
                try:
                    return import_module(f"{package}.{name}")  # a module of it
                except ModuleNotFoundError as e:
                    if e.name != f"{package}.{name}":
                        raise
            raise AttributeError(f"module {package!r} has no attribute {name!r}") from None
        module, there = names[name]
        # Interrupted while torch is being imported, a session could not import it again.
        with held_signals():
            if module == package:
                return import_module(f"{package}.{there}")
            value = getattr(import_module(module), there)
        setattr(sys.modules[package], name, value)
        return value

    return find
