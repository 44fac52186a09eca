"""Which of the two packages a build makes, and what it says where it cannot tell."""

import importlib
import shutil
import subprocess
import sys
from pathlib import Path

import facebench_build
import pytest

ROOT = Path(__file__).resolve().parents[2]
OFF = "cmake.define.FACEBENCH_FULL"


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.delenv("FACEBENCH_LIGHT", raising=False)


def without_torch(monkeypatch):
    monkeypatch.setattr(facebench_build, "find_spec", lambda name: None)


def name_of(folder, settings):
    (info,) = [facebench_build.prepare_metadata_for_build_wheel(str(folder), settings)]
    lines = (folder / info / "METADATA").read_text().splitlines()
    return next(line for line in lines if line.startswith("Name: "))


@pytest.mark.parametrize("hook", ["requires", "metadata", "wheel", "editable"])
@pytest.mark.parametrize("settings", [None, {}, {"build-dir": "b"}, {OFF: "ON"}])
def test_without_torch_it_stops_with_a_sentence(monkeypatch, tmp_path, hook, settings):
    without_torch(monkeypatch)
    call = {
        "requires": lambda: facebench_build.get_requires_for_build_wheel(settings),
        "metadata": lambda: facebench_build.prepare_metadata_for_build_wheel(tmp_path, settings),
        "wheel": lambda: facebench_build.build_wheel(tmp_path, settings),
        "editable": lambda: facebench_build.build_editable(tmp_path, settings),
    }[hook]
    with pytest.raises(SystemExit, match=r"sees no torch[^$]*--no-build-isolation[^$]*LIGHT=1"):
        call()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("value", ["OFF", "off", "0", "FALSE", "No"])
def test_the_light_package_is_called_so(monkeypatch, tmp_path, value):
    without_torch(monkeypatch)
    assert name_of(tmp_path, {OFF: value}) == "Name: facebench-eval"
    assert Path.cwd() == ROOT


def test_by_the_environment_also_beside_a_torch(monkeypatch, tmp_path):
    monkeypatch.setenv("FACEBENCH_LIGHT", "1")
    assert name_of(tmp_path, None) == "Name: facebench-eval"
    monkeypatch.setenv("FACEBENCH_LIGHT", "0")
    assert name_of(tmp_path, None) == "Name: facebench"


@pytest.mark.parametrize(("wish", "define"), [("yes", ""), ("2", ""), ("1", "ON")])
def test_what_is_no_wish(monkeypatch, wish, define):
    monkeypatch.setenv("FACEBENCH_LIGHT", wish)
    with pytest.raises(SystemExit, match="FACEBENCH_LIGHT"):
        facebench_build.is_light({OFF: define} if define else None)


def test_a_build_ends_with_the_sentence_alone(tmp_path):
    """In an environment that has what builds, and no torch."""
    site = tmp_path / "site"
    site.mkdir()
    for package in ("scikit_build_core", "packaging", "pathspec", "pybind11"):
        (folder,) = importlib.import_module(package).__path__
        (site / package).symlink_to(folder)
    for place in ("packaging", "python", "pyproject.toml", "README.md", "LICENSE"):
        (tmp_path / place).symlink_to(ROOT / place)
    shutil.copy(ROOT / "CMakeLists.txt", tmp_path)
    command = [sys.executable, "-S", "-c", f"import sys; sys.path[:0] = [{str(site)!r}, "]
    command[-1] += f"{str(ROOT / 'packaging')!r}]; import facebench_build as b; b.build_wheel('.')"
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 1 and "sees no torch" in done.stderr
    assert "Traceback" not in done.stderr and not list(tmp_path.glob("*.whl"))


def test_the_source_archive_has_what_builds_it(monkeypatch, tmp_path):
    """Of the project without C++ sources, tests and pages: scikit-build-core takes 5 ms a file."""
    project = tmp_path / "project"
    project.mkdir()
    for name in ("pyproject.toml", "CMakeLists.txt", "README.md", "LICENSE", ".gitignore"):
        shutil.copy(ROOT / name, project)
    for name in ("packaging", "python"):
        shutil.copytree(ROOT / name, project / name)
    monkeypatch.chdir(project)
    name = facebench_build.build_sdist(str(tmp_path))
    listed = subprocess.check_output(["tar", "tf", str(tmp_path / name)], text=True)
    top = name.removesuffix(".tar.gz")
    for file in ("packaging/facebench_build.py", "CMakeLists.txt", "python/facebench/__init__.py"):
        assert f"{top}/{file}" in listed.splitlines()
    assert "__pycache__" not in listed
