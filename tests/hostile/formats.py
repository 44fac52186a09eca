"""Mutations of whole files of every format, and of options, given to the commands that read them.

    python tests/hostile/formats.py [SEED] [CALLS] [FORMAT...]    prints what was not foreseen

Each call is a command line in a process of its own: foreseen are the exit codes 0 to 4, an answer
of at most a few lines without a traceback, and an end within so many seconds and so much memory.
At the end a table says for each format the calls, the most memory and the longest time.
"""

import contextlib
import json
import multiprocessing
import os
import random
import re
import resource
import shutil
import signal
import struct
import sys
import tempfile
import time
import traceback
import zipfile
from importlib.util import find_spec
from pathlib import Path

import facebench
import numpy as np
from facebench.cli import app as program

HERE = Path(__file__).parent
SEEDS = HERE.parent / "fuzz/seeds"
sys.path[:0] = [str(HERE.parent / "support"), str(HERE.parent)]
SECONDS = 60
MEMORY = 6 << 30  # of addresses, beyond what the process begins with
NUMBERS = ("0", "-1", "1", "1e308", "nan", "inf", "-0", "9223372036854775808", "0x7f", "1e-400")
OPTIONS = (
    *("--threads", "--limit", "--crop-size", "--max-pixels", "--batch-size", "--level", "--seed"),
    *("--replicates", "--convention", "--interval", "--label", "--split", "--columns", "--set"),
    *("--detector", "--crop", "--warp", "--selection", "--skip-damaged", "--match", "--shard"),
    *("--root", "--out", "--again", "--signed-by", "--protocol", "--track", "--metric", "--labels"),
)
WORDS = (
    *("", "x", "0", "-1", "1e9", "nan", "9223372036854775808", "1x1", "0x0", "99999x99999", "a=b"),
    *("a,b", "\u202e", "x" * 5000, "/dev/zero", "/proc/self/mem", "..", "1/0", "3/2", "true", "."),
    *("none", "given", "lfw", "exact", "mean=nan", "std=0", "color=rgb", "a\udcffb", "--", "-h"),
)


# --- whole files ----------------------------------------------------------------------------------


def write_all(folder):
    """Files of every format below ``folder``."""
    import archive_files
    from PIL import Image

    rng = np.random.default_rng(0)
    faces = facebench.datasets.SyntheticOptions(people=40, images=2, size=48, pairs_per_fold=4)
    facebench.datasets.write_synthetic_dataset(faces, folder / "faces")
    crops = rng.integers(0, 256, (16, 32, 32, 3), np.uint8)
    recipe = facebench.training.load_recipe(
        "small4.softmax", channel_multiplier=0.25, embedding=8, batch=8, epochs=1
    )
    facebench.train(recipe, (crops, [i % 4 for i in range(16)]), folder / "t", threads=1)
    shutil.copy(folder / "t/model.safetensors", folder / "model.safetensors")
    facebench.run(
        "lfw", model=folder / "model.safetensors", root=folder / "faces", out=folder / "run",
        replicates=20, detector="none", crop="paper", crop_size=32, cache=None,
    )  # fmt: skip
    for name in ("pack.h5", "embeddings.h5", "scores.h5"):
        shutil.copy(folder / "run" / name, folder / name)
    embeddings = facebench.io.read_embeddings(folder / "embeddings.h5")
    names = list(embeddings.names)
    numbers = [",".join(map(repr, map(float, row))) for row in embeddings.values]
    rows = [f"{name},{row}" for name, row in zip(names, numbers, strict=True)]
    (folder / "e.csv").write_text("\n".join(["name,e0,e1,e2,e3,e4,e5,e6,e7", *rows]) + "\n")
    np.save(folder / "e.npy", embeddings.values)
    (folder / "e.txt").write_text("\n".join(names) + "\n")
    np.savez(folder / "e.npz", embeddings=embeddings.values, names=np.array(names))
    shutil.copy(folder / "faces/protocol/pairs.txt", folder / "pairs.txt")
    facebench.protocols.write_pairs("lfw", folder / "s.csv", folder / "faces")
    lines = (folder / "s.csv").read_text().splitlines()
    scored = [f"{lines[0]},score", *(f"{line},{rng.random():.4f}" for line in lines[1:])]
    (folder / "s.csv").write_text("\n".join(scored) + "\n")
    labelled = [f"{rng.random():.3f} {k % 2}" for k in range(200)]
    (folder / "labelled.txt").write_text("\n".join(labelled) + "\n")
    boxes = [f"{n},4,4,40,40,15,15,33,15,24,25,17,33,31,33" for n in names]
    places = ("left_eye", "right_eye", "nose", "left_mouth", "right_mouth")
    head = ",".join(["name,x0,y0,x1,y1", *(f"{place}_{axis}" for place in places for axis in "xy")])
    (folder / "landmarks.csv").write_text("\n".join([head, *boxes]) + "\n")
    labels = np.repeat(np.arange(40), 2)
    facebench.backends.fit("pca=4,plda", embeddings.values, labels).save(folder / "b.backend")
    for kind in ("png", "bmp", "tiff", "webp", "jpg", "ppm"):
        Image.fromarray(crops[0]).resize((64, 64)).save(folder / f"a.{kind}")
    for k, (kind, seeds) in enumerate((
        ("rec", "rec"), ("bin", "bin"), ("tar", "tar"), ("lmdb", "lmdb"), ("tfrecord", "tfrecord"),
    )):  # fmt: skip
        for path in sorted((SEEDS / seeds).iterdir()):
            if k != 1 or path.suffix == ".bin":
                shutil.copy(path, folder / f"seed-{kind}-{path.name}")
    with zipfile.ZipFile(folder / "i.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for k in range(6):
            archive.writestr(f"p{k % 2}/{k}.jpg", archive_files.jpeg(k))
    if find_spec("pyarrow"):
        import pyarrow
        import pyarrow.parquet as parquet

        images = [{"bytes": archive_files.jpeg(k), "path": None} for k in range(8)]
        table = pyarrow.table({"image": images, "label": [k % 3 for k in range(8)]})
        parquet.write_table(table, folder / "i.parquet")
        wide = {"name": names} | {f"e{k}": embeddings.values[:, k] for k in range(8)}
        parquet.write_table(pyarrow.table(wide), folder / "e.parquet")
    if find_spec("onnx"):
        model = facebench.embedding.load_model(folder / "model.safetensors")
        facebench.embedding.export_onnx(model, folder / "m.onnx")
    suite = '[[models]]\nname = "a"\nmodel = "MODEL"\ndetector = "none"\n'
    suite += 'crop_size = 32\n[[sets]]\nprotocol = "lfw"\nroot = "FACES"\n'
    suite = suite.replace("MODEL", str(folder / "model.safetensors"))
    (folder / "suite.toml").write_text(suite.replace("FACES", str(folder / "faces")))
    (folder / "own.toml").write_text(facebench.protocols.load_protocol("lfw").text)
    (folder / "rules.toml").write_bytes(
        (Path(facebench.__file__).parent / "rules/frte-1-1.toml").read_bytes()
    )
    recipe_text = 'version = 1\nbase = ["small4.softmax"]\ntitle = "Mine"\n[training]\nbatch = 8\n'
    (folder / "r.toml").write_text(recipe_text)


def formats(folder):
    """By format: pairs of a file (below ``folder``) and the command lines that read it. {} is the
    changed file, @ the folder."""
    lfw = ("--root", "@/faces", "--interval", "none")
    archive = ("--detector", "none", "--crop", "paper", "--crop-size", "16", "--out", "@/o.h5")
    looked = [("data", "scan", "{kind}", "--root", "{}"),
              ("pack", "{kind}", "--root", "{}", *archive)]  # fmt: skip
    of_run = [
        ("verify", "{run}", "--root", "@/faces"),
        ("verify", "{run}", "--root", "@/faces", "--again", "2", "--model", "@/model.safetensors"),
        ("--untrusted", "verify", "{run}", "--root", "@/faces"),
        ("report", "{run}"), ("report", "{run}", "--format", "html", "--out", "@/o.html"),
        ("explain", "{run}", "@/run"), ("inspect", "{run}"),
        ("threshold", "{run}", "--fmr", "0.1", "--same"), ("calibrate", "{run}", "--same"),
        ("plan", "{run}"), ("budget", "{run}"),
        ("check", "{run}", "--rules", "frte-1-1"), ("gallery", "{run}"),
    ]  # fmt: skip
    embedded = [("eval", "lfw", "--embeddings", "{}", *lfw)]
    found = {
        "run folder": [(f"run/{name}", of_run) for name in (
            "run.json", "metrics.json", "curves.json", "scores.h5", "pack.h5", "embeddings.h5",
            "report.html")],
        "csv": [("e.csv", embedded)],
        "hdf5": [("embeddings.h5", embedded), ("pack.h5", [
            ("embed", "@/model.safetensors", "{}", "--out", "@/o.h5"),
            ("data", "describe", "{}")])],
        "safetensors": [("model.safetensors", [
            ("embed", "{}", "@/pack.h5", "--out", "@/o.h5"),
            ("compare", "@/a.png", "@/a.jpg", "--model", "{}", "--detector", "none")])],
        "npy and npz": [("e.npz", embedded), ("e.npy", [
            ("eval", "lfw", "--embeddings", "{}", "--names", "@/e.txt", *lfw)])],
        "score files": [("s.csv", [("eval", "lfw", "--scores", "{}", *lfw)]), ("labelled.txt", [
            ("eval", "pairs", "--scores", "{}", "--interval", "none")])],
        "lists": [("pairs.txt", [("eval", "lfw", "--embeddings", "@/embeddings.h5", "--root", "{}",
                                  "--interval", "none"),
                                 ("data", "check", "lfw", "--root", "{}")])],
        "landmarks": [("landmarks.csv", [
            ("pack", "folder", "--root", "@/faces/images", "--detector", "given",
             "--detector-option", "file={}", "--crop", "arcface112", "--out", "@/o.h5")])],
        "images": [(f"a.{kind}", [("detect", "{}", "--detector", "hog"), (
            "compare", "{}", "@/a.png", "--model", "@/model.safetensors", "--detector", "none")])
            for kind in ("png", "bmp", "tiff", "webp", "jpg", "ppm")],
        "zip": [("i.zip", [tuple(w.replace("{kind}", "zip") for w in c) for c in looked])],
        "toml": [
            ("own.toml", [("eval", "{}", "--embeddings", "@/embeddings.h5", *lfw)]),
            ("suite.toml", [("suite", "{}", "--out", "@/o", "--no-cost")]),
            ("rules.toml", [("check", "@/run", "--rules", "{}")]),
            ("r.toml", [("train", "{}", "--pack", "@/pack.h5", "--out", "@/o",
                                         "--set", "epochs=1")]),
        ],
        "backend": [("b.backend", [("backend", "{}")])],
        "mat": [(path, [("mat", "{}")]) for path in seeds("mat5")],
    }  # fmt: skip
    for kind in ("rec", "bin", "tar", "lmdb", "tfrecord"):
        files = sorted(path.name for path in folder.glob(f"seed-{kind}-*"))
        calls = [tuple(w.replace("{kind}", kind) for w in c) for c in looked]
        found[kind] = [(name, calls) for name in files]
    if (folder / "i.parquet").exists():
        found["parquet"] = [("i.parquet", [tuple(w.replace("{kind}", "parquet") for w in c)
                                           for c in looked]), ("e.parquet", embedded)]  # fmt: skip
    if (folder / "m.onnx").exists():
        found["onnx"] = [("m.onnx", [
            ("convert", "{}", "--out", "@/o.safetensors"),
            ("embed", "{}", "@/pack.h5", "--out", "@/o.h5"),
            ("detect", "@/a.png", "--detector", "{}")])]  # fmt: skip
    return found


def seeds(kind):
    return [str(path) for path in sorted((SEEDS / kind).iterdir())]


# --- changes --------------------------------------------------------------------------------------


def changed(data, rng):
    """Another file from one that is whole."""
    ways = [flipped, words, cut, doubled, moved, numbers, zeros, other_end]
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        data = rng.choice(ways)(data, rng)
    return data


def flipped(data, rng):
    data = bytearray(data or b"\0")
    for _ in range(rng.choice((1, 1, 3, 30))):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


def words(data, rng):
    at = rng.randrange(max(len(data) - 8, 1)) & (~3 if rng.random() < 0.5 else ~0)
    value = rng.choice((0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**63, 2**64 - 1, len(data)))
    form = rng.choice(("<Q", ">Q", "<I", ">I"))
    word = struct.pack(form, value & (2**64 - 1 if "Q" in form else 2**32 - 1))
    return data[:at] + word + data[at + len(word) :]


def cut(data, rng):
    return data[: rng.randrange(len(data) + 1)]


def doubled(data, rng):
    a, b = sorted(rng.randrange(len(data) + 1) for _ in range(2))
    return data[:b] + data[a : min(b, a + 100_000)] * rng.choice((1, 2, 50)) + data[b:]


def moved(data, rng):
    a, b = sorted(rng.randrange(len(data) + 1) for _ in range(2))
    return data[:a] + data[b:] + data[a:b]


def numbers(data, rng):
    found = list(re.finditer(rb"-?\d+(\.\d+)?", data[:200_000]))
    if not found:
        return flipped(data, rng)
    one = rng.choice(found)
    return data[: one.start()] + rng.choice(NUMBERS).encode() + data[one.end() :]


def zeros(data, rng):
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice((b"\0", b"\xff", b"[", b"\n", b'"')) * 64 + data[at + 64 :]


def other_end(data, rng):
    return data + rng.choice((b"\0" * 512, b"PK\5\6" + b"\0" * 18, b"\n", b"x" * 4096, data[:4096]))


def changed_json(data, rng):
    """A value of a JSON text as one of another kind, or gone."""
    try:
        document = json.loads(data)
    except ValueError:
        return changed(data, rng)
    places = []

    def walk(value):
        keys = value if isinstance(value, dict) else range(len(value))
        for key in keys:
            places.append((value, key))
            if isinstance(value[key], dict | list):
                walk(value[key])

    walk(document)
    for _ in range(rng.choice((1, 1, 2))):
        table, key = rng.choice(places)
        others = [None, 0, -1, 2**63, 1.5, True, "", "x", "x" * 9999, [], {}, [1], {"a": 1}]
        with contextlib.suppress(IndexError, KeyError):
            if rng.random() < 0.15:
                del table[key]
            else:
                table[key] = rng.choice(others)
    return json.dumps(document).encode()


# --- calls ----------------------------------------------------------------------------------------


def call(folder, file, command, rng, whole=False):
    """(argv, folder) of a call, whose files lie in a folder of its own; ``whole``: unchanged."""
    source = folder / file if not os.path.isabs(file) else Path(file)
    data = source.read_bytes()
    by_options = whole or rng.random() < 0.12
    alter = changed_json if source.suffix == ".json" and rng.random() < 0.6 else changed
    new = data if by_options else alter(data, rng)
    work = Path(tempfile.mkdtemp(dir=folder.parent))
    run = work / "run"
    if "{run}" in command:
        shutil.copytree(folder / "run", run)
        target = run / source.name
    elif source.name == "pairs.txt":
        (work / "protocol").mkdir()
        target = work / "protocol/pairs.txt"
    else:
        target = work / re.sub(r"^seed-[a-z0-9]+-", "", source.name)
        if source.name.startswith("seed-"):
            kind = source.name.split("-")[1]
            endings = {"lmdb": "data.mdb"}
            stem = endings.get(kind)
            target = work / stem if stem else target
            if kind == "rec" and target.suffix != ".rec":
                target = target.with_suffix(".rec")
    target.write_bytes(new)
    if "{run}" in command and rng.random() < 0.5:
        seal(run)
    place = str(target.parent.parent if source.name == "pairs.txt" else target)
    argv = [w.replace("{}", place).replace("{run}", str(run)).replace("@", str(folder))
            for w in command]  # fmt: skip
    argv = [
        w if not w.startswith(f"{folder}/o") else f"{work}{w[len(str(folder)) :]}" for w in argv
    ]
    if by_options and not whole:
        for _ in range(rng.choice((1, 2, 3))):
            argv += [rng.choice(OPTIONS)] + [rng.choice(WORDS)] * rng.choice((1, 1, 1, 0, 2))
    return argv, work


def seal(run):
    """The hashes of the run folder made anew, where that can be."""
    with contextlib.suppress(Exception):
        document = json.loads((run / "run.json").read_text())
        outputs = document["content"]["outputs"]
        for name in outputs:
            outputs[name] = facebench.io.sha256_file(run / name)
        text = facebench.io.canonical_json(document["content"]).encode()
        document["content_sha256"] = facebench.io.sha256_hex(text)
        (run / "run.json").write_text(json.dumps(document))


def memory(what):
    status = Path("/proc/self/status").read_text()
    return int(status.split(f"{what}:")[1].split()[0]) << 10


def act(argv, place, pipe):
    """In a child: the exit code, what was said, the peak of memory beyond the start, seconds."""
    limit = memory("VmSize") + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    Path("/proc/self/clear_refs").write_text("5")
    before, started = memory("VmRSS"), time.monotonic()
    code, work = 0, tempfile.TemporaryFile()  # noqa: SIM115 - until the process ends
    os.chdir(place)
    for stream in (1, 2):
        os.dup2(work.fileno(), stream)
    try:
        if argv[0] in ("backend", "mat"):
            read = {"backend": facebench.backends.load, "mat": facebench.io.read_mat5}
            try:
                read[argv[0]](argv[1])
            except (facebench.Error, ValueError) as error:
                code = 1
                print(f"facebench: {error}", file=sys.stderr)
        else:
            sys.argv = ["facebench", *argv]
            program.main()
    except SystemExit as end:
        code = end.code or 0
    except BaseException:
        code = 99
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    work.seek(0)
    said = work.read().decode("utf-8", "replace")
    pipe.send((code, said, memory("VmHWM") - before, time.monotonic() - started))


def tried(argv, place):
    """(exit code or None, what was said, memory, seconds)."""
    here, there = multiprocessing.Pipe(False)
    child = multiprocessing.Process(target=act, args=(argv, place, there))
    child.start()
    there.close()
    try:
        answer = here.recv() if here.poll(SECONDS) else (None, "does not come back", 0, SECONDS)
    except EOFError:
        child.join()
        answer = (child.exitcode, f"the process ended ({child.exitcode})", 0, 0.0)
    child.kill()
    child.join()
    return answer


def unforeseen(code, said):
    """Why an answer was not foreseen; "" where it was."""
    if code not in (0, 1, 2, 3, 4):
        return f"exit code {code}"
    if any(w in said for w in ("Traceback", "Exception ignored", "not foreseen")):
        return "a traceback"
    if re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u202a-\u202e]", said):
        return "control characters"
    if code in (1, 2):
        errors = [
            line
            for line in said.splitlines()
            if "failed: " in line or line.startswith(("facebench:", "Error:"))
        ]
        if not errors:
            return "no sentence"
        if len(errors[-1]) > 1500:
            return f"a sentence of {len(errors[-1])} characters"
    return ""


def main(words):
    seed, calls = (int(word) for word in (*words[:2], *("0", "200")[len(words) :]))
    multiprocessing.set_start_method("fork")
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work) / "whole"
        folder.mkdir()
        write_all(folder)
        known = formats(folder)
        chosen = words[2:] or list(known)
        rows = {name: [0, 0, 0.0, {}] for name in chosen}
        wrong = 0
        for name in chosen:  # that something is read at all
            for file, commands in [
                f for f in known[name] if "seed-" not in f[0] and f[0][0] != "/"
            ]:
                for command in commands:
                    argv, place = call(folder, file, command, rng, whole=True)
                    code, said, *_ = tried(argv, place)
                    if code not in (0, 3, 4):
                        print(f"whole, {code}: {' '.join(argv)}\n    {said[-300:]!r}", flush=True)
        for k in range(calls):
            name = chosen[k % len(chosen)]
            file, commands = rng.choice(known[name])
            argv, place = call(folder, file, rng.choice(commands), rng)
            code, said, peak, seconds = tried(argv, place)
            why = unforeseen(code, said)
            row = rows[name]
            row[0] += 1
            row[1], row[2] = max(row[1], peak), max(row[2], seconds)
            row[3][code] = row[3].get(code, 0) + 1
            if why:
                wrong += 1
                kept = Path(tempfile.gettempdir()) / f"hostile-{seed}-{k}"
                shutil.copytree(place, kept, dirs_exist_ok=True)
                print(
                    f"{k} {why}: {' '.join(argv)[:400]}\n    {said[-600:]!r}\n    {kept}",
                    flush=True,
                )
            shutil.rmtree(place)
    print("| format | calls | exit codes | peak, MiB | s |\n|---|---|---|---|---|")
    for name, (count, peak, seconds, codes) in rows.items():
        text = ", ".join(f"{c}: {n}" for c, n in sorted(codes.items(), key=str))
        print(f"| {name} | {count} | {text} | {peak >> 20} | {seconds:.1f} |")
    print(f"{calls} calls, {wrong} not foreseen")
    return wrong


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1:]), 1))
