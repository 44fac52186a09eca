"""Networks: one graph each, run by torch, usable in any PyTorch loop.

>>> import torch
>>> from facebench import nn
>>> net = nn.build_network("small4", height=32, width=32)
>>> optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
>>> images = torch.zeros(4, 3, 32, 32)
>>> net(images).square().sum().backward()
>>> optimizer.step()
>>> net.graph.count_parameters() == sum(p.numel() for p in net.parameters())
True
"""

from typing import Unpack

from facebench._torch import full, torch
from facebench.core._arguments import mapping, type_text
from facebench.core._options import takes

Graph = full.Graph
InferenceNetwork = full.InferenceNetwork
Network = full.Network
NetworkOptions = full.NetworkOptions
list_networks = full.networks
list_initializers = full.initializers
count_rules = full.count_rules
precision_cost = full.precision_cost

__all__ = [
    "Graph",
    "InferenceNetwork",
    "Network",
    "NetworkModule",
    "NetworkOptions",
    "build_graph",
    "build_network",
    "count_rules",
    "export_onnx",
    "list_initializers",
    "list_networks",
    "precision_cost",
]


@takes(NetworkOptions)
def build_graph(name: str, **options: "Unpack[full.NetworkOptionsKeywords]") -> Graph:
    """The graph of a network, for counts and summaries; no weights are made.

    ``options`` are the fields of `NetworkOptions` (height, width, channels, embedding, classes,
    channel_multiplier, auxiliary). ValueError for an unknown name or option.

    >>> from facebench import nn
    >>> nn.build_graph("sphereface20", height=224, width=224, classes=10575).count_parameters(
    ...     "caffe_first_blob")
    68450048
    """
    return full.build_graph(name, NetworkOptions(**options))


@takes(NetworkOptions)
def build_network(
    name: str,
    *,
    initializer: str = "torch",
    seed: int = 0,
    **options: "Unpack[full.NetworkOptionsKeywords]",
) -> Network:
    """A network with fresh weights, in training mode.

    The weights depend on the initialiser, the seed and their names alone. ``options`` as in
    `build_graph`. The result has ``parameters()``, ``named_parameters()``, ``state_dict()``,
    ``train()``, ``eval()``, ``to()`` and is called with images (N, C, H, W) and, optionally, the
    name of a tap.

    >>> import torch
    >>> from facebench import nn
    >>> net = nn.build_network("mobilefacenet").eval()
    >>> tuple(net(torch.zeros(2, 3, 112, 112)).shape)
    (2, 128)
    """
    return full.build_network(name, NetworkOptions(**options), initializer, seed)


def _require_network(network) -> None:
    if not isinstance(network, Network):
        raise TypeError(f"network must be a facebench.nn.Network, not {type_text(network)}")


class NetworkModule(torch.nn.Module):
    """A `Network` as a ``torch.nn.Module``, for code that wants one: containers, hooks, EMA, DDP.

    It shares the network's tensors under their names, so ``parameters``, ``state_dict`` and
    ``load_state_dict`` are those of any module; moving it drops gradients.

    >>> import torch
    >>> from facebench import nn
    >>> module = nn.NetworkModule(nn.build_network("resnet18", height=32, width=32, classes=4))
    >>> model = torch.nn.Sequential(torch.nn.InstanceNorm2d(3), module)
    >>> tuple(model(torch.zeros(2, 3, 32, 32)).shape)
    (2, 512)
    >>> next(iter(module.state_dict()))
    'conv1.weight'
    """

    def __init__(self, network: Network, tap: str = "embedding"):
        super().__init__()
        _require_network(network)
        self._network, self._tap = network, tap
        for name, tensor in network.named_parameters():
            # The tensor that the network itself reads; a copy would be another leaf.
            tensor._is_param = True
            owner, last = self._owner(name)
            owner.register_parameter(last, tensor)
        for name, tensor in network.named_buffers():
            owner, last = self._owner(name)
            owner.register_buffer(last, tensor)

    def _owner(self, name: str) -> tuple[torch.nn.Module, str]:
        *path, last = name.split(".")
        owner: torch.nn.Module = self
        for part in path:
            if part not in owner._modules:
                owner.add_module(part, torch.nn.Module())
            owner = owner.get_submodule(part)
        return owner, last

    @property
    def network(self) -> Network:
        """The network itself."""
        return self._network

    def forward(self, images, tap=None):
        self._network.train(self.training)
        return self._network(images, self._tap if tap is None else tap)

    def _apply(self, fn, recurse=True):
        # The network moves its tensors itself, and keeps the tensor objects.
        probe = fn(torch.empty(0, device=self._network.device, dtype=self._network.dtype))
        self._network.to(probe.device, probe.dtype)
        return self

    def __deepcopy__(self, memo):
        return NetworkModule(self._network.clone(), self._tap).train(self.training)


def export_onnx(network: Network, path, *, taps=("embedding",), fold=True, metadata=None) -> None:
    """Write a network as ONNX (the ``onnx`` extra): input ``images`` (N, C, H, W), an output a tap.

    The network is written as in evaluation mode, in float32, for any batch size. ``fold``: batch
    norms go into the layers before them. ``metadata``: texts that the file carries. ValueError for
    an unknown tap or an operation that ONNX does not have.

    >>> import os, tempfile
    >>> from facebench import nn
    >>> path = os.path.join(tempfile.mkdtemp(), "small4.onnx")
    >>> nn.export_onnx(nn.build_network("small4", classes=3), path, taps=["embedding", "logits"])
    >>> os.path.getsize(path) > 1000
    True
    """
    _require_network(network)
    metadata = mapping(metadata, "metadata")
    try:
        from facebench.nn import _onnx
    except ImportError as e:
        raise ImportError(f"writing ONNX needs onnx: pip install onnx ({e})") from None
    _onnx.write(
        _onnx.build(network.fold_batch_norm() if fold else network, list(taps), metadata),
        path,
    )
