"""Embeddings that other programs wrote: what is taken, and one sentence for the rest."""

import io
import struct
import zipfile

import numpy as np
import pytest
from facebench import Error
from facebench import io as fio
from facebench.io import _embedding_files

VALUES = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)
NAMES = ["a/1.jpg", "a/2.jpg", "b/1.jpg", "b/2.jpg"]


def npy(array):
    data = io.BytesIO()
    np.save(data, array)
    return data.getvalue()


def claiming(shape, descr="<f4"):
    """A .npy whose header claims numbers that are not there."""
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()


def archive(path, *entries):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in entries:
            file.writestr(name, data)
    return path


def lines(*rows, end="\n"):
    return end.join([*rows, ""]).encode()


def rows(separator=","):
    return [
        separator.join([name, *map(str, row)])
        for name, row in zip(NAMES, VALUES.tolist(), strict=True)
    ]


def same(path, **given):
    found = fio.read_embeddings(path, **given)
    assert list(found.names) == NAMES
    np.testing.assert_array_equal(found.values, VALUES)


def test_names_that_are_bytes(tmp_path):
    path = tmp_path / "e.npz"
    np.savez(path, embeddings=VALUES, names=np.array(NAMES, "S"))
    same(path)  # each was called "b'a/1.jpg'"


def test_a_csv_of_pandas(tmp_path):
    path = tmp_path / "e.csv"
    path.write_bytes(lines(",0,1,2", *rows()))
    same(path)
    path.write_bytes(lines(",0.5,1,2", *rows()))  # a row without a name is not a header
    with pytest.raises(Error, match="row 0 has no name"):
        fio.read_embeddings(path)


def test_names_with_characters_that_end_lines_elsewhere(tmp_path):
    odd = ["a/\u2028.jpg", "a/\x85.jpg", "b/\x0b.jpg", "b/2.jpg"]
    np.save(tmp_path / "e.npy", VALUES)
    (tmp_path / "e.txt").write_bytes("\r\n".join(["\ufeff" + odd[0], *odd[1:], ""]).encode())
    assert list(fio.read_embeddings(tmp_path / "e.npy").names) == odd
    (tmp_path / "list").write_bytes(lines(*NAMES))
    same(tmp_path / "e.npy", names=tmp_path / "list")


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (lines("a;b;c"), r"columns|no numbers|not a number"),
        (lines(*NAMES), "no numbers"),
        (lines("name,x", *NAMES), r"1 columns|no numbers"),
        (lines(*rows()[:2], "b/1.jpg,1"), ":3: 2 columns, 4 in the rows before"),
        (lines("1,x,name", "0.5,0.5,a", "0.5"), ":3: 1 columns"),
        (lines(*rows()[:1], "", "a/2.jpg,1_0,2,3"), ":3: a value is not a number"),
        (lines(*rows()[:1], "a/2.jpg,0x1p3,2,3"), ":2: a value is not a number"),
        (lines("a,nan,1"), "NaN or an infinity"),
        (lines(*rows(), "Zoë,1,2,3").replace("ë".encode(), b"\xeb"), ":5: is not UTF-8"),
        (lines("a," + "1" * 200_000), ":1: field larger"),
        (b"", "is empty"),
    ],
)
def test_csv_that_is_refused(tmp_path, data, says):
    path = tmp_path / "e.csv"
    path.write_bytes(data)
    with pytest.raises(Error, match=says) as error:
        fio.read_embeddings(path)
    assert str(error.value).startswith(str(path))


@pytest.mark.parametrize(
    ("entries", "says"),
    [
        ([("embeddings.npy", claiming((4, 9 * 10**11))), ("names.npy", npy(NAMES))], "claims"),
        (
            [("embeddings.npy", npy(VALUES))] * 2 + [("names.npy", npy(NAMES))],
            "'embeddings.npy' is in it twice",
        ),
        ([("a.npy", npy(VALUES[0])), ("b.npy", npy(VALUES[0, :2]))], r"shape \(2,\), that of a"),
        (
            [("embeddings.npy", npy(VALUES)), ("names.npy", npy(np.array([NAMES])))],
            r"names have the shape \(1, 4\)",
        ),
        (
            [("embeddings.npy", npy(VALUES)), ("names.npy", npy(NAMES)), ("status.npy", npy([7]))],
            "status",
        ),
        ([("embeddings.npy", npy(VALUES[:, :0])), ("names.npy", npy(NAMES))], "no numbers"),
        ([("embeddings.npy", npy(VALUES)[:-4]), ("names.npy", npy(NAMES))], "claims 48 bytes, 44"),
        (
            [("embeddings.npy", npy(VALUES)), ("names.npy", claiming((4,), "<U1") + b"\xff" * 16)],
            "no .npz of plain arrays",
        ),
        *(
            (
                [
                    ("embeddings.npy", npy(VALUES)),
                    ("names.npy", npy(NAMES)),
                    ("status.npy", npy(s)),
                ],
                "status .* whole number",
            )
            for s in ([0, 256, 0, 0], [0, -256, 0, 0], [0, 0.5, 0, 0])
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_npz_that_is_refused(tmp_path, entries, says):
    path = archive(tmp_path / "e.npz", *entries)
    with pytest.raises(Error, match=says) as error:
        fio.read_embeddings(path)
    assert str(error.value).startswith(str(path))


def test_a_small_archive_that_stands_for_gigabytes(tmp_path, monkeypatch):
    monkeypatch.setattr(_embedding_files, "_EXPANDED", 1 << 20)
    zeros = np.zeros((4, 1 << 17), np.float32)
    path = archive(tmp_path / "e.npz", ("embeddings.npy", npy(zeros)), ("names.npy", npy(NAMES)))
    with pytest.raises(Error, match=r"its arrays expand \d+ bytes to 2097520"):
        fio.read_embeddings(path)


HEADER = "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 3), }"


@pytest.mark.parametrize(
    "header",
    [
        *("(", "{", "{'descr'", "(" * 5000, "1_1_", "\0\0", "-" * 9000 + "1", ""),
        HEADER.replace("4", "True", 1),
        HEADER.replace("(4, 3)", "(0, 99999999999999999999)"),
        HEADER.replace("(4, 3)", "(-1, 3)"),
        HEADER.replace("'<f4'", "('<f4',)"),
        HEADER.replace("(4, 3)", "[4, 3]"),
    ],
)
def test_headers_of_arrays_that_are_malformed(tmp_path, header):
    """numpy parses them as Python, and lets whatever that raises through."""
    text = header.encode().ljust(117) + b"\n"
    data = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + VALUES.tobytes()
    (tmp_path / "e.npy").write_bytes(data)
    archive(tmp_path / "e.npz", ("embeddings.npy", data), ("names.npy", npy(NAMES)))
    for name, given in (("e.npy", NAMES), ("e.npz", None)):
        with pytest.raises(Error, match=rf"{name}: "):
            fio.read_embeddings(tmp_path / name, names=given)


@pytest.mark.parametrize(
    "values",
    [
        VALUES + 1j,
        np.ma.array(VALUES, mask=VALUES > 0),
        VALUES.astype(str),
        VALUES.astype("M8[s]"),
    ],
)
def test_what_holds_no_numbers_is_no_embedding(values):
    """numpy would drop the imaginary parts and the masks, and count seconds."""
    with pytest.raises((ValueError, TypeError), match=r"embeddings (must be real|has masked)"):
        fio.EmbeddingSet(values, NAMES)


@pytest.mark.parametrize("status", [[0, 257, 0, 0], [0, 0, -256, 0], [0.5, 0, 0, 0]])
def test_a_status_is_not_wrapped(status):
    with pytest.raises(ValueError, match="whole number in the allowed range"):
        fio.EmbeddingSet(VALUES, NAMES, np.array(status))


def test_damaged_and_claiming_files(tmp_path):
    path = tmp_path / "e.npy"
    path.write_bytes(claiming((4, 9 * 10**11)))
    with pytest.raises(Error, match="claims"):
        fio.read_embeddings(path, names=NAMES)
    whole = bytearray(archive(tmp_path / "e.npz", ("embeddings.npy", npy(VALUES))).read_bytes())
    whole[60:70] = b"\xff" * 10  # the deflated numbers
    (tmp_path / "e.npz").write_bytes(whole)
    with pytest.raises(Error, match=r"e\.npz"):
        fio.read_embeddings(tmp_path / "e.npz")


@pytest.mark.parametrize("scale", [1e300, 1e-300])
def test_numbers_that_float32_does_not_hold(tmp_path, scale):
    values = VALUES.astype(np.float64)
    values[2] *= scale
    np.savez(tmp_path / "a.npz", embeddings=values, names=NAMES)
    with pytest.raises(
        Error, match=r"a\.npz: row 2 \(b/1\.jpg\) holds .*e[+-]\d+, which float32 do"
    ):
        fio.read_embeddings(tmp_path / "a.npz")


@pytest.mark.parametrize("ending", [".npy", ".npz", ".parquet"])
@pytest.mark.parametrize("data", [b"", b"\x93NU"])
def test_the_first_bytes_of_a_file_alone(tmp_path, ending, data):
    (tmp_path / f"a{ending}").write_bytes(data)
    with pytest.raises(Error, match=rf"a{ending}: is not a {ending} file, by its first bytes"):
        fio.read_embeddings(tmp_path / f"a{ending}")


def test_hdf5_of_other_names_and_types(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["features"] = VALUES
    with pytest.raises(Error, match=r"has no data set /embedding\. An HDF5 file of embeddings has"):
        fio.read_embeddings(tmp_path / "a.h5")
    with h5py.File(tmp_path / "b.h5", "w") as file:
        file["embedding"] = VALUES.astype(">f4")
        file.create_dataset("name", data=NAMES, dtype=h5py.string_dtype())
    with pytest.raises(Error, match=r"expected float32\. Write it as float32, little-endian"):
        fio.read_embeddings(tmp_path / "b.h5")
