"""The built-in recipes against Wang & Guo 2019, tables 2, 11 and 12, typed in once more."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from facebench import nn, training  # noqa: E402

# Table 2: batch, image size, input size, learning rate, policy with what it needs, epochs or
# iterations, weight decay.
STEP = "step"
TABLE2 = {
    "AlexNet-v1": (256, 256, 227, 0.01, (STEP, 0.1, 21), 96, 5e-4),
    "AlexNet-v2": (256, 256, 224, 0.01, (STEP, 0.1, 21), 96, 5e-4),
    "DenseNet-121": (40, 256, 224, 0.1, (STEP, 0.1, 10), 30, 1e-4),
    "GoogLeNet": (32, 256, 224, 0.01, ("polynomial", 0.5), 64, 2e-4),
    "Inception-v3": (25, 299, 299, 0.045, (STEP, 0.94, 2), 100, 4e-4),
    "LightCNN-29": (128, 144, 128, 0.1, (STEP, 0.457, 10), 80, 1e-4),
    "ResNet-50": (50, 256, 224, 0.1, (STEP, 0.1, 28), 128, 1e-4),
    "VGG-16": (128, 256, 224, 0.1, (STEP, 0.1, 17), 74, 5e-4),
    "VGG-16-BN": (128, 256, 224, 0.1, (STEP, 0.1, 17), 74, 5e-4),
    "section 4.4": (210, 256, 224, 0.1, (STEP, 0.1, 6), 14, 1e-4),
    "Softmax": (512, 112, 112, 0.1, ("multistep", [16000, 24000, 28000]), 30000, 5e-4),
    "Center-loss": (256, (112, 96), (112, 96), 0.1, ("multistep", [16000, 24000]), 28000, 5e-4),
    "SphereFace": (128, (112, 96), (112, 96), 0.1, ("multistep", [16000, 24000]), 28000, 5e-4),
    "CosFace": (512, 112, 112, 0.1, ("multistep", [16000, 24000, 28000]), 30000, 5e-4),
    "ArcFace": (512, 112, 112, 0.1, ("multistep", [16000, 24000, 28000]), 32000, 5e-4),
}

# Recipe: the row of table 2, the framework's flavour, the network of ours, the initialiser of
# convolutions and of the classifier (table 12, or what stands in the recipe's notes).
RECIPES = {
    "alexnet_v1.caffe": ("AlexNet-v1", "caffe", "alexnet_v1", "gaussian_0.01", "normal"),
    "alexnet_v2.pytorch": ("AlexNet-v2", "pytorch", "alexnet_v2", "torch", "linear"),
    "alexnet_v2.tensorflow": (
        "AlexNet-v2", "vgg", "alexnet_v2_slim", "alexnet_slim", "truncated_normal",
    ),
    "densenet121.caffe": ("DenseNet-121", "caffe", "densenet121", "xavier_caffe", "xavier_caffe"),
    "densenet121.pytorch": (
        "DenseNet-121", "pytorch", "densenet121", "kaiming_normal_fan_in", "linear",
    ),
    "densenet121.tensorflow": ("DenseNet-121", "vgg", "densenet121", "xavier_uniform", "xavier"),
    "googlenet.caffe": ("GoogLeNet", "caffe", "googlenet_bvlc", "xavier_caffe", "xavier_caffe"),
    "googlenet.tensorflow": (
        "GoogLeNet", "inception", "googlenet_slim", "xavier_uniform", "xavier",
    ),
    "inception_v3.caffe": (
        "Inception-v3", "caffe", "inception_v3", "xavier_normal", "xavier_normal",
    ),
    "inception_v3.pytorch": (
        "Inception-v3", "pytorch", "inception_v3", "truncated_normal_0.1", "linear",
    ),
    "inception_v3.tensorflow": (
        "Inception-v3", "inception", "inception_v3_slim", "xavier_uniform", "xavier",
    ),
    "lightcnn29.caffe": ("LightCNN-29", "lightcnn", "lightcnn29", "xavier_caffe", "xavier_caffe"),
    "resnet50.caffe": ("ResNet-50", "caffe", "resnet50_v1", "resnet_caffe", "normal"),
    "resnet50.pytorch": ("ResNet-50", "pytorch", "resnet50", "kaiming_normal_fan_out", "linear"),
    "resnet50.section_4_4": (
        "section 4.4", "pytorch", "resnet50", "kaiming_normal_fan_out", "linear",
    ),
    "resnet50.tensorflow": ("ResNet-50", "vgg", "resnet50_slim", "xavier_uniform", "xavier"),
    "vgg16.caffe": ("VGG-16", "caffe", "vgg16", "xavier_caffe", "xavier_caffe"),
    "vgg16.pytorch": ("VGG-16", "pytorch", "vgg16", "kaiming_normal_fan_out", "linear"),
    "vgg16.tensorflow": ("VGG-16", "vgg", "vgg16", "xavier_uniform", "xavier"),
    "vgg16_bn.pytorch": ("VGG-16-BN", "pytorch", "vgg16_bn", "kaiming_normal_fan_out", "linear"),
    "centerloss.caffe": ("Center-loss", "faces_caffe", "centerloss", "residual_caffe", None),
    "sphereface20.caffe": ("SphereFace", "faces_caffe", "sphereface20", "residual_caffe", None),
    "iresnet50.softmax": ("Softmax", "faces", "iresnet50", "msra_fan_out", None),
    "iresnet50.cosface": ("CosFace", "faces", "iresnet50", "msra_fan_out", None),
    "iresnet50.arcface": ("ArcFace", "faces", "iresnet50", "msra_fan_out", None),
}  # fmt: skip

# Table 11 and section 4.1: training view, colours, view in evaluation, channel order, mean and
# deviation in 0..255, last batch.
FLAVOURS = {
    "pytorch": (
        "random_resized_crop", "none", "center_crop", "rgb",
        [255 * 0.485, 255 * 0.456, 255 * 0.406], [255 * 0.229, 255 * 0.224, 255 * 0.225], "keep",
    ),
    "vgg": (
        "random_side_crop", "none", "center_crop", "rgb", [123.68, 116.779, 103.939], [1], "drop",
    ),
    "inception": ("distorted_box", "inception", "center_fraction", "rgb", [127.5], [127.5], "drop"),
    "caffe": ("random_crop", "none", "center_crop", "bgr", [87.1, 102.7, 134.6], [255], "wrap"),
    "lightcnn": ("random_crop", "none", "center_crop", "bgr", [127.5], [127.5], "wrap"),
    # No row in table 11.
    "faces_caffe": ("input", "none", "whole", "bgr", [127.5], [128], "wrap"),
    "faces": ("input", "none", "whole", "rgb", [127.5], [128], "keep"),
}  # fmt: skip


# The frameworks' own files, which the recipes name: momentum rule; lr_mult of biases, and of those
# of the residual convolutions (None: the same); whether biases, batch norm and slopes are decayed.
CAFFE = ("caffe", 2, None, False, True, True)
CAFFE_WITHOUT_MULTIPLIERS = ("caffe", 1, None, True, True, True)
CAFFE_FACES = ("caffe", 2, 0, False, True, True)
SLIM = ("torch", 1, None, False, False, True)
PLAIN = ("torch", 1, None, True, True, True)
# Batch norm: its decay (None: torch's 0.9) and whether the average is corrected, and the epsilon
# (None: the network's own, which is torchvision's or slim's).
CAFFE_NORM = (0.999, "corrected", None)
TORCH_NORM = (None, "moving", None)
SOLVERS = {
    "alexnet_v1.caffe": (CAFFE, CAFFE_NORM),
    "alexnet_v2.pytorch": (PLAIN, TORCH_NORM),
    "alexnet_v2.tensorflow": (SLIM, TORCH_NORM),
    "centerloss.caffe": (CAFFE_FACES, TORCH_NORM),
    "densenet121.caffe": (CAFFE_WITHOUT_MULTIPLIERS, CAFFE_NORM),
    "densenet121.pytorch": (PLAIN, TORCH_NORM),
    "densenet121.tensorflow": (SLIM, (0.99, "moving", 1.1e-5)),
    "googlenet.caffe": (CAFFE, CAFFE_NORM),
    "googlenet.tensorflow": (SLIM, (0.9997, "moving", None)),
    "inception_v3.caffe": (CAFFE, (0.999, "corrected", 1e-5)),
    "inception_v3.pytorch": (PLAIN, TORCH_NORM),
    "inception_v3.tensorflow": (SLIM, (0.9997, "moving", None)),
    "iresnet50.arcface": (PLAIN, TORCH_NORM),
    "iresnet50.cosface": (PLAIN, TORCH_NORM),
    "iresnet50.softmax": (PLAIN, TORCH_NORM),
    "lightcnn29.caffe": (CAFFE, CAFFE_NORM),
    "resnet50.caffe": (CAFFE_WITHOUT_MULTIPLIERS, CAFFE_NORM),
    "resnet50.pytorch": (PLAIN, TORCH_NORM),
    "resnet50.section_4_4": (PLAIN, TORCH_NORM),
    "resnet50.tensorflow": (SLIM, (0.997, "moving", None)),
    "sphereface20.caffe": (CAFFE_FACES, TORCH_NORM),
    "vgg16.caffe": (CAFFE, CAFFE_NORM),
    "vgg16.pytorch": (PLAIN, TORCH_NORM),
    "vgg16.tensorflow": (SLIM, TORCH_NORM),
    "vgg16_bn.pytorch": (PLAIN, TORCH_NORM),
}
# Epsilon of every batch norm of the network as it is trained.
EPSILONS = {
    "densenet121.caffe": 1e-5, "densenet121.pytorch": 1e-5, "densenet121.tensorflow": 1.1e-5,
    "inception_v3.caffe": 1e-5, "inception_v3.pytorch": 1e-3, "inception_v3.tensorflow": 1e-3,
    "googlenet.tensorflow": 1e-3, "resnet50.caffe": 1e-5, "resnet50.pytorch": 1e-5,
    "resnet50.section_4_4": 1e-5, "resnet50.tensorflow": 1e-5, "vgg16_bn.pytorch": 1e-5,
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(RECIPES))
def test_solver_and_batch_norm_are_the_frameworks(name):
    (rule, bias, residual, biases, norms, slopes), (decay, average, eps) = SOLVERS[name]
    r = training.load_recipe(name).to_dict()
    o, t = r["optimizer"], r["training"]
    assert (o["momentum_rule"], o["bias_lr_mult"]) == (rule, bias)
    assert o["residual_bias_lr_mult"] == residual
    assert (o["decay_biases"], o["decay_norms"], o["decay_slopes"]) == (biases, norms, slopes)
    assert t["batch_norm_decay"] == decay
    assert t["batch_norm_average"] == average
    assert r["network"]["batch_norm_eps"] == eps
    network = r["network"]
    graph = nn.build_graph(network["name"], batch_norm_eps=network["batch_norm_eps"])
    found = {n["options"]["eps"] for n in graph.nodes if n["op"] == "batch_norm"}
    if name in EPSILONS:
        assert found == {EPSILONS[name]}
    else:
        assert name.startswith("iresnet") or not found


def test_center_loss_updates_centers_as_the_authors_layer():
    loss = training.load_recipe("centerloss.caffe").to_dict()["loss"]
    assert (loss["update"], loss["alpha"], loss["bias"]) == ("caffe", 1, True)


def pair(size):
    return list(size) if isinstance(size, tuple) else [size, size]


# See test_authors_recipes.py.
OF_OTHER_CODE = ("iresnet50.arcface_torch", "ir50.adaface")


def test_every_recipe_of_the_paper_is_here():
    known = {
        name
        for name in training.recipe_names()
        if not name.startswith(("small4", "demo", "lenet5", "cifar10", "resnet18_small"))
        and name not in OF_OTHER_CODE
    }
    assert known == set(RECIPES)
    assert {row for row, *_ in RECIPES.values()} == set(TABLE2)


@pytest.mark.parametrize("name", sorted(RECIPES))
def test_values_are_the_papers(name):
    row, flavour, network, initializer, head = RECIPES[name]
    batch, image, size, lr, policy, length, decay = TABLE2[row]
    recipe = training.load_recipe(name)
    r = recipe.to_dict()
    assert recipe.citations and recipe.citations[0].startswith("Q. Wang, G. Guo")
    assert "Wang & Guo 2019" in recipe.title
    assert r["network"]["name"] == network
    assert [r["network"]["height"], r["network"]["width"]] == pair(size)
    assert [r["input"]["image_height"], r["input"]["image_width"]] == pair(image)
    assert r["training"]["batch"] == batch
    assert r["optimizer"]["lr"] == lr
    assert r["optimizer"]["momentum"] == 0.9
    assert r["optimizer"]["weight_decay"] == decay
    schedule = r["schedule"]
    assert schedule["policy"] == policy[0]
    if policy[0] == STEP:
        assert (schedule["gamma"], schedule["step"], schedule["unit"]) == (*policy[1:], "epochs")
    elif policy[0] == "polynomial":
        assert schedule["power"] == policy[1] and schedule["final_lr"] == 0
    else:
        assert schedule["gamma"] == 0.1 and schedule["milestones"] == policy[1]
        assert schedule["unit"] == "iterations"
    if length > 1000:
        assert r["training"]["iterations"] == length
    else:
        assert (r["training"]["epochs"], r["training"]["iterations"]) == (length, 0)
    assert r["training"]["initializer"] == initializer
    if head:
        assert r["loss"]["init"] == head
    losses = {
        "Center-loss": "center", "SphereFace": "sphereface", "CosFace": "cosface",
        "ArcFace": "arcface",
    }  # fmt: skip
    assert r["loss"]["name"] == losses.get(row, "softmax")
    view, color, middle, order, mean, std, last = FLAVOURS[flavour]
    assert r["augmentation"]["view"] == view
    assert r["augmentation"]["color"] == color
    assert r["augmentation"]["flip"] == 0.5
    assert r["input"]["view"] == middle
    assert r["input"]["color"] == order
    assert r["input"]["mean"] == pytest.approx(mean)
    assert r["input"]["std"] == pytest.approx(std)
    assert r["training"]["last_batch"] == last
    assert r["input"]["flip"] == "none"


def polynomial(lr, iteration, total):
    return lr * (1 - iteration / total) ** 0.5


def test_learning_rates_are_table_2s_formulas():
    """Caffe wraps, so an epoch is n / b iterations and no whole number."""
    n = 1003
    for name, (row, *_) in RECIPES.items():
        batch, _, _, lr, policy, length, _ = TABLE2[row]
        ipe = n / batch
        options = training.load_recipe(name).to_dict()["schedule"]
        schedule = training.ScheduleOptions(**options)
        total = length if length > 1000 else round(length * ipe)
        for i in np.linspace(0, total - 1, 50).astype(int):
            if policy[0] == STEP:
                expected = lr * policy[1] ** np.floor(i / (policy[2] * ipe))
            elif policy[0] == "polynomial":
                expected = polynomial(lr, i, total)
            else:
                expected = lr * 0.1 ** sum(i >= m for m in policy[1])
            got = training.learning_rate(lr, schedule, int(i), total, ipe)
            assert got == pytest.approx(expected), (name, i)


# Small inputs of each network; its own where it takes no other.
SMALL = {
    "alexnet_v1": 67, "alexnet_v2": 63, "alexnet_v2_slim": 95, "inception_v3": 75,
    "inception_v3_slim": 299, "googlenet_bvlc": 224, "centerloss": 64,
}  # fmt: skip
HEAVY = {"alexnet_v1", "vgg16", "vgg16_bn", "inception_v3", "inception_v3_slim", "googlenet_bvlc",
         "alexnet_v2", "alexnet_v2_slim", "densenet121", "resnet50", "resnet50_v1",
         "resnet50_slim", "iresnet50"}  # fmt: skip


def one_step(name, folder):
    recipe = training.load_recipe(name, iterations=1, batch=4)
    r = recipe.to_dict()
    side = SMALL.get(r["network"]["name"], 32)
    crop = side if r["input"]["view"] == "whole" else side + 8
    for key, value in {
        "network.height": side, "network.width": side,
        "input.image_height": crop, "input.image_width": crop,
        "network.embedding": 16, "side": [crop, crop + 9],
    }.items():  # fmt: skip
        recipe.set(key, str(value))
    images = np.random.default_rng(0).integers(0, 256, (8, crop, crop, 3), np.uint8)
    result = training.train(recipe, (images, [0, 1] * 4), folder, threads=1)
    assert result["iterations"] == 1 and np.isfinite(result["loss"])


# A schedule of thousands of steps is said not to fit.
@pytest.mark.filterwarnings(
    "ignore:the rate would fall",
    "ignore:sphereface. lambda",
    "ignore:training.batch_norm_decay = ",
    "ignore:augmentation.side = .* has no effect",
)
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(n, marks=[pytest.mark.slow] if RECIPES[n][2] in HEAVY else [])
        for n in sorted(RECIPES)
    ],
)
def test_one_step(name, tmp_path):
    one_step(name, tmp_path / "run")


@pytest.mark.filterwarnings("ignore:augmentation.side = .* has no effect")
@pytest.mark.filterwarnings("ignore:training.batch_norm_decay")  # of one step, rightly
def test_one_step_of_a_flavour_each(tmp_path):
    """The pre-processing of the heavy ones, with a network that is none."""
    for name in ("vgg16.pytorch", "vgg16.tensorflow", "inception_v3.tensorflow", "vgg16.caffe"):
        recipe = training.load_recipe(name, iterations=1, batch=4, network="small4")
        for key, value in {
            "network.height": "16", "network.width": "16", "input.tap": "embedding",
            "input.image_height": "24", "input.image_width": "24", "side": "[20, 30]",
        }.items():  # fmt: skip
            recipe.set(key, value)
        images = np.random.default_rng(0).integers(0, 256, (8, 24, 24, 3), np.uint8)
        result = training.train(recipe, (images, [0, 1] * 4), tmp_path / name, threads=1)
        assert np.isfinite(result["loss"])


def test_page_is_up_to_date():
    import generated_page
    import recipe_page

    run = "run: PYTHONPATH=build/python python scripts/recipe_page.py"
    assert generated_page.stale(recipe_page.generated()) == [], run
