"""The notebooks: with outputs that `scripts/run_notebooks.py` keeps, and every cell runs."""

import json
import os
import re
from pathlib import Path

import facebench
import pytest

FOLDER = Path(__file__).parents[2] / "notebooks"
NOTEBOOKS = sorted(path.name for path in FOLDER.glob("*.ipynb"))
FULL = any(Path(facebench.__file__).parent.glob("_full.*"))
# What needs no torch runs with the light library too.
LIGHT = {"4-your-own-pipeline.ipynb"}


def read(name):
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))


def test_there_are_five():
    assert [name[0] for name in NOTEBOOKS] == list("12345")


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_outputs_are_kept_small_and_clean(name):
    notebook = read(name)
    assert notebook["nbformat"] == 4
    assert all(cell["metadata"] == {} for cell in notebook["cells"])
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    assert not any(o.get("name") == "stderr" for cell in cells for o in cell["outputs"])
    assert not any(
        "\r" in text for cell in cells for o in cell["outputs"] for text in o.get("text", [])
    )
    # As the standard tools write it, so that opening and saving changes nothing else.
    text = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
    assert (FOLDER / name).read_text(encoding="utf-8") == text
    assert len(text) < 250_000 and "/tmp/" not in text and "nan" not in text


def kinds(cells):
    """What each cell shows: the kinds of its outputs, but for bars of progress. What is printed in
    two messages is one text: how many there are is a matter of time."""
    shown = [
        [
            sorted(o.get("data", {"text": 0}))
            for o in cell["outputs"]
            if "".join(o.get("text", ""))[:1] != "\r"
        ]
        for cell in cells
        if cell["cell_type"] == "code"
    ]
    return [
        [kind for k, kind in enumerate(cell) if kind != ["text"] or cell[k - 1 : k] != [kind]]
        for cell in shown
    ]


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_they_read_well(name):
    """A title first, and text before every two cells of code."""
    kinds = [cell["cell_type"] for cell in read(name)["cells"]]
    texts = ["".join(cell["source"]) for cell in read(name)["cells"]]
    assert kinds[0] == "markdown" and texts[0].startswith(f"# {name[0]} ")
    assert "code code code" not in " ".join(kinds)
    assert all(len(line) <= 100 for t, k in zip(texts, kinds, strict=True) if k == "code"
               for line in t.split("\n"))  # fmt: skip


def test_runs_that_are_compared_differ_in_the_crop_alone():
    """What the notebook says of two runs holds with real data, too: both take the stated pixels."""
    cells = read("5-reproduce-a-number.ipynb")["cells"]
    calls = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code")
    one, other = (
        set(re.sub(r"\s+", " ", call).split(", "))
        for call in re.findall(r'facebench\.run\(\s*"lfw", (.*?),?\s*\)\n', calls, re.DOTALL)
    )
    assert {word.split("=")[0] for word in one ^ other} == {"out", "crop", "crop_size"}


@pytest.mark.parametrize("name", NOTEBOOKS)
# Of the messaging library under the kernel, and of its event loop.
@pytest.mark.filterwarnings("default")
def test_every_cell_runs(name, tmp_path, monkeypatch):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    if not FULL and name not in LIGHT:
        pytest.skip("needs the full library")
    monkeypatch.delenv("FACEBENCH_DATA", raising=False)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    package = Path(facebench.__file__).absolute().parents[1]
    paths = [str(package), *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    # Settings of the user's own must not decide, nor be written to.
    for variable in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR"):
        monkeypatch.setenv(variable, str(tmp_path / variable.lower()))
    notebook = nbformat.read(FOLDER / name, as_version=4)
    nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    ).execute()
    outputs = [o for c in notebook.cells if c.cell_type == "code" for o in c.outputs]
    warned = [o.text for o in outputs if o.output_type == "stream" and o.name == "stderr"]
    assert warned == []
    assert kinds(notebook.cells) == kinds(read(name)["cells"]), "run scripts/run_notebooks.py"
    pictures = [o for o in outputs if "image/png" in o.get("data", {})]
    assert len(pictures) >= 1
