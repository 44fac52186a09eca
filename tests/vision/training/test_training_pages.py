"""What a training shows: log, training.csv, report.html, TensorBoard; one that diverges."""

import csv
import json

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("facebench._full")

import facebench  # noqa: E402
from facebench import Error, reports, training  # noqa: E402

# Of circumstance: another run has other ones.
CIRCUMSTANCE = {"images_per_second", "seconds_left", "memory"}


def faces(count=24, persons=4):
    random = np.random.default_rng(0)
    labels = np.arange(count) % persons
    base = random.integers(0, 256, (persons, 16, 16, 3))
    noise = random.integers(-40, 40, (count, 16, 16, 3))
    return np.clip(base[labels] + noise, 0, 255).astype(np.uint8), labels.tolist()


def recipe(**more):
    settings = {"epochs": 2, "batch": 8, "embedding": 8, "channel_multiplier": 0.25}
    return training.load_recipe("small4.arcface", **settings | more)


def log_of(run):
    return [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]


def table_of(run):
    with (run / "training.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    return [{k: v for k, v in row.items() if k not in CIRCUMSTANCE} for row in rows]


def judge(folder):
    images, labels = faces(40, persons=10)
    names = [f"p{label}_{i}" for i, label in enumerate(labels)]
    lines = [
        f"{names[i]},{names[j]},{int(labels[i] == labels[j])}" for i in range(40) for j in range(i)
    ]
    (folder / "pairs.csv").write_text("\n".join(["first,second,label", *lines]) + "\n")
    return training.validation("pairs", (images, names), lists=folder, metric="auc", steps=2)


def test_observing_changes_no_bit(tmp_path):
    for name, every in (("each", 1), ("never", 1000)):
        training.train(recipe(), faces(), tmp_path / name, threads=1, log_every=every)
    models = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("each", "never")]
    assert models[0] == models[1]
    lines = log_of(tmp_path / "each")
    assert len(lines) == 6
    for line in lines:
        assert -1 <= line["target_cosine"] <= 1 and 0 <= line["violated"] <= 1
        assert line["memory"] > 1e7 and line["gradient_norm"] > 0


def test_norms_are_those_of_the_features(tmp_path):
    """Also where a step is made of micro-batches."""
    seen = []

    def loss(features, labels):
        seen.append(features.detach().double().norm(dim=1).numpy())
        return features.square().mean()

    training.train(recipe(accumulate=2), faces(), tmp_path / "run", loss=loss, log_every=1)
    lines = log_of(tmp_path / "run")
    for i, line in enumerate(lines):
        norms = np.concatenate(seen[2 * i : 2 * i + 2])
        found = [line[f"norm_p{p}"] for p in ("05", "50", "95")]
        assert found == pytest.approx(np.percentile(norms, [5, 50, 95]), rel=1e-6)
        assert "target_cosine" not in line and "violated" not in line


def test_resumed_without_gaps_or_doubles(tmp_path):
    class Stop(Exception):
        pass

    def stop(report):
        if report["iteration"] == 5:
            raise Stop

    how = {"threads": 1, "log_every": 1, "checkpoint_every": 2, "validation": judge(tmp_path)}
    training.train(recipe(), faces(), tmp_path / "whole", **how)
    with pytest.raises(Stop):
        training.train(recipe(), faces(), tmp_path / "run", on_step=stop, **how)
    assert [row["iteration"] for row in table_of(tmp_path / "run")] == list("012345")
    assert "not over, step 5" in (tmp_path / "run" / "report.html").read_text()
    # As a killed process leaves it: steps after the checkpoint, and half a line.
    sorted((tmp_path / "run" / "checkpoints").iterdir())[-1].unlink()
    with (tmp_path / "run" / "log.jsonl").open("a") as log:
        log.write('{"iterat')
    training.train(recipe(), faces(), tmp_path / "run", resume=True, **how)
    rows = table_of(tmp_path / "run")
    assert rows == table_of(tmp_path / "whole")
    assert [row["iteration"] for row in rows] == list("0123456")
    validated = [row for row in rows if row["metric"]]
    assert [row["iteration"] for row in validated] == list("02346")  # every two steps, and epochs
    for row in validated:
        assert float(row["low"]) <= float(row["value"]) <= float(row["high"])
    page = (tmp_path / "run" / "report.html").read_text()
    assert "done, step 6" in page and "Violated margins" in page and "Validation: auc" in page


def test_stops_where_the_loss_is_not_finite(tmp_path):
    steps = []

    def loss(features, labels):
        steps.append(1)
        return features.square().mean() * (float("nan") if len(steps) == 5 else 1)

    how = {"log_every": 2, "checkpoint_every": 2, "loss": loss}
    with pytest.raises(Error, match="diverged: the loss is not finite in step 5") as error:
        training.train(recipe(), faces(), tmp_path / "run", **how)
    line = log_of(tmp_path / "run")[-1]
    assert line["iteration"] == 5 and line["non_finite_weights"] == 0
    assert line["gradient_norm"]["iteration"] == 4 and line["non_finite_gradients"] > 0.5
    for words in (
        "gradient norm",
        "in step 4",
        "% of the weights",
        "checkpoint of step 4",
        "lower",
    ):
        assert words in str(error.value)
    assert [p.name for p in sorted((tmp_path / "run" / "checkpoints").iterdir())][-1].count("4")
    assert "diverged" in (tmp_path / "run" / "report.html").read_text()
    # From that checkpoint it goes on where the cause is gone, and the log forgets it.
    training.train(recipe(), faces(), tmp_path / "run", resume=True, **how)
    assert not any("diverged" in line for line in log_of(tmp_path / "run"))


def test_keeps_no_checkpoint_of_broken_weights(tmp_path):
    """A gradient that is not finite shows in the loss a step later; a checkpoint comes between."""
    steps = []

    def loss(features, labels):
        steps.append(1)
        nothing = torch.sqrt(features * 0).sum()  # 0, whose gradient is 0 / 0
        return features.square().mean() + (nothing if len(steps) == 4 else 0)

    with pytest.raises(Error, match=r"weights are not finite after step 4.*checkpoint of step 2"):
        training.train(recipe(), faces(), tmp_path / "run", loss=loss, checkpoint_every=2)
    assert not (tmp_path / "run" / "model.safetensors").exists()
    lines = log_of(tmp_path / "run")
    assert sum("diverged" in line for line in lines) == 1 and lines[-1]["non_finite_weights"] > 0.5


def test_report_sets_trainings_side_by_side(tmp_path):
    runs = [tmp_path / "slow", tmp_path / "fast"]
    for run, rate in zip(runs, (0.01, 0.1), strict=True):
        training.train(recipe(lr=rate), faces(), run, log_every=1, threads=1)
    text = facebench.report(runs)
    assert "slow" in text and "done, step 6" in text
    rows = list(csv.DictReader(facebench.report(runs, format="csv").splitlines()))
    assert [(r["training"], r["iteration"]) for r in rows] == [
        (run.name, str(step)) for run in runs for step in range(1, 7)
    ]
    assert [float(r["lr"]) for r in rows][::6] == pytest.approx([0.01, 0.1])
    page = facebench.report(runs, format="html", out=tmp_path / "both").read_text()
    assert page.count("<svg") >= 8 and page.count(">fast<") >= 8
    with pytest.raises(ValueError, match="markdown, csv, html and frame, not latex"):
        facebench.report(runs, format="latex")
    (tmp_path / "other").mkdir()
    with pytest.raises(Error, match="other: not the folder of a training"):
        facebench.report([*runs, tmp_path / "other"])
    with pytest.raises(ValueError, match="trainings have no"):
        facebench.report(runs, against="wang-guo-2019")


def test_long_curves_are_thinned():
    steps = list(range(1, 1001))
    thin, values = reports.trainings._thinned(steps, [float(s) for s in steps])
    assert len(thin) <= 400 and thin[-1] == 1000 and values[0] == pytest.approx(2)


def test_tensorboard_has_what_the_log_has(tmp_path):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    how = {"threads": 1, "log_every": 1, "checkpoint_every": 2, "validation": judge(tmp_path)}
    training.train(recipe(), faces(), tmp_path / "run", **how)
    sorted((tmp_path / "run" / "checkpoints").iterdir())[-1].unlink()
    training.train(recipe(), faces(), tmp_path / "run", resume=True, **how)
    events = EventAccumulator(str(tmp_path / "run" / "tensorboard")).Reload()
    lines = [line for line in log_of(tmp_path / "run") if "loss" in line]
    for key in ("loss", "target_cosine", "norm_p50"):
        found = [(e.step, e.value) for e in events.Scalars(f"training/{key}")]
        assert [step for step, _ in found] == [1, 2, 3, 4, 5, 6]
        assert [v for _, v in found] == pytest.approx([line[key] for line in lines], rel=1e-6)
    assert [e.step for e in events.Scalars("validation/pairs/auc")] == [0, 2, 3, 4, 6]
