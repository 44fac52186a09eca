"""One's own embeddings, scores and pairs; what a result warns of."""

import csv
import json

import facebench
import numpy as np
import pytest
from click.testing import CliRunner
from facebench import io, protocols

NAMES = ["Ann/Ann_0001.jpg", "Ann/Ann_0002.jpg", "Bob/Bob_0001.jpg", "Cat/Cat_0001.jpg"]
NAMES += ["Cat/Cat_0002.jpg", "Dan/Dan_0001.jpg"]
LIST = "2\t1\nAnn\t1\t2\nAnn\t1\tBob\t1\nCat\t1\t2\nCat\t1\tDan\t1\n"
PEOPLE = [0, 0, 1, 2, 2, 3]


@pytest.fixture
def root(tmp_path):
    (tmp_path / "lfw").mkdir()
    (tmp_path / "lfw/pairs.txt").write_text(LIST)
    return tmp_path / "lfw"


@pytest.fixture
def values():
    random = np.random.default_rng(3)
    return np.eye(4, 8)[PEOPLE] + 0.05 * random.normal(size=(6, 8))


def auc(root, *args, **options):
    return protocols.evaluate("lfw", *args, root=root, interval="none", **options).auc.value


def write_csv(path, values, names):
    with open(path, "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["name", *(f"v{i}" for i in range(values.shape[1]))])
        rows.writerows(
            [name, *map(repr, map(float, row))] for name, row in zip(names, values, strict=True)
        )


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_every_kind_of_file_holds_the_same_embeddings(tmp_path, root, values, dtype):
    values = values.astype(dtype)
    expected = np.float32(values)
    np.savez(tmp_path / "a.npz", embeddings=values, names=NAMES)
    np.savez(tmp_path / "b.npz", **dict(zip(NAMES, values, strict=True)))
    np.save(tmp_path / "c.npy", values)
    (tmp_path / "c.txt").write_text("\n".join(NAMES) + "\n")
    write_csv(tmp_path / "d.csv", values, NAMES)
    for file in ("a.npz", "b.npz", "c.npy", "d.csv"):
        read = io.read_embeddings(tmp_path / file)
        assert list(read.names) == NAMES
        assert np.array_equal(read.values, expected), file
        assert auc(root, tmp_path / file) == 1
    assert auc(root, dict(zip(NAMES, values, strict=True))) == 1


def test_parquet_holds_them_too(tmp_path, values):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(
        arrow.table({"name": NAMES, "embedding": values.tolist()}), tmp_path / "e.parquet"
    )
    assert np.array_equal(io.read_embeddings(tmp_path / "e.parquet").values, np.float32(values))


def test_a_file_of_another_kind_is_named(tmp_path, values):
    import pickle

    (tmp_path / "a.pkl").write_bytes(pickle.dumps({"a": 1}))
    np.save(tmp_path / "b.npy", values)
    np.savez(tmp_path / "c.npz", something=values)
    (tmp_path / "d.csv").write_text("name,v0\na.jpg,x\n")
    for file, said in {
        "a.pkl": "is a pickle.*numpy.savez",
        "b.npy": "holds no names.*--names",
        "c.npz": "holds something; expected 'embeddings'",
        "d.csv": "d.csv:2: a value is not a number",
        "e.csv": "cannot be read: No such file",
    }.items():
        with pytest.raises(facebench.Error, match=said):
            io.read_embeddings(tmp_path / file)


def test_names_match_by_the_rule_asked_for(root, values):
    with pytest.raises(facebench.Error, match=r"By match=stem 6 of them are found"):
        auc(root, values, [f"x/{n.split('/')[1]}" for n in NAMES])
    long = [f"/data/lfw/{n}" for n in NAMES]
    assert auc(root, values, long, match="suffix") == 1
    assert auc(root, values, long, match="stem") == 1
    with pytest.raises(ValueError, match="did you mean 'stem'"):
        auc(root, values, long, match="stemm")


def test_scores_by_names_in_any_order_and_as_distances(tmp_path, root):
    assert protocols.write_pairs("lfw", tmp_path / "pairs.csv", root) == 4
    with open(tmp_path / "pairs.csv") as file:
        rows = list(csv.DictReader(file))
    assert rows[1] == {"first": NAMES[0], "second": NAMES[2]}
    for i, row in enumerate(rows):
        row["score"] = [0.9, 0.2, 0.8, 0.1][i]
        if i % 2:
            row["first"], row["second"] = row["second"], row["first"]
    rows.reverse()

    def write(name, rows, header):
        with open(tmp_path / name, "w", newline="") as file:
            out = csv.writer(file)
            out.writerow(header)
            out.writerows([r["first"], r["second"], r["score"]] for r in rows)
        return tmp_path / name

    assert auc(root, scores=write("s.csv", rows, ["first", "second", "score"])) == 1
    own = write("own.csv", rows, ["img1", "img2", "sim"])
    assert auc(root, scores=own, columns=["img1", "img2", "sim"]) == 1
    for row in rows:
        row["score"] = 1 - row["score"]
    away = write("d.csv", rows, ["first", "second", "distance"])
    by_header = facebench.evaluate("lfw", scores=away, root=root, interval="none")
    assert by_header.auc.value == 1 and "By its header" in by_header.notes[-1]
    unsaid = write("u.csv", rows, ["first", "second", "score"])
    wrong = facebench.evaluate("lfw", scores=unsaid, root=root, interval="none")
    assert wrong.auc.value == 0 and "--distance" in wrong.warnings[0]
    right = facebench.evaluate("lfw", scores=away, root=root, interval="none", distance=True)
    assert right.auc.value == 1 and not right.warnings and "distances" in right.notes[-1]
    with pytest.raises(facebench.Error, match="no score for 1 pairs"):
        auc(root, scores=write("s.csv", rows[1:], ["first", "second", "score"]))
    rows.append(rows[0] | {"score": 7})
    with pytest.raises(facebench.Error, match="another score than in line 2"):
        auc(root, scores=write("s.csv", rows, ["first", "second", "score"]))


def test_distances_and_statuses_are_numbers(root):
    away = [0.1, 0.9, 0.2, 0.8]
    turned = facebench.evaluate("lfw", scores=away, root=root, interval="none", distance=True)
    assert turned.auc.value == 1
    assert auc(root, scores=np.uint8([250, 1, 200, 2]), distance=True) == 0
    masked = np.ma.array(away, mask=[0, 0, 0, 1])
    for wrong in (["0.1", "0.9", "0.2", "0.8"], [0.1, 0.9, 0.2, 1j], masked):
        with pytest.raises((TypeError, ValueError), match="scores"):
            auc(root, scores=wrong, distance=True)
    with pytest.raises(ValueError, match=r"status\[2\] must be a whole number, not 1.7"):
        auc(root, scores=away, status=[0, 0, 1.7, 0, 0, 0])


def test_a_result_begins_with_what_went_wrong(tmp_path, root, values):
    status = [0, 0, 1, 0, 0]  # Bob has no face, and nothing is known of Dan
    there = values[:5] * (np.array(status) == 0)[:, None]
    shared = {"root": root, "interval": "none"}
    result = facebench.evaluate(
        "lfw",
        there,
        names=NAMES[:5],
        status=status,
        out=tmp_path / "run",
        allow_missing=True,
        **shared,
    )
    assert result.warnings[0].startswith("Track view2: 2 of 6 samples failed to enrol (33.3 %: 1 ")
    assert "1 missing" in result.warnings[0]
    assert result.warnings[1].startswith("1 of the 6 names in the lists have no embedding")
    assert repr(result).startswith("WARNING: Track view2")
    assert "**Warning:** Track view2" in (tmp_path / "run/report.md").read_text()
    assert "<strong>Warning:</strong> Track view2" in (tmp_path / "run/report.html").read_text()
    good = facebench.evaluate(
        "lfw", values, names=NAMES, root=root, interval="none", out=tmp_path / "b"
    )
    assert good.warnings == [] and "arning" not in (tmp_path / "b/report.md").read_text()


def test_nothing_enrolled_is_a_failure(tmp_path, root, values):
    from facebench.cli.app import app

    io.write_embeddings(
        tmp_path / "e.h5", io.EmbeddingSet(np.zeros_like(values), NAMES, np.uint8([1] * 6))
    )
    shared = ["--root", str(root), "--interval", "none", "--out", str(tmp_path / "run")]
    said = CliRunner().invoke(app, ["eval", "lfw", "--embeddings", str(tmp_path / "e.h5"), *shared])
    assert said.exit_code == 1, said.output
    assert said.stdout.startswith("WARNING: Track view2: 6 of 6 samples failed to enrol (100.0 %")


def test_ctrl_c_at_the_end_of_a_stage_is_not_lost(tmp_path, root, values):
    class Progress:
        def begin(self, stage, total, unit):
            pass

        def update(self, done, note):
            pass

        def end(self):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        facebench.evaluate(
            "lfw", values, names=NAMES, root=root, replicates=1_000_000, progress=Progress()
        )


def test_list_names_its_kinds_and_h_is_help():
    from facebench.cli.app import app

    said = CliRunner().invoke(app, ["list"])
    assert said.exit_code == 0 and {"protocols", "crops"} <= set(said.stdout.splitlines())
    for words in (["-h"], ["eval", "-h"]):
        assert (
            CliRunner().invoke(app, words).stdout
            == CliRunner().invoke(app, [*words[:-1], "--help"]).stdout
        )


def test_a_loaded_result_is_that_of_the_folder(tmp_path, root, values):
    out = tmp_path / "run"
    result = facebench.evaluate("lfw", values, names=NAMES, root=root, out=out)
    loaded = facebench.load(out)
    assert json.dumps(loaded.to_dict()) == json.dumps(result.to_dict())
    assert repr(loaded) == repr(result) and loaded.notes == result.notes
    np.testing.assert_equal(loaded["view2"].roc(), result["view2"].roc())
    with pytest.raises(ValueError, match="copy the folder"):
        loaded.save(tmp_path / "copy")
    (out / "scores.h5").write_bytes(b"")
    with pytest.raises(facebench.Error, match="another SHA-256"):
        facebench.load(out)
