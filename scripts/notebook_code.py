#!/usr/bin/env python3
"""Writes the code of each notebook as a Python file of the same name into a folder, for tools that
read Python alone: `python scripts/notebook_code.py FOLDER`.
"""

import json
import sys
from pathlib import Path

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"


def code(notebook: Path) -> str:
    """The code cells one below the other; lines for IPython alone become comments."""
    cells = json.loads(notebook.read_text())["cells"]
    lines = "\n\n".join(
        "".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"
    ).splitlines()
    return "\n".join(f"# {line}" if line.startswith(("%", "!")) else line for line in lines) + "\n"


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.py"):
        old.unlink()
    for notebook in sorted(NOTEBOOKS.glob("*.ipynb")):
        # A module's name may neither begin with a digit nor hold a hyphen.
        name = f"notebook_{notebook.stem.replace('-', '_')}.py"
        (folder / name).write_text(code(notebook))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
