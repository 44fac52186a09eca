"""ONNX files as embedders, run by ONNX Runtime."""

import json
import math
import re
from pathlib import Path

import numpy as np

from facebench._library import full
from facebench._onnx import sessions, trial
from facebench._onnx.held import held
from facebench.core import Error, cuda_devices
from facebench.core._arguments import brief, cut, of_kind
from facebench.core._out_of_memory import is_out_of_memory
from facebench.embedding import _onnx_import
from facebench.embedding._graph_pixels import graph_pixels
from facebench.embedding._network_embedder import _NetworkEmbedder, _rows
from facebench.embedding._onnx_beginning import channels_last
from facebench.embedding._outputs import one_number
from facebench.io import sha256_file

# What an input may be made of, as onnxruntime says it.
_TYPES = {
    "tensor(float)": np.float32,
    "tensor(float16)": np.float16,
    "tensor(double)": np.float64,
    "tensor(uint8)": np.uint8,
}


class OnnxEmbedder(_NetworkEmbedder):
    """An ONNX network as an `Embedder`, run by onnxruntime (the ``onnx`` extra) on one thread, or
    on a card (``device``: cuda, cuda:N, auto) by onnxruntime-gpu.

    ``precision``: float32, or on a card tf32. Its kernels there are deterministic. ``providers``:
    execution providers of onnxruntime by name, in their order, in place of a device: "tensorrt",
    "openvino", "cuda", "cpu" or their full names; the manifest names those that run. Their
    arithmetic is their own: nothing is promised of its precision, nor that it repeats.

    ``mean`` and ``std`` are in pixel values 0..255, one number or one for each channel; ``color``
    is the order of the network's channels (rgb, bgr, gray); ``output`` names the output that is the
    embedding (default: the first). What is left out is what the file says, where it was written by
    `export_onnx`, else rgb, and 127.5, 127.5, or 0, 1 where the graph begins by normalising pixels
    itself (0, 255 where by normalising 0..1). A file of `export_onnx` also says flip,
    normalization, and how its images are detected and cropped, as a model file does. The first
    input is (N or 1, C, H, W), or (N or 1, H, W, C) as Keras writes it, of float32, float16,
    float64, or uint8, which takes pixels as they are: mean 0, std 1.
    Before this process loads the file, another does, and runs it once: ``seconds`` of processor
    time and ``memory`` bytes (and eight times the file's) are at its disposal.
    facebench.Error where that is not enough, the graph is not bounded (a Loop, sizes that depend on
    the pixels), onnxruntime refuses the file, its first input has another shape or type,
    or the output that nobody named has one number for each image;
    ValueError where it does not compute on the device, or in the precision, or another mean or std
    is stated of an input of uint8.
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
        seconds=trial.SECONDS,
        memory=trial.MEMORY,
        providers=None,
    ):
        try:
            import onnxruntime
        except ImportError:
            raise ImportError("ONNX models need onnxruntime: pip install onnxruntime") from None
        options = sessions.quiet_options()
        card = sessions.card_of(device)
        if providers is not None:
            providers = sessions.named_providers(providers)
            if card is not None or precision != "float32":
                raise ValueError(
                    "providers and a device or precision are both given: the providers say where "
                    "and how it is computed"
                )
        if not onnxruntime_has(card, precision):
            raise ValueError(
                f"device {device}, precision {precision}: onnxruntime {onnxruntime.__version__} "
                "computes float32 on the processor; float32 and tf32 on a card need onnxruntime-gpu"
            )
        if card is not None:
            options.use_deterministic_compute = True
            name = cuda_devices()["devices"][card]["model"]
            facts = {"name": name, "provider": sessions.CUDA}
            where = {"device": f"cuda:{card}", "precision": precision}
            self._where = where | {"device_facts": facts}
        self._is_tf32, self._by_providers = precision == "tf32", providers is not None
        self._title = self._file = str(path)
        with held(path) as copy:
            outside = trial.check_file(copy, seconds, memory)
            try:
                self._session = sessions.session(copy, options, card, self._is_tf32, providers)
            except Exception as e:
                raise Error(f"{copy}: onnxruntime refuses it: {cut(e)}{_way_out(copy)}") from None
            self._sha256 = sha256_file(copy)
            self._say_what_it_is(copy, output)
        exported = self._session.get_modelmeta().custom_metadata_map.get("facebench")
        self._set_pixels(mean, std, color, known=exported is not None)
        self._read_input()
        self.description = {
            "onnx": Path(path).name,
            "sha256": self._sha256,
            "output": self._output,
            "onnxruntime": onnxruntime.__version__,
        } | self._pixels()
        if self._graph is not None:
            self.description["graph_pixels"] = str(self._graph)
        if providers is not None:
            self.description["providers"] = self._session.get_providers()
        if outside:
            self.description["external_data"] = outside
        if exported is not None:
            self.description["exported"] = json.loads(exported)

    def _say_what_it_is(self, copy, output) -> None:
        """Which output is the embedding, and what the file says of its pixels."""
        self._outputs = {o.name: o.shape for o in self._session.get_outputs()}
        outputs = [*self._outputs]
        of_kind(output, (str, type(None)), "output")
        if output is not None and output not in outputs:
            names = cut(", ".join(outputs))
            raise ValueError(f"{self._file} has no output {brief(output)!r}; it has {names}")
        self._output, self._named = output or outputs[0], output is not None
        if not self._named and _numbers(self._outputs[self._output]) == 1:
            self._refuse_one_number()
        self._read_type()
        exported = self._session.get_modelmeta().custom_metadata_map.get("facebench")
        if exported is None:
            self._graph = graph_pixels(copy, self._output)
            if self._type is np.uint8:
                pixels = {"mean": [0.0], "std": [1.0]}
            else:
                pixels = self._graph.before if self._graph else {"mean": [127.5], "std": [127.5]}
            self._options = full.ModelOptions(mean=pixels["mean"], std=pixels["std"])
            if not self._named and len(outputs) > 1:
                self._chosen = f"output {self._output} of {self._sizes(outputs)}"
        else:
            _, self._options = full.parse_model_description(exported, self._file, "facebench")
            self._prepared = True

    @property
    def _row_tolerance(self) -> float:
        is_coarse = self._is_tf32 or self._by_providers or self._type is np.float16
        return 1e-2 if is_coarse else super()._row_tolerance

    def _sizes(self, outputs) -> str:
        """Outputs with their numbers for an image, for messages."""
        counts = {name: _numbers(self._outputs[name]) for name in outputs}
        return cut(", ".join(f"{n} ({c})" if c else n for n, c in counts.items()))

    def _refuse_one_number(self):
        raise Error(one_number(self._file, self._output, self._outputs, self._sizes))

    def _read_type(self) -> None:
        first = self._session.get_inputs()[0]
        if first.type not in _TYPES:
            known = ", ".join(name[7:-1] for name in _TYPES)
            raise Error(
                f"{self._file}: its input '{brief(first.name)}' is a {cut(first.type)}, which is "
                f"not given; {known} are. Pass a callable that feeds it"
            )
        self._type = _TYPES[first.type]

    def _read_input(self) -> None:
        first = self._session.get_inputs()[0]
        shape = [side if isinstance(side, int) else 0 for side in first.shape]
        channels = 1 if self._options.color == "gray" else 3
        self._last = channels_last(shape, channels)
        if self._last:
            shape = [shape[0], shape[3], shape[1], shape[2]]
        if len(shape) != 4 or shape[1] not in (0, channels):
            raise Error(
                f"{self._file}: its input '{brief(first.name)}' is "
                f"({cut(', '.join(map(str, first.shape)))}), expected (N, {channels}, H, W) or "
                f"(N, H, W, {channels}) with color '{self._options.color}'"
            )
        bare = set(self._options.mean) == {0} and set(self._options.std) == {1}
        if self._type is np.uint8 and not bare:
            raise ValueError(
                f"{self._file}: its input is of uint8, which takes pixels as they are: mean 0, "
                "std 1 (--set mean=0 --set std=1)"
            )
        self._name, self._batch = first.name, shape[0]
        self._input = shape[2], shape[3]

    def _run(self, x: np.ndarray) -> np.ndarray:
        if self._last:
            x = np.ascontiguousarray(x.transpose(0, 2, 3, 1))
        x = x.astype(self._type, copy=False)
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
                raise Error(
                    f"{self._file}: onnxruntime cannot run it: {cut(e)}{_way_out(self._file)}"
                ) from None
            if not self._named and np.size(out) == len(part):
                self._refuse_one_number()
            parts.append(_rows(out, len(part), f"{self._file}: its output '{brief(self._output)}'"))
        if len({part.shape[1] for part in parts}) > 1:
            problem = f"its output '{brief(self._output)}' has rows of unlike length"
            raise ValueError(f"{self._file}: {problem}")
        return np.concatenate(parts)


def _way_out(path) -> str:
    """For the end of a message: that convert reads the file, where it does."""
    try:
        _onnx_import.read(Path(path))
    except (Error, ValueError):
        return ""
    return ". facebench convert reads it, and the model file that it writes is run"


def _numbers(shape) -> int | None:
    """For an image, of an output's shape; None: the file does not say."""
    sides = shape[1:]
    return math.prod(sides) if all(isinstance(side, int) for side in sides) else None


def onnxruntime_has(card: int | None, precision: str) -> bool:
    """Whether the onnxruntime at hand computes in a precision on a card; None: the processor."""
    if card is None:
        return precision == "float32"
    return precision in ("float32", "tf32") and sessions.has_cuda()


def _torch_out_of_memory(message: str) -> Exception:
    """As torch says it, which the extractor knows: "Failed to allocate memory for requested buffer
    of size 1048576" of onnxruntime."""
    from facebench._torch import torch

    size = re.search(r"buffer of size (\d+)", message)
    asked = f"Tried to allocate {int(size[1]) / 2**20:.2f} MiB. " if size else ""
    return torch.OutOfMemoryError(asked + message)
