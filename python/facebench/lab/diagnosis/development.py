"""The comparisons that settings are tried on, their crops, embeddings and scores."""

import os
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from facebench import _eval, datasets, detection, embedding
from facebench._torch import full
from facebench.core import Error
from facebench.embedding import _foreign
from facebench.embedding._network_embedder import _name, _NetworkEmbedder
from facebench.io import SampleStatus
from facebench.lab.diagnosis.settings import CROPS, WHOLE, Scale, Setting

# The part of a data set that was made for choosing, by the protocols that report on the rest.
DEVELOPMENT = {"lfw": "lfw_view1"}


def part_for_choosing(protocol, limit) -> str:
    """The protocol of the comparisons that settings may be chosen on."""
    of_their_own = {"folders", "pairs", *DEVELOPMENT.values()}
    shipped = set(_eval.protocol_names()) - of_their_own
    if protocol in DEVELOPMENT:
        return DEVELOPMENT[protocol]
    if protocol in shipped and limit is None:
        raise ValueError(
            f"diagnose: {protocol} has no part for choosing, and nothing is chosen on what is "
            "reported. Give limit=500 (--limit 500) for a look at so many of its comparisons, and "
            "report others; or name a protocol of your own ('pairs', 'folders' or a TOML file)"
        )
    return protocol


@dataclass
class Pairs:
    """Comparisons whose first n are spread over all of them, half genuine and half impostor.
    ``names``: images in the order in which they are first needed."""

    names: list[str]
    first: np.ndarray
    second: np.ndarray  # indices of names
    genuine: np.ndarray
    people: np.ndarray  # (N, 2)

    def __len__(self):
        return len(self.first)

    def without(self, absent) -> "Pairs":
        """Those that need none of the absent images (a truth for each of ``names``)."""
        kept = ~(absent[self.first] | absent[self.second])
        parts = (self.first, self.second, self.genuine, self.people)
        return Pairs(self.names, *(part[kept] for part in parts))

    def images(self, count) -> int:
        """How many images the first ``count`` comparisons need."""
        return 1 + int(max(self.first[:count].max(), self.second[:count].max()))


def choose_pairs(trials, count) -> Pairs:
    """At most ``count`` comparisons of a protocol: of its list, or where it has none, or compares
    sets of images, between images of its people."""
    listed = trials.tracks[0].trials
    person = np.asarray(trials.identity)
    if isinstance(listed, _eval.ListedTrials) and not len(trials.templates):
        pairs = np.asarray(listed.comparisons)
        kinds = [pairs[np.asarray(listed.genuine) == kind] for kind in (1, 0)]
    else:
        kinds = [*_pairs_of_people(person)]
    half = min(count // 2, *map(len, kinds))
    _check_enough(half)
    chosen = np.stack([_spread(kind)[:half] for kind in kinds], 1).reshape(-1, 2)
    images, places = np.unique(chosen.ravel(), return_index=True)
    needed = images[np.argsort(places)]
    number = np.empty(images.max() + 1, np.int64)
    number[needed] = np.arange(len(needed))
    first, second = number[chosen].T
    genuine = np.tile([1, 0], half)
    return Pairs([trials.names[i] for i in needed], first, second, genuine, person[chosen])


def _check_enough(half):
    if half < 10:
        raise Error(
            f"diagnose: {half} genuine and as many impostor comparisons whose images are there "
            "cannot tell settings apart; 10 of each are the least, and 500 are better"
        )


def _spread(pairs):
    """In an order whose every beginning is spread evenly over all of them (a golden section's
    multiples)."""
    return pairs[np.argsort((np.arange(len(pairs)) * 0.6180339887498949) % 1, kind="stable")]


def _pairs_of_people(person):
    """Neighbouring images of each person, and of people one after another."""
    order = np.argsort(person, kind="stable")
    first, second = order[:-1], order[1:]
    same = person[first] == person[second]
    begins = order[np.concatenate([[True], ~same])]
    others = np.stack([np.roll(begins, 1), begins], 1) if len(begins) > 1 else np.empty((0, 2), int)
    # As many impostors as genuine pairs: further people away.
    steps = range(2, min(len(begins), 2 + int(same.sum()) // max(len(begins), 1)))
    further = [np.stack([np.roll(begins, step), begins], 1) for step in steps]
    return np.stack([first, second], 1)[same], np.concatenate([others, *further])


class Network:
    """A model whose pixels can be set otherwise for each batch of crops."""

    def __init__(self, model, output=None):
        try:
            self._model = embedding.load_embedder(model, output=output)
        except Error:  # an ONNX file of one channel?
            self._model = embedding.load_embedder(model, output=output, color="gray")
        self.is_ours = isinstance(self._model, full.Model)
        self.own_arithmetic = not (self.is_ours or isinstance(self._model, _NetworkEmbedder))
        self.title = str(model) if isinstance(model, (str, Path)) else _name(model)
        o = self._options = full.ModelOptions() if self.own_arithmetic else self._own_options()
        self.assumed = [] if self.own_arithmetic or self.is_ours else list(self._model._assumed)
        if self.assumed:
            self._model._told_assumptions = True  # they are tried, and stand in the report
        self.batch_dependence = ""  # what was found of it while it embedded
        self._prepared, self.size = _foreign.preparation_of(self._model)
        self.gray = o.color == "gray"

    def _own_options(self):
        return self._model.options if self.is_ours else self._model._options

    def start(self, size) -> Setting:
        """What the model says, or what is assumed where it says nothing."""
        o = self._options
        numbers = [tuple(x[::-1] if o.color == "bgr" else x) for x in (o.mean, o.std)]
        return Setting(
            o.crop, size, o.color, None if self.own_arithmetic else Scale(*numbers), o.flip
        )

    def stated_preparation(self) -> dict:
        """Of a model that says how its images are detected, what `PreparationOptions` take."""
        o = self._prepared
        if o is None:
            return {}
        full.check_stated_detector(o.detector or "", "model")
        mode = [f"mode={o.detector_mode}"] if o.detector_mode else None
        return {
            "detector": o.detector,
            "detector_options": mode,
            "selection": o.selection,
            "crop": o.crop,
        }

    def embed(self, crops, setting, threads):
        """The outputs (N, D) for crops uint8 (N, H, W, 3), without mirror images, as they are."""
        if self.own_arithmetic:
            turned = crops[..., ::-1] if setting.color == "bgr" else crops
            return self._extracted(turned, threads)
        before = self._own_options()
        options = full.ModelOptions(**before.to_dict())
        options.color = setting.color
        options.mean, options.std = setting.scale.pixels(setting.color).values()
        try:
            self._set_options(options)
            return self._extracted(crops, threads)
        finally:
            self._set_options(before)

    def _extracted(self, crops, threads):
        plain = embedding.ExtractOptions(flip="none", normalization="none")
        with warnings.catch_warnings():
            # Of a setting that is wrong its numbers tell.
            warnings.filterwarnings("ignore", r".*\d+ embeddings are (the same|of length 0)")
            embeddings = embedding.extract(
                self._model, crops, plain, threads=threads, progress=False
            )
        self.batch_dependence = embeddings.manifest.get("batch_dependence", "")
        return embeddings.values

    def _set_options(self, options):
        if self.is_ours:
            self._model.options = options
        else:
            self._model._options = options


class Development:
    """Scores of comparisons under any setting; crops and embeddings are made once."""

    def __init__(self, network, protocol, pairs, places, preparation, cache, folder, threads):
        self.network, self.pairs = network, pairs
        self._protocol, self._places, self._asked = protocol, places, preparation
        self._cache, self._folder, self._threads = cache, Path(folder), threads
        self._packs, self._rows = {}, {}
        self._faces = None

    def detect(self, progress) -> None:
        """Finds the faces of all images, once for all crops."""
        asked = self._asked
        known = self.network.stated_preparation() | asked
        detects = known.get("detector") not in (None, "", "none")
        if detects and not known.get("crop") and not _finds(known["detector"], "arcface112"):
            asked = asked | {"crop": "paper"}  # not the default crop: boxes will do
        pack = self._pack("detected.h5", asked, progress)
        detector = pack.manifest["detector"] or {"detector": "none"}
        self._detector = detector["detector"]
        self.cropped_already = detector == {"detector": "none"}
        if not self.cropped_already and not np.any(_there(pack)):  # the faces given have none
            pack = self._pack("detected.h5", self._asked | {"crop": "paper"}, progress)
        status = np.asarray(pack.statuses)
        self.missing = int(np.sum(status == int(SampleStatus.missing)))
        self.pairs = self.pairs.without(status == int(SampleStatus.missing))
        _check_enough(min(np.sum(self.pairs.genuine == kind) for kind in (0, 1)))
        self.without_face = int(np.sum(~_there(pack))) - self.missing
        if self.cropped_already:
            return
        lines = [detection.face_csv_header()]
        for name, there, box, points in zip(
            pack.names, _there(pack), pack.boxes, pack.landmarks, strict=True
        ):
            if there:
                points = points.tolist() if np.isfinite(points).all() and points.any() else None
                face = detection.Face(box.tolist(), 1.0, points)
                lines.append(detection.face_csv_record(name, face))
        self._faces = self._folder / "faces.csv"
        self._faces.write_text("".join(lines))

    def crops(self) -> tuple[str, ...]:
        """The crops that the faces of this detector can be cut by."""
        if self.cropped_already:
            return (WHOLE,)
        return tuple(crop for crop in CROPS if crop == WHOLE or _finds(self._detector, crop))

    def crops_of_others(self) -> list[str]:
        """Which crops need points that this detector does not find, and which detector does."""
        crops = self.crops()
        left_out: dict[str, list[str]] = {}
        for crop in () if self.cropped_already else (c for c in CROPS if c not in crops):
            finders = [name for name in detection.list_detectors() if _finds(name, crop)]
            left_out.setdefault(finders[0], []).append(crop)
        return [
            f"{' and '.join(crops)} could not be tried: defined by points that the detector "
            f"{self._detector} does not find. Try --detector {finder} too."
            for finder, crops in left_out.items()
        ]

    def _pack(self, name, preparation, progress=False):
        request = full.RunRequest(**self._places, **preparation, cache=os.fspath(self._cache or ""))
        preparation_options = full.PreparationOptions(
            **{k: v for k, v in self.network.stated_preparation().items() if v}
        )
        path = self._folder / name
        args = (path, request, self._threads, progress)
        full.pack_protocol(self._protocol, preparation_options, self.pairs.names, *args)
        return datasets.Pack(path)

    def _crops(self, crop, size):
        """(pixels, whether there is a crop) of every image."""
        if (crop, size) not in self._packs:
            preparation: dict = {"crop_size": [size[1], size[0]]}
            if crop == WHOLE:
                preparation |= {"detector": "none"}
            else:
                full.require_landmarks(self._detector, crop)
                options = [f"file={self._faces}"]
                preparation |= {"crop": crop, "detector": "given", "detector_options": options}
            pack = self._pack(f"{crop}-{size[0]}-{size[1]}.h5", preparation)
            self._packs[crop, size] = pack, _there(pack)
        return self._packs[crop, size]

    def embeddings(self, setting, images, mirrored):
        """(rows, whether there is one) of the first ``images`` images."""
        pack, there = self._crops(setting.crop, setting.size)
        key = (setting.crop, setting.size, setting.color, setting.scale, mirrored)
        rows = self._rows.get(key)
        done = 0 if rows is None else len(rows)
        if done < images:
            missing = np.flatnonzero(there[done:images]) + done
            if not len(missing) and rows is None:
                raise Error(f"no image can be cut out by {setting.crop}")
            crops = pack.images[missing]
            crops = crops[:, :, ::-1] if mirrored else crops
            embeddings = self.network.embed(np.ascontiguousarray(crops), setting, self._threads)
            added = np.zeros((images - done, embeddings.shape[1]), np.float32)
            added[missing - done] = embeddings
            self._rows[key] = added if rows is None else np.concatenate([rows, added])
        return self._rows[key][:images], there[:images]

    def scores(self, setting, count):
        """Cosines of the first ``count`` comparisons; the lowest of them where an image has no
        crop. A -1 would decide d' alone for a network whose cosines are all near 1."""
        images = self.pairs.images(count)
        rows, there = self.embeddings(setting, images, False)
        if setting.flip != "none":
            mirrored, _ = self.embeddings(setting, images, True)
            both = (rows, mirrored)
            rows = rows + mirrored if setting.flip == "sum" else np.concatenate(both, 1)
        return self._cosines(rows, there, count)

    def _cosines(self, rows, there, count):
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        rows = rows.astype(np.float64) / np.where(lengths > 0, lengths, 1)
        first, second = self.pairs.first[:count], self.pairs.second[:count]
        compared = there[first] & there[second]
        cosines = np.sum(rows[first] * rows[second], 1)
        return np.where(compared, cosines, np.min(cosines, where=compared, initial=1.0))

    def pixel_scores(self, count):
        """Cosines of the crops' own pixels, which need no network: 16x16 grey values and 4x4
        colours, each less its mean, of every crop that was made."""
        images = self.pairs.images(count)
        for pack, there in self._packs.values():
            crops = pack.images[:images]
            for cells in (_cells(crops, 16).mean(3), _cells(crops, 4)):
                rows = cells.reshape(images, -1)
                yield self._cosines(rows - rows.mean(1, keepdims=True), there, count)


def _cells(crops, side):
    """Means (N, side, side, 3) of the cells of crops (N, H, W, 3)."""
    height, width = (length // side for length in crops.shape[1:3])
    crops = crops[:, : side * height, : side * width]
    return crops.reshape(-1, side, height, side, width, 3).mean((2, 4))


def _finds(detector, crop):
    """Whether the detector finds the points that the crop is cut by."""
    try:
        full.require_landmarks(detector, crop)
    except ValueError:
        return False
    return True


def _there(pack):
    return np.asarray(pack.statuses) == int(SampleStatus.ok)
