"""Keras 3, in TensorFlow or JAX: the graph as a functional model, laid out NHWC."""

import os
from typing import Any

import numpy as np

from facebench.lab.engines.engine import SteppedEngine, needed_nodes, noise
from facebench.lab.engines.keras_files import batches_of_files
from facebench.lab.engines.libraries import loaded_libraries, torch_libraries

_keras: Any = None
_by_tape = False


def load(name: str, threads: int) -> dict:
    global _keras, _by_tape
    _, backend, *loop = name.split("-")
    _by_tape = loop == ["tape"]
    os.environ["KERAS_BACKEND"] = backend
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
    os.environ["JAX_PLATFORMS"] = os.environ.get("JAX_PLATFORMS", "")
    # On a card: no TF32, no search for the fastest kernel, and memory as it is needed, for other
    # engines lie there too.
    os.environ["TF_CUDNN_USE_AUTOTUNE"] = "0"
    os.environ["TF_FORCE_GPU_ALLOW_GROWTH"] = "true"
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_gpu_autotune_level=0"
    os.environ["JAX_DEFAULT_MATMUL_PRECISION"] = "float32"
    framework = __import__(backend)
    if backend == "tensorflow":
        framework.config.experimental.enable_tensor_float_32_execution(False)
        if threads:
            framework.config.threading.set_intra_op_parallelism_threads(threads)
            framework.config.threading.set_inter_op_parallelism_threads(1)
    import keras

    _keras = keras
    keras.config.set_image_data_format("channels_last")
    versions = {"keras": keras.__version__, backend: framework.__version__}
    return versions | (torch_libraries() if backend == "torch" else loaded_libraries())


def _pad(x, padding, value=0.0):
    top, left, bottom, right = padding
    if not any(padding):
        return x
    sides = [[0, 0], [top, bottom], [left, right], [0, 0]]
    return _keras.ops.pad(x, sides, constant_values=value)


def _over_the_end(size, out, kernel, stride, before, after):
    """What a last window reads beyond the padded image."""
    return max((out - 1) * stride + kernel - size - before - after, 0)


def _window_padding(o, in_shape, out_shape):
    top, left, bottom, right = o["padding"]
    below = _over_the_end(in_shape[1], out_shape[1], o["kernel"][0], o["stride"][0], top, bottom)
    beyond = _over_the_end(in_shape[2], out_shape[2], o["kernel"][1], o["stride"][1], left, right)
    return [top, left, bottom + below, right + beyond], (below, beyond)


# Layers with weights, as they are made; whether these stay Keras's own.
_made: list = []
_own_weights = False


def _first(initializer):
    """How a layer begins. Weights that are set at once begin with zeros: JAX would compile random
    ones for every shape."""
    return initializer if _own_weights else "zeros"


def _fixed(name, function, *inputs):
    class Fixed(_keras.layers.Layer):
        def call(self, *values):
            return function(*values)

    return Fixed(name=name)(*inputs)


def _filled(layer, x, weights):
    y = layer(x)
    if not _own_weights:
        layer.set_weights(weights)
    _made.append(layer)
    return y


def _conv(inputs, n, shapes, w):
    o = n["options"]
    x = inputs[0]
    if any(o["padding"]):
        top, left, bottom, right = o["padding"]
        x = _keras.layers.ZeroPadding2D(((top, bottom), (left, right)))(x)
    kernel = w[0].transpose(2, 3, 1, 0)
    if o["groups"] == shapes[0][0] == o["out"] and o["groups"] > 1:
        # Depthwise: what the frameworks have a kernel of their own for.
        layer = _keras.layers.DepthwiseConv2D(
            o["kernel"],
            o["stride"],
            dilation_rate=o["dilation"],
            use_bias=o["bias"],
            depthwise_initializer=_first("glorot_uniform"),
        )
        kernel = w[0].transpose(2, 3, 0, 1)
    else:
        layer = _keras.layers.Conv2D(
            o["out"],
            o["kernel"],
            o["stride"],
            dilation_rate=o["dilation"],
            groups=o["groups"],
            use_bias=o["bias"],
            kernel_initializer=_first("glorot_uniform"),
        )
    return _filled(layer, x, [kernel, *w[1:]])


def _linear(inputs, n, shapes, w):
    o = n["options"]
    layer = _keras.layers.Dense(
        o["out"], use_bias=o["bias"], kernel_initializer=_first("glorot_uniform")
    )
    return _filled(layer, inputs[0], [w[0].T, *w[1:]])


def _batch_norm(inputs, n, shapes, w):
    o = n["options"]
    layer = _keras.layers.BatchNormalization(
        epsilon=o["eps"], momentum=1 - o["momentum"], center=o["shift"], scale=o["scale"]
    )
    return _filled(layer, inputs[0], w)


def _prelu(inputs, n, shapes, w):
    rank = len(shapes[0])
    axes = list(range(1, rank + (1 if n["options"]["shared"] else 0)))
    layer = _keras.layers.PReLU(shared_axes=axes or None)
    return _filled(layer, inputs[0], [w[0].reshape(*[1] * (rank - 1), -1)])


def _max_pool(inputs, n, shapes, w):
    o = n["options"]
    padding, _ = _window_padding(o, shapes[0], n["shape"])
    x = inputs[0]
    if any(padding):
        x = _fixed(None, lambda v: _pad(v, padding, float("-inf")), x)
    return _keras.layers.MaxPooling2D(o["kernel"], o["stride"])(x)


def _avg_pool(inputs, n, shapes, w):
    o = n["options"]
    padding, over = _window_padding(o, shapes[0], n["shape"])
    x = inputs[0]
    if any(padding):
        x = _fixed(None, lambda v: _pad(v, padding), x)
    x = _keras.layers.AveragePooling2D(o["kernel"], o["stride"])(x)
    if not any(padding) or (o["count_include_pad"] and not any(over)):
        return x
    counts = _window_counts(o, shapes[0], n["shape"])
    factor = (o["kernel"][0] * o["kernel"][1] / counts)[None, :, :, None].astype("float32")
    return _fixed(None, lambda v: v * _keras.ops.convert_to_tensor(factor, v.dtype), x)


def _adaptive_avg_pool(inputs, n, shapes, w):
    out, (height, width) = n["options"]["out"], shapes[0][1:]
    if tuple(out) == (1, 1):
        return _fixed(None, lambda v: _keras.ops.mean(v, axis=(1, 2), keepdims=True), inputs[0])
    rows, columns = _cells(height, out[0]), _cells(width, out[1])

    def average(v):
        r = _keras.ops.convert_to_tensor(rows, v.dtype)
        c = _keras.ops.convert_to_tensor(columns, v.dtype)
        return _keras.ops.einsum("ph,nhwc,qw->npqc", r, v, c)

    return _fixed(None, average, inputs[0])


def _flatten(inputs, n, shapes, w):
    x = inputs[0]
    if len(shapes[0]) == 3:
        x = _keras.layers.Permute((3, 1, 2))(x)
    return _keras.layers.Flatten()(x)


def _lrn(inputs, n, shapes, w):
    o = n["options"]
    before = o["size"] // 2

    def normalize(v):
        squares = _keras.ops.pad(
            _keras.ops.square(v), [[0, 0], [0, 0], [0, 0], [before, o["size"] - 1 - before]]
        )
        channels = shapes[0][0]
        total = sum(squares[..., k : k + channels] for k in range(o["size"]))
        return v / _keras.ops.power(o["k"] + o["alpha"] / o["size"] * total, o["beta"])

    return _fixed(None, normalize, inputs[0])


def _mfm(inputs, n, shapes, w):
    half = shapes[0][0] // 2
    return _fixed(None, lambda v: _keras.ops.maximum(v[..., :half], v[..., half:]), inputs[0])


def _tokens(inputs, n, shapes, w):
    return _keras.layers.Reshape(n["shape"])(inputs[0])


def _positions(inputs, n, shapes, w):
    class Positions(_keras.layers.Layer):
        def build(self, shape):
            self.table = self.add_weight(shape=(1, *shape[1:]), initializer="zeros")

        def call(self, x):
            return x + self.table

    return _filled(Positions(), inputs[0], w)


def _layer_norm(inputs, n, shapes, w):
    layer = _keras.layers.LayerNormalization(epsilon=n["options"]["eps"])
    return _filled(layer, inputs[0], w)


def _attention(inputs, n, shapes, w):
    (tokens, width), heads = n["shape"], n["options"]["heads"]

    def attend(x):
        parts = _keras.ops.split(_keras.ops.reshape(x, (-1, tokens, 3 * heads, width // heads)),
                                 3, axis=2)  # fmt: skip
        return _keras.ops.reshape(_keras.ops.dot_product_attention(*parts), (-1, tokens, width))

    return _fixed(None, attend, inputs[0])


def _drop_path(inputs, n, shapes, w):
    noise = (None, *[1] * len(shapes[0]))
    return _keras.layers.Dropout(n["options"]["p"], noise_shape=noise)(inputs[0])


def _lookup(inputs, n, shapes, w):
    layer = _keras.layers.Embedding(*w[0].shape, embeddings_initializer=_first("uniform"))
    return _filled(layer, inputs[0], w)


def _lstm(inputs, n, shapes, w):
    layer = _keras.layers.LSTM(
        n["options"]["out"],
        return_sequences=True,
        kernel_initializer=_first("glorot_uniform"),
        recurrent_initializer=_first("orthogonal"),
    )
    return _filled(layer, inputs[0], [w[0].T, w[1].T, w[2]])


def _concat(inputs, n, shapes, w):
    return _keras.layers.Concatenate(axis=-1)(inputs) if len(inputs) > 1 else inputs[0]


def _multiply(inputs, n, shapes, w):
    a, b = inputs
    if len(shapes[1]) < len(shapes[0]):  # a number for each channel
        b = _keras.layers.Reshape((1, 1, shapes[1][0]))(b)
    return _keras.layers.Multiply()([a, b])


# The operations as Keras calls: name -> function(inputs, node, in_shapes, weights).
_CALLS = {
    "conv": _conv,
    "linear": _linear,
    "batch_norm": _batch_norm,
    "prelu": _prelu,
    "relu": lambda i, n, s, w: _keras.layers.Activation("relu")(i[0]),
    "relu6": lambda i, n, s, w: _keras.layers.Activation("relu6")(i[0]),
    "sigmoid": lambda i, n, s, w: _keras.layers.Activation("sigmoid")(i[0]),
    "tanh": lambda i, n, s, w: _keras.layers.Activation("tanh")(i[0]),
    "max_pool": _max_pool,
    "avg_pool": _avg_pool,
    "adaptive_avg_pool": _adaptive_avg_pool,
    "add": lambda i, n, s, w: _keras.layers.Add()(i),
    "multiply": _multiply,
    "scale": lambda i, n, s, w: _keras.layers.Rescaling(n["options"]["factor"])(i[0]),
    "concat": _concat,
    "dropout": lambda i, n, s, w: _keras.layers.Dropout(n["options"]["p"])(i[0]),
    "flatten": _flatten,
    "lrn": _lrn,
    "mfm": _mfm,
    "tokens": _tokens,
    "positions": _positions,
    "layer_norm": _layer_norm,
    "attention": _attention,
    "drop_path": _drop_path,
    "lookup": _lookup,
    "lstm": _lstm,
}


# The weights of a layer as the graph has them: op -> function(options, weights).
BACK = {
    "conv": lambda o, w: [w[0].transpose(2, 3, 0, 1) if _depthwise(o, w) else
                          w[0].transpose(3, 2, 0, 1), *w[1:]],
    "linear": lambda o, w: [w[0].T, *w[1:]],
    "prelu": lambda o, w: [w[0].reshape(-1)],
    "lstm": lambda o, w: [w[0].T, w[1].T, w[2]],
}  # fmt: skip


def _depthwise(o, w):
    return o["groups"] == o["out"] == w[0].shape[2] and o["groups"] > 1


def _window_counts(o, in_shape, out_shape):
    """By how many values each window of an average pool is divided."""
    counts = []
    for axis in (0, 1):
        before, after = o["padding"][axis], o["padding"][axis + 2]
        size, kernel, stride = in_shape[axis + 1], o["kernel"][axis], o["stride"][axis]
        low, high = (-before, size + after) if o["count_include_pad"] else (0, size)
        starts = np.arange(out_shape[axis + 1]) * stride - before
        counts.append(np.minimum(starts + kernel, high) - np.maximum(starts, low))
    return np.outer(*counts)


def _cells(size, cells):
    matrix = np.zeros((cells, size), np.float32)
    for i in range(cells):
        first, last = i * size // cells, -(-(i + 1) * size // cells)
        matrix[i, first:last] = 1 / (last - first)
    return matrix


def build(graph: dict, weights: dict):
    """The functional model from images (N, H, W, 3), or words (N, T), to the embedding."""
    return build_learned(graph, weights)[0]


def build_learned(graph: dict, weights: dict, own_weights: bool = False):
    """The same and [(node, layer)] of what has weights; ``own_weights``: as Keras drew them."""
    global _own_weights
    keras, _own_weights = _keras, own_weights
    channels, *sides = graph["input"]
    images = keras.Input((*sides, channels), dtype="int32" if graph["vocabulary"] else None)
    nodes, values, learned_layers = graph["nodes"], {0: images}, []
    for i in needed_nodes(graph):
        node = nodes[i]
        if node["op"] == "input":
            continue
        learned = [weights["network." + name] for name in node["tensors"]]
        shapes = [nodes[k]["shape"] for k in node["inputs"]]
        inputs = [values[k] for k in node["inputs"]]
        values[i] = _CALLS[node["op"]](inputs, node, shapes, learned)
        if learned:
            learned_layers.append((node, _made.pop()))
    _own_weights = False
    return keras.Model(images, values[graph["embedding"]]), learned_layers


def keras_module():
    """Keras, once `load` has chosen its backend."""
    return _keras


def use_device(name):
    """From here on Keras computes there: cpu, cuda or cuda:N, of which it says gpu:N."""
    kind, _, number = name.partition(":")
    where = _keras.device(f"{'gpu' if kind == 'cuda' else kind}:{number or 0}")
    where.__enter__()


def train_step(model, loss):
    """A function of inputs and targets that makes a step of a compiled model and gives its loss:
    Keras's own, or a loop over tf.GradientTape, written by hand and compiled to a graph.
    ``loss``: what the model was compiled with, of targets and outputs."""
    if not _by_tape:
        return model.train_on_batch
    import tensorflow

    @tensorflow.function
    def step(inputs, targets):
        with tensorflow.GradientTape() as tape:
            value = loss(targets, model(inputs, training=True))
        gradients = tape.gradient(value, model.trainable_variables)
        model.optimizer.apply(gradients, model.trainable_variables)
        return value

    return step


def laid_out(images):
    """Images in NHWC; words as they are."""
    return np.ascontiguousarray(images.transpose(0, 2, 3, 1)) if images.ndim == 4 else images


class Engine(SteppedEngine):
    """Compiled as Keras does it (a TensorFlow graph, a jitted JAX function)."""

    loader = staticmethod(batches_of_files)

    def __init__(self, spec, weights):
        super().__init__(spec, weights)
        keras = _keras
        use_device(spec["device"])
        keras.utils.set_random_seed(spec["seed"])
        keras.config.set_dtype_policy(
            "mixed_bfloat16" if spec["precision"] == "bfloat16" else "float32"
        )
        self._embedder = build(spec["graph"], weights)
        self._training = spec["mode"] == "training"
        images, labels = noise(spec)
        self._batch = tuple(map(keras.ops.convert_to_tensor, (laid_out(images), labels)))
        # XLA on the CPU takes minutes to compile what a TensorFlow graph runs as fast.
        jit = keras.backend.backend() == "jax"
        self._embedder.compile(jit_compile=jit)
        if not self._training:
            return
        classes = weights["head.weight"].shape[0]
        head = keras.layers.Dense(classes, dtype="float32", kernel_initializer="zeros")
        logits = head(self._embedder.output)
        head.set_weights([weights["head.weight"].T, weights["head.bias"]])
        self._model = keras.Model(self._embedder.input, logits)
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        optimizer = keras.optimizers.SGD(spec["lr"], spec["momentum"])
        self._model.compile(optimizer=optimizer, loss=loss, jit_compile=jit)
        self._train = train_step(self._model, loss)

    def infer(self, images):
        return np.asarray(self._embedder.predict_on_batch(laid_out(images)), np.float32)

    def losses(self, images, labels, steps):
        batch = laid_out(images)
        return [float(self._train(batch, labels)) for _ in range(steps)]

    def step(self, mark):
        batch = self._batch
        if self._files:
            batch = next(self._files)
            mark("data")
        if self._training:
            float(self._train(*batch))
        else:
            self._embedder.predict_on_batch(batch[0])
            mark("forward")

    def device_memory(self):
        if self.spec["device"] == "cpu":
            return None
        number = int(self.spec["device"].partition(":")[2] or 0)
        if _keras.backend.backend() == "jax":
            import jax

            said = jax.devices("gpu")[number].memory_stats()
            return {"now": said["bytes_in_use"], "peak": said["peak_bytes_in_use"]}
        import tensorflow

        said = tensorflow.config.experimental.get_memory_info(f"GPU:{number}")
        return {"now": said["current"], "peak": said["peak"]}
