"""Losses at degenerate input: value and gradient are finite, and the definition's where that has
one; what is not finite comes out as not finite, so that a training says that it diverged."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("facebench._full")

from facebench import losses  # noqa: E402
from loss_definitions import DEFINITIONS  # noqa: E402

N, D, C = 8, 6, 4
NAMES = [entry["name"] for entry in losses.list_losses()]
DRAWN = torch.randn(N, D, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
LABELS = torch.tensor([0, 0, 1, 1, 2, 2, 3, 3])
# Features and labels; None: the class's own weights, times a number.
CASES = {
    "all the same": (torch.ones(N, D), LABELS),
    "zeros": (torch.zeros(N, D), LABELS),
    "a zero among others": (torch.cat([torch.zeros(1, D), DRAWN[1:]]), LABELS),
    "one class": (DRAWN, torch.zeros(N, dtype=torch.int64)),
    "each class once": (DRAWN[:C], torch.arange(C)),
    "one image": (DRAWN[:1], LABELS[:1]),
    "tiny": (DRAWN * 1e-30, LABELS),
    "large": (DRAWN * 1e12, LABELS),
    "on the weights": (3.0, LABELS),
    "against the weights": (-3.0, LABELS),
}


def head_of(name, float64=True):
    options = {"triplet": {"pick": "nearest"}, "elasticface": {"std": 0.0}}.get(name, {})
    return losses.make_head(name, features=D, classes=C, float64=float64, **options)


def given(name, head, case):
    features, labels = CASES[case]
    if isinstance(features, float):
        if name == "triplet":
            pytest.skip("has no class weights")
        rows = head.weight.detach()
        features = features * rows[:: len(rows) // C][labels]
    type_ = next((p.dtype for p in head.parameters()), torch.float64)
    return features.to(type_).clone().requires_grad_(True), labels


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("float64", [True, False])
def test_values_and_gradients_are_finite(name, case, float64):
    head = head_of(name, float64)
    x, y = given(name, head, case)
    loss = head(x, y)[0]
    loss.backward()
    assert torch.isfinite(loss)
    assert torch.isfinite(x.grad).all()
    for p in head.parameters():
        assert p.grad is None or torch.isfinite(p.grad).all()


@pytest.mark.filterwarnings("ignore:std")  # of one image, in AdaFace's own code
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", [n for n in NAMES if n != "triplet"])
def test_the_value_is_the_definitions(name, case):
    """In float64, wherever the transcription of the authors' code has a value."""
    head = head_of(name)
    x, y = given(name, head, case)
    weights = {k: v.detach().clone() for k, v in head.named_parameters()}
    kept = {k: v.detach().clone() for k, v in head.named_buffers()}
    expected = DEFINITIONS[name](x.detach(), y, weights, head.options, kept)
    if not torch.isfinite(expected):
        assert torch.isfinite(head(x, y)[0])
        return
    # Angles are held away from 0 and pi, and a norm counts as 1e-6 at least.
    tolerance = {"rel": 1e-4, "abs": 1e-3}
    assert head(x, y)[0].item() == pytest.approx(expected.item(), **tolerance)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("float64", [True, False])
@pytest.mark.parametrize("whole_row", [True, False])
def test_what_is_not_finite_is_not_finite_in_the_loss(name, bad, float64, whole_row):
    head = head_of(name, float64)
    x = DRAWN.to(torch.float64 if float64 else torch.float32).clone()
    x[0, : D if whole_row else 1] = bad
    assert not torch.isfinite(head(x, LABELS)[0])
