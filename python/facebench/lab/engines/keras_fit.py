"""A recipe trained by Keras 3, in TensorFlow or JAX."""

import math
from typing import Any

import numpy as np

from facebench.lab.engines import keras_engine
from facebench.lab.engines.heads import keeps_unit_rows, loss_of, unit_rows


def _head(keras: Any, spec, weights):
    """The layer of the loss: features and classes in, the loss of each image out."""
    ops, loss = keras.ops, spec["loss"]

    class Head(keras.layers.Layer):
        def build(self, *shapes):
            # Unlike a Dense layer's, the weight has a row for each class, as the graph's has.
            blank = "glorot_uniform" if "initializer" in spec["own"] else "zeros"
            self.values = {}
            for name, value in weights.items():
                learned = name != "centers" or loss["update"] == "caffe"
                self.values[name] = self.add_weight(
                    shape=value.shape,
                    initializer=blank if name == "weight" else "zeros",
                    trainable=learned,
                    name=name,
                )
            self.steps_made = self.add_weight(
                shape=(), initializer="zeros", trainable=False, name="made"
            )

        def call(self, features, labels):
            hot = ops.one_hot(labels, len(weights["weight"]), dtype="float32")
            values, state = loss_of(ops, loss, features, hot, self.values, self.steps_made)
            for name, value in state.items():
                self.values[name].assign(ops.stop_gradient(value))
            self.steps_made.assign(self.steps_made + 1)
            return values

    return Head()


def _optimizer(keras: Any, spec, names):
    """The recipe's SGD, with either rule of momentum, or its Adam (docs/training.md): a decay and a
    factor of the rate for each parameter."""
    ops, caffe = keras.ops, spec["momentum_rule"] == "caffe"
    moments = ["mean", "square"] if spec["optimizer"] == "adam" else ["velocity"]

    class Optimizer(keras.optimizers.Optimizer):
        def build(self, variables):
            super().build(variables)
            self.kept = [
                [self.add_variable_from_reference(v, name) for name in moments] for v in variables
            ]

        def update_step(self, gradient, variable, learning_rate):
            index = self._get_variable_index(variable)
            name, kept = names[index], self.kept[index]
            variable_rate = learning_rate * spec["rates"].get(name, 1.0)
            gradient = gradient + spec["decay"].get(name, 0.0) * variable
            if len(kept) == 2:
                step = self.by_moments(gradient, kept) * variable_rate
            else:
                step = spec["momentum"] * kept[0] + (
                    variable_rate * gradient if caffe else gradient
                )
                self.assign(kept[0], step)
                step = step if caffe else variable_rate * step
            self.assign_sub(variable, step)

        def by_moments(self, gradient, kept):
            taken = ops.cast(self.iterations + 1, gradient.dtype)
            beta1, beta2 = spec["beta1"], spec["beta2"]
            mean = beta1 * kept[0] + (1 - beta1) * gradient
            square = beta2 * kept[1] + (1 - beta2) * ops.square(gradient)
            self.assign(kept[0], mean)
            self.assign(kept[1], square)
            # 1 - beta to the power of the steps, without the digits that float32 would lose.
            seen1, seen2 = (-ops.expm1(taken * math.log(beta)) for beta in (beta1, beta2))
            return mean / seen1 / (ops.sqrt(square / seen2) + spec["eps"])

    return Optimizer(learning_rate=spec["lr"])


def _own_schedule(keras, spec):
    """The rate as a schedule of Keras, which moves at each step."""
    schedule, schedules = spec["schedule"], keras.optimizers.schedules
    epoch, rate = spec["steps_an_epoch"], spec["lr"]
    if schedule["policy"] == "constant":
        return rate
    if schedule["policy"] == "cosine":
        return schedules.CosineDecay(rate, spec["iterations"], schedule["final_lr"] / rate)
    marks = schedule["milestones"]
    if schedule["policy"] == "step":
        marks = [schedule["step"] * k for k in range(1, int(spec["epochs"] / schedule["step"]) + 1)]
    values = [rate * schedule["gamma"] ** k for k in range(len(marks) + 1)]
    return schedules.PiecewiseConstantDecay([int(m * epoch) for m in marks], values)


class Fit:
    """Steps of a recipe; what ``spec["own"]`` names is Keras's own: its layers' initial values
    (initializer), keras.optimizers' SGD or Adam, whose decay is not part of the gradient
    (optimizer), a schedule of keras.optimizers.schedules (schedule)."""

    def __init__(self, spec, weights):
        keras, own_parts, self._loss = keras_engine.keras_module(), spec["own"], spec["loss"]
        keras_engine.use_device(spec["device"])
        keras.utils.set_random_seed(spec["seed"])
        embedder, self._layers = keras_engine.build_learned(
            spec["graph"], weights, own_weights="initializer" in own_parts
        )
        head_weights = {n.removeprefix("head."): w for n, w in weights.items()
                        if n.startswith("head.") and w.ndim}  # fmt: skip
        labels = keras.Input((), dtype="int32")
        features = embedder.output
        if len(features.shape) > 2:
            features = keras.layers.Flatten()(features)
        self._head = _head(keras, spec, head_weights)
        losses = self._head(features, labels)
        if "initializer" not in own_parts:
            for name, value in head_weights.items():
                self._head.values[name].assign(value)
        self._model = keras.Model([embedder.input, labels], losses)
        names = {v.path: n for n, v in self._variables()}
        names |= {self._head.values[n].path: f"head.{n}" for n in head_weights}
        rate = _own_schedule(keras, spec) if "schedule" in own_parts else spec["lr"]
        self._scheduled = "schedule" in own_parts
        if "optimizer" not in own_parts:
            optimizer = _optimizer(
                keras, spec, [names.get(v.path) for v in self._model.trainable_variables]
            )
            if self._scheduled:
                optimizer.learning_rate = rate
        elif spec["optimizer"] == "adam":
            moments = {"beta_1": spec["beta1"], "beta_2": spec["beta2"], "epsilon": spec["eps"]}
            moments["weight_decay"] = spec["weight_decay"] or None
            optimizer = keras.optimizers.Adam(rate, **moments)
        else:
            optimizer = keras.optimizers.SGD(
                rate, spec["momentum"], weight_decay=spec["weight_decay"]
            )
        self._model.compile(
            optimizer=optimizer,
            loss=lambda true, values: values,
            jit_compile=keras.backend.backend() == "jax",
        )
        self._train = keras_engine.train_step(
            self._model, lambda true, values: keras.ops.mean(values)
        )

    def _variables(self):
        """The graph's names with the variables of the layers."""
        for node, layer in self._layers:
            yield from zip((f"network.{t}" for t in node["tensors"]), layer.weights, strict=True)

    def step(self, images, labels, rate) -> float:
        """The loss of the next step, on images (N, C, H, W) of classes (N)."""
        if not self._scheduled:
            self._model.optimizer.learning_rate = rate
        if keeps_unit_rows(self._loss):
            weight, ops = self._head.values["weight"], keras_engine.keras_module().ops
            weight.assign(unit_rows(ops, ops.convert_to_tensor(weight)))
        inputs = [keras_engine.laid_out(images), labels.astype(np.int32)]
        return float(self._train(inputs, np.zeros(len(labels), np.float32)))

    def tensors(self) -> dict[str, np.ndarray]:
        """The weights, by the names of the graph."""
        tensors = {f"head.{n}": np.array(v) for n, v in self._head.values.items()}
        for node, layer in self._layers:
            back = keras_engine.BACK.get(node["op"], lambda o, w: w)
            learned = back(node["options"], layer.get_weights())
            tensors |= {f"network.{t}": np.ascontiguousarray(w)
                      for t, w in zip(node["tensors"], learned, strict=True)}  # fmt: skip
        return tensors
