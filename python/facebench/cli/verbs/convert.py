"""``facebench convert``: foreign weights as a model file, or a model as ONNX."""

from pathlib import Path
from typing import Any

from facebench.cli import common
from facebench.cli.options import argument, option
from facebench.cli.verb import Answer, verb

_SHOWN = (
    *("origin", "color", "mean", "std", "crop", "detector", "detector_mode", "flip"),
    "normalization",
)


@verb("facebench convert w.pt --network mobilefacenet --out m.safetensors")
def convert(
    weights: argument(
        "A PyTorch state dict, safetensors or ONNX file, dlib's .dat, or a model's name.",
        Path,
    ),
    out: option("What to write: .safetensors, or .onnx.", Path),
    network: option("See: facebench list networks. Not for our own files.") = None,
    setting: common.setting(
        "What the model expects, e.g. color=rgb, mean=127.5, std=128, crop=arcface112, flip=sum."
    ) = None,
    output: common.Output = None,
    drop: option("Beginning of the names of tensors to leave out.", list[str]) = None,
    key: option("The entry of a checkpoint that holds the weights, where it has several.") = None,
):
    """Convert foreign weights into a model file. It says which input, crop and flip they expect.

    The file is read with torch.load(weights_only=True) and nothing else: no code in it is run.
    Without --network it is a model file of ours, to be written as ONNX or with other settings; or
    an ONNX file, whose network is taken over where all its operations are known; or dlib's face
    network, dlib_face_recognition_resnet_model_v1.dat.
    """
    from facebench.embedding._conversion import converted  # needs torch

    settings: dict[str, Any] = {}
    common.add_outputs(settings, output, None)
    common.add_settings(settings, setting)
    model, compared = converted(weights, network, out, drop or (), key, settings)
    options = model.options.to_dict()
    text = "\n".join(f"  {name}: {_short(options[name])}" for name in _SHOWN)
    fields = {"path": str(out), "network": model.network, "options": options}
    if compared:
        fields["compared"] = compared
        text += f"\n{compared}"
    return Answer(fields, f"{out}: {model.network}\n{text}")


def _short(value) -> str:
    return ", ".join(f"{v:g}" for v in value) if isinstance(value, list) else str(value)
