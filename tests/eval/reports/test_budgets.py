"""Small files that stand for very much are refused, with what is bounded and to what."""

import pathlib
import sys

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


def test_a_track_that_is_there_twice(tmp_path):
    """A file of scores may name one track 100,000 times."""
    import h5py

    text = "2\t1\nAnn\t1\t2\nAnn\t1\tBob\t1\nCat\t1\t2\nCat\t1\tDan\t1\n"
    (tmp_path / "pairs.txt").write_text(text)
    protocols.evaluate(
        "lfw", scores=[0.9, 0.1, 0.8, 0.2], root=tmp_path, interval="none"
    ).save(tmp_path / "run")  # fmt: skip
    with h5py.File(tmp_path / "run/scores.h5", "r+") as file:
        manifest = bytes(file["manifest"][()]).replace(b'"view2"', b'"view2","view2"')
        del file["manifest"]
        file["manifest"] = np.frombuffer(manifest, np.uint8)
    checks = reports.verify_scores(tmp_path / "run")
    assert any("'view2' is there twice" in c["detail"] for c in checks), checks
