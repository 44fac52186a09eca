"""``facebench open``: a folder of runs in the browser."""

import sys
from contextlib import suppress
from pathlib import Path

import facebench
from facebench.cli import common
from facebench.cli.options import argument, option
from facebench.cli.verb import verb


@verb("facebench open runs")
def open_runs(
    folder: argument("A folder of runs, or one run.", Path),
    port: option("The port. Default: one that is free.", int, min=0, max=65535) = 0,
    json: common.Json = False,
):
    """A folder of runs in the browser: an index and their pages. This machine only, read only."""
    with facebench.serve(folder, port=port) as server, suppress(KeyboardInterrupt):
        # The token is part of the address: who does not have it gets nothing.
        if json:
            common.print_json({"address": server.address})
        else:
            print(f"{server.address}\nOpen this address in a browser. Ctrl-C ends it.")
        sys.stdout.flush()
        server.wait()
