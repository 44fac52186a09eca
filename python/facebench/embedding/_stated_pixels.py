"""What a network says of its pixels in another form than ours: the arithmetic that an ONNX graph
begins with, and what other libraries write on their modules."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from facebench.core import Error
from facebench.embedding import _onnx_file

# Least deviation, or mean where nothing is divided, of pixels 0..255. What a network does to
# numbers around 0, or 0..1, lies far below.
RAW = 16


@dataclass(frozen=True)
class GraphPixels:
    """A graph that normalises its input itself: (value - mean) / std of pixels 0..255, or where
    ``unit`` 0..1, one number or one for each channel."""

    mean: tuple[float, ...]
    std: tuple[float, ...]
    unit: bool

    @property
    def before(self) -> dict[str, list[float]]:
        """What is left to do to pixels 0..255 before the graph."""
        return {"mean": [0.0], "std": [255.0 if self.unit else 1.0]}

    def warnings(self, stated: dict[str, str], assumed) -> list[str]:
        """A sentence where mean or std, as text, do it once more. ``assumed``: those of them that
        nobody stated."""
        right = {name: f"{values[0]:g}" for name, values in self.before.items()}
        given = {n: v for n, v in stated.items() if n in right and n not in assumed}
        if all(value == right[name] for name, value in given.items()):
            return []
        said = ", ".join(f"{name} {value}" for name, value in given.items())
        rule = ", ".join(f"{name}={value}" for name, value in right.items())
        return [
            f"The network normalises its pixels itself ({self}), and {said} was stated beside it: "
            f"twice is rarely meant. With {rule} it gets them as it expects."
        ]

    def __str__(self):
        mean, std = (", ".join(f"{x:.6g}" for x in values) for values in (self.mean, self.std))
        return f"of pixels 0..{1 if self.unit else 255} mean {mean}, std {std}"


def graph_pixels(path) -> GraphPixels | None:
    """How the graph of an ONNX file normalises its input, with constants or a batch norm whose
    statistics are those of pixels, before it does anything else; None: it does not, or the file is
    not known to this library's reader."""
    try:
        graph, tensors = _onnx_file.outline(path)
    except Error:
        return None
    names = [name for name in graph.inputs if name not in tensors]
    if len(names) != 1:
        return None
    try:
        with np.errstate(all="ignore"):
            return _Beginning(graph.nodes, tensors).normalisation(names[0])
    except ValueError:  # constants that do not fit each other
        return None


class _Beginning:
    """The nodes that a graph's input goes through, one after the other, as scale x + shift."""

    def __init__(self, nodes, tensors):
        self._tensors = dict(tensors)
        self._readers = {}
        for node in nodes:
            value = node.attributes.get("value", node.attributes.get("value_float"))
            if node.op == "Constant" and len(node.outputs) == 1 and value is not None:
                self._tensors[node.outputs[0]] = np.asarray(value)
            for name in set(node.inputs) if node.op != "Shape" else ():
                self._readers.setdefault(name, []).append(node)
        self._axis = 1  # of the channels
        self.scale, self.shift = np.ones(1), np.zeros(1)

    def normalisation(self, value) -> GraphPixels | None:
        raw = unit = None  # what has been seen of pixels; what the arithmetic so far is of 0..1
        seen = set()
        while len(self._readers.get(value, ())) == 1 and value not in seen:
            seen.add(value)
            (node,) = self._readers[value]
            if node.domain not in ("", "ai.onnx") or not node.outputs:
                break
            if node.op == "BatchNormalization":
                return raw or self._statistics(node) or unit
            if not self._taken(node, value):
                break
            pixels = self._as_pixels()
            unit = pixels if pixels and pixels.unit else None
            raw = pixels if pixels and not pixels.unit else raw
            value = node.outputs[0]
        return raw or unit

    def _constant(self, name):
        """As one number, or one for each channel; None where it is neither."""
        numbers = _onnx_file.small_tensor(self._tensors.get(name))
        if numbers is None:
            return None
        sides = (1,) * (4 - numbers.ndim) + numbers.shape
        if len(sides) != 4 or any(n != 1 for k, n in enumerate(sides) if k != self._axis):
            return None
        return numbers.reshape(-1).astype(np.float64)

    def _taken(self, node, value) -> bool:
        """Whether a node is one of those that only arrange, shift or scale."""
        if node.op in ("Identity", "Cast", "Dropout"):
            return True
        if node.op == "Transpose":
            order = node.attributes.get("perm")
            if not isinstance(order, list) or sorted(order) != [0, 1, 2, 3] or order[0] != 0:
                return False
            self._axis = order.index(self._axis)
            return True
        if node.op not in ("Add", "Sub", "Mul", "Div") or len(node.inputs) != 2:
            return False
        first, second = node.inputs
        if first != value and node.op in ("Sub", "Div"):
            return False
        number = self._constant(second if first == value else first)
        if number is None or (node.op == "Div" and not number.all()):
            return False
        if node.op in ("Add", "Sub"):
            self.shift = self.shift + (number if node.op == "Add" else -number)
        else:
            factor = number if node.op == "Mul" else 1 / number
            self.scale, self.shift = self.scale * factor, self.shift * factor
        return True

    def _as_pixels(self) -> GraphPixels | None:
        if not (np.isfinite(self.scale) & (self.scale > 0)).all():
            return None
        mean, std = -self.shift / self.scale, 1 / self.scale
        whole = np.isclose(std, 1).all() and (mean >= RAW).all()
        unit = ((mean > 0) & (mean < 1) & (std < 1)).all()
        if not (unit or whole or (std >= RAW).all()):
            return None
        # 0 without a sign
        return GraphPixels(tuple((mean + 0.0).tolist()), tuple(std.tolist()), bool(unit))

    def _statistics(self, node) -> GraphPixels | None:
        """Of a batch norm that reads the input: whether it has seen pixels."""
        if len(node.inputs) != 5 or self._axis != 1:
            return None
        mean, variance = (_onnx_file.small_tensor(self._tensors.get(n)) for n in node.inputs[3:])
        if mean is None or variance is None or not (variance >= 0).all():
            return None
        # In units of the input, which nodes before may have scaled.
        std = np.sqrt(variance.astype(np.float64)) / self.scale
        mean = (mean - self.shift) / self.scale
        if not (np.isfinite(std) & (std >= RAW)).all():
            return None
        return GraphPixels(tuple(mean.tolist()), tuple(std.tolist()), False)


@dataclass(frozen=True)
class ModulePixels:
    """What a PyTorch module says: mean and std of pixels 0..255, the order of its channels, its
    input's height and width (0: any), and whether it takes no other."""

    mean: list[float]
    std: list[float]
    color: str
    size: tuple[int, int]
    fixed: bool
    where: str  # the attribute that says it


def module_pixels(module) -> ModulePixels | None:
    """What a module, or the one within a wrapper of torch's, says of its pixels: timm's
    ``pretrained_cfg``, a ``config`` of transformers with ``image_mean``, ``meta`` of
    pytorch-mcn, or the attributes of pretrainedmodels. None: nothing, or not in such a form."""
    seen = []
    while module is not None and module not in seen:
        seen.append(module)
        for read in (_timm, _transformers, _mcn, _pretrainedmodels):
            if (found := read(module)) is not None:
                return found
        module = next(
            (inner for n in ("_orig_mod", "module") if (inner := _part(module, n)) is not None),
            None,
        )
    return None


def _part(module, name):
    return getattr(module, "_modules", {}).get(name)


def _field(of, name):
    return of.get(name) if isinstance(of, Mapping) else getattr(of, name, None)


def _found(mean, std, scale, color, sides, fixed, where) -> ModulePixels | None:
    """None where mean and std are not numbers that fit: one for each channel, in 0..``scale``."""
    try:
        mean, std = (np.atleast_1d(np.asarray(v, np.float64)) for v in (mean, std))
        sides = [int(n) for n in sides or ()]
    except (TypeError, ValueError):
        return None
    channels = sides[0] if len(sides) == 3 else len(mean)
    if mean.shape != std.shape or mean.shape != (channels,) or channels not in (1, 3):
        return None
    within = (mean >= 0) & (mean <= scale) & (std > 0) & (std <= scale)
    if not within.all():
        return None
    factor = 255 / scale
    color = "gray" if channels == 1 else color
    # Digits that the product invents: 0.485 * 255 is 123.675.
    mean, std = ([float(f"{x * factor:.10g}") for x in v] for v in (mean, std))
    size = (sides[1], sides[2]) if len(sides) == 3 else (0, 0)
    return ModulePixels(mean, std, color, size, fixed, where)


def _timm(module):
    for name in ("pretrained_cfg", "default_cfg"):
        said = getattr(module, name, None)
        if said is not None and (mean := _field(said, "mean")) is not None:
            fixed = bool(_field(said, "fixed_input_size"))
            sides = _field(said, "input_size")
            return _found(mean, _field(said, "std"), 1, "rgb", sides, fixed, name)
    return None


def _transformers(module):
    said = getattr(module, "config", None)
    mean, std = (_field(said, f"image_{n}") for n in ("mean", "std"))
    return None if mean is None else _found(mean, std, 1, "rgb", None, False, "config")


def _mcn(module):
    said = getattr(module, "meta", None)
    if not isinstance(said, Mapping) or not {"mean", "std", "imageSize"} <= set(said):
        return None
    try:
        height, width, channels = said["imageSize"]
    except (TypeError, ValueError):
        return None
    return _found(said["mean"], said["std"], 255, "rgb", [channels, height, width], False, "meta")


def _pretrainedmodels(module):
    names = ("mean", "std", "input_range", "input_space")
    mean, std, reach, space = (getattr(module, n, None) for n in names)
    if not isinstance(reach, list | tuple) or list(reach) not in ([0, 1], [0, 255]):
        return None
    if space not in ("RGB", "BGR"):
        return None
    sides = getattr(module, "input_size", None)
    return _found(mean, std, reach[1], space.lower(), sides, False, "input_space")
