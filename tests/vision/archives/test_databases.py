"""LMDB and TFRecord: files that the packages lmdb and google's encoding rules make are read as they
were written; damaged ones are refused by name."""

import bz2
import gzip
import pickle
import struct

import numpy as np
import pytest
from archive_files import jpeg
from facebench import Error, datasets

IMAGES = [jpeg(i, 16 + 40 * (i % 3)) for i in range(30)]  # of one page of LMDB, and of several
LABELS = [i // 4 for i in range(30)]


def contents(path, **options):
    found = datasets.read_archive(path, **options)
    return [(s.read(), found.label_names[s.label]) for s in found.samples]


def expected(order=None):
    order = range(30) if order is None else order
    return [(IMAGES[i], str(LABELS[i])) for i in order]


# --- msgpack and protobuf, by their specifications ---


def message_bytes(data):
    return b"\xc5" + struct.pack(">H", len(data)) + data


def message_int(value):
    return bytes([value]) if 0 <= value < 128 else b"\xd3" + struct.pack(">q", value)


def message_list(items):
    return b"\xdc" + struct.pack(">H", len(items)) + b"".join(items)


def pair(image, label):
    return b"\x92" + message_bytes(image) + message_int(label)


def varint(value):
    out = b""
    value &= (1 << 64) - 1
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


# --- LMDB ---


def write_lmdb(path, items, subdir=False):
    lmdb = pytest.importorskip("lmdb", reason="the package lmdb writes what is read here")
    with lmdb.open(str(path), subdir=subdir, map_size=1 << 26) as env:
        for begin in range(0, len(items), 7):  # several transactions: pages are copied
            with env.begin(write=True) as txn:
                for key, value in items[begin : begin + 7]:
                    txn.put(key, value)


def messages(images=IMAGES, labels=LABELS):
    keys = [str(i).encode() for i in range(len(images))]
    items = [(k, pair(a, b)) for k, a, b in zip(keys, images, labels, strict=True)]
    items.append((b"__keys__", message_list([message_bytes(k) for k in keys])))
    items.append((b"__len__", message_int(len(keys))))
    items.append((b"__classnum__", message_int(max(labels) + 1)))
    return items


@pytest.mark.parametrize("subdir", [False, True])
def test_lmdb_of_messages(tmp_path, subdir):
    path = tmp_path / "train.lmdb"
    write_lmdb(path, messages(), subdir)
    assert contents(path) == expected()
    found = datasets.read_dataset("lmdb", path)
    assert [s.id for s in found.samples[:5]] == ["0/0", "0/1", "0/2", "0/3", "1/4"]


def test_lmdb_of_many_keys(tmp_path):
    # Three levels of pages, in an order of its own, with keys deleted and written again.
    lmdb = pytest.importorskip("lmdb", reason="the package lmdb writes what is read here")
    keys = [f"{i * 7919 % 5003:06}".encode() * 10 for i in range(5003)]
    with lmdb.open(str(tmp_path / "a.lmdb"), subdir=False, map_size=1 << 26) as env:
        with env.begin(write=True) as txn:
            for i, key in enumerate(keys):
                txn.put(key, pair(IMAGES[0][:99] + b"%d" % i, i))
        with env.begin(write=True) as txn:
            for key in keys[::3]:
                txn.delete(key)
        with env.begin(write=True) as txn:
            for i in range(0, 5003, 3):
                txn.put(keys[i], pair(IMAGES[0][:99] + b"%d" % i, i))
            txn.put(b"__keys__", message_list([message_bytes(k) for k in keys]))
            txn.put(b"__len__", b"\xcd" + struct.pack(">H", len(keys)))
        assert env.stat()["depth"] >= 3
    assert contents(tmp_path / "a.lmdb") == [
        (IMAGES[0][:99] + b"%d" % i, str(i)) for i in range(5003)
    ]


@pytest.mark.parametrize("listed", [False, True])
def test_lmdb_of_datums(tmp_path, listed):
    keys = [f"train_{label}_{i:03}".encode() for i, label in enumerate(LABELS)]
    order = list(range(30))
    if listed:  # as Fast Face Classification's tools write: image alone, and a list of labels
        order = list(np.random.default_rng(1).permutation(30))
        items = [(k, field(4, a)) for k, a in zip(keys, IMAGES, strict=True)]
        (tmp_path / "train_kv.txt").write_text(
            "".join(f"{keys[i].decode()} {LABELS[i]}\n" for i in order)
        )
    else:  # as Caffe's convert_imageset --encoded does
        items = [
            (k, field(1, 3) + field(2, 16) + field(3, 16) + field(4, a) + field(5, b) + field(7, 1))
            for k, a, b in zip(keys, IMAGES, LABELS, strict=True)
        ]
    write_lmdb(tmp_path, items, subdir=True)
    assert contents(tmp_path) == expected(order)
    assert datasets.read_archive(tmp_path).samples[0].id == (
        f"{LABELS[order[0]]}/{keys[order[0]].decode()}"
    )


BAD_ENTRIES = {
    "pickle": (pickle.dumps((IMAGES[1], 0)), "Python pickle"),
    "three": (b"\x93" + message_bytes(IMAGES[1]) + b"\0\0", "not a msgpack list"),
    "cut": (pair(IMAGES[1], 0)[:-9], "not a msgpack list"),
    "long": (b"\x92\xc6\xff\xff\xff\xffab", "not a msgpack list"),
    "negative": (pair(IMAGES[1], -5), "not a whole number from 0"),
    "text": (b"\x92" + message_bytes(IMAGES[1]) + b"\xa1a", "not a whole number from 0"),
    "huge": (
        b"\x92" + message_bytes(IMAGES[1]) + b"\xcf" + b"\xff" * 8,
        "not a whole number from 0",
    ),
    "more": (pair(IMAGES[1], 0) + b"a", "bytes follow"),
    "empty": (pair(b"", 0), "no bytes"),
    "nothing": (b"", "not a msgpack list"),
}


@pytest.mark.parametrize("name", BAD_ENTRIES)
def test_bad_entries_of_lmdb(tmp_path, name):
    raw, wanted = BAD_ENTRIES[name]
    items = messages(IMAGES[:3], LABELS[:3])
    items[1] = (b"1", raw)
    write_lmdb(tmp_path / "a.lmdb", items)
    with pytest.raises(Error, match=r"a\.lmdb: key 1") as caught:
        contents(tmp_path / "a.lmdb")
    assert wanted in str(caught.value), caught.value
    found = datasets.read_archive(tmp_path / "a.lmdb", skip_damaged=1)
    assert [s.read() for s in found.samples] == [IMAGES[0], IMAGES[2]]


def test_a_long_key_of_lmdb_is_cut_in_messages(tmp_path):
    """Of LMDB's 511 bytes; a control character stands as its escape."""
    key = b"\x1b" + b"k" * 400
    keys = message_list([message_bytes(key)] * 2)
    write_lmdb(tmp_path / "data.mdb", [(b"__keys__", keys), (b"__len__", b"\x02")])
    with pytest.raises(Error, match="listed twice") as found:
        contents(tmp_path / "data.mdb")
    assert "\\x1bkkk" in str(found.value) and "k" * 59 + "..." in str(found.value)
    assert "k" * 60 not in str(found.value)


def test_bad_lists_of_lmdb(tmp_path):
    good = dict(messages(IMAGES[:3], LABELS[:3]))
    keys = [message_bytes(b"%d" % i) for i in (0, 1, 2)]
    for k, (changes, wanted) in enumerate(
        [
            (
                {b"__keys__": message_list([*keys, message_bytes(b"7")])},
                "is not the number of keys",
            ),
            ({b"__keys__": message_list(keys) + b"", b"__len__": b"\xa1a"}, "not the number"),
            ({b"__keys__": b"\xdd\xff\xff\xff\xff" + keys[0]}, "entry 1 is not a key"),
            ({b"__keys__": pickle.dumps(keys)}, "Python pickle"),
            ({b"__keys__": message_list([keys[0], keys[1], keys[0]])}, "listed twice"),
            ({b"__keys__": message_list([*keys[:2], message_bytes(b"8")])}, "not in the database"),
        ]
    ):
        path = tmp_path / f"{k}.lmdb"
        write_lmdb(path, list({**good, **changes}.items()))
        with pytest.raises(Error, match=wanted):
            contents(path)
    for k, (value, wanted) in enumerate(
        [
            (
                field(1, 3) + field(2, 4) + field(3, 4) + field(4, bytes(48)) + field(5, 1),
                "raw pixels",
            ),
            (field(4, IMAGES[0]), "has no label"),
            (field(4, IMAGES[0]) + field(5, -1), "has no label"),
            (field(5, 1), "no bytes"),
            (b"\x0b\x0c", "not a message of Caffe"),
        ]
    ):
        write_lmdb(tmp_path / f"d{k}.lmdb", [(b"a", value)])
        with pytest.raises(Error, match=wanted):
            contents(tmp_path / f"d{k}.lmdb")


def test_damaged_lmdb(tmp_path):
    """Every byte of the tree's pages set to others: nothing is read that is not there, and what is
    read is an entry or an error that names the page."""
    path = tmp_path / "a.lmdb"
    write_lmdb(path, messages(IMAGES[:4], LABELS[:4]))
    whole = bytearray(path.read_bytes())
    changed = tmp_path / "b.lmdb"
    for size, wanted in [
        (100, "too short"),
        (4096, "last one|damaged"),
        (len(whole) - 4096, "last"),
    ]:
        changed.write_bytes(whole[:size])
        with pytest.raises(Error, match=wanted):
            contents(changed)
    for at, value, wanted in [(16, 0, "not an LMDB data file"), (20, 9, "data version 9")]:
        copy = bytearray(whole)
        copy[at] = value
        changed.write_bytes(copy)
        with pytest.raises(Error, match=wanted):
            contents(changed)
    random = np.random.default_rng(5)
    errors = 0
    for page in range(2, len(whole) // 4096):
        for at in random.choice(64, 12, replace=False):
            copy = bytearray(whole)
            copy[4096 * page + int(at)] ^= int(random.integers(1, 256))
            changed.write_bytes(copy)
            try:
                contents(changed)
            except Error as error:
                errors += "b.lmdb" in str(error)
    assert errors > 10


# --- TFRecord ---


def crc32c(data):
    """By its definition: one bit after the other."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def framed(data):
    length = struct.pack("<Q", len(data))
    return length + masked(length) + data + masked(data)


def feature(kind, values):
    if kind == 3:
        return field(3, field(1, b"".join(map(varint, values))))
    return field(kind, b"".join(field(1, v) for v in values))


def example(**features):
    entries = (field(1, k.encode()) + field(2, v) for k, v in features.items())
    return field(1, b"".join(field(1, e) for e in entries))


def test_the_sum_is_the_published_one():
    assert crc32c(b"123456789") == 0xE3069283


def write_tfrecord(folder, name="TFR-SET", shard_images=12, labelled=False):
    """As img2tfrecord.py lays it out; with labels as the list of training."""
    folder.mkdir(parents=True, exist_ok=True)
    lines, shards = [], {}
    for i, (image, label) in enumerate(zip(IMAGES, LABELS, strict=True)):
        shard = shards.setdefault(i // shard_images, bytearray())
        place = f"{i // shard_images}\t{len(shard)}"
        lines.append(f"{name}\t{place}\t{label}" if labelled else f"./p{label}/{i}.jpg\t{place}")
        shard += framed(example(other=feature(1, [b"x"]), image=feature(1, [image])))
    for k, data in shards.items():
        (folder / f"{name}-{k:05}.tfrecord").write_bytes(data)
    return "".join(line + "\n" for line in lines)


def test_tfrecord_of_tface(tmp_path):
    text = write_tfrecord(tmp_path / "TFR-SET")
    (tmp_path / "TFR-SET" / "TFR-SET.index").write_text(text)
    for path in (tmp_path / "TFR-SET", tmp_path / "TFR-SET" / "TFR-SET.index"):
        found = datasets.read_archive(path)
        assert [s.read() for s in found.samples] == IMAGES
        assert [found.label_names[s.label] for s in found.samples] == [f"p{i}" for i in LABELS]
        assert found.samples[5].id == "p1/5.jpg"
    (tmp_path / "list.txt").write_text(write_tfrecord(tmp_path / "TFR-SET", labelled=True))
    found = datasets.read_dataset("tfrecord", tmp_path / "list.txt")
    assert [(s.read(), found.label_names[s.label]) for s in found.samples] == expected()
    assert found.samples[13].id.startswith("3/TFR-SET-00001-")


def test_tfrecord_alone(tmp_path):
    path = tmp_path / "a.tfrecord"
    records = [
        example(image_raw=feature(1, [a]), label=feature(3, [b]))
        for a, b in zip(IMAGES, LABELS, strict=True)
    ]
    path.write_bytes(b"".join(map(framed, records)))
    assert contents(path) == expected()
    whole = path.read_bytes()
    path.write_bytes(whole[:-5])
    with pytest.raises(Error, match=r"record 29 .*are left in the file"):
        contents(path)
    assert contents(path, skip_damaged=1) == expected(range(29))


BAD_EXAMPLES = {
    "sum of the data": (lambda: framed(example(image=feature(1, [IMAGES[0]])))[:-1] + b"!", "sum"),
    "sum of the length": (lambda: b"\xff" + framed(b"ab")[1:], "no record begins here"),
    "length": (
        lambda: struct.pack("<Q", 1 << 40) + masked(struct.pack("<Q", 1 << 40)) + bytes(40),
        "1099511627776 bytes",
    ),
    "cut": (lambda: framed(b"ab")[:10], "no record, the file has"),
    "no example": (lambda: framed(b"\x0a\xff\xff"), "not a tf.train.Example"),
    "no image": (lambda: framed(example(label=feature(3, [1]))), "no feature 'image'"),
    "empty image": (lambda: framed(example(image=feature(1, [b""]))), "no feature 'image'"),
    "group": (lambda: framed(b"\x0b"), "not a tf.train.Example"),
}


@pytest.mark.parametrize("name", BAD_EXAMPLES)
def test_damaged_tfrecords(tmp_path, name):
    make, wanted = BAD_EXAMPLES[name]
    (tmp_path / "S-00000.tfrecord").write_bytes(make())
    (tmp_path / "S.index").write_text("a/1.jpg\t0\t0\n")
    with pytest.raises(Error, match=r"S-00000\.tfrecord: record 0 \(byte 0\)") as caught:
        contents(tmp_path / "S.index")
    assert wanted in str(caught.value), caught.value


def test_bad_lists_of_tfrecord(tmp_path):
    write_tfrecord(tmp_path, "S")
    for text, wanted in [
        ("a\t0\n", "2 fields"),
        ("a\t0\tx\n", "offset must be a whole number"),
        ("a\t-1\t0\n", "out of range"),
        ("a\t7\t0\n", "S-00007.tfrecord is not there"),
        ("../../a\t0\t0\n", "not a name of an image"),
        ("../S\t0\t0\t1\n", "not the name of a folder"),
        ("S\t0\t0\t-1\n", "below 0"),
        ("S\t0\t3\t1\n", "no record begins here"),
        ("S\t0\t99999999\t1\n", "no record, the file has"),
        ("S\t0\t0\t1\nS\t0\t0\t1\n", "listed twice"),
        ("", "there is no record"),
    ]:
        (tmp_path / "S.index").write_text(text)
        with pytest.raises(Error, match=wanted):
            contents(tmp_path / "S.index")
    (tmp_path / "b.tfrecord").write_bytes(framed(example(image=feature(1, [IMAGES[0]]))))
    with pytest.raises(Error, match="has no label"):
        contents(tmp_path / "b.tfrecord")


def test_tfrecord_of_tensorflow(tmp_path):
    """The names of TensorFlow's own tools, and other features by the option."""
    path = tmp_path / "a.tfrecord"

    def write(**more):
        records = [
            example(
                **{"image/encoded": feature(1, [IMAGES[i]])},
                **{name: feature(*values(i)) for name, values in more.items()},
            )
            for i in range(4)
        ]
        path.write_bytes(b"".join(map(framed, records)))

    def people(**options):
        found = datasets.read_archive(path, **options)
        assert [s.read() for s in found.samples] == IMAGES[:4]
        return [found.label_names[s.label] for s in found.samples]

    number, text = lambda i: (3, [1 + i // 2]), lambda i: (1, [["Zoë", "Ann"][i // 2].encode()])
    write(**{"image/class/label": number})
    assert people() == ["1", "1", "2", "2"]
    write(**{"image/class/label": number, "image/class/text": text})
    assert people() == ["Zoë", "Zoë", "Ann", "Ann"]
    write(**{"image/class/text": text})
    assert people() == ["Zoë", "Zoë", "Ann", "Ann"]
    write(identity=text, number=number)
    with pytest.raises(
        Error, match=r"no label from 0 on.*--label NAME\): image/encoded, identity, number"
    ):
        people()
    assert people(label="identity") == ["Zoë", "Zoë", "Ann", "Ann"]
    assert people(label="number") == ["1", "1", "2", "2"]
    with pytest.raises(Error, match=r"no label 'x'.*image/encoded, identity, number"):
        people(label="x")
    plain = path.read_bytes()
    path.write_bytes(gzip.compress(plain))
    assert people(label="number") == ["1", "1", "2", "2"]
    path.write_bytes(bz2.compress(plain))
    with pytest.raises(Error, match=r"a\.tfrecord: is compressed by bzip2.*bunzip2"):
        people()


def test_floats_of_tensorflow_and_parts_by_their_names(tmp_path):
    def record(i, *values):
        packed = struct.pack(f"<{len(values)}f", *values)
        return framed(example(image=feature(1, [IMAGES[i]]), label=feature(2, [packed])))

    records = record(0, 3.0) + record(1, 3.0, 9.0) + record(2, 4.0)
    for name in ("faces-00000-of-00004.tfrecord", "faces.tfrecord-00001-of-00004"):
        (tmp_path / name).write_bytes(records)
        found = datasets.read_archive(tmp_path / name)
        assert [found.label_names[s.label] for s in found.samples] == ["3", "3", "4"]
        assert found.notes == [f"By its name {name} is one of 4 parts: the others are not read."]
    whole = tmp_path / "whole-00000-of-00001.tfrecord"
    whole.write_bytes(records)
    assert datasets.read_archive(whole).notes == []
    whole.write_bytes(records + record(3, 1.5))
    with pytest.raises(Error, match=r"record 3 .*the label is 1.5, not a whole number from 0 on"):
        datasets.read_archive(whole)


def test_round_trips(tmp_path):
    """From each of them to .rec and back out of it, with equal hashes."""
    write_lmdb(tmp_path / "a.lmdb", messages())
    text = write_tfrecord(tmp_path / "S", "S", labelled=True)
    (tmp_path / "S" / "S.index").write_text(text)
    hashes = set()
    for k, source in enumerate([tmp_path / "a.lmdb", tmp_path / "S"]):
        done = datasets.convert_dataset(datasets.read_archive(source), tmp_path / f"{k}.rec")
        assert done.source_sha256 == done.written_sha256
        hashes.add(done.written_sha256)
        assert contents(tmp_path / f"{k}.rec") == expected()
    assert len(hashes) == 1
