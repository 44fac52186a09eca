"""What the build's time went into: the heaviest units, and the sum by target.

    python scripts/build_times.py [build]              from the build's own log
    python scripts/build_times.py build --headers      and what of the heaviest is headers

The times are wall times out of `.ninja_log`, of the last time that each unit was compiled: on an
idle machine with as many processors as jobs they are processor seconds. A unit that came from a
compiler cache counts as the little that it took. `--headers` compiles the heaviest units once more,
their #include lines alone (`-fsyntax-only`): what parsing costs before the first line of our own.
"""

import argparse
import json
import re
import shlex
import subprocess
import tempfile
import time
from collections import defaultdict
from pathlib import Path

INCLUDE = re.compile(r'\s*#\s*include\s*(<[^>]+>|"[^"]+")')


def unit_seconds(build: Path) -> dict[str, float]:
    """Seconds of each output, the last time that it was made."""
    seconds = {}
    for line in (build / ".ninja_log").read_text().splitlines()[1:]:
        start, end, _, output, _ = line.split("\t")
        seconds[output] = (int(end) - int(start)) / 1000
    return seconds


def target_of(output: str) -> str:
    """cpp/CMakeFiles/facebench_nn.dir/... -> facebench_nn; its kernels apart."""
    match = re.search(r"CMakeFiles/([^/]+)\.dir/(.*)", output)
    if not match:
        return "links and generated files"
    return match[1] + (" (kernels)" if "_kernels/" in match[2] else "")


def includes_of(source: Path) -> list[str]:
    """The #include lines of a unit, also of the sources that a unity unit puts together."""
    lines = []
    for match in map(INCLUDE.match, source.read_text().splitlines()):
        if not match:
            continue
        name = match[1][1:-1]
        if name.endswith((".cc", ".cxx", ".cu")):
            lines += includes_of(Path(name))
        else:
            lines.append(f"#include {match[1]}")
    return list(dict.fromkeys(lines))


def header_seconds(command: dict) -> float:
    """Seconds that the headers of a unit take alone, with the unit's own flags."""
    words = shlex.split(command["command"])
    source = Path(command["file"])
    words = [w for w in words[: words.index("-o")] if not w.endswith("ccache")]
    with tempfile.NamedTemporaryFile("w", suffix=".cc") as headers:
        headers.write("\n".join(includes_of(source)))
        headers.flush()
        started = time.perf_counter()
        subprocess.run(
            [*words, "-w", "-fsyntax-only", f"-I{source.parent}", headers.name],
            cwd=command["directory"],
            check=False,
            capture_output=True,
        )
        return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", nargs="?", type=Path, default=Path("build"))
    parser.add_argument("--heaviest", type=int, default=20, help="how many units (default: 20)")
    parser.add_argument("--headers", action="store_true", help="time the headers of these alone")
    options = parser.parse_args()

    seconds = unit_seconds(options.build)
    objects = {name: s for name, s in seconds.items() if name.endswith((".o", ".gch"))}
    heaviest = sorted(objects, key=objects.get, reverse=True)[: options.heaviest]
    commands = {}
    if options.headers:
        listed = json.loads((options.build / "compile_commands.json").read_text())
        commands = {shlex.split(c["command"])[-3]: c for c in listed}
    for name in heaviest:
        of_headers = f"{header_seconds(commands[name]):7.1f}" if name in commands else ""
        print(f"{objects[name]:7.1f}{of_headers}  {name.replace('CMakeFiles/', '')}")

    print(f"\n{'seconds':>7} {'units':>5}  target")
    sums: dict[str, list[float]] = defaultdict(list)
    for name, s in seconds.items():
        sums[target_of(name)].append(s)
    for target in sorted(sums, key=lambda t: sum(sums[t]), reverse=True):
        print(f"{sum(sums[target]):7.1f} {len(sums[target]):5}  {target}")
    print(f"{sum(seconds.values()):7.1f} {len(seconds):5}  all")


if __name__ == "__main__":
    main()
