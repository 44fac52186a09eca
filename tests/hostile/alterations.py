"""Some 2,700 alterations of run folders, by hand and by a forger who writes the hashes anew: which
of them `facebench verify` names.

    python tests/hostile/alterations.py [PART]    all of them, or every PART-th: what is not named

The folders: scores that were given, embeddings from a file, photographs with their pack (where
facebench was built with torch), and folders of an earlier version.
tests/project/test_alterations.py tries some of them.
"""

import json
import os
import re
import shutil
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import facebench
import facebench.io as fio
import h5py
import numpy as np
from facebench import protocols

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from json_alterations import another, changed, places

OLDER = Path(__file__).parents[1] / "data/scores_format_2"
TORCH = find_spec("torch") is not None and find_spec("facebench._full") is not None


# --- folders --------------------------------------------------------------------------------------


def write_lists(root):
    root.mkdir(parents=True)
    lists = ["2\t2"]
    for fold in "AB":
        lists += [f"{fold}{k}\t1\t2" for k in range(2)]
        lists += [f"{fold}{k}\t1\t{fold}{k + 2}\t1" for k in range(2)]
    (root / "pairs.txt").write_text("\n".join(lists) + "\n")


def given(work):
    write_lists(work / "root")
    scores = [0.9, 0.8, 0.1, 0.3, 0.7, 0.2, 0.4, 0.0]
    facebench.evaluate("lfw", scores=scores, root=work / "root", replicates=20, out=work / "run")


def embedded(work):
    write_lists(work / "root")
    trials = protocols.read_trials("lfw", work / "root")
    values = np.random.default_rng(2).normal(size=(len(trials.names), 8)).astype("f4")
    fio.write_embeddings(work / "root/e.h5", fio.EmbeddingSet(values, trials.names))
    facebench.evaluate(
        "lfw", embeddings=work / "root/e.h5", root=work / "root", replicates=20, out=work / "run"
    )


def _colours(batch):
    return batch[:, ::16, ::16].reshape(len(batch), -1)


def photographs(work):
    few = facebench.datasets.SyntheticOptions(people=40, images=2, size=64, pairs_per_fold=4)
    facebench.datasets.write_synthetic_dataset(few, work / "root")
    facebench.run(
        "lfw", model=_colours, root=work / "root", out=work / "run", detector="none", replicates=20
    )


def older(work):
    (work / "root").mkdir(parents=True)
    shutil.copytree(OLDER / "listed", work / "run")


FOLDERS = {"given": given, "embedded": embedded, "older": older}
if TORCH:
    FOLDERS["photographs"] = photographs


# --- alterations ----------------------------------------------------------------------------------


def seal(run):
    """The hashes written anew, as whoever forges a folder does."""
    document = json.loads((run / "run.json").read_text())
    content = document.get("content", {})
    outputs = content.get("outputs", {})
    outputs |= {name: fio.sha256_file(run / name) for name in outputs if (run / name).is_file()}
    if "pack_sha256" in content and (run / "pack.h5").is_file():
        content["pack_sha256"] = fio.sha256_file(run / "pack.h5")
    if "pack_sha256" in content and (run / "embeddings.h5").is_file():
        content.get("embeddings", {})["sha256"] = fio.sha256_file(run / "embeddings.h5")
    for part in ("content", "circumstance"):
        if part in document and f"{part}_sha256" in document:
            text = fio.canonical_json(document[part])
            document[f"{part}_sha256"] = fio.sha256_hex(text.encode())
    (run / "run.json").write_text(json.dumps(document))


def put(file, at, value):
    """Writes a value at a place of a JSON file; KeyError removes it."""

    def alter(run):
        document = json.loads((run / file).read_text())
        (run / file).write_text(json.dumps(changed(document, at, value)))

    return alter


def of_json(run, file):
    document = json.loads((run / file).read_text())
    for at, value in places(document):
        if not at or (at[-1] == "content_sha256" and "circumstance" not in at):
            continue
        name = "/".join(map(str, at))
        yield f"{file} {name} is another", put(file, at, another(value))
        yield f"{file} {name} is gone", put(file, at, KeyError)


def in_h5(file, at, change):
    def alter(run):
        with h5py.File(run / file, "r+") as h5:
            values = h5[at][()]
            new = change(values)
            attributes = dict(h5[at].attrs)
            del h5[at]
            h5.create_dataset(at, data=new)
            h5[at].attrs.update(attributes)

    return alter


def json_in_h5(at, change):
    def new(value):
        document = json.loads(bytes(value))
        change(document)
        return np.frombuffer(json.dumps(document).encode(), np.uint8)

    return in_h5("scores.h5", at, new)


def turned(values):
    values = np.array(values)
    if values.dtype.kind in "OS":
        values[0] = values[0][:-1] + b"0"
    elif values.dtype.kind == "f":
        values.flat[0] = 0.95 - values.flat[0] / 2
    else:
        values.flat[0] = (int(values.flat[0]) + 1) % 2
    return values


def of_h5(run, file):
    found = []
    with h5py.File(run / file, "r") as h5:
        h5.visititems(
            lambda name, item: isinstance(item, h5py.Dataset) and found.append((name, item.shape))
        )
    for name, shape in found:
        if shape and shape[0]:
            yield f"{file} {name} has another first value", in_h5(file, name, turned)
            yield f"{file} {name} lost its last", in_h5(file, name, lambda v: v[:-1])
    if file == "scores.h5":
        yield "scores.h5 says format 4", json_in_h5("manifest", lambda d: d.update(format=4))
        yield (
            "scores.h5 has another seed",
            json_in_h5("manifest", lambda d: d["options"].update(seed=7)),
        )
        if any(name == "content" for name, _ in found):
            yield "scores.h5 lost its content", lambda run: _without(run, "content")

            def as_format_4(run):
                json_in_h5("manifest", lambda d: d.update(format=4))(run)
                _without(run, "content")
                document = json.loads((run / "run.json").read_text())
                document["content"]["protocol"]["title"] = "LFW View 2 (official)"
                document["content"]["embedder"] = "ours"
                del document["content_sha256"]
                (run / "run.json").write_text(json.dumps(document))

            yield "format 4, another title, no hash", as_format_4


def _without(run, name):
    with h5py.File(run / "scores.h5", "r+") as h5:
        del h5[name]


def of_pages(run):
    for page in ("report.md", "report.html"):
        if not (run / page).is_file():
            continue
        text = (run / page).read_text()
        numbers = list(re.finditer(r"\d+\.\d+", text))
        for k in range(0, len(numbers), max(1, len(numbers) // 20)):
            a, b = numbers[k].span()
            new = text[:a] + "99.75" + text[b:]
            yield f"{page}: number {k} is 99.75", write(page, new)
        yield f"{page} has one line more", write(page, text + "All checks passed.\n")
        yield f"{page} is empty", write(page, "")
        yield f"{page} is gone", lambda run, page=page: (run / page).unlink()
        yield f"{page} has another ending of lines", write(page, text.replace("\n", "\r\n"))


def write(name, data):
    def alter(run):
        (run / name).write_bytes(data if isinstance(data, bytes) else data.encode())

    return alter


def of_files(run):
    yield "a plot that is not the run's", write("roc.svg", "<svg/>")
    yield "a card that is not the run's", write("card.md", "Accuracy 99.9 %")
    yield "a hidden file", write(".notes", "x")
    yield "a folder", lambda run: (run / "plots").mkdir()
    for name in ("scores.h5", "metrics.json", "curves.json", "pack.h5", "embeddings.h5"):
        if not (run / name).is_file():
            continue
        data = (run / name).read_bytes()
        yield (
            f"{name} has a byte changed",
            write(name, data[:-9] + bytes([data[-9] ^ 1]) + data[-8:]),
        )
        yield f"{name} is cut", write(name, data[: len(data) // 2])
        yield f"{name} is empty", write(name, b"")
        yield f"{name} is gone", lambda run, name=name: (run / name).unlink()


def of_root(run):
    """The lists and embeddings that the run was made of."""
    root = run.parent / "root"
    for path in [*root.rglob("pairs.txt"), *root.glob("e.h5")]:
        name = path.relative_to(run.parent).as_posix()
        data = path.read_bytes()
        yield f"{name} has a byte more", write(f"../{name}", data + b"\n")
        yield f"{name} is gone", remove(f"../{name}")
        if path.suffix == ".txt":
            lines = data.splitlines(keepends=True)
            swapped = [*lines[:-2], lines[-1], lines[-2]]
            yield f"{name} lost its last line", write(f"../{name}", b"".join(lines[:-1]))
            yield f"{name} has two lines swapped", write(f"../{name}", b"".join(swapped))
            yield f"{name} has its last line twice", write(f"../{name}", data + lines[-1])
            other = data.replace(lines[1], b"X" + lines[1], 1)
            yield f"{name} names another person", write(f"../{name}", other)


def remove(name):
    return lambda run: (run / name).unlink()


def of_images(run):
    """The photographs that the run was made of."""
    paths = sorted((run.parent / "root").rglob("*_000[12].*"))
    for path, other in list(zip(paths, [*paths[2:], *paths[:2]], strict=True))[::9]:
        name = path.relative_to(run.parent).as_posix()
        data, others = path.read_bytes(), other.read_bytes()
        image = facebench.images.decode(data)
        brighter = image.copy()
        brighter[0, 0] ^= 1
        for what, alter in {
            "has a byte more": write(f"../{name}", data + b"\n"),
            "is cut": write(f"../{name}", data[: len(data) // 2]),
            "is empty": write(f"../{name}", b""),
            "has its first pixel changed": write(
                f"../{name}", facebench.images.encode_png(brighter)
            ),
            "has the same pixels as a file of another kind": write(
                f"../{name}", facebench.images.encode_png(image)
            ),
            "is another's": write(f"../{name}", others),
            "is text": write(f"../{name}", "no photograph"),
            "is gone": remove(f"../{name}"),
        }.items():
            yield f"{name} {what}", alter
        there, elsewhere = f"../{name}", f"../{other.relative_to(run.parent).as_posix()}"
        yield f"{name} and another changed places", changed_places(there, elsewhere)
        yield f"{name} has another name", renamed(there)
        yield f"{name} is a link to another", linked(there, elsewhere)
        yield f"{name} is a link to nothing", linked(there, "../none")
        yield f"{name} is a link to itself", linked(there, there)
        yield f"{name} is a folder", as_folder(there)


def changed_places(name, other):
    def alter(run):
        data = (run / name).read_bytes()
        (run / name).write_bytes((run / other).read_bytes())
        (run / other).write_bytes(data)

    return alter


def renamed(name):
    return lambda run: (run / name).rename((run / name).with_name("Nobody_0001.jpg"))


def linked(name, target):
    def alter(run):
        (run / name).unlink()
        (run / name).symlink_to((run / target).resolve())

    return alter


def as_folder(name):
    def alter(run):
        (run / name).unlink()
        (run / name).mkdir()

    return alter


def harmless(run):
    """What changes nothing that the run was made of."""
    root = run.parent / "root"
    path = sorted(root.rglob("*_0001.*"))[0]
    name = path.relative_to(run.parent).as_posix()
    data = path.read_bytes()

    def link_to_a_copy(run):
        (run.parent / "copy").write_bytes(data)
        linked(f"../{name}", "../copy")(run)

    yield "a link to the same bytes", link_to_a_copy
    yield "a photograph that no list names", write(f"../{name}.more.jpg", data)
    yield "another time of change", lambda run: os.utime(run.parent / name, (0, 0))
    yield "a photograph that may only be read", lambda run: (run.parent / name).chmod(0o444)


def of_pairs(run):
    """Comparisons that are another list's, under the true list's hash."""
    if not (run.parent / "root/pairs.txt").is_file():
        return

    def cherries(run):
        root = run.parent / "root"
        true = (root / "pairs.txt").read_bytes()
        other = true.replace(b"A0\t1\t2", b"A0\t1\t3", 1)
        digest = fio.sha256_hex(true)
        (root / "pairs.txt").write_bytes(other)
        scores = np.linspace(1, 0, 8)
        made = facebench.evaluate("lfw", scores=scores, root=root, replicates=20)
        shutil.rmtree(run)
        made.save(run)
        (root / "pairs.txt").write_bytes(true)
        document = json.loads((run / "run.json").read_text())
        inputs = [{"role": "pairs", "sha256": digest}]
        document["content"]["inputs"] = inputs
        (run / "run.json").write_text(json.dumps(document))
        json_in_h5("content", lambda d: d.update(inputs=inputs))(run)

    yield "a list of one's own, with the true list's hash", cherries


def alterations(run):
    """(name, function of the folder, whether the forger writes the hashes anew)."""
    plain = [*of_json(run, "run.json"), *of_pages(run), *of_files(run), *of_root(run)]
    plain += of_images(run) if (run / "pack.h5").is_file() else []
    yield from ((name, alter, False) for name, alter in plain)
    # Times and places are what nothing else says, and hashes of outputs are written anew.
    follows = [
        (name, alter)
        for name, alter in of_json(run, "run.json")
        if re.match(
            r"run.json (content/(?!outputs/|\w+/sha|pack_)"
            r"|(circumstance/(?!folder|images))?\w+ is gone)",
            name,
        )
    ]
    forged = [*follows, *of_h5(run, "scores.h5"), *of_pairs(run)]
    forged += [*of_json(run, "metrics.json")]
    if (run / "embeddings.h5").is_file():
        forged += [*of_h5(run, "embeddings.h5"), *of_h5(run, "pack.h5")]
    yield from ((name, alter, True) for name, alter in forged)


def said(run):
    """The lines of a verification that are not "the same"."""
    try:
        checks = facebench.verify(run, run.parent / "root").checks
    except facebench.Error as error:
        return {str(error)}
    return {f"{c['name']}: {c['detail']}" for c in checks if c["same"] is not True}


def already_unchecked(name, before):
    """The lines that say of a folder as it was written that nothing checks what was altered."""
    if name.startswith("scores.h5"):
        about = {"comparisons from the lists", "scores from embeddings"}
    elif name.startswith("run.json circumstance"):
        about = {"circumstance of run.json"}
    else:
        about = {"rest of run.json", "input pairs"}
    key = [*name.split("/"), ""][1]
    return [
        line
        for line in before
        if line.split(":")[0] in about and ("rest of" not in line or key in line)
    ]


def said_of_altered(work, alter, forged=False):
    """The lines of a copy of a folder that is altered."""
    copy_of = work.with_name("altered")
    shutil.copytree(work, copy_of)
    alter(copy_of / "run")
    if forged:
        seal(copy_of / "run")
    lines = {line.replace(str(copy_of), str(work)) for line in said(copy_of / "run")}
    shutil.rmtree(copy_of)
    return lines


def tried(kind, part=1):
    """(name, what verify says of it that it does not say of the folder as it was written, else the
    line that says so of that one)."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder) / "work"
        FOLDERS[kind](work)
        before = said(work / "run")
        everything = list(alterations(work / "run"))
        for name, alter, forged in everything[::part]:
            after = said_of_altered(work, alter, forged)
            lines = sorted(after - before) or already_unchecked(name, before)
            yield name + (", hashes anew" if forged else ""), lines


def tried_harmless(kind):
    """(name, the lines that differ) of what nothing of the run depends on."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder) / "work"
        FOLDERS[kind](work)
        before = said(work / "run")
        for name, alter in harmless(work / "run"):
            yield name, sorted(said_of_altered(work, alter) ^ before)


def main(part):
    missed = total = 0
    for kind in FOLDERS:
        for name, lines in tried(kind, part):
            total += 1
            missed += not lines
            if not lines:
                print(f"NOT NAMED {kind}: {name}")
    print(f"{total} alterations, {missed} not named")
    return missed


if __name__ == "__main__":
    sys.exit(1 if main(int(sys.argv[1]) if len(sys.argv) > 1 else 1) else 0)
