"""Every verb that writes, with each of its writing calls failing in turn, or killed after it, and
under limits: of the size of files (each file of the result a byte too large), and of open files.

    python tests/faults/faults.py [--verb VERB] [--sample N] [--limits] [--shim fault.so]

For each fault: the verb ends with its error, in one sentence, or is killed; what stands at its
--out is nothing or the whole result; where it said that it succeeded, the whole one; and a rerun
gives the whole result and leaves no temporaries. Prints a table of faults by verb, and ends with
exit code 1 where one of these did not hold. --sample takes N faults of each verb, evenly spaced,
--limits only the limits.
"""

import argparse
import ctypes
import errno
import hashlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

CALLS = ("open", "write", "fsync", "rename")
LIMITS = {"size": resource.RLIMIT_FSIZE, "files": resource.RLIMIT_NOFILE}
OPEN_FILES = range(8, 34, 2)  # Python itself needs some
ERRORS = {"ENOSPC": errno.ENOSPC, "EIO": errno.EIO, "EMFILE": errno.EMFILE, "SIGKILL": 0}
HERE = Path(__file__).parent
SUITE = """
replicates = 20
[[models]]
name = "small4"
model = "model.safetensors"
detector = "none"
crop_size = 32
[[sets]]
protocol = "lfw"
root = "lfw"
"""


def build_shim(folder):
    """fault.c as a library to preload."""
    shim = folder / "fault.so"
    subprocess.run(
        ["cc", "-O1", "-fPIC", "-shared", "-o", shim, HERE / "fault.c", "-ldl"], check=True
    )
    return shim


def make_inputs(folder):
    """Photographs, lists, a model, a pack, embeddings, a run and foreign weights; all small."""
    import facebench
    import numpy as np
    import torch
    from facebench import embedding, images

    random = np.random.default_rng(0)
    lines = ["2\t2"]
    for fold in "AB":
        lines += [f"{fold}{k}\t1\t2" for k in range(2)]
        lines += [f"{fold}{k}\t1\t{fold}{k + 2}\t1" for k in range(2)]
        for person in range(4):
            for k in (1, 2):
                path = folder / f"lfw/images/{fold}{person}/{fold}{person}_{k:04}.png"
                path.parent.mkdir(parents=True, exist_ok=True)
                images.write(path, random.integers(0, 256, (32, 32, 3)).astype(np.uint8))
    for path in (folder / "lfw/images").rglob("*.png"):
        path.rename(path.with_suffix(".jpg"))  # the lists say so; decoders look at the bytes
    (folder / "lfw/pairs.txt").write_text("\n".join(lines) + "\n")
    (folder / "suite.toml").write_text(SUITE)
    model = embedding.make_model("small4", height=32, width=32, crop="paper")
    model.save(folder / "model.safetensors")
    network = facebench.nn.build_network("small4")
    torch.save(network.state_dict(), folder / "foreign.pth")


class Verb:
    """A command with the folder OUT, or file, that it makes.

    `resume`: what a rerun adds, of a verb whose folder grows until it is done; else None."""

    def __init__(self, name, line, out, resume=None):
        self.name, self.line, self.out, self.resume = name, line.split(), out, resume


VERBS = [
    Verb("pack", "pack folder --root lfw/images --detector none --crop-size 32", "p.h5"),
    Verb("embed", "embed model.safetensors pack.h5 --threads 1", "e.h5"),
    Verb("eval", "eval lfw --root lfw --embeddings run/embeddings.h5 --threads 1", "eval"),
    Verb(
        "run",
        "run lfw --model model.safetensors --root lfw --detector none --crop-size 32 --threads 1",
        "new",
    ),
    Verb(
        "train",
        "train small4.softmax --pack pack.h5 --set epochs=1 --set batch=8 --threads 1 "
        "--data-threads 0",
        "trained",
        resume=["--resume"],
    ),
    Verb("convert", "convert foreign.pth --network small4 --set crop=paper", "made.safetensors"),
    Verb("report", "report run --format html", "page"),
    Verb("suite", "suite suite.toml --no-cost --threads 1", "suite", resume=[]),
]


def outcome_of(line, fault=None, shim=None):
    """(exit code or minus the signal, what was said) of the command, in a forked process.

    `fault` is (call, n, error), or (limit, n, None)."""
    said, end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(said)
        code = 70
        try:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            os.dup2(end, 2)
            sys.argv = ["facebench", *line]
            from facebench.cli.app import app

            if fault and fault[0] in LIMITS:
                most = resource.getrlimit(LIMITS[fault[0]])[1]
                resource.setrlimit(LIMITS[fault[0]], (fault[1], most))
            elif fault:
                shim.fault_arm(fault[0].encode(), fault[1], fault[2])
            try:
                code = app(standalone_mode=False) or 0
            except SystemExit as stop:
                code = stop.code or 0
            sys.stderr.flush()
            if fault and fault[1] == 0:
                counts = {call: shim.fault_count(call.encode()) for call in CALLS}
                os.write(end, b"\ncounts " + json.dumps(counts).encode())
        except BaseException:
            os.write(end, traceback.format_exc().encode())
            code = 71
        finally:
            os._exit(code)
    os.close(end)
    with os.fdopen(said, "rb") as pipe:
        text = pipe.read().decode(errors="replace")
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), text


def content(path):
    """What has to be the same of two results: bytes, but for what a run's circumstance says.

    Temporaries, hidden files, are not a result; that a rerun removes them is looked at apart."""
    if not path.exists():
        return None
    if path.is_file():
        return hashlib.sha256(path.read_bytes()).hexdigest()
    found = {}
    for file in sorted(p for p in path.rglob("[!.]*") if p.is_file()):
        name = str(file.relative_to(path))
        if file.name in ("run.json", "training.json", "study.json"):
            found[name] = json.loads(file.read_text()).get("content")
        elif not name.endswith(
            (".jsonl", ".html", ".log", "training.csv", "job.json")
        ):  # with times, or of them
            found[name] = hashlib.sha256(file.read_bytes()).hexdigest()
        else:
            found[name] = None
    return found or None  # an empty folder is nothing


class Case:
    """One verb in a folder of its own."""

    def __init__(self, verb, inputs, work, shim):
        self.verb, self.inputs, self.shim = verb, inputs, shim
        self.folder = work / verb.name
        self.losses = []
        self.faults = 0
        self.folder.mkdir()
        for entry in inputs.iterdir():
            (self.folder / entry.name).symlink_to(entry)
        os.chdir(self.folder)
        self.out = self.folder / verb.out
        code, said = self.run(("open", 0, 0))
        assert code == 0, said
        self.counts = json.loads(said.rsplit("\ncounts ", 1)[1])
        self.whole = content(self.out)
        files = [self.out] if self.out.is_file() else self.out.rglob("[!.]*")
        self.sizes = sorted({f.stat().st_size for f in files if f.is_file()} - {0})
        self.clean()

    def run(self, fault=None, more=()):
        line = [*self.verb.line, "--out", self.verb.out, *more]
        return outcome_of(line, fault, self.shim)

    def clean(self):
        if self.out.is_dir():
            shutil.rmtree(self.out)
        else:
            self.out.unlink(missing_ok=True)

    def left_over(self):
        return [p.name for p in self.folder.rglob(".*.tmp-*") if not p.is_symlink()]

    def check(self, call, n, name):
        """One fault, and the rerun after it."""
        self.faults += 1
        code, said = self.run((call, n, ERRORS.get(name)))
        found = content(self.out)
        problems = []
        if "Traceback" in said or "not foreseen" in said:
            problems.append("a traceback")
        last = said.strip().rpartition("\n")[2]
        if code == 1 and not (last.startswith("facebench: ") or ": failed: " in last):
            problems.append("no sentence")
        if "Free some space" in said and name != "ENOSPC":
            problems.append("advice for a full disk")
        if code not in (0, 1, -signal.SIGKILL):
            problems.append(f"exit code {code}")
        if code == 0 and found != self.whole:
            problems.append("success is claimed")
        partial = self.verb.resume is not None
        if not partial and found not in (None, self.whole):
            problems.append("half a result")
        if found != self.whole or partial:
            code, again = self.run(None, self.verb.resume if partial and self.out.exists() else [])
            if code != 0 or content(self.out) != self.whole:
                problems.append(f"the rerun failed ({code}): {again[-300:]}")
        if self.left_over():
            problems.append(f"left over after the rerun: {self.left_over()}")
        for problem in problems:
            self.losses.append(f"{self.verb.name}: {call} {n} {name}: {problem} [{said[-300:]}]")
        self.clean()

    def every_limit(self):
        yield from (("size", size - 1, "limit") for size in self.sizes)
        yield from (("files", most, "limit") for most in OPEN_FILES)

    def every_fault(self):
        for call in CALLS:
            for n in range(1, self.counts[call] + 1):
                for name in ERRORS:
                    if name != "EMFILE" or call == "open":
                        yield call, n, name


def parse():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--verb", action="append", choices=[v.name for v in VERBS])
    options.add_argument("--sample", type=int, default=0)
    options.add_argument("--limits", action="store_true")
    options.add_argument("--shim", type=Path)
    return options.parse_args()


def evenly(faults, count):
    return faults if not 0 < count < len(faults) else [
        faults[k * len(faults) // count] for k in range(count)
    ]  # fmt: skip


def main():
    options = parse()
    work = Path(tempfile.mkdtemp(prefix="facebench-faults-"))
    try:
        if "FACEBENCH_FAULT_ROOT" not in os.environ:  # again, with the shim before everything
            shim = options.shim or build_shim(work)
            environment = os.environ | {
                "LD_PRELOAD": str(shim),
                "FACEBENCH_FAULT_ROOT": str(work / "faults"),
                "FACEBENCH_FAULT_SHIM": str(shim),
                "OMP_NUM_THREADS": "1",
            }
            sys.exit(subprocess.run([sys.executable, *sys.argv], env=environment).returncode)
        sys.exit(1 if inject(options) else 0)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def inject(options):
    """The table, printed; the losses."""
    root = Path(os.environ["FACEBENCH_FAULT_ROOT"])
    shim = ctypes.CDLL(os.environ["FACEBENCH_FAULT_SHIM"])
    inputs = root.parent / "inputs"
    inputs.mkdir(parents=True)
    root.mkdir()
    # Whoever computes with torch before a fork has threads that the child lacks.
    child = os.fork()
    if child == 0:
        make_inputs(inputs)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0, "the inputs could not be made"
    import facebench.cli.app
    import facebench.pipeline  # noqa: F401

    os.chdir(inputs)
    for line in (
        "pack folder --root lfw/images --detector none --crop-size 32 --out pack.h5",
        "run lfw --model model.safetensors --root lfw --detector none --crop-size 32 --out run",
    ):
        code, said = outcome_of(line.split())
        assert code == 0, said
    losses = []
    columns = "".join(f"{name:>8}" for name in (*CALLS, "limits", "faults", "losses"))
    print(f"{'verb':10}{columns}")
    for verb in VERBS:
        if options.verb and verb.name not in options.verb:
            continue
        case = Case(verb, inputs, root, shim)
        limits = list(case.every_limit())
        faults = limits if options.limits else [*case.every_fault(), *limits]
        for fault in evenly(faults, options.sample):
            case.check(*fault)
        losses += case.losses
        numbers = [*(case.counts[call] for call in CALLS), len(limits), case.faults]
        counts = "".join(f"{number:8}" for number in [*numbers, len(case.losses)])
        print("\n".join([f"{verb.name:10}{counts}", *case.losses]), flush=True)
    return losses


if __name__ == "__main__":
    main()
