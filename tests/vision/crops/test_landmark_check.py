"""Landmarks in other conventions than ours are told by how they fit the template."""

import os
import warnings
from pathlib import Path

import facebench
import numpy as np
import pytest
from facebench import crops, datasets, images
from facebench.detection import Face

SIDE = 112


def landmarks(rng):
    """Five points about where a turned face has them, and its box."""
    points = np.array([[39, 51], [73, 51], [56, 71], [42, 92], [70, 92]], float)
    points += rng.normal(0, 1.5, points.shape)
    angle = rng.uniform(-0.4, 0.4)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    return (points - 56) @ turn.T + 56, [20, 15, 92, 108]


WRONG = {
    "left_right": (lambda p, box: p[[1, 0, 2, 4, 3]], "left and right"),
    "eyes_alone": (lambda p, box: p[[1, 0, 2, 3, 4]], "left and right"),
    "mirrored": (lambda p, box: np.array([SIDE, 0]) + p * [-1, 1], "left and right"),
    "x_y": (lambda p, box: p[:, ::-1], "x and y"),
    "from_below": (
        lambda p, box: np.array([0, SIDE]) + p * [1, -1],
        "y seems to count from below, or",
    ),
    "nose_first": (lambda p, box: p[[2, 0, 1, 3, 4]], "nose"),
    "mouth_first": (lambda p, box: p[[3, 4, 2, 0, 1]], "or the mouth"),
    "relative": (lambda p, box: (p - box[:2]) / [72, 93], "do not lie in their box"),
    "normalised": (lambda p, box: p / SIDE, "do not lie in their box"),
    "of_a_larger_image": (lambda p, box: p * 4, "do not lie in their box"),
    "at_half_the_scale": (lambda p, box: p / 2, "do not lie in their box"),
    "at_half_the_scale_in_place": (lambda p, box: (p - 56) / 2 + 56, "do not lie in their box"),
    "at_twice_the_scale": (lambda p, box: (p - 56) * 2 + 56, "do not lie in their box"),
    "turned_left": (lambda p, box: turned(p, 90), "turned by more than 60 degrees"),
    "turned_right": (lambda p, box: turned(p, -90), "turned by more than 60 degrees"),
    "upside_down": (lambda p, box: turned(p, 180), "turned by more than 60 degrees"),
    "below_its_box": (lambda p, box: np.add(p, [0, 45]), "do not lie in their box"),
}


def turned(points, degrees):
    angle = np.radians(degrees)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    return (points - 56) @ turn.T + 56


def misfit(points):
    """By numpy's least squares: the template from x, y of a similarity."""
    template = np.array(
        [
            [38.2946, 51.6963],
            [73.5318, 51.5014],
            [56.0252, 71.7366],
            [41.5493, 92.3655],
            [70.7299, 92.2041],
        ]
    )
    one, zero = np.ones(5), np.zeros(5)
    rows = np.concatenate(
        [
            np.stack([points[:, 0], -points[:, 1], one, zero], 1),
            np.stack([points[:, 1], points[:, 0], zero, one], 1),
        ]
    )
    wanted = np.concatenate([template[:, 0], template[:, 1]])
    solved = np.linalg.lstsq(rows, wanted, rcond=None)[0]
    left = rows @ solved - wanted
    return np.sqrt((left**2).sum() / 5) / np.linalg.norm(template[0] - template[1])


def crop(points, box, name="arcface112"):
    image = np.zeros((SIDE, SIDE, 3), np.uint8)
    return crops.crop_face(image, Face(list(map(float, box)), landmarks=points), name)


def test_right_ones_pass(recwarn):
    rng = np.random.default_rng(0)
    for _ in range(50):
        points, box = landmarks(rng)
        assert misfit(points) < 0.2
        assert crop(points, box)[0] is not None
    # A file without boxes gives the extent of the landmarks as the box.
    points, _ = landmarks(rng)
    points = points.astype(np.float32)
    assert crop(points / 4, [*(points / 4).min(0), *(points / 4).max(0)])[0] is not None
    assert not recwarn.list


@pytest.mark.parametrize("name", WRONG)
def test_wrong_ones_are_said_with_their_cause(name):
    make, cause = WRONG[name]
    rng = np.random.default_rng(1)
    for _ in range(10):
        points, box = landmarks(rng)
        with pytest.warns(UserWarning, match=cause):
            crop(make(points, box), box)


def test_the_bound_is_0_6_of_the_templates_spread():
    """Points between a face and its mirror image: a warning from 0.40 of the eyes' distance on."""
    rng = np.random.default_rng(2)
    told = set()
    for share in np.linspace(0, 1, 60):
        points, box = landmarks(rng)
        points = (1 - share) * points + share * points[[1, 0, 2, 4, 3]]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            crop(points, box)
        far = misfit(points)
        if abs(far - 0.396) > 0.01:
            assert bool(caught) == (far > 0.396), far
            told.add(bool(caught))
    assert told == {False, True}


def write_set(root, rows):
    rng = np.random.default_rng(3)
    for i in range(len(rows)):
        (root / f"p{i // 2}").mkdir(parents=True, exist_ok=True)
        images.write(root / f"p{i // 2}/{i}.png", rng.integers(0, 256, (SIDE, SIDE, 3), np.uint8))
    columns = ["left_eye", "right_eye", "nose", "left_mouth", "right_mouth"]
    lines = ["name,x0,y0,x1,y1," + ",".join(f"{c}_{a}" for c in columns for a in "xy")]
    for i, (points, box) in enumerate(rows):
        lines.append(",".join(map(str, [f"p{i // 2}/{i}.png", *box, *points.reshape(-1)])))
    (root.parent / "faces.csv").write_text("\n".join(lines) + "\n")


def pack(tmp_path, **options):
    how = {"detector": "given", "detector_options": {"file": str(tmp_path / "faces.csv")}}
    return facebench.pack("folder", tmp_path / "set", tmp_path / "x.h5", **how, **options)


def test_packs_count_them(tmp_path):
    rng = np.random.default_rng(4)
    right = [landmarks(rng) for _ in range(6)]
    write_set(tmp_path / "set", right)
    summary = pack(tmp_path)
    assert summary.doubtful_landmarks.warning == "" and summary.doubtful_landmarks.names == []
    assert "doubtful_landmarks" not in datasets.Pack(tmp_path / "x.h5").manifest
    wrong = [(p[:, ::-1], box) if i < 4 else (p, box) for i, (p, box) in enumerate(right)]
    write_set(tmp_path / "set", wrong)
    summary = pack(tmp_path)
    assert summary.doubtful_landmarks.causes == {"x and y seem exchanged": 4}
    assert "4 of 6 faces" in summary.doubtful_landmarks.warning
    manifest = datasets.Pack(tmp_path / "x.h5").manifest
    assert manifest["doubtful_landmarks"]["causes"] == {"x and y seem exchanged": 4}
    # A crop by the box does not use them.
    assert pack(tmp_path, crop="paper").doubtful_landmarks.warning == ""
    # Shards say the same when they are joined.
    pack(tmp_path)
    whole = (tmp_path / "x.h5").read_bytes()
    parts = []
    for k in (1, 2):
        how = {"detector": "given", "detector_options": {"file": str(tmp_path / "faces.csv")}}
        parts.append(tmp_path / f"{k}.h5")
        facebench.pack("folder", tmp_path / "set", parts[-1], shard=f"{k}/2", **how)
    facebench.pipeline.merge_packs(parts, tmp_path / "y.h5")
    assert (tmp_path / "y.h5").read_bytes() == whole


def warned(points, box, name):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert crop(points, box, name)[0] is not None
    return "".join(str(one.message) for one in caught)


# dlib's mean face in its crop, and a box that its detector gives.
CORNERS = np.array([[37.1, 46.4], [111, 46.3], [74, 87.8], [58.4, 47.9], [89.6, 47.9]])
CORNERS_BOX = [10, 15, 138, 143]


def test_the_points_of_dlib_are_looked_at():
    rng = np.random.default_rng(5)
    for _ in range(20):
        points = CORNERS + rng.normal(0, 2, CORNERS.shape)
        for degrees in (-40, 0, 40):
            assert warned(turned(points - 18, degrees) + 18, CORNERS_BOX, "dlib150") == ""
        for wrong, cause in [
            (points[[1, 0, 2, 4, 3]], "left and right"),
            ([150, 0] + points * [-1, 1], "left and right"),
            (points[:, ::-1], "x and y"),
            ([0, 150] + points * [1, -1], "y seems to count from below"),
            (turned(points - 18, 90) + 18, "turned by more than 60"),
            (points / 2, "do not lie in their box"),
            ((points - 74) / 2.5 + 74, "do not lie in their box"),
            (landmarks(rng)[0], "dlib's corners of the eyes"),
        ]:
            assert cause in warned(wrong, CORNERS_BOX, "dlib150")
        assert "dlib's corners of the eyes" in warned(points, CORNERS_BOX, "arcface112")


def found_in_lfw():
    """The 9,095 faces that facenet_pytorch's MTCNN found: points (N, 5, 2), boxes (N, 4)."""
    path = Path(os.environ.get("FACEBENCH_DATA", "")) / "lfw/detections_facenet_pytorch.csv"
    if not path.exists():
        pytest.skip("FACEBENCH_DATA is not set: no detections of LFW")
    rows = np.genfromtxt(path, delimiter=",", skip_header=1, usecols=range(5, 20))
    return rows[:, 5:].reshape(-1, 5, 2), rows[:, :4]


def test_no_face_of_lfw_is_doubtful_and_those_of_another_scale_are():
    points, boxes = found_in_lfw()
    assert len(points) == 9095

    def doubtful(points, boxes):
        return np.mean(
            [warned(p, b, "arcface112") != "" for p, b in zip(points, boxes, strict=True)]
        )

    assert doubtful(points, boxes) == 0
    some = slice(None, None, 20)
    points, boxes = points[some], boxes[some]
    centres = (boxes[:, None, :2] + boxes[:, None, 2:]) / 2
    for factor, of_image, of_box in [(0.5, 0.98, 0.98), (0.6, 0.8, 0.1), (1.6, 0.98, 0.01)]:
        assert doubtful(points * factor, boxes) >= of_image
        assert doubtful((points - centres) * factor + centres, boxes) >= of_box
    turn = np.array([[0, -1], [1, 0]])
    assert doubtful((points - centres) @ turn + centres, boxes) >= 0.99
    small = np.radians(15)
    turn = np.array([[np.cos(small), -np.sin(small)], [np.sin(small), np.cos(small)]])
    assert doubtful((points - centres) @ turn + centres, boxes) == 0


def test_faces_that_lie_give_one_line_and_are_packed(tmp_path):
    rng = np.random.default_rng(6)
    faces = [landmarks(rng) for _ in range(6)]
    write_set(tmp_path / "set", [(turned(p, 90), box) for p, box in faces])
    summary = pack(tmp_path)
    assert summary.counts["ok"] == 6
    assert list(summary.doubtful_landmarks.causes.values()) == [6]
    assert summary.doubtful_landmarks.warning.count("turned by more than 60 degrees") == 1
