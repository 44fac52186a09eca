"""Some of a run's crops and embeddings made once more from the images, for `verify --again`."""

import os
import random
import tempfile
from pathlib import Path

import numpy as np

from facebench import datasets, pipeline, reports
from facebench.core import Error
from facebench.io import read_embeddings, sha256_file

_NAME = "crops and embeddings from the images"
# 1 less the cosine; another processor or library rounds otherwise, another face is far from it.
_SAME = 1e-4


def check_again(run, root, count, model=None, threads=0, progress=None):
    """Detects, crops and embeds ``count`` images of a run, drawn anew each time, as the run says it
    did, and compares with its pack.h5 and embeddings.h5: a check, {"name", "same", "detail"}.

    ``model``: as for `facebench.run`; None: the file that the run names, if it is the same one.
    What is not there (pack, model, images in an archive) leaves the check undone, with the reason.
    """
    try:
        same, detail = _compared(Path(run), root, count, model, threads, progress)
    except Undone as why:
        same, detail = None, str(why)
    except (Error, ValueError, KeyError, TypeError) as why:
        same, detail = False, f"cannot be made again: {why}"
    return {"name": _NAME, "same": same, "detail": detail}


class Undone(Exception):
    """What is not there to make something of a run again."""


def _compared(run, root, count, model, threads, progress):
    record = reports.read_run(run, check=False)
    content, circumstance = record["content"], record["circumstance"]
    if not os.path.isfile(run / "pack.h5") or not os.path.isfile(run / "embeddings.h5"):
        raise Undone("pack.h5 and embeddings.h5 are not in the run folder")
    model = model_of(content, circumstance) if model is None else model
    extract = dict(content["embeddings"]["manifest"]["extract"])
    if extract.get("device", "cpu") != "cpu":
        extract["device"] = "auto"
    then, kept = datasets.Pack(run / "pack.h5"), read_embeddings(run / "embeddings.h5")
    folder = _images(circumstance, root)
    if not os.path.isdir(folder):
        raise Undone(f"the images lie in an archive, {folder}")
    row = {name: k for k, name in enumerate(kept.names)}
    there = [
        k for k, name in enumerate(then.names) if os.path.isfile(folder / name) and name in row
    ]
    if not there:
        raise Undone(f"the images are not in {folder}")
    drawn = sorted(random.SystemRandom().sample(there, min(count, len(there))))
    with tempfile.TemporaryDirectory() as work:
        for place, k in enumerate(drawn):
            file = folder / then.names[k]
            link = Path(work) / "images" / f"{place:09}" / f"image{file.suffix}"
            link.parent.mkdir(parents=True)
            link.symlink_to(file.absolute())
        now = Path(work) / "pack.h5"
        prepared = _as_prepared(content["preparation"])
        pipeline.pack("folder", Path(work) / "images", now, threads=threads, **prepared)
        how = {"threads": threads, "progress": progress, **extract}
        embeddings = pipeline.embed(model, now, **_pixels(model, content), **how)
        crops = datasets.Pack(now).images[:]
    if embeddings.dim != kept.dim:
        return (
            False,
            f"embeddings.h5 has {kept.dim} numbers a face, the model gives {embeddings.dim}",
        )
    wrong = []
    for place, k in enumerate(drawn):
        name = then.names[k]
        a, b = embeddings.values[place], kept.values[row[name]]
        if embeddings.status[place] != kept.status[row[name]]:
            wrong.append(f"{name} (status)")
        elif not np.array_equal(crops[place], then.images[k]):
            wrong.append(f"{name} (crop)")
        elif embeddings.status[place] == 0 and 1 - _cosine(a, b) > _SAME:
            wrong.append(f"{name} (embedding, cosine {_cosine(a, b):.4f})")
    if wrong:
        others = f" and {len(wrong) - 10} more" if len(wrong) > 10 else ""
        return False, f"{len(wrong)} of {len(drawn)} differ: {', '.join(wrong[:10])}{others}"
    return True, f"{len(drawn)} of {len(there)} images, drawn now: the same faces and embeddings"


def _cosine(a, b):
    return float(a @ b / max(np.linalg.norm(a) * np.linalg.norm(b), 1e-30))


def _images(circumstance, root) -> Path:
    """Where the images are now: below the root as they lay below it then."""
    images, then = Path(circumstance["images"]), circumstance["root"]
    if root and then and images.is_relative_to(then):
        return Path(root) / images.relative_to(then)
    return images


def model_of(content, circumstance):
    """The file of a run's model, if it is the same one. `Undone` where it is not, or has none."""
    for entry, place in zip(content["inputs"], circumstance["inputs"], strict=True):
        if entry["role"] == "model":
            path = Path(place["path"])
            if not os.path.isfile(path) or sha256_file(path) != entry["sha256"]:
                raise Undone(f"the model is not there, or another one: {path}. Name it: --model")
            return path
    raise Undone("the run names no file of its model. Name the model: --model")


def _pixels(model, content):
    """What was stated or assumed of an ONNX file's pixels, and its output."""
    if not str(model).endswith(".onnx"):
        return {}
    stated = content["embeddings"]["manifest"]["model"]
    stated = stated.get("options", stated)
    output = {"output": stated["output"]} if "output" in stated else {}
    return output | {name: stated[name] for name in ("mean", "std", "color")}


def _as_prepared(preparation):
    """What a run says of its preparation, as keywords of `facebench.pack`."""
    detector = preparation["detector"] or {"detector": "none"}
    options = {k: v for k, v in (detector.get("options") or {}).items() if v is not None}
    crop = preparation["crop"]
    return {
        "detector": detector["detector"],
        "detector_options": options,
        "selection": preparation["selection"],
        "crop": crop["name"],
        "crop_size": (crop["width"], crop["height"]),
        "max_pixels": preparation["decode"]["max_pixels"],
        "exif_orientation": preparation["decode"]["exif_orientation"],
    }
