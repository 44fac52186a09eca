"""Small files that stand for very much are refused, with what is bounded and to what."""

import json
import pathlib
import struct
import sys
import zlib

import facebench
import numpy as np
import pytest
from facebench import protocols, reports

sys.path.insert(0, str(pathlib.Path(__file__).parents[2]))
from small_protocol import small_protocol


def test_people_with_more_images_than_there_are(tmp_path):
    (tmp_path / "people.txt").write_text("1\n3\n" + "".join(f"Ann_{k}\t999999\n" for k in range(3)))
    with pytest.raises(facebench.Error, match=r"people.txt:5.*more than 2000000 images"):
        protocols.read_trials("lfw_search", tmp_path)
    (tmp_path / "people.txt").write_text(f"1\n1\n{'A' * 100000}\t100000\n")
    with pytest.raises(facebench.Error, match="bytes of their names"):
        protocols.read_trials("lfw_search", tmp_path)


def test_targets(tmp_path):
    path = tmp_path / "mine.toml"
    text = small_protocol(
        'name = "pairs"\nfile = "pairs.txt"',
        '[[metrics]]\nname = "tar_at_far"\ntargets = [TARGETS]\n',
    )
    path.write_text(text.replace("TARGETS", ", ".join(["0.1"] * 1001)))
    with pytest.raises(facebench.Error, match="1001 targets; more than 1000"):
        protocols.load_protocol(path)
    path.write_text("#" * (1 << 20) + "\n" + text)
    with pytest.raises(facebench.Error, match=r"mine.toml"):
        protocols.load_protocol(path)


@pytest.fixture(scope="module")
def images():
    pytest.importorskip("torch")
    from facebench import images

    return images


def test_scans_of_a_jpeg(images, tmp_path):
    images.write(tmp_path / "a.jpg", np.zeros((8, 8, 3), np.uint8))
    data = (tmp_path / "a.jpg").read_bytes()
    assert images.decode(data).shape == (8, 8, 3)
    with pytest.raises(facebench.Error, match=r"102 scans of 64 pixels; more than 100 scans"):
        images.decode(data[:-2] + b"\xff\xda\0\2" * 101 + data[-2:])


def test_hog_on_a_huge_image(images):
    from facebench import detection

    finder = detection.make_detector("hog", upsample=4)
    with pytest.raises(facebench.Error, match="more than 150000000 pixels"):
        finder.detect(np.zeros((1000, 1000, 3), np.uint8))


def test_recipes_whose_bases_share_bases(images, tmp_path):
    from facebench import training

    (tmp_path / "r0.toml").write_text("version = 1\n")
    for k in range(1, 30):
        bases = f'["r{k - 1}.toml", "./r{k - 1}.toml"]'
        (tmp_path / f"r{k}.toml").write_text(f"version = 1\nbase = {bases}\n")
    with pytest.raises(facebench.Error, match="more than 64 files are read as bases"):
        training.load_recipe(tmp_path / "r29.toml")


def test_links_without_end(images, tmp_path):
    from facebench import datasets

    for level in range(13):  # 4 to the 13th folders
        (tmp_path / f"f/{level}").mkdir(parents=True)
        for k in range(4):
            (tmp_path / f"f/{level}/{k}").symlink_to(f"../{level + 1}")
    (tmp_path / "people").mkdir()
    (tmp_path / "people/Ann").symlink_to("../f/0")
    with pytest.raises(facebench.Error, match="more than 100000 links"):
        datasets.read_dataset("folder", tmp_path / "people")


def checks_of_scores(folder, change):
    """What `verify_scores` says of a run of four comparisons whose scores have another manifest:
    ``change`` is a function of its bytes."""
    import h5py

    text = "2\t1\nAnn\t1\t2\nAnn\t1\tBob\t1\nCat\t1\t2\nCat\t1\tDan\t1\n"
    (folder / "pairs.txt").write_text(text)
    protocols.evaluate(
        "lfw", scores=[0.9, 0.1, 0.8, 0.2], root=folder, interval="none"
    ).save(folder / "run")  # fmt: skip
    with h5py.File(folder / "run/scores.h5", "r+") as file:
        manifest = change(bytes(file["manifest"][()]))
        del file["manifest"]
        file["manifest"] = np.frombuffer(manifest, np.uint8)
    return reports.verify_scores(folder / "run")


def test_a_track_that_is_there_twice(tmp_path):
    """A file of scores may name one track 100,000 times."""
    checks = checks_of_scores(tmp_path, lambda m: m.replace(b'"view2"', b'"view2","view2"'))
    assert any("'view2' is there twice" in c["detail"] for c in checks), checks


def test_more_tracks_than_are_read(tmp_path):
    def with_many(manifest):
        return json.dumps(
            json.loads(manifest) | {"tracks": [f"t{k}" for k in range(1001)]}
        ).encode()

    checks = checks_of_scores(tmp_path, with_many)
    assert any("1001 tracks; more than 1000 are not read" in c["detail"] for c in checks), checks


def test_a_line_of_a_list_that_is_too_long(tmp_path):
    (tmp_path / "pairs.txt").write_text("1\t1\n" + "A" * ((1 << 20) + 1) + "\t1\t2\n")
    with pytest.raises(facebench.Error, match=r"pairs.txt:2.*at most 1048576 are expected"):
        protocols.read_trials("lfw", tmp_path)


def test_json_of_a_run_that_is_too_large(tmp_path):
    with open(tmp_path / "run.json", "wb") as file:
        file.truncate((64 << 20) + 1)
    with pytest.raises(facebench.Error, match="at most 67108864 are expected here"):
        facebench.io.read_manifest(tmp_path / "run.json")


def mat5(*arrays):
    """A MAT-5 file of data elements."""
    return b"MATLAB".ljust(124) + b"\0\1IM" + b"".join(arrays)


def element(kind, data):
    return struct.pack("<II", kind, len(data)) + data + bytes(-len(data) % 8)


def array(kind, shape, *content):
    sides = element(5, struct.pack(f"<{len(shape)}i", *shape))
    return element(
        14, element(6, struct.pack("<II", kind, 0)) + sides + element(1, b"") + b"".join(content)
    )


def test_mat5_files_that_stand_for_much(tmp_path):
    """Cells in cells, numbers that are kept in a byte each, zeros that are packed."""
    deep = array(6, (1, 1), element(9, bytes(8)))
    for _ in range(18):
        deep = array(1, (1, 1), deep)
    many = array(6, (1, (32 << 20) + 1), element(2, bytes((32 << 20) + 1)))
    sparse = array(5, (1, 1), element(2, bytes(150 << 20)))  # of a class that is passed over
    packed = [struct.pack("<II", 15, len(z)) + z for z in [zlib.compress(sparse, 1)] * 2]
    for name, data, says in (
        ("deep", mat5(deep), "nested too deeply"),
        ("many", mat5(many), "more than 33554432 numbers"),
        ("packed", mat5(*packed), "more than 268435456"),
    ):
        path = tmp_path / f"{name}.mat"
        path.write_bytes(data)
        with pytest.raises(facebench.Error, match=says):
            facebench.io.read_mat5(path)


def test_pixels_in_all_scans_of_a_jpeg(images):
    data = images.encode_jpeg(np.zeros((10_000, 10_000), np.uint8))
    with pytest.raises(facebench.Error, match=r"41 scans of 100000000 pixels"):
        images.decode(data[:-2] + b"\xff\xda\0\2" * 40 + data[-2:])
