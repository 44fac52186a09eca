"""MLPerf-style lines of a training to an accuracy."""

import json

import pytest

pytest.importorskip("torch")
pytest.importorskip("facebench._full")

import facebench
from facebench import training
from small_trainings import faces

SIZE = {"height": 16, "width": 16, "channel_multiplier": 0.125, "embedding": 8}


def lines(path):
    text = path.read_text().splitlines()
    assert all(line.startswith(":::MLLOG ") for line in text)
    return [json.loads(line.removeprefix(":::MLLOG ")) for line in text]


def recipe():
    return training.load_recipe("small4.softmax", **SIZE | {"batch": 8, "epochs": 3})


def epoch(number, value=None):
    validation = {} if value is None else {"validation": {"metric": "auc", "value": value}}
    return {"epoch": number, "iteration": 10 * number, **validation}


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_of_a_training(tmp_path):
    log = training.MLLog(tmp_path / "m.txt", recipe())
    facebench.train(recipe(), faces(images=6), tmp_path / "run", threads=1, progress=False,
                    on_epoch=log.on_epoch)  # fmt: skip
    log.end()
    found = lines(tmp_path / "m.txt")
    keys = [line["key"] for line in found]
    order = ["init_start", "init_stop", "run_start", "epoch_start", "epoch_stop", "run_stop"]
    assert [keys.index(key) for key in order] == sorted(keys.index(key) for key in order)
    assert keys.count("epoch_stop") == 3 and keys[-1] == "run_stop"
    values = {line["key"]: line["value"] for line in found}
    assert (values["global_batch_size"], values["opt_name"], values["seed"]) == (8, "sgd", 0)
    times = [line["time_ms"] for line in found]
    assert times == sorted(times)
    assert found[-1]["metadata"]["status"] == "success"
    events = {line["key"]: line["event_type"] for line in found}
    assert events["run_start"] == "INTERVAL_START" and events["run_stop"] == "INTERVAL_END"
    assert events["seed"] == "POINT_IN_TIME"


@pytest.mark.parametrize(
    ("values", "status", "epochs"),
    [([0.5, 0.9, 0.95], "success", 2), ([0.5, 0.6, 0.7], "aborted", 3),
     ([0.9], "success", 1), ([None, 0.91], "success", 2), ([], "aborted", 0)],
)  # fmt: skip
def test_the_target_ends_the_run(tmp_path, values, status, epochs):
    log = training.MLLog(tmp_path / "m.txt", recipe(), target=0.9)
    for number, value in enumerate(values, 1):
        log.on_epoch(epoch(number, value))
    log.end()
    found = lines(tmp_path / "m.txt")
    assert found[-1]["key"] == "run_stop" and found[-1]["metadata"]["status"] == status
    assert found[-1]["metadata"]["epoch_num"] == epochs
    assert log.reached == (status == "success")
    said = [line["value"] for line in found if line["key"] == "eval_accuracy"]
    assert said == [v for v in values[:epochs] if v is not None]


@pytest.mark.parametrize("last", [0.05, 0.1, 0.0])
def test_an_error_rate_is_reached_from_above(tmp_path, last):
    log = training.MLLog(tmp_path / "m.txt", recipe(), target=0.1)
    for number, value in enumerate((0.4, last), 1):
        of_it = {"metric": "eer", "value": value, "score": -value}
        report = epoch(number) | {"validation": of_it}
        log.on_epoch(report)
        assert log.reached == (number == 2)
    log.end()


def test_a_log_is_of_one_run(tmp_path):
    (tmp_path / "m.txt").write_text("mine")
    with pytest.raises(ValueError, match="exists"):
        training.MLLog(tmp_path / "m.txt", recipe())
    assert (tmp_path / "m.txt").read_text() == "mine"
