"""Outputs of models that are arrays, and not embeddings."""

import numpy as np
import pytest
import torch
from facebench import embedding

FACES = np.random.default_rng(0).integers(0, 256, (5, 8, 8, 3), np.uint8)
PIXELS = {"mean": 127.5, "std": 127.5, "color": "rgb"}


class Complex(torch.nn.Module):
    def forward(self, x):
        return torch.fft.fft(x.flatten(1))


def test_complex_numbers_of_a_module_are_refused():
    embedder = embedding.load_embedder(Complex(), **PIXELS)
    with pytest.raises(ValueError, match="output is complex, expected real numbers"):
        embedding.extract(embedder, FACES)


@pytest.mark.parametrize("options", [{}, PIXELS], ids=["pixels", "numbers"])
def test_masked_numbers_of_a_callable_are_refused(options):
    def masked(batch):
        rows = batch.reshape(len(batch), -1)[:, :6].astype(np.float32)
        return np.ma.masked_array(rows, rows == rows[:1, :1])

    embedder = embedding.load_embedder(masked, **options) if options else masked
    with pytest.raises(ValueError, match="the model's output has masked entries"):
        embedding.extract(embedder, FACES)


def test_a_masked_array_without_a_masked_entry_is_an_array():
    rows = embedding.extract(lambda b: np.ma.masked_array(b.mean((1, 2)), False), FACES).values
    right = FACES.mean((1, 2))
    np.testing.assert_allclose(rows, right / np.linalg.norm(right, axis=1, keepdims=True), 1e-6)
