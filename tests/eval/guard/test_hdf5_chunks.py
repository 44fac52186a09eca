"""Datasets of numbers in chunks. The reference is h5py, and with it the HDF5 library; chunks that
hold other bytes than they should are written here one by one."""

import os
import resource
import subprocess
import sys
import zlib

import facebench.io as fio
import h5py
import numpy as np
import pytest
from facebench import Error

VALUES = np.random.default_rng(3).normal(size=(7, 6)).astype(np.float32)


def write(path, values=VALUES, **options):
    """Embeddings in chunks of 4 x 4, of which those at the ends are not full."""
    with h5py.File(path, "w", **options.pop("file", {})) as f:
        f.create_dataset("embedding", data=values, chunks=(4, 4), **options)
        f["name"] = np.array([f"{k}".encode() for k in range(len(values))])


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"fletcher32": True},
        {"compression": "gzip"},
        {"compression": "gzip", "shuffle": True, "fletcher32": True},
        {"compression": "gzip", "maxshape": (None, 6), "file": {"libver": ("v110", "v110")}},
        {"maxshape": (None, None), "file": {"libver": ("v110", "v110")}},
        {"file": {"libver": ("v110", "v110")}},
    ],
    ids=str,
)
def test_numbers_are_those_that_h5py_reads(tmp_path, options, reading):
    write(tmp_path / "e.h5", **options)
    assert np.array_equal(fio.read_embeddings(tmp_path / "e.h5").values, VALUES)


@pytest.mark.parametrize("options", [{}, {"compression": "gzip"}], ids=str)
def test_a_chunk_that_was_never_written_holds_the_fill_value(tmp_path, options, reading):
    with h5py.File(tmp_path / "e.h5", "w") as f:
        shape = {"shape": (6, 2), "chunks": (2, 2), "dtype": np.float32, "fillvalue": 0.5}
        f.create_dataset("embedding", **shape, **options)[2:4] = 1
        f["name"] = np.array([b"a", b"b", b"c", b"d", b"e", b"f"])
    read = fio.read_embeddings(tmp_path / "e.h5").values
    assert read.tolist() == [[0.5, 0.5]] * 2 + [[1, 1]] * 2 + [[0.5, 0.5]] * 2


def put(path, packed, mask=0, **options):
    """Embeddings whose first chunk holds these bytes."""
    write(path, **options)
    with h5py.File(path, "r+") as f:
        f["embedding"].id.write_direct_chunk((0, 0), packed, mask)


@pytest.mark.parametrize(
    ("packed", "options"),
    [
        (zlib.compress(bytes(9)), {"compression": "gzip"}),
        (zlib.compress(bytes(65)), {"compression": "gzip"}),
        (b"no stream", {"compression": "gzip"}),
        (bytes(3), {"fletcher32": True}),
        (bytes(64), {"fletcher32": True}),
        (zlib.compress(bytes(64)), {"compression": "gzip", "fletcher32": True, "shuffle": True}),
    ],
    ids=["short", "long", "no-stream", "no-checksum", "checksum-cut-off", "checksum-missing"],
)
def test_a_chunk_of_other_bytes_than_it_should_have(tmp_path, packed, options, reading):
    """The library takes what comes out for a whole chunk, and reads behind it."""
    put(tmp_path / "e.h5", packed, **options)
    with pytest.raises(Error, match=r"e\.h5: /embedding: damaged: a chunk"):
        fio.read_embeddings(tmp_path / "e.h5")


def test_a_chunk_without_a_filter_of_other_bytes(tmp_path, reading):
    put(tmp_path / "e.h5", bytes(9), mask=1, compression="gzip")
    with pytest.raises(Error, match="has not the size that it should have"):
        fio.read_embeddings(tmp_path / "e.h5")


def test_the_index_of_chunks_is_not_believed(tmp_path, reading):
    """A length of 9 bytes in place of 64: the library reads so many, and uses 64."""
    write(tmp_path / "e.h5")
    data = bytearray((tmp_path / "e.h5").read_bytes())
    tree = data.index(b"TREE\x01")  # of chunks; each key begins with the chunk's bytes
    assert int.from_bytes(data[tree + 24 : tree + 28], "little") == 64
    data[tree + 24] = 9
    (tmp_path / "e.h5").write_bytes(data)
    with pytest.raises(Error, match="a chunk has not the size that it should have"):
        fio.read_embeddings(tmp_path / "e.h5")


def test_more_chunks_than_the_file_can_hold(tmp_path, reading):
    with h5py.File(tmp_path / "e.h5", "w") as f:
        f.create_dataset("embedding", (1000, 1000), np.float32, chunks=(1, 1), compression="gzip")
        f["name"] = np.array([b"%d" % row for row in range(1000)])
        f.create_dataset("rest", data=np.zeros(1_000_000, np.uint8))  # so that the claim fits
    with pytest.raises(Error, match="more chunks than a file of"):
        fio.read_embeddings(tmp_path / "e.h5")


def test_a_small_chunk_that_stands_for_more_than_the_memory(tmp_path):
    packer = zlib.compressobj(1)
    zeros = bytes(1 << 20)
    packed = b"".join(packer.compress(zeros) for _ in range(640)) + packer.flush()
    put(tmp_path / "e.h5", packed, compression="gzip")
    code = f"import facebench.io as fio\nfio.read_embeddings({str(tmp_path / 'e.h5')!r})"
    limit = (1 << 29, 1 << 29)
    ended = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, limit),
    )
    assert "a chunk cannot be expanded to what it should hold" in ended.stderr


def test_a_file_that_asks_for_a_driver(tmp_path, reading):
    """Of a file in several parts: the library asked for as many bytes as it said."""
    write(tmp_path / "e.h5")
    data = bytearray((tmp_path / "e.h5").read_bytes())
    assert data[48:56] == b"\xff" * 8
    data[48:56] = (96).to_bytes(8, "little")
    (tmp_path / "e.h5").write_bytes(data)
    with pytest.raises(Error, match="is one of several files"):
        fio.read_embeddings(tmp_path / "e.h5")


def test_rows_of_no_numbers(tmp_path, reading):
    """A file of two kilobytes holds as many of them as it says: they are not walked."""
    with h5py.File(tmp_path / "e.h5", "w") as f:
        f.create_dataset("embedding", shape=(1 << 40, 0), dtype=np.float64)
        f["name"] = np.array([b"a"])
    with pytest.raises(Error, match="/embedding has rows of no numbers"):
        fio.read_embeddings(tmp_path / "e.h5")
