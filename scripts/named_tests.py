"""How many sources have a test of their own name: x.cc and x.h x_test.cc, x.py test_x.py.

    python scripts/named_tests.py          the number, by language
    python scripts/named_tests.py --list   the sources that have none

A leading underscore does not count. Where a name says little by itself, the folder's may stand
before it: _onnx/bounds.py has test_onnx_bounds.py.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def sources() -> dict[Path, str]:
    """Each source without its ending: the pattern of its tests. x.cc and x.h are one."""
    found = {}
    for path in sorted((ROOT / "cpp").rglob("*")):
        if path.suffix in (".cc", ".h"):
            found[path.with_suffix("")] = "{}_test.cc"
    for path in sorted((ROOT / "python/facebench").rglob("*.py")):
        if path.stem != "__init__":
            found[path.with_suffix("")] = "test_{}.py"
    return found


def without_a_test() -> tuple[dict[str, list[int]], list[str]]:
    """By the pattern of their tests, how many sources have one and how many there are; and those
    that have none."""
    tests = {path.name for path in (ROOT / "tests").rglob("*") if path.suffix in (".cc", ".py")}
    counts: dict[str, list[int]] = {}
    lacking = []
    for source, pattern in sources().items():
        name, folder = source.name.lstrip("_"), source.parent.name.lstrip("_")
        has = any(pattern.format(n) in tests for n in (name, f"{folder}_{name}"))
        count = counts.setdefault(pattern, [0, 0])
        count[0] += has
        count[1] += 1
        if not has:
            lacking.append(source.relative_to(ROOT).as_posix())
    return counts, lacking


def main() -> None:
    counts, lacking = without_a_test()
    if "--list" in sys.argv:
        print(*lacking, sep="\n")
    for pattern, (have, all_of) in counts.items():
        print(f"{pattern.format('x')}: {have} of {all_of} sources")
    print(f"{sum(have for have, _ in counts.values())} sources have a test of their own name")


if __name__ == "__main__":
    main()
