"""The process of an engine: ``python -m facebench.lab.engines.worker NAME``; JSON lines in and out.

Each line is a command, {"command": ..., arguments}; each answer one line, {"ok": ...} or {"error":
{"kind": "out_of_memory" | "failed", "message"}}. Arrays travel as .npy files. Anything a framework
prints goes to the error stream.
"""

import json
import os
import resource
import sys
import time
from importlib import import_module
from pathlib import Path

import numpy as np

from facebench.core._out_of_memory import is_out_of_memory
from facebench.lab.engines import ENGINES
from facebench.lab.engines.engine import Engine


def limit_memory(beyond: int) -> None:
    """Let the process's address space grow by at most ``beyond`` bytes from what it is now."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * os.sysconf("SC_PAGE_SIZE") + beyond
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def use_processors(threads: int) -> None:
    """Stay on as many processors as there are threads: some frameworks take all they can see."""
    allowed = sorted(os.sched_getaffinity(0))
    if 0 < threads < len(allowed):
        os.sched_setaffinity(0, allowed[:threads])


class Server:
    """Carries out commands, one engine at a time."""

    engine: Engine  # once it is prepared

    def __init__(self, name: str):
        self.name = name

    def load(self, threads: int) -> dict:
        """Import the framework; its versions."""
        use_processors(threads)
        self.module = import_module(f"facebench.lab.engines.{ENGINES[self.name].module}")
        return self.module.load(self.name, threads)

    def limit(self, bytes: int) -> dict:
        limit_memory(bytes)
        return {}

    def prepare(self, spec: dict, weights: str | None) -> dict:
        arrays = {}
        if weights:
            from safetensors.numpy import load_file

            arrays = load_file(weights)
        self.engine = self.module.Engine(spec, arrays)
        return {}

    def export(self, path: str) -> dict:
        self.engine.export(path)
        return {}

    def infer(self, images: str, out: str) -> dict:
        np.save(out, self.engine.infer(np.load(images)))
        return {}

    def losses(self, images: str, labels: str, steps: int) -> dict:
        return {"losses": self.engine.losses(np.load(images), np.load(labels), steps)}

    def begin_fit(self, spec: dict, weights: str) -> dict:
        from safetensors.numpy import load_file

        module = ENGINES[self.name].module.replace("_engine", "_fit")
        self.fit = import_module(f"facebench.lab.engines.{module}").Fit(spec, load_file(weights))
        return {}

    def fit_steps(self, images: str, labels: str, rates: list[float]) -> dict:
        """One step for each rate; the batches lie one after the other in files of numpy's."""
        with np.load(images) as parts, np.load(labels) as classes:
            batches = [(parts[n], classes[n]) for n in parts.files]
        losses, ends = [], [time.perf_counter()]
        for batch, rate in zip(batches, rates, strict=True):
            losses.append(self.fit.step(*batch, rate))
            ends.append(time.perf_counter())
        return {"losses": losses, "seconds": np.diff(ends).tolist()}

    def end_fit(self, out: str) -> dict:
        from safetensors.numpy import save_file

        save_file(self.fit.tensors(), out)
        return {}

    def run(self, iterations: int) -> dict:
        return self.engine.run(iterations)

    def extras(self) -> dict:
        return self.engine.extras()


COMMANDS = (
    *("load", "limit", "prepare", "export", "infer", "losses", "run", "extras"),
    *("begin_fit", "fit_steps", "end_fit"),
)


def main() -> None:
    name = sys.argv[1]
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    server = Server(name)
    for line in sys.stdin:
        command = json.loads(line)
        what = command.pop("command")
        try:
            if what not in COMMANDS:
                raise ValueError(f"unknown command {what!r}")
            answer = {"ok": getattr(server, what)(**command)}
        except Exception as error:
            kind = "out_of_memory" if is_out_of_memory(error) else "failed"
            message = f"{type(error).__name__}: {error}".splitlines()[0][:500]
            answer = {"error": {"kind": kind, "message": message}}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
