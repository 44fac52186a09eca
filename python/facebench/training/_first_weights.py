"""``init``: the weights that a training begins with, out of a file."""

import json
from dataclasses import dataclass
from pathlib import Path

from facebench._torch import full, torch
from facebench.core import Error
from facebench.core._arguments import brief
from facebench.embedding import _checkpoints, load_model
from facebench.embedding._conversion import import_onnx, tell_of_comparison
from facebench.io import read_safetensors, sha256_file
from facebench.io._toml import value_text

_INPUT = ("color", "mean", "std", "flip")


@dataclass
class FirstWeights:
    """What a file gives: the tensors of a network by name, or a network as a whole (an ONNX file,
    or a model file that holds its graph), and what it says of its pixels."""

    where: str
    source: dict
    tensors: dict | None = None
    model: "full.Model | None" = None
    options: "full.ModelOptions | None" = None

    def state(self):
        """As the trainer takes it; None where the network is a whole."""
        return None if self.tensors is None else (self.where, self.tensors, self.source)


def read(path, recipe, key=None) -> FirstWeights:
    """The file ``path``: a model file of ours, a checkpoint of a training of ours, a state dict
    (.safetensors, .pt, ...) of which ``key`` names the entry, or an ONNX file. No code of it is
    run. facebench.Error where it cannot be read."""
    path = Path(path)
    if path.is_dir():
        raise Error(
            f"{brief(path)}: is a folder. Name a file of weights; to go on with a finished "
            "training: extend (--extend)"
        )
    if not path.exists():
        raise Error(f"{brief(path)}: there is no such file")
    first = _of_onnx(path, recipe) if path.suffix == ".onnx" else _of_tensors(path, key)
    first.source |= {"file": path.name, "sha256": sha256_file(path)}
    return first


def _of_onnx(path, recipe):
    pixels = recipe.to_dict()["input"]
    stated = {name: pixels[name] for name in ("color", "mean", "std")}
    own = _says_its_pixels(path)
    model, said = import_onnx(path, {} if own else stated)
    tell_of_comparison(said)
    options = model.options if own else None
    return FirstWeights(path.name, {"network": "onnx"}, model=model, options=options)


def _says_its_pixels(path) -> bool:
    from facebench._onnx import file as onnx_file

    return "facebench" in onnx_file.outline(path)[0].metadata


def _of_tensors(path, key):
    if path.suffix != ".safetensors":
        tensors, entry = _checkpoints.read(path, key, "init_key= (--init-key)")
        return FirstWeights(path.name, {"entry": entry} if entry else {}, tensors)
    arrays, metadata = read_safetensors(path)
    tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
    kind = metadata.get("format", "")
    if kind == "facebench-checkpoint":
        pixels = json.loads(metadata["state"])["identity"]["recipe"]["input"]
        options = full.ModelOptions(**{name: pixels[name] for name in _INPUT})
        return FirstWeights(path.name, {}, _of_checkpoint(tensors), options=options)
    if kind not in ("facebench-model", "facebench-own-model"):
        return FirstWeights(path.name, {}, tensors)
    _, options = full.parse_model_description(metadata["model"], str(path), "model")
    source = {"network": json.loads(metadata["model"])["network"]}
    if "training" in metadata:
        source["training"] = json.loads(metadata["training"])
    if options.training_run:
        source["training_run"] = options.training_run
    if "graph" in metadata:
        return FirstWeights(path.name, source, model=load_model(path), options=options)
    return FirstWeights(path.name, source, tensors, options=options)


def _of_checkpoint(tensors):
    """The network of a checkpoint of ours: where there is an average of its weights, that."""
    result: dict = {}
    for prefix in ("network.", "average.network."):
        found = {n.removeprefix(prefix): t for n, t in tensors.items() if n.startswith(prefix)}
        result |= found
    return result


def pixels_unsaid(recipe, where) -> str:
    """What is assumed of a file that says nothing of its pixels; empty where the caller said it."""
    now = recipe.to_dict()["input"]
    assumed = [n for n in ("color", "mean", "std") if f"input.{n}" not in recipe.given]
    if not assumed:
        return ""
    values = ", ".join(f"{name} = {value_text(now[name])}" for name in assumed)
    return (
        f"{where} does not say what its pixels are; the recipe's are used: {values}. State them "
        "(--set input.NAME=VALUE), or begin with a file that says it (facebench convert)."
    )


def take_pixels(recipe, options, where) -> list[str]:
    """Sets in ``recipe`` what a file says of its pixels and is not what the recipe says, unless the
    caller said it. Returns what was changed, in one sentence, where anything was."""
    now, changed = recipe.to_dict()["input"], []
    for name in _INPUT:
        value = getattr(options, name)
        if f"input.{name}" in recipe.given or _same(now[name], value):
            continue
        recipe.set(f"input.{name}", value_text(value))
        changed.append(f"{name} = {value_text(value)} (the recipe: {value_text(now[name])})")
    if not changed:
        return []
    return [
        f"{where} says what its pixels are, and they are taken: {'; '.join(changed)}. To "
        "train with others: --set input.NAME=VALUE."
    ]


def take_pixels_of_training(recipe, folder) -> list[str]:
    """The same of a finished training; what is wrong with the folder, the trainer says."""
    path = Path(folder) / "model.safetensors"
    if not path.is_file():
        return []
    options = _of_tensors(path, None).options
    return [] if options is None else take_pixels(recipe, options, path)


def _same(one, other) -> bool:
    one, other = ([v] if not isinstance(v, list) else v for v in (one, other))
    return one == other or (
        all(isinstance(v, float) for v in one + other)
        and set(one) == set(other)
        and len({*one}) == 1
    )
