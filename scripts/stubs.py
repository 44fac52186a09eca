#!/usr/bin/env python3
"""Writes the stub of a compiled module: what editors and type checkers read.

    PYTHONPATH=build/python python scripts/stubs.py _eval build/python/facebench/_eval.pyi

The build runs it where a module is linked. Signatures are those of the module's docstrings, fields
of options classes those of their descriptions: a typed keyword each, and all of them as the
TypedDict `CLASSKeywords` for functions with ``**options: Unpack[CLASSKeywords]``.
"""

import ast
import importlib
import importlib.util
import inspect
import re
import sys
import types
from pathlib import Path

# Of a field of an options class, as its description names them (see bindings/common.h).
FIELD_TYPES = {
    "boolean": "bool",
    "integer": "int",
    "number": "float",
    "text": "str",
    "path": "str",
    "integers": "collections.abc.Sequence[int]",
    "numbers": "collections.abc.Sequence[float]",
    "texts": "collections.abc.Sequence[str]",
}
# What a keyword takes beside that.
TAKEN = {"path": "os.PathLike[str]", "integers": "int", "texts": "dict[str, typing.Any]"}
OPENING, CLOSING = "([{<", ")]}>"
# Known when it is read: which kind of trials a track has, and so their attributes.
ANY = {("Track", "trials")}
# Pointers in C++, which may be None: a docstring does not say so, and no default is there.
MAY_BE_NONE = {
    ("check_claim", "protocol"),
    ("make_head", "processes"),
    ("train_arrays", "validation"),
    ("train_pack", "validation"),
}
# Of every class, or said better by `object`.
PASSED_OVER = ("__doc__", "__module__", "__hash__", "__reduce__", "__reduce_ex__")


def compiled(name: str) -> types.ModuleType:
    """A compiled module without facebench/__init__.py, which needs more than it."""
    if name == "_full":
        importlib.import_module("torch")  # whose types have names then
    package = types.ModuleType("facebench")
    package.__path__ = importlib.util.find_spec("facebench").submodule_search_locations
    sys.modules["facebench"] = package
    return importlib.import_module(f"facebench.{name}")


def split(text: str) -> list[str]:
    """A list at its commas outside of brackets and quotes.

    >>> split("a: dict[str, int], b: str = ','")
    ['a: dict[str, int]', "b: str = ','"]
    """
    parts, depth, quote = [""], 0, ""
    for k, character in enumerate(text):
        if quote:
            quote = "" if character == quote and text[k - 1] != "\\" else quote
        elif character in "'\"":
            quote = character
        elif character in CLOSING and text[k - 1 : k + 1] != "->":
            depth -= 1
        elif character in OPENING:
            depth += 1
        if character == "," and not depth and not quote:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def any_type(kind: str) -> str:
    return "typing.Any" if kind == "object" else kind


def argument(text: str, function: str = "") -> str:
    """``name: type = default`` of a function as a stub has it. It may be None where that is its
    default, or where `MAY_BE_NONE` says so."""
    name, colon, rest = text.partition(": ")
    if not colon:
        return text  # *args, **kwargs, the * before keywords
    kind, equals, default = rest.partition(" = ")
    kind, optional = any_type(kind), default == "None" or (function, name) in MAY_BE_NONE
    if optional and kind != "typing.Any" and "None" not in kind:
        kind += " | None"
    if not equals:
        return f"{name}: {kind}"
    plain = re.fullmatch(r"None|True|False|-?[\d.e+-]+|'[^'\\]*'", default)
    return f"{name}: {kind} = {default if plain else '...'}"


def signatures(function) -> list[tuple[str, str]]:
    """(``(arguments) -> type``, text) of each overload, out of a function's docstring."""
    first, _, rest = (function.__doc__ or "").strip().partition("\n")
    found = []
    if rest.startswith("Overloaded function."):
        name = re.escape(first.partition("(")[0])
        parts = re.split(rf"^\d+\. {name}(?=\()", rest, flags=re.MULTILINE)[1:]
        heads = [part.partition("\n")[::2] for part in parts]
    else:
        heads = [(first[first.find("(") :], rest)]
    for head, text in heads:
        arguments, _, result = head.rpartition(" -> ")
        made = ", ".join(argument(a, function.__name__) for a in split(arguments[1:-1]))
        found.append((f"({made}) -> {any_type(result)}", text.strip()))
    return found


def function_lines(name: str, function, decorators=()) -> list[str]:
    lines, overloads = [], signatures(function)
    for signature, text in overloads:
        if name in ("__eq__", "__ne__"):
            signature = "(self, other: object) -> bool"
        signature = re.sub(r"^\((self|arg0): [\w.]+", "(self", signature)
        lines += ["@typing.overload"] * (len(overloads) > 1) + list(decorators)
        lines += [f"def {name}{signature}:", *indented(text)]
    return lines


def indented(text: str) -> list[str]:
    if not text:
        return ["    ..."]
    return [f"    {line}".rstrip() for line in f"{text!r}".splitlines()]


def property_lines(name: str, member: property, owner: str) -> list[str]:
    kind = signatures(member.fget)[0][0].rpartition(" -> ")[2]
    kind = "typing.Any" if (owner, name) in ANY else kind
    lines = ["@property", f"def {name}(self) -> {kind}:", *indented(member.__doc__ or "")]
    if member.fset is not None:
        arguments = signatures(member.fset)[0][0].rpartition(" -> ")[0][1:-1]
        given = split(arguments)[1].partition(": ")[2]
        lines += [f"@{name}.setter", f"def {name}(self, value: {given}) -> None: ..."]
    return lines


def field_type(field: dict) -> str:
    return FIELD_TYPES[field["type"]] + (" | None" if field["optional"] else "")


def keywords_lines(name: str, fields: list[dict]) -> list[str]:
    lines = [f"class {name}Keywords(typing.TypedDict, total=False):"]
    for field in fields:
        more = [TAKEN[field["type"]]] if field["type"] in TAKEN else []
        lines.append(f"    {field['name']}: {' | '.join([field_type(field), *more])}")
    return lines


def class_lines(kind: type, fields: list[dict]) -> list[str]:
    bases = [base for base in kind.__bases__ if base.__module__.startswith("facebench")]
    bases += [base for base in kind.__bases__ if issubclass(base, Exception)]
    named = ", ".join(spelled(base) for base in bases)
    body = indented(inspect.cleandoc(kind.__doc__)) if kind.__doc__ else []
    for field in fields:
        body += [f"    {field['name']}: {field_type(field)}", *indented(field["doc"])]
    own = {field["name"] for field in fields}
    for name, member in sorted(vars(kind).items()):
        hidden = name.startswith("_") and not (name.startswith("__") and name.endswith("__"))
        if hidden or name in own or name in PASSED_OVER:
            continue
        if name == "__init__" and fields:
            keywords = f"**fields: typing.Unpack[{kind.__name__}Keywords]"
            lines = [f"def __init__(self, {keywords}) -> None: ..."]
        elif isinstance(member, property):
            lines = property_lines(name, member, kind.__name__)
        elif isinstance(member, staticmethod):
            lines = function_lines(name, member.__func__, ["@staticmethod"])
        elif type(member).__name__ == "instancemethod":
            lines = function_lines(name, member)
        elif isinstance(member, kind):
            lines = [f"{name}: typing.ClassVar[{kind.__name__}]"]
        else:
            continue
        body += [f"    {line}" for line in lines]
    return [f"class {kind.__name__}{f'({named})' if named else ''}:", *(body or ["    ..."])]


def spelled(kind: type) -> str:
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


def stub(module: types.ModuleType) -> str:
    """The text of the stub. ValueError where it would be no Python."""
    lines = []
    for name, member in sorted(vars(module).items()):
        if inspect.isclass(member) and member.__module__ == module.__name__:
            fields = member.fields() if hasattr(member, "fields") else []
            lines += keywords_lines(name, fields) if fields else []
            lines += class_lines(member, fields)
        elif inspect.isbuiltin(member):
            lines += function_lines(name, member)
        elif not name.startswith("__") and not inspect.ismodule(member):
            lines.append(f"{name}: {spelled(type(member))}")
    text = "\n".join(lines).replace(f"{module.__name__}.", "")
    dotted = set(re.findall(r"\b((?:[a-z_]+\.)+)[A-Za-z_]", text))
    known = ("collections", "facebench", "numpy", "os", "pathlib", "torch", "typing")
    imports = {"typing", *(d[:-1] for d in dotted if d.partition(".")[0] in known)} - {"facebench"}
    whole = "\n".join([*(f"import {name}" for name in sorted(imports)), text])
    header = f"# Made by scripts/stubs.py from {module.__name__}.\n"
    return header + ast.unparse(ast.parse(whole)) + "\n"


if __name__ == "__main__":
    name, path = sys.argv[1:]
    text = stub(compiled(name))
    Path(path).unlink(missing_ok=True)  # not through a link
    Path(path).write_text(text)
