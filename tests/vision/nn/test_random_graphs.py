"""Inference of random graphs against torch in float64: which layers are computed together, and
where their values lie, depends on what is beside them."""

import json
import math
import random

import numpy as np
import pytest
import torch
from facebench import embedding, nn


class RandomGraph:
    """Layers upon a first convolution, in the form of a model file."""

    def __init__(self, seed):
        self.rng, self.numbers = random.Random(seed), np.random.default_rng(seed)
        self.input = (3, self.rng.randint(5, 20), self.rng.randint(5, 20))
        self.nodes = [{"name": "input", "op": "input", "inputs": [], "shape": list(self.input)}]
        self.shapes, self.tensors = [self.input], {}
        self.conv(0, self.input)
        for _ in range(self.rng.randint(2, 14)):
            recent = self.rng.random() < 0.4
            x = len(self.nodes) - 1 if recent else self.rng.randrange(1, len(self.nodes))
            getattr(self, self.rng.choice(KINDS))(x, self.shapes[x])

    def add(self, op, inputs, shape, options=None, **tensors):
        name = f"n{len(self.nodes)}"
        node = {"name": name, "op": op, "inputs": inputs}
        self.nodes.append(node if options is None else node | {"options": options})
        self.shapes.append(tuple(shape))
        for part, values in tensors.items():
            self.tensors[f"{name}.{part}"] = torch.from_numpy(values.astype(np.float32))

    def normal(self, *sides):
        return self.numbers.standard_normal(sides) * 1.5 / math.sqrt(math.prod(sides[1:]))

    def like(self, wanted):
        """A value of one of these shapes; None: there is none."""
        found = [i for i, shape in enumerate(self.shapes) if shape in wanted]
        return self.rng.choice(found) if found else None

    def window(self, shape, kernel, stride, pad):
        sides = [(n + 2 * pad - kernel) // stride + 1 for n in shape[1:]]
        return sides, {"kernel": [kernel] * 2, "stride": [stride] * 2, "padding": [pad] * 4}

    def conv(self, x, shape, depthwise=False):
        if len(shape) != 3:
            return
        out = shape[0] if depthwise else self.rng.choice([1, 3, 5, 8, 12, 16, 20, 24, 32, 48])
        kernel = 3 if depthwise else self.rng.choice([1, 1, 2, 3, 5])
        sides, options = self.window(shape, kernel, self.rng.choice([1, 1, 2]), kernel // 2)
        groups = shape[0] if depthwise else self.rng.choice([1, 1, 1, math.gcd(shape[0], out)])
        weight = self.normal(out, shape[0] // groups, kernel, kernel)
        options |= {"out": out, "dilation": [1, 1], "groups": groups, "bias": True}
        self.add("conv", [x], (out, *sides), options, weight=weight, bias=self.normal(out))

    def depthwise(self, x, shape):
        self.conv(x, shape, depthwise=True)

    def batch_norm(self, x, shape):
        options = {"eps": 1e-5, "momentum": 0.1, "scale": True, "shift": True}
        names = ("weight", "bias", "running_mean")
        learned = {name: self.normal(shape[0]) for name in names}
        variance = abs(self.normal(shape[0])) + 0.5
        self.add("batch_norm", [x], shape, options, **learned, running_var=variance)

    def prelu(self, x, shape):
        shared = self.rng.random() < 0.3
        self.add(
            "prelu", [x], shape, {"shared": shared}, weight=self.normal(1 if shared else shape[0])
        )

    def alike(self, x, shape):
        self.add(self.rng.choice(["relu", "relu6", "sigmoid"]), [x], shape)

    def scale(self, x, shape):
        self.add("scale", [x], shape, {"factor": -0.5})

    def pool(self, x, shape):
        if len(shape) != 3 or min(shape[1:]) < 3:
            return
        sides, options = self.window(shape, self.rng.choice([2, 3]), self.rng.choice([1, 2]), 1)
        op = self.rng.choice(["max_pool", "avg_pool"])
        counted = op == "max_pool" or self.rng.random() < 0.5
        options |= {"ceil_mode": False, "count_include_pad": counted}
        self.add(op, [x], (shape[0], *sides), options)

    def mean(self, x, shape):
        if len(shape) == 3:
            self.add("adaptive_avg_pool", [x], (shape[0], 1, 1), {"out": [1, 1]})

    def join(self, x, shape):
        self.add(self.rng.choice(["add", "multiply"]), [x, self.like([shape])], shape)

    def gate(self, x, shape):
        by = self.like([shape[:1], (shape[0], 1, 1)])
        if len(shape) == 3 and by:
            self.add("multiply", [x, by], shape)

    def concat(self, x, shape):
        y = self.like([s for s in self.shapes if s[1:] == shape[1:]])
        channels = shape[0] + self.shapes[y][0]
        if channels < 200:
            self.add("concat", [x, y], (channels, *shape[1:]))

    def flatten(self, x, shape):
        if len(shape) == 3 and math.prod(shape) < 3000:
            self.add("flatten", [x], (math.prod(shape),))

    def linear(self, x, shape):
        if len(shape) == 1:
            out = self.rng.choice([8, 20, min(shape[0], 600)])
            learned = {"weight": self.normal(out, shape[0]), "bias": self.normal(out)}
            self.add("linear", [x], (out,), {"out": out, "bias": True}, **learned)

    def halves(self, x, shape):
        if shape[0] % 2 == 0:
            self.add("mfm", [x], (shape[0] // 2, *shape[1:]))


KINDS = [n for n, f in vars(RandomGraph).items() if getattr(f, "__code__", None)
         and f.__code__.co_varnames[:3] == ("self", "x", "shape")]  # fmt: skip


@pytest.mark.parametrize("first", range(0, 400, 100))
def test_random_graphs_equal_torch(first):
    threads = torch.get_num_threads()
    planned = 0
    try:
        for seed in range(first, first + 100):
            graph = RandomGraph(seed)
            text = json.dumps({"nodes": graph.nodes, "taps": {"embedding": len(graph.nodes) - 1}})
            options = embedding.ModelOptions(color="rgb")
            model = embedding.full.imported_model(text, graph.tensors, options, str(seed))
            network = model.weights.eval()
            images = torch.from_numpy(graph.numbers.standard_normal((3, *graph.input), np.float32))
            exact = network.clone()
            exact.to(torch.device("cpu"), torch.float64)
            exact = exact.infer(images.double())
            rounding = (network.infer(images) - exact).abs().max()
            ours = nn.InferenceNetwork(network, 2)
            for count in (1, 2):
                torch.set_num_threads(count)
                error = (ours.infer(images) - exact).abs().max()
                assert error <= max(2e-5 * exact.abs().max(), 20 * rounding), (seed, graph.nodes)
            try:
                planned += len(ours.time_steps(images, 1)) > 0
            except ValueError:  # it has a layer that has no kernel
                continue
    finally:
        torch.set_num_threads(threads)
    assert planned > 50
