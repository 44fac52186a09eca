"""The recipes of docs/how-to-add.md work: each is carried out in a copy of the sources.

A recipe is a section of the page with

    New file `PATH`:                     and a block of code,
    In `PATH`, after `LINE`:             and a block of code (or before, or instead of),
    Try it:                              and a block of Python that checks what was added.
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
PAGE = (ROOT / "docs/how-to-add.md").read_text()
# What a build of the library reads.
SOURCES = ["CMakeLists.txt", "pyproject.toml", "LICENSE", "README.md"]
FOLDERS = ["bindings", "cpp", "protocols", "python", "scripts"]
CHANGE = re.compile(
    r"^(?:New file|In) `(?P<path>[^`]+)`"
    r"(?:, (?P<side>after|before|instead of) `(?P<line>[^`]+)`)?:\n\n"
    r"```\w+\n(?P<text>.*?)```$",
    re.MULTILINE | re.DOTALL,
)
EXAMPLE = re.compile(r"^Try it:\n\n```python\n(.*?)```$", re.MULTILINE | re.DOTALL)


class Recipe(NamedTuple):
    changes: list[dict]
    example: str


def recipes():
    """Title -> recipe, of the sections that have an example."""
    found = {}
    for section in re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]:
        if example := EXAMPLE.search(section):
            changes = [match.groupdict() for match in CHANGE.finditer(section)]
            found[section.partition("\n")[0]] = Recipe(changes, example[1])
    return found


RECIPES = recipes()


def changed(text, change):
    """The text with a change's lines beside the line that it quotes."""
    lines = text.splitlines(keepends=True)
    places = [i for i, line in enumerate(lines) if line.strip() == change["line"]]
    assert len(places) == 1, f"{change['path']}: {len(places)} lines are `{change['line']}`"
    end = places[0] + (change["side"] == "after")
    begin = places[0] + (change["side"] != "before")
    return "".join(lines[:end]) + change["text"] + "".join(lines[begin:])


def result_of(changes, root=ROOT):
    """Path -> text of every file that the changes make or touch."""
    files = {}
    for change in changes:
        path = change["path"]
        if change["line"] is None:
            assert not (root / path).exists(), f"{path} is there already"
            files[path] = change["text"]
        else:
            files[path] = changed(files.get(path) or (root / path).read_text(), change)
    return files


def test_the_page_has_these_recipes():
    assert list(RECIPES) == [
        "A loss",
        "A network",
        "An operation of networks",
        "A protocol",
        "A reader of lists",
        "A reader of images",
        "A metric",
        "A number of a report",
    ]
    # Nothing on the page looks like a change and is none.
    blocks = len(re.findall(r"^```(?!$)", PAGE, flags=re.MULTILINE))
    assert blocks == sum(len(r.changes) + 1 for r in RECIPES.values())


@pytest.mark.parametrize("title", RECIPES)
def test_every_line_that_is_quoted_is_there_once(title):
    assert result_of(RECIPES[title].changes)


def write_if_new(path, data):
    """Leaves a file alone that is as it should be, so that it is not compiled again."""
    if not path.is_file() or path.read_bytes() != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-3000:]


@pytest.fixture(scope="module")
def package():
    """The folder of a package built from the sources with all recipes."""
    cache = BUILD / "CMakeCache.txt"
    if not cache.is_file():
        pytest.skip("needs the build folder that `make build` makes")
    known = dict(re.findall(r"^(\w+):\w+=(.*)$", cache.read_text(), flags=re.MULTILINE))
    if known.get("FACEBENCH_FULL") == "OFF":
        pytest.skip("needs the full library")
    tree, build = BUILD / "guide/tree", BUILD / "guide/build"
    files = {name: (ROOT / name).read_bytes() for name in SOURCES}
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                files[str(path.relative_to(ROOT))] = path.read_bytes()
    changes = [change for recipe in RECIPES.values() for change in recipe.changes]
    files |= {path: text.encode() for path, text in result_of(changes).items()}
    for path in [p for p in tree.rglob("*") if p.is_file() and "__pycache__" not in p.parts]:
        if str(path.relative_to(tree)) not in files:
            path.unlink()
    for name, data in files.items():
        write_if_new(tree / name, data)
    # What is tested is the guide, not the speed: without optimisation it compiles in half the time.
    flags = ["-DFACEBENCH_TESTS=OFF", "-DFACEBENCH_CUDA=OFF", "-DCMAKE_CXX_FLAGS_RELEASE=-O0"]
    same = [f"-D{k}={known[k]}" for k in ("CMAKE_PREFIX_PATH", "FACEBENCH_PYTHON") if k in known]
    # The compiler's cache holds results by paths relative to the copy.
    environment = {**os.environ, "CCACHE_BASEDIR": str(tree.parent), "CCACHE_NOHASHDIR": "1"}
    configure = ["cmake", "-S", tree, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"]
    run(*configure, f"-DPython_EXECUTABLE={sys.executable}", *flags, *same, env=environment)
    run("cmake", "--build", build, env=environment)
    return build / "python"


def run_example(recipe, folder, package=None):
    path = folder / "example.py"
    path.write_text(recipe.example)
    environment = {**os.environ, **({"PYTHONPATH": str(package)} if package else {})}
    return subprocess.run(
        [sys.executable, path], cwd=folder, env=environment, capture_output=True, text=True,
        check=False,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("title", RECIPES)
def test_the_recipe_works(title, package, tmp_path):
    done = run_example(RECIPES[title], tmp_path, package)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("title", RECIPES)
def test_the_example_fails_without_the_recipe(title, tmp_path):
    assert run_example(RECIPES[title], tmp_path).returncode != 0
