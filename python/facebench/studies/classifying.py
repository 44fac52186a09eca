"""One training on small images, in a process of its own: what it reached, and what it took.

``python -m facebench.studies.classifying REQUEST.json ANSWER.json``
"""

import json
import os
import resource
import sys
import time
from pathlib import Path

import numpy as np

from facebench import embedding, io, training
from facebench.core import Error
from facebench.reports import read_training, write_text
from facebench.studies.small_images import CLASSES, read_small_images
from facebench.studies.work import load_recipe


def confusion_matrix(labels, predicted, classes: int) -> np.ndarray:
    """How many images of each class (rows) were taken for each class (columns).

    >>> confusion_matrix([0, 0, 1], [0, 1, 1], 2).tolist()
    [[1, 1], [0, 1]]
    """
    table = np.zeros((classes, classes), np.int64)
    np.add.at(table, (np.asarray(labels), np.asarray(predicted)), 1)
    return table


def classify(folder, images, *, threads: int = 1) -> np.ndarray:
    """The class that a finished training gives each image, (N,), by its loss's own weights.

    ``folder``: of a training by a loss of one weight vector for each class; ``images`` as it was
    trained on. With a bias or under softmax the largest inner product, else the largest cosine.
    """
    folder = Path(folder)
    state, _ = io.read_safetensors(max((folder / "checkpoints").glob("*.safetensors")))
    loss = json.loads((folder / "run.json").read_text())["content"]["recipe"]["loss"]["name"]
    model = embedding.load_model(folder / "model.safetensors")
    options = embedding.ExtractOptions(flip="none", normalization="none")
    features = embedding.extract(model, images, options, threads=threads).values
    weight, bias = state["head.weight"], state.get("head.bias")
    if loss not in ("softmax", "center"):
        weight = weight / np.linalg.norm(weight, axis=1, keepdims=True)
    logits = features @ weight.T
    return (logits if bias is None else logits + bias).argmax(1)


def _iowait():
    """Seconds that the processors of the machine have waited for devices; None where not known."""
    try:
        fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()
        return int(fields[5]) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError, ValueError):
        return None


def train_point(request: dict) -> dict:
    """Trains and tests as ``request`` says; returns the row's figures."""
    drawn = request["drawn"] or {}
    data = read_small_images(request["images"], request["root"], **drawn)
    recipe = load_recipe(request)
    epochs, started = [], time.perf_counter()
    waited, before = _iowait(), resource.getrusage(resource.RUSAGE_SELF)
    try:
        summary = training.train(
            recipe,
            data.train,
            request["folder"],
            threads=request["threads"],
            device=request["device"],
            resume=True,
            on_epoch=lambda report, model: epochs.append(time.perf_counter()),
        )
    except Error:
        # A point of its own kind in the table: what Wu et al. print as NaN.
        diverged = read_training(request["folder"]).diverged
        if diverged is None:
            raise
        return {"diverged": diverged["diverged"], "source": data.source}
    trained, after = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
    predicted = classify(request["folder"], data.test[0], threads=request["threads"])
    tested = time.perf_counter()
    table = confusion_matrix(data.test[1], predicted, CLASSES)
    ends, seconds = [started, *epochs], (epochs[-1] if epochs else trained) - started
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {
        "accuracy": float(np.trace(table) / table.sum()),
        "confusion": table.tolist(),
        "loss": summary["loss"],
        "iterations": summary["iterations"],
        # Without what a training writes at its end: model, manifest, page.
        "training_seconds": seconds,
        "first_epoch_seconds": ends[1] - ends[0] if epochs else None,
        "later_epoch_seconds": float(np.median(np.diff(ends)[1:])) if len(epochs) > 1 else None,
        "testing_seconds": tested - trained,
        "seconds_an_iteration": seconds / summary["iterations"],
        "cpu_user": after.ru_utime - before.ru_utime,
        "cpu_share": used / (trained - started),  # of one processor
        "cpu_system": after.ru_stime - before.ru_stime,
        "iowait": None if waited is None else _iowait() - waited,
        "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "source": data.source,
    }


if __name__ == "__main__":
    asked, answer = map(Path, sys.argv[1:])
    write_text(answer, json.dumps(train_point(json.loads(asked.read_text()))))
