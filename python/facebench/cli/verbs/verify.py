"""``facebench verify``: computes a result again and compares."""

from pathlib import Path

import facebench
from facebench.cli import common
from facebench.cli.options import argument, option
from facebench.cli.progress import make_progress
from facebench.cli.verb import Answer, verb


@verb("facebench verify runs/run-lfw-1 --root LFW")
def verify(
    run: argument("A run folder.", Path),
    root: option("Where the data set lies now; default: as then.", Path) = None,
    threads: common.Threads = 0,
):
    """Compute a run's numbers again and check every input. Exit code 1 where anything differs."""
    result = facebench.verify(run, root=root or "", threads=threads, progress=make_progress())
    return Answer(result.to_dict(), str(result), 0 if result.same else common.EXIT_FAILED)
