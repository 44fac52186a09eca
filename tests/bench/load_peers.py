"""Images for training out of every format, ours against the best reader in Python that was found.

Batches of 64 of the same JPEG images as float32, (x - 127.5) / 128, on one core. What is decoded is
compared first. The peers decode with OpenCV and scale whole batches with torch, which is faster
than the loops of the usual training scripts; ours also mirrors every other image, they do not.
Run it with the processor's clock where others use the machine too:

    scripts/bench.sh load --clock cpu --threads 1 --files LFW
"""

import atexit
import functools
import gzip
import mmap
import pickle
import shutil
import struct
import tempfile
from pathlib import Path

import harness
import numpy as np
from harness import Comparison, Contestant

SIZE, BATCH, BATCHES, IMAGES = 112, 64, 30, 2000


def prepare(files, folder):
    """{format: path} of the same images."""
    import lmdb
    import msgpack
    import pyarrow as pa
    import pyarrow.parquet as pq
    from facebench import datasets
    from facebench.lab.timing import loaders
    from tfrecord.writer import TFRecordWriter

    if files is None:
        options = datasets.SyntheticOptions(people=50, images=4, size=250, protocol="lfw")
        datasets.write_synthetic_dataset(options, folder / "faces", 0, None)
        files = folder / "faces/images"
    forms = loaders.prepare(files, folder, SIZE, IMAGES)
    made = datasets.read_image_folder(forms["folder"])
    rows = [(sample.read(), sample.label) for sample in made.samples]
    forms["bin"] = folder / "images.bin"
    even = len(rows) // 2 * 2
    same = [rows[i][1] == rows[i + 1][1] for i in range(0, even, 2)]
    forms["bin"].write_bytes(pickle.dumps(([image for image, _ in rows[:even]], same), 3))
    forms["tar.gz"] = folder / "images.tar.gz"
    with open(forms["tar"], "rb") as plain, gzip.open(forms["tar.gz"], "wb", 1) as packed:
        shutil.copyfileobj(plain, packed)
    forms["lmdb"] = folder / "images.lmdb"
    with lmdb.open(str(forms["lmdb"]), map_size=1 << 32) as base, base.begin(write=True) as write:
        keys = [str(i).encode() for i in range(len(rows))]
        for key, (image, label) in zip(keys, rows, strict=True):
            write.put(key, msgpack.packb([image, label]))
        write.put(b"__len__", msgpack.packb(len(rows)))
        write.put(b"__keys__", msgpack.packb(keys))
    forms["tfrecord"] = folder / "images.tfrecord"
    writer = TFRecordWriter(str(forms["tfrecord"]))
    for image, label in rows:
        writer.write({"image": (image, "byte"), "label": (label, "int")})
    writer.close()
    forms["parquet"] = folder / "images.parquet"
    struct_type = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    images = pa.array([{"bytes": image, "path": None} for image, _ in rows], struct_type)
    labels = pa.array([label for _, label in rows], pa.int64())
    pq.write_table(pa.table({"image": images, "label": labels}), forms["parquet"])
    return forms


def in_random_order(count):
    random = np.random.default_rng(0)
    return iter(lambda: int(random.integers(count)), None)


def decoded(encoded):
    """Images (SIZE, SIZE, 3) of encoded ones."""
    import cv2

    cv2.setNumThreads(1)
    for image in encoded:
        yield cv2.imdecode(np.frombuffer(image, np.uint8), cv2.IMREAD_COLOR_RGB)


def folder_images(path):
    paths = sorted(path.rglob("*.jpg"))
    return (paths[i].read_bytes() for i in in_random_order(len(paths)))


def rec_images(path):
    """As mxnet's MXIndexedRecordIO and unpack; mxnet itself does not import beside numpy 2."""
    with path.open("rb") as opened:
        file = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
    index = [line.split("\t") for line in path.with_suffix(".idx").read_text().splitlines()]
    offsets = {int(key): int(at) for key, at in index}

    def record(key):
        at = offsets[key]
        (word,) = struct.unpack_from("<I", file, at + 4)
        data = file[at + 8 : at + 8 + (word & (1 << 29) - 1)]
        flag, label, _, _ = struct.unpack_from("<IfQQ", data)
        return struct.unpack_from("<2f", data, 24) if flag else label, data[24 + 4 * flag :]

    first = int(record(0)[0][0])
    return (record(1 + i)[1] for i in in_random_order(first - 1))


def bin_images(path):
    images, _ = pickle.loads(path.read_bytes())  # our own file
    return (images[i] for i in in_random_order(len(images)))


def tar_images(path):
    import webdataset

    made = webdataset.WebDataset(str(path), shardshuffle=False, empty_check=False).repeat()
    return (sample["jpg"] for sample in made)


def lmdb_images(path):
    import lmdb
    import msgpack

    read = lmdb.open(str(path), readonly=True, lock=False, readahead=False).begin(buffers=True)
    keys = msgpack.unpackb(bytes(read.get(b"__keys__")))
    return (msgpack.unpackb(read.get(keys[i]))[0] for i in in_random_order(len(keys)))


def tfrecord_images(path):
    from tfrecord.torch.dataset import TFRecordDataset

    while True:
        for row in TFRecordDataset(str(path), None, {"image": "byte", "label": "int"}):
            yield row["image"]


def parquet_images(path):
    import pyarrow.parquet as pq

    images = pq.read_table(path, columns=["image"], memory_map=True).column("image")
    images = images.combine_chunks().field("bytes")
    return (images[i].as_py() for i in in_random_order(len(images)))


def pack_pixels(path):
    import h5py

    with h5py.File(path) as file:
        images = file["/images"]
        offset, shape = images.id.get_offset(), images.shape
    pixels = np.memmap(path, np.uint8, "r", offset, shape)
    return (pixels[i] for i in in_random_order(len(pixels)))


READERS = {
    "folder": ("read, cv2", folder_images),
    "rec": ("struct over mmap, cv2", rec_images),
    "bin": ("pickle, cv2", bin_images),
    "tar": ("webdataset, cv2", tar_images),
    "tar.gz": ("webdataset, cv2", tar_images),
    "lmdb": ("lmdb, msgpack, cv2", lmdb_images),
    "tfrecord": ("tfrecord, cv2", tfrecord_images),
    "parquet": ("pyarrow, cv2", parquet_images),
    "pack": ("numpy.memmap", pack_pixels),
}


def peer_setup(form, path, threads):
    import torch

    torch.set_num_threads(threads)
    encoded = READERS[form][1](path)
    return encoded if form == "pack" else decoded(encoded)


def peer_run(images):
    import torch

    total = 0.0
    for _ in range(BATCHES):
        batch = torch.from_numpy(np.stack([next(images) for _ in range(BATCH)]))
        batch = batch.permute(0, 3, 1, 2).float().sub_(127.5).mul_(1 / 128)
        total += float(batch[0, 0, 0, 0])
    return total


def work(form):
    return "pack" if form == "pack" else "files"


def ours_setup(form, path, threads):
    from facebench._torch import full

    return full, form, str(path)


def ours_run(state):
    full, form, path = state
    # It opens the file each time, and makes two batches before those that it times.
    full.time_input(work(form), path, BATCH, SIZE, SIZE, 0, BATCHES - 2)
    return 0.0


def bare_setup(path, threads):
    import ctypes
    import ctypes.util

    library = ctypes.util.find_library("turbojpeg")
    if library is None:
        raise SystemExit("libturbojpeg is not there: apt-get install libturbojpeg0")
    turbo = ctypes.CDLL(library)
    turbo.tjInitDecompress.restype = ctypes.c_void_p
    images = [p.read_bytes() for p in sorted(path.rglob("*.jpg"))]
    return turbo, ctypes.c_void_p(turbo.tjInitDecompress()), images


def bare_run(state):
    """libjpeg-turbo alone: one decoder, one buffer, nothing is done with the pixels."""
    import ctypes

    turbo, decoder, images = state
    pixels = ctypes.create_string_buffer(3 * SIZE * SIZE)
    numbers = [ctypes.byref(ctypes.c_int()) for _ in range(4)]
    for i in range(BATCH * BATCHES):
        image = images[i % len(images)]
        size = ctypes.c_ulong(len(image))
        turbo.tjDecompressHeader3(decoder, image, size, *numbers)
        if turbo.tjDecompress2(decoder, image, size, pixels, SIZE, 0, SIZE, 0, 0):
            raise SystemExit("libjpeg-turbo cannot decode it")
    return 0.0


def check_pixels(form, path):
    """Every image that the peer gives is one of ours, to the bit."""
    from facebench import datasets

    if form == "pack":
        ours = datasets.Pack(path).images[:]
    else:
        made = (datasets.read_image_folder if form == "folder" else datasets.read_archive)(path)
        images = datasets.DecodedImages(made)
        ours = [images.pixels(i) for i in range(len(made.samples))]
    known = {image.tobytes() for image in ours}
    theirs = peer_setup(form, path, 1)
    if not all(next(theirs).tobytes() in known for _ in range(4 * BATCH)):
        raise SystemExit(f"{form}: the images differ")


def agree(ours, theirs):
    """What they read was compared before (check_pixels)."""


@functools.cache
def forms_of(files):
    folder = Path(tempfile.mkdtemp(prefix="facebench-bench-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return prepare(files, folder)


def compare(form, settings):
    paths = forms_of(settings.files)
    check_pixels(form, paths[form])
    what = Comparison(f"batches from {form}", "images", BATCH * BATCHES, agree)
    ours = Contestant("facebench", functools.partial(ours_setup, form, paths[form]), ours_run)
    name = READERS[form][0]
    peers = [Contestant(name, functools.partial(peer_setup, form, paths[form]), peer_run)]
    if form != "pack":
        bare = functools.partial(bare_setup, paths["folder"])
        peers.append(Contestant("libjpeg-turbo alone", bare, bare_run, reference=True))
    return harness.compare(what, ours, peers, settings)


def add_arguments(parser):
    parser.add_argument("--files", type=Path, help="a folder of images; synthetic faces without it")


if __name__ == "__main__":
    harness.main({form: functools.partial(compare, form) for form in READERS}, add_arguments)
