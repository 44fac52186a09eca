"""Detectors against independent references: numpy transcriptions, facenet-pytorch's own answers."""

import csv
import hashlib
import importlib.util
import os
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
import mtcnn_reference
from facebench import Error, crops, datasets, detection, images
from facebench.detection import Face

# Low thresholds make a cascade that finds plenty of boxes in any texture.
EAGER = (0.1, 0.01, 0.003)

try:
    WEIGHTS = detection.default_mtcnn_weights()
except Error:
    WEIGHTS = None
needs_weights = pytest.mark.skipif(WEIGHTS is None, reason="mtcnn.safetensors was not built")


@pytest.fixture(scope="session")
def data():
    folder = os.environ.get("FACEBENCH_DATA")
    if not folder:
        pytest.skip("FACEBENCH_DATA is not set")
    return Path(folder)


def texture(height, width, seed=0):
    """Smooth random blobs: what excites the networks more than noise does."""
    random = np.random.default_rng(seed)
    coarse = random.integers(0, 256, (height // 6 + 2, width // 6 + 2, 3)).astype(float)
    ys = np.linspace(0, coarse.shape[0] - 1.001, height)
    xs = np.linspace(0, coarse.shape[1] - 1.001, width)
    y0, x0 = ys.astype(int), xs.astype(int)
    fy, fx = (ys - y0)[:, None, None], (xs - x0)[None, :, None]
    at = lambda dy, dx: coarse[y0 + dy][:, x0 + dx]  # noqa: E731
    smooth = (at(0, 0) * (1 - fx) + at(0, 1) * fx) * (1 - fy)
    smooth += (at(1, 0) * (1 - fx) + at(1, 1) * fx) * fy
    return np.clip(smooth + random.normal(0, 6, smooth.shape), 0, 255).astype(np.uint8)


def same_faces(faces, reference, box_tolerance=0.01):
    boxes, scores, landmarks = reference
    assert len(faces) == len(boxes)
    order = np.argsort(-scores, kind="stable")
    left = list(range(len(faces)))
    for i in order:
        j = min(left, key=lambda j: np.abs(faces[j].box - boxes[i]).max())
        left.remove(j)
        np.testing.assert_allclose(faces[j].box, boxes[i], atol=box_tolerance)
        np.testing.assert_allclose(faces[j].landmarks, landmarks[i], atol=box_tolerance)
        assert abs(faces[j].score - scores[i]) < 1e-4


@pytest.mark.kernels
@needs_weights
@pytest.mark.parametrize("size", [(61, 84), (96, 70), (48, 48)])
@pytest.mark.parametrize("mode", ["facenet_pytorch", "facenet", "matlab"])
def test_mtcnn_is_its_literal_transcription(mode, size):
    if mode != "facenet_pytorch":
        pytest.importorskip("cv2")
    image = texture(*size, seed=size[0])
    faces = detection.detect(image, mode=mode, thresholds=list(EAGER))
    reference = mtcnn_reference.detect(image, WEIGHTS, mode, thresholds=EAGER)
    assert len(reference[0]) > 0, "the case tests nothing"
    same_faces(faces, reference)


@pytest.mark.kernels
@needs_weights
@pytest.mark.parametrize("mode", ["facenet_pytorch", "facenet", "matlab"])
def test_mtcnn_on_photographs_is_its_transcription(mode, data):
    if mode != "facenet_pytorch":
        pytest.importorskip("cv2")
    names = ["Aaron_Eckhart/Aaron_Eckhart_0001.jpg", "George_W_Bush/George_W_Bush_0010.jpg"]
    for name in names:
        image = images.read(data / "lfw" / "images" / name)
        same_faces(detection.detect(image, mode=mode), mtcnn_reference.detect(image, WEIGHTS, mode))


@pytest.mark.kernels
@needs_weights
def test_a_level_with_one_candidate_reads_another_cell_in_the_original_modes():
    pytest.importorskip("cv2")
    # One level only (24 pixels, minimum face 20), threshold just below its best cell.
    networks = mtcnn_reference.Networks(WEIGHTS)
    import cv2

    image = texture(24, 30, seed=1)
    level = cv2.resize(image, (18, 15), interpolation=cv2.INTER_AREA)
    prob, _ = networks.pnet(mtcnn_reference.normalised(level)[None])
    first = float(np.sort(prob.ravel())[-2:].mean())
    thresholds = (first, 0.0, 0.0)
    mirrored = detection.detect(image, mode="facenet", thresholds=list(thresholds))
    same_faces(mirrored, mtcnn_reference.detect(image, WEIGHTS, "facenet", thresholds=thresholds))
    own = mtcnn_reference.detect(image, WEIGHTS, "facenet", thresholds=thresholds, slip=False)
    assert len(mirrored) == len(own[0]) == 1
    with pytest.raises(AssertionError):
        same_faces(mirrored, own)

    level = cv2.resize(image.astype(float), (18, 15), interpolation=cv2.INTER_AREA)
    prob, _ = networks.pnet(mtcnn_reference.normalised(level)[None])
    thresholds = (float(np.sort(prob.ravel())[-2:].mean()), 0.0, 0.0)
    transposed = detection.detect(image, mode="matlab", thresholds=list(thresholds))
    same_faces(transposed, mtcnn_reference.detect(image, WEIGHTS, "matlab", thresholds=thresholds))
    own = mtcnn_reference.detect(image, WEIGHTS, "matlab", thresholds=thresholds, slip=False)
    with pytest.raises(AssertionError):
        same_faces(transposed, own)


def read_reference(data):
    rows = defaultdict(list)
    path = data / "lfw" / "detections_facenet_pytorch.csv"
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            values = list(row.values())
            rows[row["file"]].append(
                Face(
                    [float(v) for v in values[5:9]],
                    float(values[9]),
                    np.array(values[10:], float).reshape(5, 2).tolist(),
                )
            )
    return rows


@pytest.mark.kernels
@needs_weights
@pytest.mark.parametrize("step", [51, pytest.param(1, marks=pytest.mark.slow)])
def test_mtcnn_agrees_with_facenet_pytorch_on_photographs(data, step):
    reference = read_reference(data)
    names = list(reference)[::step]
    paths = [data / "lfw" / "images" / name for name in names]
    found = detection.detect(paths, mode="facenet_pytorch")
    equal = sum(len(f) == len(reference[n]) for n, f in zip(names, found, strict=False))
    assert equal >= 0.999 * len(names)
    overlaps, distances = [], []
    for name, faces in zip(names, found, strict=False):
        for expected in reference[name]:
            match = max(
                faces, key=lambda f: detection.intersection_over_union(f, expected), default=None
            )
            if match is None:
                continue
            overlaps.append(detection.intersection_over_union(match, expected))
            distances.extend(np.linalg.norm(match.landmarks - expected.landmarks, axis=1))
    overlaps = np.array(overlaps)
    print(
        f"{len(names)} images, {equal} with as many faces; {len(overlaps)} boxes, "
        f"{(overlaps < 0.99).sum()} below .99, least {overlaps.min():.4f}; landmarks "
        f"{np.percentile(distances, 99):.6f} px at the 99th percentile, most {max(distances):.4f}"
    )
    # Two boxes of nearly the same score may change places in the last suppression.
    assert np.mean(overlaps >= 0.99) >= 0.9985
    assert np.percentile(distances, 99) < 0.5


@pytest.mark.kernels
@needs_weights
@pytest.mark.parametrize("mode", ["facenet_pytorch", "facenet"])
@pytest.mark.parametrize("path", ["fast", "plain"])
@pytest.mark.parametrize("shape", [(1, 1), (12, 12), (10, 20000), (3000, 14), (20, 21)])
def test_mtcnn_takes_images_of_any_shape(mode, path, shape):
    finder = detection.make_detector(mode=mode, path=path, thresholds=list(EAGER), min_face=12)
    for image in (np.zeros((*shape, 3), np.uint8), texture(*shape)):
        for face in detection.detect(image, finder):
            assert np.isfinite(face.box).all()
            assert np.isfinite(face.landmarks).all()


def strange_images():
    """What no photograph looks like: flat, extreme, of one channel, striped to the pixel, noise."""
    random = np.random.default_rng(4)
    size = (67, 58)
    stripes = np.zeros((*size, 3), np.uint8)
    stripes[:, ::2] = 255
    red = np.zeros((*size, 3), np.uint8)
    red[:, :, 0] = 255
    step = np.zeros((*size, 3), np.uint8)
    step[:, 29:] = 255
    fading = step.copy()  # the bright half is brighter in each row
    fading[:, 29:] = 100 + 2 * np.arange(67, dtype=np.uint8)[:, None, None]
    return {
        "black": np.zeros((*size, 3), np.uint8),
        "white": np.full((*size, 3), 255, np.uint8),
        "grey": np.full((*size, 3), 127, np.uint8),
        "red": red,
        "step": step,
        "fading step": fading,
        "stripes": stripes,
        "chess": stripes
        ^ np.roll(stripes, 1, 1) * (np.arange(67) % 2)[:, None, None].astype(np.uint8),
        "noise": random.integers(0, 256, (*size, 3), np.uint8),
        "extremes": random.integers(0, 2, (*size, 3), np.uint8) * 255,
    }


@pytest.mark.kernels
@needs_weights
@pytest.mark.parametrize("mode", ["facenet_pytorch", "facenet", "matlab"])
def test_any_input_gives_finite_numbers_and_the_same_on_both_paths(mode):
    # Every cell of every level passes: the later stages see all kinds of crops.
    common = {"mode": mode, "thresholds": [0.0, 0.0, 0.0], "factor": 0.5, "min_face": 30}
    pixels = strange_images()
    for name, image in pixels.items():
        faces = {path: detection.detect(image, path=path, **common) for path in ("fast", "plain")}
        for face in faces["fast"] + faces["plain"]:
            assert np.isfinite([*face.box, face.score, *face.landmarks.ravel()]).all(), name
            assert 0 <= face.score <= 1
        # Where an image is flat along an axis, cells have one score, and its last bit decides who
        # suppresses whom.
        if name in ("fading step", "noise", "extremes"):
            plain = faces["plain"]
            assert len(faces["fast"]) == len(plain), name
    for path in ("fast", "plain"):
        assert detection.detect(list(pixels.values()), path=path) == [[]] * len(pixels)


@pytest.mark.kernels
@needs_weights
@pytest.mark.parametrize("path", ["fast", "plain"])
@pytest.mark.parametrize("cut", ["left", "right", "top", "bottom"])
def test_mtcnn_finds_faces_cut_by_a_border(cut, path, data):
    image = images.read(data / "lfw" / "images" / "Aaron_Eckhart" / "Aaron_Eckhart_0001.jpg")
    # The face spans x 46 to 102 and y 39 to 114 of 150.
    part = {
        "left": image[:, 52:],
        "right": image[:, :96],
        "top": image[48:],
        "bottom": image[:106],
    }[cut]
    for mode in ("facenet_pytorch", "facenet"):
        faces = detection.detect(np.ascontiguousarray(part), mode=mode, path=path)
        assert len(faces) == 1
        (x0, y0, x1, y1), (height, width) = faces[0].box, part.shape[:2]
        beyond = {"left": x0 < 8, "right": x1 > width - 8}
        beyond |= {"top": y0 < 8, "bottom": y1 > height - 8}
        assert beyond[cut]


@pytest.mark.kernels
@needs_weights
@pytest.mark.parametrize("path", ["fast", "plain"])
def test_sixty_faces_on_one_image(path, data):
    """A sheet of ten by six photographs: every face is found in its place, with its landmarks."""
    reference = read_reference(data)
    names = [name for name in reference if len(reference[name]) == 1][:600:10]
    sheet = np.zeros((6 * 150, 10 * 150, 3), np.uint8)
    for k, name in enumerate(names):
        y, x = k // 10 * 150, k % 10 * 150
        sheet[y : y + 150, x : x + 150] = images.read(data / "lfw" / "images" / name)
    # No face of LFW is smaller than 40 pixels here.
    faces = [f for f in detection.detect(sheet, path=path, min_face=40) if f.score > 0.95]
    found = set()
    for k, name in enumerate(names):
        corner = np.array([k % 10 * 150, k // 10 * 150])
        for face in faces:
            expected = reference[name][0].landmarks + corner
            if np.linalg.norm(face.landmarks - expected, axis=1).max() < 8:
                found.add(k)
    assert len(found) == 60


@pytest.mark.kernels
@needs_weights
def test_fast_path_is_the_plain_one_on_photographs(data):
    reference = read_reference(data)
    names = list(reference)[5::700]
    pixels = [images.read(data / "lfw" / "images" / name) for name in names]
    pixels[0] = images.resize(pixels[0], 333, 250)
    for mode in ("facenet_pytorch", "facenet"):
        plain = detection.detect(pixels, mode=mode, path="plain")
        for ours, theirs in zip(detection.detect(pixels, mode=mode), plain, strict=True):
            same_faces(
                ours,
                (
                    np.array([f.box for f in theirs]),
                    np.array([f.score for f in theirs]),
                    np.array([f.landmarks for f in theirs]),
                ),
            )


@needs_weights
def test_the_default_mode_pads():
    assert detection.description(detection.make_detector())["options"]["mode"] == "facenet"
    assert detection.MtcnnOptions().mode == "facenet"


@pytest.mark.kernels
@needs_weights
def test_black_image_has_no_face():
    assert detection.detect(np.zeros((100, 120, 3), np.uint8)) == []


@pytest.mark.kernels
@needs_weights
@pytest.mark.parametrize("path", ["fast", "plain"])
def test_batch_is_single_images_whatever_the_threads(path):
    batch = [texture(40 + 7 * i, 90 - 5 * i, seed=i) for i in range(6)]
    batch += [*strange_images().values(), texture(1, 1), texture(12, 12), texture(10, 700)]
    finder = detection.make_detector(path=path, thresholds=list(EAGER))
    single = [detection.detect(image, finder) for image in batch]
    for threads in (1, 3):
        assert detection.detect(batch, finder, threads=threads) == single
        assert detection.detect(batch[::-1], finder, threads=threads) == single[::-1]
    assert any(single)


@pytest.mark.kernels
@needs_weights
def test_colour_order_is_respected():
    image = texture(60, 60, seed=5)
    swapped = np.ascontiguousarray(image[:, :, ::-1])
    rgb = detection.detect(image, thresholds=list(EAGER))
    assert detection.detect(swapped, color="bgr", thresholds=list(EAGER)) == rgb
    assert detection.detect(swapped, thresholds=list(EAGER)) != rgb


@needs_weights
def test_a_description_makes_the_same_detector_again():
    d = detection.make_detector("mtcnn", mode="facenet", min_face=40)
    options = detection.description(d)["options"]
    assert options["mode"] == "facenet"
    assert options["min_face"] == 40
    assert "weights" not in options
    again = detection.make_detector("mtcnn", **options)
    assert again.description() == d.description()


@pytest.mark.kernels
@needs_weights
def test_largest_face_bounds_the_pyramid():
    image = texture(90, 90, seed=9)
    all_faces = detection.detect(image, thresholds=list(EAGER))
    small = detection.detect(image, thresholds=list(EAGER), max_face=30)
    side = lambda faces: max(face.box[3] - face.box[1] for face in faces)  # noqa: E731
    assert side(small) < side(all_faces)


@needs_weights
def test_weights_are_checked(tmp_path):
    data = bytearray(Path(WEIGHTS).read_bytes())
    for at in (0, 9, 4000, len(data) - 1):
        path = tmp_path / "cut.safetensors"
        path.write_bytes(bytes(data[:at]))
        with pytest.raises(Error):
            detection.make_detector("mtcnn", weights=str(path))
    renamed = bytes(data).replace(b'"pnet.conv1.bias"', b'"pnet.conv9.bias"')
    path.write_bytes(renamed)
    with pytest.raises(Error, match=r"pnet\.conv1\.bias"):
        detection.make_detector("mtcnn", weights=str(path))
    with pytest.raises(Error):
        detection.make_detector("mtcnn", weights=str(tmp_path / "absent.safetensors"))


def caffe_blobs(path):
    """layer name -> blobs of a caffemodel: as much of protocol buffers as needed
    (NetParameter.layer = 100, LayerParameter.name = 1, .blobs = 7, BlobProto.data = 5)."""

    def fields(data):
        at = 0

        def varint():
            nonlocal at
            value = shift = 0
            while True:
                byte = data[at]
                at += 1
                value |= (byte & 127) << shift
                shift += 7
                if byte < 128:
                    return value

        while at < len(data):
            key = varint()
            if key & 7 == 0:
                value = varint()
            else:
                size = {1: 8, 5: 4}.get(key & 7) or varint()
                value = data[at : at + size]
                at += size
            yield key >> 3, value

    layers = {}
    for field, layer in fields(path.read_bytes()):
        if field != 100:
            continue
        parts = list(fields(layer))
        blobs = [
            np.concatenate([np.frombuffer(d, "<f4") for n, d in fields(b) if n == 5])
            for f, b in parts
            if f == 7
        ]
        layers[next(bytes(v).decode() for f, v in parts if f == 1)] = blobs
    return layers


@needs_weights
def test_weights_are_those_of_the_original_networks(data):
    ours = mtcnn_reference.read_safetensors(WEIGHTS)
    for i, net in enumerate(("pnet", "rnet", "onet"), 1):
        caffe = caffe_blobs(data / "weights" / "mtcnn" / f"det{i}.caffemodel")
        names = [n for n in ours if n.startswith(net) and n.endswith(".weight")]
        seen = 0
        for name in names:
            weight = ours[name]
            layer = name.split(".")[1]
            if layer.startswith("conv"):
                # MATLAB stored columns first: height and width are swapped.
                expected = caffe[layer.replace("_", "-")][0].reshape(weight.shape)
                if weight.shape[-1] > 1:
                    expected = expected.transpose(0, 1, 3, 2)
            elif layer.startswith("prelu"):
                expected = caffe[layer.replace("prelu", "PReLU" if net == "pnet" else "prelu")][0]
            else:
                key = {"dense4": "conv4", "dense5": "conv5", "dense5_1": "conv5-1"}
                key |= {"dense5_2": "conv5-2", "dense6_1": "conv6-1"}
                key |= {"dense6_2": "conv6-2", "dense6_3": "conv6-3"}
                expected = caffe[key[layer]][0]
                if layer in ("dense4", "dense5"):  # (channel, x, y) there, (x, y, channel) here
                    expected = expected.reshape(len(weight), -1, 3, 3).transpose(0, 2, 3, 1)
                expected = expected.reshape(weight.shape)
            np.testing.assert_array_equal(weight, expected, err_msg=name)
            seen += 1
        assert seen == len(names)


@needs_weights
def test_conversion_gives_the_same_bytes(tmp_path):
    for package in ("mtcnn", "joblib", "lz4"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    import convert_mtcnn as convert

    folder = convert.package_weights()
    made = convert.to_safetensors(convert.convert(folder))
    assert hashlib.sha256(made).digest() == hashlib.sha256(Path(WEIGHTS).read_bytes()).digest()
    for name in ("pnet", "rnet", "onet"):
        (tmp_path / f"{name}.lz4").write_bytes((folder / f"{name}.lz4").read_bytes())
    with open(tmp_path / "rnet.lz4", "ab") as file:
        file.write(b"x")
    with pytest.raises(SystemExit, match="SHA-256"):
        convert.convert(tmp_path)


def test_hog_finds_a_frontal_face_and_its_threshold_matters(data):
    image = images.read(data / "lfw" / "images" / "Aaron_Eckhart" / "Aaron_Eckhart_0001.jpg")
    (face,) = detection.detect(image, detector="hog")
    assert face.landmarks is None
    mtcnn = Face([45.8, 38.5, 102.1, 114.1])
    assert detection.intersection_over_union(face, mtcnn) > 0.5
    assert detection.detect(image, detector="hog", threshold=5.0) == []
    batch = detection.detect([image] * 4, detector="hog", threads=3)
    assert batch == [[face]] * 4


def test_every_kind_of_input(tmp_path):
    """Arrays, grey arrays, paths, mixed lists, stacks, folders: the same faces from each."""
    pixels = texture(80, 70, seed=3)
    images.write(tmp_path / "in" / "b" / "1.png", pixels)
    images.write(tmp_path / "in" / "b" / "2.png", pixels[:60])
    one, two = tmp_path / "in" / "b" / "1.png", str(tmp_path / "in" / "b" / "2.png")
    hog = detection.make_detector("hog", threshold=-2.0)
    first, second = hog.detect(pixels), hog.detect(np.ascontiguousarray(pixels[:60]))
    assert first
    detect = detection.detect
    assert detect(pixels, hog) == first
    assert detect(pixels[:, :, ::-1], hog, color="bgr") == first
    assert detect(one, hog) == first
    assert detect([one, two], hog, threads=2) == [first, second]
    assert detect([pixels, two, pixels[:60]], hog) == [first, second, second]
    assert detect(np.stack([pixels, pixels]), hog) == [first, first]
    gray = images.convert_color(pixels, "gray")
    assert detect(gray, hog) == detect(np.dstack([gray] * 3), hog)
    assert detect([gray, pixels], hog) == [detect(gray, hog), first]
    assert detect([], hog) == []
    rows = detect(tmp_path / "in", hog)
    assert [(row.name, row.status) for row in rows] == [("b/1.png", "ok"), ("b/2.png", "ok")]
    assert [row.faces for row in rows] == [first, second]


def test_a_path_that_cannot_be_read_is_an_error_and_in_a_folder_a_row(tmp_path):
    good, bad = tmp_path / "good.png", tmp_path / "bad.png"
    images.write(good, np.zeros((30, 30, 3), np.uint8))
    bad.write_bytes(good.read_bytes()[:60])
    for wrong in (bad, [good, bad], tmp_path / "absent.png", [tmp_path / "absent.png"]):
        with pytest.raises(Error, match=r"bad\.png|absent\.png"):
            detection.detect(wrong, "hog")
    rows = detection.detect_files([tmp_path, tmp_path / "absent.png"], "hog")
    assert [row.status for row in rows] == ["unreadable", "no_face", "missing"]
    assert "truncated" in rows[0].reason
    assert rows[0].name == str(bad)


def test_names_need_not_be_utf8(tmp_path):
    name = os.fsdecode(b"\xff\xe9.png")
    images.write(tmp_path / "1.png", np.zeros((30, 30, 3), np.uint8))
    (tmp_path / "1.png").rename(tmp_path / name)
    (row,) = detection.detect_files(tmp_path, "hog")
    assert row.name == name
    assert detection.detect_to_file(tmp_path, tmp_path / "faces.csv", "hog").images == 1
    assert detection.detect_to_file(tmp_path, tmp_path / "faces.json", "hog").images == 1
    assert b"\xff\xe9.png,no_face" in (tmp_path / "faces.csv").read_bytes()


def test_given_faces_by_name(tmp_path):
    path = tmp_path / "faces.csv"
    face = Face([1, 2, 11.5, 22], 0.5, [[k, k + 1] for k in range(5)])
    other = Face([0, 0, 5, 5], 0.75)
    path.write_text(
        detection.face_csv_header()
        + detection.face_csv_record("a/b.jpg", face)
        + detection.face_csv_record("a/b.jpg", other)
    )
    d = detection.make_detector("given", file=str(path))
    pixel = np.zeros((30, 30, 3), np.uint8)
    assert d.detect(pixel, "a/b.jpg") == [other, face]
    assert d.detect(pixel, "a/c.jpg") == []
    with pytest.raises(ValueError, match="name"):
        d.detect(pixel)
    stem = detection.make_detector("given", file=str(path), match="stem", scale=2.0)
    found = stem.detect(pixel, "a/b.png#1")
    np.testing.assert_array_equal(found[1].box, np.float32([2, 4, 23, 44]))
    assert "file_sha256" in detection.description(d)


def test_given_faces_with_columns_of_other_names(tmp_path):
    path = tmp_path / "umd.csv"
    path.write_text("ID,FILE,FACE_X,FACE_Y,FACE_WIDTH,FACE_HEIGHT\n7,a/1.jpg,10,20,30,40\n")
    names = ["name=FILE", "x=FACE_X", "y=FACE_Y", "width=FACE_WIDTH", "height=FACE_HEIGHT"]
    d = detection.make_detector("given", file=str(path), rename=names)
    (face,) = d.detect(np.zeros((8, 8, 3), np.uint8), "a/1.jpg")
    np.testing.assert_array_equal(face.box, np.float32([10, 20, 40, 60]))
    with pytest.raises(Error, match="did you mean 'FILE'"):
        detection.make_detector("given", file=str(path), rename=["name=FILES"])
    with pytest.raises(ValueError, match="is not OURS=THEIRS"):
        detection.make_detector("given", file=str(path), rename=["name"])


def test_given_faces_without_a_header(tmp_path):
    path = tmp_path / "list.txt"
    path.write_text("x.jpg 10 20 30 40\r\ny.jpg 1 2 3 4\r\n")
    d = detection.make_detector(
        "given",
        file=str(path),
        separator="blanks",
        columns=["name", "x", "y", "width", "height"],
    )
    (face,) = d.detect(np.zeros((5, 5, 3), np.uint8), "x.jpg")
    np.testing.assert_array_equal(face.box, [10, 20, 40, 60])


def test_given_faces_of_another_data_set_are_refused(tmp_path):
    for person in ("ann", "bob"):
        images.write(tmp_path / "faces" / person / f"{person}.png", np.zeros((64, 64, 3), np.uint8))
    faces = datasets.read_image_folder(tmp_path / "faces")
    names = ["ann/ann.png", "bob/bob.png"]
    path = tmp_path / "given.csv"

    def given(*rows, **options):
        path.write_text("name,status,x0,y0,x1,y1\n" + "".join(rows))
        return detection.make_detector("given", file=str(path), **options)

    def pack(detector):
        crop = crops.CropOptions(name="paper")
        return datasets.pack_dataset(faces, tmp_path / "pack.h5", detector=detector, crop=crop)

    other = "other/a.jpg,ok,1,2,30,40\n"
    with pytest.raises(Error, match=r"names none of the 2 images: it has 'other/a\.jpg'"):
        pack(given(other))
    assert not (tmp_path / "pack.h5").exists()
    with pytest.raises(Error, match="names none"):
        detection.detect_files(tmp_path / "faces", given(other))
    # One name that fits is enough, also where that image has no face.
    summary = pack(given(other, f"{names[0]},no_face,,,,\n"))
    assert summary.counts["no_face"] == 2
    assert pack(given("ann/ann.jpg,ok,1,2,30,40\n", match="stem")).counts["ok"] == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name,x0,y0,x1\na,1,2,3\n", "only 3"),
        ("name\na\n", "neither boxes nor landmarks"),
        ("x0,y0,x1,y1\n1,2,3,4\n", "no column 'name'"),
        ("name,x0,y0,x1,y1\na,1,2,zebra,4\n", r"csv:2: "),
        ("name,x0,y0,x1,y1\na,1,2,3,4\nb,5,5,5,9\n", r"csv:3: .*no area"),
        ("name,x0,y0,x1,y1\na,1,2,nan,4\n", r"csv:2: "),
        ("name,x0,y0,x1,y1\na,1,2,1e30,4\n", "beyond any image"),
    ],
)
def test_malformed_given_files_are_refused(tmp_path, text, message):
    path = tmp_path / "faces.csv"
    path.write_text(text)
    with pytest.raises(Error, match=message):
        detection.make_detector("given", file=str(path))


def test_selection_rules():
    far = Face([100, 0, 160, 60], 0.8)  # area 3600, centre (130, 30)
    near = Face([60, 50, 90, 90], 0.9)  # area 1200, centre (75, 70)
    middle = Face([40, 40, 90, 90], 0.7)  # area 2500, centre (65, 65)
    faces = [far, near, middle]
    assert detection.select_face(faces, 150, 150, "largest") == 0
    # 3600 - 2 (55^2 + 45^2) < 0; 1200 - 2 * 25 = 1150; 2500 - 2 * 200 = 2100.
    assert detection.select_face(faces, 150, 150, "center_weighted") == 2
    assert detection.select_face(faces, 150, 150, "nearest_center") == 1
    assert detection.select_face(faces, 150, 150, "best_score") == 1
    assert detection.select_face([], 150, 150, "largest") is None
    assert detection.select_face([near, near], 150, 150, "largest") == 0
    with pytest.raises(ValueError, match="did you mean 'largest'"):
        detection.select_face(faces, 150, 150, "larges")


def test_wrong_use_is_explained():
    with pytest.raises(ValueError, match="did you mean 'mtcnn'"):
        detection.make_detector("mtcn")
    with pytest.raises(ValueError, match="did you mean 'facenet'"):
        detection.make_detector("mtcnn", mode="facene")
    with pytest.raises(ValueError, match="did you mean 'upsample'"):
        detection.make_detector("hog", upsampl=1)
    with pytest.raises(ValueError):
        detection.make_detector("mtcnn", thresholds=[0.5])
    with pytest.raises(TypeError, match="uint8"):
        detection.detect(np.zeros((5, 5, 3)), detector="hog")
    with pytest.raises(ValueError, match=r"not \(5, 5, 4\)"):
        detection.detect(np.zeros((5, 5, 4), np.uint8), detector="hog")


def test_drawing_marks_faces_and_leaves_the_image_alone():
    image = np.zeros((50, 60, 3), np.uint8)
    inside = Face([10, 10, 30, 40], 1.0, [[20, 20]] * 5)
    outside = Face([-1e9, -5, 1e9, 500])
    drawn = detection.draw_faces(image, [inside, outside], selected=0)
    assert not image.any()
    assert drawn[10, 20].tolist() == [64, 224, 64]
    assert drawn[20, 20].tolist() == [255, 64, 64]
    assert drawn[45, 55].tolist() == [0, 0, 0]


def test_tables_are_documented_and_constructible(tmp_path):
    path = tmp_path / "faces.csv"
    path.write_text("name,x0,y0,x1,y1\na,1,2,3,4\n")
    for name, doc in detection.list_detectors().items():
        assert doc
        if name == "mtcnn" and WEIGHTS is None:
            continue
        if name in ("scrfd", "retinaface", "yunet"):  # whose files are not here
            continue
        if name.startswith("dlib") and "FACEBENCH_DLIB_MODELS" not in os.environ:
            continue
        detection.make_detector(name, **({"file": str(path)} if name == "given" else {}))
    assert set(detection.selection_rules()) >= {"largest", "center_weighted", "nearest_center"}


@pytest.mark.parametrize("image", [None, 3, b"x", {"a": 1}, object()])
def test_what_is_no_image_is_named(image):
    with pytest.raises(TypeError, match="image: an array, a path or a sequence of them, not"):
        detection.detect(image, detector="hog")
