"""Named variants of the losses against transcriptions of their references' rules.

Each transcription is written from the reference's arithmetic, step by step and in numpy where the
reference has no autograd; nothing of the library is used in it.
"""

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("facebench._full")

import facebench  # noqa: E402
from facebench import losses  # noqa: E402

F = torch.nn.functional
N, D, C = 12, 6, 9


def batch(scale=3.0):
    g = torch.Generator().manual_seed(4)
    x = scale * torch.randn(N, D, generator=g, dtype=torch.float64)
    return x.requires_grad_(True), torch.randint(0, C, (N,), generator=g)


def softmax_gradient(logits, y):
    """Of the mean cross entropy, with respect to the logits."""
    p = np.exp(logits - logits.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    p[np.arange(len(y)), y] -= 1
    return p / len(y)


def caffe_a_softmax(x, w, y, m, lam):
    """margin_inner_product_layer.cpp: logits, gradients of features and weights.

    The layer has polynomials and signs of its own for m = 2, 3, 4; rows of w have unit length.
    """
    norm = np.sqrt((x * x).sum(1))
    logits = x @ w.T
    n = np.arange(len(y))
    c = logits[n, y] / norm
    s0 = np.sign(c)
    if m == 2:
        psi, coeff_w = 2 * s0 * c**2 - 1, 4 * s0 * c
        coeff_x = -(2 * s0 * c**2 + 1) / norm
    elif m == 3:
        s1 = np.sign(np.abs(c) - 0.5)
        s2 = s0 * (1 + s1) - 2
        psi, coeff_w = s1 * (4 * c**3 - 3 * c) + s2, s1 * (12 * c**2 - 3)
        coeff_x = -(8 * s1 * c**3 - s2) / norm
    else:
        s3 = s0 * np.sign(2 * c**2 - 1)
        s4 = 2 * s0 + s3 - 3
        psi, coeff_w = s3 * (8 * c**4 - 8 * c**2 + 1) + s4, s3 * (32 * c**3 - 16 * c)
        coeff_x = -(s3 * (24 * c**4 - 8 * c**2 - 1) - s4) / norm
    top = logits.copy()
    top[n, y] = norm * psi
    top = (top + lam * logits) / (1 + lam)
    top_diff = softmax_gradient(top, y)
    weight_diff = top_diff.T @ x
    length = np.sqrt(coeff_w**2 + coeff_x**2)
    bottom_diff = np.zeros_like(x)
    for i in range(len(y)):
        for j in range(len(w)):
            if j == y[i]:
                row = (coeff_w[i] * w[j] + coeff_x[i] * x[i]) / length[i]
            else:
                row = w[j]
            bottom_diff[i] += top_diff[i, j] * (row + lam * w[j]) / (1 + lam)
    return top, bottom_diff, weight_diff


@pytest.mark.parametrize("m", [2, 3, 4])
def test_sphereface_gradient_of_the_caffe_layer(m):
    x, y = batch()
    head = losses.make_head(
        "sphereface", features=D, classes=C, float64=True, m=m, gradient="caffe", lambda_base=30.0
    )
    before = head.weight.detach().clone()
    exact = losses.make_head(
        "sphereface", features=D, classes=C, float64=True, m=m, lambda_base=30.0
    )
    loss, logits = head(x, y)
    loss.backward()
    w = before.numpy() / np.sqrt((before.numpy() ** 2).sum(1, keepdims=True))
    lam = max(5, 30 / (1 + 0.12))
    top, bottom_diff, weight_diff = caffe_a_softmax(x.detach().numpy(), w, y.numpy(), m, lam)
    expected = F.cross_entropy(torch.from_numpy(top), y).item()
    assert loss.item() == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(x.grad, bottom_diff, atol=1e-12)
    np.testing.assert_allclose(head.weight.grad, weight_diff, atol=1e-12)
    # The layer normalises its weights where they lie; the value is that of the exact loss.
    np.testing.assert_allclose(head.weight.detach(), w, atol=1e-15)
    assert exact(x, y)[0].item() == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(logits, x.detach().numpy() @ w.T, atol=1e-12)


def test_sphereface_caffe_leaves_weights_alone_in_evaluation():
    x, y = batch()
    head = losses.make_head(
        "sphereface", features=D, classes=C, float64=True, gradient="caffe"
    ).eval()
    before = head.weight.detach().clone()
    head(x, y)[0].backward()
    assert torch.equal(head.weight, before)
    assert head.iteration == 0


def test_center_of_the_caffe_layer_moves_by_the_solver():
    """center_loss_layer.cpp with Caffe's SGD: v = momentum v + lr lr_mult diff; c -= v."""
    lam, lr, lr_mult, momentum = 0.008, 0.1, 0.7, 0.9
    head = losses.make_head(
        "center", features=D, classes=C, float64=True, weight=lam, alpha=lr_mult, update="caffe"
    )
    assert [n for n, _ in head.named_parameters()] == ["weight", "bias", "centers"]
    assert head.centers.abs().max() <= math.sqrt(3 / D)
    c, v = head.centers.detach().numpy().copy(), np.zeros((C, D))
    optimizer = torch.optim.SGD([head.centers], lr=lr, momentum=momentum)
    for step in range(3):
        x, y = batch(1 + step)
        optimizer.zero_grad()
        loss, _ = head(x, y)
        loss.backward()
        optimizer.step()
        features, labels = x.detach().numpy(), y.numpy()
        distance = features - c[labels]
        softmax = F.cross_entropy(F.linear(x, head.weight, head.bias), y).item()
        expected = softmax + lam * (distance**2).sum() / 2 / N
        assert loss.item() == pytest.approx(expected, rel=1e-12)
        p = softmax_gradient(F.linear(x, head.weight, head.bias).detach().numpy(), labels)
        np.testing.assert_allclose(
            x.grad, p @ head.weight.detach().numpy() + lam * distance / N, atol=1e-12
        )
        diff = np.zeros((C, D))
        for j in range(C):
            count, variation = 0, np.zeros(D)
            for i in range(N):
                if labels[i] == j:
                    count += 1
                    variation -= distance[i]
            diff[j] = variation / (count + 1)
        v = momentum * v + lr * lr_mult * diff
        c -= v
        np.testing.assert_allclose(head.centers.detach(), c, atol=1e-12)


def test_center_of_facenet():
    """facenet.py: gather, scatter_sub, then the mean over everything with the centres gathered."""
    alfa, factor = 0.95, 0.02
    head = losses.make_head(
        "center",
        features=D,
        classes=C,
        float64=True,
        weight=factor,
        alpha=1 - alfa,
        update="facenet",
    )
    centers = np.zeros((C, D))
    for step in range(3):
        x, y = batch(1 + step)
        loss, _ = head(x, y)
        loss.backward()
        features, labels = x.detach().numpy(), y.numpy()
        gathered = centers[labels]
        np.subtract.at(centers, labels, (1 - alfa) * (gathered - features))
        logits = F.linear(x, head.weight, head.bias)
        softmax = F.cross_entropy(logits, y).item()
        expected = softmax + factor * ((features - gathered) ** 2).mean()
        assert loss.item() == pytest.approx(expected, rel=1e-12)
        p = softmax_gradient(logits.detach().numpy(), labels)
        np.testing.assert_allclose(
            x.grad,
            p @ head.weight.detach().numpy() + factor * 2 * (features - gathered) / (N * D),
            atol=1e-12,
        )
        np.testing.assert_allclose(head.centers, centers, atol=1e-12)


def test_center_of_the_paper():
    """Wen et al., algorithm 1: c_j -= alpha sum (c_j - x_i) / (1 + sum 1)."""
    head = losses.make_head("center", features=D, classes=C, float64=True, alpha=0.4)
    centers = np.zeros((C, D))
    for step in range(3):
        x, y = batch(1 + step)
        head(x, y)
        for j in range(C):
            own = x.detach().numpy()[y.numpy() == j]
            centers[j] -= 0.4 * (centers[j] - own).sum(0) / (1 + len(own))
        np.testing.assert_allclose(head.centers, centers, atol=1e-12)


def insightface_arcface(cos, y, s, m):
    """losses.py of arcface_torch: the margin is added without gradient, then everything times s."""
    cos = cos.clone()
    with torch.no_grad():
        target = cos[torch.arange(len(y)), y]
        moved = torch.cos(torch.acos(target) + m)
    row = torch.arange(len(y))
    hot = F.one_hot(y, cos.shape[1]).double()
    # In place there: the value is replaced, the gradient stays that of the cosine.
    return s * (cos + hot * (moved - cos[row, y].detach())[:, None])


def easy_margin(cos, y, s, m):
    """The ArcFace authors' easy margin: cos(theta + m) where cos(theta) > 0, else cos(theta)."""
    hot = F.one_hot(y, cos.shape[1]).bool()
    moved = torch.where(cos > 0, torch.cos(torch.acos(cos) + m), cos)
    return s * torch.where(hot, moved, cos)


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({"gradient": "constant", "past_pi": "wrap"}, insightface_arcface),
        ({"past_pi": "easy"}, easy_margin),
    ],
    ids=["insightface", "easy"],
)
def test_arcface_variants(options, rule):
    x, y = batch()
    s, m = 10.0, 0.5
    head = losses.make_head("arcface", features=D, classes=C, float64=True, s=s, m=m, **options)
    with torch.no_grad():  # one image whose angle and margin pass pi, one near cos = 1
        x[0] = -3 * head.weight[y[0]] + 0.05 * x[0]
        x[1] = 3 * head.weight[y[1]] + 0.05 * x[1]
    loss, _ = head(x, y)
    loss.backward()
    x2 = x.detach().clone().requires_grad_(True)
    w2 = head.weight.detach().clone().requires_grad_(True)
    cos = F.linear(F.normalize(x2), F.normalize(w2))
    assert (torch.acos(cos[0, y[0]]) + m) > math.pi
    reference = F.cross_entropy(rule(cos, y, s, m), y)
    reference.backward()
    assert loss.item() == pytest.approx(reference.item(), rel=1e-12)
    np.testing.assert_allclose(x.grad, x2.grad, atol=1e-10)
    np.testing.assert_allclose(head.weight.grad, w2.grad, atol=1e-10)
    # The variant is not the plain loss.
    plain = losses.make_head("arcface", features=D, classes=C, float64=True, s=s, m=m)
    x3 = x.detach().clone().requires_grad_(True)
    plain(x3, y)[0].backward()
    assert not np.allclose(x3.grad, x2.grad, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("center", {"update": "caffe"}),
        ("center", {"update": "facenet"}),
        ("sphereface", {"gradient": "caffe"}),
        ("arcface", {"gradient": "constant", "past_pi": "wrap"}),
        ("arcface", {"past_pi": "easy"}),
    ],
)
def test_variants_are_finite_at_the_poles(name, options):
    y = torch.arange(4) % C
    for dtype in (torch.float32, torch.float64):
        head = losses.make_head(
            name, features=D, classes=C, float64=dtype == torch.float64, **options
        )
        w = head.weight.detach()[y]
        x = (torch.tensor([2.0, -2.0, 0.0, 1e-20], dtype=dtype)[:, None] * w).requires_grad_(True)
        loss, _ = head(x, y)
        loss.backward()
        assert torch.isfinite(loss)
        assert torch.isfinite(x.grad).all()
        assert all(torch.isfinite(p.grad).all() for p in head.parameters())


@pytest.mark.parametrize("entry", losses.list_losses(), ids=lambda entry: entry["name"])
def test_every_loss_is_bound(entry):
    """What Python sees of a loss is what its table entry says."""
    name = entry["name"]
    assert {f["name"]: f["default"] for f in entry["fields"]} == entry["options"]
    head = losses.make_head(name, features=D, classes=C, float64=True)
    assert head.name == name and head.options == entry["options"]
    for field in entry["fields"]:
        assert field["doc"]
        for choice in field["choices"]:
            changed = losses.make_head(name, features=D, classes=C, **{field["name"]: choice})
            assert changed.options == entry["options"] | {field["name"]: choice}
    with pytest.raises(facebench.Error, match="margine"):
        losses.make_head(name, features=D, classes=C, margine=1)
    x, y = batch()
    loss, logits = head(x, y)
    loss.backward()
    assert logits.shape == (N, C) and torch.isfinite(x.grad).all()
    # All that a loss keeps is in its state: another head that takes it goes on alike.
    # Margins and negatives that are drawn are drawn by the seed.
    seed = 0 if name in ("elasticface", "triplet") else 3
    other = losses.make_head(name, features=D, classes=C, float64=True, seed=seed)
    other.load_state_dict(head.state_dict())
    assert torch.equal(head(x, y)[0], other(x, y)[0])
    moved = {n: b.clone() for n, b in head.named_buffers()}
    head.eval()(x, y)
    assert all(torch.equal(b, moved[n]) for n, b in head.named_buffers())


def test_variants_keep_their_state():
    x, y = batch()
    for name, options in (("center", {"update": "caffe"}), ("sphereface", {"gradient": "caffe"})):
        head = losses.make_head(name, features=D, classes=C, float64=True, **options)
        head(x, y)
        other = losses.make_head(name, features=D, classes=C, float64=True, seed=3, **options)
        other.load_state_dict(head.state_dict())
        assert torch.equal(head(x, y)[0], other(x, y)[0])


def test_unknown_variants_are_refused():
    with pytest.raises(facebench.Error, match="caffe"):
        losses.make_head("center", features=D, classes=C, update="cafe")


def test_a_head_that_no_memory_holds_says_how_much_it_wants():
    """torch's own words are an address in its source and a number of bytes."""
    with pytest.raises(MemoryError, match=r"not enough memory: 8388608\.0 GiB are wanted at once"):
        losses.make_head("arcface", features=1 << 20, classes=(1 << 31) - 1)
