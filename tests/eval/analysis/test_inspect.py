"""Inspection of runs: worst pairs, influence of people, planted label errors, lists left out."""

import csv
import json

import facebench
import numpy as np
import pytest
from facebench import metrics
from facebench.protocols import EmbeddingSet
from planted_truths import IMAGES, PEOPLE, WrongLabels


def compared(result):
    """The names of each comparison's photographs."""
    names = result._raw.trials.names
    return [(names[a], names[b]) for a, b in result["pairs"].trials.comparisons]


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    return WrongLabels(tmp_path_factory.mktemp("planted"))


def test_planted_label_errors_are_found(planted, tmp_path):
    found = facebench.inspect(planted.run, far=0.01, suspects=tmp_path / "out.txt")
    inspected = [name for s in found.suspects[:20] for name in s["samples"]]
    recall = len(planted.wrong & set(inspected)) / len(planted.wrong)
    assert recall >= 0.9
    # The strongest are all wrong, and say why.
    top = [s for s in found.suspects if s["evidence"] > found.suspects[0]["evidence"] / 2]
    assert sum(set(s["samples"]) <= planted.wrong for s in top) >= 0.9 * len(top)
    assert all(0 < s["against"] <= s["comparisons"] for s in found.suspects)
    evidence = [s["evidence"] for s in found.suspects]
    assert evidence == sorted(evidence, reverse=True)

    # Without them the numbers are those of right labels.
    before = planted.evaluate(interval="none")
    after = planted.evaluate(interval="none", exclude=tmp_path / "out.txt")
    assert after["pairs"].comparisons < before["pairs"].comparisons
    assert after.eer.value < before.eer.value / 2
    assert any("left out by a list" in note for note in after.notes)


def test_right_labels_give_few_suspects(tmp_path):
    clean = WrongLabels(tmp_path, errors=0, noise=0.2)
    found = facebench.inspect(clean.run)
    assert sum(s["evidence"] > 1 for s in found.suspects) <= 1


def test_rounding_makes_no_suspect(tmp_path):
    unsure = WrongLabels(tmp_path, noise=1.2)  # many are suspected until nothing is left of them
    found = facebench.inspect(unsure.run, count=2000)
    assert len(found.suspects) > 20
    assert all(0 < s["against"] <= s["comparisons"] for s in found.suspects)
    assert found.suspects[-1]["evidence"] > 1e-9


def test_without_by_hand(planted, tmp_path):
    whole = planted.evaluate(interval="none")
    gone = planted.names[5]
    keep = [
        not any(name == gone or name.startswith("P03/") for name in pair)
        for pair in compared(whole)
    ]
    (tmp_path / "list.txt").write_text(f"# by hand\nsample\t{gone}\nperson\tP03\n")
    part = planted.evaluate(exclude=tmp_path / "list.txt")
    scores, labels = whole["pairs"].labelled_scores()
    assert part["pairs"].comparisons == sum(keep)
    assert part.auc.value == metrics.auc(scores[keep], labels[keep])
    part.save(tmp_path / "run")
    assert all(
        check["same"] is not False for check in facebench.reports.verify_scores(tmp_path / "run")
    )
    for text, message in (("person\tNobody\n", "names nobody"), ("group\tP03\n", "is neither")):
        (tmp_path / "list.txt").write_text(text)
        with pytest.raises(facebench.Error, match=message):
            planted.evaluate(exclude=tmp_path / "list.txt")


def test_worst_pairs_are_sorted_and_filtered(planted, tmp_path):
    whole = planted.evaluate(interval="none")["pairs"]
    scores, labels = whole.labelled_scores()
    found = facebench.inspect(planted.run, count=7)
    assert [p["score"] for p in found.genuine_pairs] == sorted(scores[labels == 1])[:7]
    assert [p["score"] for p in found.impostor_pairs] == sorted(scores[labels == 0])[::-1][:7]
    one = facebench.inspect(planted.run, person=["P07"])
    assert one.impostor_pairs
    for p in one.genuine_pairs + one.impostor_pairs:
        assert "P07" in (p["first_person"], p["second_person"])
    table = tmp_path / "people.csv"
    table.write_text("person,region\nP01,north\nP02,south\n")
    north = facebench.inspect(planted.run, attributes=table, group="north")
    assert {p["first_person"] for p in north.genuine_pairs} == {"P01"}
    table.write_text("photo,q\n" + "".join(f"{n},{i}\n" for i, n in enumerate(planted.names)))
    low = facebench.inspect(planted.run, qualities=table, quality_below=3)
    assert {p["first_person"] for p in low.genuine_pairs} == {"P00"}
    with pytest.raises(facebench.Error, match="no row is what"):
        facebench.inspect(planted.run, qualities=table, quality_below=-1)
    with pytest.raises(ValueError, match="give both"):
        facebench.inspect(planted.run, group="north")


@pytest.mark.parametrize("people", [["Nobody"], ["P07", "Nobody"], ["P7"]])
def test_a_person_whom_nobody_knows_is_refused(planted, people):
    wrong = people[-1]
    with pytest.raises(facebench.Error, match=rf"nobody, and no sample, is called '{wrong}'"):
        facebench.inspect(planted.run, person=people)


def test_a_group_without_a_comparison_is_refused(planted, tmp_path):
    table = tmp_path / "regions.csv"
    table.write_text("person,region\nstranger,north\n")
    with pytest.raises(facebench.Error, match="none of its comparisons has one of the 1 names"):
        facebench.inspect(planted.run, attributes=table, group="north")


def test_influence_equals_rates_without_each_person(planted):
    found = facebench.inspect(planted.run, far=0.02, count=PEOPLE)
    result = planted.evaluate(interval="none")
    scores, labels = result["pairs"].labelled_scores()
    people = [[name.split("/")[0] for name in pair] for pair in compared(result)]
    wrong = (scores >= found.threshold) != (labels == 1)
    moved = []
    for p in found.influence:
        rest = np.array([p["person"] not in pair for pair in people])
        assert p["comparisons"] == np.sum(~rest) and p["errors"] == np.sum(wrong[~rest])
        fmr, fnmr = (np.mean(wrong[rest & (labels == k)]) for k in (0, 1))
        assert (p["fmr"], p["fnmr"]) == pytest.approx((fmr, fnmr), abs=1e-15)
        moved.append(max(abs(fmr / found.fmr - 1), abs(fnmr / found.fnmr - 1)))
    assert moved == sorted(moved, reverse=True)


def test_disagreements_of_two_runs(planted, tmp_path):
    rng = np.random.default_rng(2)
    noisy = planted.values + 0.5 * rng.normal(size=planted.values.shape)
    other = planted.evaluate(tmp_path / "other", noisy)
    found = facebench.inspect(planted.run, against=other, far=0.02, count=10000)
    a = planted.evaluate(interval="none")["pairs"].scores >= found.threshold
    b = planted.evaluate(None, noisy, interval="none")["pairs"].scores >= found.other_threshold
    assert len(found.disagreements) == np.sum(a != b) > 0
    for p in found.disagreements:
        assert (p["score"] >= found.threshold) != (p["other"] >= found.other_threshold)
    short = tmp_path / "list.txt"
    short.write_text("person\tP03\n")
    part = planted.evaluate(tmp_path / "part", exclude=short)
    with pytest.raises(facebench.Error, match="the same comparisons"):
        facebench.inspect(planted.run, against=part)


def test_all_pairs_of_folders_are_inspected_like_a_list(tmp_path):
    """A folder of one's own is two tracks; the reports on comparisons take its verification."""
    names = [f"p{person}/{image}.jpg" for person in range(8) for image in range(1 + person % 4)]
    for name in names:
        (tmp_path / "own" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "own" / name).write_text(name)
    rng = np.random.default_rng(5)
    centre = {name.split("/")[0]: rng.normal(size=16) for name in names}
    values = np.array([centre[n.split("/")[0]] + rng.normal(size=16) for n in names])
    embeddings = EmbeddingSet(values.astype(np.float32), names)

    def run(name, **options):
        result = facebench.evaluate(
            "folders", embeddings=embeddings, root=tmp_path / "own", interval="none", **options
        )
        result.save(tmp_path / name)
        return tmp_path / name

    unit = values.astype(np.float32).astype(float)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    pairs = [(a, b) for a in range(len(names)) for b in range(a + 1, len(names))]
    score = {(names[a], names[b]): unit[a] @ unit[b] for a, b in pairs}
    same = {pair: pair[0].split("/")[0] == pair[1].split("/")[0] for pair in score}
    genuine = sorted((p for p in score if same[p]), key=score.get)
    impostor = sorted((p for p in score if not same[p]), key=score.get, reverse=True)

    found = facebench.inspect(run("all"), far=0.05, count=6)
    assert [(p["first"], p["second"]) for p in found.genuine_pairs] == genuine[:6]
    assert [(p["first"], p["second"]) for p in found.impostor_pairs] == impostor[:6]
    assert [p["score"] for p in found.impostor_pairs] == pytest.approx(
        [score[p] for p in impostor[:6]], abs=1e-7
    )
    assert (found.genuine, found.impostor) == (len(genuine), len(impostor))
    accepted = [p for p in impostor if score[p] >= found.threshold - 1e-7]
    assert len(accepted) == int(0.05 * len(impostor))

    with pytest.raises(facebench.Error, match="track 'identification' is not a verification"):
        facebench.inspect(tmp_path / "all", track="identification")
    few = run("few", stored_scores=len(pairs) - 1)
    with pytest.raises(facebench.Error, match=f"stored_scores of at least {len(pairs)}"):
        facebench.inspect(few)


def test_quality_of_a_run(planted, tmp_path):
    """From a CSV file, embeddings and arrays, against the metric on the same comparisons."""
    names = planted.names
    chance = np.random.default_rng(3).random(len(names))
    table = tmp_path / "quality.csv"
    with table.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["photo", "true", "bad", "note"])
        for i, n in enumerate(names):
            true = float(n not in planted.wrong) + chance[i] / 2
            # Names without extension are known, too; one photograph has no quality.
            rows.writerow([n.removesuffix(".jpg"), "" if i == 0 else true, -true, "x"])
        rows.writerow([names[1].removesuffix(".jpg"), 99, 99, "of two rows the first counts"])
    options = {"far": 0.02, "replicates": 20}
    found = facebench.quality(
        planted.run,
        csv=table,
        column=["true", "bad"],
        qualities={"chance": (names, chance)},
        reversed=["bad"],
        out=tmp_path / "page.html",
        **options,
    )
    whole = planted.evaluate(interval="none")
    scores, labels = whole["pairs"].labelled_scores()
    pairs = whole["pairs"].trials.comparisons
    order = [whole._raw.trials.names.index(n) for n in names]
    place = np.argsort(order)  # from a number of the trials to that of a name
    first, second = place[pairs[:, 0]], place[pairs[:, 1]]
    known = (first != 0) & (second != 0)
    assert found.without_quality == np.sum(~known) > 0
    true = np.array([float(n not in planted.wrong) for n in names]) + chance / 2
    wanted = metrics.error_versus_discard(
        scores[known],
        labels[known],
        first[known],
        second[known],
        np.arange(len(names)) // IMAGES,
        {"true": true, "chance": chance},
        metrics.DiscardOptions(**options),
    )
    assert found.fnmr == wanted.fnmr and found.threshold == wanted.threshold
    for name, measure in (("true", 0), ("bad", 0), ("chance", 1)):
        for a, b in zip(found[name]["areas"], wanted.measures[measure].areas, strict=True):
            assert (a["value"], a["gain"]) == pytest.approx((b.value, b.gain))
    assert found["true"]["areas"][1]["gain"] > 0.5 > found["chance"]["areas"][1]["gain"]
    assert 'class="plot discard"' in (tmp_path / "page.html").read_text()
    with pytest.raises(facebench.Error, match=r"quality\.csv.*note"):
        facebench.quality(planted.run, csv=table, **options)
    with pytest.raises(facebench.Error, match="colour"):
        facebench.quality(planted.run, csv=table, column=["colour"], **options)
    with pytest.raises(ValueError, match="no quality 'x'"):
        facebench.quality(planted.run, csv=table, column=["bad"], reversed=["x"], **options)
    with pytest.raises(facebench.Error, match="no comparison has all qualities"):
        facebench.quality(planted.run, qualities={"q": (["nobody"], [1.0])}, **options)

    from facebench.io import write_embeddings

    file = tmp_path / "embeddings.h5"
    write_embeddings(file, EmbeddingSet(np.float32(planted.values), names))
    found = facebench.quality(
        planted.run, embeddings=file, measure=["norm"], embedding_column=3, **options
    )
    assert [m["name"] for m in found.measures] == ["norm", "embedding 3"]
    unit = planted.values / np.linalg.norm(planted.values, axis=1, keepdims=True)
    write_embeddings(file, EmbeddingSet(np.float32(unit), names))
    with pytest.raises(facebench.Error, match="the same length"):
        facebench.quality(planted.run, embeddings=file, measure=["norm"], **options)


def test_measures_of_samples_by_definition(tmp_path):
    from facebench import datasets
    from scipy.ndimage import laplace

    faces = tmp_path / "faces"
    few = datasets.SyntheticOptions(people=20, images=2, size=64)
    datasets.write_synthetic_dataset(few, faces)
    datasets.pack_dataset(datasets.read_dataset("lfw", faces), tmp_path / "pack.h5")
    pack = datasets.Pack(tmp_path / "pack.h5")
    grey = pack.images[5] @ np.array([0.299, 0.587, 0.114])
    inside = laplace(grey)[1:-1, 1:-1]
    assert datasets.measure_samples(pack, "sharpness")[5] == pytest.approx(inside.var())
    # A pack without a detector has no boxes and no landmarks.
    assert np.isnan(datasets.measure_samples(pack, "eye_distance")).all()
    with pytest.raises(ValueError, match="did you mean 'sharpness'"):
        datasets.measure_samples(pack, "sharpnes")


def test_pages_and_sheets_show_the_crops(tmp_path):
    from facebench import datasets, images

    faces = tmp_path / "faces"
    few = datasets.SyntheticOptions(people=40, images=2, size=48, pairs_per_fold=4)
    datasets.write_synthetic_dataset(few, faces)
    run = tmp_path / "run"

    def colours(batch):
        return batch[:, ::16, ::16].reshape(len(batch), -1)

    facebench.run("lfw", model=colours, root=faces, detector="none", replicates=20, out=run)
    page, sheet = tmp_path / "worst.html", tmp_path / "worst.png"
    found = facebench.inspect(run, count=3, far=0.1, out=page, sheet=sheet)
    assert len(found.genuine_pairs) == 3
    text = page.read_text()
    assert text.count("data:image/jpeg") >= 12 and "no crop" not in text
    worst = found.genuine_pairs[0]
    assert f"{worst['score']:.4f}: {worst['first']} and {worst['second']}" in text
    picture = images.read(sheet)
    assert picture.shape == (2 * 116 + 8, 5 * 232, 3)
    # The first crop of the sheet is that of the worst genuine pair.
    pack = datasets.Pack(run / "pack.h5")
    first = pack.images[pack.names.index(found.genuine_pairs[0]["first"])]
    assert np.array_equal(picture[:112, :112], first)

    from click.testing import CliRunner
    from facebench.cli.app import app

    arguments = ["inspect", str(run), "--count", "2", "--json"]
    done = CliRunner().invoke(app, arguments)
    assert len(json.loads(done.stdout)["genuine_pairs"]) == 2

    # The same run by quality.
    arguments = ["quality", str(run), "--measure", "sharpness", "--far", "0.1", "--json"]
    done = CliRunner().invoke(app, [*arguments, "--replicates", "20"])
    assert [m["name"] for m in json.loads(done.stdout)["measures"]] == ["sharpness"]


def test_tables_of_names_are_refused_with_their_line(planted, tmp_path):
    table = tmp_path / "faces.csv"
    table.write_text("name,score\na.jpg,0.5\nb.jpg,good\n")
    with pytest.raises(facebench.Error, match=r"faces\.csv:3.*'good'"):
        facebench.inspect(planted.run, qualities=table, quality_below=0.6)
    with pytest.raises(facebench.Error, match=r"faces\.csv.*colour"):
        facebench.inspect(planted.run, attributes=table, column="colour", group="red")
