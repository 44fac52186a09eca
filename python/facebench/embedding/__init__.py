"""Models and embeddings: model files, conversion of foreign weights, extraction.

>>> import numpy as np
>>> from facebench import embedding
>>> model = embedding.make_model("small4", height=32, width=32)
>>> faces = np.zeros((5, 32, 32, 3), np.uint8)
>>> embedding.extract(model, faces, threads=1).values.shape
(5, 128)
"""

import contextlib
import json
import os
from pathlib import Path

import numpy as np

from facebench._frte import refuse_library
from facebench._library import full
from facebench._onnx import file as onnx_file
from facebench.core import Error, _log
from facebench.core._arguments import (
    brief,
    did_you_mean,
    listed,
    of_kind,
    path_text,
    tensor_array,
    type_text,
    unmasked,
)
from facebench.core._options import takes
from facebench.core._other_files import refuse_other
from facebench.datasets._remote import on_this_machine, one_by_one, written_to
from facebench.detection import list_detectors
from facebench.embedding import (
    _checkpoints,
    _foreign,
    _graph_pixels,
    _onnx_comparison,
    _onnx_import,
    _public_models,
)
from facebench.embedding._foreign import (
    CallableEmbedder,
    Embedder,
    OnnxEmbedder,
    TorchEmbedder,
    load_embedder,
)
from facebench.embedding._public_models import list_models
from facebench.io import (
    EmbeddingSet,
    read_embeddings,
    sha256_file,
    write_embeddings,
)

ExtractOptions = full.ExtractOptions
Model = full.Model
ModelOptions = full.ModelOptions
NetworkOptions = full.NetworkOptions

__all__ = [
    "CallableEmbedder",
    "Embedder",
    "ExtractOptions",
    "Model",
    "ModelOptions",
    "OnnxEmbedder",
    "TorchEmbedder",
    "convert",
    "export_onnx",
    "extract",
    "list_models",
    "load_embedder",
    "load_model",
    "make_model",
    "merge_shard_files",
    "merge_shards",
    "quantize",
]


_PREPARATION = ("detector", "detector_mode", "selection", "crop")
_NETWORK_FIELDS = tuple(f["name"] for f in NetworkOptions.fields())


def _split(options: dict) -> tuple[NetworkOptions, dict]:
    network = {k: options.pop(k) for k in _NETWORK_FIELDS if k in options}
    return NetworkOptions(**network), options


@takes(NetworkOptions, ModelOptions)
def make_model(network: str, *, initializer: str = "torch", seed: int = 0, **options) -> Model:
    """A model with fresh weights.

    ``options`` are fields of `facebench.nn.NetworkOptions` (height, width, ...) and `ModelOptions`
    (mean, std, color, crop, flip, ...). ValueError for wrong names or values.

    >>> from facebench import embedding
    >>> embedding.make_model("sphereface4", color="bgr").embedding_size
    512
    """
    network_options, rest = _split(options)
    return full.make_model(network, network_options, ModelOptions(**rest), initializer, seed)


def load_model(path) -> Model:
    """Read a model file; it says itself what it is. facebench.Error names what is wrong with it.

    >>> import os, tempfile
    >>> from facebench import embedding
    >>> path = os.path.join(tempfile.mkdtemp(), "m.safetensors")
    >>> embedding.make_model("small4", flip="sum").save(path)
    >>> embedding.load_model(path).options.flip
    'sum'
    """
    refuse_other(path_text(path, "path"), "a safetensors file", but=("a safetensors file",))
    return full.load_model(path)


def _set_model_options(target: ModelOptions, values: dict) -> None:
    for name, value in values.items():
        if name not in target.to_dict():
            ModelOptions(**{name: value})  # raises, with "did you mean"
        if name in ("crop", "detector"):
            known = full.crops() if name == "crop" else {**list_detectors(), "none": ""}
            if value not in known:
                meant = did_you_mean(str(value), known)
                raise ValueError(f"unknown {name} '{value}'{meant} (known: {', '.join(known)})")
        one_for_all = name in ("mean", "std") and isinstance(value, int | float)
        setattr(target, name, [float(value)] if one_for_all else value)


def _import_onnx(path: Path, options: dict, prepared: bool = True) -> tuple[Model, str]:
    """The network of an ONNX file as a model of ours, and how it compares with ONNX Runtime.
    ``prepared``: whether it has the defaults of detector and crop where the file does not say
    them."""
    sizes = {k: options.pop(k) for k in ("height", "width", "output") if k in options}
    imported = _onnx_import.read(path, **sizes)
    exported = imported.metadata.get("facebench")
    if exported is not None:
        model_options = full.parse_model_description(exported, str(path), "facebench")[1]
        model_options.tap = "embedding"
    else:
        inside = _graph_pixels.pixels_of_import(path, imported)
        if missing := [name for name in ("color", "mean", "std") if name not in options]:
            known = f". Its graph normalises them itself, {inside}" if inside else ""
            raise ValueError(
                f"{path}: does not say what its pixels are; state {', '.join(missing)}{known}"
            )
        model_options = ModelOptions()
        for name in () if prepared else _PREPARATION:
            setattr(model_options, name, "")
        if imported.unit:
            model_options.normalization = "unit"
    sha256 = sha256_file(path)
    hashes = {path.name: sha256} | onnx_file.hashes_beside(path)
    model_options.origin = ", ".join(f"{name} sha256:{h}" for name, h in hashes.items())
    _set_model_options(model_options, options)
    if exported is None and inside:
        stated = {
            n: ",".join(f"{x:g}" for x in options_of)
            for n, options_of in (("mean", model_options.mean), ("std", model_options.std))
        }
        for text in inside.warnings(stated, ()):
            _log.warn(text, stacklevel=4)
    from facebench._torch import torch

    tensors = {name: torch.from_numpy(numbers) for name, numbers in imported.tensors.items()}
    model = full.imported_model(imported.graph, tensors, model_options, str(path), sha256)
    return model, _onnx_comparison.compare(path, imported, model)


def _tell_of_comparison(said: str) -> None:
    """A UserWarning where an ONNX file was not compared with ONNX Runtime."""
    if said.startswith("not compared"):
        _log.warn(f"The converted network was {said}.", stacklevel=3)


def convert(
    weights, *, network: str | None = None, out=None, drop=(), key: str | None = None, **options
) -> Model:
    """Foreign weights as a model of ours, written to ``out`` (.safetensors, or .onnx) where given.

    ``weights`` is a PyTorch state dict file, or a checkpoint that holds one, read with
    ``torch.load(weights_only=True)`` and nothing else, or a safetensors file. Modules around the
    network (``module.``, ``backbone.``) leave its names. ``drop`` names beginnings of tensors to
    leave out (a classifier). ``key``: the entry of a checkpoint that holds them, where it has
    several (weights and their moving average); the only one is taken, and the model's ``origin``
    names it.
    ``options`` are fields of `facebench.nn.NetworkOptions` and `ModelOptions`; what is
    not given is what is known about published weights of this network, or the plain default.
    Where weights of the network are published for different pixels, color, mean and std must be
    given (ValueError), unless the file is one that is known.
    Without ``network`` the file is a model of ours, to be written as ONNX or with other options; or
    an ``.onnx`` file whose operations are all known, which becomes a model of ours with the graph
    in its file. It must say, or ``options`` must, what color, mean and std its pixels have;
    ``output`` names the output to take (default: the first), and a last division by the length is
    left to ``normalization``. Where onnxruntime is installed, it computes three images of random
    pixels by what was accepted of the file; facebench.Error where the model's embeddings differ by
    more than 1e-4 of the largest number (2e-2 with float16), and a UserWarning where that could not
    be compared. Or it is dlib's face network,
    ``dlib_face_recognition_resnet_model_v1.dat``, of that SHA-256 and no other. ``weights`` may
    also be a name of the table of public models (`list_models`), which says what its pixels are.
    facebench.Error names the tensor that does not fit, or the node that cannot be computed.

    >>> import os, tempfile, torch
    >>> from facebench import embedding, nn
    >>> path = os.path.join(tempfile.mkdtemp(), "theirs.pt")
    >>> torch.save(nn.build_network("mobilefacenet").state_dict(), path)
    >>> pixels = {"color": "rgb", "mean": [127.5], "std": [128.0]}
    >>> embedding.convert(path, network="mobilefacenet", **pixels).options.flip
    'sum'
    """
    model, said = _convert(weights, network, out, drop, key, options)
    _tell_of_comparison(said)
    return model


def _convert(weights, network, out, drop, key, options) -> tuple[Model, str]:
    """The model, and of an ONNX file how it compares with ONNX Runtime."""
    said = ""
    refuse_library(weights)
    path, drop = Path(weights), listed(drop, "drop")
    of_kind(network, (str, type(None)), "network")
    if out is not None and Path(out).suffix not in (".safetensors", ".onnx"):
        raise ValueError(f"{brief(out)}: a model file's name ends with .safetensors or .onnx")
    if not os.path.exists(path):
        if (row := _public_models.public_model(str(weights))) is None:
            raise Error(f"{brief(path)}: there is no such file")
        path, _, other = row.find()
        if other:
            _log.warn(other, stacklevel=3)
        options = _public_models.preparation(row) | options
    if path.suffix == ".onnx":
        if network is not None or drop:
            raise ValueError(f"{path}: an ONNX file says itself what network it is")
        model, said = _import_onnx(path, options)
    elif path.suffix == ".dat":
        if network not in (None, "dlib_resnet29") or drop:
            raise ValueError(f"{path}: dlib's file says itself what network it is")
        model = full.dlib_model(path)
        _set_model_options(model.options, options)
    elif network is None:
        if path.suffix != ".safetensors":
            raise ValueError(f"{path}: not a model file of ours, so the network must be named")
        if (made := TorchEmbedder.made_by_name(path)) is not None:
            return _write_made(made, path, out, options), said
        model = load_model(path)
        _set_model_options(model.options, options)
    else:
        network_options, rest = _split(options)
        model_options = full.conversion_defaults(network)
        sha256 = sha256_file(path)
        tensors, entry = _checkpoints.read(path, key)
        taken = f"[{entry}]" if entry else ""
        model_options.origin = f"{path.name}{taken} sha256:{sha256}"
        _set_model_options(model_options, rest)
        model = full.convert_weights(
            network, tensors, network_options, model_options, drop, str(path)
        )
        full.require_pixels(network, sha256, list(rest), str(path))
    if out is not None:
        if Path(out).suffix == ".onnx":
            export_onnx(model, out)
        else:
            model.save(out)
    return model, said


def _write_made(made, path, out, options):
    """A model file of a network of timm, which becomes ONNX."""
    if out is None or Path(out).suffix != ".onnx":
        raise ValueError(f"{brief(path)}: holds a network of timm, which is written as .onnx alone")
    _set_model_options(made._options, options)
    export_onnx(made, out)
    return made


def export_onnx(model, path, *, fold: bool = True) -> None:
    """Write a model as ONNX (the ``onnx`` extra): input ``images`` (N, C, H, W), one output.

    ``model`` is a `Model`, or a `TorchEmbedder` of a module that facebench trained, which torch's
    own exporter then writes (whatever it raises is passed on). The file carries the model's options
    (detector, crop, colour order, mean, std, flip, ...), and `OnnxEmbedder` reads them there.
    ``fold``: batch norms go into the layers before them; of a module, torch decides.

    >>> import os, tempfile
    >>> from facebench import embedding
    >>> path = os.path.join(tempfile.mkdtemp(), "m.onnx")
    >>> embedding.export_onnx(embedding.make_model("small4", flip="sum"), path)
    >>> embedding.load_embedder(path).flip
    'sum'
    """
    if isinstance(model, TorchEmbedder):
        model._export_onnx(path)
        return
    if not isinstance(model, Model):
        raise TypeError(f"model must be a Model or a TorchEmbedder, not {type_text(model)}")
    metadata = {"facebench": json.dumps(model.description(), sort_keys=True)}
    from facebench import nn

    nn.export_onnx(model.weights, path, taps=[model.options.tap], fold=fold, metadata=metadata)


def quantize(model: Model, images, *, count: int = 256, threads: int = 0, progress=None) -> Model:
    """Give a model what precision int8 needs: the range of numbers that each of its layers reads.

    ``images``: an array uint8 (N, H, W, 3) RGB, or a source such as a pack, of crops like those to
    be embedded and other ones, of which ``count`` are run (all where there are fewer; spread
    evenly). A range is the mean over them of the least and of the largest number. Returns
    ``model``, its `input_ranges` set; a file that it is saved to keeps them. Nothing else changes,
    and without ``precision="int8"`` the numbers are as before. ValueError for ``count`` below 1;
    facebench.Error where no crop has a face.

    >>> import numpy as np
    >>> from facebench import embedding
    >>> faces = np.random.default_rng(0).integers(0, 256, (20, 32, 32, 3), np.uint8)
    >>> model = embedding.make_model("small4", height=32, width=32)
    >>> model = embedding.quantize(model, faces, threads=1)
    >>> how = embedding.ExtractOptions(precision="int8")
    >>> exact = embedding.extract(model, faces, threads=1).values
    >>> bool((exact * embedding.extract(model, faces, how, threads=1).values).sum(1).min() > 0.99)
    True
    """
    of_kind(model, Model, "model")
    if not isinstance(images, full.ImageSource):
        images = np.ascontiguousarray(unmasked(images, "images"))
    model.input_ranges = full.measure_input_ranges(model, images, count, threads, progress)
    return model


def extract(
    model,
    images,
    options: ExtractOptions | None = None,
    *,
    names=None,
    status=None,
    shard: str = "",
    threads: int = 0,
    progress=None,
) -> EmbeddingSet:
    """One embedding for each image: an `facebench.io.EmbeddingSet`.

    ``model`` is a `Model`, an `Embedder` or what `load_embedder` takes; ``images`` an array uint8
    (N, H, W, 3) RGB, or a source such as a pack. With an array, ``names`` are the sample ids
    (default: numbers) and ``status`` says which rows to skip (0 ok). ``options`` are
    `ExtractOptions`; what is unset is what the model says: no flip and unit length with an
    `Embedder` that says nothing. The same bits for any number of threads.

    A row must depend on its image alone. Of a model that is not ours that is tried with the first
    batch, once for each embedder: images of it among others, by two more calls, and one by itself.
    Where a row moves by more than 1e-3 of its length (what tf32, float16 and bfloat16 explain is
    allowed), or the model does not take the batch, images go through one at a time, with a
    UserWarning and ``manifest["batch_dependence"]``. facebench.Error where that is not defined: one
    image gives two rows (dropout), or all images one (batch statistics).

    A UserWarning, once for each model, where mean and std of its pixels were neither stated nor
    found in the network, or nobody named which of several outputs is taken. One, and
    ``manifest["odd_rows"]``, where embeddings are of length 0 or all the same. facebench.Error
    where a number is not finite, or where one number is all there is of an embedding, at unit
    length.

    ``shard``: "3/16" is the
    third of sixteen parts of a source, for several machines; `merge_shards` joins them.

    >>> import numpy as np
    >>> from facebench import embedding
    >>> faces = np.random.default_rng(0).integers(0, 256, (3, 8, 8, 3), np.uint8)
    >>> mean_colour = lambda batch: batch.mean((1, 2))
    >>> embedding.extract(mean_colour, faces, names=["a", "b", "c"]).names
    ['a', 'b', 'c']
    """
    options = ExtractOptions() if options is None else of_kind(options, ExtractOptions, "options")
    of_kind(shard, str, "shard")
    model = load_embedder(model, options)
    _foreign.warn_of_pixels(model)
    if not isinstance(model, Model):
        model = _foreign.batch_model(model, flip=options.flip)
    if isinstance(images, full.ImageSource):
        if shard:
            result = full.extract_shard(model, images, shard, options, threads, progress)
        else:
            result = full.extract(model, images, options, threads, progress)
        return _tell_of_batch(result, options)
    if shard:
        raise ValueError("shard: parts are of a pack or an archive, not of an array")
    if hasattr(images, "detach"):
        images = tensor_array(images, "images")
    result = full.extract_array(
        model,
        np.ascontiguousarray(unmasked(images, "images")),
        options,
        threads,
        progress,
        listed(names, "names"),
        [int(s) for s in (status if status is not None else [])],
    )
    return _tell_of_batch(result, options)


def _tell_of_batch(embeddings, options):
    """The embeddings; a UserWarning where rows are zero or all the same, where images went through
    one at a time, since rows depend on their batch, and where memory was short for it."""
    used = embeddings.manifest["extract"]
    if odd := embeddings.manifest.get("odd_rows"):
        _log.warn(odd, stacklevel=3)
    if dependence := embeddings.manifest.get("batch_dependence"):
        _log.warn(dependence, stacklevel=3)
        return embeddings
    asked = full.micro_batch_of(options, used["device"])
    if used["micro_batch"] < asked:
        _log.warn(
            f"{used['device']} has no memory left for {asked} images at once: "
            f"they were embedded {used['micro_batch']} at once",
            stacklevel=3,
        )
    return embeddings


def merge_shards(shards, out=None) -> EmbeddingSet:
    """The embeddings of all shards of a source, as one process gives them, bit for bit.

    ``shards``: files, or sets, in any order; ``out``: where to write the result. ValueError where
    one is missing or there twice, or where they are of different models, options or sources.

    >>> import numpy as np
    >>> from facebench import embedding, io
    >>> def part(k):
    ...     place = {"number": k, "count": 3, "first": k - 1, "rows": 1, "of": 3}
    ...     return io.EmbeddingSet(np.ones((1, 4)), [f"image {k}"], manifest={"shard": place})
    >>> embedding.merge_shards([part(3), part(1), part(2)]).names
    ['image 1', 'image 2', 'image 3']
    """
    given = one_by_one(listed(shards, "shards"))
    if out is not None and not any(isinstance(s, EmbeddingSet) for s in given):
        merge_shard_files(given, out)
        with on_this_machine(path_text(out, "out")) as file:
            return read_embeddings(file)

    def opened(shard):
        if isinstance(shard, EmbeddingSet):
            return shard
        with on_this_machine(path_text(shard, "shards")) as file:
            return read_embeddings(file)

    whole = full.merge_shards([opened(shard) for shard in given])
    if out is not None:
        with written_to(out) as file:
            write_embeddings(file, whole)
    return whole


def merge_shard_files(shards, out, *, progress=None) -> tuple[int, int]:
    """`merge_shards` of files to a file, in memory for the names of one shard, not for the numbers.

    Returns how many rows and how many numbers in a row ``out`` has. Errors as `merge_shards`.

    >>> import tempfile, numpy as np
    >>> from facebench import embedding, io
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for k in (1, 2):
    ...         place = {"number": k, "count": 2, "first": k - 1, "rows": 1, "of": 2}
    ...         part = io.EmbeddingSet(np.ones((1, 4)), [f"image {k}"], manifest={"shard": place})
    ...         io.write_embeddings(f"{folder}/{k}.h5", part)
    ...     files = [f"{folder}/2.h5", f"{folder}/1.h5"]
    ...     embedding.merge_shard_files(files, f"{folder}/whole.h5")
    (2, 4)
    """
    with contextlib.ExitStack() as copies:
        files = [
            copies.enter_context(on_this_machine(path_text(s, "shards")))
            for s in one_by_one(listed(shards, "shards"))
        ]
        with written_to(path_text(out, "out")) as file:
            return full.merge_shard_files(files, file, progress)
