"""Seeds of the targets of archives: those whose parts lie in several files, and damaged ones."""

import bz2
import gzip
import io
import pickle
import struct
import sys
import tarfile
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from archive_files import MAGIC, bins, classic, packed, record
from list_seeds import BETWEEN

IMAGES, LABELS = [b"abcd", MAGIC + b"efgh" + MAGIC, b""], [0, 0, 1]


def rec(entries, *beside, keys=None, index=True):
    """A .rec with its index, then the file `property`."""
    data, lines = b"", ""
    for k, (key, content) in enumerate(entries):
        lines += f"{keys[k] if keys else key}\t{len(data)}\n"
        data += record(content)
    parts = [data, *([lines.encode()] if index else []), *beside]
    return BETWEEN.join(parts)


def recs():
    whole = classic(IMAGES, LABELS)
    images = whole[:3]

    def with_header(low, high, identities=None):
        people = whole[3:-1] if identities is None else identities
        return rec([*images, *people, (0, packed([low, high], 0, b""))])

    return {
        "indexed": rec(whole, b"2,16,16\n3\n"),
        "other_property": rec(whole, b"2,16,16\n5\n"),
        "no_header": rec([(k + 1, d) for k, (_, d) in enumerate(images)]),
        "header_is_image": rec([(0, packed(1.0, 0, b"x")), *images]),
        "no_index": rec(whole, b"", index=False),
        "empty_index": BETWEEN.join([record(whole[0][1]), b""]),
        "fraction": with_header(4.5, 6.0),
        "range": with_header(6.0, 4.0),
        "missing_images": with_header(9.0, 10.0),
        "large_keys": with_header(16777216.0 + 4, 16777216.0 + 8),
        "identity_is_image": with_header(4, 6, [(4, packed(1.0, 4, b"")), whole[4]]),
        "identity_outside": with_header(4, 6, [(4, packed([1, 900], 4, b"")), whole[4]]),
        "cut": rec(whole)[:150],
        "wrong_magic": b"abcd" * 8,
    }


# Opcodes that today's Python does not write, and wrong ones: programs of pickle's machine.
TRUE = b"](\x88e\x86."
PROGRAMS = {
    "long": b"\x80\x04](\x8e\x04\0\0\0\0\0\0\0abcdC\x01be](\x8a\x01\x01e\x86.",
    "old_long": b"](S'ab'\nS'\\x62\\n\\\\'\ne](L1L\ne\x86.",
    "moved": b"K\x0100K\x01200(K\x01K\x021)0](C\x01ar\1\0\0\0j\1\0\0\0e" + TRUE,
    "negative": b"\x8a\x02\xff\xff\x8a\x00\x86.",
    "texts": b"](\x8d\x01\0\0\0\0\0\0\0aX\x01\0\0\0be" + TRUE,
    "large": b"\x8a\x09123456789.",
    "number": b"L1x\n.",
    "truth": b"I2x\n.",
    "protocol": b"\x80\x09.",
    "escape": b"S'\\xzz'\n.",
    "open_escape": b"S'a\\'\n.",
    "quote": b"Sab\n.",
    "unicode": b"](V\\u00e9\\U0001f600\\u20ac\\u005c\\x\xe9\ne" + TRUE,
    "half": b"V\\ud800\n.",
    "unicode_cut": b"V\\u00\n.",
    "unicode_large": b"V\\U00110000\n.",
    "no_mark": b"]e.",
    "no_list": b"K\x01K\x02a.",
    "no_name": b"K\x01)R.",
    "arguments": b"cnumpy.core.multiarray\n_reconstruct\n)R.",
    "state": b"]}b.",
    "old_call": b"(ios\nsystem\n.",
}


def pickles():
    """The known forms of a .bin file, each cut at four places, and pickles of other things."""
    whole = bins([b"abcd", b"e" * 300, b"f", b"g"], [True, False])
    seeds = {f"{name}.bin": data for name, data in whole.items()}
    for name, data in whole.items():
        for k in range(1, 5):
            seeds[f"{name}.cut{k}.bin"] = data[: len(data) * k // 5]
    others = (([b"a", b"b"], [1]), ([b"a"], [True]), ([], []), ({"a": 1}, [True]), "text", 3, None,
              ([b"a", "b"], [True]), ((b"a", b"b"), (0.0,)), ([b"a", b"b"], [2]),
              [[b"a"], [1], [2]])  # fmt: skip
    for k, value in enumerate(others):
        seeds[f"other{k}.bin"] = pickle.dumps(value, 2 + k % 3)
    high = pickle.dumps(([b"\xff\x80", b"b"], [True]), 2)
    seeds["high.bin"] = high
    seeds["beyond.bin"] = high.replace("\x80".encode(), "€".encode()[:2])
    for name, program in PROGRAMS.items():
        seeds[f"program.{name}.bin"] = program
    for name, old, new in (("big_endian", b"<", b">"), ("shape", b"K\x01\x85", b"K\x7f\x85")):
        seeds[f"numpy.{name}.bin"] = whole["numpy1"].replace(old, new)
    seeds["runs_code.bin"] = b"\x80\x02cos\nsystem\nX\x02\x00\x00\x00ls\x85R."
    seeds["memo.bin"] = b"\x80\x02]h\x07."
    return seeds


def tar_of(files):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()[:-8192]  # as few zeros as there must be


def zip_of(files, method):
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data, method)
    return held.getvalue()


def tars():
    first = {"a.jpg": b"1", "a.cls": b"0", "b.jpg": b"2", "b.json": b'{"label": 3}'}
    second = {"c.jpg": b"3", "c.cls": b"1"}
    shards = [tar_of(first), gzip.compress(tar_of(second), mtime=0)]
    labels = {
        f"{k}.{end}": data
        for k, label in enumerate((b'{"label": 1.5}', b'{"label": -1}', b'{"a": 1}', b"{", b"[]"))
        for end, data in (("jpg", b"x"), ("json", label))
    }
    return {
        "shards": BETWEEN.join([*shards, shards[1].replace(b"c.jpg", b"d.jpg")]),
        "labels": tar_of(labels),
        "no_label": tar_of({"a.jpg": b"1", "b.cls": b"x", "b.png": b"2", "b.jpg": b"3"}),
        "above": tar_of({"../a.jpg": b"1", "/b.jpg": b"2"}),
        "folded.tar.bz2": bz2.compress(tar_of(first)),
        "stored.zip": zip_of(first, zipfile.ZIP_STORED),
        "deflated.zip": zip_of(first, zipfile.ZIP_DEFLATED),
        "lzma.zip": zip_of(second, zipfile.ZIP_LZMA),
        "above.zip": zip_of({"../a.jpg": b"1"}, zipfile.ZIP_STORED),
    }


def folded():
    """Files inside of gzip, for the target `xz`."""
    tar = tar_of({"a.jpg": b"1", "a.cls": b"0"})
    half = len(tar) // 2
    two = gzip.compress(tar[:half], mtime=0) + gzip.compress(tar[half:], mtime=0)
    return {
        "two_members.gz": two,
        "zeros.gz": two + bytes(64),
        "garbage.gz": two + b"garbage",
        "cut.gz": two[:-20],
        "large.gz": gzip.compress(bytes(80 << 20), mtime=0)[: 1 << 17],
    }


def tfrecords(data):
    """Lists of the records of a file."""
    offsets, at = [], 0
    while at < len(data):
        offsets.append(at)
        at += 16 + struct.unpack_from("<Q", data, at)[0]
    named = "".join(f"./x/{k}.jpg\t0\t{o}\n" for k, o in enumerate(offsets))
    labelled = "".join(f"a\t0\t{o}\t{k}\n" for k, o in enumerate(offsets))
    lines = {
        "named": named,
        "labelled": labelled + "\n",
        "twice": named + named,
        "same_place": f"x.jpg\t0\t{offsets[0]}\ny.jpg\t0\t{offsets[0]}\n",
        "fields": "a\tb\n",
        "no_shard": "a.jpg\t7\t0\n",
        "shard": "a.jpg\t100000\t0\n",
        "folder": "../a\t0\t0\t1\n",
        "label": "a\t0\t0\t-1\n",
        "name": "a/../b\t0\t0\n",
        "offset": "a.jpg\t0\t5\n",
        "empty": "\n",
    }
    return {f"list.{name}": BETWEEN.join([text.encode(), data]) for name, text in lines.items()}


def lmdbs(data, keys):
    """Lists of labels beside a database."""
    good = "".join(f"{key} {k}\n" for k, key in enumerate(keys))
    lists = {
        "labels": [good],
        "some": [good.splitlines()[0] + "\n\n"],
        "fields": ["a b c\n"],
        "below": ["a -1\n"],
        "two": [good, good],
        "absent": ["nothing 1\n"],
        "twice": [good + good],
    }
    return {
        f"list.{name}": BETWEEN.join([data, *(text.encode() for text in texts)])
        for name, texts in lists.items()
    } | {f"changed{k}.mdb": changed(data, k) for k in range(12)}


def changed(data, k):
    """One byte of what a page begins with is another."""
    page, field = divmod(k, 3)
    at = 4096 * (page + page // 2) + (10, 13, 16)[field]
    return data[:at] + bytes([data[at] ^ 0x15]) + data[at + 1 :]
