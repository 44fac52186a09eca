"""Protocols by name: embedded ones, those of installed packages, files; and their lists."""

import os

from facebench import _eval
from facebench.core import _entry_points
from facebench.core._arguments import of_kind, path_text


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


def spec_of(protocol) -> _eval.ProtocolSpec:
    """A protocol that is one, or that is named."""
    return protocol if isinstance(protocol, _eval.ProtocolSpec) else load_protocol(protocol)


def read_trials(protocol, root=None, lists=None, strict=False):
    """Read the lists of a protocol: samples, identities, comparisons.

    ``root`` is the data set as its authors distribute it; ``lists`` names the folder of the lists
    itself. What is odd but clear is counted (``blemishes``; :func:`blemish_rules`), and with
    ``strict`` it raises :class:`facebench.Error`, as anything malformed does, with file and line.
    """
    spec = spec_of(protocol)
    trials = _eval.read_trials(spec, path_text(root, "root"), path_text(lists, "lists"))
    if of_kind(strict, bool, "strict"):
        _eval.refuse_blemishes(trials, spec.id)
    return trials
