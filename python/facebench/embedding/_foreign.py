"""Foreign models as embedders: ONNX files, PyTorch modules, Python callables.

Part of `facebench.embedding`, which shows these names.
"""

import json
import re
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

import numpy as np

from facebench import _onnxruntime
from facebench._library import full
from facebench.core import Error, _entry_points, cuda_devices, parse_device
from facebench.core._arguments import brief, cut, of_kind, type_text
from facebench.core._files import MOST, open_file
from facebench.core._named_code import (
    check_named_function,
    import_function,
    is_address,
    is_named_function,
)
from facebench.embedding import _onnx_file
from facebench.engines.worker import is_out_of_memory
from facebench.io import read_safetensors, sha256_file, write_safetensors


class Embedder(Protocol):
    """Any callable that turns faces into vectors: uint8 (N, H, W, 3) RGB -> float (N, D).

    N is always ``ExtractOptions.micro_batch``: the last batch is filled up. Rows must not depend on
    each other. Where it has an attribute ``description`` (a dict), that goes into the manifest of
    what it embedded; where it has ``flip`` and ``normalization``, they count where
    `ExtractOptions` leaves them unset. ValueError for an output of another shape; facebench.Error
    names the image whose embedding is not finite.
    """

    def __call__(self, images: np.ndarray) -> np.ndarray: ...


def _list(values) -> list[float]:
    return np.atleast_1d(np.asarray(values, np.float64)).tolist()


class _NetworkEmbedder:
    """A network that another library runs: numbers (N, C, H, W) in, rows out. Pixels become numbers
    in `extract`, as `_options` (a `ModelOptions`) says."""

    _title: str  # in messages and run folders
    _options: full.ModelOptions
    _input = (0, 0)  # height, width; 0: any
    _prepared = False  # whether the options say how its images are detected and cropped
    _file = _sha256 = ""
    _where: Mapping = MappingProxyType({})  # device, precision, device_facts, on a card

    _assumed = ()  # which of mean, std and color nobody stated

    def __repr__(self) -> str:
        pixels = ", ".join(f"{name} {value}" for name, value in self._texts().items())
        return f"{type(self).__name__}({self._title}: {pixels})"

    def _set_pixels(self, mean, std, color, known=False):
        """``known``: whether the options say already what is not given here."""
        pixels = {"mean": mean, "std": std, "color": color}
        if mean is not None:
            self._options.mean = _list(mean)
        if std is not None:
            self._options.std = _list(std)
        if color is not None:
            self._options.color = color
        self._assumed = () if known else tuple(k for k, v in pixels.items() if v is None)

    def assumed(self, flip=None) -> str:
        """What is not known of this network and was assumed, as text; "" where all was stated.

        ``flip``: how it is embedded, where that was stated.
        """
        if not self._assumed:
            return ""
        values = self._texts()
        assumed = [f"{name} {values[name]}" for name in self._assumed]
        return ", ".join(assumed if flip or self._options.flip != "none" else [*assumed, "no flip"])

    @property
    def flip(self) -> str:
        """What counts where `ExtractOptions` leaves it unset."""
        return self._options.flip

    @property
    def normalization(self) -> str:
        """What counts where `ExtractOptions` leaves it unset."""
        return self._options.normalization

    def _texts(self) -> dict[str, str]:
        return {
            k: ",".join(f"{x:g}" for x in v) if k != "color" else v
            for k, v in self._pixels().items()
        }

    def _pixels(self) -> dict:
        o = self._options
        return {"mean": o.mean, "std": o.std, "color": o.color}

    def __call__(self, images: np.ndarray) -> np.ndarray:
        how = {"device": "auto", "precision": self._where.get("precision", "float32")}
        plain = full.ExtractOptions(flip="none", normalization="none", **how)
        return full.extract_array(batch_model(self), np.ascontiguousarray(images), plain).values


def _rows(out, images: int, what: str) -> np.ndarray:
    """An output as one row for each image. ValueError where its first side is not the images':
    reshaping would mix their numbers."""
    shape = getattr(out, "shape", None)
    if shape is None or len(shape) < 2 or shape[0] != images:
        form = "no array" if shape is None else f"({', '.join(map(str, shape))})"
        raise ValueError(f"{what} is {form} for {images} images, expected ({images}, D)")
    return out.reshape(images, -1)


def _card(device: str) -> int | None:
    """The number of the card that a device means; None: the processor."""
    if device == "auto":
        return 0 if cuda_devices()["devices"] else None
    return parse_device(device)


class OnnxEmbedder(_NetworkEmbedder):
    """An ONNX network as an `Embedder`, run by onnxruntime (the ``onnx`` extra) on one thread, or
    on a card (``device``: cuda, cuda:N, auto) by onnxruntime-gpu.

    ``precision``: float32, or on a card tf32. Its kernels there are deterministic.

    ``mean`` and ``std`` are in pixel values 0..255, one number or one for each channel; ``color``
    is the order of the network's channels (rgb, bgr, gray); ``output`` names the output that is the
    embedding (default: the first). What is left out is what the file says, where it was written by
    `export_onnx`, else 127.5, 127.5 and rgb. Such a file also says flip, normalization, and how its
    images are detected and cropped, as a model file does. The first input is (N or 1, C, H, W).
    facebench.Error where onnxruntime refuses the file, or its first input has another shape;
    ValueError where it does not compute on the device, or in the precision.
    """

    def __init__(
        self,
        path,
        *,
        mean=None,
        std=None,
        color=None,
        output=None,
        device="cpu",
        precision="float32",
    ):
        try:
            import onnxruntime
        except ImportError:
            raise ImportError("ONNX models need onnxruntime: pip install onnxruntime") from None
        open_file(path, MOST).close()
        outside = _onnx_file.hashes_beside(path)  # refuses weights that lie elsewhere
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        # None: it prints names of the file as they are. What failed stands in its exception.
        options.log_severity_level = 4
        card = _card(device)
        if not _onnxruntime_has(card, precision):
            raise ValueError(
                f"device {device}, precision {precision}: onnxruntime {onnxruntime.__version__} "
                "computes float32 on the processor; float32 and tf32 on a card need onnxruntime-gpu"
            )
        if card is not None:
            options.use_deterministic_compute = True
            name = cuda_devices()["devices"][card]["model"]
            facts = {"name": name, "provider": _onnxruntime.CUDA}
            where = {"device": f"cuda:{card}", "precision": precision}
            self._where = where | {"device_facts": facts}
        try:
            self._session = _onnxruntime.session(path, options, card, precision == "tf32")
        except Exception as e:
            raise Error(f"{path}: onnxruntime refuses it: {cut(e)}") from None
        self._title = self._file = str(path)
        self._sha256 = sha256_file(path)
        outputs = [o.name for o in self._session.get_outputs()]
        of_kind(output, (str, type(None)), "output")
        if output is not None and output not in outputs:
            names = cut(", ".join(outputs))
            raise ValueError(f"{path} has no output {brief(output)!r}; it has {names}")
        self._output = output or outputs[0]
        exported = self._session.get_modelmeta().custom_metadata_map.get("facebench")
        if exported is None:
            self._options = full.ModelOptions(mean=[127.5], std=[127.5])
        else:
            _, self._options = full.parse_model_description(exported, str(path), "facebench")
            self._prepared = True
        self._set_pixels(mean, std, color, known=exported is not None)
        self._read_input()
        self.description = {
            "onnx": Path(path).name,
            "sha256": self._sha256,
            "output": self._output,
            "onnxruntime": onnxruntime.__version__,
        } | self._pixels()
        if outside:
            self.description["external_data"] = outside
        if exported is not None:
            self.description["exported"] = json.loads(exported)

    def _read_input(self) -> None:
        first = self._session.get_inputs()[0]
        shape = [side if isinstance(side, int) else 0 for side in first.shape]
        channels = 1 if self._options.color == "gray" else 3
        if len(shape) != 4 or shape[1] not in (0, channels):
            raise Error(
                f"{self._file}: its input '{brief(first.name)}' is "
                f"({cut(', '.join(map(str, first.shape)))}), "
                f"expected (N, {channels}, H, W) with color '{self._options.color}'"
            )
        self._name, self._batch, self._input = first.name, shape[0], tuple(shape[2:])

    def _run(self, x: np.ndarray) -> np.ndarray:
        # A network exported for one image takes them one by one.
        step = self._batch or len(x)
        parts = []
        for i in range(0, len(x), step):
            part = x[i : i + step]
            try:
                out = self._session.run([self._output], {self._name: part})[0]
            except Exception as e:  # onnxruntime has no class that all of its errors share
                if self._where and is_out_of_memory(e):
                    raise _torch_out_of_memory(str(e)) from None
                raise Error(f"{self._file}: onnxruntime cannot run it: {cut(e)}") from None
            parts.append(_rows(out, len(part), f"{self._file}: its output '{brief(self._output)}'"))
        if len({part.shape[1] for part in parts}) > 1:
            problem = f"its output '{brief(self._output)}' has rows of unlike length"
            raise ValueError(f"{self._file}: {problem}")
        return np.concatenate(parts)


def _onnxruntime_has(card: int | None, precision: str) -> bool:
    """Whether the onnxruntime at hand computes in a precision on a card; None: the processor."""
    if card is None:
        return precision == "float32"
    return precision in ("float32", "tf32") and _onnxruntime.has_cuda()


def _torch_out_of_memory(message: str) -> Exception:
    """As torch says it, which the extractor knows: "Failed to allocate memory for requested buffer
    of size 1048576" of onnxruntime."""
    import torch

    size = re.search(r"buffer of size (\d+)", message)
    asked = f"Tried to allocate {int(size[1]) / 2**20:.2f} MiB. " if size else ""
    return torch.OutOfMemoryError(asked + message)


_OWN_MODEL = "facebench-own-model"


class TorchEmbedder(_NetworkEmbedder):
    """A PyTorch module, or a `facebench.nn.Network`, as an `Embedder`, in evaluation mode.

    ``mean``, ``std`` and ``color`` as for `OnnxEmbedder`; what is left out is 127.5, 127.5 and rgb,
    and `facebench.run` says that it was assumed. Its output (N, ...) is flattened; of several
    outputs the first is taken. The module stays on its device.

    ``weights``: a file that `facebench.train` or `save` wrote. Its numbers go into the module, and
    what it says of pixels, crop and flip counts. facebench.Error where it does not fit.

    >>> import numpy as np, torch
    >>> from facebench import embedding
    >>> pool = torch.nn.AdaptiveAvgPool2d(2)
    >>> faces = np.zeros((3, 8, 8, 3), np.uint8)
    >>> embedding.extract(embedding.TorchEmbedder(pool), faces).values.shape
    (3, 12)
    """

    def __init__(self, module, *, mean=None, std=None, color=None, weights=None):
        self._module = module
        self._title = _name(module)
        self._options = full.ModelOptions(mean=[127.5], std=[127.5])
        self._training = None
        if weights is not None:
            self._load(Path(weights))
        self._set_pixels(mean, std, color, known=weights is not None)
        self.description = {"torch": type(module).__qualname__} | self._pixels()
        if self._training is not None:
            self.description["training"] = self._training

    @classmethod
    def _trained(cls, module, options, size, training):
        """The network of a training: all of its ``options`` are known, its input's ``size``, and
        what its file says of the ``training``."""
        self = cls(module, mean=options.mean, std=options.std, color=options.color)
        self._options, self._input, self._prepared = options, size, True
        self._training = training
        return self

    def _load(self, path: Path):
        import torch

        tensors, metadata = read_safetensors(path)
        if metadata.get("format") != _OWN_MODEL:
            raise Error(
                f"{path}: not a model that facebench.train saved of a network of your own. Load "
                "other weights into the module with load_state_dict()"
            )
        size, self._options = full.parse_model_description(metadata["model"], str(path), "model")
        self._input, self._prepared = (size.height or 0, size.width or 0), True
        self._training = json.loads(metadata.get("training", "null"))
        try:
            self._module.load_state_dict({n: torch.from_numpy(t) for n, t in tensors.items()})
        except RuntimeError as error:
            first = [line.strip() for line in str(error).splitlines()[1:2]]
            raise Error(
                f"{path}: its weights do not fit {self._title}: {brief(''.join(first) or error)}"
            ) from None
        self._file, self._sha256 = str(path), sha256_file(path)

    def _model_description(self) -> str:
        """What a file says of it, as `Model` does."""
        height, width = (side or None for side in self._input)
        size = full.NetworkOptions(height=height, width=width)
        description = {"network": self._title, "network_options": size.to_dict()}
        return json.dumps(description | {"options": self._options.to_dict()}, sort_keys=True)

    def save(self, path) -> None:
        """Write the module's state dict, floats as float32, and what is known of its input, as
        safetensors; to be read with ``TorchEmbedder(module, weights=path)``."""
        tensors = {
            name: (tensor.detach().float() if tensor.is_floating_point() else tensor)
            .cpu()
            .contiguous()
            .numpy()
            for name, tensor in self._module.state_dict().items()
        }
        description = {"format": _OWN_MODEL, "version": "1", "model": self._model_description()}
        if self._training is not None:
            description["training"] = json.dumps(self._training, sort_keys=True)
        write_safetensors(path, tensors, description)

    def _export_onnx(self, path) -> None:
        if 0 in self._input:
            raise ValueError(
                "export_onnx: the size of its input is not known; that of a module which facebench "
                "trained is (TorchEmbedder(module, weights=...)). For others: torch.onnx.export"
            )
        try:
            from facebench.nn import _onnx
        except ImportError as e:
            raise ImportError(f"writing ONNX needs onnx: pip install onnx ({e})") from None
        shape = (1 if self._options.color == "gray" else 3, *self._input)
        metadata = {"facebench": self._model_description()}
        _onnx.write(_onnx.build_module(self._module, shape, metadata), path)

    def _run(self, x: np.ndarray) -> np.ndarray:
        import torch

        from facebench.nn._own_module import first_output

        module = self._module
        images = torch.from_numpy(x)
        first = next(iter(module.parameters()), images)
        was_training = module.training
        module.eval()
        try:
            with torch.inference_mode():
                out = module(images.to(first.device, first.dtype))
        finally:
            module.train(was_training)
        out = first_output(out)
        return _rows(out.float().cpu().numpy(), len(x), f"{self._title}: its output")


class CallableEmbedder(_NetworkEmbedder):
    """A callable that takes numbers, as a network does: float32 (N, C, H, W) -> float (N, D).

    ``mean``, ``std`` and ``color`` as for `OnnxEmbedder`. Without any of them a callable is an
    `Embedder`, which gets the pixels themselves.

    >>> import numpy as np
    >>> from facebench import embedding
    >>> brightness = lambda batch: batch.mean((2, 3))
    >>> embedder = embedding.CallableEmbedder(brightness, mean=0, std=255, color="rgb")
    >>> embedding.extract(embedder, np.full((1, 8, 8, 3), 255, np.uint8)).values.shape
    (1, 3)
    """

    def __init__(self, function, *, mean=None, std=None, color=None):
        self._run = function
        self._title = _name(function)
        stated = {
            k: getattr(function, k) for k in ("flip", "normalization") if hasattr(function, k)
        }
        self._options = full.ModelOptions(mean=[127.5], std=[127.5], **stated)
        self._set_pixels(mean, std, color)
        self.description = getattr(function, "description", {"callable": self._title})
        self.description = self.description | self._pixels()


_WEIGHTS = (".pt", ".pth", ".ckpt", ".tar", ".bin", ".npz", ".dat")
_READ = (
    "FILE.safetensors, FILE.onnx, module:function, dlib, or a name that an installed package brings"
)


def load_embedder(source, extract=None, **options):
    """What ``source`` names: a `Model` (our .safetensors), an `OnnxEmbedder` (.onnx), the Python
    callable ``module:function``, a PyTorch module (a `TorchEmbedder`), a callable itself, or
    "dlib": dlib's face network out of the package face_recognition_models (a `Model`;
    facebench.Error where it is not installed), or a name that an installed package brings (the
    entry points ``facebench.models``).

    ``extract``: the `ExtractOptions` that it will be used with. Where the onnxruntime at hand does
    not compute on their device or in their precision, or they name an executor, an ONNX file
    becomes a `Model`, as by `convert`.

    ``options``: mean, std and color, as for `OnnxEmbedder`. With them a callable gets numbers and
    not pixels (`CallableEmbedder`); a model file of ours says them itself (ValueError).

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
    if isinstance(source, full.Network) or (torch and isinstance(source, torch.nn.Module)):
        return TorchEmbedder(source, **options)
    dlib = named and text == "dlib"
    if isinstance(source, full.Model) or dlib or (named and text.endswith(".safetensors")):
        if options:
            raise ValueError(
                f"{', '.join(options)}: a model file of ours says this itself; write one that says "
                "otherwise with facebench convert --set"
            )
        if dlib:
            return full.dlib_model()
        return source if isinstance(source, full.Model) else full.load_model(source)
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

    return embedding._import_onnx(Path(path), pixels, prepared=False)


def _callable_embedder(function, options):
    if not options:
        return function
    if isinstance(function, _NetworkEmbedder):
        raise ValueError(f"{', '.join(options)}: {function._title} was made with its own")
    return CallableEmbedder(function, **options)


def warn_of_assumptions(embedder, flip=None) -> None:
    """A UserWarning where nobody has stated what the network expects of its pixels."""
    assumed = embedder.assumed(flip) if isinstance(embedder, _NetworkEmbedder) else ""
    if assumed:
        warnings.warn(
            f"{embedder._title} does not say what its pixels are; assumed: {assumed}. State it "
            "with mean=, std= and color= (--set NAME=VALUE).",
            stacklevel=3,
        )


def take_pixels(options):
    """What `load_embedder` takes of a model's pixels, out of keywords."""
    return {name: options.pop(name) for name in ("mean", "std", "color") if name in options}


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


def batch_model(embedder, name: str = "", flip=None) -> full.BatchModel:
    """An `Embedder` as the extractor takes it. ``name``: in messages and run folders. ``flip``: how
    it is embedded, where that was stated."""
    if isinstance(embedder, _NetworkEmbedder):
        assumed = embedder.assumed(flip)
        described = {"assumed": assumed} if assumed else {}
        height, width = embedder._input
        return full.PythonModel(
            embedder._run,
            name=name or embedder._title,
            options=embedder._options,
            height=height,
            width=width,
            prepared=embedder._prepared,
            description=embedder.description | described,
            file=embedder._file,
            sha256=embedder._sha256,
            **embedder._where,
        )
    stated = {k: getattr(embedder, k) for k in ("flip", "normalization") if hasattr(embedder, k)}
    return full.PythonModel(
        embedder,
        name=name or _name(embedder),
        options=full.ModelOptions(**stated),
        raw_bytes=True,
        description=getattr(embedder, "description", {"callable": _name(embedder)}),
    )


def _name(embedder) -> str:
    function = embedder if hasattr(embedder, "__qualname__") else type(embedder)
    return f"{function.__module__}:{function.__qualname__}"
