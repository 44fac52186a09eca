"""Crops against numpy's own Umeyama and a bilinear warp written out."""

import os
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
from facebench import Error, crops, detection, images
from facebench.detection import Face

ARCFACE = [
    [38.2946, 51.6963],
    [73.5318, 51.5014],
    [56.0252, 71.7366],
    [41.5493, 92.3655],
    [70.7299, 92.2041],
]
LANDMARKS = [[60, 70], [95, 66], [80, 90], [66, 110], [94, 107]]
CORNERS = [[58, 71], [98, 66], [80, 90], [69, 70], [87, 68]]  # of the eyes, as dlib has them


def umeyama(source, target):
    """Eq. 40-42 with the singular value decomposition, for any dimension."""
    source, target = np.asarray(source, float), np.asarray(target, float)
    x, y = source - source.mean(0), target - target.mean(0)
    u, d, vt = np.linalg.svd(y.T @ x / len(x))
    s = np.ones(2)
    if np.linalg.det(u) * np.linalg.det(vt) < 0:
        s[1] = -1
    rotation = u @ np.diag(s) @ vt
    scale = (d * s).sum() / (x**2).sum() * len(x)
    shift = target.mean(0) - scale * rotation @ source.mean(0)
    return np.hstack([scale * rotation, shift[:, None]])


def picture(height=150, width=160):
    y, x = np.mgrid[:height, :width]
    waves = [np.sin(x / 7) + np.cos(y / 9), np.sin((x + y) / 11), np.cos(x * y / 900)]
    return np.clip(np.stack(waves, -1) * 60 + 128, 0, 255).astype(np.uint8)


def bilinear_warp(image, matrix, width, height):
    """Each target pixel from its place in the source; zero outside."""
    inverse = np.linalg.inv(np.vstack([matrix, [0, 0, 1]]))
    y, x = np.mgrid[:height, :width]
    u, v, _ = np.tensordot(inverse, np.stack([x, y, np.ones_like(x)]).astype(float), 1)
    padded = np.pad(image.astype(float), ((2, 2), (2, 2), (0, 0)))
    u, v = (np.clip(a + 2, 0, n - 2) for a, n in ((u, padded.shape[1]), (v, padded.shape[0])))
    iu, iv = u.astype(int), v.astype(int)
    fu, fv = (u - iu)[..., None], (v - iv)[..., None]
    top = padded[iv, iu] * (1 - fu) + padded[iv, iu + 1] * fu
    bottom = padded[iv + 1, iu] * (1 - fu) + padded[iv + 1, iu + 1] * fu
    return top * (1 - fv) + bottom * fv


def test_similarity_is_umeyamas():
    random = np.random.default_rng(0)
    for _ in range(50):
        source = random.normal(size=(5, 2)) * 30 + 100
        target = random.normal(size=(5, 2)) * 20
        np.testing.assert_allclose(
            crops.fit_similarity(source, target),
            umeyama(source.astype(np.float32), target.astype(np.float32)),
            atol=1e-4,
        )
    np.testing.assert_allclose(
        crops.fit_similarity(LANDMARKS, ARCFACE), umeyama(LANDMARKS, ARCFACE), atol=1e-5
    )


def test_similarity_never_mirrors():
    matrix = crops.fit_similarity([[0, 0], [1, 0], [0, 1]], [[0, 0], [-1, 0], [0, 1]])
    assert np.linalg.det(matrix[:, :2]) >= 0


def test_wrong_points_are_refused():
    with pytest.raises(ValueError):
        crops.fit_similarity([[1, 1]], [[2, 2]])
    with pytest.raises(ValueError):
        crops.fit_similarity([[1, 1], [1, 1]], [[2, 2], [3, 3]])
    with pytest.raises(ValueError):
        crops.fit_similarity([[1, 1], [1, 2]], [[2, 2]])


def test_arcface_crop_is_the_warp_written_out():
    image = picture()
    crop, reason = crops.crop_face(image, Face([50, 40, 105, 120], 1.0, LANDMARKS))
    assert reason == ""
    assert crop.shape == (112, 112, 3)
    expected = bilinear_warp(image, umeyama(LANDMARKS, ARCFACE), 112, 112)
    difference = np.abs(crop - expected)
    # Positions are in steps of 1/32 pixel.
    assert difference.max() <= 6
    assert difference.mean() < 0.6


def test_arcface_crop_is_opencvs():
    cv2 = pytest.importorskip("cv2")
    image = picture()
    crop, _ = crops.crop_face(image, Face([50, 40, 105, 120], 1.0, LANDMARKS))
    matrix = crops.fit_similarity(LANDMARKS, ARCFACE)
    expected = cv2.warpAffine(image, matrix, (112, 112), borderValue=0).astype(int)
    difference = np.abs(crop - expected)
    assert difference.max() <= 2
    assert np.mean(difference > 1) < 0.005


def test_template_points_arrive_where_they_belong_and_outside_is_the_border():
    image = np.zeros((150, 160, 3), np.uint8)
    points = np.array(LANDMARKS)
    for x, y in points:
        image[y - 1 : y + 2, x - 1 : x + 2] = 255
    size = 56  # half of the template
    box = [50, 40, 105, 120]
    crop, _ = crops.crop_face(image, Face(box, 1.0, LANDMARKS), width=size, height=size)
    moved = umeyama(LANDMARKS, np.array(ARCFACE) / 2)
    for point in points:
        x, y = np.round(moved @ [*point, 1]).astype(int)
        assert crop[y, x, 0] > 60
    at_corner = Face([-20, -40, 35, 40], 1.0, (points - [70, 80]).tolist())
    crop, _ = crops.crop_face(image, at_corner, border=77)
    assert (crop[0, 0] == 77).all()


def test_paper_crop_is_the_enlarged_box():
    image = picture()
    face = Face([50.6, 40.2, 90.6, 100.2])
    crop, reason = crops.crop_face(image, face, "paper", width=100, height=80)
    assert reason == ""
    # 15 % of 40 and of 60: corners at 44.6, 31.2, 96.6, 109.2.
    np.testing.assert_array_equal(crop, images.resize(image[31:109, 44:96], 100, 80))
    wide, _ = crops.crop_face(image, face, "paper", margin=0.5, interpolation="nearest")
    np.testing.assert_array_equal(wide, images.resize(image[10:130, 30:110], 112, 112, "nearest"))


def test_paper_crop_is_clipped_to_the_image():
    image = picture()
    crop, _ = crops.crop_face(image, Face([-20, 130, 30, 180]), "paper")
    np.testing.assert_array_equal(crop, images.resize(image[122:150, 0:37], 112, 112))


def test_facenet_crop_is_the_align_scripts():
    """det[i] -+ margin / 2, clipped, into an array of int32, cut, PIL's bilinear filter."""
    PIL = pytest.importorskip("PIL.Image")
    image = picture()
    for box in ([50.6, 40.2, 90.6, 100.2], [5.5, -3, 60.9, 40], [100, 100, 155.3, 149.5]):
        height, width = image.shape[:2]
        window = np.zeros(4, np.int32)
        window[0] = np.maximum(box[0] - 44 / 2, 0)
        window[1] = np.maximum(box[1] - 44 / 2, 0)
        window[2] = np.minimum(box[2] + 44 / 2, width)
        window[3] = np.minimum(box[3] + 44 / 2, height)
        part = image[window[1] : window[3], window[0] : window[2]]
        expected = np.asarray(PIL.fromarray(part).resize((182, 182), PIL.BILINEAR)).astype(int)
        assert crops.crop_window(width, height, Face(box), "facenet") == tuple(window)
        crop, _ = crops.crop_face(image, Face(box), "facenet")
        assert np.abs(crop - expected).max() <= 1


def test_sphereface_crop_is_the_arcface_crop_eight_pixels_further_left():
    image = picture()
    face = Face([50, 40, 105, 120], 1.0, LANDMARKS)
    narrow, _ = crops.crop_face(image, face, "sphereface112x96")
    wide, _ = crops.crop_face(image, face, "arcface112")
    assert narrow.shape == (112, 96, 3)
    # The two similarities differ by a translation of whole pixels; positions are in 1/32 pixel.
    difference = np.abs(narrow.astype(int) - wide[:, 8:104])
    assert np.percentile(difference, 99) <= 6


def test_vggface2_tight_crop_is_what_the_data_set_released():
    folder = os.environ.get("FACEBENCH_DATA")
    if not folder:
        pytest.skip("FACEBENCH_DATA is not set")
    try:
        detection.default_mtcnn_weights()
    except Error:
        pytest.skip("mtcnn.safetensors was not built")
    cv2 = pytest.importorskip("cv2")
    loose = Path(folder) / "vggface2_samples" / "loose_crop"
    overlaps = {}
    for path in sorted(loose.glob("*/*.jpg")):
        image = images.read(path)
        tight = images.read(loose.parent / "tight_crop" / path.relative_to(loose))
        # Where the released tight crop lies in the released loose one.
        errors = cv2.matchTemplate(image, tight, cv2.TM_SQDIFF)
        x, y = cv2.minMaxLoc(errors)[2]
        theirs = [x, y, x + tight.shape[1], y + tight.shape[0]]
        height, width = image.shape[:2]
        faces = detection.detect(image)
        face = faces[detection.select_face(faces, width, height, "largest")]
        ours = crops.crop_window(width, height, face, "vggface2_tight")
        overlaps[str(path.relative_to(loose))] = detection.intersection_over_union(
            Face(theirs), Face(ours)
        )
    values = np.array(list(overlaps.values()))
    assert len(values) == 32
    assert values.mean() > 0.93
    outliers = sorted(name for name, value in overlaps.items() if value < 0.85)
    assert outliers == []
    assert values.min() > 0.8


def test_what_is_left_to_the_crop_is_recorded():
    options = crops.resolve_crop("facenet", width=160)
    assert (options.width, options.height) == (160, 182)
    assert (options.margin, options.margin_pixels) == (0, 22)
    assert options.interpolation == "bilinear_antialias"
    assert crops.resolve_crop(options) == options
    with pytest.raises(ValueError, match="aligned"):
        crops.crop_window(9, 9, Face([1, 1, 5, 5]), "arcface112")


@pytest.mark.parametrize(
    ("name", "face", "reason"),
    [
        ("facenet", Face([9, 9, 3, 3]), "no pixels"),
        ("vggface2_tight", Face([9, 9, 9, 20]), "no pixels"),
        ("sphereface112x96", Face([0, 0, 9, 9]), "needs landmarks"),
        ("arcface112", Face([0, 0, 9, 9]), "needs landmarks"),
        ("arcface112", Face([0, 0, 9, 9], 1.0, [[5, 5]] * 5), "one point"),
        ("arcface112", Face([0, 0, 9, 9], 1.0, [[np.nan, 5]] * 5), "no number"),
        ("dlib150", Face([0, 0, 9, 9]), "needs landmarks"),
        ("dlib150", Face([0, 0, 9, 9], 1.0, [[5, 5]] * 5), "one point"),
        ("paper", Face([200, 200, 230, 230]), "no pixels"),
        ("paper", Face([np.nan, 0, 9, 9]), "no number"),
        ("paper", Face([5, 5, 5, 5]), "no pixels"),
        ("paper", Face([9, 9, 3, 3]), "no pixels"),
    ],
)
def test_a_face_that_cannot_be_cut_is_a_reason(name, face, reason):
    crop, why = crops.crop_face(picture(), face, name)
    assert crop is None
    assert reason in why


# What get_face_chip_details (150 pixels, padding .25) and extract_image_chip of dlib 19.24.0 make
# of chip_picture() and points in our order: sums of the channels, and pixels at CHIP_PLACES.
DLIB_CHIPS = [
    (
        (180, 200),
        [[60, 70], [110, 74], [84, 105], [76, 72], [95, 73]],
        [3119716, 2773534, 2908171],
        [[212, 147, 159], [92, 240, 168], [227, 76, 48], [39, 50, 187]],
    ),
    (  # reaches beyond the image
        (180, 200),
        [[5, 40], [75, 30], [45, 75], [28, 37], [55, 33]],
        [2120275, 2079283, 1744843],
        [[0, 0, 0], [181, 119, 108], [119, 231, 158], [160, 238, 113]],
    ),
    (  # cut out of the halved image
        (900, 1000),
        [[300, 350], [700, 370], [490, 600], [430, 360], [580, 366]],
        [2709232, 2713969, 2694355],
        [[184, 67, 99], [224, 17, 127], [39, 223, 125], [88, 34, 125]],
    ),
]
CHIP_PLACES = ([11, 48, 85, 122], [29, 82, 135, 38])


def chip_picture(height, width):
    y, x = np.mgrid[:height, :width]
    return np.stack([x * 3 + y, x + y * 2, x * y // 16], -1).astype(np.uint8)


@pytest.mark.parametrize(("shape", "points", "sums", "pixels"), DLIB_CHIPS)
def test_dlib150_crop_is_dlibs_chip(shape, points, sums, pixels):
    box = [*np.min(points, 0), *np.max(points, 0)]
    crop, _ = crops.crop_face(chip_picture(*shape), Face(box, 1.0, points), "dlib150")
    assert crop.shape == (150, 150, 3)
    # The template's points are of single precision: a grey value that lies between two may turn.
    assert np.abs(crop[CHIP_PLACES].astype(int) - pixels).max() <= 1
    assert np.abs(crop.sum((0, 1), int) - sums).max() < 300


def test_dlib150_crop_of_points_far_away_is_black_and_has_no_border():
    for points in (np.array(LANDMARKS) * 1e4, np.array(LANDMARKS) + 1e6):
        with pytest.warns(UserWarning, match="other points of a face"):  # those of MTCNN
            crop, _ = crops.crop_face(picture(), Face([0, 0, 9, 9], 1.0, points), "dlib150")
        assert crop.shape == (150, 150, 3)
    assert not crop.any()
    with pytest.raises(ValueError, match="dlib150 is black outside"):
        crops.crop_face(picture(), Face([0, 0, 9, 9], 1.0, LANDMARKS), "dlib150", border=7)


def test_crops_are_documented_and_options_checked():
    assert set(crops.list_crops()) >= {"paper", "arcface112"}
    assert all(crops.list_crops().values())
    with pytest.raises(ValueError):
        crops.CropOptions(name="arcface11")
    with pytest.raises(ValueError):
        crops.CropOptions(border=256)
    assert crops.CropOptions(name="paper") == crops.CropOptions(name="paper")


def test_colour_order_does_not_matter_and_grey_stays_grey():
    image = picture()
    for name in crops.list_crops():
        landmarks = CORNERS if name == "dlib150" else LANDMARKS
        face = Face([50, 40, 105, 120], 1.0, landmarks)
        rgb, _ = crops.crop_face(image, face, name)
        bgr, _ = crops.crop_face(np.ascontiguousarray(image[:, :, ::-1]), face, name)
        np.testing.assert_array_equal(rgb, bgr[:, :, ::-1])
        gray, _ = crops.crop_face(np.ascontiguousarray(image[:, :, 0]), face, name)
        np.testing.assert_array_equal(gray, rgb[:, :, 0])
