"""Both rules of a warp, written out in numpy's whole numbers."""

import hashlib

import numpy as np
import pytest

pytest.importorskip("torch")
from facebench import crops, images
from facebench.detection import Face

STEPS = {"opencv4": 5, "exact": 16}


def written_out(image, matrix, width, height, border, rule):
    """The definition: positions in 1 / 2^bits pixel, sums in whole numbers, rounded once."""
    bits = STEPS[rule]
    (a, b, c), (d, e, f) = matrix
    inverse = 1 / (a * e - b * d)
    i, j, k, m = e * inverse, b * -inverse, d * -inverse, a * inverse
    shift_x, shift_y = -i * c - j * f, -k * c - m * f
    scale = 2.0 ** (bits + 5)
    x, y = np.arange(width), np.arange(height)[:, None]
    whole = [
        np.rint(i * x * scale).astype(np.int64)
        + np.rint((j * y + shift_x) * scale).astype(np.int64),
        np.rint(k * x * scale).astype(np.int64)
        + np.rint((m * y + shift_y) * scale).astype(np.int64),
    ]
    u, v = ((w + 16) >> 5 for w in whole)
    image = image.reshape(*image.shape[:2], -1)
    rows, columns = image.shape[:2]

    def at(du, dv):
        s, t = (u >> bits) + du, (v >> bits) + dv
        inside = (s >= 0) & (t >= 0) & (s < columns) & (t < rows)
        taken = image[np.clip(t, 0, rows - 1), np.clip(s, 0, columns - 1)].astype(np.int64)
        return np.where(inside[..., None], taken, border)

    one = 1 << bits
    p, q = (u & (one - 1))[..., None], (v & (one - 1))[..., None]
    top = at(0, 0) * (one - p) + at(1, 0) * p
    bottom = at(0, 1) * (one - p) + at(1, 1) * p
    return (top * (one - q) + bottom * q + (1 << (2 * bits - 1)) >> (2 * bits)).astype(np.uint8)


@pytest.mark.parametrize("rule", STEPS)
def test_the_warp_is_its_rule_written_out(rule):
    random = np.random.default_rng(7)
    for trial in range(120):
        rows, columns, width, height = (int(n) for n in random.integers(1, 90, 4))
        image = random.integers(0, 256, (rows, columns, 3), dtype=np.uint8)
        image = image[..., 0] if trial % 3 == 0 else image
        scale, turn = np.exp(random.uniform(-2, 2)), random.uniform(-3.2, 3.2)
        c, s = scale * np.cos(turn), scale * np.sin(turn)
        matrix = [[c, -s, random.uniform(-60, 60)], [s, c, random.uniform(-60, 60)]]
        if trial % 7 == 0:  # ties of the rounding
            matrix = [[1, 0, trial / 64], [0, 1, -trial / 128]]
        border = int(random.integers(256))
        made = images.warp_affine(image, matrix, width, height, border, rule=rule)
        expected = written_out(image, matrix, width, height, border, rule)
        np.testing.assert_array_equal(made.reshape(expected.shape), expected)


# Of the present definition: another machine, compiler or OpenCV gives the same.
BYTES = {
    "opencv4": "0e340197b050fc86d91501b4a20b212d3d86dd0359b2c16f58533eb890db04b1",
    "exact": "1a4837c63da7179815f67f16d186fca4324714a6b360b5d818c81eccf1e04557",
}


@pytest.mark.parametrize("rule", STEPS)
def test_the_bytes_are_these_everywhere(rule):
    y, x = np.mgrid[:150, :160]
    image = np.stack([x * y % 256, (x * 7 + y * 3) % 256, (x * x + y * y) // 9 % 256], -1)
    matrix = [[0.71, 0.13, -9.75], [-0.13, 0.71, 4.125]]
    made = images.warp_affine(image.astype(np.uint8), matrix, 112, 112, rule=rule)
    assert hashlib.sha256(made.tobytes()).hexdigest() == BYTES[rule]


POINTS = [[60, 70], [95, 66], [80, 90], [66, 110], [94, 107]]


def test_a_crop_takes_the_rule_by_name_and_records_it():
    image = np.random.default_rng(1).integers(0, 256, (150, 160, 3), dtype=np.uint8)
    face = Face([50, 40, 105, 120], 1.0, POINTS)
    plain, _ = crops.crop_face(image, face)
    named, _ = crops.crop_face(image, face, warp="opencv4")
    exact, _ = crops.crop_face(image, face, warp="exact")
    np.testing.assert_array_equal(plain, named)
    assert 0 < np.abs(plain.astype(int) - exact).max() <= 9  # 1/64 pixel of noise, each way
    assert crops.resolve_crop("arcface112").warp == "opencv4"
    assert crops.resolve_crop("sphereface112x96", warp="exact").warp == "exact"
    assert crops.resolve_crop("paper").warp is None
    for name in ("paper", "facenet", "dlib150"):
        with pytest.raises(ValueError, match=f"crop {name} is not warped: it takes no warp"):
            crops.resolve_crop(name, warp="exact")
    with pytest.raises(ValueError, match="did you mean 'exact'"):
        crops.resolve_crop("arcface112", warp="exakt")
    with pytest.raises(ValueError, match="did you mean 'opencv4'"):
        images.warp_affine(image, [[1, 0, 0], [0, 1, 0]], 5, 5, rule="opencv")
