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

from facebench._torch import full, torch
from facebench.core._arguments import of_kind

list_losses = full.losses

__all__ = ["Head", "list_losses", "make_head"]


class Head(torch.nn.Module):
    """A loss and its parameters as a module: ``head(features, labels)`` -> (loss, logits).

    ``logits`` (N, C) have no margin and no gradient; they are for measuring accuracy. In training
    mode each call is one iteration (centres move, SphereFace's lambda anneals); in evaluation mode
    nothing moves. Parameters and buffers are the loss's own tensors, so optimizers, ``state_dict``
    and ``to`` work as for any module.
    """

    def __init__(self, core):
        super().__init__()
        self._core = of_kind(core, full.Head, "core")
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

    @property
    def sampled_classes(self) -> torch.Tensor:
        """The classes that the last step of a split head computed with in this process."""
        return self._core.sampled_classes

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
    name: str,
    *,
    features: int,
    classes: int,
    seed: int = 0,
    float64: bool = False,
    process_group=None,
    device="cpu",
    split_classes: bool = False,
    sample_rate: float = 1.0,
    **options,
) -> Head:
    """The head of a loss of `list_losses`.

    ``options`` are those of the loss. ValueError for an unknown loss, facebench.Error for a bad
    option.

    ``process_group``: one of torch's, whose processes train together, each on its share of every
    batch; ``device`` is where tensors travel. With ``split_classes`` each holds the parameters of
    its own classes alone: the call and its backward pass are then collective, the loss is the mean
    over the images of all processes, and gradients of these parameters are not to be summed; that
    of a parameter without a row for each class (UniFace's threshold) is a part, and is. With a
    ``sample_rate`` below 1 a step computes with that share of the classes (Partial FC): those
    gradients are sparse, and `facebench.training.Optimizer` changes the rows that they have.

    >>> from facebench import losses
    >>> [n for n, _ in losses.make_head("center", features=8, classes=5).named_buffers()]
    ['centers']
    """
    processes = None if process_group is None else full.communicator(process_group, str(device))
    settings = (features, classes, seed, float64, processes, split_classes, sample_rate)
    return Head(full.make_head(name, options, *settings))
