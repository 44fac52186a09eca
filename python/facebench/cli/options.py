"""Options of the command line, made from what describes them elsewhere: an options class of the
library (name, help, range, default, choices), or the signature of a function."""

import inspect
import re
from collections.abc import Callable, Iterable
from copy import copy
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

import typer

from facebench.core._options import OptionsClass, signed

TYPES = {
    "boolean": bool,
    "integer": int,
    "number": float,
    "text": str,
    "path": Path,
    "integers": list[int],
    "numbers": list[float],
    "texts": list[str],
}
# These stand last in a verb's help, in this order.
LAST = ("strict", "discard", "out", "overwrite", "seed", "threads", "device", "quiet", "json")

# Headings in the help of a verb with many options; what no heading names stands under "Input".
HEADINGS = {
    "Faces": "detector detector_option selection crop crop_size warp max_pixels exif_orientation",
    "Model": "model setting flip normalization batch_size precision device executor",
    "Numbers": "convention accuracy_convention tar_at_far_convention identification_convention "
    "rank_ties failed_enrolments interval fusion match replicates level stored_scores",
    "Machines": "shard shard_files shards workers jobs",
    "Output": "cache no_cache strict discard out overwrite seed threads quiet full json help "
    "help_all",
}

# Of a verb with many options --help shows these, and --help-all every one.
COMMON = (
    "root embeddings scores labels columns distance model detector crop setting flip batch_size "
    "device convention cache packs recipe pack epochs init freeze out overwrite threads quiet json "
    "help help_all"
)

# What stands for a value in the help, where nothing better is said.
METAVARS = {int: "N", float: "X", str: "NAME", Path: "PATH", list[str]: "NAME", list[int]: "N"}


Choices = Iterable[str] | Callable[[], Iterable[str]]


def completion(help: str, choices: Choices = ()) -> dict[str, Any]:
    """What a shell completes a value with: the choices, or the names of the list that the help
    names ("facebench list losses")."""
    listed = re.search(r"facebench list ([a-z-]+)", help)

    def names(incomplete: str) -> list[str]:
        known = list(choices() if callable(choices) else choices)
        if listed:
            from facebench.cli.verbs.listing import KINDS

            known += [entry["name"] for entry in KINDS[listed[1]]()]
        return [name for name in known if name.startswith(incomplete)]

    return {"autocompletion": names} if listed or choices else {}


def option(help: str, type: Any = str, *flags: str, **settings: Any) -> Any:
    """The annotation of an option: ``sheet: option("Also write a sheet.", Path) = None``."""
    if type in METAVARS:
        settings.setdefault("metavar", METAVARS[type])
    settings = {**completion(help), **settings}
    return Annotated[type, typer.Option(*flags, help=help, **settings)]


def flag(name: str, help: str, **settings: Any) -> Any:
    """The annotation of an option that is given or not."""
    return option(help, bool, name, **settings)


def argument(help: str, type: Any = str, choices: Choices = ()) -> Any:
    return Annotated[type, typer.Argument(help=help, **completion(help, choices))]


def keyword(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
    )


def fields(
    kind: type[OptionsClass],
    *names: str,
    renamed: dict[str, str] | None = None,
    defaults: dict[str, Any] | None = None,
) -> list[inspect.Parameter]:
    """The named fields of an options class, or all of them, as parameters of a verb.
    ``renamed`` and ``defaults``: the names and defaults of the command line where they differ."""
    renamed, defaults = renamed or {}, defaults or {}
    return [
        _parameter(renamed.get(name, name), field, defaults.get(name, field["default"]))
        for field in kind.fields()
        if (name := field["name"]) in names or not names
    ]


def _parameter(name: str, field: dict, default: Any) -> inspect.Parameter:
    type_ = TYPES[field["type"]]
    settings: dict[str, Any] = {}
    if type_ in (int, float):
        # A bound that only says what the type holds would be noise.
        for key, bound in (("min", field["low"]), ("max", field["high"])):
            if bound is not None and abs(bound) < 2**31 - 1:
                settings[key] = type_(bound)
    if field["choices"]:
        settings["metavar"] = f"[{'|'.join(field['choices'])}]"
        settings.update(completion("", field["choices"]))
    elif type_ is not bool:
        settings["metavar"] = METAVARS.get(type_, "X")
    text = field["doc"][:1].upper() + field["doc"][1:] + "."
    flags = ["--" + name.replace("_", "-")]
    if type_ is bool and default:
        flags = [f"{flags[0]}/--no-{flags[0][2:]}"]
    annotation = option(text, type_ if default is not None else type_ | None, *flags, **settings)
    return keyword(name, annotation, default)


def keywords(function: Callable, **annotations: Any) -> list[inspect.Parameter]:
    """The named keywords of a function as parameters of a verb, with the function's defaults; a
    default of several values becomes text, separated by commas."""

    def default(name):
        value = inspect.signature(function).parameters[name].default
        return ",".join(map(str, value)) if isinstance(value, tuple) else value

    return [keyword(name, what, default(name)) for name, what in annotations.items()]


def with_parameters(function: Callable, described: Iterable[inspect.Parameter]) -> Callable:
    """`function` with these parameters, too, in its signature, where typer looks for them. Of two
    with one name the first counts; its own come first."""
    parameters: dict[str, inspect.Parameter] = {}
    for p in (*inspect.signature(function).parameters.values(), *described):
        if p.kind is not p.VAR_KEYWORD:
            parameters.setdefault(p.name, named(p).replace(kind=p.KEYWORD_ONLY))
    places = {name: place for place, name in enumerate(LAST, 1)}
    ordered = sorted(parameters.values(), key=lambda p: places.get(p.name, 0))
    return signed(function, inspect.Signature(ordered))


def named(p: inspect.Parameter) -> inspect.Parameter:
    """The parameter with its name as the command line has it. What is left to typer, typer 0.27
    makes of a metavar: a ``device`` that is shown as DEVICE became ``--DEVICE``."""
    if get_origin(p.annotation) is not Annotated:
        return p
    type_, *about = get_args(p.annotation)
    for place, info in enumerate(about):
        if isinstance(info, typer.models.ArgumentInfo):
            about[place] = info = copy(info)
            info.metavar = info.metavar or p.name.upper()
        elif isinstance(info, typer.models.OptionInfo) and info.default is ...:
            about[place] = info = copy(info)
            info.param_decls = ("--" + p.name.replace("_", "-"),)
    return p.replace(annotation=Annotated[type_, *about])
