"""``facebench run``: from photographs to a report in one go."""

from pathlib import Path
from typing import Annotated

import typer

import facebench
from facebench.cli.app import app
from facebench.cli.common import (
    Convention,
    Crop,
    CropSize,
    Detector,
    DetectorOption,
    Device,
    FailedEnrolments,
    Fusion,
    Images,
    Interval,
    Json,
    Level,
    Lists,
    Out,
    Overwrite,
    Replicates,
    Root,
    Seed,
    Selection,
    Strict,
    Threads,
    check_device,
    command_line,
    crop_size,
    out_path,
    parse_assignments,
    show,
    verb,
)
from facebench.cli.progress import make_progress


@app.command("run", epilog="Example: facebench run lfw --model m.safetensors --root LFW")
@verb
def run_command(
    protocol: Annotated[str, typer.Argument(help="See: facebench list protocols; or a TOML file.")],
    model: Annotated[
        str, typer.Option("--model", help="FILE.safetensors, FILE.onnx or module:function.")
    ],
    root: Root,
    out: Out = None,
    images: Images = None,
    lists: Lists = None,
    detector: Detector = "",
    detector_option: DetectorOption = None,
    selection: Selection = "",
    crop: Crop = "",
    size: CropSize = "0",
    flip: Annotated[
        str, typer.Option("--flip", help="Flip mode; default: what the model says.")
    ] = "",
    convention: Convention = "",
    failed_enrolments: FailedEnrolments = "",
    fusion: Fusion = "",
    interval: Interval = "",
    replicates: Replicates = 1000,
    level: Level = 0.95,
    strict: Strict = False,
    discard: Annotated[
        bool, typer.Option("--discard", help="Do not keep pack.h5 and embeddings.h5.")
    ] = False,
    overwrite: Overwrite = False,
    seed: Seed = 0,
    threads: Threads = 0,
    device: Device = "cpu",
    json: Json = False,
) -> None:
    """Pack, embed, evaluate and report in one. What is not said is what the model file says."""
    options = {"flip": flip} if flip else {}
    if check_device(device) != "cpu":
        options["device"] = device
    result = facebench.run(
        protocol,
        model=model,
        root=root,
        out=out_path(out, "run", Path(protocol).stem),
        images=images or "",
        lists=lists or "",
        detector=detector,
        detector_options=parse_assignments(detector_option or []),
        selection=selection,
        crop=crop,
        crop_size=crop_size(size),
        convention=convention,
        failed_enrolments=failed_enrolments,
        fusion=fusion,
        interval=interval,
        replicates=replicates,
        level=level,
        strict=strict,
        discard=discard,
        overwrite=overwrite,
        seed=seed,
        threads=threads,
        progress=make_progress(),
        command=command_line(),
        **options,
    )
    show(result, json)
