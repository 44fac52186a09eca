"""A loss of the user's own, AdaFace written as docs/training.md shows it, through the trainer."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("facebench._full")

import facebench  # noqa: E402
from facebench import losses, training  # noqa: E402
from safetensors.torch import load_file  # noqa: E402

PAGE = Path(__file__).parents[3] / "docs/training.md"


@pytest.fixture(scope="module")
def adaface():
    """The class on the page, as a file, so that its source can be read."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S)
    (code,) = [block for block in blocks if "class AdaFace" in block]
    scope: dict = {"__name__": "own"}
    exec(compile(code.split("facebench.train(")[0], "own.py", "exec"), scope)
    return scope["AdaFace"]


def pictures(people=4):
    images = np.random.default_rng(5).integers(0, 256, (8 * people, 16, 16, 3), dtype=np.uint8)
    return images, [i % people for i in range(8 * people)]


def tiny(**overrides):
    return training.load_recipe(
        "small4.softmax", epochs=2, batch=8, embedding=8, channel_multiplier=0.125, **overrides
    )


def weights(result):
    return load_file(result["model"])


def test_adaface_of_the_page_trains_as_the_one_built_in(adaface, tmp_path):
    """The same first weights give the same network, to rounding."""
    built_in = training.train(
        tiny(loss="adaface", lr=1e-3), pictures(), tmp_path / "ours", threads=1
    )
    module = adaface(features=8, classes=4)
    head = losses.make_head(
        "adaface", features=8, classes=4, seed=tiny().to_dict()["training"]["seed"]
    )
    with torch.no_grad():
        module.weight.copy_(head.weight)
    own = training.train(tiny(lr=1e-3), pictures(), tmp_path / "own", threads=1, loss=module)
    assert own["loss"] == pytest.approx(built_in["loss"], rel=1e-4)
    assert own["accuracy"] == built_in["accuracy"]
    for name, tensor in weights(built_in).items():
        assert torch.allclose(weights(own)[name], tensor, atol=2e-5), name
    said = json.loads((tmp_path / "own/run.json").read_text())["content"]["recipe"]["loss"]
    assert said["name"] == "own"
    assert said["python"].endswith("AdaFace")


def test_a_class_is_resumed_to_the_bit(adaface, tmp_path):
    whole = training.train(tiny(), pictures(), tmp_path / "whole", threads=1, loss=adaface)

    def stop(report, model):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        training.train(
            tiny(), pictures(), tmp_path / "parts", threads=1, loss=adaface, on_epoch=stop
        )
    parts = training.train(
        tiny(), pictures(), tmp_path / "parts", threads=1, loss=adaface, resume=True
    )
    assert Path(whole["model"]).read_bytes() == Path(parts["model"]).read_bytes()
    # With another loss the checkpoint is refused.
    with pytest.raises(facebench.Error, match="loss"):
        training.train(tiny(), pictures(), tmp_path / "parts", threads=1, resume=True)


def test_a_function_of_features_alone(tmp_path):
    def spread(features, labels):
        return features.square().mean()

    result = training.train(tiny(), pictures(), tmp_path / "run", threads=1, loss=spread)
    assert result["iterations"] == 8
    assert result["accuracy"] == 0  # no logits: nothing is right


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        (3, "expected a module or a function, got int"),
        (lambda x, y: 1.0, "expected a tensor of one number with a gradient, got float"),
        (lambda x, y: x, r"got \(8, 8\)"),
        (lambda x, y: (x.sum(), y), "expected logits"),
    ],
)
def test_what_a_loss_may_not_give(loss, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        training.train(tiny(), pictures(), tmp_path / "run", threads=1, loss=loss)


def test_what_it_raises_comes_out(tmp_path):
    def broken(features, labels):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        training.train(tiny(), pictures(), tmp_path / "run", threads=1, loss=broken)
    with pytest.raises(ValueError, match="knows nothing of it"):
        training.train(
            tiny(split_classes=True), pictures(), tmp_path / "split", threads=1, loss=broken
        )
