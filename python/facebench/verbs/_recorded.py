"""What a run's record may decide of something that is made again. A run folder is data, perhaps a
stranger's: from it come names, hashes and numbers, each by the fields of the options that it is
for; never code, a place to write to, or a file elsewhere."""

import os
from pathlib import Path

from facebench import _eval, protocols
from facebench._library import full
from facebench.core import Error
from facebench.core._arguments import brief, of_kind, one_of, type_text
from facebench.core._inside import is_below
from facebench.io import sha256_file

# Files that `--again` reads a model from; what else a run may name as its model is code.
_WEIGHTS = (".safetensors", ".onnx")
# Options of a detector that name a file.
_FILES = ("file", "weights")
_DETECTORS = {
    "mtcnn": full.MtcnnOptions,
    "hog": full.HogOptions,
    "given": full.GivenOptions,
    "dlib": full.HogOptions,
    "dlib_cnn": full.HogOptions,
}


class Undone(Exception):
    """What is not there to make something of a run again."""


def table_at(record, *keys) -> dict:
    """The table at a place of run.json; ValueError names what is not a table."""
    for depth, key in enumerate(keys):
        record = record.get(key)
        if not isinstance(record, dict):
            place = ".".join(keys[: depth + 1])
            raise ValueError(f"run.json: {place} is {type_text(record)}, expected a table")
    return record


def _only(table, known, where):
    """ValueError for a field that is not known, by its name."""
    for name in table:
        if name not in known:
            raise ValueError(f"run.json: {where} has the field '{brief(name)}', which is not known")
    return table


def _fields(kind):
    return [field["name"] for field in kind.fields()]


def extract_options(content) -> dict:
    """The recorded options of the extraction, as `ExtractOptions` has them."""
    recorded = table_at(content, "embeddings", "manifest", "extract")
    _only(recorded, _fields(full.ExtractOptions), "extract")
    return full.ExtractOptions(**recorded).to_dict()


def pixels(model, content) -> dict:
    """What was stated or assumed of an ONNX file's pixels, and the name of its output."""
    if not str(model).endswith(".onnx"):
        return {}
    stated = table_at(content, "embeddings", "manifest", "model")
    stated = stated["options"] if isinstance(stated.get("options"), dict) else stated
    said = {name: stated[name] for name in ("mean", "std", "color")}
    options = full.ModelOptions(**said)
    output = of_kind(stated.get("output"), (str, type(None)), "run.json: output")
    return {"output": output} | {name: getattr(options, name) for name in said}


def preparation(content) -> dict:
    """What a run says of its preparation, as keywords of `facebench.pack`."""
    recorded = table_at(content, "preparation")
    known = ("detector", "selection", "crop", "decode", "decided_by", "failures", "outside")
    known += ("exif_tagged", "opencv")
    _only(recorded, known, "preparation")
    detector, options = _detector(recorded)
    crop, decode = table_at(recorded, "crop"), table_at(recorded, "decode")
    _only(crop, _fields(full.CropOptions), "crop")
    _only(decode, _fields(full.DecodeOptions), "decode")
    keywords = {
        "detector": detector,
        "detector_options": options,
        "selection": recorded["selection"],
        "crop": crop["name"],
        "crop_size": [crop["width"], crop["height"]],
        "warp": crop.get("warp"),  # the only one there was, in runs that do not say it
        "max_pixels": decode["max_pixels"],
        "exif_orientation": decode["exif_orientation"],
    }
    full.PackRequest(**keywords)  # checks the kinds of all
    return keywords


def _detector(recorded):
    if recorded.get("detector") in (None, {"detector": "none"}):
        return "none", {}
    described = table_at(recorded, "detector")
    name = one_of(described.get("detector"), list(_DETECTORS), "run.json: detector")
    options = table_at(described, "options") if described.get("options") is not None else {}
    kind = _DETECTORS[name]
    _only(options, _fields(kind), f"detector '{name}'")
    if files := [field for field in _FILES if options.get(field) is not None]:
        raise Undone(
            f"the detector '{name}' would read a file that run.json names ({files[0]} = "
            f"{brief(options[files[0]])!r}). Pack and embed the images with your own file instead"
        )
    if name == "given":
        raise Undone(
            "the faces were given in a table, whose place run.json does not say. Pack the images "
            "with it (--detector given) and compare"
        )
    options = {field: value for field, value in options.items() if value is not None}
    kind(**options)
    return name, options


def images_folder(run, content, circumstance, root) -> Path:
    """Where the images are now: below the root where the protocol finds them, of a protocol that is
    not facebench's as they lay below it then; where no root is given, as then."""
    images, then = circumstance.get("images"), circumstance.get("root")
    if not isinstance(images, str) or not images:
        raise Undone("run.json does not say where the images lay")
    folder = Path(images)
    if root:
        below = isinstance(then, str) and then and Path(images).is_relative_to(then)
        name = str(Path(images).relative_to(then)) if below else ""
        if not below or (name != "." and not is_below(name)):
            raise Undone(f"the images lay in {brief(images)}, not below the root of the run")
        folder = _found_images(content, root) or Path(root) / name
    if not _eval.may_open(folder, [run, root or ""]):
        raise Undone(
            f"under --untrusted only the run folder and --root are read, and the images lay in "
            f"{brief(folder)}. Name the data set: --root"
        )
    return folder


def _found_images(content, root):
    """The folder in which a protocol of facebench looks for its images below a root, if it is one:
    a run cannot choose which copy of its images it is compared with."""
    recorded = table_at(content, "protocol")
    if recorded.get("id") not in _eval.protocol_names():
        return None
    protocol = protocols.load_protocol(recorded["id"])
    if protocol.sha256 != recorded.get("sha256"):
        return None
    trials = protocols.read_trials(protocol.id, root)
    return Path(_eval.find_images(protocol, trials, os.fspath(root), ""))


def names_below(names) -> None:
    """facebench.Error for a name of an image that leads out of the folder of images."""
    for name in names:
        if not is_below(name):
            raise Error(
                f"pack.h5 names the image {brief(name)!r}, which does not lie below the data set"
            )


def model_file(run, content, circumstance, root="") -> Path:
    """The file of a run's model, if it is the same one: weights or an ONNX file with the recorded
    SHA-256. `Undone` where it is not, or the run names none."""
    inputs, places = content.get("inputs"), circumstance.get("inputs")
    pairs = zip(inputs, places, strict=True) if isinstance(inputs, list) else []
    for entry, place in pairs:
        if not isinstance(entry, dict) or entry.get("role") != "model":
            continue
        text = place.get("path") if isinstance(place, dict) else None
        if not isinstance(text, str) or not text.endswith(_WEIGHTS):
            raise Undone(
                f"the run names {brief(text)!r} as its model, which is not a .safetensors or .onnx "
                "file; code is taken from the caller alone. Name the model: --model"
            )
        path = Path(text)
        if not _eval.may_open(path, [run, root or ""]):
            raise Undone(
                f"under --untrusted only the run folder and --root are read, and the model lay at "
                f"{brief(text)}. Name it: --model"
            )
        if not os.path.isfile(path) or sha256_file(path) != entry.get("sha256"):
            raise Undone(f"the model is not there, or another one: {brief(text)}. Name it: --model")
        return path
    raise Undone("the run names no file of its model. Name the model: --model")


def check_model(model, content) -> None:
    """facebench.Error where the model is a file, and not the one of the recorded SHA-256, by the
    inputs of the run and by its embeddings."""
    text = os.fspath(model) if isinstance(model, str | os.PathLike) else ""
    if not text.endswith(_WEIGHTS) or not os.path.isfile(text):
        return
    digest = sha256_file(text)
    inputs = content.get("inputs")
    said = {
        entry.get("sha256")
        for entry in (inputs if isinstance(inputs, list) else [])
        if isinstance(entry, dict) and entry.get("role") == "model"
    }
    said.add(table_at(content, "embeddings", "manifest").get("model_sha256"))
    if said != {digest}:
        others = ", ".join(sorted(brief(str(s)) for s in said - {digest}))
        raise Error(f"{brief(text)} has SHA-256 {digest}, run.json names another model: {others}")


# What the manifest of embeddings says of the machine and of all images, not of the model.
_OF_THE_MACHINE = ("compiler", "facebench", "isa", "torch", "torch_isa", "images_sha256")


def other_statements(content, embeddings, pack, named) -> list[str]:
    """The places in which run.json says something else than the manifests of embeddings and pack
    that were made now, by the model itself. ``named``: the model that the caller named, whose name
    counts only where it is a file."""
    then = table_at(content, "embeddings", "manifest")
    then = {k: v for k, v in then.items() if k not in _OF_THE_MACHINE}
    now = {k: v for k, v in embeddings.items() if k not in _OF_THE_MACHINE}
    if table_at(then, "extract").get("device") != "cpu":
        # On another device the caller has another way to run it.
        for said in (then, now):
            said["extract"] = {
                k: v for k, v in said["extract"].items() if k not in ("device", "executor")
            }
    is_file = named is None or os.path.isfile(os.fspath(named) if _is_text(named) else "")
    found = _different(then, now, "embeddings/manifest")
    if not is_file:
        found = [at for at in found if "/model" not in at]
    recorded = table_at(content, "preparation")
    if isinstance(recorded.get("crop"), dict) and "warp" not in recorded["crop"]:
        pack = pack | {"crop": {k: v for k, v in pack["crop"].items() if k != "warp"}}
    for key in ("detector", "selection", "crop", "decode", "opencv"):
        found += _different(recorded.get(key), pack.get(key), f"preparation/{key}")
    return found


def other_sums(content, pack) -> list[str]:
    """The places in which run.json counts other images, of all of them, than a pack made now."""
    recorded, found = table_at(content, "preparation"), []
    for key in ("outside", "exif_tagged"):
        then, now = (
            {k: v for k, v in table[key].items() if k != "names"} if table.get(key) else {}
            for table in (recorded, pack)
        )
        found += _different(then, now, f"preparation/{key}")
    return found


def _is_text(value) -> bool:
    return isinstance(value, str | os.PathLike)


def _different(then, now, at) -> list[str]:
    """The places in which two JSON values differ."""
    if isinstance(then, dict) and isinstance(now, dict):
        keys = sorted(then.keys() | now.keys())
        return [
            place
            for key in keys
            for place in (
                _different(then[key], now[key], f"{at}/{brief(key)}")
                if key in then and key in now
                else [f"{at}/{brief(key)}"]
            )
        ]
    return [] if then == now and isinstance(then, bool) == isinstance(now, bool) else [at]
