"""Engines beside each other in one process: outputs equal first, then times in turns."""

import statistics
import tempfile
from importlib import import_module
from pathlib import Path

import numpy as np
import torch
from facebench import nn, timing
from facebench.engines import ENGINES, absent
from facebench.engines.engine import noise
from facebench.timing.step import agrees, graph_dict


def contest(network, batch, engines, *, mode, precision, device, times, classes=1000, **sizes):
    """A row for each engine: milliseconds of an iteration (median of rounds' medians), the spread
    between rounds, memory of the device beyond what was taken before, and how far its outputs, or
    the losses of three steps, lie from ours. ``times``: rounds, iterations of a round."""
    options = timing.StepOptions(
        network=network, batch=batch, mode=mode, precision=precision, device=device,
        loss="softmax", classes=classes,
    )  # fmt: skip
    graph = graph_dict(network, sizes)
    spec = options.to_dict() | {"network_options": sizes, "graph": graph, "threads": 0}
    ours = _make("facebench", spec, None)
    weights = {n: t.detach().cpu().float().numpy() for n, t in ours._bench.tensors().items()}
    pixels, labels = noise(spec, min(batch, 64))
    wanted = _answers(ours, mode, pixels, labels)
    with tempfile.TemporaryDirectory() as folder:
        spec["onnx"] = f"{folder}/network.onnx"
        if "onnxruntime" in engines:
            exported = nn.build_network(network, **sizes)
            exported.load_state_dict(
                {
                    n.removeprefix("network."): torch.from_numpy(t)
                    for n, t in weights.items()
                    if n.startswith("network.")
                }
            )
            nn.export_onnx(exported, Path(spec["onnx"]), fold=False)
        rows, made = [], {}
        for name in engines:
            row = {"network": network, "batch": batch, "mode": mode, "precision": precision}
            rows.append(row | {"engine": name})
            entry = ENGINES[name]
            if absent(name) or precision not in entry.precisions or mode not in entry.modes:
                rows[-1]["message"] = f"absent, or has no {mode} in {precision}"
                continue
            try:
                made[name] = ours if name == "facebench" else _make(name, spec, weights)
                if name != "facebench":
                    theirs = _answers(made[name], mode, pixels, labels)
                    rows[-1]["difference"] = differences = _differences(wanted, theirs)
                    assert agrees(differences, precision), f"{name} on {network}: {differences}"
            except Exception as error:
                made.pop(name, None)
                rows[-1]["message"] = f"{type(error).__name__}: {error}"[:1000]
    rounds, iterations = times
    medians = {name: [] for name in made}
    for number in range(rounds + 1 if rounds else 0):
        for name, engine in made.items():
            _forget_peak(device)
            before = _memory(device)
            taken = statistics.median(engine.run(iterations if number else 3)["iteration"])
            if number:
                medians[name].append(1000 * taken)
            for row in rows:
                if row["engine"] == name and device != "cpu":
                    row["megabytes"] = (torch.cuda.max_memory_allocated() - before) / 1e6
    for row in rows:
        if found := medians.get(row["engine"]):
            row["milliseconds"] = statistics.median(found)
            row["spread"] = max(found) / min(found) - 1
            row["images_per_second"] = 1000 * batch / row["milliseconds"]
    return rows


def _make(name, spec, weights):
    module = import_module(f"facebench.engines.{ENGINES[name].module}")
    module.load(name, 0)
    return module.Engine(spec, weights)


def _answers(engine, mode, pixels, labels):
    """Its outputs and the losses of its first three steps, which move its weights."""
    outputs = engine.infer(pixels)
    return outputs, engine.losses(pixels, labels, 3) if mode == "training" else []


def _differences(wanted, found):
    (outputs, losses), (their_outputs, their_losses) = wanted, found
    return {
        "outputs": float(np.abs(their_outputs - outputs).max() / np.abs(outputs).max()),
        "losses": [abs(a - b) / abs(a) for a, b in zip(losses, their_losses, strict=True)],
    }


def _forget_peak(device):
    if device != "cpu":
        torch.cuda.reset_peak_memory_stats()


def _memory(device):
    return torch.cuda.memory_allocated() if device != "cpu" else 0
