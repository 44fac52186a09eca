"""facebench: reproducible face-recognition benchmarks.

Modules and functions are loaded when they are first used, so that ``import facebench.protocols``
needs neither torch nor time.

>>> import facebench
>>> facebench.__version__.count(".")
2
"""

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from facebench import _one_package as _one_package  # before files of another version are read
from facebench import _threads as _threads  # before anything that imports numpy

# isort: split
from facebench import _eval
from facebench.core import _above, _texts
from facebench.core._held import held_signals
from facebench.core._when_asked import listed, when_asked

if TYPE_CHECKING:  # what __getattr__ finds
    from facebench import analysis as analysis
    from facebench import backends as backends
    from facebench import claims as claims
    from facebench import core as core
    from facebench import crops as crops
    from facebench import datasets as datasets
    from facebench import detection as detection
    from facebench import embedding as embedding
    from facebench import images as images
    from facebench import io as io
    from facebench import losses as losses
    from facebench import metrics as metrics
    from facebench import nn as nn
    from facebench import pipeline as pipeline
    from facebench import plots as plots
    from facebench import protocols as protocols
    from facebench import reports as reports
    from facebench import studies as studies
    from facebench import timing as timing
    from facebench import training as training
    from facebench.analysis import calibrate as calibrate
    from facebench.analysis import fuse as fuse
    from facebench.analysis import groups as groups
    from facebench.analysis import threshold as threshold
    from facebench.detection import detect as detect
    from facebench.embedding import convert as convert
    from facebench.lab.claims import check as check
    from facebench.lab.diagnosis import diagnose as diagnose
    from facebench.lab.planning.gallery_sizes import gallery as gallery
    from facebench.lab.planning.people_needed import plan as plan
    from facebench.lab.planning.variance_budget import budget as budget
    from facebench.lab.studies import study as study
    from facebench.lab.studies import suite as suite
    from facebench.pipeline import demo as demo
    from facebench.pipeline import embed as embed
    from facebench.pipeline import pack as pack
    from facebench.pipeline import run as run
    from facebench.protocols import evaluate as evaluate
    from facebench.protocols import load as load
    from facebench.training import train as train
    from facebench.verbs._compare import compare as compare
    from facebench.verbs._explain import explain as explain
    from facebench.verbs._inspect import inspect as inspect
    from facebench.verbs._light import report as report
    from facebench.verbs._open import serve as serve
    from facebench.verbs._quality import quality as quality
    from facebench.verbs._verify import verify as verify

_texts.give(_eval)

Error = _eval.Error
__version__ = _eval.version()

# What lower rooms call of higher ones, and where each lives.
_ABOVE = {
    "write_run_pages": "reports.results",
    "text_of": "reports.drawn",
    "write_page": "reports.drawn",
    "audit_sheet": "reports.audits",
    "trainings": "reports",
    "plots": "",
    "against": "lab.claims",
    "against_section": "lab.claims.comparison",
}


def _found(name, room):
    with held_signals():
        return getattr(import_module(f"facebench.{room}".rstrip(".")), name)


for _name, _room in _ABOVE.items():
    _above.hand_in(_name, partial(_found, _name, _room))

_PLACES, _ = listed(__name__)
_MODULES = [name for name, (home, _) in _PLACES.items() if home == __name__]
# The verbs of the command line and load(), and where each lives.
_VERBS = {
    name: home.removeprefix("facebench.") for name, (home, _) in _PLACES.items() if home != __name__
}
__all__ = ["Error", "__version__", *_MODULES, *_VERBS]
__getattr__ = when_asked(__name__)


def __dir__():
    return sorted(__all__)
