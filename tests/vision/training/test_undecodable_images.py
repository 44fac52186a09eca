"""Images that cannot be decoded are known before the first step and left out; a training goes on
where they alone have changed."""

import shutil

import facebench
import numpy as np
import pytest
from facebench import training
from facebench.core import Error
from facebench.io import read_safetensors
from PIL import Image

RECIPE = {"batch": 4, "epochs": 3, "lr": 0.01}
BROKEN = ("p0/0.png", "p2/1.png")

pytestmark = pytest.mark.filterwarnings("ignore:2 images cannot be decoded")


@pytest.fixture
def folder(tmp_path):
    """Four people with three images; two files are cut off."""
    draw = np.random.default_rng(3)
    root = tmp_path / "people"
    for person in range(4):
        (root / f"p{person}").mkdir(parents=True)
        for k in range(3):
            pixels = draw.integers(0, 256, (16, 16, 3), np.uint8)
            Image.fromarray(pixels).save(root / f"p{person}/{k}.png")
    shutil.copytree(root, tmp_path / "whole")
    for name in BROKEN:
        (root / name).write_bytes((root / name).read_bytes()[:60])
    return root


def train(folder, out, **options):
    recipe = training.load_recipe("small4_quick.softmax", **RECIPE)
    return facebench.train(recipe, folder, out, threads=1, progress=False, **options)


def stopped(folder, out):
    def stop(report):
        if report["iteration"] == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(folder, out, on_step=stop)


def weights(result):
    return read_safetensors(result["model"])[0]


def test_they_are_left_out_and_named(folder, tmp_path):
    with pytest.warns(UserWarning, match="2 images cannot be decoded and are left out: p0/0.png"):
        result = train(folder, tmp_path / "run")
    assert result["images"] == 10 and "p2/1.png" in result["notes"][0]


@pytest.mark.parametrize("change", ["nothing", "fetched", "removed", "excluded", "one of each"])
def test_a_training_goes_on_where_they_alone_have_changed(folder, tmp_path, change):
    whole = weights(train(folder, tmp_path / "never stopped"))
    stopped(folder, tmp_path / "run")
    options = {}
    if change == "fetched":
        for name in BROKEN:
            shutil.copy(tmp_path / "whole" / name, folder / name)
    elif change == "removed":
        for name in BROKEN:
            (folder / name).unlink()
    elif change == "excluded":
        options["exclude"] = tmp_path / "list.txt"
        options["exclude"].write_text("".join(f"sample\t{name}\n" for name in BROKEN))
    elif change == "one of each":
        shutil.copy(tmp_path / "whole" / BROKEN[0], folder / BROKEN[0])
        (folder / BROKEN[1]).unlink()
    resumed = weights(train(folder, tmp_path / "run", resume=True, **options))
    assert whole.keys() == resumed.keys()
    assert all(np.array_equal(whole[n], resumed[n]) for n in whole)


def test_a_resume_names_what_else_has_changed(folder, tmp_path):
    stopped(folder, tmp_path / "run")
    shutil.copy(folder / "p1/0.png", folder / "p1/1.png")
    (folder / "p3/2.png").rename(folder / "p3/7.png")
    with pytest.raises(Error, match="3 of 12 images differ") as caught:
        train(folder, tmp_path / "run", resume=True)
    for name in ("p1/1.png (changed)", "p3/7.png (new)", "p3/2.png (gone)"):
        assert name in str(caught.value)


def test_a_file_that_was_touched_is_the_same(folder, tmp_path):
    stopped(folder, tmp_path / "run")
    for file in folder.glob("*/*.png"):
        file.touch()
    assert train(folder, tmp_path / "run", resume=True)["iterations"] == 6


def test_a_damaged_record_is_made_again(folder, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run/images.txt").write_bytes(
        b'zz 1 2\n\xff\xff 3\n0 0 0 1 [1]\n0 0 0 1 "p1/0.png"\n'
    )
    assert train(folder, tmp_path / "run")["images"] == 10


def test_a_set_without_a_decodable_image_is_refused(folder, tmp_path):
    for file in folder.glob("*/*.png"):
        file.write_bytes(b"\x89PNG\r\n\x1a\n")
    with pytest.raises(Error, match="none of the 12 images can be decoded"):
        train(folder, tmp_path / "run")


def test_a_person_without_a_decodable_image_is_no_class(folder, tmp_path):
    for k in range(3):
        (folder / f"p1/{k}.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    with pytest.warns(UserWarning, match="5 images cannot be decoded"):
        result = train(folder, tmp_path / "run")
    assert result["classes"] == 3
