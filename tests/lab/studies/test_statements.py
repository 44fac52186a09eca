"""What the cells of a study state: against records, over seeds, of what ran, of times."""

import csv
import json

import facebench
import pytest
from facebench import datasets, io, studies
from facebench.lab.studies import texts as said
from facebench.lab.studies.conditions import check_statements

pytest.importorskip("torch")

TINY = {
    "network.channel_multiplier": 0.125,
    "network.embedding": 16,
    "training.epochs": 1,
    "training.batch": 20,
}


def one_table(rows, columns, **more):
    return {"version": 1, "id": "mine", "tables": [{"id": "t", "rows": rows, "columns": columns}],
            **more}  # fmt: skip


def read(rows, columns=({"protocol": "lfw", "metric": "accuracy"},), **more):
    return studies.read_study(one_table(rows, list(columns), **more), "mine")


# --- statements -----------------------------------------------------------------------------------

ROW = {"name": "a", "recipe": "small4.softmax", "training_set": "web"}


@pytest.mark.parametrize(
    ("row", "states", "message"),
    [
        (ROW, {"framework": "caffe"}, "framework 'caffe', but is made with 'facebench'"),
        (ROW | {"engine": "pytorch"}, {"framework": "tensorflow"}, "with 'pytorch'"),
        (ROW | {"engine": "keras-jax"}, {"framework": "tensorflow"}, "with 'keras-jax'"),
        (ROW, {"loss": "arcface"}, "loss 'arcface', but is made with 'softmax'"),
        (ROW, {"network": "vgg16"}, "network 'vgg16', but is made with 'small4'"),
        (ROW, {"training": "vgg16.caffe"}, "with 'small4.softmax'"),
        (ROW | {"settings": TINY}, {"training": "small4.softmax"}, "'small4.softmax, changed'"),
        (ROW, {"batch_size": "50"}, "batch_size '50', but is made with '64'"),
        (ROW, {"optimizer": "adam"}, "optimizer 'adam', but is made with 'sgd'"),
        (ROW, {"training_set": "webface"}, "training_set 'webface', but is made with 'web'"),
        (ROW, {"test_people": "removed"}, "test_people 'removed', but is made with 'kept'"),
        (ROW | {"without_test_people": True}, {"test_people": "kept"}, "with 'removed'"),
        (ROW | {"device": "cpu"}, {"device": "Titan Xp"}, "device 'Titan Xp', but is made with"),
        ({"name": "s", "network": "vgg16", "batch": 16}, {"batch_size": "32"}, "with '16'"),
        ({"name": "s", "recipe": "lenet5.caffe", "images": "mnist"}, {"dataset": "cifar10"},
         "dataset 'cifar10', but is made with 'mnist'"),
        (ROW, {"framwork": "caffe"}, "conditions: no 'framwork'; did you mean 'framework'"),
    ],
)  # fmt: skip
def test_a_statement_against_what_a_row_makes_is_refused(row, states, message):
    with pytest.raises(facebench.Error, match=message):
        check_statements(read([row | {"conditions": states}]))


@pytest.mark.parametrize(
    ("row", "states"),
    [
        (ROW, {"framework": "facebench", "loss": "softmax", "batch_size": "64"}),
        (ROW | {"engine": "keras-tensorflow-tape"}, {"framework": "tensorflow"}),
        (ROW | {"device": "cuda"}, {"device": "Titan Xp"}),
        ({"name": "theirs", "model": "m.onnx"}, {"framework": "caffe", "loss": "arcface"}),
    ],
)
def test_a_statement_that_is_true_or_not_known_is_taken(row, states):
    check_statements(read([row | {"conditions": states}]))


def test_a_training_set_has_the_name_that_papers_call_it_by():
    row = ROW | {"training_set": "web_train", "conditions": {"training_set": "webface"}}
    check_statements(read([row], data={"web_train": {"published": "webface"}}))


def test_built_in_studies_state_nothing_that_is_recorded():
    for name in studies.study_names():
        study = studies.load_study(name)
        check_statements(study)
        assert not any("conditions" in row for table in study.tables for row in table.rows)


def test_wang_and_guo_remove_people_in_section_4_4_alone():
    removes = {t.id: {bool(r.get("without_test_people")) for r in t.rows}
               for t in studies.load_study("wang-guo-2019").tables}  # fmt: skip
    assert {name for name, of_table in removes.items() if True in of_table} == {
        "table-14", "table-15", "table-16"}  # fmt: skip
    for table in facebench.claims.load_published("wang-guo-2019").tables:
        stated = {row["conditions"].get("test_people") for row in table.rows}
        expected = {"table-14": "removed", "table-15": "removed"}
        kept = ("table-3", "table-4", "table-5", "table-10")
        assert stated == {expected.get(table.id, "kept" if table.id in kept else None)}


@pytest.fixture(scope="module")
def faces(tmp_path_factory):
    folder = tmp_path_factory.mktemp("statements")
    few = datasets.SyntheticOptions(protocol="lfw", people=40, images=3, pairs_per_fold=8, size=64)
    datasets.write_synthetic_dataset(few, folder / "faces", 1)
    facebench.pack("lfw", folder / "faces", folder / "web.h5", crop_size=32)
    return folder


def test_who_trained_stands_in_the_model_file_and_in_the_cell(faces, tmp_path):
    """A Caffe recipe that is trained here imitates Caffe; what PyTorch trained says so."""
    rows = [{"name": n, "recipe": "small4_quick.caffe", "training_set": "webface", "engine": n,
             "settings": TINY, "printed": "ResNet-50"}
            for n in ("facebench", "pytorch")]  # fmt: skip
    described = one_table(rows, [{"protocol": "lfw", "track": "view2", "metric": "accuracy"}],
                          publication="wang-guo-2019")  # fmt: skip
    described["tables"][0]["printed"] = "table-4"
    asked, train = studies.read_study(described, "mine"), {"webface": faces / "web.h5"}
    found = facebench.study(asked, train=train, test={"lfw": faces / "faces"}, out=tmp_path)
    ours, theirs = found["t"]["rows"]
    assert "framework: caffe is imitated by facebench" in ours["differs"]
    assert "framework is pytorch, not caffe" in theirs["differs"]
    assert "same" not in {said.compared(row) for row in (ours, theirs)}
    records = {}
    for path in tmp_path.glob("jobs/train/*/train/model.safetensors"):
        record = json.loads(io.read_safetensors(path)[1]["training"])
        records[record["engine"]] = record
    assert set(records) == {"facebench", "pytorch"}
    assert records["pytorch"]["recipe"] == "small4_quick.caffe"
    assert records["pytorch"]["device"] == "cpu" and records["pytorch"]["versions"]["torch"]
    assert records["pytorch"]["training_set"] == records["facebench"]["training_set"]
    texts = [(tmp_path / name).read_text() for name in ("study.csv", "study.md")]
    assert all("caffe is imitated by facebench" in text for text in texts)


def test_a_statement_against_the_record_of_a_given_model_is_refused(faces, tmp_path):
    recipe = facebench.training.load_recipe("small4.softmax", **{
        k.replace(".", "__"): v for k, v in TINY.items()})  # fmt: skip
    facebench.training.train(recipe, faces / "web.h5", tmp_path / "t")
    model = str(tmp_path / "t/model.safetensors")
    rows = [{"name": "theirs", "model": model, "conditions": {"framework": "caffe"}},
            {"name": "ours", "model": model}]  # fmt: skip
    found = facebench.study(read(rows), test={"lfw": faces / "faces"}, out=tmp_path / "s")
    refused, taken = (row["cells"][0] for row in found["t"]["rows"])
    assert "refused: framework 'caffe' is stated, but" in refused["why"]
    assert "was made with 'facebench'" in refused["why"] and "value" not in refused
    assert [f["row"] for f in found.failures] == ["theirs"] and taken["value"] > 0


# --- seeds ----------------------------------------------------------------------------------------


def test_both_intervals_and_every_seed(faces, tmp_path):
    rows = [{"recipe": f"small4.{loss}", "training_set": "webface", "settings": TINY, "seeds": 2}
            for loss in ("softmax", "cosface")]  # fmt: skip
    rows.append(rows[0] | {"name": "one seed", "seeds": 1})
    columns = [{"protocol": "lfw", "metric": m} for m in ("accuracy", "auc")]
    found = facebench.study(read(rows, columns), train={"webface": faces / "web.h5"},
                            test={"lfw": faces / "faces"}, out=tmp_path)  # fmt: skip
    names = [row["name"] for row in found["t"]["rows"]]
    assert names == ["small4.softmax", "small4.cosface", "one seed"]
    lines = list(csv.DictReader((tmp_path / "study.csv").read_text().splitlines()))
    numbers = [line for line in lines if not line["less"]]
    keys = [tuple(n[k] for k in ("table", "row", "column", "track", "metric", "seed",
                                 "interval_over")) for n in numbers]  # fmt: skip
    assert len(keys) == len(set(keys))
    first = found["t"]["rows"][0]["cells"][1]
    auc = {(n["seed"], n["interval_over"]): n for n in numbers
           if (n["row"], n["metric"]) == ("small4.softmax", "auc")}  # fmt: skip
    assert set(auc) == {("mean", "people"), ("mean", "seeds"), ("0", "people"), ("1", "people")}
    runs = [json.loads((tmp_path / run / "metrics.json").read_text()) for run in first["runs"]]
    of_runs = [run["tracks"]["view2"]["metrics"]["auc"] for run in runs]
    for seed, one in enumerate(of_runs):
        assert float(auc[str(seed), "people"]["value"]) == pytest.approx(one["value"])
        assert float(auc[str(seed), "people"]["low"]) == pytest.approx(one["interval"][0])
    values = [one["value"] for one in of_runs]
    assert float(auc["mean", "people"]["value"]) == pytest.approx(sum(values) / 2)
    lows = [one["interval"][0] for one in of_runs]
    assert float(auc["mean", "people"]["low"]) == pytest.approx(sum(lows) / 2)
    low, high = studies.seed_interval(values, limits=(0, 1))
    assert first["seed_interval"] == pytest.approx([low, high])
    # Metrics that no column shows have a line of each run, too.
    eer = [n["seed"] for n in numbers if (n["row"], n["metric"]) == ("small4.softmax", "eer")]
    assert eer == ["0", "1"]
    # Differences are paired: by seed, or in the same draws of people; then the page says what those
    # do not hold.
    parts = {p["row"]: p for p in found["t"]["differences"][1]["parts"]}
    others = found["t"]["rows"][1]["cells"][1]["values"]
    expected = studies.paired(first["values"], others, limits=(-1, 1))
    assert parts["small4.cosface"]["interval"] == pytest.approx(expected["interval"])
    assert parts["small4.cosface"]["interval_over"] == "seeds"
    assert parts["one seed"]["interval_over"] == "people" and parts["one seed"]["p_value"] == 1
    for name in ("study.html", "study.md"):
        text = (tmp_path / name).read_text()
        assert "over 2 seeds" in text and "over people" in text
        assert "Draws of test people do not hold the training" in text
    said = {line["row"]: line["note"] for line in lines if line["less"]}
    assert "own chance" in said["one seed"] and not said["small4.cosface"]


@pytest.mark.parametrize(
    ("rows", "axes", "names"),
    [
        ([{"recipe": "a"}, {"recipe": "b"}], {}, ["a", "b"]),
        ([{"recipe": "a", "optimizer.lr": r} for r in (0.1, 0.2)], {}, ["lr 0.1", "lr 0.2"]),
        ([{"recipe": "a", "training_set": s} for s in "xy"], {}, ["x", "y"]),
        ([{"network": "n", "batch": b} for b in (1, 2)], {}, ["batch 1", "batch 2"]),
        ([{"recipe": "a", "seeds": 2}, {"recipe": "b", "name": "B"}], {}, ["a", "B"]),
        ([], {"recipe": ["a", "b"], "training_set": ["x"]}, ["a", "b"]),
        ([], {"recipe": ["a"], "optimizer.lr": [0.1, 0.2]}, ["lr 0.1", "lr 0.2"]),
        ([], {"engine": ["e", "f"], "batch": [1, 2]}, ["e, 1", "e, 2", "f, 1", "f, 2"]),
    ],
)
def test_rows_are_named_by_what_differs(rows, axes, names):
    table = {"id": "t", "rows": rows, "axes": axes, "columns": [{"fact": "batch"}]}
    study = studies.read_study({"tables": [table]}, "mine")
    assert [row["name"] for row in study.tables[0].rows] == names


# --- what ran -------------------------------------------------------------------------------------
