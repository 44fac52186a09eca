"""The package as users get it: what is light stays light, and what is absent is named."""

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import check_wheel
import facebench
import numpy
import pytest
import requirements
from facebench import _one_package
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
LIGHT = ("core", "io", "metrics", "protocols", "analysis", "reports", "claims")
# Stands in for an environment without torch.
WITHOUT_TORCH = """
import sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")
sys.meta_path.insert(0, Block())
import importlib.util
real = importlib.util.find_spec
importlib.util.find_spec = lambda n, *a: None if n.split(".")[0] == "torch" else real(n, *a)
"""


def python(code: str) -> subprocess.CompletedProcess:
    folder = Path(facebench.__file__).absolute().parents[1]
    return subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(folder)!r})\n{code}"],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("module", LIGHT)
def test_light_modules_work_without_torch(module):
    result = python(f"{WITHOUT_TORCH}\nimport facebench.{module}")
    assert result.returncode == 0, result.stderr


def test_importing_protocols_loads_nothing_heavy():
    heavy = [
        "torch",
        "matplotlib",
        "jinja2",
        "h5py",
        "click",
        "rich",
        "tqdm",
        "sklearn",
        "facebench._full",
    ]
    result = python(
        f"import sys, facebench.protocols\nprint([m for m in {heavy} if m in sys.modules])"
    )
    assert result.stdout.strip() == "[]", result.stdout + result.stderr


def test_without_torch_the_message_names_the_command():
    result = python(f"{WITHOUT_TORCH}\nimport facebench.nn")
    assert result.returncode != 0
    assert "pip install torch" in result.stderr
    assert "--no-build-isolation" in result.stderr


def test_another_torch_than_the_one_built_with_is_refused():
    result = python("import torch; torch.__version__ = '1.0.0'\nimport facebench.nn")
    assert result.returncode != 0
    assert "torch 1.0.0" in result.stderr


def test_two_packages_in_one_folder_are_refused(tmp_path):
    for folder in ("facebench_eval-0.1.0.dist-info", "facebench_extension-1.0.dist-info"):
        (tmp_path / folder).mkdir()
    _one_package.refuse_two(tmp_path)
    (tmp_path / "facebench-0.1.0.dist-info").mkdir()
    with pytest.raises(ImportError, match="pip uninstall --yes facebench facebench-eval") as caught:
        _one_package.refuse_two(tmp_path)
    assert str(tmp_path) in str(caught.value)


def test_every_module_and_verb_that_is_promised_is_there():
    for name in facebench.__all__:
        assert getattr(facebench, name) is not None, name


def test_an_unknown_attribute_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'protcols'"):
        _ = facebench.protcols


def test_versions_agree():
    lines = (ROOT / "CMakeLists.txt").read_text().splitlines()
    version = next(line.split()[2] for line in lines if line.startswith("project(facebench"))
    assert facebench.__version__ == version
    assert f"version: {version}" in (ROOT / "CITATION.cff").read_text()
    changelog = (ROOT / "CHANGELOG.md").read_text()
    assert re.search(rf"^## {re.escape(version)} - \d{{4}}-\d\d-\d\d$", changelog, re.MULTILINE)
    debian = ROOT / "packaging/debian"
    assert (debian / "changelog").read_text().startswith(f"facebench ({version}-")
    # Debian calls a library's package by its SOVERSION.
    library = f"libfacebench-eval{version.rpartition('.')[0]}"
    assert (debian / f"{library}.install").exists()
    control = (debian / "control").read_text()
    assert set(re.findall(r"libfacebench-eval[\d.]+", control)) == {library}


@pytest.mark.skipif(not (shutil.which("nm") and shutil.which("readelf")), reason="no binutils")
def test_the_light_library_exports_its_own_names_alone_and_is_bound_at_the_start():
    maps = Path("/proc/self/maps").read_text()
    library = Path(next(p for p in maps.split() if Path(p).name.startswith("libfacebench_eval.so")))
    names = check_wheel.exports(library)
    assert len(names) > 500
    assert [name for name in names if "9facebench" not in name] == []
    assert check_wheel.unprotected(library) == []
    # Two folders give the same bytes: no source is named by its path.
    assert f"{ROOT}/cpp/".encode() not in library.read_bytes()


def test_a_file_that_names_its_build_folder_is_found(tmp_path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/a.so").write_bytes(b"\x7fELF/srv/facebench/build\0")
    (tmp_path / "lib/b.so").write_bytes(b"\x7fELF$ORIGIN\0")
    assert check_wheel.placed(tmp_path, Path("/srv/facebench")) == ["lib/a.so names /srv/facebench"]


def test_the_locks_hold_what_is_required_with_hashes():
    # A package may be in a lock twice: for older versions of Python, and for newer ones.
    versions = {}
    for lock in ("requirements.lock", "requirements-gpu.lock", "requirements-test.lock"):
        others = set(versions)
        for entry in re.split(r"\n(?=\w)", (ROOT / lock).read_text()):
            name, version = re.match(r"([\w.-]+)==(\S+)", entry).groups()
            assert re.search(r"--hash=sha256:[0-9a-f]{64}", entry), name
            assert canonicalize_name(name) not in others, f"{name} is in two locks"
            versions.setdefault(canonicalize_name(name), []).append(version)
        if lock == "requirements-gpu.lock":
            assert "triton" in versions
            continue
        group = "run" if lock == "requirements.lock" else "test"
        for line in requirements.packages(group, versions["torch"][0]):
            wanted = Requirement(line)
            locked = versions[canonicalize_name(wanted.name)]
            assert [v for v in locked if v not in wanted.specifier] == [], line


def test_actions_are_pinned_by_commit():
    lines = [
        line.strip()
        for path in sorted((ROOT / ".github/workflows").glob("*.yml"))
        for line in path.read_text().splitlines()
        if "uses:" in line
    ]
    assert lines
    pinned = re.compile(r"- uses: [\w-]+/[\w-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+")
    assert [line for line in lines if not pinned.fullmatch(line)] == []


@pytest.mark.slow
def test_the_light_wheel_works_where_there_is_no_torch(tmp_path):
    """Built and unpacked beside numpy, with nothing else in reach but the standard library."""
    build = [
        *(sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps"),
        "--disable-pip-version-check",
        f"--config-settings=build-dir={tmp_path / 'build'}",
        "--config-settings=cmake.define.FACEBENCH_FULL=OFF",
        f"--wheel-dir={tmp_path}",
        str(ROOT),
    ]
    done = subprocess.run(build, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    site = tmp_path / "site"
    (wheel,) = tmp_path.glob("facebench_eval-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
        assert not [n for n in archive.namelist() if "_full" in Path(n).name]
    numpy_folder = Path(numpy.__file__).parent
    for folder in (numpy_folder, *numpy_folder.parent.glob("numpy.libs")):
        (site / folder.name).symlink_to(folder)
    code = f"""
import sys, time
sys.path.insert(0, {str(site)!r})
before = time.process_time()
import facebench.protocols
seconds = time.process_time() - before
import importlib.util
assert importlib.util.find_spec("torch") is None
from facebench import metrics
assert metrics.auc([0.9, 0.1], [1, 0]) == 1
assert facebench.protocols.load_protocol("lfw").id == "lfw"
assert facebench.claims.check_claim("99.64", "lfw").exists is False
print(seconds)
"""
    # Without the environment's own packages; processor time, so that a busy machine does not count.
    clean = [sys.executable, "-I", "-S", "-c", code]
    runs = [subprocess.run(clean, capture_output=True, text=True, check=False) for _ in range(5)]
    assert [r.stderr for r in runs if r.returncode] == []
    assert min(float(r.stdout) for r in runs) < 0.3


def test_torch_is_not_a_dependency():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    needed = project["build-system"]["requires"] + project["project"]["dependencies"]
    assert not [r for r in needed if r.startswith("torch")]


def test_the_detector_finds_its_weights_beside_the_library():
    from facebench import detection

    assert Path(detection.default_mtcnn_weights()).is_file()
