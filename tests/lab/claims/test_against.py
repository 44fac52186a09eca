"""Runs beside published numbers: what is compared, what is not, and what it says."""

import csv
import io
import json
import re
import shutil

import facebench
import pytest
from facebench import claims, protocols, reports
from facebench.lab.claims.comparison import against_section

SYSTEM = {
    "network": "resnet50",
    "loss": "softmax",
    "training_set": "webface",
    "training": "resnet50.pytorch",
    "detector": "mtcnn",
    "crop": "paper",
    "flip": "none",
}
LINES = ["4\t5"]
for fold in range(4):
    LINES += [f"P{fold}{k}\t1\t2" for k in range(5)]
    LINES += [f"P{fold}{k}\t1\tP{fold}{k + 5}\t1" for k in range(5)]


@pytest.fixture
def run(tmp_path, edit):
    """A run whose manifest and numbers are written by hand: official lists, accuracy 98.00 %."""
    (tmp_path / "pairs.txt").write_text("\n".join(LINES) + "\n")
    scores = [1.0 - k / 40 for k in range(40)]
    protocols.evaluate("lfw", scores=scores, root=tmp_path, replicates=50).save(tmp_path / "run")
    edit(tmp_path / "run", notes=[], accuracy=(0.98, [0.975, 0.985]))
    return tmp_path / "run"


@pytest.fixture
def edit(seal):
    """Changes notes, accuracy or network of a run folder."""

    def change(run, **what):
        change_run(run, **what)
        seal(run)

    return change


def change_run(run, notes=None, accuracy=None, network=None):
    manifest = json.loads((run / "run.json").read_text())
    if notes is not None:
        manifest["content"]["notes"] = notes
    if network:
        manifest["content"]["embeddings"] = {"manifest": {"model": {"network": network}}}
    (run / "run.json").write_text(json.dumps(manifest))
    metrics = json.loads((run / "metrics.json").read_text())
    if accuracy:
        cell = metrics["tracks"]["view2"]["metrics"]["accuracy"]
        cell["value"], cell["interval"] = accuracy
    (run / "metrics.json").write_text(json.dumps(metrics))


def places(values):
    return [(v["table"], v["row"]) for v in values]


def test_only_the_same_system_under_the_same_measure_is_compared(run):
    found = claims.against(run, stated=SYSTEM)
    # ResNet-50 on WebFace in PyTorch, of table 3 or, by its training, of section 4.4; nothing else:
    # the networks of that name in Caffe and TensorFlow have their strides elsewhere.
    assert places(found["same"]) == [("table-3", "ResNet-50")]
    (same,) = found["same"]
    assert (same["column"], same["difference_text"]) == ("lfw", "-0.20")
    assert same["published_lies"] == "inside"
    later = SYSTEM | {"training": "resnet50.section_4_4"}
    assert places(claims.against(run, stated=later)["same"]) == [("table-14", "WebFace")]
    for network, table, difference in (
        ("resnet50_v1", "table-4", "+0.50"),
        ("resnet50_slim", "table-5", "+0.70"),
    ):
        flavour = {"caffe": "table-4", "tensorflow": "table-5"}
        recipe = next(f"resnet50.{f}" for f, t in flavour.items() if t == table)
        stated = SYSTEM | {"network": network, "training": recipe}
        flavour = claims.against(run, stated=stated)["same"]
        assert places(flavour) == [(table, "ResNet-50")]
        assert flavour[0]["difference_text"] == difference
    # Every printed LFW number stands somewhere, and every other value is said not to be measured.
    values = claims.find_published()
    lfw = [v for v in values if v["column"] == "lfw"]
    assert len(found["same"]) + len(found["other_systems"]) == len(lfw) == 26
    assert len(found["not_measured"]) == len(values) - len(lfw)
    other = {(v["table"], v["row"]): v["differs"] for v in found["other_systems"]}
    assert set(other["table-14", "VGGFace2"]) == {
        "training_set is webface, not vggface2",
        "training is resnet50.pytorch, not resnet50.section_4_4",
    }
    assert set(other["table-3", "VGG-16"]) == {
        "network is resnet50, not vgg16",
        "training is resnet50.pytorch, not vgg16.pytorch",
    }
    # The framework narrows the choice; Keras on TensorFlow is TensorFlow.
    assert found["same"][0]["unchecked"] == ["framework", "test_people"]
    found = claims.against(run, stated=SYSTEM | {"framework": "pytorch"})["same"]
    assert places(found) == [("table-3", "ResNet-50")] and found[0]["unchecked"] == ["test_people"]
    theirs = SYSTEM | {"network": "resnet50_slim", "training": "resnet50.tensorflow"}
    found = claims.against(run, stated=theirs | {"framework": "keras-tensorflow-tape"})["same"]
    assert places(found) == [("table-5", "ResNet-50")]


def test_what_is_not_known_does_not_match(run, edit):
    found = claims.against(run)
    assert found["same"] == [] and len(found["other_systems"]) == 26
    assert {d for v in found["other_systems"] for d in v["differs"]} >= {
        f"{c} is not known of the run" for c in SYSTEM
    }
    edit(run, network="resnet50")
    stated = {k: v for k, v in SYSTEM.items() if k != "network"}
    assert len(claims.against(run, stated=stated)["same"]) == 1
    with pytest.raises(ValueError, match=r"'vgg16' is stated, but .* was made with 'resnet50'"):
        claims.against(run, stated=SYSTEM | {"network": "vgg16"})
    with pytest.raises(ValueError, match="did you mean 'training_set'"):
        claims.against(run, stated={"trainingset": "webface"})


def test_how_the_images_were_prepared_is_a_condition(run, seal):
    """As a manifest records it, and as the caller states it."""
    manifest = json.loads((run / "run.json").read_text())
    manifest["content"] |= {
        "embeddings": {"manifest": {"model": {"network": "resnet50"}, "extract": {"flip": "sum"}}},
        "preparation": {"detector": {"detector": "mtcnn"}, "crop": {"name": "arcface112"}},
    }
    (run / "run.json").write_text(json.dumps(manifest))
    seal(run)
    stated = {"loss": "softmax", "training_set": "webface", "training": "resnet50.pytorch"}
    found = claims.against(run, stated=stated)
    assert found["same"] == []
    first = found["other_systems"][0]
    assert first["differs"] == ["crop is arcface112, not paper", "flip is sum, not none"]
    assert (first["row"], first["difference_text"]) == ("ResNet-50", "-0.20")
    with pytest.raises(ValueError, match=r"crop 'paper' is stated, but .* made with 'arcface112'"):
        claims.against(run, stated=stated | {"crop": "paper"})
    manifest["content"]["preparation"]["crop"]["name"] = "paper"
    manifest["content"]["embeddings"]["manifest"]["extract"]["flip"] = "none"
    (run / "run.json").write_text(json.dumps(manifest))
    seal(run)
    assert len(claims.against(run, stated=stated)["same"]) == 1


def test_the_nearest_values_come_first(run):
    stated = {k: v for k, v in SYSTEM.items() if k != "network"} | {"network": "vgg16"}
    found = claims.against(run, stated=stated)["other_systems"]
    keys = [(len(v["differs"]), abs(v["difference"])) for v in found]
    assert keys == sorted(keys)
    text = claims.against(run, stated=stated, format="markdown")
    others = text.partition("### The same measure of other systems")[2]
    listed = [line for line in others.split("\n") if line.startswith("| lfw view2")]
    assert len(listed) == 10
    assert found[0]["published_text"] in listed[0] and found[0]["source"] in listed[0]
    assert f"These are the 10 nearest of {len(found)}; --all lists the others too." in text
    everything = claims.against(run, stated=stated, format="markdown", nearest=None)
    others = everything.partition("### The same measure of other systems")[2]
    assert others.count("| lfw view2") == len(found) and "--all" not in everything


def test_what_is_not_known_is_said_once(run):
    text = claims.against(run, format="markdown")
    assert text.count("Not known of run") == 1
    assert "crop, detector, flip, loss, network, training, training\\_set" in text or (
        "crop, detector, flip, loss, network, training, training_set" in text
    )
    assert "not known of the run" not in text


def test_other_lists_are_not_the_same_measure(run, edit):
    edit(run, notes=["Not the official list: track view2 has 40 comparisons."])
    found = claims.against(run, stated=SYSTEM)
    assert found["same"] == []
    assert all("not the official" in v["differs"][0] for v in found["other_systems"])


@pytest.mark.parametrize(
    ("interval", "lies"),
    [
        ([0.97, 0.9815], "inside"),  # 98.2 stands for 98.15 to 98.25
        ([0.97, 0.9814], "above"),
        ([0.9825, 0.99], "inside"),
        ([0.9826, 0.99], "below"),
    ],
)
def test_a_printed_value_is_as_wide_as_its_last_digit(run, interval, lies, edit):
    edit(run, accuracy=(0.98, interval))
    assert claims.against(run, stated=SYSTEM)["same"][0]["published_lies"] == lies


def test_slips_stand_beside_the_value(run):
    stated = SYSTEM | {"network": "lightcnn29", "training": "lightcnn29.caffe"}
    text = claims.against(run, stated=stated, format="markdown")
    assert "97.6 % [1]" in text and "[1] mislabelled: Table 2 gives this network" in text
    assert "Stated by the caller, not found in a manifest:" in text


def test_texts(run, tmp_path):
    markdown = facebench.report(run, against="wang-guo-2019", stated=SYSTEM)
    for part in (
        "| rates in % | run |",
        "## Beside wang-guo-2019",
        "| lfw view2: accuracy | run | 98.00 [97.50, 98.50] | 98.2 % | -0.20 | inside |",
        "### The same measure of other systems",
        "DFW and UMDFaces | 44 | under dfw, umdfaces_listed |",
        "which no protocol measures",
    ):
        assert part in re.sub(" +", " ", markdown), part
    text = facebench.report(run, against="wang-guo-2019", stated=SYSTEM, format="csv")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == len(claims.find_published())
    same = [r for r in rows if r["match"] == "same"]
    assert [float(r["difference"]) for r in same] == pytest.approx([-0.2])
    assert same[0]["printed"] == "98.2" and same[0]["low"] == "0.975"
    assert {r["match"] for r in rows} == {"same", "other_system", "not_measured"}
    latex = facebench.report(run, against="wang-guo-2019", stated=SYSTEM, format="latex")
    assert "98.2 \\% & -0.20 & inside & ResNet-50, table 3 \\\\" in latex
    assert latex.count("\\begin{tabular}") == latex.count("\\end{tabular}") == 2
    as_json = json.loads(facebench.report(run, against="wang-guo-2019", format="json"))
    assert as_json["publication"] == "wang-guo-2019"
    with pytest.raises(ValueError, match="did you mean 'wang-guo-2019'"):
        facebench.report(run, against="wang-guo-2009")


def test_the_page(run, tmp_path):
    path = facebench.report(
        run, against="wang-guo-2019", stated=SYSTEM, format="html", out=tmp_path / "page"
    )
    page = path.read_text()
    for part in (
        "<h2>Beside wang-guo-2019</h2>",
        ">The same measure of the same system</h3>",
        "98.2 %",
        "The same measure of other systems (25)",
        "training_set is webface, not vggface2",
        "Not measured by these runs",
    ):
        assert part in page, part
    assert "No printed value is of the same system" in reports.report_html(
        "x", [against_section(run)]
    )


def test_matrices_match_entry_by_entry(tmp_path, seal, edit):
    """A run of the pose protocol, its matrix written by hand."""
    rows = ["frontal", "three_quarter", "profile"]
    value = [[0.756, 0.7, 0.6], [0.7, 0.7, 0.6], [0.5, 0.6, 0.7]]
    (tmp_path / "pairs.txt").write_text("\n".join(LINES) + "\n")
    protocols.evaluate(
        "lfw", scores=[0.5] * 40, root=tmp_path, interval="none"
    ).save(tmp_path / "pose")  # fmt: skip
    folder = tmp_path / "pose"
    metrics = json.loads((folder / "metrics.json").read_text())
    metrics["protocol"]["id"] = "vggface2_pose"
    metrics["tracks"] = {
        "pose": {
            "counts": metrics["tracks"]["view2"]["counts"],
            "metrics": {
                "mean_similarity": {
                    "value": value, "rows": rows, "columns": rows, "interval": None,
                    "level": None, "method": "none",
                }
            },
        }
    }  # fmt: skip
    (folder / "metrics.json").write_text(json.dumps(metrics))
    edit(folder, notes=[])
    manifest = json.loads((folder / "run.json").read_text())
    manifest["content"]["protocol"]["id"] = "vggface2_pose"
    manifest["content"]["tracks"] = {"pose": manifest["content"]["tracks"]["view2"]}
    (folder / "run.json").write_text(json.dumps(manifest))
    seal(folder)
    found = claims.against(folder, stated=SYSTEM | {"framework": "pytorch"})
    table3 = [v for v in found["same"] if v["table"] == "table-3"]
    assert [(v["column"], v["printed"]) for v in table3][:2] == [
        ("pose_frontal_frontal", "0.756"),
        ("pose_frontal_three_quarter", "0.726"),
    ]
    assert [v["difference_text"] for v in table3][:2] == ["+0.000", "-0.026"]
    assert {v["published_lies"] for v in table3} == {""} and len(table3) == 9


def test_the_verb(run):
    from click.testing import CliRunner
    from facebench.cli.app import app

    arguments = ["report", str(run), "--against", "wang-guo-2019"]
    for name, value in SYSTEM.items():
        arguments += ["--as", f"{name}={value}"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0 and "| 98.2 % | -0.20 | inside |" in re.sub(
        " +", " ", result.output
    )


TRAINED = {
    "recipe": "resnet50.pytorch",
    "changed": [],
    "loss": "softmax",
    "training_set": {"name": "webface"},
    "engine": "pytorch",
}
PREPARED = {k: SYSTEM[k] for k in ("detector", "crop", "flip")}


@pytest.fixture
def trained(run, seal):
    """Changes what the file of the run's model says of its training."""

    def change(**record):
        manifest = json.loads((run / "run.json").read_text())
        model = {"network": "resnet50", "training": TRAINED | record}
        manifest["content"]["embeddings"] = {"manifest": {"model": model}}
        (run / "run.json").write_text(json.dumps(manifest))
        seal(run)
        return run

    return change


def test_the_training_is_read_from_the_models_file(trained):
    found = claims.against(trained(), stated=PREPARED)
    assert places(found["same"]) == [("table-3", "ResNet-50")]
    removed = {"name": "webface", "removed": {"people": 393}}
    run = trained(recipe="resnet50.section_4_4", training_set=removed)
    assert places(claims.against(run, stated=PREPARED)["same"]) == [("table-14", "WebFace")]
    # The paper removed people of the test sets in section 4.4 alone.
    run = trained(training_set=removed)
    first = claims.against(run, stated=PREPARED)["other_systems"][0]
    assert first["differs"] == ["test_people is removed, not kept"]
    run = trained(changed=["optimizer.lr"])
    first = claims.against(run, stated=PREPARED)["other_systems"][0]
    assert first["differs"] == ["training is resnet50.pytorch, changed, not resnet50.pytorch"]
    # What was left to the framework is not the recipe's either.
    first = claims.against(trained(own=["schedule"]), stated=PREPARED)["other_systems"][0]
    assert first["differs"] == ["training is resnet50.pytorch, changed, not resnet50.pytorch"]
    # A name of a file is not that of a data set; the loss is what it is.
    run = trained(training_set={"name": "casia112"})
    assert claims.against(run, stated=PREPARED)["same"] == []
    named = PREPARED | {"training_set": "webface"}
    assert places(claims.against(run, stated=named)["same"]) == [("table-3", "ResNet-50")]
    with pytest.raises(ValueError, match=r"loss 'arcface' is stated, but .* made with 'softmax'"):
        claims.against(run, stated=PREPARED | {"loss": "arcface"})


@pytest.mark.parametrize(
    ("engine", "recipe", "network", "table", "differs"),
    [
        ("facebench", "resnet50.caffe", "resnet50_v1", "table-4",
         ["framework: caffe is imitated by facebench"]),
        ("facebench", "resnet50.pytorch", "resnet50", "table-3",
         ["framework: pytorch is imitated by facebench"]),
        ("pytorch", "resnet50.tensorflow", "resnet50_slim", "table-5",
         ["framework is pytorch, not tensorflow"]),
        ("keras-jax", "resnet50.tensorflow", "resnet50_slim", "table-5",
         ["framework is keras-jax, not tensorflow"]),
        ("keras-tensorflow", "resnet50.tensorflow", "resnet50_slim", "table-5", []),
        ("keras-tensorflow-tape", "resnet50.tensorflow", "resnet50_slim", "table-5", []),
        ("pytorch", "resnet50.pytorch", "resnet50", "table-3", []),
    ],
)  # fmt: skip
def test_an_imitation_is_not_the_framework(trained, seal, engine, recipe, network, table, differs):
    run = trained(engine=engine, recipe=recipe)
    manifest = json.loads((run / "run.json").read_text())
    manifest["content"]["embeddings"]["manifest"]["model"]["network"] = network
    (run / "run.json").write_text(json.dumps(manifest))
    seal(run)
    found = claims.against(run, stated=PREPARED)
    values = found["same"] + found["other_systems"]
    (here,) = [v for v in values if (v["table"], v["row"]) == (table, "ResNet-50")]
    assert here["differs"] == differs
    assert (here in found["same"]) is not bool(differs)


@pytest.mark.parametrize(
    ("stated", "recorded"),
    [
        ({"framework": "caffe"}, {"engine": "facebench"}),
        ({"framework": "tensorflow"}, {"engine": "pytorch"}),
        ({"training": "resnet50.section_4_4"}, {}),
        ({"training": "resnet50.pytorch"}, {"changed": ["training.batch"]}),
        ({"training": "resnet50.pytorch"}, {"recipe": "small4.softmax"}),
        ({"training_set": "vggface2"}, {}),
        ({"test_people": "removed"}, {}),
        ({"test_people": "kept"}, {"training_set": {"name": "p", "removed": {"people": 2}}}),
        ({"device": "Titan Xp"}, {"device": "cpu"}),
        ({"loss": "cosface"}, {}),
        ({"network": "vgg16"}, {}),
        ({"detector": "given"}, {}),
        ({"crop": "arcface112"}, {}),
        ({"flip": "sum"}, {}),
    ],
)
def test_a_statement_against_a_record_is_refused(trained, seal, stated, recorded):
    run = trained(**recorded)
    manifest = json.loads((run / "run.json").read_text())
    manifest["content"]["embeddings"]["manifest"]["extract"] = {"flip": "none"}
    prepared = {"detector": {"detector": "mtcnn"}, "crop": {"name": "paper"}}
    manifest["content"]["preparation"] = prepared
    (run / "run.json").write_text(json.dumps(manifest))
    seal(run)
    ((name, value),) = stated.items()
    with pytest.raises(ValueError, match=f"{name} '{value}' is stated, but .* was made with '"):
        claims.against(run, stated=stated)


def test_what_a_record_does_not_name_may_be_stated(trained):
    """One's own recipe and file are called anything; every card is "cuda"."""
    run = trained(recipe="mine", training_set={"name": "casia112"}, device="cuda")
    stated = {"training": "resnet50.pytorch", "training_set": "webface", "device": "Titan Xp"}
    assert places(claims.against(run, stated=PREPARED | stated)["same"]) == [
        ("table-3", "ResNet-50")
    ]


def test_one_run_may_be_stated_otherwise(run, tmp_path):
    other = tmp_path / "other"
    shutil.copytree(run, other)
    stated = SYSTEM | {"other:training": "resnet50.section_4_4", "other:training_set": "vggface2"}
    found = claims.against([run, other], stated=stated)["same"]
    assert [(v["run"], v["table"], v["row"]) for v in found] == [
        ("run", "table-3", "ResNet-50"),
        ("other", "table-14", "VGGFace2"),
    ]
    with pytest.raises(ValueError, match="unknown title of a run 'othe'; did you mean 'other'"):
        claims.against([run, other], stated={"othe:loss": "softmax"})
    with pytest.raises(ValueError, match="did you mean 'loss'"):
        claims.against([run, other], stated={"other:los": "softmax"})
    text = facebench.report([run, other], against="wang-guo-2019", stated={"loss": "softmax"})
    assert "--as other:NAME=VALUE" in text
