"""Models and embeddings: model files, conversion of foreign weights, extraction.

>>> import numpy as np
>>> from facebench import embedding
>>> model = embedding.make_model("small4", height=32, width=32)
>>> faces = np.zeros((5, 32, 32, 3), np.uint8)
>>> embedding.extract(model, faces, threads=1).values.shape
(5, 128)
"""

import contextlib
from typing import TYPE_CHECKING

import numpy as np

from facebench._library import full
from facebench.core import _log
from facebench.core._arguments import listed, of_kind, path_text, tensor_array, unmasked
from facebench.core._options import takes
from facebench.core._other_files import refuse_other
from facebench.core._when_asked import when_asked
from facebench.datasets._remote import on_this_machine, one_by_one, written_to
from facebench.embedding import _foreign
from facebench.embedding._foreign import Embedder, load_embedder
from facebench.embedding._network_embedder import CallableEmbedder
from facebench.embedding._public_models import list_models
from facebench.io import EmbeddingSet, read_embeddings, write_embeddings

if TYPE_CHECKING:
    from facebench.embedding._conversion import convert, export_onnx
    from facebench.embedding._onnx_embedder import OnnxEmbedder
    from facebench.embedding._torch_embedder import TorchEmbedder

__getattr__ = when_asked(__name__)

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
