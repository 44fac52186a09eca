"""Names of a package that are imported when they are first asked for."""

import subprocess
import sys
import textwrap

import facebench
import pytest
from facebench import analysis, reports

PACKAGE = {
    "__init__.py": """
        from typing import TYPE_CHECKING

        from facebench.core._when_asked import when_asked

        if TYPE_CHECKING:
            from drawer import inner as inner
            from drawer._knife import cut
            from drawer._knife import blade as edge
            from drawer._knife import (
                cut as hew,
            )
            from drawer._spoons import *

        __getattr__ = when_asked(__name__)
    """,
    "inner.py": "name = __name__",
    "_knife.py": "def cut(): return 'cut'\nblade = [1]",
    "_spoons.py": "__all__ = ['spoon']\nspoon, other = 'spoon', 'other'",
}


@pytest.fixture
def drawer(tmp_path, monkeypatch):
    (tmp_path / "drawer").mkdir()
    for name, text in PACKAGE.items():
        (tmp_path / "drawer" / name).write_text(textwrap.dedent(text))
    monkeypatch.syspath_prepend(tmp_path)
    import drawer

    yield drawer
    for name in [name for name in sys.modules if name.partition(".")[0] == "drawer"]:
        del sys.modules[name]


def test_a_module_is_loaded_when_one_of_its_names_is_asked_for(drawer):
    loaded = lambda: sorted(name for name in sys.modules if name.startswith("drawer."))  # noqa: E731
    assert loaded() == []
    assert drawer.cut() == "cut" and loaded() == ["drawer._knife"]
    assert drawer.edge is sys.modules["drawer._knife"].blade
    assert vars(drawer)["edge"] is drawer.edge  # found once
    assert drawer.inner.name == "drawer.inner" and drawer.hew is drawer.cut
    from drawer import spoon

    assert spoon == "spoon"


@pytest.mark.parametrize("name", ["blade", "other", "knife", "__wrapped__", "_spoon"])
def test_what_the_block_does_not_name_is_not_there(drawer, name):
    with pytest.raises(AttributeError, match=f"module 'drawer' has no attribute '{name}'"):
        getattr(drawer, name)


def test_every_name_that_a_package_lists_is_found():
    for package in (facebench, analysis, reports, facebench.datasets, facebench.embedding):
        assert [name for name in package.__all__ if not hasattr(package, name)] == []
    assert reports.read_run is analysis.read_run  # where it was before


def test_a_run_loads_what_it_uses():
    code = "import sys, facebench.cli.app, facebench.cli.verbs.run, facebench.pipeline\n"
    code += "print(*[n for n in sys.modules if n.startswith('facebench.')])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
    loaded = {name.removeprefix("facebench.") for name in loaded.split()}
    assert "pipeline" in loaded and len(loaded) <= 84
    others = ("_onnx", "_torch_embedder", "detectors", "explanations", "ranking", "_croissant")
    allowed = {"_onnx", "_onnx.file", "detection._python_detectors"}
    assert [n for n in loaded - allowed if any(other in n for other in others)] == []
