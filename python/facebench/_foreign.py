"""Foreign models as embedders: ONNX files, PyTorch modules, Python callables.

Part of `facebench.embedding`, which shows these names.
"""

import importlib
import json
from pathlib import Path
from typing import Protocol

import numpy as np

from facebench._torch import full as _full
from facebench.core import Error
from facebench.io import EmbeddingSet, sha256_file


class Embedder(Protocol):
    """Any callable that turns faces into vectors: uint8 (N, H, W, 3) RGB -> float (N, D).

    Rows must not depend on each other. Where it has an attribute ``description`` (a dict), that
    goes into the manifest of what it embedded; where it has ``flip`` and ``normalization``, they
    count where `ExtractOptions` leaves them unset.
    """

    def __call__(self, images: np.ndarray) -> np.ndarray: ...


class _Pixels:
    """Faces as the numbers that a network reads: colour order, mean, deviation, (N, C, H, W)."""

    def __init__(self, mean, std, color):
        if color not in ("rgb", "bgr", "gray"):
            raise ValueError(f"color is 'rgb', 'bgr' or 'gray', not {color!r}")
        self.mean = np.asarray(mean, np.float32)
        self.std = np.asarray(std, np.float32)
        self.color = color

    def __call__(self, images: np.ndarray) -> np.ndarray:
        if self.color == "bgr":
            images = images[..., ::-1]
        elif self.color == "gray":
            # ITU-R BT.601 in 16-bit fixed point, as everywhere in the library.
            weights = np.array([19595, 38470, 7471], np.uint32)
            images = ((images.astype(np.uint32) @ weights + 32768) >> 16)[..., None]
        x = (images.astype(np.float32) - self.mean) / self.std
        return np.ascontiguousarray(x.transpose(0, 3, 1, 2), dtype=np.float32)

    def description(self) -> dict:
        return {"mean": self.mean.tolist(), "std": self.std.tolist(), "color": self.color}


class OnnxEmbedder:
    """An ONNX network as an `Embedder`, run by onnxruntime (the ``onnx`` extra) on one thread.

    ``mean`` and ``std`` are in pixel values 0..255, one number or one for each channel; ``color``
    is the order of the network's channels (rgb, bgr, gray); ``output`` names the output that is the
    embedding (default: the first). What is left out is what the file says, where it was written by
    `export_onnx`, else 127.5, 127.5 and rgb. The first input is (N or 1, C, H, W). facebench.Error
    where onnxruntime refuses the file, or faces have another size than it takes.
    """

    def __init__(self, path, *, mean=None, std=None, color=None, output=None):
        try:
            import onnxruntime
        except ImportError:
            raise ImportError(
                "ONNX models need onnxruntime: pip install 'facebench[onnx]'"
            ) from None
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        try:
            self._session = onnxruntime.InferenceSession(
                str(path), options, providers=["CPUExecutionProvider"]
            )
        except Exception as e:
            raise Error(f"{path}: onnxruntime refuses it: {e}") from None
        self._path = str(path)
        self._input = self._session.get_inputs()[0]
        outputs = [o.name for o in self._session.get_outputs()]
        if output is not None and output not in outputs:
            raise ValueError(f"{path} has no output {output!r}; it has {', '.join(outputs)}")
        self._output = output or outputs[0]
        own = self._own_options()
        self._pixels = _Pixels(
            *(
                given if given is not None else own.get(name, default)
                for given, name, default in (
                    (mean, "mean", 127.5),
                    (std, "std", 127.5),
                    (color, "color", "rgb"),
                )
            )
        )
        self.flip = own.get("flip", "none")
        self.normalization = own.get("normalization", "unit")
        self.description = {
            "onnx": Path(path).name,
            "sha256": sha256_file(path),
            "output": self._output,
            "onnxruntime": onnxruntime.__version__,
        } | self._pixels.description()

    def _own_options(self) -> dict:
        text = self._session.get_modelmeta().custom_metadata_map.get("facebench")
        if text is None:
            return {}
        try:
            return dict(json.loads(text)["options"])
        except (ValueError, KeyError, TypeError):
            raise Error(f"{self._path}: its metadata 'facebench' is damaged") from None

    def __call__(self, images: np.ndarray) -> np.ndarray:
        x = self._pixels(images)
        expected = self._input.shape[1:]
        if len(expected) != 3 or any(
            isinstance(want, int) and want != have
            for want, have in zip(expected, x.shape[1:], strict=True)
        ):
            raise Error(
                f"{self._path}: takes (N, {', '.join(map(str, expected))}), the faces are "
                f"(N, {', '.join(map(str, x.shape[1:]))})"
            )
        # A network exported for one image takes them one by one.
        step = len(x) if isinstance(self._input.shape[0], str | None) else self._input.shape[0]
        parts = [
            self._session.run([self._output], {self._input.name: x[i : i + step]})[0]
            for i in range(0, len(x), max(step, 1))
        ]
        return np.concatenate(parts).reshape(len(x), -1)


class TorchEmbedder:
    """A PyTorch module, or a `facebench.nn.Network`, as an `Embedder`, in evaluation mode.

    ``mean``, ``std`` and ``color`` as for `OnnxEmbedder`. Its output (N, ...) is flattened; of
    several outputs the first is taken. The module stays on its device.

    >>> import numpy as np, torch
    >>> from facebench import embedding
    >>> pool = torch.nn.AdaptiveAvgPool2d(2)
    >>> faces = np.zeros((3, 8, 8, 3), np.uint8)
    >>> embedding.extract(embedding.TorchEmbedder(pool), faces).values.shape
    (3, 12)
    """

    def __init__(self, module, *, mean=127.5, std=127.5, color="rgb"):
        self._module = module
        self._pixels = _Pixels(mean, std, color)
        self.description = {"torch": type(module).__qualname__} | self._pixels.description()

    def __call__(self, images: np.ndarray) -> np.ndarray:
        import torch

        module = self._module
        x = torch.from_numpy(self._pixels(images))
        first = next(iter(module.parameters()), x)
        was_training = module.training
        module.eval()
        try:
            with torch.inference_mode():
                out = module(x.to(first.device, first.dtype))
        finally:
            module.train(was_training)
        if isinstance(out, (tuple, list)):
            out = out[0]
        return out.float().cpu().numpy().reshape(len(images), -1)


def load_embedder(source, **options):
    """What ``source`` names: a `Model` (our .safetensors), an `OnnxEmbedder` (.onnx), the Python
    callable ``module:function``, a PyTorch module (a `TorchEmbedder`), or a callable itself.

    ``options`` are those of `OnnxEmbedder` or `TorchEmbedder`; the others take none (ValueError).

    >>> from facebench import embedding
    >>> embedding.load_embedder("math:sqrt")(4.0)
    2.0
    """
    import torch

    text = str(source)
    named = isinstance(source, (str, Path))
    if named and text.endswith(".onnx"):
        return OnnxEmbedder(source, **options)
    if isinstance(source, (torch.nn.Module, _full.Network)):
        return TorchEmbedder(source, **options)
    if options:
        raise ValueError(
            f"{', '.join(options)}: an ONNX file and a PyTorch module take these; a model file "
            "says them itself, and a callable decides them"
        )
    if isinstance(source, _full.Model) or callable(source):
        return source
    if text.endswith(".safetensors"):
        return _full.load_model(source)
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
    return TorchEmbedder(function) if isinstance(function, torch.nn.Module) else function


def extract(embedder, images, options, names, status, progress=None) -> EmbeddingSet:
    """`facebench.embedding.extract` for an `Embedder`, one micro-batch after the other."""
    n = len(images)
    if isinstance(images, _full.ImageSource):
        source = images
        names = [source.name(i) or str(i) for i in range(n)]
        status = [source.status(i) for i in range(n)]
        images = _Lazy(source)
    names = list(names) if names is not None else [str(i) for i in range(n)]
    status = np.asarray(status if status is not None else np.zeros(n), np.uint8)
    rows = np.flatnonzero(status == 0)
    flip = options.flip or getattr(embedder, "flip", "none")
    normalization = options.normalization or getattr(embedder, "normalization", "unit")
    values = None
    if progress is not None:
        progress.begin("embed", len(rows), "images")
    try:
        for start in range(0, len(rows), options.micro_batch):
            chosen = rows[start : start + options.micro_batch]
            out = _embed(embedder, np.stack([images[i] for i in chosen]), flip)
            if values is None:
                values = np.zeros((n, out.shape[1]), np.float32)
            if normalization != "none":
                norm = np.sqrt((out.astype(np.float64) ** 2).sum(1, keepdims=True))
                out = out / np.where(norm > 0, norm, 1)
            values[chosen] = out
            if progress is not None:
                progress.update(start + len(chosen), "")
    finally:
        if progress is not None:
            progress.end()
    if values is None:
        raise Error("no image has a face, so nothing says how long the embeddings are")
    resolved = options.to_dict() | {"flip": flip, "normalization": normalization}
    manifest = {"model": getattr(embedder, "description", {"callable": _name(embedder)})}
    return EmbeddingSet(values, names, status, manifest | {"extract": resolved})


class _Lazy:
    """The pixels of a source, read when they are asked for: a pack may be larger than memory."""

    def __init__(self, source):
        self._source = source

    def __getitem__(self, i):
        return self._source.pixels(int(i))


def _embed(embedder, batch: np.ndarray, flip: str) -> np.ndarray:
    out = _call(embedder, batch)
    if flip == "none":
        return out
    mirrored = _call(embedder, np.ascontiguousarray(batch[:, :, ::-1]))
    return out + mirrored if flip == "sum" else np.concatenate([out, mirrored], 1)


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
