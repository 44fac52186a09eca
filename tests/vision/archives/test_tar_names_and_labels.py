"""Tar files as people make them: dots in names, capitals, labels in other places."""

import json
import re
import unicodedata

import facebench
import pytest
from archive_files import jpeg, write_tar
from facebench import Error, datasets

IMAGES = [jpeg(i) for i in range(8)]


def people(path, **options):
    """id -> (person, number of the image)."""
    found = datasets.read_archive(path, **options)
    return {
        s.id: (found.label_names[s.label], IMAGES.index(s.read())) for s in found.samples
    }, found


def names(path, **options):
    return [person for person, _ in people(path, **options)[0].values()]


def images(*stems, ending=".jpg"):
    return [(stem + ending, IMAGES[i]) for i, stem in enumerate(stems)]


def test_dots_in_names(tmp_path):
    stems = [
        "Ann/Ann_0001",
        "m.01/m.01_0001",
        "m.01/m.01_0002",
        "Bob/1",
        "J.Doe/J.Doe_1",
        "p/img.01",
    ]
    found, data = people(write_tar(tmp_path / "a.tar", images(*stems)))
    assert found == {stem: (stem.split("/")[0], i) for i, stem in enumerate(stems)}
    assert data.notes == [] and data.unlabelled == 0


def test_dots_with_labels_of_their_own_and_of_the_group(tmp_path):
    own = [
        ("m.01_1.jpg", IMAGES[0]),
        ("m.01_1.cls", "3"),
        ("m.02_1.cls", "4"),
        ("m.02_1.jpg", IMAGES[1]),
    ]
    found, _ = people(write_tar(tmp_path / "a.tar", own))
    assert found == {"3/m.01_1": ("3", 0), "4/m.02_1": ("4", 1)}
    views = [("k.left.jpg", IMAGES[0]), ("k.cls", "5"), ("k.right.jpg", IMAGES[1])]
    found, _ = people(write_tar(tmp_path / "b.tar", views))
    assert found == {"5/k.left": ("5", 0), "5/k.right": ("5", 1)}
    both = [("k.jpg", IMAGES[0]), ("k.cls", "5"), ("k.two.jpg", IMAGES[1]), ("k.two.cls", "6")]
    assert names(write_tar(tmp_path / "c.tar", both)) == ["5", "6"]
    with pytest.raises(Error, match=r"m\.01_1.*has a label and no image"):
        names(write_tar(tmp_path / "d.tar", [("m.01_1.cls", "3"), *images("m.02_1")]))


def test_what_is_not_read_is_counted(tmp_path):
    files = [("1.jpg", IMAGES[0]), ("1.cls", "3"), ("1.seg.png", IMAGES[1]), ("1.npy", b"x")]
    files += [("2.JPG", IMAGES[2]), ("2.Cls", "3"), ("README", "x"), ("2.npy", b"x")]
    found, data = people(write_tar(tmp_path / "a.tar", files))
    assert list(found.values()) == [("3", 0), ("3", 2)]
    assert data.notes == ["4 files are not read: 2 .npy, 1 .seg.png, 1 without an ending."]


def test_capitals(tmp_path):
    files = [
        (f"{i}{e}", d) for i in range(4) for e, d in ((".JPG", IMAGES[i]), (".CLS", str(i // 2)))
    ]
    assert names(write_tar(tmp_path / "a.tar", files)) == ["0", "0", "1", "1"]


def test_litter_and_leading_dots(tmp_path):
    files = [("./Ann/1.jpg", IMAGES[0]), ("./__MACOSX/Ann/._1.jpg", b"x"), ("./Ann/._1.jpg", b"x")]
    files += [("./Bob/@eaDir/1.jpg/S.jpg", IMAGES[1]), ("./Bob/1.jpg", IMAGES[2])]
    found, data = people(write_tar(tmp_path / "a.tar", files))
    assert found == {"Ann/1": ("Ann", 0), "Bob/1": ("Bob", 2)}
    assert len(data.notes) == 1 and "leave in folders: 3 (__MACOSX/Ann/._1.jpg" in data.notes[0]
    # Without folders and labels each image is a person, whatever the names begin with.
    flat = write_tar(tmp_path / "b.tar", [("./1.jpg", IMAGES[0]), ("./2.jpg", IMAGES[1])])
    assert len(datasets.read_archive(flat).label_names) == 2


def test_names_of_people_in_place_of_numbers(tmp_path):
    files = [
        ("1.jpg", IMAGES[0]),
        ("1.cls", "Zoë\n"),
        ("2.jpg", IMAGES[1]),
        ("2.json", '{"label": "Ann"}'),
    ]
    files += [("3.jpg", IMAGES[2]), ("3.cls", "Ann")]
    found, data = people(write_tar(tmp_path / "a.tar", files))
    assert found == {"Zoë/1": ("Zoë", 0), "Ann/2": ("Ann", 1), "Ann/3": ("Ann", 2)}
    assert data.label_names == ["Ann", "Zoë"]
    for bad in ("-1", "1.5", "", "a\nb", "x" * 300, b"\xff\xfe"):
        with pytest.raises(Error, match="neither a whole number"):
            names(write_tar(tmp_path / "b.tar", [("1.jpg", IMAGES[0]), ("1.cls", bad)]))


def test_two_labels_that_disagree_are_said(tmp_path):
    files = []
    for i, other in enumerate([0, 1, 7]):
        files += [
            (f"{i}.json", json.dumps({"label": other})),
            (f"{i}.jpg", IMAGES[i]),
            (f"{i}.cls", str(i)),
        ]
    found, data = people(write_tar(tmp_path / "a.tar", files))
    assert [p for p, _ in found.values()] == ["0", "1", "2"]
    assert data.notes == ["Of 1 samples the label file and .json disagree: the file counts."]


def labelled_elsewhere(path):
    files = []
    for i in range(4):
        files += [(f"{i}.jpg", IMAGES[i]), (f"{i}.txt", f"p{i // 2}")]
        files += [(f"{i}.json", json.dumps({"identity": 7 + i // 2, "of": {"name": f"N{i // 2}"}}))]
    return write_tar(path, files)


def test_no_label_is_said_and_one_can_be_named(tmp_path):
    path = labelled_elsewhere(tmp_path / "a.tar")
    data = datasets.read_archive(path)
    assert data.unlabelled == 4
    note = next(note for note in data.notes if note.startswith("No label"))
    assert "4 of 4 images count as a person each" in note and "--label" in note
    assert ".txt" in note and "identity" in note and "of.name" in note
    for label, expected in [
        ("identity", ["7", "8"]),
        ("of.name", ["N0", "N1"]),
        ("txt", ["p0", "p1"]),
    ]:
        assert names(path, label=label) == [expected[0]] * 2 + [expected[1]] * 2
    with pytest.raises(Error, match=r"no sample has the label 'person'.*identity"):
        names(path, label="person")
    with pytest.raises(ValueError, match="label: archives of the format rec"):
        datasets.read_dataset("rec", tmp_path / "a.rec", label="x")
    with pytest.raises(ValueError, match="label: of a folder it is 1 where"):
        datasets.read_dataset("folder", tmp_path, label="x")


def test_training_without_labels_is_refused(tmp_path):
    path = labelled_elsewhere(tmp_path / "a.tar")
    recipe = facebench.training.load_recipe(
        "small4.softmax", network="small4", height=16, width=16, epochs=1, batch=2
    )
    with pytest.raises(Error, match="4 of 4 images have no label: each would be trained"):
        facebench.train(recipe, path, tmp_path / "run")
    packed = tmp_path / "a.h5"
    size = {"crop_size": 16, "detector": "none"}
    summary = facebench.pack("tar", path, packed, **size)
    assert any(note.startswith("No label") for note in summary.notes)
    with pytest.raises(Error, match="4 of 4 images have no label"):
        facebench.train(recipe, packed, tmp_path / "run")
    facebench.pack("tar", path, packed, label="identity", **size)
    assert datasets.Pack(packed).label_names == ["7", "8"]
    assert datasets.Pack(packed).manifest["archive"] == {"label": "identity"}
    assert facebench.train(recipe, path, tmp_path / "run", label="txt")["classes"] == 2


def test_fields_of_a_numbered_sample(tmp_path):
    """webdataset's fields with dots: the only label of 0000 is that of its images."""
    files = [("0000.input.jpg", IMAGES[0]), ("0000.target.cls", "4")]
    files += [("0001.target.cls", "5"), ("0001.input.JPG", IMAGES[1])]
    files += [("0002.jpg", IMAGES[2]), ("0002.target.cls", "4")]
    files += [("0003.left.jpg", IMAGES[3]), ("0003.right.jpg", IMAGES[4]), ("0003.who.cls", "5")]
    found, data = people(write_tar(tmp_path / "a.tar", files))
    assert list(found.values()) == [("4", 0), ("5", 1), ("4", 2), ("5", 3), ("5", 4)]
    assert data.unlabelled == 0 and data.notes == []
    two = [("7.a.jpg", IMAGES[0]), ("7.age.cls", "30"), ("7.who.cls", "2")]
    with pytest.raises(Error, match="has a label and no image"):
        names(write_tar(tmp_path / "b.tar", two))
    assert names(tmp_path / "b.tar", label="who.cls") == ["2"]
    for lone in ("J.Roe_1.cls", "J.Roe.cls", "m.2_1.cls"):  # another's than J.Doe's
        with pytest.raises(Error, match="has a label and no image"):
            names(write_tar(tmp_path / "c.tar", [(lone, "3"), *images("J.Doe", "m.1_1")]))


@pytest.mark.parametrize("ending", [".jfif", ".jpe", ".JFIF", ".jpeg"])
def test_other_endings_of_jpeg(tmp_path, ending):
    files = [("0000" + ending, IMAGES[0]), ("0000.cls", "3"), ("0001" + ending, IMAGES[1])]
    assert names(write_tar(tmp_path / "a.tar", [*files, ("0001.cls", "3")])) == ["3", "3"]


def test_floats_that_are_whole_numbers(tmp_path):
    files = []
    for i, text in enumerate(['{"label": 3.0}', '{"label": 3}', "3.0", "3.", " 3.00 \n", "3"]):
        ending = "json" if "{" in text else "cls"
        files += [(f"{i}.jpg", IMAGES[i]), (f"{i}.{ending}", text)]
    assert names(write_tar(tmp_path / "a.tar", files)) == ["3"] * 6
    for ending, text, shown in [
        ("json", '{"label": 1.5}', r"\.json, 1\.5, is neither"),
        ("json", '{"label": -1.0}', r"\.json, -1\.0, is neither"),
        ("json", '{"label": 1e300}', r"\.json, 1e\+300, is neither"),
        ("json", '{"label": [1]}', r"\.json, \[1\], is neither"),
        ("cls", "1.5", r"\.cls, '1\.5', is neither"),
        ("cls", "-2.0", r"\.cls, '-2\.0', is neither"),
    ]:
        bad = [("k.jpg", IMAGES[0]), (f"k.{ending}", text)]
        with pytest.raises(Error, match=shown):
            names(write_tar(tmp_path / "b.tar", bad))


def test_a_name_in_two_unicode_forms_is_one_person(tmp_path):
    forms = [unicodedata.normalize(form, "José") for form in ("NFC", "NFD")]
    files = [(f"{i}.{e}", d) for i in (0, 1) for e, d in (("jpg", IMAGES[i]), ("cls", forms[i]))]
    assert names(write_tar(tmp_path / "a.tar", files)) == [forms[0]] * 2
    folders = [(f"{form}/{i}.jpg", IMAGES[i]) for i, form in enumerate(forms)]
    assert names(write_tar(tmp_path / "b.tar", folders)) == [forms[0]] * 2


@pytest.mark.parametrize(
    ("stems", "says"),
    [
        (
            ["train/ann/0", "train/bob/0", "val/ann/1", "val/bob/1"],
            r"4 of 4 people are folders of 2 names \(ann, bob\) .* \(train, val\)",
        ),
        (
            ["x/ann/v1/0", "x/ann/v2/0", "x/bob/v1/0", "x/cleo/0"],
            r"2 of 4 people are folders of 1 names \(v1\) .* \(x/ann, x/bob\)",
        ),
    ],
)
def test_folders_of_one_name_in_several_are_said(tmp_path, stems, says):
    _, data = people(write_tar(tmp_path / "a.tar", images(*stems)))
    assert len(data.label_names) == 4
    assert re.search(says + ".*--label 1", *data.notes)


@pytest.mark.parametrize(
    "stems", [["ann/0", "bob/0"], ["lfw/ann/0", "lfw/bob/0"], ["a/ann/0", "b/bob/0", "ann/1"]]
)
def test_folders_of_unlike_names_are_people_without_a_word(tmp_path, stems):
    _, data = people(write_tar(tmp_path / "a.tar", images(*stems)))
    assert data.notes == []


def test_one_folder_for_all_is_said(tmp_path):
    _, data = people(write_tar(tmp_path / "a.tar", images("imgs/1", "imgs/2", "imgs/3")))
    assert data.label_names == ["imgs"]
    assert re.search("All 3 images count as one person, 'imgs'", *data.notes)
