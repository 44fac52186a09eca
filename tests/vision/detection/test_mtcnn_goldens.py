"""MTCNN's modes against other programs' answers (scripts/mtcnn_goldens.py says whose and how)."""

import hashlib
import json
import os
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
import mtcnn_pictures
from facebench import Error, detection

pytestmark = pytest.mark.kernels

GOLDENS = json.loads((Path(__file__).parents[2] / "data" / "mtcnn_goldens.json").read_text())
PICTURES = GOLDENS["pictures"]
PHOTOGRAPHS = [name.split("/")[1] for name in mtcnn_pictures.PHOTOGRAPHS]
SYNTHETIC = [name for name in PICTURES if name not in PHOTOGRAPHS]
# The program that each mode follows.
PROGRAMS = {"facenet": "facenet", "matlab": "caffe"}

try:
    detection.default_mtcnn_weights()
except Error:
    pytest.skip("mtcnn.safetensors was not built", allow_module_level=True)


@pytest.fixture(scope="module")
def synthetic():
    return mtcnn_pictures.pictures()


@pytest.fixture(scope="module")
def photographs():
    folder = os.environ.get("FACEBENCH_DATA")
    if not folder:
        pytest.skip("FACEBENCH_DATA is not set")
    return mtcnn_pictures.pictures(Path(folder) / "lfw" / "images")


def expect_golden(image, name, mode, path):
    golden = PICTURES[name]
    assert hashlib.sha256(image.tobytes()).hexdigest() == golden["sha256"], "another picture"
    faces = detection.detect(image, mode=mode, path=path, second_look=False)
    expected = golden[PROGRAMS[mode]]
    assert len(faces) == len(expected)
    assert expected, "the case tests nothing"
    for wanted in expected:
        face = min(faces, key=lambda face: np.abs(face.box - wanted["box"]).max())
        # The networks' last bits are those of TensorFlow, of OpenCV's dnn, and ours.
        np.testing.assert_allclose(face.box, wanted["box"], atol=0.01)
        np.testing.assert_allclose(face.landmarks, wanted["landmarks"], atol=0.01)
        assert face.score == pytest.approx(wanted["score"], abs=1e-4)


@pytest.mark.parametrize("path", ["fast", "plain"])
@pytest.mark.parametrize("mode", PROGRAMS)
@pytest.mark.parametrize("name", SYNTHETIC)
def test_a_mode_gives_the_faces_of_its_program(name, mode, path, synthetic):
    expect_golden(synthetic[name], name, mode, path)


@pytest.mark.slow
@pytest.mark.parametrize("path", ["fast", "plain"])
@pytest.mark.parametrize("mode", PROGRAMS)
@pytest.mark.parametrize("name", PHOTOGRAPHS)
def test_a_mode_gives_the_faces_of_its_program_on_photographs(name, mode, path, photographs):
    expect_golden(photographs[name], name, mode, path)


@pytest.mark.parametrize("mode", ["facenet", "matlab"])
def test_the_mtcnn_package_sees_the_same_faces(mode, synthetic):
    """mtcnn 1.0.0 is of no mode: it pads with grey and samples crops bilinearly. Mode
    `facenet_pytorch` pads nothing, so that faces at the border differ."""
    distances = []
    for name in SYNTHETIC:
        faces = detection.detect(synthetic[name], mode=mode)
        expected = PICTURES[name]["mtcnn"]
        assert len(faces) == len(expected)
        for wanted in expected:
            points = np.array(wanted["landmarks"])
            eyes = np.linalg.norm(points[0] - points[1])
            distances.append(
                min(np.linalg.norm(f.landmarks - points, axis=1).mean() for f in faces) / eyes
            )
    assert np.median(distances) < 0.08
    if mode != "facenet_pytorch":  # it moves the landmarks of faces cut by the border
        assert max(distances) < 0.15
