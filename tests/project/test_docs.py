"""What the documentation shows can be typed, and its links lead somewhere."""

import ast
import re
from pathlib import Path

import pytest
from facebench.cli.app import app
from shown_commands import shown

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def leaf(words):
    """The verb that the words begin with, and the words behind its name."""
    command = app
    while words and words[0] in getattr(command, "commands", {}):
        command, words = command.get_command(None, words[0]), words[1:]
    return command, words


def mentioned(text):
    """Commands in running text, which may leave out arguments."""
    for span in re.findall(r"`(facebench [^`]*)`", text.replace("\n", " ")):
        yield span.replace("...", "").split()[1:]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_commands_are_what_the_command_line_knows(page):
    text = page.read_text()
    for words in shown(text):
        command, rest = leaf(words)
        assert not hasattr(command, "commands"), words
        command.make_context(command.name, rest)  # an exception where anything is wrong
    for words in mentioned(text):
        command, rest = leaf(words)
        assert rest != words or words[0].startswith("-"), words
        known = {name for parameter in command.params for name in parameter.opts} | {"--help"}
        assert {w.partition("=")[0] for w in rest if w.startswith("--")} <= known, words


def anchors(page):
    heads = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head).strip().lower().replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if re.match(r"https?:|mailto:", target):
            continue
        file, _, anchor = target.partition("#")
        there = (page.parent / file).resolve() if file else page
        assert there.exists(), target
        if anchor:
            assert anchor in anchors(there), target


def test_every_name_of_the_glossary_is_in_the_code():
    folders = [ROOT / "cpp", ROOT / "python/facebench"]
    sources = [f for d in folders for end in ("*.h", "*.cc", "*.py") for f in d.rglob(end)]
    known = set(re.findall(r"\w+", "\n".join(f.read_text() for f in sources)))
    entries = (ROOT / "docs/glossary.md").read_text().split("\n\n")
    named = [e.split("In code:")[1] for e in entries if "In code:" in e]
    assert len(named) > 30
    for span in re.findall(r"`([\w:]+)`", "\n".join(named)):
        assert set(span.split("::")) <= known, span


def test_where_things_are_names_folders_that_exist_and_fits_a_screen():
    page = (ROOT / "docs/where-things-are.md").read_text()
    assert len(page.splitlines()) <= 80
    tables = "\n".join(line for line in page.splitlines() if line.startswith("|"))
    for path in re.findall(
        r"`((?:bindings|cpp|docs|protocols|python|scripts|tests)/[^`]*)`", tables
    ):
        for door in ("eval", "vision", "lab") if "DOOR" in path else ("",):
            pattern = re.sub(r"FLOOR.*", "*", path.replace("DOOR", door))
            assert list(ROOT.glob(pattern)), path
    floors = page.partition("## Folders")[0]
    for door in ("eval", "vision", "lab"):
        for folder in (ROOT / "cpp" / door / "facebench").iterdir():
            assert f"`{folder.name}`" in floors, folder


def test_the_ten_first_things_run_as_they_stand(tmp_path, monkeypatch):
    """In one namespace, as the cells of a notebook; the last line of each has something to show."""
    pytest.importorskip("facebench._full")
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib").use("agg")
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs/ten-first-things.md").read_text()
    cells = re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S)
    titles = re.findall(r"^## (\d+)\.", page, re.M)
    assert titles == [str(k) for k in range(1, 11)] and len(cells) == 11
    names: dict = {}
    for cell in cells:
        *before, last = ast.parse(cell).body
        exec(compile(ast.Module(before, []), "ten-first-things.md", "exec"), names)
        if isinstance(last, ast.Expr):
            answer = eval(compile(ast.Expression(last.value), "ten-first-things.md", "eval"), names)
            assert answer is not None and repr(answer)
        else:
            exec(compile(ast.Module([last], []), "ten-first-things.md", "exec"), names)
