"""Embeddings with labels, and scores with labels and people, without lists and image files."""

import facebench
import numpy as np
import pytest
from facebench import protocols

# A warning that is not foreseen is a false alarm.
pytestmark = pytest.mark.filterwarnings("error::UserWarning")
ROWS = 30


def rows_of(people, seed=0):
    """Two numbers more alike within a person: (N, 8)."""
    rng = np.random.default_rng(seed)
    centres = {p: rng.normal(size=8) for p in dict.fromkeys(people)}
    return np.array([centres[p] + rng.normal(size=8) for p in people], np.float32)


def folders(tmp_path, people):
    """The same as image files, which are never decoded: their bytes differ."""
    names = []
    for row, person in enumerate(people):
        path = tmp_path / "images" / person / f"{row:04d}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(f"picture {row}".encode())
        names.append(f"{person}/{row:04d}.jpg")
    return tmp_path / "images", names


def numbers(result):
    return {
        (track, name): (m.value, m.low, m.high)
        for track, t in result.tracks.items()
        for name, m in t.metrics.items()
        if not m.is_matrix
    }


@pytest.fixture
def people():
    return [f"p{k % 10}" for k in range(ROWS)]


HOW = {"replicates": 50}


def test_labels_give_the_numbers_of_folders(tmp_path, people):
    rows = rows_of(people)
    root, names = folders(tmp_path, people)
    of_folders = facebench.evaluate("folders", rows, names, root=root, **HOW)
    by_labels = facebench.evaluate("folders", rows, labels=people, **HOW)
    by_names = facebench.evaluate("folders", rows, names, **HOW)
    assert numbers(by_labels) == numbers(of_folders) == numbers(by_names)
    track = by_labels.tracks["verification"]
    scores, labels = track.labelled_scores()
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    cosines = unit @ unit.T
    pairs = np.triu_indices(ROWS, 1)
    same = np.array([people[a] == people[b] for a, b in zip(*pairs, strict=True)])
    genuine = cosines[pairs][same]
    impostor = cosines[pairs][~same]
    assert labels.sum() == same.sum() and len(scores) == len(same)
    wins = (genuine[:, None] > impostor).mean() + 0.5 * (genuine[:, None] == impostor).mean()
    assert track.auc.value == pytest.approx(wins, abs=1e-7)


@pytest.mark.parametrize("as_given", [np.array, list, lambda x: np.array(x, float), tuple])
def test_labels_of_any_type(as_given, people):
    numbers_of_people = [int(p[1:]) + 7 for p in people]
    rows = rows_of(people)
    result = facebench.evaluate("folders", rows, labels=as_given(numbers_of_people), **HOW)
    assert result.tracks["verification"].genuine == 10 * 3
    assert any("30 embeddings of 10 people" in note for note in result.notes)


def test_the_run_folder_is_whole_and_verifies(tmp_path, people):
    facebench.evaluate("folders", rows_of(people), labels=people, out=tmp_path / "run", **HOW)
    verification = facebench.verify(tmp_path / "run")
    assert verification.same, verification
    assert facebench.load(tmp_path / "run").tracks["verification"].genuine == 30


def test_labels_from_files(tmp_path, people):
    rows = rows_of(people)
    np.save(tmp_path / "x.npy", rows)
    (tmp_path / "y.txt").write_text("\n".join(people) + "\n")
    np.save(tmp_path / "y.npy", np.array(people))
    given = numbers(facebench.evaluate("folders", rows, labels=people, **HOW))
    for file in ("y.txt", "y.npy"):
        result = facebench.evaluate("folders", tmp_path / "x.npy", labels=tmp_path / file, **HOW)
        assert numbers(result) == given


@pytest.mark.parametrize(
    ("labels", "why"),
    [
        (["a"] * 29, "29 of 30"),
        (["a"] * 30, "1 people have images"),
        ([f"p{k}" for k in range(30)], "nobody has two images"),
        ([None] * 30, r"labels\[0\] is None"),
        ([0.5] * 30, r"labels\[0\] is 0.5"),
        ([""] * 30, r"labels\[0\]"),
    ],
)
def test_labels_that_cannot_be_are_refused(labels, why, people):
    with pytest.raises((ValueError, facebench.Error), match=why):
        facebench.evaluate("folders", rows_of(people), labels=labels)


def test_labels_go_with_people_of_ones_own(tmp_path, people):
    with pytest.raises(ValueError, match="labels go with a protocol of people"):
        facebench.evaluate("lfw", rows_of(people), labels=people)
    with pytest.raises(ValueError, match="labels: go without root"):
        facebench.evaluate("folders", rows_of(people), labels=people, root=tmp_path)
    with pytest.raises(ValueError, match="nothing says whose the embedding 'a0'"):
        facebench.evaluate("folders", rows_of(people), [f"a{k}" for k in range(ROWS)])


def test_a_metric_that_one_track_has_is_an_item(people):
    result = facebench.evaluate("folders", rows_of(people), labels=people, **HOW)
    assert result["rank@1"].value == result.tracks["identification"]["rank@1"].value
    assert result["auc"].value == result.tracks["verification"].auc.value
    with pytest.raises(KeyError, match=r"there are: verification \(auc, .*identification \(rank@1"):
        result["nothing"]


def test_placeholders_of_several_people_are_said(people):
    rows = rows_of(people)
    facebench.evaluate("folders", rows, labels=people, **HOW)  # without a word
    rows[1] = rows[11]  # of one person
    facebench.evaluate("folders", rows, labels=people, **HOW)
    rows[[2, 5, 15]] = 1
    with pytest.warns(UserWarning, match="3 embeddings of 2 people are the same numbers"):
        result = facebench.evaluate("folders", rows, labels=people, **HOW)
    assert any("3 embeddings of 2 people" in note for note in result.notes)
    half = rows_of(people)
    half[::2] = 1
    with pytest.warns(UserWarning, match="15 embeddings of 5 people are the same numbers"):
        facebench.evaluate("folders", half, labels=people, **HOW)
    status = [int(k in (2, 5, 15)) for k in range(ROWS)]
    rows[[2, 5, 15]] = 0
    facebench.evaluate("folders", rows, labels=people, status=status, **HOW)


def scored(count=200, seed=1):
    rng = np.random.default_rng(seed)
    labels = np.arange(count) % 2
    people = (
        [f"p{k % 20}" for k in range(count)],
        [f"p{k % 20}" if y else f"p{(k + 1) % 20}" for k, y in enumerate(labels)],
    )
    return rng.normal(size=count) + labels, labels, people


def test_scores_with_labels():
    scores, labels, people = scored()
    genuine, impostor = scores[labels == 1], scores[labels == 0]
    auc = (genuine[:, None] > impostor).mean()
    alone = facebench.evaluate("pairs", scores=scores, labels=labels, **HOW)
    known = facebench.evaluate("pairs", scores=scores, labels=labels, people=people, **HOW)
    assert alone.auc.value == pytest.approx(auc) == known.auc.value
    assert known.auc.high - known.auc.low != alone.auc.high - alone.auc.low  # drawn by people
    words = np.where(labels == 1, "genuine", "impostor")
    for given in (labels.astype(bool), 2 * labels - 1, labels.astype(float), words):
        assert facebench.evaluate("pairs", scores=scores, labels=given, **HOW).auc.value == auc
    turned = facebench.evaluate("pairs", scores=-scores, labels=labels, distance=True, **HOW)
    assert turned.auc.value == pytest.approx(auc)


def test_scores_that_cannot_be_are_refused():
    scores, labels, people = scored()
    wrong = [
        ({"labels": labels[:-1]}, "199 of 200 scores"),
        ({"labels": np.ones(200)}, "200 genuine and 0 impostor"),
        ({"labels": np.arange(200)}, r"labels\[2\] is 2"),
        ({"labels": labels, "people": (people[0], people[1][:-1])}, "people: 200 and 199"),
        (
            {"labels": labels, "people": (people[0], people[0])},
            "listed as impostors, but by the data set they are one person",
        ),
        ({"people": people}, "people: go with scores= and labels="),
    ]
    for how, why in wrong:
        with pytest.raises((ValueError, facebench.Error), match=why):
            protocols.evaluate("pairs", scores=scores, **how)


@pytest.mark.parametrize(
    "kind", ["pandas", "polars", "torch", "torch that requires grad", "(2, N)"]
)
def test_scores_and_people_as_people_have_them(kind):
    rng = np.random.default_rng(0)
    y, a = rng.integers(0, 2, 200), rng.integers(0, 20, 200)
    b, s = np.where(y, a, rng.integers(20, 40, 200)), y + rng.normal(size=200)
    plain = facebench.evaluate("pairs", scores=s, labels=y, people=(a, b), **HOW)
    if kind in ("pandas", "polars"):
        frame = pytest.importorskip(kind).DataFrame({"a": a, "b": b, "s": s, "same": y == 1})
        given = {"scores": frame["s"], "labels": frame["same"], "people": (frame["a"], frame["b"])}
    elif kind == "(2, N)":
        given = {"scores": s, "labels": y, "people": np.stack([a, b])}
        cell = facebench.metrics.auc(s, y, people=np.stack([a, b]))
        assert cell.value == plain.auc.value
    else:
        torch = pytest.importorskip("torch")
        scores = torch.tensor(s, requires_grad="grad" in kind)
        given = {"scores": scores, "labels": torch.tensor(y), "people": (a.tolist(), b.tolist())}
    result = facebench.evaluate("pairs", **given, **HOW)
    assert (result.auc.value, result.auc.low) == (plain.auc.value, plain.auc.low)


@pytest.mark.parametrize("people", [np.zeros((6, 2)), [(0, 1)] * 6, "ab", [[1] * 6]])
def test_people_that_are_no_pair_are_refused_by_both_doors(people):
    scores, labels = [0.9, 0.8, 0.7, 0.3, 0.2, 0.1], [1, 1, 1, 0, 0, 0]
    for call in (
        lambda: facebench.evaluate("pairs", scores=scores, labels=labels, people=people),
        lambda: facebench.metrics.auc(scores, labels, people=people),
    ):
        with pytest.raises(ValueError, match=r"give a pair, who is on either side"):
            call()
