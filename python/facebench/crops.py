"""Cutting faces out of images.

>>> import numpy as np
>>> from facebench import crops
>>> from facebench.detection import Face
>>> crop, reason = crops.crop_face(np.zeros((60, 60, 3), np.uint8), Face([10, 10, 40, 40]), "paper")
>>> crop.shape, reason
((112, 112, 3), '')
"""

from collections.abc import Sequence

import numpy as np

from facebench._library import full
from facebench.core import _log
from facebench.core._arguments import real_array
from facebench.core._options import takes
from facebench.detection import Face
from facebench.images import pixels

CropOptions = full.CropOptions
list_crops = full.crops


def _options(name, options) -> CropOptions:
    if not isinstance(name, CropOptions):
        return CropOptions(name=name, **options)
    if options:
        raise TypeError("options go into CropOptions when one is passed")
    return name


@takes(CropOptions)
def crop_face(
    image: np.ndarray, face: Face, name: str | CropOptions = "arcface112", **options
) -> tuple[np.ndarray | None, str]:
    """The crop and "", or None and the reason why this face cannot be cut out.

    `name` is one of `list_crops()`, or a `CropOptions`; `options` are its fields. A UserWarning
    where the face is aligned by landmarks that do not lie as those of a face (left and right or x
    and y exchanged, relative to the box, ...); docs/detection.md has the bounds.

    >>> import numpy as np
    >>> from facebench import crops
    >>> from facebench.detection import Face
    >>> crops.crop_face(np.zeros((60, 60, 3), np.uint8), Face([10, 10, 40, 40]), "arcface112")
    (None, 'the crop needs landmarks, and the face has none')
    """
    crop, reason, doubt = full.crop_face(pixels(image), face, _options(name, options))
    if doubt:
        _log.warn(
            f"The landmarks do not lie as those of a face: {doubt}. The crop is turned or "
            "elsewhere.",
            stacklevel=3,
        )
    return crop, reason


@takes(CropOptions)
def crop_window(
    width: int, height: int, face: Face, name: str | CropOptions = "paper", **options
) -> tuple[int, int, int, int] | None:
    """The pixels x0, y0, x1, y1 that a box crop cuts out of an image of this size, before it is
    resized; None where the box has none inside.

    >>> from facebench import crops
    >>> from facebench.detection import Face
    >>> crops.crop_window(100, 80, Face([10, 10, 50, 70]), "paper")
    (4, 1, 56, 79)
    """
    window = full.crop_window(width, height, face, _options(name, options))
    if window is None:
        return None
    x0, y0, x1, y1 = window
    return x0, y0, x1, y1


@takes(CropOptions)
def resolve_crop(name: str | CropOptions, **options) -> CropOptions:
    """The options with everything that was left to the crop filled in, as manifests record them.

    >>> from facebench import crops
    >>> crops.resolve_crop("facenet").margin_pixels
    22.0
    """
    return full.resolve_crop(_options(name, options))


def fit_similarity(from_: Sequence, to: Sequence) -> np.ndarray:
    """The 2 x 3 similarity that moves points onto points with least squares (Umeyama 1991).

    >>> from facebench import crops
    >>> crops.fit_similarity([[0, 0], [1, 0]], [[5, 5], [7, 5]]).tolist()
    [[2.0, -0.0, 5.0], [0.0, 2.0, 5.0]]
    """
    return full.fit_similarity(real_array(from_, "from_").tolist(), real_array(to, "to").tolist())


__all__ = [
    "CropOptions",
    "crop_face",
    "crop_window",
    "fit_similarity",
    "list_crops",
    "resolve_crop",
]
