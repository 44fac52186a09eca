#!/usr/bin/env python3
"""Writes the stubs of the compiled modules, python/facebench/_eval.pyi and _full.pyi: what editors
and type checkers read. With --check it writes nothing and fails where they are old.

Needs the full package and the extra lint: `PYTHONPATH=build/python python scripts/stubs.py`.
"""

import argparse
import ast
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "python/facebench"
MODULES = ("_eval", "_full")
HEADER = "# Made by scripts/stubs.py from the compiled module.\n"
# Makes stubs of the modules as they are compiled: facebench/__init__.py, which puts functions of
# its own around theirs, is passed over.
RAW = """
import importlib.util, sys, types
package = types.ModuleType("facebench")
package.__path__ = importlib.util.find_spec("facebench").submodule_search_locations
sys.modules["facebench"] = package
import torch, pybind11_stubgen
for name in sys.argv[2:]:
    pybind11_stubgen.main(["facebench." + name, "-o", sys.argv[1], "--exit-code"])
"""
# Of a field of an options class, as its description names them (see bindings/common.h).
TYPES = {
    "boolean": "bool",
    "integer": "int",
    "number": "float",
    "text": "str",
    "integers": "collections.abc.Sequence[int]",
    "numbers": "collections.abc.Sequence[float]",
    "texts": "collections.abc.Sequence[str]",
}


def field_type(field: dict) -> str:
    return TYPES[field["type"]] + (" | None" if field["optional"] else "")


def options_class(node: ast.ClassDef, fields: list[dict]) -> ast.ClassDef:
    """The stub of an options class: a typed attribute and a typed keyword for each field, in place
    of properties that may be anything."""
    names = {field["name"] for field in fields}
    kept = []
    for part in node.body:
        if getattr(part, "name", None) in names:
            continue
        if getattr(part, "name", None) == "__init__":
            keywords = ", ".join(f"{f['name']}: {field_type(f)} = ..." for f in fields)
            signature = f"def __init__(self, *, {keywords}) -> None: ..."
            part = ast.parse(signature).body[0]
        kept.append(part)
    lines = []
    for field in fields:
        lines += [f"{field['name']}: {field_type(field)}", repr(field["doc"])]
    return ast.ClassDef(
        node.name, node.bases, node.keywords, [*kept, *ast.parse("\n".join(lines)).body], [], []
    )


def mend_function(node: ast.FunctionDef) -> None:
    """An argument may be None where that is its default; anything is compared with anything."""
    arguments = node.args
    defaults = [None] * (len(arguments.args) - len(arguments.defaults)) + arguments.defaults
    pairs = [
        *zip(arguments.args, defaults, strict=True),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    for argument, default in pairs:
        if node.name in ("__eq__", "__ne__") and argument.arg != "self":
            argument.annotation = ast.Name("object")
        none = isinstance(default, ast.Constant) and default.value is None
        if none and argument.annotation and "None" not in ast.unparse(argument.annotation):
            optional = ast.parse(f"{ast.unparse(argument.annotation)} | None", mode="eval")
            argument.annotation = optional.body


def mend_class(node: ast.ClassDef) -> None:
    # That a class with __eq__ has no hash follows.
    hashes = [p for p in node.body if isinstance(p, ast.AnnAssign) and p.target.id == "__hash__"]
    node.body = [p for p in node.body if p not in hashes]
    for part in node.body:
        # Which kind of trials a track has, and so their attributes, is known when it is read.
        if node.name == "Track" and getattr(part, "name", "") == "trials":
            part.returns = ast.parse("typing.Any", mode="eval").body


def mended(text: str, module) -> str:
    """A stub as pybind11-stubgen makes it, with what it cannot know."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            mend_function(node)
        elif isinstance(node, ast.ClassDef):
            mend_class(node)
    for i, node in enumerate(tree.body):
        thing = getattr(module, getattr(node, "name", ""), None)
        if isinstance(node, ast.ClassDef) and hasattr(thing, "fields"):
            tree.body[i] = options_class(node, thing.fields())
        elif isinstance(node, ast.AnnAssign) and node.target.id != "__all__":
            node.value = None  # such as the version of the torch at hand
    return HEADER + ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def generated() -> dict[Path, str]:
    """Each stub's path and text, before it is formatted."""
    from facebench import _eval
    from facebench._torch import full

    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", RAW, folder, *MODULES]
        subprocess.run(command, check=True, capture_output=True, text=True)
        made = Path(folder) / "facebench"
        return {
            PACKAGE / f"{name}.pyi": mended((made / f"{name}.pyi").read_text(), module)
            for name, module in zip(MODULES, (_eval, full), strict=True)
        }


def stale(made: dict[Path, str]) -> list[Path]:
    """The stubs that say something else than what is made; their format does not matter."""

    def said(text: str) -> str:
        tree = ast.parse(text)
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                node.value = " ".join(node.value.split())
        return ast.dump(tree)

    return [p for p, text in made.items() if not p.exists() or said(p.read_text()) != said(text)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail where one is old")
    check = parser.parse_args().check
    made = generated()
    old = stale(made)
    if check and old:
        sys.exit(f"old: {', '.join(p.name for p in old)}. Run: python scripts/stubs.py")
    for path in [] if check else old:
        path.write_text(made[path])
        subprocess.run([sys.executable, "-m", "ruff", "format", "-q", path], check=True)


if __name__ == "__main__":
    main()
