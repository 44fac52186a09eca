"""Archives and TOML files that are damaged: what is neither read nor refused by facebench.Error.

    python tests/hostile/damage.py [KIND...] [--most N]    N changes of each file, evenly spaced

Of bytes: each word as 0, 1, near 2^32 and near 2^64, each byte turned, and the file cut at each
byte; of TOML: each value as one of every other type. A child process reads what a fault would end.
"""

import argparse
import multiprocessing
import re
import resource
import signal
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import facebench
from facebench import claims, studies

SEEDS = Path(__file__).parents[1] / "fuzz/seeds"
SECONDS = 20  # of one file
MEMORY = 2 << 30
SUITE = """replicates = 20
models = [{ name = "a", model = "m.safetensors", detector = "none", crop_size = 32 }]
[[sets]]
protocol = ["lfw", "own.toml"]
name = "faces"
root = "lfw"
track = "view2"
metric = "accuracy"
"""


def read_archive(path):
    from facebench import datasets

    for sample in datasets.read_archive(path, skip_damaged=0, format=path.suffix[1:]).samples:
        sample.read()


def seeds(kind, *names, ending=None):
    """(name, bytes) of seeds of the fuzz target, under the ending by which archives are known."""
    return [(f"{n}.{ending or kind}", (SEEDS / kind / n).read_bytes()) for n in names]


def toml(name, text):
    return [(name, text if isinstance(text, bytes) else text.encode())]


PACKAGE = Path(facebench.__file__).parent
STUDY = Path(__file__).parents[2] / "protocols/studies/frameworks.toml"
# By kind: its files, and who reads them.
KINDS = {
    "rules": (toml("r.toml", (PACKAGE / "rules/frte-1-1.toml").read_bytes()), claims.read_rules),
    "suite": (toml("suite.toml", SUITE), studies.suite_study),
    "study": (toml("study.toml", STUDY.read_bytes()), studies.load_study),
}
if find_spec("facebench._full"):
    KINDS |= {
        "lmdb": (seeds("lmdb", "messages.mdb", "datums.mdb"), read_archive),
        "tfrecord": (seeds("tfrecord", "labelled.tfrecord", "other.tfrecord"), read_archive),
        "tar": (seeds("tar", "gnu.tar", "pax.tar", "base256.tar", "folded.tar.gz"), read_archive),
        "zip": (seeds("tar", "stored.zip", "deflated.zip", "lzma.zip"), read_archive),
    }


def changes(name, data):
    """Every change of a file, as its new bytes."""
    if name.endswith(".toml"):
        text = data.decode()
        # Values of lines, and of tables within a line.
        for found in re.finditer(r"= (\"[^\"\n]*\"|\[[^\]\n]*\]|[^\s,\]}\"\[]+)", text):
            for other in ("5", "-1.5", "nan", "true", '"x"', '""', "[]", "[5]", "{}", "{ a = 1 }",
                          "[[]]", '["x"]', "[{ a = 1 }]", "1979-05-27", "07:32:00"):  # fmt: skip
                yield (text[: found.start(1)] + other + text[found.end(1) :]).encode()
    else:
        for at in range(0, len(data), 2):
            if any(data[at : at + 8]):
                for size, value in ((8, 0), (8, 1), (4, 2**32 - 1), (8, 2**64 - 1), (8, 2**63)):
                    yield data[:at] + value.to_bytes(size, "little") + data[at + size :]
    for at in range(len(data)):
        yield data[:at] + bytes([data[at] ^ 0x81]) + data[at + 1 :]
        yield data[:at]


def evenly(found, most):
    found = list(found)
    return found if not 0 < most < len(found) else [
        found[k * len(found) // most] for k in range(most)
    ]  # fmt: skip


def read_all(kind, name, altered, folder, pipe):
    """In a child: sends what was raised otherwise, "" for what is read or refused."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY + (8 << 30), MEMORY + (8 << 30)))
    path = Path(folder) / name
    for data in altered:
        path.write_bytes(data)
        signal.alarm(SECONDS)
        try:
            KINDS[kind][1](path)
        except facebench.Error as error:
            said = f"names no file: {error}" if path.name not in str(error) else ""
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        else:
            said = ""
        signal.alarm(0)
        pipe.send(said)


def tried(kind, most=0):
    """(files read, what came out otherwise: text -> the first such file)."""
    count, wrong = 0, {}
    for name, data in KINDS[kind][0]:
        altered = evenly(changes(name, data), most)
        with tempfile.TemporaryDirectory() as folder:
            done = 0
            while done < len(altered):
                here, there = multiprocessing.Pipe(False)
                job = (kind, name, altered[done:], folder, there)
                child = multiprocessing.Process(target=read_all, args=job)
                child.start()
                there.close()
                try:
                    while done < len(altered):
                        if said := here.recv():
                            wrong.setdefault(said[:200], (name, altered[done]))
                        done += 1
                except EOFError:
                    child.join()
                    said = f"the process ended ({child.exitcode})"
                    wrong.setdefault(said, (name, altered[done]))
                    done += 1
                child.kill()
                child.join()
        count += len(altered)
    return count, wrong


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("kinds", nargs="*", choices=[[], *KINDS], default=[])
    options.add_argument("--most", type=int, default=0)
    asked = options.parse_args()
    multiprocessing.set_start_method("fork")
    total = 0
    for kind in asked.kinds or KINDS:
        count, wrong = tried(kind, asked.most)
        total += len(wrong)
        print(f"{kind}: {count} files, {len(wrong)} kinds of answer that are none", flush=True)
        for said, (name, _) in wrong.items():
            print(f"    {name}: {said}")
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main())
