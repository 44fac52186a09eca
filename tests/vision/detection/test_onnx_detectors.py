"""SCRFD, RetinaFace and YuNet as ONNX files, against the authors' decoding by loops in numpy."""

import numpy as np
import onnx_detectors as by_loops
import pytest
from facebench import crops, detection, images
from facebench.core import Error
from facebench.detection import _decoders
from facebench.io import sha256_file

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
RNG = np.random.default_rng(11)
PHOTO = RNG.integers(0, 256, (96, 128, 3), np.uint8)  # three strides of 32 high, four wide


def same(found, right, most=400):
    """Faces as `detect` gives them, and as (score, box, points)."""
    assert 3 < len(right) < most
    assert len(found) == len(right)
    for face, (score, box, points) in zip(found, right, strict=True):
        np.testing.assert_allclose(face.score, score, atol=1e-5)
        np.testing.assert_allclose(face.box, box, rtol=1e-4, atol=2e-3)
        if points is None:
            assert face.landmarks is None
        else:
            np.testing.assert_allclose(face.landmarks, points, rtol=1e-4, atol=2e-3)


@pytest.mark.parametrize("batched", [True, False])
@pytest.mark.parametrize("points", [True, False])
@pytest.mark.parametrize(("strides", "anchors"), [((8, 16, 32), 2), ((8, 16, 32, 64, 128), 1)])
def test_scrfd_is_decoded_as_insightface_does(tmp_path, strides, anchors, points, batched):
    side = 128
    path, made = by_loops.scrfd(tmp_path / "d.onnx", 1, strides, anchors, points, batched=batched)
    photo = RNG.integers(0, 256, (side, side, 3), np.uint8)
    numbers = ((photo - 127.5) / 128 * 0.05).transpose(2, 0, 1)
    found = detection.detect(photo, "scrfd", model=path, size=side, threshold=0.7, nms=0.4)
    faces = by_loops.scrfd_by_hand(made, numbers, strides, anchors, 0.7, 1, points)
    same(found, by_loops.suppressed(faces, 0.4, 1))


@pytest.mark.parametrize("shape", [(70, 90), (90, 70), (300, 200), (31, 500), (96, 96)])
def test_a_photograph_is_fitted_into_the_input_at_its_top_left(tmp_path, shape):
    path, made = by_loops.scrfd(tmp_path / "d.onnx", 2, sides=(96, 96))
    photo = RNG.integers(0, 256, (*shape, 3), np.uint8)
    height, width = shape
    if height > width:
        inner = 96, int(96 / (height / width))
    else:
        inner = int(96 * (height / width)), 96
    canvas = np.zeros((96, 96, 3), np.uint8)
    canvas[: inner[0], : inner[1]] = images.resize(photo, inner[1], inner[0])
    numbers = ((canvas - 127.5) / 128 * 0.05).transpose(2, 0, 1)
    scale = inner[0] / height
    found = detection.detect(photo, "scrfd", model=path)  # the file says its size
    faces = by_loops.scrfd_by_hand(made, numbers, (8, 16, 32), 2, 0.5, scale)
    same(found, by_loops.suppressed(faces, 0.4, 1))


def test_retinaface_is_decoded_as_its_authors_do(tmp_path):
    path, made = by_loops.retinaface(tmp_path / "r.onnx", 3, scale=0.01)
    numbers = ((PHOTO[..., ::-1] - [104.0, 117, 123]) * 0.01).transpose(2, 0, 1)
    found = detection.detect(PHOTO, "retinaface", model=path)
    faces = by_loops.retinaface_by_hand(made, numbers, 0.6)
    same(found, by_loops.suppressed(faces, 0.4, 1))


@pytest.mark.parametrize("shape", [(96, 128), (90, 101), (33, 65)])
def test_yunet_is_decoded_as_opencv_does(tmp_path, shape):
    path, made = by_loops.yunet(tmp_path / "y.onnx", 4, scale=0.01)
    photo = RNG.integers(0, 256, (*shape, 3), np.uint8)
    canvas = np.zeros((*(-(-side // 32) * 32 for side in shape), 3))
    canvas[: shape[0], : shape[1]] = photo[..., ::-1]  # BGR
    numbers = (canvas * 0.01).transpose(2, 0, 1)
    found = detection.detect(photo, "yunet", model=path, threshold=0.6)
    faces = by_loops.yunet_by_hand(made, numbers, 0.6)
    same(found, by_loops.suppressed(faces, 0.3, 0, cut=True))


def test_yunet_is_what_opencv_finds(tmp_path):
    cv2 = pytest.importorskip("cv2")
    path, _ = by_loops.yunet(tmp_path / "y.onnx", 4, sides=(96, 128), scale=0.01)
    theirs = cv2.FaceDetectorYN.create(str(path), "", (128, 96), 0.6, 0.3, 5000)
    _, rows = theirs.detect(np.ascontiguousarray(PHOTO[..., ::-1]))
    right = [(row[14], [*row[:2], *(row[:2] + row[2:4])], row[4:14].reshape(5, 2)) for row in rows]
    same(detection.detect(PHOTO, "yunet", model=path, threshold=0.6), right)


def test_a_photograph_beyond_yunets_fixed_input_is_made_smaller_and_never_larger(tmp_path):
    path, made = by_loops.yunet(tmp_path / "y.onnx", 4, sides=(96, 128), scale=0.01)
    small = PHOTO[:50, :60]
    canvas = np.zeros((96, 128, 3))
    canvas[:50, :60] = small[..., ::-1]
    faces = by_loops.yunet_by_hand(made, (canvas * 0.01).transpose(2, 0, 1), 0.6)
    found = detection.detect(small, "yunet", model=path, threshold=0.6)
    same(found, by_loops.suppressed(faces, 0.3, 0, cut=True))
    large = np.repeat(np.repeat(PHOTO, 2, 0), 2, 1)
    assert max(f.box[2] for f in detection.detect(large, "yunet", model=path, threshold=0.6)) > 128


def test_a_path_is_a_detector(tmp_path):
    for name, make in {
        "scrfd": by_loops.scrfd,
        "retinaface": by_loops.retinaface,
        "yunet": by_loops.yunet,
    }.items():
        path, _ = make(tmp_path / f"{name}.onnx", 5)
        found = detection.make_detector(str(path))
        assert detection.description(found)["detector"] == name
        assert found.detect(PHOTO) == detection.detect(PHOTO, name, model=path)


def test_manifests_know_a_detector_by_name_hash_and_settings(tmp_path):
    path, _ = by_loops.scrfd(tmp_path / "d.onnx", 6)
    made = detection.make_detector("scrfd", model=path, size="64x96", nms=0.5)
    said = detection.description(made)
    assert said == {
        "detector": "scrfd",
        "options": {"device": "cpu", "nms": 0.5, "size": [64, 96], "threshold": 0.5},
        "model": None,
        "model_sha256": sha256_file(path),
        "onnxruntime": onnxruntime.__version__,
    }


def test_threads_give_what_one_gives(tmp_path):
    path, _ = by_loops.scrfd(tmp_path / "d.onnx", 7)
    detector = detection.make_detector("scrfd", model=path, size=96)
    photos = [RNG.integers(0, 256, (64, 80, 3), np.uint8) for _ in range(8)]
    each = [detector.detect(photo) for photo in photos]
    assert detection.detect(photos, detector, threads=4) == each


def test_a_strip_is_fitted_by_its_length(tmp_path):
    """Its other side would be less than a pixel."""
    path, _ = by_loops.scrfd(tmp_path / "d.onnx", 2, sides=(96, 96))
    for shape, side in (((1, 2000), 2), ((2000, 1), 3)):
        photo = RNG.integers(0, 256, (*shape, 3), np.uint8)
        boxes = np.array([face.box for face in detection.detect(photo, str(path))])
        ends = boxes[:, side]
        assert 1000 < ends.max() < 2000 * 2


def test_retinaface_has_places_beyond_whole_strides():
    """Of 33 x 50 pixels: 5 x 7, 3 x 4 and 2 x 2 places, each with two priors."""
    count = 2 * (5 * 7 + 3 * 4 + 2 * 2)
    parts = {k: RNG.normal(size=(1, count, k)).astype(np.float32) for k in (4, 10)}
    share = RNG.random((1, count, 1)).astype(np.float32)
    outputs = {"a": parts[4], "b": np.concatenate([1 - share, share], 2), "c": parts[10]}
    scores, boxes, points = _decoders.retinaface(outputs, 33, 50)
    at = 0
    for stride, sizes, rows, columns in (
        (8, (16, 32), 5, 7),
        (16, (64, 128), 3, 4),
        (32, (256, 512), 2, 2),
    ):
        for r in range(rows):
            for c in range(columns):
                for size in sizes:
                    dx, dy, dw, dh = parts[4][0, at].astype(np.float64)
                    x, y = (c + 0.5) * stride, (r + 0.5) * stride
                    half = size * np.exp([0.2 * dw, 0.2 * dh]) / 2
                    middle = np.array([x + 0.1 * dx * size, y + 0.1 * dy * size])
                    np.testing.assert_allclose(
                        boxes[at], [*(middle - half), *(middle + half)], rtol=1e-4, atol=1e-2
                    )
                    five = [x, y] + 0.1 * size * parts[10][0, at].reshape(5, 2)
                    np.testing.assert_allclose(points[at], five, rtol=1e-4, atol=1e-2)
                    at += 1
    assert at == count
    np.testing.assert_array_equal(scores, share.reshape(-1))


# What is wrong, and what is said.
def no_points(path):
    by_loops.yunet(path, 1)
    model = onnx.load(path)
    del model.graph.output[-1]
    onnx.save(model, path)


def heads_of_another_stride(path):
    made = by_loops.weights(1, (8, 16, 32), 2, by_loops.HEADS)
    made[32, "scores"] = made[16, "scores"]
    outputs = [(f"{h}_{s}", 16 if (s, h) == (32, "scores") else s, h) for h in by_loops.HEADS
               for s in (8, 16, 32)]  # fmt: skip
    by_loops.write(path, made, outputs)


WRONG = {
    "no_sigmoid": ("scrfd", lambda p: by_loops.scrfd(p, 1, last="Identity"), "beyond 0..1"),
    "no_softmax": ("retinaface", lambda p: by_loops.retinaface(p, 1, softmax=False), "softmax"),
    "not_a_network": (
        "scrfd",
        lambda p: p.write_bytes(b"\x08\x07not a graph"),
        "is not an ONNX file",
    ),
    "a_page": ("yunet", lambda p: p.write_text("<!DOCTYPE html><html>"), "an HTML page"),
    "a_pointer": (
        "yunet",
        lambda p: p.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:8f\n"),
        "a Git LFS pointer.*git lfs pull",
    ),
    "empty": ("scrfd", lambda p: p.write_bytes(b""), "an empty file"),
    "another_family": ("scrfd", lambda p: by_loops.yunet(p, 1), "take the detector 'yunet'"),
    "no_points": ("yunet", no_points, "expected cls, obj, bbox and kps"),
    "other_stride": ("scrfd", heads_of_another_stride, "expected scores"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_not_such_a_network_is_said(case, tmp_path):
    name, make, text = WRONG[case]
    make(tmp_path / "d.onnx")
    with pytest.raises(Error, match=text):
        detection.detect(PHOTO, name, model=tmp_path / "d.onnx")


def test_numbers_that_are_not_finite(tmp_path):
    path, made = by_loops.scrfd(tmp_path / "d.onnx", 1)
    made[8, "boxes"][1][0] = np.inf
    outputs = [(f"{h}_{s}", s, h) for h in by_loops.HEADS for s in (8, 16, 32)]
    by_loops.write(path, made, outputs)
    with pytest.raises(Error, match="not finite"):
        detection.detect(PHOTO, "scrfd", model=path)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"size": 100}, "multiples of 32"),
        ({"size": "640x"}, "detector option size is 640, 640x480"),
        ({"size": -32}, "detector option size"),
        ({"size": "0x640"}, "one side of 0"),
        ({"threshold": 2}, "threshold is a number from 0 to 1"),
        ({"nms": "much"}, "nms is a number from 0 to 1"),
        ({"threshold": True}, "threshold is a number from 0 to 1"),
        ({"size": 64.0}, "detector option size"),
        ({"treshold": 0.5}, "did you mean 'threshold'"),
        ({"model": "scrfd_10"}, "did you mean 'scrfd_10g'"),
        ({"device": "gpu"}, "device"),
    ],
)
def test_options_that_are_wrong(tmp_path, options, text):
    path, _ = by_loops.scrfd(tmp_path / "d.onnx", 1)
    with pytest.raises(ValueError, match=text):
        detection.make_detector("scrfd", **{"model": path, **options})


def test_one_that_is_not_there_says_what_to_do(monkeypatch, tmp_path):
    for name in ("FACEBENCH_MODELS", "HF_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(Error, match=r"det_10g\.onnx is not on this machine.*buffalo_l\.zip"):
        detection.make_detector("scrfd")
    monkeypatch.setenv("FACEBENCH_MODELS", str(tmp_path))
    by_loops.scrfd(tmp_path / "det_500m.onnx", 8)
    with pytest.warns(UserWarning, match="not the file that the table means by 'scrfd_500m'"):
        detector = detection.make_detector("scrfd", model="scrfd_500m", size=96)
    assert detector.detect(PHOTO)


def test_its_points_align_a_crop(tmp_path):
    path, _ = by_loops.scrfd(tmp_path / "d.onnx", 9)
    face = detection.detect(PHOTO, str(path), size=96)[0]
    assert face.landmarks.shape == (5, 2)
    with pytest.warns(UserWarning, match="landmarks"):  # random weights give no face's points
        crop, reason = crops.crop_face(PHOTO, face)
    assert (crop is None) == bool(reason)


def test_opencv_itself_is_an_engine_of_yunet(tmp_path):
    cv2 = pytest.importorskip("cv2")
    path, _ = by_loops.yunet(tmp_path / "y.onnx", 4, scale=0.01)
    ours = detection.make_detector("yunet", model=path, threshold=0.6)
    theirs = detection.make_detector("yunet", model=path, threshold=0.6, engine="opencv")
    for seed in range(6):
        photo = np.random.default_rng(seed).integers(0, 256, (70, 99, 3), np.uint8)
        right = [(face.score, face.box, face.landmarks) for face in ours.detect(photo)]
        same(theirs.detect(photo), right)
    assert detection.description(theirs)["opencv"] == cv2.__version__
    with pytest.raises(ValueError, match="engine is onnxruntime, or of yunet also opencv"):
        detection.make_detector("scrfd", model=path, engine="opencv")
    (tmp_path / "broken.onnx").write_bytes(b"\x08\x07not a graph")
    with pytest.raises(Error, match="is not an ONNX file"):
        detection.make_detector("yunet", model=tmp_path / "broken.onnx", engine="opencv")
