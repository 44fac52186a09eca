"""Faces at the borders of a frame, cut out of pictures in which they are found in the middle.

    python tests/support/border_faces.py          synthetic faces: the table of docs/detection.md
    python tests/support/border_faces.py LFW 50   every 50th person of the folder of LFW

The truth is the mean of what the same mode finds in the whole picture at several sizes, since that
changes by some percent of the eyes' distance from size to size. An error is the mean distance of
the five landmarks from the truth, as a share of the distance of the eyes; a face that is not found
counts as 1.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from facebench import datasets, detection, images

MODES = ("facenet", "facenet_pytorch", "matlab")
# Height of the face's box as a share of the side of the frame, which is a square.
SIZES = (0.2, 0.35, 0.5, 0.7, 0.9, 1.1, 1.3, 1.5)
# Where the face lies: nowhere near a border, at a side, in a corner.
PLACES = [(x, y) for y in (-1, 0, 1) for x in (-1, 0, 1)]
# How much of the face's side lies outside of the frame there.
CUTS = (0.0, 0.1, 0.2, 0.3)
FRAME = 160  # pixels


@dataclass
class Case:
    size: float  # as SIZES
    border: str  # middle, side or corner
    cut: float
    image: np.ndarray
    landmarks: dict  # mode -> (5, 2)

    @property
    def whole(self):
        """Eyes and mouth, by the truth of each mode, lie in the frame."""
        seen = np.concatenate([points[[0, 1, 3, 4]] for points in self.landmarks.values()])
        height, width = self.image.shape[:2]
        return (seen >= 0).all() and (seen <= [width - 1, height - 1]).all()


def found(image, mode):
    """The face nearest to the middle, or None."""
    faces = detection.detect(image, mode=mode)
    i = detection.select_face(faces, image.shape[1], image.shape[0], "nearest_center")
    return None if i is None else faces[i]


def truth_of(picture, mode):
    """Box and landmarks, or None where the face is not found at each size."""
    side = len(picture)
    faces = []
    for size in np.linspace(0.55, 1, 7) * side:
        size = round(size)
        face = found(images.resize(picture, size, size, "area"), mode)
        if face is None:
            return None
        scale = side / size
        faces.append((face.box * scale, (face.landmarks + 0.5) * scale - 0.5))
    return [np.mean(values, axis=0) for values in zip(*faces, strict=True)]


def cases(picture, sizes=SIZES, cuts=CUTS):
    """The frames of one picture that shows one face, without enlarging it."""
    truth = {mode: truth_of(picture, mode) for mode in MODES}
    if any(face is None for face in truth.values()):
        return
    x0, y0, x1, y1 = truth[MODES[0]][0]
    for size in sizes:
        side = (y1 - y0) / size  # of the frame, in pixels of the picture
        for x, y in PLACES:
            for cut in cuts if (x, y) != (0, 0) else (0.0,):
                left, top = (x0 + x1 - side) / 2, (y0 + y1 - side) / 2
                if x:
                    left = x0 + cut * (x1 - x0) if x < 0 else x1 - cut * (x1 - x0) - side
                if y:
                    top = y0 + cut * (y1 - y0) if y < 0 else y1 - cut * (y1 - y0) - side
                box = np.round([left, top, left + side, top + side]).astype(int)
                if box.min() < 0 or box[2] > picture.shape[1] or box[3] > picture.shape[0]:
                    continue
                frame = np.ascontiguousarray(picture[box[1] : box[3], box[0] : box[2]])
                scale = 1.0
                if len(frame) > FRAME:
                    scale = FRAME / len(frame)
                    frame = images.resize(frame, FRAME, FRAME, "area")
                # Pixel centres have whole coordinates.
                marks = {
                    mode: (points - box[:2] + 0.5) * scale - 0.5
                    for mode, (_, points) in truth.items()
                }
                border = ("middle", "side", "corner")[abs(x) + abs(y)]
                case = Case(size, border, cut, frame, marks)
                if case.whole:
                    yield case


def error(case, mode):
    face = found(case.image, mode)
    if face is None:
        return 1.0
    truth = case.landmarks[mode]
    eyes = np.linalg.norm(truth[0] - truth[1])
    return min(1.0, np.linalg.norm(face.landmarks - truth, axis=1).mean() / eyes)


def synthetic(index, size=160):
    """A rendered face in the middle of a plain ground, so that frames of any size fit around it."""
    person = datasets.make_identity(seed=14, index=index)
    kind = "frontal" if index % 2 else "smile"
    made = datasets.render_face(person, datasets.make_nuisance(kind, 14, index), size=size).image
    ground = np.median(made[:8].reshape(-1, 3), axis=0).astype(np.uint8)
    picture = np.broadcast_to(ground, (4 * size, 4 * size, 3)).copy()
    at = 3 * size // 2
    picture[at : at + size, at : at + size] = made
    return picture


def errors_of(pictures):
    """(size, border, mode) -> the errors of its frames."""
    errors = {}
    for picture in pictures:
        for case in cases(picture):
            for mode in MODES:
                key = (case.size, case.border, mode)
                errors.setdefault(key, []).append(error(case, mode))
    return errors


def main():
    if len(sys.argv) > 1:
        paths = sorted(Path(sys.argv[1]).glob("*/*_0001.jpg"))[:: int(sys.argv[2])]
        pictures = map(images.read, paths)
    else:
        pictures = map(synthetic, range(8))
    errors = errors_of(pictures)
    print("| face / frame | border | frames | " + " | ".join(f"`{m}`" for m in MODES) + " |")
    print("|---|---|---|" + "---|" * len(MODES))
    for size in SIZES:
        for border in ("middle", "side", "corner"):
            rows = [errors.get((size, border, mode), []) for mode in MODES]
            if not rows[0]:
                continue
            cells = [f"{np.median(r):.1%} ({np.mean(np.array(r) > 0.5):.0%})" for r in rows]
            print(f"| {size:g} | {border} | {len(rows[0])} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
