"""What the verbs of ``facebench bench`` share: options, and how a result ends."""

import functools
from collections.abc import Callable, Iterable
from inspect import Parameter

import facebench
from facebench.cli import common
from facebench.cli.options import keyword, option, with_parameters
from facebench.cli.verb import Answer, verb
from facebench.lab.verbs.bench.terminal import show_tables

Rounds = option("Repeats, in turns.", int, min=1)
RowSeconds = option("About this long a row.", float, "--seconds")
SomeThreads = option("Numbers of threads to try, e.g. 1,2,4; 0: all processors.")


def bench(example: str, described: Callable[[], Iterable[Parameter]] = list) -> Callable:
    """A verb that measures: it returns the result and what to call it. The result is written to
    --out and shown as tables."""

    def decorate(function: Callable) -> Callable:
        @functools.wraps(function)
        def measured(out=None, overwrite=False, json=False, **options):
            result, name = function(**options)
            folder = common.out_path(out, f"bench-{result['kind']}", name)
            facebench.timing.write_bench(result, folder, common.command_line(), overwrite)
            if not json:
                show_tables(result)
            return Answer(result, f"{folder}/report.html")

        ending = [
            keyword("out", common.Out, None),
            keyword("overwrite", common.Overwrite, False),
            keyword("json", common.Json, False),
        ]
        return verb(example, described)(with_parameters(measured, ending))

    return decorate


def numbers(text: str, what: str) -> list[int]:
    """``"16,32"`` as integers; ``"16..512"`` doubles from one to the other.

    >>> numbers("16..128", "batch"), numbers("1,0", "threads")
    ([16, 32, 64, 128], [1, 0])
    """
    first, dots, last = text.partition("..")
    try:
        if not dots:
            return [int(part) for part in text.split(",")]
        result = [int(first)]
        while result[-1] > 0 and result[-1] * 2 <= int(last):
            result.append(result[-1] * 2)
        return result
    except ValueError:
        raise ValueError(
            f"--{what}: '{text}' is not a list of numbers (16,32 or 16..512)"
        ) from None


def byte_size(text: str) -> int:
    """``"2GiB"`` in bytes.

    >>> byte_size("1.5GiB"), byte_size("0")
    (1610612736, 0)
    """
    units = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
    unit = next((u for u in units if text.endswith(u)), "")
    try:
        return int(float(text.removesuffix(unit)) * units.get(unit, 1))
    except ValueError:
        raise ValueError(f"'{text}' is not a size (e.g. 512MiB, 2GiB)") from None
