"""TOML in Python: files that are read (suites, rules), and values as text."""

from facebench import _eval
from facebench.core import Error
from facebench.core._arguments import did_you_mean, type_text
from facebench.core._files import read_bytes

_MOST = 8 << 20


def read_toml(path) -> dict:
    """What a TOML file holds; dates as text. Throws `facebench.Error` where it cannot be read, is
    nested too deeply, or holds inf or nan."""
    return _eval.read_toml(read_bytes(path, _MOST), str(path))


def check_keys(path, where, table, known):
    """Throws `facebench.Error` for a key that is not known, with the nearest that is."""
    for key in table:
        if key not in known:
            raise Error(f"{path}: {where} has no key '{key}'{did_you_mean(key, known)}")


_NAMES = {str: "text", list: "a list", dict: "a table", bool: "true or false",
          int: "a whole number", float: "a number"}  # fmt: skip


def check_kinds(path, where, table, kinds):
    """Throws `facebench.Error` for a value of another kind: `kinds` says which, by keys: a class,
    ``[class]`` for a list of such values, ``{class}`` for a table of them, or a tuple of kinds."""
    for keys, kind in kinds.items():
        for key in keys.split():
            if key in table and not _is(table[key], kind):
                raise Error(
                    f"{path}: '{key}' of {where} is {_said(kind)}, not {type_text(table[key])}"
                )


def _is(value, kind) -> bool:
    if isinstance(kind, tuple):
        return any(_is(value, one) for one in kind)
    if isinstance(kind, list):
        return isinstance(value, list) and all(_is(one, kind[0]) for one in value)
    if isinstance(kind, set):
        return isinstance(value, dict) and all(_is(one, *kind) for one in value.values())
    if kind is float:
        kind = (int, float)
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))


def _said(kind) -> str:
    if isinstance(kind, tuple):
        return " or ".join(map(_said, kind))
    if isinstance(kind, list | set):
        (of,) = kind
        return f"a {'list' if isinstance(kind, list) else 'table'} of values, each {_said(of)}"
    return _NAMES[kind]


def value_text(value) -> str:
    """A value as ``Recipe.set`` takes it. None unsets an option that may be unset.

    >>> from facebench.io._toml import value_text
    >>> value_text([1, True]), value_text(None)
    ('[1, true]', '')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        try:
            return "[" + ", ".join(value_text(v) for v in value) + "]"
        except RecursionError:
            raise ValueError("a list that holds itself is not a value") from None
    return str(value)
