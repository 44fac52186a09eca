"""``bench_layers``: where the time of a forward pass goes, layer by layer."""

from pathlib import Path

from facebench import nn
from facebench._torch import full
from facebench.core._arguments import check_numbers


def bench_layers(
    model="resnet50", *, batch=1, threads=0, rounds=9, precision="float32", progress=None
):
    """Time each step of inference; returns a dict that `write_bench` writes.

    ``model``: a model file, or the name of a network, which then has random weights. ``batch``:
    noise images that are computed together. ``threads``: 0 is one for each processor. ``rounds``:
    a step's time is the median of so many. ``precision``: as for `InferenceNetwork`; int8 needs
    ranges and is refused.

    A row is a step of the plan: a layer with what is computed in the same pass. ``share`` is how
    much of the processor's limit of float32 multiply-adds, measured here, the step's multiply-adds
    take; Winograd's method needs fewer than are counted, so that a share above 1 is possible.
    ValueError for unknown names, and for a network that torch computes.

    >>> from facebench import timing
    >>> result = timing.bench_layers("small4", threads=1, rounds=1)
    >>> result["rows"][0]["method"], len(result["rows"]) >= 5
    ('patches', True)
    """
    import torch

    check_numbers(batch=batch, threads=threads, rounds=rounds)
    if batch < 1 or rounds < 1:
        raise ValueError("batch and rounds are at least 1")
    network = _network(model)
    threads = threads or full.machine_facts()["cpu"]["allowed"]
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        frozen = full.InferenceNetwork(network, batch, precision)
        images = torch.rand(batch, *network.graph.input_shape)
        limit = full.multiply_add_limit(threads)
        steps = frozen.time_steps(images, rounds)
    finally:
        torch.set_num_threads(before)
    total = sum(step["seconds"] for step in steps)
    for step in steps:
        step["macs"] *= batch
        step["share"] = step["macs"] / step["seconds"] / limit if step["macs"] else None
        step["of_all"] = step["seconds"] / total
    return {
        "kind": "layers",
        "options": {
            "model": str(model), "batch": batch, "threads": threads, "rounds": rounds,
            "precision": precision,
        },
        "machine": full.machine_facts(),
        "limit": limit,
        "seconds": total,
        "rows": steps,
    }  # fmt: skip


def _network(model):
    if Path(model).suffix == ".safetensors":
        return full.load_model(str(model)).weights
    return nn.build_network(str(model))
