"""IJB-C 1:1 as the field's scripts compute it, for comparison: numpy and scikit-learn.

    python tests/bench/ijb_peer.py FOLDER     # from facebench data synth --like ijbc --dim 512

The steps are those of insightface recognition/_evaluation_/ijb/ijb_evals.py, with numpy.loadtxt
replaced by pandas.read_csv where it is there, as the script has it.
"""

import sys
import time
from pathlib import Path

import h5py
import numpy as np
from sklearn.metrics import roc_curve

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
from ijb_release import image2template_feature


def columns(path, separator=" "):
    try:
        import pandas
    except ImportError:
        return np.fromstring(path.read_text().replace("\n", separator), dtype=int, sep=separator)
    return pandas.read_csv(path, sep=separator, header=None).values.reshape(-1)


def main(folder):
    start = time.perf_counter()
    meta = folder / "IJBC/meta"
    rows = [line.split() for line in (meta / "ijbc_face_tid_mid.txt").read_text().splitlines()]
    templates, medias = (np.array([int(row[k]) for row in rows]) for k in (1, 2))
    scores = [
        line.split()[-1] for line in (meta / "ijbc_name_5pts_score.txt").read_text().splitlines()
    ]
    scores = np.array(scores).astype("float32")
    pairs = columns(meta / "ijbc_template_pair_label.txt").reshape(-1, 3)
    p1, p2, label = pairs[:, 0], pairs[:, 1], pairs[:, 2]
    print("lists", time.perf_counter() - start, flush=True)
    with h5py.File(folder / "embeddings.h5") as file:
        embs = file["/embedding"][:]
    embs = embs * np.expand_dims(scores, -1)
    feats, unique = image2template_feature(embs, templates, medias)
    print("templates", time.perf_counter() - start, flush=True)
    template2id = np.zeros(max(unique) + 1, dtype=int)
    template2id[unique] = np.arange(len(unique))
    score = []
    for begin in range(0, len(p1), 10000):
        a = feats[template2id[p1[begin : begin + 10000]]]
        b = feats[template2id[p2[begin : begin + 10000]]]
        score.extend(np.sum(a * b, -1))
    score = np.array(score)
    print("scores", time.perf_counter() - start, flush=True)
    fpr, tpr, _ = roc_curve(label, score)
    fpr, tpr = np.flipud(fpr), np.flipud(tpr)
    for far in [10**-k for k in range(6, 0, -1)]:
        print(f"tar@far={far:g} {tpr[np.argmin(abs(fpr - far))]:.9f}")
    print("all", time.perf_counter() - start)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
