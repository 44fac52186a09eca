"""A recipe's ``network = "timm:NAME"``."""

from importlib.util import find_spec
from pathlib import Path

from facebench._torch import full
from facebench.embedding import TorchEmbedder, _timm, export_onnx
from facebench.embedding._file_heads import TIMM
from facebench.embedding._stated_pixels import pixels_of_timm
from facebench.training._own_network import OwnNetwork


def is_timm(recipe) -> bool:
    return recipe.network.startswith(TIMM)


def size_and_pixels(recipe) -> "full.ModelOptions":
    """What timm's configuration says: the size of the images goes into ``recipe`` where the caller
    states none; the pixels are returned."""
    said = pixels_of_timm(_timm.configuration(recipe.network))
    network = recipe.to_dict()["network"]
    if recipe.to_dict()["input"]["color"] == "gray":
        recipe.set("network.channels", "1")
    if said is None:
        raise ValueError(
            f"{recipe.network}: its configuration says no mean, std and size of images"
        )
    for name, side in zip(("height", "width"), said.size, strict=True):
        if network[name] is None and side:
            recipe.set(f"network.{name}", str(side))
    flip = recipe.to_dict()["input"]["flip"]
    return full.ModelOptions(mean=said.mean, std=said.std, color=said.color, flip=flip)


class TimmNetwork(OwnNetwork):
    """A network of timm as the trainer calls it: a module whose name says how to make it."""

    def __init__(self, recipe):
        options = {k: v for k, v in recipe.to_dict()["network"].items() if k != "name"}
        self._options = full.NetworkOptions(**options)
        self._name = recipe.network
        super().__init__(lambda: _timm.make(self._name, self._options))

    def description(self):
        return {"name": self._name, "timm": _timm.version(), "options": self._options.to_dict()}

    def made(self):
        return self._name, self._options


def write_onnx(path, network=None) -> str:
    """``model.onnx`` beside a model file whose network is Python: one of timm, or what ``network``
    makes. Returns what there is, or why not, in a sentence."""
    out = Path(path).with_suffix(".onnx")
    if find_spec("onnx") is None:
        return "no ONNX file was written: pip install 'facebench[onnx]'."
    if network is None:
        embedder = TorchEmbedder.made_by_name(path)
    else:
        embedder = TorchEmbedder(network(), weights=path)
    try:
        export_onnx(embedder, out)
    except Exception as error:  # whatever torch's exporter raises: the training is done
        out.unlink(missing_ok=True)
        first = str(error).strip().splitlines()[:1] or [type(error).__name__]
        return f"no ONNX file was written: {first[0]}"
    return f"as ONNX: {out}"
