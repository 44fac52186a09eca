"""MTCNN step by step in numpy, for comparison: slow, literal, sharing nothing with the library.

Boxes are rows x1 y1 x2 y2 score dx1 dy1 dx2 dy2. Modes: `facenet` works in float64 with
OpenCV's area filter, `matlab` as well but without rounding levels to 8 bits, `facenet_pytorch` in
float32 with means of whole pixels.
"""

import json
import struct
from pathlib import Path

import numpy as np


def read_safetensors(path):
    data = Path(path).read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + size])
    body = data[8 + size :]
    return {
        name: np.frombuffer(body[slice(*info["data_offsets"])], "<f4").reshape(info["shape"])
        for name, info in header.items()
        if name != "__metadata__"
    }


# --- networks: maps are (batch, y, x, channel) ----------------------------------------------------


def conv(x, w, b):
    k = w.shape[2]
    windows = np.lib.stride_tricks.sliding_window_view(x, (k, k), axis=(1, 2))
    return np.einsum("nyxcij,ocij->nyxo", windows, w, optimize=True) + b


def prelu(x, slope):
    return np.where(x > 0, x, x * slope)


def pool(x, k):
    """Stride 2; the last window may be cut off by the edge."""
    n, h, w, c = x.shape
    oh, ow = -(-(h - k) // 2) + 1, -(-(w - k) // 2) + 1
    out = np.empty((n, oh, ow, c), x.dtype)
    for y in range(oh):
        for i in range(ow):
            out[:, y, i] = x[:, 2 * y : 2 * y + k, 2 * i : 2 * i + k].max((1, 2))
    return out


def softmax1(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e[..., 1] / e.sum(-1)


class Networks:
    def __init__(self, path):
        self.t = read_safetensors(path)

    def block(self, net, i, x):
        x = conv(x, self.t[f"{net}.conv{i}.weight"], self.t[f"{net}.conv{i}.bias"])
        return prelu(x, self.t[f"{net}.prelu{i}.weight"])

    def dense(self, net, name, x):
        return x @ self.t[f"{net}.{name}.weight"].T + self.t[f"{net}.{name}.bias"]

    def pnet(self, x):
        x = pool(self.block("pnet", 1, x), 2)
        x = self.block("pnet", 3, self.block("pnet", 2, x))
        a = conv(x, self.t["pnet.conv4_1.weight"], self.t["pnet.conv4_1.bias"])
        b = conv(x, self.t["pnet.conv4_2.weight"], self.t["pnet.conv4_2.bias"])
        return softmax1(a)[0], b[0]

    def rnet(self, x):
        x = pool(self.block("rnet", 1, x), 3)
        x = pool(self.block("rnet", 2, x), 3)
        x = self.block("rnet", 3, x).transpose(0, 2, 1, 3).reshape(len(x), -1)
        x = prelu(self.dense("rnet", "dense4", x), self.t["rnet.prelu4.weight"])
        return softmax1(self.dense("rnet", "dense5_1", x)), self.dense("rnet", "dense5_2", x)

    def onet(self, x):
        x = pool(self.block("onet", 1, x), 3)
        x = pool(self.block("onet", 2, x), 3)
        x = pool(self.block("onet", 3, x), 2)
        x = self.block("onet", 4, x).transpose(0, 2, 1, 3).reshape(len(x), -1)
        x = prelu(self.dense("onet", "dense5", x), self.t["onet.prelu5.weight"])
        return (
            softmax1(self.dense("onet", "dense6_1", x)),
            self.dense("onet", "dense6_2", x),
            self.dense("onet", "dense6_3", x),
        )


# --- what both modes share ------------------------------------------------------------------------


def nms(boxes, threshold, plus, smaller=False, last=False):
    order = np.arange(len(boxes))
    if last:
        order = order[::-1]
    order = order[np.argsort(-boxes[order, 4], kind="stable")]
    area = (boxes[:, 2] - boxes[:, 0] + plus) * (boxes[:, 3] - boxes[:, 1] + plus)
    keep = []
    while len(order):
        i, rest = order[0], order[1:]
        keep.append(i)
        w = np.minimum(boxes[i, 2], boxes[rest, 2]) - np.maximum(boxes[i, 0], boxes[rest, 0]) + plus
        h = np.minimum(boxes[i, 3], boxes[rest, 3]) - np.maximum(boxes[i, 1], boxes[rest, 1]) + plus
        both = np.maximum(0, w) * np.maximum(0, h)
        under = np.minimum(area[i], area[rest]) if smaller else area[i] + area[rest] - both
        order = rest[both / under <= threshold]
    return keep


def square(boxes):
    boxes = boxes.copy()
    w, h = boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1]
    half = boxes.dtype.type(0.5)
    side = np.maximum(w, h)
    boxes[:, 0] += w * half - side * half
    boxes[:, 1] += h * half - side * half
    boxes[:, 2] = boxes[:, 0] + side
    boxes[:, 3] = boxes[:, 1] + side
    return boxes


def corrected(boxes, reg, plus):
    out = boxes.copy()
    w, h = boxes[:, 2] - boxes[:, 0] + plus, boxes[:, 3] - boxes[:, 1] + plus
    for k, side in enumerate((w, h, w, h)):
        out[:, k] = boxes[:, k] + reg[:, k] * side
    return out


def normalised(x):
    return ((np.asarray(x, np.float64) - 127.5) * 0.0078125).astype(np.float32)


def area_mean(image, height, width):
    """Means over whole pixels, as torch's interpolate(mode='area')."""
    h, w = image.shape[:2]
    out = np.empty((height, width, 3), np.float32)
    for y in range(height):
        y0, y1 = y * h // height, -(-(y + 1) * h // height)
        for x in range(width):
            x0, x1 = x * w // width, -(-(x + 1) * w // width)
            total = image[y0:y1, x0:x1].astype(np.int64).sum((0, 1)).astype(np.float32)
            out[y, x] = total / np.float32(y1 - y0) / np.float32(x1 - x0)
    return out


# --- the cascade ----------------------------------------------------------------------------------


def detect(image, weights, mode, min_face=20, factor=0.709, thresholds=(0.6, 0.7, 0.7), slip=True):
    """Boxes (N, 4), scores (N,), landmarks (N, 5, 2). Without ``slip`` a level with one candidate
    reads its own cell."""
    matlab = mode == "matlab"
    facenet = mode in ("facenet", "matlab")
    real = np.float64 if facenet else np.float32
    if facenet:
        import cv2
    networks = Networks(weights)
    h, w = image.shape[:2]

    scales, side, scale = [], min(h, w) * 12 / min_face, 12 / min_face
    while side >= 12:
        scales.append(12 / min_face * factor ** len(scales) if facenet else scale)
        scale, side = scale * factor, side * factor

    found = []
    for scale in scales:
        if facenet:
            lh, lw = int(np.ceil(h * scale)), int(np.ceil(w * scale))
            pixels = image.astype(np.float64) if matlab else image
            level = cv2.resize(pixels, (lw, lh), interpolation=cv2.INTER_AREA)
        else:
            lh, lw = int(h * scale + 1), int(w * scale + 1)
            level = area_mean(image, lh, lw)
        prob, reg = networks.pnet(normalised(level)[None])
        hit = prob >= np.float32(thresholds[0])
        if facenet and not matlab:
            xs, ys = np.nonzero(hit.T)
        else:
            ys, xs = np.nonzero(hit)
        cells = reg
        if slip and facenet and len(ys) == 1:
            cells = reg[:, ::-1]
            if matlab:
                # dx1 (rows x columns again) is read at the index that `find` gave in map'.
                index = np.ravel_multi_index((xs[0], ys[0]), prob.shape[::-1], order="F")
                row, column = np.unravel_index(index, prob.shape, order="F")
                cells = np.broadcast_to(reg[row, column], reg.shape)
        boxes = np.empty((len(ys), 9), real)
        for k, start in enumerate((1, 1, 12, 12)):
            position = (2 * (xs if k % 2 == 0 else ys) + start).astype(real)
            boxes[:, k] = np.floor(position / real(scale))
        boxes[:, 4] = prob[ys, xs]
        boxes[:, 5:] = cells[ys, xs]
        found.append(boxes[nms(boxes, 0.5, int(facenet), last=facenet)])
    boxes = np.concatenate(found) if found else np.empty((0, 9), real)
    boxes = boxes[nms(boxes, 0.7, int(facenet), last=facenet)]
    boxes = square(corrected(boxes, boxes[:, 5:], 0))
    if facenet:
        boxes[:, :4] = np.trunc(boxes[:, :4])

    def crops(boxes, side):
        out = np.empty((len(boxes), side, side, 3), np.float32)
        for i, (x1, y1, x2, y2) in enumerate(boxes[:, :4].astype(int)):
            cx1, cy1, cx2, cy2 = max(x1, 1), max(y1, 1), min(x2, w), min(y2, h)
            part = image[cy1 - 1 : cy2, cx1 - 1 : cx2]
            if facenet:
                padded = np.zeros((y2 - y1 + 1, x2 - x1 + 1, 3))
                padded[cy1 - y1 : cy2 - y1 + 1, cx1 - x1 : cx2 - x1 + 1] = part
                centred = matlab and min(padded.shape[:2]) < side
                way = cv2.INTER_LINEAR if centred else cv2.INTER_AREA
                small = cv2.resize(padded, (side, side), interpolation=way)
            else:
                small = area_mean(part, side, side)
            out[i] = normalised(small)
        return out

    def passed(boxes, score, threshold):
        keep = score > np.float32(threshold)
        boxes = boxes[keep, :5].copy()
        boxes[:, 4] = score[keep]
        return boxes, keep

    if len(boxes):
        score, reg = networks.rnet(crops(boxes, 24))
        boxes, keep = passed(boxes, score, thresholds[1])
        pick = nms(boxes, 0.7, int(facenet), last=facenet)
        boxes = square(corrected(boxes[pick], reg[keep][pick].astype(real), 1))
        if facenet:
            boxes[:, :4] = np.trunc(boxes[:, :4])
    if not len(boxes):
        return np.empty((0, 4)), np.empty(0), np.empty((0, 5, 2))
    parts = crops(boxes, 48)
    score, reg, points = networks.onet(parts)
    if matlab:
        mirrored = networks.onet(parts[:, :, ::-1])[2].reshape(-1, 2, 5)[:, :, [1, 0, 2, 4, 3]]
        mirrored[:, 0] = 1 - mirrored[:, 0]
        points = (points + mirrored.reshape(-1, 10)) / 2
    boxes, keep = passed(boxes, score, thresholds[2])
    points, reg = points[keep].astype(real), reg[keep].astype(real)
    sides = boxes[:, 2:4] - boxes[:, :2] + 1
    landmarks = np.stack(
        [
            sides[:, :1] * points[:, :5] + boxes[:, :1] - 1,
            sides[:, 1:] * points[:, 5:] + boxes[:, 1:2] - 1,
        ],
        axis=2,
    )
    boxes = corrected(boxes, reg, 1)
    pick = nms(boxes, 0.7, 1, smaller=True, last=True)
    return boxes[pick, :4], boxes[pick, 4], landmarks[pick]
