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

from facebench._torch import full
from facebench.detection import Face

CropOptions = full.CropOptions


def crop_face(
    image: np.ndarray, face: Face, name: str | CropOptions = "arcface112", **options
) -> tuple[np.ndarray | None, str]:
    """The crop and "", or None and the reason why this face cannot be cut out.

    `name` is one of `crops()`, or a `CropOptions`; `options` are its fields.

    >>> import numpy as np
    >>> from facebench import crops
    >>> from facebench.detection import Face
    >>> crops.crop_face(np.zeros((60, 60, 3), np.uint8), Face([10, 10, 40, 40]), "arcface112")
    (None, 'the crop needs landmarks, and the face has none')
    """
    if isinstance(name, CropOptions):
        if options:
            raise TypeError("options go into CropOptions when one is passed")
        return full.crop_face(image, face, name)
    return full.crop_face(image, face, CropOptions(name=name, **options))


def fit_similarity(from_: Sequence, to: Sequence) -> np.ndarray:
    """The 2 x 3 similarity that moves points onto points with least squares (Umeyama 1991).

    >>> from facebench import crops
    >>> crops.fit_similarity([[0, 0], [1, 0]], [[5, 5], [7, 5]]).tolist()
    [[2.0, -0.0, 5.0], [0.0, 2.0, 5.0]]
    """
    return full.fit_similarity(np.asarray(from_).tolist(), np.asarray(to).tolist())


def crops() -> dict[str, str]:
    """Crop name -> one line about it."""
    return full.crops()


__all__ = ["CropOptions", "crop_face", "crops", "fit_similarity"]
