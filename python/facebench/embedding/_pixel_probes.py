"""What a network's arithmetic before its first layer does to pixels, told from what comes out of it
for images of one colour: whatever operations it is made of.
"""

from dataclasses import dataclass

import numpy as np

# Least deviation, or mean where nothing is divided, of pixels 0..255. What a network does to
# numbers around 0, or 0..1, lies far below.
RAW = 16
_GREYS = (-1.0, 0.0, 0.25, 0.5, 0.75, 1.0, 64.0, 128.0, 192.0, 255.0, 256.0)
_AT = {grey: k for k, grey in enumerate(_GREYS)}
_UNIT = [_AT[x] for x in (0.0, 0.25, 0.5, 0.75, 1.0)]
_BYTES = [_AT[x] for x in (0.0, 64.0, 128.0, 192.0, 255.0)]
SIDE = 112  # of images where the network takes any


@dataclass(frozen=True)
class GraphPixels:
    """A graph that normalises its input itself: (value - mean) / std of pixels 0..255, or where
    ``unit`` 0..1, one number or one for each channel."""

    mean: tuple[float, ...]
    std: tuple[float, ...]
    unit: bool
    where: str = "graph"  # or module

    @property
    def before(self) -> dict[str, list[float]]:
        """What is left to do to pixels 0..255 before the graph."""
        return {"mean": [0.0], "std": [255.0 if self.unit else 1.0]}

    def warnings(self, stated: dict[str, str], assumed) -> list[str]:
        """A sentence where mean or std, as text, do it once more. ``assumed``: those of them that
        nobody stated."""
        right = {name: f"{values[0]:g}" for name, values in self.before.items()}
        given = {n: v for n, v in stated.items() if n in right and n not in assumed}
        if all(set(value.split(",")) == {right[name]} for name, value in given.items()):
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


def probes(channels: int, height: int, width: int) -> list[np.ndarray]:
    """Images (1, C, H, W) of one grey, and of one channel alone."""
    images = [np.full((1, channels, height, width), grey, np.float32) for grey in _GREYS]
    for channel in range(channels):
        images.append(np.zeros((1, channels, height, width), np.float32))
        images[-1][:, channel] = 255
    return images


def normalisation(passed, read, norms=(), where="graph") -> GraphPixels | None:
    """How pixels are normalised, of values by what each is for every image of `probes`: those that
    the arithmetic has ``passed``, in its order, those that layers ``read``, and those that batch
    ``norms`` give where they only subtract their mean and divide by their deviation. None: not."""
    with np.errstate(all="ignore"):
        for value in [*reversed(passed), *norms]:
            if (found := _of_bytes(_Value(value))) is not None:
                mean, std = found
                return GraphPixels(mean, std, False, where)
        for value in read:
            if (found := _of_unit(_Value(value))) is not None:
                mean, std = found
                return GraphPixels(mean, std, True, where)
    return None


class _Value:
    """The numbers of a value that move with the pixels, (images of `probes`, numbers)."""

    def __init__(self, value):
        numbers = np.stack([np.asarray(v, np.float64).reshape(-1) for v in value])
        greys, alone = numbers[: len(_GREYS)], numbers[len(_GREYS) :]
        # NaN is no movement here: a root of -1, which nobody feeds.
        of_channel = np.nan_to_num(alone) != np.nan_to_num(greys[_AT[0.0]])
        moving = of_channel.any(0)
        greys, of_channel = greys[:, moving], of_channel[:, moving]
        # By their channel; those that mix channels, as a grey of colours does, are one more.
        groups = np.where(of_channel.sum(0) == 1, of_channel.argmax(0), len(alone))
        self.greys, self.groups = greys, groups

    def along(self, points):
        """(mean, std, group) by number, of a scale and shift that do to the first and last point
        what is done to them. None where the numbers between are not in order."""
        values = self.greys[points]
        reach = values[-1] - values[0]
        # Of mixed channels: what no grey moves, a difference of colours.
        kept = (self.groups < self.groups.max(initial=0)) | (
            np.abs(reach) > 1e-3 * np.abs(reach).max(initial=0)
        )
        steps = np.diff(values[:, kept], axis=0) * np.sign(reach[kept])
        if not steps.size or not (np.isfinite(steps) & (steps > 0)).all():
            return None
        low, high = (_GREYS[points[k]] for k in (0, -1))
        std = (high - low) / reach[kept]
        mean = low - values[0, kept] * std
        return mean, std, self.groups[kept]

    def bounded(self, low: float, high: float, below: float, above: float) -> bool:
        """Whether what is below ``low`` and above ``high`` is as these."""
        pairs = ((low, below), (high, above))
        return all(np.array_equal(self.greys[_AT[a]], self.greys[_AT[b]]) for a, b in pairs)


def _by_channel(mean, std, groups):
    """(mean, std), one number or one for each channel; of a mean image, its mean."""
    found = [[float(v[groups == g].mean()) + 0.0 for g in np.unique(groups)] for v in (mean, std)]
    # What float32 has left of 0.
    found[0] = [0.0 if abs(m) < 1e-5 * abs(s) else m for m, s in zip(*found, strict=True)]
    return tuple(
        tuple(values[:1] if np.allclose(values, values[0], rtol=1e-6, atol=0) else values)
        for values in found
    )


def _of_bytes(value):
    if (found := value.along(_BYTES)) is None:
        return None
    mean, std, groups = found
    means = np.array([mean[groups == g].mean() for g in np.unique(groups)])
    whole = np.allclose(np.abs(std), 1, rtol=1e-4) and (means >= RAW).all()
    bounds = value.bounded(0, 255, -1, 256) or value.along(_UNIT) is None
    if not (whole or bounds or (np.abs(std) >= RAW).all()):
        return None
    return _by_channel(mean, std, groups)


def _of_unit(value):
    if (found := value.along(_UNIT)) is None:
        return None
    mean, std, groups = found
    means = np.array([mean[groups == g].mean() for g in np.unique(groups)])
    inside = ((means > 0) & (means < 1)).all() and (np.abs(std) < 1).all()
    enlarged = not means.any() and (np.abs(std) < 1 / RAW).all()  # to bytes, 0..255
    if not (inside or enlarged or value.bounded(0, 1, -1, 64)):
        return None
    return _by_channel(mean, std, groups)
