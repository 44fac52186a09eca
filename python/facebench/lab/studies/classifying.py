"""One training on small images, in a process of its own: what it reached, and what it took.

``python -m facebench.studies.classifying REQUEST.json ANSWER.json``
"""

import json
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from facebench import embedding, io, training
from facebench.core import Error
from facebench.core._files import read_json, write_text
from facebench.io import read_manifest
from facebench.lab.studies.fitting import Diverged, fit
from facebench.lab.studies.small_images import CLASSES, hold_out, read_small_images
from facebench.lab.studies.work import load_recipe
from facebench.lab.timing import ProcessMeter
from facebench.reports.trainings import read_training

# After so many parts of a training its accuracy is measured, too.
POINTS = 10


def confusion_matrix(labels, predicted, classes: int) -> np.ndarray:
    """How many images of each class (rows) were taken for each class (columns).

    >>> confusion_matrix([0, 0, 1], [0, 1, 1], 2).tolist()
    [[1, 1], [0, 1]]
    """
    table = np.zeros((classes, classes), np.int64)
    np.add.at(table, (np.asarray(labels), np.asarray(predicted)), 1)
    return table


def classify(folder, images, *, checkpoint=None, threads: int = 1) -> np.ndarray:
    """The class that a finished training gives each image, (N,), by its loss's own weights.

    ``folder``: of a training by a loss of one weight vector for each class; ``images`` as it was
    trained on; ``checkpoint``: one of the folder's, else the last. With a bias or under softmax the
    largest inner product, else the largest cosine.
    """
    folder = Path(folder)
    state, _ = io.read_safetensors(checkpoint or checkpoints(folder)[-1])
    loss = read_manifest(folder / "run.json")["content"]["recipe"]["loss"]["name"]
    return _classes(_model_at(folder / "model.safetensors", state), state, loss, images, threads)


def _classes(model, head, loss, images, threads):
    options = embedding.ExtractOptions(flip="none", normalization="none")
    features = embedding.extract(model, images, options, threads=threads).values
    weight, bias = head["head.weight"], head.get("head.bias")
    if loss not in ("softmax", "center"):
        weight = weight / np.linalg.norm(weight, axis=1, keepdims=True)
    logits = features @ weight.T
    return (logits if bias is None else logits + bias).argmax(1)


def checkpoints(folder) -> list[Path]:
    """The checkpoints of a training, the oldest first."""
    return sorted((Path(folder) / "checkpoints").glob("*.safetensors"))


def _model_at(path, state):
    """The model of a file with the weights of a checkpoint."""
    tensors, metadata = io.read_safetensors(path)
    weights = {name: state.get(f"network.{name}", value) for name, value in tensors.items()}
    with tempfile.TemporaryDirectory() as folder:
        io.write_safetensors(f"{folder}/model.safetensors", weights, metadata)
        return embedding.load_model(f"{folder}/model.safetensors")


def _asked(request):
    """The recipe of a request, its images, and those that are held out."""
    drawn = request["drawn"] or {}
    data = read_small_images(request["images"], request["root"], **drawn)
    return load_recipe(request), *hold_out(data, **request["held_out"])


def train_point(request: dict) -> dict:
    """Trains and tests as ``request`` says; returns the row's figures."""
    recipe, data, held_out = _asked(request)
    batch, count = recipe.to_dict()["training"]["batch"], len(data.train[0])
    epochs, started, meter = [], time.perf_counter(), ProcessMeter()
    before = resource.getrusage(resource.RUSAGE_SELF)
    try:
        summary = training.train(
            recipe,
            data.train,
            request["folder"],
            threads=request["threads"],
            device=request["device"],
            checkpoint_every=max(1, iterations_of(recipe, count) // POINTS),
            keep=2 * POINTS,
            on_epoch=lambda report, model: epochs.append(time.perf_counter()),
        )
    except Error:
        # A point of its own kind in the table: what Wu et al. print as NaN.
        diverged = read_training(request["folder"]).diverged
        if diverged is None:
            raise
        return {"diverged": diverged["diverged"], "source": data.source}
    trained, after = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
    used = meter.stop()

    def classified(part, checkpoint=None):
        labels = classify(
            request["folder"], part[0], checkpoint=checkpoint, threads=request["threads"]
        )
        return confusion_matrix(part[1], labels, CLASSES)

    table = classified(data.test)
    tested = time.perf_counter()
    by_epoch = []
    *earlier, _ = checkpoints(request["folder"])
    for path in earlier:
        share = _accuracy(classified(data.test, path))
        by_epoch.append([int(path.stem.rpartition("-")[2]) * batch / count, share])
        path.unlink()
    by_epoch.append([summary["iterations"] * batch / count, _accuracy(table)])
    ends = [started, *epochs]
    # Without what a training writes at its end: model, manifest, page.
    seconds = (epochs[-1] if epochs else trained) - started
    share = 1 / (trained - started) / len(os.sched_getaffinity(0))
    return {
        **_figures(summary, seconds, np.diff(ends).tolist(), table, tested - trained),
        "source": data.source,
        "accuracy_by_epoch": by_epoch,
        "validation_accuracy": _accuracy(classified(held_out)) if len(held_out[0]) else None,
        # Of the time of all processors that the process may use.
        "user": (after.ru_utime - before.ru_utime) * share,
        "system": (after.ru_stime - before.ru_stime) * share,
        "total": used["processors"]["own"],
        "iowait": used["processors"]["iowait"],
        "others": used["processors"]["others"],
        "busy": used["busy"],
        "memory_mean": used["memory"]["average"],
        "memory_max": used["memory"]["peak"],
    }


def fit_point(request: dict) -> dict:
    """The same by another framework. Its seconds are those of its steps; what its process takes of
    the machine is not measured."""
    recipe, data, held_out = _asked(request)
    loss = recipe.to_dict()["loss"]["name"]
    how = {key: request[key] for key in ("engine", "own", "threads", "device")}
    try:
        done = fit(recipe, data.train, request["folder"], **how)
    except Diverged as error:
        return {"diverged": str(error), "source": data.source}
    model = embedding.load_model(done["model"])

    def classified(part):
        labels = _classes(model, done["head"], loss, part[0], request["threads"])
        return confusion_matrix(part[1], labels, CLASSES)

    started = time.perf_counter()
    table = classified(data.test)
    testing = time.perf_counter() - started
    ends = np.cumsum([0, *done["seconds"]])
    epochs = np.diff(ends[:: round(done["iterations"] / done["epochs"])]).tolist()
    return {
        **_figures(done, float(ends[-1]), epochs, table, testing),
        "source": data.source,
        "accuracy_by_epoch": [[done["epochs"], _accuracy(table)]],
        "validation_accuracy": _accuracy(classified(held_out)) if len(held_out[0]) else None,
        "versions": done["versions"],
    }


def _figures(summary, seconds, epochs, table, testing):
    """What is known whoever trained. ``epochs``: the seconds of each of them."""
    return {
        "accuracy": _accuracy(table),
        "confusion": table.tolist(),
        "loss": summary["loss"],
        "iterations": summary["iterations"],
        "training_seconds": seconds,
        "seconds_an_iteration": seconds / summary["iterations"],
        "first_epoch_seconds": epochs[0] if epochs else None,
        "later_epoch_seconds": float(np.median(epochs[1:])) if len(epochs) > 1 else None,
        "testing_seconds": testing,
    }


def iterations_of(recipe, images: int) -> int:
    """The steps of a recipe on so many images, the last batch of an epoch counted.

    >>> iterations_of(training.load_recipe("lenet5.caffe"), 60_000)
    10000
    """
    settings = recipe.to_dict()["training"]
    return settings["iterations"] or settings["epochs"] * -(-images // settings["batch"])


def _accuracy(table):
    return float(np.trace(table) / table.sum())


if __name__ == "__main__":
    asked, answer = map(Path, sys.argv[1:])
    request = read_json(asked)
    point = fit_point if "engine" in request else train_point
    write_text(answer, json.dumps(point(request)))
