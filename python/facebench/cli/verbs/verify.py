"""``facebench verify``: computes a result again and compares."""

from pathlib import Path

import facebench
from facebench.cli import common
from facebench.cli.options import argument, option
from facebench.cli.verb import Answer, verb


@verb("facebench verify runs/run-lfw-1 --root LFW --again 20")
def verify(
    run: argument("A run folder.", Path),
    root: option("Where the data set lies now; default: as then.", Path) = None,
    again: option("Detect, crop and embed so many images once more, drawn anew.", int) = 0,
    model: option(
        "The model of --again, as of run (module:function runs its code); default: the file that "
        "the run names."
    ) = None,
    sign: option("Sign run.json by this secret key (minisign), if nothing differs.", Path) = None,
    signed_by: option("The public key (file or text) that has to have signed run.json.") = None,
    threads: common.Threads = 0,
):
    """Compute a run's numbers again and check every input. Exit code 1 where anything differs.

    What could not be checked is named, and is not a difference.
    """
    result = facebench.verify(
        run,
        root=root or "",
        again=again,
        model=model,
        sign=sign,
        signed_by=signed_by,
        threads=threads,
    )
    return Answer(result.to_dict(), str(result), 0 if result.same else common.EXIT_FAILED)
