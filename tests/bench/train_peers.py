"""Training on the CPU against plain PyTorch: the margin heads with their update, and the whole step
of a network. `--quick` takes the smaller sizes and fewer turns."""

import argparse

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


def sgd(parameters, **how):
    import torch

    return torch.optim.SGD(parameters, lr=0.01, momentum=0.9, weight_decay=5e-4, **how)


def head_setup(name: str, batch: int, classes: int, threads: int):
    import torch
    from facebench import losses

    x, y, weight = head_inputs(batch, classes, threads)
    options = {"sphereface": SPHEREFACE, "softmax": {"bias": False}}.get(name, {})
    head = losses.head(name, features=DIM, classes=classes, **options)
    with torch.no_grad():
        head.weight.copy_(weight)
    return head, x, y, sgd(head.parameters(), fused=True)


def head_answer(loss, x, weight):
    return loss.item(), x.grad[:4].numpy().copy(), weight.detach()[::1000].numpy().copy()


def head_ours(bfloat16: bool, state):
    head, x, y, optimizer = state
    optimizer.zero_grad()
    x = (x.bfloat16() if bfloat16 else x.clone()).requires_grad_(True)
    loss, _ = head(x, y)
    loss.backward()
    optimizer.step()
    return None if bfloat16 else head_answer(loss, x, head.weight)


def peer_setup(name: str, batch: int, classes: int, threads: int):
    import torch

    x, y, weight = head_inputs(batch, classes, threads)
    weight = torch.nn.Parameter(weight)
    return name, x, y, weight, sgd([weight]), torch.nn.CrossEntropyLoss()


def peer_logits(name: str, x, y, weight):
    """The usual arithmetic, in float32."""
    import torch
    from torch.nn import functional

    if name == "softmax":
        return functional.linear(x, weight)
    cosine = functional.linear(functional.normalize(x), functional.normalize(weight))
    cosine = cosine.clamp(-1, 1)
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


def peer_run(state):
    name, x, y, weight, optimizer, criterion = state
    optimizer.zero_grad()
    x = x.clone().requires_grad_(True)
    loss = criterion(peer_logits(name, x, y, weight), y)
    loss.backward()
    optimizer.step()
    return head_answer(loss, x, weight)


def same_head(ours, theirs):
    import numpy as np

    if theirs is None:  # bfloat16 is another arithmetic; the tests hold it
        return
    np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-4)
    np.testing.assert_allclose(ours[1], theirs[1], atol=1e-4 * np.abs(theirs[1]).max())
    np.testing.assert_allclose(ours[2], theirs[2], atol=1e-6)


def head(name: str, batch: int, classes: int, goal: float, settings):
    """Three products of N x D x C, and their limit in float32."""
    setup = Call(head_setup, name, batch, classes)
    return harness.compare(
        Comparison(
            f"Head {name}, {classes:,} classes, batch {batch}",
            "images",
            batch,
            same_head,
            goal=goal,
            limit=("fma", 6 * DIM * classes),
        ),
        Contestant("facebench", setup, Call(head_ours, False)),
        [
            Contestant("PyTorch", Call(peer_setup, name, batch, classes), peer_run),
            Contestant("facebench bfloat16", setup, Call(head_ours, True), reference=True),
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


def heads(settings):
    chosen = [h for h in HEADS if not settings.quick or (h[2] < 100_000 and h[1] < 512)]
    return [head(*h, settings) for h in chosen]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--quick", action="store_true", help="the smaller sizes, three turns")


if __name__ == "__main__":
    harness.main({"heads": heads}, add_arguments)
