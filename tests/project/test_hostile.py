"""Hostile files against the command line: each known abuse is stopped by what is meant to stop it,
and no verb answers a wrong file with a traceback."""

import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys

import facebench
import numpy as np
import pytest
from click.testing import CliRunner
from facebench import protocols
from facebench.cli.app import app

SOURCE = pathlib.Path(__file__).parents[1] / "hostile/cases.py"
spec = importlib.util.spec_from_file_location("hostile_cases", SOURCE)
cases = importlib.util.module_from_spec(spec)
spec.loader.exec_module(cases)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def one_sentence(output):
    return "Traceback" not in output and "not foreseen" not in output


@pytest.mark.parametrize("name", cases.CASES)
def test_a_known_abuse_is_stopped(name, folder):
    case = cases.CASES[name]
    if case.torch:
        pytest.importorskip("torch")
    code, said = cases.run(name)
    assert (code, case.says in said, one_sentence(said)) == (case.code, True, True), said
    assert not (folder / "harmed").exists()


@pytest.mark.parametrize(
    "name", ["toml_nested", "json_nested", "hdf5_cut_short", "toml_key_of_dots"]
)
def test_the_same_where_readers_are_confined(name, confined):
    code, said = cases.run(name, "--untrusted")
    assert (code, cases.CASES[name].says in said) == (1, True), said


# What stands where a verb expects a file: (name, bytes; None: not there, a callable makes it).
FILES = {
    "absent": None,
    "empty": b"",
    "text": b"Ann\t1\t2\n\n\x00\xff\n",
    "null": b"null",
    "list": b"[1, 2]",
    "object": b'{"content": 3, "format": "x"}',
    "signature of HDF5": b"\x89HDF\r\n\x1a\n" + bytes(40),
    "zip": b"PK\x03\x04" + bytes(30),
    "image": b"\xff\xd8\xff\xe0" + bytes(20),
    "folder": lambda path: path.mkdir(),
    "loop": lambda path: path.symlink_to(path),
}
LIGHT = [
    "eval lfw --root here --embeddings X", "eval lfw --root here --scores X", "eval X --root here",
    "eval lfw --root X --scores s.csv", "report X", "report X --format html --out page",
    "explain X X", "explain run X", "groups X", "pairs lfw --root X --out p.csv", "pairs X.toml",
    "data check lfw --root X", "report run --against X.toml", "verify X",
    "check run --rules X.toml", "threshold X --same", "calibrate X --same", "plan X", "inspect X",
    "inspect run --qualities X --quality-below 1", "inspect run --attributes X --group a",
    "budget run X",
]  # fmt: skip
FULL = [
    "pack folder --root X --detector none --out p.h5", "embed X X --out e.h5", "detect X",
    "train X.toml --pack X --out t", "train small4_quick.softmax --pack X --out t",
    "convert X --out m.safetensors", "convert X --network small4 --out m.safetensors",
    "run lfw --model X --root here --out r", "compare X X --model X", "data scan folder --root X",
    "data convert X --out c.tar",
    "detect X --detector given --detector-option file=X", "data overlap X X",
    "suite X.toml --out s", "study X.toml --out s", "gallery X", "quality X",
    "data croissant X --out c",
]  # fmt: skip


def put(kind, path):
    content = FILES[kind]
    if callable(content):
        content(path)
    elif content is not None:
        path.write_bytes(content)


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("verbs", ["light", "full"])
def test_no_verb_answers_a_wrong_file_with_a_traceback(kind, verbs, folder):
    if verbs == "full":
        pytest.importorskip("torch")
    (folder / "here").mkdir()
    (folder / "here/pairs.txt").write_text(cases.PAIRS)
    cases.saved_run()
    put(kind, folder / "X")
    put(kind, folder / "X.toml")
    for line in LIGHT if verbs == "light" else FULL:
        answer = CliRunner().invoke(app, line.split())
        assert answer.exit_code in (0, 1, 2, 3), (line, answer.output)
        assert one_sentence(answer.output), (line, answer.output)


def test_damaged_archives_and_toml_are_read_or_refused():
    """Some of the changes of tests/hostile/damage.py."""
    program = SOURCE.with_name("damage.py")
    done = subprocess.run(
        [sys.executable, program, "--most", "150"],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
    )
    assert done.returncode == 0, done.stdout + done.stderr


# Names that a format could take for something else.
NAMES = {
    "html": "<script>alert(1)</script><img src=x onerror=alert(2)>",
    "markdown": "a`b`|c|[d](javascript:e)*f*_g_",
    "latex": r"\input{/etc/passwd}$x^2$%&#_{}~",
    "csv": '=cmd|"/c calc"!A1',
    "terminal": "\x1b]0;title\x07\x1b[31mred\u202eltr",
}


def report_of(names, folder, form):
    """What a report of a run prints whose title, and folder, and samples have these names."""
    text = pathlib.Path(cases.saved_run() / "run.json").read_text()
    assert json.loads(text)
    arguments = ["report", "run", "--title", names, "--format", form]
    if form == "html":
        arguments += ["--out", "page"]
    answer = CliRunner().invoke(app, arguments)
    assert answer.exit_code == 0, answer.output
    if form != "html":
        return answer.output
    # The page's own scripts are files of the package, word for word; any other is a name's.
    page = (folder / "page/report.html").read_text()
    for file in (pathlib.Path(facebench.__file__).parent / "templates").glob("*.js"):
        page = page.replace(f"<script>\n{file.read_text()}\n</script>", "")
    return page


@pytest.mark.parametrize("form", ["markdown", "html", "latex", "csv"])
@pytest.mark.parametrize("name", NAMES)
def test_no_name_leaves_its_place_in_a_report(name, form, folder):
    text = report_of(NAMES[name], folder, form)
    assert "\x1b" not in text and "\x07" not in text
    if form in ("markdown", "html"):
        assert not re.search(r"(?<!\\)<(script|img src)", text)
    if form == "markdown":
        assert "[d](" not in text
    if form == "latex":
        assert r"\input{" not in text and "$x^2$" not in text
    if form == "csv":
        assert not any(
            cell.startswith(("=", "+cmd", "@"))
            for line in text.splitlines()
            for cell in line.replace('"', "").split(",")
        )


def test_names_of_people_and_samples_are_escaped_in_a_saved_report(folder):
    person = "a`<img src=x onerror=alert(1)>"
    (folder / "pairs.csv").write_text(
        f"first,second,label\n{person}/1,{person}/2,1\n{person}/1,b/1,0\n"
    )
    trials = protocols.read_trials("pairs", folder)
    values = np.eye(len(trials.names), 4, dtype=np.float32)
    status = np.zeros(len(values), np.uint8)
    status[0], values[0] = 2, 0
    result = facebench.evaluate(
        "pairs", embeddings=values, names=trials.names, status=status, root=folder, interval="none"
    )
    result.save(folder / "saved")
    for file in folder.joinpath("saved").glob("report.*"):
        assert not re.search(r"(?<!\\)<img src", file.read_text()), file


def test_verify_reads_nothing_outside_of_the_run_and_the_roots(folder, monkeypatch):
    secret = folder / "secret"
    secret.write_text("secret")
    (folder / "work").mkdir()
    monkeypatch.chdir(folder / "work")
    run = cases.saved_run()
    manifest = json.loads((run / "run.json").read_text())
    (role,) = {entry["role"] for entry in manifest["content"]["inputs"]} or {"lists"}
    manifest["content"]["inputs"] += [
        {"role": role, "name": str(name), "sha256": facebench.io.sha256_file(secret)}
        for name in ("../secret", secret, "../../" * 9 + str(secret))
    ]
    (run / "run.json").write_text(json.dumps(manifest))
    (folder / "work/secret_root").mkdir()
    for more in ([], ["--root", "secret_root"]):
        answer = CliRunner().invoke(app, ["verify", "run", *more])
        assert answer.exit_code == 3
        assert one_sentence(answer.output), answer.output


@pytest.mark.slow
def test_changed_files_of_every_format():
    """tests/hostile/formats.py: by hand with thousands of calls."""
    pytest.importorskip("facebench._full")
    pytest.importorskip("h5py")
    script = pathlib.Path(__file__).parents[1] / "hostile/formats.py"
    done = subprocess.run(
        [sys.executable, script, "3", "100"], env=os.environ, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "100 calls, 0 not foreseen" in done.stdout
