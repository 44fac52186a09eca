"""Models and embeddings: model files, conversion of foreign weights, extraction.

>>> import numpy as np
>>> from facebench import embedding
>>> model = embedding.make_model("small4", height=32, width=32)
>>> faces = np.zeros((5, 32, 32, 3), np.uint8)
>>> embedding.extract(model, faces, threads=1).values.shape
(5, 128)
"""

import importlib
from pathlib import Path
from typing import Protocol

import numpy as np

from facebench._torch import full as _full
from facebench.core import Error
from facebench.io import EmbeddingSet, read_safetensors, sha256_file
from facebench.nn import NetworkOptions

ExtractOptions = _full.ExtractOptions
Model = _full.Model
ModelOptions = _full.ModelOptions

__all__ = [
    "Embedder",
    "ExtractOptions",
    "Model",
    "ModelOptions",
    "OnnxEmbedder",
    "convert",
    "extract",
    "load_embedder",
    "load_model",
    "make_model",
]

_NETWORK_FIELDS = tuple(f["name"] for f in NetworkOptions.fields())


class Embedder(Protocol):
    """Any callable that turns faces into vectors: uint8 (N, H, W, 3) RGB -> float (N, D).

    Rows must not depend on each other. Where it has an attribute ``description`` (a dict), that
    goes into the manifest of what it embedded.
    """

    def __call__(self, images: np.ndarray) -> np.ndarray: ...


def _split(options: dict) -> tuple[NetworkOptions, dict]:
    network = {k: options.pop(k) for k in _NETWORK_FIELDS if k in options}
    return NetworkOptions(**network), options


def make_model(network: str, *, initializer: str = "torch", seed: int = 0, **options) -> Model:
    """A model with fresh weights.

    ``options`` are fields of `facebench.nn.NetworkOptions` (height, width, ...) and `ModelOptions`
    (mean, std, color, crop, flip, ...). ValueError for wrong names or values.

    >>> from facebench import embedding
    >>> embedding.make_model("sphereface4", color="bgr").embedding_size
    512
    """
    network_options, rest = _split(options)
    return _full.make_model(network, network_options, ModelOptions(**rest), initializer, seed)


def load_model(path) -> Model:
    """Read a model file; it says itself what it is. facebench.Error names what is wrong with it.

    >>> import os, tempfile
    >>> from facebench import embedding
    >>> path = os.path.join(tempfile.mkdtemp(), "m.safetensors")
    >>> embedding.make_model("small4", flip="sum").save(path)
    >>> embedding.load_model(path).options.flip
    'sum'
    """
    return _full.load_model(path)


def _read_foreign(path: Path) -> dict:
    import torch

    if path.suffix == ".safetensors":
        arrays, _ = read_safetensors(path)
        return {name: torch.from_numpy(array) for name, array in arrays.items()}
    try:
        # Nothing but tensors and plain containers is ever built: no code of the file runs.
        loaded = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as e:
        raise Error(
            f"{path}: not weights that can be read without running code of the file "
            f"({str(e).splitlines()[0]}). Save its state_dict() with torch.save, or as safetensors"
        ) from None
    for key in ("state_dict", "model_state_dict", "model"):
        if isinstance(loaded, dict) and isinstance(loaded.get(key), dict):
            loaded = loaded[key]
    if not isinstance(loaded, dict):
        raise Error(f"{path}: holds a {type(loaded).__name__}, expected a state dict")
    for name, value in loaded.items():
        if not isinstance(value, torch.Tensor):
            raise Error(
                f"{path}: '{name}' is a {type(value).__name__}, expected a tensor. Save the "
                "network's state_dict() alone"
            )
    return dict(loaded)


def convert(weights, *, network: str, out=None, drop=(), **options) -> Model:
    """Foreign weights as a model of ours, written to ``out`` where given.

    ``weights`` is a PyTorch state dict file, read with ``torch.load(weights_only=True)`` and
    nothing else, or a safetensors file. ``drop`` names beginnings of tensors to leave out (a
    classifier). ``options`` are fields of `facebench.nn.NetworkOptions` and `ModelOptions`; what is
    not given is what is known about published weights of this network, or the plain default.
    facebench.Error names the tensor that does not fit.

    >>> import os, tempfile, torch
    >>> from facebench import embedding, nn
    >>> path = os.path.join(tempfile.mkdtemp(), "theirs.pt")
    >>> torch.save(nn.network("mobilefacenet").state_dict(), path)
    >>> embedding.convert(path, network="mobilefacenet").options.flip
    'sum'
    """
    path = Path(weights)
    if not path.is_file():
        raise Error(f"{path}: there is no such file")
    network_options, rest = _split(options)
    model_options = _full.conversion_defaults(network)
    model_options.origin = f"{path.name} sha256:{sha256_file(path)}"
    for name, value in rest.items():
        if name not in model_options.to_dict():
            ModelOptions(**{name: value})  # raises, with "did you mean"
        setattr(model_options, name, value)
    model = _full.convert_weights(
        network, _read_foreign(path), network_options, model_options, list(drop), str(path)
    )
    if out is not None:
        model.save(out)
    return model


class OnnxEmbedder:
    """An ONNX network as an `Embedder`, run by onnxruntime (the ``onnx`` extra) on one thread.

    ``mean`` and ``std`` are in pixel values 0..255, one number or one for each channel; ``color``
    is the order of the network's channels. The first input is (N or 1, 3, H, W), the first output
    the embedding.
    """

    def __init__(self, path, *, mean=127.5, std=127.5, color="rgb"):
        try:
            import onnxruntime
        except ImportError:
            raise ImportError(
                "ONNX models need onnxruntime: pip install 'facebench[onnx]'"
            ) from None
        if color not in ("rgb", "bgr"):
            raise ValueError(f"color is 'rgb' or 'bgr', not {color!r}")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        try:
            self._session = onnxruntime.InferenceSession(
                str(path), options, providers=["CPUExecutionProvider"]
            )
        except Exception as e:
            raise Error(f"{path}: onnxruntime refuses it: {e}") from None
        self._input = self._session.get_inputs()[0]
        self._mean = np.asarray(mean, np.float32)
        self._std = np.asarray(std, np.float32)
        self._color = color
        self.description = {
            "onnx": Path(path).name,
            "sha256": sha256_file(path),
            "mean": self._mean.tolist(),
            "std": self._std.tolist(),
            "color": color,
            "onnxruntime": onnxruntime.__version__,
        }

    def __call__(self, images: np.ndarray) -> np.ndarray:
        if self._color == "bgr":
            images = images[..., ::-1]
        x = (images.astype(np.float32) - self._mean) / self._std
        x = np.ascontiguousarray(x.transpose(0, 3, 1, 2), dtype=np.float32)
        # A network exported for one image takes them one by one.
        step = len(x) if isinstance(self._input.shape[0], str | None) else self._input.shape[0]
        parts = [
            self._session.run(None, {self._input.name: x[i : i + step]})[0]
            for i in range(0, len(x), max(step, 1))
        ]
        return np.concatenate(parts).reshape(len(x), -1)


def load_embedder(source, **options):
    """What ``source`` names: a `Model` (our .safetensors), an `OnnxEmbedder` (.onnx, with its
    options), the Python callable ``module:function``, or a callable itself.

    >>> from facebench import embedding
    >>> embedding.load_embedder("math:sqrt")(4.0)
    2.0
    """
    if callable(source) or isinstance(source, Model):
        return source
    text = str(source)
    if text.endswith(".safetensors"):
        return load_model(source)
    if text.endswith(".onnx"):
        return OnnxEmbedder(source, **options)
    module, colon, name = text.partition(":")
    if not colon:
        raise ValueError(
            f"{text!r} is not a model: expected FILE.safetensors, FILE.onnx or module:function"
        )
    try:
        function = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as e:
        raise ValueError(f"{text!r}: {e}") from None
    if not callable(function):
        raise ValueError(f"{text!r} is not callable")
    return function


def extract(
    model,
    images,
    options: ExtractOptions | None = None,
    *,
    names=None,
    status=None,
    threads: int = 0,
    progress=None,
) -> EmbeddingSet:
    """One embedding for each image: an `facebench.io.EmbeddingSet`.

    ``model`` is a `Model` or an `Embedder`; ``images`` an array uint8 (N, H, W, 3) RGB, or a source
    such as a pack. With an array, ``names`` are the sample ids (default: numbers) and ``status``
    says which rows to skip (0 ok). ``options`` are `ExtractOptions`; "model" stands for what the
    model says, and for no flip and unit length with an `Embedder`. The same bits for any number of
    threads.

    >>> import numpy as np
    >>> from facebench import embedding
    >>> faces = np.random.default_rng(0).integers(0, 256, (3, 8, 8, 3), np.uint8)
    >>> mean_colour = lambda batch: batch.mean((1, 2))
    >>> embedding.extract(mean_colour, faces, names=["a", "b", "c"]).names
    ['a', 'b', 'c']
    """
    options = options or ExtractOptions()
    if isinstance(model, Model):
        if isinstance(images, _full.ImageSource):
            return _full.extract(model, images, options, threads, progress)
        return _full.extract_array(
            model,
            np.ascontiguousarray(images),
            options,
            threads,
            progress,
            list(names or []),
            [int(s) for s in (status if status is not None else [])],
        )
    return _extract_foreign(model, images, options, names, status)


def _extract_foreign(embedder, images, options, names, status) -> EmbeddingSet:
    n = len(images)
    if isinstance(images, _full.ImageSource):
        source = images
        images = [source.pixels(i) for i in range(n)]
        names = [source.name(i) or str(i) for i in range(n)]
        status = [source.status(i) for i in range(n)]
    names = list(names) if names is not None else [str(i) for i in range(n)]
    status = np.asarray(status if status is not None else np.zeros(n), np.uint8)
    rows = np.flatnonzero(status == 0)
    flip = "none" if options.flip == "model" else options.flip
    values = None
    for start in range(0, len(rows), options.micro_batch):
        chosen = rows[start : start + options.micro_batch]
        batch = np.stack([images[i] for i in chosen])
        out = _call(embedder, batch)
        if flip != "none":
            mirrored = _call(embedder, np.ascontiguousarray(batch[:, :, ::-1]))
            out = out + mirrored if flip == "sum" else np.concatenate([out, mirrored], 1)
        if values is None:
            values = np.zeros((n, out.shape[1]), np.float32)
        if options.normalization != "none":
            norm = np.sqrt((out.astype(np.float64) ** 2).sum(1, keepdims=True))
            out = out / np.where(norm > 0, norm, 1)
        values[chosen] = out
    if values is None:
        raise Error("no image has a face, so nothing says how long the embeddings are")
    resolved = options.to_dict() | {
        "flip": flip,
        "normalization": "none" if options.normalization == "none" else "unit",
    }
    manifest = {"model": getattr(embedder, "description", {"callable": _name(embedder)})}
    return EmbeddingSet(values, names, status, manifest | {"extract": resolved})


def _call(embedder, batch: np.ndarray) -> np.ndarray:
    out = np.asarray(embedder(batch), np.float32)
    if out.ndim != 2 or len(out) != len(batch):
        raise ValueError(
            f"the embedder {_name(embedder)} gave shape {out.shape} for {len(batch)} images, "
            f"expected ({len(batch)}, D)"
        )
    return out


def _name(embedder) -> str:
    function = embedder if hasattr(embedder, "__qualname__") else type(embedder)
    return f"{function.__module__}:{function.__qualname__}"
