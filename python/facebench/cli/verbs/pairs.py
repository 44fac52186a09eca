"""``facebench pairs``: what a protocol compares, as a list for others to score."""

from pathlib import Path

import facebench
from facebench.cli import common
from facebench.cli.options import option
from facebench.cli.verb import Answer, verb


@verb("facebench pairs lfw --root LFW --out pairs.csv")
def pairs(
    protocol: common.Protocol,
    root: common.Root,
    out: option("The CSV file to write.", Path),
    lists: common.Lists = None,
):
    """Write the pairs of a protocol as CSV. Add a column score; eval --scores reads the answer."""
    count = facebench.protocols.write_pairs(protocol, out, root, lists)
    return Answer({"path": str(out), "pairs": count}, f"{out}: {count} pairs")
