"""HDF5 texts of variable length, which facebench reads itself. The reference is h5py, and with it
the HDF5 library; damaged files are made here byte by byte."""

import facebench.io as fio
import h5py
import numpy as np
import pytest
from damaged_files import check_embeddings, words
from facebench import Error

TEXT = h5py.string_dtype()


def some_names(count, seed=7):
    """Names of 1 to 400 bytes; one is longer than a heap of the usual size."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 400, count)
    lengths[count // 2] = 9000
    return [f"{i}/" + "é"[: i % 2] + "x" * n for i, n in enumerate(lengths)]


def write(path, names, **options):
    with h5py.File(path, "w") as f:
        f["embedding"] = np.ones((len(names), 2), np.float32)
        f.create_dataset("name", data=names, dtype=TEXT, **options)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"chunks": (64,)},
        {"chunks": (300,), "compression": "gzip"},  # the last chunk is not full
        {"chunks": (64,), "compression": "gzip", "shuffle": True},
        {"chunks": (64,), "maxshape": (None,)},
    ],
    ids=lambda options: "-".join(options) or "contiguous",
)
def test_texts_are_those_that_h5py_reads(tmp_path, options, reading):
    path = tmp_path / "e.h5"
    write(path, some_names(1000), **options)
    with h5py.File(path) as f:
        expected = list(f["name"].asstr()[:])
    assert fio.read_embeddings(path).names == expected == some_names(1000)


@pytest.mark.parametrize("options", [{"chunks": (64,)}, {"chunks": (64,), "maxshape": (None,)}])
def test_the_indexes_of_chunks_since_hdf5_1_10(tmp_path, options, reading):
    path = tmp_path / "e.h5"
    names = some_names(500)
    with h5py.File(path, "w", libver=("v110", "v110")) as f:
        f["embedding"] = np.ones((len(names), 2), np.float32)
        f.create_dataset("name", data=names, dtype=TEXT, compression="gzip", **options)
    assert fio.read_embeddings(path).names == names


def test_a_chunk_that_was_never_written_holds_empty_texts(tmp_path, reading):
    path = tmp_path / "e.h5"
    with h5py.File(path, "w") as f:
        f["embedding"] = np.ones((6, 2), np.float32)
        f.create_dataset("name", (6,), TEXT, chunks=(2,))[4:] = ["a", "b"]
        assert list(f["name"].asstr()[:]) == ["", "", "", "", "a", "b"]
    with pytest.raises(Error, match="row 0 has no name"):
        fio.read_embeddings(path)


def test_what_is_not_supported_says_so(tmp_path, reading):
    path = tmp_path / "e.h5"
    with h5py.File(path, "w") as f:
        f["embedding"] = np.ones((2, 2), np.float32)
        properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        properties.set_layout(h5py.h5d.COMPACT)
        space = h5py.h5s.create_simple((2,))
        kind = h5py.h5t.py_create(TEXT, logical=True)
        h5py.h5d.create(f.id, b"name", kind, space, properties)
        f["name"][:] = ["a", "b"]
    with pytest.raises(Error, match="in an object's header, which is not supported"):
        fio.read_embeddings(path)


def heap_at(data):
    return data.index(b"GCOL")


def replaced(data, at, value, size=8):
    return data[:at] + value.to_bytes(size, "little") + data[at + size :]


# What a reference holds: the length in 4 bytes, the heap's address in 8, the object's number in 4.
# What a heap holds: GCOL, version, its size at 8; from 16 on objects: number, uses, size at 8,
# text.
DAMAGES = {
    "a heap outside the file": (lambda d, ref, heap: replaced(d, ref + 4, len(d) - 8), "beyond"),
    "an address near 2^64": (
        lambda d, ref, heap: replaced(d, ref + 4, 2**64 - 8),
        "beyond",
    ),
    "no heap": (lambda d, ref, heap: replaced(d, ref + 4, heap + 8), "no heap of texts is at byte"),
    "a heap of no size": (lambda d, ref, heap: replaced(d, heap + 8, 0), "no heap of texts"),
    "a heap of a huge size": (lambda d, ref, heap: replaced(d, heap + 8, 2**63), "beyond"),
    "a number that is not there": (
        lambda d, ref, heap: replaced(d, ref + 12, 60_000, 4),
        "text 0 of 3 bytes is not in the heap",
    ),
    "a text longer than its object": (
        lambda d, ref, heap: replaced(d, ref, 4096, 4),
        "text 0 of 4096 bytes is not in the heap",
    ),
    "an object longer than its heap": (
        lambda d, ref, heap: replaced(d, heap + 24, 2**64 - 1),
        "object 1 of the heap of texts at byte .* beyond its end",
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damages_are_named(tmp_path, damage, reading):
    path = tmp_path / "e.h5"
    write(path, ["abc", "d"])
    with h5py.File(path) as f:
        reference = f["name"].id.get_offset()
    data = path.read_bytes()
    change, message = DAMAGES[damage]
    path.write_bytes(change(data, reference, heap_at(data)))
    with pytest.raises(Error, match=f"e.h5: /name: .*{message}"):
        fio.read_embeddings(path)


def test_texts_that_share_their_bytes_are_refused(tmp_path, reading):
    """A thousand times the same long text: more memory than the file has bytes."""
    path = tmp_path / "e.h5"
    names = ["x" * 60_000, *(f"{i}" for i in range(999))]
    write(path, names)
    with h5py.File(path) as f:
        offset = f["name"].id.get_offset()
    data = path.read_bytes()
    first = data[offset : offset + 16]
    path.write_bytes(data[:offset] + first * len(names) + data[offset + 16 * len(names) :])
    with pytest.raises(Error, match="its texts lie on top of one another"):
        fio.read_embeddings(path)


@pytest.mark.parametrize("options", [{}, {"chunks": (2,), "compression": "gzip"}])
def test_every_word_damaged_does_not_crash(tmp_path, options, reading):
    """Each word of a file in turn as 0, 1, and near 2^64: every one read or refused."""
    path = tmp_path / "e.h5"
    write(path, ["a", "bc", "def"], **options)
    values = (0, 2**64 - 1) if reading == "confined" else (0, 1, 2**64 - 1)
    check_embeddings(path, words(path.read_bytes(), 4, values), reading)


def test_other_sizes_of_addresses_are_refused(tmp_path, reading):
    path = tmp_path / "e.h5"
    properties = h5py.h5p.create(h5py.h5p.FILE_CREATE)
    properties.set_sizes(4, 4)
    h5py.File(h5py.h5f.create(str(path).encode(), fcpl=properties)).close()
    with pytest.raises(Error, match="has addresses of 4 bytes and lengths of 4, which is not"):
        fio.read_embeddings(path)


@pytest.mark.parametrize("libver", [("earliest", "v108"), ("v110", "v110")])
def test_headers_in_several_parts(tmp_path, libver, reading):
    """Attributes that do not fit move to parts that continue the header, up to hundreds of bytes
    away; each byte of such a message damaged is an error or a file like the whole one."""
    path = tmp_path / "e.h5"
    with h5py.File(path, "w", libver=libver) as f:
        f["name"] = np.array([b"a", b"b"])
        f["embedding"] = np.eye(2, dtype=np.float32)
        for k in range(7):
            f["embedding"].attrs[f"attribute {k}"] = np.arange(40.0) + k
    data = path.read_bytes()
    head = b"\x10\0\x10\0" if libver[0] == "earliest" else b"\x10\x10\0"
    continued = [k for k in range(len(data)) if data[k : k + len(head)] == head]
    assert continued
    assert fio.read_embeddings(path).names == ["a", "b"]
    changes = [(k + len(head) // 2, bytes([size])) for k in continued for size in (0, 8, 15, 17)]
    check_embeddings(path, changes, reading)
