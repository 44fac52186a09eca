"""The outputs of SCRFD, RetinaFace and YuNet as scores, boxes and points, in pixels of their input.

Sources: insightface, model_zoo/scrfd.py (Guo et al., SCRFD, ICLR 2022); biubug6/Pytorch_Retinaface
(Deng et al., RetinaFace, CVPR 2020); opencv, face_detect.cpp of objdetect (Wu et al., YuNet, 2023).
Points are in the order of `Face`: all three were trained on WIDER FACE's, the left as seen first.
"""

import numpy as np

Raw = tuple[np.ndarray, np.ndarray, np.ndarray | None]  # scores (N), boxes (N, 4), points (N, 5, 2)


class WrongOutputs(Exception):
    """The outputs are not those of the family; its text says what was expected."""


def scrfd(outputs: dict, height: int, width: int) -> Raw:
    """For each stride scores, distances of a box's sides from the anchor, and of the points, in
    strides; with three strides two anchors at a place, with five one."""
    heads = {}
    for value in outputs.values():
        rows = value.reshape(-1, value.shape[-1]) if value.ndim in (2, 3) else value
        heads[rows.shape] = rows
    levels = sum(shape[-1] == 1 for shape in heads)
    strides, anchors = ((8, 16, 32), 2) if levels == 3 else ((8, 16, 32, 64, 128), 1)
    has_points = any(shape[-1] == 10 for shape in heads)
    scores, boxes, points = [], [], []
    for stride in strides:
        down, across = np.mgrid[: height // stride, : width // stride]
        centres = np.stack([across, down], -1).reshape(-1, 2).repeat(anchors, 0) * stride
        centres = centres.astype(np.float32)
        n = len(centres)
        wanted = [(n, 1), (n, 4)] + [(n, 10)] * has_points
        if len(outputs) != len(strides) * len(wanted) or any(key not in heads for key in wanted):
            raise WrongOutputs(
                "scores (N, 1), boxes (N, 4) and points (N, 10) of each of the strides 8, 16, 32, "
                "two anchors at a place (8 to 128, one)"
            )
        sides = heads[n, 4] * stride
        scores.append(heads[n, 1][:, 0])
        boxes.append(np.concatenate([centres - sides[:, :2], centres + sides[:, 2:]], 1))
        if has_points:
            offsets = (heads[n, 10] * stride).reshape(n, 5, 2)
            points.append(centres[:, None] + offsets)
    return (
        np.concatenate(scores),
        np.concatenate(boxes),
        np.concatenate(points) if has_points else None,
    )


def retinaface(outputs: dict, height: int, width: int) -> Raw:
    """Boxes and points as offsets from priors, two sizes at a place of each of three strides."""
    priors = []
    for stride, sizes in ((8, (16, 32)), (16, (64, 128)), (32, (256, 512))):
        down, across = np.mgrid[: -(-height // stride), : -(-width // stride)]
        x, y = ((side.reshape(-1) + 0.5) * stride for side in (across, down))
        each = [np.stack([x / width, y / height, *(np.full(len(x), size / side)
                for side in (width, height))], 1) for size in sizes]  # fmt: skip
        priors.append(np.stack(each, 1).reshape(-1, 4))
    prior = np.concatenate(priors).astype(np.float32)
    parts = {value.shape[-1]: value.reshape(-1, value.shape[-1]) for value in outputs.values()}
    wanted = [(len(prior), last) for last in (4, 2, 10)]
    if len(outputs) != 3 or any(parts.get(k, np.empty(0)).shape != (n, k) for n, k in wanted):
        n = len(prior)
        raise WrongOutputs(f"boxes ({n}, 4), scores ({n}, 2) and points ({n}, 10)")
    if not np.allclose(parts[2].sum(1), 1, atol=1e-2):
        raise WrongOutputs("two scores that add up to 1: the softmax at the end (phase='test')")
    centres = prior[:, :2] + parts[4][:, :2] * np.float32(0.1) * prior[:, 2:]
    with np.errstate(over="ignore"):  # told as not finite
        sides = prior[:, 2:] * np.exp(parts[4][:, 2:] * np.float32(0.2))
    first = centres - sides / 2
    boxes = np.concatenate([first, first + sides], 1) * np.array([width, height] * 2, np.float32)
    offsets = parts[10].reshape(-1, 5, 2) * np.float32(0.1) * prior[:, None, 2:]
    points = (prior[:, None, :2] + offsets) * np.array([width, height], np.float32)
    return parts[2][:, 1], boxes, points


YUNET = [f"{head}_{stride}" for head in ("cls", "obj", "bbox", "kps") for stride in (8, 16, 32)]


def yunet(outputs: dict, height: int, width: int) -> Raw:
    """One place a box: its centre and the logarithms of its sides, in strides."""
    scores, boxes, points = [], [], []
    for stride in (8, 16, 32):
        down, across = np.mgrid[: height // stride, : width // stride]
        place = np.stack([across, down], -1).reshape(-1, 2).astype(np.float32)
        heads = {}
        for name, last in (("cls", 1), ("obj", 1), ("bbox", 4), ("kps", 10)):
            value = outputs.get(f"{name}_{stride}")
            if value is None or value.size != len(place) * last:
                raise WrongOutputs("cls, obj, bbox and kps of 8, 16, 32 (YuNet 2023mar and later)")
            heads[name] = value.reshape(-1, last)
        both = [np.clip(heads[name][:, 0], 0, 1) for name in ("cls", "obj")]
        scores.append(np.sqrt(both[0] * both[1]))
        centres = (place + heads["bbox"][:, :2]) * stride
        with np.errstate(over="ignore"):  # told as not finite
            sides = np.exp(heads["bbox"][:, 2:]) * stride
        first = centres - sides / 2
        boxes.append(np.concatenate([first, first + sides], 1))
        points.append((heads["kps"].reshape(-1, 5, 2) + place[:, None]) * stride)
    return np.concatenate(scores), np.concatenate(boxes), np.concatenate(points)
