"""The io floor against independent readers and writers: h5py, safetensors, hashlib, json, scipy."""

import contextlib
import hashlib
import json
import os
import time
import zlib
from pathlib import Path

import facebench
import facebench.io as fio
import h5py
import numpy as np
import pytest
from damaged_files import check_embeddings, words
from facebench import Error

safetensors_numpy = pytest.importorskip("safetensors.numpy")


def small_set(n=5, dim=4):
    values = np.random.default_rng(1).normal(size=(n, dim)).astype(np.float32)
    values[1] = 0
    status = np.zeros(n, np.uint8)
    status[1] = 1
    names = [f"person {i}/ü{i}.jpg" for i in range(n)]
    return fio.EmbeddingSet(values, names, status, {"model": "toy", "dim": dim})


def test_embeddings_round_trip(tmp_path, reading):
    made = small_set()
    fio.write_embeddings(tmp_path / "e.h5", made)
    read = fio.read_embeddings(tmp_path / "e.h5")
    np.testing.assert_array_equal(read.values, made.values)
    assert read.names == made.names
    assert read.status.tolist() == [0, 1, 0, 0, 0]
    assert read.manifest == {"model": "toy", "dim": 4}
    assert fio.read_h5_manifest(tmp_path / "e.h5") == read.manifest
    assert len(read) == 5
    assert read.dim == 4
    assert repr(read) == "EmbeddingSet(5 x 4, 4 ok)"
    assert not read.values.flags.writeable
    fio.write_embeddings(tmp_path / "f.h5", read)
    assert (tmp_path / "e.h5").read_bytes() == (tmp_path / "f.h5").read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["e.h5", "f.h5"]


def test_values_outlive_the_set():
    values = small_set().values
    np.testing.assert_array_equal(values, small_set().values)


def test_h5py_reads_ours(tmp_path):
    made = small_set()
    fio.write_embeddings(tmp_path / "e.h5", made)
    with h5py.File(tmp_path / "e.h5") as f:
        assert sorted(f) == ["embedding", "manifest", "name", "status"]
        assert f["embedding"].dtype == np.float32
        assert f["embedding"].chunks is None
        np.testing.assert_array_equal(f["embedding"][:], made.values)
        assert [s.decode() for s in f["name"][:]] == made.names
        assert f["status"].dtype == np.uint8
        assert json.loads(f["manifest"][:].tobytes()) == made.manifest
        offset = f["embedding"].id.get_offset()
    raw = np.memmap(tmp_path / "e.h5", np.float32, "r", offset, (5, 4))
    np.testing.assert_array_equal(raw, made.values)


@pytest.mark.parametrize("compression", [None, "gzip"])
@pytest.mark.parametrize("strings", ["variable", "fixed"])
def test_reads_what_h5py_writes(tmp_path, compression, strings, reading):
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    names = ["ä.jpg", "b"]
    with h5py.File(tmp_path / "e.h5", "w") as f:
        f.create_dataset("embedding", data=values, compression=compression)
        f["name"] = names if strings == "variable" else np.array([n.encode() for n in names])
    read = fio.read_embeddings(tmp_path / "e.h5")
    np.testing.assert_array_equal(read.values, values)
    assert read.names == names
    assert read.status.tolist() == [0, 0]
    assert read.manifest == {}


def test_float64_is_rounded(tmp_path, reading):
    values = np.random.default_rng(3).normal(size=(2, 3))
    for scale, lost in ((1.0, None), (1e39, "row 0"), (1e-60, "row 0")):
        with h5py.File(tmp_path / "e.h5", "w") as f:
            f["embedding"] = values * scale
            f["name"] = ["a", "b"]
        if lost is None:
            read = fio.read_embeddings(tmp_path / "e.h5").values
            np.testing.assert_array_equal(read, values.astype(np.float32))
            continue
        with pytest.raises(Error, match=rf"{lost} \('a'\) holds .*, which float32 does not hold"):
            fio.read_embeddings(tmp_path / "e.h5")


def test_rows_without_columns_take_no_memory(tmp_path):
    """A list of 2,000,000,000 rows of nothing, in some hundred bytes: each row got its place."""
    scipy_io = pytest.importorskip("scipy.io")
    path = tmp_path / "namelist_high.mat"
    scipy_io.savemat(path, {"namelist": np.empty((7, 0), object)})
    data = path.read_bytes()
    rows = data.index((7).to_bytes(8, "little"))
    for quality in ("high", "middle", "low"):
        changed = data[:rows] + (2_000_000_000).to_bytes(4, "little") + data[rows + 4 :]
        (tmp_path / f"namelist_{quality}.mat").write_bytes(changed)
    with pytest.raises(Error, match=r"namelist_high\.mat: namelist: the list is empty"):
        facebench.protocols.read_trials("ijba_quality", lists=tmp_path)


def external_link(f):
    f["embedding"] = h5py.ExternalLink("other.h5", "/embedding")


def soft_link(f):
    f["embedding"] = h5py.SoftLink("/name")


def external_data(f):
    f.create_dataset("embedding", (2, 3), np.float32, external=[("other.bin", 0, 24)])


def never_written(f):
    space = h5py.h5s.create_simple((1 << 40, 3))
    h5py.h5d.create(f.id, b"embedding", h5py.h5t.NATIVE_FLOAT, space)


def chunked_bomb(f):
    f.create_dataset("embedding", (1 << 40, 3), np.float32, chunks=(1, 3))


def virtual(f):
    layout = h5py.VirtualLayout((2, 3), np.float32)
    layout[:] = h5py.VirtualSource("other.h5", "embedding", (2, 3))
    f.create_virtual_dataset("embedding", layout)


def array(shape, dtype):
    return lambda f: f.create_dataset("embedding", data=np.ones(shape, dtype))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (external_link, "link to elsewhere"),
        (soft_link, "link to elsewhere"),
        (external_data, "in another file"),
        (never_written, "claims|never written"),
        (chunked_bomb, "claims"),
        (virtual, "virtual"),
        (array((2, 3), "i8"), "int64, expected float32"),
        (array((2, 3), ">f4"), "other, expected float32"),
        (array(2, "f4"), "1 dimensions"),
        (array((3, 3), "f4"), "3 rows, /name 2"),
        (lambda f: f.create_group("embedding"), "cannot open this dataset"),
        (lambda f: f.create_dataset("embedding", data=h5py.Empty("f4")), "no data space"),
    ],
)
def test_lying_files_are_refused(tmp_path, make, message, reading):
    with h5py.File(tmp_path / "e.h5", "w") as f:
        f["name"] = ["a", "b"]
        make(f)
    with pytest.raises(Error, match=message):
        fio.read_embeddings(tmp_path / "e.h5")


def test_bad_rows_are_named():
    values = np.ones((2, 3), np.float32)
    values[1, 2] = np.nan
    with pytest.raises(Error, match=r"row 1 \('b'\) holds NaN"):
        fio.EmbeddingSet(values, ["a", "b"])
    with pytest.raises(Error, match="the name 'a' is there twice"):
        fio.EmbeddingSet(np.ones((2, 3)), ["a", "a"])
    with pytest.raises(ValueError, match="do not make rows"):
        fio.EmbeddingSet(np.ones((2, 3)), ["a"])
    with pytest.raises(ValueError, match="1 dimensions"):
        fio.EmbeddingSet(np.ones(2), ["a", "b"])


def test_what_unfolds_to_much_more_than_its_size_is_refused(tmp_path, confined):
    """A megabyte that holds gigabytes of zeros: no data set, but memory gone for who reads it."""
    rows = 1 << 16
    with h5py.File(tmp_path / "e.h5", "w") as f:
        f["name"] = ["a"]
        shape = (48 * rows, 256)
        data = f.create_dataset(
            "embedding", shape, np.float32, chunks=(rows, 256), compression="gzip"
        )
        packed = zlib.compress(bytes(4 * 256 * rows), 9)
        for first in range(0, shape[0], rows):
            data.id.write_direct_chunk((first, 0), packed)
    assert (tmp_path / "e.h5").stat().st_size < 8 << 20
    with pytest.raises(Error, match="/embedding"):
        fio.read_embeddings(tmp_path / "e.h5")


def test_damaged_hdf5_does_not_crash(tmp_path, reading):
    """Every eighth byte of an embeddings file changed, read in a child process."""
    fio.write_embeddings(tmp_path / "e.h5", small_set())
    data = (tmp_path / "e.h5").read_bytes()
    changes = [(i, bytes([data[i] ^ (0xFF if i % 16 else 0x01)])) for i in range(0, len(data), 8)]
    check_embeddings(tmp_path / "e.h5", changes, reading)


def test_hdf5_addresses_that_wrap_around_do_not_crash(tmp_path, reading):
    """Every word of a small file in turn as an address near 2^64: with a size it wraps around."""
    with h5py.File(tmp_path / "e.h5", "w") as f:
        f["embedding"] = np.ones((3, 2), np.float32)
        f["name"] = np.array([b"a", b"b", b"c"])
    addresses = [2**64 - 1] if reading == "confined" else [2**64 - 1, 2**64 - 256]
    data = (tmp_path / "e.h5").read_bytes()
    check_embeddings(tmp_path / "e.h5", words(data, 8, addresses), reading)


DTYPES = ["f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?"]


def arrays():
    made = {f"t.{d}": np.arange(12).reshape(3, 4).astype(d) for d in DTYPES}
    made["scalar"] = np.array(2.5, np.float32)
    made["empty"] = np.zeros((0, 3), np.float32)
    return made


def test_safetensors_against_the_reference(tmp_path):
    fio.write_safetensors(tmp_path / "m", arrays(), {"network": "toy", "ü": '"'})
    theirs = safetensors_numpy.load_file(tmp_path / "m")
    assert sorted(theirs) == sorted(arrays())
    safetensors_numpy.save_file(arrays(), tmp_path / "n", {"a": "b"})
    ours, metadata = fio.read_safetensors(tmp_path / "n")
    assert metadata == {"a": "b"}
    for name, expected in arrays().items():
        for read in (theirs[name], ours[name]):
            assert read.dtype == expected.dtype
            assert read.shape == expected.shape
            np.testing.assert_array_equal(read, expected)


def test_safetensors_bfloat16(tmp_path):
    torch = pytest.importorskip("torch")
    safetensors_torch = pytest.importorskip("safetensors.torch")
    tensor = torch.arange(15).reshape(5, 3).div(7).bfloat16()
    safetensors_torch.save_file({"a": tensor}, tmp_path / "m")
    read = fio.read_safetensors(tmp_path / "m")[0]["a"]
    np.testing.assert_array_equal(read, tensor.float().numpy())


def test_safetensors_same_bytes_for_any_order(tmp_path):
    fio.write_safetensors(tmp_path / "a", arrays())
    fio.write_safetensors(tmp_path / "b", dict(reversed(arrays().items())))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_safetensors_layouts(tmp_path):
    transposed = np.arange(6).reshape(2, 3).T
    fio.write_safetensors(tmp_path / "c", {"x": transposed})
    np.testing.assert_array_equal(fio.read_safetensors(tmp_path / "c")[0]["x"], transposed)
    for dtype in ("complex128", ">f4"):
        with pytest.raises(ValueError, match=f"no type for {dtype}"):
            fio.write_safetensors(tmp_path / "d", {"x": np.ones(2, dtype)})
    assert not (tmp_path / "d").exists()


def test_many_tensors_take_time_in_proportion(tmp_path, reading):
    """60,000 took 100 s: each looked at all others. So does the object of their metadata."""
    count = 60_000
    header = {
        f"t{k}": {"dtype": "F32", "shape": [1], "data_offsets": [4 * k, 4 * k + 4]}
        for k in range(count)
    }
    text = json.dumps(header | {"__metadata__": {f"m{k}": "x" for k in range(count)}}).encode()
    numbers = np.arange(count, dtype="<f4").tobytes()
    (tmp_path / "m.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + numbers)
    began = time.process_time()
    tensors, metadata = fio.read_safetensors(tmp_path / "m.safetensors")
    assert len(tensors) == len(metadata) == count and tensors["t59999"][0] == 59999
    assert time.process_time() - began < 20


def test_json_within_safetensors_is_pythons(tmp_path):
    """Nesting, doubled keys and numbers at their ends, against json."""
    entry = '{"dtype": "F32", "shape": [], "data_offsets": [0, 4]}'
    for text, says in {
        f'{{"a": {entry}}}': None,
        f'{{"a": {entry}, "__metadata__": {{"k": "\\u00e9", "l": ""}}}}': None,
        f'{{"a": {entry}, "a": {entry}}}': "'a' is given twice",
        f'{{"a": {entry}, "__metadata__": {{"k": "x", "k": "y"}}}}': "'k' is given twice",
        f'{{"a": {entry}, "b": {"[" * 101}{"]" * 101}}}': "nested deeper than 100|described by",
        f'{{"a": {entry}, "b": {"[" * 200}1{"]" * 200}}}': "nested deeper than 100",
        '{"a": {"dtype": "F32", "shape": [1e999], "data_offsets": [0, 4]}}': "not valid JSON",
        '{"a": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}}': "a",
        f'{{"a": {entry}}} x': "not valid JSON",
        f'{{"a": {entry}, }}': "not valid JSON",
        '{"a"': "not valid JSON",
    }.items():
        data = text.encode()
        path = tmp_path / "m.safetensors"
        path.write_bytes(len(data).to_bytes(8, "little") + data + bytes(4))
        if says is None:
            tensors, metadata = fio.read_safetensors(path)
            assert list(tensors) == ["a"]
            assert metadata == json.loads(text).get("__metadata__", {})
        else:
            with pytest.raises(Error, match=says):
                fio.read_safetensors(path)


@pytest.mark.parametrize("size", [0, 1, 55, 56, 63, 64, 65, 119, 120, 1000, 5_000_000])
def test_sha256_against_hashlib(tmp_path, size):
    data = np.random.default_rng(size).integers(0, 256, size, np.uint8).tobytes()
    (tmp_path / "f").write_bytes(data)
    assert fio.sha256_file(tmp_path / "f") == hashlib.sha256(data).hexdigest()
    assert fio.sha256_hex(data) == hashlib.sha256(data).hexdigest()


def test_canonical_json_is_pythons():
    floats = np.frombuffer(np.random.default_rng(3).bytes(8 * 5000), np.float64)
    floats = [float(f) for f in floats if np.isfinite(f)]
    floats += [10.0**e for e in range(-30, 30)] + [0.0, -0.0, 1e15 + 0.5, 123456789012345680.0]
    value = {
        "floats": floats,
        "ü": ['\u0001\x7f\n"\\/é😀', None, True, -5, 2**63],
        "a": {},
        "b": [],
    }
    assert fio.canonical_json(value) == json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )
    with pytest.raises(ValueError, match=r"[Oo]ut of range"):
        fio.canonical_json({"a": float("nan")})


def test_read_manifest(tmp_path):
    path = tmp_path / "run.json"
    manifest = {"content": {"a": 1}, "circumstance": {}}
    manifest["content_sha256"] = hashlib.sha256(b'{"a":1}').hexdigest()
    path.write_text(json.dumps(manifest))
    assert fio.read_manifest(path)["content"] == {"a": 1}
    del manifest["content_sha256"]
    path.write_text(json.dumps(manifest))
    with pytest.raises(Error, match="lacks the hash of its content"):
        fio.read_manifest(path)
    path.write_text("{}")
    with pytest.raises(Error, match="is not a manifest"):
        fio.read_manifest(path)


@pytest.mark.parametrize("compressed", [False, True])
def test_mat5_against_scipy(tmp_path, compressed):
    scipy_io = pytest.importorskip("scipy.io")
    namelist = np.empty((3, 2), object)
    namelist[:] = [["1", "1.jpg"], ["12", "ä😀.jpg"], ["x", "long name " * 20]]
    numbers = {f"n_{d}": np.arange(6).reshape(2, 3).astype(d) for d in [*DTYPES[3:11], "f4", "f8"]}
    variables = {"namelist": namelist, "text": "hello", "cube": np.arange(24.0).reshape(2, 3, 4)}
    others = {"s": {"field": 1, "longer": "ä"}, "z": np.ones((1, 2)) * 1j}
    scipy_io.savemat(tmp_path / "m.mat", variables | numbers | others, do_compression=compressed)
    read = fio.read_mat5(tmp_path / "m.mat")
    assert sorted(read) == sorted(variables | numbers | others)
    assert read["namelist"].tolist() == namelist.tolist()
    assert read["text"] == "hello"
    for name, expected in (numbers | {"cube": variables["cube"]}).items():
        np.testing.assert_array_equal(read[name], expected)
    assert read["s"] == {"field": 1, "longer": "ä"}
    assert read["z"] is None


@pytest.mark.parametrize("compressed", [False, True])
def test_mat5_cut_and_changed(tmp_path, compressed):
    scipy_io = pytest.importorskip("scipy.io")
    namelist = np.array([["1", "1.jpg"], ["2", "2.jpg"]], object)
    scipy_io.savemat(tmp_path / "m.mat", {"namelist": namelist}, do_compression=compressed)
    data = (tmp_path / "m.mat").read_bytes()
    path = tmp_path / "cut.mat"
    for n in range(len(data)):
        path.write_bytes(data[:n])
        with pytest.raises(Error):
            fio.read_mat5(path)
    for i in range(len(data)):
        changed = bytearray(data)
        changed[i] ^= 0xFF
        path.write_bytes(changed)
        with contextlib.suppress(Error):
            fio.read_mat5(path)


def test_mat5_refuses_other_formats(tmp_path):
    path = tmp_path / "a.mat"
    path.write_bytes(b"MATLAB 7.3 MAT-file".ljust(512))
    with pytest.raises(Error, match=r"version 7\.3"):
        fio.read_mat5(path)
    path.write_bytes(bytes(200))
    with pytest.raises(Error, match="not a MAT file"):
        fio.read_mat5(path)


@pytest.mark.skipif("FACEBENCH_DATA" not in os.environ, reason="FACEBENCH_DATA is not set")
@pytest.mark.parametrize(
    ("quality", "rows", "subjects"),
    [("high", 1543, 500), ("middle", 13491, 483), ("low", 6196, 489)],
)
def test_mat5_official_quality_lists(quality, rows, subjects):
    path = Path(os.environ["FACEBENCH_DATA"]) / f"ijba_quality/namelist_{quality}.mat"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    names = fio.read_mat5(path)["namelist"]
    assert names.shape == (rows, 2)
    assert len(set(names[:, 0])) == subjects
    assert all(name.endswith(".jpg") for name in names[:, 1])
