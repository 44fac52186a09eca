"""Foreign weights as models of ours, and models as ONNX."""

import json
import os
from pathlib import Path

from facebench import nn
from facebench._frte import refuse_library
from facebench._library import full
from facebench._onnx import file as onnx_file
from facebench._torch import torch
from facebench.core import Error, _log
from facebench.core._arguments import brief, did_you_mean, listed, of_kind, type_text
from facebench.detection import list_detectors
from facebench.embedding import (
    _checkpoints,
    _graph_pixels,
    _onnx_comparison,
    _onnx_import,
    _public_models,
    _split,
    load_model,
)
from facebench.embedding._torch_embedder import TorchEmbedder
from facebench.io import sha256_file

Model = full.Model
ModelOptions = full.ModelOptions
NetworkOptions = full.NetworkOptions

_PREPARATION = ("detector", "detector_mode", "selection", "crop")


def _set_options(target: ModelOptions, values: dict) -> None:
    for name, value in values.items():
        if name not in target.to_dict():
            ModelOptions(**{name: value})  # raises, with "did you mean"
        if name in ("crop", "detector"):
            known = full.crops() if name == "crop" else {**list_detectors(), "none": ""}
            if value not in known:
                meant = did_you_mean(str(value), known)
                raise ValueError(f"unknown {name} '{value}'{meant} (known: {', '.join(known)})")
        one_for_all = name in ("mean", "std") and isinstance(value, int | float)
        setattr(target, name, [float(value)] if one_for_all else value)


def import_onnx(path: Path, options: dict, prepared: bool = True) -> tuple[Model, str]:
    """The network of an ONNX file as a model of ours, and how it compares with ONNX Runtime.
    ``prepared``: whether it has the defaults of detector and crop where the file does not say
    them."""
    sizes = {k: options.pop(k) for k in ("height", "width", "output") if k in options}
    imported = _onnx_import.read(path, **sizes)
    exported = imported.metadata.get("facebench")
    if exported is not None:
        model_options = full.parse_model_description(exported, str(path), "facebench")[1]
        model_options.tap = "embedding"
    else:
        inside = _graph_pixels.pixels_of_import(path, imported)
        if missing := [name for name in ("color", "mean", "std") if name not in options]:
            known = f". Its graph normalises them itself, {inside}" if inside else ""
            raise ValueError(
                f"{path}: does not say what its pixels are; state {', '.join(missing)}{known}"
            )
        model_options = ModelOptions()
        for name in () if prepared else _PREPARATION:
            setattr(model_options, name, "")
        if imported.unit:
            model_options.normalization = "unit"
    sha256 = sha256_file(path)
    hashes = {path.name: sha256} | onnx_file.hashes_beside(path)
    model_options.origin = ", ".join(f"{name} sha256:{h}" for name, h in hashes.items())
    _set_options(model_options, options)
    if exported is None and inside:
        stated = {
            n: ",".join(f"{x:g}" for x in options_of)
            for n, options_of in (("mean", model_options.mean), ("std", model_options.std))
        }
        for text in inside.warnings(stated, ()):
            _log.warn(text, stacklevel=4)
    tensors = {name: torch.from_numpy(numbers) for name, numbers in imported.tensors.items()}
    model = full.imported_model(imported.graph, tensors, model_options, str(path), sha256)
    return model, _onnx_comparison.compare(path, imported, model)


def tell_of_comparison(said: str) -> None:
    """A UserWarning where an ONNX file was not compared with ONNX Runtime."""
    if said.startswith("not compared"):
        _log.warn(f"The converted network was {said}.", stacklevel=3)


def convert(
    weights, *, network: str | None = None, out=None, drop=(), key: str | None = None, **options
) -> Model:
    """Foreign weights as a model of ours, written to ``out`` (.safetensors, or .onnx) where given.

    ``weights`` is a PyTorch state dict file, or a checkpoint that holds one, read with
    ``torch.load(weights_only=True)`` and nothing else, or a safetensors file. Modules around the
    network (``module.``, ``backbone.``) leave its names. ``drop`` names beginnings of tensors to
    leave out (a classifier). ``key``: the entry of a checkpoint that holds them, where it has
    several (weights and their moving average); the only one is taken, and the model's ``origin``
    names it.
    ``options`` are fields of `facebench.nn.NetworkOptions` and `ModelOptions`; what is
    not given is what is known about published weights of this network, or the plain default.
    Where weights of the network are published for different pixels, color, mean and std must be
    given (ValueError), unless the file is one that is known.
    Without ``network`` the file is a model of ours, to be written as ONNX or with other options; or
    an ``.onnx`` file whose operations are all known, which becomes a model of ours with the graph
    in its file. It must say, or ``options`` must, what color, mean and std its pixels have;
    ``output`` names the output to take (default: the first), and a last division by the length is
    left to ``normalization``. Where onnxruntime is installed, it computes three images of random
    pixels by what was accepted of the file; facebench.Error where the model's embeddings differ by
    more than 1e-4 of the largest number (2e-2 with float16), and a UserWarning where that could not
    be compared. Or it is dlib's face network,
    ``dlib_face_recognition_resnet_model_v1.dat``, of that SHA-256 and no other. ``weights`` may
    also be a name of the table of public models (`list_models`), which says what its pixels are.
    facebench.Error names the tensor that does not fit, or the node that cannot be computed.

    >>> import os, tempfile, torch
    >>> from facebench import embedding, nn
    >>> path = os.path.join(tempfile.mkdtemp(), "theirs.pt")
    >>> torch.save(nn.build_network("mobilefacenet").state_dict(), path)
    >>> pixels = {"color": "rgb", "mean": [127.5], "std": [128.0]}
    >>> embedding.convert(path, network="mobilefacenet", **pixels).options.flip
    'sum'
    """
    model, said = converted(weights, network, out, drop, key, options)
    tell_of_comparison(said)
    return model


def converted(weights, network, out, drop, key, options) -> tuple[Model, str]:
    """The model, and of an ONNX file how it compares with ONNX Runtime."""
    said = ""
    refuse_library(weights)
    path, drop = Path(weights), listed(drop, "drop")
    of_kind(network, (str, type(None)), "network")
    if out is not None and Path(out).suffix not in (".safetensors", ".onnx"):
        raise ValueError(f"{brief(out)}: a model file's name ends with .safetensors or .onnx")
    if not os.path.exists(path):
        if (row := _public_models.public_model(str(weights))) is None:
            raise Error(f"{brief(path)}: there is no such file")
        path, _, other = row.find()
        if other:
            _log.warn(other, stacklevel=3)
        options = _public_models.preparation(row) | options
    if path.suffix == ".onnx":
        if network is not None or drop:
            raise ValueError(f"{path}: an ONNX file says itself what network it is")
        model, said = import_onnx(path, options)
    elif path.suffix == ".dat":
        if network not in (None, "dlib_resnet29") or drop:
            raise ValueError(f"{path}: dlib's file says itself what network it is")
        model = full.dlib_model(path)
        _set_options(model.options, options)
    elif network is None:
        if path.suffix != ".safetensors":
            raise ValueError(f"{path}: not a model file of ours, so the network must be named")
        if (made := TorchEmbedder.made_by_name(path)) is not None:
            return _write_made(made, path, out, options), said
        model = load_model(path)
        _set_options(model.options, options)
    else:
        network_options, rest = _split(options)
        model_options = full.conversion_defaults(network)
        sha256 = sha256_file(path)
        tensors, entry = _checkpoints.read(path, key)
        taken = f"[{entry}]" if entry else ""
        model_options.origin = f"{path.name}{taken} sha256:{sha256}"
        _set_options(model_options, rest)
        model = full.convert_weights(
            network, tensors, network_options, model_options, drop, str(path)
        )
        full.require_pixels(network, sha256, list(rest), str(path))
    if out is not None:
        if Path(out).suffix == ".onnx":
            export_onnx(model, out)
        else:
            model.save(out)
    return model, said


def _write_made(made, path, out, options):
    """A model file of a network of timm, which becomes ONNX."""
    if out is None or Path(out).suffix != ".onnx":
        raise ValueError(f"{brief(path)}: holds a network of timm, which is written as .onnx alone")
    _set_options(made._options, options)
    export_onnx(made, out)
    return made


def export_onnx(model, path, *, fold: bool = True) -> None:
    """Write a model as ONNX (the ``onnx`` extra): input ``images`` (N, C, H, W), one output.

    ``model`` is a `Model`, or a `TorchEmbedder` of a module that facebench trained, which torch's
    own exporter then writes (whatever it raises is passed on). The file carries the model's options
    (detector, crop, colour order, mean, std, flip, ...), and `OnnxEmbedder` reads them there.
    ``fold``: batch norms go into the layers before them; of a module, torch decides.

    >>> import os, tempfile
    >>> from facebench import embedding
    >>> path = os.path.join(tempfile.mkdtemp(), "m.onnx")
    >>> embedding.export_onnx(embedding.make_model("small4", flip="sum"), path)
    >>> embedding.load_embedder(path).flip
    'sum'
    """
    if isinstance(model, TorchEmbedder):
        model._export_onnx(path)
        return
    if not isinstance(model, Model):
        raise TypeError(f"model must be a Model or a TorchEmbedder, not {type_text(model)}")
    metadata = {"facebench": json.dumps(model.description(), sort_keys=True)}
    nn.export_onnx(model.weights, path, taps=[model.options.tap], fold=fold, metadata=metadata)
