"""The code of docs/other-tools.md, run as it stands: with the packages where they are, else with
stand-ins of the calls that they document."""

import importlib.util
import re
import shlex
import sys
import types
from pathlib import Path

import facebench
import nbformat
import numpy as np
import pytest
from click.testing import CliRunner
from facebench.cli.app import app

pytest.importorskip("facebench._full")
pytest.importorskip("pandas")

PAGE = (Path(__file__).parents[2] / "docs/other-tools.md").read_text()
# What MLflow takes as the name of a metric (mlflow.utils.validation).
MLFLOW_NAME = re.compile(r"[/\w.\- :]+")


def snippets(heading, language="python"):
    part = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return re.findall(rf"```{language}\n(.*?)```", part, re.S)


def run(code, **names):
    exec(compile(code, "docs/other-tools.md", "exec"), names)
    return names


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with LFW's layout, two models and a run of each."""
    folder = tmp_path_factory.mktemp("tools")
    few = facebench.datasets.SyntheticOptions(people=40, images=2, size=64, pairs_per_fold=4)
    facebench.datasets.write_synthetic_dataset(few, folder / "LFW")
    (folder / "models").mkdir()
    for seed, name in enumerate("ab"):
        size = {"height": 16, "width": 16, "channel_multiplier": 0.125, "embedding": 8}
        model = facebench.embedding.make_model("small4", **size, seed=seed)
        facebench.embedding.export_onnx(model, folder / f"models/{name}.onnx")
        facebench.run("lfw", model=folder / f"models/{name}.onnx", root=folder / "LFW",
                      out=folder / f"runs/{name}", replicates=50)  # fmt: skip
    return folder


@pytest.fixture(autouse=True)
def there(place, monkeypatch):
    monkeypatch.chdir(place)


def values_of(name):
    metrics = facebench.analysis.read_run(f"runs/{name}")["metrics"]["tracks"]
    return {f"{t}/{m}": cell["value"] for t, part in metrics.items()
            for m, cell in part["metrics"].items() if np.isscalar(cell["value"])}  # fmt: skip


def test_pandas(place):
    found = run(*snippets("pandas"))
    assert (place / "numbers.csv").is_file()
    assert found["wide"].loc["a", ("view2", "auc")] == values_of("a")["view2/auc"]
    assert list(found["wide"].index) == ["a", "b"]


class MLflow(types.ModuleType):
    """start_run, log_metric and log_artifact as MLflow documents them."""

    def __init__(self):
        super().__init__("mlflow")
        self.runs, self.open = {}, None

    def start_run(self, run_name):
        assert self.open is None
        self.open = self.runs.setdefault(run_name, {"metrics": {}, "files": []})
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.open = None

    def log_metric(self, key, value):
        assert MLFLOW_NAME.fullmatch(key), key
        self.open["metrics"][key] = float(value)

    def log_artifact(self, path):
        assert Path(path).is_file()
        self.open["files"].append(path)


def test_mlflow(monkeypatch):
    stand_in = MLflow()
    monkeypatch.setitem(sys.modules, "mlflow", stand_in)
    run(*snippets("MLflow"))
    assert set(stand_in.runs) == {"a", "b"}
    for name, known in stand_in.runs.items():
        said = {re.sub(r"[^\w. /-]", "_", k): v for k, v in values_of(name).items()}
        assert known["metrics"].items() >= said.items() and "view2/tar_far_0.001" in said
        assert known["files"] == [f"runs/{name}/report.html"]


def test_mlflow_takes_the_names():
    validation = pytest.importorskip("mlflow.utils.validation", reason="pip install mlflow")
    for name in ("view2/tar_far_0.001", "view2/auc"):
        validation._validate_metric_name(name)
        assert MLFLOW_NAME.fullmatch(name)
    with pytest.raises(Exception, match="may only contain"):
        validation._validate_metric_name("tar@far=0.001")


class WandB(types.ModuleType):
    """init as a context, Run.log, Run.summary and Html as Weights & Biases documents them."""

    Html = str

    def __init__(self):
        super().__init__("wandb")
        self.summary, self.logged, self.ended = {}, [], False

    def init(self, project, name):
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ended = True

    def log(self, values):
        self.logged.append(values)


def test_wandb(monkeypatch):
    if importlib.util.find_spec("wandb"):
        monkeypatch.setenv("WANDB_MODE", "disabled")
        run(*snippets("Weights & Biases"))
    stand_in = WandB()
    monkeypatch.setitem(sys.modules, "wandb", stand_in)
    run(*snippets("Weights & Biases"))
    assert stand_in.summary.items() >= values_of("a").items() and stand_in.ended
    assert stand_in.logged[0]["report"].startswith("<!doctype html>")


def papermill():
    """The package, or a stand-in that does what it documents: a cell with the parameters below the
    tagged one, then every cell."""
    try:
        import papermill

        return papermill
    except ImportError:
        pass

    def execute_notebook(source, target, parameters):
        names, notebook = {}, nbformat.read(source, 4)
        for cell in notebook.cells:
            exec(cell.source, names)
            if "parameters" in cell.metadata.get("tags", ()):
                names |= parameters
        nbformat.write(notebook, target)

    module = types.ModuleType("papermill")
    module.execute_notebook = execute_notebook
    return module


def test_papermill(place, monkeypatch):
    settings, work, loop = snippets("papermill")
    notebook = nbformat.v4.new_notebook()
    tagged = nbformat.v4.new_code_cell(settings, metadata={"tags": ["parameters"]})
    notebook.cells = [tagged, nbformat.v4.new_code_cell(work)]
    notebook.metadata["kernelspec"] = {"name": "python3", "language": "python", "display_name": ""}
    nbformat.write(notebook, "evaluate.ipynb")
    monkeypatch.setitem(sys.modules, "papermill", papermill())
    before = {name: values_of(name) for name in "ab"}
    run(loop)
    assert all((place / f"evaluate-{name}.ipynb").is_file() for name in "ab")
    assert before == {name: values_of(name) for name in "ab"}


def test_dvc():
    """The stage's command makes what the stage says that it makes, of what it says it needs."""
    (stage,) = snippets("DVC", "yaml")
    parts = re.findall(r"^    (\w+):\n((?:      .*\n)+)", stage, re.M)
    lists = {key: re.findall(r"^ +- ([\w./]+):?$", body, re.M) for key, body in parts}
    (command,) = re.findall(r"cmd: facebench (.*)", stage)
    assert all(Path(one).exists() and one in command for one in lists["deps"])
    for one in (*lists["outs"], *lists["metrics"]):
        Path(one).unlink()
    done = CliRunner().invoke(app, shlex.split(command))
    assert done.exit_code == 0, done.output
    assert len(lists["metrics"]) == 1 and Path("runs/a/metrics.json").is_file()
    assert all(Path(one).is_file() for one in lists["outs"])
