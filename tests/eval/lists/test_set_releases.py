"""Miniatures of sets as their authors pass them on, each made by another program: MAT files by
scipy, tables by the csv module and pickle, packs by pickle and lzma. What the layouts are was read
in public programs that read the releases."""

import csv
import lzma
import pickle

import facebench
import numpy as np
import pytest
import scipy.io
from archive_files import jpeg
from facebench import Error, protocols

# --- TinyFace ---
# mk-minchul/AdaFace: validation_lq/tinyface_helper.py (Testing_Set/, gallery_set, probe_set)
# QMUL's evaluation script as others pass it on: gallery_ids, probe_ids, -100 for distractors


def cells(names):
    array = np.empty((len(names), 1), dtype=object)
    array[:, 0] = names
    return array


def write_tinyface(root, gallery, probes, distractors=5, **changes):
    """`gallery` and `probes` are people, one an image."""
    folder = root / "tinyface" / "Testing_Set"
    lists = {}
    for what, where, people in (
        ("gallery", "Gallery_Match", gallery),
        ("probe", "Probe", probes),
    ):
        names = [f"{p}_{k}.jpg" for k, p in enumerate(people, 1)]
        variables = {
            f"{what}_set": cells(names),
            f"{what}_ids": np.array(people, np.uint16)[:, None],
            **changes.get(what, {}),
        }
        (folder / where).mkdir(parents=True, exist_ok=True)
        for name in names:
            (folder / where / name).write_bytes(b"not opened")
        stem = "gallery_match" if what == "gallery" else "probe"
        scipy.io.savemat(folder / f"{stem}_img_ID_pairs.mat", variables, do_compression=True)
        lists[what] = [f"{where}/{n}" for n in names]
    (folder / "Gallery_Distractor").mkdir(exist_ok=True)
    for k in range(1, distractors + 1):
        (folder / "Gallery_Distractor" / f"{k}.jpg").write_bytes(b"not opened")
        lists["gallery"].append(f"Gallery_Distractor/{k}.jpg")
    return folder, lists


def test_tinyface(tmp_path):
    gallery, probes = [3, 3, 7, 9, 12], [3, 7, 7, 9, 12, 12, 3]
    folder, lists = write_tinyface(tmp_path, gallery, probes, 40)
    for root in (tmp_path, tmp_path / "tinyface", folder):
        check = protocols.check_data("tinyface", root)
        assert check.missing == 0, root
    random = np.random.default_rng(3)
    centres = {p: random.normal(size=6) for p in set(gallery)}
    names = lists["gallery"] + lists["probe"]
    people = [*gallery, *[-100] * 40, *probes]
    values = [random.normal(size=6) + centres.get(p, 0) for p in people]
    values = np.float32(values / np.linalg.norm(values, axis=1, keepdims=True))
    result = protocols.evaluate("tinyface", values, names, root=tmp_path, replicates=20)
    track = result["search"]
    # The script's rank: images by their score, the first of the probe's person.
    scores = values[len(lists["gallery"]) :] @ values[: len(lists["gallery"])].T
    ranks = []
    for probe, row in zip(probes, scores, strict=True):
        order = np.array(people[: len(lists["gallery"])])[np.argsort(-row)]
        wrong = order[: int(np.argmax(order == probe))]
        # Several images of one wrong person count once; distractors are all different people.
        ranks.append(len(set(wrong[wrong >= 0])) + int(np.sum(wrong < 0)) + 1)
    assert any(1 < r <= 20 for r in ranks)
    for rank in (1, 5, 10, 20):
        assert track[f"rank@{rank}"].value == pytest.approx(np.mean(np.array(ranks) <= rank))


def test_bad_tinyface(tmp_path):
    bad = {
        "ids": ({"probe_ids": np.array([3, 7, 1], np.uint16)}, "2 names in probe_set and 3 people"),
        "fraction": ({"probe_ids": np.array([3.5, 7.0])}, "person is 3.5"),
        "twice": ({"probe_set": cells(["3_1.jpg", "3_1.jpg"])}, "3_1.jpg is there twice"),
        "folder": ({"probe_set": cells(["a/3_1.jpg", "3_2.jpg"])}, "not a name of a file"),
        "outside": ({"probe_set": cells(["../3_1.jpg", "3_2.jpg"])}, "not a plain path"),
        "variable": ({}, "no variable 'probe_set'"),
        "numbers": ({"probe_set": np.ones((2, 1))}, "probe_set"),
        "order": ({"probe_ids": np.array([7, 3])}, "7_2.jpg is of person 7 by its name, of 3 by"),
    }
    for name, (change, wanted) in bad.items():
        write_tinyface(tmp_path / name, [3, 7], [3, 7], probe=change)
        path = tmp_path / name / "tinyface/Testing_Set/probe_img_ID_pairs.mat"
        if name == "variable":
            scipy.io.savemat(path, {"probe_ids": np.array([3, 7])})
        with pytest.raises(Error, match=wanted):
            protocols.read_trials("tinyface", tmp_path / name)
    folder, _ = write_tinyface(tmp_path / "none", [3, 7], [3, 7], 0)
    with pytest.raises(Error, match="Gallery_Distractor: there is no image"):
        protocols.read_trials("tinyface", tmp_path / "none")
    (folder / "Gallery_Distractor").rmdir()
    with pytest.raises(Error, match="missing: Gallery_Distractor"):
        protocols.read_trials("tinyface", tmp_path / "none")


def test_a_name_of_another_person_is_counted(tmp_path):
    people = [*range(1, 30), 7]
    ids = np.array(people, np.uint16)
    ids[4] = 12
    write_tinyface(tmp_path, [3, 7], people, probe={"probe_ids": ids})
    (found,) = protocols.read_trials("tinyface", tmp_path).blemishes
    assert (found["kind"], found["count"]) == ("label_conflict", 1)
    what = found["first"][0]["what"]
    assert what.endswith("5_5.jpg is of person 5 by its name, of 12 by probe_ids")


# --- QMUL-SurvFace ---
# Public programs that load positive_pairs_names.mat, gallery_img_ID_pairs.mat (gallery_set,
# gallery_ids) and mated_probe_img_ID_pairs.mat, and list the folder unmated_probe


def write_survface(root, gallery, probes, others, lists="Face_Identification_Test_Set"):
    folder = root / "QMUL-SurvFace" / "Face_Identification_Test_Set"
    where = folder.parent / lists
    where.mkdir(parents=True, exist_ok=True)
    names = {}
    for what, people in (("gallery", gallery), ("mated_probe", probes), ("unmated_probe", others)):
        names[what] = [f"{p}_cam1_{k}.jpg" for k, p in enumerate(people, 1)]
        (folder / what).mkdir(parents=True)
        for name in names[what]:
            (folder / what / name).write_bytes(b"not opened")
        if what != "unmated_probe":
            ids = np.array(people, np.uint16)[:, None]
            variables = {f"{what}_set": cells(names[what]), f"{what}_ids": ids}
            scipy.io.savemat(where / f"{what}_img_ID_pairs.mat", variables)
    return [f"{what}/{name}" for what in names for name in names[what]]


@pytest.mark.parametrize(
    "lists", ["Face_Identification_Test_Set", "Face_Identification_Evaluation"]
)
def test_survface_search(tmp_path, lists):
    random = np.random.default_rng(8)
    gallery = [p for p in range(30) for _ in range(2)]
    probes, others = list(random.integers(30, size=80)), list(range(100, 160))
    names = write_survface(tmp_path, gallery, probes, others, lists)
    centres = random.normal(size=(200, 5))
    people = np.array([*gallery, *probes, *others])
    values = centres[people] + random.normal(size=(len(people), 5))
    values = np.float32(values / np.linalg.norm(values, axis=1, keepdims=True))
    result = protocols.evaluate("survface_1_n", values, names, root=tmp_path, replicates=20)
    # TPIR20 as the data set's page defines it, people in place of images.
    scores = np.float64(values[60:]) @ np.float64(values[:60]).T
    by_person = scores.reshape(len(scores), 30, 2).max(axis=2)
    mated, non_mated = by_person[:80], np.sort(by_person[80:].max(axis=1))[::-1]
    mate = mated[np.arange(80), probes]
    rank = 1 + (mated > mate[:, None]).sum(axis=1)
    assert (rank > 20).any()
    for fpir in (0.3, 0.2, 0.1, 0.01):
        allowed = int(fpir * len(non_mated) + 1e-9)
        above = mate > non_mated[allowed]  # the lowest threshold lies just above that score
        wanted = np.mean(above & (rank <= 20))
        assert result["search"][f"tpir20@fpir={fpir:g}"].value == pytest.approx(wanted)
    for k in (1, 20):
        assert result["search"][f"rank@{k}"].value == pytest.approx(np.mean(rank <= k))


def test_survface_pairs(tmp_path):
    folder = tmp_path / "Face_Verification_Test_Set"
    (folder / "verification_images").mkdir(parents=True)
    same = [(f"{p}_a.jpg", f"{p}_b.jpg") for p in range(40)]
    different = [(f"{p}_a.jpg", f"{(p + 7) % 40}_b.jpg") for p in range(40)]
    for what, pairs in (("positive", same), ("negative", different)):
        rows = np.empty((len(pairs), 2), dtype=object)
        rows[:] = pairs
        scipy.io.savemat(folder / f"{what}_pairs_names.mat", {f"{what}_pairs_names": rows})
    track = protocols.read_trials("survface_1_1", tmp_path).tracks[0].trials
    assert [int(g) for g in track.genuine] == [1] * 40 + [0] * 40
    scores = np.r_[np.linspace(0.2, 1, 40), np.linspace(-1, 0.4, 40)]
    result = facebench.evaluate("survface_1_1", scores=scores, root=tmp_path, replicates=20)
    for far in (0.3, 0.1):
        limit = np.sort(scores[40:])[::-1][int(far * 40 + 1e-9)]
        wanted = np.mean(scores[:40] > limit)
        assert result["pairs"][f"tar@far={far:g}"].value == pytest.approx(wanted)
    rows = np.empty((2, 3), dtype=object)
    rows[:] = "a.jpg"
    scipy.io.savemat(folder / "negative_pairs_names.mat", {"negative_pairs_names": rows})
    with pytest.raises(Error, match="2 rows of 3 columns"):
        protocols.read_trials("survface_1_1", tmp_path)


# --- BLUFR ---
# The authors' toolkit: blufr_lfw_config_readme.txt (variables), EvalROC.m, OpenSetROC.m (rules)


def write_blufr(path, **changes):
    """Two divisions of 40 people with 3 images and 20 with one; everything is random."""
    random = np.random.default_rng(5)
    images = [f"P{p}_{k:04}.jpg" for p in range(60) for k in range(1, 4 if p < 40 else 2)]
    people = np.array([int(name[1:].split("_")[0]) for name in images])
    lists = {name: np.empty((2, 1), object) for name in ("testIndex", "galIndex", "probIndex")}
    for t in range(2):
        test = np.flatnonzero(np.isin(people, random.permutation(60)[:50]))
        enrolled = [q for q in np.unique(people[test]) if q < 40][:20]
        gallery = np.array([test[people[test] == q][0] for q in enrolled])
        for name, rows in (
            ("testIndex", test),
            ("galIndex", gallery),
            ("probIndex", np.setdiff1d(test, gallery)),
        ):
            lists[name][t, 0] = rows[:, None] + 1.0
    variables = {"imageList": cells(images), "labels": people[:, None] + 1.0, **lists, **changes}
    path.parent.mkdir(parents=True, exist_ok=True)
    scipy.io.savemat(path, variables, do_compression=True)
    return images, people, lists


def test_blufr(tmp_path):
    images, people, lists = write_blufr(tmp_path / "config/lfw/blufr_lfw_config.mat")
    random = np.random.default_rng(6)
    values = random.normal(size=(60, 8))[people] + random.normal(size=(len(people), 8))
    values = np.float32(values / np.linalg.norm(values, axis=1, keepdims=True))
    names = [f"{name.split('_')[0]}/{name}" for name in images]
    scores = np.float64(values) @ np.float64(values).T
    means = {}
    for protocol in ("lfw_blufr_1_1", "lfw_blufr_1_n"):
        result = protocols.evaluate(protocol, values, names, root=tmp_path, replicates=20)
        for t in range(2):
            track = result[f"trial{t + 1}"]
            test, gallery, probes = (np.int64(lists[n][t, 0].ravel()) - 1 for n in lists)
            if protocol == "lfw_blufr_1_1":
                part, below = scores[np.ix_(test, test)], np.tri(len(test), k=-1, dtype=bool)
                same = people[test][:, None] == people[test]
                genuine, impostor = part[same & below], np.sort(part[~same & below])[::-1]
                wanted = np.mean(genuine >= impostor[int(0.01 * len(impostor)) - 1])
                assert track["tar@far=0.01"].value == pytest.approx(wanted)
                means.setdefault("tar@far=0.01", []).append(wanted)
                continue
            part = scores[np.ix_(gallery, probes)]
            same = people[gallery][:, None] == people[probes]
            mated = same.any(0)
            highest = np.sort(part[:, ~mated].max(0))[::-1]
            limit = highest[int(0.1 * len(highest)) - 1]
            mate = np.where(same, part, -np.inf).max(0)[mated]
            wanted = np.mean((mate >= limit) & (mate == part[:, mated].max(0)))
            assert track["dir@fpir=0.1"].value == pytest.approx(wanted)
            means.setdefault("dir@fpir=0.1", []).append(wanted)
        cell = "tar@far=0.01" if protocol == "lfw_blufr_1_1" else "dir@fpir=0.1"
        mean = result["mean"][cell]
        assert mean.value == pytest.approx(np.mean(means[cell]))
        less = np.mean(means[cell]) - np.std(means[cell], ddof=1)
        assert mean.details["mean_less_sd"] == pytest.approx(less)


def test_bad_blufr(tmp_path):
    def divided(*rows):
        return cells([np.array(r, float)[:, None] for r in rows])

    bad = {
        "labels": ({"labels": np.ones((3, 1))}, "3 labels for 140 images"),
        "people": ({"labels": np.arange(140.0)[:, None]}, "P0 has the labels 0 and 1"),
        "same": ({"labels": np.ones((140, 1))}, "label 1 is both P0 and P1"),
        "outside": ({"testIndex": divided([1, 141], [2])}, "141 is not a place in the list of 140"),
        "half": ({"testIndex": divided([1.5], [2])}, "1.5 is not a place"),
        "twice": ({"testIndex": divided([2, 2], [2])}, "image 2 is there twice"),
        "not": ({"galIndex": np.ones((2, 1))}, "galIndex: is not a cell array"),
        "fewer": ({"galIndex": divided([1])}, "trial 1 has an image|no list for trial 2"),
        "test": ({"testIndex": divided([1], [2])}, "not among its test images"),
    }
    for name, (change, wanted) in bad.items():
        write_blufr(tmp_path / name / "blufr_lfw_config.mat", **change)
        with pytest.raises(Error, match=wanted):
            protocols.read_trials("lfw_blufr_1_n", tmp_path / name)


# --- BFW ---
# visionjo/facerec-bias-bfw: data/README.md (columns of the table)
# zseljee/re-faircal: data/README.md (the same table as CSV)

GROUPS = ["asian_females", "black_males"]


def bfw_rows():
    rows = []
    for g, group in enumerate(GROUPS):
        for k in range(20):
            a, b = f"{group}/n{g}{k:05}", f"{group}/n{g}{(k + 1) % 20:05}"
            for label, other in ((1, a), (0, b)):
                rows.append(
                    {
                        "": len(rows),
                        "fold": k % 5 + 1,
                        "p1": f"{a}/0001_01.jpg",
                        "p2": f"{other}/0002_01.jpg",
                        "label": label,
                        "id1": k,
                        "id2": k,
                        "att1": group,
                        "att2": group,
                        "resnet50": 0.5,
                    }
                )
    return rows


def test_bfw(tmp_path):
    rows = bfw_rows()
    with open(tmp_path / "bfw-datatable.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    trials = protocols.read_trials("bfw", tmp_path)
    track = trials.tracks[0].trials
    names = trials.names
    pairs = [(names[a], names[b]) for a, b in track.comparisons]
    assert pairs == [(r["p1"], r["p2"]) for r in rows]
    assert [bool(g) for g in track.genuine] == [r["label"] == 1 for r in rows]
    assert [f + 1 for f in track.fold] == [r["fold"] for r in rows]
    assert not trials.blemishes


def test_a_pickled_table_is_refused_by_name(tmp_path):
    (tmp_path / "bfw-datatable.pkl").write_bytes(pickle.dumps(bfw_rows()))
    wanted = r"bfw-datatable\.pkl: is a Python pickle.*to_csv\('bfw-datatable\.csv', index=False\)"
    with pytest.raises(Error, match=wanted):
        protocols.read_trials("bfw", tmp_path)
    (tmp_path / "bfw-datatable.pkl").rename(tmp_path / "bfw-datatable.csv")
    with pytest.raises(Error, match="is a Python pickle"):
        protocols.read_trials("bfw", tmp_path)


# --- Hadrian, Eclipse, ND-Twins ---
# HaiyuWu/SOTA-Face-Recognition-Train-and-Test: utils/prepare_test_images.py, utils/xz2bin.py


@pytest.mark.parametrize("name", ["hadrian", "eclipse", "nd_twins"])
def test_packs_of_the_goldilocks_sets(tmp_path, name):
    images = [jpeg(k) for k in range(40)]
    same = [k % 2 == 0 for k in range(20)]
    packed = lzma.compress(pickle.dumps((images, same), 4))
    (tmp_path / f"{name}.bin.xz").write_bytes(packed)
    trials = protocols.read_trials(f"{name}_bin", tmp_path)
    track = trials.tracks[0].trials
    assert [bool(g) for g in track.genuine] == same
    assert list(track.fold) == [k // 2 for k in range(20)]
    scores = np.where(same, 0.9, 0.1)
    result = facebench.evaluate(f"{name}_bin", scores=scores, root=tmp_path, replicates=20)
    assert result.accuracy.value == 1


# --- CelebA ---
# deepinsight/insightface: src/data/build_eval_pack.py (pairs_label.txt: PATH PATH 0|1)


def test_celeba_pairs_by_a_list(tmp_path):
    lines = [f"{2 * k:06}.jpg {2 * k + 1:06}.jpg {k % 2}" for k in range(40)]
    (tmp_path / "pairs_label.txt").write_text("\n".join(lines) + "\n")
    track = protocols.read_trials("celeba_pairs", tmp_path).tracks[0].trials
    assert [int(g) for g in track.genuine] == [k % 2 for k in range(40)]
    assert sorted(np.bincount(track.fold)) == [4] * 10


# --- a first line with numbers, as LFW's own list has ---


def cplfw_lines():
    lines = []
    for k in range(20):
        lines += [f"Ann_{k}_1.jpg 1", f"Ann_{k}_2.jpg 1"]
    for k in range(20):
        lines += [f"Ann_{k}_1.jpg 0", f"Ann_{(k + 7) % 20}_3.jpg 0"]
    return lines


@pytest.mark.parametrize("first", ["10\t300", "10 300", "6000", "20"])
def test_a_header_line_is_passed_over_and_counted(tmp_path, first):
    plain, headed = tmp_path / "plain", tmp_path / "headed"
    for folder, lines in ((plain, cplfw_lines()), (headed, [first, *cplfw_lines()])):
        folder.mkdir()
        (folder / "pairs_CPLFW.txt").write_text("\n".join(lines) + "\n")
    one, other = (protocols.read_trials("cplfw", f) for f in (plain, headed))
    assert not one.blemishes
    (blemish,) = other.blemishes
    assert blemish["kind"] == "header_line" and blemish["count"] == 1
    assert blemish["first"][0]["line"] == 1
    a, b = one.tracks[0].trials, other.tracks[0].trials
    assert np.array_equal(a.comparisons, b.comparisons) and list(a.fold) == list(b.fold)
    scores = np.random.default_rng(1).normal(size=40)
    plain_result = facebench.evaluate("cplfw", scores=scores, root=plain, replicates=20)
    headed_result = facebench.evaluate("cplfw", scores=scores, root=headed, replicates=20)
    assert plain_result.accuracy.value == headed_result.accuracy.value
    with pytest.raises(Error, match="numbers alone"):
        facebench.evaluate("cplfw", scores=scores, root=headed, strict=True)


def test_a_line_of_numbers_elsewhere_is_an_error(tmp_path):
    lines = cplfw_lines()
    (tmp_path / "pairs_CPLFW.txt").write_text("\n".join([*lines[:4], "10 300", *lines[4:]]))
    with pytest.raises(Error, match=r"pairs_CPLFW\.txt:\d+: "):
        protocols.read_trials("cplfw", tmp_path)
