"""Writes the seeds of the fuzz targets whose files the library itself can make.

    PYTHONPATH=build/python python tests/fuzz/make_seeds.py [tests/fuzz/seeds]

A seed is a small whole file that its reader accepts. Those of the parsers (toml, json, mat5, ...)
are files of other programs, kept as they are.
"""

import shutil
import sys
import tempfile
from pathlib import Path

import facebench
import numpy as np
from facebench import datasets, embedding, protocols
from facebench import io as fio

SOURCES = Path(__file__).parents[2]
sys.path.insert(0, str(SOURCES / "tests"))
from toy_lfw import write_toy_lfw  # noqa: E402

BETWEEN = b"\n==>\n"  # files.h

# Lists that no renderer writes: the files of each protocol, in the order in which it names them.
LISTS = {
    "calfw": ["Ann_1.jpg 1\nAnn_2.jpg 1\nBob_1.jpg 0\nCat_1.jpg 0\n"],
    "cplfw": ["Ann_1.jpg 1\nAnn_2.jpg 1\nBob_1.jpg 0\nCat_1.jpg 0\n"],
    "pairs": ["first,second,label\na/1,a/2,1\na/1,b/1,0\nb/1,b/2,1\na/2,b/2,0\n"],
    "lfw_search": ["1\n3\nAnn\t3\nBob\t2\nCat\t1\n"],
}


def run_folder(folder):
    """A small evaluation of lists with a failed enrolment."""
    write_toy_lfw(folder)
    trials = protocols.read_trials("lfw", folder)
    values = np.random.default_rng(2).normal(size=(len(trials.names), 2)).astype(np.float32)
    status = np.zeros(len(values), np.uint8)
    status[3], values[3] = 2, 0
    fio.write_embeddings(folder / "e.h5", fio.EmbeddingSet(values, trials.names, status))
    result = protocols.evaluate(
        "lfw", embeddings=folder / "e.h5", trials=trials, root=folder, interval="none"
    )
    result.save(folder / "run")
    return folder / "run"


def lists_of(protocol, folder):
    """The lists of a protocol as one seed; None where `folder` lacks them."""
    names = protocols.load_protocol(protocol).files
    here = next((p.parent for p in folder.rglob(Path(names[0]).name)), None) if names else None
    if here is None:
        return None
    root = here if (here / names[0]).exists() else here.parent
    if not all((root / name).exists() for name in names):
        return None
    return BETWEEN.join([protocol.encode(), *((root / name).read_bytes() for name in names)])


def small_checkpoint(path):
    """A checkpoint of two tensors, as cpp/src/training/checkpoint.cc writes one."""
    tensors = {"a": np.arange(4, dtype=np.float32), "b": np.ones((2, 3), np.int64)}
    state = fio.canonical_json({"identity": {}, "iteration": 3, "progress": {"loss": 0.5}})
    hashed = b""
    for name, t in tensors.items():
        dtype = "F32" if t.dtype == np.float32 else "I64"
        hashed += f"{name} {dtype} {' '.join(map(str, t.shape))}\n".encode() + t.tobytes()
    metadata = {
        "format": "facebench-checkpoint",
        "version": "1",
        "state": state,
        "sha256": fio.sha256_hex(hashed + state.encode()),
    }
    fio.write_safetensors(path, tensors, metadata)
    return path.read_bytes()


def main(out):
    work = Path(tempfile.mkdtemp())

    def put(target, name, data):
        (out / target).mkdir(parents=True, exist_ok=True)
        (out / target / name).write_bytes(data)

    run = run_folder(work)
    put("scores", "lfw.h5", (run / "scores.h5").read_bytes())
    put("hdf5", "scores.h5", (run / "scores.h5").read_bytes())
    put("embeddings", "small.h5", (work / "e.h5").read_bytes())
    put(
        "run_folder",
        "lfw",
        BETWEEN.join((run / n).read_bytes() for n in ("run.json", "metrics.json")),
    )
    put("lists", "lfw", BETWEEN.join([b"lfw", (work / "pairs.txt").read_bytes()]))
    for name, texts in LISTS.items():
        put("lists", name, BETWEEN.join([name.encode(), *(t.encode() for t in texts)]))
    for kind, count in {"vggface2": 1, "ijba_quality": 6, "dfw": 4, "umdfaces": 8}.items():
        made = work / kind
        options = datasets.SyntheticOptions(
            people=4, images=count, size=32, supersampling=1, protocol=kind
        )
        datasets.write_synthetic_dataset(options, made)
        for protocol in (p["name"] for p in protocols.list_protocols()):
            seed = lists_of(protocol, made)
            if seed and len(seed) < 1 << 14:
                put("lists", protocol, seed)
    for folder, target in (("", "protocol"), ("published", "published"), ("recipes", "recipe")):
        files = sorted(
            (SOURCES / "protocols" / folder).glob("*.toml"), key=lambda p: p.stat().st_size
        )
        for file in (files[0], files[len(files) // 2]):
            put(target, file.name, file.read_bytes())
    facebench.pack("folder", work / "vggface2", work / "p.h5", detector="none", crop_size=8)
    put("pack", "small.h5", (work / "p.h5").read_bytes())
    put("exclusion", "small.tsv", b"# audit\nperson\tAnn\nsample\tBob/1.jpg\n")
    put("faces", "small.csv", b"name,x0,y0,x1,y1,score\na.jpg,1,2,30.5,40,0.9\nb.jpg,0,0,8,8,1\n")
    model = embedding.make_model("small4", height=16, width=16, embedding=2)
    model.save(work / "m.safetensors")
    put("model", "small4.json", fio.read_safetensors(work / "m.safetensors")[1]["model"].encode())
    put("checkpoint", "small.safetensors", small_checkpoint(work / "c.safetensors"))
    shutil.rmtree(work)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "seeds")
