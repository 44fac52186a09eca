"""Engines beside each other in one process: outputs equal first, then times in turns."""

import statistics
import tempfile
from importlib import import_module

import numpy as np
import torch
from facebench import timing
from facebench.lab.engines import ENGINES, absent
from facebench.lab.engines.engine import noise
from facebench.lab.timing.step import agrees, export_onnx, graph_dict


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
    tensors = {n: t.detach().cpu().float() for n, t in ours._bench.tensors().items()}
    weights = {n: t.numpy() for n, t in tensors.items()}
    pixels, labels = noise(spec, min(batch, 64))
    wanted = _answers(ours, mode, pixels, labels)
    with tempfile.TemporaryDirectory() as folder:
        spec["onnx"] = f"{folder}/network.onnx"
        if "onnxruntime" in engines:
            export_onnx(spec, tensors, spec["onnx"])
        about = {"network": network, "batch": batch, "mode": mode, "precision": precision}
        rows, made = {name: about | {"engine": name} for name in engines}, {}
        for name, row in rows.items():
            entry = ENGINES[name]
            if absent(name) or precision not in entry.precisions or mode not in entry.modes:
                row["message"] = f"absent, or has no {mode} in {precision}"
                continue
            if name == "facebench":
                made[name] = ours
                continue
            try:
                theirs = _make(name, spec, weights)
                differences = _differences(wanted, _answers(theirs, mode, pixels, labels))
                row["difference"] = differences
                assert agrees(differences, precision), f"{name} on {network}: {differences}"
                made[name] = theirs
            except Exception as error:
                row["message"] = f"{type(error).__name__}: {error}"[:1000]
    rounds, iterations = times
    medians = {name: [] for name in made}
    for number in range(rounds + 1 if rounds else 0):
        for name, engine in made.items():
            before = _forget_peak(device)
            taken = statistics.median(engine.run(iterations if number else 3)["iteration"])
            if number:
                medians[name].append(1000 * taken)
            if device != "cpu":
                peak = torch.cuda.max_memory_allocated()
                rows[name]["megabytes"] = (peak - before) / 1e6
    for name, found in medians.items():
        if found:
            middle = statistics.median(found)
            rows[name] |= {
                "milliseconds": middle,
                "spread": max(found) / min(found) - 1,
                "images_per_second": 1000 * batch / middle,
            }
    return list(rows.values())


def _make(name, spec, weights):
    module = import_module(f"facebench.lab.engines.{ENGINES[name].module}")
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


def _forget_peak(device) -> int:
    """Bytes that are taken now, from which the next peak counts."""
    if device == "cpu":
        return 0
    torch.cuda.reset_peak_memory_stats()
    return torch.cuda.memory_allocated()
