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

import os
from pathlib import Path

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
    "export_onnx",
    "graph",
    "initializers",
    "network",
    "networks",
]


def graph(name: str, **options) -> Graph:
    """The graph of a network, for counts and summaries; no weights are made.

    ``options`` are the fields of `NetworkOptions` (height, width, channels, embedding, classes,
    channel_multiplier, auxiliary). ValueError for an unknown name or option.

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


def export_onnx(network: Network, path, *, taps=("embedding",), fold=True, metadata=None) -> None:
    """Write a network as ONNX (the ``onnx`` extra): input ``images`` (N, C, H, W), an output a tap.

    The network is written as in evaluation mode, in float32, for any batch size. ``fold``: batch
    norms go into the layers before them. ``metadata``: texts that the file carries. ValueError for
    an unknown tap or an operation that ONNX does not have.

    >>> import os, tempfile
    >>> from facebench import nn
    >>> path = os.path.join(tempfile.mkdtemp(), "small4.onnx")
    >>> nn.export_onnx(nn.network("small4", classes=3), path, taps=["embedding", "logits"])
    >>> os.path.getsize(path) > 1000
    True
    """
    try:
        from facebench._onnx import build
    except ImportError as e:
        raise ImportError(f"writing ONNX needs onnx: pip install 'facebench[onnx]' ({e})") from None
    model = build(network.fold_batch_norm() if fold else network, list(taps), metadata or {})
    path = Path(path)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    unfinished.write_bytes(model.SerializeToString())
    os.replace(unfinished, path)
