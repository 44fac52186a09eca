"""What embedders of networks share that other libraries run, callables as such networks, and how
the extractor takes them."""

import weakref
from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from facebench._library import full
from facebench.core._arguments import tensor_array, unmasked
from facebench.embedding._pixel_probes import GraphPixels


def _list(values) -> list[float]:
    return np.atleast_1d(np.asarray(values, np.float64)).tolist()


class _NetworkEmbedder:
    """A network that another library runs: numbers (N, C, H, W) in, rows out. Pixels become numbers
    in `extract`, as `_options` (a `ModelOptions`) says."""

    _title: str  # in messages and run folders
    _options: full.ModelOptions
    _input: tuple[int, int] = (0, 0)  # height, width; 0: any
    _prepared = False  # whether the options say how its images are detected and cropped
    _file = _sha256 = ""
    _where: Mapping = MappingProxyType({})  # device, precision, device_facts, on a card

    _assumed: tuple[str, ...] = ()  # which of mean, std and color nobody stated
    _graph: GraphPixels | None = None  # how the network normalises its input itself
    _told_assumptions = False  # whether a warning has said them
    _chosen = ""  # which of its outputs was taken, where nobody named one

    _run: Callable  # the network's rows of numbers (N, C, H, W)
    description: dict  # of the network, for run folders

    @property
    def _row_tolerance(self) -> float:
        """How far its arithmetic moves a row, as a share of its length."""
        return 1e-3

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

    def _warnings(self) -> list[str]:
        """What is odd in what was stated, a sentence each."""
        return [] if self._graph is None else self._graph.warnings(self._texts(), self._assumed)

    def assumed(self, flip=None) -> str:
        """What is not known of this network and was assumed, as text; "" where all was stated.

        ``flip``: how it is embedded, where that was stated.
        """
        values = self._texts()
        assumed = [f"{name} {values[name]}" for name in self._assumed]
        if self._graph is not None and {"mean", "std"} & set(self._assumed):
            assumed.append(f"since the {self._graph.where} normalises them itself, {self._graph}")
        if self._assumed and not flip and self._options.flip == "none":
            assumed.append("no flip")
        return ", ".join([*assumed, self._chosen] if self._chosen else assumed)

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
        faces = np.ascontiguousarray(unmasked(images, "images"))
        return full.extract_array(batch_model(self), faces, plain).values


def _rows(out, images: int, what: str) -> np.ndarray:
    """An output as one row for each image. ValueError where its first side is not the images':
    reshaping would mix their numbers."""
    shape = getattr(out, "shape", None)
    if shape is None or len(shape) < 2 or shape[0] != images:
        form = "no array" if shape is None else f"({', '.join(map(str, shape))})"
        raise ValueError(f"{what} is {form} for {images} images, expected ({images}, D)")
    return out.reshape(images, -1)


def _name(embedder) -> str:
    function = embedder if hasattr(embedder, "__qualname__") else type(embedder)
    return f"{function.__module__}:{function.__qualname__}"


def _as_arrays(function):
    """The same; a torch tensor that it returns, with gradients or on a card, as an array, and an
    array with masked entries refused: they have no value."""

    def called(batch):
        out = function(batch)
        if hasattr(out, "detach"):
            return tensor_array(out, "the model's output")
        return unmasked(out, "the model's output")

    return called


_FINDINGS: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


def _findings_of(embedder):
    """What `extract` found of its rows, kept as long as it lives: each is asked once. None where
    nothing can be kept beside it."""
    owner = getattr(embedder, "__self__", embedder)  # a method is a new object each time
    try:
        kept = _FINDINGS.setdefault(owner, {})
    except TypeError:
        return None
    return kept.setdefault(_name(embedder), full.BatchFindings())


def batch_model(embedder, name: str = "", flip=None) -> full.BatchModel:
    """An `Embedder` as the extractor takes it. ``name``: in messages and run folders. ``flip``: how
    it is embedded, where that was stated."""
    if isinstance(embedder, _NetworkEmbedder):
        assumed = embedder.assumed(flip)
        described: dict[str, str | list[str]] = {"assumed": assumed} if assumed else {}
        if said := embedder._warnings():
            described["warnings"] = said
        height, width = embedder._input
        return full.PythonModel(
            _as_arrays(embedder._run),
            name=name or embedder._title,
            options=embedder._options,
            height=height,
            width=width,
            prepared=embedder._prepared,
            description=embedder.description | described,
            file=embedder._file,
            sha256=embedder._sha256,
            row_tolerance=embedder._row_tolerance,
            findings=_findings_of(embedder),
            **embedder._where,
        )
    stated = {k: getattr(embedder, k) for k in ("flip", "normalization") if hasattr(embedder, k)}
    return full.PythonModel(
        _as_arrays(embedder),
        name=name or _name(embedder),
        options=full.ModelOptions(**stated),
        raw_bytes=True,
        description=getattr(embedder, "description", {"callable": _name(embedder)}),
        findings=_findings_of(embedder),
    )


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
