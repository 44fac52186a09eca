"""The JSON schemas of a run's files: every run that tests save is held against them (conftest.py);
here what is planted fails."""

import copy
import json

import facebench
import numpy as np
import pytest
from facebench import analysis
from run_schemas import errors_of

jsonschema = pytest.importorskip("jsonschema")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    out = tmp_path_factory.mktemp("schemas") / "run"
    rows = np.random.default_rng(0).normal(size=(40, 8))
    facebench.evaluate("folders", rows, labels=[k % 10 for k in range(40)], replicates=20, out=out)
    return {name: json.loads((out / f"{name}.json").read_text()) for name in ("metrics", "run")}


@pytest.mark.parametrize("name", ["metrics", "run"])
def test_they_are_schemas_and_hold(run, name):
    jsonschema.Draft202012Validator.check_schema(analysis.schema(name))
    assert errors_of(name, run[name]) == []


def test_others_are_refused():
    with pytest.raises(ValueError, match="schema is one of metrics, run"):
        analysis.schema("curves")


def planted(*path, value=None, remove=False):
    return path, value, remove


METRIC = ("tracks", "verification", "metrics", "auc")
COUNTS = ("tracks", "verification", "counts")


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("metrics", planted("protocol", remove=True)),
        ("metrics", planted("protocol", "sha256", value="abc")),
        ("metrics", planted("tracks", value={})),
        ("metrics", planted("extra", value=1)),
        ("metrics", planted(*COUNTS, "genuine", value=-1)),
        ("metrics", planted(*COUNTS, "impostor", value=1.5)),
        ("metrics", planted(*COUNTS, "failure_to_enrol_rate", value=1.01)),
        ("metrics", planted(*METRIC, "value", value="0.9")),
        ("metrics", planted(*METRIC, "value", value=[[0.9]])),  # a matrix has rows and columns
        ("metrics", planted(*METRIC, "interval", value=[0.9])),
        ("metrics", planted(*METRIC, "interval", value=0.9)),
        ("metrics", planted(*METRIC, "level", value=1)),
        ("metrics", planted(*METRIC, "method", remove=True)),
        ("metrics", planted(*METRIC, "rows", value=["a"])),
        ("metrics", planted(*METRIC, "reliabel", value=True)),
        ("run", planted("content_sha256", remove=True)),
        ("run", planted("content_sha256", value="0" * 63)),
        ("run", planted("content", "kind", value="training")),
        ("run", planted("content", "options", "level", value=95)),
        ("run", planted("content", "options", "seed", remove=True)),
        ("run", planted("content", "outputs", "metrics.json", remove=True)),
        ("run", planted("content", "inputs", value=[{"role": "", "sha256": "0" * 64}])),
        ("run", planted("content", "tracks", "verification", "failed", value=[{"name": "a"}])),
        ("run", planted("content", "notes", value="a sentence")),
        ("run", planted("content", "limit", value=0)),
        ("run", planted("content", "anonymous", value=False)),
        ("run", planted("circumstance", "started", value="yesterday")),
        ("run", planted("circumstance", "threads", value="2")),
    ],
)
def test_what_is_planted_fails(run, name, change):
    path, value, remove = change
    altered = copy.deepcopy(run[name])
    place = altered
    for key in path[:-1]:
        place = place[key]
    if remove:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    assert errors_of(name, altered)


def test_to_json_is_what_metrics_json_holds(tmp_path):
    result = facebench.evaluate(
        "pairs", scores=[0.9, 0.8, 0.1, 0.3], labels=[1, 1, 0, 0], out=tmp_path / "run"
    )
    text = result.to_json()
    assert json.loads(text) == json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert json.loads(text) == result.to_dict() and errors_of("metrics", json.loads(text)) == []
    assert facebench.load(tmp_path / "run").to_json() == text
