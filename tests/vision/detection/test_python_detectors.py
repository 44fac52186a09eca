"""Detectors that Python brings: callables, their names, entry points, in packs and runs."""

import json
import sys
from importlib.metadata import EntryPoint

import facebench
import numpy as np
import onnx_detectors as by_loops
import pytest
import torch
from command_line import invoke
from facebench import crops, datasets, detection, images
from facebench.core import _entry_points
from facebench.detection import Face
from lfw_like import lfw_like

RNG = np.random.default_rng(1)
PHOTO = RNG.integers(0, 256, (60, 80, 3), np.uint8)
FIVE = np.array([[20, 20], [40, 20], [30, 30], [22, 40], [38, 40]], np.float32)


def two_faces(image):
    """The second is better."""
    height, width = image.shape[:2]
    boxes = [[1, 2, 30, 40], [width / 4, height / 4, width - 1, height - 1]]
    return boxes, [0.5, 0.75], np.stack([FIVE, FIVE + 5])


def middle(image):
    height, width = image.shape[:2]
    return np.array([[width / 4, height / 4, width * 3 / 4, height * 3 / 4]]), np.ones(1), None


def colours(batch):
    return batch[:, ::16, ::16].reshape(len(batch), -1)


def test_a_callable_is_a_detector():
    found = detection.detect(PHOTO, detector=two_faces)
    assert [face.score for face in found] == [0.75, 0.5]
    np.testing.assert_array_equal(found[0].box, [20, 15, 79, 59])
    np.testing.assert_array_equal(found[0].landmarks, FIVE + 5)
    assert detection.detect([PHOTO, PHOTO[:40]], two_faces, threads=3)[0] == found
    seen = []
    detection.detect(PHOTO[..., ::-1].copy(), lambda i: seen.append(i), color="bgr")
    np.testing.assert_array_equal(seen[0], PHOTO)


GOOD = {
    "none": lambda image: None,
    "no faces of facenet_pytorch": lambda image: (None, [None], None),
    "empty lists": lambda image: ([], [], []),
    "empty arrays": lambda image: (np.empty((0, 4)), np.empty(0), np.empty((0, 5, 2))),
}


@pytest.mark.parametrize("case", GOOD)
def test_no_face_is_no_error(case):
    assert detection.detect(PHOTO, detector=GOOD[case]) == []


def test_tensors_and_flat_points_are_taken():
    boxes = torch.tensor([[1.0, 2, 30, 40]], requires_grad=True)
    found = detection.detect(PHOTO, lambda image: (boxes, torch.ones(1), FIVE.reshape(1, 10)))
    np.testing.assert_array_equal(found[0].landmarks, FIVE)


BOX = [[1, 2, 30, 40]]
RUBBISH = {
    "a number": (lambda i: 3, r"gives \(boxes, scores\) or"),
    "boxes alone": (lambda i: np.ones((2, 4)), r"gives \(boxes, scores\) or"),
    "four parts": (lambda i: (BOX, [1], None, None), "not tuple of 4"),
    "text": (lambda i: ("boxes", [1]), "boxes are str"),
    "no scores": (lambda i: (BOX, []), "1 boxes and 0 scores"),
    "more scores": (lambda i: (BOX, [1, 2]), "1 boxes and 2 scores"),
    "five numbers": (lambda i: ([[1, 2, 3, 4, 5]], [1]), r"an array \(1, 5\)"),
    "width and height": (lambda i: ([[30, 40, 20, 20]], [1]), "not x, y, width, height"),
    "relative": (lambda i: ([[0.1, 0.1, 0.5, 0.5]], [1]), "are they relative"),
    "not finite": (lambda i: ([[1, 2, np.nan, 4]], [1]), "boxes hold numbers that are not finite"),
    "scores not finite": (lambda i: (BOX, [np.inf]), "scores hold numbers that are not finite"),
    "68 points": (lambda i: (BOX, [1], np.ones((1, 68, 2))), "points are an array"),
    "fewer points": (
        lambda i: (BOX * 2, [1, 1], FIVE[None]),
        "2 boxes and 1 points",
    ),
    "masked": (lambda i: (np.ma.masked_equal(BOX, 2), [1]), "masked"),
    "ragged": (lambda i: ([[1, 2, 3, 4], [1]], [1, 1]), "boxes are list"),
    "objects": (lambda i: ([[object()] * 4], [1]), "boxes are list"),
    "faces": (lambda i: [Face([1, 2, 3, 4])], "not list of 1"),
    "a dict": (lambda i: {"boxes": BOX}, "not dict"),
}


@pytest.mark.parametrize("case", RUBBISH)
def test_rubbish_is_refused_with_what_it_is(case):
    function, text = RUBBISH[case]
    with pytest.raises(ValueError, match=text):
        detection.detect(PHOTO, detector=function)


def test_what_a_function_raises_reaches_its_caller(tmp_path):
    def fails(image):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        detection.detect(PHOTO, detector=fails)
    images.write(tmp_path / "ann" / "1.png", PHOTO) if (tmp_path / "ann").mkdir() is None else None
    with pytest.raises(ZeroDivisionError, match="mine"):
        facebench.pack("folder", tmp_path, tmp_path.parent / "p.h5", detector=fails, crop="paper")


@pytest.mark.parametrize("wrong", [3, None, [middle], np.ones(3)])
def test_what_is_not_a_detector(wrong):
    with pytest.raises(TypeError, match="detector must be its name"):
        detection.detect(PHOTO, detector=wrong)


def test_options_are_not_for_functions():
    with pytest.raises(ValueError, match="is a function, which takes no options: threshold"):
        detection.make_detector(middle, threshold=0.5)


@pytest.fixture
def people(tmp_path):
    for person in ("ann", "bob"):
        (tmp_path / "people" / person).mkdir(parents=True)
        for k in range(2):
            pixels = RNG.integers(0, 256, (60 + k, 80, 3), np.uint8)
            images.write(tmp_path / "people" / person / f"{k}.png", pixels)
    return tmp_path / "people"


def test_a_pack_has_its_faces_and_names_it(people, tmp_path):
    facebench.pack("folder", people, tmp_path / "p.h5", detector=middle, crop="paper")
    pack = datasets.Pack(tmp_path / "p.h5")
    assert pack.manifest["detector"]["detector"] == f"{middle.__module__}:middle"
    pixels = images.read(people / "bob" / "1.png")
    right, _ = crops.crop_face(pixels, detection.detect(pixels, middle)[0], "paper")
    np.testing.assert_array_equal(pack.pixels(3), right)


def test_a_pack_of_an_onnx_file_by_the_command_line(people, tmp_path):
    pytest.importorskip("onnxruntime")
    path, _ = by_loops.scrfd(tmp_path / "d.onnx", 3)
    how = ("--detector-option", f"model={path}", "--detector-option", "size=64")
    invoke(
        *("pack", "folder", "--root", people, "--out", tmp_path / "p.h5", "--quiet"),
        *("--detector", "scrfd", *how, "--crop", "paper"),
    )
    said = datasets.Pack(tmp_path / "p.h5").manifest["detector"]
    made = detection.make_detector("scrfd", model=path, size=64)
    assert said == detection.description(made)
    invoke(
        *("pack", "folder", "--root", people, "--out", tmp_path / "q.h5", "--quiet"),
        *("--detector", path, "--detector-option", "size=64", "--crop", "paper"),
    )
    assert datasets.Pack(tmp_path / "q.h5").manifest["detector"] == said
    wrong = ("--detector", "scrfd", "--detector-option", f"modle={path}")
    done = invoke("pack", "folder", "--root", people, "--out", tmp_path / "r.h5", *wrong, code=2)
    assert "did you mean 'model'" in done.output + done.stderr


def test_what_a_function_found_is_not_kept_for_later_runs(tmp_path):
    faces = lfw_like(tmp_path / "faces")
    how = {"model": colours, "root": faces, "crop": "paper", "replicates": 20}
    cached = how | {"cache": tmp_path / "cache"}
    first = facebench.run("lfw", detector=middle, out=tmp_path / "a", **cached)
    again = facebench.run("lfw", detector=middle, out=tmp_path / "b", **cached)
    assert again.reused == [] and again.to_dict() == first.to_dict()
    said = json.loads((tmp_path / "a" / "run.json").read_text())
    assert f"{middle.__module__}:middle" in json.dumps(said)


def test_packs_of_onnx_files_are_kept(tmp_path):
    pytest.importorskip("onnxruntime")
    path, _ = by_loops.scrfd(tmp_path / "d.onnx", 3, sides=(64, 64))
    faces = lfw_like(tmp_path / "faces")
    how = {"model": colours, "root": faces, "crop": "paper", "replicates": 20}
    how |= {"detector": str(path), "cache": tmp_path / "cache"}
    facebench.run("lfw", out=tmp_path / "a", **how)
    assert "pack" in " ".join(facebench.run("lfw", out=tmp_path / "b", **how).reused)


def test_compare_and_diagnose_take_a_function(tmp_path):
    score = facebench.compare(PHOTO, PHOTO, model=colours, detector=middle, crop="paper").score
    assert score == pytest.approx(1)
    faces = lfw_like(tmp_path / "faces")
    found = facebench.diagnose(
        colours, "folders", limit=40, root=faces / "images", detector=middle, crop="paper"
    )
    assert found.comparisons == 40


@pytest.fixture
def module(tmp_path, monkeypatch):
    code = "def middle(image):\n    h, w = image.shape[:2]\n"
    code += "    return [[w / 4, h / 4, w * 3 / 4, h * 3 / 4]], [0.5], None\nlandmarks = 3\n"
    (tmp_path / "my_detector.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    yield
    sys.modules.pop("my_detector", None)


def test_a_name_of_code_and_an_entry_point(module, people, monkeypatch):
    done = invoke("detect", people, "--detector", "my_detector:middle")
    assert done.stdout.splitlines()[1].startswith("ann/0.png,ok,20,")
    point = EntryPoint("office", "my_detector:middle", _entry_points.DETECTORS)
    real = _entry_points.brought
    monkeypatch.setattr(
        _entry_points,
        "brought",
        lambda group: {"office": point} if group == _entry_points.DETECTORS else real(group),
    )
    assert detection.list_detectors()["office"] == "brought as my_detector:middle"
    assert detection.detect(PHOTO, "office") == detection.detect(PHOTO, "my_detector:middle")
    assert "office" in invoke("list", "detectors").stdout


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("scrdf", "did you mean 'scrfd'"),
        ("my_detector:missing", "no attribute 'missing'"),
        ("my_detector:landmarks", "not callable"),
        ("nowhere.onnx", "cannot be read"),
        ("hf://org/detector", "unknown detector"),
    ],
)
def test_names_that_are_none(module, name, text, people):
    with pytest.raises((ValueError, facebench.Error), match=text):
        detection.make_detector(name)
    with pytest.raises((ValueError, facebench.Error), match=text):
        facebench.pack("folder", people, people.parent / "p.h5", detector=name)


def test_landmarks_that_a_function_states_are_held_against_the_crop(people):
    def boxes(image):
        return middle(image)

    boxes.landmarks = "none"
    with pytest.raises(ValueError, match="finds no landmarks, and the crop 'arcface112' needs"):
        facebench.pack("folder", people, people.parent / "p.h5", detector=boxes)
    boxes.landmarks = "68"
    with pytest.raises(ValueError, match="landmarks are one of"):
        facebench.pack("folder", people, people.parent / "p.h5", detector=boxes)


@pytest.mark.parametrize("said", [{"x": float("nan")}, {"x": object()}, lambda: {"x": {1, 2}}])
def test_a_description_is_json(said):
    def boxes(image):
        return middle(image)

    boxes.description = said
    with pytest.raises(ValueError, match="its description is not JSON"):
        detection.make_detector(boxes)
    boxes.description = {"version": 3}
    told = detection.description(detection.make_detector(boxes))
    assert told["description"] == {"version": 3}
