"""``facebench compare``: two photographs to a score."""

from pathlib import Path

import facebench
from facebench.cli import common
from facebench.cli.options import argument, flag, option
from facebench.cli.verb import verb


@verb(
    "facebench compare a.jpg b.jpg",
    lambda: common.request(
        facebench.pipeline.PreparationOptions, "detector", "selection", "crop", "crop_size"
    ),
)
def compare(
    first: argument("A photograph.", Path),
    second: argument("Another.", Path),
    model: option(common.MODEL_HELP) = "dlib",
    no_exif_orientation: flag(
        "--no-exif-orientation", "Take photographs as they lie, whatever their Exif tags ask for."
    ) = False,
    run: option("A run of this model: whether the score passes its thresholds.", Path) = None,
    setting: common.setting(f"{common.PIXELS_HELP} Or flip=sum.") = None,
    output: common.Output = None,
    providers: common.Providers = None,
    device: common.Device = "cpu",
    **options,
):
    """How alike the faces of two photographs are."""
    common.parse_request(options)
    common.add_outputs(options, output, providers)
    common.add_settings(options, setting)
    options["device"] = common.check_device(device)
    options["exif_orientation"] = not no_exif_orientation
    source = facebench.pipeline.library_from(model, options) or model
    return facebench.compare(first, second, model=source, run=run, **options)
