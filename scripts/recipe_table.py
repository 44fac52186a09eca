#!/usr/bin/env python3
"""Trains the recipes of the paper for 200 iterations on LFW's people and prints the table of
docs/recipes.md; with --write it puts it there.

Needs the full package and FACEBENCH_DATA (LFW):
`PYTHONPATH=build/python python scripts/recipe_table.py --work runs/recipes`
Each finished recipe is a file in --work, and is not trained again while recipe and data stay, so
the script can be stopped and started; the table has all that are finished. With --seconds a recipe
has the largest batch that takes about so many CPU seconds, at least 16 and at most its own: with
fewer images the learning rates are far too large.
"""

import argparse
import json
import os
import shutil
import tempfile
import time
from pathlib import Path

import facebench
import generated_page
import numpy as np
from facebench import datasets, detection, training

ROOT = Path(os.environ.get("FACEBENCH_DATA") or "/nonexistent") / "lfw"
PAGE = generated_page.ROOT / "docs/recipes.md"
ITERATIONS = 200
AT = (50, 100, 150, 200)
MEAN_OF = 10  # iterations, up to the one that is named
LEAST_BATCH = 16
ALIGNED = {(112, 112): "arcface112", (112, 96): "sphereface112x96"}  # crops of other sizes: paper


def paper_recipes():
    names = training.recipe_names()
    return [n for n in names if "Wang & Guo 2019" in training.load_recipe(n).title]


class Packs:
    """A pack for each size of image that the recipes take: of everybody with so many photographs
    their first ones. Faces are detected once."""

    def __init__(self, folder, images_each):
        self.folder = folder
        of = {}
        for sample in datasets.read_dataset("lfw", ROOT).samples:
            of.setdefault(sample.id.split("/")[0], []).append(sample.id)
        enough = {p: sorted(ids)[:images_each] for p, ids in of.items() if len(ids) >= images_each}
        self.people = len(enough)
        self.ids = [i for _, ids in sorted(enough.items()) for i in ids]

    def detector(self):
        path = self.folder / "faces.csv"
        if not path.exists():
            files = {f.name: f for f in detection.list_image_files(ROOT / "images")[0]}
            detection.detect_to_file([files[i] for i in self.ids], path, threads=1)
        return detection.make_detector("given", file=str(path))

    def of(self, recipe):
        image = recipe.to_dict()["input"]
        height, width = image["image_height"], image["image_width"]
        name = ALIGNED.get((height, width), "paper")
        path = self.folder / f"{name}-{height}x{width}.h5"
        if not path.exists():
            samples = datasets.select_samples(datasets.read_dataset("lfw", ROOT), self.ids)
            crop = facebench.crops.CropOptions(name=name, height=height, width=width)
            datasets.pack_dataset(samples, path, self.detector(), crop=crop, threads=1)
        return path


def train(recipe, pack):
    """The loss and the CPU seconds of each iteration, and the message that ended it early."""
    losses, marks = [], [time.process_time()]

    def on_step(report):
        losses.append(report["loss"])
        marks.append(time.process_time())

    out = Path(tempfile.mkdtemp())
    error = None
    try:
        training.train(
            recipe, pack, out / "run", threads=1, data_threads=1, on_step=on_step,
            keep=1, checkpoint_every=10 * ITERATIONS,
        )  # fmt: skip
    except facebench.Error as failure:
        error = str(failure)
    finally:
        shutil.rmtree(out)
    return losses, np.diff(marks), error


def fitting_batch(name, settings, pack, seconds):
    """The largest batch, up to the recipe's own, that takes about so many CPU seconds."""

    def step(batch):
        recipe = training.load_recipe(name, **settings, batch=batch, iterations=3)
        return min(train(recipe, pack)[1], default=seconds)

    few, more = 4, 8
    low, high = step(few), step(more)
    each = max((high - low) / (more - few), 1e-3)
    return max(LEAST_BATCH, int((seconds / ITERATIONS - max(low - few * each, 0)) / each))


def finished(name, options, packs):
    """The record of a training of this recipe, as it is now, on these people; else None."""
    path = options.work / f"{name}.json"
    if not path.exists():
        return None
    old = json.loads(path.read_text())
    settings = {"dtype": old["recipe"]["training"]["dtype"], "batch": old["batch"]}
    recipe = training.load_recipe(name, **settings, iterations=ITERATIONS)
    same = old["recipe"] == json.loads(json.dumps(recipe.to_dict()))
    return old if same and old["people"] == packs.people else None


def measure(name, options, packs):
    """Trains a recipe, and keeps the record in --work."""
    path = options.work / f"{name}.json"
    settings = {"dtype": options.dtype} if options.dtype else {}
    batch = own = training.load_recipe(name).to_dict()["training"]["batch"]
    pack = packs.of(training.load_recipe(name))
    if options.seconds > 0:
        batch = min(own, fitting_batch(name, settings, pack, options.seconds))
    recipe = training.load_recipe(name, **settings, batch=batch, iterations=ITERATIONS)
    losses, seconds, error = train(recipe, pack)
    record = {
        "recipe": recipe.to_dict(),
        "batch": batch,
        "own_batch": own,
        "people": packs.people,
        "losses": losses,
        "error": error,
        "seconds": float(sum(seconds)),
    }
    new = path.with_suffix(".new")
    new.write_text(json.dumps(record))
    new.rename(path)


def verdict(record):
    losses = record["losses"]
    if record["error"]:
        return f"not finite after iteration {len(losses)}"
    first, last = np.mean(losses[:MEAN_OF]), np.mean(losses[-MEAN_OF:])
    return "falls" if last < first else "does not fall"


def row(name, record):
    losses, own = record["losses"], record["own_batch"]

    def at(iteration):
        return f"{np.mean(losses[iteration - MEAN_OF : iteration]):.3g}"

    return [
        f"`{name}`",
        f"{record['batch']}" + (f" (of {own})" if record["batch"] != own else ""),
        f"{record['recipe']['optimizer']['lr']:g}",
        f"{losses[0]:.3g}" if losses else "",
        *(at(i) if len(losses) >= i else "" for i in AT),
        verdict(record),
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("recipes", nargs="*", help="default: all of the paper")
    parser.add_argument("--work", type=Path, required=True, help="folder of packs and records")
    parser.add_argument("--images", type=int, default=50, help="photographs of each person")
    parser.add_argument("--seconds", type=float, default=0, help="CPU seconds of a recipe; 0: any")
    parser.add_argument("--dtype", help="of the trainings; default: the recipes'")
    parser.add_argument("--write", action="store_true", help="put the table into the page")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    packs = Packs(options.work, options.images)
    for name in options.recipes or paper_recipes():
        if not finished(name, options, packs):
            measure(name, options, packs)
        record = finished(name, options, packs)
        print(*row(name, record), f"{record['seconds']:.0f} s", sep=" | ", flush=True)
    records = {name: finished(name, options, packs) for name in paper_recipes()}
    rows = [row(name, record) for name, record in records.items() if record]
    heads = ["recipe", "batch", "rate", "first", *map(str, AT), "verdict"]
    lines = generated_page.table(heads, rows)
    if options.write:
        PAGE.write_text(generated_page.page_with(PAGE, {"iterations": lines})[PAGE])
    else:
        print("\n".join(lines))


if __name__ == "__main__":
    main()
