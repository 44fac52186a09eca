"""Detectors that the Python package brings, by name: ONNX files, callables, entry points."""

import json
import threading
from collections.abc import Callable

import numpy as np

from facebench._library import full
from facebench.core import _entry_points
from facebench.core._arguments import brief, did_you_mean, tensor_array, type_text, unmasked
from facebench.core._named_code import import_function, is_named_function

_LANDMARKS = ("eyes_and_mouth", "none", "any")
_GIVEN: dict[str, Callable] = {}  # callables that were given as objects, by their names
_EXPECTED = "a detector gives (boxes, scores) or (boxes, scores, points) for an image"


class CallableDetector:
    """A function of an image uint8 (H, W, 3) RGB that gives boxes (N, 4), x0 y0 x1 y1 in pixels,
    scores (N), and points (N, 5, 2), or None."""

    described = False  # nothing says what it computes

    def __init__(self, name: str, function: Callable, options: dict):
        if options:
            raise ValueError(
                f"the detector '{brief(name)}' is a function, which takes no options: "
                f"{', '.join(options)}"
            )
        self._name, self._function = name, function
        self._lock = threading.Lock()

    def description(self) -> dict:
        said = getattr(self._function, "description", None)
        said = said() if callable(said) else said
        try:
            json.dumps(said, allow_nan=False)
        except (TypeError, ValueError) as e:
            raise self._wrong(f"its description is not JSON: {e}") from None
        return {"detector": self._name, "options": {}} | ({"description": said} if said else {})

    def find(self, image: np.ndarray) -> list:
        with self._lock:
            found = self._function(image)
        boxes, scores, points = self._parts(found)
        order = np.argsort(-scores, kind="stable")
        return [
            full.Face(boxes[k], float(scores[k]), None if points is None else points[k])
            for k in order
        ]

    def _parts(self, found):
        if found is None:
            return np.empty((0, 4)), np.empty(0), None
        if not isinstance(found, tuple | list) or len(found) not in (2, 3):
            length = f" of {len(found)}" if isinstance(found, tuple | list) else ""
            raise self._wrong(f"{_EXPECTED}, not {type_text(found)}{length}")
        boxes, scores, points = [*found, None][:3]
        boxes = self._numbers(boxes, "boxes", (4,))
        if not len(boxes):
            return boxes, np.empty(0), None
        scores = self._numbers(scores, "scores", ())
        points = None if points is None else self._points(points)
        for part, values in (("scores", scores), ("points", points)):
            if values is not None and len(values) != len(boxes):
                raise self._wrong(f"{len(boxes)} boxes and {len(values)} {part}")
        turned = int(((boxes[:, 2:] - boxes[:, :2]) <= 0).any(1).sum())
        if turned:
            raise self._wrong(
                f"{turned} of {len(boxes)} boxes have no area: they are x0, y0, x1, y1, not x, y, "
                "width, height"
            )
        if boxes.max() <= 2 and boxes.min() >= -1:
            raise self._wrong("boxes of at most 2 pixels: are they relative? They are in pixels")
        return boxes, scores, points

    def _points(self, points):
        each = (10,) if len(np.shape(points)) == 2 else (5, 2)
        return self._numbers(points, "points", each).reshape(-1, 5, 2)

    def _numbers(self, values, what: str, each: tuple) -> np.ndarray:
        if values is None:
            values = np.empty((0, *each))
        if hasattr(values, "detach"):
            values = tensor_array(values, what)
        unmasked(values, what)
        try:
            array = np.asarray(values, np.float32)
        except (TypeError, ValueError):
            raise self._wrong(f"{what} are {type_text(values)}, not an array of numbers") from None
        if array.size == 0:
            return np.empty((0, *each), np.float32)
        if array.shape[1:] != each:
            wanted = ", ".join(["N", *map(str, each)])
            raise self._wrong(f"{what} are {type_text(array)}, expected ({wanted})")
        if not np.isfinite(array).all():
            raise self._wrong(f"{what} hold numbers that are not finite")
        return array

    def _wrong(self, text: str) -> ValueError:
        return ValueError(f"the detector '{brief(self._name)}': {text}")


def docs() -> dict[str, str]:
    """The names of detectors that are not in the library's own table, and a line about each."""
    from facebench.detection._onnx_detectors import FAMILIES

    points = _entry_points.brought(_entry_points.DETECTORS)
    return {name: family.doc for name, family in FAMILIES.items()} | {
        name: f"brought as {point.value}" for name, point in points.items()
    }


def name_of(detector) -> str:
    """The name by which a callable is known from now on; of a text the text itself."""
    if isinstance(detector, str):
        return detector
    if not callable(detector):
        raise TypeError(f"detector: expected its name or a callable, found {type_text(detector)}")
    owner = detector if hasattr(detector, "__qualname__") else type(detector)
    name = f"{owner.__module__}:{owner.__qualname__}"
    _GIVEN[name] = detector
    return name


def find(name: str):
    """(landmarks, a function that makes it of a dict of options). ValueError for a name that is
    none."""
    from facebench.detection._onnx_detectors import FAMILIES, make

    if name in FAMILIES:
        return "eyes_and_mouth", lambda options: make(name, options)
    if name.endswith(".onnx"):
        return "eyes_and_mouth", lambda options: _of_file(name, options)
    function = _GIVEN.get(name)
    if function is None:
        point = _entry_points.brought(_entry_points.DETECTORS).get(name)
        if point is None and not is_named_function(name):
            known = [*full.detectors(), *docs()]
            raise ValueError(
                f"unknown detector '{brief(name)}'{did_you_mean(name, known)} (known: "
                f"{', '.join(known)}, FILE.onnx, module:function)"
            )
        text = name if point is None else point.value
        function = import_function(text, "a detector as module:function")
    landmarks = getattr(function, "landmarks", "any")
    if landmarks not in _LANDMARKS:
        raise ValueError(
            f"the detector '{brief(name)}': its landmarks are one of {', '.join(_LANDMARKS)}, not "
            f"{brief(landmarks)}"
        )
    return landmarks, lambda options: CallableDetector(name, function, options)


def _of_file(path: str, options: dict):
    from facebench.detection._onnx_detectors import (
        FAMILIES,
        family_of,
        limits_of,
        make,
        open_session,
    )

    if "model" in options:
        raise ValueError(f"model: '{brief(path)}' is the model already")
    family = family_of(open_session(path, **limits_of(options))[0])
    if not family:
        raise ValueError(
            f"{path}: its outputs are not those of {', '.join(FAMILIES)}. Give a function around "
            "it (--detector module:function)"
        )
    return make(family, options | {"model": path})


full.set_detector_finder(find)
