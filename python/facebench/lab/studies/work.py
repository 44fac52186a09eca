"""The kinds of jobs of a study. Each is a function of the request, the folders of the jobs that it
needs, the folder to fill and how (threads, cache, Python objects): it returns its result, JSON, in
which "told" is for people alone."""

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

from facebench import _eval, analysis
from facebench.core import Error
from facebench.core._files import read_json, write_text
from facebench.io import canonical_json
from facebench.lab.studies.fitting import fit


def draw(request, needs, out, how):
    """A data set of drawn faces in an official layout."""
    from facebench import datasets

    options = datasets.SyntheticOptions(**request)
    datasets.write_synthetic_dataset(options, out / "data", how["threads"], how["progress"])


def _place(request, needs, name):
    """A data set: a drawn one, or where the request says."""
    return needs[name] / "data" if name in needs else Path(request[name])


def pack(request, needs, out, how):
    """The crops of a training set."""
    from facebench import pipeline

    where = {"threads": how["threads"], "progress": how["progress"]}
    root = _place(request, needs, "root")
    summary = pipeline.pack(request["reader"], root, out / "pack.h5", **request["prepare"], **where)
    return {"counts": summary.counts}


def _pack_of(request, needs):
    return needs["pack"] / "pack.h5" if "pack" in needs else Path(request["pack"])


def overlap(request, needs, out, how):
    """Who of a training set is in the test sets too or on a list, and what is left without them."""
    import numpy as np

    from facebench import datasets

    path, identifiers, compared = _pack_of(request, needs), 0, False
    why: dict[str, str] = {}
    for name in request["tests"]:
        place = _place(request, needs, name)
        if place.is_dir() and (place / "images").is_dir():
            place = place / "images"
        shared = datasets.find_overlap(
            path,
            place,
            train_names=request.get("names"),
            train_embeddings=request.get("embeddings"),
            test_embeddings=request["test_embeddings"].get(name),
            threads=how["threads"],
        )
        identifiers = shared.train["identifiers"]
        compared |= shared.compared_images
        why |= {e["person"]: f"{e['match']} ({e['why']})" for e in shared.entries}
        write_text(out / f"{name}.csv", shared.csv)
    listed: dict[str, list[str]] = {"people": [], "samples": []}
    if request.get("exclude"):
        listed = datasets.read_exclusion(request["exclude"])
        why = dict.fromkeys(listed["people"], "the caller's list") | why
    crops = datasets.Pack(path)
    labels, names = np.array(crops.labels, np.int64), list(crops.label_names)
    if request.get("only"):
        stay = set(datasets.read_exclusion(request["only"], keeps=True)["people"])
        others = [name for name in names if _eval.compared_name(name) not in stay]
        why |= dict.fromkeys(others, "not of the caller's list")
    lines = [f"person\t{p}\n" for p in why] + [f"sample\t{s}\n" for s in listed["samples"]]
    write_text(out / "exclusion.txt", "".join(lines))
    usable = np.array(crops.statuses) == 0
    out_of = {i for i, name in enumerate(names) if name in why}
    left_out = np.isin(labels, list(out_of)) | np.isin(np.array(crops.names), listed["samples"])
    kept, removed = usable & ~left_out, usable & left_out
    people = len(set(labels[kept].tolist()))
    return {
        "people": people,
        "images": int(kept.sum()),
        "images_per_person": float(kept.sum() / max(people, 1)),
        "people_removed": len(set(labels[removed].tolist()) & out_of),
        "images_removed": int(removed.sum()),
        "removed": {name: why[name] for name in names if name in why},
        "identifiers": 0 if compared else identifiers,
    }


def load_recipe(request):
    """The recipe of a request, with its settings and seed."""
    from facebench import training

    settings = {k.replace(".", "__"): v for k, v in request["settings"].items()}
    return training.load_recipe(request["recipe"], **settings, training__seed=request["seed"])


def train(request, needs, out, how):
    """A model of a recipe and a pack."""
    from facebench import training

    # Also an empty one: the model file then says that people were looked for.
    exclude = needs["overlap"] / "exclusion.txt" if "overlap" in needs else None
    recipe, crops = load_recipe(how | {"seed": request["seed"]}), _pack_of(request, needs)
    where = {"exclude": exclude, "threads": how["threads"], "device": request["device"]}
    if "engine" in request:
        by = {"engine": request["engine"], "own": request["own"]}
        done = fit(recipe, crops, out / "train", **by, **where)
        return {k: v for k, v in done.items() if k not in ("model", "head", "seconds")}
    done = training.train(
        recipe, crops, out / "train", resume=True, progress=how["progress"], **where
    )
    return {k: done[k] for k in ("loss", "iterations", "epochs", "classes", "images")}


def run(request, needs, out, how):
    """A model under a protocol: a run folder."""
    import facebench

    model = needs["model"] / "train" / "model.safetensors" if "model" in needs else how["model"]
    result = facebench.run(
        request["protocol"],
        model=model,
        root=_place(request, needs, "root") if "root" in {*request, *needs} else "",
        out=out / "run",
        cache=how["cache"],
        threads=how["threads"],
        progress=how["progress"],
        command=how.get("command", ""),
        **request["settings"],
    )
    if result.all_failed:
        raise Error("not one image could be enrolled")
    taken = " and ".join(result.reused)
    return {"told": f", {taken} from the cache" if taken else ""}


def copy(request, needs, out, how):
    """A run folder from elsewhere, if it is the one that was meant: its files, and no links."""

    run = Path(how["run"])
    record = canonical_json(analysis.read_run(run)["content"])
    if hashlib.sha256(record.encode()).hexdigest() != request["content"]:
        raise Error(f"{run}: is another run than the one that was added. Add it again")
    (out / "run").mkdir()
    for path in sorted(run.iterdir()):
        if path.is_file() and not path.is_symlink():
            shutil.copyfile(path, out / "run" / path.name)


def classify(request, needs, out, how):
    """A training on small images and its test, in a process of its own, measured."""
    from facebench.lab.timing.workers import child_environment

    asked = request | {"folder": str(out / "train"), "recipe": how["recipe"]}
    write_text(out / "request.json", json.dumps(asked | {"settings": how["settings"]}, indent=1))
    command = [sys.executable, "-m", "facebench.lab.studies.classifying"]
    command += [str(out / "request.json"), str(out / "answer.json")]
    done = subprocess.run(command, env=child_environment(), capture_output=True, text=True)
    if done.returncode:
        message = (done.stderr.strip().splitlines() or [f"it ended with {done.returncode}"])[-1]
        raise Error(f"{out / 'request.json'}: this training failed: {message[:400]}")
    return read_json(out / "answer.json")


def step(request, needs, out, how):
    """Steps of one network in several engines; their measurement's own page."""
    from facebench.lab import timing

    result = timing.bench_step(**request, progress=how["progress"])
    timing.write_bench(result, out / "step")
    return result


def scale(request, needs, out, how):
    """Steps of one network in several processes."""
    from facebench.lab import timing

    result = timing.bench_scale(**request, progress=how["progress"])
    timing.write_bench(result, out / "scale")
    return result


def cost(request, needs, out, how):
    """What embedding with a model costs."""
    from facebench.lab.studies.costs import measure_cost

    cost = measure_cost(how["model"], request["settings"], how["threads"])
    if "failed" in cost:
        raise Error(cost["failed"])
    return cost


def picture(request, needs, out, how):
    """A photograph with its found face, the enlarged box, and the crop: three pictures."""
    from facebench import crops, detection, images

    place = _place(request, needs, "photo")
    if place.is_dir():
        place = sorted(p for p in place.rglob("*") if p.suffix in (".jpg", ".png"))[0]
    photo = images.read(place)
    faces = detection.detect(photo)
    if not faces:
        raise Error(f"{place}: no face was found")
    height, width = photo.shape[:2]
    window = crops.crop_window(width, height, faces[0], request["crop"])
    face_crop, why = crops.crop_face(photo, faces[0], request["crop"])
    if face_crop is None or window is None:
        raise Error(f"{place}: {why}")
    drawn = {"found": detection.draw_faces(photo, faces[:1]), "crop": face_crop}
    drawn["enlarged"] = detection.draw_faces(photo, [detection.Face(window)])
    for name, image in drawn.items():
        images.write(out / f"{name}.png", image)
    return {name: f"{name}.png" for name in drawn}


WORK = {f.__name__: f for f in
        (draw, pack, overlap, train, run, copy, classify, step, scale, cost, picture)}  # fmt: skip
# They time something, so nothing else runs beside them.
ALONE = {"classify", "step", "scale", "cost"}
# What is there when they begin again is where they go on.
RESUMED = {"train"}
