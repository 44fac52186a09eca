"""Names of lists and of embeddings: one name in two Unicode forms, and names that are missing."""

import csv
import json
import unicodedata

import facebench
import numpy as np
import pytest
from facebench import io, protocols

PEOPLE = [  # in NFC, as the lists have them
    "José",
    "Ngô Đình Diệm",  # two marks on a letter
    "김연아",  # syllables of Hangul
    "Ångström",
    "Ёлкин",
    "Ιωάννης",
    "Işık",  # a dotless i, which is not an i with something left away
]
NAMES = [f"{person}/{k}.jpg" for person in PEOPLE for k in range(3)]
VALUES = np.random.default_rng(11).normal(size=(len(NAMES), 8)).astype(np.float32)
VALUES += np.repeat(np.random.default_rng(12).normal(size=(len(PEOPLE), 8)), 3, axis=0)


def nfd(name):
    return unicodedata.normalize("NFD", name)


def write_pairs(folder, names=NAMES, form=str):
    rows = [(a, b) for k, a in enumerate(names) for b in names[k + 1 :]]
    with open(folder / "pairs.csv", "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(("first", "second", "label"))
        out.writerows((form(a), form(b), int(a.split("/")[0] == b.split("/")[0])) for a, b in rows)
    return folder


def evaluated(root, names=NAMES, values=VALUES, **how):
    return facebench.evaluate("pairs", values, names=names, root=root, interval="none", **how)


@pytest.fixture
def root(tmp_path):
    return write_pairs(tmp_path)


def auc_of(values, names):
    unit = values / np.linalg.norm(values, axis=1, keepdims=True)
    scores = unit.astype(float) @ unit.T.astype(float)
    first, second = np.triu_indices(len(names), 1)
    people = np.array([name.split("/")[0] for name in names])
    genuine = people[first] == people[second]
    scores = scores[first, second]
    return (scores[genuine][:, None] > scores[~genuine]).mean()


def test_one_name_in_two_forms(root):
    assert any(nfd(name) != name for name in NAMES)
    expected = auc_of(VALUES, NAMES)
    for names in (NAMES, [nfd(n) for n in NAMES], [n.replace("Å", "\u212b") for n in NAMES]):
        result = evaluated(root, names)
        assert result.auc.value == pytest.approx(expected, abs=1e-6)
        assert len(result.tracks["pairs"].failed) == 0


def test_lists_in_the_other_form(tmp_path):
    write_pairs(tmp_path, form=nfd)
    assert evaluated(tmp_path).auc.value == pytest.approx(auc_of(VALUES, NAMES), abs=1e-6)


def test_written_names_are_as_they_were_given(root, tmp_path):
    """Only comparing is by NFC."""
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "e.h5"
    io.write_embeddings(path, io.EmbeddingSet(VALUES, [nfd(n) for n in NAMES]))
    with h5py.File(path) as file:
        assert [n.decode() for n in file["name"][:]] == [nfd(n) for n in NAMES]
    run = tmp_path / "run"
    evaluated(root, [nfd(n) for n in NAMES], out=run)
    with h5py.File(run / "scores.h5") as file:
        found = []
        file.visititems(lambda name, item: found.append(name) if "name" in name else None)
        texts = {t.decode() for n in found for t in np.ravel(file[n][()]) if isinstance(t, bytes)}
    assert set(NAMES) <= texts


@pytest.mark.parametrize("match", ["exact", "path_stem", "suffix"])
def test_every_way_of_matching_compares_so(root, match):
    names = [nfd(n) for n in NAMES]
    if match == "path_stem":
        names = [n.replace(".jpg", ".png") for n in names]
    elif match == "suffix":
        names = [f"/data/{n}" for n in names]
    expected = auc_of(VALUES, NAMES)
    assert evaluated(root, names, match=match).auc.value == pytest.approx(expected, abs=1e-6)


def test_other_letters_are_other_names(root):
    names = [n.replace("Işık", "Isik") for n in NAMES]
    with pytest.raises(facebench.Error, match=r"3 of the 21 names .*missing.*Işık/0\.jpg"):
        evaluated(root, names)
    upper = [n.replace("José", "JOSÉ") for n in NAMES]
    with pytest.raises(facebench.Error, match=r"3 of the 21 names in the lists are missing"):
        evaluated(root, upper)


def test_a_set_that_has_a_name_in_both_forms(tmp_path):
    with pytest.raises(facebench.Error, match=r"row 1: .*there twice, in two Unicode forms"):
        io.write_embeddings(
            tmp_path / "e.h5", io.EmbeddingSet(np.eye(2), ["José/0.jpg", nfd("José/0.jpg")])
        )
    with pytest.raises(facebench.Error, match=r"row 1: the name 'a' is there twice$"):
        io.write_embeddings(tmp_path / "e.h5", io.EmbeddingSet(np.eye(2), ["a", "a"]))


def test_a_list_that_has_a_name_in_both_forms(tmp_path):
    """It is one sample of one person, and said once, with the number of places."""
    names = ["José/0.jpg", "José/1.jpg", "Ann/0.jpg", "Ann/1.jpg"]
    rows = [(0, 1, 1), (2, 3, 1), (0, 2, 0), (1, 3, 0)]
    text = "".join(
        f"{nfd(names[a]) if k else names[a]},{names[b]},{label}\n"
        for k, (a, b, label) in enumerate(rows)
    )
    (tmp_path / "pairs.csv").write_text("first,second,label\n" + text)
    trials = protocols.read_trials("pairs", tmp_path)
    assert (len(trials.names), len(trials.identity_names)) == (4, 2)
    result = evaluated(tmp_path, names, VALUES[:4])
    [said] = [note for note in result.notes if "Unicode form" in note]
    assert said.startswith("In 2 places a name is written in another Unicode form")


def test_scores_by_names_of_the_other_form(root, tmp_path):
    protocols.write_pairs("pairs", tmp_path / "s.csv", root)
    with open(tmp_path / "s.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))[1:]
    same = [int(a.split("/")[0] == b.split("/")[0]) for a, b in rows]
    with open(tmp_path / "s.csv", "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(("first", "second", "score"))
        out.writerows((nfd(a), b, s) for (a, b), s in zip(rows[::-1], same[::-1], strict=True))
    result = facebench.evaluate("pairs", scores=tmp_path / "s.csv", root=root, interval="none")
    assert result.auc.value == 1


def test_people_who_are_left_out_and_files_on_disk(root, tmp_path):
    (tmp_path / "out.txt").write_text(f"person\t{nfd('José')}\n")
    # People are named after one of their samples in a list that does not name them.
    (tmp_path / "some.txt").write_text("".join(f"sample\t{nfd(n)}\n" for n in NAMES[:3]))
    left = evaluated(root, exclude=tmp_path / "some.txt")
    assert left.tracks["pairs"].samples == len(NAMES) - 3
    for name in NAMES:
        path = tmp_path / "images" / nfd(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")
    report = protocols.check_data("pairs", tmp_path)
    assert report.missing == 0


# --- names that are missing ---------------------------------------------------------------------

PLAIN = [f"p{k // 3}/{k % 3}.jpg" for k in range(len(NAMES))]


@pytest.fixture
def plain(tmp_path):
    return write_pairs(tmp_path, PLAIN)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda n: n.replace(".jpg", ".png"), r"By match=path_stem 4 of them are found"),
        (lambda n: f"/data/set/{n}", r"By match=suffix 4 of them are found"),
        (lambda n: n.replace(".jpg", ".JPG"), r"By match=path_stem 4 of them are found"),
        (lambda n: n.replace("p0", "P0").replace("p1", "P1"), r"other capitals, such as P0/0\.jpg"),
        (lambda n: n.replace("/", "-"), r"Names are paths relative to the image folder"),
    ],
)
def test_missing_names_are_an_error_with_their_likely_cause(plain, change, said):
    names = [change(n) if k < 4 else n for k, n in enumerate(PLAIN)]
    with pytest.raises(
        facebench.Error, match="4 of the 21 names in the lists are missing.*" + said
    ):
        evaluated(plain, names)


def test_folders_that_the_list_has_in_front(tmp_path):
    root = write_pairs(tmp_path, [f"images/{n}" for n in PLAIN])
    with pytest.raises(facebench.Error, match=r"21 of them are there without.*put images/ before"):
        evaluated(root, PLAIN)


def test_backslashes_are_read_as_slashes_and_said(plain):
    result = evaluated(plain, [n.replace("/", "\\") for n in PLAIN])
    assert result.auc.value == pytest.approx(auc_of(VALUES, PLAIN), abs=1e-6)
    assert "21 names of the embeddings hold '\\', which is read as '/'." in result.notes


def test_missing_names_are_counted_apart_where_they_are_allowed(plain, tmp_path):
    status = np.zeros(19, np.uint8)
    status[0] = 1  # no face: a failed enrolment, which has a row
    values = VALUES[:19] * (status == 0)[:, None]
    with pytest.raises(facebench.Error, match=r"2 of the 21 .*p6/1\.jpg, p6/2\.jpg.*allow_missing"):
        evaluated(plain, PLAIN[:19], values, status=status)
    result = evaluated(plain, PLAIN[:19], values, status=status, allow_missing=True)
    assert [status for _, status in result.tracks["pairs"].failed].count("missing") == 2
    [said] = [note for note in result.notes if "missing from the 19 embeddings" in note]
    assert said.startswith("2 of the 21 names") and "as was asked for" in said
    assert "3 failed enrolments (14.29 %), 2 of them missing" in repr(result)
    with pytest.raises(ValueError, match="allow_missing is said of embeddings"):
        facebench.evaluate("pairs", scores=[0.5], root=plain, allow_missing=True)
    # A failed enrolment alone is none that is missing.
    whole = evaluated(plain, PLAIN, VALUES * (np.arange(21) > 0)[:, None], status=np.arange(21) < 1)
    assert "1 failed enrolments (4.76 %)," not in repr(whole) and "of them missing" not in repr(
        whole
    )


def test_the_command_line_asks_for_it(plain, tmp_path):
    from click.testing import CliRunner
    from facebench.cli.app import app

    io.write_embeddings(tmp_path / "e.h5", io.EmbeddingSet(VALUES[:19], PLAIN[:19]))
    words = ["eval", "pairs", "--root", plain, "--embeddings", tmp_path / "e.h5", "--interval"]
    words = [*map(str, words), "none", "--out", str(tmp_path / "run"), "--json"]
    refused = CliRunner().invoke(app, words)
    assert refused.exit_code != 0 and "--allow-missing" in refused.output
    done = CliRunner().invoke(app, [*words, "--allow-missing"])
    assert done.exit_code == 0, done.output
    content = json.loads((tmp_path / "run/run.json").read_text())["content"]
    assert [f["status"] for f in content["tracks"]["pairs"]["failed"]] == ["missing", "missing"]
    assert "allow_missing" not in content["options"]  # the status of the samples says it
    assert facebench.verify(tmp_path / "run").same


UNSEEN = {
    "./ in front": "./{}",
    "././/": ".//./{}",
    "backslashes": None,
    "a byte order mark": "\ufeff{}",
    "a zero-width space": "{}\u200b",
    "a word joiner": "\u2060{}",
    "a soft hyphen": "{}\u00ad",
    "a mark of direction": "\u200e{}",
    "blanks around": "  {} ",
    "a no-break space behind": "{}\u00a0",
}


@pytest.mark.parametrize("form", UNSEEN.values(), ids=UNSEEN)
def test_names_that_look_the_same_are_the_same(root, tmp_path, form):
    changed = [n.replace("/", "\\") if form is None else form.format(n) for n in NAMES]
    expected = auc_of(VALUES, NAMES)
    assert evaluated(root, changed).auc.value == pytest.approx(expected, abs=1e-6)
    # The same in a table of scores beside the lists.
    unit = VALUES / np.linalg.norm(VALUES, axis=1, keepdims=True)
    with open(tmp_path / "scores.csv", "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(("first", "second", "score"))
        for a in range(len(NAMES)):
            for b in range(a):
                out.writerow((changed[a], changed[b], float(unit[a] @ unit[b])))
    scored = facebench.evaluate("pairs", scores=tmp_path / "scores.csv", root=root, interval="none")
    assert scored.auc.value == pytest.approx(expected, abs=1e-6)


def test_a_no_break_space_within_a_name_is_a_space(tmp_path):
    names = [n.replace("/", " x/") for n in NAMES]
    write_pairs(tmp_path, names)
    result = evaluated(tmp_path, [n.replace(" ", "\u00a0") for n in names])
    assert result.auc.value == pytest.approx(auc_of(VALUES, NAMES), abs=1e-6)


def test_two_names_that_look_the_same_are_refused(root):
    names, values = [*NAMES, "./" + NAMES[0]], np.concatenate([VALUES, VALUES[:1]])
    with pytest.raises(facebench.Error, match=r"is ambiguous: rows 0 .* and 21 "):
        evaluated(root, names, values)
