"""Two photographs to a score, and embeddings of photographs, prepared as a model expects."""

import os
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Unpack

import numpy as np

from facebench import embedding, images
from facebench._frte import library_of
from facebench._library import full
from facebench.core import Error, _log
from facebench.core._files import read_json
from facebench.core._options import known, takes
from facebench.embedding import _foreign
from facebench.embedding._photographs import Steps

# By network: the Euclidean distance of two embeddings, as the network gives them, from which on its
# authors take them for two people. Source: King, dnn_face_recognition_ex.cpp of dlib 19.
AUTHORS_DISTANCE = {"dlib_resnet29": 0.6}


@dataclass
class Comparison:
    """The similarity of two photographs.

    ``score``: the cosine of their embeddings, or the similarity of a library of FRTE. ``passes``:
    where a run was given, for each of its FARs the ``far``, the run's ``threshold`` and whether the
    score reaches it. ``authors``: where the network's authors decide by the Euclidean ``distance``
    of its embeddings, that, their ``threshold`` and whether the distance is below it; else None.
    ``turned``: how many of the two photographs were turned as their Exif tags ask.
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
    thresholds: dict[tuple[str, float, float], dict] = {}
    for track, values in metrics["tracks"].items():
        for name, cell in values["metrics"].items():
            far, threshold = cell.get("far_achieved"), cell.get("threshold")
            if far is not None and threshold is not None:
                row = {"track": track, "metric": name, "far": far, "threshold": threshold}
                thresholds.setdefault((track, far, threshold), row)
    return thresholds.values()


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
    detector: str | Callable | None = None,
    selection: str | None = None,
    crop: str | None = None,
    crop_size: int | tuple[int, int] | None = None,
    exif_orientation: bool = True,
    mean=None,
    std=None,
    color: str | None = None,
    output: str | None = None,
    providers=None,
    **options: "Unpack[full.ExtractOptionsKeywords]",
) -> Comparison:
    """How alike two faces are: the cosine of their embeddings, a `Comparison`.

    ``a``, ``b``: paths of photographs, arrays, PIL images or tensors. ``model``, ``mean``, ``std``,
    ``color``, ``output``, ``providers``: as for `facebench.run`; the default needs the package
    face_recognition_models.
    ``detector`` is a name or a callable (`facebench.detection.make_detector`).
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
    extract = embedding.ExtractOptions(**known(compare, options))
    pixels = {"mean": mean, "std": std, "color": color, "output": output, "providers": providers}
    prepared = {"detector": detector, "selection": selection, "crop": crop, "crop_size": crop_size}
    if library := library_of(model):
        usual = embedding.ExtractOptions().to_dict()
        asked_for = {n: v for n, v in extract.to_dict().items() if v != usual[n]}
        said = asked_for | pixels | prepared
        library.refuse_settings([name for name, value in said.items() if value is not None])
        return _compared_by(library, (a, b), exif_orientation, run)
    embedder = embedding.load_embedder(model, extract, **pixels)
    _foreign.warn_of_assumptions(embedder, extract.flip)
    steps = Steps(embedder, detector, selection, crop, crop_size)
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
    authors = _authors_decision(embedder, extract, first, second)
    return _comparison(score, run, authors, asked, exif_orientation)


def _comparison(score, run, authors, orientations, exif_orientation) -> Comparison:
    rows = [] if run is None else _thresholds(run)
    passes = [row | {"passes": score >= row["threshold"]} for row in rows]
    text = images._tagged_text(orientations)
    if text and not exif_orientation:
        _log.warn(text, stacklevel=3)
    turned = sum(o != 1 for o in orientations) if exif_orientation else 0
    return Comparison(score, passes, authors, turned)


def _compared_by(library, photographs, exif_orientation, run) -> Comparison:
    """Two photographs by a library of FRTE; the first is the enrolment."""
    loaded = [images._load(image, exif_orientation) for image in photographs]
    _log.warn(library.warning(), stacklevel=3)
    with tempfile.TemporaryDirectory() as empty:
        score = library.compare(*(image for image, _ in loaded), empty)
    return _comparison(score, run, None, [tag for _, tag in loaded], exif_orientation)
