"""A protocol, a model and a detector for the photographs of an office."""

import numpy as np


def thumbnail(images: np.ndarray) -> np.ndarray:
    """A 16th of the rows and columns of faces (N, H, W, 3): no network, but a number to beat."""
    return images[:, ::16, ::16].reshape(len(images), -1).astype(np.float32)


def middle(image: np.ndarray):
    """The middle half of a photograph (H, W, 3) as its one face: boxes, scores, no points."""
    height, width = image.shape[:2]
    return [[width / 4, height / 4, width * 3 / 4, height * 3 / 4]], [1.0], None
