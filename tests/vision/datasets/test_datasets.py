"""Data sets, packs and synthetic faces from Python."""

import json
import os
import pickle

import facebench
import h5py
import numpy as np
import pytest
from facebench import datasets


@pytest.fixture(scope="module")
def faces(tmp_path_factory):
    folder = tmp_path_factory.mktemp("synthetic") / "faces"
    options = datasets.SyntheticOptions(people=20, images=2, size=64, seed=3)
    summary = datasets.write_synthetic_dataset(options, folder, threads=2)
    assert summary.images == 40
    return folder


def test_face_is_a_read_only_view_and_repeats():
    person = datasets.make_identity(seed=1, index=2)
    photo = datasets.make_nuisance("mask", seed=1, number=4)
    face = datasets.render_face(person, photo, size=80)
    again = datasets.render_face(person, photo, size=80)
    assert face.image.shape == (80, 80, 3)
    assert face.image.dtype == np.uint8
    assert not face.image.flags.writeable
    assert np.array_equal(face.image, again.image)
    assert face.disguise == "mask"
    assert face.age_group == "young"
    assert face.landmarks.shape == (5, 2)
    image = face.image
    del face, again
    assert image.sum() > 0  # the view keeps its face alive


def test_nuisance_is_options():
    photo = datasets.make_nuisance("yaw45", seed=2)
    assert 40 <= abs(photo.yaw) <= 50
    assert pickle.loads(pickle.dumps(photo)) == photo
    with pytest.raises(ValueError, match="did you mean"):
        datasets.make_nuisance("yaw54")
    with pytest.raises(ValueError):
        datasets.FaceNuisance(yaw=500)


def test_tables_are_documented():
    for table in (
        datasets.nuisance_kinds(),
        datasets.synthetic_layouts(),
        datasets.dataset_readers(),
    ):
        assert table
        assert all(table.values())


def test_pack_reads_the_same_in_h5py(faces, tmp_path):
    dataset = datasets.read_dataset("lfw", faces)
    assert len(dataset) == 40
    assert dataset.samples[0].id == "Person_00001/Person_00001_0001.jpg"
    summary = datasets.pack_dataset(dataset, tmp_path / "p.h5", threads=2)
    assert summary.counts == {"ok": 40, "no_face": 0, "unreadable": 0, "missing": 0, "rejected": 0}
    pack = datasets.Pack(tmp_path / "p.h5")
    with h5py.File(tmp_path / "p.h5") as file:
        assert np.array_equal(file["images"][:], pack.images)
        assert np.array_equal(file["label"][:], pack.labels)
        assert np.array_equal(file["box"][:], pack.boxes)
        assert np.array_equal(file["landmarks"][:], pack.landmarks)
        assert [n.decode() for n in file["name"][:]] == pack.names
        assert json.loads(file["manifest"][:].tobytes()) == pack.manifest
        assert file["images"].chunks is None
    assert not pack.images.flags.writeable
    assert pack.manifest["tree_sha256"] == summary.tree_sha256
    images = pack.images
    del pack
    assert images.sum() > 0


def test_bad_files_are_rows_and_findings(tmp_path, faces):
    source = next((faces / "images").rglob("*.jpg")).read_bytes()
    (tmp_path / "d" / "p").mkdir(parents=True)
    (tmp_path / "d" / "p" / "1.jpg").write_bytes(source)
    (tmp_path / "d" / "p" / "2.jpg").write_bytes(source[: len(source) // 2])
    (tmp_path / "d" / "p" / "3.jpg").write_text("text")
    (tmp_path / "d" / "p" / "4.jpg").write_bytes(b"")
    dataset = datasets.read_image_folder(tmp_path / "d")
    report = datasets.check_dataset(dataset, listed=["p/9.jpg"])
    assert [f.kind for f in report.findings] == ["unreadable", "unreadable", "empty", "missing"]
    names = [s.id for s in dataset.samples] + ["p/9.jpg"]
    summary = datasets.pack_dataset(
        datasets.select_samples(dataset, names), tmp_path / "p.h5", threads=1
    )
    assert [f.status for f in summary.failures] == ["unreadable"] * 3 + ["missing"]
    assert list(datasets.Pack(tmp_path / "p.h5").statuses) == [0, 2, 2, 2, 3]


def test_names_that_are_not_utf8_are_refused_before_anything_is_read(tmp_path):
    """Packs hold names as UTF-8; a name of Latin-1 ended a pack after all faces were found."""
    image = b"P5\n2 2\n255\n0123"
    for folder, person in (("person", b"J\xf6rg"), ("image", b"a"), ("other", b"b")):
        root = tmp_path / folder
        (root / "c").mkdir(parents=True)
        (root / "c" / "1.pgm").write_bytes(image)
        own = os.path.join(os.fsencode(root), person)
        os.mkdir(own)
        name = {"image": b"\xe9.pgm", "other": b"\xe9.txt"}.get(folder, b"1.pgm")
        for file in (name, b"2.pgm"):
            with open(os.path.join(own, file), "wb") as out:
                out.write(image[:2] if file.endswith(b"txt") else image + file)
    for folder, name in (("person", "J\\\\xf6rg"), ("image", "\\\\xe9.pgm")):
        with pytest.raises(facebench.Error, match=f"{name}.* is not UTF-8. Rename it"):
            datasets.read_image_folder(tmp_path / folder)
        with pytest.raises(facebench.Error, match=f"{name}.* is not UTF-8. Rename it"):
            facebench.protocols.read_trials("folders", tmp_path / folder)
    found = datasets.read_image_folder(tmp_path / "other")
    assert found.passed_over == ["b/\\xe9.txt"] and len(found.samples) == 2


def test_one_person_of_folders_is_noted(tmp_path):
    """A folder that holds `faces/PERSON/1.pgm` was one person without a word."""
    for person in "ab":
        (tmp_path / "faces" / person).mkdir(parents=True)
        (tmp_path / "faces" / person / "1.pgm").write_bytes(b"P5\n2 2\n255\n0123")
    [note] = datasets.read_image_folder(tmp_path).notes
    assert note.startswith("All 2 images count as one person, 'faces', whose folder holds folders")
    assert datasets.read_image_folder(tmp_path / "faces").notes == []


def test_errors_are_clear(tmp_path):
    with pytest.raises(facebench.Error, match="no such folder"):
        datasets.read_image_folder(tmp_path / "absent")
    with pytest.raises(ValueError, match="did you mean 'lfw'"):
        datasets.read_dataset("lwf", tmp_path)
    (tmp_path / "x.h5").write_bytes(b"nonsense")
    with pytest.raises(facebench.Error):
        datasets.Pack(tmp_path / "x.h5")
    with pytest.raises(ValueError, match="people"):
        datasets.write_synthetic_dataset(datasets.SyntheticOptions(people=5), tmp_path / "s")
    assert not (tmp_path / "s").exists()
