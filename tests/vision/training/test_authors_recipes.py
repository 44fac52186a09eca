"""The recipes that equal arcface_torch's and AdaFace's: their networks and first steps against
loops in plain PyTorch, written from the lines of the authors' code that docs/recipes.md cites."""

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("facebench._full")

from facebench import losses, nn, training  # noqa: E402

F = torch.nn.functional
STEPS = 5


def pictures(people=6, size=32, each=4):
    """Of noise, so that the loss stays large."""
    images = np.random.default_rng(11).integers(
        0, 256, (each * people, size, size, 3), dtype=np.uint8
    )
    return images, [k % people for k in range(len(images))]


def recipe(name, **overrides):
    """All images in each step, none mirrored, so that a loop needs no order; small images."""
    sizes = {"network__height": 32, "network__width": 32, "image_height": 32, "image_width": 32}
    rest = {"batch": 24, "iterations": STEPS, "augmentation__flip": 0.0}
    return training.load_recipe(name, **sizes | rest | overrides)


def conv(inputs, outputs, kernel=3, stride=1):
    return torch.nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False)


class IBlock(torch.nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.bn1 = torch.nn.BatchNorm2d(inputs)
        self.conv1 = conv(inputs, outputs)
        self.bn2 = torch.nn.BatchNorm2d(outputs)
        self.prelu = torch.nn.PReLU(outputs)
        self.conv2 = conv(outputs, outputs, 3, stride)
        self.bn3 = torch.nn.BatchNorm2d(outputs)
        self.downsample = None
        if stride != 1 or inputs != outputs:
            self.downsample = torch.nn.Sequential(
                conv(inputs, outputs, 1, stride), torch.nn.BatchNorm2d(outputs)
            )

    def forward(self, x):
        y = self.conv1(self.bn1(x))
        y = self.bn3(self.conv2(self.prelu(self.bn2(y))))
        return y + (x if self.downsample is None else self.downsample(x))


class IResNet(torch.nn.Module):
    """arcface_torch, backbones/iresnet.py."""

    def __init__(self, blocks, size=32):
        super().__init__()
        self.conv1 = conv(3, 64)
        self.bn1 = torch.nn.BatchNorm2d(64)
        self.prelu = torch.nn.PReLU(64)
        inputs = 64
        for k, count in enumerate(blocks):
            width = 64 << k
            layers = [IBlock(inputs if b == 0 else width, width, 2 - (b > 0)) for b in range(count)]
            self.add_module(f"layer{k + 1}", torch.nn.Sequential(*layers))
            inputs = width
        self.bn2 = torch.nn.BatchNorm2d(512)
        self.fc = torch.nn.Linear(512 * (size // 16) ** 2, 512)
        self.features = torch.nn.BatchNorm1d(512)
        self.features.weight.requires_grad_(False)

    def forward(self, x):
        x = self.prelu(self.bn1(self.conv1(x)))
        for k in range(1, 5):
            x = getattr(self, f"layer{k}")(x)
        return self.features(self.fc(self.bn2(x).flatten(1)))


def arcface_torch_loss(features, weight, labels, s=64.0, m=0.5):
    """partial_fc_v2.py and losses.py in one process: the margin is added without a gradient."""
    cosine = F.linear(F.normalize(features), F.normalize(weight)).clamp(-1, 1)
    with torch.no_grad():
        angle = cosine.acos()
        angle[torch.arange(len(labels)), labels] += m
        moved = angle.cos()
    return F.cross_entropy(s * (cosine + (moved - cosine).detach()), labels)


def test_first_steps_of_arcface_torch(tmp_path):
    """The recipe's settings on IResNet-18, whose code is IResNet-50's."""
    said = recipe("iresnet50.arcface_torch", network="iresnet18", batch=12)
    reports = []
    training.train(said, pictures(each=2), tmp_path / "run", threads=1, on_step=reports.append)

    theirs = IResNet([2, 2, 2, 2])
    size = {"height": 32, "width": 32}
    fresh = nn.build_network("iresnet18", **size, initializer="arcface_torch").state_dict()
    missing, unexpected = theirs.load_state_dict(fresh, strict=False)
    assert not unexpected
    assert {n for n in missing if "num_batches" not in n} == {"features.weight"}
    head = losses.make_head("arcface", features=512, classes=6, init="normal")
    weight = head.weight.detach().clone().requires_grad_(True)
    images, labels = pictures(each=2)
    inputs = (torch.from_numpy(images).permute(0, 3, 1, 2).float() - 127.5) / 127.5
    optimizer = torch.optim.SGD(
        [{"params": theirs.parameters()}, {"params": [weight]}],
        lr=0.02,
        momentum=0.9,
        weight_decay=5e-4,
    )
    theirs.train()
    for step, report in enumerate(reports):
        for group in optimizer.param_groups:
            group["lr"] = 0.02 * (1 - step / STEPS)  # lr_scheduler.py, without warm-up
        optimizer.zero_grad()
        loss = arcface_torch_loss(theirs(inputs), weight, torch.tensor(labels))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(theirs.parameters(), 5)
        optimizer.step()
        assert report["loss"] == pytest.approx(loss.item(), rel=1e-3), step
        assert report["lr"] == pytest.approx(optimizer.param_groups[0]["lr"])


def test_initial_weights_of_arcface_torch():
    """N(0, 0.1) in convolutions, torch's own in the linear layer."""
    tensors = nn.build_network("iresnet18", initializer="arcface_torch").state_dict()
    assert tensors["layer4.1.conv2.weight"].std().item() == pytest.approx(0.1, rel=0.01)
    bound = 1 / math.sqrt(512 * 49)
    assert tensors["fc.weight"].abs().max().item() == pytest.approx(bound, rel=0.01)
    assert tensors["fc.bias"].abs().max().item() == pytest.approx(bound, rel=0.05)


class Unit(torch.nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.shortcut_layer = torch.nn.MaxPool2d(1, stride)
        if inputs != outputs:
            self.shortcut_layer = torch.nn.Sequential(
                conv(inputs, outputs, 1, stride), torch.nn.BatchNorm2d(outputs)
            )
        self.res_layer = torch.nn.Sequential(
            torch.nn.BatchNorm2d(inputs),
            conv(inputs, outputs),
            torch.nn.BatchNorm2d(outputs),
            torch.nn.PReLU(outputs),
            conv(outputs, outputs, 3, stride),
            torch.nn.BatchNorm2d(outputs),
        )

    def forward(self, x):
        return self.res_layer(x) + self.shortcut_layer(x)


class IR(torch.nn.Module):
    """AdaFace, net.py, without its last division by the length: the loss makes it."""

    def __init__(self, units=(3, 4, 14, 3), size=32, dropout=0.4):
        super().__init__()
        self.input_layer = torch.nn.Sequential(
            conv(3, 64), torch.nn.BatchNorm2d(64), torch.nn.PReLU(64)
        )
        body, inputs = [], 64
        for k, count in enumerate(units):
            for b in range(count):
                body.append(Unit(inputs, 64 << k, 2 - (b > 0)))
                inputs = 64 << k
        self.body = torch.nn.Sequential(*body)
        self.output_layer = torch.nn.Sequential(
            torch.nn.BatchNorm2d(512),
            torch.nn.Dropout(dropout),
            torch.nn.Flatten(),
            torch.nn.Linear(512 * (size // 16) ** 2, 512),
            torch.nn.BatchNorm1d(512, affine=False),
        )

    def forward(self, x):
        return self.output_layer(self.body(self.input_layer(x)))


def test_the_network_of_adaface():
    """Names and numbers are those of the authors' module."""
    ours, theirs = nn.build_network("ir50_adaface", height=32, width=32, seed=4), IR()
    tensors = ours.state_dict()
    torch.manual_seed(1)
    with torch.no_grad():
        for name, tensor in tensors.items():
            if "running" in name:
                tensor.uniform_(0.5, 1.5)
    missing, unexpected = theirs.load_state_dict(tensors, strict=False)
    assert not unexpected and all("num_batches" in n for n in missing)
    images = torch.randn(3, 3, 32, 32)
    with torch.no_grad():
        wanted = theirs.eval()(images)
    ours.train(False)
    torch.testing.assert_close(ours(images).detach(), wanted, atol=1e-4, rtol=1e-4)


@pytest.mark.filterwarnings("ignore:the rate would fall at 12")
def test_first_steps_of_adaface(tmp_path):
    """The recipe's settings on a network of four units without dropout, whose masks each code draws
    in its own way; in float64, since at its rate rounding grows by a factor of ten in a step."""
    torch.manual_seed(3)
    ours, theirs = IR((1, 1, 1, 1), dropout=0.0), IR((1, 1, 1, 1), dropout=0.0)
    theirs.load_state_dict(ours.state_dict())
    reports = []
    said = recipe("ir50.adaface", dtype="float64", batch=12)
    theirs.double()
    training.train(
        said, pictures(each=2), tmp_path / "run", threads=1, network=ours, on_step=reports.append
    )
    head = losses.make_head("adaface", features=512, classes=6, init="xavier_caffe", float64=True)
    kernel = head.weight.detach().clone().requires_grad_(True)
    images, labels = pictures(each=2)
    labels = torch.tensor(labels)
    bgr = torch.from_numpy(images[..., ::-1].copy()).permute(0, 3, 1, 2).double()
    inputs = (bgr - 127.5) / 127.5
    norms = [
        p
        for m in theirs.modules()
        if isinstance(m, torch.nn.modules.batchnorm._BatchNorm)
        for p in m.parameters()
    ]
    others = [p for p in theirs.parameters() if all(p is not n for n in norms)]
    optimizer = torch.optim.SGD(
        [{"params": [*others, kernel], "weight_decay": 5e-4}, {"params": norms}],
        lr=0.1,
        momentum=0.9,
    )
    mean, std = torch.tensor(20.0), torch.tensor(100.0)
    theirs.train()
    for step, report in enumerate(reports):
        features = theirs(inputs)
        length = features.norm(dim=1, keepdim=True)
        cosine = ((features / length) @ F.normalize(kernel).T).clamp(-1 + 1e-3, 1 - 1e-3)
        safe = length.clip(0.001, 100).detach()
        mean = 0.01 * safe.mean() + 0.99 * mean
        std = 0.01 * safe.std() + 0.99 * std
        scaler = ((safe - mean) / (std + 1e-3) * 0.333).clip(-1, 1)
        hot = F.one_hot(labels, 6)
        theta = (cosine.acos() - hot * 0.4 * scaler).clip(1e-3, math.pi - 1e-3)
        logits = 64 * (theta.cos() - hot * (0.4 + 0.4 * scaler))
        loss = F.cross_entropy(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        assert report["loss"] == pytest.approx(loss.item(), rel=1e-3), step
        assert report["lr"] == pytest.approx(0.1)
