"""``facebench suite``: every model under every protocol, and one page."""

from pathlib import Path

import facebench
from facebench.cli import common
from facebench.cli.options import argument, flag, option
from facebench.cli.verb import verb
from facebench.lab.verbs.study import Jobs, answer, how

Words = "; all words up to the next option."


@verb(
    "facebench suite --models a.onnx b.safetensors --sets lfw=LFW folders=ATT --out suite",
    several=("--models", "--sets"),
)
def suite(
    description: argument("A TOML file with models and sets.", Path | None) = None,
    models: option(f"Models, as run takes them, or NAME=MODEL{Words}", list[str]) = None,
    sets: option(f"PROTOCOL=FOLDER, or PROTOCOL,PROTOCOL=FOLDER{Words}", list[str]) = None,
    add: option("Put this run folder into the suite in --out.", Path) = None,
    name: option("What the model of --add is called; default: the folder's name.") = "",
    out: option("The suite's folder; one that is there goes on where it was.", Path) = Path(
        "suite"
    ),
    jobs: Jobs = 1,
    workers: common.Workers = "",
    device: common.Device = "cpu",
    no_cost: flag(
        "--no-cost", "Do not measure images a second, parameters, FLOPs, memory."
    ) = False,
    threads: common.Threads = 0,
):
    """Every model under every protocol: tables, the order and how sure it is, cost, failures."""
    parts = {"models": models or None, "sets": sets or None, "add": add, "name": name}
    cost = not no_cost
    return answer(
        facebench.suite(
            description, **parts, out=out, cost=cost, **how(jobs, threads, device, workers)
        )
    )
