"""What the command line reaches by its name in the package: its verbs, and the laboratory, which
stands above it."""

from importlib import import_module
from typing import Any


def found(name: str) -> Any:
    """ROOM.MODULE.FUNCTION of the package."""
    module, _, function = name.rpartition(".")
    return getattr(import_module(f"facebench.{module}"), function)


def of_lab(name: str) -> Any:
    """MODULE.FUNCTION of `facebench.lab.verbs`."""
    return found(f"lab.verbs.{name}")
