"""Photographs as a model takes them: detected, cropped, and a folder of them embedded."""

import json
import os

import numpy as np

from facebench import crops, detection, images
from facebench._library import full
from facebench.core import Error, _log
from facebench.core._arguments import number_and_first, of_kind
from facebench.core._progress import stage
from facebench.detection._python_detectors import name_of as detector_name
from facebench.embedding import _foreign, extract
from facebench.io import EmbeddingSet, SampleStatus

CHUNK = 512  # photographs whose crops are held at a time


class Steps:
    """Detector, selection and crop: what the caller says, else the model, else the library."""

    def __init__(self, model, detector=None, selection=None, crop=None, crop_size=None):
        if detector is not None:
            detector = detector_name(detector)
        for name, value in {"selection": selection, "crop": crop}.items():
            of_kind(value, (str, type(None)), name)
        of_kind(crop_size, (int, tuple, type(None)), "crop_size")
        options, (height, width) = _foreign.preparation_of(model)
        asked = {"detector": detector, "selection": selection, "crop": crop}
        plain = {"detector": "mtcnn", "selection": "nearest_center", "crop": "arcface112"}
        name, self.selection, crop = (
            asked[step] or getattr(options, step, None) or plain[step] for step in plain
        )
        if detector is None:
            full.check_stated_detector(name, "model")
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
            assert size.width is not None and size.height is not None  # resolved
            return images.resize(pixels, size.width, size.height), ""
        faces = detection.detect(pixels, self.detector)
        chosen = detection.select_face(faces, width, height, self.selection)
        if chosen is None:
            return None, "no face"
        return crops.crop_face(pixels, faces[chosen], self.crop)


def embed_folder(
    model, folder, options=None, threads=0, progress=None, exif_orientation=False
) -> EmbeddingSet:
    """An `EmbeddingSet` of all photographs below a folder, by their paths in it. One without a face
    or that cannot be read has the status that says so. The manifest is that of `extract`, with the
    preparation. UserWarnings count the files that are not photographs, and the photographs that ask
    to be turned."""
    steps = Steps(model)
    files, others = detection.list_image_files(folder)
    if not files:
        raise Error(f"{folder}: holds no photograph ({images.known_formats()})")
    if others:
        passed_over = number_and_first([path.name for path in others])
        _log.warn(
            f"{folder}: passed over, no {images.known_formats()}: {passed_over}; "
            f"{len(files)} photographs are embedded",
            stacklevel=3,
        )
    names, status, rows, manifest = [f.name for f in files], [], [], {}
    asked: list[int] = []
    with stage(progress, "embed", len(names), "images") as moved:
        for begin in range(0, len(names), CHUNK):
            cut = []
            for k, name in enumerate(names[begin : begin + CHUNK], begin + 1):
                cut.append(_try(steps, os.path.join(folder, name), exif_orientation, asked))
                moved(k)
            status += [state for _, state in cut]
            good = [crop for crop, _ in cut if crop is not None]
            if good:
                embeddings = extract(
                    model, np.stack(good), options, threads=threads, progress=False
                )
                rows += list(embeddings.values)
                manifest = embeddings.manifest
    text = images._tagged_text(asked)
    if text and not exif_orientation:
        _log.warn(text, stacklevel=3)
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
