"""Parts of archives that are not there, and files that are compressed."""

import bz2
import gzip
import io
import lzma
import struct
import zipfile

import pytest
from archive_files import jpeg, write_tar
from facebench import Error, datasets

IMAGES = [jpeg(i) for i in range(6)]


def tar(path, first=0, count=2):
    files = [(f"p{i}/{i}.jpg", IMAGES[i]) for i in range(first, first + count)]
    return write_tar(path, files)


def notes(path):
    return datasets.read_archive(path).notes


def parquet(path, first=0, count=2):
    pa = pytest.importorskip("pyarrow", reason="needs pyarrow: pip install pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    rows = [{"bytes": IMAGES[i], "path": None} for i in range(first, first + count)]
    struct_type = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    path.parent.mkdir(parents=True, exist_ok=True)
    columns = {"image": pa.array(rows, struct_type), "label": list(range(first, first + count))}
    pq.write_table(pa.table(columns), path)
    return path


@pytest.mark.parametrize(("make", "ending"), [(tar, "tar"), (parquet, "parquet")])
def test_a_part_that_is_not_there_is_an_error(tmp_path, make, ending):
    first = make(tmp_path / f"train-00000-of-00003.{ending}")
    with pytest.raises(
        Error, match=r"2 of 3 parts are not there: train-00001-of-00003, train-00002-of-00003\. Fet"
    ):
        notes(tmp_path)
    assert notes(first) == [
        f"By its name train-00000-of-00003.{ending} is one of 3 parts: the others are not read."
    ]
    make(tmp_path / f"train-00001-of-00003.{ending}", 2)
    with pytest.raises(Error, match="1 of 3 parts are not there: train-00002-of-00003"):
        notes(tmp_path)
    make(tmp_path / f"train-00002-of-00003.{ending}", 4)
    assert notes(tmp_path) == [] and len(datasets.read_archive(tmp_path)) == 6
    make(tmp_path / f"train-00000-of-00001.{ending}")  # of an earlier download
    with pytest.raises(Error, match="parts of two sets"):
        notes(tmp_path)


def test_parts_of_other_splits_and_names(tmp_path):
    parquet(tmp_path / "data/train-00000-of-00002.parquet")
    parquet(tmp_path / "data/test-00000-of-00001-0123456789abcdef.parquet", 2)
    with pytest.raises(Error, match="1 of 2 parts are not there: data/train-00001-of-00002"):
        datasets.read_archive(tmp_path, split="train")
    found = datasets.read_archive(tmp_path, split="test")
    assert len(found) == 2 and found.notes == []
    parquet(tmp_path / "data/test-00000-of-00001-fedcba9876543210.parquet", 2)
    with pytest.raises(Error, match=r"test-.*test-.* are parts of two sets"):
        datasets.read_archive(tmp_path, split="test")
    (tmp_path / "one").mkdir()
    for i in (1, 2, 3):
        tar(tmp_path / f"one/part-{i}-of-3.tar", 2 * (i - 1))  # from 1 on
    assert notes(tmp_path / "one") == []
    (tmp_path / "one/part-1-of-3.tar").unlink()
    with pytest.raises(Error, match=r"1 of 3 parts are not there: part-1-of-3"):
        notes(tmp_path / "one")


def test_gaps_in_numbers_are_noted(tmp_path):
    for i in (0, 1, 3):
        (tmp_path / "shards").mkdir(exist_ok=True)
        tar(tmp_path / f"shards/train-{i:06}.tar", 2 * min(i, 2))
        parquet(tmp_path / f"tables/{i:04}.parquet", 2 * min(i, 2))
    assert notes(tmp_path / "shards") == [
        "By the numbers in their names 1 files are not there: train-000002.tar."
    ]
    assert notes(tmp_path / "tables") == [
        "By the numbers in their names 1 files are not there: 0002.parquet."
    ]
    (tmp_path / "others").mkdir()
    for name in ("a-1000.tar", "a-2000.tar", "b.tar"):
        tar(tmp_path / "others" / name, "ab".index(name[0]) * 2 + (name[2] == "2") * 4)
    assert notes(tmp_path / "others") == []


def zipped(data):
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as file:
        file.writestr("0.tar", data)
    return held.getvalue()


def test_tar_files_that_are_compressed(tmp_path):
    plain = tar(tmp_path / "plain.tar").read_bytes()
    for name in ("a.tar", "a.tar.gz", "a.tgz"):  # told by the bytes, not by the name
        (tmp_path / name).write_bytes(gzip.compress(plain))
        assert [s.read() for s in datasets.read_archive(tmp_path / name).samples] == IMAGES[:2]
    (tmp_path / "b.tar.gz").write_bytes(plain)
    assert len(datasets.read_archive(tmp_path / "b.tar.gz")) == 2
    # test_compressed_archives.py has those that are unfolded.
    for data, what in [
        (zipped(plain), "there is no image in the archive"),
        (b"\x28\xb5\x2f\xfd" + bytes(1000), "cannot be unfolded: "),
        (b"\x04\x22\x4d\x18" + bytes(1000), "cannot be unfolded: "),
        (bz2.compress(lzma.compress(plain)), "is compressed by xz. Decompress it first: unxz "),
        (b"7z\xbc\xaf\x27\x1c" + bytes(1000), "is a 7z file"),
        (b"Rar!\x1a\x07\x01\x00" + bytes(100), "is a rar file"),
        (gzip.compress(gzip.compress(plain)), "is compressed by gzip. Decompress it first: gunzip"),
    ]:
        for name in ("c.tar", "folder/x-0.tar"):
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_bytes(data)
            with pytest.raises(Error, match=what):
                datasets.read_archive((tmp_path / name).parent if "/" in name else tmp_path / name)


@pytest.mark.parametrize("ending", ["rec", "tfrecord", "lmdb", "other"])
def test_other_archives_that_are_compressed(tmp_path, ending):
    path = tmp_path / f"x.{ending}"
    path.write_bytes(bz2.compress(bytes(5000)))
    with pytest.raises(Error, match=f"x.{ending}: is compressed by bzip2. Decompress it first"):
        datasets.read_archive(path)
    path.write_bytes(struct.pack("<Q", 7) * 100)
    with pytest.raises(Error) as error:
        datasets.read_archive(path)
    assert "compressed" not in str(error.value)
