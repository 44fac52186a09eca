"""Where the command line reports how far it is."""

from facebench.core import _progress

_quiet = False


def be_quiet() -> None:
    """What ``--quiet`` says: no verb reports how far it is."""
    global _quiet
    _quiet = True


def make_progress() -> _progress.BarProgress | None:
    """A bar where the error stream is a terminal, plain lines otherwise; with --quiet nothing."""
    return None if _quiet else _progress.terminal()
