"""Synthetic data sets in the official formats: the readers find in them what the renderer knows."""

import csv
import shutil

import numpy as np
import pytest
from facebench import datasets, protocols

PEOPLE = 4


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("synthetic")
    images = {"vggface2": 1, "ijba_quality": 6, "dfw": 6, "umdfaces": 12}
    for protocol, count in images.items():
        datasets.write_synthetic_dataset(
            datasets.SyntheticOptions(
                people=PEOPLE, images=count, size=32, supersampling=1, protocol=protocol
            ),
            folder / protocol,
        )
    return folder


def truth(folder):
    with open(folder / "truth.csv", newline="") as file:
        return {row["id"]: row for row in csv.DictReader(file)}


@pytest.mark.parametrize(
    ("protocol", "kinds"),
    [
        ("vggface2_pose", {"frontal": "frontal", "three_quarter": "yaw45", "profile": "yaw60"}),
        ("vggface2_age", {"young": "young", "mature": "mature"}),
    ],
)
def test_templates_hold_what_their_group_says(made, protocol, kinds):
    known = truth(made / "vggface2")
    trials = protocols.read_trials(protocol, made / "vggface2")
    templates = trials.templates
    assert len(templates) == PEOPLE * 2 * len(kinds)
    column = "kind" if protocol == "vggface2_pose" else "age_group"
    for t, name in enumerate(templates.names):
        subject, group, _ = name.split("/")
        samples = [trials.names[s] for s in templates.sample[slice(*templates.begin[t : t + 2])]]
        assert len(samples) == 5
        for sample in samples:
            assert known[sample][column] == kinds[group]
            assert known[sample]["person"] == subject
    matrix = trials.tracks[0].trials
    assert matrix.groups == list(kinds)
    assert matrix.first.shape == (PEOPLE, len(kinds))


def test_quality_lists_are_cut_at_the_known_quality(made):
    loadmat = pytest.importorskip("scipy.io").loadmat
    known = truth(made / "ijba_quality")
    listed = {}
    for group in ("high", "middle", "low"):
        rows = loadmat(made / f"ijba_quality/protocol/namelist_{group}.mat")["namelist"]
        for subject, file in rows:
            listed["img/" + file[0]] = (group, subject[0])
    assert listed.keys() == known.keys()
    for name, (group, subject) in listed.items():
        assert known[name]["quality_group"] == group
        assert known[name]["person"] == f"Person_{int(subject):05d}"
    assert len({group for group, _ in listed.values()}) == 3
    with open(made / "ijba_quality/protocol/quality.csv", newline="") as file:
        for row in csv.DictReader(file):
            assert row["quality"] == known[row["sample"]]["quality"]


def test_masks_follow_from_people_and_disguises(made):
    known = truth(made / "dfw")
    trials = protocols.read_trials("dfw", made / "dfw")
    tracks = {t.name: t.trials for t in trials.tracks}
    counts = {
        name: tuple(int((np.asarray(t.mask) == value).sum()) for value in (1, 2))
        for name, t in tracks.items()
    }
    # A subject: 2 plain, 3 disguised, 1 impersonator. Genuine: the plain pair, and 3 x 2 + 3 with
    # a disguise; impostor: the impersonator with 2 plain; others: 5 x 5 for each pair of subjects.
    pairs = PEOPLE * (PEOPLE - 1) // 2
    assert counts["impersonation"] == (PEOPLE, 2 * PEOPLE)
    assert counts["obfuscation"] == (9 * PEOPLE, 25 * pairs)
    assert counts["overall"] == (10 * PEOPLE, 2 * PEOPLE + 25 * pairs)
    people = [known[name]["person"] for name in trials.names]
    same = np.equal.outer(people, people)
    assert (same == np.equal.outer(trials.identity, trials.identity)).all()
    disguised = [n for n in trials.names if "_h_" in n]
    assert all(known[n]["disguise"] != "none" for n in disguised)


def test_drawn_pairs_are_of_the_known_yaw(made):
    known = truth(made / "umdfaces")
    trials = protocols.read_trials("umdfaces", made / "umdfaces")
    bounds = {"easy": (0, 5), "moderate": (5, 20), "difficult": (20, 180)}
    for track in trials.tracks:
        low, high = bounds[track.name]
        for (a, b), genuine in zip(track.trials.comparisons, track.trials.genuine, strict=True):
            first, second = known[trials.names[a]], known[trials.names[b]]
            assert low <= abs(float(first["yaw"]) - float(second["yaw"])) < high
            assert (first["person"] == second["person"]) == bool(genuine)
    assert "track easy has" in trials.lists[0]["notes"][0]


def test_a_face_of_two_people_is_said(made, tmp_path):
    shutil.copytree(made / "umdfaces", tmp_path / "umdfaces")
    path = tmp_path / "umdfaces/protocol/umdfaces_batch3_ultraface.csv"
    head, *rows = path.read_text().splitlines()
    columns = head.split(",")
    row = rows[2].split(",")
    name, person = row[columns.index("FILE")], row[columns.index("SUBJECT_ID")]
    row[columns.index("SUBJECT_ID")] = "424242"
    path.write_text("\n".join([head, *rows, ",".join(row)]) + "\n")
    (found,) = protocols.read_trials("umdfaces", tmp_path / "umdfaces").blemishes
    assert found["kind"] == "repeated_name"
    assert found["first"][0]["what"] == f"{name} is of 424242 here, of {person} before"


@pytest.mark.parametrize("protocol", ["vggface2", "ijba_quality", "dfw", "umdfaces"])
def test_too_few_are_refused(tmp_path, protocol):
    options = datasets.SyntheticOptions(people=1, images=20, protocol=protocol)
    with pytest.raises(ValueError, match=f"protocol {protocol} needs 2 people"):
        datasets.write_synthetic_dataset(options, tmp_path / "out")


def test_given_boxes_of_the_sets_that_bring_them(made):
    """DFW's and UMDFaces' faces are where the renderer put them."""
    with open(made / "umdfaces/protocol/umdfaces_batch3_ultraface.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    known = truth(made / "umdfaces")
    assert [r["FILE"] for r in rows] == list(known)
    for row in rows:
        assert float(row["FACE_X"]) == pytest.approx(float(known[row["FILE"]]["box_x0"]), abs=1e-3)
        right = float(row["FACE_X"]) + float(row["FACE_WIDTH"])
        assert right == pytest.approx(float(known[row["FILE"]]["box_x1"]), abs=2e-3)
    faces = (made / "dfw/protocol/faces.csv").read_text().splitlines()
    assert len(faces) == 1 + len(truth(made / "dfw"))
