"""What ONNX's operations become: each is one of `facebench.nn.Graph`'s, or is refused by name."""

import math

import numpy as np

from facebench.embedding._onnx_arranging import Arranging
from facebench.embedding._onnx_graph import Column, Layer, Length, Padded, Unit


class Operations(Arranging):
    """ONNX's operations that compute, and those of `Arranging`."""

    # Convolutions and matrices.

    def _Conv(self, x, weight, bias=None):
        before = [0, 0, 0, 0]
        if isinstance(x, Padded):
            before, x = x.pads, Layer(x.index, x.shape)
        self._image(x)
        weight = self._constant(weight, "its weight")
        if weight.ndim != 4:
            self.refuse(f"its weight has {weight.ndim} sides")
        window = self._window(x.shape, weight.shape[2:], before)
        groups = self._attribute("group", 1)
        if weight.shape[1] * groups != x.shape[0]:
            self.refuse(f"{groups} groups of {weight.shape[1]} are not {x.shape[0]} channels")
        options = {**window, "out": weight.shape[0], "groups": groups, "bias": bias is not None}
        tensors = {"weight": weight}
        if bias is not None:
            tensors["bias"] = self._constant(bias, "its bias")
        shape = (weight.shape[0], *self._sides(x.shape, window))
        return self._append("conv", [x], shape, options, tensors)

    def _window(self, shape, kernel, before=(0, 0, 0, 0)):
        """Kernel, stride, dilation and padding (top, left, bottom, right) of the node."""
        stride = self._integers(self._attribute("strides", [1, 1]), "strides")
        dilation = self._integers(self._attribute("dilations", [1, 1]), "dilations")
        pads = self._integers(self._attribute("pads", [0, 0, 0, 0]), "pads")
        if len(kernel) != 2 or len(stride) != 2 or len(dilation) != 2 or len(pads) != 4:
            self.refuse("its window has not two sides")
        if min(*stride, *kernel, *dilation) < 1:
            self.refuse("its window has a side below 1")
        automatic = self._attribute("auto_pad", "NOTSET")
        if automatic in ("SAME_UPPER", "SAME_LOWER"):
            # Of the image with the border that a Pad before has given it.
            padded = [n + before[i] + before[i + 2] for i, n in enumerate(shape[1:])]
            sums = [
                max((math.ceil(n / s) - 1) * s + (k - 1) * d + 1 - n, 0)
                for n, k, s, d in zip(padded, kernel, stride, dilation, strict=True)
            ]
            small, large = [n // 2 for n in sums], [n - n // 2 for n in sums]
            pads = small + large if automatic == "SAME_UPPER" else large + small
        elif automatic == "VALID":
            pads = [0, 0, 0, 0]
        elif automatic not in ("NOTSET", ""):
            self.refuse(f"auto_pad is {automatic}")
        pads = [a + b for a, b in zip(pads, before, strict=True)]
        sides = {"kernel": kernel, "stride": stride, "dilation": dilation}
        return {k: list(map(int, v)) for k, v in sides.items()} | {"padding": pads}

    def _sides(self, shape, window, ceil=False):
        """Of the result, as `Graph` infers them."""
        result = []
        top, left, bottom, right = window["padding"]
        for n, k, s, d, before, after in zip(
            shape[1:],
            window["kernel"],
            window["stride"],
            window["dilation"],
            (top, left),
            (bottom, right),
            strict=True,
        ):
            room = n + before + after - (d * (k - 1) + 1)
            count = (-(-room // s) if ceil else room // s) + 1
            if ceil and (count - 1) * s >= n + before:
                count -= 1
            if room < 0:
                self.refuse("its window is larger than its input")
            result.append(count)
        return result

    def _Gemm(self, x, weight, bias=None):
        if self._attribute("transA", 0):
            self.refuse("transA is not 0")
        weight = self._constant(weight, "its matrix")
        if not self._attribute("transB", 0):
            weight = weight.T
        if bias is not None:
            bias = self._constant(bias, "its bias") * np.float32(self._attribute("beta", 1.0))
        return self._linear(x, weight * np.float32(self._attribute("alpha", 1.0)), bias)

    def _MatMul(self, x, weight):
        return self._linear(x, self._constant(weight, "its second input").T, None)

    def _linear(self, x, weight, bias):
        if len(self._layer(x).shape) != 1 or weight.ndim != 2 or weight.shape[1] != x.shape[0]:
            self.refuse(f"its input is {x.shape}, its matrix {weight.shape}")
        out = weight.shape[0]
        tensors = {"weight": weight}
        if bias is not None:
            tensors["bias"] = np.broadcast_to(bias.reshape(-1), (out,))
        options = {"out": out, "bias": bias is not None}
        return self._append("linear", [x], (out,), options, tensors)

    # What is done to each channel.

    def _BatchNormalization(self, x, scale, shift, mean, variance):
        if self._attribute("training_mode", 0) or len([*filter(None, self.node.outputs)]) > 1:
            self.refuse(
                "it is in training mode: it normalises by the batch. Export it for inference"
            )
        names = ("weight", "bias", "running_mean", "running_var")
        inputs = (scale, shift, mean, variance)
        tensors = {n: self._constant(v, n) for n, v in zip(names, inputs, strict=True)}
        return self._batch_norm(self._layer(x), tensors, float(self._attribute("epsilon", 1e-5)))

    def _batch_norm(self, x, tensors, eps):
        if any(t.shape != x.shape[:1] for t in tensors.values()):
            self.refuse(f"its numbers are not those of {x.shape[0]} channels")
        options = {"eps": eps, "momentum": 0.1, "scale": True, "shift": True}
        return self._append("batch_norm", [x], x.shape, options, tensors)

    def _channels(self, x, numbers) -> np.ndarray:
        """A constant that is spread over ``x``, as one number for each channel."""
        sides = (1,) * (1 + len(x.shape) - numbers.ndim) + numbers.shape
        if len(sides) != 1 + len(x.shape) or any(
            n != 1 and (k != 1 or n != x.shape[0]) for k, n in enumerate(sides)
        ):
            self.refuse(f"its constant is {numbers.shape}: not one number, nor one for a channel")
        return np.broadcast_to(numbers.reshape(-1).astype(np.float32), x.shape[:1])

    def _affine(self, x, scale, shift):
        """scale x + shift, as a batch norm of mean 0 and variance 1."""
        channels = self._layer(x).shape[:1]
        ones, zeros = np.ones(channels, np.float32), np.zeros(channels, np.float32)
        tensors = {"weight": scale * ones, "bias": shift + zeros}
        return self._batch_norm(x, tensors | {"running_mean": zeros, "running_var": ones}, 0.0)

    def _Add(self, a, b):
        if isinstance(a, np.ndarray):
            a, b = b, a
        if isinstance(a, Length) and isinstance(b, np.ndarray):  # lest it be 0
            return a
        if isinstance(b, np.ndarray):
            return self._affine(a, 1, self._channels(self._layer(a), b))
        if self._layer(a).shape != self._layer(b).shape:
            self.refuse(f"its inputs are {a.shape} and {b.shape}")
        return self._append("add", [a, b], a.shape)

    def _Sub(self, a, b):
        if isinstance(a, np.ndarray):
            return self._affine(b, -1, self._channels(self._layer(b), a))
        if isinstance(b, np.ndarray):
            return self._affine(a, 1, -self._channels(self._layer(a), b))
        return self._Add(a, self._Neg(b))

    def _Neg(self, x):
        if isinstance(x, np.ndarray):
            self._computed(x.size)
            return -x
        return self._affine(x, -1, 0)

    def _Mul(self, a, b):
        if isinstance(a, np.ndarray):
            a, b = b, a
        if isinstance(b, np.ndarray):
            return self._affine(a, self._channels(self._layer(a), b), 0)
        return self._multiply(a, b)

    def _multiply(self, a, b):
        """Two values of one shape, or an image and a number for each of its channels."""
        a, b = (v if isinstance(v, Column) else self._layer(v) for v in (a, b))
        if isinstance(a, Column) or a.shape[1:] == (1, 1):
            a, b = b, a
        gate = len(a.shape) == 3 and b.shape == (a.shape[0], 1, 1)
        if isinstance(a, Column) or not (gate or a.shape == self._layer(b).shape):
            self.refuse(f"its inputs are {a.shape} and {b.shape}")
        return self._append("multiply", [a, b], a.shape)

    def _Div(self, a, b):
        if isinstance(b, Length) and type(a) is Layer and a.index == b.index:
            return Unit(a.index, a.shape)
        divisor = self._channels(self._layer(a), self._constant(b, "its second input"))
        return self._affine(a, 1 / divisor.astype(np.float64), 0)

    def _PRelu(self, x, slope):
        slope = self._constant(slope, "its slope")
        options = {"shared": slope.size == 1}
        channels, *sides = self._layer(x).shape
        if slope.shape == (channels,) and sides and sides[-1] != channels:
            slope = slope.reshape(-1, 1, 1)  # as mxnet writes it; it fits no other side
        numbers = slope.reshape(-1) if slope.size == 1 else self._channels(x, slope)
        return self._append("prelu", [self._layer(x)], x.shape, options, {"weight": numbers})

    def _LeakyRelu(self, x):
        slope = np.array([self._attribute("alpha", 0.01)], np.float32)
        return self._PRelu(x, slope)

    def _Relu(self, x):
        return self._append("relu", [self._layer(x)], x.shape)

    def _Sigmoid(self, x):
        return self._append("sigmoid", [self._layer(x)], x.shape)

    def _Max(self, *values):
        x = self._against_zero(values)
        return super()._Max(*values) if x is None else self._Relu(x)

    def _Min(self, *values):
        """min(x, 0), which older exports of mxnet have in a PReLU, as -relu(-x)."""
        x = self._against_zero(values)
        if x is None:
            self.refuse("it is not of a value and 0")
        return self._Neg(self._Relu(self._Neg(x)))

    def _against_zero(self, values):
        """The value that is compared with 0, where it is; or None."""
        layers = [v for v in values if type(v) is Layer]
        constants = [v for v in values if isinstance(v, np.ndarray)]
        zero = len(values) == 2 and len(layers) == len(constants) == 1 and not constants[0].any()
        return layers[0] if zero and constants[0].size == 1 else None

    def _Tanh(self, x):
        """2 sigmoid(2 x) - 1."""
        return self._affine(self._Sigmoid(self._affine(x, 2, 0)), 2, -1)

    def _HardSigmoid(self, x):
        """max(0, min(1, alpha x + beta)) as relu6 of six times that, divided by six."""
        six = 6 * np.ones(self._layer(x).shape[:1])
        alpha, beta = self._attribute("alpha", 0.2), self._attribute("beta", 0.5)
        inner = self._affine(x, alpha * six, beta * six)
        return self._affine(self._append("relu6", [inner], x.shape), 1 / six, 0)

    def _HardSwish(self, x):
        self.node.attributes.update(alpha=1 / 6, beta=0.5)
        return self._multiply(x, self._HardSigmoid(x))

    def _Clip(self, x, low=None, high=None):
        if isinstance(x, Length):
            return x
        bounds = []
        for bound, name in ((low, "min"), (high, "max")):
            value = self._attribute(name) if bound is None else self._constant(bound, name)
            bounds.append(None if value is None else float(np.reshape(value, -1)[0]))
        if bounds[0] != 0 or bounds[1] not in (6, None):
            self.refuse(f"its bounds are {bounds}, expected 0 and 6")
        op = "relu6" if bounds[1] else "relu"
        return self._append(op, [self._layer(x)], x.shape)

    def _LRN(self, x):
        a = self.node.attributes
        constants = {
            "alpha": a.get("alpha", 1e-4),
            "beta": a.get("beta", 0.75),
            "k": a.get("bias", 1),
        }
        return self._append("lrn", [self._image(x)], x.shape, {"size": a["size"], **constants})

    # Pools.

    def _pool(self, op, x, average):
        inside = isinstance(x, Padded)
        before = x.pads if inside else [0, 0, 0, 0]
        x = self._image(Layer(x.index, x.shape) if inside else x)
        kernel = self._integers(self._attribute("kernel_shape"), "kernel_shape")
        window = self._window(x.shape, kernel, [0, 0, 0, 0])
        if inside and (self._attribute("auto_pad", "NOTSET") in ("SAME_UPPER", "SAME_LOWER")):
            self.refuse("zeros are added before it, and by auto_pad once more")
        if inside and any(window["padding"][:2]):
            self.refuse("zeros are added before it, and more of them before its first window")
        if window.pop("dilation") != [1, 1] or self._attribute("storage_order", 0):
            self.refuse("it has dilations or a storage order")
        counted = bool(self._attribute("count_include_pad", 0)) if average else True
        ceil = bool(self._attribute("ceil_mode", 0))
        if inside and average:
            # Zeros that count; what a last window reads beyond them does not.
            ceil, counted = ceil or any(window["padding"]), True
            window["padding"] = before
        elif inside:
            self.refuse("zeros are added before it")
        options = {**window, "ceil_mode": ceil, "count_include_pad": counted}
        sides = self._sides(x.shape, {**window, "dilation": [1, 1]}, ceil)
        return self._append(op, [x], (x.shape[0], *sides), options)

    def _MaxPool(self, x):
        return self._pool("max_pool", x, False)

    def _AveragePool(self, x):
        return self._pool("avg_pool", x, True)

    def _GlobalAveragePool(self, x):
        shape = (self._image(x).shape[0], 1, 1)
        return self._append("adaptive_avg_pool", [x], shape, {"out": [1, 1]})

    def _ReduceMean(self, x, axes=None):
        axes = self._integers(self._attribute("axes") if axes is None else axes, "axes")
        if sorted(a % 4 for a in axes) != [2, 3]:
            self.refuse("it is not over height and width")
        pooled = self._GlobalAveragePool(x)
        return pooled if self._attribute("keepdims", 1) else self._flat(pooled)

    def _Pad(self, x, sides=None, value=None, axes=None):
        sides = self._integers(self._attribute("pads") if sides is None else sides, "pads")
        filled = self._attribute("value", 0) if value is None else self._constant(value, "value")
        plain = self._attribute("mode", "constant") == "constant" and not np.any(filled)
        if not plain or axes is not None or len(sides) != 8 or any(sides[:2] + sides[4:6]):
            self.refuse("it adds more than zeros around the image")
        if min(sides) < 0:
            self.refuse("it cuts the image")
        pads = sides[2:4] + sides[6:8]
        height, width = self._image(x).shape[1:]
        # What other runtimes make of it; the next layer may leave nothing of such a border.
        self._bounded(x.shape[0] * (height + pads[0] + pads[2]) * (width + pads[1] + pads[3]))
        return Padded(x.index, x.shape, pads)
