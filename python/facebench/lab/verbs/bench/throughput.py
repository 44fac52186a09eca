"""``facebench bench load``, ``detect``, ``eval``, ``layers``: how fast a part is."""

from pathlib import Path

import facebench
from facebench.cli import common
from facebench.cli.options import argument, flag, keywords, option
from facebench.lab.verbs.bench.common import Rounds, RowSeconds, SomeThreads, bench, numbers


def measure(function, threads, **options):
    return function(threads=numbers(threads, "threads"), **options), ""


@bench(
    "facebench bench load --files LFW --threads 1,2,4",
    lambda: keywords(
        facebench.timing.bench_load,
        pack=option("A pack; none: noise.", Path),
        files=option("A folder of images; none: synthetic faces.", Path),
        size=option("Side of the batches' images.", int),
        batch=option("Images of a batch.", int),
        threads=SomeThreads,
        seconds=RowSeconds,
        rounds=Rounds,
        race=flag("--race", "Out of .rec, tar, pack; beside torchvision and cv2 in a DataLoader."),
    ),
)
def load(**options):
    """Images loaded a second. Decoded, made into batches, out of files and packs."""
    return measure(facebench.timing.bench_load, **options)


@bench(
    "facebench bench detect --detector mtcnn --threads 1",
    lambda: keywords(
        facebench.timing.bench_detect,
        detectors=option("Names, by commas.", str, "--detector"),
        sizes=option("WIDTHxHEIGHT of the images, by commas."),
        threads=SomeThreads,
        seconds=RowSeconds,
        rounds=Rounds,
    ),
)
def detect(**options):
    """Images a second of the detectors, by size."""
    lists = {name: options.pop(name).split(",") for name in ("detectors", "sizes")}
    return measure(facebench.timing.bench_detect, **lists, **options)


@bench(
    "facebench bench eval --templates 10000 --threads 1,2",
    lambda: keywords(
        facebench.timing.bench_eval,
        templates=option("Embeddings.", int, min=8),
        pairs=option("Listed comparisons.", int, min=100),
        dimension=option("Of an embedding.", int, min=1),
        threads=SomeThreads,
        seconds=RowSeconds,
        rounds=Rounds,
        seed=common.Seed,
    ),
)
def evaluate(**options):
    """Comparisons a second. Scoring lists and all pairs, TAR at FAR."""
    return measure(facebench.timing.bench_eval, **options)


@bench(
    "facebench bench layers mobilefacenet --batch 8",
    lambda: keywords(
        facebench.timing.bench_layers,
        batch=option("Images computed together.", int, min=1),
        threads=option("Worker threads; 0: one for each processor.", int, min=0),
        rounds=option("A step's time is the median of so many.", int, min=1),
        precision=option("float32 or bfloat16."),
    ),
)
def layers(
    model: argument("A model file, or a network: see facebench list networks."),
    **options,
):
    """Where the time of inference goes. Each layer's milliseconds and share of the limit."""
    return facebench.timing.bench_layers(model, **options), Path(model).stem
