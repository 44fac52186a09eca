"""Writes the seeds of the fuzz targets whose files the library itself can make.

    PYTHONPATH=build/python python tests/fuzz/make_seeds.py [tests/fuzz/seeds]

A seed is a small whole file that its reader accepts, or one with an error that it has to name.
Those of the parsers (toml, json, mat5, ...) are files of other programs, kept as they are.
"""

import io
import json
import shutil
import struct
import sys
import tempfile
from pathlib import Path

import facebench
import hdf5_seeds
import numpy as np
import onnx_seeds
from archive_seeds import folded, lmdbs, pickles, recs, tars, tfrecords
from facebench import datasets, embedding, protocols
from facebench import io as fio
from list_seeds import BETWEEN, blemished, mats, releases, wrong
from PIL import Image

SOURCES = Path(__file__).parents[2]
sys.path.insert(0, str(SOURCES / "tests"))
from toy_lfw import write_toy_lfw  # noqa: E402

# Lists that no renderer writes: the files of each protocol, in the order in which it names them.
BLEMISHED = (
    "lfw",
    "lfw_search",
    "pairs",
    "calfw",
    "cfp_ff",
    "dfw",
    "ijba_1_1",
    "ijbc_1_1",
    "ijbc_1_n",
    "vggface2_pose",
    "umdfaces_listed",
    "ijba_quality",
    "rfw",
)
LISTS = {
    "calfw": ["Ann_1.jpg 1\nAnn_2.jpg 1\nBob_1.jpg 0\nCat_1.jpg 0\n"],
    "cplfw": ["Ann_1.jpg 1\nAnn_2.jpg 1\nBob_1.jpg 0\nCat_1.jpg 0\n"],
    "pairs": ["first,second,label\na/1,a/2,1\na/1,b/1,0\nb/1,b/2,1\na/2,b/2,0\n"],
    "lfw_search": ["1\n3\nAnn\t3\nBob\t2\nCat\t1\n"],
}


PARTS = ("left_eye", "right_eye", "nose", "left_mouth", "right_mouth")
POINTS = ",".join(f"{part}_{axis}" for part in PARTS for axis in "xy")
TEXTS = {
    "exclusion": {
        "small.tsv": "# audit\nperson\tAnn\nsample\tBob/1.jpg\n",
        "kind.tsv": "place\tAnn\n",
        "fields.tsv": "person\n",
        "twice.tsv": "person\tAnn\nperson\tAnn\n\n",
        "empty.tsv": "# nothing\n",
        "name.tsv": "person\t\n",
    },
    "faces": {
        "small.csv": "name,x0,y0,x1,y1,score\na.jpg,1,2,30.5,40,0.9\nb.jpg,0,0,8,8,1\n",
        "sides.csv": "name,x,y,width,height\na.jpg,1,2,30.5,40\n",
        "status.csv": "name,status,x0,y0,x1,y1\na.jpg,ok,1,2,3,4\nb.png,no_face,,,,\n",
        "landmarks.csv": f"name,{POINTS}\na.jpg,1,2,3,4,5,6,7,8,9,10\n",
        "both.csv": f"name,x0,y0,x1,y1,{POINTS}\na.jpg,1,2,3,4,1,2,3,4,5,6,7,8,9,9\n"
        "b.png,1,2,3,4,,,,,,,,,,\nc,,,,,1,2,3,4,5,6,7,8,9,9\nd,,,,,,,,,,,,,,\n",
        "renamed.csv": "FILE,X,Y,x1,y1\na.jpg,1,2,3,4\n",
        "beside.csv": "FILE,name,X,Y,x1,y1\na,a,1,2,3,4\n",
        "blanks.txt": "a.jpg 1 2 3 4\n\nx/c#1.jpg 2 2 4 4\n",
        "blanks_header.txt": "name x0 y0 x1 y1\na.jpg 1 2 3 4\n",
        "tabs.tsv": "a.jpg\t1\t2\t3\t4\n",
        "cells.csv": "name,x0,y0,x1,y1\na.jpg,1\n",
        "area.csv": "name,x0,y0,x1,y1\na.jpg,1,2,1,4\n",
        "far.csv": "name,x0,y0,x1,y1\na.jpg,1,2,1e30,4\n",
        "number.csv": "name,x0,y0,x1,y1\na.jpg,1,2,nan,4\n",
        "some.csv": "name,x0,y0,x1\na.jpg,1,2,3\n",
        "nothing.csv": "name,score\na.jpg,1\n",
        "two.csv": "name,x0,y0,x1,y1,x0\na.jpg,1,2,3,4,1\n",
        "no_name.csv": "x0,y0,x1,y1\n1,2,3,4\n",
    },
    "toml": {
        "kinds.toml": "a = 1\nb = -2.5\nc = true\nd = 'x'\ne = [1, 2]\nf = [0.5, 1]\ng = ['a']\n"
        "h = [[1], ['a', {b = 1}]]\ni = 1979-05-27\nj = nan\nk = {l = {m = 2}}\nn = 9e99\n"
        "[o.p]\nq = 1\n[[r]]\ns = 1\n[[r]]\ns = 2\n",
        "deep.toml": "a" + ".a" * 40 + " = 1\n",
        "nested.toml": "a = " + "[" * 40,
        "outside.toml": "a = 1 # é\né = 2\n",
    },
    "rec_index": {
        "order.idx": "0\t0\n1\t36\r\n2\t72\n",
        "sparse.idx": "5\t0\n900000000\t36\n",
        "below.idx": "900\t0\n1\t36\n",
        "twice.idx": "1\t0\n1\t36\n",
        "twice_sparse.idx": "900000000\t0\n1\t36\n900000000\t36\n",
        "word.idx": "a\t0\n",
        "one.idx": "1\n",
        "large.idx": "99999999999999999999\t0\n",
        "open.idx": "0\t0\n1\t36",
    },
    "text": {
        "long.txt": "a" * 5000,
        "nul.txt": "a\0b\n",
        "return.txt": "a\rb\n",
        "whole.txt": "7\n",
    },
}


def wrong_images(folder):
    """The seeds of images, cut short or changed, and the first bytes of other formats."""
    seeds = {
        f"other_{k}": head + bytes(16)
        for k, head in enumerate(
            (b"GIF89a", b"RIFF0000WEBP", b"BM", b"II*\0", b"0000ftypavif", b"0000ftypheic",
             b"\xff\x4f\xff\x51", b"P4 1 1\n", b"P7\n", b"\x1f\x8b", b"PK\3\4", b"%PDF", b"<html>",
             b"other", b"P6 70000 70000 255\n", b"P6 0 3 255\n", b"P6 3 3 70000\n", b"P6 3 3 255x",
             b"P6 a", b"P6 99999999999", b"P6 3", b"P3 1 1 7 9 9 9", b"P6 1 1 3 aaa",
             b"P6 1 1 300 \0\1\0\2\0\3", b"P2 1 1 65535 60000", b"P6 # size\n1 1 255\nabc")
        )
    }  # fmt: skip
    for name in ("colour.jpg", "gray.jpg", "colour.png", "palette.png", "colour.ppm", "text.ppm"):
        data = (folder / name).read_bytes()
        seeds[f"cut.{name}"] = data[: len(data) * 2 // 3]
        seeds[f"head.{name}"] = data[:40]
        middle = len(data) // 2
        seeds[f"changed.{name}"] = data[:middle] + bytes(8) + data[middle + 8 :]
    jpeg = (folder / "colour.jpg").read_bytes()
    seeds["no_end.jpg"] = jpeg[:-2]
    seeds["scans.jpg"] = jpeg[:-2] + jpeg[jpeg.rindex(b"\xff\xda") : -2] * 110 + b"\xff\xd9"
    png = (folder / "colour.png").read_bytes()
    seeds["large.png"] = png[:16] + b"\x00\x0f\x00\x00" * 2 + png[24:]
    return seeds


def other_images():
    """Small BMP, TIFF and WebP files, and files whose tags ask to be turned."""
    rgb = Image.fromarray(np.arange(11 * 13 * 3, dtype=np.uint8).reshape(11, 13, 3))
    turned = Image.Exif()
    turned[0x0112] = 6
    palette = bytes(b for k in range(256) for b in (k, 255 - k, k // 2, 0))
    runs = bytes([5, 7, 0, 0, 0, 4, 1, 2, 3, 4, 1, 9, 0, 0, 0, 2, 3, 0, 2, 6, 0, 1])
    header = struct.pack("<IiiHHIIiiII", 40, 5, 3, 1, 8, 1, 0, 0, 0, 0, 0)
    at = 14 + len(header) + len(palette)
    seeds = {
        "runs.bmp": b"BM" + struct.pack("<IHHI", at + len(runs), 0, 0, at) + header + palette + runs
    }
    for name, image, options in (
        ("colour.bmp", rgb, {}),
        ("palette.bmp", rgb.quantize(9), {}),
        ("alpha.bmp", rgb.convert("RGBA"), {}),
        ("raw.tiff", rgb, {}),
        ("bits.tiff", rgb.convert("1"), {"compression": "packbits"}),
        ("palette.tiff", rgb.quantize(9), {"compression": "tiff_lzw"}),
        ("predicted.tiff", rgb, {"compression": "tiff_adobe_deflate", "tiffinfo": {317: 2}}),
        ("inks.tiff", rgb.convert("CMYK"), {"compression": "tiff_lzw", "tiffinfo": {274: 8}}),
        ("colour.webp", rgb, {"exif": turned}),
        ("alpha.webp", rgb.convert("RGBA"), {"lossless": True}),
        ("turned.jpg", rgb, {"exif": turned}),
        ("turned.png", rgb, {"exif": turned}),
    ):
        data = io.BytesIO()
        kind = {"jpg": "JPEG"}.get(name.split(".")[1])
        image.save(data, kind or name.split(".")[1].upper(), **options)
        seeds[name] = data.getvalue()
    return seeds


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


def run_folders(run):
    """The files of a run as one seed; with texts that were changed."""
    manifest = json.loads((run / "run.json").read_text())
    manifest["circumstance"] = {}
    texts = [json.dumps(manifest), (run / "metrics.json").read_text()]
    scores = (run / "scores.h5").read_bytes()

    def seed(manifest, metrics=texts[1], *more):
        return BETWEEN.join([manifest.encode(), metrics.encode(), *more])

    nothing = {**manifest, "content": {"kind": "evaluation"}}
    return {
        "lfw": seed(*texts),
        "whole": seed(*texts, scores),
        "other_scores": seed(*texts, b"other"),
        "changed": seed(texts[0].replace('"none"', '"dyadic"', 1), texts[1], scores),
        "no_hash": seed(json.dumps({k: v for k, v in manifest.items() if "sha" not in k})),
        "hash": seed(json.dumps({k: 3 if "sha" in k else v for k, v in manifest.items()})),
        "no_content": seed(json.dumps({"circumstance": {}})),
        "other_kind": seed(json.dumps(nothing)),
        "no_tracks": seed(texts[0], "{}"),
        "alone": texts[0].encode(),
    }


def other_scores(folder):
    """scores.h5 of protocols with other kinds of trials: pairs of everybody, searches, templates,
    a matrix."""
    seeds = {}
    random = np.random.default_rng(3)

    def add(name, root, convention=None, **more):
        trials = protocols.read_trials(name, root)
        values = random.normal(size=(len(trials.names), 2)).astype(np.float32)
        result = protocols.evaluate(
            name, values, trials.names, root=root, interval="none", convention=convention, **more
        )
        place = folder / f"scores_{name}{len(more)}"
        result.save(place)
        seeds[f"{name}{'.few' if more else ''}.h5"] = (place / "scores.h5").read_bytes()

    for person in ("Ann", "Bob", "Cat"):
        for k in range(2):
            image = folder / f"people/{person}/{k}.jpg"
            image.parent.mkdir(parents=True, exist_ok=True)
            image.write_bytes(f"{person} {k}".encode())
    add("folders", folder / "people")
    add("folders", folder / "people", stored_scores=1)
    for kind, protocol in (("vggface2", "vggface2_pose"), ("umdfaces", "umdfaces"), ("dfw", "dfw")):
        made = folder / f"of_{kind}"
        datasets.write_synthetic_dataset(
            datasets.SyntheticOptions(people=4, images=8, size=32, supersampling=1, protocol=kind),
            made,
        )
        add(protocol, made)
        if kind == "umdfaces":
            add(protocol, made, stored_scores=1)
    return seeds


def archives(seeds):
    """Target -> seeds of several files."""
    records = (seeds / "tfrecord/labelled.tfrecord").read_bytes()
    datums = (seeds / "lmdb/datums.mdb").read_bytes()
    return {
        "bin": pickles(),
        "rec": recs(),
        "tar": tars(),
        "xz": folded(),
        "tfrecord": tfrecords(records),
        "lmdb": lmdbs(datums, ["a", "b"]),
    }


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
    """A checkpoint of two tensors, as cpp/vision/facebench/training/checkpoint.cc writes one."""
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
    for name, data in run_folders(run).items():
        put("run_folder", name, data)
    for name, data in other_scores(work).items():
        put("scores", name, data)
    put("lists", "lfw", BETWEEN.join([b"lfw", (work / "pairs.txt").read_bytes()]))
    for name, data in (releases() | wrong()).items():
        put("lists", name, data)
    for target, made in archives(out).items():
        for name, data in made.items():
            put(target, name, data)
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
    for name in BLEMISHED:
        for kind, data in blemished((out / "lists" / name).read_bytes()).items():
            put("lists", f"{name}.{kind}", data)
    for name, data in mats().items():
        put("mat5", name, data)
    for folder, target in (("", "protocol"), ("published", "published"), ("recipes", "recipe")):
        files = sorted(
            (SOURCES / "protocols" / folder).glob("*.toml"), key=lambda p: p.stat().st_size
        )
        for file in (files[0], files[len(files) // 2]):
            put(target, file.name, file.read_bytes())
    facebench.pack("folder", work / "vggface2", work / "p.h5", detector="none", crop_size=8)
    put("pack", "small.h5", (work / "p.h5").read_bytes())
    for target, texts in TEXTS.items():
        for name, text in texts.items():
            put(target, name, text.encode())
    for name, data in (wrong_images(out / "image") | other_images()).items():
        put("image", name, data)
    model = embedding.make_model("small4", height=16, width=16, embedding=2)
    model.save(work / "m.safetensors")
    put("model", "small4.json", fio.read_safetensors(work / "m.safetensors")[1]["model"].encode())
    put("checkpoint", "small.safetensors", small_checkpoint(work / "c.safetensors"))
    for target, made in (hdf5_seeds.all_of(out) | {"onnx": onnx_seeds.seeds()}).items():
        for name, data in made.items():
            put(target, name, data)
    shutil.rmtree(work)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "seeds")
