"""docs/what-goes-in.md: each line that it shows runs as it stands, and each test that it names is
there."""

import ast
import re
import shlex
from pathlib import Path

import pytest
from command_line import invoke
from facebench.core import _files

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/what-goes-in.md").read_text()
TESTS = {
    path: path.read_text() for path in (ROOT / "tests").rglob("*") if path.suffix in (".py", ".cc")
}


def test_its_lines_run_as_they_stand(tmp_path, monkeypatch):
    """In one namespace and one folder, from the top; what the last line of a cell gives shows
    itself."""
    pytest.importorskip("facebench._full")
    pytest.importorskip("onnx")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(_files, "KEPT", "runs/cache")
    names: dict = {}
    ran = 0
    for cell, typed in re.findall(
        r"^```python\n(.*?)^```$|^    (facebench [^\n]*)$", PAGE, re.M | re.S
    ):
        ran += 1
        for line in typed.splitlines():
            invoke(*shlex.split(line.strip())[1:], *(["--quiet"] if "list" not in line else []))
        if not cell:
            continue
        *before, last = ast.parse(cell).body
        exec(compile(ast.Module(before, []), "what-goes-in.md", "exec"), names)
        if isinstance(last, ast.Expr):
            assert repr(eval(compile(ast.Expression(last.value), "what-goes-in.md", "eval"), names))
        else:
            exec(compile(ast.Module([last], []), "what-goes-in.md", "exec"), names)
    assert ran > 12
    assert names["first"].reused == ["pack", "embeddings"]
    assert (tmp_path / "hub/.eval_results/lfw.yaml").is_file()


def test_the_tests_that_it_names_are_there():
    named = set(re.findall(r"`(?:tests/\w+/)?(test_\w+(?:\.py)?|\w+_test\.cc)`", PAGE))
    assert len(named) > 20
    for name in named:
        if "." in name:
            assert any(path.name == name for path in TESTS), name
        else:
            assert any(f"def {name}(" in text for text in TESTS.values()), name
