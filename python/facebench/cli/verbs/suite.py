"""``facebench suite``: every model under every protocol, and one page."""

import sys
from pathlib import Path

import facebench
from facebench.cli import common
from facebench.cli.options import argument, flag, keywords, option
from facebench.cli.progress import make_progress
from facebench.cli.verb import Answer, verb


def _say(text: str) -> None:
    print(common.shown(text), file=sys.stderr, flush=True)


@verb(
    "facebench suite --models a.onnx b.safetensors --sets lfw=LFW folders=ATT --out suite",
    lambda: keywords(facebench.suite, threads=common.Threads),
    several=("--models", "--sets"),
)
def suite(
    description: argument("A TOML file with models and sets.", Path | None) = None,
    models: option("Models, as run takes them; all words up to the next option.", list[str]) = None,
    sets: option(
        "PROTOCOL=FOLDER, or PROTOCOL,PROTOCOL=FOLDER; all words up to the next option.",
        list[str],
    ) = None,
    add: option("Put this run folder into the suite in --out.", Path) = None,
    name: option("What the model of --add is called; default: the folder's name.") = "",
    out: option("The suite's folder; one that is there goes on where it was.", Path) = Path(
        "suite"
    ),
    jobs: option("Runs at the same time, each in a process of its own.", int, min=1) = 1,
    no_cost: flag(
        "--no-cost", "Do not measure images a second, parameters, FLOPs, memory."
    ) = False,
    threads: int = 0,
):
    """Every model under every protocol: tables, the order and how sure it is, cost, failures."""
    found = facebench.suite(
        description,
        models=models or None,
        sets=sets or None,
        add=add,
        name=name,
        out=out,
        jobs=jobs,
        cost=not no_cost,
        threads=threads,
        command=common.command_line(),
        progress=make_progress() if jobs == 1 else None,
        say=_say,
    )
    code = common.EXIT_FAILED if found.failures else 0
    return Answer(found.to_dict(), str(found), code)
