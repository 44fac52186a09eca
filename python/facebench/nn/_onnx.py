"""A network's graph in ONNX's operations, for `facebench.nn.export_onnx`; PyTorch modules too."""

import io
import math
import warnings

import numpy as np
import onnx

from facebench import _eval
from facebench._torch import torch
from facebench.nn._own_module import first_output

OPSET = 17

# Operations that are one of ONNX's: its name and attributes.
_ALIKE: dict[str, tuple[str, dict]] = {
    "add": ("Add", {}),
    "concat": ("Concat", {"axis": 1}),
    "flatten": ("Flatten", {"axis": 1}),
    "relu": ("Relu", {}),
    "sigmoid": ("Sigmoid", {}),
    "tanh": ("Tanh", {}),
}


class _Writer:
    """Turns node after node into ONNX nodes; ``values[i]`` is the name of node i's value."""

    def __init__(self, network):
        self._state = network.state_dict()
        self.nodes: list[onnx.NodeProto] = []
        self.tensors: list[onnx.TensorProto] = []
        self.values: list[str] = []
        self.shapes: list[list[int]] = []

    def add(self, node: dict) -> None:
        inputs = [self.values[i] for i in node["inputs"]]
        self._name = node["name"]
        self._in_shapes = [self.shapes[i] for i in node["inputs"]]
        self._in_shape = self._in_shapes[0] if inputs else []
        self.shapes.append(node["shape"])
        if node["op"] in _ALIKE:
            op, attributes = _ALIKE[node["op"]]
            value = self._emit(op, inputs, **attributes)
        else:
            value = getattr(self, "_" + node["op"])(inputs, node["tensors"], node["options"])
        self.values.append(value)

    def _store(self, name: str, numbers) -> str:
        self.tensors.append(onnx.numpy_helper.from_array(np.ascontiguousarray(numbers), name))
        return name

    def _numbers(self, name: str) -> np.ndarray:
        return self._state[name].float().cpu().contiguous().numpy()

    def _learned(self, names) -> list[str]:
        return [self._store(name, self._numbers(name)) for name in names]

    def _constant(self, suffix: str, numbers) -> str:
        return self._store(f"{self._name}.{suffix}", numbers)

    def _whole(self, suffix: str, *numbers: int) -> str:
        return self._constant(suffix, np.array(numbers, np.int64))

    def _emit(self, op: str, inputs, outputs: int = 1, **attributes):
        names = [f"{self._name}:{len(self.nodes)}" + (f".{k}" if k else "") for k in range(outputs)]
        node = onnx.helper.make_node(op, inputs, names, name=names[0], **attributes)
        self.nodes.append(node)
        return names[0] if outputs == 1 else names

    def _input(self, inputs, tensors, o):
        return "words" if "vocabulary" in o else "images"

    def _conv(self, inputs, tensors, o):
        return self._emit(
            "Conv",
            inputs + self._learned(tensors),
            kernel_shape=o["kernel"],
            strides=o["stride"],
            pads=o["padding"],
            dilations=o["dilation"],
            group=o["groups"],
        )

    def _linear(self, inputs, tensors, o):
        if len(self._in_shape) == 1:
            return self._emit("Gemm", inputs + self._learned(tensors), transB=1)
        weight = self._store(tensors[0], self._numbers(tensors[0]).T)
        product = self._emit("MatMul", [*inputs, weight])
        return self._emit("Add", [product, *self._learned(tensors[1:])]) if o["bias"] else product

    def _batch_norm(self, inputs, tensors, o):
        *learned, mean, variance = self._learned(tensors)
        channels = self._in_shape[0]
        scale = learned.pop(0) if o["scale"] else self._constant("ones", np.ones(channels, "f4"))
        shift = learned.pop(0) if o["shift"] else self._constant("zeros", np.zeros(channels, "f4"))
        return self._emit(
            "BatchNormalization", [*inputs, scale, shift, mean, variance], epsilon=o["eps"]
        )

    def _prelu(self, inputs, tensors, o):
        # Slopes are stored one for each channel; ONNX broadcasts from the last axis.
        slopes = self._numbers(tensors[0]).reshape(-1, *[1] * (len(self._in_shape) - 1))
        return self._emit("PRelu", [*inputs, self._store(tensors[0], slopes)])

    def _relu6(self, inputs, tensors, o):
        bounds = [self._constant("low", np.float32(0)), self._constant("high", np.float32(6))]
        return self._emit("Clip", inputs + bounds)

    def _multiply(self, inputs, tensors, o):
        a, b = self._in_shapes
        if len(b) < len(a):  # a number for each channel
            axes = self._constant("axes", np.array([2, 3]))
            inputs = [inputs[0], self._emit("Unsqueeze", [inputs[1], axes])]
        return self._emit("Mul", inputs)

    def _pads(self, o):
        """Pads with which a pool that rounds down has as many windows as ours."""
        top, left, bottom, right = o["padding"]
        after = []
        for size, out, kernel, stride, before, stated in zip(
            self._in_shape[1:],
            self.shapes[-1][1:],
            o["kernel"],
            o["stride"],
            (top, left),
            (bottom, right),
            strict=True,
        ):
            needed = (out - 1) * stride + kernel - size - before
            after.append(max(needed, stated if not o["ceil_mode"] else 0))
        return [top, left, *after]

    def _max_pool(self, inputs, tensors, o):
        return self._emit(
            "MaxPool", inputs, kernel_shape=o["kernel"], strides=o["stride"], pads=self._pads(o)
        )

    def _avg_pool(self, inputs, tensors, o):
        pads = self._pads(o)
        if o["count_include_pad"] and any(o["padding"]):
            # The padding counts, what a last window reads beyond it does not.
            top, left, bottom, right = o["padding"]
            sides = np.array([0, 0, top, left, 0, 0, bottom, right], np.int64)
            inputs = [self._emit("Pad", [*inputs, self._constant("sides", sides)])]
            pads = [0, 0, max(pads[2] - bottom, 0), max(pads[3] - right, 0)]
        return self._emit(
            "AveragePool", inputs, kernel_shape=o["kernel"], strides=o["stride"], pads=pads
        )

    def _adaptive_avg_pool(self, inputs, tensors, o):
        if tuple(o["out"]) == (1, 1):
            return self._emit("GlobalAveragePool", inputs)
        # Cells of unlike size: rows and columns averaged by two matrices.
        height, width = self._in_shape[1:]
        rows = self._constant("rows", _cells(height, o["out"][0]))
        columns = self._constant("columns", _cells(width, o["out"][1]).T)
        return self._emit("MatMul", [self._emit("MatMul", [rows, *inputs]), columns])

    def _scale(self, inputs, tensors, o):
        return self._emit("Mul", [*inputs, self._constant("factor", np.float32(o["factor"]))])

    def _dropout(self, inputs, tensors, o):
        return inputs[0]

    _drop_path = _dropout

    def _lrn(self, inputs, tensors, o):
        if o["size"] % 2 == 0:
            raise ValueError(f"{self._name}: ONNX normalises over an odd number of channels alone")
        return self._emit(
            "LRN", inputs, size=o["size"], alpha=o["alpha"], beta=o["beta"], bias=o["k"]
        )

    def _mfm(self, inputs, tensors, o):
        return self._emit("Max", self._emit("Split", inputs, outputs=2, axis=1))

    def _reshaped(self, value, suffix, *shape):
        """``shape`` is behind the batch."""
        return self._emit("Reshape", [value, self._whole(suffix, 0, *shape)])

    def _tokens(self, inputs, tensors, o):
        flat = self._reshaped(*inputs, "shape", self._in_shape[0], -1)
        return self._emit("Transpose", [flat], perm=[0, 2, 1])

    def _positions(self, inputs, tensors, o):
        return self._emit("Add", inputs + self._learned(tensors))

    def _layer_norm(self, inputs, tensors, o):
        return self._emit(
            "LayerNormalization", inputs + self._learned(tensors), epsilon=o["eps"], axis=-1
        )

    def _attention(self, inputs, tensors, o):
        tokens, width = self.shapes[-1]
        size = width // o["heads"]
        split = self._reshaped(*inputs, "heads", tokens, 3, o["heads"], size)
        queries, keys, values = self._emit(
            "Split", [self._emit("Transpose", [split], perm=[2, 0, 3, 1, 4])], outputs=3, axis=0
        )
        keys = self._emit("Transpose", [keys], perm=[0, 1, 2, 4, 3])
        factor = self._constant("factor", np.float32(size**-0.5))
        queries = self._emit("Mul", [queries, factor])
        weights = self._emit("Softmax", [self._emit("MatMul", [queries, keys])], axis=-1)
        sums = self._emit("MatMul", [weights, values])
        first = self._emit("Squeeze", [sums, self._whole("first", 0)])
        together = self._emit("Transpose", [first], perm=[0, 2, 1, 3])
        return self._reshaped(together, "together", tokens, width)

    def _lookup(self, inputs, tensors, o):
        return self._emit("Gather", self._learned(tensors) + inputs, axis=0)

    def _lstm(self, inputs, tensors, o):
        out = o["out"]
        # ONNX orders the gates input, output, forget, cell, ours input, forget, cell, output.
        order = np.r_[0:out, 3 * out : 4 * out, out : 3 * out]
        weights = [self._store(name, self._numbers(name)[order][None]) for name in tensors[:2]]
        bias = np.concatenate([self._numbers(tensors[2])[order], np.zeros(4 * out, np.float32)])
        weights.append(self._store(tensors[2], bias[None]))
        steps_first = self._emit("Transpose", inputs, perm=[1, 0, 2])
        states = self._emit("LSTM", [steps_first, *weights], hidden_size=out)
        one_way = self._emit("Squeeze", [states, self._whole("direction", 1)])
        return self._emit("Transpose", [one_way], perm=[1, 0, 2])


def _cells(size: int, cells: int) -> np.ndarray:
    """(cells, size): each row averages the positions of one cell of torch's adaptive pooling."""
    matrix = np.zeros((cells, size), np.float32)
    for i in range(cells):
        first, last = i * size // cells, math.ceil((i + 1) * size / cells)
        matrix[i, first:last] = 1 / (last - first)
    return matrix


def build(network, taps, metadata: dict):
    """The ONNX model of ``network``: input ``images`` or ``words``, one output for each tap, by its
    name."""
    graph = network.graph
    nodes_of_taps = {tap: graph.tap_node(tap) for tap in taps}
    nodes = graph.nodes
    needed = set(nodes_of_taps.values())
    for i in range(len(nodes) - 1, -1, -1):
        if i in needed:
            needed.update(nodes[i]["inputs"])
    writer = _Writer(network)
    for i, node in enumerate(nodes):
        if i in needed:
            writer.add(node)
        else:
            writer.values.append("")
            writer.shapes.append(node["shape"])
    outputs = []
    for tap, i in nodes_of_taps.items():
        writer.nodes.append(onnx.helper.make_node("Identity", [writer.values[i]], [tap], name=tap))
        shape = ["N", *nodes[i]["shape"]]
        outputs.append(onnx.helper.make_tensor_value_info(tap, onnx.TensorProto.FLOAT, shape))
    words = graph.vocabulary > 0
    read = onnx.helper.make_tensor_value_info(
        "words" if words else "images",
        onnx.TensorProto.INT64 if words else onnx.TensorProto.FLOAT,
        ["N", *graph.input_shape],
    )
    model = onnx.helper.make_model(
        onnx.helper.make_graph(writer.nodes, "facebench", [read], outputs, writer.tensors),
        opset_imports=[onnx.helper.make_opsetid("", OPSET)],
        producer_name="facebench",
        ir_version=8,
    )
    onnx.helper.set_model_props(model, {k: str(v) for k, v in metadata.items()})
    return model


class _FirstOutput(torch.nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, images):
        return first_output(self.module(images)).flatten(1)


def build_module(module, shape, metadata: dict):
    """A PyTorch module in evaluation mode, written by torch's exporter for images (N, *shape)."""
    first = next(module.parameters(), torch.zeros(()))
    images = torch.zeros(2, *shape, device=first.device, dtype=first.dtype)
    whole, was_training, written = _FirstOutput(module), module.training, io.BytesIO()
    whole.eval()
    try:
        with warnings.catch_warnings():
            # The newer exporter needs onnxscript, which not everybody has.
            warnings.simplefilter("ignore")
            torch.onnx.export(
                whole,
                (images,),
                written,  # type: ignore[arg-type]  # torch takes a stream, its types do not
                dynamo=False,
                opset_version=OPSET,
                input_names=["images"],
                output_names=["embedding"],
                dynamic_axes={"images": {0: "N"}, "embedding": {0: "N"}},
            )
    finally:
        module.train(was_training)
    model = onnx.load_from_string(written.getvalue())
    onnx.helper.set_model_props(model, metadata)
    return model


def write(model, path) -> None:
    """The whole file or nothing."""
    _eval.write_file(path, model.SerializeToString())
