"""What an engine is: the same calls whatever the framework."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from itertools import islice

import numpy as np


class Phases:
    """Times of iterations and of their parts, taken by ``mark(phase)`` at the end of each part."""

    def __init__(self):
        self.iteration: list[float] = []
        self.phases: dict[str, list[float]] = {}

    def begin(self) -> None:
        self._begun = self._last = time.perf_counter()

    def mark(self, phase: str) -> None:
        now = time.perf_counter()
        self.phases.setdefault(phase, []).append(now - self._last)
        self._last = now

    def end(self) -> None:
        self.iteration.append(time.perf_counter() - self._begun)

    def to_dict(self) -> dict:
        return {"iteration": self.iteration, "phases": self.phases}


def recording_seconds(times: int = 2000) -> float:
    """Seconds that recording one iteration of five phases takes."""
    phases = Phases()
    start = time.perf_counter()
    for _ in range(times):
        phases.begin()
        for name in ("data", "forward", "backward", "aggregate", "update"):
            phases.mark(name)
        phases.end()
    return (time.perf_counter() - start) / times


class Engine(ABC):
    """One network in one framework, ready to be iterated.

    ``spec`` is what is to be timed: name, mode, batch, classes, graph (nodes, embedding, input,
    vocabulary: 0 where it reads images), threads, device, precision, lr, momentum, weight_decay,
    seed. ``weights``: numpy arrays, "network." and "head." (weight, bias). Training is softmax
    cross-entropy of a linear layer on the embedding (of words: of each, and their mean), SGD with
    momentum.
    """

    def __init__(self, spec: dict, weights: dict[str, np.ndarray]):
        self.spec = spec

    def export(self, path: str) -> None:
        """Writes its weights, with which the others begin: only this library's engine does."""
        raise ValueError("this engine does not write its weights")

    @abstractmethod
    def infer(self, images: np.ndarray) -> np.ndarray:
        """Embeddings (N, D) of images (N, 3, H, W) float32, in evaluation mode; of words (N, T),
        (N, T, D)."""

    def losses(self, images: np.ndarray, labels: np.ndarray, steps: int) -> list[float]:
        """The losses of the first training iterations on one batch, as they are timed. It moves the
        weights. Every engine that has the mode "training" answers it; networks with dropout, which
        draws other numbers everywhere, are not asked."""
        raise ValueError("this engine only infers")

    @abstractmethod
    def run(self, iterations: int) -> dict:
        """The next iterations, timed: {"iteration": [...], "phases": {name: [...]}}."""

    def device_memory(self) -> dict | None:
        """Bytes that its tensors take on a card, {"now", "peak"}; None on the processor, and where
        the framework does not say it."""
        return None

    def extras(self) -> dict:
        """What else is measured when the iterations are done."""
        memory = self.device_memory()
        return {"recording_seconds": recording_seconds(), "device_memory": memory}


class SteppedEngine(Engine):
    """An engine whose iterations are driven, and timed, from Python. With the input "files",
    ``self._files`` are the batches that its ``loader`` makes."""

    loader: Callable[[dict], Iterator]  # of a spec: batches of files without end

    def __init__(self, spec: dict, weights: dict[str, np.ndarray]):
        super().__init__(spec, weights)
        self._files = self.loader(spec) if spec["input"] == "files" else None

    @abstractmethod
    def step(self, mark: Callable[[str], None]) -> None:
        """One iteration on the engine's own batch of noise or the next of ``self._files``, ended
        when its result is there."""

    def run(self, iterations: int) -> dict:
        phases = Phases()
        for _ in range(iterations):
            phases.begin()
            self.step(phases.mark)
            phases.end()
        return phases.to_dict()

    def extras(self) -> dict:
        extras = super().extras()
        if self._files:
            alone = seconds_alone(self.loader(self.spec))
            extras |= {"data_alone": alone, "aggregate_alone": 0.0}
        return extras


def seconds_alone(batches: Iterator, count: int = 8) -> float:
    """Seconds that a loader takes for a batch where nothing else is done, without the batches that
    wait already."""
    next(batches)
    started = time.perf_counter()
    for _ in islice(batches, count):
        pass
    return (time.perf_counter() - started) / count


def noise(spec: dict, count: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The batch that is iterated on, or ``count`` of it: images (N, 3, H, W) in -1 to 1 with labels
    (N), or words (N, T) with one label each.

    >>> spec = {"seed": 1, "batch": 4, "classes": 9, "graph": {"input": [3, 8, 8], "vocabulary": 0}}
    >>> [part.shape for part in noise(spec)]
    [(4, 3, 8, 8), (4,)]
    >>> [part.shape for part in noise(spec | {"graph": {"input": [5], "vocabulary": 9}}, 2)]
    [(2, 5), (2, 5)]
    """
    random, graph = np.random.default_rng(spec["seed"]), spec["graph"]
    shape = (count or spec["batch"], *graph["input"])
    if graph["vocabulary"]:
        words, labels = (random.integers(0, graph["vocabulary"], shape) for _ in range(2))
        return words, labels
    images = random.random(shape, np.float32) * 2 - 1
    return images, random.integers(0, spec["classes"], shape[0])


def needed_nodes(graph: dict) -> list[int]:
    """The nodes that the embedding rests on, in order."""
    nodes, needed = graph["nodes"], {graph["embedding"]}
    for i in range(len(nodes) - 1, -1, -1):
        if i in needed:
            needed.update(nodes[i]["inputs"])
    return sorted(needed)
