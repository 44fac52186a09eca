#!/usr/bin/env python3
"""Runs each notebook whose copy with outputs is older, for the site: FOLDER/NAME.ipynb.

`python scripts/run_notebooks.py FOLDER`. All five take minutes; they need neither a GPU nor data.
"""

import os
import sys
import tempfile
from pathlib import Path

import nbclient
import nbformat

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    os.environ.pop("FACEBENCH_DATA", None)  # on rendered faces, the same pages everywhere
    for source in sorted(NOTEBOOKS.glob("*.ipynb")):
        copy = folder / source.name
        if copy.exists() and copy.stat().st_mtime >= source.stat().st_mtime:
            continue
        print(source.name, flush=True)
        notebook = nbformat.read(source, as_version=4)
        with tempfile.TemporaryDirectory() as work:
            where = {"metadata": {"path": work}}
            nbclient.NotebookClient(
                notebook, timeout=600, kernel_name="python3", resources=where
            ).execute()
        nbformat.write(notebook, copy)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
