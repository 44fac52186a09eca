"""ONNX's operations that join, halve or arrange values. What only arranges (Identity, Dropout,
Reshape to rows, a shape computed from the input's) leaves nothing behind."""

import math

import numpy as np

from facebench.embedding._onnx_graph import Column, GrowingGraph, Half, Layer, Length, Unit

_FLOATS = {1, 10}  # of TensorProto.DataType: float32, float16


class Arranging(GrowingGraph):
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
        return [Half(x.index, x.shape, second) for second in (False, True)]

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
                return Half(x.index, x.shape, second)
        self.refuse("it does not halve the channels")

    def _Max(self, *values):
        if len(values) == 2 and isinstance(values[0], Length):
            return values[0]
        halves = len(values) == 2 and all(isinstance(v, Half) for v in values)
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
            return Column(x.index, (count, 1, 1))
        self.refuse(f"it makes {target} of {x.shape}")

    def _Squeeze(self, x, axes=None):
        if isinstance(x, np.ndarray):
            return x.squeeze()
        if len(self._layer(x).shape) == 1 or x.shape[1:] != (1, 1):
            self.refuse(f"its input is {x.shape}")
        return self._flat(x)

    def _Unsqueeze(self, x, axes=None):
        axes = self._integers(self._attribute("axes") if axes is None else axes, "axes")
        if isinstance(x, Column) or (type(x) is Layer and len(x.shape) == 1):
            rank = 1 + len(x.shape)
            whole = rank + len(axes)
            if sorted(a % whole for a in axes) != list(range(rank, whole)):
                self.refuse(f"it makes {axes} of {x.shape}")
            return Column(x.index, x.shape + (1,) * len(axes))
        return np.expand_dims(self._constant(x, "its input"), tuple(axes))

    def _Identity(self, x):
        return x

    def _Cast(self, x):
        # Between kinds of floats numbers stay what they are, but for their last digits.
        if type(x) is Layer and {self.input_type, self._attribute("to")} <= _FLOATS:
            return x
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
