"""Networks against independent definitions in plain PyTorch, and against ONNX."""

import copy
import os
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from facebench import Error, nn  # noqa: E402

DATA = os.environ.get("FACEBENCH_DATA")


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def reference_small4(size, embedding):
    layers, channels = [], 3
    for width in (32, 64, 128, 256):
        layers += [
            torch.nn.Conv2d(channels, width, 3, 2, 1, bias=False),
            torch.nn.BatchNorm2d(width),
            torch.nn.PReLU(width),
        ]
        channels, size = width, (size + 1) // 2
    return torch.nn.Sequential(
        *layers,
        torch.nn.Flatten(),
        torch.nn.Linear(256 * size * size, embedding, bias=False),
        torch.nn.BatchNorm1d(embedding),
    )


class Residual(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = torch.nn.Sequential(
            *convolution(width, width, 1), *convolution(width, width, 1)
        )

    def forward(self, x):
        return x + self.inner(x)


def convolution(channels, width, stride):
    return torch.nn.Conv2d(channels, width, 3, stride, 1), torch.nn.PReLU(width)


def reference_sphereface(blocks, height, width):
    layers, channels = [], 3
    for out, count in zip((64, 128, 256, 512), blocks, strict=True):
        layers += [*convolution(channels, out, 2), *(Residual(out) for _ in range(count))]
        channels, height, width = out, (height + 1) // 2, (width + 1) // 2
    return torch.nn.Sequential(
        *layers, torch.nn.Flatten(), torch.nn.Linear(512 * height * width, 512)
    )


def copy_in_order(reference, network):
    """The reference's numbers into ours: both list their tensors from input to output."""
    theirs = [
        (k, v) for k, v in reference.state_dict().items() if not k.endswith("num_batches_tracked")
    ]
    ours = network.state_dict()
    assert len(theirs) == len(ours)
    network.load_state_dict({k: v for k, (_, v) in zip(ours, theirs, strict=True)})
    return dict(zip(ours, (k for k, _ in theirs), strict=True))


CASES = {
    "small4": (lambda: reference_small4(40, 128), {"height": 40, "width": 40}),
    "sphereface4": (
        lambda: reference_sphereface((0, 0, 0, 0), 48, 40),
        {"height": 48, "width": 40},
    ),
    "sphereface20": (
        lambda: reference_sphereface((1, 2, 4, 1), 32, 16),
        {"height": 32, "width": 16},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_equals_plain_pytorch(name):
    make, options = CASES[name]
    torch.manual_seed(0)
    reference, network = make().double(), nn.build_network(name, **options).to(dtype=torch.float64)
    names = copy_in_order(reference, network)
    for _step in range(3):
        x = torch.randn(4, 3, options["height"], options["width"], dtype=torch.float64)
        ours, theirs = network(x), reference(x)
        torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-9)
        weights = torch.randn_like(ours)
        (ours * weights).sum().backward()
        (theirs * weights).sum().backward()
        parameters = dict(reference.named_parameters())
        for ours_name, p in network.named_parameters():
            torch.testing.assert_close(
                p.grad, parameters[names[ours_name]].grad, rtol=1e-7, atol=1e-9
            )
        buffers = dict(reference.named_buffers())
        for ours_name, b in network.named_buffers():  # batch norm's running statistics
            torch.testing.assert_close(b, buffers[names[ours_name]], rtol=1e-9, atol=1e-12)
    network.eval(), reference.eval()
    torch.testing.assert_close(network(x), reference(x), rtol=1e-9, atol=1e-9)
    single = network.clone().to(dtype=torch.float32)
    torch.testing.assert_close(single.infer(x.float()), reference(x).float(), rtol=1e-5, atol=1e-5)
    frozen = nn.InferenceNetwork(single, batch=4)
    torch.testing.assert_close(frozen.infer(x.float()), reference(x).float(), rtol=1e-4, atol=1e-5)


def test_trains_in_a_plain_loop():
    torch.manual_seed(0)
    network = nn.build_network("small4", height=16, width=16, embedding=8, classes=4, seed=1)
    network.channels_last()
    x, labels = torch.randn(32, 3, 16, 16), torch.arange(32) % 4
    optimizer = torch.optim.SGD(network.parameters(), lr=0.05, momentum=0.9)
    losses = []
    for _ in range(15):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(network(x, "logits"), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.3 * losses[0]
    logits, embedding = network.forward_taps(x, ["logits", "embedding"])
    assert logits.shape == (32, 4)
    assert embedding.shape == (32, 8)


def test_mobilefacenet_equals_onnx():
    if not DATA:
        pytest.skip("FACEBENCH_DATA is not set: no weights")
    onnxruntime = pytest.importorskip("onnxruntime")
    folder = Path(DATA) / "weights" / "mobilefacenet"
    state = torch.load(folder / "mobilefacenet.pt", map_location="cpu", weights_only=True)
    network = nn.build_network("mobilefacenet")
    network.load_state_dict(
        {k: v for k, v in state.items() if not k.endswith("num_batches_tracked")}
    )
    session = onnxruntime.InferenceSession(str(folder / "mobilefacenet.onnx"))
    x = np.random.default_rng(0).standard_normal((3, 3, 112, 112), np.float32)
    expected = np.concatenate([session.run(None, {"input0": x[i : i + 1]})[0] for i in range(3)])
    for run in (network, nn.InferenceNetwork(network, batch=3)):
        got = run.infer(torch.from_numpy(x)).numpy()
        assert np.abs(got - expected).max() < 1e-4
    assert np.abs(expected).max() > 1


def test_counts():
    # 28,075,200 = 11,650,752 (convolutions) + 11,010,048 (FC) + 5,414,400 (classifier).
    graph = nn.build_graph("sphereface20", classes=10575)
    assert graph.count_parameters("weights") == 28_075_200
    large = nn.build_graph("sphereface20", classes=10575, height=224, width=224)
    assert large.count_parameters("caffe_first_blob") == 68_450_048
    network = nn.build_network("small4")
    total = sum(p.numel() for p in network.parameters())
    assert network.graph.count_parameters() == total
    with pytest.raises(ValueError, match="did you mean 'weights'"):
        graph.count_parameters("weight")
    assert "multiply-accumulates" in graph.summary()


def test_wrong_use_is_refused():
    with pytest.raises(ValueError, match="did you mean 'small4'"):
        nn.build_network("smal4")
    with pytest.raises(ValueError, match="did you mean 'height'"):
        nn.build_network("small4", heigth=3)
    network = nn.build_network("small4", height=16, width=16)
    with pytest.raises(ValueError, match="takes images"):
        network(torch.zeros(1, 3, 8, 8))
    state = network.state_dict()
    state["conv1.weight"] = torch.zeros(2)
    with pytest.raises(Error, match=r"'conv1.weight' is \(2\), expected \(32x3x3x3\)"):
        network.load_state_dict(state)


@pytest.mark.parametrize("entry", nn.list_networks(), ids=lambda e: e["name"])
def test_every_network_is_documented(entry):
    assert entry["doc"]
    assert entry["source"]
    assert nn.build_graph(entry["name"]).taps["embedding"][-1] == entry["options"].embedding


def test_network_as_a_module():
    torch.manual_seed(0)
    options = {"height": 16, "width": 16, "embedding": 8, "classes": 4}
    module = nn.NetworkModule(nn.build_network("small4", **options), tap="logits")
    plain = nn.build_network("small4", **options)
    model = torch.nn.Sequential(module, torch.nn.LogSoftmax(1))
    assert dict(module.named_parameters()).keys() == dict(plain.named_parameters()).keys()
    x, y = torch.randn(8, 3, 16, 16), torch.arange(8) % 4
    optimizers = [torch.optim.SGD(m.parameters(), lr=0.1) for m in (model, plain)]
    for _step in range(2):
        for optimizer in optimizers:
            optimizer.zero_grad()
        torch.nn.functional.nll_loss(model(x), y).backward()
        torch.nn.functional.cross_entropy(plain(x, "logits"), y).backward()
        for optimizer in optimizers:
            optimizer.step()
    for name, tensor in module.state_dict().items():
        torch.testing.assert_close(tensor, plain.state_dict()[name])
    copied = copy.deepcopy(model)
    copied.eval(), plain.eval()
    torch.testing.assert_close(copied(x), plain(x, "logits").log_softmax(1))
    assert model.training and module(x, "embedding").shape == (8, 8)
    # Moving and loading keep the tensors that the network reads.
    held = module.get_parameter("fc.weight")
    model.double()
    assert held.dtype == torch.float64 and model(x.double()).dtype == torch.float64
    module.load_state_dict(plain.state_dict())
    model.eval()
    expected = plain.to(dtype=torch.float64)(x.double(), "logits").log_softmax(1)
    torch.testing.assert_close(model(x.double()), expected)


def test_torchvision_loads_our_module():
    models = pytest.importorskip("torchvision.models")
    module = nn.NetworkModule(nn.build_network("resnet18", height=32, width=32, classes=5))
    theirs = models.resnet18(weights=None, num_classes=5)
    missing, unexpected = theirs.load_state_dict(module.state_dict(), strict=False)
    assert not unexpected
    assert all(name.endswith("num_batches_tracked") for name in missing)
