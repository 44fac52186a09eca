"""How runtimes without a loader are usually fed: PIL decodes and resizes in a pool of threads."""

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

_SUFFIXES = {".bmp", ".jpeg", ".jpg", ".png"}


def _pixels(path, size) -> np.ndarray:
    """(C, H, W) in -1 to 1 of one file; ``size`` is (width, height)."""
    from PIL import Image

    with Image.open(path) as picture:
        image = picture.convert("RGB").resize(size, Image.Resampling.BILINEAR)
    return (np.asarray(image, np.float32).transpose(2, 0, 1) - 127.5) / 128


def batches_of_files(spec: dict):
    """Batches of images (N, C, H, W) without end, of the files under the folder ``spec["path"]``,
    in random order. ``spec["data_threads"]`` threads make two batches ahead; 0: the step itself
    makes each. FileNotFoundError where there are no images."""
    paths = sorted(p for p in Path(spec["path"]).rglob("*") if p.suffix.lower() in _SUFFIXES)
    if not paths:
        raise FileNotFoundError(f"{spec['path']}: there are no images (JPEG, PNG, BMP)")
    _, height, width = spec["graph"]["input"]
    random = np.random.default_rng(spec["seed"])

    def drawn():
        return [paths[i] for i in random.integers(0, len(paths), spec["batch"])]

    def read(path):
        return _pixels(path, (width, height))

    if not spec["data_threads"]:
        while True:
            yield np.stack([read(path) for path in drawn()])
    with ThreadPoolExecutor(spec["data_threads"]) as pool:
        waiting = deque([pool.submit(read, path) for path in drawn()] for _ in range(2))
        while True:
            batch = np.stack([image.result() for image in waiting.popleft()])
            waiting.append([pool.submit(read, path) for path in drawn()])
            yield batch
