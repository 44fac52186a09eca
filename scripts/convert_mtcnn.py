#!/usr/bin/env python3
"""Makes mtcnn.safetensors out of the weights that the PyPI package mtcnn 1.0.0 carries.

The package itself is not imported (it would ask for tensorflow); its three files are checked
against known hashes before they are opened, since their format can run code. The result is the same
to the byte wherever it is made.

    pip install mtcnn==1.0.0 --no-deps joblib lz4
    python scripts/convert_mtcnn.py --out mtcnn.safetensors
"""

import argparse
import hashlib
import importlib.util
import json
import os
import struct
import sys
from pathlib import Path

HASHES = {
    "pnet": "ea6b0c3e685ebee3165326ad6484acc95f2ef78f1c94fbf40a55704fa989f7b5",
    "rnet": "cb00e6460f3c98b0bfafaba3c0a0ded4bdf6e62cee7174d969e8670d7e757fee",
    "onet": "94f6ea2f4cf985275ee958cdd762d17b6009348a4fb9d8c6be39ba73ffd22ca3",
}

# In the order of the package's lists: (name, kind, inputs, outputs, side of the kernel).
LAYERS = {
    "pnet": [
        ("conv1", "conv", 3, 10, 3),
        ("prelu1", "prelu", 0, 10, 0),
        ("conv2", "conv", 10, 16, 3),
        ("prelu2", "prelu", 0, 16, 0),
        ("conv3", "conv", 16, 32, 3),
        ("prelu3", "prelu", 0, 32, 0),
        ("conv4_2", "conv", 32, 4, 1),
        ("conv4_1", "conv", 32, 2, 1),
    ],
    "rnet": [
        ("conv1", "conv", 3, 28, 3),
        ("prelu1", "prelu", 0, 28, 0),
        ("conv2", "conv", 28, 48, 3),
        ("prelu2", "prelu", 0, 48, 0),
        ("conv3", "conv", 48, 64, 2),
        ("prelu3", "prelu", 0, 64, 0),
        ("dense4", "dense", 576, 128, 0),
        ("prelu4", "prelu", 0, 128, 0),
        ("dense5_2", "dense", 128, 4, 0),
        ("dense5_1", "dense", 128, 2, 0),
    ],
    "onet": [
        ("conv1", "conv", 3, 32, 3),
        ("prelu1", "prelu", 0, 32, 0),
        ("conv2", "conv", 32, 64, 3),
        ("prelu2", "prelu", 0, 64, 0),
        ("conv3", "conv", 64, 64, 3),
        ("prelu3", "prelu", 0, 64, 0),
        ("conv4", "conv", 64, 128, 2),
        ("prelu4", "prelu", 0, 128, 0),
        ("dense5", "dense", 1152, 256, 0),
        ("prelu5", "prelu", 0, 256, 0),
        ("dense6_2", "dense", 256, 4, 0),
        ("dense6_3", "dense", 256, 10, 0),
        ("dense6_1", "dense", 256, 2, 0),
    ],
}

LICENSE = """MIT License

Copyright (c) 2016 Kaipeng Zhang (networks and training)
Copyright (c) 2019-2024 Iván de Paz Centeno (package mtcnn)

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and \
associated documentation files (the "Software"), to deal in the Software without restriction, \
including without limitation the rights to use, copy, modify, merge, publish, distribute, \
sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is \
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or \
substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT \
NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND \
NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, \
DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT \
OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
"""

METADATA = {
    "format": "facebench.mtcnn",
    "version": "1",
    "license": LICENSE,
    "source": "PyPI package mtcnn 1.0.0, assets/weights/{pnet,rnet,onet}.lz4; the networks of "
    "Zhang et al., SPL 2016",
    "layout": "convolution (outputs, inputs, ky, kx); dense (outputs, inputs) with the input map "
    "flattened column by column: (x * height + y) * channels + c; outputs: 1 = not a face, face; "
    "2 = x0 y0 x1 y1 corrections; 3 = landmarks x1..x5 y1..y5",
    "input": "RGB, (value - 127.5) / 128",
}


def package_weights():
    """The folder with the package's three files."""
    spec = importlib.util.find_spec("mtcnn")
    if spec is None or spec.origin is None:
        sys.exit(
            "the package mtcnn is not installed; run: pip install mtcnn==1.0.0 --no-deps joblib lz4"
        )
    return Path(spec.origin).parent / "assets" / "weights"


def convert(folder):
    """The named tensors of the three files in `folder`."""
    import joblib
    import numpy as np

    tensors = {}
    for network, layers in LAYERS.items():
        path = folder / f"{network}.lz4"
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        if digest != HASHES[network]:
            sys.exit(f"{path}: SHA-256 is {digest}, not that of mtcnn 1.0.0; not opened")
        arrays = iter(joblib.load(path))
        for name, kind, inputs, outputs, side in layers:
            weight = np.asarray(next(arrays), np.float32)
            if kind == "conv":  # (ky, kx, inputs, outputs)
                weight = weight.reshape(side, side, inputs, outputs).transpose(3, 2, 0, 1)
            elif kind == "dense":
                weight = weight.reshape(inputs, outputs).T
            else:
                weight = weight.reshape(outputs)
            tensors[f"{network}.{name}.weight"] = np.ascontiguousarray(weight, "<f4")
            if kind != "prelu":
                bias = np.asarray(next(arrays), "<f4").reshape(outputs)
                tensors[f"{network}.{name}.bias"] = bias
        if next(arrays, None) is not None:
            sys.exit(f"{path}: more arrays than layers")
    return tensors


def to_safetensors(tensors):
    """The bytes of a safetensors file: tensors in the order of their names."""
    header = {"__metadata__": METADATA}
    offset = 0
    for name in sorted(tensors):
        size = tensors[name].nbytes
        header[name] = {
            "dtype": "F32",
            "shape": list(tensors[name].shape),
            "data_offsets": [offset, offset + size],
        }
        offset += size
    text = json.dumps(header, separators=(",", ":"), sort_keys=True).encode()
    text += b" " * (-len(text) % 8)
    body = b"".join(tensors[name].tobytes() for name in sorted(tensors))
    return struct.pack("<Q", len(text)) + text + body


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="the file to write")
    parser.add_argument("--weights", type=Path, help="folder with pnet.lz4, rnet.lz4, onet.lz4")
    args = parser.parse_args()
    data = to_safetensors(convert(args.weights or package_weights()))
    args.out.parent.mkdir(parents=True, exist_ok=True)
    temporary = args.out.with_name(f".{args.out.name}.tmp-{os.getpid()}")
    try:
        temporary.write_bytes(data)
        temporary.replace(args.out)
    finally:
        temporary.unlink(missing_ok=True)
    print(f"{args.out}: {len(data):,} bytes, SHA-256 {hashlib.sha256(data).hexdigest()}")


if __name__ == "__main__":
    main()
