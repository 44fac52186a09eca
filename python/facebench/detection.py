"""Finding faces: detectors, which face to take, drawing.

>>> import numpy as np
>>> from facebench import detection
>>> detection.detect(np.zeros((64, 64, 3), np.uint8), detector="hog")
[]
"""

import json
import os
from collections.abc import Sequence

import numpy as np

from facebench import images as _images
from facebench._torch import full

Detector = full.Detector
Face = full.Face
GivenOptions = full.GivenOptions
HogOptions = full.HogOptions
MtcnnOptions = full.MtcnnOptions

face_csv_header = full.face_csv_header
face_csv_record = full.face_csv_record
default_mtcnn_weights = full.default_mtcnn_weights


def make_detector(name: str = "mtcnn", **options) -> Detector:
    """A detector by name, with its options (`detectors()` lists the names).

    For `mtcnn`, `mode` is a preset over all options that are not given.

    >>> from facebench import detection
    >>> hog = detection.make_detector("hog", upsample=0)
    >>> detection.description(hog)["options"]["upsample"]
    0
    """
    return full.make_detector(name, **options)


def description(detector: Detector) -> dict:
    """Everything that decides what a detector finds, as manifests record it."""
    return json.loads(detector.description())


def detect(
    image: np.ndarray | str | os.PathLike | Sequence,
    detector: str | Detector = "mtcnn",
    *,
    color: str = "rgb",
    threads: int = 0,
    progress=None,
    **options,
):
    """The faces of an image, best first; of several images, a list of such lists.

    `image` is an array (height, width, 3) of uint8, a path, or a sequence or (N, height, width, 3)
    array of them, whose sizes may differ. `color` tells the order of arrays. A batch gives exactly
    the answers of single images. A path is also the sample id under which `given` looks.

    >>> import numpy as np
    >>> from facebench import detection
    >>> black = np.zeros((40, 30, 3), np.uint8)
    >>> detection.detect([black, black], detector="hog", threads=2)
    [[], []]
    """
    if isinstance(detector, str):
        detector = make_detector(detector, **options)
    elif options:
        raise TypeError("options go to make_detector() when a detector is passed")

    def load(item):
        if isinstance(item, (str, os.PathLike)):
            return _images.read(item, color=color), os.fspath(item)
        return np.asarray(item), ""

    if isinstance(image, (str, os.PathLike)) or (
        isinstance(image, np.ndarray) and image.ndim in (2, 3)
    ):
        pixels, name = load(image)
        return detector.detect(pixels, name, color)
    loaded = [load(item) for item in image]
    return detector.detect_all(
        [pixels for pixels, _ in loaded], [name for _, name in loaded], color, threads, progress
    )


def select_face(
    faces: Sequence[Face], width: int, height: int, rule: str = "largest"
) -> int | None:
    """The index of the face to take, or None where there is none.

    >>> from facebench.detection import Face, select_face
    >>> faces = [Face([0, 0, 30, 30]), Face([40, 40, 60, 60])]
    >>> select_face(faces, 100, 100, "largest"), select_face(faces, 100, 100, "nearest_center")
    (0, 1)
    """
    return full.select_face(list(faces), width, height, rule)


def draw_faces(image: np.ndarray, faces: Sequence[Face], selected: int | None = None) -> np.ndarray:
    """A copy of the image with boxes and landmarks drawn on it."""
    return full.draw_faces(image, list(faces), -1 if selected is None else selected)


def intersection_over_union(a: Face, b: Face) -> float:
    """How much two faces' boxes share, 0 to 1."""
    return full.intersection_over_union(a, b)


def mtcnn_preset(mode: str = "facenet_pytorch") -> MtcnnOptions:
    """All options of MTCNN as a mode has them.

    >>> from facebench import detection
    >>> detection.mtcnn_preset("facenet").outside
    'zero_pad'
    """
    return full.mtcnn_preset(mode)


def detectors() -> dict[str, str]:
    """Detector name -> one line about it."""
    return full.detectors()


def mtcnn_modes() -> dict[str, str]:
    """Mode name -> one line about it."""
    return full.mtcnn_modes()


def selection_rules() -> dict[str, str]:
    """Rule name -> one line about it."""
    return full.selection_rules()


__all__ = [
    "Detector",
    "Face",
    "GivenOptions",
    "HogOptions",
    "MtcnnOptions",
    "default_mtcnn_weights",
    "description",
    "detect",
    "detectors",
    "draw_faces",
    "face_csv_header",
    "face_csv_record",
    "intersection_over_union",
    "make_detector",
    "mtcnn_modes",
    "mtcnn_preset",
    "select_face",
    "selection_rules",
]
