"""Files that strangers could hand over to do harm, each with the command that meets it and what
stops it.

    python tests/hostile/cases.py           the names
    python tests/hostile/cases.py NAME      makes the files, runs the command, shows what it says

tests/project/test_hostile.py runs all of them.
"""

import json
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from small_protocol import small_protocol

PAIRS = "2\t1\nAnn\t1\t2\nAnn\t1\tBob\t1\nCat\t1\t2\nCat\t1\tDan\t1\n"


@dataclass
class Case:
    """`make` writes its files into the current folder and gives the arguments of facebench; the
    command ends with `code`, and what it says holds `says`."""

    make: Callable[[], list[str]]
    says: str
    code: int = 1
    torch: bool = False  # the verb needs it


CASES: dict[str, Case] = {}


def case(says, **how):
    """Adds the function below to the table, under its name."""

    def add(make):
        CASES[make.__name__] = Case(make, says, **how)
        return make

    return add


def write(name, content):
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


def saved_run():
    """A run folder as `eval` writes it."""
    from facebench import protocols

    write("pairs.txt", PAIRS)
    result = protocols.evaluate("lfw", scores=[0.9, 0.1, 0.8, 0.2], root=".", interval="none")
    result.save("run")
    return Path("run")


@case("a key has more than 32 parts")
def toml_key_of_dots():
    """toml++ ends its tables by recursion: 800 KB of dots overflow the stack."""
    write("deep.toml", small_protocol(metrics="") + "a" + ".a" * 400_000 + " = 1\n")
    return ["eval", "deep.toml", "--root", ".", "--scores", "x.csv"]


@case("a character outside ASCII")
def toml_bytes_that_are_undefined():
    """Bytes for which old versions of toml++ run into unreachable code."""
    write("odd.toml", b"\xc6\x99\x3c\x64\x66")
    return ["eval", "odd.toml", "--root", ".", "--scores", "x.csv"]


@case("a value, date or time is malformed")
def toml_date_time_with_a_bracket():
    """toml++ takes for granted that a digit follows the T; found by the fuzz target of TOML."""
    write("date.toml", small_protocol(metrics="") + 'when = 1979-05-27T[07:32:00Z "lfw"\n')
    return ["eval", "date.toml", "--root", ".", "--scores", "x.csv"]


@case("lists and tables are nested deeper than 32")
def toml_nested():
    write("nested.toml", "a = " + "[" * 100_000)
    return ["eval", "nested.toml", "--root", ".", "--scores", "x.csv"]


@case("more than 2000000 images")
def people_of_seven_hundred_bytes():
    """people.txt says how many images a person has; 700 bytes stand for millions of names."""
    write("people.txt", "1\n3\n" + "".join(f"Ann_{k}\t999999\n" for k in range(3)))
    return ["eval", "lfw_search", "--root", ".", "--scores", "x.csv"]


@case("nested deeper than 100")
def json_nested():
    run = saved_run()
    (run / "metrics.json").write_text("[" * 200_000)
    return ["report", "run"]


@case("another SHA-256")
def metrics_altered():
    """An accuracy of 5,700 %, for a report to print."""
    run = saved_run()
    text = (run / "metrics.json").read_text()
    (run / "metrics.json").write_text(text.replace('"value": 1', '"value": 57'))
    return ["report", "run"]


@case("not a regular file")
def metrics_that_never_end():
    """A pipe in the place of a file: reading it waits for ever."""
    run = saved_run()
    (run / "metrics.json").unlink()
    os.mkfifo(run / "metrics.json")
    return ["report", "run"]


def scores_altered():
    """The first comparison of a run is called genuine or not as it suits."""
    import h5py

    run = saved_run()
    with h5py.File(run / "scores.h5", "r+") as file:
        next(iter(file["tracks"].values()))["score"][0] = -5
    return run


for verb in ("inspect run", "threshold run --same", "plan run", "calibrate run --same",
             "budget run run", "explain run run"):  # fmt: skip

    def of_altered_scores(verb=verb):
        scores_altered()
        return verb.split()

    CASES[f"scores_altered_before_{verb.split()[0]}"] = Case(of_altered_scores, "another SHA-256")


@case("No threshold is safe", code=0)
def threshold_of_four_comparisons():
    """So few people bound no rate: the bound is NaN, which is not below the FMR asked for."""
    saved_run()
    return ["threshold", "run", "--same"]


@case("/protocol/title", code=3)
def manifest_altered():
    run = saved_run()
    manifest = json.loads((run / "run.json").read_text())
    manifest["content"]["protocol"]["title"] = "Another"
    (run / "run.json").write_text(json.dumps(manifest))
    return ["verify", "run"]


@case("inputs", code=3)
def manifest_that_names_secrets():
    """`verify` hashes the files that a manifest names; not those outside of the roots given."""
    run = saved_run()
    manifest = json.loads((run / "run.json").read_text())
    manifest["content"]["inputs"] = [
        {"role": "lists", "name": "../../../../../../etc/passwd", "sha256": "0" * 64}
    ]
    (run / "run.json").write_text(json.dumps(manifest))
    return ["verify", "run"]


@case("HDF5")
def hdf5_cut_short():
    run = saved_run()
    data = (run / "scores.h5").read_bytes()
    write("e.h5", data[: len(data) // 2])
    return ["eval", "lfw", "--root", ".", "--embeddings", "e.h5"]


@case("claims")
def hdf5_that_claims_terabytes():
    import h5py

    with h5py.File("e.h5", "w") as file:
        file["name"] = ["a"]
        file.create_dataset("embedding", (1 << 30, 1 << 10), np.float32, chunks=(1, 1 << 10))
    write("pairs.txt", PAIRS)
    return ["eval", "lfw", "--root", ".", "--embeddings", "e.h5"]


@case("another file")
def hdf5_with_data_elsewhere():
    """The numbers are said to lie in /etc/passwd."""
    import h5py

    with h5py.File("e.h5", "w") as file:
        file["name"] = ["a"]
        file.create_dataset("embedding", (1, 4), np.float32, external=[("/etc/passwd", 0, 16)])
    write("pairs.txt", PAIRS)
    return ["eval", "lfw", "--root", ".", "--embeddings", "e.h5"]


@case("pickle")
def npz_with_a_pickle():
    """numpy runs what is pickled in an array of objects."""
    np.savez("e.npz", embeddings=np.array([print], dtype=object), names=np.array(["a"]))
    write("pairs.txt", PAIRS)
    return ["eval", "lfw", "--root", ".", "--embeddings", "e.npz"]


@case("missing: pairs.txt")
def lists_that_link_to_themselves():
    os.symlink("pairs.txt", "pairs.txt")
    return ["eval", "lfw", "--root", ".", "--scores", "x.csv"]


@case("File name too long")
def names_too_long():
    return ["report", "x" * 300]


@case("without running code of the file", torch=True)
def state_dict_that_runs_code():
    """torch.load would run what is pickled; convert reads numbers and nothing else."""
    import torch

    class Harm:
        def __reduce__(self):
            return os.system, ("touch harmed",)

    torch.save({"weight": Harm()}, "w.pth")
    return ["convert", "w.pth", "--network", "small4", "--out", "m.safetensors"]


@case("the name of a tensor is of type int", torch=True)
def state_dict_whose_keys_are_no_names():
    import torch

    torch.save({1: torch.ones(2), (2, "a"): torch.ones(2)}, "w.pth")
    return ["convert", "w.pth", "--network", "small4", "--out", "m.safetensors"]


@case("numbers, more than", torch=True)
def onnx_that_doubles_itself():
    """Two kilobytes of nodes, each joining a value with itself: 2^60 channels."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "fuzz"))
    from onnx_seeds import model, node

    nodes = [node("Concat", f"{v} {v}", f"v{k}", axis=1)
             for k, v in enumerate(["x", *(f"v{k}" for k in range(60))])]  # fmt: skip
    write("m.onnx", model([*nodes, node("Relu", "v60", "y")], sides=(1, 3, 8, 8)))
    return ["convert", "m.onnx", "--set", "color=rgb", "--out", "m.safetensors"]


@case("is not UTF-8", torch=True)
def names_of_files_that_are_no_text():
    from facebench import images

    Path("people/Ann").mkdir(parents=True)
    images.write("people/Ann/1.png", np.zeros((8, 8, 3), np.uint8))
    Path(os.fsdecode(b"people/Ann/\xff.png")).write_bytes(Path("people/Ann/1.png").read_bytes())
    return ["data", "scan", "folder", "--root", "people"]


@case("more than 64 files", torch=True)
def recipes_that_share_bases():
    write("r0.toml", "version = 1\n")
    for k in range(1, 30):
        write(f"r{k}.toml", f'version = 1\nbase = ["r{k - 1}.toml", "./r{k - 1}.toml"]\n')
    return ["train", "r29.toml", "--pack", "p.h5", "--out", "t"]


def run(name, *before):
    """(exit code, what was said) of a case in the current folder."""
    from click.testing import CliRunner
    from facebench.cli.app import app

    answer = CliRunner().invoke(app, [*before, *CASES[name].make()])
    return answer.exit_code, answer.output


if __name__ == "__main__":
    if len(sys.argv) == 1:
        for name, entry in CASES.items():
            print(f"{name:36} {(entry.make.__doc__ or '').strip()}")
    for name in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            code, said = run(name)
            os.chdir("/")
        print(f"{name}: exit code {code}\n{said}")
