"""``bench_scale``: several processes that train together, and what each doubling brings.

The processes are started by torchrun; they average their gradients over Gloo (CPU) or NCCL (CUDA),
the library's own or PyTorch's DistributedDataParallel.
Weak scaling: each process keeps its batch. Strong scaling: all of them share one batch.
"""

import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import facebench
from facebench._torch import full
from facebench.core._arguments import check_numbers, mapping
from facebench.core._files import read_json
from facebench.core._progress import stage
from facebench.lab.timing.step import model_of, rate_of
from facebench.lab.timing.workers import child_environment

ENGINES = ("facebench", "pytorch")


def bench_scale(
    network="resnet50",
    *,
    processes=(1, 2),
    scalings=("weak", "strong"),
    engines=("facebench",),
    batch=16,
    iterations=32,
    rounds=5,
    skip=10,
    network_options=None,
    limit=3600.0,
    accuracy=None,
    recipe=None,
    data=None,
    seeds=3,
    nodes=1,
    node=0,
    rendezvous="",
    progress=None,
    **step,
):
    """Time training steps of 1, 2, 4 ... processes; a dict that `write_bench` writes.

    ``engines``: "facebench", "pytorch" (DistributedDataParallel; softmax on noise alone), or both;
    outputs and first losses are compared first. ``batch``: of each process (weak), of all together
    (strong). ``threads`` (a field of `StepOptions`) are those of each process; 0: the processors
    shared among the largest number of processes, so that every row has the same. ``accuracy``: also
    train ``recipe`` on ``data`` (as for `facebench.training.train`, a pack) with ``seeds`` seeds,
    and say after how many seconds the training accuracy was reached. ValueError for numbers that
    are not doubled each time, or a batch that cannot be shared.

    ``nodes``: of several hosts, of which each makes the same call with its own number ``node`` from
    0 on and the ``rendezvous`` of all, HOST:PORT of host 0; ``processes`` are of each host. The
    ports from PORT on are torchrun's, one for each row. Host 0 has the rows; the others have none.
    """
    check_numbers(
        batch=batch, iterations=iterations, rounds=rounds, skip=skip, limit=limit, seeds=seeds
    )
    hosts = _Hosts(nodes, node, rendezvous)
    network_options = mapping(network_options, "network_options")
    processes, scalings = sorted(processes), list(scalings)
    if not processes or processes[0] < 1 or sorted(set(processes)) != processes:
        raise ValueError("processes: numbers of processes, each once")
    engines = [engines] if isinstance(engines, str) else list(engines)
    for engine in engines:
        if engine not in ENGINES:
            raise ValueError(
                f"engine '{engine}' trains in one process (in several: {', '.join(ENGINES)})"
            )
    for scaling in scalings:
        if scaling not in ("weak", "strong"):
            raise ValueError(f"unknown scaling '{scaling}' (known: weak, strong)")
    if "strong" in scalings and any(batch % (p * nodes) for p in processes):
        most = max(processes) * nodes
        raise ValueError(f"a batch of {batch} cannot be shared by {most} processes")
    if accuracy is not None and (recipe is None or data is None):
        raise ValueError("time to accuracy needs a recipe and a pack")
    options = full.StepOptions(network=network, mode="training", batch=batch, **step)
    if engines != ["facebench"] and (options.loss != "softmax" or options.input != "synthetic"):
        raise ValueError("engine pytorch: it trains with softmax and the input synthetic alone")
    allowed = full.machine_facts()["cpu"]["allowed"]
    threads = options.threads or max(allowed // max(processes), 1)
    rows, times = [], []
    work = [(s, p, e) for s in scalings for p in processes for e in engines]
    with stage(progress, "scaling", len(work), "measurements") as moved:
        for i, (scaling, count, engine) in enumerate(work):
            total = batch * count * nodes if scaling == "weak" else batch
            job = {
                "what": "step",
                "engine": engine,
                "step": {**options.to_dict(), "threads": threads, "batch": total},
                "network_options": network_options,
                "iterations": iterations,
                "rounds": rounds,
                "skip": skip,
            }
            measured = _launch(job, count, limit, hosts)
            if measured is not None:
                row = _step_row(scaling, count * nodes, total, measured, skip)
                rows.append({"engine": engine, **row})
            moved(i + 1, f"{scaling}, {count} processes")
        if accuracy is not None:
            times = [
                _accuracy_row(accuracy, recipe, data, seeds, count, threads, options.device, limit,
                              hosts)
                for count in processes
            ]  # fmt: skip
            times = [row for row in times if row is not None]
    _speedups(rows)
    return {
        "kind": "scale",
        "options": {
            **options.to_dict(),
            "network_options": network_options,
            "threads": threads,
            "processes": processes,
            "nodes": nodes,
            "scalings": scalings,
            "engines": engines,
            "iterations": iterations,
            "rounds": rounds,
            "skip": skip,
            "accuracy": accuracy,
            "recipe": "" if recipe is None else str(recipe),
            "seeds": seeds if accuracy is not None else 0,
        },
        "machine": full.machine_facts(),
        "rows": rows,
        "accuracy": times,
    }


class _Hosts:
    """The hosts of a measurement, and what torchrun is told of them for each launch."""

    def __init__(self, nodes, node, rendezvous):
        self.nodes, self.node = nodes, node
        self._host, _, port = rendezvous.rpartition(":")
        self._launches = 0
        if not 0 <= node < nodes:
            raise ValueError(f"node {node}: of {nodes} hosts the numbers are 0 to {nodes - 1}")
        if nodes > 1 and not (self._host and port.isdigit() and 0 < int(port) < 65536):
            raise ValueError(f"rendezvous '{rendezvous}': expected HOST:PORT, reached by all hosts")
        self._port = int(port) if nodes > 1 else 0

    def arguments(self) -> list[str]:
        """For the next launch: a port of its own, so that no host meets the launch before."""
        if self.nodes == 1:
            return ["--standalone"]
        self._launches += 1
        port = self._port + self._launches - 1
        return ["--nnodes", str(self.nodes), "--node-rank", str(self.node),
                "--master-addr", self._host.strip("[]"), "--master-port", str(port)]  # fmt: skip


def _launch(job, count, limit, hosts):
    """What rank 0 of ``count`` processes a host wrote, and how busy the machine was; None where
    rank 0 is on another host."""
    with tempfile.TemporaryDirectory(prefix="facebench-scale-") as folder:
        folder = Path(folder)
        (folder / "job.json").write_text(json.dumps(job))
        threads = str(job.get("threads") or job["step"]["threads"])
        environment = child_environment() | {"OMP_NUM_THREADS": threads}
        command = [sys.executable, "-m", "torch.distributed.run", *hosts.arguments()]
        command += ["--nproc-per-node", str(count), "-m", "facebench.lab.timing.rank", str(folder)]
        # Watches this process and, once they have ended, those it started.
        meter = full.ProcessMeter(0)
        process = subprocess.Popen(
            command,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            errors = process.communicate(timeout=limit)[1]
        except BaseException:
            # torchrun passes this on to the processes it started.
            process.terminate()
            process.communicate()
            raise
        use = meter.stop()
        result = folder / "result.json"
        if process.returncode == 0 and hosts.node:
            return None
        if process.returncode or not result.exists():
            lines = [t for t in errors.splitlines() if "Error" in t and "ChildFailed" not in t]
            raise facebench.Error(
                f"{count} processes: {(lines or errors.splitlines() or ['no output'])[-1][:300]}"
            )
        return {**read_json(result), "use": use}


def _step_row(scaling, count, total, measured, skip):
    series = [*measured["warm"], *(t for times in measured["rounds"] for t in times)]
    rate = rate_of(series, skip, total)
    waited = {phase: statistics.fmean(values) for phase, values in measured["phases"].items()}
    compute = sum(waited.get(p, 0.0) for p in ("forward", "backward", "update"))
    return {
        "scaling": scaling,
        "processes": count,
        "batch": total,
        "status": "ok",
        **rate,
        "repeat_spread": full.repeat_spread([statistics.median(t) for t in measured["rounds"]]),
        "phases": waited,
        "model": model_of(measured, compute, rate["seconds"]["mean"])
        if "data_alone" in measured
        else None,
        "processors": measured["use"]["processors"],
        "busy": (measured["use"]["processors"]["others"] or 0) > full.busy_share,
    }


def _speedups(rows):
    """Equation 6 for each doubling, and the share of what p processes would ideally do."""
    for row in rows:
        same = {r["processes"]: r["images_per_second"] for r in rows
                if all(r[k] == row[k] for k in ("scaling", "engine"))}  # fmt: skip
        half = same.get(row["processes"] // 2) if row["processes"] % 2 == 0 else None
        row["speedup"] = half and full.scaling_speedup(half, row["images_per_second"])
        least = min(same)
        ideal = same[least] / least * row["processes"]
        row["efficiency"] = row["images_per_second"] / ideal


def _accuracy_row(accuracy, recipe, data, seeds, count, threads, device, limit, hosts):
    """Seconds until the accuracy of an epoch reached the target, seed by seed; None where another
    host has them."""
    seconds, epochs = [], []
    for seed in range(seeds):
        job = {
            "what": "accuracy",
            "recipe": str(recipe),
            "pack": str(data),
            "seed": seed,
            "threads": threads,
            "device": device,
        }
        measured = _launch(job, count, limit, hosts)
        if measured is None:
            continue
        reached = next(((s, e) for s, e, a in measured["curve"] if a >= accuracy), (None, None))
        seconds.append(reached[0])
        epochs.append(reached[1])
    if hosts.node:
        return None
    reached_seconds = [s for s in seconds if s is not None]
    return {
        "processes": count * hosts.nodes,
        "accuracy": accuracy,
        "seconds": seconds,
        "epochs": epochs,
        "reached": len(reached_seconds),
        "median": statistics.median(reached_seconds) if reached_seconds else None,
    }
