"""Random calls of the whole interface: which exceptions come out that are not of the stated kinds.

    python tests/hostile/calls.py [SEED] [CALLS]    CALLS of each function, by default 20

Arguments are drawn from numbers, texts, arrays, tensors, paths and objects of ours; each function
is called in a process of its own, of bounded memory, so that a crash or a call that does not come
back is seen too.
"""

import importlib
import inspect
import json
import multiprocessing
import os
import random
import resource
import signal
import sys
import tempfile
import warnings
from pathlib import Path

import facebench
import numpy as np

MODULES = (
    *("core", "io", "metrics", "protocols", "reports", "images", "detection", "crops"),
    *("datasets", "nn", "losses", "embedding", "training", "timing", "pipeline", "plots"),
)
# What runs for long when it is called rightly, writes where it stands, or ends the process.
LEFT_OUT = {
    *("demo", "main", "study", "suite", "launch", "torchrun_process_group", "train"),
    *("bench", "bench_detect", "bench_load"),
}
# MemoryError: of an array that no memory could hold, where it has to lie as numbers.
STATED = (
    *(ValueError, TypeError, IndexError, facebench.Error, ImportError, StopIteration),
    MemoryError,
)
SECONDS = 20


def objects(folder):
    """Arguments by name; ours are small and whole."""
    pairs = "2\t1\nAnn\t1\t2\nAnn\t1\tBob\t1\nCat\t1\t2\nCat\t1\tDan\t1\n"
    (folder / "pairs.txt").write_text(pairs)
    trials = facebench.protocols.read_trials("lfw", folder)
    values = np.random.default_rng(1).normal(size=(len(trials.names), 4)).astype("f4")
    embeddings = facebench.io.EmbeddingSet(values, trials.names)
    result = facebench.evaluate(trials=trials, protocol="lfw", embeddings=values,
                                names=trials.names, interval="none")  # fmt: skip
    result.save(folder / "run")
    facebench.io.write_embeddings(folder / "e.h5", embeddings)
    found = [
        *(None, True, 0, 1, -1, 3, 2**70, 0.5, -1.0, float("nan"), float("inf"), 1e300, 1j),
        *("", "a", "lfw", "exact", "cosface", "../x", "a\0b", "\udcff", "x" * 70_000, b"bytes"),
        *([], [1], [0.5, "a"], ["lfw"], (), (1, 2), {}, {"a": 1}, {1}, object(), int, len),
        *(lambda *_: None, iter([1]), range(3), folder / "run", folder / "e.h5", folder / "none"),
        *(np.zeros(0), np.zeros((3, 4), "f4"), np.arange(4), np.array(["a"]), np.array([None])),
        *(np.zeros((8, 8, 3), "u1"), np.ones(3, bool), np.float32(1), np.zeros((2, 8, 8, 3), "u1")),
        # One number that is shown ten thousand million times.
        np.broadcast_to(np.float32(1), (100_000, 100_000)),
        *(trials, embeddings, result, next(iter(result.tracks.values())), facebench.Error("x")),
        *(facebench.protocols.load_protocol("lfw"), folder, str(folder / "run"), sys, type),
    ]
    if facebench_full():
        import torch

        found += [torch.zeros(3, 4), torch.tensor(1.0), torch.nn.Linear(2, 2)]
        found += [facebench.nn.build_network("small4", height=64, width=64)]
        found += [facebench.detection.make_detector("hog")]
    return found


def facebench_full():
    try:
        importlib.import_module("facebench._full")
    except ImportError:
        return False
    return True


def functions():
    """(name, callable) of everything public: functions, classes, and methods of classes."""
    found = {}
    spaces = [("facebench", facebench)]
    for name in MODULES:
        try:
            spaces.append((f"facebench.{name}", importlib.import_module(f"facebench.{name}")))
        except ImportError:
            continue
    for space, module in spaces:
        for name in sorted(getattr(module, "__all__", None) or dir(module)):
            value = getattr(module, name, None)
            outside = not str(getattr(value, "__module__", "")).startswith("facebench")
            if name.startswith("_") or not callable(value) or name in LEFT_OUT or outside:
                continue
            found.setdefault(id(value), (f"{space}.{name}", value))
            if inspect.isclass(value):
                for inner in sorted(vars(value)):
                    method = getattr(value, inner)
                    # Of a class in Python, self is not checked: nobody calls it by itself.
                    ours = not inspect.isfunction(method)
                    if not inner.startswith("_") and callable(method) and ours:
                        found.setdefault(id(method), (f"{space}.{name}.{inner}", method))
    return sorted(found.values())


def arguments(function, pool, draw):
    """Positional and named arguments as the signature has them, else a few."""
    try:
        signature = inspect.signature(function)
    except (ValueError, TypeError):
        return [draw.choice(pool) for _ in range(draw.randrange(4))], {}
    given, named = [], {}
    for parameter in signature.parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if parameter.default is not parameter.empty and draw.random() < 0.6:
            continue
        if parameter.kind is parameter.KEYWORD_ONLY or named:
            if parameter.kind is not parameter.POSITIONAL_ONLY:
                named[parameter.name] = draw.choice(pool)
        elif parameter.default is parameter.empty:
            given.append(draw.choice(pool))
        else:
            named[parameter.name] = draw.choice(pool)
    return given, named


def brief(value):
    if isinstance(value, np.ndarray):
        return f"array{value.shape}{value.dtype}"
    plain = isinstance(value, str | int | float | list | dict | tuple)
    return repr(value)[:40] if plain else type(value).__name__


def call(name, function, pool, seed, calls, pipe):
    """In a child: what of the calls raised something else, as texts."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + (4 << 30)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    warnings.simplefilter("ignore")
    draw = random.Random(f"{seed} {name}")
    with tempfile.TemporaryDirectory() as folder, open(os.devnull, "w") as nowhere:
        os.chdir(folder)
        sys.stdout = sys.stderr = nowhere
        for _ in range(calls):
            given, named = arguments(function, pool, draw)
            said = [*map(brief, given), *(f"{k}={brief(v)}" for k, v in named.items())]
            pipe.send(("call", f"({', '.join(said)})"))
            signal.alarm(SECONDS)
            try:
                function(*given, **named)
            except STATED as error:
                kind = None
                if "ambiguous" in str(error) or "has no attribute" in str(error):
                    kind = f"{type(error).__name__}: {error}"
            except BaseException as error:
                kind = f"{type(error).__name__}: {error}"
            else:
                kind = None
            signal.alarm(0)
            pipe.send(("done", kind))
    pipe.send(("end", None))


def tried(name, function, pool, seed, calls):
    """(calls made, [(arguments, what came out)]) of a function."""
    here, there = multiprocessing.Pipe(False)
    child = multiprocessing.Process(target=call, args=(name, function, pool, seed, calls, there))
    child.start()
    there.close()
    made, bad, said = 0, [], ""
    while True:
        try:
            what, value = here.recv() if here.poll(SECONDS + 10) else ("late", None)
        except EOFError:
            bad.append((said, f"the process ended ({child.exitcode})"))
            break
        if what == "call":
            said = value
        elif what == "done":
            made += 1
            if value:
                bad.append((said, value))
        else:
            if what == "late":
                bad.append((said, "does not come back"))
            break
    child.kill()
    child.join()
    return made, bad


def main(seed, calls):
    multiprocessing.set_start_method("fork")
    facebench_full()
    total, wrong = 0, {}
    with tempfile.TemporaryDirectory() as folder:
        pool = objects(Path(folder))
        for name, function in functions():
            made, bad = tried(name, function, pool, seed, calls)
            total += made
            for said, what in bad:
                wrong.setdefault((name, what[:90]), said)
    for (name, what), said in sorted(wrong.items()):
        print(f"{name}{said[:200]}\n    {what}")
    print(json.dumps({"functions": len(functions()), "calls": total, "wrong": len(wrong)}))
    return len(wrong)


if __name__ == "__main__":
    seed, calls = (int(a) for a in (sys.argv[1:] + ["1", "20"][len(sys.argv) - 1 :])[:2])
    sys.exit(1 if main(seed, calls) else 0)
