"""Engines: frameworks that build the same network from its graph, each in a process of its own.

Two frameworks in one process disturb each other (threads, memory, libraries), so an engine is
always a child process that gets its commands as JSON (`facebench.lab.timing.workers`). This package
imports no torch, so that an engine may live in an environment of its own.

>>> from facebench.lab import engines
>>> sorted(engines.ENGINES)[:2]
['facebench', 'keras-jax']
>>> engines.absent("facebench") == engines.absent("pytorch")
True
"""

import os
import subprocess
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec

MODES = ("training", "inference")
INPUTS = ("synthetic", "files")  # of all engines but our own, which reads every one there is


@dataclass(frozen=True)
class EngineEntry:
    """One engine: what it is, where it lives, and what must be installed for it."""

    name: str
    doc: str
    module: str
    needs: tuple[str, ...]
    modes: tuple[str, ...] = MODES
    precisions: tuple[str, ...] = ("float32", "bfloat16")
    devices: tuple[str, ...] = ("cpu", "cuda")
    # What its loader of files needs beside.
    file_needs: tuple[str, ...] = ()

    fits: bool = False  # whether it trains recipes (facebench.studies.fit)


_ALL = (
    EngineEntry("facebench", "this library: LibTorch from C++", "facebench_engine", ("torch",)),
    EngineEntry("pytorch", "PyTorch, eager", "pytorch_engine", ("torch",),
                file_needs=("torchvision",), fits=True),
    EngineEntry("pytorch-compiled", "PyTorch, torch.compile", "pytorch_engine", ("torch",),
                file_needs=("torchvision",)),
    EngineEntry("keras-tensorflow", "Keras 3 in TensorFlow", "keras_engine",
                ("keras", "tensorflow"), fits=True),
    EngineEntry("keras-tensorflow-tape", "the same by a loop over tf.GradientTape", "keras_engine",
                ("keras", "tensorflow"), modes=("training",), fits=True),
    EngineEntry("keras-jax", "Keras 3 in JAX", "keras_engine", ("keras", "jax"),
                file_needs=("tensorflow",), fits=True),
    EngineEntry("onnxruntime", "ONNX Runtime", "onnxruntime_engine", ("onnxruntime",),
                modes=("inference",), precisions=("float32",), file_needs=("PIL",)),
)  # fmt: skip
ENGINES = {entry.name: entry for entry in _ALL}


# An interpreter with the engines that this environment lacks.
_ELSEWHERE = "FACEBENCH_ENGINE_PYTHON"


def absent(name: str) -> list[str]:
    """The packages that an engine needs and neither this environment has nor that of the
    interpreter that FACEBENCH_ENGINE_PYTHON names."""
    lacking, python = _absent_here(name), elsewhere(name)
    return _absent_at(python, *lacking) if python else lacking


def elsewhere(name: str) -> str | None:
    """The interpreter that FACEBENCH_ENGINE_PYTHON names, where this environment lacks an
    engine."""
    return os.environ.get(_ELSEWHERE) if _absent_here(name) else None


def _absent_here(name):
    return [module for module in ENGINES[name].needs if find_spec(module) is None]


@cache
def _absent_at(python, *modules):
    look = f"import importlib.util as u; print(*(m for m in {modules} if not u.find_spec(m)))"
    try:
        process = subprocess.run([python, "-c", look], capture_output=True, text=True)
    except OSError:  # it is not there, or cannot be run
        return list(modules)
    return process.stdout.split() if process.returncode == 0 else list(modules)
