"""Small detectors as ONNX files with random weights, and the same by loops in numpy."""

import math

import numpy as np

HEADS = {"scores": 1, "boxes": 4, "points": 10}


def weights(seed, strides, anchors, heads):
    """For each stride and head a filter (anchors * numbers, 3, stride, stride) and its bias."""
    rng = np.random.default_rng(seed)
    made = {}
    for stride in strides:
        for head, numbers in heads.items():
            filters = rng.normal(size=(anchors * numbers, 3, stride, stride)) / stride**1.5
            bias = rng.normal(size=anchors * numbers)
            made[stride, head] = filters.astype(np.float32), bias.astype(np.float32)
    return made


def conv(numbers, filters, bias):
    """(C, H, W) to (places, filters), places row by row; the filter is as large as its stride."""
    stride = filters.shape[-1]
    rows, columns = numbers.shape[1] // stride, numbers.shape[2] // stride
    out = np.empty((rows * columns, len(filters)))
    for r in range(rows):
        for c in range(columns):
            block = numbers[:, r * stride : (r + 1) * stride, c * stride : (c + 1) * stride]
            out[r * columns + c] = (filters.astype(np.float64) * block).sum((1, 2, 3)) + bias
    return out


def write(path, made, outputs, sides=("H", "W"), batched=True, last="Sigmoid", scale=0.05):
    """An ONNX file of `weights`. ``outputs``: (name, stride, head) in the file's order."""
    import onnx

    h = onnx.helper
    values = {"scale": np.float32(scale)}
    nodes = [h.make_node("Mul", ["input", "scale"], ["scaled"])]
    shown = []
    for name, stride, head in outputs:
        filters, bias = made[stride, head]
        numbers = HEADS.get(head, 1)
        values |= {f"{name}_w": filters, f"{name}_b": bias}
        shape = [1, -1, numbers] if batched else [-1, numbers]
        values[f"{name}_s"] = np.array(shape, np.int64)
        nodes += [
            h.make_node(
                "Conv", ["scaled", f"{name}_w", f"{name}_b"], [f"{name}_c"], strides=[stride] * 2
            ),
            h.make_node("Transpose", [f"{name}_c"], [f"{name}_t"], perm=[0, 2, 3, 1]),
            h.make_node("Reshape", [f"{name}_t", f"{name}_s"], [f"{name}_r"]),
            h.make_node(last if numbers == 1 else "Identity", [f"{name}_r"], [name]),
        ]
        shown.append(
            h.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [*shape[:-2], None, numbers])
        )
    graph = h.make_graph(
        nodes,
        "g",
        [h.make_tensor_value_info("input", onnx.TensorProto.FLOAT, [1, 3, *sides])],
        shown,
        [onnx.numpy_helper.from_array(v, k) for k, v in values.items()],
    )
    onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid("", 13)], ir_version=8), path)
    return path


def in_pixels(box):
    """As OpenCV's Rect of whole numbers: x, y, width, height are cut, each by itself."""
    x, y, width, height = (int(v) for v in (*box[:2], box[2] - box[0], box[3] - box[1]))
    return [x, y, x + width, y + height]


def suppressed(faces, most, plus, cut=False):
    """Faces (score, box, points) that stay, best first, by comparing each pair."""
    stay = []
    for face in sorted(faces, key=lambda face: -face[0]):
        box = in_pixels(face[1]) if cut else face[1]
        for other in stay:
            known = in_pixels(other[1]) if cut else other[1]
            across = min(box[2], known[2]) - max(box[0], known[0]) + plus
            down = min(box[3], known[3]) - max(box[1], known[1]) + plus
            shared = max(0, across) * max(0, down)
            areas = [(b[2] - b[0] + plus) * (b[3] - b[1] + plus) for b in (box, known)]
            if shared / (sum(areas) - shared) > most:
                break
        else:
            stay.append(face)
    return stay


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def scrfd_by_hand(made, numbers, strides, anchors, threshold, scale, points=True):
    faces = []
    for stride in strides:
        columns = numbers.shape[2] // stride
        heads = {h: conv(numbers, *made[stride, h]) for h in (HEADS if points else list(HEADS)[:2])}
        for place in range(len(heads["scores"])):
            x, y = place % columns * stride, place // columns * stride
            for a in range(anchors):
                score = sigmoid(heads["scores"][place, a])
                if score < threshold:
                    continue
                left, top, right, bottom = heads["boxes"][place, 4 * a : 4 * a + 4] * stride
                box = np.array([x - left, y - top, x + right, y + bottom]) / scale
                five = None
                if points:
                    offsets = heads["points"][place, 10 * a : 10 * a + 10] * stride
                    five = (offsets.reshape(5, 2) + np.array([x, y])) / scale
                faces.append((score, box, five))
    return faces


def retinaface_by_hand(made, numbers, threshold):
    faces = []
    width = numbers.shape[2]
    for stride, sizes in ((8, (16, 32)), (16, (64, 128)), (32, (256, 512))):
        columns = width // stride
        heads = {h: conv(numbers, *made[stride, h]) for h in ("boxes", "two", "points")}
        for place in range(len(heads["two"])):
            x, y = (place % columns + 0.5) * stride, (place // columns + 0.5) * stride
            for a, size in enumerate(sizes):
                no, yes = np.exp(heads["two"][place, 2 * a : 2 * a + 2])
                if yes / (no + yes) <= threshold:
                    continue
                dx, dy, dw, dh = heads["boxes"][place, 4 * a : 4 * a + 4]
                cx, cy = x + 0.1 * dx * size, y + 0.1 * dy * size
                w, h = size * math.exp(0.2 * dw), size * math.exp(0.2 * dh)
                offsets = heads["points"][place, 10 * a : 10 * a + 10].reshape(5, 2)
                five = np.array([x, y]) + 0.1 * offsets * size
                box = np.array([cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2])
                faces.append((yes / (no + yes), box, five))
    return faces


def yunet_by_hand(made, numbers, threshold):
    faces = []
    for stride in (8, 16, 32):
        columns = numbers.shape[2] // stride
        heads = {h: conv(numbers, *made[stride, h]) for h in ("cls", "obj", "boxes", "points")}
        for place in range(len(heads["cls"])):
            c, r = place % columns, place // columns
            score = math.sqrt(sigmoid(heads["cls"][place, 0]) * sigmoid(heads["obj"][place, 0]))
            if score < threshold:
                continue
            dx, dy, dw, dh = heads["boxes"][place]
            cx, cy, w, h = (c + dx) * stride, (r + dy) * stride, math.exp(dw), math.exp(dh)
            w, h = w * stride, h * stride
            five = (heads["points"][place].reshape(5, 2) + np.array([c, r])) * stride
            box = np.array([cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2])
            faces.append((score, box, five))
    return faces


def scrfd(path, seed=0, strides=(8, 16, 32), anchors=2, points=True, **how):
    """The file and its weights; heads by kind, then by stride, as insightface's files have them."""
    made = weights(seed, strides, anchors, HEADS)
    for stride in strides:  # distances from the anchor to the sides, which are positive
        made[stride, "boxes"][1][:] = np.abs(made[stride, "boxes"][1]) + 1.5
    heads = list(HEADS) if points else list(HEADS)[:2]
    outputs = [(f"{head}_{stride}", stride, head) for head in heads for stride in strides]
    return write(path, made, outputs, **how), made


def yunet(path, seed=0, **how):
    """The file and its weights."""
    heads = {"cls": 1, "obj": 1, "boxes": 4, "points": 10}
    made = weights(seed, (8, 16, 32), 1, heads)
    names = {"cls": "cls", "obj": "obj", "boxes": "bbox", "points": "kps"}
    outputs = [(f"{names[h]}_{s}", s, h) for h in heads for s in (8, 16, 32)]
    return write(path, made, outputs, **how), made


def retinaface(path, seed=0, sides=("H", "W"), scale=0.05, softmax=True):
    """The file and its weights: boxes, scores and points of all strides, one after another."""
    import onnx

    h = onnx.helper
    heads = {"boxes": 4, "two": 2, "points": 10}
    made = weights(seed, (8, 16, 32), 2, heads)
    values = {"scale": np.float32(scale)}
    nodes = [h.make_node("Mul", ["input0", "scale"], ["scaled"])]
    outputs = {"boxes": "output0", "two": "579", "points": "578"}
    shown = []
    for head, numbers in heads.items():
        values[f"{head}_s"] = np.array([1, -1, numbers], np.int64)
        parts = []
        for stride in (8, 16, 32):
            key = f"{head}{stride}"
            values[f"{key}_w"], values[f"{key}_b"] = made[stride, head]
            names = [f"{key}_{step}" for step in ("w", "b", "c", "t", "r")]
            nodes += [
                h.make_node("Conv", ["scaled", *names[:2]], [names[2]], strides=[stride] * 2),
                h.make_node("Transpose", [names[2]], [names[3]], perm=[0, 2, 3, 1]),
                h.make_node("Reshape", [names[3], f"{head}_s"], [names[4]]),
            ]
            parts.append(names[4])
        whole = outputs[head] if head != "two" else "both"
        nodes.append(h.make_node("Concat", parts, [whole], axis=1))
        if head == "two":
            last = h.make_node("Softmax", ["both"], ["579"], axis=-1)
            nodes.append(last if softmax else h.make_node("Identity", ["both"], ["579"]))
        shape = [1, "N", numbers]
        shown.append(h.make_tensor_value_info(outputs[head], onnx.TensorProto.FLOAT, shape))
    graph = h.make_graph(
        nodes,
        "g",
        [h.make_tensor_value_info("input0", onnx.TensorProto.FLOAT, [1, 3, *sides])],
        shown,
        [onnx.numpy_helper.from_array(v, k) for k, v in values.items()],
    )
    onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid("", 13)], ir_version=8), path)
    return path, made
