"""A recipe trained by another framework: the steps are its, images and model file are ours."""

import os
import tempfile
from importlib.metadata import version
from pathlib import Path

import numpy as np

from facebench.core import Error, _log
from facebench.core._arguments import whole_numbers
from facebench.io import read_safetensors, write_safetensors
from facebench.lab.engines import ENGINES, absent
from facebench.lab.engines.heads import LOSSES

# What of a training may be the framework's own.
OWN = ("initializer", "optimizer", "schedule")
_STEPS = 16  # of batches that travel together
# What a recipe must say, for no engine does anything else.
_PLAIN = {
    "training.accumulate": 1,
    "training.ema": 0,
    "training.dtype": "float32",
    "training.split_classes": False,
    "training.sample_rate": 1,
    "training.patience": 0,
    "training.batch_norm_average": "moving",
    "optimizer.nesterov": False,
    "optimizer.clip_norm": 0,
    "schedule.warmup": 0,
    "loss.bias": True,
    "loss.past_pi": "linear",
}
# What a loss may say, of more than the engines do.
_KNOWN = {"loss.update": ("paper", "caffe"), "loss.gradient": ("exact", "caffe")}


class Diverged(Error):
    """A loss of another framework's training is not finite."""


def fit(
    recipe, data, out, *, engine, own=(), exclude="", threads=0, device="cpu", python=None
) -> dict:
    """Trains a recipe in another framework; fills the folder ``out`` with its model file.

    ``data``: a pack's path, or (images, labels) as for `training.train`. The images, their order
    and variations, and the first weights are those of `training.train` with the same recipe and
    seed, the layers are the framework's. ``own`` names what else is its own: "initializer",
    "optimizer", "schedule". ``engine``: "pytorch", "keras-tensorflow", "keras-tensorflow-tape" or
    "keras-jax"; ``python``: the interpreter of an engine in an environment of its own, without it
    what FACEBENCH_ENGINE_PYTHON says. Returns what `training.train` does of model, iterations,
    epochs, classes, images, notes and loss (of the last epoch), with losses and seconds (of every
    step), head (the loss's arrays by name) and versions.

    ValueError for what the engines do not do (losses but softmax, center, sphereface, cosface,
    arcface; optimizers but SGD and Adam); facebench.Error where the engine is not installed, fails
    or diverges.

    >>> import tempfile, facebench
    >>> from facebench import datasets, studies, training
    >>> faces = datasets.SyntheticOptions(protocol="lfw", people=20, images=2, pairs_per_fold=2)
    >>> folder = tempfile.mkdtemp()
    >>> _ = datasets.write_synthetic_dataset(faces, folder + "/faces")
    >>> _ = facebench.pack("lfw", folder + "/faces", folder + "/p.h5", crop_size=16)
    >>> recipe = training.load_recipe("small4.softmax", epochs=1, batch=20, embedding=8)
    >>> studies.fit(recipe, folder + "/p.h5", folder, engine="pytorch")["iterations"]
    2
    """
    from facebench import training
    from facebench._library import full
    from facebench.lab.timing.workers import Worker, WorkerFailed

    recipe = training.load_recipe(recipe) if isinstance(recipe, (str, os.PathLike)) else recipe
    own, out = _checked(recipe, engine, own), Path(out)
    if not python and (lacking := absent(engine)):
        raise Error(
            f"engine {engine}: not installed: {', '.join(lacking)}. Install it, or name an "
            "interpreter that has it: FACEBENCH_ENGINE_PYTHON=.venv-engines/bin/python (make "
            "engines)"
        )
    if isinstance(data, tuple):
        images, labels = data
        loop = full.TrainingLoop(recipe, images, whole_numbers(labels, "labels"))
    else:
        loop = full.TrainingLoop(recipe, data, exclude or "", "")
    for note in loop.notes:
        _log.warn(note, stacklevel=2)
    with tempfile.TemporaryDirectory() as folder, Worker(engine, threads, python) as worker:
        start, end = f"{folder}/start.safetensors", f"{folder}/end.safetensors"
        spec, tensors = _spec(recipe, loop, own, threads, device, folder), loop.tensors()
        write_safetensors(start, {n: t.numpy() for n, t in tensors.items()})
        try:
            versions = worker.ask("load", threads=threads)
            worker.ask("begin_fit", spec=spec, weights=start)
            losses, seconds = _fitted(worker, loop, folder)
            worker.ask("end_fit", out=end)
        except WorkerFailed as failed:
            raise Error(f"engine {engine}: {failed}") from None
        for name, value in read_safetensors(end)[0].items():
            tensors[name].numpy()[...] = value
    out.mkdir(parents=True, exist_ok=True)
    by = {"engine": engine, "own": own, "device": device.partition(":")[0], "versions": versions}
    loop.save(out / "model.safetensors", by)
    signs = loop.signs(losses)
    for sign in signs:
        _log.warn(sign, stacklevel=2)
    last = losses[-round(loop.iterations_per_epoch) :]
    return {
        "model": out / "model.safetensors",
        "iterations": loop.iterations,
        "epochs": spec["epochs"],
        "classes": loop.classes,
        "images": loop.images,
        "loss": float(np.mean(last)),
        "losses": losses,
        "seconds": seconds,
        "notes": [*loop.notes, *signs],
        "head": {n: t.numpy().copy() for n, t in tensors.items() if n.startswith("head.")},
        "versions": {"facebench": version("facebench"), **versions},
    }


def _fitted(worker, loop, folder):
    """All steps: their losses and seconds."""
    losses, seconds = [], []
    paths = [f"{folder}/{part}.npz" for part in ("images", "labels")]
    for first in range(0, loop.iterations, _STEPS):
        steps = range(first, min(first + _STEPS, loop.iterations))
        batches = [loop.next() for _ in steps]
        for path, parts in zip(paths, zip(*batches, strict=True), strict=True):
            np.savez(path, *(part.numpy() for part in parts))
        rates = [loop.learning_rate(k) for k in steps]
        made = worker.ask("fit_steps", images=paths[0], labels=paths[1], rates=rates)
        losses += made["losses"]
        seconds += made["seconds"]
        if not np.isfinite(losses[-1]):
            raise Diverged(f"engine {worker.engine}: the training diverged by step {len(losses)}")
    return losses, seconds


def _checked(recipe, engine, own):
    from facebench._library import full

    fitting = [name for name, entry in ENGINES.items() if entry.fits]
    if engine not in fitting:
        raise ValueError(
            f"engine '{engine}' trains no recipe (those that do: {', '.join(fitting)})"
        )
    for name in own:
        if name not in OWN:
            raise ValueError(f"own: no '{name}' (known: {', '.join(OWN)})")
    settings = recipe.to_dict()
    if settings["loss"]["name"] not in LOSSES:
        raise ValueError(
            f"engines have the losses {', '.join(LOSSES)}, not {settings['loss']['name']}"
        )
    if settings["optimizer"]["name"] not in ("sgd", "adam"):
        raise ValueError(
            f"optimizer.name: engines train with sgd and adam, not {settings['optimizer']['name']}"
        )
    for key, plain in _PLAIN.items():
        table, option = key.split(".")
        if settings[table].get(option, plain) != plain:
            raise ValueError(
                f"{key}: engines train with {plain} alone, not {settings[table][option]}"
            )
    for key, known in _KNOWN.items():
        table, option = key.split(".")
        if settings[table].get(option, known[0]) not in known:
            raise ValueError(
                f"{key}: engines train with {' and '.join(known)}, not {settings[table][option]}"
            )
    network = settings["network"]["name"]
    taps = full.build_graph(network, full.NetworkOptions(classes=2)).taps
    heads = [tap for tap in taps if tap.startswith("aux")]
    if heads and settings["training"]["aux_weight"] != 0:
        raise ValueError(
            f"engines do not train the auxiliary classifiers of {network} ({', '.join(heads)}): "
            "train with training.aux_weight=0, or without engine"
        )
    return [name for name in OWN if name in own]


def _spec(recipe, loop, own, threads, device, folder):
    """What the engine is told, as JSON."""
    from facebench import embedding
    from facebench.lab.timing.step import graph_dict

    settings = recipe.to_dict()
    loop.save(f"{folder}/model.safetensors")  # says the network's size for these images
    options = embedding.load_model(f"{folder}/model.safetensors").network_options.to_dict()
    optimizer = settings["optimizer"]
    rules = loop.rules()
    graph = graph_dict(settings["network"]["name"], options)
    if (decay := settings["training"]["batch_norm_decay"]) is not None:
        for node in graph["nodes"]:
            if node["op"] == "batch_norm":
                node["options"] = {**node["options"], "momentum": 1 - decay}
    return {
        "graph": graph,
        "loss": settings["loss"],
        "own": own,
        "seed": settings["training"]["seed"],
        "threads": threads,
        "device": device,
        "optimizer": optimizer["name"],
        **{key: optimizer[key] for key in ("lr", "momentum", "momentum_rule", "weight_decay")},
        **{key: optimizer[key] for key in ("beta1", "beta2", "eps")},
        "rates": {name: factor for name, (factor, _) in rules.items()},
        "decay": {name: decay for name, (_, decay) in rules.items()},
        "schedule": settings["schedule"],
        "iterations": loop.iterations,
        "steps_an_epoch": loop.iterations_per_epoch,
        "epochs": -(-loop.iterations // max(1, round(loop.iterations_per_epoch))),
    }
