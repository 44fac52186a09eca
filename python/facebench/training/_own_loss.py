"""A loss of the user's, as the trainer calls it (bindings/vision/training/own_loss.cc)."""

from facebench._torch import torch
from facebench.nn import _own_module


class OwnLoss:
    """``loss``: a module, a class of modules (made with ``features=`` and ``classes=``), or a
    function. It is called with (features, labels) and gives the loss, or (loss, logits)."""

    def __init__(self, loss):
        if not callable(loss):
            raise ValueError(f"loss: expected a module or a function, got {type(loss).__name__}")
        self._loss = loss
        self._module = None

    def description(self):
        return _own_module.description(self._loss)

    def make(self, features, classes, seed, float64):
        """Called once, before the first step."""
        if isinstance(self._loss, type):
            self._loss = _own_module.make(self._loss, seed, features=features, classes=classes)
        if isinstance(self._loss, torch.nn.Module):
            self._module = self._loss.double() if float64 else self._loss.float()

    def parameters(self):
        return self._tensors("named_parameters")

    def buffers(self):
        self._kept = self._tensors("named_buffers")
        return self._kept

    def _tensors(self, which):
        return {} if self._module is None else dict(getattr(self._module, which)())

    def __call__(self, features, labels, training):
        if self._module is not None:
            self._module.train(training)
        result = self._loss(features, labels)
        loss, logits = result if isinstance(result, tuple) else (result, None)
        if not isinstance(loss, torch.Tensor) or loss.numel() != 1 or not loss.requires_grad:
            is_tensor = isinstance(loss, torch.Tensor)
            what = f"{tuple(loss.shape)}" if is_tensor else type(loss).__name__
            expected = "expected a tensor of one number with a gradient"
            raise ValueError(f"loss: {expected}, got {what}")
        if logits is not None and (logits.dim() != 2 or len(logits) != len(labels)):
            raise ValueError(f"loss: expected logits (images, classes), got {tuple(logits.shape)}")
        _own_module.keep_buffers(self._module, self._kept)
        return loss.reshape(()), None if logits is None else logits.detach()
