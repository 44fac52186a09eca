"""A network of the user's, as the trainer calls it (bindings/vision/training/own_network.cc)."""

from facebench._torch import torch
from facebench.core._arguments import type_text
from facebench.embedding._torch_embedder import TorchEmbedder
from facebench.nn import _own_module
from facebench.nn._own_module import first_output

# Which options of an optimizer go for a layer's weight and bias (decay_norms, decay_slopes, ...).
_NORMS = (
    torch.nn.modules.batchnorm._NormBase,
    torch.nn.GroupNorm,
    torch.nn.LayerNorm,
    torch.nn.RMSNorm,
)
_CONVOLUTIONS = (torch.nn.Conv1d, torch.nn.Conv2d, torch.nn.Conv3d)


def _kind(layer, name: str) -> str:
    if isinstance(layer, _NORMS):
        return "norm"
    if isinstance(layer, torch.nn.PReLU):
        return "slope"
    if name != "bias":
        return "weight"
    keeps_width = isinstance(layer, _CONVOLUTIONS) and layer.in_channels == layer.out_channels
    return "residual_bias" if keeps_width else "bias"


class OwnNetwork:
    """``network``: a module, or a class or function that makes one when it is called. The module is
    called with float images (N, C, H, W) and gives embeddings (N, D), or a tuple that begins with
    them."""

    def __init__(self, network):
        if not callable(network):
            raise ValueError(
                f"network: expected a torch.nn.Module or what makes one, got {type_text(network)}"
            )
        self._network = network
        self._replaced = {}
        self._checked = False
        self._still: list[torch.nn.Module] = []  # parts that compute as in evaluation
        self._frozen = False
        self.options = self.training = None  # what model files say; set before the first of them

    def description(self):
        return _own_module.description(self._network)

    def make(self, shape, seed) -> int:
        """Called once, before all others. Returns the length of an embedding."""
        module = self._network
        if not isinstance(module, torch.nn.Module):
            module = _own_module.make(module, seed)
        if not isinstance(module, torch.nn.Module):
            raise ValueError(f"network: it made {type_text(module)}, expected a torch.nn.Module")
        self._module, self._shape = module, tuple(shape)
        first = next(module.parameters(), torch.zeros(()))
        images = torch.zeros(2, *shape, device=first.device, dtype=torch.float32)
        module.float().eval()
        try:
            with torch.no_grad(), torch.random.fork_rng(devices=[]):
                output = self._embeddings(module(images), 2)
        except (RuntimeError, TypeError) as error:
            size = ", ".join(map(str, images.shape))
            error.add_note(f"facebench called the network with images ({size}) of zeros")
            raise
        return output.shape[1]

    def _embeddings(self, output, images: int):
        output = first_output(output)
        if not isinstance(output, torch.Tensor):
            raise ValueError(
                f"network: expected a tensor ({images}, D) for {images} images, got "
                f"{type_text(output)}"
            )
        if output.dim() < 2 or len(output) != images or not output.is_floating_point():
            shape = ", ".join(map(str, output.shape))
            raise ValueError(
                f"network: expected floating-point embeddings ({images}, D) for {images} images, "
                f"got ({shape}) of {output.dtype}"
            )
        return output.flatten(1)

    def names(self):
        """Of its tensors, and of the modules in it."""
        tensors = [*self._module.named_parameters(), *self._module.named_buffers()]
        return [name for name, _ in [*tensors, *self._module.named_modules()] if name]

    def freeze(self, covered):
        """What these names are stays as it is; batch norm whose statistics they cover, and modules
        that they cover, compute as in evaluation."""
        self._frozen = True
        for name, parameter in self._module.named_parameters():
            if name in covered:
                parameter.requires_grad_(False)
        for name, part in self._module.named_modules():
            buffers = [f"{name}.{n}" for n, _ in part.named_buffers(recurse=False)]
            if name in covered or (buffers and all(n in covered for n in buffers)):
                self._still.append(part)

    def to(self, device, float64, channels_last):
        self._module.to(device, torch.float64 if float64 else torch.float32)
        if channels_last:
            self._module.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # not in torch's types

    def parameters(self):
        """(name, tensor, kind) of those that have gradients."""
        result = [
            (name, tensor, _kind(self._module.get_submodule(owner), last))
            for name, tensor in self._module.named_parameters()
            for owner, _, last in [name.rpartition(".")]
            if tensor.requires_grad
        ]
        if not result and not self._frozen:
            raise ValueError("network: none of its parameters requires a gradient")
        return result

    def buffers(self):
        """Everything else: buffers, and parameters that are frozen."""
        self._kept = dict(self._module.named_buffers())
        frozen = {n: p for n, p in self._module.named_parameters() if not p.requires_grad}
        return self._kept | frozen

    def __call__(self, images):
        self._module.train()
        for part in self._still:
            part.eval()
        output = self._embeddings(self._module(images), len(images))
        if not output.requires_grad and not self._frozen:
            raise ValueError(
                "network: its output has no gradient; no_grad() or detach() must not stand between "
                "its parameters and it"
            )
        if not self._checked and not output.isfinite().all():
            raise ValueError(
                "network: its output for the first batch is not finite; check its first weights, "
                "and mean and std of the recipe"
            )
        self._checked = True
        _own_module.keep_buffers(self._module, self._kept)
        return output

    def embedder(self, instead):
        """The network as it stands, with other values of some parameters until `restore`."""
        parameters = dict(self._module.named_parameters())
        with torch.no_grad():
            for name, value in instead.items():
                self._replaced[name] = parameters[name].clone()
                parameters[name].copy_(value)
        size = self._shape[1:]
        return TorchEmbedder._trained(self._module, self.options, size, self.training, self.made())

    def made(self):
        """The name and options that a network is made by, for its model file; None: by own code."""
        return None

    def restore(self):
        parameters = dict(self._module.named_parameters())
        with torch.no_grad():
            for name, value in self._replaced.items():
                parameters[name].copy_(value)
        self._replaced = {}
