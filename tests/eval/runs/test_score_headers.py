"""What headers of a table of scores say: distances, labels of impostors; and faults of cells."""

import subprocess
import sys

import facebench
import numpy as np
import pytest
from facebench import protocols

RNG = np.random.default_rng(3)
SCORES = np.concatenate([RNG.normal(0.6, 0.2, 20), RNG.normal(0.2, 0.2, 80)]).round(4)
LABELS = np.repeat([1, 0], [20, 80])
NAMES = [(f"p{k % 20}/1.jpg", f"p{(k + k // 20) % 20}/2.jpg") for k in range(100)]


def auc_of(scores, labels):
    """By counting: how often a genuine score is the higher one, half where both are the same."""
    difference = np.subtract.outer(scores[labels == 1], scores[labels == 0])
    return ((difference > 0) + 0.5 * (difference == 0)).mean()


AUC = auc_of(SCORES, LABELS)


def write(path, score="score", label="label", scores=SCORES, labels=LABELS, names=True, sep=","):
    headers = [*(("img1", "img2") if names else ()), score, label]
    rows = [
        [*(pair if names else ()), str(s), str(v)]
        for pair, s, v in zip(NAMES, scores, labels, strict=True)
    ]
    path.write_text("\n".join(sep.join(row) for row in [headers, *rows]) + "\n", encoding="utf-8")
    return path


def evaluated(path, **how):
    return protocols.evaluate("pairs", scores=path, interval="none", **how)


@pytest.mark.parametrize(
    "header",
    ["distance", "Distance", "dist", "cosine_distance", "L2", "euclidean", "l2_distance",
     "face distance", "dissimilarity", "angle"],
)  # fmt: skip
@pytest.mark.parametrize("names", [True, False])
def test_scores_that_are_called_distances_are_turned(tmp_path, header, names):
    path = write(tmp_path / "s.csv", score=header, scores=1 - SCORES, names=names)
    result = evaluated(path)
    assert result["auc"].value == pytest.approx(AUC, abs=1e-12)
    said = f"By its header column '{header}' holds distances: their signs were turned."
    assert sum(said in note for note in result.notes) == 1
    again = evaluated(path, distance=True)  # said twice is not turned twice
    assert again["auc"].value == pytest.approx(AUC, abs=1e-12)


def test_turned_distances_that_were_none_are_told_what_to_do(tmp_path):
    path = write(tmp_path / "s.csv", score="neg_distance", scores=SCORES - 1)
    (warning,) = evaluated(path).warnings
    assert "leave --distance out, or call their column score" in warning


def test_distances_beside_lists_are_turned(tmp_path):
    (tmp_path / "pairs.csv").write_text(
        "first,second,label\n"
        + "\n".join(f"{a},{b},{v}" for (a, b), v in zip(NAMES, LABELS, strict=True))
        + "\n"
    )
    table = tmp_path / "scores.csv"
    rows = [f"{a},{b},{s}" for (a, b), s in zip(NAMES, 1 - SCORES, strict=True)]
    table.write_text("first,second,distance\n" + "\n".join(rows) + "\n")
    for how in ({}, {"distance": True}, {"columns": ["first", "second", "distance"]}):
        result = evaluated(table, root=tmp_path, **how)
        assert result["auc"].value == pytest.approx(AUC, abs=1e-12)
        assert sum("signs were turned" in note for note in result.notes) == 1


def test_two_columns_and_two_files_of_distances(tmp_path):
    genuine, impostor = 1 - SCORES[:20], 1 - SCORES[20:]
    (tmp_path / "s.csv").write_text(
        "genuine_distance,impostor_distance\n"
        + "\n".join(f"{genuine[k] if k < 20 else ''},{impostor[k]}" for k in range(80))
    )
    files = [tmp_path / "genuine_distances.txt", tmp_path / "impostor_distances.txt"]
    for file, scores in zip(files, (genuine, impostor), strict=True):
        file.write_text("\n".join(map(str, scores)) + "\n")
    for given in (tmp_path / "s.csv", files):
        result = evaluated(given)
        assert result["auc"].value == pytest.approx(AUC, abs=1e-12)
        assert any("hold distances: their signs were turned" in note for note in result.notes)


def test_a_score_beside_a_distance_is_read(tmp_path):
    path = tmp_path / "s.csv"
    rows = [f"{s},{1 - s},{v}" for s, v in zip(SCORES, LABELS, strict=True)]
    path.write_text("score,distance,label\n" + "\n".join(rows) + "\n")
    assert evaluated(path)["auc"].value == pytest.approx(AUC, abs=1e-12)


@pytest.mark.parametrize(
    "header",
    ["impostor", "is_impostor", "imposter", "different", "is_different", "Different", "nonmatch",
     "non_mated", "mismatch", "not_same", "diff", "negative"],
)  # fmt: skip
@pytest.mark.parametrize("values", [(1, 0), (True, False), (1, -1), ("yes", "no")])
def test_labels_under_a_header_of_impostors(tmp_path, header, values):
    labels = [values[0] if v == 0 else values[1] for v in LABELS]
    result = evaluated(write(tmp_path / "s.csv", label=header, labels=labels))
    [track] = result.tracks.values()
    assert (track.genuine, track.impostor) == (20, 80)
    assert result["auc"].value == pytest.approx(AUC, abs=1e-12)
    said = f"By its header column '{header}' says what is an impostor comparison: 0 is genuine."
    assert sum(said in note for note in result.notes) == 1


def test_words_under_a_header_of_impostors_say_it_themselves(tmp_path):
    labels = ["genuine" if v else "impostor" for v in LABELS]
    result = evaluated(write(tmp_path / "s.csv", label="impostor", labels=labels))
    assert result["auc"].value == pytest.approx(AUC, abs=1e-12)
    assert not any("says what is an impostor" in note for note in result.notes)


@pytest.mark.parametrize("header", ["label", "same", "genuine", "match", "mated", "target", "y"])
def test_labels_under_a_header_of_genuine_ones(tmp_path, header):
    result = evaluated(write(tmp_path / "s.csv", label=header))
    assert result["auc"].value == pytest.approx(AUC, abs=1e-12)


def test_blanks_behind_separators(tmp_path):
    result = evaluated(write(tmp_path / "s.csv", sep=", "))
    assert result["auc"].value == pytest.approx(AUC, abs=1e-12)


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ("0,5", "0.5 for 0,5 and 1234 for 1,234"),
        ("1,234.5", "0.5 for 0,5 and 1234 for 1,234"),
        ("61.9%", "Write it without the sign"),
        ("", "Leave out rows without a score"),
        ("nan", "Every comparison needs a finite number"),
        ("inf", "Every comparison needs a finite number"),
        ("high", "Every comparison needs a finite number"),
    ],
)
def test_a_score_that_is_no_number_is_named_with_what_to_do(tmp_path, cell, says):
    scores = [*SCORES[:4], cell, *SCORES[5:]]
    with pytest.raises(facebench.Error, match=rf"s\.csv:6: the score must be .*{says}"):
        evaluated(write(tmp_path / "s.csv", scores=scores, sep=";"))


def test_a_header_that_comes_twice_is_named(tmp_path):
    path = write(tmp_path / "s.csv")
    path.write_text(path.read_text() + path.read_text())
    with pytest.raises(facebench.Error, match=r"s\.csv:102: the line of headers is there once"):
        evaluated(path)


def test_a_pair_with_two_scores_is_said(tmp_path):
    path = write(tmp_path / "s.csv")
    # Once in the other order, once the same again.
    (a, b), text = NAMES[0], path.read_text()
    path.write_text(f"{text}./{b},{a},-0.5,1\n{a},{b},{SCORES[0]},1\n")
    notes = evaluated(path).notes
    said = f"1 row gives a pair another score than a row before, the first {a} and {b} in the lines"
    assert sum(note.startswith(f"{said} 2 and 102") for note in notes) == 1


def test_the_terminal_says_what_headers_mean(tmp_path):
    path = write(tmp_path / "s.csv", score="dist", label="is_different", scores=1 - SCORES,
                 labels=1 - LABELS)  # fmt: skip
    command = ["-m", "facebench", "eval", "pairs", "--scores", path, "--interval", "none"]
    shown = subprocess.run(
        [sys.executable, *command, "--out", tmp_path / "run"], capture_output=True, text=True
    )
    assert shown.returncode == 0, shown.stderr
    assert f"auc = {100 * AUC:.2f} %" in shown.stdout
    assert "holds distances: their signs were turned" in shown.stdout
    assert "says what is an impostor comparison" in shown.stdout


@pytest.mark.parametrize(
    ("kind", "listed"),
    [("npz", True), ("parquet", True), ("npz", False), ("npy", False), ("parquet", False)],
)
def test_scores_in_other_forms_are_refused_with_what_to_do(tmp_path, kind, listed):
    path = tmp_path / f"s.{kind}"
    if kind == "npz":
        np.savez(path, genuine=SCORES[:20], impostor=SCORES[20:])
    elif kind == "npy":
        np.save(path, SCORES)
    else:
        pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        parquet.write_table(pyarrow.table({"score": SCORES, "label": LABELS}), path)
    (tmp_path / "pairs.csv").write_text("first,second,label\na,b,1\na,c,0\n")
    with pytest.raises(facebench.Error, match=r"is (a|one) \S+ file\. Tables of scores are text"):
        evaluated(path, **({"root": tmp_path} if listed else {}))


def test_an_array_file_beside_lists_is_in_their_order(tmp_path):
    (tmp_path / "pairs.csv").write_text("first,second,label\na,b,1\na,c,0\na,d,0\n")
    np.save(tmp_path / "s.npy", np.array([0.5, 0.9, 0.1]))
    result = evaluated(tmp_path / "s.npy", root=tmp_path)
    assert result["auc"].value == 0.5  # of two impostor scores one is higher
    np.save(tmp_path / "s.npy", np.array([0.5, 0.9]))
    with pytest.raises(facebench.Error, match="2 scores"):
        evaluated(tmp_path / "s.npy", root=tmp_path)


def test_a_frame_of_scores_is_refused_with_what_to_do():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match=r"frame\.to_csv"):
        evaluated(pandas.DataFrame({"score": SCORES, "label": LABELS}))
