"""How a long call says how far it is: bars, lines, notebooks, functions of one's own."""

import io
import sys
import threading
import types

import pytest
from facebench import metrics
from facebench.core import _progress
from facebench.core._progress import BarProgress, sink

pytest.importorskip("tqdm")


def lines(**how):
    stream = io.StringIO()
    return _progress.lines(stream, **{"after": 0.0, "mininterval": 0.0, **how}), stream


def said(stream):
    """What was printed; times and rates left out."""
    return [line.partition(" [")[0] for line in stream.getvalue().splitlines()]


def test_lines_say_what_is_done_rate_and_note():
    progress, stream = lines()
    progress.begin("pack", 100, "images")
    progress.update(5)
    progress.update(50, "face 50")
    progress.end()  # stopped
    assert said(stream)[-1] == "pack: 50/100"
    assert "images/s" in stream.getvalue() and stream.getvalue().endswith(", face 50]\n")


def test_a_stage_that_is_done_at_once_is_not_announced():
    progress, stream = lines(after=60.0)
    progress.begin("read", 10, "images")
    progress.update(10)
    progress.end()
    assert stream.getvalue() == ""


def test_the_stage_around_a_long_one_is_announced_before_it():
    progress, stream = lines(after=60.0)
    progress.begin("train", 0, "epochs")
    progress.begin("validate", 3, "images")
    progress._after = 0.0
    progress.update(1)
    progress.end()
    progress.end()
    assert list(dict.fromkeys(said(stream))) == [
        "train: 0/?",
        "  validate: 1/3",
    ]


def test_training_that_was_resumed_counts_its_own_steps():
    progress, _ = lines(after=60.0)
    progress.begin("training", 1000, "steps")
    progress.update(900)
    progress._after = 0.0
    progress.update(950)
    assert progress._stages[0].bar.format_dict["initial"] == 900
    progress.end()


def test_bytes_are_counted_in_what_people_read():
    progress, stream = lines()
    progress.begin("hash", 4_000_000_000, "bytes")
    progress.update(500_000_000)
    progress.end()
    assert said(stream)[-1] == "hash: 500M/4.00G"


def test_a_stage_without_updates_is_announced_by_a_timer():
    progress, stream = lines(after=1e-6)
    progress.begin("embed", 0, "batches")
    progress._stages[0].timer.join()
    assert said(stream) == ["embed: 0/?"]
    progress.end()


def test_bars_of_nested_stages_stand_below_one_another():
    from tqdm import tqdm

    stream = io.StringIO()
    progress = BarProgress(tqdm, after=60.0, file=stream, mininterval=0.0)
    progress.begin("train", 2, "epochs")
    progress.begin("validate", 3, "images")
    progress._after = 0.0
    progress.update(1, "face 1")
    assert [stage.bar.pos for stage in progress._stages] == [0, -1]
    progress.end()
    progress.end()
    assert "validate:  33%" in stream.getvalue() and "face 1" in stream.getvalue()
    assert len(tqdm._instances) == 0  # later bars begin at the first place


def test_a_notebook_shows_a_bar_and_takes_it_away(monkeypatch):
    package = types.ModuleType("IPython")
    package.get_ipython = lambda: types.SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", package)
    progress = sink(None)
    assert isinstance(progress, BarProgress) and progress._how["leave"] is False
    assert sink(False) is None


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
    assert sink(True)._how["file"] is sys.stderr  # lines: the stream is not a terminal
    all_pairs(None)
    assert capsys.readouterr().err == ""


def test_ctrl_c_while_a_bar_is_drawn_lets_other_threads_draw():
    from tqdm import tqdm

    class Interrupted(tqdm):
        def display(self, msg=None, pos=None):
            raise KeyboardInterrupt

    progress = BarProgress(Interrupted, after=60.0, file=io.StringIO())
    progress.begin("pack", 10, "images")
    progress._stages[0].begun -= 100  # so that the next update draws
    with pytest.raises(KeyboardInterrupt):
        progress.update(1)
    progress.end()

    def draw():
        stage = BarProgress(tqdm, after=0.0, file=io.StringIO())
        stage.begin("embed", 10, "images")
        stage.update(1)
        stage.end()

    other = threading.Thread(target=draw, daemon=True)
    other.start()
    other.join(10)
    assert not other.is_alive()
