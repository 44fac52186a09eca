"""Training on the CPU against plain PyTorch: the margin heads with their update, and the whole step
of a network. `--quick` takes the smaller sizes."""

import argparse
import functools
import sys
from pathlib import Path

import harness
from harness import Comparison, Contestant

DIM = 512


class Call:
    """A function with its first arguments given; a class, so that the child can import it."""

    def __init__(self, function, *arguments):
        self.function, self.arguments = function, arguments

    def __call__(self, last):
        return self.function(*self.arguments, last)


# --- Margin heads: norms, product, margin, cross entropy, backward, SGD --------------------------

S, COSFACE_M, ARCFACE_M = 64.0, 0.35, 0.5
SPHEREFACE = {"m": 4, "lambda_base": 5.0, "lambda_min": 5.0}


def head_inputs(batch: int, classes: int, threads: int):
    import torch

    torch.set_num_threads(threads)
    g = torch.Generator().manual_seed(1)
    weight = torch.empty(classes, DIM).uniform_(-0.01, 0.01, generator=g)
    x = torch.randn(batch, DIM, generator=g)
    return x, torch.randint(0, classes, (batch,), generator=g), weight


SGD = {"lr": 0.01, "momentum": 0.9, "weight_decay": 5e-4}


def sgd(parameters, **how):
    import torch

    return torch.optim.SGD(parameters, **SGD, **how)


def head_setup(name: str, batch: int, classes: int, threads: int):
    import torch
    from facebench import losses, training

    x, y, weight = head_inputs(batch, classes, threads)
    options = {"sphereface": SPHEREFACE, "softmax": {"bias": False}}.get(name, {})
    head = losses.make_head(name, features=DIM, classes=classes, **options)
    with torch.no_grad():
        head.weight.copy_(weight)
    # Made in the first step, as PyTorch's momentum is.
    optimizer = functools.cache(lambda: training.Optimizer(head.named_parameters(), **SGD))
    return head, x, y, optimizer


def head_answer(loss, x, weight):
    return loss.item(), x.grad[:4].numpy().copy(), weight.detach()[::1000].numpy().copy()


def head_ours(bfloat16: bool, state):
    head, x, y, made = state
    optimizer = made()
    optimizer.zero_grad()
    x = (x.bfloat16() if bfloat16 else x.clone()).requires_grad_(True)
    loss, _ = head(x, y)
    optimizer.backward(loss, head)
    optimizer.step()
    return None if bfloat16 else head_answer(loss, x, head.weight)


def peer_setup(name: str, batch: int, classes: int, threads: int):
    import torch

    x, y, weight = head_inputs(batch, classes, threads)
    weight = torch.nn.Parameter(weight)
    return name, x, y, weight, sgd([weight]), torch.nn.CrossEntropyLoss()


def peer_logits(name: str, x, y, weight):
    """The usual arithmetic: all in float32 but the product, where autocast is on."""
    import torch
    from torch.nn import functional

    if name == "softmax":
        return functional.linear(x, weight).float()
    cosine = functional.linear(functional.normalize(x), functional.normalize(weight))
    cosine = cosine.float().clamp(-1, 1)
    rows = torch.arange(len(y))
    target = cosine[rows, y]
    if name == "cosface":
        margin, scale = target - COSFACE_M, S
    elif name == "arcface":
        angle = target.arccos() + ARCFACE_M
        margin, scale = angle.cos(), S
    else:
        scale, lam = x.norm(dim=1, keepdim=True), SPHEREFACE["lambda_min"]
        k = (4 * target.detach().arccos() / torch.pi).floor()
        psi = (1 - 2 * (k % 2)) * (8 * target**4 - 8 * target**2 + 1) - 2 * k
        margin = (lam * target + psi) / (1 + lam)
    logits = cosine.clone()
    logits[rows, y] = margin
    return logits * scale


def peer_run(bfloat16: bool, state):
    name, x, y, weight, optimizer, criterion = state
    optimizer.zero_grad()
    x = x.clone().requires_grad_(True)
    with autocast(bfloat16):
        logits = peer_logits(name, x, y, weight)
    loss = criterion(logits, y)
    loss.backward()
    optimizer.step()
    return None if bfloat16 else head_answer(loss, x, weight)


def same_head(ours, theirs):
    import numpy as np

    if theirs is None:  # bfloat16 is another arithmetic; the tests hold it
        return
    np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-4)
    np.testing.assert_allclose(ours[1], theirs[1], atol=1e-4 * np.abs(theirs[1]).max())
    np.testing.assert_allclose(ours[2], theirs[2], atol=1e-6)


def head(name: str, batch: int, classes: int, goal: float, settings):
    """Three products of N x D x C, and their limit in float32."""
    setup, theirs = (Call(f, name, batch, classes) for f in (head_setup, peer_setup))
    return harness.compare(
        Comparison(
            f"Head {name}, {classes:,} classes, batch {batch}",
            "images",
            batch,
            same_head,
            goal=goal,
            limit=("fma", 6 * DIM * classes),
            late_inputs=4 * DIM * classes,
        ),
        Contestant("facebench", setup, Call(head_ours, False)),
        [
            Contestant("PyTorch", theirs, Call(peer_run, False)),
            Contestant("facebench bfloat16", setup, Call(head_ours, True), reference=True),
            Contestant("PyTorch bfloat16", theirs, Call(peer_run, True), reference=True),
        ],
        settings,
    )


# Every loss where it is cheap, the two large sizes with one; goals by number of classes.
HEADS = [
    *((name, 64, 10_575, 3) for name in ("softmax", "cosface", "arcface", "sphereface")),
    ("arcface", 512, 10_575, 3),
    ("arcface", 128, 85_742, 6),
    ("cosface", 512, 85_742, 6),
    ("arcface", 128, 360_232, 6),
]


# Losses that make more of the other classes than a softmax, or have none, beside their definitions
# in plain PyTorch. Images of the triplets are of 16 people.
DEFINED = [
    *((name, 64, 10_575) for name in ("curricularface", "subcenter_arcface", "uniface", "triplet")),
    ("curricularface", 128, 85_742),
]
ROWS = {"subcenter_arcface": 3, "triplet": 0}  # of the weight for each class


def defined_setup(ours: bool, name: str, batch: int, classes: int, threads: int):
    from facebench import losses, training

    x, y, _ = head_inputs(batch, classes, threads)
    options = {"margin": 2.0, "pick": "nearest"} if name == "triplet" else {}
    head = losses.make_head(name, features=DIM, classes=classes, **options)
    parameters = head.named_parameters()

    def optimizer():
        if not list(head.parameters()):
            return None
        return training.Optimizer(parameters, **SGD) if ours else sgd(head.parameters(), fused=True)

    return head, x, y % 16 if name == "triplet" else y, functools.cache(optimizer)


def defined_run(loss_of, state):
    """One step; where `loss_of` is ours, updated in the backward pass."""
    head, x, y, made = state
    optimizer = made()
    x = x.clone().requires_grad_(True)
    if optimizer:
        optimizer.zero_grad()
    loss = loss_of(head, x, y)
    if optimizer and loss_of is our_loss:
        optimizer.backward(loss, head)
    else:
        loss.backward()
    if optimizer:
        optimizer.step()
    return loss.item(), x.grad[:4].numpy().copy()


def our_loss(head, x, y):
    return head(x, y)[0]


def plain_loss(head, x, y):
    sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
    from loss_definitions import DEFINITIONS

    parameters, kept = dict(head.named_parameters()), dict(head.named_buffers())
    return DEFINITIONS[head.name](x, y, parameters, head.options, kept)


def same_defined(ours, theirs):
    import numpy as np

    np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-4)
    np.testing.assert_allclose(ours[1], theirs[1], atol=1e-3 * np.abs(theirs[1]).max())


def defined(name: str, batch: int, classes: int, settings):
    sizes = (name, batch, classes)
    return harness.compare(
        Comparison(
            f"Head {name}, {classes:,} classes, batch {batch}",
            "images",
            batch,
            same_defined,
            late_inputs=4 * DIM * classes * ROWS.get(name, 1),
        ),
        Contestant("facebench", Call(defined_setup, True, *sizes), Call(defined_run, our_loss)),
        [Contestant("PyTorch", Call(defined_setup, False, *sizes), Call(defined_run, plain_loss))],
        settings,
    )


def heads(settings):
    def chosen(sizes):
        named = [h for h in sizes if not settings.heads or h[0] in settings.heads]
        return [h for h in named if not settings.quick or (h[2] < 100_000 and h[1] < 512)]

    return [head(*h, settings) for h in chosen(HEADS)] + [
        defined(*h, settings) for h in chosen(DEFINED)
    ]


# --- Whole steps: network, ArcFace with 10,575 classes, backward, SGD ---------------------------

# Name, size of the images, batch, goal beside PyTorch in bfloat16 and NHWC.
NETWORKS = [
    ("resnet50", 224, 224, 16, 1.7),
    ("iresnet18", 112, 112, 32, 1.3),
    ("iresnet50", 112, 112, 32, 1.3),
    ("lightcnn29", 128, 128, 32, 1.1),
    ("sphereface20", 112, 96, 32, 1.3),
]
CLASSES = 10_575


def plain_network(network):
    """The same layers as modules of torch.nn, with the network's numbers; a function of images."""
    import torch
    from torch import nn

    state = network.state_dict()

    def layer(node):
        o, op = node["options"], node["op"]
        shape = network.graph.nodes[node["inputs"][0]]["shape"]
        if op in ("conv", "max_pool", "avg_pool"):
            assert o["padding"][:2] == o["padding"][2:]
        if op == "conv":
            return nn.Conv2d(
                shape[0],
                o["out"],
                o["kernel"],
                o["stride"],
                o["padding"][:2],
                o["dilation"],
                o["groups"],
                o["bias"],
            )
        if op == "batch_norm":
            kind = nn.BatchNorm2d if len(shape) == 3 else nn.BatchNorm1d
            return kind(shape[0], o["eps"], o["momentum"])
        if op == "max_pool":
            return nn.MaxPool2d(
                o["kernel"], o["stride"], o["padding"][:2], ceil_mode=o["ceil_mode"]
            )
        if op == "avg_pool":
            return nn.AvgPool2d(
                o["kernel"],
                o["stride"],
                o["padding"][:2],
                o["ceil_mode"],
                o["count_include_pad"],
            )
        return {
            "linear": lambda: nn.Linear(shape[0], o["out"], o["bias"]),
            "prelu": lambda: nn.PReLU(1 if o["shared"] else shape[0]),
            "relu": nn.ReLU,
            "adaptive_avg_pool": lambda: nn.AdaptiveAvgPool2d(o["out"]),
            "flatten": nn.Flatten,
        }[op]()

    def call(op, module, inputs):
        if op == "add":
            return inputs[0] + inputs[1]
        if op == "mfm":
            return torch.maximum(*inputs[0].chunk(2, 1))
        if op == "prelu":  # takes no slope of another type
            return nn.functional.prelu(inputs[0], module.weight.to(inputs[0].dtype))
        return module(inputs[0])

    class Plain(nn.Module):
        def __init__(self):
            super().__init__()
            self.nodes = network.graph.nodes
            self.last = network.graph.tap_node("embedding")
            self.by_node = {}
            for i, node in enumerate(self.nodes[: self.last + 1]):
                if node["op"] in ("input", "add", "mfm"):
                    continue
                self.by_node[i] = made = layer(node)
                own = made.state_dict()
                for name in node["tensors"]:
                    own[name.rsplit(".", 1)[1]] = state[name]
                made.load_state_dict(own)
                if node["op"] == "batch_norm":
                    made.weight.requires_grad_(node["options"]["scale"])
                    made.bias.requires_grad_(node["options"]["shift"])
            self.layers = nn.ModuleList(self.by_node.values())

        def forward(self, images):
            values = [images]
            for i, node in enumerate(self.nodes[1 : self.last + 1], start=1):
                inputs = [values[k] for k in node["inputs"]]
                values.append(call(node["op"], self.by_node.get(i), inputs))
            return values[-1]

    return Plain()


def step_inputs(name: str, height: int, width: int, batch: int, threads: int):
    import torch
    from facebench import nn

    torch.set_num_threads(threads)
    g = torch.Generator().manual_seed(2)
    images = torch.rand(batch, 3, height, width, generator=g)
    labels = torch.randint(0, CLASSES, (batch,), generator=g)
    network = nn.build_network(name, height=height, width=width, seed=1)
    shape = network.graph.taps["embedding"]
    weight = torch.empty(CLASSES, shape[0]).uniform_(-0.02, 0.02, generator=g)
    return network, images, labels, weight


def ours_setup(name: str, height: int, width: int, batch: int, threads: int):
    import torch
    from facebench import losses, training

    network, images, labels, weight = step_inputs(name, height, width, batch, threads)
    network.channels_last()
    images = images.contiguous(memory_format=torch.channels_last)
    head = losses.make_head("arcface", features=weight.shape[1], classes=CLASSES)
    with torch.no_grad():
        head.weight.copy_(weight)
    optimizer = training.Optimizer([*network.named_parameters(), *head.named_parameters()], **SGD)
    reuse = training.reuse_memory()  # as `train` does, for as long as the process lives
    reuse.__enter__()
    return network, images, labels, head, optimizer, reuse


def autocast(on: bool):
    import torch

    return torch.autocast("cpu", torch.bfloat16, enabled=on)


def ours_step(state):
    network, images, labels, head, optimizer, _ = state
    optimizer.zero_grad()
    with autocast(True):
        features = network(images)
    loss, _ = head(features, labels)
    optimizer.backward(loss, head)
    optimizer.step()
    return loss.item()


# What PyTorch's user may choose: bfloat16 with NHWC and the fused optimizer, compiled or not.
PLAIN, TUNED, COMPILED = "plain", "tuned", "compiled"


def peer_step_setup(kind: str, name: str, height: int, width: int, batch: int, threads: int):
    import torch

    network, images, labels, weight = step_inputs(name, height, width, batch, threads)
    plain = plain_network(network)
    tuned = kind != PLAIN
    if tuned:
        plain = plain.to(memory_format=torch.channels_last)
        images = images.contiguous(memory_format=torch.channels_last)
    weight = torch.nn.Parameter(weight)
    optimizer = sgd([p for p in plain.parameters() if p.requires_grad] + [weight], fused=tuned)
    criterion = torch.nn.CrossEntropyLoss()
    # Of torch 2.11 the compiled backward pass of network and loss together ends in an error.
    run = torch.compile(plain) if kind == COMPILED else plain

    def loss_of(images, labels):
        with autocast(tuned):
            features = run(images)
        return criterion(peer_logits("arcface", features.float(), labels, weight), labels)

    return loss_of, images, labels, optimizer


def peer_step(state):
    loss_of, images, labels, optimizer = state
    optimizer.zero_grad()
    loss = loss_of(images, labels)
    loss.backward()
    optimizer.step()
    return loss.item()


class Several:
    """Steps that follow one another, as in a training: after a pause the first takes longer. The
    loss is that of the first."""

    COUNT = 4

    def __init__(self, step):
        self.step = step

    def __call__(self, state):
        first, *_ = [self.step(state) for _ in range(self.COUNT)]
        return first


def same_loss(ours, theirs):
    assert abs(ours - theirs) < 0.02 * abs(theirs), f"losses {ours} and {theirs}"


def step(name: str, height: int, width: int, batch: int, goal: float, settings):
    from facebench import nn

    sizes = (name, height, width, batch)
    # Forward and twice the same backward; two operations for each multiply-accumulate.
    work = 6 * nn.build_graph(name, height=height, width=width).count_macs()
    return harness.compare(
        Comparison(
            f"{Several.COUNT} training steps of {name} at {height}x{width}, batch {batch}",
            "images",
            Several.COUNT * batch,
            same_loss,
            goal=goal,
            limit=("bf16", work),
        ),
        Contestant("facebench bfloat16", Call(ours_setup, *sizes), Several(ours_step)),
        [
            Contestant(name, Call(peer_step_setup, kind, *sizes), Several(peer_step), **how)
            for name, kind, how in (
                ("PyTorch bfloat16 NHWC", TUNED, {}),
                ("torch.compile", COMPILED, {}),
                ("PyTorch float32 NCHW", PLAIN, {"reference": True}),
            )
        ],
        settings,
    )


def steps(settings):
    chosen = [n for n in NETWORKS if not settings.networks or n[0] in settings.networks]
    if settings.quick:
        chosen = [n for n in chosen if n[0] == "iresnet18"]
    return [step(*n, settings) for n in chosen]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--quick", action="store_true", help="the smaller sizes alone")
    parser.add_argument("--heads", nargs="*", help="of these losses alone")
    parser.add_argument("--networks", nargs="*", help="steps of these networks alone")


if __name__ == "__main__":
    harness.main({"heads": heads, "steps": steps}, add_arguments)
