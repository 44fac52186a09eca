"""Two photographs to a score, and embeddings of photographs, prepared as a model expects."""

import json
import os
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Unpack

import numpy as np

from facebench import crops, detection, embedding, images
from facebench._library import full
from facebench.core import Error
from facebench.core._arguments import number_and_first, of_kind
from facebench.core._files import read_json
from facebench.core._options import takes
from facebench.core._progress import stage
from facebench.embedding import _foreign
from facebench.io import EmbeddingSet, SampleStatus

CHUNK = 512  # photographs whose crops are held at a time

# By network: the Euclidean distance of two embeddings, as the network gives them, from which on its
# authors take them for two people. Source: King, dnn_face_recognition_ex.cpp of dlib 19.
AUTHORS_DISTANCE = {"dlib_resnet29": 0.6}


class _Steps:
    """Detector, selection and crop: what the caller says, else the model, else the library."""

    def __init__(self, model, detector=None, selection=None, crop=None, crop_size=None):
        for name, value in {"detector": detector, "selection": selection, "crop": crop}.items():
            of_kind(value, (str, type(None)), name)
        of_kind(crop_size, (int, tuple, type(None)), "crop_size")
        options, (height, width) = _foreign.preparation_of(model)
        asked = {"detector": detector, "selection": selection, "crop": crop}
        plain = {"detector": "mtcnn", "selection": "nearest_center", "crop": "arcface112"}
        name, self.selection, crop = (
            asked[step] or getattr(options, step, None) or plain[step] for step in plain
        )
        mode = "" if detector else getattr(options, "detector_mode", "")
        how = {"mode": mode} if mode else {}
        self.detector = None if name == "none" else detection.make_detector(name, **how)
        if crop_size is not None:
            width, height = crop_size if isinstance(crop_size, tuple) else (crop_size, crop_size)
        self.crop = crops.CropOptions(name=crop, width=width or None, height=height or None)
        if self.detector is not None:
            full.require_landmarks(name, self.crop.name)

    def manifest(self) -> dict:
        """What a run's manifest says of its preparation."""
        crop = crops.resolve_crop(self.crop)
        said = '{"detector": "none"}' if self.detector is None else self.detector.description()
        return {"detector": json.loads(said), "selection": self.selection, "crop": crop.to_dict()}

    def cut(self, pixels):
        """(crop, "") or (None, why there is none)."""
        height, width = pixels.shape[:2]
        if self.detector is None:
            size = crops.resolve_crop(self.crop)
            return images.resize(pixels, size.width, size.height), ""
        faces = detection.detect(pixels, self.detector)
        chosen = detection.select_face(faces, width, height, self.selection)
        if chosen is None:
            return None, "no face"
        return crops.crop_face(pixels, faces[chosen], self.crop)


@dataclass
class Comparison:
    """The similarity of two photographs.

    ``score``: the cosine of their embeddings. ``passes``: where a run was given, for each of its
    FARs the ``far``, the run's ``threshold`` and whether the score reaches it. ``authors``: where
    the network's authors decide by the Euclidean ``distance`` of its embeddings, that, their
    ``threshold`` and whether the distance is below it; else None. ``turned``: how many of the two
    photographs were turned as their Exif tags ask.
    """

    score: float
    passes: list
    authors: dict | None = None
    turned: int = 0

    def __float__(self):
        return self.score

    def to_dict(self):
        return asdict(self)

    def __repr__(self):
        lines = [f"score = {self.score:.4f}"]
        if self.turned:
            lines.append(
                f"  {self.turned} of 2 photographs turned as their Exif tags ask; "
                "exif_orientation=False (--no-exif-orientation) takes them as they lie"
            )
        if self.authors:
            word = "one person" if self.authors["passes"] else "two people"
            lines.append(
                f"  distance {self.authors['distance']:.4f}, by its authors' threshold "
                f"{self.authors['threshold']}: {word}"
            )
        for row in self.passes:
            word = "passes" if row["passes"] else "does not pass"
            lines.append(
                f"  {word} {row['threshold']:.4f} (FAR {100 * row['far']:.4g} %, {row['track']})"
            )
        return "\n".join(lines)


def _thresholds(run):
    """Every TAR at a FAR of a run folder that has a threshold, each threshold once."""
    metrics = read_json(Path(run) / "metrics.json")
    thresholds = {}
    for track, values in metrics["tracks"].items():
        for name, cell in values["metrics"].items():
            far, threshold = cell.get("far_achieved"), cell.get("threshold")
            if far is not None and threshold is not None:
                row = {"track": track, "metric": name, "far": far, "threshold": threshold}
                thresholds.setdefault((track, far, threshold), row)
    return thresholds.values()


def embed_folder(
    model, folder, options=None, threads=0, progress=None, exif_orientation=False
) -> EmbeddingSet:
    """An `EmbeddingSet` of all photographs below a folder, by their paths in it. One without a face
    or that cannot be read has the status that says so. The manifest is that of `extract`, with the
    preparation. UserWarnings count the files that are not photographs, and the photographs that ask
    to be turned."""
    steps = _Steps(model)
    files, others = detection.list_image_files(folder)
    if not files:
        raise Error(f"{folder}: holds no photograph ({images.known_formats()})")
    if others:
        passed_over = number_and_first([path.name for path in others])
        warnings.warn(
            f"{folder}: passed over, no {images.known_formats()}: {passed_over}; "
            f"{len(files)} photographs are embedded",
            stacklevel=3,
        )
    names, status, rows, asked, manifest = [f.name for f in files], [], [], [], {}
    with stage(progress, "embed", len(names), "images") as moved:
        for begin in range(0, len(names), CHUNK):
            cut = []
            for k, name in enumerate(names[begin : begin + CHUNK], begin + 1):
                cut.append(_try(steps, os.path.join(folder, name), exif_orientation, asked))
                moved(k)
            status += [state for _, state in cut]
            good = [crop for crop, _ in cut if crop is not None]
            if good:
                embeddings = embedding.extract(
                    model, np.stack(good), options, threads=threads, progress=False
                )
                rows += list(embeddings.values)
                manifest = embeddings.manifest
    text = images._tagged_text(asked)
    if text and not exif_orientation:
        warnings.warn(text, stacklevel=3)
    values = np.zeros((len(names), len(rows[0]) if rows else 1), np.float32)
    values[[state == SampleStatus.ok for state in status]] = rows if rows else 0
    manifest["preparation"] = steps.manifest()
    return EmbeddingSet(values, names, [int(state) for state in status], manifest)


def _try(steps, path, turn, asked):
    """The crop of a photograph and its status; what its tag asks for is added to ``asked``."""
    try:
        loaded, orientation = images._load(path, turn)
        asked.append(orientation)
        crop, _ = steps.cut(loaded)
    except Error:
        return None, SampleStatus.unreadable
    if crop is not None:
        return crop, SampleStatus.ok
    return None, SampleStatus.no_face  # as a pack records a face that cannot be cut out


def _authors_decision(model, extract, first, second):
    """What `Comparison.authors` says of two embeddings."""
    if not isinstance(model, embedding.Model) or model.network not in AUTHORS_DISTANCE:
        return None
    as_given = {"flip": "none", "normalization": "none"}
    if any((getattr(extract, k) or getattr(model.options, k)) != v for k, v in as_given.items()):
        return None
    threshold = AUTHORS_DISTANCE[model.network]
    distance = float(np.linalg.norm(first - second))
    return {"distance": distance, "threshold": threshold, "passes": distance < threshold}


@takes(embedding.ExtractOptions)
def compare(
    a,
    b,
    *,
    model="dlib",
    run=None,
    detector: str | None = None,
    selection: str | None = None,
    crop: str | None = None,
    crop_size: int | tuple[int, int] | None = None,
    exif_orientation: bool = True,
    mean=None,
    std=None,
    color: str | None = None,
    output: str | None = None,
    **options: "Unpack[full.ExtractOptionsKeywords]",
) -> Comparison:
    """How alike two faces are: the cosine of their embeddings, a `Comparison`.

    ``a``, ``b``: paths of photographs, arrays, PIL images or tensors. ``model``, ``mean``, ``std``,
    ``color``, ``output``: as for `facebench.run`; the default needs the package
    face_recognition_models.
    ``options`` are fields of `ExtractOptions` (flip, ...). What is None is what the model says.
    ``exif_orientation``: turn photographs as their Exif tags ask (the result counts them).
    ``run``: a run folder, whose thresholds the score is held against; they are those of that model
    and data, and of no other. facebench.Error where no face is found.

    >>> import numpy as np, facebench
    >>> photo = np.random.default_rng(0).integers(0, 256, (64, 64, 3), np.uint8)
    >>> grey = lambda batch: batch.mean(3).reshape(len(batch), -1)
    >>> round(facebench.compare(photo, photo, model=grey, detector="none").score, 6)
    1.0
    """
    extract = embedding.ExtractOptions(**options)
    pixels = {"mean": mean, "std": std, "color": color, "output": output}
    embedder = embedding.load_embedder(model, extract, **pixels)
    _foreign.warn_of_assumptions(embedder, extract.flip)
    steps = _Steps(embedder, detector, selection, crop, crop_size)
    cut, asked = [], []
    for image in (a, b):
        loaded, orientation = images._load(image, exif_orientation)
        name = os.fspath(image) if isinstance(image, str | os.PathLike) else "image"
        asked.append(orientation)
        crop, reason = steps.cut(loaded)
        if crop is None:
            tag = (
                ""
                if exif_orientation or orientation == 1
                else ("; its Exif tag asks for it to be turned, which exif_orientation does")
            )
            raise Error(f"{name}: {reason}, so there is nothing to compare{tag}")
        cut.append(crop)
    first, second = embedding.extract(embedder, np.stack(cut), extract).values.astype(np.float64)
    score = float(first @ second / (np.linalg.norm(first) * np.linalg.norm(second)))
    rows = [] if run is None else _thresholds(run)
    passes = [row | {"passes": score >= row["threshold"]} for row in rows]
    text = images._tagged_text(asked)
    if text and not exif_orientation:
        warnings.warn(text, stacklevel=2)
    turned = sum(o != 1 for o in asked) if exif_orientation else 0
    return Comparison(score, passes, _authors_decision(embedder, extract, first, second), turned)
