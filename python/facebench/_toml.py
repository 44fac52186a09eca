"""TOML files that are read in Python: suites and rules."""

from facebench import _eval
from facebench._arguments import brief
from facebench.core import Error, closest_name


def read_toml(path) -> dict:
    """What a TOML file holds; dates as text. Throws `facebench.Error` where it cannot be read, is
    nested too deeply, or holds inf or nan."""
    try:
        return _eval.read_toml(path.read_bytes(), str(path))
    except OSError as e:
        raise Error(f"{brief(path)}: {e.strerror}") from None


def check_keys(path, where, table, known):
    """Throws `facebench.Error` for a key that is not known, with the nearest that is."""
    for key in table:
        if key not in known:
            near = closest_name(key, list(known))
            hint = f"; did you mean '{near}'?" if near else ""
            raise Error(f"{path}: {where} has no key '{key}'{hint}")
