"""Lists of pairs as their authors' tools write them."""

import numpy as np
import pytest
from facebench import protocols


def test_agedb_splits_as_matlab_has_them(tmp_path):
    savemat = pytest.importorskip("scipy.io").savemat
    rng = np.random.default_rng(0)
    splits = np.empty((10, 1), dtype=object)
    expected = []
    for fold in range(10):
        names = np.empty((2, 6), dtype=object)
        labels = np.array([[1, 1, 1, -1, -1, -1]], dtype=np.int16)
        for k in range(6):
            person = f"P{fold}x{k}"
            other = person if labels[0, k] == 1 else f"Q{fold}x{k}"
            numbers = rng.integers(0, 9999, 2)
            pair = [f"{numbers[0]}_{person}_20_f", f"{numbers[1]}_{other}_50_f"]
            expected.append((pair[0] + ".jpg", pair[1] + ".jpg", int(labels[0, k] == 1), fold))
            names[0, k], names[1, k] = ({"name": n} for n in pair)
        splits[fold, 0] = {"imgs": names, "labels": labels}
    for compressed in (False, True):
        savemat(tmp_path / "AgeDB_30.mat", {"splits": splits}, do_compression=compressed)
        trials = protocols.read_trials("agedb30", tmp_path)
        track = trials.tracks[0].trials
        read = [
            (trials.names[a], trials.names[b], int(g), int(f))
            for (a, b), g, f in zip(track.comparisons, track.genuine, track.fold, strict=True)
        ]
        assert read == expected


def test_a_users_own_list_needs_a_toml_file_and_no_code(tmp_path):
    (tmp_path / "mine.txt").write_text("ann/1.png ann/2.png yes\nann/1.png bob/1.png no\n")
    text = protocols.load_protocol("pairs").text
    for before, after in [
        ('file = "pairs.csv"', 'file = "mine.txt"'),
        ('separator = "comma"', 'separator = "blanks"'),
        ("header = true", "header = false"),
        ('first = "first"', 'first = "0"'),
        ('second = "second"', 'second = "1"'),
        ('label = "label"', 'label = "2"'),
        ('["1"]', '["yes"]'),
        ('["0"]', '["no"]'),
        ('identity = "genuine"', 'identity = "folder"'),
    ]:
        assert before in text
        text = text.replace(before, after, 1)
    (tmp_path / "mine.toml").write_text(text)
    result = protocols.evaluate(
        str(tmp_path / "mine.toml"), scores=[0.9, 0.2], root=tmp_path, interval="none"
    )
    assert result.auc.value == 1.0
