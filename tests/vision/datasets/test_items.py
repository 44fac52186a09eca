"""Packs and data sets by index, as data loaders ask for them."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("facebench._full")

from facebench import datasets, images, pipeline  # noqa: E402


@pytest.fixture(scope="module")
def faces(tmp_path_factory):
    folder = tmp_path_factory.mktemp("items")
    options = datasets.SyntheticOptions(people=20, images=2, size=32)
    datasets.write_synthetic_dataset(options, folder / "faces")
    root = folder / "faces" / "images"
    pipeline.pack("folder", root, folder / "faces.h5", detector="none", crop_size=32)
    return root, datasets.Pack(folder / "faces.h5")


def test_rows_of_a_pack(faces):
    _, pack = faces
    for index in (0, 7, len(pack) - 1):
        pixels, label = pack[index]
        assert np.array_equal(pixels, pack.images[index]) and label == pack.labels[index]
        assert pixels.flags.writeable and pixels.dtype == np.uint8
    assert np.array_equal(pack[-1][0], pack.images[len(pack) - 1])


@pytest.mark.parametrize("index", [40, -41, 2**40])
def test_rows_beyond_the_end(faces, index):
    root, pack = faces
    for rows in (pack, datasets.read_dataset("folder", root)):
        with pytest.raises(IndexError, match=f"index {index} of 40 images"):
            rows[index]


def test_images_of_a_folder(faces):
    root, _ = faces
    dataset = datasets.read_dataset("folder", root)
    pixels, label = dataset[5]
    sample = dataset.samples[5]
    assert label == sample.label
    assert np.array_equal(pixels, images.read(sample.path))


@pytest.mark.parametrize("workers", [0, 2])
def test_a_loader_takes_a_pack(faces, workers):
    _, pack = faces
    loader = torch.utils.data.DataLoader(pack, batch_size=8, num_workers=workers)
    batches = list(loader)
    assert [tuple(pixels.shape) for pixels, _ in batches] == [(8, 32, 32, 3)] * 5
    assert torch.cat([labels for _, labels in batches]).tolist() == pack.labels.tolist()
    together = torch.cat([pixels for pixels, _ in batches]).numpy()
    assert np.array_equal(together, pack.images)
