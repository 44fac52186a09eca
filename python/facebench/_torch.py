"""The compiled module that needs torch, imported with a check that the torch at hand fits."""

import os
from importlib.util import find_spec

if find_spec("torch") is None:
    raise ImportError(
        "this part of facebench needs torch: pip install torch, then reinstall facebench with "
        "pip install --no-build-isolation (protocols, metrics and reports work without it)"
    )
if find_spec("facebench._full") is None:
    raise ImportError(
        "facebench was built without torch, so only protocols, metrics and reports are here. "
        "Install torch, then reinstall facebench with pip install --no-build-isolation"
    )

import torch

from facebench import _full as full
from facebench import _threads
from facebench.core import _texts

_texts.give(full)


def _major_minor(text: str) -> str:
    return ".".join(text.split(".")[:2])


if _major_minor(torch.__version__) != _major_minor(full.torch_version):
    raise ImportError(
        f"facebench was built for torch {full.torch_version}, but torch {torch.__version__} is "
        "installed. Install that torch, or reinstall facebench with pip install "
        "--no-build-isolation --force-reinstall --no-deps"
    )

# Where dlib's models are, unless the user says it; nothing of their package is run.
if (models := find_spec("face_recognition_models")) and models.submodule_search_locations:
    folder = os.path.join(models.submodule_search_locations[0], "models")
    os.environ.setdefault("FACEBENCH_DLIB_MODELS", folder)

if _threads.few:  # of a torch that was imported before facebench, too
    torch.set_num_threads(1)

__all__ = ["full", "torch"]
