"""Studies: seeds' intervals against scipy, factors taken apart, training sets compared."""

import json

import numpy as np
import pytest

torch = pytest.importorskip("torch")
stats = pytest.importorskip("scipy.stats")

import facebench  # noqa: E402
from facebench import studies, timing, training  # noqa: E402
from facebench.studies import cases, dataset_study, factors, seeds  # noqa: E402

TINY = {
    "network.channel_multiplier": 0.125,
    "network.embedding": 16,
    "training.epochs": 2,
    "training.batch": 16,
}


@pytest.fixture(scope="module")
def tests(tmp_path_factory):
    return cases.synthetic_tests(tmp_path_factory.mktemp("tests"), ["lfw"], scale=0.2, threads=1)


@pytest.fixture(scope="module")
def pack(tmp_path_factory):
    return cases.synthetic_training(tmp_path_factory.mktemp("train") / "a.h5", 20, 2, threads=1)


# --- seeds ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("freedom", [*range(1, 12), 30, 101])
@pytest.mark.parametrize("p", [0.75, 0.95, 0.975, 0.9995])
def test_quantiles_are_scipys(p, freedom):
    assert seeds.student_quantile(p, freedom) == pytest.approx(stats.t.ppf(p, freedom), rel=1e-9)


def test_interval_is_scipys():
    values = [0.91, 0.93, 0.90, 0.955, 0.92]
    expected = stats.t.interval(0.95, 4, np.mean(values), stats.sem(values))
    assert studies.seed_interval(values) == pytest.approx(expected)
    assert studies.seed_interval([0.9]) is None


def test_an_interval_stays_where_the_metric_can_be():
    assert studies.seed_interval([0.99, 0.999, 0.9])[1] > 1
    found = seeds.seed_mean("auc", [0.99, 0.999, 0.9])
    assert found["interval"] == [studies.seed_interval([0.99, 0.999, 0.9])[0], 1.0]
    assert seeds.seed_mean("dprime", [2.0, 3.0])["interval"][1] > 3


def test_a_metric_that_a_run_lacks_is_named_not_compared():
    low, far = ("p", "t", "auc"), ("p", "t", "tar@far=0.001")
    whole, part = {"metrics": {low: {}, far: {}}}, {"metrics": {low: {}}}
    assert seeds.everywhere({"a": [whole, part], "b": [whole]}) == ([low], [far])


def test_paired_differences_are_scipys():
    a, b = [0.90, 0.92, 0.91, 0.94], [0.93, 0.94, 0.95, 0.95]
    found = studies.paired(a, b)
    low, high = stats.ttest_rel(b, a).confidence_interval()
    assert found["interval"] == pytest.approx([low, high])
    assert found["difference"] == pytest.approx(0.025)
    assert found["clear"] is bool(low > 0)
    # The same values in another order of the second: no longer the same seeds.
    assert studies.paired(a, b[::-1])["interval"] != pytest.approx([low, high])


# --- factors --------------------------------------------------------------------------------------


def test_factors_of_two_recipes():
    a = training.load_recipe("small4.softmax")
    b = training.load_recipe(
        "small4.softmax", mean=[100, 110, 120], initializer="msra", seed=9, momentum=0.5
    )
    assert factors.differing_factors(a, b) == {
        "pre-processing": ["input.mean"],
        "initialisation": ["training.initializer"],
        "optimizer": ["optimizer.momentum"],
    }
    swapped = factors._exchanged(a, b, ["training.initializer"])
    assert swapped.to_dict()["training"]["initializer"] == "msra"
    assert swapped.to_dict()["optimizer"] == a.to_dict()["optimizer"]
    assert a.to_dict()["training"]["initializer"] == "torch"


def runs_of(values):
    """Made-up runs: {variant: [value of each seed]}."""
    key = ("p", "t", "m")
    return {
        name: [{"loss": 1.0, "metrics": {key: {"value": v}}} for v in own]
        for name, own in values.items()
    }


def test_the_difference_is_attributed_by_hand():
    rows = factors.attribute(
        runs_of(
            {
                "before": [0.50, 0.60],
                "one": [0.60, 0.72],  # +0.10, +0.12
                "two": [0.55, 0.65],  # +0.05, +0.05
                "after": [0.67, 0.79],  # +0.17, +0.19: 0.02 more than the sum
            }
        ),
        ["one", "two"],
    )
    row = next(r for r in rows if r["metric"] == "m")
    assert row["difference"]["difference"] == pytest.approx(0.18)
    assert row["factors"]["one"]["difference"] == pytest.approx(0.11)
    assert row["factors"]["two"]["difference"] == pytest.approx(0.05)
    assert row["interaction"]["difference"] == pytest.approx(0.02)
    # Two seeds: 12.7 standard errors, 0.005 each.
    half = stats.t.ppf(0.975, 1) * np.std([0.10, 0.12], ddof=1) / np.sqrt(2)
    assert row["factors"]["one"]["interval"] == pytest.approx([0.11 - half, 0.11 + half])


def test_factors_end_to_end(pack, tests, tmp_path):
    result = studies.bench_factors(data=pack, tests=tests, settings=TINY, seeds=2, replicates=20)
    assert list(result["options"]["factors"]) == ["pre-processing", "initialisation", "last batch"]
    rows = {r["metric"]: r for r in result["rows"]}
    assert {"loss", "accuracy", "auc"} <= set(rows)
    folder = timing.write_bench(result, tmp_path / "run")
    text = (folder / "report.md").read_text()
    assert "Difference by factor" in text and "input.std" in text
    assert "<svg" in (folder / "report.html").read_text()
    json.loads((folder / "bench.json").read_text())


def test_recipes_that_do_not_differ_are_refused():
    with pytest.raises(ValueError, match="do not differ"):
        studies.bench_factors("small4.softmax", "small4.softmax")
    with pytest.raises(ValueError, match="two recipes"):
        studies.bench_factors("small4.softmax")


# --- training sets --------------------------------------------------------------------------------


def test_people_left_out_are_counted(pack):
    names = facebench.datasets.Pack(pack).label_names
    whole = dataset_study._without(pack, {})
    less = dataset_study._without(pack, {names[0]: "seen", names[3]: "seen"})
    assert whole["people"] == 20 and whole["removed"] == {}
    assert less["people"] == 18 and less["people_removed"] == 2
    assert less["images"] + less["images_removed"] == whole["images"]
    assert list(less["removed"]) == [names[0], names[3]]


def test_training_sets_end_to_end(pack, tests, tmp_path, monkeypatch):
    other = cases.synthetic_training(tmp_path / "b.h5", 20, 2, first_person=500, threads=1)
    names = facebench.datasets.Pack(pack).label_names
    monkeypatch.setattr(
        dataset_study._Removal,
        "overlap",
        lambda self, name, path, tests: dataset_study._Found(
            {names[1]: "x"} if name == "a" else {}
        ),
    )
    left_out = []

    def train(*args, exclude, **options):
        left_out.append(exclude and exclude.read_text())
        return cases.train_and_test(*args, exclude=exclude, **options)

    monkeypatch.setattr(dataset_study, "train_and_test", train)
    recipe = training.load_recipe("small4.softmax")
    for key, value in TINY.items():
        recipe.set(key, str(value))
    known = facebench.datasets.Pack(other)
    (tmp_path / "list.txt").write_text(
        f"person\t{known.label_names[2]}\nsample\t{known.names[0]}\n"
    )
    result = studies.bench_compare_datasets(
        {"a": pack, "b": other},
        recipe=recipe,
        tests=tests,
        seeds=2,
        replicates=20,
        exclude={"b": tmp_path / "list.txt"},
    )
    listed = f"person\t{known.label_names[2]}\nsample\t{known.names[0]}\n"
    assert left_out == [f"person\t{names[1]}\n", listed] * 2
    assert result["sets"]["a"]["people"] == 19 and result["sets"]["b"]["people"] == 19
    assert result["sets"]["b"]["images_removed"] == 3  # two of the person, and one
    assert result["sets"]["b"]["removed"] == {known.label_names[2]: "the caller's list"}
    row = next(r for r in result["rows"] if r["metric"] == "accuracy")
    assert set(row["sets"]) == {"a", "b"} and len(row["sets"]["a"]["values"]) == 2
    folder = timing.write_bench(result, tmp_path / "run")
    text = (folder / "report.md").read_text()
    assert "Training sets" in text and names[1] in text


def identifier_pack(tmp_path):
    """A pack whose people are called by numbers: Person_00000 is 0000045."""
    folder = tmp_path / "ids"
    options = facebench.datasets.SyntheticOptions(people=20, images=2, size=64, pairs_per_fold=2)
    facebench.datasets.write_synthetic_dataset(options, tmp_path / "faces")
    table = ["identifier,name"]
    for number, person in enumerate(sorted((tmp_path / "faces" / "images").iterdir())):
        if not person.is_dir():
            continue
        name = f"{number + 45:07d}"
        table.append(f"{name},{person.name}")
        (folder / name).mkdir(parents=True)
        for image in person.iterdir():
            (folder / name / image.name).write_bytes(image.read_bytes())
    facebench.pack("folder", folder, tmp_path / "ids.h5", detector="none")
    (tmp_path / "names.csv").write_text("\n".join(table) + "\n")
    return tmp_path / "ids.h5", tmp_path / "names.csv"


def removal(**how):
    empty = {"exclude": {}, "names": {}, "train_embeddings": {}, "test_embeddings": {}}
    return dataset_study._Removal(**(empty | {"audit": None} | how))


def test_identifiers_are_said_and_a_table_names_them(tests, tmp_path):
    numbered, table = identifier_pack(tmp_path)
    [test] = tests
    named = tmp_path / "test.h5"
    facebench.pack("lfw", tmp_path / "faces", named, detector="none")
    same = [cases.Test("lfw", test.root, named)]
    blind = removal().overlap("a", numbered, same)
    assert (blind.dropped, blind.identifiers, blind.compared_images) == ({}, 20, False)
    sets = {"a": {"identifiers": 20, "compared_images": False}}
    (note,) = timing.study_tables._identifier_notes(sets)
    assert "20 people are called by identifiers" in note and "--exclude" in note
    seen = removal(names={"a": table}, audit=tmp_path / "audit").overlap("a", numbered, same)
    assert len(seen.dropped) == 20 and seen.identifiers == 0
    assert len((tmp_path / "audit" / "a-lfw.csv").read_text().splitlines()) == 21
    assert timing.study_tables._identifier_notes({"a": {"identifiers": 0}}) == []
    # Embeddings find them without any name.
    for path in (numbered, named):
        facebench.embed(lambda b: b[:, ::4, ::4].reshape(len(b), -1), path, f"{path}.e.h5")
    found = removal(
        train_embeddings={"a": f"{numbered}.e.h5"}, test_embeddings={"lfw": f"{named}.e.h5"}
    ).overlap("a", numbered, same)
    assert len(found.dropped) == 20 and found.compared_images
    with pytest.raises(ValueError, match="names: there is no 'b' in this comparison"):
        studies.bench_compare_datasets({"a": numbered}, tests=same, names={"b": table})


def test_a_table_of_names_is_read_as_released(tmp_path):
    read = facebench.datasets.read_person_names
    meta = 'Class_ID, Name, Sample_Num, Flag, Gender\nn000001, "14th_Dalai_Lama", 424, 0,  m\n'
    (tmp_path / "vgg.csv").write_text(meta)
    assert read(tmp_path / "vgg.csv")["n000001"] == "14th_Dalai_Lama"
    (tmp_path / "ms.tsv").write_text('m.0107_f\t"Jane Doe"@en\nm.0107_f\t"Jeanne"@fr\n')
    assert read(tmp_path / "ms.tsv") == {"m.0107_f": "Jane Doe"}
    (tmp_path / "bad.csv").write_text("a,b\nc\n")
    with pytest.raises(facebench.Error, match=r"bad.csv:2: an identifier and a name"):
        read(tmp_path / "bad.csv")
    (tmp_path / "wide.csv").write_text("a,b\nc," + "x" * 200_000)
    with pytest.raises(facebench.Error, match=r"wide.csv:2: field larger than"):
        read(tmp_path / "wide.csv")
    (tmp_path / "latin.csv").write_bytes(b"a,b\nc,\xe9\n")
    with pytest.raises(facebench.Error, match=r"latin.csv:2: is not UTF-8"):
        read(tmp_path / "latin.csv")
    for wrong in (1, True):  # open() would take them for standard output, and close it
        with pytest.raises(TypeError, match=r"os\.PathLike"):
            read(wrong)


def test_an_unknown_protocol_is_wrong_use(tmp_path):
    with pytest.raises(ValueError, match="no synthetic data for protocol 'lwf'"):
        cases.synthetic_tests(tmp_path, ["lwf"])
