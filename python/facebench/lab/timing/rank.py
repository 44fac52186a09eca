"""One of the processes that torchrun starts for `bench_scale`: ``... rank FOLDER``."""

import json
import os
import sys
import tempfile
import time
from pathlib import Path

import torch

from facebench import nn, training
from facebench._torch import full
from facebench.core import Error
from facebench.core._files import read_json


def steps(job, group, device):
    options = full.StepOptions(**{**job["step"], "device": device})
    bench = full.StepBench(options, nn.NetworkOptions(**job["network_options"]), {}, group)
    if job["engine"] == "pytorch":
        bench = in_pytorch(job, bench, group, device)
    warm = bench.run(job["skip"])["iteration"] if job["skip"] else []
    rounds: list[list[float]] = []
    phases: dict[str, list[float]] = {}
    for _ in range(job["rounds"]):
        times = bench.run(job["iterations"])
        rounds.append(times["iteration"])
        for phase, values in times["phases"].items():
            phases.setdefault(phase, []).extend(values)
    measured = {"warm": warm, "rounds": rounds, "phases": phases}
    if job["engine"] == "facebench":
        alone = {"data_alone": bench.data_alone(), "aggregate_alone": bench.aggregate_alone()}
        measured |= alone
    return measured


def in_pytorch(job, ours, group, device):
    """The same steps by PyTorch: outputs and the first losses of this process's share are ours,
    or it is not timed."""
    from facebench.lab.engines import pytorch_engine
    from facebench.lab.engines.engine import noise
    from facebench.lab.timing.step import (
        agrees,
        graph_dict,
        has_dropout,
        loss_differences,
        output_difference,
        said_of,
    )

    step = job["step"]
    pytorch_engine.load("pytorch", step["threads"])
    spec = {**step, "device": device, "batch": step["batch"] // (group.size() if group else 1)}
    spec |= {"network_options": job["network_options"]}
    spec["graph"] = graph_dict(step["network"], job["network_options"])
    weights = {n: t.detach().cpu().float().numpy() for n, t in ours.tensors().items()}
    theirs = pytorch_engine.ParallelEngine(spec, weights, group)
    images, labels = noise(spec)
    pixels, classes = torch.from_numpy(images), torch.from_numpy(labels)
    outputs = ours.infer(pixels).numpy(), theirs.infer(images)
    differences = {"outputs": output_difference(*outputs)}
    # A share may be a few images, over which batch norm amplifies the rounding of each step.
    if not has_dropout(spec["graph"]) and len(labels) > 1:
        losses = ours.losses(pixels, classes, 2), theirs.losses(images, labels, 2)
        differences["losses"] = loss_differences(*losses)
    if not agrees(differences, step["precision"]):
        raise Error(f"engine pytorch: {said_of(differences)}")
    return theirs


def accuracy(job, group, device):
    recipe = training.load_recipe(job["recipe"])
    recipe.set("training.seed", str(job["seed"]))
    curve, start = [], time.perf_counter()

    def on_epoch(report, model):
        curve.append([time.perf_counter() - start, report["epoch"], report["accuracy"]])

    with tempfile.TemporaryDirectory(prefix="facebench-scale-") as out:
        training.train(
            recipe,
            job["pack"],
            Path(out) / "run",
            on_epoch=on_epoch,
            process_group=group,
            threads=job["threads"],
            device=device,
        )
    return {"curve": curve}


def main():
    folder = Path(sys.argv[1])
    job = read_json(folder / "job.json")
    asked_device = job.get("device") or job["step"]["device"]
    group, device = training.torchrun_process_group(asked_device)
    if job["what"] == "step":
        result = steps(job, group, device)
    else:
        result = accuracy(job, group, device)
    if int(os.environ["RANK"]) == 0:
        unfinished = folder / "result.json.tmp"
        unfinished.write_text(json.dumps(result))
        unfinished.rename(folder / "result.json")


if __name__ == "__main__":
    main()
