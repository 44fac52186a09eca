"""Engines: frameworks that build the same network from its graph, each in a process of its own.

Two frameworks in one process disturb each other (threads, memory, libraries), so an engine is
always a child process that gets its commands as JSON (`facebench.timing.workers`). This package
imports no torch, so that an engine may live in an environment of its own.

>>> from facebench import engines
>>> sorted(engines.ENGINES)[:2]
['facebench', 'keras-jax']
>>> engines.absent("facebench") == engines.absent("pytorch")
True
"""

from dataclasses import dataclass
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


_TORCH = {"needs": ("torch",), "file_needs": ("torchvision",)}
_ALL = (
    EngineEntry("facebench", "this library: LibTorch from C++", "facebench_engine", ("torch",)),
    EngineEntry("pytorch", "PyTorch, eager", "pytorch_engine", **_TORCH, fits=True),
    EngineEntry("pytorch-compiled", "PyTorch, torch.compile", "pytorch_engine", **_TORCH),
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


def absent(name: str) -> list[str]:
    """The packages that an engine needs and this environment lacks."""
    return [module for module in ENGINES[name].needs if find_spec(module) is None]
