#!/usr/bin/env python3
"""Makes tests/data/mtcnn_goldens.json: the faces that other programs find on the pictures of
tests/support/mtcnn_pictures.py.

    python scripts/mtcnn_goldens.py pictures --out P    where facebench is installed
    python scripts/mtcnn_goldens.py faces --pictures P --facenet CLONE --caffe FOLDER \\
        --out tests/data/mtcnn_goldens.json      elsewhere: facebench is not used

The second command wants an environment of its own (the file names the versions that it was made
with):

    pip install tensorflow-cpu==2.21.0 mtcnn==1.0.0 opencv-python-headless==4.14.0.94 joblib lz4

and runs three programs:

facenet  align/detect_face.py of github.com/davidsandberg/facenet at the commit below, with its own
         weights on TensorFlow. Changed: what today's TensorFlow and NumPy ask for, and the order of
         equal scores, which NumPy's default sort leaves to the processor; here it is stable, as
         MATLAB's.
caffe    the authors' MTCNNv1/detect_face.m (github.com/kpzhang93/MTCNN_face_detection_alignment),
         written anew in numpy from the MATLAB source, with MATLAB's order of memory; the authors'
         det1 to det3.caffemodel run in OpenCV's dnn. imResample is that of Piotr Dollar's toolbox.
mtcnn    the PyPI package mtcnn 1.0.0 by Ivan de Paz Centeno, with its own weights on TensorFlow, at
         the thresholds of the others. Its arithmetic is of no mode: levels by TensorFlow's area
         filter, crops by bilinear interpolation, grey outside of the image.
"""

import argparse
import hashlib
import importlib.metadata
import json
import subprocess
import sys
import types
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
COMMIT = "096ed770f163957c1e56efa7feeb194773920f6e"
# facenet's weights are pickles: only the files that are meant are opened.
WEIGHTS = {
    "det1.npy": "7c05a2c5625e0f4e8c9f633b5ddef5e942b03032",
    "det2.npy": "85d5bf09c9e42053f5587195f55b1c82abe81fde",
    "det3.npy": "90d5ba975440fa18c2d020da6739e96ed5e04905",
}
MIN_FACE, FACTOR, THRESHOLDS = 20, 0.709, (0.6, 0.7, 0.7)


def git_blob(repository, path):
    """The content of a file of the commit."""
    return subprocess.run(
        ["git", "-C", repository, "show", f"{COMMIT}:{path}"], check=True, capture_output=True
    ).stdout


def facenet(repository, folder):
    """facenet's detector, as a function image -> (box, score, landmarks) of each face."""
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    for name, expected in WEIGHTS.items():
        data = git_blob(repository, f"src/align/{name}")
        found = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
        if found != expected:
            raise SystemExit(f"{name} is another file: its git hash is {found}")
        (folder / name).write_bytes(data)
    source = git_blob(repository, "src/align/detect_face.py").decode()
    source = source.replace("import tensorflow as tf", "import tensorflow.compat.v1 as tf")
    source = source.replace("encoding='latin1'", "encoding='latin1', allow_pickle=True")
    source = source.replace("np.argsort(s)", "np.argsort(s, kind='stable')")
    module = types.ModuleType("detect_face")
    exec(compile(source, "detect_face.py", "exec"), module.__dict__)
    session = tf.Session(graph=tf.Graph())
    with session.graph.as_default(), session.as_default():
        networks = module.create_mtcnn(session, str(folder))

    def detect(image):
        boxes, points = module.detect_face(image, MIN_FACE, *networks, list(THRESHOLDS), FACTOR)
        return [(box[:4], box[4], points[:, i].reshape(2, 5).T) for i, box in enumerate(boxes)]

    return detect


# --- the authors' program -------------------------------------------------------------------------


def resample_matrix(before, after):
    """imResample along one side: pixels weighted by what of them is covered, or between two."""
    weights = np.zeros((after, before))
    step = before / after
    for i in range(after):
        if before > after:
            begin, end = i * step, (i + 1) * step
            for k in range(int(begin), min(before, int(np.ceil(end)))):
                share = (min(end, k + 1) - max(begin, k)) / step
                if share > 1e-3 / step:
                    weights[i, k] = share
        else:
            at = (i + 0.5) * step - 0.5
            k = int(np.floor(at))
            for j, share in ((k, 1 - (at - k)), (k + 1, at - k)):
                weights[i, min(max(j, 0), before - 1)] += share
    return weights / weights.sum(1, keepdims=True)


def resample(image, height, width):
    """imResample(image, [height width], 'bilinear') of an image (height, width, 3)."""
    if image.shape[:2] == (height, width):
        return image
    rows, columns = (resample_matrix(*n) for n in zip(image.shape, (height, width), strict=False))
    return np.einsum("yi,xj,ijc->yxc", rows, columns, image, optimize=True)


class Matlab:
    """MTCNNv1/detect_face.m, function by function. Coordinates count from 1."""

    def __init__(self, folder):
        import cv2

        self.nets = [
            cv2.dnn.readNetFromCaffe(
                str(folder / f"det{i}.prototxt"), str(folder / f"det{i}.caffemodel")
            )
            for i in (1, 2, 3)
        ]
        self.outputs = (
            ["conv4-2", "prob1"],
            ["conv5-2", "prob1"],
            ["conv6-2", "conv6-3", "prob1"],
        )

    def forward(self, network, batch):
        """Images (N, height, width, 3). MATLAB's first index, the row, is Caffe's last."""
        pixels = (batch - 127.5) * 0.0078125
        self.nets[network].setInput(np.ascontiguousarray(pixels.transpose(0, 3, 2, 1), np.float32))
        return [out.astype(np.float64) for out in self.nets[network].forward(self.outputs[network])]

    def __call__(self, image):
        height, width = image.shape[:2]
        smallest = min(height, width) * 12 / MIN_FACE
        scales = []
        while smallest >= 12:
            scales.append(12 / MIN_FACE * FACTOR ** len(scales))
            smallest *= FACTOR
        found = [np.zeros((0, 9))]
        for scale in scales:
            hs, ws = int(np.ceil(height * scale)), int(np.ceil(width * scale))
            reg, prob = self.forward(0, resample(image.astype(float), hs, ws)[None])
            # As MATLAB has them: (rows, columns, values).
            boxes = self.generate(prob[0].transpose(2, 1, 0)[:, :, 1], reg[0].T, scale)
            found.append(boxes[self.nms(boxes, 0.5)])
        boxes = np.concatenate(found)
        boxes = boxes[self.nms(boxes, 0.7)]
        sides = boxes[:, 2:4] - boxes[:, :2]
        moved = boxes[:, :4] + boxes[:, 5:] * np.hstack([sides, sides])
        boxes = np.fix(self.square(moved))
        if not len(boxes):
            return []
        reg, prob = self.forward(1, self.cut(image, boxes, 24))
        passed = np.nonzero(prob[:, 1] > THRESHOLDS[1])[0]
        boxes = np.column_stack([boxes[passed], prob[passed, 1]])
        pick = self.nms(boxes, 0.7)
        boxes = np.fix(self.square(self.regress(boxes[pick], reg[passed][pick])[:, :4]))
        if not len(boxes):
            return []
        crops = self.cut(image, boxes, 48)
        reg, points, prob = self.forward(2, crops)
        passed = np.nonzero(prob[:, 1] > THRESHOLDS[2])[0]
        before = np.column_stack([boxes[passed], prob[passed, 1]])
        boxes = self.regress(before, reg[passed])
        pick = self.nms(boxes, 0.7, smaller=True)
        if not len(pick):
            return []
        chosen = passed[pick]
        mirrored = self.forward(2, crops[chosen][:, :, ::-1])[1]
        mirrored = np.hstack([1 - mirrored[:, [1, 0, 2, 4, 3]], mirrored[:, [6, 5, 7, 9, 8]]])
        mean = (points[chosen] + mirrored) / 2
        result = []
        for k, i in enumerate(pick):
            corner = before[i, :2]
            size = before[i, 2:4] - corner + 1
            landmarks = mean[k].reshape(2, 5).T * size + corner - 1
            result.append((boxes[i, :4], boxes[i, 4], landmarks))
        return result

    @staticmethod
    def generate(score_map, reg, scale):
        """generateBoundingBox.m, with MATLAB's linear indices (Fortran's order)."""
        score_map = score_map.T
        parts = [reg[:, :, k].T for k in range(4)]
        index = np.nonzero(score_map.ravel(order="F") >= THRESHOLDS[0])[0]
        if len(index) == 1:
            parts = [part.T for part in parts]
        y, x = np.unravel_index(index, score_map.shape, order="F")
        corner = np.column_stack([y, x])
        return np.column_stack(
            [
                np.fix((2 * corner + 1) / scale),
                np.fix((2 * corner + 12) / scale),
                score_map.ravel(order="F")[index],
                *[part.ravel(order="F")[index] for part in parts],
            ]
        )

    @staticmethod
    def nms(boxes, threshold, smaller=False):
        area = (boxes[:, 2] - boxes[:, 0] + 1) * (boxes[:, 3] - boxes[:, 1] + 1)
        order = np.argsort(boxes[:, 4], kind="stable")
        pick = []
        while len(order):
            i, rest = order[-1], order[:-1]
            pick.append(i)
            low = np.maximum(boxes[i, :2], boxes[rest, :2])
            high = np.minimum(boxes[i, 2:4], boxes[rest, 2:4])
            both = np.prod(np.maximum(0, high - low + 1), axis=1)
            under = np.minimum(area[i], area[rest]) if smaller else area[i] + area[rest] - both
            order = rest[both / under <= threshold]
        return np.array(pick, int)

    @staticmethod
    def square(boxes):
        size = boxes[:, 2:4] - boxes[:, :2]
        side = size.max(1, keepdims=True)
        corner = boxes[:, :2] + size * 0.5 - side * 0.5
        return np.hstack([corner, corner + side])

    @staticmethod
    def regress(boxes, reg):
        size = boxes[:, 2:4] - boxes[:, :2] + 1
        return np.column_stack([boxes[:, :4] + reg * np.hstack([size, size]), boxes[:, 4]])

    @staticmethod
    def cut(image, boxes, side):
        height, width = image.shape[:2]
        crops = []
        for x0, y0, x1, y1 in boxes[:, :4].astype(int):
            padded = np.zeros((y1 - y0 + 1, x1 - x0 + 1, 3))
            top, bottom, left, right = max(y0, 1), min(y1, height), max(x0, 1), min(x1, width)
            if top <= bottom and left <= right:
                padded[top - y0 : bottom - y0 + 1, left - x0 : right - x0 + 1] = image[
                    top - 1 : bottom, left - 1 : right
                ]
            crops.append(resample(padded, side, side))
        return np.array(crops)


def package():
    """The PyPI package mtcnn."""
    from mtcnn import MTCNN

    finder = MTCNN()

    def detect(image):
        rows = finder.detect_faces(
            image,
            min_face_size=MIN_FACE,
            scale_factor=FACTOR,
            threshold_pnet=THRESHOLDS[0],
            threshold_rnet=THRESHOLDS[1],
            threshold_onet=THRESHOLDS[2],
            box_format="xyxy",
            fit_to_image=False,
        )
        # Its left eye is the subject's.
        names = ("left_eye", "right_eye", "nose", "mouth_left", "mouth_right")
        faces = []
        for row in rows:
            points = np.array([row["keypoints"][name] for name in names], float)
            if points[0, 0] > points[1, 0]:
                points = points[[1, 0, 2, 4, 3]]
            faces.append((row["box"], row["confidence"], points))
        return faces

    return detect


def faces(settings):
    import cv2

    versions = ("numpy", "opencv-python-headless", "tensorflow-cpu", "mtcnn")
    work = settings.pictures / "weights"
    work.mkdir(exist_ok=True)
    # The package is eager; facenet's graph mode cannot be left again.
    programs = {"caffe": Matlab(settings.caffe), "mtcnn": package()}
    pictures = {
        path.stem: np.ascontiguousarray(cv2.imread(str(path))[:, :, ::-1])
        for path in sorted(settings.pictures.glob("*.png"))
    }
    found = {}
    for program in ("caffe", "mtcnn", "facenet"):
        detect = programs.get(program) or facenet(settings.facenet, work)
        for name, image in pictures.items():
            found.setdefault(name, {})[program] = [
                {
                    "box": np.round(np.asarray(box, float), 4).tolist(),
                    "score": round(float(score), 6),
                    "landmarks": np.round(np.asarray(points, float), 4).tolist(),
                }
                for box, score, points in detect(image)
            ]
            print(name, program, len(found[name][program]), "faces", file=sys.stderr)
    rows = [
        json.dumps(name)
        + ": "
        + json.dumps(
            {"sha256": hashlib.sha256(pictures[name].tobytes()).hexdigest(), **found[name]}
        )
        for name in pictures
    ]
    made_by = {"python": sys.version.split()[0], "facenet": COMMIT}
    made_by |= {name: importlib.metadata.version(name) for name in versions}
    text = '{"made_by": ' + json.dumps(made_by) + ',\n"pictures": {\n' + ",\n".join(rows) + "\n}}\n"
    settings.out.write_text(text)


def pictures(settings):
    sys.path.insert(0, str(ROOT / "tests" / "python"))
    import mtcnn_pictures
    from facebench import images

    settings.out.mkdir(parents=True, exist_ok=True)
    for name, image in mtcnn_pictures.pictures(settings.lfw).items():
        images.write(settings.out / f"{name}.png", image)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(required=True)
    make = commands.add_parser("pictures")
    make.add_argument("--out", type=Path, required=True)
    make.add_argument("--lfw", type=Path, help="folder of LFW's people: photographs too")
    make.set_defaults(run=pictures)
    find = commands.add_parser("faces")
    find.add_argument("--pictures", type=Path, required=True)
    find.add_argument("--facenet", required=True, help="a clone of the repository")
    find.add_argument("--caffe", type=Path, required=True, help="folder of det*.caffemodel")
    find.add_argument("--out", type=Path, required=True)
    find.set_defaults(run=faces)
    settings = parser.parse_args()
    settings.run(settings)


if __name__ == "__main__":
    main()
