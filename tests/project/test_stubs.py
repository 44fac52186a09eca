"""The stubs of the compiled modules, which the build makes: what type checkers say by them."""

import ast
import importlib.util
import inspect
import json
import pathlib
import re
import subprocess
import sys

import facebench
import pytest
import stubs
from facebench import _eval

PACKAGE = pathlib.Path(_eval.__file__).parent
MODULES = ["_eval"] + ["_full"] * (importlib.util.find_spec("facebench._full") is not None)

WRONG = """
import facebench
facebench.evaluate("lfw", convetion="exact")
facebench.evaluate("lfw", replicates="many")
facebench.run("lfw", model="m.safetensors", crop_sise=96)
facebench.pack("lfw", "LFW", "lfw.h5", detector=3)
facebench.train("demo", "faces.h5", "out", checkpoint_every="never")
facebench.embed("m.safetensors", "lfw.h5", flip=1)
facebench.compare("a.jpg", "b.jpg", model="m.safetensors", micro_batch="x")
facebench.evaluate("lfw", limit="all")
facebench.evaluate("lfw", seed=1.5)
facebench.compare("a.jpg", model="m.safetensors")
facebench.run("lfw")
facebench.run("lfw", model="m.safetensors", convention=1)
facebench.run("lfw", model="m.safetensors", flipp="sum")
facebench.pack("lfw", "LFW")
facebench.train("demo", "faces.h5")
facebench.demo("out", train_people="many")
facebench.explain("runs/a", "runs/b", level="high")
facebench.explain("runs/a", resolve=True)
facebench.verify("runs/a", root=3)
facebench.metrics.wilson("one", 2)
"""
RIGHT = """
import pathlib
import facebench
result = facebench.evaluate("lfw", root="LFW", convention="exact", replicates=100, seed=3)
result.tracks["view2"].comparisons + 1
facebench.run("lfw", model="m.safetensors", root=pathlib.Path("LFW"), crop_size=(96, 112))
facebench.pack("lfw", "LFW", "lfw.h5", detector_options={"mode": "facenet"}).images + 1
facebench.metrics.wilson(1, 2, level=0.9).low + 1
"""


@pytest.mark.parametrize("name", MODULES)
def test_a_stub_names_everything_that_the_module_has(name):
    module = importlib.import_module(f"facebench.{name}")
    tree = ast.parse((PACKAGE / f"{name}.pyi").read_text())
    said = {getattr(node, "name", "") for node in tree.body}
    said |= {node.target.id for node in tree.body if isinstance(node, ast.AnnAssign)}
    there = {n for n, v in vars(module).items() if inspect.isbuiltin(v) or inspect.isclass(v)}
    assert there and there <= said


def test_what_may_be_none_is_there_and_says_so():
    text = "".join((PACKAGE / f"{name}.pyi").read_text() for name in MODULES)
    known = {(f, a) for f, a in stubs.MAY_BE_NONE if f"def {f}(" in text}
    said = {(f, a) for f, a in known if re.search(rf"def {f}\(.*\b{a}: \w+ \| None", text)}
    assert said == known
    assert ("check_claim", "protocol") in said
    assert known == stubs.MAY_BE_NONE or "_full" not in MODULES


def test_options_are_typed_keywords():
    tree = ast.parse((PACKAGE / "_eval.pyi").read_text())
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    typed = {
        part.target.id: ast.unparse(part.annotation)
        for part in classes["EvaluationOptionsKeywords"].body
    }
    assert list(typed) == [f["name"] for f in _eval.EvaluationOptions.fields()]
    assert typed["seed"] == "int" and typed["convention"] == "str | None"


def test_signatures_list_every_option_with_its_default():
    shown = inspect.signature(facebench.evaluate).parameters
    for field in _eval.EvaluationOptions.fields():
        assert shown[field["name"]].default == field["default"]
    assert all(p.kind is not p.VAR_KEYWORD for p in shown.values())


def check(checker, texts, folder):
    """{file: {line: message}} of what a type checker finds in one run, which reads the package."""
    for name, text in texts.items():
        (folder / name).write_text(text)
    settings = {"include": [*texts], "extraPaths": [str(PACKAGE.parent)]}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    # torch's sources take three quarters of mypy's time, and none of the calls is theirs.
    (folder / "mypy.ini").write_text("[mypy]\n[mypy-torch.*]\nfollow_imports = skip\n")
    options = ["--cache-dir=/dev/null", "--follow-imports=silent", *texts]
    how = {"mypy": options, "pyright": ["--pythonpath", sys.executable]}[checker]
    found = subprocess.run(
        [sys.executable, "-m", checker, *how],
        cwd=folder,
        # An installed package is found by itself, and mypy refuses to have it named.
        env={
            "MYPYPATH": "" if PACKAGE.parent.name == "site-packages" else str(PACKAGE.parent),
            "PATH": "",
            "PYTHONPATH": ":".join(sys.path),
        },
        capture_output=True,
        text=True,
    )
    errors = [re.search(r"(\w+\.py):(\d+):.*error: (.*)", x) for x in found.stdout.splitlines()]
    assert found.stdout, found.stderr
    return {name: {int(e[2]): e[3] for e in errors if e and e[1] == name} for name in texts}


@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_a_type_checker_sees_twenty_wrong_calls(checker, tmp_path):
    pytest.importorskip(checker)
    pytest.importorskip("facebench._full")
    lines = WRONG.splitlines()
    wrong = [k for k, line in enumerate(lines, 1) if line.startswith("facebench.")]
    assert len(wrong) == 20
    found = check(checker, {"wrong.py": WRONG, "right.py": RIGHT}, tmp_path)
    assert sorted(found["wrong.py"]) == wrong, found
    assert found["right.py"] == {}


def test_the_package_says_that_it_is_typed():
    assert (PACKAGE / "py.typed").exists()
    assert facebench.__file__.endswith("__init__.py")
