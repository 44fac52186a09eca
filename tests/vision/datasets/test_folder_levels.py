"""Which level of folders the people are: parts of a set, sessions of people, and what is open."""

import json
import unicodedata

import facebench
import numpy as np
import pytest
from facebench import Error, datasets, images, protocols


def write(root, names):
    for i, name in enumerate(names):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        images.write(root / name, np.full((8, 8, 3), i % 251, np.uint8))


def layout(root, outer, inner, count=1):
    """inner: names, the same in each, or a function of the outer name."""
    names = [(o, i) for o in outer for i in (inner(o) if callable(inner) else inner)]
    write(root, [f"{o}/{i}/{k}.png" for o, i in names for k in range(count)])


def people(root, level=""):
    found = datasets.read_image_folder(root, level)
    return found.label_names, found.notes


PEOPLE = ["ann", "bob", "carl", "dora"]


@pytest.mark.parametrize(
    "parts",
    [
        ["gallery", "probe"],
        ["train_set", "test_set"],
        ["fold1", "fold2", "fold3"],
        ["images", "train"],
        ["Enroll", "Verify"],
        ["split_0", "split_1"],
        ["split_0"],
        ["Test-Images", "TRAIN images"],
    ],
)
@pytest.mark.parametrize("same", [True, False])
def test_parts_by_their_names_are_refused_and_read_by_the_advice(tmp_path, parts, same):
    layout(tmp_path, parts, PEOPLE if same else lambda part: [f"{part}_{p}" for p in PEOPLE])
    with pytest.raises(
        Error, match=r"splits of a data set.*Give one of them.*--label 2.*--label 1"
    ):
        people(tmp_path)
    assert len(people(tmp_path / parts[0])[0]) == 4
    assert len(people(tmp_path, "2")[0]) == (4 if same else 4 * len(parts))
    assert len(people(tmp_path, "1")[0]) == len(parts)


def test_parts_are_told_by_the_people_that_come_again(tmp_path):
    """Names that no list has: few outer folders, many inner ones, again in the others."""
    many = [f"{p}_{q}" for p in PEOPLE for q in ("lee", "ray", "fox")]
    layout(tmp_path / "a", ["auth", "reg"], many)
    layout(tmp_path / "b", ["2019", "2020", "2021"], lambda y: many if y > "2019" else many[:6])
    for name, outer in (("a", 2), ("b", 3)):
        with pytest.raises(Error, match=f"{outer} folders .* of 12 names .*--label 2") as error:
            people(tmp_path / name)
        assert "12 of which are in several" in str(error.value)
        found, notes = people(tmp_path / name, "2")
        assert found == sorted(many) and notes == []
        assert len(people(tmp_path / name, "1")[0]) == outer


def test_people_with_folders_in_theirs_stay_people(tmp_path):
    ids = [f"{i:03}" for i in range(20)]
    silent = {
        "cfp": (ids, ["frontal", "profile"]),
        "sessions": (ids, ["session1", "session2", "session3", "session4"]),
        "cameras": (ids, lambda p: ["cam_a", "cam_b"][: 1 + int(p) % 2]),
        "one_each": (ids, lambda p: [f"album_{p}"]),
        "frames": (ids, lambda p: [str(v) for v in range(1 + int(p) % 6)]),
    }
    for name, (outer, inner) in silent.items():
        layout(tmp_path / name, outer, inner)
        assert people(tmp_path / name) == (ids, []), name


def test_what_is_open_is_said_with_its_counts(tmp_path):
    layouts = {
        "videos": (["ann", "bob", "carl"], lambda p: [f"{p}{v:x}" for v in (7, 91, 405)], 9, 9),
        "sessions": (["ann", "bob"], ["s1", "s2", "s3", "s4"], 8, 4),
        "two": (["ann", "bob"], ["frontal", "profile"], 4, 2),
        "small_parts": (["auth", "reg"], PEOPLE, 8, 4),
    }
    for name, (outer, inner, folders, names) in layouts.items():
        layout(tmp_path / name, outer, inner)
        found, notes = people(tmp_path / name)
        assert found == outer and len(notes) == 1, name
        assert f"{len(outer)} of {len(outer)} people" in notes[0]
        assert f"{folders} folders of {names} names" in notes[0] and "--label 2" in notes[0]
        assert people(tmp_path / name, "1") == (outer, [])
        assert len(people(tmp_path / name, "2")[0]) == names
    # A part beside people.
    write(tmp_path / "mixed", ["ann/0.png", "bob/0.png", "held/carl/0.png", "held/dora/0.png"])
    found, notes = people(tmp_path / "mixed")
    assert found == ["ann", "bob", "held"] and "1 of 3 people (held)" in notes[0]


def test_people_called_as_parts_are_read_by_the_advice(tmp_path):
    write(tmp_path, ["test/0.png", "test/1.png", "val/0.png"])
    with pytest.raises(Error, match=r"test, val: .*if they are people themselves, say --label 1"):
        people(tmp_path)
    assert people(tmp_path, "1") == (["test", "val"], [])
    with pytest.raises(Error, match="no folder with images lies in its folders"):
        people(tmp_path, "2")
    with pytest.raises(ValueError, match="1 where the people are the folders in it"):
        people(tmp_path, "3")
    write(tmp_path / "b", ["Val_Kilmer/a/0.png", "Test_Pilot/a/0.png", "Set/0.png", "cy/0.png"])
    assert people(tmp_path / "b") == (["Set", "Test_Pilot", "Val_Kilmer", "cy"], [])


def test_the_level_goes_through_pack_scan_and_train(tmp_path):
    layout(tmp_path / "set", ["gallery", "probe"], PEOPLE, 2)
    write(tmp_path / "set", ["gallery/loose.png"])
    found = datasets.read_dataset("folder", tmp_path / "set", label="2")
    assert found.label_names == PEOPLE and len(found) == 16
    assert found.passed_over == ["gallery/loose.png"]
    assert [s.label for s in found.samples if "/bob/" in s.id] == [1] * 4
    facebench.pack(
        "folder", tmp_path / "set", tmp_path / "x.h5", detector="none", label="2", crop="paper"
    )
    pack = datasets.Pack(tmp_path / "x.h5")
    assert pack.label_names == PEOPLE and pack.manifest["archive"] == {"label": "2"}
    part = datasets.read_dataset("folder", tmp_path / "set", split="gallery")
    assert part.label_names == PEOPLE and len(part) == 8
    facebench.pack(
        "folder", tmp_path / "set", tmp_path / "y.h5", detector="none", split="probe", crop="paper"
    )
    assert datasets.Pack(tmp_path / "y.h5").manifest["archive"] == {"split": "probe"}
    with pytest.raises(ValueError, match="label and split are of archives"):
        datasets.read_dataset("lfw", tmp_path / "set", label="2")


def test_training_says_what_its_folder_is_taken_for(tmp_path):
    layout(tmp_path / "set", ["auth", "reg"], PEOPLE, 2)
    recipe = facebench.training.load_recipe(
        "small4.softmax", network="small4", height=16, width=16, epochs=1, batch=2
    )
    with pytest.warns(UserWarning, match="The outer folders count as the people"):
        done = facebench.train(recipe, tmp_path / "set", tmp_path / "a")
    assert done["classes"] == 2
    assert any("8 folders of 4 names" in note for note in done["notes"])
    run = json.loads((tmp_path / "a/run.json").read_text())
    assert any("8 folders of 4 names" in note for note in run["content"]["notes"])
    done = facebench.train(recipe, tmp_path / "set", tmp_path / "b", label="2")
    assert done["classes"] == 4 and not any("folders" in note for note in done["notes"])


def test_one_name_in_two_unicode_forms_is_one_person(tmp_path):
    forms = [unicodedata.normalize(form, "José_Ñandú") for form in ("NFC", "NFD")]
    write(tmp_path / "a", [f"{forms[0]}/0.png", f"{forms[1]}/1.png", "ann/0.png", "ann/1.png"])
    found, notes = people(tmp_path / "a")
    assert len(found) == 2 and len(notes) == 1 and "1 people have two folders" in notes[0]
    labels = [s.label for s in datasets.read_image_folder(tmp_path / "a").samples]
    assert sorted(labels.count(k) for k in (0, 1)) == [2, 2]
    trials = protocols.read_trials("folders", tmp_path / "a")
    assert len(trials.identity_names) == 2
    assert len(trials.tracks[1].trials.gallery) == 2
    write(tmp_path / "b", [f"train/{forms[0]}/0.png", f"test/{forms[1]}/0.png"])
    assert len(people(tmp_path / "b", "2")[0]) == 1
