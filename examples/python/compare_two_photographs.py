"""Two photographs to a score: image, face, crop, embedding, similarity.

python compare_two_photographs.py A.jpg B.jpg MODEL.safetensors
python compare_two_photographs.py     # two synthetic photographs of one person, untrained weights

`facebench.compare("A.jpg", "B.jpg", model="MODEL.safetensors")` is the same in one line.
"""

import sys
from pathlib import Path

import numpy as np
from facebench import crops, datasets, detection, embedding, images


def embed_photograph(path, detector: detection.Detector, model):
    """The embedding of the face in a photograph, of unit length."""
    photo = images.read(path)
    faces = detector.detect(photo)
    face = detection.select_face(faces, photo.shape[1], photo.shape[0], "nearest_center")
    if face is None:
        raise SystemExit(f"{path}: no face")
    crop, reason = crops.crop_face(photo, faces[face], crops.CropOptions(name="arcface112"))
    if crop is None:
        raise SystemExit(f"{path}: {reason}")
    options = embedding.ExtractOptions(flip="none", normalization="unit")
    return embedding.extract(model, crop[None], options).values[0]


def synthetic_photographs():
    folder = Path("compare-two-photographs-example")
    if not folder.exists():
        options = datasets.SyntheticOptions(people=20, images=2, pairs_per_fold=2)
        datasets.write_synthetic_dataset(options, folder)
    return sorted((folder / "images").rglob("*.jpg"))[:2]


def main(*words: str):
    a, b = words[:2] if words else synthetic_photographs()
    weights = words[2] if words else None
    model = embedding.load_model(weights) if weights else embedding.make_model("mobilefacenet")
    detector = detection.make_detector("mtcnn")
    first, second = (embed_photograph(path, detector, model) for path in (a, b))
    print(f"{Path(a).name} and {Path(b).name}: {float(np.dot(first, second)):.4f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
