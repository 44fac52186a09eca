"""A study that trains, killed three times: the bytes of one undisturbed, timing apart."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import facebench
import pytest
from facebench.lab.studies import engine

STUDY = """
version = 1
title = "Two recipes on two sets"

[data.broad]
people = 20
images = 3
[data.deep]
people = 20
images = 4
[data.webface]
people = 20
images = 3
[data.lfw]
people = 20
[data.vggface2_age]
people = 4

[[tables]]
id = "a"
title = "By recipe"
layout = "blocks"
all = { training_set = "broad", without_test_people = ["lfw"] }
rows = [{ name = "softmax", recipe = "small4.softmax" }, { name = "cosface", recipe = "small4.cosface" }]
columns = [
  { protocol = "lfw", metric = "accuracy" },
  { protocol = "vggface2_age", track = "age", metric = "mean_similarity", block = ["young", "mature"] },
]

[[tables]]
id = "b"
title = "By training set, and what is timed"
rows = [
  { name = "broad", recipe = "small4.softmax", training_set = "broad", without_test_people = ["lfw"], seeds = 2 },
  { name = "deep", recipe = "small4.softmax", training_set = "deep", without_test_people = ["lfw"], seeds = 2 },
  { name = "digits", recipe = "lenet5.caffe", images = "mnist" },
  { name = "somewhere", recipe = "small4.softmax", training_set = "webface" },
]
columns = [{ result = "loss", title = "loss" }]

[rehearsal.images]
drawn = { train = 40, test = 20 }
settings = { "training.batch" = 20, "training.iterations" = 4 }
[rehearsal.recipe]
settings = { "network.channel_multiplier" = 0.125, "network.embedding" = 16, "training.epochs" = 2, "training.batch" = 16 }
"""  # noqa: E501

KILLED = """
import os, signal, sys
import facebench

class Kill:
    "Kills this very process when a stage begins, or moves, for the Nth time."
    left = int(sys.argv[4])
    def count(self, stage):
        if stage == sys.argv[3]:
            Kill.left -= 1
            if Kill.left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
    def begin(self, stage, total, unit):
        self.stage = stage
        self.count(stage)
    def update(self, done, note=""):
        self.count(self.stage)
    def end(self): pass

facebench.study(sys.argv[1], out=sys.argv[2], rehearse=True, progress=Kill())
"""


def killed(out, stage, times):
    environment = {**os.environ, "PYTHONPATH": str(Path(facebench.__file__).parent.parent)}
    words = [str(out.parent / "study.toml"), str(out), stage, str(times)]
    done = subprocess.run([sys.executable, "-c", KILLED, *words], env=environment, check=False)
    return done.returncode


def files_of(folder):
    """Every file by its bytes; of JSON with times the content alone, of logs and pages with times
    their names."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if not path.is_file() or name.startswith("cache/locks"):
            continue
        timed = "classify" in name or name.startswith("study.") or "/train/" in name
        if path.name == "job.json":
            said = json.loads(path.read_text())
            found[name] = said["name"] if timed else said | {"files": sorted(said["files"])}
        elif path.name == "run.json" or (path.name == "study.json"):
            found[name] = without_times(json.loads(path.read_text())["content"])
        elif path.suffix in (".safetensors", ".h5") or not timed:
            found[name] = path.read_bytes()
        elif "tensorboard" not in name:
            found[name] = None
    return found


def without_times(content):
    """A study's content without the cells of what is timed."""
    for table in content.get("tables", []):
        for row in table["rows"]:
            row["cells"] = [c for c in row["cells"] if not c.get("timed")]
    return content


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The study in one process, undisturbed."""
    folder = tmp_path_factory.mktemp("study")
    (folder / "study.toml").write_text(STUDY)
    return facebench.study(folder / "study.toml", out=folder / "whole", rehearse=True)


def test_killed_three_times_gives_the_bytes_of_one_undisturbed(whole, tmp_path):
    (tmp_path / "study.toml").write_text(STUDY)
    assert whole.failures == []
    assert whole["b"]["rows"][3]["cells"][0]["value"] > 0  # drawn, in a rehearsal
    for stage, times in (("pack", 1), ("training", 3), ("pack and embed", 2)):
        assert killed(tmp_path / "torn", stage, times) == -signal.SIGKILL, stage
        assert not (tmp_path / "torn" / "study.json").exists()
    said = []
    torn = facebench.study(
        tmp_path / "study.toml", out=tmp_path / "torn", rehearse=True, say=said.append
    )
    assert "are there and whole; kept" in said[0]
    assert files_of(tmp_path / "torn") == files_of(whole.folder)
    # The training that both tables need was made once; without a rehearsal cells say their needs.
    assert len(list((tmp_path / "torn" / "jobs" / "train").iterdir())) == 6
    asked = facebench.study(tmp_path / "study.toml", out=tmp_path / "asked")
    whys = [c["why"] for t in asked.content["tables"] for r in t["rows"] for c in r["cells"]]
    assert "needs webface: --train webface=FOLDER." in whys and len(whys) == 2 * 5 + 4
    assert torn.content["title"] == "Two recipes on two sets"


def test_on_workers_of_dask_of_which_one_dies(whole, cluster, tmp_path):
    (tmp_path / "study.toml").write_text(STUDY)
    said = []

    def say(text):
        said.append(text)
        if len(said) == 4:
            cluster.workers[0].kill()

    study = facebench.study(
        tmp_path / "study.toml", out=tmp_path / "torn", rehearse=True, say=say,
        executor=cluster.executor,
    )  # fmt: skip
    assert study.failures == [] and cluster.workers[0].wait() == -signal.SIGKILL
    assert files_of(tmp_path / "torn") == files_of(whole.folder)


def test_what_workers_need_is_said_in_one_sentence(monkeypatch):
    from facebench.cli import common

    pytest.importorskip("distributed")
    with pytest.raises(
        ValueError, match=r"--workers here: expected an address, as tcp://HOST:8786"
    ):
        common.executor("here")
    monkeypatch.setitem(sys.modules, "dask.distributed", None)
    with pytest.raises(
        ImportError, match=r"needs Dask: pip install distributed \(the extra 'clust"
    ):
        common.executor("tcp://127.0.0.1:8786")


def test_ctrl_c_leaves_a_page_of_what_is_done(tmp_path):
    (tmp_path / "mine.toml").write_text(STUDY)

    def stop(line):
        if "[4/" in line:
            raise KeyboardInterrupt

    out = tmp_path / "s"
    with pytest.raises(KeyboardInterrupt, match=r"what is done: .*study\.html"):
        facebench.study(tmp_path / "mine.toml", out=out, rehearse=True, say=stop)
    content = json.loads((out / "study.json").read_text())["content"]
    cells = [c for t in content["tables"] for row in t["rows"] for c in row["cells"]]
    assert content["failures"] == []
    reasons = {cell["why"] for cell in cells if "why" in cell}
    assert reasons == {"not made: the study was stopped; the same command goes on"}
    assert (out / "study.html").read_text().count(reasons.pop()) == 2  # once below each table
    said = []
    facebench.study(tmp_path / "mine.toml", out=out, rehearse=True, say=said.append)
    assert said[0].startswith("4 of ")
    after = json.loads((out / "study.json").read_text())["content"]
    assert after["failures"] == []
    assert len(cells) == sum(len(row["cells"]) for t in after["tables"] for row in t["rows"])


def test_ctrl_c_says_at_once_what_it_waits_for(tmp_path, monkeypatch):
    """Also while compiled code, here a library's wait of a minute, has the main thread."""
    heard = []
    started, said = threading.Event(), threading.Event()
    job = engine.Job("waits", "long", {})

    def waits(request, needs, out, how):
        started.set()
        assert said.wait(60)  # said by another thread, while this one is here
        raise KeyboardInterrupt

    def say(line):
        heard.append(line)
        said.set()

    def interrupt():
        started.wait(60)
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setitem(engine.WORK, "waits", waits)
    other = threading.Thread(target=interrupt)
    before = signal.signal(signal.SIGINT, lambda *_: None)  # Python's own is held, as by a library
    try:
        other.start()
        with pytest.raises(engine.Stopped) as stopped:
            engine.run_jobs([job], tmp_path, say=say)
    finally:
        other.join()
        signal.signal(signal.SIGINT, before)
    assert heard == ["stopping: waits for waits long; then writes the page of what is done"]
    (outcome,) = stopped.value.outcomes.values()
    assert outcome.status == "not made" and not outcome.is_there


def test_ctrl_c_before_anything_is_done_leaves_no_page(tmp_path):
    (tmp_path / "mine.toml").write_text(STUDY)

    def stop(*_):
        raise KeyboardInterrupt

    class Progress:
        begin = update = end = stop

    with pytest.raises(KeyboardInterrupt):
        facebench.study(
            tmp_path / "mine.toml", out=tmp_path / "s", rehearse=True, progress=Progress()
        )
    assert not (tmp_path / "s" / "study.html").exists()
