"""The build backend: scikit-build-core's, which makes one of two packages out of this project.

``facebench`` is made for the torch that it sees; where it sees none, it stops with a sentence.
``facebench-eval`` (protocols, metrics, reports) needs no torch; FACEBENCH_LIGHT=1 in the
environment, or ``-C cmake.define.FACEBENCH_FULL=OFF``, asks for it.
"""

import contextlib
import os
import re
import shutil
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from scikit_build_core import build as _core
from scikit_build_core.build import build_sdist, get_requires_for_build_sdist

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

_DEFINE = "cmake.define.FACEBENCH_FULL"
_OFF = ("0", "OFF", "NO", "FALSE", "N")  # as CMake has it, in any case
_NO_TORCH = f"""
facebench: {sys.executable} sees no torch, and facebench is built for the torch that it runs with.
facebench: For the whole: pip install scikit-build-core pybind11 torch, then
facebench:   pip install --no-build-isolation .
facebench: For protocols, metrics and reports alone (facebench-eval, without torch):
facebench:   FACEBENCH_LIGHT=1 pip install ."""


def is_light(settings) -> bool:
    """Whether the light package is asked for."""
    define = str((settings or {}).get(_DEFINE, "")).upper()
    wish = os.environ.get("FACEBENCH_LIGHT", "")
    if wish not in ("", "0", "1"):
        raise SystemExit(f"facebench: FACEBENCH_LIGHT is '{wish}': expected 1 or 0")
    if wish == "1" and define and define not in _OFF:
        raise SystemExit(f"facebench: FACEBENCH_LIGHT=1 and {_DEFINE}={define} are two wishes")
    return define in _OFF or wish == "1"


@contextlib.contextmanager
def _project(settings):
    """The settings that scikit-build-core gets, in the folder of the project that is asked for."""
    settings, root = dict(settings or {}), Path.cwd()
    if not is_light(settings):
        if find_spec("torch") is None:
            raise SystemExit(_NO_TORCH)
        yield settings
        return
    settings[_DEFINE] = "OFF"
    for name in ("build-dir", "build.dir"):
        if name in settings:
            settings[name] = str(root / settings[name])
    with tempfile.TemporaryDirectory(prefix="facebench-eval-") as folder:
        light_project(root, Path(folder))
        os.chdir(folder)
        try:
            yield settings
        finally:
            os.chdir(root)


def light_project(root: Path, folder: Path) -> None:
    """The project under the light package's name; the C++ sources stay where they are."""
    for name in ("README.md", "LICENSE"):
        shutil.copy2(root / name, folder)
    ignored = shutil.ignore_patterns("__pycache__", "*.pyc")
    shutil.copytree(root / "python/facebench", folder / "python/facebench", ignore=ignored)
    text = (root / "pyproject.toml").read_text()
    for pattern, other in (
        (r'^name = "facebench"$', 'name = "facebench-eval"'),
        (r'^input = "CMakeLists.txt"$', f'input = "{root}/CMakeLists.txt"'),
        (r"^cmake\.version = .*$", rf'\g<0>\ncmake.source-dir = "{root}"'),
    ):
        text, count = re.subn(pattern, other, text, flags=re.MULTILINE)
        assert count == 1, pattern
    (folder / "pyproject.toml").write_text(text)


def get_requires_for_build_wheel(config_settings=None):
    with _project(config_settings) as settings:
        return _core.get_requires_for_build_wheel(settings)


def get_requires_for_build_editable(config_settings=None):
    with _project(config_settings) as settings:
        return _core.get_requires_for_build_editable(settings)


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    place = os.path.abspath(metadata_directory)
    with _project(config_settings) as settings:
        return _core.prepare_metadata_for_build_wheel(place, settings)


def prepare_metadata_for_build_editable(metadata_directory, config_settings=None):
    place = os.path.abspath(metadata_directory)
    with _project(config_settings) as settings:
        return _core.prepare_metadata_for_build_editable(place, settings)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    place = os.path.abspath(wheel_directory)
    with _project(config_settings) as settings:
        return _core.build_wheel(place, settings, metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    if is_light(config_settings):
        raise SystemExit("facebench: facebench-eval is not installed as an editable package")
    with _project(config_settings) as settings:
        return _core.build_editable(wheel_directory, settings, metadata_directory)
