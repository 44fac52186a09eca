"""Training: a recipe, images with a person for each, one call.

>>> import tempfile
>>> import numpy as np
>>> from facebench import training
>>> images = np.zeros((16, 16, 16, 3), np.uint8)
>>> images[::2] = 200
>>> recipe = training.load_recipe("small4.softmax", epochs=1, batch=8, embedding=8)
>>> with tempfile.TemporaryDirectory() as out:
...     result = training.train(recipe, (images, [0, 1] * 8), out)
>>> result["iterations"]
2
"""

import os
from contextlib import contextmanager
from typing import Unpack

import numpy as np

from facebench._torch import full, torch
from facebench.core import _log
from facebench.core._arguments import mapping, type_text, unmasked, whole_numbers
from facebench.core._options import known, takes
from facebench.io._toml import value_text
from facebench.protocols._load import protocol_place
from facebench.training import _first_weights
from facebench.training._mllog import MLLog
from facebench.training._own_loss import OwnLoss
from facebench.training._own_network import OwnNetwork
from facebench.training._timm_network import (
    TimmNetwork,
    is_timm,
    size_and_pixels,
    write_onnx,
)
from facebench.training._training_pages import TrainingPages

AugmentationOptions = full.AugmentationOptions
InputOptions = full.InputOptions
OptimizerOptions = full.OptimizerOptions
Recipe = full.Recipe
ScheduleOptions = full.ScheduleOptions
TrainOptions = full.TrainOptions
TrainingOptions = full.TrainingOptions
Validation = full.Validation
ValidationOptions = full.ValidationOptions
learning_rate = full.learning_rate
parse_recipe = full.parse_recipe
recipe_names = full.recipe_names
list_samplers = full.samplers
schedule_policies = full.schedule_policies
training_views = full.training_views

__all__ = [
    "AugmentationOptions",
    "InputOptions",
    "MLLog",
    "Optimizer",
    "OptimizerOptions",
    "Recipe",
    "ScheduleOptions",
    "TrainOptions",
    "TrainingOptions",
    "Validation",
    "ValidationOptions",
    "head_memory",
    "learning_rate",
    "list_samplers",
    "load_recipe",
    "parse_recipe",
    "recipe_names",
    "reuse_memory",
    "schedule_policies",
    "torchrun_process_group",
    "train",
    "training_inputs",
    "training_views",
    "validation",
]


def load_recipe(name_or_path, *, scaled_batch: int | None = None, **overrides) -> Recipe:
    """A recipe by name (see `recipe_names`) or from a ``.toml`` file, some values changed.

    ``overrides`` are keys of the recipe; a key that several tables have is written with its table
    and two underscores (``loss__m=0.2``). Network, loss and optimizer are chosen with
    ``network="..."``, ``loss="..."`` and ``optimizer="..."``. None unsets an option. ValueError for
    an unknown key or a bad value.

    ``scaled_batch``: another batch, and the recipe's rate with it by the linear rule, with a
    warm-up where it grows (`Recipe.scale_batch`). ``overrides`` come after it.

    >>> from facebench import training
    >>> training.load_recipe("small4.cosface", lr=0.05, loss__m=0.2).to_dict()["optimizer"]["lr"]
    0.05
    """
    result = full.load_recipe(os.fspath(name_or_path))
    if scaled_batch is not None:
        if {"batch", "training.batch", "training__batch"} & set(overrides):
            raise ValueError("the batch is said twice: scaled by the rule, and as it is")
        result.scale_batch(scaled_batch)
    # The loss first: its options are known only then.
    for key in sorted(overrides, key=lambda k: k not in ("network", "loss")):
        result.set(key.replace("__", "."), value_text(overrides[key]))
    return result


def training_inputs(recipe, images, *, epoch: int = 0) -> tuple[np.ndarray, list[dict]]:
    """The network's inputs made from `images` in an epoch of a training: to look at, or for your
    own loop.

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
    if isinstance(recipe, (str, os.PathLike)):
        recipe = full.load_recipe(os.fspath(recipe))
    if is_timm(recipe):
        recipe = recipe.copy()
        _first_weights.take_pixels(recipe, size_and_pixels(recipe), recipe.network)
    return full.training_inputs(recipe, _image_array(images), epoch)


def _image_array(images) -> np.ndarray:
    images = np.ascontiguousarray(unmasked(images, "images"))
    if images.dtype != np.uint8:
        raise ValueError(f"images: expected uint8, got {images.dtype}")
    return images


@takes(ValidationOptions)
def validation(
    protocol, images, *, root="", lists="", **options: "Unpack[full.ValidationOptionsKeywords]"
) -> Validation:
    """A protocol, the crops of its images, and the metric that scores a model in training.

    ``protocol`` is a name or a ``.toml`` file; its lists are looked for below ``root`` or in
    ``lists``. ``images`` is a pack (its path, or an opened one) or a pair (array, names): uint8
    (N, H, W, 3) of the size that the model takes, and for each the name that the lists have.
    ``options`` are fields of `ValidationOptions`: metric (as in ``metrics.json``, e.g.
    ``"tar@far=0.001"``; the track's first where it is left out), track, every (epochs), steps
    (between further validations, for the log alone).

    Calling it scores a model. The score is higher for the better model: the metric's value, or
    minus an error rate.

    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from facebench import embedding, training
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "pairs.csv").write_text("first,second,label\\na,b,1\\na,c,0\\n")
    >>> faces = np.stack([np.full((16, 16, 3), v, np.uint8) for v in (10, 12, 200)])
    >>> judge = training.validation("pairs", (faces, ["a", "b", "c"]), lists=folder, metric="auc")
    >>> judge(embedding.make_model("small4", height=16, width=16))["metric"]
    'auc'
    """
    judging = ValidationOptions(**options)
    if isinstance(images, tuple):
        array, names = images
        return full.array_validation(
            protocol_place(protocol), root, lists, _image_array(array), list(names), judging
        )
    path = images.path if isinstance(images, full.Pack) else images
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(
            "images must be a pack, its path, or a pair (array, names), not " + type_text(images)
        )
    return full.open_validation(protocol_place(protocol), root, lists, path, judging)


def torchrun_process_group(device="cpu"):
    """The process group of a process that ``torchrun`` started, and its device; else None, device.

    Gloo on the CPU, NCCL on CUDA, where ``"cuda"`` becomes the device of the local rank. The group
    is torch's default one and stays.
    """
    if "TORCHELASTIC_RUN_ID" not in os.environ:
        return None, device
    from torch import distributed

    on_cuda = str(device).startswith("cuda")
    if str(device) == "cuda":
        device = f"cuda:{os.environ['LOCAL_RANK']}"
    if not distributed.is_initialized():
        distributed.init_process_group("nccl" if on_cuda else "gloo")
    return distributed.group.WORLD, device


@contextmanager
def reuse_memory():
    """What `train` does, for a loop of your own: in the block, memory of 1 MiB and more that
    torch's tensors on the CPU give back is kept and handed out again. Steps ask for the same sizes
    each time, and what the system gives anew it sets to zero, page by page.

    Of all threads of the process; the results are the same bits. At most twice what tensors had at
    once is held. Blocks may be nested.

    >>> import torch
    >>> from facebench import training
    >>> with training.reuse_memory():
    ...     for _ in range(3):
    ...         sums = torch.ones(512, 1024).sum()
    >>> sums.item()
    524288.0
    """
    reuse = full.MemoryReuse()
    try:
        yield
    finally:
        del reuse


class Optimizer:
    """The optimizer of `train`, for a loop of your own: of a parameter with a sparse gradient it
    changes the rows alone that the gradient has, their momentum with them.

    ``named_parameters`` as a module gives them; ``options`` are fields of `OptimizerOptions`:
    ``name`` is sgd, adam or adamw. ValueError where an option is another optimizer's.

    >>> from facebench import losses, training
    >>> import torch
    >>> half = {"split_classes": True, "sample_rate": 0.5, "s": 4.0}
    >>> head = losses.make_head("cosface", features=4, classes=8, **half)
    >>> optimizer = training.Optimizer(head.named_parameters(), lr=0.1, weight_decay=0)
    >>> before = head.weight.detach().clone()
    >>> head(torch.randn(2, 4), torch.tensor([3, 5]))[0].backward()
    >>> optimizer.step()
    >>> changed = (head.weight != before).any(1).nonzero().flatten()
    >>> torch.equal(changed, head.sampled_classes)
    True
    """

    @takes(OptimizerOptions)
    def __init__(self, named_parameters, **options: "Unpack[full.OptimizerOptionsKeywords]"):
        self.options = OptimizerOptions(**options)
        self._core = full.Optimizer(dict(named_parameters), self.options)

    def __repr__(self) -> str:
        return f"Optimizer({self.options.name}, lr {self.options.lr:g})"

    def zero_grad(self) -> None:
        self._core.zero_grad()

    def backward(self, loss, head, lr: float | None = None) -> None:
        """``loss.backward()`` in which the class weight of ``head`` is changed tile by tile as soon
        as its gradient is known, which is stored nowhere: less memory and time, the same bits. A
        `step` at the same rate then changes everything else.

        A plain ``loss.backward()`` for losses that do not go by tiles, with sampled classes, with
        ``clip_norm``, and where the weight has a gradient already. Not for gradients that are still
        to be summed over processes (other than with ``split_classes``).

        >>> from facebench import losses, training
        >>> import torch
        >>> head = losses.make_head("cosface", features=4, classes=8)
        >>> optimizer = training.Optimizer(head.named_parameters(), lr=0.1)
        >>> optimizer.zero_grad()
        >>> loss, _ = head(torch.randn(2, 4, requires_grad=True), torch.tensor([3, 5]))
        >>> optimizer.backward(loss, head)
        >>> optimizer.step()
        >>> head.weight.grad is None
        True
        """
        self._core.backward(loss, _core_of(head), self.options.lr if lr is None else lr)

    def step(self, lr: float | None = None) -> None:
        """One step, at the options' rate where none is given."""
        self._core.step(self.options.lr if lr is None else lr)


def _core_of(head):
    core = getattr(head, "_core", None)
    if not isinstance(core, full.Head):
        raise TypeError(f"head must be one of facebench.losses.make_head, not {type_text(head)}")
    return core


def head_memory(head, images: int, optimizer: str = "sgd", *, early: bool = False) -> dict:
    """The bytes that a loss takes in this process in a step with batches of ``images``, of all
    processes: first_class, classes, parameters (and buffers, such as centres), momentum (of Adam
    both moments), gradients, logits, features, total. ``early``: `Optimizer.backward` changes the
    class weight.

    >>> from facebench import losses, training
    >>> head = losses.make_head("arcface", features=512, classes=10_000)
    >>> training.head_memory(head, images=64)["parameters"]
    20480000
    """
    return full.head_memory(_core_of(head), images, OptimizerOptions(name=optimizer), early)


@takes(TrainOptions)
def train(
    recipe,
    data,
    out,
    *,
    network=None,
    loss=None,
    init=None,
    init_key=None,
    validation=None,
    on_start=None,
    on_epoch=None,
    on_step=None,
    progress=None,
    preparation=None,
    exclude=None,
    only=None,
    label="",
    split="",
    process_group=None,
    **options: "Unpack[full.TrainOptionsKeywords]",
) -> dict:
    """Train; fills the folder `out` and returns a summary. Its ``report.html`` and ``training.csv``
    show how it goes.

    ``recipe`` is a `Recipe`, the name of one, or a ``.toml`` file. ``data`` is a pack (its path, or
    an opened one), or a pair (images, labels): uint8 (N, H, W, 3) RGB and N integers, below zero =
    not trained on. ``preparation`` says for a pair how the crops were made (detector, selection,
    crop) and goes into the model file. ``exclude``: a list of people and samples of a pack that are
    not trained on, as for `facebench.pack`; ``only``: one of those that alone are. ``label``,
    ``split``: of an archive, what says who it is and which part is read, as for `facebench.pack`.
    Error where images have no label: each would be trained as a person of its own.

    ``network``: one of your own in place of the recipe's: a ``torch.nn.Module``, or a class or
    function that makes one when it is called (so that its first values follow the recipe's seed).
    It is called with float images (N, C, H, W), pixels as the recipe's input says, and gives
    embeddings (N, D), or a tuple that begins with them. ``model.safetensors`` then holds its state
    dict: ``embedding.TorchEmbedder(module, weights=path)`` reads it, `facebench.run` and
    `embedding.export_onnx` take that. on_epoch is given such an embedder.

    ``loss``: one of your own in place of the recipe's, called with features (N, D) and labels (N):
    a ``torch.nn.Module``, a class of them (made with ``features=`` and ``classes=``, so that its
    first values follow the recipe's seed), or a function. It gives the mean loss, or (loss, logits)
    so that accuracy can be measured. It trains in one process.

    ``network`` may also be a `facebench.embedding.Model`: a copy of it is trained, and what comes
    out is a model file as of a recipe's network.

    ``init``: a file of weights that the network begins with (fine-tuning); the loss's begin anew. A
    model file of ours, a checkpoint of a training, a state dict (``init_key``: the entry of a
    checkpoint that holds several) or an ONNX file, whose network is then trained in place of the
    recipe's. Tensors are taken by name; what was not taken is said (``notes``) and recorded
    (``begun_with``). What the file says of its pixels is taken unless you said it, and a note says
    so. facebench.Error where nothing fits. ``extend``: the folder of a finished training of the
    same images, network and loss; it goes on from there, loss and momentum too, by the recipe's
    schedule.

    Parameters and buffers of both are kept in checkpoints and resumed to the bit, and so is what
    they draw from torch's generators. docs/training.md says what own code costs.

    ``options`` are the fields of `TrainOptions`: resume, extend, threads, data_threads,
    checkpoint_every, keep, log_every, device, deterministic.

    ``validation`` (see `validation`) judges the model before the first step and at the ends of
    epochs; ``on_epoch(report, model)`` is called after each epoch, and a number it returns is a
    score in place of that (higher is better). The model of the best score is kept as
    ``best.safetensors``. The model on_epoch is given is refused after the call.
    ``on_step(report)`` is called after each step. What they raise stops the training; so does
    Ctrl-C. Both write a checkpoint first, and ``resume=True`` goes on from there to the same bits.
    Where the loss or the weights are no longer finite, facebench.Error says what was seen last; the
    checkpoint before stays.

    ``on_start(processes)`` is called before the first step in the first process, where classes are
    split: the bytes that the loss takes in each, as dicts of first_class, classes, parameters,
    momentum, gradients, logits, features, total.

    ``process_group``: one of torch's, in which this process is one of several that train together,
    each on its share of every batch (see `torchrun_process_group`). Where ``threads`` is left out,
    the processes of one machine then share its processors.

    Returns a dict: model (path), iterations, epochs, classes, images, excluded (images), loss,
    accuracy, best_score, best_epoch, stopped_early, images_per_second, notes; begun_with
    where it did not begin with the recipe's initial weights; onnx, of a network of timm: where it
    was written as ONNX, or why not.

    ``notes``: what is odd, a sentence each; each is also a UserWarning, before the first step,
    where the first steps leave the weights as they are, or, where nothing was learned, at the end.
    ValueError before the first step where the training
    cannot learn: batch norm left with one number a channel, a triplet loss without triplets.
    """
    if isinstance(recipe, (str, os.PathLike)):
        recipe = full.load_recipe(os.fspath(recipe))
    how = TrainOptions(**known(train, options))
    recipe, own_network, first, said = _network_of(recipe, network, init, init_key)
    if how.extend:
        said += _first_weights.take_pixels_of_training(recipe, how.extend)
    for note in said:
        _log.warn(note, stacklevel=3)
    own_loss = None if loss is None else OwnLoss(loss)
    pages = TrainingPages(out)
    told = (progress, on_start, on_epoch, on_step, pages.update, _warn)
    rest = (out, how, own_network, own_loss, first, *told, validation, process_group)
    if process_group is not None and how.threads == 0 and not how.resume:
        local = int(os.environ.get("LOCAL_WORLD_SIZE", process_group.size()))
        how.threads = max(1, len(os.sched_getaffinity(0)) // local)
    # Own code draws from torch's generators, which the trainer sets. The caller's stay as they are.
    foreign = isinstance(own_network, OwnNetwork) or loss is not None
    devices = _cuda_devices(how.device)
    try:
        with torch.random.fork_rng(enabled=foreign, devices=devices):
            result = _run(recipe, data, (exclude, only, label, split), preparation, rest)
    except BaseException:
        if pages.begun:
            pages.update(last=True)
        raise
    if process_group is None or process_group.rank() == 0:
        pages.update(last=True)
        if isinstance(own_network, TimmNetwork):
            result["onnx"] = write_onnx(result["model"])
    result["notes"] = [*said, *result["notes"]]
    return result


def _network_of(recipe, network, init, key):
    """The recipe with what is known of its pixels, the network in place of its own, and the weights
    that it begins with, as the trainer takes them; and what is to be said of it."""
    if init is None and key is not None:
        raise ValueError("init_key: names an entry of the file init, which is missing")
    if init is not None and isinstance(network, full.Model):
        raise ValueError("init: the network is a model, which has its weights")
    recipe, own, state, said = recipe.copy(), network, None, []
    if network is None and is_timm(recipe):
        # What a name stands for is known of its configuration; no word is needed.
        _first_weights.take_pixels(recipe, size_and_pixels(recipe), recipe.network)
        own = TimmNetwork(recipe)
    elif isinstance(network, full.Model):
        said += _first_weights.take_pixels(recipe, network.options, "the model")
    elif network is not None:
        own = OwnNetwork(network)
    if init is not None:
        first = _first_weights.read(init, recipe, key)
        if first.model is not None and own is not None:
            raise ValueError(f"init: {first.where} is a network of its own; leave network out")
        if first.options is not None:
            said += _first_weights.take_pixels(recipe, first.options, first.where)
        elif unsaid := _first_weights.pixels_unsaid(recipe, first.where):
            said.append(unsaid)
        own, state = own if first.model is None else first.model, first.state()
    return recipe, own, state, said


def _warn(note):
    _log.warn(note, stacklevel=4)  # of who called train


def _run(recipe, data, chosen, preparation, rest):
    exclude, only, *place = chosen
    if not isinstance(data, tuple):
        path = data if isinstance(data, (str, os.PathLike)) else data.path
        return full.train_pack(recipe, path, exclude or "", only or "", *rest, *place)
    for name, given in (("exclude", exclude), ("only", only)):
        if given is not None:
            raise ValueError(f"{name}: goes with a pack; in a pair, labels below zero leave out")
    if any(place):
        raise ValueError("label and split: go with an archive; a pair has its labels")
    images, labels = data
    return full.train_arrays(
        recipe,
        _image_array(images),
        whole_numbers(labels, "labels"),
        mapping(preparation, "preparation"),
        *rest,
    )


def _cuda_devices(device: str) -> list[int]:
    if not device.startswith("cuda"):
        return []
    return [torch.device(device).index or 0]
