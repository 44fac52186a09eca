"""What the frameworks' solvers and batch norms do of their own, against their files' arithmetic."""

import itertools

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("facebench._full")

from facebench import losses, nn, training  # noqa: E402
from safetensors.torch import load_file  # noqa: E402

F = torch.nn.functional
# Steps without learning show the statistics alone.
pytestmark = pytest.mark.filterwarnings("ignore:the learning rate is 0 in every step")


def pictures(n, size=16, seed=0):
    return np.random.default_rng(seed).integers(0, 256, (n, size, size, 3), np.uint8)


def state_after(recipe, images, labels, folder):
    training.train(recipe, (images, labels), folder, threads=1)
    return load_file(sorted((folder / "checkpoints").iterdir())[-1])


def caffe_statistics(batches, fraction):
    """BVLC/caffe, src/caffe/layers/batch_norm_layer.cpp: what its three blobs hold after these
    inputs, (N, C, H, W) each, and the mean and variance that a test then uses."""
    mean_blob = variance_blob = factor_blob = 0.0
    for x in batches:
        m = x.numel() // x.shape[1]
        mean = x.mean((0, 2, 3))
        variance = (x - mean.view(1, -1, 1, 1)).square().mean((0, 2, 3))
        factor_blob = factor_blob * fraction + 1
        mean_blob = mean + fraction * mean_blob
        variance_blob = m / (m - 1) * variance + fraction * variance_blob
    return mean_blob / factor_blob, variance_blob / factor_blob


@pytest.mark.parametrize("dtype", ["float32", "float64"])  # the fused operation, and torch's
def test_corrected_running_statistics_are_caffes(dtype, tmp_path):
    """Two steps without learning: of the 70 ways to halve eight images one explains them."""
    images, labels = pictures(8), [0, 1] * 4
    recipe = training.load_recipe(
        "small4.softmax", iterations=2, batch=4, lr=0, embedding=8, augmentation__flip=0,
        channel_multiplier=0.5, dtype=dtype, batch_norm_decay=0.7, batch_norm_average="corrected",
    )  # fmt: skip
    after = state_after(recipe, images, labels, tmp_path / "run")
    x = torch.from_numpy((images.astype(np.float64) - 127.5) / 128).permute(0, 3, 1, 2)
    weight = after["network.conv1.weight"].double()
    maps = F.conv2d(x, weight, after.get("network.conv1.bias"), 2, 1)
    got = [after[f"network.bn1.running_{what}"].double() for what in ("mean", "var")]

    def distances(rule):
        for first in itertools.combinations(range(8), 4):
            second = [i for i in range(8) if i not in first]
            expected = rule([maps[list(first)], maps[second]])
            yield max((a - b).abs().max().item() for a, b in zip(got, expected, strict=True))

    tolerance = 1e-5 if dtype == "float32" else 1e-12
    assert min(distances(lambda b: caffe_statistics(b, 0.7))) < tolerance
    assert min(distances(lambda b: caffe_statistics(b, 0.9))) > 100 * tolerance


@pytest.mark.filterwarnings("ignore:training.batch_norm_decay = ")
def test_moving_running_statistics_have_the_decay_that_is_asked_for(tmp_path):
    """All images in each batch, nothing learned: mean (1 - d^t) m, variance d^t + (1 - d^t) v."""
    images, labels = pictures(6), [0, 1] * 3
    settings = {"iterations": 3, "batch": 6, "lr": 0, "embedding": 8, "augmentation__flip": 0,
                "channel_multiplier": 0.5, "dtype": "float64"}  # fmt: skip

    def statistics(name, **more):
        recipe = training.load_recipe("small4.softmax", **settings, **more)
        state = state_after(recipe, images, labels, tmp_path / name)
        return state["network.bn1.running_mean"], state["network.bn1.running_var"]

    mean, variance = statistics("exact", batch_norm_decay=0)
    for name, d, more in (
        ("slim", 0.997, {"batch_norm_decay": 0.997}),
        ("own", 0.9, {}),  # torch's momentum 0.1
        ("caffe", 0, {"batch_norm_decay": 0.999, "batch_norm_average": "corrected"}),
    ):
        got_mean, got_variance = statistics(name, **more)
        assert torch.allclose(got_mean, (1 - d**3) * mean, atol=1e-12)
        assert torch.allclose(got_variance, d**3 + (1 - d**3) * variance, atol=1e-12)
    with pytest.raises(ValueError, match="needs a batch_norm_decay"):
        statistics("refused", batch_norm_average="corrected")


def test_resuming_keeps_the_corrected_statistics(tmp_path):
    images, labels = pictures(8), [0, 1] * 4
    recipe = training.load_recipe(
        "small4.softmax", epochs=3, batch=4, embedding=8, channel_multiplier=0.25,
        batch_norm_decay=0.9, batch_norm_average="corrected", momentum_rule="caffe",
    )  # fmt: skip
    whole = training.train(recipe, (images, labels), tmp_path / "whole", threads=1)

    def stop(report, model):
        if report["epoch"] == 2:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError):
        training.train(recipe, (images, labels), tmp_path / "parts", threads=1, on_epoch=stop)
    parts = training.train(recipe, (images, labels), tmp_path / "parts", threads=1, resume=True)
    with open(whole["model"], "rb") as a, open(parts["model"], "rb") as b:
        assert a.read() == b.read()


def sphereface_recipe(**more):
    return training.load_recipe(
        "sphereface20.caffe", network="sphereface10", iterations=3, batch=4, height=32, width=32,
        image_height=32, image_width=32, embedding=16, augmentation__flip=0, dtype="float64",
        loss="softmax", policy="multistep", milestones=[1, 2], gamma=0.1, **more,
    )  # fmt: skip


@pytest.mark.filterwarnings("ignore:each of the 4 people has one image")
def test_a_training_by_caffes_rules(tmp_path):
    """Three steps of SphereFace-10 while the rate falls, against Caffe's update written out
    (sgd_solver.cpp) with the lr_mult and decay_mult of wy1iu/sphereface's prototxt."""
    images, labels = pictures(4, 32), [0, 1, 2, 3]
    recipe = sphereface_recipe()
    options = recipe.to_dict()
    assert options["optimizer"]["weight_decay"] == 5e-4
    net = nn.build_network(
        "sphereface10", height=32, width=32, embedding=16, initializer="residual_caffe"
    ).to(dtype=torch.float64)
    head = losses.make_head("softmax", features=16, classes=4, float64=True)
    named = {**{f"network.{k}": p for k, p in net.named_parameters()},
             **{f"head.{k}": p for k, p in head.named_parameters()}}  # fmt: skip

    def multipliers(name):
        layer, what = name.split(".")[1:] if name.startswith("network") else name.split(".")
        if what == "weight":
            return 1, 1  # of PReLU too: its layers name none
        residual = layer.startswith("conv") and not layer.endswith("_1")
        return (0, 0) if residual else (2, 0)

    history = {name: torch.zeros_like(p) for name, p in named.items()}
    x = torch.from_numpy((images[..., ::-1].astype(np.float64) - 127.5) / 128).permute(0, 3, 1, 2)
    for step in range(3):
        for p in named.values():
            p.grad = None
        loss, _ = head(net(x), torch.tensor(labels))
        loss.backward()
        with torch.no_grad():
            for name, p in named.items():
                lr_mult, decay_mult = multipliers(name)
                diff = p.grad + 5e-4 * decay_mult * p
                history[name] = 0.1 * 0.1**step * lr_mult * diff + 0.9 * history[name]
                p -= history[name]
    after = state_after(recipe, images, labels, tmp_path / "run")
    for name, p in named.items():
        assert torch.allclose(after[name].double(), p.detach(), atol=1e-8, rtol=0), name
    assert not after["network.conv2_2.bias"].any() and after["network.conv2_1.bias"].any()
    assert "momentum.network.conv2_2.bias" not in after


def test_initial_classifiers():
    """Slim's fc8 is a truncated normal of deviation 0.005; biases start at 0 but torch's."""
    stats = pytest.importorskip("scipy.stats")
    head = losses.make_head("softmax", features=64, classes=100, init="truncated_normal")
    weight = head.weight.detach().numpy().ravel()
    assert stats.kstest(weight, stats.truncnorm(-2, 2, scale=0.005).cdf).pvalue > 1e-3
    assert np.abs(weight).max() <= 0.01
    tenth = losses.make_head("softmax", features=64, classes=100, init="normal_0.1")
    assert stats.kstest(tenth.weight.detach().ravel(), stats.norm(0, 0.1).cdf).pvalue > 1e-3
    for init in (
        "truncated_normal",
        "normal_0.1",
        "xavier",
        "xavier_normal",
        "xavier_caffe",
        "normal",
    ):
        assert not losses.make_head("softmax", features=8, classes=9, init=init).bias.any()
    assert losses.make_head("softmax", features=8, classes=9).bias.any()
