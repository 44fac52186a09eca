"""What may not be read is an error; only what is not there is missing."""

import os

import facebench
import pytest

pytest.importorskip("torch")
from facebench import detection


def write_face(path):
    import numpy as np
    from facebench import images

    path.parent.mkdir(parents=True, exist_ok=True)
    images.write(path, np.full((32, 32, 3), 90, np.uint8))


@pytest.fixture
def lists(tmp_path):
    lines = ["2\t1", "Ann\t1\t2", "Ann\t1\tBob\t1", "Cat\t1\t2", "Cat\t1\tDan\t1"]
    (tmp_path / "pairs.txt").write_text("\n".join(lines) + "\n")
    for person, n in (("Ann", 2), ("Bob", 1), ("Cat", 2), ("Dan", 1)):
        for k in range(n):
            write_face(tmp_path / f"images/{person}/{person}_{k + 1:04}.jpg")
    return tmp_path


def evaluate(root, out):
    return facebench.run(
        "lfw", model=facebench.embedding.make_model("small4"), root=root, out=out,
        detector="none", interval="none", threads=1,
    )  # fmt: skip


def test_a_folder_that_is_a_loop_of_links(lists):
    folder = lists / "images/Bob"
    folder.rename(lists / "Bob")
    result = evaluate(lists, lists / "missing")  # it is not there
    assert result.to_dict()["tracks"]["view2"]["counts"]["failed_enrolments"] == 1
    folder.symlink_to(folder)
    with pytest.raises(facebench.Error, match=r"Bob.*[Ss]ymbolic links"):
        evaluate(lists, lists / "run")
    assert not (lists / "run").exists()


@pytest.mark.skipif(os.getuid() != 0, reason="needs root, to become a user who may not")
def test_a_folder_without_permission(lists):
    lists.chmod(0o777)
    (lists / "images/Bob").chmod(0o000)
    (lists / "images/Dan/Dan_0001.jpg").chmod(0o000)
    for path in (lists, *lists.parents):
        path.chmod(path.stat().st_mode | 0o011)
    os.seteuid(61234)
    try:
        with pytest.raises(facebench.Error, match="Permission denied"):
            evaluate(lists, lists / "run")
    finally:
        os.seteuid(0)
    (lists / "images/Bob").chmod(0o755)
    os.seteuid(61234)
    try:
        with pytest.raises(facebench.Error, match=r"Dan_0001\.jpg.*Permission denied"):
            evaluate(lists, lists / "run")
    finally:
        os.seteuid(0)


def test_detect_says_that_a_file_may_not_be_read(tmp_path):
    (tmp_path / "photos").mkdir()
    loop = tmp_path / "photos/loop.jpg"
    loop.symlink_to(loop)
    finder = detection.make_detector("hog")
    files, _ = detection.list_image_files([tmp_path / "photos"])
    summary = detection.detect_to_file(files, tmp_path / "faces.csv", finder)
    (row,) = summary.failures
    assert row.status == "unreadable" and "ymbolic links" in row.reason


def test_a_pack_of_what_may_not_be_read_is_an_error(lists, tmp_path):
    image = lists / "images/Bob/Bob_0001.jpg"
    image.unlink()
    image.symlink_to(image)
    with pytest.raises(facebench.Error, match=r"Bob_0001\.jpg"):
        facebench.pack("folder", lists / "images", tmp_path / "p.h5", detector="none")
