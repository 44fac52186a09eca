"""Whether each C++ source compiles by itself: the build compiles several together, behind a header
that is compiled once, and so does not see an include that is missing.

    python scripts/compile_alone.py BUILD [--jobs N] [PART]     sources whose path holds PART

Nothing is written. Exit code 1 where a source does not compile, with what the compiler says first.
"""

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
UNITY = re.compile(r'#include "([^"]+\.cc)"')


def alone(command: str) -> list[str]:
    """A command of the build without its output, its source and the header compiled once."""
    words, kept = iter(shlex.split(command)), []
    for word in words:
        if word == "-o" or word == "-c":
            next(words)
        elif word == "-include":
            header = next(words)
            if "cmake_pch" not in header:
                kept += [word, header]
        elif word != "-Winvalid-pch":
            kept.append(word)
    return [*kept, "-fsyntax-only", "-fno-diagnostics-color"]


def sources(build: Path) -> dict[str, list[str]]:
    """The command for each of the project's own sources."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        file = Path(entry["directory"], entry["file"])
        together = UNITY.findall(file.read_text()) if "/Unity/" in str(file) else [str(file)]
        for source in together:
            if source.endswith(".cc") and Path(source).is_relative_to(ROOT):
                found.setdefault(source, alone(entry["command"]))
    return {s: command for s, command in found.items() if not Path(s).is_relative_to(build)}


def first_error(source: str, command: list[str], build: Path) -> str:
    """What the compiler says first; "" where it says nothing."""
    done = subprocess.run(
        [*command, source], cwd=build, capture_output=True, text=True, check=False
    )
    if done.returncode == 0:
        return ""
    errors = [line for line in done.stderr.splitlines() if " error: " in line]
    return errors[0] if errors else f"{source}: {done.stderr.strip()[-300:]}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path)
    parser.add_argument("part", nargs="?", default="")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    asked = parser.parse_args()
    build = asked.build.resolve()
    chosen = {s: c for s, c in sorted(sources(build).items()) if asked.part in s}
    with ThreadPoolExecutor(asked.jobs) as pool:
        errors = list(pool.map(lambda s: first_error(s, chosen[s], build), chosen))
    wrong = [error for error in errors if error]
    print("\n".join(wrong), file=sys.stderr)
    print(f"{len(chosen) - len(wrong)} of {len(chosen)} sources compile alone")
    return 1 if wrong or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
