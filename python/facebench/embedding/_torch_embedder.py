"""PyTorch modules as embedders."""

import json
from pathlib import Path

import numpy as np

from facebench._library import full
from facebench.core import Error, _log
from facebench.core._arguments import brief, of_kind
from facebench.embedding import _timm
from facebench.embedding._file_heads import OWN_MODEL, head_of, network_of_timm
from facebench.embedding._module_outputs import evaluating, taken
from facebench.embedding._network_embedder import _name, _NetworkEmbedder, _rows
from facebench.embedding._stated_pixels import module_pixels
from facebench.io import read_safetensors, sha256_file, write_safetensors


class TorchEmbedder(_NetworkEmbedder):
    """A PyTorch module, or a `facebench.nn.Network`, as an `Embedder`, in evaluation mode.

    ``mean``, ``std`` and ``color`` as for `OnnxEmbedder`; what is left out is what the module says
    (timm's ``pretrained_cfg``, a ``config`` with ``image_mean``), or 0, 1 where it begins by
    normalising pixels itself (0, 255 where by normalising 0..1), or 127.5, 127.5; and rgb; and
    `facebench.run` says that it was assumed. Its output (N, ...) is flattened. ``output`` names the
    one of a dict or named tuple that is the embedding, or numbers it in a tuple. Where it is left
    out, of a tuple the first is taken, and of a dict the only one with several numbers for an image
    (a UserWarning says which); ValueError where a dict has several, or the first of a tuple has one
    number for each image. The module stays on its device. It may be TorchScript, frozen or not, or
    ``torch.export.load(FILE).module()``.

    ``weights``: a file that `facebench.train` or `save` wrote. Its numbers go into the module, and
    what it says of pixels, crop and flip counts. facebench.Error where it does not fit.

    >>> import numpy as np, torch
    >>> from facebench import embedding
    >>> pool = torch.nn.AdaptiveAvgPool2d(2)
    >>> faces = np.zeros((3, 8, 8, 3), np.uint8)
    >>> embedder = embedding.TorchEmbedder(pool, mean=127.5, std=127.5, color="rgb")
    >>> embedding.extract(embedder, faces).values.shape
    (3, 12)
    """

    def __init__(self, module, *, mean=None, std=None, color=None, weights=None, output=None):
        of_kind(output, (str, int, type(None)), "output")
        self._module = module
        self._output = None if output is None else str(output)
        self._told = False  # which of several outputs is taken
        self._title = _name(module)
        self._options = full.ModelOptions(mean=[127.5], std=[127.5])
        self._training = self._made = None
        said = module_pixels(module) if weights is None else None
        if weights is not None:
            self._load(Path(weights))
        if said is not None:
            o = self._options
            o.mean, o.std, o.color = said.mean, said.std, said.color
            self._input = said.size if said.fixed else (0, 0)
        self._said = said
        known = weights is not None or said is not None
        if not known and not isinstance(module, full.Network):
            self._graph = _within(module, color)
            if self._graph is not None:
                o = self._options
                o.mean, o.std = (self._graph.before[name] for name in ("mean", "std"))
        self._set_pixels(mean, std, color, known=known)
        self.description = {"torch": type(module).__qualname__} | self._pixels()
        if self._output is not None:
            self.description["output"] = self._output
        if self._graph is not None:
            self.description["module_pixels"] = str(self._graph)
        if said is not None:
            height, width = said.size
            where = {"attribute": said.where} | ({"input": [height, width]} if height else {})
            self.description["stated_by_module"] = where
        if self._training is not None:
            self.description["training"] = self._training

    @property
    def _row_tolerance(self) -> float:
        first = next((p.dtype for p in self._module.parameters() if p.is_floating_point()), None)
        return {"torch.float16": 1e-2, "torch.bfloat16": 3e-2}.get(str(first), 1e-3)

    @classmethod
    def made_by_name(cls, path):
        """The embedder of a file whose network has a name that timm makes it by; None: another."""
        if (name := network_of_timm(path)) is None:
            return None
        options = full.parse_model_description(head_of(path)["model"], str(path), "model")[0]
        self = cls(_timm.make(name, options), weights=path)
        self._title, self._made = name, (name, options)
        self.description |= {"torch": name, "timm": _timm.version()}
        return self

    @classmethod
    def _trained(cls, module, options, size, training, made=None):
        """The network of a training: all of its ``options`` are known, its input's ``size``, what
        its file says of the ``training``, and the name and options that it is ``made`` by."""
        self = cls(module, mean=options.mean, std=options.std, color=options.color)
        self._graph = None  # it was trained on what it was given
        self.description.pop("module_pixels", None)
        self._options, self._input, self._prepared = options, size, True
        self._training, self._made = training, made
        return self

    def _load(self, path: Path):
        from facebench._torch import torch

        tensors, metadata = read_safetensors(path)
        if metadata.get("format") != OWN_MODEL:
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
        name, size = self._made or (self._title, full.NetworkOptions(height=height, width=width))
        description = {"network": name, "network_options": size.to_dict()}
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
        description = {"format": OWN_MODEL, "version": "1", "model": self._model_description()}
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
        from facebench._torch import torch

        self._check_size(*x.shape[2:])
        module = self._module
        images = torch.from_numpy(x)
        parameters = module.parameters() if hasattr(module, "parameters") else ()
        first = next(iter(parameters), images)
        with evaluating(module), torch.inference_mode():
            out = module(images.to(first.device, first.dtype))
        out = taken(out, len(x), self._title, self._output, self._told)
        self._told = True
        return _rows(out.float().cpu().numpy(), len(x), f"{self._title}: its output")

    def _check_size(self, height, width) -> None:
        """A UserWarning, once, where the module says that its images are of another size."""
        said = self._said
        if said is not None and said.size not in ((0, 0), (height, width)):
            _log.warn(
                f"{self._title}: its {said.where} says {said.size[0]} x {said.size[1]} pixels, the "
                f"crops are {height} x {width} (height x width). Crop to its size (--crop-size)",
                stacklevel=2,
            )
        self._said = None


def _within(module, color):
    """How a module normalises its pixels itself (`GraphPixels`), or None."""
    from facebench.embedding._module_pixels import pixels_of_module

    return pixels_of_module(module, 1 if color == "gray" else 3)
