"""Protocols by name: embedded ones, those of installed packages, files."""

import os

from facebench import _eval
from facebench.core import _entry_points


def load_protocol(name_or_path) -> _eval.ProtocolSpec:
    """A protocol by name, embedded or of an installed package, or your own ``.toml`` file.

    >>> from facebench.protocols import load_protocol
    >>> load_protocol("lfw").convention
    'exact'
    """
    return _eval.load_protocol(protocol_place(name_or_path))


def protocol_place(name_or_path) -> str:
    """What `_eval` takes for a protocol: that of an installed package is its file."""
    name = os.fspath(name_or_path)
    if name.endswith(".toml") or name in _eval.protocol_names():
        return name
    point = _entry_points.brought(_entry_points.PROTOCOLS).get(name)
    return name if point is None else os.fspath(_entry_points.protocol_file(point))
