"""docs/security.md: every row of its tables that claims something names tests, and they exist."""

import importlib.util
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/security.md"
FILES = {path.name: path for path in (ROOT / "tests").rglob("*") if "test" in path.name}
HEADS = ("test", "tested by")  # of the last column
# `FILE` (`part of a test's name`, ...), `hostile/CASE*`, `make TARGET`
REFERENCE = re.compile(r"`([^`]+)`(?: \(((?:`[^`]+`(?:, )?)+)\))?")


def tables(text):
    """The tables of a page: (heads, rows), each row its cells."""
    for block in re.findall(r"(?:^\|.*\n)+", text, re.M):
        lines = (line.strip().removeprefix("|").removesuffix("|") for line in block.splitlines())
        first, _, *rest = ([cell.strip() for cell in line.split("|")] for line in lines)
        yield first, rest


def names_of_tests(path):
    """Of the functions of a file of pytest, or `Suite.Test` of one of GoogleTest."""
    text = path.read_text()
    if path.suffix == ".py":
        return re.findall(r"def test_(\w+)", text)
    return [".".join(pair) for pair in re.findall(r"^TEST\w*\((\w+), (\w+)\)", text, re.M)]


def hostile_cases():
    spec = importlib.util.spec_from_file_location("cases", ROOT / "tests/hostile/cases.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return list(module.CASES)


def missing(cell, cases, targets):
    """What a cell names that is not there; all of it where it names nothing."""
    references = REFERENCE.findall(cell)
    if not references:
        return [f"no test in '{cell}'"]
    wrong = []
    for name, parts in references:
        word, _, rest = name.partition(" ")
        if name.startswith("hostile/"):
            there = any(re.fullmatch(name[8:].replace("*", ".*"), case) for case in cases)
        elif word == "make":
            there = rest in targets
        else:
            path = FILES.get(name.rpartition("/")[2])
            there = path is not None and path.as_posix().endswith(name)
            known = names_of_tests(path) if there else []
            wrong += [
                f"{name}: {part}"
                for part in re.findall("`([^`]+)`", parts)
                if not any(part in test for test in known)
            ]
        wrong += [] if there else [name]
    return wrong


def test_every_claim_names_tests_that_exist():
    cases = hostile_cases()
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M)
    found = [(heads, rows) for heads, rows in tables(PAGE.read_text()) if heads[-1] in HEADS]
    assert len(found) >= 3
    wrong = {}
    for heads, rows in found:
        for row in rows:
            if len(row) != len(heads):
                wrong[row[0]] = "another number of cells"
            elif gone := missing(row[-1], cases, targets):
                wrong[" | ".join(row[:-1])] = gone
    assert wrong == {}


def test_what_is_gone_is_seen():
    cases, targets = ["toml_nested"], ["faults"]
    whole = "`test_cli_steps.py` (`other_signals`), `hostile/toml_*`, `make faults`"
    assert missing(whole, cases, targets) == []
    assert missing("by hand", cases, targets) == ["no test in 'by hand'"]
    for cell in ("`test_none.py`", "`test_cli.py` (`no such`)", "`hostile/x*`", "`make x`"):
        assert len(missing(cell, cases, targets)) == 1, cell
