"""What every verb shares: its options, where results go, how errors end."""

import errno
import functools
import json as json_module
import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

import facebench

EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_STOPPED = 130

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of everything that is random.")]
Threads = Annotated[
    int, typer.Option("--threads", min=0, help="Worker threads; 0 = one for each processor.")
]
Device = Annotated[str, typer.Option("--device", help="cpu, cuda or cuda:N.")]
Out = Annotated[
    Path | None,
    typer.Option("--out", help="Where the result goes; left out: runs/VERB-NAME-N, printed."),
]
Root = Annotated[Path, typer.Option("--root", help="The data set as its authors unpack it.")]
Images = Annotated[
    Path | None, typer.Option("--images", help="The folder of images, where not found in --root.")
]
Lists = Annotated[
    Path | None, typer.Option("--lists", help="The folder of lists, where not found in --root.")
]


Detector = Annotated[str, typer.Option("--detector", help="See: facebench list detectors.")]
DetectorOption = Annotated[
    list[str] | None,
    typer.Option("--detector-option", help="NAME=VALUE, e.g. mode=facenet; may be repeated."),
]
Selection = Annotated[
    str, typer.Option("--selection", help="Which of several faces; see: facebench list selections.")
]
Crop = Annotated[str, typer.Option("--crop", help="How a face is cut; see: facebench list crops.")]
CropSize = Annotated[
    str,
    typer.Option("--crop-size", help="Pixels: 256, or WIDTHxHEIGHT; 0: the crop's own."),
]
Convention = Annotated[
    str, typer.Option("--convention", help="How the numbers are computed; default: the protocol's.")
]
Fusion = Annotated[
    str,
    typer.Option(
        "--fusion",
        help="How a template's samples become one embedding; see: facebench list fusions.",
    ),
]
FailedEnrolments = Annotated[
    str,
    typer.Option(
        "--failed-enrolments", help="What a failed enrolment scores; default: protocol's."
    ),
]
Interval = Annotated[
    str, typer.Option("--interval", help="How intervals are made; default: the protocol's.")
]
Replicates = Annotated[int, typer.Option("--replicates", help="Bootstrap replicates.")]
Level = Annotated[float, typer.Option("--level", help="Level of the intervals.")]
Exclude = Annotated[
    Path | None,
    typer.Option("--exclude", help="A list of people and samples to leave out (data overlap)."),
]
Strict = Annotated[bool, typer.Option("--strict", help="Any failed enrolment is a failure.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace an existing result.")]


def complain(text: str) -> None:
    print(f"facebench: {text}", file=sys.stderr, flush=True)


def verb(function: Callable) -> Callable:
    """Turns what a user can mend into a sentence and an exit code; anything else is a bug of ours
    and keeps its traceback.

    1: data or files are wrong, or a module is absent. 2: wrong use. 130: stopped by Ctrl-C.
    """

    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except KeyboardInterrupt:
            complain("stopped")
            raise typer.Exit(EXIT_STOPPED) from None
        except (facebench.Error, ImportError) as error:
            complain(str(error))
            raise typer.Exit(EXIT_FAILED) from None
        except (ValueError, IndexError) as error:
            complain(str(error))
            raise typer.Exit(EXIT_USAGE) from None
        except BrokenPipeError:
            # The reader (head, less) has seen enough. Nothing more may be flushed into the pipe.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None
        except OSError as error:
            place = f"{error.filename}: " if error.filename else ""
            what = "the disk is full" if error.errno == errno.ENOSPC else error.strerror or error
            complain(f"{place}{what}")
            raise typer.Exit(EXIT_FAILED) from None

    return wrapped


def print_json(value: Any) -> None:
    """A path is printed as text; NaN, which JSON does not know, is a bug of ours."""
    print(json_module.dumps(value, indent=2, ensure_ascii=False, allow_nan=False, default=str))


def show(result: Any, json: bool) -> None:
    """Prints a result object: its ``to_dict()`` as JSON, or the text it shows itself as."""
    if json:
        print_json(result.to_dict() if hasattr(result, "to_dict") else result)
    else:
        print(result)


def out_path(out: Path | None, verb_name: str, name: str = "", suffix: str = "") -> Path:
    """`out`, or the first free ``runs/VERB-NAME-N`` (printed, so that it can be found)."""
    if out is not None:
        return out
    stem = "-".join(part for part in (verb_name, name) if part)
    number = 1
    while (path := Path("runs") / f"{stem}-{number}{suffix}").exists():
        number += 1
    path.parent.mkdir(exist_ok=True)
    print(f"out: {path}", file=sys.stderr, flush=True)
    return path


def parse_assignments(texts: list[str]) -> dict[str, Any]:
    """``["size=112", "crop=paper"]`` as a dict; a value that reads as JSON is taken as such.

    >>> parse_assignments(["size=112", "rule=largest"])
    {'size': 112, 'rule': 'largest'}
    """
    result: dict[str, Any] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise ValueError(f"'{text}' is not of the form NAME=VALUE")
        try:
            result[key] = json_module.loads(value)
        except json_module.JSONDecodeError:
            result[key] = value
    return result


def crop_size(text: str) -> int | tuple[int, int]:
    """What `--crop-size` says: one number, or (width, height).

    >>> crop_size("256"), crop_size("96x112")
    (256, (96, 112))
    """
    sides = text.split("x")
    if len(sides) > 2 or not all(side.isdecimal() for side in sides):
        raise ValueError(f"--crop-size: '{text}' is neither a number nor WIDTHxHEIGHT")
    return (int(sides[0]), int(sides[1])) if len(sides) == 2 else int(sides[0])


def command_line() -> str:
    """What was typed, for a run's manifest."""
    return shlex.join(["facebench", *sys.argv[1:]])


def check_device(device: str) -> str:
    """`device`, where this machine has it. ValueError names what there is."""
    facebench.core.parse_device(device)
    return device
