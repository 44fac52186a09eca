"""Exit codes, over all verbs: 0, 1 failure, 2 usage, 3 checked and no, 4 not all was checked."""

import ast
import json
import re
import shutil
from pathlib import Path

import facebench
import numpy as np
import pytest
from command_line import invoke, runner
from facebench import images, io
from facebench.cli.app import app
from facebench.cli.lab import found
from facebench.cli.verbs import VERBS as TABLE

ROOT = Path(__file__).resolve().parents[2]
VERBS = {
    " ".join(filter(None, [group, name])): entry
    for group, verbs in [
        ("", {n: e for n, e in TABLE.items() if isinstance(e, str)}),
        *((n, e) for n, e in TABLE.items() if isinstance(e, dict)),
    ]
    for name, entry in verbs.items()
}
# The verbs that give a verdict, and their codes beside 0, 1 and 2.
VERDICTS = {
    "verify": {3, 4},
    "check": {3},
    "data check": {3},
    "data scan": {3},
    "explain": {3},
}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A run of LFW's form, and its data."""
    folder = tmp_path_factory.mktemp("codes")
    fold = "{0}\t1\t2\n{0}\t1\t{1}\t1\n"
    text = "2\t1\n" + fold.format("Ann", "Bob") + fold.format("Cat", "Dan")
    (folder / "pairs.txt").write_text(text)
    for name in ("Ann/Ann_0001", "Ann/Ann_0002", "Bob/Bob_0001", "Cat/Cat_0001", "Cat/Cat_0002",
                 "Dan/Dan_0001"):  # fmt: skip
        path = folder / f"{name}.jpg"
        path.parent.mkdir(exist_ok=True)
        images.write(path, np.full((16, 16, 3), len(name) + ord(name[-1]), np.uint8))
    names = [str(path.relative_to(folder)) for path in sorted(folder.rglob("*.jpg"))]
    rows = np.random.default_rng(0).normal(size=(len(names), 4))
    io.write_embeddings(folder / "e.h5", io.EmbeddingSet(rows, names))
    facebench.evaluate(
        "lfw", folder / "e.h5", root=folder, interval="none", out=folder / "run", command="typed"
    )
    lines = "".join(f"{names[0]},{name},{int(k == 0)}\n" for k, name in enumerate(names[1:]))
    (folder / "pairs.csv").write_text("first,second,label\n" + lines)
    return folder


@pytest.mark.parametrize("name", VERBS)
def test_help_says_which_codes_a_verb_has(name):
    codes = found(VERBS[name]).__dict__["codes"]
    assert set(codes) == VERDICTS.get(name, set())
    text = " ".join(runner.invoke(app, [*name.split(), "--help"]).output.split())
    if not codes:
        assert "exit code" not in text.lower()
        return
    said = re.search(r"Exit codes: 0; 1 failure; 2 usage; (.*)\.$", text)
    assert said and said[1] == "; ".join(f"{k} {meaning}" for k, meaning in codes.items())


def test_no_other_verb_gives_a_verdict():
    """What names EXIT_VERDICT or EXIT_UNCHECKED is the module of one of these verbs."""
    modules = {VERBS[name].rpartition(".")[0] for name in VERDICTS}
    package = ROOT / "python/facebench"
    for path in package.rglob("*.py"):
        names = {
            n.attr for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Attribute)
        }
        module = ".".join(path.relative_to(package).with_suffix("").parts)
        assert not names & {"EXIT_VERDICT", "EXIT_UNCHECKED"} or module in modules, module


def test_the_table_of_the_docs_is_that_of_the_verbs():
    page = (ROOT / "docs/conventions.md").read_text()
    rows = re.findall(r"^  \| `([a-z ]+)` \| (.*?) \|(?: (.*?))? \|$", page, re.M)
    assert {name for name, *_ in rows} == set(VERDICTS)
    for name, three, four in rows:
        codes = found(VERBS[name]).__dict__["codes"]
        assert three.replace("`", "") == codes[3] and four == codes.get(4, "")


@pytest.mark.parametrize("name", VERBS)
def test_wrong_use_is_2(name):
    result = runner.invoke(app, [*name.split(), "--no-such-option"])
    assert result.exit_code == 2, result.output
    typed = runner.invoke(app, [*name.split(), "--no-such-option", "--json"])
    assert typed.exit_code == 2
    assert json.loads(typed.output[typed.output.index('{"error"') :])["exit_code"] == 2


# Words behind a verb that name a file which is not there.
NOWHERE = {
    "demo": None, "list": None, "open": None, "data synth": None, "plan": ["nowhere"],
    "run": ["lfw", "--model", "nowhere.onnx", "--root", "nowhere"],
    "compare": ["a.jpg", "b.jpg", "--model", "nowhere.onnx"],
    "report": ["nowhere"], "verify": ["nowhere"], "show": None,
    "detect": ["nowhere.jpg", "--strict"],
    "pack": ["folder", "--root", "nowhere"], "train": ["demo", "--pack", "nowhere.h5"],
    "convert": ["nowhere.onnx", "--out", "m.safetensors"],
    "quantize": ["nowhere.safetensors", "nowhere.h5", "--out", "q.safetensors"],
    "embed": ["nowhere.onnx", "nowhere.h5"],
    "pairs": ["lfw", "--root", "nowhere", "--out", "p.csv"],
    "eval": ["lfw", "--embeddings", "nowhere.h5", "--root", "nowhere"],
    "explain": ["nowhere", "nowhere"], "inspect": ["nowhere"],
    "diagnose": ["nowhere.onnx", "lfw", "--root", "nowhere"],
    "groups": ["nowhere", "--attributes", "nowhere.csv"], "quality": ["nowhere"],
    "fuse": ["nowhere", "nowhere", "--out", "f"],
    "threshold": ["nowhere", "--test", "nowhere"], "calibrate": ["nowhere", "--test", "nowhere"],
    "gallery": ["nowhere"], "budget": ["nowhere", "nowhere"],
    "check": ["nowhere", "--rules", "frte-1-1"], "study": ["nowhere.toml"],
    "suite": ["nowhere.toml"], "data check": ["lfw", "--root", "nowhere"],
    "data scan": ["folder", "--root", "nowhere"], "data convert": ["nowhere", "--out", "x.rec"],
    "data describe": ["nowhere.h5"], "data overlap": ["nowhere.h5", "nowhere.h5"],
    "data keep": ["nowhere.txt", "--root", "nowhere"],
    "data merge": ["nowhere.h5", "--out", "x.h5"],
    "data croissant": ["nowhere.h5"], "bench step": None, "bench scale": None, "bench load": None,
    "bench detect": None, "bench eval": None, "bench layers": None, "bench factors": None,
    "bench compare-datasets": None,
}  # fmt: skip


@pytest.mark.parametrize("name", [name for name, words in NOWHERE.items() if words])
def test_what_is_not_there_is_1(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = runner.invoke(app, [*name.split(), *NOWHERE[name]])
    assert result.exit_code == 1, result.output
    assert "Traceback" not in result.output


def test_every_verb_is_looked_at():
    assert set(NOWHERE) == set(VERBS)


# --- verdicts ---------------------------------------------------------------------------------


def test_check(place, tmp_path):
    rules = 'id = "r"\nversion = 1\n[[rules]]\nname = "n"\n'
    rules += 'value = "content/options/convention"\nis = "{}"\n'
    for wanted, code in (("exact", 0), ("another", 3)):
        (tmp_path / "rules.toml").write_text(rules.format(wanted))
        invoke("check", place / "run", "--rules", tmp_path / "rules.toml", code=code)


def test_verify(place, tmp_path):
    invoke("verify", place / "run", "--root", place, code=0)
    shutil.copytree(place / "run", tmp_path / "run")
    invoke("verify", tmp_path / "run", "--root", tmp_path / "nowhere", code=3)
    (tmp_path / "run" / "further.txt").write_text("what nothing checks\n")
    invoke("verify", tmp_path / "run", "--root", place, code=4)
    (tmp_path / "run" / "report.md").write_text("99.9 %")
    invoke("verify", tmp_path / "run", "--root", place, code=3)


def test_data_check_and_scan(place, tmp_path):
    people = tmp_path / "people"
    for name in ("Ann", "Bob", "Cat", "Dan"):
        shutil.copytree(place / name, people / name)
    shutil.copy(place / "pairs.csv", people)
    invoke("data", "check", "pairs", "--root", people, code=0)
    invoke("data", "scan", "folder", "--root", people, "--set", "duplicates=false", code=0)
    (people / "Bob" / "Bob_0001.jpg").write_bytes(b"")
    invoke("data", "scan", "folder", "--root", people, code=3)
    (people / "Bob" / "Bob_0001.jpg").unlink()
    invoke("data", "check", "pairs", "--root", people, code=3)


@pytest.mark.parametrize(("printed", "code"), [("99.63", 0), ("99.64", 3), ("x", 2)])
def test_explain_a_claim(printed, code):
    result = invoke("explain", "--claim", printed, "--protocol", "lfw", "--json", code=code)
    if code != 2:
        assert json.loads(result.output)["possible"]["nearest"] or code == 3


def test_explain_of_runs_gives_no_verdict(place):
    invoke("explain", place / "run", place / "run", code=0)
