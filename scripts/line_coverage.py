"""Which lines of the Python half the tests run, and the number. Needs Python 3.12 or later.

    PYTHONPATH=scripts python -m pytest -p line_coverage ...  each process leaves a file
    python scripts/line_coverage.py build/coverage            the number of each room, and of all

A plugin of pytest; what a test starts as a program of its own is not counted. The interpreter tells
of each line once (PEP 669), so that tests take hardly longer.
"""

import importlib.util
import json
import os
import sys
from pathlib import Path
from types import CodeType

import pytest

FOLDER = Path("build/coverage")
LINES = pytest.StashKey[dict[str, set[int]]]()


def package() -> str:
    """The folder of the package that is imported, without importing it."""
    spec = importlib.util.find_spec("facebench")
    assert spec and spec.submodule_search_locations
    return spec.submodule_search_locations[0] + os.sep


def watch(base: str) -> dict[str, set[int]]:
    """The lines that are run from now on, by file below ``base``."""
    lines: dict[str, set[int]] = {}
    monitoring = sys.monitoring

    def line(code: CodeType, number: int):
        if code.co_filename.startswith(base):
            lines.setdefault(code.co_filename.removeprefix(base), set()).add(number)
        return monitoring.DISABLE

    monitoring.use_tool_id(monitoring.COVERAGE_ID, "facebench")
    monitoring.register_callback(monitoring.COVERAGE_ID, monitoring.events.LINE, line)
    monitoring.set_events(monitoring.COVERAGE_ID, monitoring.events.LINE)
    return lines


def lines_of(path: Path) -> set[int]:
    """The lines of a file that can be run, as the interpreter numbers them."""
    codes, numbers = [compile(path.read_text(), str(path), "exec")], set()
    while codes:
        code = codes.pop()
        numbers |= {number for _, _, number in code.co_lines() if number}
        codes += [c for c in code.co_consts if isinstance(c, CodeType)]
    return numbers


def table(folder: Path, base: Path) -> list[tuple[str, int, int]]:
    """(room, lines that were run, lines) of each room of the package, and of all together."""
    run: dict[str, set[int]] = {}
    for part in folder.glob("*.json"):
        for name, numbers in json.loads(part.read_text()).items():
            run.setdefault(name, set()).update(numbers)
    rooms: dict[str, list[int]] = {}
    for path in sorted(base.rglob("*.py")):
        name = path.relative_to(base)
        lines = lines_of(path)
        sums = rooms.setdefault(name.parts[0].removesuffix(".py"), [0, 0])
        sums[0] += len(lines & run.get(name.as_posix(), set()))
        sums[1] += len(lines)
    rows = [(room, done, of) for room, (done, of) in sorted(rooms.items())]
    return [*rows, ("all", sum(r[1] for r in rows), sum(r[2] for r in rows))]


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config):
    """Before tests/conftest.py, which imports the package."""
    early_config.stash[LINES] = watch(package())


def pytest_unconfigure(config):
    FOLDER.mkdir(parents=True, exist_ok=True)
    lines = {name: sorted(numbers) for name, numbers in config.stash[LINES].items()}
    (FOLDER / f"{os.getpid()}.json").write_text(json.dumps(lines))


def main() -> None:
    rows = table(Path(sys.argv[1]), Path(__file__).resolve().parents[1] / "python/facebench")
    for room, done, of in rows:
        print(f"{room:14} {done:6} of {of:6} lines  {100 * done / max(of, 1):5.1f} %")


if __name__ == "__main__":
    main()
