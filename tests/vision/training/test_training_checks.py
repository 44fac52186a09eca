"""Trainings that cannot learn are refused before the first step; what is odd is said."""

import math

import facebench
import numpy as np
import pytest
import torch
from facebench import losses, training
from small_trainings import faces, run
from torch.nn import functional as F


def semi_hard_of_tensorflow_addons(labels, embeddings, margin):
    """Written from the documentation of TripletSemiHardLoss: for each ordered pair of a class the
    nearest of the negatives that are farther than the positive, else the farthest negative; the
    mean over the pairs."""
    unit = embeddings / np.maximum(np.linalg.norm(embeddings, axis=1, keepdims=True), 1e-12)
    distance = ((unit[:, None] - unit[None]) ** 2).sum(2)
    values = []
    for a in range(len(labels)):
        negatives = distance[a, labels != labels[a]]
        for p in np.flatnonzero(labels == labels[a]):
            if p != a:
                farther = negatives[negatives > distance[a, p]]
                negative = farther.min() if len(farther) else negatives.max()
                values.append(max(0.0, margin + distance[a, p] - negative))
    return float(np.mean(values))


@pytest.mark.parametrize(
    "features",
    [np.ones((8, 8)), np.full((8, 8), -0.3), np.zeros((8, 8)), np.tile(np.arange(8.0), (8, 1)),
     np.outer(np.arange(1.0, 9), np.ones(8))],
    ids=["ones", "negative", "zeros", "a row", "lengths differ"],
)  # fmt: skip
@pytest.mark.parametrize("float64", [False, True])
@pytest.mark.parametrize("negatives", ["semi_hard", "all"])
def test_triplet_of_a_collapsed_network_is_the_margin(features, float64, negatives):
    labels = np.array([0, 0, 1, 1, 2, 2, 3, 3])
    head = losses.make_head(
        "triplet", features=8, classes=4, float64=float64, margin=0.3, negatives=negatives
    )
    x = torch.tensor(features, dtype=torch.float64 if float64 else torch.float32)
    loss = head(x, torch.tensor(labels))[0].item()
    assert loss == pytest.approx(semi_hard_of_tensorflow_addons(labels, features, 0.3), abs=1e-5)
    assert loss == pytest.approx(0.3, abs=1e-5)


def test_triplet_of_a_tie_has_the_gradient_of_its_triplet():
    """Two people at two points each, all as far apart: (a, p, n) is unique but for the negative."""
    x = torch.eye(4, dtype=torch.float64)
    head = losses.make_head("triplet", features=4, classes=2, float64=True, pick="nearest")
    y = torch.tensor([0, 0, 1, 1])
    x.requires_grad_(True)
    loss = head(x, y)[0]
    loss.backward()
    assert loss.item() == pytest.approx(0.2, abs=1e-12)

    def value(rows):
        """With the triplets held as they are at the tie: the first of the farthest."""
        unit = F.normalize(rows)
        triplets = [(0, 1, 2), (2, 3, 0)]
        return sum(
            (unit[a] - unit[p]).square().sum() - (unit[a] - unit[n]).square().sum() + 0.2
            for a, p, n in triplets
        ).item() / 2  # fmt: skip

    for i in range(4):
        for j in range(4):
            step = torch.zeros(4, 4, dtype=torch.float64)
            step[i, j] = 1e-6
            slope = (value(x.detach() + step) - value(x.detach() - step)) / 2e-6
            assert x.grad[i, j].item() == pytest.approx(slope, abs=1e-8)


def test_triplet_away_from_ties_leaves_out_pairs_as_before():
    # Two pairs at opposite ends: every negative is nearer than the positive.
    x = torch.tensor([[1.0, 0], [-1, 0], [0, 1], [0, -1]])
    head = losses.make_head("triplet", features=2, classes=2)
    assert head(x, torch.tensor([0, 0, 1, 1]))[0].item() == 0
    # Far apart: finished.
    x = torch.tensor([[1.0, 0], [1, 0.01], [-1, 0], [-1, 0.01]])
    assert head(x, torch.tensor([0, 0, 1, 1]))[0].item() == 0


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"batch": 4, "accumulate": 4}, "4 micro-batches"),
        ({"batch": 1}, "a batch holds 1 image"),
        ({"batch": 5, "accumulate": 3}, "Use a batch of 6 or more, or an accumulate of 2 or less"),
        ({"batch": 11, "last_batch": "keep"}, "the last batch of an epoch would hold one image"),
    ],
)
def test_batch_norm_over_one_image_is_refused_as_torch_does(tmp_path, options, says):
    with pytest.raises(ValueError, match="Expected more than 1 value per channel"):
        torch.nn.BatchNorm1d(3)(torch.ones(1, 3))
    recipe = training.load_recipe("small4.softmax", network="mobilefacenet", epochs=1, **options)
    data = faces(size=32)
    with pytest.raises(ValueError, match="batch norm") as caught:
        facebench.train(recipe, data, tmp_path / "r", progress=False)
    assert says in str(caught.value)
    assert not (tmp_path / "r/log.jsonl").exists()


def test_batch_norm_over_a_map_takes_one_image(tmp_path):
    torch.nn.BatchNorm2d(3)(torch.ones(1, 3, 2, 2))  # PyTorch takes it, too
    options = {"name": "small4.softmax", "network": "resnet20_cifar", "batch": 1, "iterations": 2}
    result, _ = run(tmp_path / "r", faces(size=32), **options)
    assert result["iterations"] == 2


@pytest.mark.parametrize(
    ("images", "options", "says"),
    [
        (1, {"batch": 4}, "each of the 4 people has one image"),
        (1, {"batch": 4, "sampler": "balanced", "images_per_person": 2}, "has one image"),
        (3, {"batch": 4, "sampler": "balanced", "images_per_person": 1}, "none of the first"),
        (4, {"batch": 4, "sampler": "balanced", "images_per_person": 4}, "none of the first"),
        (2, {"batch": 4, "accumulate": 2, "sampler": "balanced", "images_per_person": 2}, "micro"),
        (3, {"batch": 2}, "none of the first"),
        (3, {"batch": 4, "sampler": "people", "images_per_person": 1}, "sampler people"),
    ],
)
def test_triplet_without_triplets_is_refused(tmp_path, images, options, says):
    recipe = training.load_recipe("small4_quick.softmax", loss="triplet", epochs=2, **options)
    with pytest.raises(ValueError, match="loss triplet: ") as caught:
        facebench.train(recipe, faces(images=images), tmp_path / "r", progress=False)
    assert says in str(caught.value)


def test_triplet_with_pairs_trains(tmp_path):
    options = {"loss": "triplet", "sampler": "people", "images_per_person": 3, "batch": 6}
    assert run(tmp_path / "r", faces(), iterations=2, **options)[1] == []


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"warmup": 5}, "the warm-up takes 5 epochs, and the training ends after 2 epochs"),
        ({"warmup": 100, "unit": "iterations"}, "the warm-up takes 100 iterations"),
        ({"policy": "multistep", "milestones": [1, 30, 60]}, "would fall at 30, 60 epochs"),
        ({"policy": "step", "schedule__step": 10}, "would fall at 10 epochs"),
        ({"lr": 0}, "the learning rate is 0 in every step"),
        ({"policy": "multistep", "milestones": [1], "schedule__gamma": 0}, "is 0 from step 4 of 6"),
        ({"sampler": "balanced", "images_per_person": 4}, "4 of 4 people have fewer than 4 images"),
        ({"loss": "sphereface"}, "sphereface: lambda is"),
    ],
)
def test_what_is_odd_is_said_before_the_first_step(tmp_path, options, says):
    _, told = run(tmp_path / "r", faces(), epochs=2, batch=4, **options)
    assert len(told) == 1
    assert says in told[0]


def test_a_sound_plan_says_nothing(tmp_path):
    options = {"policy": "multistep", "milestones": [1], "warmup": 0.5, "epochs": 2, "batch": 4}
    assert run(tmp_path / "r", faces(), **options)[1] == []


def test_a_training_that_learned_nothing_says_so(tmp_path):
    """The same image under each label: the best is to guess."""
    images, labels = faces()
    _, told = run(tmp_path / "r", (images[:1].repeat(12, 0), labels), iterations=24, batch=4,
                  lr=0.001)  # fmt: skip
    shared, collapsed, nothing = told
    assert shared.startswith("12 images are of two people at once")
    assert collapsed.startswith("all images of the last batch have the same embedding")
    assert nothing.startswith("nothing was learned: the loss began at")
    assert f"(guessing gives {math.log(4):.4g})" in nothing


def test_a_loss_of_zero_throughout_is_said(tmp_path):
    recipe = training.load_recipe("small4_quick.softmax", iterations=3, batch=4)
    with pytest.warns(UserWarning, match="exactly 0 in every step"):
        facebench.train(
            recipe, faces(), tmp_path / "r", loss=lambda x, y: (0 * x).sum(), progress=False
        )
