"""What the verbs of ``facebench bench`` share: the sub-command, options, and how a result ends."""

from pathlib import Path
from typing import Annotated

import typer

import facebench
from facebench.cli.app import app
from facebench.cli.common import command_line, out_path, print_json
from facebench.cli.verbs.bench.terminal import show_tables

bench_app = typer.Typer(
    no_args_is_help=True, help="Time steps, loading, detection, scoring.", rich_markup_mode=None
)
app.add_typer(bench_app, name="bench")

Rounds = Annotated[int, typer.Option("--rounds", min=1, help="Repeats, in turns.")]
RowSeconds = Annotated[float, typer.Option("--seconds", help="About this long a row.")]
SomeThreads = Annotated[
    str, typer.Option("--threads", help="Numbers of threads to try, e.g. 1,2,4; 0: all processors.")
]


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


def finish(result: dict, out: Path | None, name: str, json: bool, overwrite: bool) -> None:
    """Writes the run folder and shows the tables."""
    kind = result["kind"]
    folder = out_path(out, f"bench-{kind}", name)
    facebench.timing.write_bench(result, folder, command_line(), overwrite)
    if json:
        print_json(result)
    else:
        show_tables(result)
        print(f"{folder}/report.html")
