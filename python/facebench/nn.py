"""Networks: one graph each, run by torch, usable in any PyTorch loop.

>>> import torch
>>> from facebench import nn
>>> net = nn.network("small4", height=32, width=32)
>>> optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
>>> images = torch.zeros(4, 3, 32, 32)
>>> net(images).square().sum().backward()
>>> optimizer.step()
>>> net.graph.count_parameters() == sum(p.numel() for p in net.parameters())
True
"""

from facebench._torch import full as _full

Graph = _full.Graph
InferenceNetwork = _full.InferenceNetwork
Network = _full.Network
NetworkOptions = _full.NetworkOptions
networks = _full.networks
initializers = _full.initializers
count_rules = _full.count_rules

__all__ = [
    "Graph",
    "InferenceNetwork",
    "Network",
    "NetworkOptions",
    "count_rules",
    "graph",
    "initializers",
    "network",
    "networks",
]


def graph(name: str, **options) -> Graph:
    """The graph of a network, for counts and summaries; no weights are made.

    ``options`` are the fields of `NetworkOptions` (height, width, channels, embedding, classes,
    channel_multiplier). ValueError for an unknown name or option.

    >>> from facebench import nn
    >>> nn.graph("sphereface20", height=224, width=224, classes=10575).count_parameters(
    ...     "caffe_first_blob")
    68450048
    """
    return _full.build_graph(name, NetworkOptions(**options))


def network(name: str, *, initializer: str = "torch", seed: int = 0, **options) -> Network:
    """A network with fresh weights, in training mode.

    The weights depend on the initialiser, the seed and their names alone. ``options`` as in
    `graph`. The result has ``parameters()``, ``named_parameters()``, ``state_dict()``, ``train()``,
    ``eval()``, ``to()`` and is called with images (N, C, H, W) and, optionally, the name of a tap.

    >>> import torch
    >>> from facebench import nn
    >>> net = nn.network("mobilefacenet").eval()
    >>> tuple(net(torch.zeros(2, 3, 112, 112)).shape)
    (2, 128)
    """
    return _full.build_network(name, NetworkOptions(**options), initializer, seed)
