"""A recipe for another batch by the linear rule, worked by hand."""

import json

import facebench
import numpy as np
import pytest
from command_line import run as command

pytest.importorskip("facebench._full")

from facebench import training


def scaled(name, batch, **changed):
    recipe = training.load_recipe(name, scaled_batch=batch, **changed)
    return recipe, recipe.to_dict()


def test_a_larger_batch_warms_up_to_its_rate():
    """resnet50.pytorch: batch 50, rate .1, 128 epochs; 200 is four times that."""
    _, said = scaled("resnet50.pytorch", 200)
    assert said["training"]["batch"] == 200
    assert said["optimizer"]["lr"] == pytest.approx(0.4)
    schedule = said["schedule"]
    assert (schedule["unit"], schedule["step"]) == ("epochs", 28)
    assert schedule["warmup"] == 5 and schedule["warmup_start"] == 0.25
    # It begins at the recipe's own rate and is at the scaled one after the warm-up.
    options = training.ScheduleOptions(**schedule)
    rates = [training.learning_rate(0.4, options, i, 12800, 100) for i in (0, 250, 500, 2799, 2800)]
    np.testing.assert_allclose(rates, [0.1, 0.25, 0.4, 0.4, 0.04], rtol=1e-12)


def test_lengths_in_iterations_keep_their_epochs():
    """iresnet50.arcface: batch 512, 32,000 iterations; of 128 each epoch has four times as many."""
    _, said = scaled("iresnet50.arcface", 128)
    assert said["training"]["iterations"] == 128000
    assert said["schedule"]["milestones"] == [64000, 96000, 112000]
    assert said["optimizer"]["lr"] == pytest.approx(0.025)
    assert said["schedule"]["warmup"] == 0
    _, said = scaled("iresnet50.arcface", 1024)
    assert said["training"]["iterations"] == 16000
    assert said["schedule"]["milestones"] == [8000, 12000, 14000]
    assert said["schedule"]["warmup"] == 889  # 5 of 90 of 16,000
    assert said["schedule"]["warmup_start"] == 0.5


def test_rates_that_fall_by_iterations_fall_by_epochs_as_before():
    """Caffe's inv and an annealing keep their course over the epochs."""
    before = training.load_recipe("lenet5.caffe").to_dict()
    _, after = scaled("lenet5.caffe", 32)
    for share in (0.1, 0.5, 0.9):
        rates = []
        for said, factor in ((before, 1), (after, 2)):
            options = training.ScheduleOptions(**said["schedule"])
            total = said["training"]["iterations"]
            at = int(share * total)
            rates.append(
                factor * training.learning_rate(said["optimizer"]["lr"], options, at, total)
            )
        assert rates[0] == pytest.approx(rates[1], rel=1e-9)
    gamma = training.load_recipe("sphereface20.caffe").to_dict()["loss"]["gamma"]
    assert scaled("sphereface20.caffe", 32)[1]["loss"]["gamma"] == pytest.approx(gamma / 4)


@pytest.mark.parametrize("name", training.recipe_names())
def test_every_recipe_takes_another_batch(name):
    plain = training.load_recipe(name).to_dict()
    k = 3
    if plain["optimizer"]["name"] != "sgd":
        with pytest.raises(ValueError, match="linear rule is that of sgd"):
            scaled(name, k * plain["training"]["batch"])
        return
    recipe = training.load_recipe(name)
    sentence = recipe.scale_batch(k * plain["training"]["batch"])
    said = recipe.to_dict()
    assert said["optimizer"]["lr"] == pytest.approx(k * plain["optimizer"]["lr"])
    assert "by the linear rule (Goyal et al. 2017)" in sentence and "it warms up from" in sentence
    for key in ("momentum", "weight_decay"):
        assert said["optimizer"][key] == plain["optimizer"][key]
    same = training.load_recipe(name)
    assert same.scale_batch(plain["training"]["batch"]) == "" and same.to_dict() == plain


def test_what_the_caller_says_stays():
    _, said = scaled("small4.softmax", 128, lr=0.07, warmup=0)
    assert said["optimizer"]["lr"] == 0.07 and said["schedule"]["warmup"] == 0
    with pytest.raises(ValueError, match="said twice"):
        training.load_recipe("small4.softmax", scaled_batch=128, training__batch=32)
    with pytest.raises(ValueError, match="one image or more"):
        scaled("small4.softmax", 0)


def test_it_is_said_in_record_and_page(tmp_path):
    from small_trainings import faces

    recipe = training.load_recipe("small4_quick.softmax", scaled_batch=6, epochs=2)
    with pytest.warns(UserWarning, match="the batch is 6 in place of the recipe's 64"):
        result = facebench.train(recipe, faces(), tmp_path / "r", progress=False, threads=1)
    content = json.loads((tmp_path / "r" / "run.json").read_text())["content"]
    (said,) = [n for n in content["notes"] if "linear rule" in n]
    model = facebench.embedding.load_model(result["model"])
    scaling = model.training["batch_scaling"]
    assert scaling["batch"] == [64, 6] and scaling["said"] == said
    assert "by the linear rule (Goyal et al. 2017)" in (tmp_path / "r" / "report.html").read_text()


def test_on_the_command_line(tmp_path):
    done = command(
        "train", "small4.softmax", "--pack", tmp_path, "--batch", "8", "--set", "batch=4"
    )
    assert done.returncode == 2 and "said twice" in done.stderr
