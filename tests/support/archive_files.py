"""Literal writers and readers of the formats that face data circulate in, after their
specifications, with nothing of facebench's: what tests compare it with."""

import io
import pickle
import struct
import tarfile
from pathlib import Path

import numpy as np
from PIL import Image

MAGIC = struct.pack("<I", 0xCED7230A)


def jpeg(seed, size=16):
    """A small JPEG of smooth noise."""
    values = np.random.default_rng(seed).integers(0, 256, (4, 4, 3), dtype=np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(values).resize((size, size)).save(buffer, "JPEG", quality=90)
    return buffer.getvalue()


def part(flag, data):
    return MAGIC + struct.pack("<I", flag << 29 | len(data)) + data + b"\0" * (-len(data) % 4)


def record(data):
    """dmlc's RecordIOWriter.WriteRecord."""
    cuts = [i for i in range(0, len(data) - 3, 4) if data[i : i + 4] == MAGIC]
    if not cuts:
        return part(0, data)
    begins = [0] + [c + 4 for c in cuts]
    ends = [*cuts, len(data)]
    flags = [1] + [2] * (len(cuts) - 1) + [3]
    return b"".join(part(f, data[b:e]) for f, b, e in zip(flags, begins, ends, strict=True))


def packed(label, key, image):
    """mxnet.recordio.pack: a number is a scalar label, a list has its length as the flag."""
    if isinstance(label, list | tuple):
        head = struct.pack("<IfQQ", len(label), 0.0, key, 0)
        return head + struct.pack(f"<{len(label)}f", *label) + image
    return struct.pack("<IfQQ", 0, label, key, 0) + image


def write_rec(path, entries, index=True):
    """entries: (key, data of the record), in physical order."""
    path = Path(path)
    offsets, out = [], b""
    for key, data in entries:
        offsets.append((key, len(out)))
        out += record(data)
    path.write_bytes(out)
    if index:
        path.with_suffix(".idx").write_text("".join(f"{k}\t{o}\n" for k, o in offsets))


def classic(images, labels, pairs=False):
    """InsightFace's layout: images 1..n, identity records, header record 0 (last in the file)."""
    n = len(images)
    people = sorted(set(labels))
    entries = []
    for i, (image, label) in enumerate(zip(images, labels, strict=True), 1):
        entries.append((i, packed([float(label), 1.0] if pairs else float(label), i, image)))
    for k, person in enumerate(people):
        keys = [i for i, label in enumerate(labels, 1) if label == person]
        entries.append((n + 1 + k, packed([keys[0], keys[-1] + 1], n + 1 + k, b"")))
    entries.append((0, packed([n + 1, n + 1 + len(people)], 0, b"")))
    return entries


def read_rec(path):
    """arcface_torch's MXFaceDataset over a transcription of mxnet's MXIndexedRecordIO."""
    data = Path(path).read_bytes()
    index = {}
    for line in Path(path).with_suffix(".idx").read_text().splitlines():
        key, offset = line.split("\t")
        index[int(key)] = int(offset)

    def read(key):
        at, parts = index[key], []
        while True:
            magic, word = struct.unpack_from("<II", data, at)
            assert magic == 0xCED7230A
            flag, length = word >> 29, word & (1 << 29) - 1
            parts.append(data[at + 8 : at + 8 + length])
            at += 8 + (length + 3) // 4 * 4
            if flag in (0, 3):
                return MAGIC.join(parts)

    def unpack(raw):
        flag, label, key, _ = struct.unpack_from("<IfQQ", raw)
        if flag == 0:
            return flag, [label], key, raw[24:]
        floats = struct.unpack_from(f"<{flag}f", raw, 24)
        return flag, list(floats), key, raw[24 + 4 * flag :]

    flag, label, _, _ = unpack(read(0))
    keys = range(1, int(label[0])) if flag > 0 else sorted(index)
    images, labels = [], []
    for key in keys:
        _, label, _, image = unpack(read(key))
        images.append(image)
        labels.append(int(label[0]))
    identities = []
    if flag > 0:
        identities = [unpack(read(k))[1] for k in range(*map(int, unpack(read(0))[1]))]
    return images, labels, identities


def python2_bin(images, same):
    """Protocol 2 as Python 2's cPickle writes it: str is BINSTRING or SHORT_BINSTRING."""
    out = b"\x80\x02]q\x01("
    memo = 2
    for image in images:
        if len(image) < 256:
            out += b"U" + bytes([len(image)]) + image
        else:
            out += b"T" + struct.pack("<i", len(image)) + image
        out += b"r" + struct.pack("<I", memo)
        memo += 1
    out += b"e]r" + struct.pack("<I", memo) + b"("
    return out + b"".join(b"\x88" if s else b"\x89" for s in same) + b"e\x86q\x00."


def bins(images, same):
    """The known variants of a .bin, by name."""
    arrays = [np.frombuffer(i, np.uint8).copy() for i in images]
    columns = [a[:, None] for a in arrays]
    return {
        "python2": python2_bin(images, same),
        "ascii": b"((lp1\n"
        + b"".join(b"S" + repr(i)[1:].encode() + b"\np2\na" for i in images)
        + b"(lp3\n"
        + b"".join(b"I01\na" if s else b"I00\na" for s in same)
        + b"tp0\n.",
        **{f"bytes{p}": pickle.dumps((images, same), p) for p in range(6)},
        **{f"arrays{p}": pickle.dumps((arrays, same), p) for p in range(6)},
        "columns": pickle.dumps((columns, [np.bool_(s) for s in same]), 2),
        "numpy1": pickle.dumps((columns, same), 3).replace(b"numpy._core", b"numpy.core"),
        "numpy_labels": pickle.dumps((images, np.array(same)), 4),
        "list": pickle.dumps([images, list(map(int, same))], 3),
        "tuples": pickle.dumps((tuple(images), tuple(same)), 3),
    }


def write_tar(path, files):
    """files: (name, bytes or text), in their order."""
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as tar:
        for name, data in files:
            data = data.encode() if isinstance(data, str) else data
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return path
