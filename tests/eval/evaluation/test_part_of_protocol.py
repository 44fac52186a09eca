"""A part of a protocol: people left out by a list, copies of images, a quick look."""

import json

import facebench
import numpy as np
import pytest
from facebench import metrics, protocols

DIM = 16


def photographs(folder, people=6, images=4):
    """Folders of people with images of other bytes each, and an embedding for each."""
    random = np.random.default_rng(3)
    vectors = {}
    for p in range(people):
        centre = random.normal(size=DIM)
        for i in range(images):
            name = f"P{p}/{i}.jpg"
            (folder / name).parent.mkdir(exist_ok=True, parents=True)
            (folder / name).write_bytes(random.bytes(20))
            vectors[name] = np.float32(centre + 0.8 * random.normal(size=DIM))
    return vectors


def measured(vectors, names):
    """AUC of every image with every other, in numpy."""
    unit = np.stack([vectors[n] / np.linalg.norm(vectors[n]) for n in names]).astype(np.float64)
    a, b = np.triu_indices(len(names), 1)
    same = np.array([n.split("/")[0] for n in names])
    return metrics.auc((unit @ unit.T)[a, b], same[a] == same[b])


def evaluate(vectors, root, **more):
    return facebench.evaluate("folders", vectors, root=root, replicates=20, **more)


def test_people_are_left_out_of_every_image_with_every_other(tmp_path):
    vectors = photographs(tmp_path / "data")
    (tmp_path / "list.txt").write_text("person\tP2\nsample\tP4/1\n")
    result = evaluate(vectors, tmp_path / "data", exclude=tmp_path / "list.txt")
    left = [n for n in vectors if not n.startswith("P2/") and n != "P4/1.jpg"]
    assert result["verification"].auc.value == pytest.approx(measured(vectors, left), abs=1e-7)
    assert result["verification"].comparisons == len(left) * (len(left) - 1) // 2
    assert result["identification"].comparisons > 0
    assert result._raw.trials.names == left
    assert "left out by a list of 1 people and 1 samples" in " ".join(result.notes)


def test_copies_are_counted_and_left_out(tmp_path):
    data = tmp_path / "data"
    vectors = photographs(data)
    (data / "P0/9.jpg").write_bytes((data / "P0/1.jpg").read_bytes())  # of the same person
    (data / "P1/9.jpg").write_bytes((data / "P3/0.jpg").read_bytes())  # of another one
    trials = protocols.read_trials("folders", data)
    assert sorted(trials.names) == sorted(set(vectors) - {"P3/0.jpg"})
    (note,) = [n for n in trials.notes if "copies" in n]
    assert note.startswith("3 copies of images were left out")
    assert "P0/9.jpg is P0/1.jpg" in note


def test_a_quick_look_at_every_image_with_every_other(tmp_path):
    vectors = photographs(tmp_path / "data")
    result = evaluate(vectors, tmp_path / "data", limit=12)
    first = list(vectors)[:12]
    assert result["verification"].auc.value == pytest.approx(measured(vectors, first), abs=1e-7)
    assert result.warnings[0].startswith("A quick look (limit 12), not the protocol's numbers:")
    whole = evaluate(vectors, tmp_path / "data", limit=1000)
    assert "quick look" not in str(whole.warnings)
    assert whole["verification"].comparisons == 24 * 23 // 2


@pytest.fixture
def pairs(tmp_path):
    """LFW's lists: 2 folds of 15 + 15."""
    lines = ["2\t15"]
    for fold in range(2):
        lines += [f"P{fold}_{i}\t1\t2" for i in range(15)]
        lines += [f"P{fold}_{i}\t1\tP{fold}_{(i + 1) % 15}\t1" for i in range(15)]
    (tmp_path / "pairs.txt").write_text("\n".join(lines) + "\n")
    return tmp_path


def lfw_vectors(root):
    random = np.random.default_rng(1)
    names = protocols.read_trials("lfw", root).names
    return {n: np.float32(random.normal(size=DIM)) for n in names}


def test_a_quick_look_at_a_list_takes_all_of_it_evenly(pairs):
    vectors = lfw_vectors(pairs)
    result = facebench.evaluate("lfw", vectors, root=pairs, replicates=20, limit=12)
    track = result["view2"]
    assert (track.genuine, track.impostor) == (6, 6)
    assert sorted(track.trials.fold) == [0] * 6 + [1] * 6
    scores, labels = track.labelled_scores()
    listed = protocols.read_trials("lfw", pairs)
    everything = facebench.evaluate("lfw", vectors, root=pairs, replicates=20)["view2"]
    known = {
        (listed.names[a], listed.names[b]): s
        for (a, b), s in zip(
            listed.tracks[0].trials.comparisons, everything.labelled_scores()[0], strict=True
        )
    }
    own = result._raw.trials
    for (a, b), score in zip(track.trials.comparisons, scores, strict=True):
        assert known[own.names[a], own.names[b]] == score
    assert sum(labels) == 6
    # The images that nothing needs are not missed.
    used = {own.names[u] for pair in track.trials.comparisons for u in pair}
    assert set(own.names) == used


def test_a_quick_look_is_marked_wherever_it_goes(pairs):
    vectors = lfw_vectors(pairs)
    for name, limit in (("whole", None), ("part", 12)):
        out = pairs / name
        facebench.evaluate("lfw", vectors, root=pairs, replicates=20, limit=limit, out=out)
    text = "A quick look (limit 12)"
    assert text in (pairs / "part/report.md").read_text()
    assert text in (pairs / "part/report.html").read_text()
    assert text in str(json.loads((pairs / "part/run.json").read_text())["content"]["warnings"])
    assert "quick look" in str(facebench.explain(pairs / "whole", pairs / "part"))
    assert facebench.verify(pairs / "part").same


@pytest.mark.parametrize(
    ("more", "message"),
    [({"limit": 0}, "limit is 0"), ({"scores": [0.5] * 60, "limit": 5}, "goes with embeddings")],
)
def test_wrong_limits_are_refused(pairs, more, message):
    given = {} if "scores" in more else {"embeddings": lfw_vectors(pairs)}
    with pytest.raises(ValueError, match=message):
        facebench.evaluate("lfw", root=pairs, **given, **more)
