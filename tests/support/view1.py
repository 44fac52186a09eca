"""LFW View 1 as a training: people of its training side with three images and more to train on, its
pairs to test on, and a threshold from pairs of the other people of the training side."""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from facebench import datasets, detection, embedding, protocols
from facebench.crops import CropOptions

ROOT = Path(os.environ.get("FACEBENCH_DATA") or "/nonexistent") / "lfw"

# The provided landmarks: the file has all x before all y, in pixels of the 250x250 originals.
POINTS = ["left_eye", "right_eye", "nose", "left_mouth", "right_mouth"]
COLUMNS = ["name", *(p + "_x" for p in POINTS), *(p + "_y" for p in POINTS)]


def image(person, number):
    return f"{person}/{person}_{int(number):04d}.jpg"


@dataclass
class View1:
    train: Path  # packs
    rest: Path  # everybody who is tested or chooses the threshold
    threshold_pairs: list  # (id, id, same person?)
    test_pairs: list


def make(folder, height=64, width=64, crop="arcface112", threads=0):
    """Both packs, made of the photographs."""
    lines = (ROOT / "protocol" / "peopleDevTrain.txt").read_text().splitlines()[1:]
    counts = {p: int(n) for p, n in (line.split("\t") for line in lines)}
    lfw = datasets.read_dataset("lfw", ROOT)
    present = {sample.id for sample in lfw.samples}
    train = [image(p, i + 1) for p, n in sorted(counts.items()) if n >= 3 for i in range(n)]
    genuine = [(image(p, 1), image(p, 2), True) for p, n in sorted(counts.items()) if n == 2]
    few = [image(p, 1) for p, n in sorted(counts.items()) if n <= 2 and image(p, 1) in present]
    drawn = np.random.default_rng(0).permutation(len(few))
    impostor = [(few[a], few[b], False) for a, b in drawn[: 2 * len(genuine)].reshape(-1, 2)]
    pairs = [p for p in genuine + impostor if p[0] in present and p[1] in present]
    tests = []
    for line in (ROOT / "protocol" / "pairsDevTest.txt").read_text().splitlines()[1:]:
        cells = line.split("\t")
        a, b = (cells[:2], cells[::2]) if len(cells) == 3 else (cells[:2], cells[2:])
        tests.append((image(*a), image(*b), len(cells) == 3))
    tests = [p for p in tests if p[0] in present and p[1] in present]
    rest = sorted({name for *names, _ in pairs + tests for name in names})
    detector = detection.make_detector(
        "given",
        file=str(ROOT.parent / "lfw" / "landmarks_mtcnn_original250.txt"),
        columns=COLUMNS,
        separator="blanks",
        scale=0.6,
    )
    options = CropOptions(name=crop, height=height, width=width)
    for name, ids in (("train", train), ("rest", rest)):
        summary = datasets.pack_dataset(
            datasets.select_samples(lfw, ids),
            folder / f"{name}.h5",
            detector,
            crop=options,
            threads=threads,
        )
        assert summary.counts["ok"] == len(ids), summary.counts
    return View1(folder / "train.h5", folder / "rest.h5", pairs, tests)


def measure(view, model):
    """AUC and equal error rate of the pairs that are there (999 of 1,000), and the share of them
    that is right at the threshold which is best for the threshold pairs."""
    found = embedding.extract(model, datasets.Pack(view.rest), threads=1)
    result = protocols.evaluate(
        "lfw_view1",
        found,
        root=ROOT,
        interval="none",
        failed_enrolments="drop",
        threads=1,
        allow_missing=True,  # a photograph that LFW lost
    )["view1"]
    rows = dict(zip(found.names, found.values.astype(np.float64), strict=True))

    def scored(pairs):
        return np.array([rows[a] @ rows[b] for a, b, _ in pairs]), np.array([p[2] for p in pairs])

    score, same = scored(view.threshold_pairs)
    threshold = max(score, key=lambda t: ((score >= t) == same).mean())
    score, same = scored(view.test_pairs)
    return {
        "comparisons": result.comparisons,
        "auc": result["auc"].value,
        "eer": result["eer"].value,
        "accuracy": float(((score >= threshold) == same).mean()),
    }
