"""The Python that docs/training.md shows for fine-tuning, precision, accumulation, averages and
logs elsewhere, run as it stands."""

import json
import re
import sys
import types
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("facebench._full")

import facebench  # noqa: E402
from facebench import embedding, training  # noqa: E402
from facebench.io import read_safetensors  # noqa: E402
from small_trainings import faces  # noqa: E402

PAGE = (Path(__file__).parents[3] / "docs/training.md").read_text()
SIZE = {"height": 16, "width": 16, "channel_multiplier": 0.125, "embedding": 8}


def snippet(heading):
    _, found, rest = PAGE.partition(f"\n{heading}\n")
    assert found, heading
    return re.findall(r"```python\n(.*?)```", re.split(r"\n###? ", rest)[0], re.S)[0]


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with faces.h5, where recipes make a small network and small batches."""
    monkeypatch.chdir(tmp_path)
    load, train, data = training.load_recipe, training.train, faces(images=6)

    def small(name, **overrides):
        return load(name, **SIZE | {"batch": 8} | overrides)

    def on_faces(recipe, pack, out, **options):
        assert pack == "faces.h5"
        recipe = small(recipe, epochs=1) if isinstance(recipe, str) else recipe
        return train(recipe, data, out, threads=1, progress=False, **options)

    monkeypatch.setattr(training, "load_recipe", small)
    monkeypatch.setattr(facebench, "train", on_faces)
    return tmp_path


def run(code):
    scope = {"facebench": facebench, "__name__": "shown"}
    exec(compile(code, "docs/training.md", "exec"), scope)
    return scope


def manifest(folder):
    return json.loads((folder / "run.json").read_text())["content"]


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_fine_tuning(place):
    embedding.make_model("small4", **SIZE).save("first.safetensors")
    run(snippet("## Fine-tuning"))
    weights = [read_safetensors(f"runs/{n}/model.safetensors")[0] for n in ("head", "model")]
    assert all(np.array_equal(weights[0][name], weights[1][name]) for name in weights[0])


SHOWN = [
    ("### Mixed precision", "bfloat16", ("dtype", "bfloat16")),
    ("### Accumulation", "accumulated", ("accumulate", 4)),
    ("### A moving average of the weights", "averaged", ("ema", 0.95)),
]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("heading", "name", "option"), SHOWN)
def test_options_of_a_step(place, heading, name, option):
    run(snippet(heading))
    content = manifest(place / "runs" / name)
    assert content["recipe"]["training"][option[0]] == option[1]
    assert content["result"]["iterations"] == 6


class Recorder(types.ModuleType):
    """In place of a package for logs: what it is called with."""

    def __init__(self, name):
        super().__init__(name)
        self.calls = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)

        def call(*values, **named):
            self.calls.append((name, values, named))
            return self

        return call

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.calls.append(("end", (), {}))

    def named(self, name):
        return [(values, named) for called, values, named in self.calls if called == name]


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_mlflow(place, monkeypatch):
    recorder = Recorder("mlflow")
    monkeypatch.setitem(sys.modules, "mlflow", recorder)
    scope = run(snippet("### MLflow").replace("% 20 == 0", "% 2 == 0"))
    steps = [named["step"] for _, named in recorder.named("log_metrics")]
    assert steps == [2, 4, 6]
    assert recorder.named("log_params")[0][0][0]["momentum"] == 0.9
    assert recorder.named("log_artifact")[0][0] == (scope["result"]["model"],)
    judged = {"iteration": 6, "validation": {"metric": "tar@far=0.01", "value": 0.5}}
    scope["log_epoch"](judged, None)
    assert recorder.named("log_metric") == [(("tar_far_0.01", 0.5, 6), {})]


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_wandb(place, monkeypatch):
    recorder = Recorder("wandb")
    monkeypatch.setitem(sys.modules, "wandb", recorder)
    run(snippet("### Weights & Biases"))
    logged = recorder.named("log")
    assert [named["step"] for _, named in logged] == list(range(1, 7))
    assert {"loss", "lr", "accuracy"} <= set(logged[0][0][0])
    assert recorder.calls[-1][0] == "end"
