"""What ONNX's operations become: each is one of `facebench.nn.Graph`'s, or is refused by name. What
only arranges (Identity, Dropout, Reshape to rows, a shape computed from the input's) leaves nothing
behind."""

import math
from dataclasses import dataclass

import numpy as np

from facebench.core import Error

# Numbers of a layer's result, and of all constants that nodes compute: a small file can join a
# value with itself until no memory holds it. Of all tensors: those made of one number count, too.
MOST_NUMBERS = 1 << 26
MOST_WEIGHTS = 1 << 30

# What a network is not told by.
ARRANGING = {"Cast", "Constant", "Expand", "Gather", "Identity", "Shape", "Squeeze", "Unsqueeze"}


def short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."


@dataclass
class Layer:
    """The result of a node of the graph."""

    index: int
    shape: tuple


@dataclass
class _Padded(Layer):
    """The same with a border of zeros, which the next layer takes as its own."""

    pads: list


@dataclass
class _Half(Layer):
    """The first or second half of its channels."""

    second: bool


@dataclass
class _Column(Layer):
    """A vector with sides of 1 after it, to multiply an image with."""


@dataclass
class Length(Layer):
    """The lengths of its rows."""


@dataclass
class Unit(Layer):
    """It, divided by its length: only as the result of the whole."""


class Operations:
    """The graph's nodes and tensors, of the file's nodes one after the other. A method `_Name` is
    ONNX's operation: its inputs are its arguments, its results are returned."""

    def __init__(self, path, shape):
        self.path = path
        self.nodes: list[dict] = [
            {"name": "input", "op": "input", "inputs": [], "shape": list(shape)}
        ]
        self.tensors: dict[str, np.ndarray] = {}
        self.names: set[str] = set()
        self.numbers = self.weights = 0  # of computed constants, and of tensors, so far
        self.values = self.work = 0  # numbers of layers, and multiply-adds, of an image, so far
        self.node = None  # of the file, in work

    def run(self, node, values) -> list:
        """The results of the file's node, whose inputs are among the named ``values``."""
        self.node = node
        if node.domain not in ("", "ai.onnx"):
            self.refuse(f"is of the domain '{node.domain}'")
        named = node.op[:1].isupper()  # other methods are not operations
        operation = getattr(self, "_" + node.op, None) if named else None
        if operation is None:
            known = {n[1:] for n in dir(self) if n[:1] == "_" and n[1:2].isupper()}
            self.refuse(f"facebench computes {', '.join(sorted(known - ARRANGING))}")
        for name in node.inputs:
            if name and name not in values:
                self.refuse(f"nothing computes its input '{name}'")
        try:
            result = operation(*[values[name] if name else None for name in node.inputs])
        except (TypeError, ValueError, LookupError, ArithmeticError) as e:
            self.refuse(f"its inputs or attributes are not those of the operation ({e})")
        return result if isinstance(result, list) else [result]

    def refuse(self, why):
        name, op = short(self.node.name, 40), short(self.node.op, 30)
        raise Error(
            f"{self.path}: the node '{name}' is a {op}, which cannot be "
            f"converted: {short(why, 400)}. onnxruntime may still run the file as it is"
        )

    def _bounded(self, count, most=MOST_NUMBERS):
        if count > most:
            self.refuse(f"its result has {count} numbers, more than {most}")

    def _computed(self, count):
        """Counts the numbers of a constant before it is made."""
        self.numbers += count
        self._bounded(self.numbers)

    def _attribute(self, name, default=None):
        return self.node.attributes.get(name, default)

    def _layer(self, value) -> Layer:
        if type(value) is not Layer:
            self.refuse("its input is a constant, or of a kind that it is not known with")
        return value

    def _image(self, value) -> Layer:
        if len(self._layer(value).shape) != 3:
            self.refuse(f"its input is {value.shape}, no image")
        return value

    def _constant(self, value, what) -> np.ndarray:
        if not isinstance(value, np.ndarray):
            self.refuse(f"{what} is not a constant")
        return value

    def _integers(self, value, what) -> list[int]:
        """Of an attribute or an input."""
        if isinstance(value, np.ndarray):
            value = value.reshape(-1).tolist()
        if not isinstance(value, list) or not all(isinstance(v, int) for v in value):
            self.refuse(f"{what} is not a list of whole numbers")
        return value

    def _append(self, op, inputs, shape, options=None, tensors=None) -> Layer:
        """A layer with its tensors by the last part of their names; called as the file calls it,
        where that tells."""
        self._bounded(math.prod(shape))
        self.values += math.prod(shape)
        if op in ("conv", "linear"):
            self.work += math.prod(shape) * math.prod(np.shape(tensors["weight"])[1:])
        elif options and "kernel" in options:
            self.work += 16 * math.prod(shape) * math.prod(options["kernel"])  # which take longer
        stems = [n[:-7] for n in self.node.inputs if n.endswith(".weight")]
        name = stems[0] if stems and stems[0] not in self.names else f"{op}_{len(self.nodes)}"
        self.names.add(name)
        node = {"name": name, "op": op, "inputs": [i.index for i in inputs]}
        if options is not None:
            node["options"] = options
        self.nodes.append(node)
        for part, numbers in (tensors or {}).items():
            self.weights += np.size(numbers)
            self._bounded(self.weights, MOST_WEIGHTS)
            self.tensors[f"{name}.{part}"] = np.array(numbers, np.float32, order="C")
        return Layer(len(self.nodes) - 1, tuple(shape))

    # Convolutions and matrices.

    def _Conv(self, x, weight, bias=None):
        before = [0, 0, 0, 0]
        if isinstance(x, _Padded):
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
        return self._affine(a, 1, -self._channels(self._layer(a), self._constant(b, "its second")))

    def _Mul(self, a, b):
        if isinstance(a, np.ndarray):
            a, b = b, a
        if isinstance(b, np.ndarray):
            return self._affine(a, self._channels(self._layer(a), b), 0)
        return self._multiply(a, b)

    def _multiply(self, a, b):
        """Two values of one shape, or an image and a number for each of its channels."""
        a, b = (v if isinstance(v, _Column) else self._layer(v) for v in (a, b))
        if isinstance(a, _Column) or a.shape[1:] == (1, 1):
            a, b = b, a
        gate = len(a.shape) == 3 and b.shape == (a.shape[0], 1, 1)
        if isinstance(a, _Column) or not (gate or a.shape == self._layer(b).shape):
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
        numbers = slope.reshape(-1) if slope.size == 1 else self._channels(self._layer(x), slope)
        return self._append("prelu", [self._layer(x)], x.shape, options, {"weight": numbers})

    def _LeakyRelu(self, x):
        slope = np.array([self._attribute("alpha", 0.01)], np.float32)
        return self._PRelu(x, slope)

    def _Relu(self, x):
        return self._append("relu", [self._layer(x)], x.shape)

    def _Sigmoid(self, x):
        return self._append("sigmoid", [self._layer(x)], x.shape)

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
        inside = isinstance(x, _Padded)
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
        return _Padded(x.index, x.shape, pads)

    # Joining, halving, arranging.

    def _Concat(self, *values):
        if all(isinstance(v, np.ndarray) for v in values):
            self._computed(sum(v.size for v in values))
            return np.concatenate([np.atleast_1d(v) for v in values])
        layers = [self._layer(v) for v in values]
        if self._attribute("axis") % (1 + len(layers[0].shape)) != 1:
            self.refuse("it does not join channels")
        if any(v.shape[1:] != layers[0].shape[1:] for v in layers):
            self.refuse("its inputs are of unlike size")
        shape = (sum(v.shape[0] for v in layers), *layers[0].shape[1:])
        return self._append("concat", layers, shape)

    def _Split(self, x, sides=None):
        channels = self._layer(x).shape[0]
        sides = self._attribute("split") if sides is None else sides
        sizes = [channels // 2] * 2 if sides is None else self._integers(sides, "split")
        if sizes != [channels / 2] * 2 or self._attribute("axis", 0) != 1:
            self.refuse("it does not halve the channels")
        return [_Half(x.index, x.shape, second) for second in (False, True)]

    def _Slice(self, x, starts=None, ends=None, axes=None, steps=None):
        inputs = {"starts": starts, "ends": ends, "axes": axes, "steps": steps}
        numbers = {
            name: self._integers(self._attribute(name, [1]) if v is None else v, name)
            for name, v in inputs.items()
        }
        if isinstance(x, np.ndarray) and x.ndim == 1 and numbers["axes"] in ([0], [1]):
            return x[numbers["starts"][0] : numbers["ends"][0] : numbers["steps"][0]]
        channels = self._layer(x).shape[0]
        start, end = numbers["starts"][0], min(numbers["ends"][0], channels)
        first, second = (start, end) == (0, channels / 2), (start, end) == (channels / 2, channels)
        if numbers["axes"] == [1] and numbers["steps"] == [1]:
            if (start, end) == (0, channels):
                return x
            if first or second:
                return _Half(x.index, x.shape, second)
        self.refuse("it does not halve the channels")

    def _Max(self, *values):
        if len(values) == 2 and isinstance(values[0], Length):
            return values[0]
        halves = len(values) == 2 and all(isinstance(v, _Half) for v in values)
        if not halves or values[0].index != values[1].index or values[0].second == values[1].second:
            self.refuse("it is not of the two halves of the channels of one value")
        x = values[0]
        return self._append("mfm", [x], (x.shape[0] // 2, *x.shape[1:]))

    def _flat(self, x):
        count = math.prod(self._layer(x).shape)
        return x if len(x.shape) == 1 else self._append("flatten", [x], (count,))

    def _Flatten(self, x):
        if self._attribute("axis", 1) not in (1, -len(self._layer(x).shape)):
            self.refuse("its axis is not 1")
        return self._flat(x)

    def _Reshape(self, x, shape=None):
        target = self._attribute("shape") if shape is None else shape
        if isinstance(x, np.ndarray):
            return x.reshape(self._integers(target, "the shape"))
        target = self._integers(target, "the shape")
        count = math.prod(self._layer(x).shape)
        if len(target) == 2 and (target[1] == count or (target[1] == -1 and target[0] != -1)):
            return self._flat(x)
        if len(target) == 1 + len(x.shape) and tuple(target[1:]) == x.shape:
            return x
        if len(x.shape) == 1 and target[2:] == [1, 1] and target[1] in (count, -1):
            return _Column(x.index, (count, 1, 1))
        self.refuse(f"it makes {target} of {x.shape}")

    def _Squeeze(self, x, axes=None):
        if isinstance(x, np.ndarray):
            return x.squeeze()
        if len(self._layer(x).shape) == 1 or x.shape[1:] != (1, 1):
            self.refuse(f"its input is {x.shape}")
        return self._flat(x)

    def _Unsqueeze(self, x, axes=None):
        axes = self._integers(self._attribute("axes") if axes is None else axes, "axes")
        if isinstance(x, _Column) or (type(x) is Layer and len(x.shape) == 1):
            rank = 1 + len(x.shape)
            whole = rank + len(axes)
            if sorted(a % whole for a in axes) != list(range(rank, whole)):
                self.refuse(f"it makes {axes} of {x.shape}")
            return _Column(x.index, x.shape + (1,) * len(axes))
        return np.expand_dims(self._constant(x, "its input"), tuple(axes))

    def _Identity(self, x):
        return x

    def _Cast(self, x):
        return self._constant(x, "its input")

    def _Constant(self):
        for name in ("value", "value_float", "value_int", "value_ints", "value_floats"):
            if self._attribute(name) is not None:
                return np.asarray(self._attribute(name))
        self.refuse("it has no numbers")

    def _Dropout(self, x, ratio=None, training=None):
        if training is not None and np.any(self._constant(training, "training_mode")):
            self.refuse("it is in training mode. Export it for inference")
        return x

    def _Shape(self, x):
        # 0 stands for the number of images: in a Reshape, what there is.
        return np.array([0, *self._layer(x).shape])

    def _Gather(self, x, index):
        constant, index = self._constant(x, "its input"), self._constant(index, "its index")
        axis = self._attribute("axis", 0)
        self._computed(index.size * (constant.size // max(constant.shape[axis], 1)))
        return np.asarray(np.take(constant, index, axis))

    def _ReduceL2(self, x, axes=None):
        axes = self._integers(self._attribute("axes") if axes is None else axes, "axes")
        if axes not in ([1], [-1]) or len(self._layer(x).shape) != 1:
            self.refuse("it is not over the numbers of a row")
        return Length(x.index, x.shape)

    def _Expand(self, x, shape):
        if not isinstance(x, Length):
            self.refuse("it does not repeat a length")
        # The division needs no more than the lengths; another runtime makes all of it.
        self._bounded(math.prod(abs(side) or 1 for side in self._integers(shape, "the shape")))
        return x

    def _LpNormalization(self, x):
        axis, p = self._attribute("axis", -1), self._attribute("p", 2)
        if axis not in (1, -1) or p != 2 or len(self._layer(x).shape) != 1:
            self.refuse("it is not the division of a row by its length")
        return Unit(x.index, x.shape)
