"""PyTorch as it is timed on a card."""

import pytest

torch = pytest.importorskip("torch")


def test_torch_neither_multiplies_tf32_nor_searches(monkeypatch):
    from facebench.lab.engines import pytorch_engine

    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", True)
    torch.backends.cuda.matmul.allow_tf32 = True  # not what it is before
    pytorch_engine.load("pytorch", 0)
    assert not torch.backends.cudnn.allow_tf32 and not torch.backends.cuda.matmul.allow_tf32
    assert not torch.backends.cudnn.benchmark
