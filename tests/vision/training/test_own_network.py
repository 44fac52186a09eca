"""A network of the user's own through the trainer: against a loop in PyTorch, and its files."""

import json
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.kernels

torch = pytest.importorskip("torch")
pytest.importorskip("facebench._full")

import facebench  # noqa: E402
from facebench import embedding, losses, nn, training  # noqa: E402

SEED = 7


class Tiny(torch.nn.Module):
    """Every kind of layer that the trainer tells apart, and random numbers in training."""

    def __init__(self, size=16):
        super().__init__()
        self.body = torch.nn.Sequential(
            torch.nn.Conv2d(3, 4, 3, stride=2, padding=1),
            torch.nn.BatchNorm2d(4),
            torch.nn.PReLU(4),
            torch.nn.Dropout(0.2),
            torch.nn.Flatten(),
        )
        self.fc = torch.nn.Linear(4 * (size // 2) ** 2, 8)

    def forward(self, images):
        return self.fc(self.body(images))


def pictures(people=4):
    images = np.random.default_rng(5).integers(0, 256, (8 * people, 16, 16, 3), dtype=np.uint8)
    return images, [i % people for i in range(8 * people)]


def recipe(**overrides):
    plain = {"epochs": 2, "batch": 8, "embedding": 8, "channel_multiplier": 0.125, "lr": 0.01}
    return training.load_recipe("small4.softmax", **plain | {"seed": SEED} | overrides)


def train(out, network, **options):
    changed = options.pop("recipe", {})
    return training.train(recipe(**changed), pictures(), out, threads=1, network=network, **options)


def without_dropout():
    module = Tiny()
    module.body[3].p = 0.0
    return module


@pytest.mark.filterwarnings("ignore:training.epochs = 2 has no effect")
def test_three_steps_are_those_of_a_loop_in_pytorch(tmp_path):
    """Of the whole set at once, so that the order of images does not matter. The first values of
    the loss, and the images as numbers, are the library's; all else is written down here."""
    theirs, ours = without_dropout(), without_dropout()
    ours.load_state_dict(theirs.state_dict())
    still = {"augmentation__flip": 0.0, "batch": 32, "iterations": 3, "policy": "constant"}
    steps = []
    result = train(tmp_path / "run", ours, recipe=still, on_step=steps.append)

    images, labels = pictures()
    inputs = torch.from_numpy(training.training_inputs(recipe(**still), images)[0])
    head = losses.make_head("softmax", features=8, classes=4, seed=SEED)
    said = recipe(**still).to_dict()["optimizer"]
    optimizer = torch.optim.SGD(
        [*theirs.parameters(), *head.parameters()],
        **{k: said[k] for k in ("lr", "momentum", "weight_decay", "nesterov")},
    )
    for step in steps:
        optimizer.zero_grad()
        loss, _ = head(theirs(inputs), torch.tensor(labels))
        loss.backward()
        optimizer.step()
        assert step["loss"] == pytest.approx(loss.item(), rel=1e-5)
    assert len(steps) == 3
    read = embedding.TorchEmbedder(without_dropout(), weights=result["model"])
    theirs.eval()
    for name, tensor in theirs.state_dict().items():
        found = read._module.state_dict()[name]
        assert torch.allclose(found.double(), tensor.double(), atol=1e-5), name


def test_a_network_of_the_library_as_a_module_trains_to_the_same_bits(tmp_path):
    built_in = training.train(recipe(), pictures(), tmp_path / "ours", threads=1)
    size = {"height": 16, "width": 16, "embedding": 8, "channel_multiplier": 0.125}
    own = train(
        tmp_path / "own", lambda: nn.NetworkModule(nn.build_network("small4", seed=SEED, **size))
    )
    assert own["loss"] == built_in["loss"]
    assert own["accuracy"] == built_in["accuracy"]


@pytest.mark.parametrize("ema", [0.0, 0.5])
def test_it_is_resumed_to_the_bit_with_its_dropout(ema, tmp_path):
    changed = {"ema": ema}
    whole = train(tmp_path / "whole", Tiny, recipe=changed)

    def stop(report, model):
        assert isinstance(model, embedding.TorchEmbedder)
        raise RuntimeError("enough")

    torch.manual_seed(1)
    before = torch.get_rng_state()
    with pytest.raises(RuntimeError, match="enough"):
        train(tmp_path / "parts", Tiny, recipe=changed, on_epoch=stop)
    assert torch.equal(torch.get_rng_state(), before)  # the user's own numbers are not disturbed
    parts = train(tmp_path / "parts", Tiny, recipe=changed, resume=True)
    assert Path(whole["model"]).read_bytes() == Path(parts["model"]).read_bytes()
    with pytest.raises(facebench.Error, match="network"):  # of another network
        train(tmp_path / "parts", None, resume=True)
    said = json.loads((tmp_path / "parts/run.json").read_text())["content"]["recipe"]["network"]
    assert said["python"].endswith("Tiny")


@pytest.mark.filterwarnings("ignore:training.ema = ")
def test_the_average_of_the_weights_is_judged_and_training_goes_on_without_it(tmp_path):
    """What is judged is not what is trained: with a decay of almost 1 it stays the first step's."""
    seen, steps = [], []
    train(
        tmp_path / "run",
        Tiny,
        recipe={"ema": 0.999999, "lr": 0.1},
        on_epoch=lambda report, model: seen.append(model(pictures()[0])),
        on_step=steps.append,
    )
    plain = []
    train(tmp_path / "plain", Tiny, recipe={"lr": 0.1}, on_step=plain.append)
    assert [s["loss"] for s in steps] == [s["loss"] for s in plain]
    # Running statistics move, weights do not.
    assert np.corrcoef(seen[0].ravel(), seen[1].ravel())[0, 1] > 0.99


def test_the_model_is_saved_judged_and_evaluated(tmp_path):
    (tmp_path / "pairs.csv").write_text("first,second,label\na,b,1\na,c,0\n")
    images, _ = pictures()
    judge = training.validation(
        "pairs", (images[:3], ["a", "b", "c"]), lists=tmp_path, metric="auc"
    )
    result = train(tmp_path / "run", Tiny, validation=judge)
    assert (tmp_path / "run/best.safetensors").exists()

    read = embedding.TorchEmbedder(Tiny(), weights=result["model"])
    assert read.assumed() == ""  # the recipe has stated its pixels
    assert judge(read)["metric"] == "auc"
    found = embedding.extract(read, images)
    assert found.manifest["model_sha256"] == facebench.io.sha256_file(result["model"])

    # The same numbers by hand: mean 127.5, deviation 128, both ways round, unit length.
    module = read._module.eval()
    numbers = torch.from_numpy((images.astype(np.float32) - 127.5) / 128).permute(0, 3, 1, 2)
    with torch.no_grad():
        rows = module(numbers) + module(numbers.flip(3))
    assert np.allclose(found.values, torch.nn.functional.normalize(rows).numpy(), atol=1e-5)

    with pytest.raises(facebench.Error, match="TorchEmbedder"):
        embedding.load_model(result["model"])
    with pytest.raises(facebench.Error, match="do not fit"):
        embedding.TorchEmbedder(Tiny(size=8), weights=result["model"])
    embedding.make_model("small4").save(tmp_path / "ours.safetensors")
    with pytest.raises(facebench.Error, match="of a network of your own"):
        embedding.TorchEmbedder(Tiny(), weights=tmp_path / "ours.safetensors")


def test_it_becomes_onnx(tmp_path):
    pytest.importorskip("onnxruntime")
    result = train(tmp_path / "run", Tiny)
    read = embedding.TorchEmbedder(Tiny(), weights=result["model"])
    embedding.export_onnx(read, tmp_path / "m.onnx")
    onnx = embedding.load_embedder(tmp_path / "m.onnx")
    assert onnx.assumed() == ""
    assert onnx.flip == "sum"
    images, _ = pictures()
    theirs = embedding.extract(onnx, images).values
    assert np.allclose(theirs, embedding.extract(read, images).values, atol=1e-5)
    with pytest.raises(ValueError, match="size of its input"):
        embedding.export_onnx(embedding.TorchEmbedder(Tiny()), tmp_path / "n.onnx")


def test_frozen_parameters_stay(tmp_path):
    module = Tiny()
    module.body[0].weight.requires_grad_(False)
    before = module.body[0].weight.clone()
    fc = module.fc.weight.detach().clone()
    train(tmp_path / "run", module)
    assert torch.equal(module.body[0].weight, before)
    assert not torch.equal(module.fc.weight, fc)


class Gives(torch.nn.Module):
    """A network that gives what it is told."""

    def __init__(self, output):
        super().__init__()
        self.output, self.fc = output, torch.nn.Linear(3, 8)

    def forward(self, images):
        return self.output(self.fc(images.mean((2, 3))))


@pytest.mark.parametrize(
    ("network", "message"),
    [
        (3, "expected a torch.nn.Module or what makes one, got int"),
        (lambda: 3, "it made int, expected a torch.nn.Module"),
        (Gives(lambda x: 1.0), r"expected a tensor \(2, D\) for 2 images, got float"),
        (Gives(lambda x: x.sum(1)), r"embeddings \(2, D\) for 2 images, got \(2\)"),
        (Gives(lambda x: x[:1]), r"got \(1, 8\)"),
        (Gives(lambda x: x.long()), "got .* of torch.int64"),
        (Gives(lambda x: x.detach()), "no gradient"),
        (Gives(lambda x: x / 0), "not finite"),
    ],
)
def test_what_a_network_may_not_give(network, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        train(tmp_path / "run", network)


def test_options_that_are_not_for_it_are_refused(tmp_path):
    with pytest.raises(ValueError, match="batch_norm_decay"):
        train(tmp_path / "run", Tiny, recipe={"batch_norm_decay": 0.9})
    frozen = Tiny()
    frozen.requires_grad_(False)
    with pytest.raises(ValueError, match="none of its parameters"):
        train(tmp_path / "run", frozen)
    with pytest.raises(RuntimeError) as caught:  # torch's own message, and when it came
        train(tmp_path / "run", Tiny(size=20))
    assert "(2, 3, 16, 16) of zeros" in str(caught.value.__notes__)
