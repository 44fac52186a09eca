"""One module a verb; importing this package adds them all to the command line."""

from facebench.cli.verbs import listing

__all__ = ["listing"]
