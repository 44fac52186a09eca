"""A data set of noise: fast to write, no two images alike."""

import numpy as np
from facebench import images


def write_noise_photographs(folder, count, side, suffix):
    """Writes square images of noise, four of each person, into a folder a person; their paths."""
    random = np.random.default_rng(3)
    paths = [folder / f"person {k // 4}" / f"{k:03}{suffix}" for k in range(count)]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        images.write(path, random.integers(0, 256, (side, side, 3), np.uint8))
    return paths
