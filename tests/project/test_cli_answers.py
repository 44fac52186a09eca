"""What the command line answers: of one named thing, to machines, and at the end of a run."""

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
from click.testing import CliRunner
from facebench.cli import common
from facebench.cli.app import app
from facebench.cli.verbs import train

runner = CliRunner()


def invoke(*args):
    return runner.invoke(app, [str(a) for a in args])


@pytest.fixture
def data(tmp_path):
    text = "2\t1\nAnn\t1\t2\nAnn\t1\tBob\t1\nCat\t1\t2\nCat\t1\tDan\t1\n"
    (tmp_path / "pairs.txt").write_text(text)
    (tmp_path / "scores.csv").write_text("score\n0.9\n0.1\n0.8\n0.2\n")
    return tmp_path


def evaluated(data, *more):
    where = ("--scores", data / "scores.csv", "--root", data, "--out", data / "run")
    return invoke("eval", "lfw", *where, "--replicates", 20, *more)


@pytest.mark.parametrize("kind", ["intervals", "failures", "metrics"])
def test_these_kinds_are_listed(kind):
    named = json.loads(invoke("list", kind, "--json").stdout)
    assert named and all(entry["doc"] for entry in named)


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("lfw", "protocols", ["pairs.txt", "comparisons 6000", "Labeled Faces in the Wild"]),
        ("mobilefacenet", "networks", ["parameters: 2,353,536", "input: 112, 112, 3", "width:"]),
        ("arcface", "losses", ["m: 0.5", "Deng et al."]),
        ("demo", "recipes", ["training:", "epochs"]),
        ("arcface112", "crops", ["doc:"]),
        (
            "tar_at_far",
            "metrics",
            ["measured on: scores", "targets: rates, such as 0.001", "facenet: "],
        ),
        ("dfw", "readers", ["doc:"]),
        ("parquet", "reports", ["doc: the same for pandas"]),
    ],
)
def test_a_thing_is_shown_with_what_is_known_of_it(name, kind, words):
    pytest.importorskip("facebench._full")
    text = invoke("show", name, "--kind", kind).stdout
    assert text.startswith(f"{kind}:\n  name: {name}\n")
    assert [word for word in words if word not in text] == []
    assert json.loads(invoke("show", name, "--kind", kind, "--json").stdout)[kind]["name"] == name


def test_the_formats_that_are_listed_are_those_that_are_written():
    listed = {entry["name"] for entry in json.loads(invoke("list", "reports", "--json").stdout)}
    assert listed == {*facebench.reports.report_formats(), "html", "parquet"}


@pytest.mark.parametrize("kind", ["metrics", "conventions", "intervals", "fusions", "failures"])
def test_what_is_shown_is_in_words(kind):
    """No name of a field of a struct, no True or False of a programming language."""
    for entry in json.loads(invoke("list", kind, "--json").stdout):
        text = invoke("show", entry["name"], "--kind", kind).stdout
        keys = re.findall(r"^ +([A-Za-z_ ]+):", text, re.MULTILINE)
        assert not [k for k in keys if "_" in k and k not in text.split("rules:")[-1]], text
        assert not re.search(r": (True|False|None)$", text, re.MULTILINE), text


def test_a_name_that_is_nowhere_gets_the_nearest():
    result = invoke("show", "wang-guo", "--kind", "published")
    assert result.exit_code == 2
    assert "nothing is called 'wang-guo'; did you mean 'wang-guo-2019'?" in result.stderr


def test_an_error_is_json_where_json_is_asked_for(data, monkeypatch):
    monkeypatch.chdir(data)
    result = invoke("eval", "lfv", "--scores", data / "scores.csv", "--root", data, "--json")
    assert result.exit_code == 2 and result.stdout == ""
    said = json.loads(result.stderr.splitlines()[-1])
    assert said["exit_code"] == 2 and "did you mean 'lfw'?" in said["error"]


def test_a_folder_that_is_no_run_is_refused_by_what_it_is(data):
    assert evaluated(data).exit_code == 0
    manifest = json.loads((data / "run/run.json").read_text())
    manifest["content"]["kind"] = "training"
    (data / "training").mkdir()
    (data / "training/run.json").write_text(json.dumps(manifest))
    for folder, reason in {
        "nowhere": "nowhere: no such run folder",
        ".": "is not a run folder: it has no run.json",
        "training": "its 'kind' is 'training', not 'evaluation'",
    }.items():
        result = invoke("report", data / folder)
        assert result.exit_code == 1 and reason in result.stderr


def test_the_last_line_says_where_the_report_is(data):
    report = data / "run/report.html"
    assert evaluated(data).stdout.splitlines()[-1] == f"report: {report}"
    assert report.exists()
    answer = json.loads(evaluated(data, "--overwrite", "--json").stdout)
    assert answer["report"] == str(report) and answer["out"] == str(data / "run")


def test_a_report_as_json_is_data(data):
    evaluated(data)
    numbers = json.loads(invoke("report", data / "run", "--json").stdout)["numbers"]
    (eer,) = [row for row in numbers if row["metric"] == "eer"]
    assert (eer["run"], eer["track"], eer["value"]) == ("run", "view2", 0)


def test_quiet_shows_nothing_on_the_error_stream(data, monkeypatch):
    from facebench.core import _progress

    monkeypatch.setattr(_progress, "ANNOUNCED_AFTER", 0)
    shown = []
    terminal = _progress.terminal
    monkeypatch.setattr(_progress, "terminal", lambda: shown.append(1) or terminal())
    assert evaluated(data, "--quiet").stderr == "" and not shown
    evaluated(data, "--overwrite")
    assert len(shown) == 1  # of all stages of the verb
    assert _progress.sink(None) is None  # again, once the verb has ended


def test_a_training_that_was_stopped_names_the_command_that_goes_on(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["facebench", "train", "demo", "--pack", "a b.h5"])
    again = train.resuming(Path("runs/train-demo-1"), None, {"resume": False})
    assert again == "facebench train demo --pack 'a b.h5' --out runs/train-demo-1 --resume"


def test_what_stops_a_verb_may_say_how_to_go_on(capsys):
    common.complain_of_error("stopped; to go on: X", 130, False)
    assert capsys.readouterr().err == "facebench: stopped; to go on: X\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_there_is_completion_for_the_shell(shell):
    folder = str(Path(facebench.__file__).absolute().parents[1])
    environment = {"PYTHONPATH": folder}
    result = subprocess.run(
        [sys.executable, "-m", "facebench", "--show-completion", shell],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
    )
    assert result.returncode == 0 and "facebench" in result.stdout, result.stderr


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("facebench list pro", ["protocols"]),
        ("facebench show lfw_v", ["lfw_view1"]),
        ("facebench eval calfw", ["calfw", "calfw_bin"]),
        ("facebench eval lfw --convention insightface_", ["insightface_gui"]),
    ],
)
def test_names_are_completed(words, found):
    pytest.importorskip("facebench._full")
    environment = {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    environment["_FACEBENCH_COMPLETE"] = "bash_complete"
    result = runner.invoke(app, [], env=environment, prog_name="facebench")
    assert [line.partition(",")[2] for line in result.stdout.split()] == found


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["evl", "--json"], "Did you mean 'eval'?"),
        (["eval", "lfw", "--bogus", "--json"], "No such option '--bogus'"),
        (["run", "--json"], "Missing: PROTOCOL, --model, --root."),
        (
            ["eval", "lfw", "--root", ".", "--replicates", "x", "--json"],
            "Invalid value for '--replicates'",
        ),
    ],
)
def test_wrong_options_are_json_when_asked(words, text):
    result = invoke(*words)
    said = json.loads(result.stderr)
    assert text in said["error"]
    assert result.exit_code == said["exit_code"] == 2
    assert invoke(*words[:-1]).stderr.startswith("Usage:")


@pytest.mark.parametrize(
    ("words", "code", "answer"),
    [
        ("verfy run", 2, "Did you mean 'verify'?"),
        ("eval lwf --scores scores.csv --root .", 2, "did you mean 'lfw'?"),
        ("eval lfw --scores scores.csv --root . --conventoin exact", 2, "--convention"),
        ("eval lfw --scores scores.csv --root . --convention exct", 2, "did you mean 'exact'?"),
        ("eval lfw --scores scores.csv --root . --replicates 0", 2, "the least is 20"),
        ("eval lfw --root .", 2, "give either --embeddings or --scores"),
        ("eval lfw --scores own.csv --root .", 1, "--columns links,rechts,wert"),
        ("run lfw --model x.pt --root .", 2, "facebench convert FILE --network NAME"),
        ("train demoo --pack faces.h5", 2, "did you mean 'demo'?"),
        ("train demo --pack faces.h5 --set lr", 2, "'lr' is not of the form NAME=VALUE"),
        ("bench step lenet5 --set iterations=2", 2, "--set iterations: say --iterations"),
        ("bench step lenet5 --set mode=inference", 2, "--set mode: say --inference"),
        ("bench step lenet5 --set batch=2", 2, "--set batch: say --batch"),
        ("bench scale lenet5 --set data=p.h5", 2, "--set data: say --pack"),
        ("suite --models a.onnx --sets lfw", 2, "'lfw' is not of the form PROTOCOL=FOLDER"),
        ("suite --models a/x.onnx a/x.onnx --sets lfw=LFW", 2, "name them: NAME=FILE"),
        ("report . --format pdf", 2, "html as a page, parquet, and hub"),
        ("explain run", 2, "two run folders are compared, 1 is given"),
        ("show arcfase", 2, "did you mean 'arcface'?"),
    ],
)
def test_fifteen_plausible_mistakes_and_their_answers(words, code, answer, data, monkeypatch):
    pytest.importorskip("facebench._full")
    monkeypatch.chdir(data)
    (data / "own.csv").write_text("links,rechts,wert\nAnn/Ann_0001.jpg,Ann/Ann_0002.jpg,0.9\n")
    result = invoke(*words.split())
    assert result.exit_code == code and answer in " ".join(result.stderr.split())


def test_json_is_json_when_it_goes_well():
    assert json.loads(invoke("list", "intervals", "--json").stdout)
    assert invoke("list", "intervals", "--json").exit_code == 0


def test_no_file_of_a_folder_is_passed_over_in_silence(tmp_path):
    """`pack`, `data scan`, `data convert` and `embed` say which files they do not read."""
    root = tmp_path / "people"
    for shade, name in enumerate(("a/1.png", "a/2.png", "b/1.png", "b/deep/2.png")):
        facebench.images.write(root / name, np.full((40, 40, 3), 90 + shade, np.uint8))
    (root / "b" / "3.gif").write_bytes(b"GIF89a")
    (root / "readme.txt").write_text("beside the people, and no image")
    shutil.copy(root / "a/1.png", root / "loose.png")
    wanted = ["b/3.gif", "loose.png"]
    sentence = "outside of the people's folders: 2 (b/3.gif, loose.png)"
    for verb in (
        ("pack", "folder", "--root", root, "--detector", "none", "--out", tmp_path / "p.h5"),
        ("data", "scan", "folder", "--root", root, "--set", "duplicates=false"),
        ("data", "convert", root, "--out", tmp_path / "c.tar"),
    ):
        said = invoke(*verb, "--quiet")
        assert said.exit_code == 0 and sentence in said.output, said.output
        (tmp_path / "c.tar").unlink(missing_ok=True)
        (tmp_path / "p.h5").unlink(missing_ok=True)
        answer = json.loads(invoke(*verb, "--quiet", "--json").stdout)
        assert answer["passed_over"] == wanted, verb
    assert set(facebench.datasets.read_dataset("folder", root).passed_over) == set(wanted)
    notes = facebench.protocols.read_trials("folders", root).notes
    formats = facebench.images.known_formats()
    assert f"1 of 4 files in the folders are not {formats}, passed over." in notes
    assert "1 folders lie inside of people's folders, passed over." in notes


def test_half_of_a_set_passed_over_is_a_warning(tmp_path):
    root = tmp_path / "people"
    for k, name in enumerate(("a/1", "a/2", "b/1", "b/2")):
        facebench.images.write(root / f"{name}.png", np.full((40, 40, 3), 90 + k, np.uint8))
        (root / f"{name}.heic").write_bytes(b"\0\0\0\x18ftypheic")
    trials = facebench.protocols.read_trials("folders", root)
    sentence = (
        f"4 of 8 files in the folders are not {facebench.images.known_formats()}, passed over."
    )
    assert trials.warnings == [sentence] and sentence not in trials.notes
    for verb in (
        ("pack", "folder", "--root", root, "--detector", "none", "--out", tmp_path / "p.h5"),
        ("data", "scan", "folder", "--root", root),
    ):
        assert "warning: half of the files or more are passed over" in invoke(*verb).output
    facebench.embedding.make_model("small4", seed=1).save(tmp_path / "m.safetensors")
    cut = ("--detector", "none", "--crop-size", "64", "--interval", "none")
    model = ("--model", tmp_path / "m.safetensors", "--out", tmp_path / "run")
    assert f"WARNING: {sentence}" in invoke("run", "folders", "--root", root, *model, *cut).output


def test_a_folder_to_embed_holds_a_row_for_each_photograph(tmp_path):
    image = pytest.importorskip("PIL.Image")
    shades = [np.full((40, 40, 3), 90 + k, np.uint8) for k in range(4)]
    for k, kind in enumerate(("png", "webp", "bmp", "tiff")):
        image.fromarray(shades[k]).save(tmp_path / f"{k}.{kind}")
    (tmp_path / "4.webp").write_bytes(b"RIFF")
    (tmp_path / "5.gif").write_bytes(b"GIF89a")
    model = facebench.embedding.make_model("small4", seed=1)
    with pytest.warns(UserWarning, match=r"passed over, no JPEG.*: 1 \(5.gif\); 5 photographs"):
        found = facebench.embed(model, tmp_path)
    assert found.names == ["0.png", "1.webp", "2.bmp", "3.tiff", "4.webp"]
    status = [facebench.io.SampleStatus(s).name for s in found.status]
    assert status == ["no_face"] * 4 + ["unreadable"]


def test_embed_says_how_many_faces_it_found(tmp_path):
    facebench.embedding.make_model("small4", seed=1).save(tmp_path / "m.safetensors")
    root = tmp_path / "people"
    facebench.images.write(root / "a" / "1.png", np.full((40, 40, 3), 99, np.uint8))
    (root / "a" / "2.jpg").write_bytes(b"")
    pack = tmp_path / "p.h5"
    cut = ("--detector", "none", "--crop-size", "64", "--out", pack)
    assert invoke("pack", "folder", "--root", root, *cut).exit_code == 0
    verb = ("embed", tmp_path / "m.safetensors", pack, "--out", tmp_path / "e.h5", "--quiet")
    said = invoke(*verb)
    assert "1 embeddings of 128 numbers, 2 rows (1 ok, 1 unreadable)" in said.output, said.output
    assert "Without an embedding: 1 (a/2.jpg)" in said.output, said.output


def test_all_that_is_missing_is_named_at_once():
    answer = CliRunner().invoke(app, ["pairs"])
    assert answer.exit_code == 2 and "Missing: PROTOCOL, --root, --out." in answer.output
    answer = CliRunner().invoke(app, ["pairs", "lfw", "--root", "x", "--json"])
    assert answer.exit_code == 2 and "Missing: --out." in answer.output


@pytest.mark.parametrize("name", ["model.pt", "backbone.pth", "epoch_3.ckpt"])
def test_weights_alone_are_no_model(name):
    with pytest.raises(ValueError, match=r"holds weights.* facebench convert FILE --network NAME"):
        facebench.embedding.load_embedder(name)


def on_a_terminal(*words):
    """What a command shows on a terminal, as lines."""
    import pty

    parent, child = pty.openpty()
    environment = os.environ | {"TERM": "dumb"}
    command = [sys.executable, "-m", "facebench", *map(str, words)]
    with subprocess.Popen(command, stdout=child, stdin=child, stderr=subprocess.PIPE,
                          env=environment):  # fmt: skip
        os.close(child)
        said = b""
        while True:
            try:
                part = os.read(parent, 1 << 16)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            said += part
    os.close(parent)
    return said.decode().replace("\r\n", "\n").rstrip("\n").split("\n")


def test_an_answer_fits_a_terminal_and_is_whole_elsewhere(data):
    whole = invoke("list", "metrics").stdout.rstrip("\n").split("\n")
    long = invoke("list", "protocols").stdout.rstrip("\n").split("\n")
    assert len(long) > 30
    shown = on_a_terminal("list", "protocols")
    assert len(shown) == 30
    assert all(a.removesuffix("...") == b[: len(a.removesuffix("..."))]
               for a, b in zip(shown[:29], long, strict=False))  # fmt: skip
    assert shown[-1].endswith("--full shows them")
    assert max(map(len, shown)) <= 80
    full = on_a_terminal("list", "protocols", "--full")
    assert " ".join(" ".join(full).split()) == " ".join(" ".join(long).split())
    assert max(map(len, on_a_terminal("list", "metrics", "--full"))) <= 80 < max(map(len, whole))
    numbers = ("eval", "lfw", "--scores", data / "scores.csv", "--root", data)
    shown = on_a_terminal(*numbers, "--out", data / "t", "--replicates", 20)
    assert max(map(len, shown)) <= max(80, len(f"report: {data / 't/report.html'}"))
    assert sum("no interval: too few" in line for line in shown) == 1


def test_a_long_value_is_not_said_whole():
    x = "x" * 9000
    for words in (["eval", "lfw", "--replicates", x], ["eval", x, x], [x], [f"--{x}"]):
        for as_json in ([], ["--json"]):
            answer = CliRunner().invoke(app, [*words, *as_json])
            assert answer.exit_code == 2 and len(answer.output) < 1000, answer.output[:300]
