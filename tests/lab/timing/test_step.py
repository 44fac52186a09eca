"""Which differences of outputs and losses are rounding."""

import numpy as np
import pytest

pytest.importorskip("torch")
from facebench.lab.timing import step as step_module


def test_what_agrees():
    assert step_module.agrees({"outputs": 1e-5}, "float32")
    assert not step_module.agrees({"outputs": 2e-4}, "float32")
    assert step_module.agrees({"outputs": 2e-4}, "bfloat16")
    assert not step_module.agrees({"outputs": float("nan")}, "float32")
    assert step_module.agrees({"outputs": 0.0, "losses": [0.0, 1e-4, 0.01]}, "float32")
    # The first loss is the forward pass; later ones rest on gradients and may drift.
    assert not step_module.agrees({"outputs": 0.0, "losses": [0.01, 0.0, 0.0]}, "float32")
    assert not step_module.agrees({"outputs": 0.0, "losses": [0.0, 0.3, 0.0]}, "float32")
    assert not step_module.agrees({"outputs": 0.0, "losses": [0.0, 0.0, float("nan")]}, "float32")


def test_losses_of_images_learned_by_heart_are_rounding():
    reference = object.__new__(step_module._Reference)
    reference.outputs, reference.losses = np.ones((2, 3)), [4.0, 2e-8, 0.0]
    reference._infer = lambda worker, limit: np.ones((2, 3))
    for theirs, same in (([4.0, 0.0, 6e-8], True), ([4.0, 0.01, 0.0], False)):
        reference._losses = lambda worker, limit, theirs=theirs: theirs
        assert step_module.agrees(reference.check(None), "float32") == same
