"""Scores in the forms of other tools, and what the tools print of them.

test_score_files.py compares with the numbers in tests/data/score_tools.json, which this program
writes in an environment of its own:

    pip install pyeer==0.5.6 bob.measure==6.1.1 scikit-learn==1.9.1 lir==1.3.1 h5py pandas
    pip install "dask[dataframe]" "numpy<2" "pyarrow<18"
    pip install --no-deps bob.bio.base==8.1.1
    git clone --branch v3.0.0 https://github.com/bioidiap/bob.measure
    python tests/support/score_tools.py bob.measure/bob/measure/openbr.py

The clone is of the last version that writes BEE matrices, which OpenBR reads.
"""

import hashlib
import importlib.util
import json
import sys
import tempfile
import types
from pathlib import Path

import numpy as np

PEOPLE, PROBES = 40, 67
FARS = (0.1, 0.01, 0.001)
PRINTED = Path(__file__).parents[1] / "data" / "score_tools.json"


def comparisons():
    """Probes against models: (model, person of the probe, number of the probe, score); scores are
    rounded, so that some are equal."""
    random = np.random.default_rng(11)
    rows = []
    for probe in range(PROBES):
        person = probe % PEOPLE
        for model in range(PEOPLE):
            score = random.normal(2.5 if model == person else 0, 1)
            rows.append((model, person, probe, round(float(score), 2)))
    return rows


def classes(rows):
    """Genuine and impostor scores."""
    genuine = np.array([s for m, p, _, s in rows if m == p])
    return genuine, np.array([s for m, p, _, s in rows if m != p])


def write(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def write_genuine_impostor(folder, rows):
    genuine, impostor = classes(rows)
    of_pairs = [f"a b {s}" for s in impostor]
    return [write(folder / "genuine.txt", genuine), write(folder / "impostor.txt", of_pairs)]


def write_columns(folder, rows):
    genuine, impostor = classes(rows)
    cells = [
        f"{s}," + (str(genuine[k]) if k < len(genuine) else "") for k, s in enumerate(impostor)
    ]
    return [write(folder / "both.csv", ["impostor,genuine", *cells])]


def write_labelled(folder, rows):
    return [write(folder / "l.txt", [f"{1 if m == p else -1} {s}" for m, p, _, s in rows])]


def write_bob4(folder, rows):
    return [write(folder / "scores-dev", [f"p{m} p{p} img{n} {s}" for m, p, n, s in rows])]


def write_bob5(folder, rows):
    return [write(folder / "five.txt", [f"p{m} m{m}-a p{p} img{n} {s}" for m, p, n, s in rows])]


def write_hdf5(folder, rows):
    import h5py

    with h5py.File(folder / "scores.h5", "w") as file:
        file["mated"], file["non_mated"] = classes(rows)
    return [folder / "scores.h5"]


# --- what the tools print, in their own environment -----------------------------------------


def module_of(path, name):
    """A module out of its package, without what the package imports."""
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def bob_loader():
    [folder] = importlib.util.find_spec("bob").submodule_search_locations[:1]
    found = [Path(p) / "bob/bio/base/score/load.py" for p in (*sys.path, Path(folder).parent)]
    return module_of(next(p for p in found if p.is_file()), "score_load")


def by_pyeer(files):
    from pyeer import eer_info

    read = vars(eer_info)["__get_score"]
    stats = eer_info.get_eer_stats(*([read(line) for line in path.open()] for path in files))
    fnmr = dict(zip(map(str, FARS), (stats.fmr10, stats.fmr100, stats.fmr1000), strict=True))
    printed = {"auc": stats.auc, "eer": stats.eer, "eer_low": stats.eer_low}
    return printed | {"eer_high": stats.eer_high, "fnmr_at_fmr": fnmr}


def by_bob(negatives, positives):
    import bob.measure

    def fnmr(far):
        threshold = bob.measure.far_threshold(negatives, positives, far)
        return bob.measure.farfrr(negatives, positives, threshold)[1]

    eer, far, frr = bob.measure.eer(negatives, positives, also_farfrr=True)
    printed = {"auc": bob.measure.roc_auc_score(negatives, positives), "eer": eer}
    printed |= {"eer_low": min(far, frr), "eer_high": max(far, frr)}
    printed["cllr"] = bob.measure.calibration.cllr(negatives, positives)
    return printed | {"fnmr_at_fmr": {str(f): fnmr(f) for f in FARS}}


def by_sklearn(genuine, impostor):
    """And min Cllr by lir, whose PAV is scikit-learn's."""
    from lir.data.models import LLRData
    from lir.metrics import cllr_min
    from sklearn.metrics import roc_auc_score, roc_curve

    labels = np.r_[np.ones(len(genuine), int), np.zeros(len(impostor), int)]
    scores = np.r_[genuine, impostor]
    fpr, tpr, _ = roc_curve(labels, scores, drop_intermediate=False)
    ratios = LLRData(features=scores[:, None], labels=labels)
    printed = {"auc": roc_auc_score(labels, scores), "min_cllr": cllr_min(ratios)}
    return printed | {"fnmr_at_fmr": {str(f): 1 - tpr[fpr <= f].max() for f in FARS}}


def print_all(openbr_file):
    import bob.measure
    import h5py
    import pandas

    loader = bob_loader()
    # openbr.py takes its readers from the package that it lies in.
    package = types.ModuleType("measure")
    package.__path__ = []
    sys.modules |= {"measure": package, "measure.load": loader}
    openbr = module_of(openbr_file, "measure.openbr")
    rows = comparisons()
    printed = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        printed["genuine_impostor"] = by_pyeer(write_genuine_impostor(folder, rows))
        [file] = write_columns(folder, rows)
        table = pandas.read_csv(file)
        printed["columns"] = by_sklearn(table.genuine.dropna(), table.impostor)
        [file] = write_labelled(folder, rows)
        printed["labelled"] = by_bob(*bob.measure.load.split(str(file)))
        [file] = write_bob5(folder, rows)
        printed["bob5"] = by_bob(*loader.split_five_column(str(file)))
        [file] = write_bob4(folder, rows)
        printed["bob4"] = by_bob(*loader.split_four_column(str(file)))
        with h5py.File(write_hdf5(folder, rows)[0]) as scores:
            printed["hdf5"] = by_sklearn(scores["mated"][:], scores["non_mated"][:])
        matrix = [folder / "s.mtx", folder / "s.mask"]
        openbr.write_matrix(str(file), *map(str, matrix))
        openbr.write_score_file(*map(str, matrix), str(folder / "again"))
        printed["bee"] = by_bob(*loader.split_four_column(str(folder / "again")))
        printed["bee"]["sha256"] = [hashlib.sha256(p.read_bytes()).hexdigest() for p in matrix]
    return printed


if __name__ == "__main__":
    PRINTED.write_text(json.dumps(print_all(sys.argv[1]), indent=1, default=float) + "\n")
