"""The published networks: torchvision's outputs, gradients and statistics with the same weights,
one SGD after another, activation memory as autograd keeps it, and ONNX."""

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("facebench._full")

from facebench import nn  # noqa: E402

F = torch.nn.functional
CLASSES = 7


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


# Ours: torchvision's constructor, the side of the input, further options of both. The sides are
# small, yet none so small that a layer degenerates; the auxiliary head of Inception-v3 takes 299.
TORCHVISION = {
    "alexnet_v2": ("alexnet", 96, {}),
    "vgg16": ("vgg16", 64, {}),
    "vgg16_bn": ("vgg16_bn", 64, {}),
    "resnet18": ("resnet18", 70, {}),
    "resnet50": ("resnet50", 70, {}),
    "resnet101": ("resnet101", 70, {}),
    "resnet50_v1": ("resnet50", 72, {}),
    "resnet50_slim": ("resnet50", 72, {}),
    "densenet121": ("densenet121", 70, {}),
    "googlenet": ("googlenet", 96, {"aux": False}),
    "googlenet with heads": ("googlenet", 160, {"aux": True}),
    "inception_v3": ("inception_v3", 107, {"aux": False}),
    "inception_v3 with head": ("inception_v3", 299, {"aux": True}),
}


def strides_of_the_authors(net):
    """torchvision's ResNet made KaimingHe/deep-residual-networks, prototxt/ResNet-50-*: res3a,
    res4a and res5a have the stride in branch2a and branch1, pool1 has no pad (Caffe rounds up)."""
    net.maxpool = torch.nn.MaxPool2d(3, 2, padding=0, ceil_mode=True)
    for stage in (net.layer2, net.layer3, net.layer4):
        stage[0].conv1.stride, stage[0].conv2.stride = (2, 2), (1, 1)


class EverySecondPixel(torch.nn.Module):
    def forward(self, x):
        return x[:, :, ::2, ::2]


def strides_of_slim(net):
    """torchvision's ResNet made tensorflow/models, research/slim/nets/resnet_v1.py: the last unit
    of blocks 1 to 3 has the stride, in conv2, and a subsampled shortcut; pool1 is padded as SAME,
    for maps of even size one pixel after the end."""
    net.maxpool = torch.nn.Sequential(torch.nn.ZeroPad2d((0, 1, 0, 1)), torch.nn.MaxPool2d(3, 2))
    for stage in (net.layer2, net.layer3, net.layer4):
        stage[0].conv2.stride = stage[0].downsample[0].stride = (1, 1)
    for stage in (net.layer1, net.layer2, net.layer3):
        stage[-1].conv2.stride = (2, 2)
        stage[-1].downsample = EverySecondPixel()


CHANGES = {"resnet50_v1": strides_of_the_authors, "resnet50_slim": strides_of_slim}


def pair(case, dtype=torch.float32, side=0):
    """torchvision's network and ours with the same weights and statistics; dropout off in both."""
    models = pytest.importorskip("torchvision.models")
    name, usual, options = TORCHVISION[case]
    side = side or usual
    torch.manual_seed(1)
    extra, own = {}, {}
    if options:
        extra = {"aux_logits": options["aux"], "init_weights": False, "transform_input": False}
        own = {"auxiliary": int(options["aux"])}
    theirs = models.get_model(name, weights=None, num_classes=CLASSES, **extra)
    CHANGES.get(case, lambda net: None)(theirs)
    for module in theirs.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
        if isinstance(module, torch.nn.BatchNorm2d):  # statistics and scales that show
            torch.nn.init.uniform_(module.weight, 0.5, 1.5)
            torch.nn.init.normal_(module.bias, 0, 0.1)
            torch.nn.init.normal_(module.running_mean, 0, 0.1)
            torch.nn.init.uniform_(module.running_var, 0.5, 1.5)
    ours = nn.build_network(case.split()[0], height=side, width=side, classes=CLASSES, **own)
    ours.load_state_dict(state_of(theirs))
    ours.use_dropout(False)
    return theirs.to(dtype), ours.to(dtype=dtype), torch.randn(3, 3, side, side, dtype=dtype)


def state_of(module):
    return {k: v for k, v in module.state_dict().items() if not k.endswith("num_batches_tracked")}


def outputs(theirs, ours, x):
    """What both give for x, heads included: two lists."""
    out = theirs(x)
    out = [out] if isinstance(out, torch.Tensor) else [o for o in out if o is not None]
    taps = ["logits", "aux1", "aux2"]
    if len(out) == 3:  # torchvision's GoogLeNet lists the second head first
        out = [out[0], out[2], out[1]]
    return out, ours.forward_taps(x, taps[: len(out)])


def assert_near(ours, theirs, tolerance=1e-5):
    scale = max(1.0, theirs.abs().max().item())
    assert (ours - theirs).abs().max().item() <= tolerance * scale


@pytest.mark.parametrize("case", TORCHVISION)
def test_equals_torchvision(case):
    theirs, ours, x = pair(case)
    theirs.eval(), ours.eval()
    with torch.no_grad():
        assert_near(ours(x, "logits"), theirs(x))
    theirs.train(), ours.train()
    with torch.no_grad():
        expected, got = outputs(theirs, ours, x)
    for a, b in zip(got, expected, strict=True):
        assert_near(a, b)
    state = state_of(theirs)
    for name, buffer in ours.named_buffers():
        assert_near(buffer, state[name])


# With a side that leaves maps of four cells at the end.
SGD = {"resnet18": 33, "densenet121": 64, "googlenet": 64}
SLOW_SGD = ["alexnet_v2", "vgg16_bn", "resnet50", "googlenet with heads", "inception_v3"]


@pytest.mark.parametrize(
    "case", [*SGD, *(pytest.param(c, marks=pytest.mark.slow) for c in SLOW_SGD)]
)
def test_five_sgd_steps_equal_a_plain_loop(case):
    theirs, ours, x = pair(case, torch.float64, SGD.get(case, 0))
    y = torch.arange(len(x)) % CLASSES
    settings = {"lr": 0.01, "momentum": 0.9, "weight_decay": 5e-4}
    optimizers = [torch.optim.SGD(n.parameters(), **settings) for n in (theirs, ours)]
    for _step in range(5):
        for optimizer in optimizers:
            optimizer.zero_grad()
        losses = [
            sum(w * F.cross_entropy(o, y) for w, o in zip((1, 0.3, 0.3), out, strict=False))
            for out in outputs(theirs, ours, x)
        ]
        assert losses[0].item() == pytest.approx(losses[1].item(), rel=1e-8)
        for loss, optimizer in zip(losses, optimizers, strict=True):
            loss.backward()
            optimizer.step()
    state = state_of(theirs)
    for name, tensor in ours.state_dict().items():
        assert_near(tensor, state[name], 1e-8)


def test_strides_of_the_three_resnets():
    """Where the maps of 224x224 images become smaller, by each implementation's own file."""
    sides = {
        "resnet50": {"layer2.0.conv1": 56, "layer2.0.conv2": 28, "layer1.2.conv2": 56},
        "resnet50_v1": {"layer2.0.conv1": 28, "layer2.0.conv2": 28, "layer1.2.conv2": 56},
        "resnet50_slim": {"layer2.0.conv1": 28, "layer1.2.conv2": 28, "layer1.2.conv1": 56},
    }
    for name, layers in sides.items():
        graph = nn.build_graph(name)
        shapes = {n["name"]: n["shape"] for n in graph.nodes}
        assert {n: shapes[n][1] for n in layers} == layers, name
        assert shapes["layer4.2.conv3"] == [2048, 7, 7]
        assert shapes["layer1.0.conv1"][1] == 56
        assert graph.count_parameters() == nn.build_graph("resnet50").count_parameters()


def test_epsilon_of_batch_norm_is_an_option():
    """Of every batch norm, against torch's own with that epsilon; 0 is the network's own."""
    own = nn.build_graph("inception_v3")
    assert {n["options"]["eps"] for n in own.nodes if n["op"] == "batch_norm"} == {1e-3}
    theirs, _, x = pair("resnet18")
    for module in theirs.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.eps = 0.3
    ours = nn.build_network("resnet18", height=70, width=70, classes=CLASSES, batch_norm_eps=0.3)
    ours.load_state_dict(state_of(theirs))
    with torch.no_grad():
        expected = theirs.eval()(x)
        assert_near(ours.eval()(x, "logits"), expected)
        assert_near(nn.InferenceNetwork(ours, batch=3).infer(x, "logits"), expected, 1e-4)
        assert_near(theirs.train()(x), ours.train()(x, "logits"))


# name -> (rule, classes, expected): the whole list is in tests/vision/nn/graph_test.cc.
COUNTS = [
    ("resnet50", "parameters", 45_176_207),
    ("vgg16", "caffe_first_blob", 177_563_328),
    ("googlenet_bvlc", "caffe_first_blob", 42_780_096),
    ("googlenet_slim", "parameters", 16_431_999),
]


@pytest.mark.parametrize(("name", "rule", "expected"), COUNTS)
def test_counts_with_the_papers_classes(name, rule, expected):
    assert nn.build_graph(name, classes=10575).count_parameters(rule) == expected


def saved_bytes(network, x, tap):
    """Bytes that autograd holds after the forward pass, parameters and buffers apart."""
    own = {t.untyped_storage().data_ptr() for t in network.state_dict().values()}
    kept = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            kept[storage.data_ptr()] = storage  # held, so that no other gets its address
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        out = network(x, tap)
    assert out.requires_grad
    return sum(s.nbytes() for s in kept.values())


@pytest.mark.parametrize(
    "name",
    [
        "alexnet_v1",
        "googlenet_slim",
        "resnet18",
        "densenet121",
        "lightcnn9",
        "iresnet18",
        "mobilefacenet",
        "centerloss",
        "inception_resnet_v1",
        "vit_s",
        "lstm",
    ],
)
def test_activation_memory_is_what_autograd_keeps(name):
    options = {"height": 96, "width": 96} if name not in ("alexnet_v1", "lstm") else {}
    network = nn.build_network(name, **options)
    shape = network.graph.input_shape
    predicted = network.graph.training_activation_bytes()
    x = torch.randint(9, (4, *shape)) if network.graph.vocabulary else torch.randn(4, *shape)
    measured = saved_bytes(network, x, "embedding") / 4
    # Batch norm keeps a few numbers a channel beside, whatever the batch.
    assert measured == pytest.approx(predicted, rel=0.01)
    assert f"{predicted / 2**20:.1f} MiB" in network.graph.summary()


class Unit(torch.nn.Module):
    """Of InsightFace_Pytorch's and face.evoLVe's networks, as their users have it."""

    def __init__(self, channels, depth, stride, gated):
        super().__init__()
        if channels == depth:
            self.shortcut_layer = torch.nn.MaxPool2d(1, stride)
        else:
            self.shortcut_layer = torch.nn.Sequential(
                torch.nn.Conv2d(channels, depth, 1, stride, bias=False),
                torch.nn.BatchNorm2d(depth),
            )
        self.res_layer = torch.nn.Sequential(
            torch.nn.BatchNorm2d(channels),
            torch.nn.Conv2d(channels, depth, 3, 1, 1, bias=False),
            torch.nn.PReLU(depth),
            torch.nn.Conv2d(depth, depth, 3, stride, 1, bias=False),
            torch.nn.BatchNorm2d(depth),
            *([Gate(depth)] if gated else []),
        )

    def forward(self, x):
        return self.res_layer(x) + self.shortcut_layer(x)


class Gate(torch.nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.fc1 = torch.nn.Conv2d(channels, channels // 16, 1, bias=False)
        self.fc2 = torch.nn.Conv2d(channels // 16, channels, 1, bias=False)

    def forward(self, x):
        return x * torch.sigmoid(self.fc2(torch.relu(self.fc1(x.mean((2, 3), keepdim=True)))))


@pytest.mark.parametrize("name", ["ir50", "ir_se50"])
def test_ir_is_the_module_of_its_users(name):
    units, channels = [], 64
    for depth, count in ((64, 3), (128, 4), (256, 14), (512, 3)):
        for k in range(count):
            units.append(Unit(channels, depth, 2 if k == 0 else 1, "se" in name))
            channels = depth
    module = torch.nn.ModuleDict(
        {
            "input_layer": torch.nn.Sequential(
                torch.nn.Conv2d(3, 64, 3, 1, 1, bias=False),
                torch.nn.BatchNorm2d(64),
                torch.nn.PReLU(64),
            ),
            "body": torch.nn.Sequential(*units),
            "output_layer": torch.nn.Sequential(
                torch.nn.BatchNorm2d(512),
                torch.nn.Dropout(0.4),
                torch.nn.Flatten(),
                torch.nn.Linear(512 * 7 * 7, 512),
                torch.nn.BatchNorm1d(512),
            ),
        }
    ).eval()
    network = nn.build_network(name, initializer="msra")
    known = {k: v for k, v in module.state_dict().items() if "num_batches" not in k}
    assert network.state_dict().keys() == known.keys()
    if name == "ir_se50":  # as both projects state it: 43.8 million
        assert network.graph.count_parameters() == 43_797_696
    module.load_state_dict(network.state_dict(), strict=False)
    x = torch.randn(2, 3, 112, 112, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        expected = x
        for part in ("input_layer", "body", "output_layer"):
            expected = module[part](expected)
    found = network.eval()(x).detach()
    assert (found - expected).abs().max() < 1e-5 * expected.abs().max()


# Deeper or wider brothers of others in the table.
LARGE = {"vgg16", "vgg16_bn", "iresnet34", "iresnet50", "iresnet100", "inception_v3_slim"}
LARGE |= {"resnet50_v1", "resnet101", "ir50", "ir50_adaface"}
LARGE |= {"sphereface36", "sphereface64", "vit_b"}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(e["name"], marks=pytest.mark.slow if e["name"] in LARGE else ())
        for e in nn.list_networks()
    ],
)
def test_folded_and_exported_networks_agree(name, tmp_path):
    """Every network of the table: as it is, folded, frozen, and in ONNX, folded or not."""
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    # Small, and where there is a choice of rounding, odd; AlexNet's poolings need their room.
    side = {"alexnet_v1": 67, "alexnet_v2": 95, "alexnet_v2_slim": 99, "alexnet_s": 95}.get(
        name, 107
    )
    if "fcn" in name:
        side = 11
    if "vit" in name:
        side = 40
    if any(t in name for t in ("sphereface", "iresnet", "ir50", "ir_se", "lightcnn", "centerloss")):
        side = 64
    words = nn.build_graph(name).vocabulary > 0
    size = {"words": 9, "vocabulary": 30} if words else {"height": side, "width": side}
    # With msra values grow to 3e4 behind 24 gates, and float32 itself is 6 % from float64.
    first = "xavier_uniform" if name == "ir_se50" else "msra"
    network = nn.build_network(name, **size, embedding=32, initializer=first)
    generator = torch.Generator().manual_seed(0)
    for key, tensor in network.state_dict().items():
        if key.endswith("running_mean"):
            tensor.normal_(0, 0.1, generator=generator)
        if key.endswith("running_var"):
            tensor.uniform_(0.5, 1.5, generator=generator)
    x = torch.randn(2, 3, side, side, generator=generator)
    if words:
        x = torch.randint(30, (2, 9), generator=generator)
    expected = network.infer(x)
    assert torch.isfinite(expected).all() and expected.std() > 1e-4
    scale = expected.abs().max().item()
    for other in (network.fold_batch_norm(), nn.InferenceNetwork(network, batch=2)):
        assert (other.infer(x) - expected).abs().max().item() <= 1e-4 * scale
    path = tmp_path / "n.onnx"
    norms = any(n["op"] == "batch_norm" for n in network.graph.nodes)
    for fold in (True, False) if norms else (True,):
        nn.export_onnx(network, path, fold=fold)
        session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        (got,) = session.run(None, {"words" if words else "images": x.numpy()})
        assert np.abs(got - expected.numpy()).max() <= 1e-4 * scale
    assert [o.name for o in session.get_outputs()] == ["embedding"]


def test_onnx_of_heads_and_wrong_use(tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    network = nn.build_network("googlenet", height=96, width=96, classes=5, auxiliary=1)
    path = tmp_path / "n.onnx"
    taps = ["logits", "aux2"]
    nn.export_onnx(network, path, taps=taps, metadata={"note": "x"})
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    x = torch.randn(3, 3, 96, 96)
    for tap, got in zip(taps, session.run(taps, {"images": x.numpy()}), strict=True):
        assert np.abs(got - network.infer(x, tap).numpy()).max() < 1e-4
    assert session.get_modelmeta().custom_metadata_map["note"] == "x"
    with pytest.raises(ValueError, match="did you mean 'logits'"):
        nn.export_onnx(network, path, taps=["logit"])
    assert [p.name for p in tmp_path.iterdir()] == ["n.onnx"]


def test_dropout_can_be_switched_off():
    network = nn.build_network("lightcnn9", height=32, width=32, classes=4)
    x = torch.randn(2, 3, 32, 32)
    assert not torch.equal(network(x, "logits"), network(x, "logits"))
    network.use_dropout(False)
    assert torch.equal(network(x, "logits"), network(x, "logits"))
    assert torch.equal(network.clone()(x, "logits"), network(x, "logits"))


def test_auxiliary_heads_train_with_the_rest():
    network = nn.build_network("googlenet_bvlc", height=96, width=96, classes=3, initializer="msra")
    assert {"logits", "aux1", "aux2", "embedding"} <= set(network.graph.taps)
    x, y = torch.randn(2, 3, 96, 96), torch.tensor([0, 2])
    out = network.forward_taps(x, ["logits", "aux1", "aux2"])
    sum(F.cross_entropy(o, y) for o in out).backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in network.parameters())


def conv_norm(x, state, layer, norm, **options):
    x = F.conv2d(x, state[f"{layer}.weight"], **options)
    statistics = [state[f"{norm}.{k}"] for k in ("running_mean", "running_var", "weight", "bias")]
    return F.batch_norm(x, *statistics)


def cifar_resnet20(x, state):
    """He et al. 2016, section 4.2: 6n + 2 layers, n = 3, shortcuts of option A."""
    x = F.relu(conv_norm(x, state, "conv1", "bn1", padding=1))
    for stage, width in enumerate((16, 32, 64), 1):
        for block in range(3):
            name = f"layer{stage}.{block}"
            stride = 2 if width != x.shape[1] else 1
            y = F.relu(
                conv_norm(x, state, f"{name}.conv1", f"{name}.bn1", padding=1, stride=stride)
            )
            y = conv_norm(y, state, f"{name}.conv2", f"{name}.bn2", padding=1)
            new_channels = width - x.shape[1]
            x = F.relu(y + F.pad(x[:, :, ::stride, ::stride], (0, 0, 0, 0, 0, new_channels)))
    return F.linear(x.mean((2, 3)), state["fc.weight"], state["fc.bias"])


def cuda_convnet(x, state):
    """dlbench, tools/torch/Models/alexnet.lua."""

    def conv(v, n):
        return F.conv2d(v, state[f"conv{n}.weight"], state[f"conv{n}.bias"], padding=2)

    x = F.relu(F.max_pool2d(conv(x, 1), 3, 2))
    x = F.max_pool2d(F.relu(conv(x, 2)), 3, 2)
    x = F.avg_pool2d(F.relu(conv(x, 3)), 3, 2)
    return F.linear(x.flatten(1), state["fc1.weight"], state["fc1.bias"])


def caffe_lenet(x, state):
    """Caffe, examples/mnist/lenet.prototxt."""
    for n in (1, 2):
        x = F.max_pool2d(F.conv2d(x, state[f"conv{n}.weight"], state[f"conv{n}.bias"]), 2, 2)
    x = F.relu(F.linear(x.flatten(1), state["ip1.weight"], state["ip1.bias"]))
    return F.linear(x, state["ip2.weight"], state["ip2.bias"])


def torch_demo(x, state):
    """torch/demos, train-a-digit-classifier/train-on-mnist.lua: "convnet"."""
    x = torch.tanh(F.conv2d(x, state["conv1.weight"], state["conv1.bias"]))
    x = F.max_pool2d(x, 3, 3, 1)
    x = F.max_pool2d(torch.tanh(F.conv2d(x, state["conv2.weight"], state["conv2.bias"])), 2, 2)
    assert x.shape[1:] == (64, 3, 3)
    x = torch.tanh(F.linear(x.flatten(1), state["fc1.weight"], state["fc1.bias"]))
    return F.linear(x, state["fc2.weight"], state["fc2.bias"])


def theano_tutorial(x, state):
    """Theano's tutorial, code/convolutional_mlp.py: the bias comes behind the pooling."""
    for n in (1, 2):
        x = F.max_pool2d(F.conv2d(x, state[f"conv{n}.weight"]), 2, 2)
        x = torch.tanh(x + state[f"conv{n}.bias"][:, None, None])
    x = torch.tanh(F.linear(x.flatten(1), state["fc1.weight"], state["fc1.bias"]))
    return F.linear(x, state["fc2.weight"], state["fc2.bias"])


def tensorflow_tutorial(x, state):
    """tensorflow/models, tutorials/image/cifar10/cifar10.py; tf.nn.lrn's formula: depth_radius 4,
    bias 1, alpha .001 / 9, beta .75."""

    def norm(v):
        total = sum(F.pad(v.square(), (0, 0, 0, 0, 4, 4))[:, k : k + v.shape[1]] for k in range(9))
        return v / (1 + 0.001 / 9 * total) ** 0.75

    def pool(v):  # SAME, of even sides: one pixel after the end
        return F.max_pool2d(F.pad(v, (0, 1, 0, 1), value=-torch.inf), 3, 2)

    x = F.relu(F.conv2d(x, state["conv1.weight"], state["conv1.bias"], padding=2))
    x = norm(pool(x))
    x = F.relu(F.conv2d(x, state["conv2.weight"], state["conv2.bias"], padding=2))
    x = pool(norm(x)).flatten(1)
    for layer in ("local3", "local4"):
        x = F.relu(F.linear(x, state[f"{layer}.weight"], state[f"{layer}.bias"]))
    return F.linear(x, state["softmax_linear.weight"], state["softmax_linear.bias"])


def caffe_quick(x, state):
    """BVLC/caffe, examples/cifar10/cifar10_quick_train_test.prototxt. Its poolings begin at every
    second pixel; the last ones have two in a row, and their mean is of these."""

    def conv(v, n):
        return F.conv2d(v, state[f"conv{n}.weight"], state[f"conv{n}.bias"], padding=2)

    def mean_pool(v):
        share = F.avg_pool2d(F.pad(torch.ones_like(v), (0, 1, 0, 1)), 3, 2)
        return F.avg_pool2d(F.pad(v, (0, 1, 0, 1)), 3, 2) / share

    x = F.relu(F.max_pool2d(F.pad(conv(x, 1), (0, 1, 0, 1), value=-torch.inf), 3, 2))
    for n in (2, 3):
        x = mean_pool(F.relu(conv(x, n)))
    assert x.shape[1:] == (64, 4, 4)
    x = F.linear(x.flatten(1), state["ip1.weight"], state["ip1.bias"])
    return F.linear(x, state["ip2.weight"], state["ip2.bias"])


def torch_cifar_demo(x, state):
    """torch/demos, train-on-cifar/train-on-cifar.lua: "convnet", its maps of connections full."""
    for n in (1, 2):
        x = torch.tanh(F.conv2d(x, state[f"conv{n}.weight"], state[f"conv{n}.bias"]))
        x = F.max_pool2d(x, 2, 2)
    assert x.shape[1:] == (256, 5, 5)
    x = torch.tanh(F.linear(x.flatten(1), state["fc1.weight"], state["fc1.bias"]))
    return F.linear(x, state["fc2.weight"], state["fc2.bias"])


def theano_cifar_tutorial(x, state):
    """benanne/theano-tutorial, 6_convnet_color.py."""
    for n, pool in ((1, 3), (2, 2)):
        x = F.relu(F.conv2d(x, state[f"conv{n}.weight"], state[f"conv{n}.bias"]))
        x = F.max_pool2d(x, pool)
    assert x.shape[1:] == (8, 4, 4)
    x = F.relu(F.linear(x.flatten(1), state["fc1.weight"], state["fc1.bias"]))
    return F.linear(x, state["fc2.weight"], state["fc2.bias"])


def tian_resnet18(x, state):
    """JinyuJinyuJinyu/MasterProject, resnet_tr.py."""

    def conv_bn(v, conv, bn, **options):
        v = F.conv2d(v, state[f"{conv}.weight"], **options)
        parts = ("running_mean", "running_var", "weight", "bias")
        return F.batch_norm(v, *(state[f"{bn}.{p}"] for p in parts))

    x = F.max_pool2d(F.relu(conv_bn(x, "conv1", "bn1", padding=1)), 2, 2, 1)
    for stage in (1, 2, 3, 4):
        for b in (0, 1):
            at, stride = f"layer{stage}.{b}", 2 if stage > 1 and b == 0 else 1
            y = F.relu(conv_bn(x, f"{at}.conv1", f"{at}.bn1", stride=stride, padding=1))
            y = conv_bn(y, f"{at}.conv2", f"{at}.bn2", padding=1)
            if stride == 2:
                x = conv_bn(x, f"{at}.downsample.0", f"{at}.downsample.1", stride=2)
            x = F.relu(x + y)
    assert x.shape[1:] == (512, 3, 3)
    return F.linear(x.mean((2, 3)), state["fc.weight"], state["fc.bias"])


def tian_resnet18_tensorflow(x, state):
    """JinyuJinyuJinyu/MasterProject, resnet_tf.py: Conv2D with biases, SAME; BatchNormalization."""

    def conv_bn(v, conv, bn, stride=1):
        weight = state[f"{conv}.weight"]
        odd = v.shape[-1] % 2 or stride == 1  # of an even side one pixel more after the end
        if weight.shape[-1] == 3:
            v = F.pad(v, (1, 1, 1, 1) if odd else (0, 1, 0, 1))
        v = F.conv2d(v, weight, state[f"{conv}.bias"], stride)
        parts = ("running_mean", "running_var", "weight", "bias")
        return F.batch_norm(v, *(state[f"{bn}.{p}"] for p in parts), eps=1e-3)

    x = F.relu(conv_bn(x, "conv1", "bn1"))
    x = F.max_pool2d(F.pad(x, (0, 1, 0, 1), value=-torch.inf), 2, 1)
    for stage in (1, 2, 3, 4):
        for b in (0, 1):
            at, stride = f"layer{stage}.{b}", 2 if stage > 1 else 1
            y = F.relu(conv_bn(x, f"{at}.conv1", f"{at}.bn1", stride))
            y = conv_bn(y, f"{at}.conv2", f"{at}.bn2")
            if stride == 2:
                x = conv_bn(x, f"{at}.downsample.0", f"{at}.downsample.1", 2)
            x = F.relu(x + y)
    assert x.shape[1:] == (512, 1, 1)
    return F.linear(x.flatten(1), state["fc.weight"], state["fc.bias"])


def ffn5(x, state):
    """dlbench, tools/torch/Models/ffn5.lua."""
    x = x.flatten(1)
    for layer in ("fc1", "fc2", "fc3"):
        x = torch.sigmoid(F.linear(x, state[f"{layer}.weight"], state[f"{layer}.bias"]))
    return F.linear(x, state["classifier.weight"], state["classifier.bias"])


@pytest.mark.parametrize(
    ("name", "channels", "definition"),
    [
        ("resnet20_cifar", 3, cifar_resnet20),
        ("alexnet_r", 3, cuda_convnet),
        ("lenet5", 1, caffe_lenet),
        ("fcn_r", 1, ffn5),
        ("lenet5_torch", 1, torch_demo),
        ("lenet5_theano", 1, theano_tutorial),
        ("cifar10_tensorflow", 3, tensorflow_tutorial),
        ("cifar10_caffe", 3, caffe_quick),
        ("cifar10_torch", 3, torch_cifar_demo),
        ("cifar10_theano", 3, theano_cifar_tutorial),
        ("resnet18_small", 3, tian_resnet18),
        ("resnet18_small_tensorflow", 3, tian_resnet18_tensorflow),
    ],
)
def test_networks_for_small_images_equal_their_definitions(name, channels, definition):
    network = nn.build_network(name, channels=channels, classes=10, initializer="msra")
    state = network.state_dict()
    for key, tensor in state.items():  # statistics that show
        if "running" in key:
            tensor.uniform_(0.5, 1.5)
    _, height, width = network.graph.input_shape
    x = 30 * torch.randn(3, channels, height, width)  # response norms show
    assert_near(network.infer(x, "logits"), definition(x, state))


def test_local_response_normalisation_is_caffes():
    """Krizhevsky et al. 2012, section 3.3, with alpha divided by the number of channels."""
    network = nn.build_network("alexnet_v1", height=67, width=67, embedding=8)
    nodes = network.graph.nodes
    lrn = next(n for n in nodes if n["op"] == "lrn")
    assert lrn["options"] == {"size": 5, "alpha": 1e-4, "beta": 0.75, "k": 1.0}
    assert math.prod(lrn["shape"]) == math.prod(nodes[lrn["inputs"][0]]["shape"])
    x = torch.randn(1, 3, 67, 67) * 50
    state = network.state_dict()

    def conv(v, i, **o):
        return F.relu(F.conv2d(v, state[f"conv{i}.weight"], state[f"conv{i}.bias"], **o))

    def norm_and_pool(v):
        return F.max_pool2d(F.local_response_norm(v, 5, 1e-4, 0.75, 1.0), 3, 2, ceil_mode=True)

    v = norm_and_pool(conv(x, 1, stride=4))
    v = norm_and_pool(conv(v, 2, padding=2, groups=2))
    v = conv(conv(v, 3, padding=1), 4, padding=1, groups=2)
    v = F.max_pool2d(conv(v, 5, padding=1, groups=2), 3, 2, ceil_mode=True).flatten(1)
    v = F.relu(F.linear(v, state["fc6.weight"], state["fc6.bias"]))
    expected = F.linear(v, state["fc7.weight"], state["fc7.bias"])
    torch.testing.assert_close(network.infer(x, "fc7"), expected, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(network.infer(x), F.relu(expected), rtol=1e-4, atol=1e-5)
