"""Embeds a pack of very many crops: images a second in each tenth of the way, and memory.

    .venv/bin/python tests/bench/embed_many.py model.safetensors faces.h5 --images 1000000

The crops of the given pack are written again and again, under other names, until there are as many.
Throughput should be the same from the first tenth to the last, and memory grow by the embeddings
alone.
"""

import argparse
import itertools
import tempfile
import time
from pathlib import Path

import h5py
import harness
import numpy as np


def repeat(pack, count, path):
    """A pack of `count` images, those of `pack` in turns."""
    with h5py.File(pack) as source, h5py.File(path, "w") as target:
        target["manifest"] = source["manifest"][:]
        size = source["name"].shape[0]
        for name, data in source.items():
            if name == "manifest":
                continue
            shape = (count, *data.shape[1:])
            kind = np.dtype("S16") if name == "name" else data.dtype
            out = target.create_dataset(name, shape, kind)
            for first in range(0, count, size):
                last = min(first + size, count)
                if name == "name":
                    out[first:last] = [f"image {i:09d}".encode() for i in range(first, last)]
                else:
                    out[first:last] = data[: last - first]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("pack", type=Path)
    parser.add_argument("--images", type=int, default=1_000_000)
    parser.add_argument("--threads", type=int, default=0)
    options = parser.parse_args()
    from facebench import embedding
    from facebench.datasets import Pack

    marks = []  # (seconds, images, KiB)

    def progress(stage, done, total, unit):
        if done >= total * len(marks) / 10:
            images = done * options.images // total
            marks.append((time.perf_counter(), images, harness.memory_kib("RssAnon")))

    with tempfile.TemporaryDirectory(dir=options.pack.resolve().parent) as folder:
        path = Path(folder) / "many.h5"
        repeat(options.pack, options.images, path)
        model = embedding.load_embedder(options.model)
        found = embedding.extract(model, Pack(path), threads=options.threads, progress=progress)
    assert len(found.names) == options.images
    print("| images | images/s | memory, MiB |\n|---|---|---|")
    rates = []
    for (start, before, _), (end, after, memory) in itertools.pairwise(marks):
        rates.append((after - before) / (end - start))
        print(f"| {after} | {rates[-1]:.0f} | {memory / 1024:.0f} |")
    size = found.values.nbytes / 2**20
    print(f"last tenth to first: {rates[-1] / rates[0]:.3f}; embeddings {size:.0f} MiB")


if __name__ == "__main__":
    main()
