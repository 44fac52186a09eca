"""The memory of a linear classifier whose classes are split over processes, and the time of a step,
beside torch's own: a column-wise parallel Linear with loss_parallel.

    python tests/bench/split_heads.py                 1,000,000 classes by 512, two processes
    python tests/bench/split_heads.py --classes 100000 --batch 16 --rates 1

Both make the same step: softmax cross entropy without bias, backward, SGD with momentum and weight
decay. Losses and gradients are compared on a small head first. Memory is the largest resident
memory of each process less what it had before the head was made.
"""

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path

import torch
from facebench import losses, training
from torch import distributed, multiprocessing
from torch.distributed.tensor import DTensor, Replicate, Shard, init_device_mesh
from torch.distributed.tensor.parallel import loss_parallel

LR, MOMENTUM, DECAY = 0.01, 0.9, 5e-4


def resident_mb(name: str) -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) / 1000
    raise RuntimeError(name)


class Ours:
    def __init__(self, settings, rate):
        group = distributed.group.WORLD
        self.head = losses.make_head(
            "softmax",
            features=settings.features,
            classes=settings.classes,
            bias=False,
            process_group=group,
            split_classes=True,
            sample_rate=rate,
        )
        options = {"momentum": MOMENTUM, "weight_decay": DECAY}
        self.sgd = training.Optimizer(self.head.named_parameters(), lr=LR, **options)
        self.first, self.size = group.rank(), group.size()

    def weight(self):
        return self.head.weight.detach()

    def step(self, features, labels):
        """Of the whole batch; this process has its share of it. Returns loss and gradient."""
        self.sgd.zero_grad()
        own = features[self.first :: self.size].clone().requires_grad_(True)
        loss, _ = self.head(own, labels[self.first :: self.size].contiguous())
        self.sgd.backward(loss, self.head)
        self.sgd.step()
        gradient = torch.zeros_like(features)
        gradient[self.first :: self.size] = own.grad
        distributed.all_reduce(gradient)
        return loss.item(), gradient


class Torch:
    """What torch.distributed.tensor.parallel makes of a Linear with ColwiseParallel."""

    def __init__(self, settings, weight):
        self.mesh = init_device_mesh("cpu", (distributed.get_world_size(),))
        shard = torch.empty_like(weight).copy_(weight)
        self.weight_ = torch.nn.Parameter(DTensor.from_local(shard, self.mesh, [Shard(0)]))
        options = {"momentum": MOMENTUM, "weight_decay": DECAY}
        self.sgd = torch.optim.SGD([self.weight_], lr=LR, **options)

    def weight(self):
        return self.weight_.to_local().detach()

    def step(self, features, labels):
        self.sgd.zero_grad()
        own = features.clone().requires_grad_(True)
        x = DTensor.from_local(own, self.mesh, [Replicate()])
        with loss_parallel():
            loss = torch.nn.functional.cross_entropy(
                torch.nn.functional.linear(x, self.weight_), labels
            )
            loss.backward()
        self.sgd.step()
        return loss.full_tensor().item(), own.grad


def batches(settings, count):
    random = torch.Generator().manual_seed(1)
    for _ in range(count):
        features = torch.randn(settings.batch, settings.features, generator=random)
        yield features, torch.randint(0, settings.classes, (settings.batch,), generator=random)


def compare(settings):
    """Both from the same weights, on a small head."""
    small = argparse.Namespace(
        **vars(settings) | {"classes": 1000 * settings.processes, "features": 24, "batch": 10}
    )
    ours = Ours(small, 1.0)
    # torch's shards must be equal, so that this compares what both can split.
    theirs = Torch(small, ours.weight())
    for features, labels in batches(small, 3):
        a, b = ours.step(features, labels), theirs.step(features, labels)
        assert abs(a[0] - b[0]) < 1e-4 * abs(b[0]), (a[0], b[0])
        torch.testing.assert_close(a[1], b[1], rtol=1e-3, atol=1e-5)


def measure(rank, settings, program, store, results):
    torch.set_num_threads(settings.threads)
    distributed.init_process_group(
        "gloo",
        store=distributed.FileStore(store, settings.processes),
        rank=rank,
        world_size=settings.processes,
    )
    if program == "compare":
        compare(settings)
    else:
        results.put((rank, *one_program(settings, program)))
    distributed.barrier()
    distributed.destroy_process_group()


def one_program(settings, program):
    """Memory predicted (ours) and used, in MB, and the median time of a step after the first."""
    before = resident_mb("VmRSS")
    predicted = None
    if program == "torch":
        shard = settings.classes // settings.processes
        weight = torch.empty(shard, settings.features).uniform_(-0.04, 0.04)
        contestant = Torch(settings, weight)
        del weight
        # The copy of the shard that it was made from is gone; the peak counts from here on.
        Path("/proc/self/clear_refs").write_text("5")
    else:
        contestant = Ours(settings, float(program))
        memory = training.head_memory(contestant.head, settings.batch, early=True)
        predicted = memory["total"] / 1e6
    times = []
    for features, labels in batches(settings, settings.steps):
        started = time.perf_counter()
        contestant.step(features, labels)
        times.append(time.perf_counter() - started)
    return predicted, resident_mb("VmHWM") - before, statistics.median(times[1:])


def run(settings, program):
    """The rows of one program, by rank."""
    results = multiprocessing.get_context("spawn").SimpleQueue()
    with tempfile.TemporaryDirectory() as folder:
        arguments = (settings, program, f"{folder}/store", results)
        multiprocessing.spawn(measure, arguments, nprocs=settings.processes)
    if program == "compare":
        return []
    return sorted(results.get() for _ in range(settings.processes))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--classes", type=int, default=1_000_000)
    parser.add_argument("--features", type=int, default=512)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1, help="of each process")
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--rates", type=float, nargs="*", default=[1.0, 0.1])
    parser.add_argument("--rounds", type=int, default=1, help="of all programs, in turns")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    settings = parser.parse_args()
    run(settings, "compare")
    print("losses and gradients are those of torch\n")
    print("| program | process | predicted, MB | peak, MB | step, s |\n|---|---|---|---|---|")
    found = []
    for program in [*(str(rate) for rate in settings.rates), "torch"] * settings.rounds:
        name = "torch, ColwiseParallel" if program == "torch" else f"facebench, rate {program}"
        for rank, predicted, peak, seconds in run(settings, program):
            shown = "" if predicted is None else f"{predicted:.0f}"
            print(f"| {name} | {rank} | {shown} | {peak:.0f} | {seconds:.2f} |", flush=True)
            found.append([name, rank, predicted, peak, seconds])
    if settings.json:
        columns = ["program", "process", "predicted_mb", "peak_mb", "step_seconds"]
        rows = [dict(zip(columns, row, strict=True)) for row in found]
        settings.json.write_text(
            json.dumps({"settings": vars(settings), "rows": rows}, default=str)
        )


if __name__ == "__main__":
    main()
