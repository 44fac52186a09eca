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
from facebench.core._arguments import cut, real_array, tensor_array, type_text, unmasked
from facebench.core._files import open_file
from facebench.core._options import takes

DecodeOptions = full.DecodeOptions
list_interpolations = full.interpolations
known_formats = full.image_formats  # "JPEG, PNG and ...", for messages


# What to do with arrays whose scale nobody has stated, by the kind of their type.
_SCALES = {
    "f": "of 0 to 1: (x * 255).round().astype('uint8'); of 0 to 255: x.round().astype('uint8')",
    "u": "of 16 bits: (x * (255 / 65535)).round().astype('uint8'); of 0 to 255: x.astype('uint8')",
    "i": "of 0 to 255: x.astype('uint8')",
    "b": "x.astype('uint8') * 255",
}


def pixels(image) -> np.ndarray:
    """The pixels of an array, a PIL image or a torch tensor: uint8 (height, width, 3) or
    (height, width).

    A tensor may be (3, height, width) or (height, width, 3). One channel may be a side of its own:
    (height, width, 1), of a tensor (1, height, width). A PIL image gives what `read()` gives
    of its file: 16 bits become 8 by v * 255 / 65535, transparency is composited over black. Of
    floats and other whole numbers nobody knows the scale: TypeError says how to state it.
    ValueError for another shape, for masked pixels, and for a PIL image of mode "I" of which the
    scale is unclear.

    >>> import torch
    >>> from facebench import images
    >>> images.pixels(torch.zeros(3, 4, 5, dtype=torch.uint8)).shape
    (4, 5, 3)
    """
    if hasattr(image, "detach"):  # a torch tensor
        image = tensor_array(image, "an image")
        if image.ndim == 3 and image.shape[0] in (1, 3) and image.shape[2] not in (1, 3):
            image = image.transpose(1, 2, 0)
    elif hasattr(image, "getbands"):
        image = _pixels_of_pil(image)
    unmasked(image, "an image")
    if not isinstance(image, np.ndarray) or image.dtype != np.uint8:
        advice = _SCALES.get(image.dtype.kind) if isinstance(image, np.ndarray) else None
        raise TypeError(
            "an image must be uint8 (height, width, 3) or (height, width), a PIL image or a "
            f"tensor, not {type_text(image)}" + (f". State its scale: {advice}" if advice else "")
        )
    if image.ndim == 3 and image.shape[2] == 1:
        image = image[..., 0]
    if image.ndim != 2 and image.shape[2:] != (3,):
        raise ValueError(
            "an image must be (height, width, 3) or (height, width), not "
            f"{cut(str(image.shape))}{_what_to_do(image.shape)}"
        )
    if not image.size:
        raise ValueError(f"an image must have pixels; it is {image.shape}")
    return np.ascontiguousarray(image)


def _what_to_do(shape) -> str:
    """With an array of another shape than an image's."""
    if len(shape) == 4:
        return ". It is several, or one with a side before: take each, x[0], x[1], ..."
    if len(shape) == 3 and shape[2] == 4:
        return ". Leave its transparency out: x[..., :3]"
    if len(shape) == 3 and shape[2] == 2:
        return ". Leave its transparency out: x[..., 0]"
    if len(shape) == 3 and shape[0] in (1, 3):
        return ". Put its channels last: x.transpose(1, 2, 0)"
    return ""


def _pixels_of_pil(image) -> np.ndarray:
    """As the file would be read: see the tests, which compare both in every mode."""
    mode = image.mode
    if mode == "I" or mode.startswith("I;16"):
        deep = np.asarray(image).astype(np.int64)
        low, high = int(deep.min(initial=0)), int(deep.max(initial=0))
        if low < 0 or high > 65535:
            raise ValueError(
                f"a PIL image of mode {mode} holds {low} to {high}, not 16 bits; scale it to 0 to "
                "255 and pass it as uint8"
            )
        if mode == "I" and 0 < high < 256 and image.format != "PNG":  # whose "I" is of 16 bits
            raise ValueError(
                f"a PIL image of mode I holds no value above {high}: of 8 bits, pass "
                "image.convert('L'); of 16, pass (np.asarray(image) / 257).round().astype('uint8')"
            )
        return ((deep * 255 + 32767) // 65535).astype(np.uint8)
    if mode == "F":
        raise TypeError(
            f"a PIL image of mode F has no known scale. State it: {_SCALES['f']} of "
            "x = np.asarray(image)"
        )
    if mode == "CMYK":
        inks = 255 - np.asarray(image).astype(np.int32)
        return ((inks[..., :3] * inks[..., 3:] + 127) // 255).astype(np.uint8)
    grey = mode in ("1", "L", "LA", "La")
    if "transparency" not in image.info and mode not in ("LA", "La", "PA", "RGBA", "RGBa"):
        return np.asarray(image.convert("L" if grey else "RGB"))
    if mode == "La":  # PIL converts it to LA alone
        image = image.convert("LA")
    clear = np.asarray(image.convert("RGBA")).astype(np.int32)
    over_black = ((clear[..., :3] * clear[..., 3:] + 127) // 255).astype(np.uint8)
    return over_black[..., 0] if grey else over_black


def exif_orientation(image) -> int:
    """Which way the Exif tag of a photograph asks for it to be turned: 1, as it lies, to 8.

    ``image``: a path, the bytes of a file, or a PIL image. 1 where there is no tag or a damaged
    one.

    >>> import numpy as np
    >>> from facebench import images
    >>> images.exif_orientation(images.encode_png(np.zeros((2, 2), np.uint8)))
    1
    """
    if hasattr(image, "getexif"):
        try:
            tag = image.getexif().get(0x0112)
        except Exception:  # whatever PIL meets in damaged data
            return 1
        return tag if tag in range(1, 9) else 1
    if isinstance(image, str | os.PathLike):
        with open_file(image) as file:
            image = file.read()
    return full.exif_orientation(image)


def _load(image, turn: bool = False, color: str = "rgb") -> tuple[np.ndarray, int]:
    """The pixels of a path, or of what `pixels()` takes, and the orientation that its Exif tag asks
    for; turned so where ``turn``. ``color``: the order of what is read from a file."""
    if isinstance(image, str | os.PathLike):
        return read(image, exif_orientation=turn, color=color), exif_orientation(image)
    asked = exif_orientation(image) if hasattr(image, "getexif") else 1
    if turn and asked != 1:
        from PIL import ImageOps

        image = ImageOps.exif_transpose(image)
    return pixels(image), asked


def _tagged_text(asked) -> str:
    """A sentence, where some of the orientations ask for their photograph to be turned; else ""."""
    count = sum(orientation != 1 for orientation in asked)
    if not count:
        return ""
    return (
        f"{count} of {len(asked)} photographs ask by their Exif tag to be turned, and were taken "
        "as they lie; exif_orientation=True (--exif-orientation) turns them"
    )


@takes(DecodeOptions)
def read(path: str | os.PathLike, **options: "Unpack[full.DecodeOptionsKeywords]") -> np.ndarray:
    """The pixels of a JPEG, PNG, PNM, BMP, TIFF or WebP file, told apart by its first bytes.

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


def warp_affine(
    image: np.ndarray, matrix, width: int, height: int, border: int = 0, rule: str = "opencv4"
) -> np.ndarray:
    """The image moved by a 2 x 3 matrix (source to target), bilinear, `border` outside.

    `rule` rounds the positions between pixels: "opencv4" to 1/32 pixel, which gives the bytes of
    OpenCV 4 whatever OpenCV is installed; "exact" to 1/65,536. Unknown rule: ValueError.

    >>> import numpy as np
    >>> from facebench import images
    >>> images.warp_affine(np.array([[0, 100]], np.uint8), [[1, 0, -0.49], [0, 1, 0]], 1, 1)
    array([[50]], dtype=uint8)
    >>> images.warp_affine(
    ...     np.array([[0, 100]], np.uint8), [[1, 0, -0.49], [0, 1, 0]], 1, 1, rule="exact"
    ... )
    array([[49]], dtype=uint8)
    """
    return full.warp_affine(
        pixels(image), real_array(matrix, "matrix").tolist(), width, height, border, rule
    )


__all__ = [
    "DecodeOptions",
    "area_mean",
    "convert_color",
    "decode",
    "encode_jpeg",
    "encode_png",
    "encode_pnm",
    "exif_orientation",
    "known_formats",
    "list_interpolations",
    "pixels",
    "read",
    "resize",
    "warp_affine",
    "write",
]
