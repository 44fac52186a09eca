"""Zip files, compressed tar files and TFRecords, lists of images, and folders in splits."""

import bz2
import gzip
import io
import lzma
import stat
import struct
import subprocess
import tarfile
import zipfile

import numpy as np
import pytest
from archive_files import jpeg, write_tar
from facebench import Error, datasets
from facebench.io import confine_readers


@pytest.fixture(autouse=True, params=[False, True], ids=["here", "confined"])
def is_confined(request):
    """By libarchive in this process, and in a confined child."""
    before = confine_readers(request.param)
    yield request.param
    confine_readers(before)


IMAGES = [jpeg(i) for i in range(6)]
FILES = [(f"p{i // 2}/{i}.jpg", image) for i, image in enumerate(IMAGES)]


def read(path, **options):
    found = datasets.read_archive(path, **options)
    return [(found.label_names[s.label], s.read()) for s in found.samples]


EXPECTED = [(f"p{i // 2}", image) for i, image in enumerate(IMAGES)]


def write_zip(path, files=FILES, method=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in files:
            archive.writestr(name, data)
    return path


def zstd(data):
    try:
        done = subprocess.run(["zstd", "-q", "-c"], input=data, capture_output=True, check=True)
    except OSError:
        pytest.skip("needs the program zstd")
    return done.stdout


def stored_zstd(data):
    """A frame of raw blocks, as RFC 8878 has them."""
    out = b"\x28\xb5\x2f\xfd" + b"\x00\x70"  # no size of the content, a window of 2^24
    for begin in range(0, len(data), 1 << 16):
        block = data[begin : begin + (1 << 16)]
        last = begin + len(block) == len(data)
        out += struct.pack("<I", len(block) << 3 | last)[:3] + block
    return out


PACKED = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": stored_zstd,
}


@pytest.mark.parametrize("ending", PACKED)
def test_compressed_tars(tmp_path, ending):
    plain = write_tar(tmp_path / "plain.tar", FILES).read_bytes()
    for name in (f"a.tar.{ending}", "b.tar", "folder/x-0.tar"):  # told by the bytes
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(PACKED[ending](plain))
        assert read(tmp_path / name) == EXPECTED
    assert read(tmp_path / "folder") == EXPECTED
    assert datasets.find_image_archive(tmp_path / f"a.tar.{ending}") == "tar"


def test_the_program_zstd(tmp_path):
    plain = write_tar(tmp_path / "plain.tar", FILES).read_bytes()
    (tmp_path / "a.tzst").write_bytes(zstd(plain))
    assert read(tmp_path / "a.tzst") == EXPECTED


@pytest.mark.parametrize(
    "method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
)
def test_zips(tmp_path, method):
    path = write_zip(tmp_path / "a.zip", method=method)
    assert datasets.find_image_archive(path) == "zip"
    assert read(path) == EXPECTED
    found = datasets.read_dataset("zip", path)
    assert [s.id for s in found.samples] == [name.removesuffix(".jpg") for name, _ in FILES]
    assert "a.zip: sample p1/3 " in found.samples[3].where
    write_zip(tmp_path / "b.zip", FILES[:4], method)
    assert len(datasets.read_dataset("zip", tmp_path / "{a,b}.zip")) == 10


def test_zips_in_other_forms(tmp_path):
    samples = [(f"{i:03}.jpg", image) for i, image in enumerate(IMAGES)]
    samples += [(f"{i:03}.cls", str(i // 3).encode()) for i in range(6)]
    assert [p for p, _ in read(write_zip(tmp_path / "a.zip", sorted(samples)))] == list("000111")
    names = ["José/1.jpg", "Ωmega/ü.jpg", "日本/1.jpg"]  # zipfile marks them as UTF-8
    odd = [(name, IMAGES[i]) for i, name in enumerate(names)]
    litter = [("__MACOSX/._x.jpg", b"?"), ("p/", b""), ("notes.txt", b"x")]
    found = datasets.read_archive(write_zip(tmp_path / "b.zip", odd + litter))
    assert [s.id for s in found.samples] == [name.removesuffix(".jpg") for name in names]
    assert any("not read: 1 .txt" in note for note in found.notes)
    # Of streams, sizes stand behind the data.
    buffer = io.BytesIO()

    class Stream(io.RawIOBase):
        def writable(self):
            return True

        def write(self, data):
            return buffer.write(data)

    with zipfile.ZipFile(Stream(), "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in FILES:
            archive.writestr(name, data)
    (tmp_path / "c.zip").write_bytes(buffer.getvalue())
    assert read(tmp_path / "c.zip") == EXPECTED


def entry(name, mode=None, **fields):
    info = zipfile.ZipInfo(name)
    if mode is not None:
        info.create_system = 3
        info.external_attr = mode << 16
    for key, value in fields.items():
        setattr(info, key, value)
    return info


def raw_name(data, old, new):
    assert len(old) == len(new)
    return data.replace(old, new)


def changed_headers(data, before, in_table, bits):
    """Bits set at a byte of a file's header, and of its line in the table at the end."""
    data = bytearray(data)
    for mark, at in ((b"PK\x03\x04", before), (b"PK\x01\x02", in_table)):
        data[data.index(mark) + at] |= bits
    return bytes(data)


HOSTILE = {
    "up": (lambda z: z.writestr("../b.jpg", IMAGES[0]), None, "leaves the archive"),
    "inside": (lambda z: z.writestr("a/../../b.jpg", IMAGES[0]), None, "leaves the archive"),
    "absolute": (lambda z: z.writestr(entry("/b.jpg"), IMAGES[0]), None, "leaves the archive"),
    "symbolic link": (
        lambda z: z.writestr(entry("b.jpg", stat.S_IFLNK | 0o777), "/etc/passwd"),
        None,
        "not a regular file",
    ),
    "device": (
        lambda z: z.writestr(entry("b.jpg", stat.S_IFCHR | 0o600), b""),
        None,
        "not a regular file|no image",
    ),
    "password": (
        lambda z: z.writestr("b.jpg", IMAGES[0]),
        lambda d: changed_headers(d, 6, 8, 1),
        "encrypted",
    ),
    "twice": (
        lambda z: [z.writestr(n, IMAGES[0]) for n in ("a/b.jpg", "c/d.jpg", "a/b.jpg")],
        None,
        "twice",
    ),
    "latin": (
        lambda z: z.writestr("p/xyz.jpg", IMAGES[0]),
        lambda d: raw_name(d, b"xyz", b"\xe4\xf6\xfc"),
        "not UTF-8",
    ),
    "cut": (lambda z: z.writestr("p/1.jpg", IMAGES[0]), lambda d: d[:-30], "cannot be unfolded"),
    "no images": (lambda z: z.writestr("p/1.txt", b"x"), None, "no image in the archive"),
    "zip in zip": (
        lambda z: z.writestr("inner.zip", b"PK\x03\x04" + bytes(40)),
        None,
        "no image in the archive",
    ),
    "method": (
        lambda z: z.writestr("p/1.jpg", IMAGES[0]),
        lambda d: changed_headers(d, 8, 10, 99),
        "cannot be unfolded",
    ),
}  # fmt: skip


def test_what_is_called_zip_and_is_none(tmp_path):
    plain = write_tar(tmp_path / "plain.tar", FILES).read_bytes()
    for data in (bytes(5000), plain, bz2.compress(plain), b"", b"PK", IMAGES[0]):
        (tmp_path / "a.zip").write_bytes(data)
        with pytest.raises(Error, match=r"a\.zip: is not a zip file, by its first bytes"):
            read(tmp_path / "a.zip")


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_hostile_zips(tmp_path, name):
    write, change, wanted = HOSTILE[name]
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        write(archive)
    if change:
        data = (tmp_path / "a.zip").read_bytes()
        changed = change(data)
        assert changed != data
        (tmp_path / "a.zip").write_bytes(changed)
    with pytest.raises(Error, match=wanted) as error:
        read(tmp_path / "a.zip")
    assert str(error.value).startswith(str(tmp_path / "a.zip"))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.zip"]


def test_every_changed_byte_of_an_image_in_a_zip_is_found(tmp_path):
    data = write_zip(tmp_path / "a.zip", method=zipfile.ZIP_STORED).read_bytes()
    begin = data.index(IMAGES[2])
    for at in range(begin, begin + len(IMAGES[2]), 37):
        changed = bytearray(data)
        changed[at] ^= 0x10
        (tmp_path / "a.zip").write_bytes(bytes(changed))
        with pytest.raises(Error, match="cannot be unfolded"):
            read(tmp_path / "a.zip")


def test_bombs(tmp_path):
    """What unfolds to more than 64 MiB and 64 times its size is not unfolded to its end."""
    zeros = bytes(80 << 20)
    write_zip(tmp_path / "a.zip", [("p/1.jpg", zeros)])
    (tmp_path / "b.tar.bz2").write_bytes(bz2.compress(zeros))
    # Few bytes of a table name one entry many times (overlapping files).
    member = write_zip(tmp_path / "one.zip", [("p/0.jpg", zeros[: 8 << 20])]).read_bytes()
    table, end = member.index(b"PK\x01\x02"), member.rindex(b"PK\x05\x06")
    one = member[table:end]
    many = b"".join(one.replace(b"p/0.jpg", b"p/%d.jpg" % k) for k in range(10))
    tail = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, 10, 10, len(many), table, 0)
    (tmp_path / "c.zip").write_bytes(member[:table] + many + tail)
    for name, wanted in [
        ("a.zip", "unfolds from 8.* to more than 67108864 bytes"),
        ("b.tar.bz2", "unfolds from"),
        ("c.zip", "lists 10 files and holds 1"),
    ]:
        with pytest.raises(Error, match=wanted):
            read(tmp_path / name)


@pytest.mark.parametrize("ending", ["bz2", "zst"])
def test_damaged_filters(tmp_path, ending):
    whole = PACKED[ending](write_tar(tmp_path / "plain.tar", FILES).read_bytes())
    path = tmp_path / f"a.tar.{ending}"
    for data, wanted in [
        (whole[: len(whole) // 2], "cannot be unfolded|end is missing|left in the file"),
        (whole[:6], "cannot be unfolded|end is missing"),
        (whole[:4], "cannot be unfolded|end is missing"),
        (PACKED[ending](whole), "is compressed by"),  # twice
    ]:
        path.write_bytes(data)
        with pytest.raises(Error, match=wanted):
            read(path)


def test_many_random_changes_of_a_zip_are_refused_or_harmless(tmp_path, is_confined):
    random = np.random.default_rng(1)
    data = write_zip(tmp_path / "a.zip").read_bytes()
    refused = 0
    # The first of them in the confined child, which is started for each file.
    count = 60 if is_confined else 300
    for _ in range(count):
        changed = bytearray(data)
        for at in random.integers(0, len(data), random.integers(1, 4)):
            changed[at] = random.integers(256)
        (tmp_path / "a.zip").write_bytes(bytes(changed[: random.integers(30, len(data) + 1)]))
        try:
            for _, image in read(tmp_path / "a.zip"):
                assert image in IMAGES
        except Error:
            refused += 1
    assert refused > 2 * count / 3


def example(image, label):
    """tf.train.Example with TensorFlow's names, written out."""

    def field(number, data):
        length, out = len(data), b""
        while True:
            out += bytes([length & 127 | (length > 127) << 7])
            length >>= 7
            if not length:
                return bytes([number << 3 | 2]) + out + data

    bytes_list = field(1, field(1, image))
    label_list = field(3, field(1, bytes([label])))
    features = field(1, field(1, b"image/encoded") + field(2, bytes_list))
    features += field(1, field(1, b"image/class/label") + field(2, label_list))
    return field(1, features)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def records(images=IMAGES[:3]):
    out = b""
    for label, image in enumerate(images):
        data = example(image, label)
        length = struct.pack("<Q", len(data))
        out += length + crc32c(length) + data + crc32c(data)
    return out


@pytest.mark.parametrize(
    "name", ["a.tfrecord.gz", "a.tfrecord", "a.tfrecords.gz", "a.tfrecord-00000-of-00001"]
)
def test_tfrecords_by_gzip(tmp_path, name):
    (tmp_path / name).write_bytes(gzip.compress(records()))
    assert read(tmp_path / name) == [(str(i), IMAGES[i]) for i in range(3)]
    (tmp_path / name).write_bytes(gzip.compress(records())[:-20])
    with pytest.raises(Error, match=name):
        read(tmp_path / name)


def write_images(folder, names):
    for name, image in zip(names, IMAGES, strict=False):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(image)


def test_lists(tmp_path):
    write_images(tmp_path, ["00/1.jpg", "00/2.jpg", "b/3.jpg"])
    forms = {
        "im2rec": "0\t0.000000\t00/1.jpg\n1\t0.000000\t./00/2.jpg\n2\t7.000000\tb/3.jpg\n",
        "several": "0\t0\t5\t.5\t00/1.jpg\n1\t0\t6\t.5\t00/2.jpg\n2\t7\t1\t.5\tb/3.jpg\n",
        "insightface": "1\t00/1.jpg\t0\n1\t00/2.jpg\t0\n1\tb/3.jpg\t7\n",
        "boxes": "0\t00/1.jpg\t0\t1\t2\r\n0\t00/2.jpg\t0\t1\t2\r\n0\tb/3.jpg\t7\t1\t2",
    }
    for name, text in forms.items():
        (tmp_path / f"{name}.lst").write_text(text)
        found = read(tmp_path / f"{name}.lst")
        assert found == [("0", IMAGES[0]), ("0", IMAGES[1]), ("7", IMAGES[2])], name
    (tmp_path / "names.lst").write_text("0\tAnn\t00/1.jpg\n1\tBob\tb/3.jpg\n")
    assert [person for person, _ in read(tmp_path / "names.lst")] == ["Ann", "Bob"]
    (tmp_path / "absent.lst").write_text("0\t1\t00/1.jpg\n1\t1\tc/9.jpg\n")
    data = datasets.read_archive(tmp_path / "absent.lst")
    with pytest.raises(Error, match=r"absent.lst:2: .*c/9.jpg is not there.*move the list"):
        data.samples[1].read()
    for text, wanted in [
        ("0\t1\t../x.jpg\n", "not a path below the list's folder"),
        ("0\t1\t/etc/passwd\n", "not a path below the list's folder"),
        ("0\t-1\t00/1.jpg\n", "the label is '-1'"),
        ("0\t1.5\t00/1.jpg\n", "the label is '1.5'"),
        ("0\t1\n", "2 fields between tabs"),
        ("00/1.jpg 1\n", "1 fields between tabs. Expected INDEX, LABEL, PATH"),
        ("0\t1\t00/1.jpg\n1\t1\t./00/1.jpg\n", ":2: 00/1.jpg is listed twice"),
        ("\n", "no image in the list"),
    ]:
        (tmp_path / "bad.lst").write_text(text)
        with pytest.raises(Error, match=wanted):
            read(tmp_path / "bad.lst")


def test_folders_in_splits(tmp_path):
    write_images(
        tmp_path / "set", ["train/ann/1.jpg", "train/bob/1.jpg", "val/bob/2.jpg", "test/cat/1.jpg"]
    )
    (tmp_path / "set/test/cat/notes.txt").write_text("x")

    def found(split, **options):
        data = datasets.read_dataset("folder", tmp_path / "set", split=split, **options)
        assert data.passed_over == (["test/cat/notes.txt"] if "test" in split else [])
        return [(data.label_names[s.label], s.id) for s in data.samples]

    assert found("train") == [("ann", "train/ann/1.jpg"), ("bob", "train/bob/1.jpg")]
    assert found("test", label="2") == [("cat", "test/cat/1.jpg")]
    assert [person for person, _ in found("train+val")] == ["ann", "bob", "bob"]
    with pytest.raises(Error, match=r"no folder 'tset' with images. There are test, train, val"):
        found("tset")
    with pytest.raises(Error, match=r"no folder '\.\.'"):
        found("..")
    with pytest.raises(ValueError, match="label 2, not 1"):
        found("train", label="1")
    with pytest.raises(ValueError, match="'lfw' is a folder of people"):
        datasets.read_dataset("lfw", tmp_path / "set", split="train")
    # Without it they are told apart, as before.
    with pytest.raises(Error, match="folders called as the splits of a data set are"):
        datasets.read_dataset("folder", tmp_path / "set")


def test_a_pack_of_a_zip_is_that_of_a_tar(tmp_path):
    import facebench

    write_tar(tmp_path / "a.tar", FILES)
    write_zip(tmp_path / "a.zip")
    how = {"detector": "none", "crop_size": 16}
    facebench.pack("tar", tmp_path / "a.tar", tmp_path / "tar.h5", **how)
    facebench.pack("zip", tmp_path / "a.zip", tmp_path / "zip.h5", **how)
    one, other = datasets.Pack(tmp_path / "tar.h5"), datasets.Pack(tmp_path / "zip.h5")
    assert one.names == other.names and (one.images[:] == other.images[:]).all()
    assert one.manifest["tree_sha256"] == other.manifest["tree_sha256"]
    with tarfile.open(tmp_path / "a.tar") as tar:  # the reference
        assert [tar.extractfile(m).read() for m in tar.getmembers()] == IMAGES
