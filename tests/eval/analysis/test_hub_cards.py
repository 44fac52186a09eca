"""What a model's repository on Hugging Face's Hub holds of its runs: README.md with its metadata,
and .eval_results/PROTOCOL.yaml, in the form of docs/hub/model-cards and docs/hub/eval-results."""

import json
import shutil

import facebench
import numpy as np
import pytest
from command_line import invoke, runner
from facebench import io
from facebench.cli.app import app

yaml = pytest.importorskip("yaml")


def as_of_a_model(folder, name):
    """The run as `facebench run` leaves it: with the model's name."""
    path = folder / "run.json"
    manifest = json.loads(path.read_text())
    manifest["content"]["embedder"] = name
    content = io.canonical_json(manifest["content"])
    manifest["content_sha256"] = io.sha256_hex(content.encode())
    path.write_text(json.dumps(manifest))
    return folder


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hub")
    rng = np.random.default_rng(0)
    labels = [k % 50 for k in range(200)]
    rows = np.eye(50)[labels] + rng.normal(size=(200, 50)) / 3
    facebench.evaluate("folders", rows, labels=labels, replicates=50, out=folder / "folders")
    y, first = rng.integers(0, 2, 300), rng.integers(0, 40, 300)
    people = first, np.where(y, first, rng.integers(40, 80, 300))
    scores = y + rng.normal(size=300)
    facebench.evaluate(
        "pairs", scores=scores, labels=y, people=people, replicates=50, out=folder / "pairs"
    )
    return [as_of_a_model(folder / name, "my model: é") for name in ("folders", "pairs")]


HUB = {"folders": "org/people-1", "pairs": "org/pairs.v2", "license": "apache-2.0",
       "datasets": ["org/faces", "org/more"], "source": "https://example.org/runs"}  # fmt: skip


def header(page):
    return yaml.safe_load(page.split("---\n")[1])


def test_the_metadata_is_what_the_hub_reads(runs, tmp_path):
    path = facebench.report(runs, format="hub", hub=HUB, out=tmp_path / "hub")
    assert path == tmp_path / "hub" / "README.md"
    data = header(path.read_text())
    assert data["license"] == "apache-2.0" and data["library_name"] == "facebench"
    assert data["datasets"] == ["org/faces", "org/more"]
    assert {"face-recognition", "face-verification"} <= set(data["tags"])
    (index,) = data["model-index"]
    assert index["name"] == "my model: é"
    # The Hub requires of each result task.type, dataset.type and name, and of each metric type and
    # value.
    metrics = {}
    for result in index["results"]:
        assert result["task"]["type"] and result["dataset"]["type"] and result["dataset"]["name"]
        (metric,) = result["metrics"]
        metrics[result["dataset"]["type"], metric["args"]["track"], metric["type"]] = metric[
            "value"
        ]
    for run in runs:
        said = json.loads((run / "metrics.json").read_text())
        for track, of in said["tracks"].items():
            for name, cell in of["metrics"].items():
                assert metrics[run.name, track, name] == cell["value"]


def test_results_are_what_the_hub_reads(runs, tmp_path):
    facebench.report(runs, format="hub", hub=HUB, out=tmp_path / "hub")
    files = sorted(p.name for p in (tmp_path / "hub" / ".eval_results").iterdir())
    assert files == ["folders.yaml", "pairs.yaml"]
    for run in runs:
        said = json.loads((run / "metrics.json").read_text())["tracks"]
        started = json.loads((run / "run.json").read_text())["circumstance"]["started"]
        entries = yaml.safe_load(
            (tmp_path / "hub" / ".eval_results" / f"{run.name}.yaml").read_text()
        )
        tasks = {}
        for entry in entries:
            assert set(entry) == {"dataset", "value", "date", "source", "notes"}
            assert set(entry["dataset"]) == {"id", "task_id"}
            assert entry["dataset"]["id"] == HUB[run.name] and entry["date"] == started[:10]
            assert entry["source"] == {"url": HUB["source"]}
            assert isinstance(entry["value"], float) and "facebench" in entry["notes"]
            tasks[entry["dataset"]["task_id"]] = entry
        wanted = {
            f"{track}/{name}" if len(said) > 1 else name: cell
            for track, of in said.items()
            for name, cell in of["metrics"].items()
        }
        assert set(tasks) == set(wanted)
        for name, cell in wanted.items():
            scale = 1 if "threshold" in name else 100  # rates in percent, as on leaderboards
            assert tasks[name]["value"] == pytest.approx(scale * cell["value"])
            assert ("interval over draws of people" in tasks[name]["notes"]) == bool(
                cell["interval"]
            )


def test_a_licence_that_the_hub_does_not_know(runs, tmp_path):
    hub = HUB | {"license": "Research only, no redistribution"}
    data = header(facebench.report(runs, format="hub", hub=hub, out=tmp_path / "a").read_text())
    assert data["license"] == "other"
    assert data["license_name"] == "Research only, no redistribution"
    hub = {"folders": "o/n", "pairs": "o/m"}
    page = facebench.report(runs, format="hub", hub=hub, out=tmp_path / "b").read_text()
    assert "license" not in header(page) and "datasets" not in header(page)
    assert "# license: whoever gives the weights away states it" in page
    entry = yaml.safe_load((tmp_path / "b" / ".eval_results" / "pairs.yaml").read_text())[0]
    assert "source" not in entry


def test_on_the_command_line(runs, tmp_path):
    words = ["report", runs[1], "--format", "hub", "--out", tmp_path / "hub"]
    invoke(*words, "--hub", "pairs=org/pairs", "--hub", "license=mit", "--hub", "datasets=a/b,c/d")
    data = header((tmp_path / "hub" / "README.md").read_text())
    assert data["license"] == "mit" and data["datasets"] == ["a/b", "c/d"]
    refused = runner.invoke(app, [str(w) for w in words])
    assert refused.exit_code == 2 and "ORG/NAME" in refused.output


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"folders": None}, "which data set of the Hub hosts folders, as folders=ORG/NAME"),
        ({"pairs": "pairs"}, "which data set of the Hub hosts pairs"),
        ({"lfw": "org/lfw"}, "there is no run of 'lfw'; runs are of folders, pairs"),
    ],
)
def test_what_is_not_said_is_asked_for(runs, tmp_path, change, why):
    hub = {k: v for k, v in (HUB | change).items() if v}
    with pytest.raises(ValueError, match=why):
        facebench.report(runs, format="hub", hub=hub, out=tmp_path / "hub")
    assert not (tmp_path / "hub").exists()


def test_a_card_is_of_one_model(runs, tmp_path):
    shutil.copytree(runs[1], tmp_path / "other")
    other = as_of_a_model(tmp_path / "other", "another")
    with pytest.raises(ValueError, match="one model; these are of my model: é, another"):
        facebench.report([runs[0], other], format="hub", hub=HUB, out=tmp_path / "hub")
    with pytest.raises(ValueError, match="one run of each protocol"):
        facebench.report([runs[1], runs[1]], format="hub", hub=HUB, out=tmp_path / "hub")
    nameless = as_of_a_model(tmp_path / "other", "")
    with pytest.raises(ValueError, match="one model; these are of none"):
        facebench.report(nameless, format="hub", hub=HUB, out=tmp_path / "hub")
    with pytest.raises(ValueError, match="format='hub' goes with hub="):
        facebench.report(runs, format="hub", out=tmp_path / "hub")
