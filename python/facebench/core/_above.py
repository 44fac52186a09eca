"""What a lower room calls of a higher one: the package hands it in when it is loaded.

A result of `protocols` saves its pages and draws its curves, though pages and plots stand above it:
`facebench/__init__.py` says once who makes them, and they are imported when they are first asked
for.
"""

from collections.abc import Callable
from typing import Any

_handed_in: dict[str, Callable[[], Any]] = {}


def hand_in(what: str, find: Callable[[], Any]) -> None:
    """Say where ``what`` is found: ``find`` imports it and returns it."""
    _handed_in[what] = find


def from_above(what: str) -> Any:
    """What was handed in under this name."""
    return _handed_in[what]()
