"""Shards of a pack, embedded apart and merged: the bytes of one process."""

import subprocess
import sys

import facebench
import numpy as np
import pytest
from command_line import ENVIRONMENT, invoke
from facebench import datasets, embedding, io
from noise_photographs import write_noise_photographs

COUNT = 53


@pytest.fixture(scope="module")
def pack(tmp_path_factory):
    """Crops of noise; every fifth image cannot be read."""
    folder = tmp_path_factory.mktemp("shards")
    for path in write_noise_photographs(folder / "faces", COUNT, 32, ".png")[4::5]:
        path.write_bytes(b"no image")
    how = {"detector": "none", "crop_size": 32}
    facebench.pack("folder", folder / "faces", folder / "faces.h5", **how)
    return folder / "faces.h5"


def sum_of_the_batch(batch):
    """A model whose last bits depend on what it is given together."""
    features = batch.reshape(len(batch), -1)[:, :8].astype(np.float32)
    return features * np.float32(1 + 1e-6 * features.mean())


@pytest.mark.kernels
@pytest.mark.parametrize("ours", [True, False])
@pytest.mark.parametrize("count", [1, 2, 6])
def test_merged_shards_are_the_bytes_of_one_process(ours, count, pack, tmp_path):
    model = embedding.make_model("small4", height=32, width=32) if ours else sum_of_the_batch
    facebench.embed(model, pack, tmp_path / "whole.h5", flip="none")
    parts = [tmp_path / f"{k}.h5" for k in range(1, count + 1)]
    rows = 0
    for k, part in enumerate(parts, 1):
        shard = facebench.embed(model, pack, part, shard=f"{k}/{count}", flip="none")
        rows += len(shard)
        assert shard.manifest["shard"]["of"] == COUNT
    assert rows == COUNT
    embedding.merge_shards(reversed(parts) if count > 1 else parts, tmp_path / "merged.h5")
    assert (tmp_path / "merged.h5").read_bytes() == (tmp_path / "whole.h5").read_bytes()


@pytest.mark.kernels
def test_more_shards_than_batches_leave_some_empty(pack):
    model = embedding.make_model("small4", height=32, width=32)
    parts = [embedding.extract(model, datasets.Pack(pack), shard=f"{k}/20") for k in range(1, 21)]
    assert 0 in map(len, parts)
    whole = embedding.extract(model, datasets.Pack(pack))
    assert (embedding.merge_shards(parts).values == whole.values).all()
    empty = 1 + [len(part) for part in parts].index(0)
    with pytest.raises(facebench.Error, match="no image has a face"):  # nor a length of its own
        embedding.extract(sum_of_the_batch, datasets.Pack(pack), shard=f"{empty}/20")


@pytest.mark.kernels
def test_what_does_not_belong_together_is_refused(pack, tmp_path):
    pack = datasets.Pack(pack)
    model = embedding.make_model("small4", height=32, width=32)
    other = embedding.ExtractOptions(flip="sum")
    one, two, three = (embedding.extract(model, pack, shard=f"{k}/3") for k in (1, 2, 3))
    merge = embedding.merge_shards
    with pytest.raises(ValueError, match="missing: 2, 3 of 3"):
        merge([one])
    with pytest.raises(ValueError, match="shard 2 of 3 is there twice"):
        merge([one, two, two, three])
    with pytest.raises(ValueError, match="not a shard"):
        merge([one, two, embedding.extract(model, pack)])
    with pytest.raises(ValueError, match="shard 3 was computed by another model"):
        merge([one, two, embedding.extract(model, pack, other, shard="3/3")])
    with pytest.raises(ValueError, match="different wholes"):
        merge([one, two, embedding.extract(model, pack, shard="3/4")])
    with pytest.raises(ValueError, match="no shards"):
        merge([])
    for wrong in ("4/3", "0/3", "3", "a/b", "1/"):
        with pytest.raises(ValueError, match="NUMBER/COUNT"):
            embedding.extract(model, pack, shard=wrong)
    with pytest.raises(ValueError, match="not of an array"):
        embedding.extract(model, np.zeros((2, 32, 32, 3), np.uint8), shard="1/2")
    with pytest.raises(ValueError, match="pack it first"):
        facebench.embed(model, tmp_path, shard="1/2")


@pytest.mark.kernels
def test_on_the_invoke(pack, tmp_path):
    model = tmp_path / "m.safetensors"
    embedding.make_model("small4", height=32, width=32).save(model)
    for shard in ("1/2", "2/2"):
        invoke("embed", model, pack, "--shard", shard, "--out", tmp_path / shard[0])
    invoke("embed", model, pack, "--out", tmp_path / "whole.h5")
    parts = [tmp_path / "1", tmp_path / "2"]
    out = invoke("data", "merge", *parts, "--out", tmp_path / "all.h5")
    assert f"{COUNT} rows of 128 numbers out of 2 shards" in out.output
    assert (tmp_path / "all.h5").read_bytes() == (tmp_path / "whole.h5").read_bytes()


def write_parts(folder, rows, count, dim=8, **changed):
    """Files of shards with numbers of their own; every seventh row has no face."""
    random = np.random.default_rng(rows)
    values = random.standard_normal((rows, dim)).astype(np.float32)
    status = np.where(np.arange(rows) % 7 == 3, 3, 0).astype(np.uint8)
    values[status != 0] = 0
    names = [f"p{i // 3}/José_{i}{'x' * (i % 50)}.jpg" for i in range(rows)]
    files = []
    for k in range(1, count + 1):
        first, end = rows * (k - 1) // count, rows * k // count
        place = {"number": k, "count": count, "first": first, "rows": end - first, "of": rows}
        part = io.EmbeddingSet(
            values[first:end], names[first:end], status[first:end], {"a": 1, "shard": place}
        )
        io.write_embeddings(folder / f"{k}.h5", part)
        files.append(folder / f"{k}.h5")
    return files


@pytest.mark.parametrize("confined", [False, True])
@pytest.mark.parametrize(("rows", "count", "dim"), [(1, 1, 1), (40, 7, 8), (300, 3, 100_000)])
def test_files_are_merged_as_sets_are(rows, count, dim, confined, tmp_path):
    files = write_parts(tmp_path, rows, count, dim)
    io.write_embeddings(
        tmp_path / "sets.h5", embedding.merge_shards([io.read_embeddings(f) for f in files])
    )
    before = io.confine_readers(confined)
    try:
        merged = embedding.merge_shard_files(files[::-1], tmp_path / "files.h5")
    finally:
        io.confine_readers(before)
    assert merged == (rows, dim)
    assert (tmp_path / "files.h5").read_bytes() == (tmp_path / "sets.h5").read_bytes()
    assert "shard" not in io.read_embeddings(tmp_path / "files.h5").manifest


def test_parts_that_others_wrote_are_merged(tmp_path):
    """Of float64, in chunks, compressed: not mapped, and the same numbers."""
    h5py = pytest.importorskip("h5py")
    files = write_parts(tmp_path, 40, 4)
    embedding.merge_shard_files(files, tmp_path / "ours.h5")
    for k, how in enumerate([{"dtype": "f8"}, {"chunks": (3, 8)}, {"compression": "gzip"}]):
        with h5py.File(files[k], "r+") as file:
            values = file["embedding"][:]
            del file["embedding"]
            file.create_dataset("embedding", data=values, **how)
    embedding.merge_shard_files(files, tmp_path / "others.h5")
    assert (tmp_path / "others.h5").read_bytes() == (tmp_path / "ours.h5").read_bytes()


def test_files_that_do_not_belong_together_are_refused(tmp_path):
    files = write_parts(tmp_path, 20, 2)

    def altered(k, change):
        part = io.read_embeddings(files[k])
        values, names, manifest = part.values.copy(), list(part.names), dict(part.manifest)
        values, names = change(values, names, manifest) or (values, names)
        made = tmp_path / f"altered{len(list(tmp_path.iterdir()))}.h5"
        io.write_embeddings(made, io.EmbeddingSet(values, names, part.status, manifest))
        return [made if i == k else file for i, file in enumerate(files)]

    def renamed(name):
        def change(values, names, manifest):
            names[4] = name

        return change

    def other(**said):
        return lambda values, names, manifest: manifest.update(said)

    def shorter(values, names, manifest):
        return values[:, :5], names

    out = tmp_path / "out.h5"
    for parts, wanted in [
        (altered(1, renamed("p0/José_0.jpg")), r"row 14: the name 'p0/José_0.jpg' is there twice$"),
        (altered(1, renamed("p0/Jose\u0301_0.jpg")), "twice, in two Unicode forms"),
        (altered(1, other(a=2)), "shard 2 was computed by another model"),
        (altered(1, shorter), "shard 2 was computed by another model"),
        (altered(0, other(shard=None)), "not a shard"),
        (files[:1], "missing: 2 of 2"),
        ([files[0], files[0], files[1]], "shard 1 of 2 is there twice"),
        ([], "no shards"),
    ]:
        with pytest.raises((facebench.Error, ValueError), match=wanted):
            embedding.merge_shard_files(parts, out)
        assert not out.exists()
    with pytest.raises(facebench.Error, match=r"absent\.h5: "):
        embedding.merge_shard_files([files[0], tmp_path / "absent.h5"], out)
    with pytest.raises(TypeError):
        embedding.merge_shard_files([io.read_embeddings(f) for f in files], out)
    h5py = pytest.importorskip("h5py")
    with h5py.File(files[1], "r+") as file:
        file["embedding"][2, 3] = np.nan
    with pytest.raises(facebench.Error, match=r"2.h5: row 2 \('p4/José_12.*'\) holds NaN"):
        embedding.merge_shard_files(files, out)
    assert not out.exists()


def test_what_is_odd_is_said_of_all_files(tmp_path):
    files = write_parts(tmp_path, 20, 2)
    for k in (0, 1):
        part = io.read_embeddings(files[k])
        values = part.values.copy()
        values[part.status == 0] = 1.0 if k else 0.0
        io.write_embeddings(
            files[k], io.EmbeddingSet(values, part.names, part.status, part.manifest)
        )
    embedding.merge_shard_files(files, tmp_path / "out.h5")
    odd = io.read_embeddings(tmp_path / "out.h5").manifest["odd_rows"]
    sets = embedding.merge_shards([io.read_embeddings(f) for f in files])
    assert odd == sets.manifest["odd_rows"] and odd.startswith("9 of 17 embeddings are of length 0")


def test_memory_of_a_merge_does_not_grow_with_the_numbers(tmp_path):
    """64 MB of numbers more, in a process of its own."""
    program = (
        "import resource, sys\n"
        "from facebench import embedding\n"
        "embedding.merge_shard_files(sys.argv[2:], sys.argv[1])\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
    )

    def peak(dim):
        files = write_parts(tmp_path, 500, 2, dim)
        words = [sys.executable, "-c", program, tmp_path / "out.h5", *files]
        done = subprocess.run(words, env=ENVIRONMENT, capture_output=True, text=True, check=True)
        return int(done.stdout) << 10

    assert peak(64_000) - peak(32_000) < 20 << 20
