"""Finding faces: detectors, which face to take, drawing.

>>> import numpy as np
>>> from facebench import detection
>>> detection.detect(np.zeros((64, 64, 3), np.uint8), detector="hog")
[]
"""

import json
import os
from collections.abc import Callable, Sequence

import numpy as np

from facebench import images
from facebench._eval import Error
from facebench._library import full
from facebench.core import _log
from facebench.core._arguments import listed, of_kind, type_text
from facebench.detection import _python_detectors

DetectedFile = full.DetectedFile
DetectionSummary = full.DetectionSummary
Detector = full.Detector
Face = full.Face
GivenOptions = full.GivenOptions
HogOptions = full.HogOptions
MtcnnOptions = full.MtcnnOptions

face_csv_header = full.face_csv_header
face_csv_record = full.face_csv_record
default_mtcnn_weights = full.default_mtcnn_weights
face_formats = full.face_formats
intersection_over_union = full.intersection_over_union
mtcnn_modes = full.mtcnn_modes
selection_rules = full.selection_rules


def list_detectors() -> dict[str, str]:
    """The names of detectors, and a line about each: the library's own, those that are ONNX files,
    and those that installed packages bring (entry points ``facebench.detectors``).

    >>> from facebench import detection
    >>> [name in detection.list_detectors() for name in ("mtcnn", "scrfd", "yunet")]
    [True, True, True]
    """
    return full.detectors() | _python_detectors.docs()


def list_detector_files() -> list[dict]:
    """The public files of `scrfd`, `retinaface` and `yunet`: name, file, sha256, licence, origin,
    published numbers with their source, and where each was found (``here``, None: nowhere).

    >>> from facebench import detection
    >>> detection.list_detector_files()[0]["file"]
    'det_10g.onnx'
    """
    from facebench.detection._public_detectors import PUBLIC_DETECTORS

    return [row.to_dict() for row in PUBLIC_DETECTORS]


def make_detector(name: str | Callable = "mtcnn", **options) -> Detector:
    """A detector by name, with its options (`list_detectors()` lists the names).

    For `mtcnn`, `mode` is a preset over all options that are not given.

    `scrfd`, `retinaface` and `yunet` are ONNX files, run by onnxruntime (the ``onnx`` extra) and
    decoded as their authors do. Options: ``model``, a path or a name of `list_detector_files`,
    which is looked for as models are (`facebench.embedding.load_embedder`); ``size``, the input's,
    640 or "640x480" (width x height), 0 for the photograph's own; ``threshold`` of scores; ``nms``,
    the share of two boxes from which on the worse goes; ``device``; ``seconds`` and
    ``memory``, which trying the file once may take, in a process of its own (60 s, 4 GiB and eight
    times the file); of `yunet`
    ``engine="opencv"``, the installed cv2's FaceDetectorYN, which runs any size. A name FILE.onnx
    is the file's detector, whichever of the three it is.

    A callable, or its name ``module:function``, is a detector, too: it gets an image uint8
    (H, W, 3) RGB and gives (boxes, scores, points): (N, 4) x0 y0 x1 y1 in pixels, (N,), and
    (N, 5, 2) or None. Its attribute ``landmarks`` may say which points they are (eyes_and_mouth, as
    `Face` has them, or none). ValueError for anything else. Calls do not overlap.

    >>> import numpy as np
    >>> from facebench import detection
    >>> def middle(image):
    ...     height, width = image.shape[:2]
    ...     return [[width / 4, height / 4, width * 3 / 4, height * 3 / 4]], [0.9], None
    >>> detection.detect(np.zeros((40, 40, 3), np.uint8), detector=middle)
    [Face(box=[10.00, 10.00, 30.00, 30.00], score=0.9000, landmarks=None)]

    >>> from facebench import detection
    >>> hog = detection.make_detector("hog", upsample=0)
    >>> detection.description(hog)["options"]["upsample"]
    0
    """
    name = _python_detectors.name_of(name)
    if name in full.detectors():
        return full.make_detector(name, **options)
    return full.python_detector(_python_detectors.find(name)[1](options))


def description(detector: Detector) -> dict:
    """Everything that decides what a detector finds, as manifests record it."""
    if not isinstance(detector, Detector):
        raise TypeError(f"detector must be a Detector, not {type_text(detector)}")
    return json.loads(detector.description())


def _finder(detector: str | Callable | Detector, options: dict) -> Detector:
    if isinstance(detector, str) or callable(detector):
        return make_detector(detector, **options)
    if not isinstance(detector, Detector):
        raise TypeError(
            f"detector must be its name, a Detector or a callable, not {type_text(detector)}"
        )
    if options:
        raise TypeError("options go to make_detector() when a detector is passed")
    return detector


def detect(
    image: np.ndarray | str | os.PathLike | Sequence,
    detector: str | Callable | Detector = "mtcnn",
    *,
    color: str = "rgb",
    exif_orientation: bool = False,
    threads: int = 0,
    progress=None,
    **options,
):
    """The faces of an image, best first; of several images, a list of such lists.

    `image` is an array (height, width, 3) of uint8, or (height, width) for grey, a PIL image or a
    torch tensor; the path of a file; or a sequence or (N, height, width, 3) array of them, whose
    sizes may differ. `color` tells the order of arrays. A batch gives exactly the answers of single
    images. A path is also the sample id under which `given` looks. `exif_orientation` turns
    photographs (paths and PIL images) as their Exif tag asks, and boxes are those of the turned
    picture; without it a UserWarning counts them. `options` are the detector's (`MtcnnOptions`,
    ...).

    >>> import numpy as np
    >>> from facebench import detection
    >>> black = np.zeros((40, 30, 3), np.uint8)
    >>> detection.detect([black, black[:20]], detector="hog", threads=2)
    [[], []]

    Files are read on the same threads. One that cannot be read raises :class:`facebench.Error`.

    >>> import pathlib, tempfile
    >>> from facebench import images
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> images.write(folder / "black.png", black)
    >>> detection.detect(folder / "black.png", detector="hog", upsample=0)
    []

    A folder gives what :func:`detect_files` gives: a row for each image below it, and what cannot
    be read is a row as well.

    >>> detection.detect(folder, detector="hog")
    [DetectedFile('black.png', no_face, 0 faces)]
    """
    finder = _finder(detector, options)
    if isinstance(image, str | os.PathLike) and os.path.isdir(image):
        how = {"threads": threads, "progress": progress, "exif_orientation": exif_orientation}
        return detect_files(image, finder, **how)
    if isinstance(image, str | os.PathLike):
        return detect([image], finder, exif_orientation=exif_orientation)[0]
    one = hasattr(image, "getbands") or getattr(image, "ndim", 0) in (2, 3)
    if one:
        loaded, asked = images._load(image, exif_orientation)
        _warn_of_tags([asked], exif_orientation)
        return finder.detect(loaded, "", color)
    if isinstance(image, dict | set | bytes) or not hasattr(image, "__iter__"):
        raise TypeError(f"image: an array, a path or a sequence of them, not {type_text(image)}")
    items = list(image)
    if items and all(isinstance(item, str | os.PathLike) for item in items):
        how = {"threads": threads, "progress": progress, "exif_orientation": exif_orientation}
        rows = detect_files(items, finder, **how)
        for row in rows:
            if row.reason:
                raise Error(
                    row.reason if row.status == "unreadable" else f"{row.name}: {row.reason}"
                )
        return [row.faces for row in rows]
    loaded = [images._load(item, exif_orientation, color) for item in items]
    _warn_of_tags([asked for _, asked in loaded], exif_orientation)
    names = [os.fspath(item) if isinstance(item, str | os.PathLike) else "" for item in items]
    return finder.detect_all([found for found, _ in loaded], names, color, threads, progress)


def _warn_of_tags(asked, turned):
    text = images._tagged_text(asked)
    if text and not turned:
        _log.warn(text, stacklevel=3)


def detect_files(
    paths: str | os.PathLike | Sequence,
    detector: str | Callable | Detector = "mtcnn",
    *,
    draw: str | os.PathLike = "",
    exif_orientation: bool = False,
    threads: int = 0,
    progress=None,
    **options,
) -> list[DetectedFile]:
    """The faces of image files and of all images in folders and below, a row for each file.

    A row has `name`, `status` (ok, no_face, unreadable, missing), `reason`, `faces` and
    `orientation`, which is what its Exif tag asks for; `exif_orientation` as in :func:`detect`.
    Names are the paths as given, or relative to the folder where one folder alone is given. Files
    of a folder that are not images are skipped; images come in natural order (2 before 10). In the
    folder `draw` the images are written again with the faces drawn on them, in the same tree.

    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from facebench import detection, images
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> (folder / "someone").mkdir()
    >>> images.write(folder / "someone" / "1.png", np.zeros((40, 30, 3), np.uint8))
    >>> _ = (folder / "someone" / "2.jpg").write_text("not an image")
    >>> for row in detection.detect_files(folder, "hog", draw=folder / "drawn"):
    ...     print(row.name, row.status, len(row.faces))
    someone/1.png no_face 0
    someone/2.jpg unreadable 0
    >>> (folder / "drawn" / "someone" / "1.png").exists()
    True
    """
    files, decode = _files(paths, draw), images.DecodeOptions(exif_orientation=exif_orientation)
    rows = full.detect_files(_finder(detector, options), files, threads, progress, decode)
    _warn_of_tags([row.orientation for row in rows], exif_orientation)
    return rows


def detect_to_file(
    paths: str | os.PathLike | Sequence,
    out: str | os.PathLike,
    detector: str | Callable | Detector = "mtcnn",
    *,
    format: str = "",
    draw: str | os.PathLike = "",
    exif_orientation: bool = False,
    threads: int = 0,
    progress=None,
    **options,
) -> DetectionSummary:
    """:func:`detect_files` into a file that appears only when it is complete; for any number of
    images.

    `format` is one of `face_formats()`; empty: the ending of `out`. The CSV file is what the
    detector `given` reads. `exif_orientation` as in :func:`detect`.

    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from facebench import detection, images
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> images.write(folder / "1.png", np.zeros((40, 30, 3), np.uint8))
    >>> summary = detection.detect_to_file(folder, folder / "faces.csv", "hog")
    >>> summary.images, summary.counts["no_face"]
    (1, 1)
    >>> (folder / "faces.csv").read_text().splitlines()[1][:13]
    '1.png,no_face'
    """
    files, decode = _files(paths, draw), images.DecodeOptions(exif_orientation=exif_orientation)
    format = (
        of_kind(format, str, "format") or os.path.splitext(os.fspath(out))[1].lstrip(".").lower()
    )
    finder = _finder(detector, options)
    summary = full.detect_to_file(finder, files, out, format, threads, progress, decode)
    asked = [2] * summary.tagged + [1] * (summary.images - summary.tagged)
    _warn_of_tags(asked, exif_orientation)
    return summary


def _files(paths, draw) -> list:
    if not isinstance(paths, str | os.PathLike):
        paths = listed(paths, "paths")
        if paths and all(isinstance(path, full.ImageFile) for path in paths):
            return paths
    return list_image_files(paths, draw)[0]


def list_image_files(paths: str | os.PathLike | Sequence, draw: str | os.PathLike = ""):
    """What :func:`detect_files` works on: its files, and the paths that it passes over in folders.

    The files may be given to :func:`detect_files` and :func:`detect_to_file` in place of paths.

    >>> import pathlib, tempfile
    >>> from facebench import detection
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for name in ("10.jpg", "2.jpg", "notes.txt"):
    ...     _ = (folder / name).write_text("")
    >>> files, skipped = detection.list_image_files(folder)
    >>> [file.name for file in files], [path.name for path in skipped]
    (['2.jpg', '10.jpg'], ['notes.txt'])
    """
    places = [paths] if isinstance(paths, str | os.PathLike) else listed(paths, "paths")
    return full.list_image_files(places, draw)


def select_face(
    faces: Sequence[Face], width: int, height: int, rule: str = "largest"
) -> int | None:
    """The index of the face to take, or None where there is none.

    >>> from facebench.detection import Face, select_face
    >>> faces = [Face([0, 0, 30, 30]), Face([40, 40, 60, 60])]
    >>> select_face(faces, 100, 100, "largest"), select_face(faces, 100, 100, "nearest_center")
    (0, 1)
    """
    return full.select_face(listed(faces, "faces"), width, height, rule)


def draw_faces(image: np.ndarray, faces: Sequence[Face], selected: int | None = None) -> np.ndarray:
    """A copy of the image with boxes and landmarks drawn on it."""
    return full.draw_faces(image, listed(faces, "faces"), -1 if selected is None else selected)


__all__ = [
    "DetectedFile",
    "DetectionSummary",
    "Detector",
    "Face",
    "GivenOptions",
    "HogOptions",
    "MtcnnOptions",
    "default_mtcnn_weights",
    "description",
    "detect",
    "detect_files",
    "detect_to_file",
    "draw_faces",
    "face_csv_header",
    "face_csv_record",
    "face_formats",
    "intersection_over_union",
    "list_detector_files",
    "list_detectors",
    "list_image_files",
    "make_detector",
    "mtcnn_modes",
    "select_face",
    "selection_rules",
]
