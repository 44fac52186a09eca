"""Trainings that begin with the weights of a file: what is taken, what stays frozen, and how they
go on; against loops in plain PyTorch."""

import json
import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("facebench._full")

import facebench  # noqa: E402
from command_line import run as command  # noqa: E402
from facebench import embedding, losses, training  # noqa: E402
from facebench.io import read_safetensors, sha256_file  # noqa: E402

SIZE = {"height": 16, "width": 16, "embedding": 8, "channel_multiplier": 0.125}


def pictures(people=4, seed=5):
    random = np.random.default_rng(seed)
    images = random.integers(0, 256, (8 * people, 16, 16, 3), dtype=np.uint8)
    return images, [i % people for i in range(8 * people)]


def recipe(**overrides):
    """Steps of all images at once, so that their order does not matter."""
    plain = {"iterations": 3, "batch": 32, "policy": "constant", "lr": 0.05}
    still = {"augmentation__flip": 0.0, "embedding": 8, "channel_multiplier": 0.125}
    return training.load_recipe("small4.softmax", **plain | still | overrides)


def train(out, changed=(), **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = options.pop("data", None) or pictures()
        return training.train(recipe(**dict(changed)), data, out, threads=1, **options)


@pytest.fixture
def model(tmp_path):
    """A model file with pixels of its own, whose batch norm has seen images."""
    made = embedding.make_model("small4", seed=3, mean=[100.0], std=[50.0], flip="sum", **SIZE)
    tensors = made.weights.state_dict()
    with torch.no_grad():
        for name, tensor in tensors.items():
            if "running" in name:
                tensor.uniform_(0.5, 1.5, generator=torch.Generator().manual_seed(len(name)))
    made.save(tmp_path / "first.safetensors")
    return tmp_path / "first.safetensors"


def tensors_of(path):
    return {n: torch.from_numpy(t) for n, t in read_safetensors(path)[0].items()}


def last_checkpoint(folder):
    return tensors_of(sorted((folder / "checkpoints").glob("step-*"))[-1])


class Small4(torch.nn.Module):
    """small4 as its documentation has it, with torch's own layers."""

    def __init__(self):
        super().__init__()
        channels = [3, 4, 8, 16, 32]
        for k in range(1, 5):
            conv = torch.nn.Conv2d(channels[k - 1], channels[k], 3, 2, 1, bias=False)
            self.add_module(f"conv{k}", conv)
            self.add_module(f"bn{k}", torch.nn.BatchNorm2d(channels[k]))
            self.add_module(f"prelu{k}", torch.nn.PReLU(channels[k]))
        self.fc = torch.nn.Linear(32, 8, bias=False)
        self.bn_fc = torch.nn.BatchNorm1d(8)

    def forward(self, x):
        for k in range(1, 5):
            for part in ("conv", "bn", "prelu"):
                x = getattr(self, f"{part}{k}")(x)
        return self.bn_fc(self.fc(x.flatten(1)))


def reference(path, frozen, steps=3, lr=0.05, backbone=1.0):
    """The network after some steps of a loop in PyTorch, in which layers are frozen as people do
    it: no gradients, and evaluation mode. Returns its tensors and those of the classifier."""
    net = Small4()
    net.load_state_dict(tensors_of(path), strict=False)
    images, labels = pictures()
    inputs = torch.from_numpy(training.training_inputs(recipe(mean=[100.0], std=[50.0]), images)[0])
    head = losses.make_head("softmax", features=8, classes=4)
    for name in frozen:
        net.get_submodule(name).requires_grad_(False)
    said = recipe().to_dict()["optimizer"]
    rest = {k: said[k] for k in ("momentum", "weight_decay", "nesterov")}
    groups = [
        {"params": [p for p in net.parameters() if p.requires_grad], "lr": lr * backbone},
        {"params": list(head.parameters()), "lr": lr},
    ]
    optimizer = torch.optim.SGD([g for g in groups if g["params"]], **rest)
    for _ in range(steps):
        net.train()
        for name in frozen:
            net.get_submodule(name).eval()
        optimizer.zero_grad()
        head(net(inputs), torch.tensor(labels))[0].backward()
        optimizer.step()
    return net.state_dict(), dict(head.named_parameters())


STAGE = ["conv1", "bn1", "prelu1", "conv2", "bn2"]
EVERYTHING = [*(f"{p}{k}" for k in range(1, 5) for p in ("conv", "bn", "prelu")), "fc", "bn_fc"]
FROZEN = [([], []), (STAGE, STAGE), (["*"], EVERYTHING), (["bn?"], ["bn1", "bn2", "bn3", "bn4"])]


@pytest.mark.parametrize(("patterns", "parts"), FROZEN)
def test_frozen_parts_are_those_of_a_loop_in_pytorch(tmp_path, model, patterns, parts):
    """What is frozen stays to the bit, with its statistics; the rest learns as in PyTorch."""
    result = train(tmp_path / "run", {"freeze": patterns}, init=model)
    before, after = tensors_of(model), tensors_of(result["model"])
    wanted, head = reference(model, parts)
    for name, tensor in after.items():
        if name.rpartition(".")[0] in parts:
            assert torch.equal(tensor, before[name]), name
        else:
            assert not torch.equal(tensor, before[name]), name
        torch.testing.assert_close(tensor, wanted[name], atol=2e-5, rtol=1e-4)
    kept = last_checkpoint(tmp_path / "run")
    for name, tensor in head.items():
        torch.testing.assert_close(kept[f"head.{name}"], tensor, atol=2e-5, rtol=1e-4)


def test_another_rate_for_the_backbone_is_that_of_a_loop_in_pytorch(tmp_path, model):
    result = train(tmp_path / "run", {"backbone_lr_scale": 0.1}, init=model)
    wanted, head = reference(model, [], backbone=0.1)
    for name, tensor in tensors_of(result["model"]).items():
        torch.testing.assert_close(tensor, wanted[name], atol=2e-5, rtol=1e-4)
    kept = last_checkpoint(tmp_path / "run")
    torch.testing.assert_close(kept["head.weight"], head["weight"], atol=2e-5, rtol=1e-4)


def test_new_layers_learn_at_the_whole_rate(tmp_path, model):
    """Of a step without momentum and decay the length is the rate times the gradient."""
    plain = {"iterations": 1, "momentum": 0.0, "weight_decay": 0.0}
    steps = []
    for scale in (1.0, 0.25):
        tensors = {n: t for n, t in tensors_of(model).items() if not n.startswith("fc")}
        weights = tmp_path / "part.pt"
        torch.save(tensors, weights)
        out = tmp_path / f"run{scale}"
        first = train(tmp_path / f"still{scale}", plain | {"lr": 0.0}, init=weights)
        then = train(out, plain | {"backbone_lr_scale": scale}, init=weights)
        before, after = tensors_of(first["model"]), tensors_of(then["model"])
        steps.append({n: after[n] - before[n] for n in ("conv1.weight", "fc.weight")})
    torch.testing.assert_close(steps[1]["fc.weight"], steps[0]["fc.weight"])
    torch.testing.assert_close(
        steps[1]["conv1.weight"], 0.25 * steps[0]["conv1.weight"], atol=1e-7, rtol=1e-3
    )


def test_what_comes_out_says_what_it_began_with(tmp_path, model):
    result = train(tmp_path / "run", {"freeze": "conv1"}, init=model)
    begun = result["begun_with"]
    assert begun["file"] == "first.safetensors" and begun["network"] == "small4"
    assert begun["sha256"] == sha256_file(model)
    assert (begun["taken"], begun["fresh"], begun["unused"]) == (29, [], [])
    said = embedding.load_model(result["model"]).training
    assert said["begun_with"] == begun and said["frozen"] == ["conv1"]
    content = json.loads((tmp_path / "run" / "run.json").read_text())["content"]
    assert content["begun_with"] == begun
    # Of a training that begins with this one's model: both.
    again = train(tmp_path / "again", init=result["model"])["begun_with"]
    assert again["training"]["begun_with"] == begun


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_pixels_of_the_file_are_taken_and_said(tmp_path, model):
    with pytest.warns(UserWarning, match="first.safetensors says what its pixels are") as caught:
        result = training.train(recipe(), pictures(), tmp_path / "a", init=model, threads=1)
    (said,) = [str(w.message) for w in caught if "pixels" in str(w.message)]
    assert "mean = [100.0] (the recipe: [127.5])" in said and "color" not in said
    assert embedding.load_model(result["model"]).options.mean == [100.0]
    result = train(tmp_path / "b", {"mean": [90.0]}, init=model)
    assert embedding.load_model(result["model"]).options.mean == [90.0]
    assert embedding.load_model(result["model"]).options.std == [50.0]


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_what_does_not_fit_begins_anew_and_is_said(tmp_path, model):
    tensors = {f"module.backbone.{n}": t for n, t in tensors_of(model).items()}
    tensors["head.kernel"] = torch.zeros(8, 100)
    tensors["module.backbone.n.num_batches_tracked"] = torch.tensor(7)
    torch.save({"state_dict": tensors, "epoch": 4}, tmp_path / "theirs.pth")
    with pytest.warns(UserWarning, match="24 of the network's 29 tensors are taken") as caught:
        result = training.train(
            recipe(embedding=6), pictures(), tmp_path / "run", init=tmp_path / "theirs.pth"
        )
    (said,) = [str(w.message) for w in caught if "taken" in str(w.message)]
    assert "not used: head.kernel" in said and "initialised anew: " not in said
    assert "initialised anew, since of another shape: bn_fc.bias (8), here (6)" in said
    begun = result["begun_with"]
    assert (begun["taken"], begun["entry"], begun["unused"]) == (24, "state_dict", ["head.kernel"])
    assert said in result["notes"]
    (unsaid,) = [str(w.message) for w in caught if "does not say" in str(w.message)]
    assert "color = rgb, mean = [127.5], std = [128.0]" in unsaid and unsaid in result["notes"]


@pytest.mark.parametrize("ema", [0.0, 0.5])
def test_a_checkpoint_gives_the_network_that_its_model_would_be(tmp_path, ema):
    first = train(tmp_path / "first", {"ema": ema, "mean": [90.0]})
    checkpoint = sorted((tmp_path / "first" / "checkpoints").glob("step-*"))[-1]
    result = train(tmp_path / "run", {"freeze": "*"}, init=checkpoint)
    before, after = tensors_of(first["model"]), tensors_of(result["model"])
    assert all(torch.equal(after[n], before[n]) for n in before)
    assert embedding.load_model(result["model"]).options.mean == [90.0]


def test_an_onnx_file_is_trained_as_it_is(tmp_path, model):
    pytest.importorskip("onnx")
    path = tmp_path / "first.onnx"
    embedding.export_onnx(embedding.load_model(model), path)
    faces = pictures()[0]
    before = embedding.extract(embedding.load_model(model), faces, threads=1).values
    still = train(tmp_path / "still", {"freeze": "*"}, init=path)
    after = embedding.extract(embedding.load_model(still["model"]), faces, threads=1).values
    np.testing.assert_allclose(after, before, atol=1e-5)
    assert still["begun_with"]["file_sha256"] == sha256_file(path)
    moved = train(tmp_path / "moved", init=path)
    loaded = embedding.load_model(moved["model"])
    assert loaded.network == "imported" and loaded.options.mean == [100.0]
    values = embedding.extract(loaded, faces, threads=1).values
    assert np.abs(values - before).max() > 1e-3
    # It goes on from there, too.
    train(tmp_path / "again", init=moved["model"])


def test_a_model_is_trained_in_place_of_the_recipes_network(tmp_path, model):
    loaded = embedding.load_model(model)
    by_model = train(tmp_path / "a", network=loaded)
    by_init = train(tmp_path / "b", init=model)
    one, other = tensors_of(by_model["model"]), tensors_of(by_init["model"])
    assert all(torch.equal(one[n], other[n]) for n in other)
    assert torch.equal(tensors_of(model)["fc.weight"], loaded.weights.state_dict()["fc.weight"])
    assert by_model["begun_with"]["file_sha256"] == sha256_file(model)
    with pytest.raises(ValueError, match="the data's are 16x16"):
        train(tmp_path / "c", network=embedding.make_model("small4"))


class Own(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Sequential(
            torch.nn.Conv2d(3, 4, 3, 2, 1), torch.nn.BatchNorm2d(4), torch.nn.Dropout(0.5)
        )
        self.fc = torch.nn.Linear(256, 8)

    def forward(self, images):
        return self.fc(self.body(images).flatten(1))


def test_parts_of_an_own_module_are_frozen(tmp_path):
    torch.manual_seed(2)
    module = Own()
    before = {n: t.clone() for n, t in module.state_dict().items()}
    result = train(tmp_path / "run", {"freeze": "body"}, network=module)
    after = tensors_of(result["model"])
    for name, tensor in before.items():
        assert torch.equal(after[name], tensor) == name.startswith("body"), name
    torch.save(before, tmp_path / "w.pt")
    result = train(tmp_path / "all", {"freeze": "*"}, network=Own, init=tmp_path / "w.pt")
    after = tensors_of(result["model"])
    assert all(torch.equal(after[n], t) for n, t in before.items())
    assert result["begun_with"]["taken"] == 8  # a counter of batches counts for nothing


def test_frozen_weights_are_resumed_to_the_bit(tmp_path, model):
    changed = {"freeze": "conv?", "iterations": 6}
    whole = train(tmp_path / "whole", changed, init=model)

    def stop(report):
        if report["iteration"] == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(tmp_path / "part", changed, init=model, on_step=stop)
    part = train(tmp_path / "part", changed, init=model, resume=True)
    assert sha256_file(part["model"]) == sha256_file(whole["model"])
    other = tmp_path / "other.safetensors"
    embedding.make_model("small4", seed=9, mean=[100.0], std=[50.0], **SIZE).save(other)
    with pytest.raises(facebench.Error, match="another training: /begun_with/sha256"):
        train(tmp_path / "part", changed, init=other, resume=True)


@pytest.mark.parametrize("optimizer", ["sgd", "adamw"])
def test_a_finished_training_goes_on(tmp_path, optimizer):
    """Three steps and three more are six, but for the order in which images are summed up."""
    changed = {"optimizer": optimizer, "lr": 0.01}
    train(tmp_path / "first", changed)
    longer = train(tmp_path / "longer", changed | {"iterations": 6})
    result = train(tmp_path / "run", changed, extend=tmp_path / "first")
    one, other = tensors_of(result["model"]), tensors_of(longer["model"])
    for name, tensor in other.items():
        torch.testing.assert_close(one[name], tensor, atol=1e-4, rtol=1e-3)
    begun = result["begun_with"]
    assert (
        begun["iterations"] == 3
        and begun == embedding.load_model(result["model"]).training["begun_with"]
    )
    first = json.loads((tmp_path / "first" / "run.json").read_text())["content"]
    assert begun["training_run"] == first["training_run"]


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_frozen_network_thaws(tmp_path, model):
    """First the loss's weights alone, then all, with the pixels of before; momentum that was not
    kept is said."""
    train(tmp_path / "head", {"freeze": "*"}, init=model)
    result = train(tmp_path / "all", extend=tmp_path / "head")
    (said,) = [n for n in result["notes"] if "momentum begins at 0" in n]
    assert "19 tensors" in said
    after = embedding.load_model(result["model"])
    assert after.options.mean == [100.0] and after.options.std == [50.0]
    assert not torch.equal(after.weights.state_dict()["fc.weight"], tensors_of(model)["fc.weight"])
    with pytest.warns(UserWarning, match="model.safetensors says what its pixels are"):
        training.train(recipe(), pictures(), tmp_path / "b", threads=1, extend=tmp_path / "head")


WRONG = [
    ({"loss": "cosface"}, {}, "another loss"),
    ({"network": "small4", "embedding": 16}, {}, "no tensor network.fc.weight|another"),
    ({}, {"data": pictures(seed=6)}, "another images"),
    ({}, {"data": (pictures()[0], [k % 2 for k in range(32)])}, "another (images|people)"),
    ({"dtype": "float64"}, {}, "another dtype"),
    ({"split_classes": True}, {}, "another split_classes: false there and true here"),
]


@pytest.mark.parametrize(("changed", "options", "said"), WRONG)
def test_another_training_does_not_go_on(tmp_path, changed, options, said):
    train(tmp_path / "first")
    with pytest.raises(facebench.Error, match=said):
        train(tmp_path / "run", changed, extend=tmp_path / "first", **options)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_refusals(tmp_path, model):
    (tmp_path / "empty").mkdir()
    for wrong, error, said in [
        ({"init": tmp_path / "none.pt"}, facebench.Error, "no such file"),
        ({"init": tmp_path}, facebench.Error, "is a folder.*--extend"),
        ({"extend": tmp_path / "empty"}, facebench.Error, "no finished training"),
        ({"init": model, "network": embedding.load_model(model)}, ValueError, "has its weights"),
        ({"init_key": "model"}, ValueError, "init_key: names an entry"),
        ({"init": model, "extend": tmp_path / "empty"}, ValueError, "say one of them"),
    ]:
        with pytest.raises(error, match=said):
            train(tmp_path / "run", **wrong)
    torch.save({"plain": tensors_of(model), "ema": tensors_of(model)}, tmp_path / "two.pt")
    with pytest.raises(facebench.Error, match=r"plain, ema\. Name one: init_key= \(--init-key\)"):
        train(tmp_path / "run", init=tmp_path / "two.pt")
    assert train(tmp_path / "two", init=tmp_path / "two.pt", init_key="ema")["begun_with"]["taken"]
    other = training.load_recipe("small4.softmax", network="lenet5", batch=8)
    with pytest.raises(facebench.Error, match="It holds network 'small4': train that"):
        training.train(other, pictures(), tmp_path / "run", init=model)


@pytest.mark.parametrize(
    ("pattern", "said"),
    [("conv9", "did you mean 'conv1'"), ("layer1", "parts: conv1, bn1"), ("conv1.bias", "nothing")],
)
def test_a_pattern_that_freezes_nothing(tmp_path, pattern, said):
    with pytest.raises(ValueError, match=said):
        train(tmp_path / "run", {"freeze": ["conv2", pattern]})
    with pytest.raises(ValueError, match="is nothing of the network"):
        train(tmp_path / "run", {"freeze": "head"}, network=Own)


def test_on_the_command_line(tmp_path, model):
    from PIL import Image

    for k, (pixels, label) in enumerate(zip(*pictures(), strict=True)):
        (tmp_path / "faces" / f"p{label}").mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).save(tmp_path / "faces" / f"p{label}" / f"{k}.png")
    sets = {**SIZE, "epochs": 1, "batch": 8}
    changes = [word for key, value in sets.items() for word in ("--set", f"{key}={value}")]
    words = ["train", "small4.softmax", "--pack", tmp_path / "faces", *changes]
    first = tmp_path / "run"
    done = command(*words, "--out", first, "--init", model, "--set", "freeze=conv1,bn1")
    assert "began with first.safetensors: 29 of 29 tensors" in done.stdout, done.stderr
    assert "says what its pixels are" in done.stderr
    done = command(*words, "--out", tmp_path / "more", "--extend", first)
    assert f"went on from {first}: 4 steps" in done.stdout, done.stderr
