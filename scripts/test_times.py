"""Prints the heaviest tests of the last `make test`, from the logs that it left in build/logs.

    python scripts/test_times.py [ROWS]

C++ tests are summed by suite and Python tests by file, with the fixtures that they set up. Tests
run beside each other, so the sums exceed the time that passed.
"""

import re
import sys
from collections import defaultdict
from pathlib import Path
from xml.etree import ElementTree

LOGS = Path(__file__).resolve().parents[1] / "build/logs"
# `12/90 Test #3: metrics.Roc.IsAStaircase ......   Passed    0.02 sec`
CTEST = re.compile(r" Test +#\d+: (\S+) .* ([\d.]+) sec")


def ctest_times(log: Path):
    for name, seconds in CTEST.findall(log.read_text(errors="replace")):
        parts = name.split(".")
        yield ".".join(parts[:2]), float(seconds)


def pytest_times(xml: Path):
    for case in ElementTree.parse(xml).iter("testcase"):
        yield case.get("classname", "").rpartition(".")[2] + ".py", float(case.get("time", 0))


def main(rows: int = 40) -> None:
    sums: dict[tuple[str, str], list[float]] = defaultdict(list)
    for log in sorted(LOGS.glob("ctest*.log")):
        for name, seconds in ctest_times(log):
            sums[log.stem, name].append(seconds)
    for xml in sorted(LOGS.glob("pytest*.xml")):
        for name, seconds in pytest_times(xml):
            sums[xml.stem, name].append(seconds)
    if not sums:
        sys.exit(f"{LOGS} holds no logs of tests; run make test first")
    print("seconds  tests  slowest  what (log)")
    heaviest = sorted(sums.items(), key=lambda item: -sum(item[1]))
    for (log, name), times in heaviest[:rows]:
        print(f"{sum(times):7.1f}  {len(times):5}  {max(times):7.1f}  {name} ({log})")
    for log in sorted({log for log, _ in sums}):
        whole = [t for (of, _), times in sums.items() if of == log for t in times]
        print(f"{sum(whole):7.1f}  {len(whole):5}  {max(whole):7.1f}  all of {log}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
