"""``bench_step``: iterations of networks in engines, by batch size.

Each network and batch size is measured by itself: every engine is a process of its own, outputs are
compared first, then the engines run their rounds in turns, so that other load on the machine
affects all of them. A batch that does not fit into memory is a row, and the next one runs.
"""

import itertools
import os
import statistics
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from facebench import core
from facebench._torch import full
from facebench.core._arguments import check_numbers, did_you_mean, mapping
from facebench.core._progress import stage
from facebench.lab.engines import ENGINES, INPUTS, absent, elsewhere
from facebench.lab.engines.engine import needed_nodes, noise
from facebench.lab.timing.energy import EnergyMeter, joules_an_image
from facebench.lab.timing.workers import Worker, WorkerFailed

# Outputs of the same weights may differ by this, relative to the largest of them; bfloat16 carries
# eight bits.
TOLERANCE = {"float32": 1e-4, "bfloat16": 5e-2}
# And the losses of the first three steps. The first is the forward pass of training; the others
# rest on gradients, which in a deep network with batch norm carry percents of rounding in float32
# (a ResNet-50's lie 2 % from those in double, in NCHW and NHWC alike), and on updates that amplify
# it.
LOSS_TOLERANCE = (1e-3, 0.25, 0.5)


@dataclass
class _Row:
    """One engine on one network and batch size, while it is measured."""

    worker: Worker
    result: dict
    warm: list = field(default_factory=list)
    rounds: list = field(default_factory=list)
    phases: dict = field(default_factory=dict)
    uses: list = field(default_factory=list)
    count: int = 0

    @property
    def alive(self):
        return self.result["status"] == "ok"

    def attempt(self, act):
        """``act(self)``; an engine that fails is left out."""
        if not self.alive:
            return None
        try:
            return act(self)
        except WorkerFailed as error:
            self.result |= {"status": error.kind, "message": str(error)}
            self.worker.close()
            return None


def bench_step(
    networks="resnet50",
    *,
    batches=(16,),
    engines=("facebench",),
    threads=0,
    iterations=64,
    rounds=5,
    skip=10,
    narrow=0.0,
    seconds=0.0,
    memory_limit=0,
    limit=600.0,
    pythons=None,
    network_options=None,
    loss_options=None,
    progress=None,
    **step,
):
    """Time iterations of training or inference; returns a dict that `write_bench` writes.

    ``networks``, ``batches``, ``engines``, ``threads``: a name (number) or several; all
    combinations are measured. 0 threads: one for each processor. ``iterations``: of each of
    ``rounds`` rounds; the first ``skip`` come before them and are reported apart. ``narrow``: go
    on, up to ten times as many rounds, until the mean's interval is within this share of the mean
    (0: never). ``seconds``: about this long for the rounds of one row, fewer iterations where they
    take longer (0: no limit). ``memory_limit``: bytes of address space that an engine may take
    beyond what it holds once loaded (0: no limit). ``limit``: seconds after which an engine that
    prepares is given up. ``pythons``: interpreters of engines that live in an environment of their
    own, {engine: path}; else that which FACEBENCH_ENGINE_PYTHON names. ``step``: fields of
    `StepOptions`.

    The result's ``rows`` have a ``status``: ok, out_of_memory, timeout, failed, differs (the
    outputs are not those of this library; nothing was timed) or absent. ValueError for unknown
    names.

    >>> from facebench import timing
    >>> result = timing.bench_step("small4", batches=[4], iterations=3, rounds=2, skip=1,
    ...     network_options={"height": 32, "width": 32}, classes=10, threads=1)
    >>> [(row["engine"], row["batch"], row["status"]) for row in result["rows"]]
    [('facebench', 4, 'ok')]
    """
    networks, batches, engines = _several(networks), _several(batches), _several(engines)
    settings = {
        **{"iterations": iterations, "rounds": rounds, "skip": skip, "narrow": narrow},
        **{"seconds": seconds, "memory_limit": memory_limit, "limit": limit},
    }
    check_numbers(**settings)
    network_options = mapping(network_options, "network_options")
    loss_options = mapping(loss_options, "loss_options")
    pythons = mapping(pythons, "pythons")
    options = full.StepOptions(**step)
    # The same number for every engine: what each takes by itself depends on its environment.
    numbers = list(dict.fromkeys(int(t) or core.available_processors() for t in _several(threads)))
    if iterations < 1 or rounds < 1 or skip < 0:
        raise ValueError("iterations and rounds are at least 1, skip is not negative")
    for name in engines:
        if name not in ENGINES:
            known = ", ".join(ENGINES)
            guess = did_you_mean(name, ENGINES)
            raise ValueError(f"unknown engine '{name}'{guess} (known: {known})")
    for network in networks:
        full.build_graph(network, full.NetworkOptions(**network_options))
    of_networks = {"network_options": network_options, "loss_options": loss_options}
    cases = list(itertools.product(networks, batches, numbers))
    rows: list[dict] = []
    versions: dict[str, dict] = {}
    with stage(progress, "timing", len(cases), "measurements") as moved:
        for i, (network, batch, count) in enumerate(cases):
            job = options.to_dict() | of_networks
            job |= {"threads": count, "network": network, "batch": int(batch)}
            measured = _measure(job, engines, settings, pythons, versions)
            rows += [row | {"threads": count} for row in measured]
            moved(i + 1, f"{network}, batch {batch}, {count} threads")
    return {
        "kind": "step",
        "options": {
            **{k: v for k, v in options.to_dict().items() if k not in ("network", "batch")},
            "threads": numbers[0] if len(numbers) == 1 else numbers,
            **of_networks,
            "networks": networks,
            "batches": [int(b) for b in batches],
            "engines": engines,
            # Of every engine on a card.
            "tf32": False,
            "cudnn_search": False,
            **settings,
        },
        "versions": versions,
        "machine": full.machine_facts(),
        "rows": rows,
    }


def _several(value):
    return [value] if isinstance(value, (str, int)) else list(value)


def _why_not(engine, job, pythons):
    """Why an engine is left out, or ""."""
    entry = ENGINES[engine]
    if job["mode"] not in entry.modes:
        return f"has no {job['mode']}"
    if job["precision"] not in entry.precisions:
        return f"is not measured in {job['precision']}"
    if job["device"].split(":")[0] not in entry.devices:
        return f"does not run on {job['device']}"
    if engine != "facebench":
        if job["loss"] != "softmax" and job["mode"] == "training":
            return "trains with softmax alone"
        if job["input"] not in INPUTS:
            return f"has no input '{job['input']}' (but {', '.join(INPUTS)})"
        lacking = [n for n in entry.file_needs if not find_spec(n)]
        here = engine not in pythons and not elsewhere(engine)
        if job["input"] == "files" and here and lacking:
            return f"reads files with {', '.join(lacking)}, which is not installed"
        if job["network_options"].get("auxiliary") == 1 and job["mode"] == "training":
            return "trains without auxiliary classifiers"
    missing = [] if engine in pythons else absent(engine)
    return f"needs {', '.join(missing)}" if missing else ""


def graph_dict(network, options):
    """A network's graph up to the embedding, as engines are told it."""
    graph = full.build_graph(network, full.NetworkOptions(**{**options, "classes": 0}))
    return {
        "input": list(graph.input_shape),
        "vocabulary": graph.vocabulary,
        "nodes": [
            {**n, "shape": list(n["shape"]), "inputs": list(n["inputs"])} for n in graph.nodes
        ],
        "embedding": graph.tap_node("embedding"),
    }


def _measure(job, engines, settings, pythons, versions):
    """The rows of one network and batch size."""
    predicted = full.predict_step_memory(
        full.StepOptions(
            **{field["name"]: job[field["name"]] for field in full.StepOptions.fields()}
        ),
        full.NetworkOptions(**job["network_options"]),
    )
    case = {name: job[name] for name in ("network", "mode", "batch")}
    case |= {"status": "ok", "message": "", "predicted_memory": predicted}
    rows, results = [], [case | {"engine": engine} for engine in engines]
    with tempfile.TemporaryDirectory(prefix="facebench-bench-") as folder:
        try:
            reference = None
            # Others are told the graph and the weights, and must give the same outputs.
            if any(engine != "facebench" for engine in engines):
                with Worker("facebench", job["threads"]) as worker:
                    reference = _Reference(job, Path(folder), worker)
        except WorkerFailed as error:
            # Without our own outputs nothing can be compared, so nothing is timed.
            for result in results:
                result |= {"status": error.kind, "message": f"the reference: {error}"}
            return results
        try:
            for result in results:
                engine = result["engine"]
                if why := _why_not(engine, job, pythons):
                    result |= {"status": "absent", "message": why}
                    continue
                try:
                    worker = Worker(engine, job["threads"], pythons.get(engine))
                except OSError as error:
                    result |= {"status": "failed", "message": f"cannot be started: {error}"}
                    continue
                rows.append(_Row(worker, result))
            _several_at_once(rows, lambda row: _prepare(row, job, reference, settings, versions))
            for row in rows:
                row.attempt(lambda row: _warm_up(row, settings))
            _time(rows, settings, job["device"])
            for row in rows:
                if row.alive:
                    _sum_up(row, job)
        finally:
            for row in rows:
                row.worker.close()
    return results


def export_onnx(job, tensors, path):
    """The network of a job as the file that ONNX Runtime's engine takes. ``tensors``: what the
    job's engines are given, the head's left out."""
    from facebench import nn

    network = nn.build_network(job["network"], **{**job["network_options"], "classes": 0})
    state = {n.removeprefix("network."): t for n, t in tensors.items()}
    network.load_state_dict({n: t for n, t in state.items() if not n.startswith("head.")})
    nn.export_onnx(network, path, fold=False)


class _Reference:
    """This library's weights, outputs and losses, which the engines must reproduce."""

    def __init__(self, job, folder, worker):
        self.folder, self.graph = folder, graph_dict(job["network"], job["network_options"])
        self.weights = str(folder / "weights.safetensors")
        self.training = job["mode"] == "training"
        self.dropout = has_dropout(self.graph)
        # The batch that is timed, so that what is compiled for the check is not compiled again.
        batch = noise({**job, "graph": self.graph}, min(job["batch"], 64))
        self.images, self.labels = str(folder / "images.npy"), str(folder / "labels.npy")
        for path, array in zip((self.images, self.labels), batch, strict=True):
            np.save(path, array)
        self.onnx = str(folder / "network.onnx")
        worker.ask("load", threads=job["threads"])
        worker.ask("prepare", spec={**job, "input": "synthetic"}, weights=None)
        worker.ask("export", path=self.weights)
        self.outputs = self._infer(worker)
        self.losses = self._losses(worker)
        if not self.training:
            self._export_onnx(job)

    def _infer(self, worker, limit=None):
        out = str(self.folder / f"{worker.engine}.npy")
        worker.ask("infer", limit, images=self.images, out=out)
        return np.load(out)

    def _losses(self, worker, limit=None):
        # A batch of one has no variance to normalise by; dropout draws other numbers everywhere.
        if not self.training or self.dropout or len(np.load(self.labels)) < 2:
            return None
        answer = worker.ask("losses", limit, images=self.images, labels=self.labels, steps=3)
        return answer["losses"]

    def _export_onnx(self, job):
        from safetensors.torch import load_file

        try:
            export_onnx(job, load_file(self.weights), self.onnx)
        except ImportError:
            self.onnx = ""

    def check(self, worker, limit=None):
        """How far an engine's outputs and losses lie from ours, relative to the largest. Compiled
        engines compile here; ``limit`` is for each of the two."""
        outputs = output_difference(self.outputs, self._infer(worker, limit))
        differences = {"outputs": outputs}
        if self.losses is not None:
            differences["losses"] = loss_differences(self.losses, self._losses(worker, limit))
        return differences


def has_dropout(graph):
    """Whether a graph (`graph_dict`) draws what it leaves out, as every engine does otherwise."""
    nodes = graph["nodes"]
    return any(
        nodes[i]["op"] in ("dropout", "drop_path") and nodes[i]["options"]["p"] > 0
        for i in needed_nodes(graph)
    )


def output_difference(wanted, outputs):
    """How far an engine's outputs lie from ours, relative to the largest of these."""
    return float(np.abs(outputs - wanted).max()) / (float(np.abs(wanted).max()) or 1.0)


def loss_differences(wanted, losses):
    """How far the losses of an engine's first steps lie from ours, relative to these."""
    # A step may learn two images by heart: what is left of the loss is rounding.
    least = 1e-3 * abs(wanted[0])
    return [abs(a - b) / max(abs(b), least) for a, b in zip(losses, wanted, strict=True)]


def agrees(differences, precision):
    """Whether what `_Reference.check` found is rounding alone."""
    tolerance = TOLERANCE[precision]
    pairs = [(differences["outputs"], tolerance)]
    for difference, loss_tolerance in zip(
        differences.get("losses", []), LOSS_TOLERANCE, strict=False
    ):
        pairs.append((difference, max(loss_tolerance, tolerance)))
    # Written so that NaN does not agree.
    return all(difference <= limit for difference, limit in pairs)


def said_of(differences):
    """What `_Reference.check` found, in words."""
    losses = ", ".join(f"{loss:.2g}" for loss in differences.get("losses", ()))
    of_losses = losses and f", by {losses} from the losses of its first steps"
    return f"by {differences['outputs']:.2g} from this library's outputs{of_losses}"


def _several_at_once(rows, act):
    """``act(row)`` for all: imports and compilers are busy for long, on one processor mostly."""
    with ThreadPoolExecutor(max(2, min(len(os.sched_getaffinity(0)), 4))) as pool:
        try:
            list(pool.map(lambda row: row.attempt(act), rows))
        except BaseException:
            # Ends the processes that the other threads wait for.
            for row in rows:
                row.worker.close()
            raise


def _prepare(row, job, reference, settings, versions):
    worker, limit = row.worker, settings["limit"]
    versions[row.result["engine"]] = worker.ask("load", limit, threads=job["threads"])
    if settings["memory_limit"]:
        worker.ask("limit", bytes=settings["memory_limit"])
    spec = dict(job)
    if reference:
        spec |= {"graph": reference.graph, "onnx": reference.onnx}
    worker.ask("prepare", limit, spec=spec, weights=reference.weights if reference else None)
    if reference and row.result["engine"] != "facebench":
        differences = reference.check(worker, limit)
        row.result["difference"] = differences
        if not agrees(differences, job["precision"]):
            raise WorkerFailed("differs", said_of(differences))


def _warm_up(row, settings):
    # One iteration (what is compiled late), one more to see how long they take, then the rest.
    worker, limit = row.worker, settings["limit"]
    for _ in range(min(settings["skip"], 2)):
        row.warm += worker.ask("run", limit, iterations=1)["iteration"]
    left = settings["skip"] - len(row.warm)
    if settings["seconds"] and row.warm:
        left = min(left, int(settings["seconds"] / 2 / row.warm[-1]))
    if left > 0:
        row.warm += worker.ask("run", iterations=left)["iteration"]
    row.count = settings["iterations"]
    if settings["seconds"] and row.warm:
        each = settings["seconds"] / settings["rounds"] / row.warm[-1]
        row.count = max(2, min(row.count, int(each)))


def _time(rows, settings, device):
    most = settings["rounds"] * (10 if settings["narrow"] else 1)
    for number in range(most):
        going = [r for r in rows if r.alive and (number < settings["rounds"] or _wide(r, settings))]
        if not going:
            break
        for row in going:
            # Five looks a second: they cost well below 0.5 % of the time, twenty cost more. The
            # peak is the kernel's own and misses nothing between them.
            meter, energy = full.ProcessMeter(row.worker.pid, 0.2), EnergyMeter(device)
            try:
                times = row.attempt(lambda row: row.worker.ask("run", iterations=row.count))
            finally:
                use = meter.stop() | {"energy": energy.stop()}
            if times is None:
                continue
            row.uses.append(use)
            row.rounds.append(times["iteration"])
            for phase, values in times["phases"].items():
                row.phases.setdefault(phase, []).extend(values)


def _wide(row, settings):
    times = [t for times in row.rounds for t in times]
    half = full.summarize_times(times, full.SeriesOptions(skip=0))["relative_half_width"]
    return half is not None and half > settings["narrow"]


def rate_of(series, skip, batch):
    """Seconds of iterations summed up, the first ``skip`` apart, and images a second."""
    summary = full.summarize_times(series, full.SeriesOptions(skip=skip))
    interval = summary["mean_interval"]
    return {
        "seconds": summary,
        "images_per_second": batch / summary["mean"],
        "images_per_second_interval": interval and [batch / interval[1], batch / interval[0]],
    }


def model_of(measured, compute, mean):
    """The parts of an iteration that were measured alone, and what equations 7 and 8 make of
    them."""
    alone = {name: measured[name] for name in ("data_alone", "aggregate_alone")}
    return alone | full.iteration_model(
        alone["data_alone"], compute, alone["aggregate_alone"], mean
    )


def _sum_up(row, job):
    result, extras = row.result, row.worker.ask("extras")
    series = [*row.warm, *(t for times in row.rounds for t in times)]
    result |= {"series": series} | rate_of(series, len(row.warm), job["batch"])
    summary = result["seconds"]
    result["rounds"] = [statistics.median(times) for times in row.rounds]
    result["repeat_spread"] = full.repeat_spread(result["rounds"])
    result["phases"] = {
        phase: {"mean": statistics.fmean(v), "median": statistics.median(v)}
        for phase, v in row.phases.items()
    }
    waited = {phase: p["mean"] for phase, p in result["phases"].items()}
    if "data_alone" in extras:
        parts = [waited[p] for p in ("forward", "backward", "update") if p in waited]
        # An engine that runs them as one call: what is not waiting for data.
        compute = sum(parts) if parts else summary["mean"] - waited.get("data", 0.0)
        result["model"] = model_of(extras, compute, summary["mean"])
    result["device_memory"] = extras.get("device_memory")
    result["memory"] = {
        "before": row.uses[0]["memory"]["before"],
        "average": statistics.fmean(u["memory"]["average"] for u in row.uses),
        "peak": max(u["memory"]["peak"] for u in row.uses),
        "gpu_peak": max(u["gpu_memory"]["peak"] for u in row.uses),
    }
    images = job["batch"] * sum(len(times) for times in row.rounds)
    result["joules_an_image"] = joules_an_image([u["energy"] for u in row.uses], images)
    shares = [u["processors"] for u in row.uses if u["processors"]["others"] is not None]
    result["processors"] = {
        k: statistics.fmean(s[k] for s in shares)
        for k in ("user", "system", "iowait", "own", "others")
        if shares
    }
    result["busy"] = result["processors"].get("others", 0) > full.busy_share
    watching = sum(u["watching_seconds"] for u in row.uses) / summary["count"]
    overhead = extras["recording_seconds"] + watching
    result["overhead"] = {"seconds": overhead, "share": overhead / summary["mean"]}
