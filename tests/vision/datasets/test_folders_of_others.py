"""Folders as people have them: splits of a data set, and what other programs leave there."""

import numpy as np
import pytest
from facebench import Error, datasets, detection, images, protocols

LITTER = [
    "@eaDir/ann/S.png",
    "__MACOSX/ann/0.png",
    "lost+found/x.png",
    "#recycle/0.png",
    "$RECYCLE.BIN/0.png",
    ".AppleDouble/0.png",
    "ann/@EADIR/0.png/S.png",
    "ann/.ipynb_checkpoints/0.png",
    "ann/deep/er/@eaDir/0.png",
    "bob/._0.png",
    "bob/.DS_Store",
    "bob/Thumbs.db",
]


def write(root, names):
    for i, name in enumerate(names):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        if name.endswith(".png"):
            images.write(root / name, np.full((8, 8, 3), i, np.uint8))
        else:
            (root / name).write_bytes(b"x")


def people(root):
    found = datasets.read_image_folder(root)
    return [(found.label_names[s.label], s.id) for s in found.samples], found.notes


def test_litter_is_passed_over_at_any_depth_and_counted(tmp_path):
    kept = ["ann/0.png", "ann/deep/1.png", "bob/0.png"]
    write(tmp_path, [*kept, *LITTER])
    found, notes = people(tmp_path)
    assert [name for _, name in found] == kept
    assert notes == [
        "Passed over what systems and other programs leave in folders: 12 (#recycle, $RECYCLE.BIN, "
        ".AppleDouble, ...)."
    ]


def test_what_lists_photographs_names_the_litter(tmp_path):
    write(tmp_path, ["ann/0.png", "ann/notes.txt", "@eaDir/ann/S.png", "ann/._0.png"])
    files, passed_over = detection.list_image_files(tmp_path)
    assert [file.name for file in files] == ["ann/0.png"]
    names = sorted(path.relative_to(tmp_path).as_posix() for path in passed_over)
    assert names == ["@eaDir", "ann/._0.png", "ann/notes.txt"]


def test_people_with_names_like_litter_stay(tmp_path):
    kept = ["lost/0.png", "eaDir/0.png", "Thumbs/0.png", "recycle/0.png", "MACOSX/0.png"]
    write(tmp_path, kept)
    found, notes = people(tmp_path)
    assert sorted(name for _, name in found) == sorted(kept) and notes == []


def test_the_protocol_of_folders_passes_litter_over(tmp_path):
    write(
        tmp_path, ["ann/0.png", "ann/1.png", "bob/0.png", "bob/1.png", *LITTER[:4], "ann/._0.png"]
    )
    trials = protocols.read_trials("folders", tmp_path)
    assert sorted(trials.identity_names) == ["ann", "bob"] and len(trials.names) == 4
    assert any("leave in folders: 5 (" in note for note in trials.notes)


@pytest.mark.parametrize(
    "splits", [["train", "val"], ["Train", "Test"], ["train", "validation", "dev"], ["test"]]
)
def test_splits_are_refused(tmp_path, splits):
    write(tmp_path, [f"{s}/{p}/{i}.png" for s in splits for p in ("ann", "bob") for i in range(2)])
    with pytest.raises(Error, match=f"{splits[0]}.*splits of a data set.*Give one of them"):
        people(tmp_path)
    assert len(datasets.read_image_folder(tmp_path / splits[0]).label_names) == 2


def test_splits_beside_other_folders_and_without_people_are_refused(tmp_path):
    write(tmp_path / "a", ["train/ann/0.png", "val/ann/0.png", "extras/0.png"])
    write(tmp_path / "b", ["train/0.png", "val/0.png"])
    for name in "ab":
        with pytest.raises(Error, match="train, val: folders called as the splits"):
            people(tmp_path / name)


def test_people_called_val_and_test_stay(tmp_path):
    write(tmp_path, ["Val/0.png", "test/0.png", "train/0.png", *(f"p{i}/0.png" for i in range(20))])
    found, notes = people(tmp_path)
    assert len(found) == 23 and notes == []
    write(tmp_path, ["test/video/1.png"])
    found, notes = people(tmp_path)
    assert len(found) == 24 and len(notes) == 1 and notes[0].startswith("'test' counts as a person")


def test_the_folder_images_of_data_synth(tmp_path):
    write(tmp_path, ["images/ann/0.png", "images/bob/0.png"])
    (tmp_path / "pairs.txt").write_text("x")
    found, notes = people(tmp_path)
    assert found == [("ann", "ann/0.png"), ("bob", "bob/0.png")]
    assert notes == ["The people are the folders in 'images'."]
