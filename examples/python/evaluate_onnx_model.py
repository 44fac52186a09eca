"""Take an ONNX model through a protocol: photographs in, a run folder out.

    python evaluate_onnx_model.py MODEL.onnx PROTOCOL ROOT OUT
    python evaluate_onnx_model.py        # an untrained network, on synthetic faces

Needs onnxruntime: pip install onnxruntime.
"""

import sys
from pathlib import Path

import facebench
from facebench import datasets, nn


def main(arguments):
    if arguments:
        model, protocol, root, out = arguments
    else:
        work = Path("evaluate-onnx-example")
        work.mkdir(exist_ok=True)
        model, protocol, root, out = work / "small4.onnx", "lfw", work / "lfw", work / "run"
        nn.export_onnx(nn.build_network("small4", height=64, width=64), model)
        if not root.exists():
            options = datasets.SyntheticOptions(people=30, images=2, pairs_per_fold=3)
            datasets.write_synthetic_dataset(options, root)
    result = facebench.run(
        protocol,
        model=model,
        root=root,
        out=out,
        crop_size=None if arguments else 64,
        overwrite=True,
        replicates=200,
        # What this network was trained on. Your own file may say something else; see its authors'
        # code.
        mean=127.5,
        std=128.0,
        color="rgb",
        flip="none",
    )
    print(result)


if __name__ == "__main__":
    main(sys.argv[1:])
