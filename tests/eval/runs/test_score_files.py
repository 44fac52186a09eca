"""Score files of other programs, which say themselves which scores are genuine: the numbers are
those that numpy computes of the two classes, by the definitions of the programs."""

import json
import struct

import facebench
import h5py
import numpy as np
import pytest
import score_tools as tools
from facebench import io, metrics, protocols
from facebench.cli.app import app
from click.testing import CliRunner


@pytest.fixture(scope="module")
def scored():
    return tools.comparisons()


@pytest.fixture(scope="module")
def classes(scored):
    return tools.classes(scored)


def bee(
    path,
    kind,
    entries,
    first="S2",
    order="<",
    target="unknown-gallery.lst",
    query="unknown-probe.lst",
):
    rows, columns = entries.shape
    head = f"{first}\n{target}\n{query}\nM{kind} {rows} {columns} ".encode()
    path.write_bytes(head + struct.pack(order + "I", 0x12345678) + b"\n" + entries.tobytes())
    return path


def matrix_of(scored):
    """float32 matrix and mask; queries are rows."""
    matrix = np.zeros((tools.PROBES, tools.PEOPLE), "f4")
    mask = np.full((tools.PROBES, tools.PEOPLE), 0x7F, "u1")
    for model, person, probe, score in scored:
        matrix[probe, model] = score
        mask[probe, model] = 0xFF if model == person else 0x7F
    return matrix, mask


def write_bee(folder, scored):
    matrix, mask = matrix_of(scored)
    return [bee(folder / "s.mtx", "F", matrix), bee(folder / "s.mask", "B", mask)]


def write_bee_distances(folder, scored):
    matrix, mask = matrix_of(scored)
    return [
        bee(folder / "d.mtx", "F", (-matrix).astype(">f4"), "D2", ">"),
        bee(folder / "d.mask", "B", mask),
    ]


def write_two_arrays(folder, scored):
    paths = [folder / "genuine.npy", folder / "impostor.npy"]
    for path, scores in zip(paths, tools.classes(scored), strict=True):
        np.save(path, scores)
    return paths


def write_two_vectors(folder, scored):
    paths = [folder / "g.h5", folder / "i.h5"]
    for path, scores in zip(paths, tools.classes(scored), strict=True):
        with h5py.File(path, "w") as file:
            file["similarity"] = scores
    return paths


def write_scores_and_labels(folder, scored):
    np.save(folder / "scores.npy", np.array([s for *_, s in scored]))
    np.save(folder / "labels.npy", np.array([m == p for m, p, *_ in scored]))
    return [folder / "scores.npy", folder / "labels.npy"]


def write_decimal_commas(folder, scored):
    lines = [f"{s}".replace(".", ",") + f";{int(m == p)}" for m, p, _, s in scored]
    return [tools.write(folder / "commas.csv", ["score;label", *lines])]


WRITERS = {
    "genuine_impostor": tools.write_genuine_impostor,
    "genuine_impostor (numpy)": write_two_arrays,
    "genuine_impostor (HDF5)": write_two_vectors,
    "labelled_vectors": write_scores_and_labels,
    "labelled (decimal commas)": write_decimal_commas,
    "columns": tools.write_columns,
    "labelled": tools.write_labelled,
    "bob4": tools.write_bob4,
    "bob5": tools.write_bob5,
    "hdf5": tools.write_hdf5,
    "bee": write_bee,
    "bee (distances)": write_bee_distances,
}
NAMED = {"bob4", "bob5", "bee", "bee (distances)"}


def auc(genuine, impostor):
    """As bob and pyeer have it: the trapezoids under the curve, equal scores one step."""
    wins = (genuine[:, None] > impostor).sum() + 0.5 * (genuine[:, None] == impostor).sum()
    return wins / (len(genuine) * len(impostor))


def tar(genuine, impostor, far):
    allowed = [t for t in np.unique(np.r_[genuine, impostor]) if np.mean(impostor >= t) <= far]
    return np.mean(genuine >= allowed[0]) if allowed else 0


def eer_range(genuine, impostor):
    """pyeer's and FVC2000's: the rates at the threshold where they cross and the one before."""
    thresholds = np.unique(np.r_[genuine, impostor])
    fmr = np.array([np.mean(impostor >= t) for t in thresholds])
    fnmr = np.array([np.mean(genuine < t) for t in thresholds])
    last = int(np.argmax(fmr <= fnmr))
    rates = [r[k] for r in (fmr, fnmr) for k in (last - 1, last)]
    return min(rates), max(rates)


def test_every_form_is_written():
    forms = {form["name"] for form in protocols.score_forms()}
    assert forms == {name.partition(" ")[0] for name in WRITERS}


@pytest.mark.parametrize("form", WRITERS)
def test_numbers_are_those_of_the_classes(form, scored, classes, tmp_path):
    genuine, impostor = classes
    files = WRITERS[form](tmp_path, scored)
    run = tmp_path / "run"
    result = protocols.evaluate("pairs", scores=files, replicates=60, out=run)
    (track,) = result.tracks.values()
    assert (track.genuine, track.impostor) == (len(genuine), len(impostor))
    assert track["auc"].value == pytest.approx(auc(genuine, impostor), abs=1e-7)
    for far in (0.1, 0.01):
        assert track[f"tar@far={far}"].value == pytest.approx(
            tar(genuine, impostor, far), abs=1e-12
        )
    low, high = eer_range(genuine, impostor)
    assert low <= track["eer"].value <= high
    people = {tools.PEOPLE} if form in NAMED else {len(genuine) + 2 * len(impostor)}
    assert {track.identities} == people
    nameless = [note for note in result.notes if "name no people" in note]
    assert len(nameless) == (form not in NAMED)
    assert track["auc"].low < track["auc"].value < track["auc"].high
    # The form by its name, and the run again.
    again = protocols.evaluate("pairs", scores=files, form=form.partition(" ")[0], interval="none")
    assert again.tracks["scores"]["auc"].value == track["auc"].value
    assert facebench.verify(run).same
    inputs = json.loads((run / "run.json").read_text())["content"]["inputs"]
    assert len(inputs) == len(files)


# Which TAR at a FAR each tool prints, by the name of our convention.
RULES = {"genuine_impostor": "ijb", "columns": "exact", "hdf5": "exact"}


@pytest.mark.parametrize("form", json.loads(tools.PRINTED.read_text()))
def test_numbers_are_those_that_the_tools_print(form, scored, classes, tmp_path):
    """tests/support/score_tools.py has the tools, and how they were asked."""
    printed = json.loads(tools.PRINTED.read_text())[form]
    files = WRITERS[form](tmp_path, scored)
    how = {"interval": "none", "convention": RULES.get(form, "bob")}
    track = protocols.evaluate("pairs", scores=files, **how).tracks["scores"]
    for far, fnmr in printed["fnmr_at_fmr"].items():
        assert track[f"tar@far={float(far):g}"].value == pytest.approx(1 - fnmr, abs=1e-12)
    # bob's curve has 2,000 points.
    rough = "cllr" in printed
    assert track["auc"].value == pytest.approx(printed["auc"], abs=1e-4 if rough else 1e-12)
    genuine, impostor = classes
    labels = np.r_[np.ones(len(genuine), np.uint8), np.zeros(len(impostor), np.uint8)]
    comparisons = metrics.Comparisons(np.r_[genuine, impostor], labels)
    for name in ("cllr", "min_cllr"):
        if name in printed:
            assert getattr(metrics, name)(comparisons) == pytest.approx(printed[name], abs=1e-9)
    if "eer" in printed:  # the middle of two rates, where ours is where their lines cross
        assert printed["eer"] == (printed["eer_low"] + printed["eer_high"]) / 2
        low, high = eer_range(*classes)
        assert low <= printed["eer"] <= high and low <= track["eer"].value <= high
    if "sha256" in printed:
        assert [io.sha256_file(path) for path in files] == printed["sha256"]


def test_decimal_commas_are_counted_and_never_guessed(tmp_path):
    """The right answer by hand: of 3 genuine and 2 impostor scores, 5 of 6 are in order."""
    rows = [("0,9", 1), ("0,85", 1), ("-0,1", 0), ("0,30", 1), ("0,4", 0)]

    def table(name, separator, cells):
        lines = [f"score{separator}label", *(f"{s}{separator}{y}" for s, y in cells)]
        return tools.write(tmp_path / name, lines)

    for separator in ";\t":
        result = protocols.evaluate("pairs", scores=table("a.csv", separator, rows))
        assert result.tracks["scores"]["auc"].value == pytest.approx(5 / 6)
        assert "5 numbers have a decimal comma: 0,5 is read as 0.5." in result.notes
    mixed = table("mixed.csv", ";", [*rows, ("0.5", 1)])
    with pytest.raises(facebench.Error, match=r"mixed\.csv:2: the score must be a number"):
        protocols.evaluate("pairs", scores=mixed)
    # 1,234 may be one thousand.
    unclear = table("unclear.csv", ";", [("1,234", 1), ("2,345", 1), ("1,111", 0)])
    with pytest.raises(facebench.Error, match="can separate thousands"):
        protocols.evaluate("pairs", scores=unclear)
    assert (
        protocols.evaluate("pairs", scores=table("clear.csv", ";", [("1,234", 1), ("0,345", 0)]))
        .tracks["scores"]["auc"]
        .value
        == 1
    )


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (np.arange(3.0), np.zeros((2, 2)), r"has the shape \(2, 2\)"),
        (np.array([0.5, np.nan]), np.arange(3.0), r"score \[1\] is nan"),
        (np.array(["a"]), np.arange(3.0), "holds '<U1', not plain numbers"),
        (np.arange(3, dtype=">f8"), np.arange(3.0), "holds '>f8', not plain numbers"),
        (np.array([{}], object), np.arange(3.0), r"holds '\|O', not plain numbers"),
    ],
)
def test_vectors_that_are_no_scores(first, second, message, tmp_path):
    np.save(tmp_path / "genuine.npy", first)
    np.save(tmp_path / "impostor.npy", second)
    with pytest.raises(facebench.Error, match=message):
        protocols.evaluate("pairs", scores=[tmp_path / "genuine.npy", tmp_path / "impostor.npy"])


def test_a_vector_that_is_cut_short(tmp_path):
    np.save(tmp_path / "genuine.npy", np.arange(9.0))
    np.save(tmp_path / "impostor.npy", np.arange(9.0))
    whole = (tmp_path / "genuine.npy").read_bytes()
    files = [tmp_path / "genuine.npy", tmp_path / "impostor.npy"]
    for kept in (0, 5, 9, 11, 40, 128, 150, len(whole) - 1):
        files[0].write_bytes(whole[:kept])
        with pytest.raises(facebench.Error, match=r"genuine\.npy"):
            protocols.evaluate("pairs", scores=files)


def test_a_matrix_says_what_it_holds(scored, classes, tmp_path):
    near = protocols.evaluate("pairs", scores=write_bee(tmp_path, scored))
    far = protocols.evaluate("pairs", scores=write_bee_distances(tmp_path, scored))
    assert "s.mtx says that it holds similarities (S2)." in near.notes
    assert "d.mtx says that it holds distances (D2): their signs were turned." in far.notes
    assert near.to_dict()["tracks"] == far.to_dict()["tracks"]
    with pytest.raises(ValueError, match="leave distance out"):
        protocols.evaluate("pairs", scores=[tmp_path / "d.mtx", tmp_path / "d.mask"], distance=True)


def test_a_matrix_of_one_set_with_itself(scored, tmp_path):
    """Queries that are the targets, not compared with themselves, are not other people."""
    random = np.random.default_rng(2)
    person = np.arange(20) % 5
    mask = np.where(person[:, None] == person, 0xFF, 0x7F).astype("u1")
    np.fill_diagonal(mask, 0)
    matrix = random.normal(size=(20, 20)).astype("f4")
    same = {"target": "a.xml", "query": "a.xml"}
    files = [
        bee(tmp_path / "a.mtx", "F", matrix, **same),
        bee(tmp_path / "a.mask", "B", mask, **same),
    ]
    track = protocols.evaluate("pairs", scores=files, interval="none").tracks["scores"]
    assert (track.identities, track.comparisons) == (5, 380)
    assert track["auc"].value == pytest.approx(
        auc(matrix[mask == 0xFF], matrix[mask == 0x7F]), abs=1e-12
    )


def search_matrix(folder, **sets):
    """20 people in the gallery; 25 probes, five of whom are of one person who is not in it."""
    person = np.r_[np.arange(20), np.full(5, 99)]
    mask = np.where(person[:, None] == np.arange(20), 0xFF, 0x7F).astype("u1")
    matrix = (np.random.default_rng(3).normal(size=(25, 20)) + 2 * (mask == 0xFF)).astype("f4")
    return [
        bee(folder / "s.mtx", "F", matrix, **sets),
        bee(folder / "s.mask", "B", mask, **sets),
    ]


def test_people_whom_a_mask_does_not_know_are_said(tmp_path, scored):
    """Each of the five is counted as a person, and nothing tells that they are one."""
    result = protocols.evaluate("pairs", scores=search_matrix(tmp_path), interval="none")
    [said] = [note for note in result.notes if "match no target" in note]
    assert said.startswith("5 of 25 queries match no target, and 0 of 20 targets no query")
    assert "there may be fewer people than are counted" in said
    whole = protocols.evaluate("pairs", scores=write_bee(tmp_path, scored), interval="none")
    assert not any("match no target" in note for note in whole.notes)


def test_two_sets_of_one_name_are_not_one_set(tmp_path):
    """A query was joined with the target of its row, whom the mask says to be another person."""
    sets = {"target": "unknown", "query": "unknown"}
    mask = np.where(np.arange(20)[:, None] == (np.arange(20) + 1) % 20, 0xFF, 0x7F).astype("u1")
    matrix = np.random.default_rng(4).normal(size=(20, 20)).astype("f4")
    files = [
        bee(tmp_path / "s.mtx", "F", matrix, **sets),
        bee(tmp_path / "s.mask", "B", mask, **sets),
    ]
    result = protocols.evaluate("pairs", scores=files, interval="none")
    assert result.tracks["scores"].identities == 20
    assert not any("genuine entries connect" in note for note in result.notes)


def test_distances_of_a_text_are_turned(classes, tmp_path):
    genuine, impostor = classes
    files = [tools.write(tmp_path / "g", -genuine), tools.write(tmp_path / "i", -impostor)]
    result = protocols.evaluate("pairs", scores=files, distance=True, interval="none")
    assert result["auc"].value == pytest.approx(auc(genuine, impostor), abs=1e-12)


def test_intervals_of_nameless_scores_are_those_of_comparisons(tmp_path):
    """As long as DeLong's for independent comparisons, give or take the draws."""
    random = np.random.default_rng(4)
    genuine, impostor = random.normal(1, 1, 400), random.normal(0, 1, 600)
    files = [tools.write(tmp_path / "g.txt", genuine), tools.write(tmp_path / "i.txt", impostor)]
    area = protocols.evaluate("pairs", scores=files, replicates=2000)["auc"]
    above = genuine[:, None] > impostor
    variance = above.mean(1).var(ddof=1) / 400 + above.mean(0).var(ddof=1) / 600
    assert (area.high - area.low) == pytest.approx(2 * 1.96 * variance**0.5, rel=0.1)


def test_the_command_line(scored, classes, tmp_path):
    genuine, impostor = tools.write_genuine_impostor(tmp_path, scored)
    words = ["eval", "pairs", "--scores", genuine, impostor, "--interval", "none"]
    done = CliRunner().invoke(app, [*map(str, words), "--out", str(tmp_path / "r"), "--json"])
    assert done.exit_code == 0, done.output
    track = json.loads(done.stdout)["tracks"]["scores"]
    assert track["metrics"]["auc"]["value"] == pytest.approx(auc(*classes), abs=1e-12)
    listed = CliRunner().invoke(app, ["list", "score-forms"])
    assert "bob5" in listed.stdout


def test_what_has_no_form_is_refused(scored, classes, tmp_path):
    genuine, impostor = tools.write_genuine_impostor(tmp_path, scored)
    matrix, mask = write_bee(tmp_path, scored)
    short = tmp_path / "short.mtx"
    short.write_bytes(matrix.read_bytes()[:-1])
    odd = tmp_path / "odd.mask"
    odd.write_bytes(mask.read_bytes()[:-1] + b"\x05")
    both = tools.write(tmp_path / "both.txt", ["1 0", "0 1"])
    word = tools.write(tmp_path / "word.txt", ["0.5", "x"])
    ragged = tools.write(tmp_path / "ragged.txt", ["a a p 1", "a b 1"])
    one = tools.write(tmp_path / "one.txt", ["1 0.5", "1 0.75"])
    three = tools.write(tmp_path / "three.txt", ["a b c"])
    empty = tools.write(tmp_path / "empty.txt", [])
    for files, message in (
        ([short, mask], "short.mtx.* bytes follow"),
        ([matrix, odd], "odd.mask: row 66, column 39 is 5"),
        ([mask, matrix], "MF is expected"),
        ([genuine, word], "word.txt:2: the score must be a number"),
        ([both], "both columns can be the labels"),
        ([ragged], "ragged.txt:2: has 3 columns, 4 are expected"),
        ([one], "one.txt: 2 genuine and 0 impostor scores"),
        ([three], "three.txt:1: is of none of the forms"),
        ([empty], "empty.txt: holds no scores"),
        ([genuine, empty], r"\d+ genuine and 0 impostor"),
    ):
        with pytest.raises(facebench.Error, match=message):
            protocols.evaluate("pairs", scores=files)
    for files, more, message in (
        ([matrix], {}, "1 score files; the form 'bee' has 2"),
        ([genuine, impostor, genuine], {}, "3 score files"),
        ([genuine, impostor], {"form": "bob"}, "did you mean 'bob4'"),
        ([genuine, impostor], {"root": tmp_path}, "go without root="),
        ([genuine, impostor], {"exclude": tmp_path / "x"}, "go with the lists"),
    ):
        with pytest.raises(ValueError, match=message):
            protocols.evaluate("pairs", scores=files, **more)
