"""``facebench study``: the tables of a paper, or of one's own, by one command."""

import sys
from pathlib import Path

import facebench
from facebench.cli import common
from facebench.cli.options import argument, flag, option
from facebench.cli.verb import Answer, verb
from facebench.cli.verbs.listing import listed
from facebench.core._arguments import printable
from facebench.lab.verbs import listing

Jobs = option("Jobs at a time, each in a process of its own; what is timed runs alone.", int, min=1)


def how(jobs: int, threads: int, device: str = "cpu", workers: str = "") -> dict:
    """What all studies are told about their making."""
    return {
        "jobs": jobs,
        "executor": common.executor(workers),
        "threads": threads,
        "device": common.check_device(device),
        "command": common.command_line(),
        "progress": None if jobs == 1 else False,
        "say": _say,
    }


def _say(text: str) -> None:
    print(printable(text), file=sys.stderr, flush=True)


def answer(result) -> Answer:
    """A study as an answer; 1 where a job failed."""
    return Answer(result.to_dict(), str(result), common.EXIT_FAILED if result.failures else 0)


@verb(
    "facebench study wang-guo-2019/table-14 --train webface=W --test lfw=LFW --out s",
    several=("--train", "--test"),
)
def study(
    description: argument("list, a study (NAME or NAME/TABLE), or a .toml file."),
    train: option("NAME=FOLDER or NAME=FILE.h5 of training sets.", list[str]) = None,
    test: option("PROTOCOL=FOLDER or NAME=FOLDER of test sets.", list[str]) = None,
    rehearse: flag("--rehearse", "All of it on drawn faces with small networks.") = False,
    out: option("The study's folder; default: studies/NAME.", Path) = None,
    jobs: Jobs = 1,
    workers: common.Workers = "",
    threads: common.Threads = 0,
    device: common.Device = "cpu",
):
    """Every row and column of a study, with what its paper prints beside. What is not there is a
    cell that says what it needs. One that was stopped goes on where it was."""
    if description == "list":
        return listed(listing.studies())
    name = Path(description).stem if ".toml" in description else description
    result = facebench.study(
        description,
        train=common.parse_assignments(train),
        test=common.parse_assignments(test),
        rehearse=rehearse,
        out=out or Path("studies") / name.replace("/", "-"),
        **how(jobs, threads, device, workers),
    )
    return answer(result)
