"""One of the processes that torchrun starts for `bench_scale`: ``... rank FOLDER``."""

import json
import os
import sys
import tempfile
import time
from pathlib import Path

from facebench import nn, training
from facebench._torch import full
from facebench.core._files import read_json


def steps(job, group, device):
    options = full.StepOptions(**{**job["step"], "device": device})
    network = nn.NetworkOptions(**job["network_options"])
    bench = full.StepBench(options, network, {}, group)
    warm = bench.run(job["skip"])["iteration"] if job["skip"] else []
    rounds, phases = [], {}
    for _ in range(job["rounds"]):
        times = bench.run(job["iterations"])
        rounds.append(times["iteration"])
        for phase, values in times["phases"].items():
            phases.setdefault(phase, []).extend(values)
    return {
        "warm": warm,
        "rounds": rounds,
        "phases": phases,
        "data_alone": bench.data_alone(),
        "aggregate_alone": bench.aggregate_alone(),
    }


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
