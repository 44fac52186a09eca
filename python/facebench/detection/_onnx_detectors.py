"""SCRFD, RetinaFace and YuNet as ONNX files, run by ONNX Runtime: what each is fed, and what of its
boxes is kept, as its authors have it."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from facebench._library import full
from facebench._onnx import sessions, trial
from facebench._onnx.bounds import check_bounds
from facebench._onnx.held import held
from facebench.core import Error, _log
from facebench.core._arguments import brief, cut, did_you_mean, path_text
from facebench.detection._boxes import fitted, kept
from facebench.detection._decoders import YUNET, Raw, WrongOutputs, retinaface, scrfd, yunet
from facebench.detection._opencv_yunet import OpenCvYunet
from facebench.detection._public_detectors import PUBLIC_DETECTORS, public_detector
from facebench.io import sha256_file

SIDE = 640  # of the image on which a file is tried that takes any
MOST_BOXES = 5000  # that go into the suppression, as RetinaFace's and YuNet's authors have it


@dataclass(frozen=True)
class Family:
    """How a network is fed and read."""

    doc: str
    default: str  # of the table of public detectors
    size: tuple[int, int]  # width, height of its input where the file takes any; (0, 0): the photo
    threshold: float
    suppress: float  # boxes that share more than that with a better one go
    numbers: Callable[[np.ndarray], np.ndarray]  # of a canvas RGB (H, W, 3)
    decode: Callable[[dict, int, int], Raw]  # of its outputs, and its input's height and width
    strict: bool = False  # a score must be above the threshold, not equal to it
    enlarge: bool = True
    multiple: int = 1  # of which sides are
    plus: int = 1  # of `kept`
    whole: bool = False  # corner and sides are cut to whole pixels for the suppression


class OnnxDetector:
    """A detector that is an ONNX file of one of the families."""

    described = True

    def __init__(self, family: str, values: dict):
        """``values``: as `_read_options` gives them."""
        kind = self.family = FAMILIES[family]
        self.name = family
        self.threshold = kind.threshold if values["threshold"] is None else values["threshold"]
        self.suppress = kind.suppress if values["nms"] is None else values["nms"]
        self.device = values["device"]
        self.file = _find_file(values["model"] or kind.default)
        limits = values["seconds"], values["memory"]
        self._session, self.sha256 = open_session(self.file, self.device, *limits)
        found = family_of(self._session)
        if found and found != family:
            raise Error(f"{self.file}: is a network of {found}: take the detector '{found}'")
        self.size = self._input_size(values["size"])

    def description(self) -> dict:
        """All that decides what it finds, for manifests; where the file lies decides nothing."""
        import onnxruntime

        public = [row.name for row in PUBLIC_DETECTORS if row.sha256 == self.sha256]
        return {
            "detector": self.name,
            "options": {
                "device": self.device,
                "nms": self.suppress,
                "size": list(self.size),
                "threshold": self.threshold,
            },
            "model": public[0] if public else None,
            "model_sha256": self.sha256,
            "onnxruntime": onnxruntime.__version__,
        }

    def find(self, image: np.ndarray) -> list:
        """The faces of an image RGB, best first."""
        scores, boxes, points = self.raw(image)
        if self.family.whole:
            first, sides = np.trunc(boxes[:, :2]), np.trunc(boxes[:, 2:] - boxes[:, :2])
            shown = np.concatenate([first, first + sides], 1)
        else:
            shown = boxes
        order = kept(shown, scores, self.suppress, self.family.plus)
        return [
            full.Face(boxes[k], float(scores[k]), None if points is None else points[k])
            for k in order
        ]

    def raw(self, image: np.ndarray) -> Raw:
        """Scores, boxes and points above the threshold, before the suppression, in the image."""
        width, height = self.size
        kind = self.family
        if width == 0:
            step = kind.multiple  # and at least a place of the last stride
            rows, columns = (max(-(-side // step) * step, 32) for side in image.shape[:2])
            canvas, scale = fitted(image, columns, rows, enlarge=False)
        else:
            canvas, scale = fitted(image, width, height, kind.enlarge)
        numbers = np.ascontiguousarray(kind.numbers(canvas).transpose(2, 0, 1)[None])
        outputs = self._run(numbers)
        try:
            scores, boxes, points = kind.decode(outputs, *canvas.shape[:2])
        except WrongOutputs as e:
            there = ", ".join(f"{name} {list(value.shape)}" for name, value in outputs.items())
            raise Error(
                f"{self.file}: its outputs are not those of {self.name} for {canvas.shape[1]} x "
                f"{canvas.shape[0]} pixels: expected {e}; it has {cut(there)}"
            ) from None
        if not all(np.isfinite(part).all() for part in (scores, boxes, points) if part is not None):
            raise Error(f"{self.file}: gives numbers that are not finite")
        if scores.size and not (scores.min() >= -1e-3 and scores.max() <= 1 + 1e-3):
            raise Error(
                f"{self.file}: gives scores beyond 0..1, {scores.min():.3g} to {scores.max():.3g}: "
                "it was exported without the sigmoid or softmax that its authors' have at the end"
            )
        good = scores > self.threshold if kind.strict else scores >= self.threshold
        order = np.flatnonzero(good)
        order = order[np.argsort(-scores[order], kind="stable")][:MOST_BOXES]
        at = None if points is None else points[order] / scale
        return scores[order], boxes[order] / scale, at

    def _run(self, numbers: np.ndarray) -> dict[str, np.ndarray]:
        first = self._session.get_inputs()[0]
        names = [output.name for output in self._session.get_outputs()]
        kind = np.float16 if first.type == "tensor(float16)" else np.float32
        try:
            values = self._session.run(names, {first.name: numbers.astype(kind)})
        except Exception as e:  # onnxruntime has no class that all of its errors share
            height, width = numbers.shape[2:]
            raise Error(
                f"{self.file}: onnxruntime cannot run it on {width} x {height} pixels: {cut(e)}"
            ) from None
        return {n: np.asarray(v, np.float32) for n, v in zip(names, values, strict=True)}

    def _input_size(self, asked) -> tuple[int, int]:
        first = self._session.get_inputs()[0]
        shape = list(first.shape)
        fits = (len(shape) == 4 and shape[1] in (3, None)) or isinstance(shape[1], str)
        if first.type not in ("tensor(float)", "tensor(float16)") or not fits:
            sides = ", ".join(map(str, shape))
            raise Error(
                f"{self.file}: its input '{brief(first.name)}' is a {cut(first.type)} ({sides}); "
                "expected floats (1, 3, H, W)"
            )
        if isinstance(shape[0], int) and shape[0] != 1:
            raise Error(f"{self.file}: takes {shape[0]} images at once; expected 1")
        fixed = (shape[3], shape[2])
        if all(isinstance(side, int) and side > 0 for side in fixed):
            if asked not in (None, (0, 0), fixed):
                raise ValueError(
                    f"size {asked[0]} x {asked[1]}: {self.file} takes {fixed[0]} x {fixed[1]} alone"
                )
            return fixed
        size = self.family.size if asked is None else asked
        step = self.family.multiple
        if any(side % step for side in size):
            raise ValueError(f"size {size[0]} x {size[1]}: sides are multiples of {step}")
        return size


FAMILIES = {
    "scrfd": Family(
        "SCRFD of insightface, an ONNX file: boxes, scores, five landmarks",
        "scrfd_10g",
        (640, 640),
        0.5,
        0.4,
        lambda canvas: (canvas.astype(np.float32) - np.float32(127.5)) / np.float32(128),
        scrfd,
        multiple=32,
    ),
    "retinaface": Family(
        "RetinaFace of biubug6 (PyTorch), an ONNX file: boxes, scores, five landmarks",
        "retinaface_mv2",
        (0, 0),
        0.6,
        0.4,
        lambda canvas: canvas[..., ::-1].astype(np.float32) - np.array([104, 117, 123], np.float32),
        retinaface,
        strict=True,
    ),
    "yunet": Family(
        "YuNet of OpenCV's zoo, an ONNX file: boxes, scores, five landmarks",
        "yunet_2023mar",
        (0, 0),
        0.9,
        0.3,
        lambda canvas: canvas[..., ::-1].astype(np.float32),
        yunet,
        enlarge=False,
        multiple=32,
        plus=0,
        whole=True,
    ),
}


def family_of(session) -> str:
    """The family that a network's outputs are of; "" where they are of none."""
    outputs = session.get_outputs()
    if {output.name for output in outputs} >= set(YUNET):
        return "yunet"
    last = sorted(o.shape[-1] for o in outputs if o.shape and isinstance(o.shape[-1], int))
    if last == [2, 4, 10]:
        return "retinaface"
    count = len(outputs) // 3
    if last in ([1, 1, 1, 4, 4, 4], [1] * 5 + [4] * 5) or (
        count in (3, 5) and last == [1] * count + [4] * count + [10] * count
    ):
        return "scrfd"
    return ""


def open_session(
    path, device: str = "cpu", seconds: float = trial.SECONDS, memory: int = trial.MEMORY
):
    """A session of a detector's file on one thread, after a trial of so many seconds of processor
    time and bytes, and its SHA-256. facebench.Error where it is not one, or takes more."""
    try:
        import onnxruntime  # noqa: F401
    except ImportError:
        raise ImportError("ONNX detectors need onnxruntime: pip install onnxruntime") from None
    card = sessions.card_of(device)
    if card is not None and not sessions.has_cuda():
        raise ValueError(f"device {device}: detectors of ONNX files need onnxruntime-gpu there")
    with held(path) as copy:
        trial.check_file(copy, seconds, memory, SIDE)
        try:
            session = sessions.session(copy, sessions.quiet_options(), card)
        except Exception as e:
            raise Error(f"{copy}: onnxruntime refuses it: {cut(e)}") from None
        digest = sha256_file(copy)
    if not session.get_inputs() or not session.get_outputs():
        raise Error(f"{path}: has no input or no output: it is not a detector")
    return session, digest


def make(family: str, options: dict) -> OnnxDetector | OpenCvYunet:
    """A detector of a family. ValueError for wrong options."""
    values = _read_options(family, options)
    if values["engine"] == "onnxruntime":
        return OnnxDetector(family, values)
    if family != "yunet" or values["engine"] != "opencv":
        raise ValueError(
            "detector option engine is onnxruntime, or of yunet also opencv, not "
            f"{cut(values['engine'])}"
        )
    if values["size"] is not None or values["device"] != "cpu":
        raise ValueError("engine=opencv: takes photographs as they are, on the processor")
    kind, file = FAMILIES[family], _find_file(values["model"] or FAMILIES[family].default)
    threshold = kind.threshold if values["threshold"] is None else values["threshold"]
    suppress = kind.suppress if values["nms"] is None else values["nms"]
    with held(file) as copy:
        check_bounds(copy)
        return OpenCvYunet(file, copy, sha256_file(copy), threshold, suppress, MOST_BOXES)


def _find_file(model: str) -> str:
    """The path of a model: a file, or a name of the table of public detectors."""
    row = public_detector(model)
    if row is None or os.path.isfile(model):
        if not os.path.exists(model) and not model.endswith(".onnx"):
            known = [public.name for public in PUBLIC_DETECTORS]
            raise ValueError(
                f"model '{brief(model)}' is neither a file nor one of {', '.join(known)}"
                f"{did_you_mean(model, known)}"
            )
        return model
    path, _, other = row.find()
    if other:
        _log.warn(other, stacklevel=6)
    return str(path)


def _share(name, value) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = -1.0
    if isinstance(value, bool) or not 0 <= number <= 1:
        raise ValueError(f"detector option {name} is a number from 0 to 1, not {cut(value)}")
    return number


def _size(name, value) -> tuple[int, int]:
    if isinstance(value, Sequence) and not isinstance(value, str):
        sides = [str(side) for side in value]
    else:
        sides = str(value).lower().split("x")
    sides = sides * 2 if len(sides) == 1 else sides
    if len(sides) != 2 or not all(s.isascii() and s.isdecimal() and int(s) <= 8192 for s in sides):
        raise ValueError(f"detector option size is 640, 640x480 (width x height) or 0, the photo's "
                         f"own; not {cut(value)}")  # fmt: skip
    size = int(sides[0]), int(sides[1])
    if (size[0] == 0) != (size[1] == 0):
        raise ValueError(f"detector option size: {cut(value)} has one side of 0")
    return size


def _limit(name, value) -> float:
    """What trying the file may take; `trial.check_file` knows the bounds."""
    try:
        return int(value) if name == "memory" else float(value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"detector option {name} is a number, not {cut(value)}") from None


def limits_of(options: dict) -> dict:
    """Those of the options that bound the trial of a file."""
    given = {name: options.get(name) for name in ("seconds", "memory")}
    return {name: _limit(name, value) for name, value in given.items() if value is not None}


_READERS: dict[str, Callable] = {
    "model": lambda name, value: path_text(value, f"detector option {name}"),
    "size": _size,
    "threshold": _share,
    "nms": _share,
    "device": lambda name, value: str(value),
    "engine": lambda name, value: str(value),
    "seconds": _limit,
    "memory": _limit,
}


def _read_options(family: str, options: dict) -> dict:
    values: dict = dict.fromkeys(_READERS) | {
        **{"device": "cpu", "engine": "onnxruntime"},
        **{"seconds": trial.SECONDS, "memory": trial.MEMORY},
    }
    for name, value in options.items():
        if name not in _READERS:
            known = ", ".join(_READERS)
            raise ValueError(
                f"unknown option '{brief(name)}' of the detector {family}"
                f"{did_you_mean(name, _READERS)} (known: {known})"
            )
        if value is not None:
            values[name] = _READERS[name](name, value)
    return values
