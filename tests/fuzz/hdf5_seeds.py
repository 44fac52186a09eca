"""Seeds of the targets of HDF5 files: data sets of every kind, and altered files of ours.

links_damaged.h5, and heap_nowhere.h5, heap_size.h5 and heap_free.h5 of embeddings, were found and
are kept as they are.
"""

import io
import json
from pathlib import Path

import h5py
import numpy as np


def made(fill):
    """The bytes of a file that `fill` has filled."""
    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        fill(file)
    return buffer.getvalue()


def altered(data, change):
    """The bytes of a file after `change`."""
    buffer = io.BytesIO(data)
    with h5py.File(buffer, "r+") as file:
        change(file)
    return buffer.getvalue()


def kinds(file):
    numbers = np.arange(6).reshape(2, 3)
    for kind in ("u1", "i4", "i8", "f4", "f8", "i2", ">f4", "u8"):
        file[f"numbers/{kind.strip('>')}{len(kind)}"] = numbers.astype(kind)
    file.create_dataset("folded", data=numbers, chunks=(1, 3), compression="gzip", shuffle=True)
    file.create_dataset("checked", data=numbers, chunks=(2, 3), fletcher32=True)
    file["texts/variable"] = ["a", "bcd", ""]
    file["texts/fixed"] = np.array([b"a", b"bcd"])
    file["texts/nul"] = np.array([b"a\0b", b"bcd"])
    file["one"] = 3.5
    file["empty"] = np.zeros((0, 4), np.float32)
    file["records"] = np.zeros(2, [("a", "f4"), ("b", "i4")])
    file["json"] = np.frombuffer(b'{"a": 1}', np.uint8)
    file["link"] = h5py.SoftLink("/one")
    file["nowhere"] = h5py.SoftLink("/absent")
    file["outside"] = h5py.ExternalLink("other.h5", "/a")


def odd(file):
    file.create_dataset("lzf", data=np.zeros((4, 4)), chunks=(2, 2), compression="lzf")
    file.create_dataset("large", (1 << 30, 1 << 10), np.float32, chunks=(1, 1 << 10))
    file.create_dataset("endless", (1 << 40, 1 << 40), np.uint8, chunks=(1, 1))
    file.create_dataset("outside", (1, 4), np.float32, external=[("other.bin", 0, 16)])
    layout = h5py.VirtualLayout((4,), "f4")
    layout.dcpl.set_obj_track_times(False)  # of all data sets, only these would hold the time
    layout[:] = h5py.VirtualSource("other.h5", "a", (4,))
    file.create_virtual_dataset("virtual", layout)
    file.create_dataset("late", (8,), np.float32)  # nothing was written: it has no place yet


def texts(file):
    kind = h5py.string_dtype()
    file.create_dataset("plain", data=["a" * 3000, "b" * 3000, "", "c"], dtype=kind)  # two heaps
    file.create_dataset("parts", (7,), kind, chunks=(3,))[3:] = ["d", "e", "f", "g"]
    file.create_dataset(
        "folded", data=["h", "ij", "k"], dtype=kind, chunks=(2,), compression="gzip", shuffle=True
    )
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_layout(h5py.h5d.COMPACT)
    properties.set_obj_track_times(False)
    space = h5py.h5s.create_simple((1,))
    h5py.h5d.create(file.id, b"compact", h5py.h5t.py_create(kind, logical=True), space, properties)


def of_hdf5():
    whole = made(kinds)
    end = made(lambda file: file.create_dataset("a", data=np.arange(600.0)))
    whole_or_not = {"kinds.h5": whole, "cut.h5": end[:-400], "text.h5": b"no HDF5"}
    return whole_or_not | {"odd.h5": made(odd), "texts.h5": made(texts)}


def put(name, index, value):
    def change(file):
        file[name][index] = value

    return change


def replaced(name, value):
    def change(file):
        if name in file:
            del file[name]
        if value is not None:
            file[name] = value

    return change


def of_embeddings():
    good = made(plain)
    changes = {
        "twice": put("name", 1, b"a"),
        "no_name": put("name", 1, b""),
        "not_utf8": put("name", 1, b"\xff"),
        "nan": put("embedding", (0, 0), np.nan),
        "failed_with_numbers": put("status", 0, 2),
        "status": put("status", 0, 77),
        "rows": replaced("name", np.array([b"a"])),
        "no_status": replaced("status", None),
        "no_numbers": replaced("embedding", np.zeros((3, 0), np.float32)),
        "manifest": replaced("manifest", np.frombuffer(b'{"a": 1}', np.uint8)),
        "flat": replaced("embedding", np.zeros(6, np.float32)),
        "texts": replaced("name", ["a", "b", "c"]),
        "float64": replaced("embedding", np.arange(6.0).reshape(3, 2)),
        "float64_large": replaced("embedding", np.full((3, 2), 1e300)),
    }
    return {f"{name}.h5": altered(good, change) for name, change in changes.items()}


def plain(file):
    file["embedding"] = np.ones((3, 2), np.float32)
    file["name"] = np.array([b"a", b"b", b"c"])
    file["status"] = np.zeros(3, np.uint8)


def of_pack(good):
    changes = {
        "label": put("label", 0, -5),
        "status": put("status", 0, 77),
        "rows": replaced("label", np.zeros(1, np.int32)),
        "floats": replaced("images", np.zeros((2, 8, 8, 3), np.float32)),
        "no_people": replaced("manifest", np.frombuffer(b'{"format": "x"}', np.uint8)),
        "list": replaced("manifest", np.frombuffer(b"[1]", np.uint8)),
        "no_images": replaced("images", np.zeros((0, 8, 8, 3), np.uint8)),
    }
    seeds = {f"{name}.h5": altered(good, change) for name, change in changes.items()}
    return seeds | {"cut.h5": good[: len(good) * 3 // 4]}


def of_scores(good):
    """`good` holds the track pairs."""
    with h5py.File(io.BytesIO(good)) as file:
        track = f"tracks/{next(iter(file['tracks']))}"
        manifest = bytes(file["manifest"][()])
    changes = {
        "first": put(f"{track}/first", 0, 1 << 30),
        "label": put(f"{track}/genuine", 0, 7),
        "nan": put(f"{track}/score", 0, np.nan),
        "few": replaced(f"{track}/score", np.zeros(1)),
        "sides": replaced(f"{track}/first", np.zeros(1, np.int32)),
        "kind": replaced(f"{track}/kind", np.array([b"other"])),
        "no_kind": replaced(f"{track}/kind", None),
        "status": put("sample/status", 0, 9),
        "statuses": replaced("sample/status", np.zeros(1, np.uint8)),
        "identity": put("sample/identity", 0, 1 << 30),
        "format": replaced(
            "manifest", np.frombuffer(manifest.replace(b'"format":', b'"f0rmat":'), np.uint8)
        ),
        "older": replaced("manifest", np.frombuffer(older(manifest), np.uint8)),
        "templates": templates,
        "templates_wrong": lambda file: (templates(file), put("template/begin", 1, 99)(file)),
    }
    return {f"{name}.h5": altered(good, change) for name, change in changes.items()}


def older(manifest):
    """Of a run before rules were stated one by one."""
    values = json.loads(manifest)
    values["format"] = 3
    return json.dumps(values).encode()


def templates(file):
    file["template/name"] = np.array([b"t", b"u"])
    file["template/identity"] = np.zeros(2, np.int32)
    file["template/begin"] = np.array([0, 1, 2])
    file["template/sample"] = np.array([0, 1], np.int32)
    file["template/medium"] = np.zeros(2, np.int32)
    file["template/score"] = np.ones(2, np.float32)


def all_of(seeds: Path):
    """Target -> name -> bytes; files of ours are those among the seeds."""
    return {
        "hdf5": of_hdf5(),
        "embeddings": of_embeddings(),
        "pack": of_pack((seeds / "pack/small.h5").read_bytes()),
        "scores": of_scores((seeds / "scores/lfw.h5").read_bytes()),
    }
