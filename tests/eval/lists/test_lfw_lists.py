"""Sets with lists in LFW's form: XQLFW, SLLFW, TALFW, MLFW, and RFW, whose lists have no header."""

import facebench
import numpy as np
import pytest
from facebench import protocols
from sklearn.metrics import roc_auc_score


def lines(folds, size, people="Ann_{}"):
    """Pairs of `folds` folds: genuine NAME 1 2, impostor NAME 1 OTHER 1."""
    for fold in range(folds):
        names = [people.format(size * fold + k) for k in range(size)]
        yield from (f"{name}\t1\t2" for name in names)
        yield from (f"{a}\t1\t{b}\t1" for a, b in zip(names, np.roll(names, 1), strict=True))


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("xqlfw", "xqlfw_pairs.txt"),
        ("sllfw", "pairs.txt"),
        ("talfw", "pairs.txt"),
        ("mlfw", "pairs.txt"),
    ],
)
def test_a_small_release_is_read_and_differs_from_the_official_one(tmp_path, name, file):
    (tmp_path / file).write_text("\n".join(["10\t3", *lines(10, 3)]) + "\n")
    trials = protocols.read_trials(name, tmp_path)
    assert trials.names[:2] == ["Ann_0/Ann_0_0001.jpg", "Ann_0/Ann_0_0002.jpg"]
    scores = np.random.default_rng(0).normal(size=60)
    result = protocols.evaluate(name, scores=scores, root=tmp_path, interval="none")
    genuine = np.tile(np.repeat([1, 0], 3), 10)
    assert result.auc.value == pytest.approx(roc_auc_score(genuine, scores))
    assert "has 60 comparisons, the official one 6000" in "\n".join(result.notes)


GROUPS = ("African", "Asian", "Caucasian", "Indian")


def write_rfw(root):
    for i, group in enumerate(GROUPS):
        folder = root / "test/txts" / group
        folder.mkdir(parents=True)
        text = "\n".join(lines(10, 300, f"m.0{i}" + "{}"))
        (folder / f"{group}_pairs.txt").write_text(text + "\n")


def test_rfw_has_four_lists_without_a_first_line(tmp_path):
    write_rfw(tmp_path)
    trials = protocols.read_trials("rfw", tmp_path)
    assert [t.name for t in trials.tracks] == list(GROUPS)
    assert trials.names[:2] == ["African/m.000/m.000_0001.jpg", "African/m.000/m.000_0002.jpg"]
    result = protocols.evaluate(
        "rfw", scores=np.random.default_rng(1).normal(size=24000), root=tmp_path, interval="none"
    )
    assert not [n for n in result.notes if "official" in n]
    each = [result[g].metrics["accuracy"].value for g in GROUPS]
    assert result["mean"].metrics["accuracy"].value == pytest.approx(np.mean(each))


def test_a_list_of_rfw_with_a_first_line_is_not_one(tmp_path):
    write_rfw(tmp_path)
    path = tmp_path / "test/txts/Asian/Asian_pairs.txt"
    path.write_text("10\t300\n" + path.read_text())
    with pytest.raises(facebench.Error, match="has 6001 lines; 10 x"):
        protocols.read_trials("rfw", tmp_path)
