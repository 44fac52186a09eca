"""What a suite is made of: models with their settings, sets with their protocols."""

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from facebench import _eval
from facebench._toml import check_keys, read_toml
from facebench.core import Error
from facebench.protocols import EvaluationOptions

# What a model may say of its own images; keywords of `facebench.run`.
MODEL_SETTINGS = (
    "detector",
    "detector_options",
    "selection",
    "crop",
    "crop_size",
    "mean",
    "std",
    "color",
    "flip",
    "normalization",
    "micro_batch",
    "precision",
)
# What a set may say of its images; its detector takes the place of a model's.
SET_SETTINGS = (
    "root",
    "images",
    "lists",
    "detector",
    "detector_options",
    "selection",
    "exif_orientation",
    "max_pixels",
)


@dataclass
class SuiteModel:
    """A model of a suite: its name in tables, what `facebench.run` takes as ``model``, and how its
    images are prepared (keywords of `facebench.run`)."""

    name: str
    model: object
    settings: dict = field(default_factory=dict)


@dataclass
class SuiteSet:
    """A data set under one protocol. ``settings``: root, images, lists, fields of
    `EvaluationOptions`, a detector in place of the models' (faces that the set itself gives).
    ``track`` and ``metric``: the number that stands for it in tables; left
    out, the first of the protocol."""

    name: str
    protocol: str
    settings: dict = field(default_factory=dict)
    track: str = ""
    metric: str = ""


@dataclass
class SuiteDescription:
    """``title``, models and sets; ``replicates``, ``seed`` and ``level`` are of the comparisons
    between models."""

    models: list[SuiteModel]
    sets: list[SuiteSet]
    title: str = "Suite"
    replicates: int = 1000
    seed: int = 0
    level: float = 0.95

    def __post_init__(self):
        for what, things in (("models", self.models), ("sets", self.sets)):
            slugs = {}
            for thing in things:
                other = slugs.setdefault(slug(thing.name), thing.name)
                if other is not thing.name:
                    raise ValueError(
                        f"two {what} are called '{other}' and '{thing.name}'; give them names that "
                        "differ in letters or digits (name = ... in a suite's TOML file)"
                    )


def slug(name: str) -> str:
    """A name as that of a folder.

    >>> slug("MobileFaceNet, arcface112 (ours)")
    'mobilefacenet-arcface112-ours'
    """
    return re.sub(r"[^a-z0-9_.]+", "-", name.lower()).strip("-.") or "x"


def model_name(model) -> str:
    """How a model is called that was given without a name.

    >>> model_name("nets/face.onnx"), model_name("mine:embed")
    ('face', 'mine:embed')
    """
    if isinstance(model, (str, os.PathLike)):
        text = os.fspath(model)
        return text if ":" in text else Path(text).stem
    return getattr(model, "__name__", type(model).__name__)


def read_suite(path) -> SuiteDescription:
    """The description in a TOML file; relative paths are below its folder (docs/suite.md). Throws
    `facebench.Error` for a key or table that it does not know, with the nearest that exists.

    >>> import pathlib, tempfile
    >>> from facebench.suites import read_suite
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "suite.toml"
    >>> _ = file.write_text('''[[models]]
    ... model = "face.onnx"
    ... crop = "arcface112"
    ... [[sets]]
    ... protocol = "lfw"
    ... root = "LFW"''')
    >>> suite = read_suite(file)
    >>> suite.models[0].name, suite.sets[0].protocol
    ('face', 'lfw')
    """
    path = Path(path)
    said = read_toml(path)
    here = path.parent
    general = ("title", "replicates", "seed", "level")
    check_keys(path, "the file", said, (*general, "models", "sets"))
    models = [_read_model(path, here, table) for table in _tables(path, said, "models")]
    sets = [s for table in _tables(path, said, "sets") for s in _read_sets(path, here, table)]
    try:
        return SuiteDescription(models, sets, **{k: said[k] for k in general if k in said})
    except ValueError as e:
        raise Error(f"{path}: {e}") from None


def _tables(path, said, name):
    tables = said.get(name, [])
    if not isinstance(tables, list) or not all(isinstance(t, dict) for t in tables):
        raise Error(f"{path}: '{name}' is not a list of tables; each begins with [[{name}]]")
    return tables


def _read_model(path, here, table):
    check_keys(path, "[[models]]", table, ("name", "model", *MODEL_SETTINGS))
    model = table.get("model")
    if not isinstance(model, str):
        raise Error(f"{path}: [[models]] needs model = a file, or 'module:function'")
    settings = {k: v for k, v in table.items() if k in MODEL_SETTINGS}
    if model.endswith((".onnx", ".safetensors")):
        model = str(here / model)
    return SuiteModel(table.get("name") or model_name(model), model, settings)


def _evaluation_keys():
    return [f["name"] for f in EvaluationOptions.fields()]


def _read_sets(path, here, table):
    own = ("name", "protocol", "track", "metric")
    check_keys(path, "[[sets]]", table, (*own, *SET_SETTINGS, *_evaluation_keys()))
    settings = {k: v for k, v in table.items() if k not in own}
    for place in ("root", "images", "lists"):
        if place in settings:
            settings[place] = str(here / settings[place])
    protocols, name = table.get("protocol"), table.get("name")
    several = isinstance(protocols, list)
    if not protocols or not all(
        isinstance(p, str) for p in (protocols if several else [protocols])
    ):
        raise Error(f"{path}: [[sets]] needs protocol = a name, a .toml file, or a list of them")
    sets = []
    for protocol in protocols if several else [protocols]:
        if protocol.endswith(".toml"):
            protocol = str(here / protocol)
        title = Path(protocol).stem
        if name:
            title = f"{name}, {title}" if several else name
        number = (table.get("track", ""), table.get("metric", ""))
        sets.append(SuiteSet(title, protocol, dict(settings), *number))
    return sets


def sets_of(given) -> list[SuiteSet]:
    """Sets from ``{"lfw": "LFW"}`` or from texts ``PROTOCOL,PROTOCOL=FOLDER``. Capitals do not
    matter."""
    if isinstance(given, dict):
        given = [s if isinstance(s, SuiteSet) else f"{n}={s}" for n, s in given.items()]
    sets = []
    for one in given:
        if isinstance(one, SuiteSet):
            sets.append(one)
            continue
        protocols, equals, root = one.partition("=")
        if not equals or not root:
            raise ValueError(f"'{one}' is not of the form PROTOCOL=FOLDER")
        for protocol in protocols.split(","):
            if not protocol.endswith(".toml"):
                protocol = protocol.lower()
                _eval.load_protocol(protocol)  # did you mean
            sets.append(SuiteSet(Path(protocol).stem, protocol, {"root": root}))
    return sets


def models_of(given) -> list[SuiteModel]:
    """Models from a list of what `facebench.run` takes, or from a dict with their names."""
    if isinstance(given, dict):
        given = [m if isinstance(m, SuiteModel) else SuiteModel(n, m) for n, m in given.items()]
    return [m if isinstance(m, SuiteModel) else SuiteModel(model_name(m), m) for m in given]
