"""``facebench compare``: two photographs to a score."""

from pathlib import Path

import facebench
from facebench.cli import common
from facebench.cli.options import argument, option
from facebench.cli.verb import verb


@verb(
    "facebench compare a.jpg b.jpg --model m.safetensors --run runs/run-lfw-1", common.preparation
)
def compare(
    first: argument("A photograph.", Path),
    second: argument("Another.", Path),
    model: option("FILE.safetensors, FILE.onnx or module:function."),
    run: option("A run of this model: whether the score passes its thresholds.", Path) = None,
    setting: common.setting(f"{common.PIXELS_HELP} Or flip=sum.") = None,
    **options,
):
    """How alike the faces of two photographs are."""
    common.parse_preparation(options)
    if options.pop("detector_options"):
        raise ValueError("--detector-option: make the detector's options part of the model file")
    common.add_settings(options, setting)
    return facebench.compare(first, second, model=model, run=run, **options)
