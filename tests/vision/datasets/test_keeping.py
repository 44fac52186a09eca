"""data keep: the list of all others, from lists in their several forms."""

import numpy as np
import pytest
from facebench import Error, datasets, images


@pytest.fixture
def root(tmp_path):
    for name in ("Ann/1.png", "Ann/2.png", "Ann/3.png", "Bob B/1.png", "Cat/1.png", "Cat/2.png"):
        (tmp_path / "set" / name).parent.mkdir(exist_ok=True, parents=True)
        images.write(tmp_path / "set" / name, np.zeros((8, 8, 3), np.uint8))
    return tmp_path / "set"


@pytest.mark.parametrize(
    "text",
    [
        "Ann\nBob B\n",
        "2\nAnn\t3\nBob B\t1\n",  # LFW's peopleDevTrain.txt
        "# comment\r\nAnn\r\n\r\nBob B\r\n",
        "person\tAnn\nperson\tBob B\n",
        "Ann\nAnn\nBob B\n",
        "Bob B\t1\nAnn\t3\n",
    ],
)
def test_forms_of_lists(root, tmp_path, text):
    (tmp_path / "list.txt").write_text(text, newline="")
    written, people, count = datasets.keep(tmp_path / "list.txt", root)
    assert (people, count) == (2, 4)
    (tmp_path / "others.txt").write_text(written)
    left = datasets.exclude(datasets.read_dataset("folder", root), tmp_path / "others.txt")
    assert sorted({s.id.split("/")[0] for s in left.samples}) == ["Ann", "Bob B"]


def test_least_and_what_cannot_be(root, tmp_path):
    assert datasets.keep(["Ann", "Cat", "Bob B"], root, least=2)[1:] == (2, 5)
    with pytest.raises(Error, match="1 of 2 people of the list are not there, the first is Dan"):
        datasets.keep(["Ann", "Dan"], root)
    with pytest.raises(Error, match="nobody of the list has 9 images"):
        datasets.keep(["Ann"], root, least=9)
    (tmp_path / "empty.txt").write_text("# nothing\n")
    with pytest.raises(Error, match="names nobody"):
        datasets.keep(tmp_path / "empty.txt", root)
