"""Archives of images: .rec, .bin and tar files that literal writers make are read as they were
written, damaged and hostile ones are refused by name, and what facebench writes others read."""

import gzip
import hashlib
import io
import json
import lzma
import os
import pickle
import re
import struct
import tarfile

import facebench
import numpy as np
import PIL.Image
import pytest
from archive_files import MAGIC, bins, classic, jpeg, packed, part, read_rec, record, write_rec
from click.testing import CliRunner
from facebench import Error, datasets
from facebench.cli.app import app
from safetensors.numpy import load_file
from sklearn.model_selection import KFold

IMAGES = [jpeg(i) for i in range(6)]
LABELS = [0, 0, 1, 1, 1, 2]


def contents(path, **options):
    """What is read: (bytes, the person's name) of each image."""
    found = datasets.read_archive(path, **options)
    return [(s.read(), found.label_names[s.label]) for s in found.samples]


def expected(images=IMAGES, labels=LABELS):
    return [(i, str(label)) for i, label in zip(images, labels, strict=True)]


# --- .rec ---


@pytest.mark.parametrize("pairs", [False, True])
def test_classic(tmp_path, pairs):
    entries = classic(IMAGES, LABELS, pairs)
    write_rec(tmp_path / "train.rec", [entries[i] for i in (4, 1, 0, 5, 3, 2, 8, 6, 7, 9)])
    (tmp_path / "property").write_text("3,16,16\n")
    assert contents(tmp_path / "train.rec") == expected()
    assert contents(tmp_path) == expected()
    found = datasets.read_dataset("rec", tmp_path)
    assert [s.id for s in found.samples] == ["0/1", "0/2", "1/3", "1/4", "1/5", "2/6"]
    assert found.label_names == ["0", "1", "2"]


def test_without_an_index(tmp_path):
    write_rec(tmp_path / "a.rec", classic(IMAGES, LABELS), index=False)
    assert contents(tmp_path / "a.rec") == expected()
    assert datasets.read_archive(tmp_path / "a.rec").samples[5].id == "2/6"


def test_recbuilder_and_im2rec(tmp_path):
    flat = [
        (i, packed(float(b), i, a)) for i, (a, b) in enumerate(zip(IMAGES, LABELS, strict=True))
    ]
    write_rec(tmp_path / "flat.rec", flat)
    assert contents(tmp_path / "flat.rec") == expected()
    nine = [
        (i, packed([float(b)] + [0.5] * 8, i, a))
        for i, (a, b) in enumerate(zip(IMAGES, LABELS, strict=True))
    ]
    write_rec(tmp_path / "nine.rec", nine)
    assert contents(tmp_path / "nine.rec") == expected()


def test_magic_in_the_data(tmp_path):
    # At multiples of 4 of the record, at its very end, twice in a row, and not aligned.
    tricky = [
        IMAGES[0] + MAGIC,
        IMAGES[1] + b"\0" * (-len(IMAGES[1]) % 4) + MAGIC + MAGIC + b"ab",
        IMAGES[2] + b"\0" * (-len(IMAGES[2]) % 4) + b"x" + MAGIC,
        MAGIC + IMAGES[3],
    ]
    assert len(record(packed(0.0, 1, tricky[1]))) > len(packed(0.0, 1, tricky[1])) + 8
    write_rec(tmp_path / "a.rec", classic(tricky, [0, 1, 2, 3]))
    assert contents(tmp_path / "a.rec") == expected(tricky, [0, 1, 2, 3])


BAD_RECORDS = {
    "length": (MAGIC + struct.pack("<I", 4000) + b"abcd", "4000 bytes"),
    "middle first": (part(2, packed(0.0, 1, IMAGES[0])), "out of order"),
    "last first": (part(3, packed(0.0, 1, IMAGES[0])), "out of order"),
    "no last part": (part(1, packed(0.0, 1, IMAGES[0])), "last part is missing"),
    "flag": (part(5, b"abcd"), "flag 5"),
    "header": (part(0, b"abcd"), "a record of 4 bytes"),
    "labels": (part(0, struct.pack("<IfQQ", 1 << 30, 0, 1, 0) + b"ab"), "1073741824 labels"),
    "empty": (part(0, packed(3.0, 1, b"")), "no image"),
    "nan": (part(0, packed(float("nan"), 1, IMAGES[0])), "not a whole number"),
    "negative": (part(0, packed(-1.0, 1, IMAGES[0])), "not a whole number"),
    "fraction": (part(0, packed(0.5, 1, IMAGES[0])), "not a whole number"),
    "infinite": (part(0, packed(float("inf"), 1, IMAGES[0])), "label"),
    "inexact": (part(0, packed(2.0**24, 1, IMAGES[0])), "float32"),
    "padding": (part(0, packed(0.0, 1, b"abc"))[:-1], "padding"),
}


@pytest.mark.parametrize("name", BAD_RECORDS)
def test_damaged_records(tmp_path, name):
    raw, wanted = BAD_RECORDS[name]
    good = record(packed(0.0, 0, IMAGES[0]))
    path = tmp_path / "a.rec"
    path.write_bytes(good + raw)
    for index in (f"0\t0\n1\t{len(good)}\n", None):
        (tmp_path / "a.idx").unlink(missing_ok=True)
        if index:
            (tmp_path / "a.idx").write_text(index)
        with pytest.raises(Error, match=r"a\.rec: record 1 \(byte \d+\)") as caught:
            contents(path)
        assert wanted in str(caught.value), caught.value
        found = datasets.read_archive(path, skip_damaged=1)
        assert [s.read() for s in found.samples] == IMAGES[:1]
        assert len(found.damaged) == 1 and wanted in found.damaged[0]


def test_reading_goes_on_behind_damage(tmp_path):
    write_rec(tmp_path / "a.rec", classic(IMAGES, LABELS), index=False)
    raw = bytearray((tmp_path / "a.rec").read_bytes())
    raw[5] = 0xFF  # the length of the first record
    (tmp_path / "a.rec").write_bytes(raw)
    assert contents(tmp_path / "a.rec", skip_damaged=1) == expected()[1:]


BAD_INDICES = {
    "elsewhere": ("0\t4\n", "no record begins"),
    "beyond": ("0\t99999999\n", "the file has"),
    "twice": ("0\t0\n0\t0\n", "key 0 is there twice"),
    "far twice": ("99999999999\t0\n99999999999\t0\n", "is there twice"),
    "text": ("zero\t0\n", "KEY<TAB>OFFSET"),
    "one number": ("0\n", "KEY<TAB>OFFSET"),
    "large": ("0\t99999999999999999999999\n", "too large"),
    "empty": ("", "the index is empty"),
}


@pytest.mark.parametrize("name", BAD_INDICES)
def test_bad_indices(tmp_path, name):
    text, wanted = BAD_INDICES[name]
    write_rec(tmp_path / "a.rec", [(0, packed(0.0, 0, IMAGES[0]))])
    (tmp_path / "a.idx").write_text(text)
    with pytest.raises(Error) as caught:
        contents(tmp_path / "a.rec")
    assert wanted in str(caught.value)


def test_header_record_and_index_must_agree(tmp_path):
    entries = classic(IMAGES, LABELS)
    write_rec(tmp_path / "a.rec", entries[1:])
    with pytest.raises(Error, match="5 of the 6 images"):
        contents(tmp_path / "a.rec")
    write_rec(tmp_path / "b.rec", [*entries[:-2], (9, packed([3, 99], 9, b"")), entries[-1]])
    with pytest.raises(Error, match="outside of the 6 images"):
        contents(tmp_path / "b.rec")


def test_other_files_are_named(tmp_path):
    protobuf = b"\x0a\x06\x0a\x04data" + b"\x12\x03\x0a\x01a"
    for name, raw, wanted in [
        ("a.rec", record(protobuf), "SageMaker"),
        ("b.rec", struct.pack("<II", 0x3ED7230A, 4) + b"abcd", "dmlc's first form"),
        ("c.rec", IMAGES[0], "not a RecordIO file"),
        ("d.rec", b"", "empty"),
    ]:
        (tmp_path / name).write_bytes(raw)
        with pytest.raises(Error, match=wanted):
            contents(tmp_path / name)
    with pytest.raises(Error, match="not an archive"):
        contents(tmp_path / "x.7z")
    with pytest.raises(Error, match=r"x.zip: cannot open: No such file"):
        contents(tmp_path / "x.zip")


# --- .bin ---

SAME = [True, False, True]


@pytest.mark.parametrize("name", bins(IMAGES, SAME))
def test_bin_variants(tmp_path, name):
    raw = bins(IMAGES, SAME)[name]
    for file, data in [("a.bin", raw), ("a.bin.xz", lzma.compress(raw))]:
        (tmp_path / file).write_bytes(data)
        found = datasets.read_archive(tmp_path / file)
        assert [s.read() for s in found.samples] == IMAGES
        same = [
            a.label == b.label for a, b in zip(found.samples[::2], found.samples[1::2], strict=True)
        ]
        assert same == SAME and len(found.label_names) == 4


class Evil:
    def __init__(self, call, *arguments):
        self.reduced = call, arguments

    def __reduce__(self):
        return self.reduced


@pytest.mark.parametrize("protocol", range(6))
def test_no_other_name_is_called(tmp_path, protocol):
    mark = tmp_path / "run"
    cases = {
        "posix.system": Evil(os.system, f"touch {mark}"),
        "eval": Evil(eval, "1"),
        "numpy.*load": Evil(np.load, "x"),
        "_codecs.decode": Evil(__import__("_codecs").decode, b"a", "latin1"),
    }
    for name, evil in cases.items():
        (tmp_path / "a.bin").write_bytes(pickle.dumps(([evil, IMAGES[0]], [True]), protocol))
        with pytest.raises(Error, match=rf"asks for '.*{name}'"):
            contents(tmp_path / "a.bin")
    assert not mark.exists()


BAD_BINS = {
    "half a character": (lambda: b"(](V\\ud800\ne](\x88et.", "a damaged text"),
    "no character": (lambda: b"(](V\\U00110000\ne](\x88et.", "a damaged text"),
    "cut character": (lambda: b"(](V\\u00\ne](\x88et.", "a damaged text"),
    "cut": (lambda: pickle.dumps((IMAGES, SAME), 3)[:-9], "left in the file|cut off"),
    "odd": (lambda: pickle.dumps((IMAGES[:5], SAME), 3), "5 images for 3 pairs"),
    "empty image": (lambda: pickle.dumps(([b"", IMAGES[0]], [True]), 3), "image 0 has no bytes"),
    "dict": (lambda: pickle.dumps({"a": 1}, 3), "opcode 0x7d"),
    "labels": (lambda: pickle.dumps((IMAGES, [True, 2, 1]), 3), "label of pair 1"),
    "texts": (lambda: pickle.dumps((["a", "b"], [True]), 3), "neither bytes"),
    "one": (lambda: pickle.dumps(IMAGES, 3), "not a pair"),
    "no pickle": (lambda: IMAGES[0], "is not a pickle"),
    "nothing": (lambda: b"", "empty"),
    "float array": (lambda: pickle.dumps(([np.ones(2), np.ones(2)], [True]), 3), "whole numbers"),
    "long": (lambda: b"\x80\x03]B\xff\xff\xff\xffabc", "announced"),
    "stack": (lambda: b"\x80\x03e.", "mark|stack"),
}


@pytest.mark.parametrize("name", BAD_BINS)
def test_damaged_bins(tmp_path, name):
    make, wanted = BAD_BINS[name]
    (tmp_path / "a.bin").write_bytes(make())
    with pytest.raises(Error, match=wanted):
        contents(tmp_path / "a.bin")


def test_bombs(tmp_path):
    (tmp_path / "a.bin.xz").write_bytes(lzma.compress(bytes(80 << 20), preset=0))
    with pytest.raises(Error, match="unfolds to more than"):
        contents(tmp_path / "a.bin.xz")
    (tmp_path / "b.bin.xz").write_bytes(lzma.compress(pickle.dumps((IMAGES, SAME)))[:-20])
    with pytest.raises(Error, match="cut off or damaged"):
        contents(tmp_path / "b.bin.xz")


# --- tar ---


def add(tar, name, data, **fields):
    info = tarfile.TarInfo(name)
    info.size = len(data)
    for key, value in fields.items():
        setattr(info, key, value)
    tar.addfile(info, io.BytesIO(data))


def write_tar(path, samples, mode="w", format=tarfile.USTAR_FORMAT):
    with tarfile.open(path, mode, format=format) as tar:
        for key, image, label in samples:
            add(tar, f"{key}.jpg", image)
            add(tar, f"{key}.cls", str(label).encode())


def samples(prefix=""):
    return [(f"{prefix}{i:05d}", a, b) for i, (a, b) in enumerate(zip(IMAGES, LABELS, strict=True))]


@pytest.mark.parametrize("format", [tarfile.USTAR_FORMAT, tarfile.PAX_FORMAT, tarfile.GNU_FORMAT])
@pytest.mark.parametrize("name", ["a.tar", "a.tar.gz"])
def test_tar(tmp_path, format, name):
    prefix = "" if format == tarfile.USTAR_FORMAT else "long" * 60
    write_tar(tmp_path / name, samples(prefix), "w:gz" if name.endswith("gz") else "w", format)
    assert contents(tmp_path / name) == expected()
    assert datasets.read_archive(tmp_path / name).samples[2].id == f"1/{prefix}00002"


def test_tar_shards(tmp_path):
    write_tar(tmp_path / "s-08.tar", samples()[:2])
    write_tar(tmp_path / "s-09.tar", samples()[2:5])
    write_tar(tmp_path / "s-10.tar", samples()[5:])
    for path in [tmp_path, tmp_path / "s-{08..10}.tar", tmp_path / "s-{08,09,10}.tar"]:
        assert contents(path) == expected()
    write_tar(tmp_path / "s-11.tar", samples())  # numbers its samples anew
    names = [s.id for s in datasets.read_archive(tmp_path).samples]
    assert len(set(names)) == 12 and "s-11/1/00002" in names


def test_tar_json_folders_and_other_files(tmp_path):
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        tar.addfile(tarfile.TarInfo("README"))
        add(tar, "p/1.jpg", IMAGES[0])
        add(tar, "p/1.json", b'{"label": 4, "x": [1]}')
        add(tar, "p/2.json", b'{"label": 7}')
        add(tar, "p/2.txt", b"text")
        add(tar, "p/2.jpg", IMAGES[1])
    assert contents(tmp_path / "a.tar") == [(IMAGES[0], "4"), (IMAGES[1], "7")]
    with tarfile.open(tmp_path / "b.tar", "w") as tar:
        add(tar, "m.01/1.png", IMAGES[0])
        add(tar, "Ann/1.jpg", IMAGES[1])
    assert contents(tmp_path / "b.tar") == [(IMAGES[0], "m.01"), (IMAGES[1], "Ann")]


def link(tar):
    add(tar, "b.jpg", b"", type=tarfile.SYMTYPE, linkname="/etc/passwd")


HOSTILE_TARS = {
    "up": (lambda tar: add(tar, "../b.jpg", IMAGES[0]), "leaves it"),
    "inside": (lambda tar: add(tar, "a/../../b.jpg", IMAGES[0]), "leaves it"),
    "absolute": (lambda tar: add(tar, "/b.jpg", IMAGES[0]), "leaves it"),
    "symbolic link": (link, "the link"),
    "hard link": (
        lambda tar: add(tar, "b.jpg", b"", type=tarfile.LNKTYPE, linkname="a"),
        "the link",
    ),
    "device": (lambda tar: add(tar, "b.jpg", b"", type=tarfile.CHRTYPE), "not a regular file"),
    "twice": (
        lambda tar: [add(tar, n, IMAGES[0]) for n in ("a.jpg", "b.jpg", "a.cls")],
        "twice|no image",
    ),
}


@pytest.mark.parametrize("name", HOSTILE_TARS)
def test_hostile_tars(tmp_path, name):
    write, wanted = HOSTILE_TARS[name]
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        write(tar)
    with pytest.raises(Error, match=wanted):
        contents(tmp_path / "a.tar")


def test_joined_tars_are_read_to_their_end(tmp_path):
    write_tar(tmp_path / "a.tar", samples()[:2])
    write_tar(tmp_path / "b.tar", samples()[2:])
    joined = (tmp_path / "a.tar").read_bytes() + (tmp_path / "b.tar").read_bytes()
    (tmp_path / "c.tar").write_bytes(joined)
    assert contents(tmp_path / "c.tar") == expected()
    (tmp_path / "c.tar").write_bytes(joined + b"x" * 600)
    with pytest.raises(Error, match=f"byte {len(joined)}.*no member begins here"):
        contents(tmp_path / "c.tar")


def test_damaged_tars(tmp_path):
    path = tmp_path / "a.tar"
    write_tar(path, samples())
    whole = path.read_bytes()
    for change, wanted in [
        (lambda b: b[:2600], "left in the file|missing"),
        (lambda b: b[: -(-len(b.rstrip(b"\0")) // 512) * 512], "end is missing"),
        (lambda b: b[:100] + b"x" + b[101:], "check sum"),
    ]:
        path.write_bytes(change(whole))
        with pytest.raises(Error, match=wanted):
            contents(path)
    path.write_bytes(whole[:2600])
    found = datasets.read_archive(path, skip_damaged=1)
    assert [s.read() for s in found.samples] == IMAGES[:1] and len(found.damaged) == 1
    for label in (b"-1", b"\x01", b"1.5", b""):
        with tarfile.open(path, "w") as tar:
            add(tar, "a.jpg", IMAGES[0])
            add(tar, "a.cls", label)
        with pytest.raises(Error, match="neither a whole number"):
            contents(path)
    (tmp_path / "b.tar.gz").write_bytes(gzip.compress(bytes(80 << 20), 6))
    with pytest.raises(Error, match="unfolds to more than"):
        contents(tmp_path / "b.tar.gz")


# --- what is written ---


def pack_hashes(path):
    import h5py

    with h5py.File(path) as file:
        return [bytes(row).hex() for row in file["file_sha256"]]


@pytest.fixture
def source(tmp_path):
    write_rec(tmp_path / "in.rec", classic([*IMAGES[:5], IMAGES[5] + b"\0" * 3 + MAGIC], LABELS))
    return tmp_path / "in.rec"


def convert(path, out, **options):
    settings = datasets.ConvertOptions(**options)
    return datasets.convert_dataset(datasets.read_archive(path), out, settings)


def test_written_rec(tmp_path, source):
    done = convert(source, tmp_path / "out" / "train.rec")
    images, labels, identities = read_rec(tmp_path / "out" / "train.rec")
    assert list(zip(images, map(str, labels), strict=True)) == contents(source)
    assert identities == [[1, 3], [3, 6], [6, 7]]
    assert (tmp_path / "out" / "property").read_text() == "3,16,16\n"
    lines = "".join(f"{hashlib.sha256(i).hexdigest()}\n" for i in images)
    wanted = hashlib.sha256(lines.encode()).hexdigest()
    assert done.source_sha256 == done.written_sha256 == wanted
    assert (done.images, done.people) == (6, 3)
    assert not [p for p in (tmp_path / "out").iterdir() if p.name.startswith(".")]


def test_written_person_by_person(tmp_path):
    write_tar(tmp_path / "a.tar", [("a", IMAGES[0], 5), ("b", IMAGES[1], 3), ("c", IMAGES[2], 5)])
    done = convert(tmp_path / "a.tar", tmp_path / "o.rec")
    images, labels, identities = read_rec(tmp_path / "o.rec")
    assert (images, labels) == ([IMAGES[1], IMAGES[0], IMAGES[2]], [3, 5, 5])
    assert identities == [[1, 2], [2, 4]] and "person by person" in done.notes[0]


def test_written_bin(tmp_path, source):
    convert(source, tmp_path / "o.bin")
    with open(tmp_path / "o.bin", "rb") as file:
        images, same = pickle.load(file, encoding="bytes")  # as insightface's load_bin does
    assert images == [i for i, _ in contents(source)] and same == [True, True, False]
    assert all(type(s) is bool for s in same)
    convert(tmp_path / "o.bin", tmp_path / "p.bin")
    assert (tmp_path / "p.bin").read_bytes() == (tmp_path / "o.bin").read_bytes()


@pytest.mark.parametrize(
    ("out", "options", "shards"),
    [
        ("o.tar", {}, ["o.tar"]),
        ("o-{000..}.tar", {"shard_images": 4}, ["o-000.tar", "o-001.tar"]),
        ("o-{07..09}.tar", {}, ["o-07.tar", "o-08.tar", "o-09.tar"]),
    ],
)
def test_written_tar(tmp_path, source, out, options, shards):
    done = convert(source, tmp_path / out, **options)
    assert [p.name for p in done.files] == shards
    found = {}
    for path in done.files:
        with tarfile.open(path) as tar:
            for member in tar:
                key, ending = member.name.split(".")
                found.setdefault(key, {})[ending] = tar.extractfile(member).read()
    assert [(s["jpg"], s["cls"].decode()) for s in found.values()] == contents(source)


def test_refused_before_anything_is_written(tmp_path, source):
    with pytest.raises(ValueError, match="told by the ending"):
        convert(source, tmp_path / "o.zip")
    write_tar(tmp_path / "a.tar", [("a", IMAGES[0], 1 << 24), ("b", IMAGES[1], 3)])
    before = sorted(tmp_path.iterdir())
    with pytest.raises(ValueError, match="16777216"):
        convert(tmp_path / "a.tar", tmp_path / "o.rec")
    both = datasets.read_archive(tmp_path / "a.tar")
    one = datasets.select_samples(both, [both.samples[0].id])
    with pytest.raises(ValueError, match="pairs"):
        datasets.convert_dataset(one, tmp_path / "o.bin")
    with pytest.raises(ValueError, match="shards"):
        convert(tmp_path / "a.tar", tmp_path / "o-{000..008}.tar")
    assert sorted(tmp_path.iterdir()) == before


# --- used ---


def test_packs_of_any_source_are_equal(tmp_path, source):
    folder = tmp_path / "folder"
    for sample, (data, person) in zip(
        datasets.read_archive(source).samples, contents(source), strict=True
    ):
        (folder / person).mkdir(parents=True, exist_ok=True)
        (folder / f"{sample.id}.jpg").write_bytes(data)
    convert(source, tmp_path / "o.tar")
    size = facebench.crops.CropOptions(height=16, width=16)
    packs = []
    for i, found in enumerate(
        [
            datasets.read_dataset("folder", folder),
            datasets.read_dataset("rec", source),
            datasets.read_dataset("tar", tmp_path / "o.tar"),
        ]
    ):
        datasets.pack_dataset(found, tmp_path / f"{i}.h5", crop=size)
        packs.append(datasets.Pack(tmp_path / f"{i}.h5"))
        direct = datasets.DecodedImages(found)
        assert direct.shape == (6, 16, 16, 3)
        for k in range(6):
            assert np.array_equal(direct.pixels(k), packs[-1].images[k])
    for pack in packs[1:]:
        assert np.array_equal(pack.images, packs[0].images)
        assert list(pack.labels) == list(packs[0].labels) and pack.label_names == ["0", "1", "2"]
        assert pack_hashes(pack.path) == pack_hashes(packs[0].path)


def invoke(*arguments, code=0):
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    assert result.exit_code == code, result.output
    return result.output


def test_commands(tmp_path, source):
    out = invoke("data", "convert", source, "--out", tmp_path / "o.tar")
    read, written = re.findall(r"\b[0-9a-f]{64}\b", out)
    assert read == written
    told = json.loads(invoke("data", "convert", source, "--out", tmp_path / "o.h5", "--json"))
    assert len(datasets.Pack(tmp_path / "o.h5")) == 6
    done = convert(source, tmp_path / "p" / "o.h5")
    pictures = [datasets.read_archive(source).samples[i] for i in range(6)]
    lines = [f"{hashlib.sha256(s.read()).hexdigest()}  {s.id}\n" for s in pictures]
    assert done.tree_sha256 == hashlib.sha256("".join(lines).encode()).hexdigest()
    assert told["tree_sha256"] == done.tree_sha256 and not done.source_sha256
    assert (done.images, done.people, told["images"], told["people"]) == (6, 3, 6, 3)
    assert pack_hashes(tmp_path / "o.h5") == pack_hashes(tmp_path / "p" / "o.h5")
    assert "6 images of 3 people, 0 findings" in invoke("data", "scan", "rec", "--root", source)
    assert "'tar'" in invoke("list", "datasets", "--json").replace('"', "'")
    whole = source.read_bytes()
    source.write_bytes(whole[:8] + b"\xff" * 4 + whole[12:])
    pack = ("pack", "rec", "--root", source, "--detector", "none", "--out", tmp_path / "p.h5")
    assert "in.rec: record 1 (byte 0): the header claims" in invoke(*pack, code=1).replace(
        "\n", " "
    )
    assert not (tmp_path / "p.h5").exists()
    assert "left out: " in invoke(*pack, "--skip-damaged", 1)
    packed = datasets.Pack(tmp_path / "p.h5")
    assert len(packed) == 5 and "record 1 " in packed.manifest["damaged"][0]


def test_detect_names_the_entries(tmp_path, source):
    out = invoke("detect", source, "--out", tmp_path / "f.csv", "--detector", "mtcnn")
    assert "6" in out
    rows = (tmp_path / "f.csv").read_text().splitlines()
    assert [row.split(",")[0] for row in rows[1:]] == ["0/1", "0/2", "1/3", "1/4", "1/5", "2/6"]


def pairs_of(n):
    """n pairs; the two of a genuine one are alike, so that pixels tell them apart."""
    faces, same = [], []
    for k in range(n):
        faces += [jpeg(k), jpeg(k if k % 2 == 0 else k + 1000)]
        same.append(k % 2 == 0)
    return faces, same


def colours(batch):
    return batch.reshape(len(batch), -1).astype(np.float32) - 127


@pytest.mark.parametrize("protocol", ["bin", "lfw_bin"])
def test_bin_as_a_protocol(tmp_path, protocol):
    faces, same = pairs_of(44)
    (tmp_path / "lfw.bin").write_bytes(pickle.dumps((faces, same), 2))
    for root in (tmp_path, tmp_path / "lfw.bin"):
        trials = facebench.protocols.read_trials(protocol, root)
        track = trials.tracks[0].trials
        assert [bool(g) for g in track.genuine] == same
        assert [tuple(c) for c in track.comparisons] == [(2 * k, 2 * k + 1) for k in range(44)]
        folds = KFold(10, shuffle=False).split(same)
        for fold, (_, rows) in enumerate(folds):
            assert [k for k in range(44) if track.fold[k] == fold] == list(rows)
        check = facebench.protocols.check_data(protocol, root)
        assert check.missing == 0 and check.complete == (protocol == "bin")  # 44 of 6,000 pairs
    model = {"model": colours, "crop_size": 16, "replicates": 20}
    result = facebench.run(protocol, root=tmp_path / "lfw.bin", out=tmp_path / "run", **model)
    assert result.tracks["pairs"].comparisons == 44
    manifest = json.loads((tmp_path / "run" / "run.json").read_text())
    assert manifest["content"]["preparation"]["detector"]["detector"] == "none"
    pack = datasets.Pack(tmp_path / "run" / "pack.h5")
    decoded = np.array(PIL.Image.open(io.BytesIO(faces[3])).convert("RGB"))
    assert pack.names[:2] == ["000000", "000001"] and np.array_equal(pack.images[3], decoded)
    for root in (tmp_path, tmp_path / "lfw.bin", None):
        assert facebench.verify(tmp_path / "run", root=root).same
    embedded = facebench.embed(colours, tmp_path / "lfw.bin")
    assert embedded.names == pack.names and embedded.values.shape == (88, 768)
    other = facebench.run(protocol, root=tmp_path, convention="insightface", **model)
    assert other.tracks["pairs"].comparisons == 44


def test_training_reads_archives_and_resumes(tmp_path):
    from facebench import training

    faces = [jpeg(i) for i in range(24)]
    write_rec(tmp_path / "a.rec", classic(faces, [i // 4 for i in range(24)]))
    size = facebench.crops.CropOptions(height=16, width=16)
    datasets.pack_dataset(datasets.read_archive(tmp_path / "a.rec"), tmp_path / "a.h5", crop=size)
    recipe = training.load_recipe(
        "small4.cosface", epochs=2, batch=8, embedding=8, channel_multiplier=0.125
    )

    def train(data, out, **options):
        return training.train(recipe, data, tmp_path / out, threads=1, **options)

    def stop(report, model):
        raise RuntimeError("enough")

    def weights(out):
        return load_file(tmp_path / out / "model.safetensors")

    train(tmp_path / "a.h5", "pack")
    train(tmp_path / "a.rec", "rec")
    with pytest.raises(RuntimeError, match="enough"):
        train(tmp_path / "a.rec", "parts", on_epoch=stop)
    train(tmp_path / "a.rec", "parts", resume=True)
    whole = (tmp_path / "rec" / "model.safetensors").read_bytes()
    assert (tmp_path / "parts" / "model.safetensors").read_bytes() == whole
    packed = weights("pack")
    for name, value in weights("rec").items():
        assert np.array_equal(value, packed[name]), name
