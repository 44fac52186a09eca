"""``python -m facebench``: the command line."""

from facebench.cli import main

main()
