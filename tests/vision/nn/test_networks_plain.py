"""Networks that torchvision does not have against forward passes written out in plain PyTorch.

Each pass is written from the layer list of its paper or prototxt and reads our tensors by name, so
it also holds the names, under which published weights come, to what they are.
"""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("facebench._full")

from facebench import nn  # noqa: E402

F = torch.nn.functional


class Pass:
    """One forward pass in evaluation mode; remembers which tensors it has read."""

    def __init__(self, state):
        self.state, self.read = state, set()

    def get(self, name):
        self.read.add(name)
        return self.state[name]

    def maybe(self, name):
        return self.get(name) if name in self.state else None

    def conv(self, name, x, **options):
        return F.conv2d(x, self.get(f"{name}.weight"), self.maybe(f"{name}.bias"), **options)

    def fc(self, name, x):
        return F.linear(x, self.get(f"{name}.weight"), self.maybe(f"{name}.bias"))

    def bn(self, name, x, eps=1e-5):
        mean, variance = self.get(f"{name}.running_mean"), self.get(f"{name}.running_var")
        scale, shift = self.maybe(f"{name}.weight"), self.get(f"{name}.bias")
        return F.batch_norm(x, mean, variance, scale, shift, eps=eps)

    def prelu(self, name, x):
        return F.prelu(x, self.get(f"{name}.weight"))


def iresnet(p, x, blocks):
    x = p.prelu("prelu", p.bn("bn1", p.conv("conv1", x, padding=1)))
    for stage, count in enumerate(blocks, 1):
        for b in range(count):
            n, stride = f"layer{stage}.{b}", 2 if b == 0 else 1
            y = p.conv(f"{n}.conv1", p.bn(f"{n}.bn1", x), padding=1)
            y = p.prelu(f"{n}.prelu", p.bn(f"{n}.bn2", y))
            y = p.bn(f"{n}.bn3", p.conv(f"{n}.conv2", y, padding=1, stride=stride))
            if b == 0:
                x = p.bn(f"{n}.downsample.1", p.conv(f"{n}.downsample.0", x, stride=2))
            x = y + x
    return p.bn("features", p.fc("fc", p.bn("bn2", x).flatten(1)))


def mfm(x):
    a, b = x.split(x.shape[1] // 2, 1)
    return torch.max(a, b)


def light_group(p, name, x):
    x = mfm(p.conv(f"{name}.conv_a.filter", x))
    return mfm(p.conv(f"{name}.conv.filter", x, padding=1))


def lightcnn9(p, x):
    x = F.max_pool2d(mfm(p.conv("features.0.filter", x, padding=2)), 2, 2, ceil_mode=True)
    for name, pooled in (("2", True), ("4", True), ("6", False), ("7", True)):
        x = light_group(p, f"features.{name}", x)
        x = F.max_pool2d(x, 2, 2, ceil_mode=True) if pooled else x
    return mfm(p.fc("fc1.filter", x.flatten(1)))


def lightcnn29(p, x):
    x = F.max_pool2d(mfm(p.conv("conv1.filter", x, padding=2)), 2, 2, ceil_mode=True)
    for stage in range(1, 5):
        for b in range(stage):
            y = mfm(p.conv(f"block{stage}.{b}.conv1.filter", x, padding=1))
            x = mfm(p.conv(f"block{stage}.{b}.conv2.filter", y, padding=1)) + x
        x = light_group(p, f"group{stage}", x)
        x = x if stage == 3 else F.max_pool2d(x, 2, 2, ceil_mode=True)
    return mfm(p.fc("fc.filter", x.flatten(1)))


def centerloss(p, x):
    def conv(n, v, padding):
        return p.prelu(f"relu{n}", p.conv(f"conv{n}", v, padding=padding))

    x = conv("1a", x, 0)
    for stage, (widening, count) in enumerate((("1b", 1), ("2", 2), ("3", 5), ("4", 3)), 2):
        x = F.max_pool2d(conv(widening, x, 0), 2, 2, ceil_mode=True)
        for b in range(count):
            x = x + conv(f"{stage}_{2 * b + 2}", conv(f"{stage}_{2 * b + 1}", x, 1), 1)
    return p.fc("fc5", x.flatten(1))


def googlenet_bvlc(p, x):
    def conv(n, v, **options):
        return F.relu(p.conv(n, v, **options))

    def pool(v):
        return F.max_pool2d(v, 3, 2, ceil_mode=True)

    def lrn(v):
        return F.local_response_norm(v, 5, 1e-4, 0.75, 1.0)

    x = lrn(pool(conv("conv1/7x7_s2", x, stride=2, padding=3)))
    x = pool(lrn(conv("conv2/3x3", conv("conv2/3x3_reduce", x), padding=1)))
    for name in ("3a", "3b", "4a", "4b", "4c", "4d", "4e", "5a", "5b"):
        n = f"inception_{name}/"
        x = pool(x) if name in ("4a", "5a") else x
        parts = [
            conv(n + "1x1", x),
            conv(n + "3x3", conv(n + "3x3_reduce", x), padding=1),
            conv(n + "5x5", conv(n + "5x5_reduce", x), padding=2),
            conv(n + "pool_proj", F.max_pool2d(x, 3, 1, 1)),
        ]
        x = torch.cat(parts, 1)
    return x.mean((2, 3))


def same(x, kernel, stride, value=0.0):
    """TensorFlow's SAME: ceil(size / stride) windows, the odd pixel after the image."""
    pads = []
    for size in (x.shape[3], x.shape[2]):
        total = max((-(-size // stride) - 1) * stride + kernel - size, 0)
        pads += [total // 2, total - total // 2]
    return F.pad(x, pads, value=value)


def googlenet_slim(p, x):
    def conv(n, v, stride=1):
        kernel = p.state[f"{n}.conv.weight"].shape[2]
        return F.relu(p.bn(f"{n}.bn", p.conv(f"{n}.conv", same(v, kernel, stride), stride=stride),
                           1e-3))  # fmt: skip

    def pool(v, kernel, stride=2):
        return F.max_pool2d(same(v, kernel, stride, -torch.inf), kernel, stride)

    x = pool(conv("Conv2d_1a_7x7", x, 2), 3)
    x = pool(conv("Conv2d_2c_3x3", conv("Conv2d_2b_1x1", x)), 3)
    for name in ("3b", "3c", "4b", "4c", "4d", "4e", "4f", "5b", "5c"):
        n = f"Mixed_{name}.Branch_"
        x = {"4b": lambda v: pool(v, 3), "5b": lambda v: pool(v, 2)}.get(name, lambda v: v)(x)
        parts = [conv(n + "0.Conv2d_0a_1x1", x)]
        parts += [conv(f"{n}{b}.Conv2d_0b_3x3", conv(f"{n}{b}.Conv2d_0a_1x1", x)) for b in (1, 2)]
        parts += [conv(n + "3.Conv2d_0b_1x1", pool(x, 3, 1))]
        x = torch.cat(parts, 1)
    return x.mean((2, 3))


def inception_resnet_v1(p, x):
    def conv(n, v, **options):
        return F.relu(p.bn(f"{n}.bn", p.conv(f"{n}.conv", v, **options), 1e-3))

    def chain(n, v, pads, last_stride=1):
        for i, pad in enumerate(pads):
            stride = last_stride if i == len(pads) - 1 else 1
            v = conv(f"{n}.{i}", v, padding=pad, stride=stride)
        return v

    def residual(n, v, branches, scale):
        return v + scale * p.conv(f"{n}.conv2d", torch.cat(branches, 1))

    x = conv("conv2d_2b", conv("conv2d_2a", conv("conv2d_1a", x, stride=2)), padding=1)
    x = conv("conv2d_4a", conv("conv2d_3b", F.max_pool2d(x, 3, 2)))
    x = conv("conv2d_4b", x, stride=2)
    for i in range(5):
        n = f"repeat_1.{i}"
        parts = [conv(f"{n}.branch0", x), chain(f"{n}.branch1", x, (0, 1))]
        x = F.relu(residual(n, x, [*parts, chain(f"{n}.branch2", x, (0, 1, 1))], 0.17))
    parts = [conv("mixed_6a.branch0", x, stride=2), chain("mixed_6a.branch1", x, (0, 1, 0), 2)]
    x = torch.cat([*parts, F.max_pool2d(x, 3, 2)], 1)
    for i in range(10):
        n = f"repeat_2.{i}"
        parts = [conv(f"{n}.branch0", x), chain(f"{n}.branch1", x, (0, (0, 3), (3, 0)))]
        x = F.relu(residual(n, x, parts, 0.10))
    parts = [chain(f"mixed_7a.branch{b}", x, (0, 0), 2) for b in (0, 1)]
    parts += [chain("mixed_7a.branch2", x, (0, 1, 0), 2), F.max_pool2d(x, 3, 2)]
    x = torch.cat(parts, 1)
    for n in [f"repeat_3.{i}" for i in range(5)] + ["block8"]:
        parts = [conv(f"{n}.branch0", x), chain(f"{n}.branch1", x, (0, (0, 1), (1, 0)))]
        last = n == "block8"
        x = residual(n, x, parts, 1.0 if last else 0.20)
        x = x if last else F.relu(x)
    return p.bn("last_bn", p.fc("last_linear", x.mean((2, 3))), 1e-3)


CASES = {
    "iresnet18": (lambda p, x: iresnet(p, x, (2, 2, 2, 2)), (48, 40)),
    "iresnet34": (lambda p, x: iresnet(p, x, (3, 4, 6, 3)), (32, 32)),
    "lightcnn9": (lightcnn9, (50, 40)),
    "lightcnn29": (lightcnn29, (50, 40)),
    "centerloss": (centerloss, (112, 96)),
    "googlenet_bvlc": (googlenet_bvlc, (95, 110)),
    "googlenet_slim": (googlenet_slim, (95, 110)),
    "inception_resnet_v1": (inception_resnet_v1, (96, 105)),
}


@pytest.mark.parametrize("name", CASES)
def test_equals_the_layer_list(name):
    forward, (height, width) = CASES[name]
    network = nn.build_network(name, height=height, width=width, initializer="msra")
    generator = torch.Generator().manual_seed(0)
    for key, tensor in network.state_dict().items():
        if key.endswith("running_mean"):
            tensor.normal_(0, 0.1, generator=generator)
        if key.endswith("running_var"):
            tensor.uniform_(0.5, 1.5, generator=generator)
    network.to(dtype=torch.float64)
    x = torch.randn(2, 3, height, width, generator=generator, dtype=torch.float64)
    plain = Pass(network.state_dict())
    with torch.no_grad():
        expected = forward(plain, x)
    torch.testing.assert_close(network.infer(x), expected, rtol=1e-9, atol=1e-9)
    assert plain.read == set(plain.state), "tensors that the layer list does not read"
