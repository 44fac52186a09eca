"""LFW from photographs to numbers: the whole of it beside the chain that people put together from
facenet-pytorch (detection), OpenCV or PIL (aligned crops), ONNX Runtime (embedding) and
scikit-learn (accuracy by folds, ROC). Same detector, crop, network, images and threads.

    FACEBENCH_DATA=FOLDER scripts/bench.sh lfw                 all 6,000 pairs
    FACEBENCH_DATA=FOLDER scripts/bench.sh lfw --pairs 1 --scale 0.1     some of each fold

Ours is `facebench run` as a command, started anew each time, with 1,000 bootstrap replicates,
report and plots; the peer, a function in a process that has imported everything, computes neither
intervals nor plots. Accuracy and area under the curve are compared first. The goal is a ratio of 4;
the limit is the time that the network's multiplications take, those of the detector left out.
"""

import functools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import harness
import numpy as np
from harness import Comparison, Contestant

# x, y of both eyes, the nose and both corners of the mouth in a crop of 112 x 112.
TEMPLATE = np.array(
    [
        [38.2946, 51.6963],
        [73.5318, 51.5014],
        [56.0252, 71.7366],
        [41.5493, 92.3655],
        [70.7299, 92.2041],
    ]
)
MEAN = np.array([123.675, 116.28, 103.53], np.float32)
STD = np.array([58.395, 57.12, 57.375], np.float32)
GOAL = 4.0
BATCH = 64


def read_pairs(path):
    """(folds, pairs of a fold, (first file, second file, same))."""
    lines = [line.split("\t") for line in Path(path).read_text().splitlines()]
    folds, count = map(int, lines[0])

    def file(name, number):
        return f"{name}/{name}_{int(number):04d}.jpg"

    rows = []
    for line in lines[1:]:
        first, second = (line[0], line[1]), (line[-2], line[-1])
        if len(line) == 3:
            second = (line[0], line[2])
        rows.append((file(*first), file(*second), len(line) == 3))
    return [rows[i * 2 * count : (i + 1) * 2 * count] for i in range(folds)]


def shorter_lists(folder, scale):
    """A folder with `pairs.txt`: the first pairs of each half of each fold."""
    source = Path(os.environ["FACEBENCH_DATA"]) / "lfw" / "protocol" / "pairs.txt"
    lines = source.read_text().splitlines()
    folds, count = map(int, lines[0].split("\t"))
    kept = max(5, round(count * min(scale, 1)))
    out = [f"{folds}\t{kept}"]
    for half in range(2 * folds):
        out += lines[1 + half * count : 1 + half * count + kept]
    lists = Path(folder) / "lists"
    lists.mkdir(exist_ok=True)
    (lists / "pairs.txt").write_text("\n".join(out) + "\n")
    return lists


def ours_setup(folder, threads):
    return folder, threads


def ours(state):
    folder, threads = state
    with tempfile.TemporaryDirectory(dir=folder) as out:
        command = [sys.executable, "-m", "facebench", "run", "lfw", "--quiet"]
        command += ["--model", f"{folder}/m.safetensors", "--lists", f"{folder}/lists"]
        command += ["--root", str(Path(os.environ["FACEBENCH_DATA"]) / "lfw")]
        command += ["--detector-option", "mode=facenet_pytorch", "--threads", str(threads)]
        command += ["--cache", f"{out}/cache"]  # the command's default, empty
        subprocess.run([*command, "--out", f"{out}/run"], check=True, stdout=subprocess.DEVNULL)
        content = json.loads((Path(out) / "run" / "metrics.json").read_text())
        view = content["tracks"]["view2"]["metrics"]
        return {"accuracy": view["accuracy"]["value"], "auc": view["auc"]["value"]}


def chain_setup(folder, threads):
    import onnxruntime
    import torch
    from facenet_pytorch import MTCNN

    torch.set_num_threads(threads)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(
        f"{folder}/m.onnx", options, providers=["CPUExecutionProvider"]
    )
    return MTCNN(keep_all=True, device="cpu"), session, read_pairs(f"{folder}/lists/pairs.txt")


def similarity(points):
    """The turn, scale and shift that bring five points closest to the template (Umeyama)."""
    a, b = points.mean(0), TEMPLATE.mean(0)
    u, s, v = np.linalg.svd((TEMPLATE - b).T @ (points - a))
    flip = np.array([1, np.sign(np.linalg.det(u @ v))])
    turn = u * flip @ v * ((s * flip).sum() / ((points - a) ** 2).sum())
    return np.hstack([turn, (b - turn @ a)[:, None]])


def aligned(photo, points):
    from PIL import Image

    matrix = np.vstack([similarity(points), [0, 0, 1]])
    inverse = np.linalg.inv(matrix)[:2]
    # PIL counts from the corner of a pixel, the landmarks from its centre.
    inverse[:, 2] += 0.5 - inverse[:, :2] @ [0.5, 0.5]
    size = (112, 112)
    return photo.transform(size, Image.AFFINE, inverse.ravel().tolist(), Image.BILINEAR)


def chain(state):
    from PIL import Image
    from sklearn.metrics import roc_auc_score

    detector, session, folds = state
    root = Path(os.environ["FACEBENCH_DATA"]) / "lfw" / "images"
    files = sorted({name for fold in folds for pair in fold for name in pair[:2]})
    crops = []
    for name in files:
        photo = Image.open(root / name).convert("RGB")
        boxes, _, points = detector.detect(photo, landmarks=True)
        boxes, points = np.asarray(boxes, float), np.asarray(points, float)
        middle = np.array(photo.size) / 2
        centres = (boxes[:, :2] + boxes[:, 2:]) / 2
        nearest = np.linalg.norm(centres - middle, axis=1).argmin()
        crops.append(np.asarray(aligned(photo, points[nearest])))
    rows = []
    for i in range(0, len(crops), BATCH):
        x = (np.stack(crops[i : i + BATCH]).astype(np.float32) - MEAN) / STD
        x = np.ascontiguousarray(x.transpose(0, 3, 1, 2))
        mirrored = np.ascontiguousarray(x[..., ::-1])
        rows.append(sum(session.run(["embedding"], {"images": y})[0] for y in (x, mirrored)))
    embeddings = np.concatenate(rows)
    embeddings /= np.linalg.norm(embeddings, axis=1, keepdims=True)
    at = {name: i for i, name in enumerate(files)}
    scores = [[embeddings[at[a]] @ embeddings[at[b]] for a, b, _ in fold] for fold in folds]
    same = [[pair[2] for pair in fold] for fold in folds]
    accuracy = accuracy_by_folds(np.array(scores), np.array(same))
    return {"accuracy": accuracy, "auc": roc_auc_score(np.ravel(same), np.ravel(scores))}


def accuracy_by_folds(scores, same):
    """The mean over the folds of the accuracy at the threshold that is best on the others."""
    found = []
    for fold in range(len(scores)):
        others = np.arange(len(scores)) != fold
        known, truth = scores[others].ravel(), same[others].ravel()
        thresholds = np.unique(known)
        right = [(truth == (known >= t)).sum() for t in thresholds]
        found.append((same[fold] == (scores[fold] >= thresholds[np.argmax(right)])).mean())
    return float(np.mean(found))


def close(mine, theirs):
    """PIL and this library round pixels of crops differently, so a few of the pairs may change."""
    assert abs(mine["accuracy"] - theirs["accuracy"]) < 0.003, (mine, theirs)
    assert abs(mine["auc"] - theirs["auc"]) < 0.001, (mine, theirs)


def race(settings):
    import facebench
    from facebench import nn

    weights = Path(os.environ["FACEBENCH_DATA"]) / "weights" / "mobilefacenet"
    with tempfile.TemporaryDirectory() as folder:
        pixels = {"color": "rgb", "mean": MEAN.tolist(), "std": STD.tolist(), "flip": "sum"}
        model = facebench.convert(
            weights / "mobilefacenet.pt",
            network="mobilefacenet",
            out=f"{folder}/m.safetensors",
            **pixels,
        )
        nn.export_onnx(model.weights, f"{folder}/m.onnx")
        folds = read_pairs(shorter_lists(folder, settings.scale) / "pairs.txt")
        images = len({name for fold in folds for pair in fold for name in pair[:2]})
        operations = 2 * 2 * model.weights.graph.count_macs()  # image and mirror image
        comparison = Comparison(
            "LFW from photographs to numbers",
            "images",
            images,
            close,
            goal=GOAL,
            limit=("fma", operations),
        )
        mine = Contestant("facebench", functools.partial(ours_setup, folder), ours)
        peer = Contestant(
            "facenet-pytorch, ONNX Runtime", functools.partial(chain_setup, folder), chain
        )
        return harness.compare(comparison, mine, [peer], settings)


if __name__ == "__main__":
    harness.main({"lfw": race})
