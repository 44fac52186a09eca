"""FNIR by gallery size, the variance budget, and Croissant metadata of packs."""

import csv
import hashlib
import itertools
import json

import facebench
import numpy as np
import pytest
from facebench import _eval, datasets, metrics, reports
from facebench.io import write_embeddings
from facebench.protocols import EmbeddingSet

PEOPLE, IMAGES = 40, 3


@pytest.fixture(scope="module")
def faces(tmp_path_factory):
    """A run folder's two files: a pack, and embeddings in which people can be mistaken."""
    folder = tmp_path_factory.mktemp("gallery")
    options = datasets.SyntheticOptions(people=PEOPLE, images=IMAGES, size=32, pairs_per_fold=4)
    datasets.write_synthetic_dataset(options, folder / "faces")
    read = datasets.read_dataset("lfw", folder / "faces")
    datasets.pack_dataset(read, folder / "pack.h5")
    pack = datasets.Pack(folder / "pack.h5")
    rng = np.random.default_rng(3)
    centre = rng.normal(size=(len(pack.label_names), 6))
    values = np.float32(centre[pack.labels] + 0.7 * rng.normal(size=(len(pack), 6)))
    write_embeddings(folder / "embeddings.h5", EmbeddingSet(values, pack.names))
    return folder


def fnir_by_definition(values, people, enrolled, fpir):
    """ISO/IEC 19795-1: the lowest threshold whose FPIR is not above the target."""
    values = values / np.linalg.norm(values, axis=1, keepdims=True)
    scores = values @ values[enrolled].T
    mated, strangers = [], []
    for i in np.setdiff1d(np.arange(len(people)), enrolled):
        mate = np.flatnonzero(people[enrolled] == people[i])
        if len(mate):
            others = np.delete(scores[i], mate)
            mated.append((scores[i, mate[0]], others.max()))
        else:
            strangers.append(scores[i].max())
    allowed = int(np.floor(fpir * len(strangers) + 1e-9))
    threshold = np.sort(strangers)[::-1][allowed]  # at it one search too many is answered
    return np.mean([not (own > threshold and own > other) for own, other in mated])


def drawn_order(items, seed, purpose, index):
    """A Fisher-Yates order from the stream that core/random.h describes, written down again:
    Philox 4x32-10 (Salmon et al., SC 2011), keyed by SplitMix64 and FNV-1a, Lemire's bounds."""
    whole, half = (1 << 64) - 1, (1 << 32) - 1

    def mix(x):
        x = (x + 0x9E3779B97F4A7C15) & whole
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & whole
        x = (x ^ (x >> 27)) * 0x94D049BB133111EB & whole
        return x ^ (x >> 31)

    text = 0xCBF29CE484222325
    for byte in purpose.encode():
        text = (text ^ byte) * 0x100000001B3 & whole
    key = mix(mix(mix(seed) ^ text) ^ index)
    high = mix((mix(text + 1 & whole) ^ seed) + 0x632BE59BD9B4E019 * (index + 1) & whole)

    def numbers():
        for count in itertools.count():
            c, k = [count, 0, high & half, high >> 32], [key & half, key >> 32]
            for _ in range(10):
                p, q = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
                c = [(q >> 32) ^ c[1] ^ k[0], q & half, (p >> 32) ^ c[3] ^ k[1], p & half]
                k = [k[0] + 0x9E3779B9 & half, k[1] + 0xBB67AE85 & half]
            yield from (c[0] | c[1] << 32, c[2] | c[3] << 32)

    stream, order = numbers(), list(items)
    for n in range(len(order), 1, -1):
        product = next(stream) * n
        while product & whole < (1 << 64) % n:
            product = next(stream) * n
        at = product >> 64
        order[n - 1], order[at] = order[at], order[n - 1]
    return np.array(order)


def test_fnir_by_gallery_size_by_definition(faces):
    found = facebench.gallery(faces, sizes=[5, 10, 20], fpir=[0.1], draws=4, extrapolate=[80])
    pack = datasets.Pack(faces / "pack.h5")
    values = np.asarray(facebench.io.read_embeddings(faces / "embeddings.h5").values, np.float32)
    people = np.asarray(pack.labels)
    enrolled = np.array([np.flatnonzero(people == p)[0] for p in np.unique(people)])
    wanted = {5: [], 10: [], 20: []}
    for draw in range(4):
        order = drawn_order(np.sort(enrolled), 0, "gallery", draw)
        for n, own in wanted.items():
            own.append(fnir_by_definition(values, people, order[:n], 0.1))
    measured = [p for p in found.points if not p["extrapolated"]]
    assert [p["fnir"] for p in measured] == pytest.approx([np.mean(v) for v in wanted.values()])
    assert [p["mated"] for p in measured] == [10, 20, 40]
    (beyond,) = [p for p in found.points if p["extrapolated"]]
    mated = np.array([[10], [20], [40]])
    logs = np.log((np.array(list(wanted.values())) * mated + 0.5) / (mated + 1))
    slope, start = np.polyfit(np.log([5, 10, 20]), logs, 1)
    line = np.minimum(np.exp(slope * np.log(80) + start), 1)
    assert beyond["size"] == 80 and beyond["fnir"] == pytest.approx(np.mean(line))
    assert "nobody measured" in found.note and "80 (extrapolated)" in repr(found)


def test_galleries_that_cannot_be_are_refused(faces):
    with pytest.raises(ValueError, match="somebody must be left"):
        facebench.gallery(faces, sizes=[PEOPLE])
    with pytest.raises(ValueError, match="three sizes"):
        facebench.gallery(faces, sizes=[5, 10], extrapolate=[80])
    with pytest.raises(ValueError, match="all of them smaller"):
        facebench.gallery(faces, sizes=[5, 10, 20], extrapolate=[20])


# --- variance budget -----------------------------------------------------------------------------


def prepare(run, **preparation):
    """Records a preparation in a run's manifest, as a run from images has it."""
    manifest = json.loads((run / "run.json").read_text())
    manifest["content"]["preparation"] = preparation
    text = facebench._eval.canonical_json(manifest["content"])
    manifest["content_sha256"] = hashlib.sha256(text.encode()).hexdigest()
    (run / "run.json").write_text(json.dumps(manifest))


def test_budget_names_what_runs_differ_in(tmp_path):
    lines = ["2\t40"]
    rng = np.random.default_rng(5)
    for fold in range(2):
        lines += [f"P{fold}{k:02}\t1\t2" for k in range(40)]
        lines += [f"P{fold}{k:02}\t1\tP{fold}{(k + 1) % 40:02}\t1" for k in range(40)]
    (tmp_path / "pairs.txt").write_text("\n".join(lines) + "\n")
    labels = np.tile(np.repeat([1, 0], 40), 2)
    runs = []
    for k, (detector, crop) in enumerate((("mtcnn", "a"), ("hog", "a"), ("mtcnn", "b"))):
        scores = np.where(labels, 0.3, 0.0) + 0.3 * rng.normal(size=160)
        runs.append(tmp_path / f"run{k}")
        facebench.evaluate("lfw", scores=scores, root=tmp_path, replicates=20, out=runs[-1])
        prepare(runs[-1], detector=detector, crop=crop)
    found = facebench.budget(runs, "auc", replicates=400)
    sources = {s["name"]: s for s in found.sources}
    assert list(sources) == ["people", "images", "detector", "crop"]
    cells = [reports.read_run(r)["metrics"]["tracks"]["view2"]["metrics"]["auc"] for r in runs]
    values = [cell["value"] for cell in cells]
    assert sources["detector"]["values"] == values[:2]
    assert sources["detector"]["sd"] == pytest.approx(np.std([values[0], values[1]], ddof=1))
    assert sources["crop"]["sd"] == pytest.approx(np.std([values[0], values[2]], ddof=1))
    # The sd of an AUC over people: the interval of the run at 68 % has it on both sides.
    list_of = facebench._eval.listed_run(str(runs[0]), None)
    comparisons = metrics.Comparisons(list_of["scores"], list_of["labels"])
    one = metrics.dyadic_bootstrap(
        _eval.auc_statistic(comparisons),
        *list_of["people"],
        options=metrics.BootstrapOptions(replicates=400, level=0.6827),
    )
    assert sources["people"]["sd"] == pytest.approx((one.high - one.low) / 2)
    shares = [s["share"] for s in found.sources if s["name"] != "images"]
    assert sum(shares) == pytest.approx(1) and sources["images"]["share"] is None
    assert "| detector |" in repr(found)
    prepare(runs[1], detector="hog", crop="b")
    with pytest.raises(facebench.Error, match="differs in detector and crop"):
        facebench.budget(runs, "auc")
    with pytest.raises(ValueError, match="drawn again"):
        facebench.budget(runs, "rank@1")


# --- Croissant -----------------------------------------------------------------------------------


def test_croissant_metadata_of_a_pack(faces, tmp_path):
    path = datasets.write_croissant(faces / "pack.h5", tmp_path / "published", license="research")
    said = json.loads(path.read_text())
    assert said["conformsTo"] == "http://mlcommons.org/croissant/1.0"
    assert said["license"] == "research" and f"{PEOPLE * IMAGES} of" in said["description"]
    files = {f["@id"]: f for f in said["distribution"]}
    for name, folder in (("pack.h5", faces), ("faces.csv", path.parent)):
        content = (folder / name).read_bytes()
        assert files[name]["sha256"] == hashlib.sha256(content).hexdigest()
    with open(path.parent / "faces.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    pack = datasets.Pack(faces / "pack.h5")
    assert [row["name"] for row in rows] == list(pack.names)
    assert rows[7]["person"] == pack.label_names[pack.labels[7]] and rows[7]["status"] == "ok"
    # Every field is a column of the table.
    (record_set,) = said["recordSet"]
    columns = [f["source"]["extract"]["column"] for f in record_set["field"]]
    assert columns == list(rows[0])
    assert {f["source"]["fileObject"]["@id"] for f in record_set["field"]} == {"faces.csv"}
