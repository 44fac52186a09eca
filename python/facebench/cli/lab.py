"""The laboratory stands above the command line: its verbs and lists are reached by their names."""

from importlib import import_module
from typing import Any


def of_lab(name: str) -> Any:
    """MODULE.FUNCTION of `facebench.lab.verbs`."""
    module, _, function = name.rpartition(".")
    return getattr(import_module(f"facebench.lab.verbs.{module}"), function)
