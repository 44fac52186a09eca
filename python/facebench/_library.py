"""The compiled module that needs torch's libraries, with a check that the torch at hand fits.

They are loaded in a quarter of the time of ``import torch``. What neither takes nor returns tensors
does not wait for the rest; what does imports `facebench._torch`.
"""

import ctypes
import importlib
import os
import sys
from importlib.metadata import version
from importlib.util import find_spec

_WHOLE = (
    "For the whole: pip uninstall facebench-eval, then pip install torch, then install facebench "
    "with pip install --no-build-isolation"
)
_found = find_spec("torch")
if _found is None or not _found.submodule_search_locations:
    raise ImportError(
        f"this part of facebench needs torch (protocols, metrics and reports do not). {_WHOLE}"
    )
if find_spec("facebench._full") is None:
    raise ImportError(
        "this is facebench-eval, which has protocols, metrics and reports, and was built without "
        f"torch. {_WHOLE}"
    )

# Those of the torch that is imported later, wherever it lies: a second copy would be another torch.
_torch = _found.submodule_search_locations[0]
try:
    ctypes.CDLL(os.path.join(_torch, "lib", "libtorch_python.so"))
except OSError:  # of a torch that is put together otherwise
    importlib.import_module("torch")

from facebench import _full as full  # noqa: E402
from facebench import _threads  # noqa: E402
from facebench.core import _texts  # noqa: E402

_texts.give(full)


def _major_minor(text: str) -> str:
    return ".".join(text.split(".")[:2])


_imported = sys.modules.get("torch")
_version = _imported.__version__ if _imported else version("torch")
if _major_minor(_version) != _major_minor(full.torch_version):
    raise ImportError(
        f"facebench was built for torch {full.torch_version}, but torch {_version} is "
        "installed. Install that torch, or reinstall facebench with pip install "
        "--no-build-isolation --force-reinstall --no-deps"
    )

# Where dlib's models are, unless the user says it; nothing of their package is run.
if (models := find_spec("face_recognition_models")) and models.submodule_search_locations:
    folder = os.path.join(models.submodule_search_locations[0], "models")
    os.environ.setdefault("FACEBENCH_DLIB_MODELS", folder)

if _threads.few and _imported:  # which has counted its threads already
    _imported.set_num_threads(1)
_threads.tell_of_waiting()

__all__ = ["full"]
