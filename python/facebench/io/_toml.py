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


def check_kinds(path, where, table, kinds):
    """Throws `facebench.Error` for a value of another kind: `kinds` says which, by keys."""
    for keys, kind in kinds.items():
        for key in keys.split():
            if key in table and not isinstance(table[key], kind):
                names = {str: "text", list: "a list", dict: "a table", int: "a whole number"}
                expected = names.get(kind, "a number")
                raise Error(
                    f"{path}: '{key}' of {where} is {expected}, not {type_text(table[key])}"
                )


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
