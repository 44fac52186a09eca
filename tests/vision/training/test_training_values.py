"""Values of a recipe with which little is learned, and options without effect, are said before the
first step; what the first steps show, behind them. Shipped recipes are told nothing of the kind."""

import io
import json
import math
import re

import facebench
import numpy as np
import pytest
import torch
from facebench import _full, embedding, losses, training
from PIL import Image
from small_trainings import faces, run

RNG = np.random.default_rng(11)


def told_of(tmp_path, data=None, **options):
    options = {"iterations": 2, "batch": 4, **options}
    return run(tmp_path / "r", data or faces(), **options)[1]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"momentum": 1}, "optimizer.momentum = 1 keeps all gradients"),
        ({"momentum": 0.9999}, "optimizer.momentum = 0.9999 is a mean over 1e+04 steps"),
        ({"weight_decay": 10}, "optimizer.weight_decay = 10 at a rate of 0.1"),
        ({"clip_norm": 1e-12}, "optimizer.clip_norm = 1e-12 lets all 2 steps"),
        ({"ema": 0.9999}, "training.ema = 0.9999: after 2 steps 100 % of the model"),
        ({"final_lr": 1}, "the rate rises from optimizer.lr = 0.1"),
        ({"std": 1e6}, "leave 0.00026 between black and white"),
        (
            {"mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]},
            "numbers of -2.118 to 1136",
        ),
        ({"augmentation.flip": 1}, "augmentation.flip = 1 mirrors every image"),
        ({"shift": 9}, "augmentation.shift = 9 moves images of 16x16"),
        ({"augmentation.view": "random_resized_crop", "area": [0.001, 0.01]}, "1 % of an image"),
        ({"loss": "arcface", "loss.s": 5000}, "with s = 5000 probabilities are 0 or 1"),
    ],
)
def test_values_with_which_little_is_learned(tmp_path, options, says):
    recipe = training.load_recipe("small4_quick.softmax", iterations=2, batch=4)
    for key, value in options.items():
        recipe.set(key, ",".join(map(str, value)) if isinstance(value, list) else str(value))
    with pytest.warns(UserWarning, match=re.escape(says)) as caught:
        result = facebench.train(recipe, faces(), tmp_path / "r", progress=False, threads=1)
    assert result["notes"] == [str(w.message) for w in caught]
    assert len(result["notes"]) == 1


@pytest.mark.parametrize("wrong", [0.5, "ann", None, math.nan, math.inf, [0, 1]])
def test_labels_are_whole_numbers(tmp_path, wrong):
    """0.5 is not person 0."""
    images, labels = faces()
    recipe = training.load_recipe("small4_quick.softmax", iterations=2, batch=4)
    with pytest.raises(ValueError, match=re.escape("labels [3] is ") + ".*not a whole number"):
        facebench.train(recipe, (images, [*labels[:3], wrong, *labels[4:]]), tmp_path / "r")
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize("kind", [np.float64, np.int8, object, str, torch.tensor, list])
def test_labels_of_any_kind_are_the_same(tmp_path, kind):
    images, labels = faces()
    same = kind(labels) if kind in (list, torch.tensor) else np.array(labels).astype(kind)
    models = []
    for k, of in enumerate((labels, same)):
        models.append(run(tmp_path / str(k), (images, of), iterations=2, batch=4)[0]["model"])
    assert models[0].read_bytes() == models[1].read_bytes()


def test_milestones_that_all_lie_in_the_first_epoch(tmp_path):
    options = {"policy": "multistep", "milestones": [1, 2], "unit": "iterations"}
    (said,) = told_of(tmp_path, iterations=9, **options)
    assert said.startswith("all milestones (1, 2 iterations) lie in the first epoch of 3 steps")
    assert "the rate is 0.001." in said  # .1 * .1 ** 2


def test_a_rate_that_falls_to_nothing(tmp_path):
    (said,) = told_of(tmp_path, iterations=60, policy="exponential", gamma=0.1)
    # .1 ** (k / 3) < 1e-6 for k > 18 of 0..59.
    assert said.startswith(f"in {100 * 41 / 60:.0f} % of the 60 steps")


@pytest.mark.parametrize("beta", ["beta1", "beta2"])
def test_a_moment_that_keeps_all_is_refused(beta):
    with pytest.raises(ValueError, match="must be below 1"):
        training.load_recipe("small4.softmax", optimizer="adam", **{beta: 1})


VOID = [
    ("schedule.milestones", "1,2", "schedule.policy = cosine"),
    ("schedule.gamma", "0.5", "schedule.policy = cosine"),
    ("schedule.step", "3", "schedule.policy = cosine"),
    ("schedule.power", "2", "schedule.policy = cosine"),
    ("schedule.unit", "iterations", "schedule.policy = cosine"),
    ("schedule.warmup_start", "0.5", "schedule.warmup = 0.0"),
    ("optimizer.beta1", "0.5", "optimizer.name = sgd"),
    ("optimizer.beta2", "0.5", "optimizer.name = sgd"),
    ("optimizer.eps", "0.5", "optimizer.name = sgd"),
    ("training.epochs", "3", "training.iterations = 2"),
    ("training.images_per_person", "2", "training.sampler = shuffle"),
    ("training.min_delta", "0.1", "training.patience = 0"),
    ("training.aux_weight", "0.5", "network small4 has no auxiliary classifier"),
    ("augmentation.area", "0.1,1", "augmentation.view = input"),
    ("augmentation.aspect", "0.5,1", "augmentation.view = input"),
    ("augmentation.side", "20,30", "augmentation.view = input"),
    ("augmentation.view", "random_crop", "the images are 16x16, and so is the network's input"),
    ("input.view_fraction", "0.5", "input.view = whole"),
]


@pytest.mark.parametrize(("key", "value", "why"), VOID)
def test_an_option_without_effect_is_said(tmp_path, key, value, why):
    recipe = training.load_recipe("small4_quick.softmax", iterations=2, batch=4)
    plain = facebench.train(recipe, faces(), tmp_path / "plain", progress=False, threads=1)
    assert plain["notes"] == []
    recipe.set(key, value)
    with pytest.warns(UserWarning, match=rf"^{re.escape(key)} = .* has no effect: ") as caught:
        facebench.train(recipe, faces(), tmp_path / "r", progress=False, threads=1)
    assert [str(w.message).split(" has no effect: ")[1].split(". Leave")[0] for w in caught] == [
        why
    ]


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        ("optimizer.decay_norms", "false", "batch norm"),
        ("training.batch_norm_decay", "0.9999", "batch norm"),
        ("optimizer.decay_slopes", "false", "PReLU"),
        ("optimizer.residual_bias_lr_mult", "2", "bias of a convolution that keeps the width"),
    ],
)
def test_an_option_of_what_the_network_lacks_is_said(tmp_path, key, value, why):
    recipe = training.load_recipe("lenet5.torch", iterations=2, batch=4)
    for also in ("optimizer.weight_decay", "optimizer.momentum"):
        recipe.set(also, "0.0005")
    recipe.set(key, value)
    with pytest.warns(UserWarning, match=f" has no effect: network lenet5.* has no {why}") as said:
        facebench.train(recipe, faces(size=32), tmp_path / "r", progress=False, threads=1)
    assert len(said) == 1


def test_options_without_effect_change_no_weight(tmp_path):
    data = faces()
    recipe = training.load_recipe("small4_quick.softmax", iterations=2, batch=4)
    facebench.train(recipe, data, tmp_path / "plain", progress=False, threads=1)
    for key, value, _ in VOID:
        recipe.set(key, value)
    with pytest.warns(UserWarning, match="has no effect"):
        facebench.train(recipe, data, tmp_path / "void", progress=False, threads=1)
    assert weights(tmp_path / "plain") == weights(tmp_path / "void")


def weights(folder):
    """The numbers of a safetensors file, behind its header."""
    data = (folder / "model.safetensors").read_bytes()
    return data[8 + int.from_bytes(data[:8], "little") :]


@pytest.mark.parametrize(
    ("loss", "void", "why"),
    [
        ("center", {"weight": 0, "alpha": 0.2}, "loss.weight = 0.0"),
        ("arcface", {"m": 0, "past_pi": "wrap"}, "loss.m = 0.0"),
        ("adaface", {"m": 0, "h": 0.2}, "loss.m = 0.0"),
        ("elasticface", {"std": 0, "plus": "true"}, "loss.std = 0.0"),
        ("sphereface", {"m": 1, "lambda_min": 3}, "loss.m = 1"),
    ],
)
def test_options_of_a_loss_without_effect(tmp_path, loss, void, why):
    recipe = training.load_recipe("small4_quick.softmax", iterations=2, batch=4, loss=loss)
    for key, value in void.items():
        recipe.set(f"loss.{key}", str(value))
    with pytest.warns(UserWarning, match="has no effect: " + re.escape(why)):
        facebench.train(recipe, faces(), tmp_path / "r", progress=False, threads=1)


def test_what_a_file_says_in_vain_is_told_and_what_its_base_says_is_not(tmp_path):
    (tmp_path / "base.toml").write_text(
        'version = 1\nbase = ["small4_quick.softmax"]\ntitle = "b"\n[schedule]\nstep = 4\n'
        "[training]\nbatch = 4\niterations = 2\n"
    )
    (tmp_path / "own.toml").write_text(
        f'version = 1\nbase = ["{tmp_path}/base.toml"]\ntitle = "o"\n[schedule]\npower = 2\n'
    )
    with pytest.warns(UserWarning, match="has no effect") as caught:
        facebench.train(str(tmp_path / "own.toml"), faces(), tmp_path / "r", progress=False)
    assert [str(w.message).split(" has")[0] for w in caught] == ["schedule.power = 2.0"]


MARGINS = [
    # The true class's logit where features and weights agree, worked by hand.
    ("arcface", {"m": 3}, lambda s: s * math.cos(3)),
    ("arcface", {"s": 0.001}, lambda s: s * math.cos(0.5)),
    ("cosface", {"m": 1.5}, lambda s: s * (1 - 1.5)),
    ("combined", {"m2": 2, "m3": 0.5}, lambda s: s * (math.cos(2) - 0.5)),
    ("magface", {"l_margin": 3, "u_margin": 3}, lambda s: s * math.cos(3)),
    ("elasticface", {"m": 3, "std": 0}, lambda s: s * math.cos(3)),
    ("subcenter_arcface", {"m": 3}, lambda s: s * math.cos(3)),
]


@pytest.mark.parametrize(("loss", "options", "logit"), MARGINS)
def test_margins_that_nothing_meets(tmp_path, loss, options, logit):
    recipe = training.load_recipe("small4_quick.softmax", iterations=2, batch=4, loss=loss)
    for key, value in options.items():
        recipe.set(f"loss.{key}", str(value))
    with pytest.warns(UserWarning, match="a probability of") as caught:
        facebench.train(recipe, faces(), tmp_path / "r", progress=False, threads=1)
    (said,) = [str(w.message) for w in caught]
    s = options.get("s", 64)
    gap = logit(s) + s / 3  # the others of four people at -1/3
    printed = float(re.search(r"a probability of (\S+) at most", said)[1])
    # The margin holds the sine away from 0.
    assert printed == pytest.approx(1 / (1 + 3 * math.exp(-gap)), rel=0.2)


@pytest.mark.parametrize("loss", [e["name"] for e in losses.list_losses()])
def test_losses_with_their_defaults_are_told_nothing(loss):
    options = {"sampler": "people", "images_per_person": 3} if loss == "triplet" else {}
    recipe = training.load_recipe("small4_quick.softmax", batch=4, loss=loss, **options)
    images, labels = faces()
    notes = _full.TrainingLoop(recipe, images, labels).notes
    assert [s for s in notes if not s.startswith("sphereface: lambda")] == []


def test_a_triplet_margin_that_cannot_be(tmp_path):
    triplet = {"loss": "triplet", "sampler": "people", "images_per_person": 3}
    recipe = training.load_recipe("small4_quick.softmax", iterations=2, batch=4, **triplet)
    recipe.set("loss.margin", "4")
    with pytest.warns(UserWarning, match=r"margin = 4 is more than 2\.667"):  # 2 * 4 / 3
        facebench.train(recipe, faces(), tmp_path / "r", progress=False)
    recipe.set("loss.margin", "0")
    with pytest.raises(ValueError, match="with margin = 0 no negative is semi-hard"):
        facebench.train(recipe, faces(), tmp_path / "s", progress=False)
    recipe.set("loss.negatives", "all")
    with pytest.warns(UserWarning, match="with margin = 0 a network that gives all images"):
        facebench.train(recipe, faces(), tmp_path / "t", progress=False)


@pytest.mark.parametrize("lr", [1e-12, 1e-20])
def test_weights_that_stay_where_they_are_are_said_once(tmp_path, lr):
    said = told_of(tmp_path, iterations=24, lr=lr)
    still = [s for s in said if "of their length" in s]
    assert len(still) == 1
    assert still[0].startswith("after 20 steps the weights have moved by ")


@pytest.mark.filterwarnings("ignore:nothing was learned")
def test_still_weights_are_said_again_behind_a_resume(tmp_path):
    recipe = training.load_recipe("small4_quick.softmax", iterations=24, batch=4, lr=1e-12)
    data = faces()

    def stop(report):
        if report["iteration"] == 22:
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="of their length"), pytest.raises(KeyboardInterrupt):
        facebench.train(recipe, data, tmp_path / "a", on_step=stop, progress=False, threads=1)
    with pytest.warns(UserWarning, match="of their length"):
        a = facebench.train(recipe, data, tmp_path / "a", resume=True, progress=False, threads=1)
    with pytest.warns(UserWarning, match="of their length"):
        b = facebench.train(recipe, data, tmp_path / "b", progress=False, threads=1)
    assert a["notes"] == b["notes"]


def test_a_long_warmup_is_not_taken_for_stillness(tmp_path):
    options = {"warmup": 200, "warmup_start": 0, "unit": "iterations"}
    assert told_of(tmp_path, iterations=240, **options) == []


def test_images_of_two_people(tmp_path):
    images, labels = faces()
    doubled = (np.concatenate([images, images[:2], images[:1]]), [*labels, 3, 2, 0])
    (said,) = told_of(tmp_path, doubled)
    # The first image three times, twice under person 0; the second under 0 and 2.
    assert said.startswith("5 images are of two people at once, byte for byte (")


def test_an_image_twice_under_one_person_is_not_said(tmp_path):
    images, labels = faces()
    assert told_of(tmp_path, (np.concatenate([images, images[:2]]), [*labels, 0, 0])) == []


def test_files_of_two_people(tmp_path):
    images, labels = faces()
    for k, (image, label) in enumerate(zip(images, labels, strict=True)):
        (tmp_path / f"d/p{label}").mkdir(parents=True, exist_ok=True)
        Image.fromarray(image).save(tmp_path / f"d/p{label}/{k}.png")
    first = (tmp_path / "d/p0/0.png").read_bytes()
    (tmp_path / "d/p3/z.png").write_bytes(first)
    said = "2 images are of two people at once, byte for byte (p0/0.png and p3/z.png)"
    (told,) = told_of(tmp_path, tmp_path / "d")
    assert told.startswith(said)


def test_one_image_a_person_is_said(tmp_path):
    (said,) = told_of(tmp_path, faces(people=12, images=1), loss="center")
    assert said.startswith("each of the 12 people has one image")


def test_embeddings_that_are_all_the_same_are_said(tmp_path):
    class Collapsed(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.row = torch.nn.Parameter(torch.ones(4))

        def forward(self, x):
            return self.row.expand(len(x), 4) + 0 * x.flatten(1)[:, :4]

    recipe = training.load_recipe("small4_quick.softmax", iterations=3, batch=4)
    with pytest.warns(UserWarning, match="have the same embedding"):
        facebench.train(recipe, faces(), tmp_path / "r", network=Collapsed, progress=False)


# Networks whose weights alone take seconds.
LARGE = ("vgg16", "alexnet", "resnet50", "inception", "iresnet50", "densenet", "googlenet",
         "lightcnn", "sphereface20", "centerloss", "ir50")  # fmt: skip
# What is true of a set that is small for the recipe.
OF_LENGTH = ("training.batch_norm_decay", "sphereface: lambda", "the warm-up takes",
             "the rate would fall", "the learning rate is 0 from step")  # fmt: skip


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow) if name.startswith(LARGE) else name
        for name in training.recipe_names()
    ],
)
def test_shipped_recipes_are_told_nothing_but_of_their_length(name):
    recipe = training.load_recipe(name)
    values = recipe.to_dict()
    height = values["input"].get("image_height") or values["network"].get("height") or 64
    width = values["input"].get("image_width") or values["network"].get("width") or height
    labels = np.repeat(np.arange(max(8, values["training"]["batch"] // 4)), 8).tolist()
    images = RNG.integers(0, 256, (len(labels), height, width, 3)).astype(np.uint8)
    notes = _full.TrainingLoop(recipe, images, labels).notes
    assert [note for note in notes if not note.startswith(OF_LENGTH)] == []


def test_the_manifest_names_label_and_split(tmp_path):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    images, labels = faces()
    rows = []
    for image, label in zip(images, labels, strict=True):
        file = io.BytesIO()
        Image.fromarray(image).save(file, "png")
        rows.append({"image": {"bytes": file.getvalue(), "path": None}, "who": f"p{label}"})
    (tmp_path / "d").mkdir()
    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "d/train-0.parquet")
    parquet.write_table(pyarrow.Table.from_pylist(rows[:1]), tmp_path / "d/test-0.parquet")
    recipe = training.load_recipe("small4_quick.softmax", iterations=2, batch=4)
    asked = {"label": "who", "split": "train"}
    out = tmp_path / "r"
    result = facebench.train(recipe, tmp_path / "d", out, progress=False, **asked)
    assert result["classes"] == 4
    assert json.loads((out / "run.json").read_text())["content"]["archive"] == asked
    model = embedding.load_model(result["model"])
    assert model.training["training_set"]["archive"] == asked
