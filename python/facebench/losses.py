"""Losses with the parameters they need, usable in any PyTorch loop.

>>> import torch
>>> from facebench import losses
>>> head = losses.make_head("cosface", features=8, classes=5, s=16.0)
>>> features = torch.randn(4, 8, requires_grad=True)
>>> loss, logits = head(features, torch.tensor([0, 1, 2, 3]))
>>> loss.backward()
>>> optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
>>> optimizer.step()
>>> tuple(logits.shape)
(4, 5)
"""

import torch

from facebench._torch import full as _full

losses = _full.losses

__all__ = ["Head", "losses", "make_head"]


def __dir__():
    return __all__


class Head(torch.nn.Module):
    """A loss and its parameters as a module: ``head(features, labels)`` -> (loss, logits).

    ``logits`` (N, C) have no margin and no gradient; they are for measuring accuracy. In training
    mode each call is one iteration (centres move, SphereFace's lambda anneals); in evaluation mode
    nothing moves. Parameters and buffers are the loss's own tensors, so optimizers, ``state_dict``
    and ``to`` work as for any module.
    """

    def __init__(self, core):
        super().__init__()
        self._core = core
        for name, tensor in core.parameters().items():
            # The tensor that the loss itself reads; a copy would be another leaf.
            tensor._is_param = True
            self.register_parameter(name, tensor)
        for name, tensor in core.buffers().items():
            self.register_buffer(name, tensor)

    @property
    def name(self) -> str:
        """The loss's name."""
        return self._core.name

    @property
    def options(self) -> dict:
        """All options of the loss."""
        return self._core.options

    def forward(self, features, labels):
        self._core.training = self.training
        return self._core.loss(features, labels)

    def _apply(self, fn, recurse=True):
        super()._apply(fn, recurse)
        for name, tensor in self._buffers.items():
            self._core.set_buffer(name, tensor)
        return self

    def extra_repr(self) -> str:
        return f"{self.name}, {self.options}"


def make_head(
    name: str, *, features: int, classes: int, seed: int = 0, float64: bool = False, **options
) -> Head:
    """The head of a loss of `losses`.

    ``options`` are those of the loss. ValueError for an unknown loss, facebench.Error for a bad
    option.

    >>> from facebench import losses
    >>> [n for n, _ in losses.make_head("center", features=8, classes=5).named_buffers()]
    ['centers']
    """
    return Head(_full.make_head(name, options, features, classes, seed, float64))
