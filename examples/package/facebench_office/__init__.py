"""A protocol and a model for the photographs of an office."""

import numpy as np


def thumbnail(images: np.ndarray) -> np.ndarray:
    """A 16th of the rows and columns of faces (N, H, W, 3): no network, but a number to beat."""
    return images[:, ::16, ::16].reshape(len(images), -1).astype(np.float32)
