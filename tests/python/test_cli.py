"""The command line: every verb's help, messages, exit codes, Ctrl-C, nothing half-written."""

import csv
import inspect
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import facebench
import facebench.io as fio
import numpy as np
import pytest
import typer
from facebench.cli.app import app
from facebench.cli.common import give_back_names, out_path, parse_assignments
from facebench.cli.options import fields
from facebench.cli.verb import complete, report_errors
from facebench.cli.verbs import VERBS as TABLE
from facebench.cli.verbs import listing
from typer.testing import CliRunner

VERBS = [
    "demo",
    "list",
    "show",
    "detect",
    "pack",
    "train",
    "convert",
    "quantize",
    "embed",
    "pairs",
    "eval",
    "run",
    "suite",
    "compare",
    "report",
    "explain",
    "groups",
    "quality",
    "threshold",
    "calibrate",
    "plan",
    "gallery",
    "budget",
    "inspect",
    "verify",
    "check",
    "data synth",
    "data check",
    "data scan",
    "data convert",
    "data overlap",
    "data croissant",
    "bench step",
    "bench scale",
    "bench load",
    "bench detect",
    "bench eval",
    "bench factors",
    "bench compare-datasets",
    "bench sweep",
]
runner = CliRunner()
# The package under test, also where PYTHONPATH names it relative to another folder.
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": str(Path(facebench.__file__).absolute().parents[1]),
    "PYTHONUNBUFFERED": "1",
}


def command(*args) -> list[str]:
    return [sys.executable, "-m", "facebench", *map(str, args)]


def run(*args, cwd=None) -> subprocess.CompletedProcess:
    return subprocess.run(
        command(*args),
        capture_output=True,
        text=True,
        cwd=cwd,
        env=ENVIRONMENT,
        timeout=120,
        check=False,
    )


def assert_user_error(result, code: int, *words: str) -> None:
    assert result.returncode == code, result.stderr
    assert "Traceback" not in result.stderr
    for word in words:
        assert word in result.stderr


# --- help, version, usage -------------------------------------------------------------------------


@pytest.mark.parametrize("name", VERBS)
def test_every_verb_has_help_with_an_example_of_itself(name):
    result = runner.invoke(app, [*name.split(), "--help"])
    assert result.exit_code == 0
    assert f"Example: facebench {name} " in " ".join(result.output.split())
    # As a person would write it: --out PATH, [0 to 1], not <str>, <list[Path]>, [0.0<=x<=1.0].
    assert not re.search(r"<(?!=)|list\[|<=|>=|RANGE", result.output)


@pytest.mark.parametrize("name", VERBS)
def test_every_verb_answers_machines(name):
    assert "--json" in runner.invoke(app, [*name.split(), "--help"]).output


def test_these_are_all_the_verbs():
    names = []
    for name, entry in TABLE.items():
        names += [f"{name} {verb}" for verb in entry] if isinstance(entry, dict) else [name]
    assert names == VERBS


def test_examples_in_help_are_valid_options():
    """Every --option of an example exists in the help that shows it."""
    for name in VERBS:
        text = runner.invoke(app, [*name.split(), "--help"]).output
        example = " ".join(text.split()).partition("Example: ")[2]
        # What stands before the program's name are options of another one (torchrun).
        own = re.sub(r"torchrun .*?-m facebench", "facebench", example)
        for option in re.findall(r"--[a-z-]+", own):
            assert f"{option} " in text.partition("Example: ")[0], (name, option)


# --- options made from their description ----------------------------------------------------------


@pytest.mark.parametrize("name", ["eval", "run"])
def test_every_evaluation_option_is_an_option_of_the_verb(name):
    """The description is walked, so one line in EvaluationOptions::describe is enough."""
    command = complete(typer.main.get_command(app).commands[name])
    options = {parameter.name: parameter for parameter in command.params}
    text = " ".join(runner.invoke(app, [name, "--help"]).output.split())
    described = facebench.protocols.EvaluationOptions.fields()
    assert len(described) >= 9
    for field in described:
        option = options[field["name"]]
        assert option.opts == ["--" + field["name"].replace("_", "-")]
        assert option.default == field["default"]
        assert option.help.lower() == field["doc"].lower() + "."
        assert f"{option.opts[0]} " in text


def test_every_evaluation_option_is_a_keyword_and_a_key_of_the_manifest(tmp_path):
    """As a keyword of `facebench.evaluate` and on the command line, with another value."""
    text = "2\t1\nAnn\t1\t2\nAnn\t1\tBob\t1\nCat\t1\t2\nCat\t1\tDan\t1\n"
    (tmp_path / "pairs.txt").write_text(text)
    (tmp_path / "scores.csv").write_text("score\n0.9\n0.1\n0.8\n0.2\n")
    other = {
        "convention": "facenet",
        "failed_enrolments": "drop",
        "interval": "none",
        "fusion": "mean_unit",
        "match": "stem",
        "accuracy_convention": "exact",
        "tar_at_far_convention": "exact",
    }
    # Refused where no metric uses them, as here; test_convention_choice.py tries them.
    elsewhere = ("identification_convention", "rank_ties")
    given = {}
    for field in facebench.protocols.EvaluationOptions.fields():
        if field["name"] in elsewhere:
            continue
        by_type = {"integer": 77, "number": 0.9, "boolean": True}
        given[field["name"]] = by_type.get(field["type"]) or other[field["name"]]
        assert given[field["name"]] != field["default"]
    data = {"scores": tmp_path / "scores.csv", "root": tmp_path}
    facebench.evaluate("lfw", out=tmp_path / "keywords", **data, **given)
    options = [
        word
        for name, value in given.items()
        for word in [f"--{name.replace('_', '-')}", *([] if value is True else [value])]
    ]
    shared = ["--scores", data["scores"], "--root", tmp_path]
    result = run("eval", "lfw", *shared, "--out", tmp_path / "options", *options)
    assert result.returncode == 0, result.stderr
    for folder in ("keywords", "options"):
        manifest = json.loads((tmp_path / folder / "run.json").read_text())
        kept = manifest["content"]["options"]
        assert {k: v for k, v in kept.items() if k not in elsewhere} == given


def test_a_described_option_has_its_range_choices_and_default():
    class Options:
        @staticmethod
        def fields():
            shared = {"low": None, "high": None, "choices": []}
            return [
                shared
                | {"name": "far_rate", "type": "number", "default": 0.1, "doc": "rate"}
                | {"low": 0.0, "high": 1.0},
                shared
                | {"name": "seed", "type": "integer", "default": 0, "doc": "seed"}
                | {"low": 0.0, "high": 9e15},
                shared
                | {"name": "kind", "type": "text", "default": None, "doc": "which"}
                | {"choices": ["a", "b"]},
                shared | {"name": "decode", "type": "boolean", "default": True, "doc": "decode"},
            ]

    toy = typer.Typer()

    def show(**given):
        print(given)

    signature = inspect.Signature(fields(Options, renamed={"kind": "sort"}, defaults={"seed": 3}))
    show.__signature__ = signature
    toy.command()(show)
    help_text = " ".join(runner.invoke(toy, ["--help"]).output.split())
    assert "0.0<=x<=1.0" in help_text and "[a|b]" in help_text and "--no-decode" in help_text
    default = {"far_rate": 0.1, "seed": 3, "sort": None, "decode": True}
    assert runner.invoke(toy, []).output.strip() == str(default)
    typed = runner.invoke(toy, ["--far-rate", "1", "--sort", "a", "--no-decode"])
    assert typed.output.strip() == str(default | {"far_rate": 1.0, "sort": "a", "decode": False})
    assert runner.invoke(toy, ["--far-rate", "2"]).exit_code == 2


def test_a_value_out_of_range_names_option_and_range(tmp_path):
    arguments = ("eval", "lfw", "--scores", "s.csv", "--root", tmp_path)
    assert_user_error(run(*arguments, "--replicates", "5"), 2, "--replicates", "20")


def test_version():
    result = run("--version")
    assert (result.returncode, result.stdout) == (0, f"facebench {facebench.__version__}\n")


def test_help_does_not_import_torch():
    code = (
        "import sys; sys.argv = ['facebench', '--help']\n"
        "from facebench.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "assert 'torch' not in sys.modules and 'matplotlib' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_a_mistyped_verb_gets_a_suggestion():
    assert_user_error(run("detcet"), 2, "detect")


def test_a_mistyped_option_is_wrong_use():
    assert_user_error(run("list", "networks", "--jsno"), 2, "--json")


def test_a_mistyped_kind_gets_a_suggestion():
    assert_user_error(run("list", "netwroks"), 2, "did you mean 'networks'?")


def test_no_arguments_shows_help():
    result = run()
    assert result.returncode == 2
    assert "Usage:" in result.stdout + result.stderr


# --- explain --------------------------------------------------------------------------------------


def test_a_claim_is_tested():
    result = run("explain", "--claim", "99.64", "--protocol", "lfw", "--against", "99.53", "--json")
    assert result.returncode == 0, result.stderr
    claim = json.loads(result.stdout)
    assert claim["exists"] is False
    assert claim["against"]["paired_nested"] > 6000
    text = run("explain", "--claim", "99.64", "--protocol", "lfw").stdout
    assert "99.64 % cannot exist: 5978 of 6000 comparisons are 99.6333 %" in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], ["two run folders or --claim"]),
        (["a", "--claim", "99.6"], ["two run folders or --claim"]),
        (["a"], ["two run folders", "1"]),
        (["--claim", "99,6", "--protocol", "lfw"], ["99,6"]),
        (["--claim", "99.6"], ["counted out of"]),
        (["--claim", "99.6", "--protocol", "lfv"], ["did you mean 'lfw'"]),
    ],
)
def test_wrong_use_of_explain(arguments, words):
    assert_user_error(run("explain", *arguments), 2, *words)


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (facebench.Error("pairs.txt:3: bad"), 1, "pairs.txt:3: bad"),
        (ValueError("wrong"), 2, "wrong"),
        (IndexError("beyond"), 2, "beyond"),
        (ImportError("needs torch"), 1, "needs torch"),
        (FileNotFoundError(2, "No such file or directory", "x.h5"), 1, "x.h5: No such file"),
        (OSError(28, "No space left on device", "x.h5"), 1, "x.h5: the disk is full"),
        (MemoryError(), 1, "not enough memory"),
        (KeyboardInterrupt(), 130, "stopped"),
    ],
)
def test_errors_become_a_sentence_and_an_exit_code(error, code, text, capsys):
    @report_errors
    def fails():
        raise error

    with pytest.raises(typer.Exit) as caught:
        fails()
    assert caught.value.exit_code == code
    assert text in capsys.readouterr().err


@pytest.mark.parametrize("place", ["loop", "n" * 300])
def test_places_that_cannot_be_are_one_sentence(place, tmp_path):
    """A link to itself; a name that no file system takes."""
    os.symlink("loop", tmp_path / "loop")
    at = tmp_path / place
    for arguments in (
        ("detect", at),
        ("pack", "folders", "--root", at, "--out", "x.h5"),
        ("pack", "lfw", "--root", at, "--out", at),
        ("data", "check", "lfw", "--root", at),
        ("eval", "lfw", "--embeddings", at, "--root", at),
        ("run", "lfw", "--model", at, "--root", at),
        ("train", "demo", "--pack", at),
        ("report", at),
        ("verify", at),
    ):
        result = runner.invoke(app, [str(a) for a in arguments])
        assert result.exit_code in (1, 2), (arguments, result.output)
        assert isinstance(result.exception, SystemExit), (arguments, result.exception)


def test_a_bug_is_one_sentence_and_keeps_its_traceback_on_request(monkeypatch, capsys):
    @report_errors
    def buggy():
        raise ZeroDivisionError("two\nlines \x1b[2J")

    monkeypatch.delenv("FACEBENCH_TRACEBACK", raising=False)
    with pytest.raises(typer.Exit) as exit:
        buggy()
    said = capsys.readouterr().err
    assert exit.value.exit_code == 1 and "ZeroDivisionError: two lines \\x1b[2J" in said
    assert said.count("\n") == 1
    monkeypatch.setenv("FACEBENCH_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        buggy()


def test_a_reader_that_has_seen_enough_is_no_error():
    process = subprocess.Popen(
        command("list", "networks", "--json"),
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.close()
    assert b"Traceback" not in process.stderr.read()
    process.stderr.close()
    process.wait()


def test_out_is_the_first_free_number(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert out_path(None, "run", "lfw") == Path("runs/run-lfw-1")
    assert out_path(None, "run", "lfw") == Path("runs/run-lfw-2")
    assert out_path(None, "pack", "lfw", ".h5") == Path("runs/pack-lfw-1.h5")
    assert "out: runs/run-lfw-2" in capsys.readouterr().err
    Path("runs/run-lfw-2/run.json").write_text("{}")
    Path("runs/pack-lfw-1.h5").write_text("a pack")
    give_back_names()
    assert sorted(p.name for p in Path("runs").iterdir()) == ["pack-lfw-1.h5", "run-lfw-2"]


def test_assignments():
    assert parse_assignments(["a=1", "b=x", "c=[1, 2]", "d=true", "e=a=b"]) == {
        "a": 1,
        "b": "x",
        "c": [1, 2],
        "d": True,
        "e": "a=b",
    }
    assert parse_assignments(["m=1,2.5", "c=a,b", "n=[1,2]", "x=1,b"]) == {
        "m": [1, 2.5],
        "c": "a,b",
        "n": [1, 2],
        "x": "1,b",
    }
    with pytest.raises(ValueError, match="NAME=VALUE"):
        parse_assignments(["lr"])


def test_an_unknown_device_is_wrong_use(tmp_path):
    args = ("detect", tmp_path)
    assert_user_error(run(*args, "--device", "gpu", cwd=tmp_path), 2, "unknown device 'gpu'")
    assert_user_error(run(*args, "--device", "cuda:99", cwd=tmp_path), 2, "cuda:99")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("verb", ["run", "embed"])
def test_a_device_that_nothing_below_knows_is_not_offered(verb, tmp_path):
    assert "--device" not in run(verb, "--help", cwd=tmp_path).stdout
    assert "mean=123.675,116.28,103.53" in " ".join(
        run(verb, "--help", cwd=tmp_path).stdout.split()
    )


# --- list -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", list(listing.KINDS))
def test_every_kind_lists_names_and_docs(kind):
    result = runner.invoke(app, ["list", kind, "--json"])
    assert result.exit_code == 0, result.output
    # Warnings about absent devices go to the error stream.
    entries = json.loads(result.stdout)
    assert entries
    assert all(entry["name"] for entry in entries)


def test_list_networks_has_the_agreed_fields():
    entries = json.loads(runner.invoke(app, ["list", "networks", "--json"]).stdout)
    fields = {"name", "parameters", "parameters_caffe_first_blob", "macs", "input", "embedding"}
    assert all(fields | {"source"} <= set(entry) for entry in entries)


# --- detect ---------------------------------------------------------------------------------------


@pytest.fixture
def pictures(tmp_path) -> list[Path]:
    """Four files: an image without a face, a text file, an empty file, none at all."""
    folder = tmp_path / "in"
    folder.mkdir()
    files = [folder / n for n in ("blank.png", "text.jpg", "empty.jpg", "absent.jpg")]
    facebench.images.write(files[0], np.full((60, 60, 3), 90, np.uint8))
    files[1].write_text("not an image")
    files[2].write_bytes(b"")
    return files


def test_bad_images_are_rows_with_a_status(pictures, tmp_path):
    result = run("detect", *pictures, "--detector", "hog", "--json", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    rows = json.loads(result.stdout)
    assert [row["status"] for row in rows] == ["no_face", "unreadable", "unreadable", "missing"]
    assert run("detect", *pictures, "--detector", "hog", "--strict").returncode == 1


def test_detect_writes_drawings(pictures, tmp_path):
    result = run("detect", pictures[0], "--detector", "hog", "--draw", tmp_path / "drawn")
    assert result.returncode == 0, result.stderr
    assert [p.name for p in (tmp_path / "drawn").iterdir()] == ["blank.png"]


@pytest.fixture
def tree(pictures) -> Path:
    """A folder with the above, one more image in a folder below it, and notes."""
    folder = pictures[0].parent
    facebench.images.write(folder / "deep" / "er" / "10.jpg", np.full((50, 40, 3), 99, np.uint8))
    facebench.images.write(folder / "deep" / "er" / "2.jpg", np.full((30, 40, 3), 99, np.uint8))
    (folder / "notes.md").write_text("notes")
    return folder


TREE = ["blank.png", "deep/er/2.jpg", "deep/er/10.jpg", "empty.jpg", "text.jpg"]


def test_detect_takes_a_tree_of_folders(tree, tmp_path):
    result = run("detect", tree, "--detector", "hog", "--draw", tmp_path / "drawn")
    assert result.returncode == 0, result.stderr
    rows = list(csv.DictReader(result.stdout.splitlines()))
    assert [row["name"] for row in rows] == TREE
    assert [row["status"] for row in rows] == ["no_face"] * 3 + ["unreadable"] * 2
    assert rows[0]["x0"] == rows[0]["score"] == ""
    assert "skipped, no JPEG, PNG or PNM: 1 (notes.md)" in result.stderr
    drawn = sorted(p.relative_to(tmp_path / "drawn") for p in tmp_path.rglob("drawn/**/*.*"))
    assert [str(p) for p in drawn] == ["blank.png", "deep/er/10.jpg", "deep/er/2.jpg"]


def test_detect_writes_a_file_and_says_what_is_in_it(tree, tmp_path):
    out = tmp_path / "faces.csv"
    result = run("detect", tree, "--detector", "hog", "--out", out)
    assert result.stdout == f"{out}: 0 faces on 5 images (3 no_face, 2 unreadable)\n"
    assert [line.split(",")[0] for line in out.read_text().splitlines()[1:]] == TREE
    result = run("detect", tree, "--detector", "hog", "--out", tmp_path / "f.json", "--json")
    summary = json.loads(result.stdout)
    assert summary["counts"]["unreadable"] == 2
    assert summary["skipped"] == [str(tree / "notes.md")]
    assert [row["name"] for row in json.loads((tmp_path / "f.json").read_text())] == TREE


def test_detect_refuses_what_it_cannot_write(tree, tmp_path):
    assert_user_error(run("detect", tree, "--detector", "hog", "--out", "faces.txt"), 2, ".csv")
    before = (tree / "blank.png").read_bytes()
    assert_user_error(run("detect", tree, "--detector", "hog", "--draw", tree), 2, "replace")
    assert (tree / "blank.png").read_bytes() == before
    (tmp_path / "none").mkdir()
    assert_user_error(run("detect", tmp_path / "none", "--detector", "hog"), 1, "no image")


def test_an_unknown_detector_gets_a_suggestion(pictures):
    assert_user_error(run("detect", pictures[0], "--detector", "mtcn"), 2, "did you mean 'mtcnn'?")


# --- the way through ------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def faces(tmp_path_factory) -> Path:
    """Synthetic faces in LFW's format, made by the command line itself."""
    folder = tmp_path_factory.mktemp("faces")
    arguments = [
        "--people",
        "20",
        "--images",
        "2",
        "--size",
        "96",
        "--set",
        "supersampling=1",
        "--sheet",
    ]
    result = runner.invoke(
        app,
        ["data", "synth", "--out", str(folder / "data"), *arguments, str(folder / "sheet.png")],
    )
    assert result.exit_code == 0, result.output
    return folder


@pytest.fixture(scope="session")
def trained(faces) -> dict[str, Path]:
    """Pack, model, embeddings and run folder, each made by its verb."""
    files = {
        "root": faces / "data",
        "pack": faces / "pack.h5",
        "training": faces / "training",
        "embeddings": faces / "embeddings.h5",
        "run": faces / "run",
    }
    invoke("pack", "lfw", "--root", files["root"], "--detector", "none", "--out", files["pack"])
    invoke(
        *("train", "small4.softmax", "--pack", files["pack"], "--out", files["training"]),
        *("--set", "epochs=1", "--set", "batch=8", "--threads", 1),
    )
    files["model"] = files["training"] / "model.safetensors"
    invoke("embed", files["model"], files["pack"], "--out", files["embeddings"])
    invoke(
        *("eval", "lfw", "--embeddings", files["embeddings"], "--root", files["root"]),
        *("--replicates", 50, "--out", files["run"]),
    )
    return files


def invoke(*args, code: int = 0):
    result = runner.invoke(app, [str(a) for a in args])
    assert result.exit_code == code, result.output
    return result


def test_train_is_judged_by_a_protocol(trained, tmp_path):
    train = ("train", "small4.softmax", "--pack", trained["pack"], "--out", tmp_path / "run")
    small = ("--set", "epochs=2", "--set", "batch=8", "--threads", 1, "--json")
    judge = ("--validate", "lfw", "--validation-pack", trained["pack"], "--root", trained["root"])
    result = json.loads(invoke(*train, *small, *judge, "--validation-metric", "auc").stdout)
    assert (tmp_path / "run" / "best.safetensors").exists()
    lines = [json.loads(x) for x in (tmp_path / "run" / "log.jsonl").read_text().splitlines()]
    values = [line["value"] for line in lines if line.get("metric") == "auc"]
    assert len(values) == 3
    assert result["best_score"] == max(values[1:])
    assert "validation-pack" in invoke(*train, "--validate", "lfw", code=2).output


def test_train_leaves_out_what_a_list_names(trained, tmp_path):
    left_out = facebench.datasets.Pack(trained["pack"]).label_names[0]
    (tmp_path / "list.txt").write_text(f"person\t{left_out}\n")
    result = invoke(
        *("train", "small4.softmax", "--pack", trained["pack"], "--out", tmp_path / "run"),
        *("--set", "epochs=1", "--set", "batch=8", "--threads", 1),
        *("--exclude", tmp_path / "list.txt"),
    )
    assert f"left out by {tmp_path / 'list.txt'}: 2 images" in result.output


def test_pack_cuts_crops_of_the_size_that_is_said(trained, tmp_path):
    pack = ("pack", "lfw", "--root", trained["root"], "--detector", "none", "--crop", "paper")
    for said, shape in (("24", (24, 24)), ("20x28", (28, 20))):
        path = tmp_path / f"{said}.h5"
        invoke(*pack, "--crop-size", said, "--out", path)
        assert facebench.datasets.Pack(path).images.shape[1:3] == shape
    for wrong in ("20x", "20x28x3", "-20", "half"):
        assert "--crop-size" in invoke(*pack, f"--crop-size={wrong}", code=2).output


def test_synth_writes_lists_and_sheet(faces):
    assert (faces / "sheet.png").is_file()
    assert list((faces / "data").rglob("pairs.txt"))


def test_check_finds_what_is_wrong(faces, tmp_path):
    root = tmp_path / "data"
    shutil.copytree(faces / "data", root)
    report = json.loads(
        invoke("data", "scan", "lfw", "--root", root, "--protocol", "lfw", "--json").stdout
    )
    assert (report["images"], report["people"], report["findings"]) == (40, 20, [])
    damaged = sorted(root.rglob("*_0001.*"))[0]
    damaged.write_bytes(b"")
    report = json.loads(invoke("data", "scan", "lfw", "--root", root, "--json", code=1).stdout)
    assert [f["kind"] for f in report["findings"]] == ["empty"]


def test_eval_prints_the_metrics_file_as_json(trained, tmp_path):
    arguments = ("--embeddings", trained["embeddings"], "--root", trained["root"])
    result = invoke(
        *("eval", "lfw", *arguments, "--replicates", 50, "--out", tmp_path / "run", "--json")
    )
    answer = json.loads(result.stdout)
    assert answer.pop("out") == str(tmp_path / "run")
    assert answer.pop("report") == str(tmp_path / "run/report.html")
    assert answer == json.loads((trained["run"] / "metrics.json").read_text())
    first, second = (p / "scores.h5" for p in (trained["run"], tmp_path / "run"))
    assert first.read_bytes() == second.read_bytes()


def test_files_of_strangers_give_the_same_numbers(trained, tmp_path, confinable):
    """Pack, embeddings and scores are read by confined processes; every file comes out the same."""
    embeddings, out = tmp_path / "embeddings.h5", tmp_path / "run"
    arguments = ("--root", trained["root"], "--replicates", 50, "--out", out)
    try:
        invoke("--untrusted", "embed", trained["model"], trained["pack"], "--out", embeddings)
        invoke("--untrusted", "eval", "lfw", "--embeddings", embeddings, *arguments)
        root = ("--root", trained["root"])
        verified = invoke("--untrusted", "verify", out, *root, "--json", code=1)
    finally:
        assert fio.confine_readers(False)
    checks = json.loads(verified.stdout)["checks"]
    assert [c["name"] for c in checks if not c["same"]] == ["input embeddings"]  # outside the root
    assert embeddings.read_bytes() == trained["embeddings"].read_bytes()
    for name in ("scores.h5", "metrics.json"):
        assert (out / name).read_bytes() == (trained["run"] / name).read_bytes()


def test_eval_does_not_replace_unless_told(trained):
    arguments = ("--embeddings", trained["embeddings"], "--root", trained["root"])
    again = ("eval", "lfw", *arguments, "--replicates", 50, "--out", trained["run"])
    assert "exists" in invoke(*again, code=1).output
    invoke(*again, "--overwrite")


def test_eval_wants_embeddings_or_scores(trained):
    invoke("eval", "lfw", "--root", trained["root"], code=2)


def test_run_goes_from_photographs_to_a_report(trained, tmp_path):
    arguments = ("--root", trained["root"], "--detector", "none", "--replicates", 50)
    out = tmp_path / "run"
    invoke("run", "lfw", "--model", trained["model"], *arguments, "--out", out)
    assert {"run.json", "scores.h5", "metrics.json", "report.md"} <= {p.name for p in out.iterdir()}
    invoke("verify", out)


def test_verify_says_what_differs(trained, tmp_path):
    run_folder, root = tmp_path / "run", tmp_path / "data"
    shutil.copytree(trained["run"], run_folder)
    shutil.copytree(trained["root"], root)
    invoke("verify", run_folder, "--root", root)
    pairs = next(root.rglob("pairs.txt"))
    pairs.write_text(pairs.read_text() + "\n")
    result = invoke("verify", run_folder, "--root", root, "--json", code=1)
    differing = [c["name"] for c in json.loads(result.stdout)["checks"] if not c["same"]]
    assert len(differing) == 1
    assert "pairs" in differing[0]


def test_report_in_every_format(trained, tmp_path):
    assert "accuracy" in invoke("report", trained["run"], trained["run"]).stdout.lower()
    for name in ("csv", "latex"):
        invoke("report", trained["run"], "--format", name, "--out", tmp_path / name)
        assert (tmp_path / name).is_file()
    invoke("report", trained["run"], "--format", "html", "--out", tmp_path / "page")
    assert (tmp_path / "page" / "report.html").is_file()


def test_convert_refuses_what_is_no_weights_file(tmp_path):
    bad = tmp_path / "w.pt"
    bad.write_bytes(b"not weights")
    invoke("convert", bad, "--network", "small4", "--out", tmp_path / "m.safetensors", code=1)
    assert [p.name for p in tmp_path.iterdir()] == ["w.pt"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "lwf", "--model", "MODEL", "--root", "."),
        ("pack", "lfww", "--root", "."),
        ("eval", "lwf", "--embeddings", "e.h5", "--root", "."),
    ],
)
def test_an_unknown_name_gets_a_suggestion_and_writes_nothing(
    arguments, trained, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    arguments = [trained["model"] if a == "MODEL" else a for a in arguments]
    assert "did you mean 'lfw'?" in invoke(*arguments, code=2).output
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []


# --- Ctrl-C ---------------------------------------------------------------------------------------


def interrupt(args, cwd, by=signal.SIGINT) -> subprocess.CompletedProcess:
    """Starts a long verb, waits for its first line of progress, sends Ctrl-C or another signal."""
    process = subprocess.Popen(
        command(*args),
        cwd=cwd,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Who runs the tests in the background may have them ignore Ctrl-C, which children inherit.
        preexec_fn=lambda: signal.signal(by, signal.SIG_DFL),
    )
    lines = []
    for line in process.stderr:
        lines.append(line)
        if not line.startswith("out: "):
            break
    process.send_signal(by)
    try:
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    return subprocess.CompletedProcess(args, process.returncode, out, "".join(lines) + err)


@pytest.fixture(scope="session")
def many(tmp_path_factory) -> Path:
    """So many images of one person that nothing is through them soon; one file, many names."""
    root = tmp_path_factory.mktemp("many")
    folder = root / "Some_Body"
    folder.mkdir()
    first = folder / "Some_Body_0001.png"
    noise = np.random.default_rng(0).integers(0, 256, (500, 500, 3), np.uint8)
    facebench.images.write(first, noise)
    for number in range(2, 1501):
        os.link(first, folder / f"Some_Body_{number:04}.png")
    return root


def long_command(name: str, trained: dict[str, Path], many: Path) -> tuple:
    """A call of the verb that would take minutes."""
    out = ("--out", "result")
    evaluation = ("--root", trained["root"], "--replicates", 10_000_000)
    embeddings, model, pack = trained["embeddings"], trained["model"], trained["pack"]
    endless = ("--set", "epochs=100000", "--set", "batch=8")
    return {
        "detect": ("detect", many, "--detector", "hog", "--out", "faces.csv"),
        "pack": ("pack", "lfw", "--root", many, *out),
        "train": ("train", "small4.softmax", "--pack", pack, *endless, *out),
        "eval": ("eval", "lfw", "--embeddings", embeddings, *evaluation, *out),
        "run": ("run", "lfw", "--model", model, *evaluation, "--detector", "none", *out),
        "demo": ("demo", *out),
        "data synth": ("data", "synth", "--people", 5_000, *out),
        "data scan": ("data", "scan", "lfw", "--root", many),
    }[name]


@pytest.mark.parametrize(
    "name", ["detect", "pack", "train", "eval", "run", "demo", "data synth", "data scan"]
)
def test_ctrl_c_ends_long_verbs_and_leaves_nothing_half_written(name, trained, many, tmp_path):
    result = interrupt(long_command(name, trained, many), tmp_path)
    assert_user_error(result, 130, "stopped")
    assert result.stdout == ""
    left = [p.relative_to(tmp_path) for p in tmp_path.rglob("*") if p.is_file()]
    # Training writes a checkpoint before it stops, to go on from; the cache keeps what is whole.
    own = {"train": "result", "run": "runs/cache"}.get(name)
    assert [p for p in left if own is None or not str(p).startswith(own)] == []
    assert left or name != "train"


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGHUP])
def test_other_signals_end_a_verb_as_ctrl_c_does(by, trained, many, tmp_path):
    result = interrupt(long_command("pack", trained, many), tmp_path, by)
    assert_user_error(result, 130, "stopped")
    assert list(tmp_path.iterdir()) == []


def test_an_unnamed_result_has_its_name_from_the_start(trained, many, tmp_path):
    """So that two calls at once cannot find the same name free; what fails gives it back."""
    (tmp_path / "runs" / "pack-lfw-1.h5").parent.mkdir()
    (tmp_path / "runs" / "pack-lfw-1.h5").write_bytes(b"another call's")
    result = interrupt(("pack", "lfw", "--root", many), tmp_path)
    assert_user_error(result, 130, "stopped")
    assert "out: runs/pack-lfw-2.h5" in result.stderr
    assert [p.name for p in (tmp_path / "runs").iterdir()] == ["pack-lfw-1.h5"]
