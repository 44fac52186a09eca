"""facebench: reproducible face-recognition benchmarks.

Modules and functions are loaded when they are first used, so that ``import facebench.protocols``
needs neither torch nor time.

>>> import facebench
>>> facebench.__version__.count(".")
2
"""

from importlib import import_module

from facebench import _arguments, _eval

_arguments.guard(_eval)  # before anything else takes a function out of it

Error = _eval.Error
__version__ = _eval.version()

_MODULES = (
    "core",
    "io",
    "metrics",
    "protocols",
    "reports",
    "images",
    "detection",
    "crops",
    "datasets",
    "nn",
    "losses",
    "embedding",
    "training",
    "timing",
    "pipeline",
    "suites",
    "plots",
)

# The verbs of the command line, and where each lives.
_VERBS = {
    "detect": "detection",
    "pack": "pipeline",
    "train": "training",
    "embed": "pipeline",
    "evaluate": "_light",
    "run": "pipeline",
    "demo": "pipeline",
    "verify": "_light",
    "report": "_light",
    "compare": "_compare",
    "explain": "reports",
    "groups": "reports",
    "check": "reports",
    "suite": "suites",
    "quality": "_quality",
    "threshold": "reports",
    "calibrate": "reports",
    "plan": "reports",
    "inspect": "_inspect",
    "convert": "embedding",
}

__all__ = ["Error", "__version__", *_MODULES, *_VERBS]


def __getattr__(name):
    if name in _MODULES:
        return import_module(f"facebench.{name}")
    if name in _VERBS:
        return getattr(import_module(f"facebench.{_VERBS[name]}"), name)
    raise AttributeError(f"module 'facebench' has no attribute {name!r}")


def __dir__():
    return sorted(__all__)
