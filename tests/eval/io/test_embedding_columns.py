"""Which columns of a table are the embedding: what stands beside it never becomes a coordinate."""

import csv

import facebench
import numpy as np
import pytest
from facebench import io

ROWS, DIM = 12, 9
NAMES = [f"p{k // 3}/{k % 3}.jpg" for k in range(ROWS)]
VALUES = np.random.default_rng(5).normal(size=(ROWS, DIM)).astype(np.float32)
LABELS = np.arange(ROWS) // 3
EMBEDDING = {f"e{k}": VALUES[:, k] for k in range(DIM)}


def write_csv(path, columns, separator=",", header=True):
    with open(path, "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, delimiter=separator)
        if header:
            out.writerow(columns)
        out.writerows(zip(*(np.asarray(c).tolist() for c in columns.values()), strict=True))
    return path


def write_parquet(path, columns):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.table({k: np.asarray(v).tolist() for k, v in columns.items()}), path)
    return path


def read_csv(tmp_path, table, **how):
    return io.read_embeddings(write_csv(tmp_path / "e.csv", table), **how)


def read_parquet(tmp_path, table, **how):
    return io.read_embeddings(write_parquet(tmp_path / "e.parquet", table), **how)


BOTH = pytest.mark.parametrize("read", [read_csv, read_parquet])


def is_the_embedding(found):
    assert list(found.names) == NAMES
    np.testing.assert_array_equal(found.values, VALUES)


@BOTH
@pytest.mark.parametrize("title", ["e{}", "{}", "f_{}", "emb.{}", "V{}", "dim {}"])
@pytest.mark.parametrize("first", [0, 1])
def test_a_numbered_family_is_read(read, title, first, tmp_path):
    family = {title.format(k + first): VALUES[:, k] for k in range(DIM)}
    found = read(tmp_path, {"name": NAMES, **family})
    is_the_embedding(found)
    last = title.format(DIM - 1 + first)
    assert found.manifest["table"] == {
        "columns": f"{title.format(first)} to {last}",
        "numbers": DIM,
        "passed_over": [],
    }


OTHERS = {
    "label": LABELS,
    "quality": VALUES[:, 0],
    "age": 20 + LABELS,
    "yaw": VALUES[:, 1],
    "split": ["test"] * ROWS,
    "person": [f"p{k}" for k in LABELS],
    "x1": LABELS * 10,
}


@BOTH
@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("front", [False, True])
def test_a_column_beside_it_is_refused_by_its_name(read, other, front, tmp_path):
    beside = {other: OTHERS[other]}
    columns = {"name": NAMES, **(beside | EMBEDDING if front else EMBEDDING | beside)}
    with pytest.raises(facebench.Error, match=rf"{other}.*--columns name,e0\.\.e8 "):
        read(tmp_path, columns)
    is_the_embedding(read(tmp_path, columns, columns=["name", "e0..e8"]))


@BOTH
def test_boxes_that_follow_the_people_are_refused(read, tmp_path):
    boxes = {key: LABELS * (k + 1) for k, key in enumerate(("x1", "y1", "x2", "y2"))}
    said = r"e0 to e8; 2 numbers, x1 to x2; 2 numbers, y1 to y2.*--columns name,e0\.\.e8 "
    with pytest.raises(facebench.Error, match=said):
        read(tmp_path, {"name": NAMES, **boxes, **EMBEDDING})


@BOTH
@pytest.mark.parametrize(
    ("title", "numbers"),
    [("", range(ROWS)), ("Unnamed: 0", range(ROWS)), ("index", range(1, ROWS + 1)),
     ("__index_level_0__", np.arange(ROWS)[::-1] * 7)],
)  # fmt: skip
def test_row_numbers_are_passed_over_and_said(read, title, numbers, tmp_path):
    found = read(tmp_path, {title: numbers, "name": NAMES, **EMBEDDING})
    is_the_embedding(found)
    said = title or "the column without a name"
    assert found.manifest["table"]["passed_over"] == [f"{said} (row numbers)"]


def test_a_comma_at_the_end_of_each_line(tmp_path):
    rows = [("name", *EMBEDDING, ""), *((n, *v, "") for n, v in zip(NAMES, VALUES, strict=True))]
    path = tmp_path / "e.csv"
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
    is_the_embedding(io.read_embeddings(path))


@BOTH
def test_a_column_called_index_that_holds_labels_is_refused(read, tmp_path):
    with pytest.raises(facebench.Error, match=r"beside the embedding \(9 numbers.*it has index"):
        read(tmp_path, {"name": NAMES, "index": LABELS, **EMBEDDING})


@BOTH
def test_two_families_of_one_size_are_refused_and_one_asked_for_is_read(read, tmp_path):
    crop = {f"crop{k}": VALUES[:, k] + 1 for k in range(DIM)}
    columns = {"name": NAMES, **crop, **EMBEDDING}
    with pytest.raises(facebench.Error, match=r"name,crop0\.\.crop8 or name,e0\.\.e8"):
        read(tmp_path, columns)
    is_the_embedding(read(tmp_path, columns, columns=["name", "e0..e8"]))


@BOTH
def test_a_gap_in_the_family_is_an_error(read, tmp_path):
    columns = {"name": NAMES, **{k: v for k, v in EMBEDDING.items() if k != "e3"}}
    with pytest.raises(facebench.Error, match=r"'e3' is missing among.*name,e0\.\.e2,e4\.\.e8 "):
        read(tmp_path, columns)


@BOTH
def test_columns_in_another_order_are_read_by_their_numbers(read, tmp_path):
    shuffled = {f"e{k}": VALUES[:, k] for k in (8, 1, 0, 7, 2, 6, 3, 5, 4)}
    is_the_embedding(read(tmp_path, {**shuffled, "path": NAMES}))


@BOTH
def test_columns_without_numbers_are_listed(read, tmp_path):
    columns = {"name": NAMES, "a": VALUES[:, 0], "b": VALUES[:, 1]}
    with pytest.raises(facebench.Error, match=r"it has a, b, of which none.*--columns name,a,b "):
        read(tmp_path, columns)
    assert read(tmp_path, columns, columns=["name", "a", "b"]).dim == 2


@BOTH
def test_of_two_columns_of_names_the_one_that_tells_rows_apart(read, tmp_path):
    people = [f"p{k}" for k in LABELS]
    found = read(tmp_path, {"name": people, "path": NAMES, **EMBEDDING})
    is_the_embedding(found)
    assert found.manifest["table"]["passed_over"] == ["name (other names)"]


@BOTH
def test_a_column_of_whole_numbers_within_the_family(read, tmp_path):
    """DataFrame([[name, label, *vector], ...]): all columns are called by numbers."""
    columns = {"name": NAMES, "1": LABELS, **{str(k + 2): VALUES[:, k] for k in range(DIM)}}
    with pytest.raises(facebench.Error, match=r"^.*: 1 holds whole numbers.*name,2\.\.10 "):
        read(tmp_path, columns)
    zero = {"name": NAMES, **EMBEDDING, "e8": np.zeros(ROWS)}  # a unit that never fires
    assert read(tmp_path, zero).dim == DIM


@BOTH
def test_columns_that_are_not_there_or_no_numbers(read, tmp_path):
    columns = {"name": NAMES, **EMBEDDING}
    for asked, said in (
        (["name", "f0..f8"], "has no columns 'f0'"),
        (["name", "e0..e9"], "has no columns 'e9'"),
        (["e0", "name"], "name is a column of text"),
    ):
        with pytest.raises(facebench.Error, match=said):
            read(tmp_path, columns, columns=asked)
    for asked in (["name"], ["name", "e0", "e0"]):
        with pytest.raises(ValueError, match="columns"):
            read(tmp_path, columns, columns=asked)


def test_a_column_of_lists(tmp_path):
    lists = {"name": NAMES, "embedding": VALUES}
    is_the_embedding(read_parquet(tmp_path, lists))
    box = {**lists, "bbox": np.stack([LABELS] * 4, axis=1)}
    with pytest.raises(facebench.Error, match=r"the lists of embedding.*bbox.*name,embedding "):
        read_parquet(tmp_path, box)
    is_the_embedding(read_parquet(tmp_path, box, columns=["name", "embedding"]))
    with pytest.raises(facebench.Error, match="it has label"):
        read_parquet(tmp_path, {**lists, "label": LABELS})
    # As pandas writes lists, and as it writes arrays.
    for text in (str, lambda row: str(row).replace(",", "")):
        found = read_csv(tmp_path, {**lists, "embedding": [text(row) for row in VALUES.tolist()]})
        is_the_embedding(found)
    with pytest.raises(facebench.Error, match=r"e\.csv:2: a value is not a number"):
        read_csv(tmp_path, {**lists, "embedding": ["[0.5 ... 0.25]"] * ROWS})


def test_text_without_headers(tmp_path):
    path = tmp_path / "e.csv"
    plain = {"name": NAMES, **EMBEDDING}
    write_csv(path, plain, header=False)
    found = io.read_embeddings(path)
    is_the_embedding(found)
    assert found.manifest["table"]["columns"] == "column 2 to column 10"
    write_csv(path, {"row": range(ROWS), **plain}, header=False)  # to_csv(header=False)
    is_the_embedding(io.read_embeddings(path))
    for columns in (
        {"label": LABELS, **plain},
        {**plain, "label": LABELS},
        {**plain, "person": [f"p{k}" for k in LABELS]},
    ):
        write_csv(path, columns, header=False)
        with pytest.raises(facebench.Error, match=r"column \d+"):
            io.read_embeddings(path)


def test_a_line_of_numbers_that_names_the_columns(tmp_path):
    """DataFrame([[name, *vector], ...]).to_csv(index=False) has the headers 0, 1, 2, ..."""
    path = write_csv(
        tmp_path / "e.csv", {"0": NAMES, **{str(k + 1): VALUES[:, k] for k in range(DIM)}}
    )
    is_the_embedding(io.read_embeddings(path))


@pytest.mark.parametrize("separator", ["\t", ";", ","])
def test_separators(separator, tmp_path):
    is_the_embedding(
        io.read_embeddings(write_csv(tmp_path / "e.csv", {"name": NAMES, **EMBEDDING}, separator))
    )


def test_decimal_commas_are_named(tmp_path):
    path = tmp_path / "e.csv"
    path.write_text("name;e0;e1\na.jpg;0,5;1,0\n")
    with pytest.raises(facebench.Error, match=r"e\.csv:2: .*write 0\.5 for 0,5"):
        io.read_embeddings(path)
    path.write_text("name;e0;e1\na.jpg;0.5;1.0\nb.jpg;0,5;1,0\n")
    with pytest.raises(facebench.Error, match=r"e\.csv:3: .*write 0\.5 for 0,5"):
        io.read_embeddings(path)


@pytest.fixture
def pairs(tmp_path):
    rows = [(a, b, int(a[:2] == b[:2])) for a in NAMES for b in NAMES if a < b]
    with open(tmp_path / "pairs.csv", "w", newline="") as file:
        csv.writer(file).writerows([("first", "second", "label"), *rows])
    return {"root": tmp_path, "interval": "none"}


def test_frames_in_memory(pairs):
    """pandas' columns of numbers went in whole: a label among them decided the scores."""
    pandas = pytest.importorskip("pandas")
    of_array = facebench.evaluate("pairs", VALUES, names=NAMES, **pairs)
    frame = pandas.DataFrame(VALUES)
    for embeddings, how in (
        (frame, {"names": NAMES}),
        (frame.set_index(pandas.Index(NAMES)), {}),
        (frame.assign(name=NAMES), {}),
        (frame.assign(label=LABELS), {"names": NAMES, "columns": ["0..8"]}),
    ):
        result = facebench.evaluate("pairs", embeddings, **how, **pairs)
        assert result.auc.value == of_array.auc.value
        assert "The embedding is 9 numbers, 0 to 8." in result.notes
    with pytest.raises(facebench.Error, match="it has label"):
        facebench.evaluate("pairs", frame.assign(label=LABELS), names=NAMES, **pairs)


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_frames_of_other_libraries(library, pairs):
    library = pytest.importorskip(library)
    make = library.DataFrame if hasattr(library, "DataFrame") else library.table
    of_array = facebench.evaluate("pairs", VALUES, names=NAMES, **pairs)
    result = facebench.evaluate("pairs", make({"name": NAMES, **EMBEDDING}), **pairs)
    assert result.auc.value == of_array.auc.value
    lists = facebench.evaluate("pairs", make({"v": list(VALUES.tolist()), "a": NAMES}), **pairs)
    assert lists.auc.value == of_array.auc.value
    with pytest.raises(facebench.Error, match="it has label"):
        facebench.evaluate("pairs", make({"a": NAMES, **EMBEDDING, "label": LABELS}), **pairs)


def test_two_arrays_of_an_npz_that_can_be_the_embedding(tmp_path):
    np.savez(tmp_path / "e.npz", embeddings=VALUES, features=VALUES + 1, names=NAMES)
    with pytest.raises(facebench.Error, match="embeddings and features can be the embedding"):
        io.read_embeddings(tmp_path / "e.npz")


def test_the_terminal_and_the_manifest_say_what_was_read(pairs, tmp_path):
    import json

    from click.testing import CliRunner
    from facebench.cli.app import app

    path = write_csv(tmp_path / "e.csv", {"Unnamed: 0": range(ROWS), "name": NAMES, **EMBEDDING})
    out = tmp_path / "run"
    words = ["eval", "pairs", "--root", tmp_path, "--embeddings", path, "--interval", "none"]
    done = CliRunner().invoke(app, [*map(str, words), "--out", str(out)])
    said = "The embedding is 9 numbers, e0 to e8; passed over: Unnamed: 0 (row numbers)."
    assert done.exit_code == 0 and said in done.output
    content = json.loads((out / "run.json").read_text())["content"]
    assert said in content["notes"]
    assert content["embeddings"]["manifest"]["table"]["columns"] == "e0 to e8"
    assert facebench.verify(out).same


def unit_rows(rows=24, dim=32, seed=8):
    values = np.random.default_rng(seed).normal(size=(rows, dim))
    return values / np.linalg.norm(values, axis=1, keepdims=True)


# What stands beside, and whether it is told where it is the first of the columns, too.
BESIDE = {
    "quality": (lambda rng, n: rng.uniform(0.4, 1, (n, 1)), False),
    "box": (lambda rng, n: rng.uniform(0.3, 0.9, (n, 4)), False),
    "age": (lambda rng, n: rng.uniform(20, 60, (n, 1)), True),
    "yaw": (lambda rng, n: rng.uniform(-40, 40, (n, 1)), True),
    "time": (lambda rng, n: 1.6e9 + rng.uniform(0, 1e6, (n, 1)), True),
}


@pytest.mark.parametrize("what", BESIDE)
@pytest.mark.parametrize("front", [False, True])
@pytest.mark.parametrize("kind", ["csv", "npz", "npy", "array"])
def test_fractions_beside_an_embedding_without_headers_are_told(what, front, kind, tmp_path):
    values = unit_rows()
    make, also_in_front = BESIDE[what]
    if front and not also_in_front:
        return
    beside = make(np.random.default_rng(1), len(values))
    table = np.hstack([beside, values] if front else [values, beside])
    names = [f"p{k // 4}/{k}.jpg" for k in range(len(values))]
    path = tmp_path / f"e.{kind}"
    if kind == "csv":
        rows = [",".join([n, *map(repr, r)]) for n, r in zip(names, table.tolist(), strict=True)]
        path.write_text("\n".join(rows) + "\n")
    elif kind == "npz":
        np.savez(path, embeddings=table, names=names)
    elif kind == "npy":
        np.save(path, table)
    given = (table, names) if kind == "array" else (path, names if kind == "npy" else None)
    read = io._embedding_files.make if kind == "array" else io.read_embeddings
    with pytest.warns(UserWarning, match="counts as part of the embedding") as caught:
        found = read(*given)
    (said,) = [str(w.message) for w in caught]
    assert found.manifest["apart"] == said
    width = beside.shape[1]
    if kind == "csv":
        columns = f"{2 + width * front}..{33 + width * front}"
        assert f"--columns 1,{columns} " in said
        # As it was said it can be pasted, and says what is meant.
        chosen = io.read_embeddings(path, columns=["1", columns])
        np.testing.assert_array_equal(chosen.values, values.astype(np.float32))
    else:
        assert f"values[:, {width * front}:{32 + width * front}]" in said


def photographs(count=40, size=16, seed=3):
    """Blocks with noise: neighbouring pixels are alike, as in photographs."""
    rng = np.random.default_rng(seed)
    blocks = np.kron(rng.uniform(0, 255, (count, 4, 4)), np.ones((size // 4, size // 4)))
    return (blocks + rng.normal(0, 8, blocks.shape)).clip(0, 255).reshape(count, -1)


def principal(values):
    centred = values - values.mean(0)
    left, size, _ = np.linalg.svd(centred, full_matrices=False)
    return left * size


SOUND = {
    "unit": lambda: unit_rows(60, 128),
    "normal": lambda: np.random.default_rng(0).normal(size=(60, 512)),
    "relu": lambda: np.maximum(np.random.default_rng(0).normal(size=(60, 256)), 0),
    "positive": lambda: np.random.default_rng(0).uniform(0, 1, (60, 64)),
    "pixels": photographs,
    "pca": lambda: principal(photographs())[:, :32],
    "pca, all": lambda: principal(photographs()),
    "uncentred svd": lambda: (lambda u, s, _: u * s)(
        *np.linalg.svd(photographs(), full_matrices=False)
    )[:, :32],
    "histogram": lambda: np.stack([np.histogram(p, 32, (0, 255))[0] / 256 for p in photographs()]),
    "means apart": lambda: unit_rows(60, 128) * 0.3 + np.random.default_rng(1).normal(0, 0.1, 128),
    "few rows": lambda: np.hstack([unit_rows(5), np.full((5, 1), 0.9)]),
}


@pytest.mark.parametrize("what", SOUND)
def test_sound_embeddings_are_told_nothing(what, tmp_path):
    values = SOUND[what]()
    np.savez(tmp_path / "e.npz", embeddings=values, names=[str(k) for k in range(len(values))])
    assert io.read_embeddings(tmp_path / "e.npz").values.shape == values.shape


def test_many_columns_without_numbers_are_advised_as_can_be_pasted(tmp_path):
    columns = {c: VALUES[:, k % DIM] for k, c in enumerate("abcdefghijklmnopqrst")}
    with pytest.raises(facebench.Error, match=r"--columns name,a\.\.t \("):
        read_csv(tmp_path, {"name": NAMES, **columns})
    found = read_csv(tmp_path, {"name": NAMES, **columns}, columns=["name", "a..t"])
    assert found.values.shape == (ROWS, 20)
    named = {f"dim {c}": v for c, v in columns.items()}
    with pytest.raises(facebench.Error, match=r"--columns 'name,dim a\.\.dim t' \("):
        read_csv(tmp_path, {"name": NAMES, **named})


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ("0,5", r"'0,5' in e2\); write 0\.5 for 0,5"),
        ("1,234.5", r"'1,234\.5' in e2\); write 0\.5 for 0,5, and 1234"),
        ("12%", r"'12%' in e2\); write it without the sign"),
        ("", r"the cell of e2 is empty"),
        ("NA", r"'NA' in e2"),
    ],
)
def test_a_cell_that_is_no_number_is_named(cell, says, tmp_path):
    table = {"name": NAMES, **{k: list(v) for k, v in EMBEDDING.items()}}
    table["e2"][3] = cell
    path = write_csv_of_objects(tmp_path / "e.csv", table)
    with pytest.raises(facebench.Error, match=rf"e\.csv:5: a value is not a number \({says}"):
        io.read_embeddings(path)


def write_csv_of_objects(path, columns):
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([list(columns), *zip(*columns.values(), strict=True)])
    return path


def test_headers_that_come_twice_are_named(tmp_path):
    path = write_csv(tmp_path / "e.csv", {"name": NAMES, **EMBEDDING})
    path.write_text(path.read_text() + path.read_text())
    with pytest.raises(facebench.Error, match=r"e\.csv:14: the line of headers is there once more"):
        io.read_embeddings(path)


def test_a_comma_at_the_end_of_each_line_without_headers(tmp_path):
    rows = [",".join([n, *map(str, v)]) + ",\n" for n, v in zip(NAMES, VALUES, strict=True)]
    (tmp_path / "e.csv").write_text("".join(rows))
    is_the_embedding(io.read_embeddings(tmp_path / "e.csv"))
