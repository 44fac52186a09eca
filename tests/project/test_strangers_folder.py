"""Ways to make a run folder, a study's or training's folder, a model or a TOML file of a stranger
run code, or reach files that its user did not give. After each nothing was imported, and every file
outside of the folder is as it was."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import facebench
import numpy as np
import pytest
from facebench import io, reports

pytest.importorskip("torch")
pytest.importorskip("facebench._full")
pytest.importorskip("h5py")
from facebench import embedding, nn
from facebench.embedding._photographs import embed_folder
from facebench.verbs._again import check_again
from strangers import make, watched


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    return make(tmp_path_factory.mktemp("made"))


@pytest.fixture
def place(made, tmp_path, monkeypatch):
    with watched(made, tmp_path, monkeypatch) as there:
        yield there


@pytest.fixture(params=["believed", "untrusted"])
def reading(request):
    """Without and with --untrusted."""
    if request.param == "untrusted":
        request.getfixturevalue("confined")
    return request.param


def again(place, root="given", model=None):
    """The check of `verify --again`, by itself."""
    check = check_again(place.run, place.root if root == "given" else root, 4, model)
    return check["same"], check["detail"]


def beside(place, name):
    """A file of that name beside evil.py, with its true hash."""
    (place.folder / name).write_bytes(b"anything")
    place.named_model(name, io.sha256_file(place.folder / name))


def link_to(path, target):
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    path.symlink_to(target)


NOT_CODE = "code is taken from the caller alone"
# name: (what the stranger does, the answer of the check, and what its detail says).
RUNS = {
    "a file called as a function": (lambda p: beside(p, "evil:main"), None, NOT_CODE),
    "a function": (lambda p: p.named_model("evil:main"), None, NOT_CODE),
    "an address": (lambda p: p.named_model("hf://org/model"), None, NOT_CODE),
    "a name that a package brings": (lambda p: p.named_model("dlib"), None, NOT_CODE),
    "a Python file": (lambda p: beside(p, "evil.py"), None, NOT_CODE),
    "a pickle": (lambda p: beside(p, "evil.pt"), None, NOT_CODE),
    "a function with the ending of weights": (
        lambda p: p.named_model("evil:main.safetensors"),
        None,
        "(not there, or another one|under --untrusted)",
    ),
    "another model file": (
        lambda p: p.named_model(str(p.home / "mine.h5")),
        None,
        NOT_CODE,
    ),
    "a number as the model": (lambda p: p.named_model(7), None, NOT_CODE),
    "extract.out": (lambda p: p.extract(out=str(p.home / "mine.h5")), False, "field 'out'"),
    "extract.out, a new file": (lambda p: p.extract(out="home/new.h5"), False, "field 'out'"),
    "extract.shard": (lambda p: p.extract(shard="1/2"), False, "field 'shard'"),
    "extract.workers": (lambda p: p.extract(workers="tcp://evil:1"), False, "field 'workers'"),
    "extract.pack": (lambda p: p.extract(pack="home/mine.h5"), False, "field 'pack'"),
    "extract.model": (lambda p: p.extract(model="evil:main"), False, "field 'model'"),
    "extract.progress": (lambda p: p.extract(progress="evil:main"), False, "field 'progress'"),
    "extract.threads": (lambda p: p.extract(threads=100_000), False, "field 'threads'"),
    "extract.mean": (lambda p: p.extract(mean=1), False, "field 'mean'"),
    "extract of another kind": (lambda p: p.extract(flip=["sum"]), False, "'flip': expected text"),
    "a batch of millions": (lambda p: p.extract(micro_batch=10**9), False, "micro_batch"),
    "extract is a list": (
        lambda p: p.change(
            lambda r: r["content"]["embeddings"]["manifest"].update(extract=["out"])
        ),
        False,
        "expected a table",
    ),
    "preparation.out": (lambda p: p.prepared(out="home/mine.h5"), False, "field 'out'"),
    "preparation.exclude": (lambda p: p.prepared(exclude="home/mine.h5"), False, "'exclude'"),
    "crop.file": (lambda p: p.prepared("crop", file="home/mine.h5"), False, "field 'file'"),
    "a crop that is a path": (lambda p: p.prepared("crop", name="../../x"), False, "crop"),
    "a crop of gigabytes": (lambda p: p.prepared("crop", width=10**8), False, "crop_size"),
    "decode.out": (lambda p: p.prepared("decode", out="x"), False, "field 'out'"),
    "decode of another kind": (lambda p: p.prepared("decode", max_pixels="9"), False, "max_pixels"),
    "a selection that is a path": (lambda p: p.prepared(selection="/etc/passwd"), False, "known"),
    "a detector that is code": (lambda p: p.detector("evil:main"), False, "detector is one of"),
    "a detector's weights": (
        lambda p: p.detector("mtcnn", weights=str(p.home / "mine.h5")),
        None,
        "would read a file that run.json names",
    ),
    "a table of faces": (
        lambda p: p.detector("given", file=str(p.home / "mine.h5")),
        None,
        "would read a file that run.json names",
    ),
    "a detector's option within a name": (
        lambda p: p.detector("mtcnn", **{"weights=home/mine.h5;": "x"}),
        False,
        "which is not known",
    ),
    "a detector's unknown option": (lambda p: p.detector("hog", out="x"), False, "field 'out'"),
    "images elsewhere": (
        lambda p: p.change(lambda r: r["circumstance"].update(images=str(p.home))),
        None,
        "not below the root",
    ),
    "images above the root": (
        lambda p: p.change(lambda r: r["circumstance"].update(images=f"{p.root}/../home")),
        None,
        "not below the root",
    ),
    "images are a number": (
        lambda p: p.change(lambda r: r["circumstance"].update(images=3)),
        None,
        "does not say where the images lay",
    ),
    "an image above": (lambda p: p.names("../../home/secret.jpg"), False, "not lie below"),
    "an image in the middle above": (lambda p: p.names("a/../../../home/x.jpg"), False, "below"),
    "an image by its whole path": (lambda p: p.names("/etc/passwd"), False, "not lie below"),
    "a pack that is a table of contents": (
        lambda p: p.change(lambda r: r["content"].update(embeddings=[])),
        False,
        "expected a table",
    ),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_run_folder_is_data(place, reading, name):
    alter, same, says = RUNS[name]
    alter(place)
    found, detail = again(place)
    assert found is same and re.search(says, detail), detail


def test_a_run_that_is_as_it_was(place):
    same, detail = again(place)
    assert same is True, detail
    assert again(place, root="")[0] is True


def test_verify_shows_the_check(place, reading):
    place.named_model("evil:main")
    place.extract(out=str(place.home / "mine.h5"))
    found = facebench.verify(place.run, place.root, again=4)
    assert found.checks[-1]["same"] is False
    assert "field 'out', which is not known" in str(found)


def test_the_caller_may_name_the_model_and_the_data_set(place, confined):
    assert again(place)[0] is True
    assert "the images lay in" in again(place, root="")[1]
    place.model = place.folder / "m.safetensors"
    shutil.move(place.root / "m.safetensors", place.model)
    place.change(lambda r: None)
    assert "under --untrusted" in again(place)[1]
    assert again(place, model=place.model)[0] is True
    shutil.move(place.model, place.root / "m.safetensors")


def test_images_that_are_links_out_of_the_root(place, confined):
    (place.root / "images" / "x").mkdir()
    link = place.root / "images" / "x" / "link.jpg"
    link.symlink_to(place.home / "secret.jpg")
    place.names("x/link.jpg")
    detail = again(place, model=place.model)[1]
    link.unlink()
    (place.root / "images" / "x").rmdir()
    assert detail.startswith("4 of 79 images"), detail


@pytest.mark.parametrize("file", ["pack.h5", "embeddings.h5"])
def test_a_pack_that_is_a_link(place, confined, file):
    link_to(place.run / file, place.home / "mine.h5")
    same, detail = again(place)
    assert same is False and "link that leads out of the run folder" in detail
    with pytest.raises(facebench.Error, match="link that leads out of the run folder"):
        facebench.verify(place.run, place.root, again=4)


# --- explain --resolve ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("alter", "says"),
    [
        (lambda p: p.extract(out=str(p.home / "mine.h5")), "field 'out'"),
        (lambda p: p.extract(workers="tcp://evil:1"), "field 'workers'"),
    ],
)
def test_runs_that_are_explained_are_data(place, made, alter, says):
    alter(place)
    with pytest.raises((ValueError, facebench.Error), match=says):
        facebench.explain(place.run, made / "run", resolve=True, replicates=20)


def test_the_model_of_a_run_that_is_explained(place, made):
    place.extract(flip="sum")
    place.named_model("evil:main")
    found = facebench.explain(place.run, made / "run", resolve=True, replicates=20)
    assert "code is taken from the caller alone" in str(found.to_dict())


# --- studies and suites -----------------------------------------------------------------------


@pytest.fixture
def suite(place):
    """The folder of a suite of the model."""
    how = {"models": {"ours": str(place.model)}, "sets": {"lfw": place.root}, "cost": False}
    facebench.suite(**how, out=place.folder / "suite")
    return place.folder / "suite"


def edit_suite(suite, edit, file="suite.json"):
    record = json.loads((suite / file).read_text())
    edit(record)
    (suite / file).write_text(json.dumps(record))


def add(place, suite):
    return facebench.suite(add=place.run, name="added", out=suite)


def rows_of(record):
    return record["tables"][0]["rows"]


SUITES = {
    "a function as a model": lambda r, p: rows_of(r).append(
        {"name": "evil", "model": "evil:main", "prepare": {}}
    ),
    "a function in place of a model": lambda r, p: rows_of(r)[0].update(model="evil:main"),
    "a function's cost": lambda r, p: (
        rows_of(r)[0].update(model="evil:main"),
        r["tables"][0]["columns"].append({"cost": "parameters"}),
    ),
    "options that write": lambda r, p: rows_of(r)[0].update(
        prepare={"cache": str(p.home / "cache"), "out": str(p.home / "mine.h5")}
    ),
    "a recipe to train": lambda r, p: rows_of(r).append(
        {"name": "t", "recipe": "small4.softmax", "settings": {}, "training_set": "x"}
    ),
}


@pytest.mark.parametrize("name", SUITES)
def test_a_suite_is_not_run_from_its_folder(place, suite, name):
    edit_suite(suite, lambda record: SUITES[name](record, place))
    try:
        found = add(place, suite)
    except (facebench.Error, ValueError):
        return
    assert [o.job.kind for o in found.outcomes if o.status == "made"] == ["copy"]
    rows = {row["name"]: row["cells"][0] for row in found["suite"]["rows"]}
    assert "value" in rows["added"]


def test_a_run_that_was_added_is_a_run_of_that_content(place, suite):
    secret = {"folder": str(place.home), "column": "lfw", "sha256": "0" * 64}
    edit_suite(suite, lambda r: rows_of(r).append({"name": "secret", "run": secret}))
    found = add(place, suite)
    assert any(f["row"] == "secret" for f in found.content["failures"])
    assert not [p for p in suite.rglob("*") if p.name in ("mine.h5", "secret.jpg")]


def test_a_run_that_was_added_has_no_model_of_its_own(place, suite):
    row = {"name": "x", "run": {"folder": "x", "column": "lfw", "sha256": "0"}}
    edit_suite(suite, lambda r: rows_of(r).append(row | {"model": "evil:main"}))
    for how in ({"add": place.run}, {"models": [str(place.model)], "sets": {"lfw": place.root}}):
        with pytest.raises(facebench.Error, match="not what facebench suite writes"):
            facebench.suite(**how, out=suite)


def of_table(**values):
    return lambda d: d.get("content", d)["tables"][0].update(values)


def of_row(**values):
    return lambda d: d.get("content", d)["tables"][0]["rows"][0].update(values)


@pytest.mark.parametrize(
    ("file", "edit"),
    [
        ("suite.json", of_table(rows=["a"])),
        ("suite.json", of_table(rows=[{}])),
        ("suite.json", of_table(columns=None)),
        ("suite.json", of_table(notes=None)),
        ("suite.json", of_row(name=None)),
        ("suite.json", of_row(name={"a": 1})),
        ("suite.json", of_row(prepare=None)),
        ("suite.json", lambda d: d["tables"][0]["columns"][0].update(protocol=None)),
        ("suite.json", lambda d: d["tables"][0]["columns"][0].update(name=["a"])),
        ("suite.json", lambda d: d["tables"][0]["columns"][0].update(data=["a"])),
        ("suite.json", lambda d: d.update(citations=None)),
        ("suite.json", lambda d: d.update(title={})),
        ("suite.json", lambda d: d.update(level=None)),
        ("study.json", of_table(columns=None)),
        ("study.json", of_row(cells=["a"])),
        ("study.json", lambda d: d["content"]["tables"][0].update(rows=[{}])),
    ],
)
def test_a_suites_record_of_other_kinds(place, suite, file, edit):
    edit_suite(suite, edit, file)
    with pytest.raises(facebench.Error, match=r"is not what facebench (suite|study) writes"):
        add(place, suite)


@pytest.mark.parametrize("path", ["../run", "/etc", "jobs/../../home"])
def test_runs_that_a_study_names_lie_in_it(place, suite, path):
    def edit(record):
        record["content"]["tables"][0]["rows"][0]["cells"][0]["run"] = path

    edit_suite(suite, edit, "study.json")
    with pytest.raises(facebench.Error, match="does not lie below"):
        add(place, suite)


@pytest.mark.parametrize("name", ["jobs", "cache", ".lock", "jobs/copy", "cards"])
def test_nothing_is_written_through_links_of_a_study(place, suite, name):
    target = place.home / "new.txt" if name == ".lock" else place.home
    link_to(suite / name, target)
    try:
        reasons = [f["reason"] for f in add(place, suite).content["failures"]]
    except facebench.Error as error:
        reasons = [str(error)]
    assert any("is a link" in reason or "no such run" in reason for reason in reasons)


def test_a_study_replaces_nothing_of_the_users(place):
    for number, name in enumerate(("study.md", "study.html", "suite.json", "cards")):
        out = place.folder / f"thesis{number}"
        out.mkdir()
        (out / name).write_text("mine")
        with pytest.raises(facebench.Error, match="is not of a study"):
            facebench.suite(models=[str(place.model)], sets={"lfw": place.root}, out=out)
        assert (out / name).read_text() == "mine" and len(list(out.iterdir())) == 1


# --- trainings and checkpoints ----------------------------------------------------------------


@pytest.fixture(scope="session")
def images():
    pixels = np.random.default_rng(0).integers(0, 256, (16, 16, 16, 3), np.uint8)
    return pixels, [i % 4 for i in range(16)]


def train(images, out, **options):
    settings = {"channel_multiplier": 0.25, "embedding": 8, "batch": 8, "epochs": 2}
    recipe = facebench.training.load_recipe("small4.softmax", **settings)
    return facebench.train(recipe, images, out, threads=1, **options)


@pytest.mark.parametrize("name", ["checkpoints", "log.jsonl"])
def test_a_training_does_not_write_through_links(place, images, name):
    out = place.folder / "t"
    out.mkdir()
    (place.home / "checkpoints").mkdir()
    target = place.home / ("checkpoints" if name == "checkpoints" else "mine.h5")
    (out / name).symlink_to(target)
    before = place.outside()
    with pytest.raises(facebench.Error, match="is a link"):
        train(images, out, resume=True)
    assert place.outside() == before
    (place.home / "checkpoints").rmdir()


def test_event_files_of_others_stay(place, images):
    pytest.importorskip("tensorboard")
    out = place.folder / "t"
    (out / "tensorboard").mkdir(parents=True)
    mine = out / "tensorboard" / "events.out.tfevents.1.mine"
    mine.write_text("mine")
    train(images, out)
    assert mine.read_text() == "mine"


def test_checkpoints_that_the_user_named_stay(place, images):
    """Copies beside ours are not counted among those that are kept, nor resumed from."""
    out = place.folder / "t"
    train(images, out, checkpoint_every=1, keep=1)
    (newest,) = (out / "checkpoints").glob("step-*.safetensors")
    for name in (
        "step-000000001-good.safetensors",
        "step-best.safetensors",
        "part-mine.safetensors",
    ):
        shutil.copy(newest, out / "checkpoints" / name)
    shutil.copytree(out, place.folder / "t2")
    for file in ("model.safetensors", "run.json"):
        (place.folder / "t2" / file).unlink()
    train(images, place.folder / "t2", resume=True, checkpoint_every=1, keep=1)
    names = {p.name for p in (place.folder / "t2" / "checkpoints").iterdir()}
    assert {"step-000000001-good.safetensors", "step-best.safetensors"} <= names
    assert "part-mine.safetensors" in names


@pytest.mark.parametrize("name", ["run.json", "training.csv", "report.html", "best.safetensors"])
def test_a_training_replaces_nothing_of_the_users(place, images, name):
    out = place.folder / "thesis"
    out.mkdir()
    (out / name).write_text("mine")
    for resume in (False, True):
        with pytest.raises(facebench.Error, match="is not of a training"):
            train(images, out, resume=resume)
    assert (out / name).read_text() == "mine" and len(list(out.iterdir())) == 1


# --- models -----------------------------------------------------------------------------------


def test_what_a_model_file_says_is_text(place):
    """The metadata of a model: its detector, network, origin and run are looked up by name."""
    path = place.folder / "theirs.safetensors"
    tensors, metadata = io.read_safetensors(place.model)
    for key, value in (("detector", "evil:main"), ("crop", "../../x"), ("tap", "evil:main")):
        said = json.loads(metadata["model"])
        said["options"][key] = value
        io.write_safetensors(path, tensors, metadata | {"model": json.dumps(said)})
        with pytest.raises((facebench.Error, ValueError)):
            facebench.run("lfw", model=path, root=place.root, interval="none")
    photograph = next(iter(sorted((place.root / "images").rglob("*.jpg"))), None)
    for name in ("evil:main", "evil.onnx", "/etc/passwd", "../home/mine.h5"):
        said = json.loads(metadata["model"])
        said["options"]["detector"] = name
        io.write_safetensors(path, tensors, metadata | {"model": json.dumps(said)})
        for ask in (
            lambda: facebench.run("lfw", model=path, root=place.root, interval="none"),
            lambda: facebench.compare(photograph, photograph, model=path),
            lambda: embed_folder(embedding.load_model(path), photograph.parent),
            lambda: facebench.diagnose(path, "lfw", root=place.root),
        ):
            with pytest.raises((facebench.Error, ValueError), match="code or a file"):
                ask()
    said = json.loads(metadata["model"])
    said["network"] = "evil:main"
    io.write_safetensors(path, tensors, metadata | {"model": json.dumps(said)})
    with pytest.raises((facebench.Error, ValueError), match="evil"):
        embedding.load_model(path)


@pytest.mark.parametrize("where", ["../home/mine.h5", "/etc/passwd", "a/../../home/mine.h5"])
def test_weights_of_an_onnx_file_lie_beside_it(place, where):
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    path = place.folder / "m.onnx"
    nn.export_onnx(nn.build_network("small4", height=32, width=32), path)
    model = onnx.load(path)
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=where)
    path.write_bytes(model.SerializeToString())
    with pytest.raises(facebench.Error, match="keeps weights outside of its folder"):
        embedding.load_embedder(path)


# --- TOML -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        'network = "evil:main"',
        '[loss]\nname = "evil:main"',
        '[optimizer]\nname = "evil:main"',
        '[training]\nown = "evil:main"',
        'base = "evil:main"',
    ],
)
def test_a_recipe_names_no_code(place, text):
    (place.folder / "r.toml").write_text(f'id = "r"\nversion = 1\n{text}\n')
    with pytest.raises((facebench.Error, ValueError)):
        facebench.training.load_recipe(place.folder / "r.toml")


@pytest.mark.parametrize("key", ["reader", "metric", "own"])
def test_a_protocol_names_no_code(place, key):
    (place.folder / "p.toml").write_text(f'id = "p"\nversion = 1\n{key} = "evil:main"\n')
    with pytest.raises((facebench.Error, ValueError)):
        facebench.evaluate(place.folder / "p.toml", place.run / "embeddings.h5", root=place.root)


def test_a_suite_that_the_user_gives_may_name_a_function(place, made):
    """It is trusted input (docs/security.md), unlike the folder that it leaves behind."""
    (place.folder / "s.toml").write_text(
        f'[[models]]\nmodel = "evil:main"\ndetector = "none"\n'
        f'[[sets]]\nprotocol = "lfw"\nroot = "{place.root}"\ninterval = "none"\n'
    )
    facebench.suite(place.folder / "s.toml", out=place.folder / "s", cost=False)
    assert place.ran.exists()
    place.ran.unlink()
    sys.modules.pop("evil")
    for job in (place.folder / "s").rglob("job.json"):
        job.unlink()  # so that there is something to make
    found = facebench.suite(add=place.run, name="added", out=place.folder / "s")
    assert "what a suite's folder names is not run again" in found.failures[0]["reason"]


def test_rules_look_at_names_in_the_run_folder_alone(place):
    for pattern in ("../home/*", "/etc/passwd", "*/../../home/mine.h5"):
        text = f'id = "r"\nversion = 1\n[[rules]]\nname = "r"\nfile = "{pattern}"\n'
        (place.folder / "rules.toml").write_text(text)
        assert not reports_check(place).passed


def reports_check(place):
    return facebench.check(place.run, place.folder / "rules.toml")


# --- the working folder -----------------------------------------------------------------------


# What the console script does, without the verb's name in the folder that is searched first.
CONSOLE = "import sys; from facebench.cli import app; {} app.main()"
SHOWN = "import os; app.app = lambda: print(os.getcwd() in sys.path);"


@pytest.mark.parametrize("what", ["verify", "search"])
def test_modules_of_the_working_folder_are_not_found_by_chance(place, what):
    """`facebench verify .` in a stranger's folder, beside files that are called as packages."""
    for name in ("onnxruntime", "cryptography", "tensorboard", "pandas", "numpy", "torch"):
        (place.run / f"{name}.py").write_text(f"open({str(place.ran)!r}, 'w').close()\n")
    code = CONSOLE.format("" if what == "verify" else SHOWN)
    packages = str(Path(facebench.__file__).absolute().parents[1])
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, "verify", ".", "--root", place.root, "--again", "2"],
        cwd=place.run,
        env=os.environ | {"PYTHONPATH": packages},
        capture_output=True,
        text=True,
        check=False,
    )
    expected = "onnxruntime.py: is not a file of a run" if what == "verify" else "False\n"
    assert expected in done.stdout, done.stderr
    assert "Traceback" not in done.stderr


def test_the_record_is_read(place):
    """What the tests above alter is what is read."""
    record = reports.read_run(place.run)
    assert record["content"]["embeddings"]["manifest"]["extract"]["flip"] == "none"
