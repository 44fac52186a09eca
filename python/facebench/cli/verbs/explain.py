"""``facebench explain``: why two numbers differ, and whether a printed one can exist."""

from pathlib import Path

import facebench
from facebench.cli import common
from facebench.cli.options import argument, fields, flag, option
from facebench.cli.verb import Answer, verb


@verb(
    "facebench explain runs/run-lfw-1 runs/run-lfw-2. "
    "Or: facebench explain --claim 99.64 --protocol lfw --against 99.53.",
    lambda: [
        *fields(facebench.claims.ClaimOptions),
        *fields(facebench.metrics.BootstrapOptions),
    ],
    codes={common.EXIT_VERDICT: "with --claim: no count gives the printed number"},
)
def explain(
    runs: argument("Two run folders.", list[Path]) = None,
    claim: option("A printed number (99.63 is percent) in place of runs.", metavar="X") = None,
    protocol: option("The claim's protocol: a name or a TOML file.") = None,
    against: option("A second claim, to be told apart from the first.", metavar="X") = "",
    resolve: flag(
        "--resolve", "Make the missing runs, one factor at a time, and say what each is."
    ) = False,
    model: option(f"With --resolve, where the runs name no file. {common.MODEL_HELP}") = None,
    threads: common.Threads = 0,
    **options,
):
    """Why two runs differ, or what a claim can be. Data, images, model, convention or chance."""
    if bool(runs) == bool(claim):
        raise ValueError("give either two run folders or --claim")
    chance = {name: options.pop(name) for name in ("replicates", "seed")}
    if claim:
        checked = facebench.claims.check_claim(claim, protocol, against=against, **options)
        code = 0 if checked.exists else common.EXIT_VERDICT
        return Answer(checked.to_dict(), str(checked), code)
    if len(runs) != 2:
        raise ValueError(
            f"two run folders are compared, {len(runs)} {'is' if len(runs) == 1 else 'are'} given"
        )
    return facebench.explain(
        *runs,
        resolve=resolve,
        model=model,
        level=options["level"],
        threads=threads,
        **chance,
    )
