"""Which scores are genuine: as names of files say it, and labels in a table in any of its forms."""

import facebench
import numpy as np
import pytest
from facebench import protocols

GENUINE = np.round(np.random.default_rng(1).normal(0.6, 0.2, 20), 4)
IMPOSTOR = np.round(np.random.default_rng(2).normal(0.1, 0.15, 200), 4)


def auc_of(genuine, impostor):
    """By counting: how often a genuine score is the higher one, half where both are the same."""
    difference = np.subtract.outer(np.asarray(genuine), np.asarray(impostor))
    return ((difference > 0) + 0.5 * (difference == 0)).mean()


AUC = auc_of(GENUINE, IMPOSTOR)
TAR = np.mean(np.sort(IMPOSTOR)[-3] < GENUINE)  # at a FAR of 1 %: two of 200 may pass


def write(path, numbers):
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(map(str, numbers)) + "\n")
    return path


def evaluated(files, **how):
    return protocols.evaluate("pairs", scores=files, interval="none", **how)


@pytest.mark.parametrize(
    ("genuine", "impostor"),
    [
        ("genuine.txt", "impostor.txt"),
        ("pos.txt", "neg.txt"),
        ("same.txt", "diff.txt"),
        ("lfw_positive_scores.txt", "lfw_negative_scores.txt"),
        ("scoresGenuine.txt", "scoresImposter.txt"),
        ("match-1.txt", "non-match-1.txt"),
        ("MATED.txt", "NONMATED.txt"),
        ("target.txt", "nontarget.txt"),
        ("intra.csv", "inter.csv"),
        ("clients/scores.txt", "impostors/scores.txt"),
    ],
)
@pytest.mark.parametrize("turned", [False, True])
def test_names_of_files_say_which_scores_are_genuine(genuine, impostor, turned, tmp_path):
    files = [write(tmp_path / genuine, GENUINE), write(tmp_path / impostor, IMPOSTOR)]
    result = evaluated(files[::-1] if turned else files)
    [track] = result.tracks.values()
    assert (track.genuine, track.impostor) == (20, 200)
    assert result["auc"].value == pytest.approx(AUC, abs=1e-12)
    assert result["tar@far=0.01"].value == pytest.approx(TAR, abs=1e-12)
    names = [genuine, impostor]  # with the folder, where the files are called alike
    counts = f"20 genuine scores are from {names[0]} and 200 impostor scores from {names[1]}"
    [said] = [note for note in result.notes if note.startswith(counts)]
    assert ("their names say it" in said) == turned


def test_names_that_do_not_say_it_leave_it_to_the_order(tmp_path):
    for first, second in (("a.txt", "b.txt"), ("same_1.txt", "same_2.txt"), ("matcher_a", "x")):
        files = [write(tmp_path / first, GENUINE), write(tmp_path / second, IMPOSTOR)]
        result = evaluated(files)
        assert result["auc"].value == pytest.approx(AUC, abs=1e-12)
        assert any("given first is taken as genuine" in note for note in result.notes)
        wrong = evaluated(files[::-1])  # either cause is named, and what tells them apart
        assert wrong["auc"].value == pytest.approx(1 - AUC, abs=1e-12)
        assert "--distance" in wrong.warnings[0] and "files are exchanged" in wrong.warnings[0]
        assert f"genuine scores were read from {second}" in wrong.warnings[0]


def test_folders_that_say_it_are_named(tmp_path):
    files = []
    for folder, scores in (("impostor", IMPOSTOR), ("genuine", GENUINE)):
        (tmp_path / folder).mkdir()
        files.append(write(tmp_path / folder / "scores.txt", scores))
    result = evaluated(files)
    assert result["auc"].value == pytest.approx(AUC, abs=1e-12)
    assert any("are from genuine/scores.txt and" in note for note in result.notes)


def test_a_name_that_contradicts_the_order(tmp_path):
    scores = write(tmp_path / "scores.txt", GENUINE)
    impostor = write(tmp_path / "impostor.txt", IMPOSTOR)
    assert evaluated([scores, impostor])["auc"].value == pytest.approx(AUC, abs=1e-12)
    with pytest.raises(facebench.Error, match="impostor by its name, but given as the genuine"):
        evaluated([impostor, scores])
    genuine = write(tmp_path / "genuine.txt", GENUINE)
    with pytest.raises(facebench.Error, match="genuine by its name, but given as the impostor"):
        evaluated([write(tmp_path / "other.txt", IMPOSTOR), genuine])


ROWS = [  # of three people: 3 genuine comparisons, one of which is low, and 4 impostor ones
    ("a/1.jpg", "a/2.jpg", 0.9, 1),
    ("a/1.jpg", "b/1.jpg", 0.1, 0),
    ("b/1.jpg", "b/2.jpg", 0.8, 1),
    ("a/2.jpg", "b/2.jpg", 0.3, 0),
    ("c/1.jpg", "c/2.jpg", 0.2, 1),
    ("c/1.jpg", "a/1.jpg", 0.15, 0),
    ("c/2.jpg", "b/1.jpg", 0.05, 0),
]
EXPECTED = auc_of([0.9, 0.8, 0.2], [0.1, 0.3, 0.15, 0.05])


def lines(path, rows, separator=","):
    path.write_text("".join(separator.join(map(str, row)) + "\n" for row in rows))
    return path


def has_the_rows(result, people=3):
    assert result["auc"].value == pytest.approx(EXPECTED, abs=1e-12)
    [track] = result.tracks.values()
    assert (track.genuine, track.impostor, track.identities) == (3, 4, people)


@pytest.mark.parametrize("separator", [",", ";", "\t", " "])
@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 0, 1, 2), (2, 3, 0, 1), (3, 2, 0, 1)])
@pytest.mark.parametrize(
    "header",
    [
        None,
        ("img1", "img2", "score", "label"),
        ("First", "Second", "Similarity", "Same"),
        ("path_a", "path_b", "cosine", "is_match"),
        ("enroll", "test", "sim", "target"),
        ("file1", "file2", "cos_sim", "y_true"),
        ("links", "rechts", "netz", "wahr"),
    ],
)
def test_a_table_in_any_order_of_its_columns(separator, order, header, tmp_path):
    rows = ROWS if header is None else [header, *ROWS]
    path = lines(tmp_path / "t.csv", [[row[k] for k in order] for row in rows], separator)
    result = evaluated(path)
    has_the_rows(result)
    [said] = [note for note in result.notes if note.startswith("t.csv: the label is")]
    if header:
        assert f"column '{header[3]}'" in said and f"the score column '{header[2]}'" in said
    else:
        assert f"the label is column {order.index(3) + 1}," in said


@pytest.mark.parametrize(
    ("genuine", "impostor"),
    [("1", "0"), ("1", "-1"), ("+1", "-1"), ("1.0", "0.0"), ("True", "False"), ("TRUE", "FALSE"),
     ("same", "diff"), ("genuine", "impostor"), ("target", "nontarget"), ("Match", "Non-Match"),
     ("yes", "no"), ("mated", "nonmated"), ("T", "F")],
)  # fmt: skip
@pytest.mark.parametrize("header", [False, True])
def test_words_for_labels(genuine, impostor, header, tmp_path):
    rows = [(a, b, s, genuine if g else impostor) for a, b, s, g in ROWS]
    if header:
        rows.insert(0, ("img1", "img2", "score", "label"))
    has_the_rows(evaluated(lines(tmp_path / "t.csv", rows)))
    pairs = [(row[3], row[2]) for row in rows]  # without names every comparison is of its own
    has_the_rows(evaluated(lines(tmp_path / "p.txt", pairs, " ")), people=3 + 2 * 4)


def test_columns_under_other_headers_are_named(tmp_path):
    rows = [("links", "rechts", "ergebnis", "wahr"), *ROWS]
    path = lines(tmp_path / "t.csv", [(*row, "note") for row in rows])
    said = r"is of none of the forms .*labelled \(a label.*--columns first,second,score,label"
    with pytest.raises(facebench.Error, match=said):
        evaluated(path)
    has_the_rows(evaluated(path, columns=["links", "rechts", "ergebnis", "wahr"]))
    named = lines(tmp_path / "n.csv", [("links", "rechts", "ergebnis", "label"), *ROWS])
    has_the_rows(evaluated(named, columns=["links", "rechts", "ergebnis"]))
    for asked, said in (
        (["links", "rechts", "x"], "has no column 'x'"),
        (["links", "rechts"], "2 columns are named"),
        (["links", "rechts", "ergebnis", "links"], "'a/1.jpg' is neither genuine nor impostor"),
    ):
        with pytest.raises(facebench.Error, match=said):
            evaluated(named, columns=asked)
    with pytest.raises(ValueError, match="columns go with the form 'labelled'"):
        evaluated(named, columns=["links", "rechts", "ergebnis"], form="bob4")


def test_one_class_alone_and_three_labels_are_refused(tmp_path):
    ones = [row for row in ROWS if row[3] == 1]
    header = ("img1", "img2", "score", "label")
    with pytest.raises(facebench.Error, match="3 genuine and 0 impostor scores, read as 'lab"):
        evaluated(lines(tmp_path / "t.csv", [header, *ones]))
    with pytest.raises(facebench.Error, match="0 genuine and 4 impostor scores, read as 'bob4'"):
        evaluated(lines(tmp_path / "b", [("x", "y", f"p{k}", 0.5 + k) for k in range(4)], " "))
    three = [(0.5, 1), (0.25, 0), (0.125, -1)]
    with pytest.raises(facebench.Error, match="labels are both 0 and -1"):
        evaluated(lines(tmp_path / "l.txt", three, " "))
    odd = [header, *ROWS, ("a/1.jpg", "c/2.jpg", 0.5, "perhaps")]
    with pytest.raises(facebench.Error, match=r"o\.csv:9: the label 'perhaps' is neither"):
        evaluated(lines(tmp_path / "o.csv", odd))
    with pytest.raises(facebench.Error, match=r"n\.csv:3: the score must be a number, got 'nan'"):
        evaluated(lines(tmp_path / "n.csv", [header, ROWS[0], ("a", "b", "nan", 0), *ROWS]))


def test_columns_beside_those_that_are_known(tmp_path):
    """An index of pandas, and what else a table holds; a distance is read where no score is."""
    header = ("", "fold", "img1", "img2", "score", "distance", "label")
    rows = [(k, k % 2, a, b, s, 1 - s, g) for k, (a, b, s, g) in enumerate(ROWS)]
    has_the_rows(evaluated(lines(tmp_path / "t.csv", [header, *rows])))
    far = [header[2:4] + header[5:], *[row[2:4] + row[5:] for row in rows]]
    path = lines(tmp_path / "d.csv", far)
    has_the_rows(evaluated(path, distance=True))
    has_the_rows(evaluated(path))  # its header says that it holds distances


def test_bobs_four_columns_stay_bobs(tmp_path):
    """And are said; of people called 0 and 1 both readings are possible, so one is asked for."""
    rows = [("p1", "p1", "i1", 0.9), ("p1", "p2", "i2", 0.1), ("p2", "p2", "i2", 0.8)]
    result = evaluated(lines(tmp_path / "s", rows, " "))
    assert any(note.startswith("s is read as 'bob4': claimed identity") for note in result.notes)
    people = [(1, 1, "i1", 0.9), (1, 0, "i2", 0.1), (0, 0, "i2", 0.8), (0, 1, "i1", 0.2)]
    path = lines(tmp_path / "n", people, " ")
    assert evaluated(path, form="bob4")["auc"].value == 1
    labels = [(1, 1, "i1", 0.9), (0, 1, "i2", 0.1)]
    with pytest.raises(facebench.Error, match=r"Say which: form labelled or bob4|both columns"):
        evaluated(lines(tmp_path / "l", labels, " "), form="labelled")


def test_names_under_other_headers_are_not_passed_over(tmp_path):
    """With lists, scores were taken in the order of the lists, whatever names stood beside them."""
    header = ("first", "second", "label")
    lines(tmp_path / "pairs.csv", [header, *[(a, b, g) for a, b, _, g in ROWS]])
    turned = [("image1", "image2", "score"), *[(a, b, s) for a, b, s, _ in ROWS[::-1]]]
    path = lines(tmp_path / "s.csv", turned)
    has_the_rows(evaluated(path, root=tmp_path))
    lines(path, [("links", "rechts", "score"), *turned[1:]])
    with pytest.raises(
        facebench.Error, match=r"names under links and rechts.*--columns links,rech"
    ):
        evaluated(path, root=tmp_path)
    has_the_rows(evaluated(path, root=tmp_path, columns=["links", "rechts", "score"]))


@pytest.mark.parametrize("header", ["prediction,score", "score,Accepted", "a,b,pred,score"])
def test_what_a_system_decided_is_no_label(header, tmp_path):
    """The system's own threshold would make every score right."""
    rows = []
    for k in range(8):
        row = {"a": f"p{k}/0.jpg", "b": f"p{k % 3}/1.jpg", "score": k / 8 + 0.01}
        decided = {name: int(k >= 4) for name in ("prediction", "Accepted", "pred")}
        rows.append(",".join(str((row | decided)[name]) for name in header.split(",")))
    (tmp_path / "s.csv").write_text("\n".join([header, *rows]) + "\n")
    with pytest.raises(facebench.Error, match=r"is what a system decided.*'label'"):
        evaluated(tmp_path / "s.csv")
