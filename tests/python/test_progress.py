"""How a long call says how far it is: lines, bars, notebooks, functions of one's own."""

import io
import sys
import types

import pytest
from facebench import _progress, metrics
from facebench._progress import BarProgress, LineProgress, NotebookProgress, sink


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def lines(**how):
    clock, stream = Clock(), io.StringIO()
    return LineProgress(stream, clock=clock, **how), clock, stream.getvalue


def test_lines_say_rate_and_time_left():
    progress, clock, text = lines()
    progress.begin("pack", 100, "images")
    for now, done in ((1.0, 5), (11.0, 50)):
        clock.now = now
        progress.update(done, "face 50" if done == 50 else "")
    clock.now = 20.0
    progress.end()
    assert text().splitlines() == [
        "pack: 100 images",
        "pack: 50/100 images, 4.5 images/s, 11 s left, face 50",
        "pack: 50/100 images after 20.0 s",  # stopped
    ]


def test_a_stage_that_is_done_at_once_is_not_announced():
    progress, clock, text = lines()
    progress.begin("read", 10, "images")
    clock.now = 0.4
    progress.update(10)
    progress.end()
    assert text() == ""


def test_the_stage_around_a_long_one_is_announced_before_it():
    progress, clock, text = lines()
    progress.begin("train", 0, "epochs")
    clock.now = 0.9
    progress.begin("validate", 3, "images")
    clock.now = 2.0
    progress.update(1)
    clock.now = 4.9
    progress.update(3)
    progress.end()
    progress.end()
    assert text().splitlines() == [
        "train ...",
        "  validate: 3 images",
        "  validate: done in 4.0 s (0.75 images/s)",
        "train: done in 4.9 s",
    ]


def test_training_that_was_resumed_counts_its_own_steps():
    progress, clock, text = lines(every=1.0)
    progress.begin("training", 1000, "steps")
    progress.update(900)
    clock.now = 10.0
    progress.update(950)
    assert text().splitlines()[-1] == "training: 950/1000 steps, 5 steps/s, 10 s left"


def test_bytes_are_counted_in_what_people_read():
    progress, clock, text = lines(every=1.0)
    progress.begin("hash", 4_000_000_000, "bytes")
    clock.now = 2.0
    progress.update(500_000_000)
    assert text().splitlines() == ["hash: 4 GB", "hash: 0.5/4 GB, 250 MB/s, 14 s left"]


def test_a_stage_without_updates_is_announced_by_a_timer():
    progress, _, text = lines(after=0.0)
    progress.begin("embed", 0, "batches")
    progress._stages[0].timer.join()
    assert text() == "embed ...\n"
    progress.end()


def test_a_finished_bar_becomes_one_line():
    """The bars of two calls one after the other: neither is printed again with the second."""
    stream, clock = io.StringIO(), Clock()
    progress = BarProgress(stream, clock=clock)
    for name in ("hash", "score"):
        begun = clock.now
        progress.begin(name, 10, "files")
        clock.now = begun + 4.0
        progress.update(10)
        progress.end()
    assert [line for line in stream.getvalue().splitlines() if "done in" in line] == [
        "hash: done in 4.0 s (2.5 files/s)",
        "score: done in 4.0 s (2.5 files/s)",
    ]


@pytest.fixture
def notebook(monkeypatch):
    """A notebook's kernel as far as it is asked; what its cell shows, one text a change."""
    shown = []

    class Handle:
        def update(self, html):
            shown.append(html)

    def display(html, display_id):
        shown.append(html)
        return Handle()

    package = types.ModuleType("IPython")
    package.get_ipython = lambda: types.SimpleNamespace(kernel=object())
    package.display = types.ModuleType("IPython.display")
    package.display.HTML, package.display.display = str, display
    monkeypatch.setitem(sys.modules, "IPython", package)
    monkeypatch.setitem(sys.modules, "IPython.display", package.display)
    return shown


def test_a_notebook_shows_a_bar_after_two_seconds_and_takes_it_away(notebook):
    clock = Clock()
    assert isinstance(sink(None), NotebookProgress) and sink(False) is None
    progress = NotebookProgress(clock=clock)
    progress.begin("<score>", 100, "blocks")
    clock.now = 1.9
    progress.update(10)
    assert notebook == []
    clock.now = 4.0
    progress.update(50)
    assert 'value="50" max="100"' in notebook[0] and "&lt;score&gt;: 50/100 blocks" in notebook[0]
    progress.end()
    assert notebook[-1] == ""


def all_pairs(progress):
    values = [[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]]
    return metrics.all_pairs(values, [0, 0, 1], progress=progress)


def test_a_function_hears_of_every_stage():
    heard = []
    all_pairs(lambda *what: heard.append(what))
    assert heard[0][1] == 0 and heard[-1][1] == heard[-1][2] > 0


def test_what_is_neither_says_what_it_may_be():
    with pytest.raises(TypeError, match=r"must be True, False, a function of .* not int"):
        all_pairs(3)


def test_outside_of_notebooks_nothing_is_shown_unless_asked_for(capsys):
    assert sink(None) is None
    assert isinstance(sink(True), _progress.LineProgress)
    all_pairs(None)
    assert capsys.readouterr().err == ""
