"""An ONNX file as it is at one moment, with the files beside it that hold weights: what was looked
at and tried is then what is opened, whatever is written to its path meanwhile."""

import contextlib
import tempfile
from pathlib import Path

from facebench._onnx.file import hashes_beside
from facebench.core._files import MOST, copy_file, said_of
from facebench.core._other_files import refuse_other


@contextlib.contextmanager
def held(path):
    """The path of a copy in a temporary folder, for as long as it is needed; each file is opened
    once. facebench.Error where it is not an ONNX file, or keeps weights outside of its folder; what
    is said of the copy is said of the file."""
    with tempfile.TemporaryDirectory(prefix="facebench-onnx-") as work:
        copy = Path(work) / Path(path).name
        with said_of(Path(path).parent, work), said_of(path, copy):
            copy_file(path, copy, MOST)
            refuse_other(copy, "an ONNX file")
            hashes_beside(copy, lambda name: _beside(path, name, copy))
            yield copy


def _beside(path, name, copy):
    place = copy.parent / name
    place.parent.mkdir(parents=True, exist_ok=True)
    if not place.exists():
        copy_file(Path(path).parent / name, place)
