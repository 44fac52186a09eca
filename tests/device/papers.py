"""Figures that papers print of a card, made on this one: studies with fewer iterations a row, whose
folders are kept, so that a stage for which the time did not suffice goes on in the next call.

Each stage gives its rows: what was measured, and what is printed beside."""

import os
import tempfile
from pathlib import Path

import facebench
import torch
from facebench import claims, nn, timing
from facebench.lab.studies import load_study
from facebench.lab.studies.texts import all_cells
from races import seconds

FIGURE_2 = ("vgg16", "inception_v3", "resnet50", "densenet121")
# What Shi et al.'s table 7 calls a network, its table in the study, which has steps.
SHI = {"FCN-S": "fcn-s", "AlexNet-S": "alexnet-s", "ResNet-50": "resnet-50", "LSTM": "lstm"}


def folder(name):
    """Where a study lies: beside the report, else nowhere for long."""
    kept = os.environ.get("GPU_CHECK_PAPERS")
    return Path(kept) / name if kept else Path(tempfile.mkdtemp(prefix="papers-"))


def of_study(name, device, dry):
    """Every measured cell of a study's table, on the device; the rounds of a row take four seconds.
    Dry: our engine's first row, rehearsed."""
    described = load_study(name)
    rows = described.tables[0].rows
    if dry:
        rows[:] = [row | {"engines": ["facebench"]} for row in rows
                   if row["engine"] == "facebench"][:1]  # fmt: skip
    for row in rows:
        row["device"] = device
        row["options"] = row.get("options", {}) | {"seconds": 4.0, "rounds": 3, "skip": 3}
    found = facebench.study(described, device=device, rehearse=dry, out=folder(name),
                            progress=False)  # fmt: skip
    for row, column, cell in all_cells(found.content["tables"][0]):
        printed = (cell["printed"] or {}).get("text")
        said = {k: cell[k] for k in ("value", "interval", "why") if cell.get(k) is not None}
        yield {"row": row["name"], "column": column["title"], "printed": printed, **said}


def figure_2_vgg16(device, dry):
    """Wang & Guo's figure 2: seconds and memory of a training step by batch, 16 to 512."""
    yield from of_study("wang-guo-2019/figure-2-vgg16", device, dry)


def figure_2_inception_v3(device, dry):
    """The same of Inception-v3."""
    yield from of_study("wang-guo-2019/figure-2-inception-v3", device, dry)


def figure_2_resnet50(device, dry):
    """The same of ResNet-50."""
    yield from of_study("wang-guo-2019/figure-2-resnet50", device, dry)


def figure_2_densenet121(device, dry):
    """The same of DenseNet-121."""
    yield from of_study("wang-guo-2019/figure-2-densenet121", device, dry)


def liu_figures(device, dry):
    """Liu et al.'s figures 1 to 4 of a card."""
    for name in ("figure-1", "figure-2", "figure-3-gpu", "figure-4", "figure-4-imagenet"):
        if not (dry and name != "figure-1"):
            yield from of_study(f"liu-2018/{name}", device, dry)


def largest_batch(device, dry):
    """The largest batch of a training step before the memory ends, by doubling, then by halving
    what is left until it is known to an eighth."""
    for network in ("small4",) if dry else FIGURE_2:
        for engine in ("facebench", "pytorch"):

            def fits(batch, network=network, engine=engine):
                return step(network, engine, batch, device, dry)["status"] == "ok"

            batch, most = searched(fits, 2 if dry else 256, 4 if dry else 16384)
            yield {"network": network, "engine": engine, "batch": batch, "does_not_fit": most}


def searched(fits, first, last):
    """(the largest batch that fits, the least that is known not to: None where even ``last``
    fits). (0, first) where ``first`` does not."""
    good, bad = 0, None
    batch = first
    while bad is None and batch <= last:
        good, bad = (batch, None) if fits(batch) else (good, batch)
        batch *= 2
    while good and bad and bad - good > max(1, good // 8):
        middle = (good + bad) // 2
        good, bad = (middle, bad) if fits(middle) else (good, middle)
    return good, bad


def step(network, engine, batch, device, dry, **more):
    """A row of `bench_step`: two iterations, or what a caller says."""
    how = {"iterations": 2, "rounds": 1, "skip": 1, "limit": 120.0} | more
    small = {"classes": 10, "network_options": {"height": 32, "width": 32}} if dry else {}
    found = timing.bench_step(network, batches=[batch], engines=[engine], device=device,
                              progress=False, **{"classes": 10_575} | how | small)  # fmt: skip
    return found["rows"][0]


def shi_table_7(device, dry):
    """Shi et al.'s table 7: seconds of a mini-batch, beside those of its three cards."""
    table = claims.load_published("shi-2016")["table-7"]
    cards = [c["id"] for c in table.columns[-3:]]
    for name, of_study_called in SHI.items():
        if dry and name != "ResNet-50":
            continue
        printed = {r["name"].split(", ")[1]: dict(zip(cards, r["printed"][-3:], strict=True))
                   for r in table.rows if r["name"].startswith(f"{name},")}  # fmt: skip
        row = load_study(f"shi-2016/{of_study_called}").tables[0].rows[0]
        for engine in row["engines"]:
            small = {"rounds": 2, "skip": 1, "iterations": 1, "classes": 10,
                     "network_options": {"height": 64, "width": 64}}  # fmt: skip
            more = row["options"] | (small if dry else {"seconds": 4.0})
            batch = 2 if dry else row["batch"]
            found = timing.bench_step(row["network"], batches=[batch], engines=[engine],
                                      device=device, progress=False, **more)["rows"][0]  # fmt: skip
            taken = found.get("seconds") or {}
            yield {"network": name, "batch": batch, "engine": engine, "printed": printed,
                   "status": found["status"], "seconds": taken.get("mean"),
                   "interval": taken.get("mean_interval")}  # fmt: skip


def embed_layouts(device, dry):
    """Milliseconds of a float32 forward pass with channels first and last, batches 1 to 256."""
    for name in ("small4",) if dry else ("mobilefacenet", "iresnet50", "resnet50"):
        network = nn.build_network(name)
        network.to(torch.device(device), torch.float32)
        network.eval()
        shape = network.graph.input_shape
        for layout in ("contiguous_format", "channels_last"):
            if layout == "channels_last":
                network.channels_last()
            for batch in (2,) if dry else (1, 8, 64, 256):
                pixels = torch.zeros(batch, *shape, device=device)
                pixels = pixels.contiguous(memory_format=getattr(torch, layout))
                with torch.inference_mode():
                    taken = seconds(lambda: network(pixels), device, 1 if dry else 10)  # noqa: B023
                yield {"network": name, "layout": layout, "batch": batch,
                       "milliseconds": 1000 * taken}  # fmt: skip
