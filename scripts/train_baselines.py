#!/usr/bin/env python3
# ruff: noqa: E501
"""Trains the recipes of the paper on LFW's View 1 training people, keeps the models with their
cards in a folder that FACEBENCH_MODELS can name; with --write it makes the table of
docs/trained-networks.md.

Needs the full package and FACEBENCH_DATA (LFW). What the folder has a record of is not trained
again, so the script can be stopped and started. --minutes is the processor time of each recipe: the
rate falls over what fits into it (half a cosine, from the linear rule's rate of the batch, with a
warm-up). A training whose loss is not finite begins again at a quarter of the rate.
"""

import argparse
import hashlib
import json
import os
import shutil
import time
import warnings
from pathlib import Path

import facebench
import generated_page
import numpy as np
from facebench import datasets, detection, embedding, protocols, training
from facebench.crops import CropOptions

LFW = Path(os.environ.get("FACEBENCH_DATA") or "/nonexistent") / "lfw"
PAGE = generated_page.ROOT / "docs/trained-networks.md"
SMALLER = (64, 96, 128, 144, 192, 224)  # sizes tried for --least, before the recipe's own
QUARTERS = 3  # how often a training that is not finite begins again


def paper_recipes():
    names = training.recipe_names()
    return [n for n in names if "Wang & Guo 2019" in training.load_recipe(n).title]


class Faces:
    """Packs of LFW's View 1: its training people with so many photographs, and who is tested."""

    def __init__(self, folder, photographs):
        self.folder, self.photographs = folder, photographs
        lines = (LFW / "protocol/peopleDevTrain.txt").read_text().splitlines()[1:]
        counts = {p: int(n) for p, n in (line.split("\t") for line in lines)}
        trained = {p: n for p, n in counts.items() if n >= photographs}
        self.people = len(trained)
        train = [f"{p}/{p}_{k + 1:04}.jpg" for p, n in sorted(trained.items()) for k in range(n)]
        tested = set()
        for line in (LFW / "protocol/pairsDevTest.txt").read_text().splitlines()[1:]:
            first, *others = line.split("\t")
            second = others[1] if len(others) == 3 else first
            tested |= {f"{first}/{first}_{int(others[0]):04}.jpg",
                       f"{second}/{second}_{int(others[-1]):04}.jpg"}  # fmt: skip
        self.lfw = datasets.read_dataset("lfw", LFW)
        present = {sample.id for sample in self.lfw.samples}
        self.ids = {"train": train, "test": sorted(tested & present)}
        self.images = len(train)

    def boxes(self):
        """Faces of all photographs, detected once."""
        path = self.folder / "faces.csv"
        if not path.exists():
            files = {f.name: f for f in detection.list_image_files(LFW / "images")[0]}
            wanted = [*self.ids["train"], *self.ids["test"]]
            detection.detect_to_file([files[i] for i in wanted], path, threads=1)
        return path

    def pack(self, part, height, width):
        name = f"{part}{self.photographs}" if part == "train" else part
        path = self.folder / f"{name}-{height}x{width}.h5"
        if not path.exists():
            detector = detection.make_detector("given", file=str(self.boxes()))
            samples = datasets.select_samples(self.lfw, self.ids[part])
            crop = CropOptions(name="paper", height=height, width=width)
            datasets.pack_dataset(samples, path, detector, crop=crop, threads=1)
        return path


def measured(found):
    """AUC on View 1's test pairs with its interval over people."""
    result = protocols.evaluate(
        "lfw_view1", found, root=LFW, failed_enrolments="drop", allow_missing=True, threads=1
    )["view1"]
    number = result["auc"]
    return [number.value, number.low, number.high]


def of_pixels(pack):
    """The photographs themselves, (x - 127.5), as embeddings."""
    found = datasets.Pack(pack)
    rows = found.images.astype(np.float32).reshape(len(found.names), -1) - 127.5
    return measured(dict(zip(found.names, rows, strict=True)))


def of_model(path, pack):
    return measured(embedding.extract(path, datasets.Pack(pack), threads=1))


def of_size(name, size, **settings):
    """The recipe with images of so many pixels, a ninth more than the network sees where the recipe
    crops; size 0: the recipe's own."""
    recipe = training.load_recipe(name, **settings)
    if size:
        seen = recipe.to_dict()
        network, image = seen["network"], seen["input"]
        for key, own in (("height", network["height"]), ("width", network["width"])):
            recipe.set(f"network.{key}", str(round(size * own / network["height"])))
            stored = image[f"image_{key}"]
            recipe.set(f"input.image_{key}", str(round(size * stored / network["height"])))
    return recipe


def stored_size(recipe):
    image = recipe.to_dict()["input"]
    return image["image_height"], image["image_width"]


def train(recipe, pack, out, **more):
    """The result of a training, its losses and processor seconds; what ended it early."""
    losses, marks = [], [time.process_time()]

    def on_step(report):
        losses.append(report["loss"])
        marks.append(time.process_time())

    shutil.rmtree(out, ignore_errors=True)
    try:
        training.train(recipe, pack, out, threads=1, data_threads=1, on_step=on_step, keep=1,
                       checkpoint_every=10**9, **more)  # fmt: skip
    except facebench.Error as failure:
        return losses, marks, str(failure)
    return losses, marks, ""


def least_size(name, faces, work):
    """The smallest of SMALLER that the network takes, 0 for its own, and what a step takes."""
    own = training.load_recipe(name).to_dict()["network"]["height"]
    for size in [s for s in SMALLER if s < own] + [0]:
        recipe = of_size(name, size, batch=2, iterations=1)
        height, width = stored_size(recipe)
        blank = np.zeros((4, height, width, 3), np.uint8)
        try:
            training.train(recipe, (blank, np.arange(4) % 2), work / "try", threads=1)
            return size
        except (ValueError, facebench.Error) as failure:
            if "fit" not in str(failure) and "small" not in str(failure):
                return size  # it was built; what it saw here does not matter
        finally:
            shutil.rmtree(work / "try", ignore_errors=True)
    return 0


def shortened(name, size, iterations, options, share=1.0):
    """The recipe with the batch of --batch by the linear rule, over so many iterations."""
    recipe = of_size(name, size)
    own = recipe.to_dict()["training"]["batch"]
    if options.batch < own:
        recipe.scale_batch(options.batch)
    rate = recipe.to_dict()["optimizer"]["lr"] * share
    changes = {"training.iterations": iterations, "optimizer.lr": rate, "schedule.policy": "cosine",
               "schedule.unit": "iterations", "schedule.warmup": max(1, iterations // 20),
               "training.seed": options.seed}  # fmt: skip
    for key, value in changes.items():
        recipe.set(key, str(value))
    for setting in options.set:
        recipe.set(*setting.split("=", 1))
    return recipe


def made(name, options, faces):
    """Trains a recipe and writes NAME.safetensors, NAME.md (its card) and NAME.json."""
    work = options.models / "work"
    size = least_size(name, faces, work) if options.least else 0
    height, width = stored_size(of_size(name, size))
    pack, tests = faces.pack("train", height, width), faces.pack("test", height, width)
    untrained = shortened(name, size, 2, options, share=1e-9)
    losses, marks, error = train(untrained, pack, work / name)
    start = of_model(work / name / "model.safetensors", tests) if not error else None
    each = max(marks[-1] - marks[-2], 1e-3) if len(marks) > 1 else 1.0
    iterations = max(20, int(60 * options.minutes / each))
    for attempt in range(1 + QUARTERS):
        share = 0.25**attempt
        recipe = shortened(name, size, iterations, options, share)
        losses, marks, error = train(recipe, pack, work / name)
        if not error:
            break
    settings = recipe.to_dict()
    record = {
        "recipe": settings, "name": name, "size": [settings["network"][k] for k in ("height", "width")],
        "own_size": size == 0, "people": faces.people, "images": faces.images,
        "share_of_rate": share, "losses": losses, "error": error, "untrained": start,
        "minutes": (marks[-1] - marks[0]) / 60, "pixels": of_pixels(tests), "trained": None,
    }  # fmt: skip
    if not error:
        model = options.models / f"{name}.safetensors"
        shutil.copyfile(work / name / "model.safetensors", model)
        record["sha256"] = hashlib.sha256(model.read_bytes()).hexdigest()
        record["trained"] = of_model(model, tests)
        if options.view2:
            run = facebench.run("lfw", root=LFW, model=model, discard=True, threads=1)
            record["view2"] = run["view2"]["accuracy"].value
        (options.models / f"{name}.md").write_text(card(record))
    shutil.rmtree(work / name, ignore_errors=True)
    new = options.models / f"{name}.new"
    new.write_text(json.dumps(record))
    new.rename(options.models / f"{name}.json")


def percent(number):
    return (
        ""
        if not number
        else f"{100 * number[0]:.1f} [{100 * number[1]:.1f}, {100 * number[2]:.1f}]"
    )


def verdict(record):
    """What was seen, in a few words."""
    if record["error"]:
        return f"not finite after {len(record['losses'])} iterations"
    trained, better = record["trained"], []
    for what, other in (("raw pixels", record["pixels"]), ("untrained", record["untrained"])):
        better.append((what, trained[1] > other[2], trained[0] > other[0]))
    if all(apart for _, apart, _ in better):
        return "better than raw pixels and untrained, intervals apart"
    words = []
    for what, apart, above in better:
        words.append(
            f"{what}: " + ("better" if apart else "above, not apart" if above else "below")
        )
    return "; ".join(words)


def row(name, record):
    losses, settings = record["losses"], record["recipe"]
    tenth = max(1, len(losses) // 10)
    ends = [
        np.mean(losses[:tenth]),
        np.mean(losses[len(losses) // 2 :][:tenth]),
        np.mean(losses[-tenth:]),
    ]
    height, width = record["size"]
    batch, iterations = settings["training"]["batch"], len(losses)
    return [
        f"`{name}`", f"{height}x{width}" + ("" if record["own_size"] else " (least)"),
        settings["loss"]["name"], record["people"], f"{batch}", f"{settings['optimizer']['lr']:.2g}",
        iterations, f"{iterations * batch / record['images']:.1f}", f"{record['minutes']:.1f}",
        ", ".join(f"{e:.3g}" for e in ends),
        percent(record["untrained"]), percent(record["trained"]), verdict(record),
    ]  # fmt: skip


def card(record):
    """What the model file is, and what it is good for."""
    settings = record["recipe"]
    return "\n".join([
        f"# {record['name']}", "",
        f"{settings['network']['name']}, {settings['loss']['name']}, trained by facebench on "
        f"{record['images']:,} photographs of {record['people']} people of LFW's View 1 training set.", "",
        f"- SHA-256 `{record['sha256']}`",
        f"- input {record['size'][0]} x {record['size'][1]}, crop `paper`",
        f"- batch {settings['training']['batch']}, rate {settings['optimizer']['lr']:.3g}, "
        f"{len(record['losses'])} iterations, {record['minutes']:.1f} minutes of one processor",
        f"- LFW View 1, AUC in %: {percent(record['trained'])}; untrained {percent(record['untrained'])}; "
        f"raw pixels {percent(record['pixels'])}", "",
        "Good for trying things and as a first state to compare with; so few people make no network "
        "that tells strangers apart well. `facebench train RECIPE --pack WEBFACE` trains it for use.", "",
    ])  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("recipes", nargs="*", help="default: the 24 of the paper")
    parser.add_argument(
        "--models", type=Path, default=Path("runs/baselines"), help="folder of models"
    )
    parser.add_argument("--minutes", type=float, default=30, help="processor time of each recipe")
    parser.add_argument("--batch", type=int, default=32, help="rates follow by the linear rule")
    parser.add_argument("--photographs", type=int, default=3, help="the least number of a person's")
    parser.add_argument(
        "--least", action="store_true", help="each network's least size, not its own"
    )
    parser.add_argument("--view2", action="store_true", help="LFW's View 2 too")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--set", action="append", default=[], help="KEY=VALUE of the recipes")
    parser.add_argument("--write", action="store_true", help="put the table into the page")
    options = parser.parse_args()
    (options.models / "work").mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")  # short trainings; the table says how short
    records, faces = {}, None
    for name in options.recipes or paper_recipes():
        path = options.models / f"{name}.json"
        if not path.exists() and options.minutes > 0:
            faces = faces or Faces(options.models / "work", options.photographs)
            made(name, options, faces)
        if path.exists():
            records[name] = json.loads(path.read_text())
            print(*row(name, records[name]), sep=" | ", flush=True)
    heads = ["recipe", "input", "loss", "people", "batch", "rate", "iterations", "epochs", "minutes",
             "loss: first tenth, middle, last", "AUC untrained, %", "AUC trained, %", "seen"]  # fmt: skip
    lines = generated_page.table(heads, [row(n, r) for n, r in records.items()])
    if missing := [f"`{name}`" for name in paper_recipes() if name not in records]:
        lines += [
            "",
            f"Not trained yet, {len(missing)} of {len(paper_recipes())}: {', '.join(missing)}.",
        ]
    if records:
        pixels = next(iter(records.values()))["pixels"]
        lines += ["", f"Raw pixels, compared by their cosine: AUC {percent(pixels)} %."]
    if options.write:
        PAGE.write_text(generated_page.page_with(PAGE, {"trained": lines})[PAGE])


if __name__ == "__main__":
    main()
