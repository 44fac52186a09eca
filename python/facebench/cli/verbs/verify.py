"""``facebench verify``: computes a result again and compares."""

from pathlib import Path

import facebench
from facebench.cli import common
from facebench.cli.options import argument, option
from facebench.cli.verb import Answer, verb


@verb(
    "facebench verify runs/run-lfw-1 --root LFW --again 20.",
    codes={
        common.EXIT_VERDICT: "something differs",
        common.EXIT_UNCHECKED: "nothing differs, but something could not be checked",
    },
)
def verify(
    run: argument("A run folder.", Path),
    root: option("Where the data set lies now; default: as then.", Path) = None,
    again: option(
        "Detect, crop and embed so many images once more, drawn anew; by a library of FRTE, "
        "compare so many pairs.",
        int,
    ) = 0,
    model: option(
        "The model of --again, as of run (module:function, or a library of FRTE, runs its code); "
        "default: the file that the run names, and no library."
    ) = None,
    protocol: option(
        "Your own file of the protocol, where it is not one of facebench's.", Path
    ) = None,
    sign: option("Sign the run by this secret key (minisign), if all is the same.", Path) = None,
    signed_by: option("The public key (file or text) that has to have signed the run.") = None,
    threads: common.Threads = 0,
):
    """Compute a run's numbers again and check every input.

    What could not be checked is named. Such a run is neither signed nor passes --signed-by.
    """
    result = facebench.verify(
        run,
        root=root or "",
        again=again,
        model=model,
        protocol=protocol,
        sign=sign,
        signed_by=signed_by,
        threads=threads,
    )
    code = {"same": 0, "different": common.EXIT_VERDICT, "unchecked": common.EXIT_UNCHECKED}
    return Answer(result.to_dict(), str(result), code[result.verdict])
