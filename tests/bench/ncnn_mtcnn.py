"""MTCNN's networks for ncnn, written out of our weights in ncnn's own format."""

import json
import struct
import tempfile
from pathlib import Path

import numpy as np

try:
    import ncnn
except ImportError:
    ncnn = None


def version():
    return None if ncnn is None else ncnn.__version__


def read_safetensors(path):
    data = Path(path).read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + size])
    body = data[8 + size :]
    return {
        name: np.frombuffer(body[slice(*info["data_offsets"])], "<f4").reshape(info["shape"])
        for name, info in header.items()
        if name != "__metadata__"
    }


def resize(image, sizes):
    """ncnn's resizing (bilinear, the only one it has here) with its scaling to [-1, 1): from the
    image, or from a part of it, to each level of the pyramid and each crop."""
    height, width = image.shape[:2]
    kind = ncnn.Mat.PixelType.PIXEL_RGB
    for (h, w), (to_h, to_w) in sizes:
        mat = ncnn.Mat.from_pixels_roi_resize(image, kind, width, height, 0, 0, w, h, to_w, to_h)
        mat.substract_mean_normalize([127.5] * 3, [1 / 128] * 3)


class Writer:
    """A chain of layers as .param and .bin (github.com/Tencent/ncnn/wiki/param-and-model-file-
    structure)."""

    def __init__(self, tensors, prefix):
        self.tensors, self.prefix = tensors, prefix
        self.lines, self.data = ["Input in0 0 1 in0"], b""
        self.last = "in0"

    def layer(self, kind, name, parameters, output=None, source=None):
        output = output or name
        source = source or self.last
        text = " ".join(f"{k}={v}" for k, v in parameters.items())
        self.lines.append(f"{kind} {name} 1 1 {source} {output} {text}")
        self.last = output

    def take(self, name):
        return self.tensors[f"{self.prefix}.{name}"]

    def weights(self, name, permute=None):
        weight = self.take(f"{name}.weight")
        if permute is not None:
            weight = weight[:, permute]
        self.data += struct.pack("<I", 0) + weight.astype("<f4").tobytes()
        self.data += self.take(f"{name}.bias").astype("<f4").tobytes()
        return weight

    def convolution(self, name, source=None):
        w = self.take(f"{name}.weight")
        self.layer(
            "Convolution",
            name,
            {0: w.shape[0], 1: w.shape[2], 5: 1, 6: w.size},
            source=source,
        )
        self.weights(name)

    def prelu(self, name):
        slope = self.take(f"{name}.weight")
        self.layer("PReLU", name, {0: slope.size})
        self.data += slope.astype("<f4").tobytes()

    def pool(self, name, size):
        # Mode 0: windows cut by the far edge are kept.
        self.layer("Pooling", name, {0: 0, 1: size, 2: 2, 5: 0})

    def dense(self, name, permute=None, source=None):
        w = self.take(f"{name}.weight")
        self.layer("InnerProduct", name, {0: w.shape[0], 1: 1, 2: w.size}, source=source)
        self.weights(name, permute)

    def heads(self, names, add):
        """Several layers on the same values."""
        source = self.last
        self.lines.append(
            f"Split split 1 {len(names)} {source} "
            + " ".join(f"{source}_{k}" for k in range(len(names)))
        )
        for k, name in enumerate(names):
            add(name, source=f"{source}_{k}")

    def load(self):
        blobs = sum(int(line.split()[3]) for line in self.lines)
        text = "\n".join(["7767517", f"{len(self.lines)} {blobs}", *self.lines]) + "\n"
        net = ncnn.Net()
        net.opt.num_threads = 1
        with tempfile.TemporaryDirectory() as folder:
            param, model = Path(folder) / "net.param", Path(folder) / "net.bin"
            param.write_text(text)
            model.write_bytes(self.data)
            if net.load_param(str(param)) or net.load_model(str(model)):
                raise RuntimeError(f"ncnn does not load {self.prefix}")
        return net


def flat_order(channels, side):
    """The networks flatten column by column, ncnn channel by channel, row by row."""
    order = np.arange(channels * side * side).reshape(side, side, channels)  # x, y, channel
    return order.transpose(2, 1, 0).ravel()


class Networks:
    def __init__(self, weights):
        tensors = read_safetensors(weights)
        p = Writer(tensors, "pnet")
        p.convolution("conv1")
        p.prelu("prelu1")
        p.pool("pool1", 2)
        for k in (2, 3):
            p.convolution(f"conv{k}")
            p.prelu(f"prelu{k}")
        p.heads(["conv4_1", "conv4_2"], p.convolution)
        r = Writer(tensors, "rnet")
        for k in (1, 2):
            r.convolution(f"conv{k}")
            r.prelu(f"prelu{k}")
            r.pool(f"pool{k}", 3)
        r.convolution("conv3")
        r.prelu("prelu3")
        r.dense("dense4", flat_order(64, 3))
        r.prelu("prelu4")
        r.heads(["dense5_1", "dense5_2"], r.dense)
        o = Writer(tensors, "onet")
        for k, size in ((1, 3), (2, 3), (3, 2)):
            o.convolution(f"conv{k}")
            o.prelu(f"prelu{k}")
            o.pool(f"pool{k}", size)
        o.convolution("conv4")
        o.prelu("prelu4")
        o.dense("dense5", flat_order(128, 3))
        o.prelu("prelu5")
        o.heads(["dense6_1", "dense6_2", "dense6_3"], o.dense)
        self.nets = {
            "pnet": (p.load(), ["conv4_1", "conv4_2"]),
            "rnet": (r.load(), ["dense5_1", "dense5_2"]),
            "onet": (o.load(), ["dense6_1", "dense6_2", "dense6_3"]),
        }

    def answer(self, name, values):
        net, outputs = self.nets[name]
        extractor = net.create_extractor()
        extractor.input("in0", ncnn.Mat(values))
        return [extractor.extract(output)[1] for output in outputs]

    def run(self, inputs):
        for name, batches in inputs.items():
            for batch in batches:
                for values in batch:
                    self.answer(name, values)

    def check(self, peer, inputs):
        """The networks give facenet-pytorch's numbers."""
        import torch

        for name, batches in inputs.items():
            if not batches:
                continue
            first = batches[0][:1]
            with torch.no_grad():
                expected = getattr(peer, name)(torch.from_numpy(first))[0][0].numpy()
            # The peer orders its outputs boxes first; the box corrections have no softmax.
            ours = np.array(self.answer(name, first[0])[1])
            theirs = expected.reshape(ours.shape)
            if np.abs(ours - theirs).max() > 1e-2 * max(1.0, np.abs(theirs).max()):
                raise RuntimeError(f"ncnn's {name} gives other numbers")
