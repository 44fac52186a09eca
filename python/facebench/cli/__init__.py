"""The command line."""

from facebench.cli.app import main

__all__ = ["main"]
