"""The stubs of the compiled modules say what the modules have."""

import pytest

pytest.importorskip("pybind11_stubgen")
pytest.importorskip("facebench._full")

import ast

import facebench
import stubs
from facebench import _eval


@pytest.fixture(scope="module")
def made():
    return stubs.generated()


def test_the_stubs_are_current(made):
    run = "run: PYTHONPATH=build/python python scripts/stubs.py"
    assert stubs.stale(made) == [], run


def test_an_old_stub_is_seen(made):
    path, text = next(iter(made.items()))
    assert stubs.stale({path: text.replace("def auc(", "def auk(")}) == [path]


def test_options_are_typed_keywords():
    classes = {
        node.name: node
        for node in ast.parse((stubs.PACKAGE / "_eval.pyi").read_text()).body
        if isinstance(node, ast.ClassDef)
    }
    stub = classes["EvaluationOptions"]
    (init,) = [n for n in stub.body if getattr(n, "name", "") == "__init__"]
    typed = {a.arg: ast.unparse(a.annotation) for a in init.args.kwonlyargs}
    assert list(typed) == [f["name"] for f in _eval.EvaluationOptions.fields()]
    assert typed["seed"] == "int" and typed["convention"] == "str | None"


def test_the_package_says_that_it_is_typed():
    assert (stubs.PACKAGE / "py.typed").exists()
    assert facebench.__file__.endswith("__init__.py")
