"""Lists of pairs as their authors' tools write them."""

import numpy as np
import pytest
from facebench import Error, protocols


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


def folds_in_a_column(folder, change):
    """A list of five folds as BFW has it; `change` takes its rows and gives them."""
    rows = [
        f"{k % 5 + 1},a/n{k}/1.jpg,a/n{k if label else (k + 1) % 40}/2.jpg,{label}"
        for k in range(40)
        for label in (1, 0)
    ]
    text = "\n".join(["fold,p1,p2,label", *change(rows)]) + "\n"
    (folder / "bfw-datatable.csv").write_text(text)
    return protocols.read_trials("bfw", folder)


@pytest.mark.parametrize("word", ["", "nan", "NaN", "None", "<NA>"])
def test_a_pair_without_a_fold_is_refused(tmp_path, word):
    """It would be a fold of one pair, which counts in the accuracy as much as each other fold."""
    with pytest.raises(Error, match=r"bfw-datatable\.csv:4: the fold is '.*', but each pair needs"):
        folds_in_a_column(tmp_path, lambda rows: [*rows[:2], word + rows[2][1:], *rows[3:]])


def test_folds_are_numbers_however_they_are_written(tmp_path):
    plain = folds_in_a_column(tmp_path, lambda rows: rows)
    mixed = folds_in_a_column(
        tmp_path, lambda rows: [*(r.replace(",", ".0,", 1) for r in rows[:9]), *rows[9:]]
    )
    assert list(mixed.tracks[0].trials.fold) == list(plain.tracks[0].trials.fold)


def test_a_fold_that_is_far_too_small_is_said(tmp_path):
    folds_in_a_column(tmp_path, lambda rows: ["66" + rows[0][1:], *rows[1:]])
    told = protocols.check_data("bfw", tmp_path).notes
    assert any("1 pairs in fold '66' of 80 pairs in 6 folds" in note for note in told)
    folds_in_a_column(tmp_path, lambda rows: rows)
    assert not any("in fold" in n for n in protocols.check_data("bfw", tmp_path).notes)


def test_advice_on_names_leaves_out_what_would_be_ambiguous(tmp_path):
    """Names of files as VGGFace2 has them repeat in the folders of people."""
    folds_in_a_column(tmp_path, lambda rows: rows)
    names = protocols.read_trials("bfw", tmp_path).names
    values = np.eye(len(names), 8, dtype=np.float32) + 1
    with pytest.raises(Error, match=r"By match=suffix 80 of them are found"):
        protocols.evaluate("bfw", values, [f"/data/{n}" for n in names], root=tmp_path)


# Subjects of a folder each: a photograph, one that validates it, one in disguise, an impersonator.
DISGUISED = [
    f"Testing_data/{p}/{p}{s}.jpg" for p in ("Al", "Bo", "Cy") for s in ("", "_a", "_h", "_I")
]


def disguised_mask():
    mask = np.full((12, 12), 4)
    for p in range(3):
        block = np.full((4, 4), 2)
        block[0, 1] = block[1, 0] = 1
        block[3, :] = block[:, 3] = 3
        mask[4 * p : 4 * p + 4, 4 * p : 4 * p + 4] = block
    np.fill_diagonal(mask, 0)
    return mask


def read_disguised(folder, mask, names=DISGUISED):
    (folder / "Testing_data_face_name.txt").write_text("\n".join(names) + "\n")
    np.savetxt(folder / "updated_testing_mask.txt", mask, fmt="%d")
    return " ".join(protocols.check_data("dfw", folder).notes)


def test_mask_values_that_no_track_knows_are_said(tmp_path):
    assert "mask.txt" not in read_disguised(tmp_path, disguised_mask())
    mask = disguised_mask()
    mask[0, 5] = mask[5, 0] = mask[1, 9] = mask[9, 1] = 7
    told = read_disguised(tmp_path, mask)
    assert "has 2 entries above the diagonal of the value 7, which no track compares" in told


def test_a_mask_whose_rows_are_not_those_of_the_names_is_said(tmp_path):
    told = read_disguised(tmp_path, disguised_mask(), DISGUISED[-1:] + DISGUISED[:-1])
    assert "calls 6 of 9 pairs genuine that lie in two folders, first" in told
    assert "may be in another order than the names" in told
