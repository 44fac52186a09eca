"""How a PyTorch module normalises its input before its first layer, whatever computes it there:
torch's own operations are watched while images of one colour go through. TorchScript's, too."""

from torch.utils._python_dispatch import TorchDispatchMode

from facebench._torch import torch
from facebench.embedding._module_outputs import evaluating
from facebench.embedding._pixel_probes import SIDE, GraphPixels, normalisation, probes
from facebench.embedding._stated_pixels import inner_module

_LAYERS = {"addmm", "baddbmm", "bmm", "linear", "matmul", "mm"}  # and what convolves
_NORMS = {"batch_norm", "cudnn_batch_norm", "native_batch_norm", "miopen_batch_norm"}
# Weights of at most so many numbers, of one pixel: three colours become three.
_MOST_COLOURS = 9
_MOST_OPERATIONS = 200


class _ReachedError(Exception):
    pass


class _Watch(TorchDispatchMode):
    """The values before the first layer, one after the other; there it ends the module's work."""

    def __init__(self):
        super().__init__()
        self.passed, self.read, self.norms = [], [], []
        self.ended = False

    def _end(self):
        self.ended = True  # TorchScript raises an exception of its own for this one
        raise _ReachedError

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = function._schema.name.removeprefix("aten::")
        if name.startswith(("_native_batch_norm", *_NORMS)):
            value, mean, variance = args[0], args[3], args[4]
            self.read.append(value)
            if mean is not None and value.ndim == 4:
                mean, variance = (v.reshape(1, -1, 1, 1) for v in (mean, variance))
                self.norms.append((value - mean) / torch.sqrt(variance))
            self._end()
        if name in _LAYERS or "conv" in name:
            inputs = [a for a in args if isinstance(a, torch.Tensor)]
            weights = [a for a in inputs if a.numel() <= _MOST_COLOURS]
            if not any(w.shape[2:].numel() == 1 for w in weights if w.ndim > 1):
                self.read += inputs
                self._end()
        if len(self.passed) > _MOST_OPERATIONS:
            self._end()
        out = function(*args, **(kwargs or {}))
        for value in out if isinstance(out, tuple | list) else [out]:
            if isinstance(value, torch.Tensor) and value.is_floating_point():
                self.passed.append(value)
        return out


def pixels_of_module(module, channels: int) -> GraphPixels | None:
    """How a module normalises its input before its first layer. None: it does not, or not before
    a layer that torch's own operations compute."""
    while (inner := inner_module(module)) is not None:
        module = inner
    first = next(iter(module.parameters()), torch.zeros(()))
    seen = []
    try:
        with evaluating(module):
            for image in probes(channels, SIDE, SIDE):
                watch = _Watch()
                x = torch.from_numpy(image).to(first.device, first.dtype)
                with torch.no_grad(), watch:
                    try:
                        out = module(x)
                        watch.read += [out] if isinstance(out, torch.Tensor) else []
                    except Exception:
                        if not watch.ended:
                            raise
                seen.append([watch.passed, watch.read, watch.norms])
        passed, read, norms = (
            [*map(_of_value, zip(*part, strict=True))] for part in zip(*seen, strict=True)
        )
        return normalisation(passed, read, norms, where="module")
    except Exception:  # whatever a module raises that is not for such an image
        return None


def _of_value(images):
    """A value of all images as arrays."""
    return [v.detach().float().cpu().numpy() for v in images]
