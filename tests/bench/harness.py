"""Measures ours against a peer: same work, same threads, in turns (A B A B ...), each in a child
process of its own, outputs compared first. Absolute times mean little on a shared machine; the
ratio, taken pair by pair, does.

    ours = Contestant("facebench", setup_ours, run_ours)
    compare(Comparison("all pairs", "scores", count, same_answer, goal=4.0), ours, [peer, ...])

`setup(threads)` makes the inputs (not measured) and returns a state, `run(state)` does the work and
returns a small answer. Both must be functions of a module: the children import it.
"""

import argparse
import contextlib
import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

# These halve the speed of OpenBLAS where a shell exports them.
for trap in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
    os.environ.pop(trap, None)

# Seconds: shorter calls are repeated, since the first one after another process's turn finds cold
# caches and sleeping threads, which differ more than what is compared.
SHORTEST = 0.2
# Seconds between two looks at the memory of the processes that a contestant starts.
SAMPLED = 0.1


@dataclass
class Contestant:
    name: str
    setup: Callable
    run: Callable
    # Beside the numbers of threads, which are set for all: what the peer runs best with.
    environment: dict[str, str] = field(default_factory=dict)
    # Shown beside the peers; the goal does not speak of it.
    reference: bool = False


@dataclass
class Comparison:
    title: str
    unit: str  # of the work, e.g. "pairs"
    count: int  # of them in one run
    same: Callable  # same(ours, theirs): raises where the answers differ
    goal: float | None = None  # wanted ratio
    # (name of the limit, what one unit takes of it), e.g. ("bf16", 1024) operations
    limit: tuple[str, float] | None = None
    # Bytes of inputs that the first run makes (an optimizer's momentum): not counted as memory.
    late_inputs: int = 0


def memory_kib(name: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1])
    return 0


def children_kib(pid: int) -> int:
    """Memory of the processes that one has started, and of theirs; what they share counts once."""
    total = 0
    with contextlib.suppress(OSError):  # of one that ends meanwhile
        for task in Path(f"/proc/{pid}/task").iterdir():
            for started in map(int, (task / "children").read_text().split()):
                lines = Path(f"/proc/{started}/smaps_rollup").read_text().splitlines()
                total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
                total += children_kib(started)
    return total


def computed_seconds() -> float:
    """Processor time of this process, and of those that it started and that have ended."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def child(pipe, contestant: Contestant, threads: int, clock: str) -> None:
    now = time.process_time if clock == "cpu" else time.perf_counter
    try:
        state = contestant.setup(threads)
        Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
        before = memory_kib("VmRSS")
        pipe.send("ready")
        while (least := pipe.recv()) is not None:
            started, calls, seconds = now(), 0, 0.0
            computed = computed_seconds()
            while calls == 0 or seconds < least:
                answer = contestant.run(state)
                calls += 1
                seconds = now() - started
            computed = computed_seconds() - computed
            pipe.send((seconds / calls, computed / calls, answer, memory_kib("VmHWM"), before))
    except EOFError:
        pass
    except BaseException:
        pipe.send(traceback.format_exc())


class Child:
    def __init__(self, contestant: Contestant, settings: argparse.Namespace):
        threads = settings.threads
        context = multiprocessing.get_context("spawn")
        self.contestant = contestant
        self.pipe, other = context.Pipe()
        environment = {
            "OMP_NUM_THREADS": str(threads),
            "OPENBLAS_NUM_THREADS": str(threads),
            **contestant.environment,
        }
        before = dict(os.environ)
        os.environ.update(environment)
        try:
            self.process = context.Process(
                target=child, args=(other, contestant, threads, settings.clock)
            )
            self.process.start()
        finally:
            os.environ.clear()
            os.environ.update(before)
        other.close()
        self.peak = self.base = 0
        self.times: list[float] = []
        self.computed: list[float] = []  # processor time of all threads, of the same calls
        self.receive()

    def receive(self):
        try:
            message = self.pipe.recv()
        except EOFError:
            sys.exit(f"{self.contestant.name}: its process ended")
        if isinstance(message, str) and message != "ready":
            sys.exit(f"{self.contestant.name} failed:\n{message}")
        return message

    def run(self, least: float = 0.0):
        """The seconds of a call and its answer; of several calls, one after the other, where one is
        over before ``least`` seconds."""
        self.start(least)
        return self.finish()

    def start(self, least: float) -> None:
        self.pipe.send(least)

    def finish(self):
        others = 0
        while not self.pipe.poll(SAMPLED):
            others = max(others, children_kib(self.process.pid))
        seconds, computed, answer, own, self.base = self.receive()
        self.peak = max(self.peak, own + others)
        self.computed.append(computed)
        return seconds, answer

    def close(self) -> None:
        self.pipe.send(None)
        self.process.join()


@contextlib.contextmanager
def others(count: int):
    """Beside this many programs that compute all the time, as a machine has that others use."""
    command = [sys.executable, "-c", "while True: pass"]
    programs = [subprocess.Popen(command) for _ in range(count)]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


class Limits:
    """What the machine can do at most, measured between the runs by the C++ benchmarks."""

    def __init__(self, program: str | None):
        self.program = program
        self.best: dict[str, float] = {}

    def measure(self) -> None:
        if not self.program:
            return
        command = [self.program, "--benchmark_filter=^limit/", "--benchmark_format=json"]
        result = subprocess.run(command, check=True, capture_output=True, text=True)
        for entry in json.loads(result.stdout)["benchmarks"]:
            name = entry["name"].split("/")[1]
            rate = entry.get("flops", entry.get("bytes_per_second"))
            self.best[name] = max(self.best.get(name, 0), rate)

    def show(self) -> None:
        for name, rate in self.best.items():
            unit = "Gflop/s" if name in ("fma", "bf16") else "GB/s"
            print(f"  limit {name:<12} {rate / 1e9:8.1f} {unit}")


def spread(values: list[float]) -> str:
    return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def compare(
    what: Comparison, ours: Contestant, peers: list[Contestant], settings: argparse.Namespace
) -> dict:
    how = f"{settings.threads} threads, {settings.clock} clock"
    if settings.beside:
        how += f", beside {settings.beside}"
    print(f"\n{what.title}: {what.count:,} {what.unit}, {how}")
    limits = Limits(None if settings.beside else settings.limits)
    children = [Child(c, settings) for c in (ours, *peers)]
    twins = [Child(c, settings) for c in (ours, *peers) if settings.beside == "itself"]
    # Warm-up, and the proof that they do the same.
    answers = [c.run()[1] for c in children]
    for answer in answers[1:]:
        what.same(answers[0], answer)
    print("  the answers agree")
    busy = 0 if settings.beside in ("", "itself") else int(settings.beside)
    for _ in range(settings.pairs):
        limits.measure()
        with others(busy):
            for k, c in enumerate(children):
                if twins:
                    twins[k].start(2 * SHORTEST)
                c.times.append(c.run(SHORTEST)[0])
                if twins:
                    twins[k].finish()
    for twin in twins:
        twin.close()
    results = []
    for c in children:
        ratios = [theirs / own for theirs, own in zip(c.times, children[0].times, strict=True)]
        rate = what.count / statistics.median(c.times)
        beside = (c.peak - c.base) / 1024 - what.late_inputs / 2**20
        shown = f"{rate / 1e6:9.1f} M/s" if rate > 1e6 else f"{rate:9.1f} /s"
        print(
            f"  {c.contestant.name:<28} {statistics.median(c.times):8.4f} s {shown}"
            f"   ratio {spread(ratios):<24} processor"
            f" {statistics.median(c.computed[1:]):8.4f} s   peak {c.peak / 1024:6.0f} MiB"
            f" ({beside:.0f} beside the inputs)"
        )
        results.append(
            {
                "name": c.contestant.name,
                "seconds": c.times,
                "processor_seconds": c.computed[1:],
                "ratio": statistics.median(ratios),
                "peak_mib": c.peak / 1024,
                "peak_beside_inputs_mib": beside,
            }
        )
        c.close()
    limits.show()
    best = min(r["ratio"] for r, c in zip(results[1:], peers, strict=True) if not c.reference)
    share = None
    if what.limit and what.limit[0] in limits.best:
        name, cost = what.limit
        share = what.count * cost / min(children[0].times) / limits.best[name]
        print(f"  {ours.name}'s best run is {share:.0%} of the limit {name}")
    if what.goal:
        reached = "reached" if best >= what.goal else "NOT REACHED"
        print(f"  goal {what.goal:g}x the best peer: {best:.2f}x, {reached}")
    return {
        "title": what.title,
        "count": what.count,
        "unit": what.unit,
        "threads": settings.threads,
        "clock": settings.clock,
        "beside": settings.beside,
        "goal": what.goal,
        "ratio": best,
        "share_of_limit": share,
        "limits": limits.best,
        "contestants": results,
    }


def main(comparisons: dict[str, Callable], add_arguments: Callable = lambda parser: None) -> None:
    """Runs the named comparisons, functions of the settings that return what compare() does, or a
    list of it. `add_arguments(parser)` adds a script's own."""
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    parser.add_argument("names", nargs="*", help=f"of {', '.join(comparisons)}; all by default")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument(
        "--clock",
        choices=["wall", "cpu"],
        default="wall",
        help="cpu: processor time of all threads, for a machine that others use too (--threads 1)",
    )
    parser.add_argument("--pairs", type=int, default=5, help="runs of each, in turns")
    parser.add_argument(
        "--beside",
        choices=["", "1", "2", "4", "itself"],
        default="",
        help="on a busy machine: beside so many programs that compute all the time, or beside the "
        "same work by another process",
    )
    parser.add_argument("--scale", type=float, default=1.0, help="size of the work")
    parser.add_argument("--limits", help="the program facebench_bench")
    parser.add_argument("--json", type=Path, help="write the results there")
    add_arguments(parser)
    settings = parser.parse_args()
    if unknown := set(settings.names) - set(comparisons):
        parser.error(f"unknown: {', '.join(unknown)}")
    print(f"load before: {os.getloadavg()[0]:.1f} (other work on the machine spoils the figures)")
    results = []
    for name in settings.names or comparisons:
        result = comparisons[name](settings)
        results += result if isinstance(result, list) else [result]
    if settings.json:
        settings.json.parent.mkdir(parents=True, exist_ok=True)
        settings.json.write_text(json.dumps(results, indent=1) + "\n")
