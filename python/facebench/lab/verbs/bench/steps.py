"""``facebench bench step`` and ``bench scale``: iterations of a network."""

from pathlib import Path

import facebench
from facebench.cli import common
from facebench.cli.options import argument, flag, keywords, option
from facebench.lab.verbs.bench.common import Rounds, bench, byte_size, numbers

Skip = option("First iterations, reported apart.", int, min=0)
InputSize = option("Side of the input; left out: the network's own.", int, min=1)


# What is said otherwise than by its name with dashes.
_SAID = {
    **dict.fromkeys(("network", "networks"), "NETWORK"),
    **dict.fromkeys(("batch", "batches"), "--batch"),
    **{"mode": "--inference", "data": "--pack"},
    **{"engines": "--engine", "pythons": "--python", "scalings": "--scaling"},
}


def with_settings(asked, size, setting):
    """What a verb asks for, and beside it what --set says of the step; what no step has, but a
    network, is of the network."""
    of_step, of_network = (
        {field["name"] for field in options.fields()}
        for options in (facebench.timing.StepOptions, facebench.nn.NetworkOptions)
    )
    network_options = {"height": size, "width": size} if size else {}
    step: dict[str, str] = {}
    for name, value in common.parse_assignments(setting).items():
        if name in asked or name in _SAID:
            said = _SAID.get(name, f"--{name.replace('_', '-')}")
            raise ValueError(f"--set {name}: say {said}")
        (network_options if name in of_network - of_step else step)[name] = value
    return {**asked, "network_options": network_options, **step}


@bench(
    "facebench bench step resnet50 --batch 16..512 --engine all",
    lambda: keywords(
        facebench.timing.bench_step,
        batches=option("Batch sizes: 16,32, or 16..512 by doubling.", str, "--batch"),
        engines=option("Engines, e.g. facebench,pytorch; all: every one.", str, "--engine"),
        iterations=option("Of each round; the papers: 64 to 2000.", int, min=1),
        rounds=Rounds,
        skip=Skip,
        narrow=option("Go on until the mean is known to this share, e.g. 0.01.", float),
        seconds=option("About this long a row: fewer iterations if slow.", float),
        limit=option("Seconds after which a preparing engine is given up.", float),
    ),
)
def step(
    network: argument("See: facebench list networks.", list[str]),
    inference: flag("--inference", "Time inference in place of training.") = False,
    memory_limit: option("Address space of a step, e.g. 2GiB; 0: no limit.") = "0",
    size: InputSize = None,
    python: option("ENGINE=PATH of an interpreter that has this engine.", list[str]) = None,
    setting: common.setting(
        "NAME=VALUE of the step or network: classes, loss, input, precision, channels, ..."
    ) = None,
    seed: common.Seed = 0,
    threads: option("Worker threads: 1,2 or 1..32 by doubling; 0: one for each processor.") = "0",
    device: common.Device = "cpu",
    **options,
):
    """Time of an iteration and of its parts. Any network, batch size, input and engine."""
    from facebench.lab.engines import ENGINES

    engines = options["engines"]
    asked = options | {
        "batches": numbers(options["batches"], "batch"),
        "engines": list(ENGINES) if engines == "all" else engines.split(","),
        "mode": "inference" if inference else "training",
        "memory_limit": byte_size(memory_limit),
        "pythons": {k: str(v) for k, v in common.parse_assignments(python).items()},
        "seed": seed,
        "threads": numbers(threads, "threads"),
        "device": common.check_device(device),
    }
    result = facebench.timing.bench_step(network, **with_settings(asked, size, setting))
    return result, network[0] if len(network) == 1 else "networks"


@bench(
    "facebench bench scale resnet50 --processes 1,2,4 --batch 16",
    lambda: keywords(
        facebench.timing.bench_scale,
        processes=option("Numbers of processes: 1,2,4 or 1..8 by doubling."),
        scalings=option("weak, strong, or both by a comma.", str, "--scaling"),
        engines=option("facebench, pytorch, or both by a comma.", str, "--engine"),
        batch=option("Of each process (weak), of all (strong).", int, min=1),
        iterations=option("Of each round.", int, min=1),
        rounds=Rounds,
        skip=Skip,
        accuracy=option("Also: seconds until an epoch's training accuracy.", float),
        recipe=option("What --accuracy trains."),
        data=option("On what it trains.", Path, "--pack"),
        seeds=option("Trainings of each.", int, min=1),
        nodes=option("Hosts; each runs the same command, with its --node.", int, min=1),
        node=option("This host's number, from 0, which has the figures.", int, min=0),
        rendezvous=option("HOST:PORT of host 0, which all hosts reach.", str),
    ),
)
def scale(
    network: argument("See: facebench list networks."),
    size: InputSize = None,
    setting: common.setting("NAME=VALUE of the step, as for bench step.") = None,
    threads: option("Of each process; 0: an equal share.", int, min=0) = 0,
    device: common.Device = "cpu",
    **options,
):
    """What more processes bring. Weak and strong scaling, equation 6, time to an accuracy."""
    asked = options | {
        "processes": numbers(options["processes"], "processes"),
        "scalings": options["scalings"].split(","),
        "engines": options["engines"].split(","),
        "threads": threads,
        "device": common.check_device(device),
    }
    result = facebench.timing.bench_scale(network, **with_settings(asked, size, setting))
    return result, network
