"""What other libraries write on their modules of the pixels that they take."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np


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
        module = inner_module(module)
    return None


def inner_module(module):
    """What a wrapper of torch's, for compiling or several devices, is around; None: not one."""
    children = dict(module.named_children()) if hasattr(module, "named_children") else {}
    return children.get("_orig_mod", children.get("module"))


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
        if said is not None and _field(said, "mean") is not None:
            return pixels_of_timm(said, name)
    return None


def pixels_of_timm(said, where="pretrained_cfg") -> ModulePixels | None:
    """What a configuration of timm says. None: nothing in such a form."""
    fixed, sides = bool(_field(said, "fixed_input_size")), _field(said, "input_size")
    return _found(_field(said, "mean"), _field(said, "std"), 1, "rgb", sides, fixed, where)


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
