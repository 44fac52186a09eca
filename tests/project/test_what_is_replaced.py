"""What facebench replaces or removes is what facebench wrote: a file of the user's in its place, or
in a folder that is to be replaced, is an error that names it."""

import json

import facebench
import pytest
from facebench import protocols

PAIRS = "2\t1\nAnn\t1\t2\nAnn\t1\tBob\t1\nCat\t1\t2\nCat\t1\tDan\t1\n"


@pytest.fixture
def result(tmp_path):
    (tmp_path / "lists").mkdir()
    (tmp_path / "lists" / "pairs.txt").write_text(PAIRS)
    scores, where = [0.9, 0.1, 0.8, 0.2], tmp_path / "lists"
    return protocols.evaluate("lfw", scores=scores, root=where, interval="none")


def put(folder, name):
    """A file of the user's, or with a slash at the end a folder of his."""
    folder.mkdir(exist_ok=True)
    if name.endswith("/"):
        (folder / name).mkdir()
        (folder / name / "thesis.txt").write_text("three years of work")
    else:
        (folder / name).write_text("three years of work")


@pytest.mark.parametrize(
    "name", ["notes.txt", "figures/", ".hidden", "pack.h5/", "a [red]\x1b[31m"]
)
def test_a_run_folder_that_holds_something_else_is_not_replaced(result, tmp_path, name):
    run = tmp_path / "run"
    result.save(run)
    put(run, name)
    with pytest.raises(facebench.Error, match=r"which facebench did not write.*Move it") as error:
        result.save(run, overwrite=True)
    assert "\x1b" not in str(error.value)
    assert (run / name).exists() and (run / "scores.h5").is_file()


def test_a_run_folder_is_replaced(result, tmp_path):
    """With all that verbs write into it."""
    run = tmp_path / "run"
    result.save(run)
    for name in ("pack.h5", "embeddings.h5", "card.md", "run.json.minisig"):
        put(run, name)
    result.save(run, overwrite=True)
    assert not (run / "pack.h5").exists()


def test_many_names_are_counted(result, tmp_path):
    result.save(tmp_path / "run")
    for number in range(5):
        put(tmp_path / "run", f"{number}.txt")
    with pytest.raises(facebench.Error, match=r"0.txt, 1.txt, 2.txt and 2 more, which"):
        result.save(tmp_path / "run", overwrite=True)


def test_run_says_so_before_it_computes(result, tmp_path):
    """Before a photograph is opened: there is none."""
    pytest.importorskip("torch")
    pytest.importorskip("facebench._full")
    result.save(tmp_path / "run")
    put(tmp_path / "run", "notes.txt")
    how = {"root": tmp_path / "lists", "out": tmp_path / "run", "overwrite": True}
    with pytest.raises(facebench.Error, match=r"holds notes\.txt"):
        facebench.run("lfw", model=lambda batch: batch[:, 0, 0], **how)


@pytest.mark.parametrize("name", ["thesis.txt", "photographs/", "report.html/"])
def test_a_demo_that_holds_something_else_is_not_replaced(tmp_path, name):
    pytest.importorskip("torch")
    pytest.importorskip("facebench._full")
    demo = tmp_path / "demo"
    demo.mkdir()
    (demo / "demo.json").write_text(json.dumps({"runs": [], "steps": []}))
    (demo / "lfw").mkdir()
    put(demo, name)
    with pytest.raises(facebench.Error, match=r"holds .*, which facebench did not write"):
        facebench.demo(demo, train_people=20, test_people=20)
    assert (demo / name).exists()
