"""Pictures on which detectors are compared: synthetic faces, and photographs of LFW."""

import numpy as np
from facebench import datasets, images

# LFW: a plain one, two with more than one face, one cut by the frame, small and tight ones.
PHOTOGRAPHS = (
    "Aaron_Eckhart/Aaron_Eckhart_0001",
    "George_W_Bush/George_W_Bush_0010",
    "Abdullah_Gul/Abdullah_Gul_0013",
    "Zico/Zico_0001",
    "Serena_Williams/Serena_Williams_0010",
)


def face(index, kind="frontal", size=160):
    person = datasets.make_identity(seed=14, index=index)
    return datasets.render_face(person, datasets.make_nuisance(kind, 14, index), size=size)


def window(image, x, y, width, height):
    """A part of an image. None of it lies outside."""
    return np.ascontiguousarray(image[y : y + height, x : x + width])


def cut_face(made, left=0.0, top=0.0, right=0.0, bottom=0.0):
    """The picture without those shares of the face's box at its four sides (below 0: with more)."""
    x0, y0, x1, y1 = made.box
    w, h = x1 - x0, y1 - y0
    size = len(made.image)
    a, b = max(0, round(x0 + left * w)), max(0, round(y0 + top * h))
    c, d = min(size, round(x1 - right * w)), min(size, round(y1 - bottom * h))
    return window(made.image, a, b, c - a, d - b)


def pictures(lfw=None):
    """name -> uint8 (height, width, 3)."""
    large = [face(i, size=240) for i in range(4)]
    sheet = np.full((283, 401, 3), 96, np.uint8)
    for i, (x, y, size) in enumerate([(0, 0, 150), (170, 20, 90), (255, 120, 143), (20, 170, 64)]):
        sheet[y : y + size, x : x + size] = images.resize(face(i).image, size, size, "area")
    result = {
        "frontal": face(0).image,
        "wild": face(1, "wild", 200).image,
        "turned": face(2, "yaw45", 150).image,
        "small": images.resize(face(3).image, 47, 47, "area"),
        "several": sheet,
        "tight": cut_face(large[0], 0.05, 0.05, 0.05, 0.05),
        "left": cut_face(large[1], left=0.25, top=-1, right=-1, bottom=-1),
        "top": cut_face(large[2], left=-1, top=0.2, right=-1, bottom=-1),
        "corner": cut_face(large[3], left=0.15, top=0.15, right=-1, bottom=-1),
        "chin": cut_face(large[0], left=-1, top=-1, right=-1, bottom=0.15),
    }
    if lfw:
        for name in PHOTOGRAPHS:
            result[name.split("/")[1]] = images.read(lfw / f"{name}.jpg")
    return result
