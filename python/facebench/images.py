"""Image files to pixels and back, and resizing. Pixels are uint8, (height, width, 3), RGB.

>>> import numpy as np
>>> from facebench import images
>>> gray = np.full((4, 6), 128, np.uint8)
>>> images.decode(images.encode_png(gray), color="gray").shape
(4, 6)
"""

import os
from typing import Unpack

import numpy as np

from facebench._library import full
from facebench.core._arguments import real_array, tensor_array, type_text
from facebench.core._options import takes

DecodeOptions = full.DecodeOptions
list_interpolations = full.interpolations


def pixels(image) -> np.ndarray:
    """The pixels of an array, a PIL image or a torch tensor: uint8 (height, width, 3) or
    (height, width).

    A tensor may be (3, height, width) or (height, width, 3). TypeError for anything else: floats
    would lose their scale.

    >>> import torch
    >>> from facebench import images
    >>> images.pixels(torch.zeros(3, 4, 5, dtype=torch.uint8)).shape
    (4, 5, 3)
    """
    if hasattr(image, "detach"):  # a torch tensor
        image = tensor_array(image, "an image")
        if image.ndim == 3 and image.shape[0] == 3 and image.shape[2] != 3:
            image = image.transpose(1, 2, 0)
    elif hasattr(image, "getbands"):  # a PIL image
        grey = image.mode in ("1", "L")
        image = np.asarray(image.convert("L" if grey else "RGB"))
    if np.ma.is_masked(image):
        raise ValueError("an image has masked pixels, which have no value")
    if not isinstance(image, np.ndarray) or image.dtype != np.uint8:
        raise TypeError(
            "an image must be uint8 (height, width, 3) or (height, width), a PIL image or a "
            f"tensor, not {type_text(image)}"
        )
    return np.ascontiguousarray(image)


@takes(DecodeOptions)
def read(path: str | os.PathLike, **options: "Unpack[full.DecodeOptionsKeywords]") -> np.ndarray:
    """The pixels of a JPEG, PNG or PNM file, told apart by its first bytes.

    Options are those of `DecodeOptions`: `color`, `max_pixels`, `exif_orientation`. Raises
    `facebench.Error` for a file that is damaged, truncated or of another format.

    >>> import tempfile, numpy as np
    >>> from facebench import images
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     images.write(f"{folder}/a.png", np.zeros((2, 3, 3), np.uint8))
    ...     images.read(f"{folder}/a.png").shape
    (2, 3, 3)
    """
    return full.read_image(path, DecodeOptions(**options))


@takes(DecodeOptions)
def decode(
    data: bytes, where: str = "image", **options: "Unpack[full.DecodeOptionsKeywords]"
) -> np.ndarray:
    """As `read()`, for bytes at hand; `where` stands in messages."""
    return full.decode_image(data, DecodeOptions(**options), where)


def write(
    path: str | os.PathLike, image: np.ndarray, color: str = "rgb", jpeg_quality: int = 95
) -> None:
    """Writes the whole file or nothing; the format by extension (.jpg, .png, .ppm)."""
    full.write_image(path, pixels(image), color, jpeg_quality)


encode_jpeg = full.encode_jpeg
encode_png = full.encode_png
encode_pnm = full.encode_pnm


def convert_color(image: np.ndarray, to: str, from_: str = "rgb") -> np.ndarray:
    """The picture in another order: 'rgb', 'bgr' or 'gray'.

    >>> import numpy as np
    >>> from facebench import images
    >>> images.convert_color(np.array([[[1, 2, 3]]], np.uint8), "bgr").tolist()
    [[[3, 2, 1]]]
    """
    return full.convert_color(pixels(image), to, from_)


def resize(
    image: np.ndarray, width: int, height: int, interpolation: str = "bilinear"
) -> np.ndarray:
    """The image at another size; `list_interpolations()` names the filters.

    >>> import numpy as np
    >>> from facebench import images
    >>> images.resize(np.zeros((10, 10, 3), np.uint8), 5, 4, "area").shape
    (4, 5, 3)
    """
    return full.resize(pixels(image), width, height, interpolation)


def area_mean(image: np.ndarray, width: int, height: int) -> np.ndarray:
    """float32 means over rectangles of whole pixels: torch's interpolate(mode="area").

    >>> import numpy as np
    >>> from facebench import images
    >>> float(images.area_mean(np.full((3, 3, 3), 7, np.uint8), 2, 2)[0, 0, 0])
    7.0
    """
    return full.area_mean(pixels(image), width, height)


def warp_affine(image: np.ndarray, matrix, width: int, height: int, border: int = 0) -> np.ndarray:
    """The image moved by a 2 x 3 matrix (source to target), bilinear, `border` outside."""
    return full.warp_affine(
        pixels(image), real_array(matrix, "matrix").tolist(), width, height, border
    )


__all__ = [
    "DecodeOptions",
    "area_mean",
    "convert_color",
    "decode",
    "encode_jpeg",
    "encode_png",
    "encode_pnm",
    "list_interpolations",
    "pixels",
    "read",
    "resize",
    "warp_affine",
    "write",
]
