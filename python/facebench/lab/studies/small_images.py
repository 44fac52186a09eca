"""MNIST and CIFAR-10 as their authors distribute them, and drawn images of the same form for
machines that have neither."""

import gzip
import io
import math
import tarfile
import zlib
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from facebench.core import Error
from facebench.core._files import open_file, read_bytes

CLASSES = 10
_IMAGES, _LABELS = 0x803, 0x801  # the magic numbers of IDX files: uint8 of three axes, of one
_RECORD = 1 + 3 * 32 * 32  # CIFAR-10, binary version: a label, then the planes of red, green, blue
_MOST = 1 << 28  # bytes of an unpacked file; the whole of CIFAR-10 has 184 million
_MOST_MEMBERS = 100  # of CIFAR-10's archive, which has nine


@dataclass(frozen=True)
class SmallImages:
    """Images to train and to test on: uint8 (N, H, W, 3) RGB with labels 0 to 9."""

    source: str  # the folder, or "synthetic"
    train: tuple[np.ndarray, np.ndarray]
    test: tuple[np.ndarray, np.ndarray]


def hold_out(images: SmallImages, first: int = 0, last: int = 0):
    """The images without the first or last of those to train on, and these, (images, labels): what
    frameworks keep for validation.

    >>> drawn = draw_images(28, 100, 50, gray=True)
    >>> rest, held_out = hold_out(drawn, first=20)
    >>> len(rest.train[0]), len(held_out[1])
    (80, 20)
    """
    pixels, labels = images.train
    kept = np.ones(len(labels), bool)
    kept[:first] = kept[len(labels) - last :] = False
    if not kept.any():
        raise ValueError(
            f"held_out: {first} + {last} of {len(labels)} images leave none to train on"
        )
    return replace(images, train=(pixels[kept], labels[kept])), (pixels[~kept], labels[~kept])


def read_mnist(root) -> SmallImages:
    """MNIST out of its four IDX files, gzipped or not: 60,000 and 10,000 images of 28 x 28.

    Source of the format: LeCun, Cortes & Burges, "The MNIST database". facebench.Error where a file
    is missing or is not what its header says.
    """
    parts = {}
    for part, stem in (("train", "train"), ("test", "t10k")):
        images = _read_idx(Path(root), f"{stem}-images-idx3-ubyte", _IMAGES)
        labels = _read_idx(Path(root), f"{stem}-labels-idx1-ubyte", _LABELS)
        if len(images) != len(labels):
            raise Error(f"{root}: {len(images)} images of {stem} have {len(labels)} labels.")
        parts[part] = (np.repeat(images[..., None], 3, -1), labels.astype(np.int64))
    return SmallImages(str(root), **parts)


def _read_idx(root, name, magic):
    path = next((p for p in (root / name, root / f"{name}.gz") if p.is_file()), None)
    if path is None:
        raise Error(f"{root / name}: not found, nor with .gz. MNIST has four such files.")
    with _unpacked(path) as file:
        axes = magic & 0xFF
        header = np.frombuffer(file.read(4 + 4 * axes), ">u4")
        if len(header) != 1 + axes or header[0] != magic:
            raise Error(f"{path}: no IDX file of {axes} axes; offset 0 must hold {magic:#x}.")
        shape = [int(n) for n in header[1:]]
        size = math.prod(shape)
        if size > _MOST:
            raise Error(f"{path}: {size} bytes by its header; at most {_MOST} are read.")
        values = file.read(size + 1)
    if len(values) != size:
        raise Error(f"{path}: its header says {size} bytes, there are {len(values)} or more.")
    return np.frombuffer(values, np.uint8).reshape(shape)


@contextmanager
def _unpacked(path):
    """The bytes of a file, gzipped or not. facebench.Error for a damaged one."""
    try:
        with open_file(path) as raw:
            packed = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            with gzip.GzipFile(fileobj=raw) if packed else raw as file:
                yield file
    except (OSError, EOFError, zlib.error, tarfile.TarError) as error:
        raise Error(f"{path}: is damaged: {error}. Get it again.") from None


def _batches_in(archive):
    """The files of CIFAR-10's archive by name, out of at most so many bytes and members."""
    with _unpacked(archive) as file:
        content = file.read(_MOST + 1)
        if len(content) > _MOST:
            raise Error(f"{archive}: unpacked it has more than {_MOST} bytes. Is it CIFAR-10?")
        files = {}
        with tarfile.open(fileobj=io.BytesIO(content), mode="r:") as members:
            for number, member in enumerate(members):
                if number == _MOST_MEMBERS:
                    raise Error(f"{archive}: has more than {number} members. Is it CIFAR-10?")
                if member.isfile() and not member.issparse():
                    name = member.name.rpartition("/")[2]
                    inside = members.extractfile(member)
                    assert inside is not None  # of a file
                    files[name] = inside.read()
        return files


def read_cifar10(root) -> SmallImages:
    """CIFAR-10 out of its "binary version", the archive or its unpacked folder: 50,000 and 10,000
    images of 32 x 32.

    The Python version is a pickle and is not read. Source of the format: Krizhevsky, "The CIFAR-10
    dataset". facebench.Error where a file is missing or has no whole records.
    """
    folder, name = Path(root), "cifar-10-batches-bin"
    archive = folder if folder.is_file() else folder / "cifar-10-binary.tar.gz"
    if archive.is_file():
        read = _batches_in(archive)
        folder = archive
    else:
        folder = folder / name if (folder / name).is_dir() else folder
        read = {p.name: read_bytes(p, _MOST) for p in folder.glob("*.bin")}
    batches = [_batch(folder, read, f"data_batch_{i}.bin") for i in range(1, 6)]
    images, labels = (np.concatenate([b[k] for b in batches]) for k in (0, 1))
    return SmallImages(str(root), (images, labels), _batch(folder, read, "test_batch.bin"))


def _batch(folder, files, name):
    path, content = folder / name, files.get(name)
    if content is None:
        raise Error(f"{path}: not found. The binary version of CIFAR-10 has it.")
    if not content or len(content) % _RECORD:
        raise Error(f"{path}: {len(content)} bytes are not whole records of {_RECORD}.")
    records = np.frombuffer(content, np.uint8).reshape(-1, _RECORD)
    labels = records[:, 0].astype(np.int64)
    if labels.max() >= CLASSES:
        bad = int(labels.argmax())
        raise Error(f"{path}: record {bad} has the label {labels[bad]}; CIFAR-10 has 0 to 9.")
    return records[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1).copy(), labels


def draw_images(side: int, train: int, test: int, *, gray: bool, seed: int = 0) -> SmallImages:
    """Images of ten classes: of each a smooth pattern, moved by up to two pixels, with noise.

    >>> drawn = draw_images(28, 100, 50, gray=True)
    >>> drawn.train[0].shape, drawn.test[1].shape
    ((100, 28, 28, 3), (50,))
    """
    random = np.random.Generator(np.random.PCG64(seed))
    coarse = random.normal(size=(CLASSES, 7, 7, 1 if gray else 3))
    grid = np.linspace(0, 6, side + 4)
    low = np.minimum(grid.astype(int), 5)
    share = (grid - low)[:, None, None]
    rows = coarse[:, low] * (1 - share) + coarse[:, low + 1] * share
    share = (grid - low)[:, None]
    patterns = rows[:, :, low] * (1 - share) + rows[:, :, low + 1] * share

    def part(count):
        labels = random.integers(0, CLASSES, count)
        moved = random.integers(0, 5, (count, 2))
        images = np.empty((count, side, side, 3), np.uint8)
        for i, (label, (y, x)) in enumerate(zip(labels, moved, strict=True)):
            values = patterns[label, y : y + side, x : x + side] * 40
            values = values + random.normal(scale=60, size=values.shape)
            images[i] = np.clip(128 + values, 0, 255).astype(np.uint8)
        return images, labels

    return SmallImages("synthetic", part(train), part(test))


def read_small_images(name: str, root=None, *, train: int = 6000, test: int = 1000) -> SmallImages:
    """``mnist`` or ``cifar10`` in the folder ``root``; without one, ``train`` and ``test`` drawn
    images of that form. ValueError for another name."""
    readers = {"mnist": (read_mnist, 28, True), "cifar10": (read_cifar10, 32, False)}
    if name not in readers:
        raise ValueError(f"no images '{name}' (known: {', '.join(readers)})")
    read, side, gray = readers[name]
    return read(root) if root else draw_images(side, train, test, gray=gray)
