"""What the verbs share: options, where results go, how values are typed."""

import contextlib
import errno
import inspect
import itertools
import json as json_module
import os
import re
import shlex
import sys
import textwrap
from collections.abc import Mapping
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import facebench
from facebench.cli.options import argument, fields, flag, keyword, option
from facebench.core._arguments import number_and_first, printable

EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_VERDICT = 3  # a check was made, and its answer is no
EXIT_UNCHECKED = 4  # nothing is wrong, but not all could be checked
EXIT_STOPPED = 130

Protocol = argument("See: facebench list protocols; or a TOML file.")
DataSet = argument("See: facebench list datasets.")
Json = flag("--json", "Print the result as JSON; an error, too, on the error stream.")
Quiet = flag("--quiet", "Do not say how far it is.")
Full = flag("--full", "Print all of a long answer on a terminal.")
Seed = option("Seed of everything that is random.", int, min=0)
Threads = option("Worker threads; 0 = one for each processor.", int, min=0)
Device = option("cpu, cuda or cuda:N.", metavar="DEVICE")
Output = option("Of an ONNX file with several outputs: the embedding.", metavar="NAME")
Providers = option(
    "Of onnxruntime, for ONNX files, in their order, in place of --device: tensorrt,cuda,cpu.",
    metavar="NAMES",
)
Out = option("Where to write the result; default: runs/VERB-NAME-N.", Path)
Root = option("The data set, as its authors distribute it.", Path, metavar="FOLDER")
Images = option("The folder of images, where not found in --root.", Path, metavar="FOLDER")
Lists = option("The folder of lists, where not found in --root.", Path, metavar="FOLDER")
DetectorOption = option(
    "For example mode=facenet; may be repeated.", list[str], metavar="NAME=VALUE"
)
SkipDamaged = option("Go on past so many damaged entries of an archive, and list them.", int, min=0)
Label = option(
    "Of an archive: the column, key, feature or ending (txt) that says who it is. Of a folder: the "
    "level of the people's folders, 1 or 2.",
    metavar="NAME",
)
Split = option("Of Parquet and Arrow: which split of several, train or train+test.")
Exclude = option(
    "A list of people and samples to leave out (data overlap, inspect).", Path, metavar="FILE"
)
Only = option(
    "A list of people and samples that alone stay: one person a line, or LFW's peopleDevTrain.txt.",
    Path,
    metavar="FILE",
)
Limit = option(
    "A quick look: at most so many comparisons of a list, or images of another protocol; the "
    "result says so.",
    int,
    min=1,
)
Shard = option("NUMBER/COUNT, as 3/16: make this part alone, one machine of several.")
Shards = option(
    "With --workers: parts that are made apart; default: four for each of their threads.",
    int,
    min=1,
)
Workers = option("Other machines do it: a Dask scheduler's address, tcp://HOST:8786.")
ExifOrientation = flag("--exif-orientation", "Turn photographs the way their Exif tags say.")
Strict = flag("--strict", "Any failed enrolment is a failure.")
Overwrite = flag("--overwrite", "Replace an existing result.")


MODEL_HELP = (
    "FILE.safetensors, FILE.onnx, module:function (whose code is run), or a name: dlib, or one of "
    "facebench list models. A library of NIST's FRTE 1:1, libfrte_11_NAME_001.so, goes with run, "
    "compare and suite; its code is run without network, and writes no file."
)
PIXELS_HELP = (
    "NAME=VALUE, what an ONNX file or a module:function expects of its pixels 0..255: color=bgr, "
    "mean=127.5, std=128, or one number for each channel, mean=123.675,116.28,103.53. Of a large "
    "ONNX file also seconds=300 and memory=17179869184 (bytes), what trying it once may take; of a "
    "library of FRTE the same of each template, and config=FOLDER."
)


def setting(help: str) -> Any:
    """The annotation of ``--set NAME=VALUE``, which may be repeated."""
    return option(help, list[str], "--set", metavar="NAME=VALUE")


# Fields that are typed otherwise than the library takes them: their names on the command line, and
# how they are typed.
TYPED = {
    "micro_batch": ("batch_size", None),
    "detector_options": ("detector_option", DetectorOption),
    "crop_size": ("crop_size", option("Pixels: 256, or WIDTHxHEIGHT; default: the crop's own.")),
}


def request(kind: type, *names: str) -> list[inspect.Parameter]:
    """The named fields of an options class, or all of them, as they are typed."""
    typed = {name: how for name, how in TYPED.values() if how is not None}
    return [
        keyword(p.name, typed[p.name], None) if p.name in typed else p
        for p in fields(kind, *names, renamed={field: name for field, (name, _) in TYPED.items()})
    ]


def parse_request(options: dict[str, Any]) -> None:
    """Puts what the library takes in place of what was typed."""
    for field, (name, _) in TYPED.items():
        if name in options:
            options[field] = options.pop(name)
    if "crop_size" in options:
        options["crop_size"] = parse_crop_size(options["crop_size"])
    if "detector_options" in options:
        options["detector_options"] = parse_assignments(options["detector_options"])


def say_cost(precision: str, device: str = "cpu") -> None:
    """Say what a precision costs on this processor, before anything is computed."""
    from facebench import nn  # needs torch

    if device == "cpu" and (cost := nn.precision_cost(precision)):
        complain(cost)


def shard_name(name: str, shard: str) -> str:
    """The name of a result, or of the shard of it that is made."""
    return f"{name}-{shard.replace('/', '-of-')}" if shard else name


def executor(address: str) -> Executor | None:
    """The workers of a Dask scheduler, where --workers names one."""
    if not address:
        return None
    try:
        from dask.distributed import Client
    except ImportError:
        raise ImportError(
            "--workers needs Dask: pip install distributed (the extra 'cluster')"
        ) from None
    if not re.fullmatch(r"[a-z]+://.+:[0-9]+", address):
        raise ValueError(f"--workers {address}: expected an address, as tcp://HOST:8786")
    try:
        client = Client(address, timeout=10, set_as_default=False)
        if "dashboard" in client.scheduler_info().get("services", {}):
            complain(f"the workers at work: {client.dashboard_link}")
        # A name for each call: a job that is asked for again runs again. One that fails does, too.
        return client.get_executor(pure=False, retries=1)
    except (OSError, ValueError, TypeError) as error:
        raise facebench.Error(
            f"{address}: no Dask scheduler answers ({error}). Start one: dask scheduler"
        ) from None


def complain(text: str) -> None:
    print(f"facebench: {printable(text)}", file=sys.stderr, flush=True)


def complain_of_error(text: str, code: int, json: bool) -> None:
    """What a verb ends with: a sentence, or as JSON ``{"error": ..., "exit_code": ...}``."""
    if json:
        print(printable(json_module.dumps({"error": text, "exit_code": code})), file=sys.stderr)
    else:
        complain(text)


def reason(error: OSError) -> str:
    """What the system says, in words that people use."""
    return "the disk is full" if error.errno == errno.ENOSPC else error.strerror or str(error)


def drop_output() -> None:
    """What is still to be printed goes nowhere: the program that reads it has ended, or its disk is
    full, and the interpreter would try again as it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


LINES, COLUMNS = 30, 80  # of an answer on a terminal


def fitted(text: str, full: bool) -> str:
    """An answer as a terminal shows it: sentences are wrapped, and of rows and of many lines the
    first part is shown, unless all is asked for. Files and other programs get it as it is.

    >>> print(fitted("a long note " * 8, False))
    a long note a long note a long note a long note a long note a long note a long
      note a long note
    >>> len(fitted("name    " + "what it is " * 8, False))
    80
    >>> fitted("line\\n" * 40, False).splitlines()[-1]
    '... 11 lines more; --full shows them'
    """
    lines: list[str] = []
    for line in text.rstrip("\n").split("\n"):
        if len(line) <= COLUMNS or (full and line.startswith("|")):
            lines.append(line)
        elif not full and re.search(r"\S  +\S|^\|", line):  # a row of a table
            lines.append(f"{line[: COLUMNS - 3]}...")
        else:
            indent = " " * (len(line) - len(line.lstrip()) + 2)
            lines += textwrap.wrap(
                line,
                COLUMNS,
                subsequent_indent=indent,
                break_long_words=False,  # a path is one word
                break_on_hyphens=False,
            )
    if not full and len(lines) > LINES:
        more = len(lines) - (LINES - 1)
        lines = [*lines[: LINES - 1], f"... {more} lines more; --full shows them"]
    return "\n".join(lines)


def result_answer(result: Any, out: Path) -> Any:
    """The answer of a verb that evaluates into `out`: 1 where nothing could be enrolled."""
    from facebench.cli.verb import Answer

    report = out / "report.html"
    fields = {**result.to_dict(), "out": str(out), "report": str(report)}
    text = f"{result}\nreport: {report}"
    return Answer(fields, text, EXIT_FAILED if result.all_failed else 0)


def print_json(value: Any) -> None:
    """A path is printed as text; NaN, which JSON cannot represent, is a bug."""
    text = json_module.dumps(value, indent=2, ensure_ascii=False, allow_nan=False, default=str)
    print(printable(text.replace("\x7f", "\\u007f")))


_taken: list[Path] = []  # by out_path(), until the verb ends


def out_path(out: Path | None, verb_name: str, name: str = "", suffix: str = "") -> Path:
    """`out`, or the first free ``runs/VERB-NAME-N`` (printed, so that it can be found).

    The name is taken at once, by an empty folder or (with a suffix) an empty file, so that two
    calls at the same time do not find the same one free. What is still empty when the verb ends
    goes (`give_back_names`).
    """
    if out is not None:
        return out
    stem = "-".join(part for part in (verb_name, name) if part)
    for number in itertools.count(1):
        path = Path("runs") / f"{stem}-{number}{suffix}"
        try:
            path.parent.mkdir(exist_ok=True)
            if suffix:
                path.touch(exist_ok=False)
            else:
                path.mkdir()
            break
        except FileExistsError:
            continue
    _taken.append(path)
    print(f"out: {path}", file=sys.stderr, flush=True)
    return path


def give_back_names() -> None:
    """Remove the empty folders and files of `out_path` that nothing was written to."""
    while _taken:
        path = _taken.pop()
        if path.is_dir():
            with contextlib.suppress(OSError):
                path.rmdir()
        elif path.is_file() and path.stat().st_size == 0:
            path.unlink()


def parse_assignments(texts: list[str] | None) -> dict[str, Any]:
    """``["size=112", "crop=paper"]`` as a dict; a value that reads as JSON is taken as such, and
    numbers with commas between are a list.

    >>> parse_assignments(["size=112", "rule=largest", "mean=123.675,116.28,103.53"])
    {'size': 112, 'rule': 'largest', 'mean': [123.675, 116.28, 103.53]}
    """
    result: dict[str, Any] = {}
    for text in texts or []:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise ValueError(f"'{text}' is not of the form NAME=VALUE")
        result[key] = _typed(value)
    return result


def _typed(text: str) -> Any:
    try:
        return json_module.loads(text)
    except json_module.JSONDecodeError:
        parts = [_typed(part) for part in text.split(",")] if "," in text else []
    return parts if parts and all(type(p) in (int, float) for p in parts) else text


def add_outputs(options: dict[str, Any], output: str | None, providers: str | None) -> None:
    """Adds what ``--output`` and ``--providers`` say, where they are given."""
    given = {"output": output, "providers": providers and providers.split(",")}
    options.update({name: value for name, value in given.items() if value})


def add_settings(options: dict[str, Any], texts: list[str] | None) -> None:
    """Adds what ``--set`` says. ValueError for what an option of its own says already."""
    for name, value in parse_assignments(texts).items():
        if options.get(name) is not None:
            raise ValueError(f"--set {name} and --{name.replace('_', '-')} are both given")
        options[name] = value


def parse_crop_size(text: str | None) -> int | tuple[int, int] | None:
    """What `--crop-size` says: one number, or (width, height).

    >>> parse_crop_size("256"), parse_crop_size("96x112")
    (256, (96, 112))
    """
    if text is None:
        return None
    sides = text.split("x")
    if len(sides) > 2 or not all(side.isdecimal() for side in sides):
        raise ValueError(f"--crop-size: '{text}' is neither a number nor WIDTHxHEIGHT")
    return (int(sides[0]), int(sides[1])) if len(sides) == 2 else int(sides[0])


def command_line() -> str:
    """What was typed, for a run's manifest."""
    words = shlex.join(["facebench", *sys.argv[1:]])
    # Bytes that are not text in this locale are kept as text where they are UTF-8, else as \xe9.
    return words.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def check_device(device: str) -> str:
    """`device`, where this machine has it. ValueError names what there is."""
    facebench.core.parse_device(device)
    return device


def fields_of(thing: Any, *names: str) -> dict[str, Any]:
    """Attributes by their names, for an answer."""
    return {name: getattr(thing, name) for name in names}


def data_set_lines(images: Any) -> list[str]:
    """What an archive says of itself, and the files of a folder that are not read."""
    lines = [f"  note: {note}" for note in images.notes]
    if images.passed_over:
        read = images.images if hasattr(images, "images") else len(images.samples)
        half = "warning: half of the files or more are " * (len(images.passed_over) >= read)
        what = f"no {facebench.images.known_formats()}, or outside of the people's folders"
        lines.append(f"  {half}passed over, {what}: {number_and_first(images.passed_over)}")
    return lines


def counts_text(counts: Mapping[str, int]) -> str:
    """How many samples have which status: ``12 ok, 1 no_face``."""
    return ", ".join(f"{n} {name}" for name, n in counts.items() if n)
