"""Other ways to read images for training, raced against ours by ``bench_load(race=True)``.

Each reads the same JPEG files of one size, in random order, and makes batches of float32 pixels
(x - 127.5) / 128. What they decode is compared with what we decode before anything is timed.
"""

import importlib.util
import time
from pathlib import Path

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, RandomSampler

from facebench import crops, datasets, images
from facebench.core import Error
from facebench.lab.engines.torch_files import LabelledFiles

_TOGETHER = 16  # batches that are timed together: one alone may be there already
_AHEAD = 2  # batches that a worker of a DataLoader makes ahead: torch's own number


class _OpenCvFiles(Dataset):
    """As the training scripts of the field: cv2 decodes, numpy scales."""

    def __init__(self, paths, labels):
        self.paths, self.labels = paths, labels

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        import cv2

        cv2.setNumThreads(0)
        read = cv2.imread(str(self.paths[index]))
        if read is None:
            raise Error(f"{self.paths[index]}: OpenCV cannot read it")
        picture = cv2.cvtColor(read, cv2.COLOR_BGR2RGB)
        pixels = (picture.transpose(2, 0, 1).astype(np.float32) - 127.5) / 128
        return torch.from_numpy(pixels), self.labels[index]


OTHERS = {"torchvision, DataLoader": LabelledFiles, "cv2, DataLoader": _OpenCvFiles}
DALI = "DALI, CPU"


def _pictures(make, paths):
    pictures = make(paths, [0] * len(paths))
    return (pictures[k][0].numpy() for k in range(len(paths)))


def dali_is_there():
    """Whether NVIDIA's DALI can be imported; its CPU operators need no GPU."""
    return importlib.util.find_spec("nvidia.dali") is not None


def dali_pipeline(paths, batch, threads, shuffle):
    """DALI's file reader, decoder and normalization on the CPU; ``run()[0]`` is a batch."""
    from nvidia.dali import fn, pipeline_def, types

    @pipeline_def(batch_size=batch, num_threads=threads, device_id=None)
    def batches():
        encoded, _ = fn.readers.file(files=[str(p) for p in paths], random_shuffle=shuffle)
        pixels = fn.decoders.image(encoded, device="cpu", output_type=types.RGB)
        return fn.crop_mirror_normalize(
            pixels, dtype=types.FLOAT, output_layout="CHW", mean=[127.5] * 3, std=[128.0] * 3
        )

    pipeline = batches()
    pipeline.build()
    return pipeline


def prepare(files, folder, size, most):
    """The same images in each form: {"folder", "rec", "tar", "pack"}: path.

    At most ``most`` of ``files``, brought to ``size`` and written as JPEG of quality 95.
    """
    folder = Path(folder)
    for number, sample in enumerate(datasets.read_dataset("folder", files).samples[:most]):
        picture = images.decode(sample.read(), sample.where)
        if picture.shape[:2] != (size, size):
            picture = images.resize(picture, size, size, "area")
        person = folder / "files" / f"{sample.label:06}"
        person.mkdir(parents=True, exist_ok=True)
        images.write(person / f"{number:06}.jpg", picture)
    faces = datasets.read_image_folder(folder / "files")
    forms = {"folder": folder / "files"}
    for form in ("rec", "tar"):
        forms[form] = folder / f"images.{form}"
        datasets.convert_dataset(faces, forms[form])
    forms["pack"] = folder / "images.h5"
    crop = crops.CropOptions(height=size, width=size)
    datasets.pack_dataset(faces, forms["pack"], crop=crop)
    return forms


def check_equal(forms, most=64):
    """The largest difference of a pixel (0 to 255) between ours and each of the others.

    facebench.Error for one above 2: libjpeg-turbo's versions differ by that much.
    """
    ours = datasets.DecodedImages(datasets.read_image_folder(forms["folder"]))
    paths = [sample.path for sample in datasets.read_image_folder(forms["folder"]).samples][:most]
    theirs = {name: _pictures(make, paths) for name, make in OTHERS.items()}
    if dali_is_there():
        (batch,) = dali_pipeline(paths, len(paths), 1, shuffle=False).run()
        theirs[DALI] = (np.asarray(batch[k]) for k in range(len(paths)))
    differences = {}
    for name, pictures in theirs.items():
        largest = 0.0
        for k, picture in enumerate(pictures):
            pixels = picture.transpose(1, 2, 0) * 128 + 127.5
            largest = max(largest, float(np.abs(pixels - ours.pixels(k)).max()))
        if largest > 2.01:
            raise Error(f"{name}: its pixels differ from ours by {largest:.3g} of 255.")
        differences[name] = round(largest, 3)
    return differences


def data_loader_work(name, paths, batch, threads):
    """run(rounds) -> seconds of one of ``OTHERS``, with as many workers; one: in this process."""
    workers = 0 if threads == 1 else threads
    pictures = OTHERS[name](paths, [0] * len(paths))
    loader = DataLoader(
        pictures,
        batch_size=batch,
        sampler=RandomSampler(pictures, replacement=True, num_samples=1 << 40),
        num_workers=workers,
        prefetch_factor=_AHEAD if workers else None,
    )
    batches = iter(loader)

    return _timed(lambda: next(batches), _AHEAD * workers), _TOGETHER * batch


def _timed(make_batch, ahead):
    """run(rounds) -> seconds of batches, without those made ahead while others were timed."""

    def run(rounds):
        for _ in range(ahead):
            make_batch()
        started = time.perf_counter()
        for _ in range(_TOGETHER * rounds):
            make_batch()
        return time.perf_counter() - started

    return run


def dali_work(paths, batch, threads):
    """run(rounds) -> seconds of DALI's CPU reader with as many threads."""
    pipeline = dali_pipeline(paths, batch, threads, shuffle=True)
    return _timed(pipeline.run, _AHEAD), _TOGETHER * batch
