"""Options of the command line, made from what describes them elsewhere: an options class of the
library (name, help, range, default, choices), or the signature of a function."""

import inspect
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, get_args, get_origin

import click

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

    def names(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
        known = list(choices() if callable(choices) else choices)
        if listed:
            from facebench.cli.verbs.listing import KINDS

            known += [entry["name"] for entry in KINDS[listed[1]]()]
        return [name for name in known if name.startswith(incomplete)]

    return {"shell_complete": names} if listed or choices else {}


@dataclass(frozen=True)
class Typed:
    """How a parameter of a verb is typed: as an option, or by its place."""

    help: str
    by_place: bool = False
    flags: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    settings: dict[str, Any] = field(default_factory=dict)  # of click


class Number(click.ParamType):
    """A whole number, or any, within a range."""

    def __init__(self, kind: type, low: float | None, high: float | None) -> None:
        self.kind, self.low, self.high = kind, low, high
        self.name = METAVARS[kind]

    def range_text(self) -> str:
        if self.low is not None and self.high is not None:
            return f"{self.low:.10g} to {self.high:.10g}"
        return "" if self.low is None else f"from {self.low:.10g}"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        try:
            number = self.kind(value)
        except ValueError:
            self.fail(f"'{value}' is not a {'whole ' * (self.kind is int)}number.", param, ctx)
        low, high = self.low, self.high
        if self.kind is int:  # what the library holds
            low, high = (-(2**63) if low is None else low), (2**63 - 1 if high is None else high)
        if number != number or (low is not None and number < low):
            self.fail(f"{value} is not allowed; the least is {low:.10g}.", param, ctx)
        if high is not None and number > high:
            self.fail(f"{value} is not allowed; the greatest is {high:.10g}.", param, ctx)
        return number


class TypedOption(click.Option):
    """An option whose help has the range of its number."""

    def get_help_extra(self, ctx: click.Context) -> Any:
        extra = super().get_help_extra(ctx)
        if self.default == "":
            extra.pop("default", None)
        if isinstance(self.type, Number) and (text := self.type.range_text()):
            extra["range"] = text
        return extra


class TypedArgument(click.Argument):
    """A word that goes by its place, with a help."""

    def __init__(self, decls: list[str], help: str, **settings: Any) -> None:
        super().__init__(decls, **settings)
        self.help: str = help

    def get_help_record(self, ctx: click.Context) -> tuple[str, str]:
        return self.human_readable_name, f"{self.help}{'  [required]' if self.required else ''}"


def click_parameter(p: inspect.Parameter) -> click.Parameter:
    """A parameter of a verb's function as one of click."""
    type_, typed = get_args(p.annotation)
    required = p.default is p.empty or p.default is ...
    if get_origin(type_) is UnionType:  # or None
        (type_,) = (t for t in get_args(type_) if t is not type(None))
    many = get_origin(type_) is list
    one = get_args(type_)[0] if many else type_
    settings: dict[str, Any] = {"required": required, **typed.settings}
    if one in (int, float):
        settings["type"] = Number(one, typed.low, typed.high)
    elif one is not bool:
        settings["type"] = click.Path(path_type=Path) if one is Path else one
    if not required:
        settings["default"] = p.default
    if typed.by_place:
        settings["nargs"] = -1 if many else 1
        return TypedArgument([p.name], typed.help, **settings)
    if one is bool:
        settings["is_flag"] = True
    flags = typed.flags or ("--" + p.name.replace("_", "-"),)
    settings |= {"multiple": many, "show_default": True, "help": typed.help}
    return TypedOption([p.name, *flags], **settings)


def option(
    help: str,
    type: Any = str,
    *flags: str,
    min: float | None = None,
    max: float | None = None,
    **settings: Any,
) -> Any:
    """The annotation of an option: ``sheet: option("Also write a sheet.", Path) = None``."""
    if type in METAVARS:
        settings.setdefault("metavar", METAVARS[type])
    settings = {**completion(help), **settings}
    return Annotated[type, Typed(help, False, flags, min, max, settings)]


def flag(name: str, help: str, **settings: Any) -> Any:
    """The annotation of an option that is given or not."""
    return option(help, bool, name, **settings)


def argument(help: str, type: Any = str, choices: Choices = ()) -> Any:
    return Annotated[type, Typed(help, True, settings=completion(help, choices))]


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
    """`function` with these parameters, too, in its signature, where a verb looks for them. Of two
    with one name the first counts; its own come first."""
    parameters: dict[str, inspect.Parameter] = {}
    for p in (*inspect.signature(function).parameters.values(), *described):
        if p.kind is not p.VAR_KEYWORD:
            parameters.setdefault(p.name, p.replace(kind=p.KEYWORD_ONLY))
    places = {name: place for place, name in enumerate(LAST, 1)}
    ordered = sorted(parameters.values(), key=lambda p: places.get(p.name, 0))
    return signed(function, inspect.Signature(ordered))
