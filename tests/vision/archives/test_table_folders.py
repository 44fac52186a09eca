"""Folders of tables: splits, what save_to_disk leaves, and names of people."""

import json

import pytest
from archive_files import jpeg
from facebench import Error, datasets

pa = pytest.importorskip("pyarrow", reason="needs pyarrow: pip install pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

IMAGES = [jpeg(i) for i in range(8)]


def table(first, count, labels=None, names=None, column="label", metadata=None):
    rows = [{"bytes": IMAGES[i], "path": None} for i in range(first, first + count)]
    struct = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    columns = {"image": pa.array(rows, struct)}
    columns[column] = pa.array([i // 2 for i in range(count)]) if labels is None else labels
    made = pa.table(columns)
    if names is not None:
        told = {"info": {"features": {column: {"names": names, "_type": "ClassLabel"}}}}
        metadata = {b"huggingface": json.dumps(told).encode()}
    return made.replace_schema_metadata(metadata)


def parquet(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(data, path)


def arrow(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    with pa.ipc.new_stream(str(path), data.schema) as writer:
        writer.write_table(data)


def read(path, **options):
    return [IMAGES.index(s.read()) for s in datasets.read_archive(path, **options).samples]


def test_the_layout_of_the_hub_asks_which_split(tmp_path):
    parquet(tmp_path / "data/train-00000-of-00002.parquet", table(0, 2))
    parquet(tmp_path / "data/train-00001-of-00002.parquet", table(2, 2))
    parquet(tmp_path / "data/test-00000-of-00001-0123456789abcdef.parquet", table(4, 4))
    (tmp_path / "README.md").write_text("x")
    for folder in (tmp_path, tmp_path / "data"):
        with pytest.raises(Error, match=r"several splits.*test \(1\), train \(2\).*--split test"):
            read(folder)
        assert read(folder, split="train") == [0, 1, 2, 3]
        assert read(folder, split="test+train") == [4, 5, 6, 7, 0, 1, 2, 3]
        with pytest.raises(Error, match="no split 'val'; there are"):
            read(folder, split="val")
    found = datasets.read_dataset("parquet", tmp_path, split="test")
    assert len(found) == 4


@pytest.mark.parametrize(
    "files",
    [
        ["default/train/0000.parquet", "default/test/0000.parquet"],
        ["train.parquet", "test.parquet"],
        ["faces_train.parquet", "faces_test.parquet"],
        ["train/a.parquet", "test/a.parquet"],
        ["train/data-00000-of-00001.parquet", "test/data-00000-of-00001.parquet"],
    ],
)
def test_other_layouts_with_splits(tmp_path, files):
    for i, file in enumerate(files):
        parquet(tmp_path / file, table(4 * i, 4))
    with pytest.raises(Error, match="holds several splits"):
        datasets.read_dataset("parquet", tmp_path)
    split = "default/test" if files[0].startswith("default") else "test"
    found = datasets.read_dataset("parquet", tmp_path, split=split)
    assert [IMAGES.index(s.read()) for s in found.samples] == [4, 5, 6, 7]


def test_save_to_disk_lists_its_files(tmp_path):
    arrow(tmp_path / "data-00000-of-00001.arrow", table(0, 4))
    arrow(tmp_path / "cache-0a1b.arrow", table(0, 4))
    assert read(tmp_path) == [0, 1, 2, 3]  # a cache is not data, listed or not
    arrow(tmp_path / "copy.arrow", table(4, 4))
    state = {"_data_files": [{"filename": "data-00000-of-00001.arrow"}]}
    (tmp_path / "state.json").write_text(json.dumps(state))
    assert read(tmp_path) == [0, 1, 2, 3]
    for name, wanted in [("../x.arrow", "not in its folder"), ("gone.arrow", "is not there")]:
        (tmp_path / "state.json").write_text(json.dumps({"_data_files": [{"filename": name}]}))
        with pytest.raises(Error, match=wanted):
            read(tmp_path)


def test_a_saved_dict_of_splits(tmp_path):
    for i, split in enumerate(["train", "test"]):
        arrow(tmp_path / split / "data-00000-of-00001.arrow", table(4 * i, 4))
        state = {"_data_files": [{"filename": "data-00000-of-00001.arrow"}]}
        (tmp_path / split / "state.json").write_text(json.dumps(state))
    (tmp_path / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    assert datasets.find_image_archive(tmp_path) == "arrow"
    assert read(tmp_path, split="test") == [4, 5, 6, 7]


def test_a_folder_without_tables_says_what_is_there(tmp_path):
    (tmp_path / "ann").mkdir()
    (tmp_path / "ann/0.png").write_bytes(b"x")
    (tmp_path / "@eaDir").mkdir()
    with pytest.raises(Error, match=r"no .parquet or .arrow file.*it holds ann\."):
        datasets.read_dataset("parquet", tmp_path)
    parquet(tmp_path / "a.parquet", table(0, 4))
    arrow(tmp_path / "b.arrow", table(4, 4))
    with pytest.raises(Error, match="mixed"):
        read(tmp_path)


def label_names(path, **options):
    found = datasets.read_archive(path, **options)
    return [found.label_names[s.label] for s in found.samples], found


def test_texts_are_people_by_name(tmp_path):
    people = ["Zoë", "Ann", "Zoë", "Ann"]
    texts = pa.array(people)
    for kind in (texts, texts.cast(pa.large_string()), texts.dictionary_encode()):
        parquet(tmp_path / "a.parquet", table(0, 4, kind))
        found, data = label_names(tmp_path / "a.parquet")
        assert found == people and data.label_names == ["Ann", "Zoë"]
        assert data.samples[1].id == "Ann/000000001"
    for bad in (["a", None, "b", "c"], ["a", " ", "b", "c"]):
        parquet(tmp_path / "a.parquet", table(0, 4, pa.array(bad)))
        with pytest.raises(Error, match="row 1: the label is empty"):
            label_names(tmp_path / "a.parquet")


def test_names_of_class_labels(tmp_path):
    path = tmp_path / "a.parquet"
    labels = pa.array([1, 0, 1, 0])
    parquet(path, table(0, 4, labels, ["Zoë", "Ann"]))
    found, data = label_names(path)
    assert found == ["Ann", "Zoë", "Ann", "Zoë"]
    assert data.label_names == ["Zoë", "Ann"]  # in the order of the labels
    parquet(path, table(0, 4, labels, ["Ann", "Ann"]))
    found, data = label_names(path)
    assert found == ["1", "0", "1", "0"] and "'Ann' is label" in data.notes[0]
    for bad, wanted in (
        ([1, -1, 0, 0], "the label is -1"),
        ([1, 2, 0, 0], "the label is 2 of 2 names"),
    ):
        parquet(path, table(0, 4, pa.array(bad), ["Zoë", "Ann"]))
        with pytest.raises(Error, match=f"row 1: {wanted}"):
            label_names(path)
    for metadata in (b"{", b"[]", b'{"info": {"features": {"label": {"names": [1, 2]}}}}'):
        parquet(path, table(0, 4, labels, metadata={b"huggingface": metadata}))
        assert label_names(path)[0] == ["1", "0", "1", "0"]


def test_no_label_is_said_and_a_column_can_be_named(tmp_path):
    path = tmp_path / "a.parquet"
    parquet(path, table(0, 4, column="identity"))
    data = datasets.read_archive(path)
    assert data.unlabelled == 4 and len(data.label_names) == 4
    assert data.notes == [
        "No label: 4 of 4 images count as a person each. Name what says who it is (--label NAME): "
        "its other columns are identity."
    ]
    assert label_names(path, label="identity")[0] == ["0", "0", "1", "1"]
    with pytest.raises(Error, match="no column 'person'; there are image, identity"):
        label_names(path, label="person")
    parquet(path, table(0, 4, pa.array([True, False, True, False]), column="identity"))
    with pytest.raises(Error, match="'identity' is bool, neither whole numbers nor texts"):
        label_names(path, label="identity")


def test_floats_that_are_whole_numbers(tmp_path):
    """As pandas makes them of whole numbers with a gap."""
    path = tmp_path / "a.parquet"
    for kind in (pa.float64(), pa.float32()):
        parquet(path, table(0, 4, pa.array([7.0, 0.0, 7.0, 3.0], kind)))
        found, data = label_names(path)
        assert found == ["7", "0", "7", "3"] and data.label_names == ["0", "3", "7"]
        assert data.samples[1].id == "0/000000001"
        for bad, shown in ((1.5, "1.5"), (-1.0, "-1"), (None, "None"), (float("nan"), "nan")):
            parquet(path, table(0, 4, pa.array([0.0, bad, 0.0, 0.0], kind)))
            with pytest.raises(Error, match=f"row 1: the label is {shown}, not a whole number"):
                label_names(path)
    parquet(path, table(0, 4, pa.array([1.0, 0.0, 1.0, 0.0]), ["Zoë", "Ann"]))
    assert label_names(path)[0] == ["Ann", "Zoë", "Ann", "Zoë"]


def test_files_whose_labels_differ_in_kind_are_refused(tmp_path):
    parquet(tmp_path / "a.parquet", table(0, 4))
    parquet(tmp_path / "b.parquet", table(4, 4, pa.array(list("abcd"))))
    with pytest.raises(Error, match="its labels are text, those of others number"):
        read(tmp_path)


def test_labels_beyond_63_bits_say_what_to_do(tmp_path):
    labels = pa.array([2**63 + 1, 2**64 - 1], pa.uint64())
    parquet(tmp_path / "a.parquet", table(0, 2, labels))
    with pytest.raises(Error, match=r"9223372036854775809 is larger.*column as text"):
        datasets.read_dataset("parquet", tmp_path / "a.parquet")
