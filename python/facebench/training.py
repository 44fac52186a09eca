"""Training: a recipe, images with a person for each, one call.

>>> import tempfile
>>> import numpy as np
>>> from facebench import training
>>> images = np.zeros((16, 16, 16, 3), np.uint8)
>>> images[::2] = 200
>>> recipe = training.recipe("small4.softmax", epochs=1, batch=8, embedding=8)
>>> with tempfile.TemporaryDirectory() as out:
...     result = training.train(recipe, (images, [0, 1] * 8), out)
>>> result["iterations"]
2
"""

from os import PathLike, fspath

import numpy as np

from facebench._torch import full as _full

AugmentationOptions = _full.AugmentationOptions
InputOptions = _full.InputOptions
OptimizerOptions = _full.OptimizerOptions
Recipe = _full.Recipe
ScheduleOptions = _full.ScheduleOptions
TrainOptions = _full.TrainOptions
TrainingOptions = _full.TrainingOptions
learning_rate = _full.learning_rate
parse_recipe = _full.parse_recipe
recipe_names = _full.recipe_names
schedule_policies = _full.schedule_policies
training_views = _full.training_views

__all__ = [
    "AugmentationOptions",
    "InputOptions",
    "OptimizerOptions",
    "Recipe",
    "ScheduleOptions",
    "TrainOptions",
    "TrainingOptions",
    "learning_rate",
    "parse_recipe",
    "recipe",
    "recipe_names",
    "schedule_policies",
    "train",
    "training_inputs",
    "training_views",
]


def _text(value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_text(v) for v in value) + "]"
    return str(value)


def recipe(name_or_path, **overrides) -> Recipe:
    """A recipe by name (see `recipe_names`) or from a ``.toml`` file, some values changed.

    ``overrides`` are keys of the recipe; a key that several tables have is written with its table
    and two underscores (``loss__m=0.2``). The network and loss are chosen with ``network="..."``
    and ``loss="..."``. ValueError for an unknown key or a bad value.

    >>> from facebench import training
    >>> training.recipe("small4.cosface", lr=0.05, loss__m=0.2).to_dict()["optimizer"]["lr"]
    0.05
    """
    result = _full.load_recipe(fspath(name_or_path))
    # The loss first: its options are known only then.
    for key in sorted(overrides, key=lambda k: k not in ("network", "loss")):
        result.set(key.replace("__", "."), _text(overrides[key]))
    return result


def training_inputs(recipe, images, *, epoch: int = 0) -> tuple[np.ndarray, list[dict]]:
    """What the network sees of `images` in an epoch of a training: to look at, and for own loops.

    ``recipe`` as in `train`; ``images`` uint8 (N, H, W, 3) RGB, of which the i-th is taken for the
    i-th of the data. Returns float32 (N, C, h, w) in the network's order of channels, and for each
    image what was drawn: resized (width, height) or None, window (x0, y0, x1, y1) of that, mirror,
    shift (dx, dy), color [(step, amount), ...].

    >>> import numpy as np
    >>> from facebench import training
    >>> photos = np.zeros((2, 256, 256, 3), np.uint8)
    >>> inputs, drawn = training.training_inputs("resnet50.caffe", photos)
    >>> inputs.shape, len(drawn[0]["window"])
    ((2, 3, 224, 224), 4)
    """
    if isinstance(recipe, (str, PathLike)):
        recipe = _full.load_recipe(fspath(recipe))
    images = np.ascontiguousarray(images)
    if images.dtype != np.uint8:
        raise ValueError(f"images: expected uint8, got {images.dtype}")
    return _full.training_inputs(recipe, images, epoch)


def train(recipe, data, out, *, on_epoch=None, progress=None, preparation=None, **options) -> dict:
    """Train; fills the folder `out` and returns what came of it.

    ``recipe`` is a `Recipe`, the name of one, or a ``.toml`` file. ``data`` is a pack (its path, or
    an opened one), or a pair (images, labels): uint8 (N, H, W, 3) RGB and N integers, below zero =
    not trained on. ``preparation`` says for a pair how the crops were made (detector, selection,
    crop) and goes into the model file.

    ``options`` are the fields of `TrainOptions`: resume, threads, data_threads, checkpoint_every,
    keep, log_every. ``on_epoch(report, model)`` is called after each epoch; a number it returns is
    a validation score (higher is better), and the best model is kept as ``best.safetensors``. The
    model it is given is valid during the call only. What it raises stops the training; so does
    Ctrl-C. Both write a checkpoint first, and ``resume=True`` goes on from there to the same bits.

    Returns a dict: model (path), iterations, epochs, classes, images, loss, accuracy, best_score,
    images_per_second.
    """
    if isinstance(recipe, (str, PathLike)):
        recipe = _full.load_recipe(fspath(recipe))
    options = TrainOptions(**options)
    if isinstance(data, tuple):
        images, labels = data
        images = np.ascontiguousarray(images)
        if images.dtype != np.uint8:
            raise ValueError(f"images: expected uint8, got {images.dtype}")
        labels = [int(label) for label in labels]
        return _full.train_arrays(
            recipe, images, labels, preparation or {}, out, options, progress, on_epoch
        )
    path = data if isinstance(data, (str, PathLike)) else data.path
    return _full.train_pack(recipe, path, out, options, progress, on_epoch)
