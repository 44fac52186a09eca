"""Every function that reads a file, on a named pipe and on a sparse file of 3 GiB.

    python tests/hostile/readers.py            the table: answers, peak memory, seconds
    python tests/hostile/readers.py --json     of 1.25 GiB, for tests/eval/core/test_files.py
    python tests/hostile/readers.py NAME...    some of them

Each call is made in a process of its own that may take 7.5 GiB of addresses beyond what it starts
with; what is mapped counts. What a reader expects beside the file lies in the folder.
"""

import json
import multiprocessing
import os
import resource
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

import facebench
import numpy as np
from facebench import claims, io, protocols, reports, studies
from facebench.io._toml import read_toml

LARGE = 3 << 30
BEYOND = 5 << 28  # more than any reader takes
SECONDS = 60
PAIRS = "2\t1\nAnn\t1\t2\nAnn\t1\tBob\t1\nCat\t1\t2\nCat\t1\tDan\t1\n"
TORCH = find_spec("torch") is not None and find_spec("facebench._full") is not None


# --- who reads what: by the name of the file, a function of its path ------------------------------


def scores(path):
    (path.parent / "pairs.txt").write_text(PAIRS)
    facebench.evaluate("lfw", scores=path, root=path.parent, interval="none")


def array_beside(path):
    np.save(path.with_name("e.npy"), np.ones((1, 4), np.float32))
    return path.with_name("e.npy")


def trials(protocol):
    return lambda path: protocols.read_trials(protocol, path.parent)


def with_lines(protocol, files):
    """The lists of a protocol that are whole, beside the one that is not."""

    def read(path):
        for name, text in files.items():
            (path.parent / name).write_text(text)
        protocols.read_trials(protocol, path.parent)

    return read


def of_run(read):
    """`read` of the folder of a run that is whole but for the file."""

    def act(path):
        run = path.parent
        (run.parent / "pairs.txt").write_text(PAIRS)
        path.rename(run / "kept")
        result = facebench.evaluate(
            "lfw", scores=[0.9, 0.1, 0.8, 0.2], root=run.parent, interval="none"
        )
        result.save(run.parent / "whole")
        for file in (run.parent / "whole").iterdir():
            file.rename(run / file.name)
        (run / "kept").replace(path)
        read(run)

    return act


def verified(run):
    found = facebench.verify(run, run.parent)
    if not found.same:
        raise facebench.Error(str(found))


def attributes(path):
    return reports.groups(whole_run(path), path)


def whole_run(path):
    (path.parent / "pairs.txt").write_text(PAIRS)
    facebench.evaluate(
        "lfw", scores=[0.9, 0.1, 0.8, 0.2], root=path.parent, interval="none",
        out=path.parent / "run",
    )  # fmt: skip
    return path.parent / "run"


READERS = {
    "embeddings.csv": io.read_embeddings,
    "embeddings.npy": lambda path: io.read_embeddings(path, names=["a"]),
    "embeddings.npz": io.read_embeddings,
    "embeddings.h5": io.read_embeddings,
    "embeddings.parquet": io.read_embeddings,
    "names.txt": lambda path: io.read_embeddings(array_beside(path), names=path),
    "manifest.h5": io.read_h5_manifest,
    "run.json": io.read_manifest,
    "model.safetensors": io.read_safetensors,
    "list.mat": io.read_mat5,
    "hashed.bin": io.sha256_file,
    "suite.toml": read_toml,
    "study.toml": studies.load_study,
    "protocol.toml": protocols.load_protocol,
    "published.toml": claims.load_published,
    "rules.toml": claims.read_rules,
    "calibrator.json": reports.read_calibrator,
    "scores.csv": scores,
    "page.png": lambda path: reports.page.image_section("A picture", path),
    "log.jsonl": lambda path: reports.training_rows(path.parent),
    "key.pub": lambda path: facebench.verify(whole_run(path), signed_by=path),
    "attributes.csv": attributes,
    "qualities.csv": lambda path: facebench.inspect(
        whole_run(path), qualities=path, quality_below=1
    ),
    "pairs.csv": trials("pairs"),
    "pairs.txt": trials("lfw"),
    "people.txt": trials("lfw_search"),
    "04_FINAL_protocol_30_years.mat": trials("agedb30"),
    "agedb_30.bin": trials("agedb30_bin"),
    "blufr_lfw_config.mat": trials("lfw_blufr_1_1"),
    "namelist_high.mat": with_lines(
        "ijba_quality", {"namelist_middle.mat": "", "namelist_low.mat": ""}
    ),
    "positive_pairs_names.mat": with_lines("survface_1_1", {"negative_pairs_names.mat": ""}),
    "updated_testing_mask.txt": with_lines("dfw", {"Testing_data_face_name.txt": "a.jpg\nb.jpg\n"}),
    "ijbb_template_pair_label.txt": with_lines(
        "ijbb_1_1",
        {
            "ijbb_face_tid_mid.txt": "1.jpg 1 1\n2.jpg 2 2\n",
            "ijbb_name_5pts_score.txt": "".join(f"{k}.jpg{' 1' * 11}\n" for k in (1, 2)),
        },
    ),
    "run/scores.h5": of_run(protocols.load),
    "run/metrics.json": of_run(reports.read_run),
    "run/curves.json": of_run(reports.curves),
    "run/report.md": of_run(verified),
    "run/run.json": of_run(verified),
}


def of_torch():
    """Readers of facebench with images and networks."""
    import torch  # noqa: F401 - once for all children
    from facebench import datasets, detection, embedding, images, training
    from facebench.lab.studies import small_images

    blank = np.zeros((32, 32, 3), np.uint8)

    def archive(kind):
        return lambda path: datasets.read_dataset(kind, path)

    def index(path):
        rec = path.with_suffix(".rec")
        rec.write_bytes(bytes.fromhex("0a23d7ce") + bytes(4))
        datasets.read_archive(rec)

    def excluded(path):
        datasets.read_exclusion(path)

    def state(path):
        embedding.convert(path, network="small4", crop="paper")

    return {
        "a.jpg": images.read,
        "a.png": images.read,
        "a.ppm": images.read,
        "folder/a.jpg": lambda path: detection.detect_files([path.parent], "hog"),
        "faces.csv": lambda path: detection.make_detector("given", file=str(path)),
        "pack.h5": datasets.Pack,
        "images.rec": archive("rec"),
        "train.idx": index,
        "images.bin": archive("bin"),
        "images.tar": archive("tar"),
        "images.zip": archive("zip"),
        "images.lst": archive("lst"),
        "data.mdb": archive("lmdb"),
        "images.tfrecord": archive("tfrecord"),
        "images.parquet": archive("parquet"),
        "images.arrow": archive("arrow"),
        "exclusion.txt": excluded,
        "person_names.tsv": datasets.read_person_names,
        "own.safetensors": embedding.load_model,
        "embedder.onnx": lambda path: embedding.load_embedder(path)(blank[None]),
        "network.onnx": lambda path: embedding.convert(path),
        "network.pth": state,
        "foreign.safetensors": state,
        "dlib.dat": embedding.full.dlib_model,
        "recipe.toml": training.load_recipe,
        "train-images-idx3-ubyte": lambda path: small_images.read_mnist(path.parent),
        "data_batch_1.bin": lambda path: small_images.read_cifar10(path.parent),
    }


if TORCH:
    READERS |= of_torch()


# --- the calls ------------------------------------------------------------------------------------


def memory(what):
    """A line of /proc/self/status, in bytes: VmHWM, VmRSS, VmSize."""
    status = Path("/proc/self/status").read_text()
    return int(status.split(f"{what}:")[1].split()[0]) << 10


def answer(name, path, pipe):
    """In a child: what the reader says, its peak of memory and its seconds."""
    limit = memory("VmSize") + (6 << 30) + (3 << 29)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before, started = memory("VmRSS"), time.monotonic()
    try:
        READERS[name](path)
        said = "accepted"
    except facebench.Error as error:
        said = f"Error: {error}"
    except BaseException as error:
        said = f"{type(error).__name__}: {error}"
    pipe.send((said, memory("VmHWM") - before, time.monotonic() - started))


def tried(name, size):
    """A row of the table, for a pipe (size 0) or a file of so many bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.parent.mkdir(exist_ok=True)
        if size == 0:
            os.mkfifo(path)
        else:
            with open(path, "wb") as file:
                file.truncate(size)
        here, there = multiprocessing.Pipe(False)
        child = multiprocessing.Process(target=answer, args=(name, path, there))
        child.start()
        there.close()
        said, peak, seconds = "does not come back", 0, float(SECONDS)
        try:
            if here.poll(SECONDS):
                said, peak, seconds = here.recv()
        except EOFError:
            said = "the process ended"
        child.kill()
        child.join()
        said = said.replace(folder + "/", "")
    kind = "large" if size else "pipe"
    return {"reader": name, "file": kind, "says": said, "peak": peak, "seconds": seconds}


def main(words):
    multiprocessing.set_start_method("fork")
    chosen = [word for word in words if word != "--json"] or list(READERS)
    large = BEYOND if "--json" in words else LARGE
    rows = [tried(name, size) for name in chosen for size in (0, large)]
    if "--json" in words:
        print(json.dumps(rows))
        return
    print("| file | a pipe | 3 GiB | peak, MiB | s |\n|---|---|---|---|---|")
    for one, other in zip(rows[::2], rows[1::2], strict=True):
        numbers = f"{other['peak'] / (1 << 20):.0f} | {other['seconds']:.1f}"
        print(f"| {one['reader']} | {brief(one)} | {brief(other)} | {numbers} |")


def brief(row):
    """What was said of a file, without its name, on a line of a table."""
    said = row["says"].removeprefix("Error: ").replace(f"{row['reader']}: ", "")
    said = said.replace("\0", "").splitlines()[0].replace("\\x00", "").replace("|", "/")
    return said if len(said) <= 80 else said[:76] + " ..."


if __name__ == "__main__":
    main(sys.argv[1:])
