#!/usr/bin/env python3
"""Runs notebooks and keeps their outputs, which is what people read: `run_notebooks.py [NAME...]`.

All five take minutes; they need neither a GPU nor data. What differs from run to run is left out:
progress, folders' names, times. Pictures have 64 colours.
"""

import base64
import io
import os
import re
import sys
import tempfile
from pathlib import Path

import nbclient
import nbformat
from PIL import Image

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"


def main(names: list[str]) -> None:
    os.environ.pop("FACEBENCH_DATA", None)  # on rendered faces, the same pages everywhere
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        if names and path.name not in names:
            continue
        print(path.name, flush=True)
        notebook = nbformat.read(path, as_version=4)
        with tempfile.TemporaryDirectory() as work:
            where = {"metadata": {"path": work}}
            nbclient.NotebookClient(
                notebook, timeout=600, kernel_name="python3", resources=where
            ).execute()
        for number, cell in enumerate(c for c in notebook.cells if c.cell_type == "code"):
            cell.metadata = {}
            cell.execution_count = number + 1
            cell.outputs = [kept(output, number + 1) for output in cell.outputs if shown(output)]
        notebook.metadata.language_info = {"name": "python"}
        nbformat.write(notebook, path)


def shown(output: dict) -> bool:
    """Not what warns, nor a bar that says how far it is."""
    return output.get("name") != "stderr" and not output.get("text", "").startswith("\r")


def kept(output: dict, number: int) -> dict:
    if "execution_count" in output:
        output.execution_count = number
    if "text" in output:
        output.text = without_folder(output.text)
    data = output.get("data", {})
    for kind in data:
        data[kind] = few_colours(data[kind]) if kind == "image/png" else without_folder(data[kind])
    return output


def without_folder(text: str) -> str:
    return re.sub(rf"{re.escape(tempfile.gettempdir())}/facebench-\w+/", "", text)


def few_colours(png: str) -> str:
    picture = Image.open(io.BytesIO(base64.b64decode(png))).convert("RGB").quantize(64)
    small = io.BytesIO()
    picture.save(small, "PNG", optimize=True)
    return base64.b64encode(small.getvalue()).decode()


if __name__ == "__main__":
    main(sys.argv[1:])
