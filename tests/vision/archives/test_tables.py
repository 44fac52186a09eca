"""Parquet and Arrow IPC: tables of images as Hugging Face's datasets writes them, by pyarrow."""

from pathlib import Path

import facebench
import numpy as np
import pytest
from archive_files import jpeg
from facebench import Error, datasets

pa = pytest.importorskip("pyarrow", reason="needs pyarrow: pip install pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

IMAGES = [jpeg(i) for i in range(20)]
LABELS = [i // 3 for i in range(20)]


def table(images=IMAGES, labels=LABELS, kind=None):
    rows = [{"bytes": a, "path": f"{i}.jpg"} for i, a in enumerate(images)]
    struct = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    columns = {"image": pa.array(rows, struct)}
    if labels is not None:
        columns["label"] = pa.array(labels, kind or pa.int64())
    return pa.table(columns)


def write(path, data, size=3):
    if path.suffix == ".parquet":
        pq.write_table(data, path, row_group_size=size)
        return
    make = pa.ipc.new_stream if "stream" in path.name else pa.ipc.new_file
    with make(str(path), data.schema) as writer:
        writer.write_table(data, max_chunksize=size)


def contents(path, **options):
    found = datasets.read_archive(path, **options)
    return [(s.read(), found.label_names[s.label]) for s in found.samples]


EXPECTED = [(a, str(b)) for a, b in zip(IMAGES, LABELS, strict=True)]


@pytest.mark.parametrize("name", ["a.parquet", "file.arrow", "stream.arrow"])
def test_one_file(tmp_path, name):
    write(tmp_path / name, table())
    assert contents(tmp_path / name) == EXPECTED
    found = datasets.read_dataset(Path(name).suffix[1:], tmp_path / name)
    assert found.samples[4].id == "1/000000004"
    assert found.samples[4].where == f"{tmp_path / name}: row 4"
    order = np.random.default_rng(1).permutation(20)
    assert [found.samples[i].read() for i in order] == [IMAGES[i] for i in order]


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_shards(tmp_path, ending):
    whole = table()
    write(tmp_path / f"train-00000-of-00002.{ending}", whole.slice(0, 11))
    write(tmp_path / f"train-00001-of-00002.{ending}", whole.slice(11))
    (tmp_path / "dataset_info.json").write_text("{}")
    assert contents(tmp_path) == EXPECTED
    sample = datasets.read_archive(tmp_path).samples[15]
    assert sample.where.endswith(f"train-00001-of-00002.{ending}: row 4")


def test_plain_bytes_and_no_labels(tmp_path):
    write(tmp_path / "a.parquet", pa.table({"jpg": IMAGES, "label": pa.array(LABELS, pa.uint16())}))
    assert contents(tmp_path / "a.parquet") == EXPECTED
    write(tmp_path / "b.parquet", table(labels=None))
    found = datasets.read_archive(tmp_path / "b.parquet")
    assert [s.read() for s in found.samples] == IMAGES and len(found.label_names) == 20


def test_used_everywhere(tmp_path):
    """Packed on several threads, converted, and read back with equal hashes."""
    write(tmp_path / "a.parquet", table())
    found = datasets.read_dataset("parquet", tmp_path / "a.parquet")
    size = facebench.crops.CropOptions(height=16, width=16)
    datasets.pack_dataset(found, tmp_path / "a.h5", crop=size, threads=3)
    done = datasets.convert_dataset(found, tmp_path / "a.rec")
    assert done.source_sha256 == done.written_sha256
    assert contents(tmp_path / "a.rec") == EXPECTED
    datasets.pack_dataset(datasets.read_archive(tmp_path / "a.rec"), tmp_path / "b.h5", crop=size)
    one, other = datasets.Pack(tmp_path / "a.h5"), datasets.Pack(tmp_path / "b.h5")
    assert np.array_equal(one.images, other.images) and list(one.labels) == list(other.labels)
    assert np.array_equal(datasets.DecodedImages(found).pixels(7), one.images[7])


def test_bad_tables(tmp_path):
    good = table()
    pair = pa.table({"a": good["image"], "b": good["image"], "label": good["label"]})
    for k, (data, wanted) in enumerate(
        [
            (pair, "2 columns of images"),
            (pa.table({"label": LABELS}), "no column of images"),
            (table(labels=[[1]] * 20, kind=pa.list_(pa.int64())), "'label' is list"),
            (table(labels=[0.5] * 20, kind=pa.float32()), "the label is 0.5, not a whole number"),
            (good.slice(0, 0), "no row"),
            (table(labels=[-1] * 20), "row 0: the label is -1"),
            (table(labels=[None] * 20), "row 0: the label is None"),
        ]
    ):
        write(tmp_path / f"{k}.parquet", data)
        with pytest.raises(Error, match=wanted):
            contents(tmp_path / f"{k}.parquet")
    for image, wanted in [(None, "names the file '2.jpg'"), (b"", "names the file '2.jpg'")]:
        write(tmp_path / "a.parquet", table([*IMAGES[:2], image], LABELS[:3]))
        with pytest.raises(Error, match=f"row 2: {wanted}"):
            contents(tmp_path / "a.parquet")
    write(tmp_path / "a.parquet", table(labels=[0, None, *LABELS[2:]]))
    assert len(contents(tmp_path / "a.parquet", skip_damaged=1)) == 19


@pytest.mark.parametrize("name", ["a.parquet", "file.arrow", "stream.arrow"])
def test_damaged_files(tmp_path, name):
    path = tmp_path / name
    write(path, table())
    whole = path.read_bytes()
    for bad in (whole[: len(whole) // 2], whole[:7], b"", IMAGES[0]):
        path.write_bytes(bad)
        with pytest.raises(Error, match=name):
            contents(path)


def test_a_bomb(tmp_path):
    pq.write_table(table([bytes(90 << 20)], [0]), tmp_path / "a.parquet", compression="zstd")
    with pytest.raises(Error, match="row group 0 unfolds"):
        contents(tmp_path / "a.parquet")
