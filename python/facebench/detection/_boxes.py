"""What detectors share that are networks: fitting a photograph into their input, and which of
several boxes of one face is kept."""

import numpy as np

from facebench.images import resize


def fitted(image: np.ndarray, width: int, height: int, enlarge: bool = True):
    """(canvas, scale): the image, scaled to fit, at the top left of black pixels. Sides are cut to
    whole pixels and the scale is that of the height, as insightface computes them."""
    rows, columns = image.shape[:2]
    if not enlarge and rows <= height and columns <= width:
        inner, scale = image, 1.0
    else:
        if rows / columns > height / width:
            inner_height = height
            inner_width = int(inner_height / (rows / columns))
        else:
            inner_width = width
            inner_height = int(inner_width * (rows / columns))
        # Of a strip whose height would be less than a pixel, the scale is that of its width.
        scale = inner_height / rows or inner_width / columns
        inner_width, inner_height = max(inner_width, 1), max(inner_height, 1)
        inner = resize(image, inner_width, inner_height)
    canvas = np.zeros((height, width, 3), np.uint8)
    canvas[: inner.shape[0], : inner.shape[1]] = inner
    return canvas, scale


def kept(boxes: np.ndarray, scores: np.ndarray, most: float, plus: int = 0) -> list[int]:
    """Greedy non-maximum suppression: the best box stays, and of the others those that share at
    most ``most`` with it. ``plus``: 1 where a box holds its last pixel, as in py_cpu_nms. Equal
    scores stay in their order."""
    x0, y0, x1, y1 = boxes.T
    areas = (x1 - x0 + plus) * (y1 - y0 + plus)
    order = np.argsort(-scores, kind="stable")
    result = []
    while order.size:
        best, rest = order[0], order[1:]
        result.append(int(best))
        width = np.minimum(x1[best], x1[rest]) - np.maximum(x0[best], x0[rest]) + plus
        height = np.minimum(y1[best], y1[rest]) - np.maximum(y0[best], y0[rest]) + plus
        shared = np.maximum(0, width) * np.maximum(0, height)
        whole = areas[best] + areas[rest] - shared
        # Two boxes without an area are one, as OpenCV counts them.
        ratio = np.divide(shared, whole, out=np.ones_like(whole), where=whole != 0)
        order = rest[ratio <= most]
    return result
