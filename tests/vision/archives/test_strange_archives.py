"""Archives as other people's programs leave them: what is there twice or not at all is said, and a
file of another kind is called so."""

import json
import pickle

import numpy as np
import pytest
from archive_files import classic, jpeg, packed, write_rec
from click.testing import CliRunner
from facebench import Error, datasets
from facebench.cli.app import app

IMAGES = [jpeg(i) for i in range(6)]
LABELS = [0, 1, 0, 2, 1, 0]
FLAT = [(i, packed(float(b), i, a)) for i, (a, b) in enumerate(zip(IMAGES, LABELS, strict=True))]


def answer_of(*words):
    done = CliRunner().invoke(app, [*map(str, words), "--json", "--quiet"])
    assert done.exit_code in (0, 1), done.output
    return json.loads(done.stdout)


def test_an_index_that_was_cut_off_is_said(tmp_path):
    path, index = tmp_path / "train.rec", tmp_path / "train.idx"
    write_rec(path, FLAT)
    lines = index.read_text().splitlines(keepends=True)
    assert datasets.read_archive(path).notes == []
    index.write_text("".join(lines[:4]))
    end = int(lines[4].split("\t")[1])
    found = datasets.read_archive(path)
    assert len(found) == 4
    (note,) = found.notes
    assert f"ends at byte {end}, the .rec file at byte {path.stat().st_size}" in note
    # Every verb that reads the data set says so.
    for verb in (
        ("pack", "rec", "--root", path, "--detector", "none", "--out", tmp_path / "a.h5"),
        ("data", "scan", "rec", "--root", path),
        ("data", "convert", path, "--out", tmp_path / "a.tar"),
    ):
        assert note in answer_of(*verb)["notes"], verb
        words = [str(w).replace("a.h5", "b.h5").replace("a.tar", "b.tar") for w in verb]
        assert note in CliRunner().invoke(app, words).stdout, verb


def test_header_and_identity_records_count_as_keys(tmp_path):
    for order in (list, reversed):
        write_rec(tmp_path / "a.rec", list(order(classic(IMAGES, LABELS))))
        assert datasets.read_archive(tmp_path / "a.rec").notes == []


@pytest.mark.parametrize("keys", [(6, 7), (6, 10**12)])
def test_keys_that_share_a_record_are_said(tmp_path, keys):
    path, index = tmp_path / "train.rec", tmp_path / "train.idx"
    write_rec(path, [FLAT[i] for i in (3, 0, 5, 1, 4, 2)])
    first = next(line for line in index.read_text().splitlines() if line.startswith("0\t"))
    with index.open("a") as file:
        file.writelines(f"{key}\t{first.split(chr(9))[1]}\n" for key in keys)
    found = datasets.read_archive(path)
    assert len(found) == 8
    (note,) = found.notes
    assert "2 of 8 keys stand for a record that a smaller key stands for" in note


def test_what_property_says_is_compared_aloud(tmp_path):
    write_rec(tmp_path / "train.rec", classic(IMAGES, LABELS))
    (tmp_path / "property").write_text("3,16,16\n7\n")
    notes = answer_of("data", "scan", "rec", "--root", tmp_path)["notes"]
    assert notes == ["property speaks of 7 images, 6 are there"]


SAME = [True, False, True]


@pytest.mark.parametrize("protocol", [1, 2, 3, 4, 5])
def test_bytearrays_in_a_bin(tmp_path, protocol):
    path = tmp_path / "a.bin"
    path.write_bytes(pickle.dumps(([bytearray(i) for i in IMAGES], SAME), protocol))
    assert [s.read() for s in datasets.read_archive(path).samples] == IMAGES


OTHER_BINS = {
    "pixels": (
        pickle.dumps((list(np.zeros((6, 4, 5, 3), np.uint8)), SAME), 4),
        "image 0 is an array of 4x5x3: pixels",
    ),
    "joined": (pickle.dumps((IMAGES, SAME), 4) * 2, r"byte \d+: the pickle ends here, and \d+ byt"),
    "zip": (b"PK\x03\x04" + bytes(99), "is not a pickle"),
    "text": (b"hello\n" * 9, "is not a pickle"),
    "floats": (np.zeros(99, np.float32).tobytes(), "is not a pickle"),
}


@pytest.mark.parametrize("name", OTHER_BINS)
def test_bins_that_are_none(tmp_path, name):
    raw, wanted = OTHER_BINS[name]
    (tmp_path / "a.bin").write_bytes(raw)
    with pytest.raises(Error, match=rf"a\.bin: {wanted}"):
        datasets.read_archive(tmp_path / "a.bin")
