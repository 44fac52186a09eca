"""Batches that are read from files for engines without torch."""

import facebench
import numpy as np
import pytest

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("threads", [0, 2])
def test_batches_of_files_are_the_folders_images(threads, tmp_path):
    from facebench.lab.engines.numpy_files import batches_of_files
    from PIL import Image

    options = facebench.datasets.SyntheticOptions(people=20, images=2, size=48)
    facebench.datasets.write_synthetic_dataset(options, tmp_path / "set", 1)
    known = set()
    for path in (tmp_path / "set/images").rglob("*.*"):
        pixels = np.asarray(Image.open(path).convert("RGB"), np.float32)
        known.add(((pixels - 127.5) / 128).transpose(2, 0, 1).tobytes())
    assert len(known) == 40
    spec = {"path": str(tmp_path / "set/images"), "graph": {"input": [3, 48, 48]}}
    spec |= {"batch": 200, "seed": 5, "data_threads": threads}
    batches = batches_of_files(spec)
    first, second = next(batches), next(batches)
    batches.close()
    assert first.shape == (200, 3, 48, 48)
    assert {image.tobytes() for image in [*first, *second]} == known
    again = next(batches_of_files(spec | {"data_threads": 0}))
    assert np.array_equal(first, again)
    with pytest.raises(FileNotFoundError, match="no images"):
        next(batches_of_files(spec | {"path": str(tmp_path / "none")}))
