"""Foreign models as embedders: what a name, a file or an object becomes, and how the extractor
takes it.

Part of `facebench.embedding`, which shows these names.
"""

import sys
import warnings
from pathlib import Path
from typing import Protocol

import numpy as np

from facebench._library import full
from facebench.core import _entry_points
from facebench.core._arguments import brief, type_text
from facebench.core._named_code import (
    check_named_function,
    import_function,
    is_address,
    is_named_function,
)
from facebench.embedding._network_embedder import (
    CallableEmbedder,
    _NetworkEmbedder,
    batch_model,
)
from facebench.embedding._onnx_embedder import OnnxEmbedder, _card, _onnxruntime_has
from facebench.embedding._torch_embedder import TorchEmbedder


class Embedder(Protocol):
    """Any callable that turns faces into vectors: uint8 (N, H, W, 3) RGB -> float (N, D).

    N is ``ExtractOptions.micro_batch``: the last batch is filled up. Rows must not depend on each
    other: `extract` tries it, with one image by itself, too, which may be refused, and sets N to 1
    where they do. Where it has an attribute
    ``description`` (a dict), that goes into the manifest of what it embedded; where it has ``flip``
    and ``normalization``, they count where `ExtractOptions` leaves them unset. ValueError for an
    output of another shape; facebench.Error names the image whose embedding is not finite.
    """

    def __call__(self, images: np.ndarray) -> np.ndarray: ...


_WEIGHTS = (".pt", ".pth", ".ckpt", ".tar", ".bin", ".npz", ".dat")
_READ = (
    "FILE.safetensors, FILE.onnx, module:function, dlib, or a name that an installed package brings"
)


def load_embedder(source, extract=None, **options):
    """What ``source`` names: a `Model` (our .safetensors; of a network of timm a `TorchEmbedder`),
    an `OnnxEmbedder` (.onnx), the Python callable ``module:function``, a PyTorch module (a
    `TorchEmbedder`), a callable itself, or "dlib": dlib's face network out of the package
    face_recognition_models (a `Model`; facebench.Error where it is not installed), or a name that
    an installed package brings (the entry points ``facebench.models``).

    ``extract``: the `ExtractOptions` that it will be used with. Where the onnxruntime at hand does
    not compute on their device or in their precision, or they name an executor, an ONNX file
    becomes a `Model`, as by `convert`.

    ``options``: mean, std, color, and output of an ONNX file, as for `OnnxEmbedder`. With them a
    callable gets numbers and not pixels (`CallableEmbedder`); a model file of ours says them itself
    (ValueError).

    >>> from facebench import embedding
    >>> embedding.load_embedder("math:sqrt")(4.0)
    2.0
    """
    torch = sys.modules.get("torch")  # who has a module of it has imported it
    options = {name: value for name, value in options.items() if value is not None}
    text = str(source)
    named = isinstance(source, (str, Path))
    if named and is_address(text):
        check_named_function(text, _READ)
    if named and text.endswith(".onnx"):
        return _onnx_model(source, extract or full.ExtractOptions(), options)
    ours = isinstance(source, full.Model) or (named and text.endswith(".safetensors"))
    if "output" in options and not ours:
        raise ValueError(
            "output: the outputs of an ONNX file have names; of other models the embedding is what "
            "they return, or the first of several"
        )
    if isinstance(source, full.Network) or (torch and isinstance(source, torch.nn.Module)):
        return TorchEmbedder(source, **options)
    dlib = named and text == "dlib"
    if ours or dlib:
        if options:
            raise ValueError(
                f"{', '.join(options)}: a model file of ours says this itself; write one that says "
                "otherwise with facebench convert --set"
            )
        if dlib:
            return full.dlib_model()
        if isinstance(source, full.Model):
            return source
        return TorchEmbedder.made_by_name(source) or full.load_model(source)
    if callable(source):
        return _callable_embedder(source, options)
    if not named:
        raise TypeError(
            "model must be FILE.safetensors, FILE.onnx, module:function, dlib, a network or a "
            f"callable, not {type_text(source)}"
        )
    if Path(text).suffix in _WEIGHTS and not is_named_function(text):
        raise ValueError(
            f"'{brief(source)}' holds weights, and no model says what they are of. Make one: "
            "facebench convert FILE --network NAME --out m.safetensors"
        )
    point = _entry_points.brought(_entry_points.MODELS).get(text)
    function = import_function(text if point is None else point.value, _READ)
    return load_embedder(function, extract, **options)


def _onnx_model(path, extract, pixels):
    if extract.executor is None and _onnxruntime_has(_card(extract.device), extract.precision):
        how = {"device": extract.device, "precision": extract.precision}
        return OnnxEmbedder(path, **how, **pixels)
    from facebench import embedding

    model, said = embedding._import_onnx(Path(path), pixels, prepared=False)
    embedding._tell_of_comparison(said)
    return model


def _callable_embedder(function, options):
    if not options:
        return function
    if isinstance(function, _NetworkEmbedder):
        raise ValueError(f"{', '.join(options)}: {function._title} was made with its own")
    return CallableEmbedder(function, **options)


def warn_of_assumptions(embedder, flip=None) -> None:
    """A UserWarning where nobody has stated what the network expects of its pixels, or which output
    is the embedding, and where what was stated is odd."""
    if not isinstance(embedder, _NetworkEmbedder):
        return
    said = embedder._warnings()
    if assumed := embedder.assumed(flip):
        output = ", output=" if embedder._chosen else ""
        said.append(
            f"{embedder._title} does not say what its pixels are; assumed: {assumed}. State it "
            f"with mean=, std= and color={output} (--set NAME=VALUE)."
        )
    for text in said:
        warnings.warn(text, stacklevel=3)


PIXELS = ("mean", "std", "color", "output")


def take_pixels(options):
    """What `load_embedder` takes beside a model, out of keywords."""
    return {name: options.pop(name) for name in PIXELS if name in options}


def ready_model(model, extract, **pixels):
    """A model file of ours, or a model in batches, of what `load_embedder` takes; one that is there
    already stays. A UserWarning where its pixels are assumed."""
    if isinstance(model, full.BatchModel):
        return model
    name = str(model) if isinstance(model, (str, Path)) else getattr(model, "__name__", "")
    embedder = load_embedder(model, extract, **pixels)
    if isinstance(embedder, full.Model):
        return embedder
    warn_of_assumptions(embedder, extract.flip)
    return batch_model(embedder, name, extract.flip)


def preparation_of(model):
    """(options that say how its images are detected and cropped, or None; height and width that it
    takes, 0: any) of what `load_embedder` gives."""
    if isinstance(model, full.Model):
        options, network = model.options, model.network_options
        height = options.image_height or network.height
        return options, (height, options.image_width or network.width)
    options = model._options if getattr(model, "_prepared", False) else None
    return options, tuple(getattr(model, "_input", (0, 0)))
