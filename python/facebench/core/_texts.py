"""How objects of the compiled modules show themselves in a notebook: Pack(a.h5: 40 images)."""

import json
from types import ModuleType

from facebench import _eval


def _count(number: int, what: str) -> str:
    return f"{number:,} {what if number == 1 else what + 's'}"


def _counts(counts: dict) -> str:
    return ", ".join(f"{number:,} {name}" for name, number in counts.items() if number)


def _images(source) -> str:
    images, height, width, _ = source.shape
    return f"{_count(images, 'image')} of {height}x{width}"


def _graph(graph) -> str:
    shape = "x".join(map(str, graph.input_shape))
    return f"{_count(graph.count_parameters(), 'parameter')}, input {shape}"


_TEXTS = {
    "TrialSet": lambda x: f"{_count(len(x.names), 'name')}, {_count(len(x.tracks), 'track')}",
    "DetectionSummary": lambda x: f"{_count(x.images, 'image')}, {_count(x.faces, 'face')}",
    "Detector": lambda x: json.loads(x.description())["detector"],
    "ImageFile": lambda x: x.name,
    "ConvertSummary": lambda x: f"{_count(x.images, 'image')}, {x.people:,} people",
    "DatasetReport": lambda x: f"{_count(x.images, 'image')}, {_count(len(x.findings), 'finding')}",
    "DecodedImages": _images,
    "FaceIdentity": lambda x: f"index {x.index}",
    "ImageSource": _images,
    "CropSizedImages": lambda x: f"{x.images} of {x.decoded} images",
    "OutsideFaces": lambda x: _count(len(x.names), "image"),
    "Pack": lambda x: f"{x.path}: {_images(x)}",
    "PackFailure": lambda x: f"{x.id}: {x.reason}",
    "PackSummary": lambda x: f"{x.path}: {_counts(x.counts)}",
    "SyntheticFace": lambda x: f"{x.image.shape[0]}x{x.image.shape[1]}, yaw {x.yaw:.0f}",
    "SyntheticSummary": lambda x: f"{x.folder}: {_count(x.images, 'image')}, {x.people:,} people",
    "Graph": _graph,
    "InferenceNetwork": lambda x: "",
    "Network": lambda x: f"{_graph(x.graph)}, on {x.device}",
    "Model": lambda x: f"{x.network}, crop {x.options.crop}, {x.embedding_size} numbers a face",
    "Validation": lambda x: f"{x.to_dict()['protocol']['id']}",
    "ProcessMeter": lambda x: "",
    "StepBench": lambda x: _graph(x.graph),
}


def _text(kind: type, say):
    def text(self) -> str:
        if not _eval._constructed(self):  # debuggers and test runners show what `__init__` left
            return f"<{type(self).__name__}, not constructed>"
        return f"{kind.__name__}({say(self)})"

    return text


def give(module: ModuleType) -> None:
    """Texts to those classes of a compiled module that have none of their own."""
    # All are found first: a class inherits the text that its base is given.
    kinds = {kind: say for name, say in _TEXTS.items() if (kind := getattr(module, name, None))}
    silent = [kind for kind in kinds if kind.__repr__ is object.__repr__]
    for kind in silent:
        kind.__repr__ = _text(kind, kinds[kind])  # type: ignore[method-assign]
