"""Suites: the order of models against theory, resuming after kills, the page and its exports."""

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from pathlib import Path

import facebench
import numpy as np
import pytest
from facebench import datasets, embedding, reports, studies
from facebench.lab.studies.page import write_page
from planted_truths import auc_and_variance, shifted_runs, write_pairs
from scipy.stats import norm

PEOPLE = {"people": 40, "images": 2, "size": 64, "pairs_per_fold": 4}


@pytest.fixture(scope="module")
def faces(tmp_path_factory):
    folder = tmp_path_factory.mktemp("suite") / "faces"
    datasets.write_synthetic_dataset(datasets.SyntheticOptions(**PEOPLE), folder)
    return folder


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    for seed in (1, 2):
        embedding.make_model("small4", seed=seed).save(folder / f"net{seed}.safetensors")
    return folder


@pytest.fixture
def description(faces, models, tmp_path):
    """Two networks, one of them with two crops, and a function that fails, under two protocols."""
    text = f"""
title = "Small <b>nets</b>"
replicates = 60

[[models]]
name = "one"
model = "{models}/net1.safetensors"
detector = "none"

[[models]]
name = "one, smaller crop"
model = "{models}/net1.safetensors"
detector = "none"
crop = "paper"
flip = "sum"

[[models]]
name = "two"
model = "{models}/net2.safetensors"
detector = "none"

[[models]]
name = "no such function"
model = "math:pi"

[[sets]]
name = "faces"
protocol = "lfw"
root = "{faces}"
replicates = 60

[[sets]]
name = "folders"
protocol = "folders"
root = "{faces}/images"
interval = "none"
"""
    path = tmp_path / "suite.toml"
    path.write_text(text)
    return path


# --- the order of models --------------------------------------------------------------------------


def test_a_planted_margin_is_first_at_the_rate_of_theory(tmp_path):
    pairs, shifts, draws = 300, (1.3, 1.1), 60
    write_pairs(tmp_path / "lists", pairs)
    labels = np.arange(pairs) < pairs // 2
    random = np.random.default_rng(5)
    first = []
    for number in range(draws):
        runs = shifted_runs(tmp_path / f"d{number}", tmp_path / "lists", shifts, labels, random)
        ranking = reports.rank_runs(runs, "pairs", "auc", replicates=100, seed=number)
        first.append(ranking["places"][0]["first"])
        assert sum(p["first"] for p in ranking["places"]) == pytest.approx(1)
    (a, va), (b, vb) = (auc_and_variance(s, pairs // 2, pairs // 2) for s in shifts)
    z = (a - b) / np.sqrt(va + vb)
    # A difference with error, seen through draws with the same error: the mean of
    # norm.cdf(D / s) over D ~ normal(d, s) is norm.cdf(d / (s sqrt 2)).
    assert np.mean(first) == pytest.approx(norm.cdf(z / np.sqrt(2)), abs=0.08)
    better = np.mean(np.array(first) > 0.5)
    assert better == pytest.approx(norm.cdf(z), abs=3 * np.sqrt(0.25 / draws))


def test_draws_are_common_to_all_models(tmp_path):
    """A model that is better by a little at every pair is first in every draw, though the intervals
    of the two overlap almost wholly."""
    pairs = 200
    write_pairs(tmp_path / "lists", pairs)
    labels = np.arange(pairs) < pairs // 2
    scores = np.random.default_rng(1).standard_normal(pairs) + labels
    runs = []
    for name, more in (("worse", 0.0), ("better", 0.2), ("same as worse", 0.0)):
        runs.append(tmp_path / name)
        facebench.evaluate("pairs", scores=scores + more * labels, root=tmp_path / "lists",
                           out=runs[-1])  # fmt: skip
    ranking = reports.rank_runs(runs, "pairs", "auc", replicates=100)
    assert [p["first"] for p in ranking["places"]] == [0, 1, 0]
    assert ranking["places"][1]["rank_interval"] == [1, 1]
    assert ranking["places"][0]["rank_interval"] == [2, 2]  # a tie shares the better rank
    by_pair = {(p["a"], p["b"]): p for p in ranking["pairs"]}
    assert by_pair[0, 2]["p_value"] == 1
    assert by_pair[0, 1]["p_value"] < 1e-6
    errors = reports.rank_runs(runs, "pairs", "eer", replicates=100)
    assert errors["lower_is_better"]
    assert errors["places"][1]["first"] >= 0.99  # thresholds, so EER, have a noise of their own
    explained = facebench.explain(*runs[:2], replicates=100)["auc"]["paired"]
    assert by_pair[0, 1]["p_value"] == explained["p_value"]


def test_holm_against_its_definition():
    random = np.random.default_rng(0)
    for size in (1, 2, 7, 30):
        p = random.uniform(0, 0.2, size)
        order = np.argsort(p)
        wanted, highest = np.empty(size), 0.0
        for k, i in enumerate(order):
            highest = max(highest, (size - k) * p[i])
            wanted[i] = min(1, highest)
        assert reports.holm_adjusted(p) == pytest.approx(wanted)
    assert reports.holm_adjusted([0.01, float("nan"), 0.04])[::2] == pytest.approx([0.02, 0.04])


def test_what_is_not_comparable_is_refused(tmp_path):
    for name, pairs in (("lists", 40), ("others", 42)):
        write_pairs(tmp_path / name, pairs)
    scores = np.random.default_rng(1).standard_normal(42)
    for name, root, options in (
        ("a", "lists", {}),
        ("b", "lists", {"replicates": 20, "seed": 3}),
        ("drop", "lists", {"failed_enrolments": "drop"}),
        ("other", "others", {}),
    ):
        count = 42 if root == "others" else 40
        facebench.evaluate("pairs", scores=scores[:count], root=tmp_path / root,
                           out=tmp_path / name, **options)  # fmt: skip

    def why(name):
        return [d["what"] for d in reports.why_not_comparable(tmp_path / "a", tmp_path / name)]

    assert why("b") == []
    assert why("drop") == ["the treatment of failed enrolments differ"]
    assert any("compares something else" in what for what in why("other"))
    with pytest.raises(facebench.Error, match="cannot be compared"):
        reports.rank_runs([tmp_path / "a", tmp_path / "other"], "pairs", "auc")
    with pytest.raises(ValueError, match="number 'accuracy'"):
        reports.rank_runs([tmp_path / "a", tmp_path / "b"], "pairs", "accuracy")


# --- a suite --------------------------------------------------------------------------------------

KILLED = """
import os, signal, sys
import facebench

class Kill:
    "Kills this very process when a stage begins for the Nth time."
    left = int(sys.argv[4])
    def begin(self, stage, total, unit):
        if stage == sys.argv[3]:
            Kill.left -= 1
            if Kill.left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
    def update(self, done, note=""): pass
    def end(self): pass

facebench.suite(sys.argv[1], out=sys.argv[2], cost=False, progress=Kill())
"""


def killed(description, out, stage, times):
    package = str(Path(facebench.__file__).parent.parent)
    environment = {**os.environ, "PYTHONPATH": package}
    command = [sys.executable, "-c", KILLED, str(description), str(out), stage, str(times)]
    return subprocess.run(command, env=environment, capture_output=True, check=False).returncode


def files_of(folder):
    """Every file of a suite by its bytes; of JSON files the content alone."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if not path.is_file() or name.startswith("cache/locks"):
            continue
        data = path.read_bytes()
        if path.name == "job.json":  # it has the hashes of files with times
            data = json.dumps(json.loads(data) | {"files": None}).encode()
        found[name] = (
            json.loads(data)["content"] if path.name in ("run.json", "study.json") else data
        )
    return found


def test_killed_twice_and_resumed_gives_the_same_bytes(description, tmp_path):
    whole = facebench.suite(description, out=tmp_path / "whole", cost=False)
    assert killed(description, tmp_path / "torn", "embed", 2) == -signal.SIGKILL
    assert not (tmp_path / "torn" / "study.json").exists()
    assert killed(description, tmp_path / "torn", "pack and embed", 2) == -signal.SIGKILL
    resumed = facebench.suite(description, out=tmp_path / "torn", cost=False)
    assert "kept" in {o.status for o in resumed.outcomes}
    assert files_of(tmp_path / "torn") == files_of(tmp_path / "whole")
    assert resumed.content == whole.content


def cell_of(found, row, column):
    table = found.content["tables"][0]
    number = [c["name"] for c in table["columns"]].index(column)
    return next(r for r in table["rows"] if r["name"] == row)["cells"][number]


def test_a_suite_keeps_what_is_whole_and_makes_what_is_not(description, tmp_path):
    out = tmp_path / "out"
    first = facebench.suite(description, out=out, cost=False)
    status = {o.job.name: o.status for o in first.outcomes}
    assert status["faces-one"] == "made" and status["faces-no such function"] == "failed"
    assert {f["row"] for f in first.failures} == {"no such function"}
    assert "not callable" in first.failures[0]["reason"]

    scores = out / cell_of(first, "two", "faces")["run"] / "scores.h5"
    scores.write_bytes(scores.read_bytes()[:-1] + b"\0")
    text = description.read_text().replace('interval = "none"', 'interval = "none"\nseed = 4')
    description.write_text(text)
    said = []
    again = facebench.suite(description, out=out, cost=False, say=said.append)
    made = {o.job.name for o in again.outcomes if o.status == "made"}
    assert made == {"faces-two", *(f"folders-{m}" for m in ("one", "one, smaller crop", "two"))}
    assert said[0] == "2 of 8 jobs are there and whole; kept"
    assert "pack and embeddings from the cache" in " ".join(said)


def test_processes_and_executors_and_a_process_that_dies(faces, models, tmp_path, monkeypatch):
    (tmp_path / "deadly.py").write_text("import os\ndef embed(batch):\n    os._exit(9)\n")
    monkeypatch.syspath_prepend(tmp_path)
    prepare = {"prepare": {"detector": "none"}}
    rows = [{"name": "dies", "model": "deadly:embed"} | prepare]
    rows += [{"name": "lives", "model": str(models / "net1.safetensors")} | prepare]
    data = {"root": str(faces), "interval": "none"}
    columns = [{"protocol": "lfw", "name": "faces", "data": data}]

    def described(rows):
        return studies.Study("s", "S", [studies.Table("suite", "S", rows, columns, order=True)])

    several = facebench.study(described(rows), out=tmp_path / "several", jobs=2)
    assert [f["row"] for f in several.failures] == ["dies"]
    assert "its process died" in several.failures[0]["reason"]
    with ThreadPoolExecutor(2) as executor:
        alone = facebench.study(described(rows[1:]), out=tmp_path / "one", executor=executor)
    assert cell_of(alone, "lives", "faces") == cell_of(several, "lives", "faces")


def test_a_run_from_elsewhere_is_added_or_refused(description, faces, tmp_path):
    out = tmp_path / "out"
    facebench.suite(description, out=out, cost=False)

    def elsewhere(name, **options):
        facebench.run("lfw", model=lambda b: b[:, ::9, ::9].reshape(len(b), -1), root=faces,
                      detector="none", out=tmp_path / name, **options)  # fmt: skip
        return tmp_path / name

    added = facebench.suite(add=elsewhere("raw", replicates=60), name="raw pixels", out=out)
    assert [r["name"] for r in added["suite"]["rows"]][-1] == "raw pixels"
    assert (out / cell_of(added, "raw pixels", "faces")["run"] / "report.html").is_file()
    with pytest.raises(facebench.Error, match=r"the convention differs.*facenet here, exact there"):
        facebench.suite(add=elsewhere("facenet", convention="facenet"), out=out)
    with pytest.raises(facebench.Error, match="another name"):
        facebench.suite(add=tmp_path / "raw", name="raw pixels", out=out)
    # What was added stays when the suite is run again, also where it came from is gone.
    shutil.rmtree(tmp_path / "raw")
    again = facebench.suite(description, out=out, cost=False)
    assert again.content == added.content
    new = facebench.suite(add=elsewhere("raw2"), out=tmp_path / "new")
    assert new["suite"]["columns"][0]["name"] == "lfw"


class Page(HTMLParser):
    """Links, tags, and the cells of each table."""

    def __init__(self, text):
        super().__init__()
        self.links, self.tags, self.outside = [], set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        for name, value in attributes:
            if name == "href":
                self.links.append(value)
            if name in ("src", "srcset", "action") or (name == "href" and ":" in value):
                self.outside.append(value)


def test_the_page_stands_alone_and_names_are_text(description, models, tmp_path):
    out = tmp_path / "out"
    facebench.suite(description, out=out)
    path = models / "net1.safetensors"
    cost = studies.measure_cost(str(path), {"flip": "sum"})
    graph = embedding.make_model("small4").weights.graph
    assert (cost["parameters"], cost["macs"]) == (graph.count_parameters(), graph.count_macs())
    assert 0 < cost["slowest"] <= cost["images_per_second"] <= cost["fastest"]
    data = json.loads((out / "study.json").read_text())
    write_page(out, data["content"], data["circumstance"])
    text = (out / "study.html").read_text()
    page = Page(text)
    assert page.outside == [] and "b" not in page.tags
    within = [link[1:] for link in page.links if link.startswith("#")]
    assert within and all(f'id="{place}"' in text for place in within)
    beside = [link for link in page.links if not link.startswith("#")]
    assert beside and all((out / link).is_file() for link in beside)
    assert text.count('class="sortable"') >= 4 and "<script>" in text
    assert 'class="plot points"' in text and "&lt;b&gt;nets" in text


def test_exports_say_what_the_runs_say(description, tmp_path):
    out = tmp_path / "out"
    found = facebench.suite(description, out=out, cost=False)
    metrics = json.loads((out / cell_of(found, "two", "faces")["run"] / "metrics.json").read_text())
    cell = metrics["tracks"]["view2"]["metrics"]["accuracy"]
    rows = list(csv.DictReader((out / "study.csv").read_text().splitlines()))
    (row,) = [
        r for r in rows if (r["column"], r["row"], r["metric"]) == ("faces", "two", "accuracy")
    ]
    assert float(row["value"]) == cell["value"]
    assert [row["low"], row["high"]] == [str(end) for end in cell["interval"] or ("", "")]
    assert {r["metric"] for r in rows} >= {"auc", "eer", "tar@far=0.01"}
    index = studies.model_index(json.loads((out / "study.json").read_text())["content"], "two")
    assert index[0]["results"][0]["metrics"][0]["value"] == cell["value"]
    card = (out / "cards/two.md").read_text()
    head = card.split("---\n")[1].rpartition("model-index: ")[2]
    assert json.loads(head) == index and f'"value": {cell["value"]}' in head
    assert r"\toprule" in (out / "study.tex").read_text()
    printed = f"{100 * cell['value']:.2f}"
    for name in ("study.tex", "study.md", "study.html"):
        assert printed in (out / name).read_text()


# --- descriptions ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("crop =", "corp ="), "no key 'corp'; did you mean 'crop'"),
        (('protocol = "lfw"', 'protocl = "lfw"'), "did you mean 'protocol'"),
        (("[[models]]", "[models]"), "suite.toml:[0-9]+: not valid TOML: .*cannot redefine"),
        (('name = "two"', 'name = "One"'), "two models are called 'one' and 'One'"),
    ],
)
def test_a_description_with_a_slip_is_refused(description, change, message):
    description.write_text(description.read_text().replace(*change))
    with pytest.raises(facebench.Error, match=message) as error:
        studies.suite_study(description)
    assert str(description) in str(error.value)


def test_sets_are_named_by_their_protocols(tmp_path):
    described = studies.suite_study(models=["a.onnx"], sets=["LFW,lfw_view1=here", "folders=there"])
    columns = [c for c in described.tables[0].columns if "protocol" in c]
    assert [(c["name"], c["data"]["root"]) for c in columns] == [
        ("lfw", "here"), ("lfw_view1", "here"), ("folders", "there")]  # fmt: skip
    with pytest.raises(ValueError, match="did you mean 'lfw'"):
        facebench.suite(models=["a.onnx"], sets=["lfv=x"], out=tmp_path / "no")
    with pytest.raises(ValueError, match="PROTOCOL=FOLDER"):
        facebench.suite(models=["a.onnx"], sets=["lfw"], out=tmp_path / "no")


def test_a_set_without_a_place_is_a_failed_cell(models, tmp_path):
    path = tmp_path / "suite.toml"
    model = f'[[models]]\nmodel = "{models}/net1.safetensors"\n'
    path.write_text(f'{model}[[sets]]\nprotocol = "lfw"\n')
    facebench.suite(path, out=tmp_path / "out", cost=False)
    made = json.loads((tmp_path / "out" / "study.json").read_text())["content"]
    cell = made["tables"][0]["rows"][0]["cells"][0]
    assert cell["why"] == "failed: neither a root nor a folder of lists is given"


def test_the_command_line(faces, models, tmp_path):
    package = str(Path(facebench.__file__).parent.parent)
    command = [sys.executable, "-m", "facebench", "suite", "--no-cost", "--out", "out"]
    command += ["--models", models / "net1.safetensors", models / "net2.safetensors"]
    command += ["--sets", f"LFW={faces}", f"lfw_view1={tmp_path / 'nowhere'}"]
    done = subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": package},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr  # the data of View 1 are not there
    assert "[1/4] run lfw-net1: made" in done.stderr and "Failures" in done.stdout
    assert (tmp_path / "out/study.html").is_file()
    shutil.rmtree(tmp_path / "out")


def test_one_model_stands_in_several_rows_by_its_back_end(tmp_path):
    from facebench.lab.studies.shorter import _read_suite

    text = '[[models]]\nmodel = "m.onnx"\n'
    text += '[[models]]\nmodel = "m.onnx"\nbackend = "pca=64,plda"\ntrain = "dev.h5"\n'
    text += '[[models]]\nmodel = "m.onnx"\nbackend = "mine.backend"\n'
    (tmp_path / "suite.toml").write_text(text + '[[sets]]\nprotocol = "lfw"\nroot = "LFW"\n')
    rows, _, _ = _read_suite(tmp_path / "suite.toml")
    assert len({row["name"] for row in rows}) == 3 and "pca=64,plda" in rows[1]["name"]
    assert rows[1]["prepare"]["train"] == str(tmp_path / "dev.h5")
    assert rows[2]["prepare"]["backend"] == str(tmp_path / "mine.backend")
