"""PyTorch: the graph as an ordinary module, eager or compiled."""

import contextlib

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from facebench.lab.engines.engine import SteppedEngine, needed_nodes, noise
from facebench.lab.engines.libraries import torch_libraries
from facebench.lab.engines.torch_files import batches_of_files

_compiled = False  # whether what is timed is compiled; `load` says


def load(name: str, threads: int) -> dict:
    global _compiled
    _compiled = name.endswith("compiled")
    if threads:
        torch.set_num_threads(threads)
    # On a card: no TF32; that cuDNN does not search is torch's default.
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
    return {"torch": torch.__version__} | torch_libraries()


def _made(function):
    """A function or module as it is timed. Each batch size is compiled as the first one is."""
    return torch.compile(function, dynamic=False) if _compiled else function


class Layer(nn.Module):
    """A function without weights as a layer."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *values):
        return self.function(*values)


class Positions(nn.Module):
    def __init__(self, tokens, width):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(1, tokens, width))

    def forward(self, x):
        return x + self.weight


def _attention(x, heads):
    q, k, v = (part.unflatten(2, (heads, -1)).transpose(1, 2) for part in x.chunk(3, dim=2))
    return F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)


class DropPath(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x):
        if not self.training or self.p == 0:
            return x
        kept = torch.rand(len(x), *[1] * (x.dim() - 1), device=x.device) >= self.p
        return x * kept / (1 - self.p)


class Lstm(nn.LSTM):
    """With one bias: torch's second is zero and stays so."""

    bias_hh_l0: nn.Parameter

    def __init__(self, width, out):
        super().__init__(width, out, batch_first=True)
        nn.init.zeros_(self.bias_hh_l0)
        self.bias_hh_l0.requires_grad_(False)

    def forward(self, x):
        return super().forward(x)[0]  # type: ignore[has-type]  # torch decorates its overloads


class BatchNorm(nn.Module):
    """Any of the two learned vectors may be left out."""

    running_mean: torch.Tensor
    running_var: torch.Tensor

    def __init__(self, channels, o):
        super().__init__()
        self.eps, self.momentum = o["eps"], o["momentum"]
        # One that is not learned is there all the same: on a card torch has no gradient of the
        # other without it.
        self.weight = nn.Parameter(torch.ones(channels), requires_grad=o["scale"])
        self.bias = nn.Parameter(torch.zeros(channels), requires_grad=o["shift"])
        self.register_buffer("running_mean", torch.zeros(channels))
        self.register_buffer("running_var", torch.ones(channels))

    def forward(self, x):
        return F.batch_norm(
            x,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training,
            self.momentum,
            self.eps,
        )


def _conv(o, shapes):
    top, left, bottom, right = o["padding"]
    same = (top, left) == (bottom, right)
    conv = nn.Conv2d(
        shapes[0][0],
        o["out"],
        o["kernel"],
        o["stride"],
        (top, left) if same else 0,
        o["dilation"],
        o["groups"],
        o["bias"],
    )
    return conv if same else nn.Sequential(nn.ZeroPad2d((left, right, top, bottom)), conv)


def _max_pool(o, shapes):
    top, left, bottom, right = o["padding"]
    if (top, left) == (bottom, right):
        return nn.MaxPool2d(o["kernel"], o["stride"], (top, left), ceil_mode=o["ceil_mode"])
    pad = nn.ConstantPad2d((left, right, top, bottom), -torch.inf)
    return nn.Sequential(pad, nn.MaxPool2d(o["kernel"], o["stride"], ceil_mode=o["ceil_mode"]))


def _avg_pool(o, shapes):
    top, left, bottom, right = o["padding"]
    rest = (o["ceil_mode"], o["count_include_pad"])
    if (top, left) == (bottom, right):
        return nn.AvgPool2d(o["kernel"], o["stride"], (top, left), *rest)
    pad = nn.ZeroPad2d((left, right, top, bottom))
    return nn.Sequential(pad, nn.AvgPool2d(o["kernel"], o["stride"], 0, *rest))


LAYERS = {
    "conv": _conv,
    "linear": lambda o, s: nn.Linear(s[0][-1], o["out"], o["bias"]),
    "batch_norm": lambda o, s: BatchNorm(s[0][0], o),
    "prelu": lambda o, s: nn.PReLU(1 if o["shared"] else s[0][0]),
    "relu": lambda o, s: nn.ReLU(),
    "relu6": lambda o, s: nn.ReLU6(),
    "sigmoid": lambda o, s: nn.Sigmoid(),
    "tanh": lambda o, s: nn.Tanh(),
    "max_pool": _max_pool,
    "avg_pool": _avg_pool,
    "adaptive_avg_pool": lambda o, s: nn.AdaptiveAvgPool2d(o["out"]),
    "add": lambda o, s: Layer(torch.add),
    "multiply": lambda o, s: Layer(
        lambda a, b: a * (b[:, :, None, None] if len(s[1]) < len(s[0]) else b)
    ),
    "scale": lambda o, s: Layer(lambda x: x * o["factor"]),
    "concat": lambda o, s: Layer(lambda *values: torch.cat(values, 1)),
    "dropout": lambda o, s: nn.Dropout(o["p"]),
    "flatten": lambda o, s: nn.Flatten(),
    "lrn": lambda o, s: Layer(
        lambda x: F.local_response_norm(x, o["size"], o["alpha"], o["beta"], o["k"])
    ),
    "mfm": lambda o, s: Layer(lambda x: torch.maximum(*x.chunk(2, 1))),
    "tokens": lambda o, s: Layer(lambda x: x.flatten(2).transpose(1, 2)),
    "positions": lambda o, s: Positions(*s[0]),
    "layer_norm": lambda o, s: nn.LayerNorm(s[0][1], o["eps"]),
    "attention": lambda o, s: Layer(lambda x: _attention(x, o["heads"])),
    "drop_path": lambda o, s: DropPath(o["p"]),
    "lookup": lambda o, s: nn.Embedding(o["vocabulary"], o["width"]),
    "lstm": lambda o, s: Lstm(s[0][1], o["out"]),
}


class GraphModule(nn.Module):
    """The part of the graph that ends in the embedding; without weights with torch's own."""

    def __init__(self, graph, weights):
        super().__init__()
        nodes, needed = graph["nodes"], needed_nodes(graph)
        self.plan, self.layers, self.learned = [], nn.ModuleList(), {}
        for i in needed:
            node = nodes[i]
            if node["op"] == "input":
                continue
            shapes = [nodes[k]["shape"] for k in node["inputs"]]
            options = {"vocabulary": graph["vocabulary"], **node["options"]}
            layer = LAYERS[node["op"]](options, shapes)
            parameters = {
                n.rsplit(".", 1)[-1]: t for n, t in layer.state_dict(keep_vars=True).items()
            }
            for name in node["tensors"]:
                tensor = self.learned[f"network.{name}"] = parameters[name.rsplit(".", 1)[-1]]
                if weights is not None:
                    initial = torch.from_numpy(np.array(weights[f"network.{name}"]))
                    tensor.data.copy_(initial)
            # Values that are not read again are freed.
            later = {k for j in needed if j > i for k in nodes[j]["inputs"]}
            self.plan.append((i, node["inputs"], [k for k in node["inputs"] if k not in later]))
            self.layers.append(layer)
        self.result = graph["embedding"]

    def tensors(self):
        """Parameters and statistics of batch norm, by the names of the graph."""
        names = {id(t): n for n, t in self.learned.items()}
        state = self.state_dict(keep_vars=True).values()
        return {names[id(t)]: t for t in state if id(t) in names}

    def forward(self, images):
        values = {0: images}
        for (i, inputs, last), layer in zip(self.plan, self.layers, strict=True):
            values[i] = layer(*[values[k] for k in inputs])
            for k in last:
                values.pop(k, None)
        return values[self.result]


class Engine(SteppedEngine):
    """Eager, or one compiled function for the forward pass and its gradient."""

    loader = staticmethod(batches_of_files)
    _module: nn.Module
    _head: nn.Module  # where it trains

    def __init__(self, spec, weights):
        super().__init__(spec, weights)
        self._device = torch.device(spec["device"])
        self._training = spec["mode"] == "training"
        self._format = (
            torch.channels_last if spec.get("channels_last", True) else torch.contiguous_format
        )
        module = GraphModule(spec["graph"], weights).to(self._device)
        self._mixed = spec["precision"] == "bfloat16"
        if self._mixed and not self._training:
            module = module.to(torch.bfloat16)
        self._module = module.to(memory_format=self._format)  # type: ignore[call-overload]  # not in torch's types
        self._module.train(self._training)
        if self._training:
            weight = torch.from_numpy(np.array(weights["head.weight"]))
            head = nn.Linear(weight.shape[1], weight.shape[0])
            head.weight.data.copy_(weight)
            head.bias.data.copy_(torch.from_numpy(np.array(weights["head.bias"])))
            self._head = head.to(self._device)
            self._optimizer = torch.optim.SGD(
                [p for m in (self._module, self._head) for p in m.parameters() if p.requires_grad],
                spec["lr"],
                spec["momentum"],
                weight_decay=spec["weight_decay"],
                fused=True,
            )
        self._loss = _made(self._forward)
        # Only what is timed is compiled; training is checked by its losses as well.
        self._embed = self._module if self._training else _made(self._module)
        self._batch = self._tensors(*noise(spec))

    def _tensors(self, images, labels):
        return self._moved(torch.from_numpy(images), torch.from_numpy(labels.astype(np.int64)))

    def _moved(self, images, labels):
        images = images.to(self._device)
        if images.dim() == 4:
            images = images.contiguous(memory_format=self._format)
        if self._mixed and not self._training and images.is_floating_point():
            images = images.to(torch.bfloat16)
        return images, labels.to(self._device)

    def _forward(self, images, labels):
        # The classifier in float32, as everywhere else.
        features = self._module(images).float()
        with torch.autocast(self._device.type, enabled=False):
            return F.cross_entropy(self._head(features).flatten(0, -2), labels.flatten())

    def _amp(self):
        if not (self._mixed and self._training):
            return contextlib.nullcontext()
        return torch.autocast(self._device.type, torch.bfloat16)

    def _wait(self):
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)

    def device_memory(self):
        if self._device.type == "cpu":
            return None
        peak = torch.cuda.max_memory_allocated(self._device)
        return {"now": torch.cuda.memory_allocated(self._device), "peak": peak}

    def infer(self, images):
        training = self._module.training
        self._module.eval()
        tensor = self._tensors(images, np.zeros(len(images)))[0]
        with torch.inference_mode():
            result = self._embed(tensor).float().cpu().numpy()
        self._module.train(training)
        return result

    def _train(self, images, labels, mark):
        with self._amp():
            loss = self._loss(images, labels)
        mark("forward")
        self._optimizer.zero_grad(set_to_none=True)
        loss.backward()
        mark("backward")
        self._optimizer.step()
        mark("update")
        return loss

    def losses(self, images, labels, steps):
        pixels, classes = self._tensors(images, labels)
        return [self._train(pixels, classes, _nothing).item() for _ in range(steps)]

    def step(self, mark):
        # On a GPU the parts overlap: only the whole iteration is timed.
        if self._device.type != "cpu":
            mark = _nothing
        images, labels = self._batch
        if self._files:
            images, labels = self._moved(*next(self._files))
            mark("data")
        if self._training:
            self._train(images, labels, mark)
        else:
            with torch.inference_mode():
                self._embed(images)
            mark("forward")
        self._wait()


class ParallelEngine(Engine):
    """One of several processes of a torch.distributed group, which average their gradients as
    DistributedDataParallel does; ``spec["batch"]`` is this one's share."""

    def __init__(self, spec, weights, group):
        super().__init__(spec, weights)
        devices = [self._device] if self._device.type == "cuda" else None
        self._module, self._head = (
            nn.parallel.DistributedDataParallel(part, device_ids=devices, process_group=group)
            for part in (self._module, self._head)
        )


def _nothing(phase):
    pass
