"""``facebench pack``: detect, crop and store a data set in one file."""

from typing import Annotated

import typer

import facebench
from facebench.cli.app import app
from facebench.cli.common import (
    Crop,
    CropSize,
    Detector,
    DetectorOption,
    Exclude,
    Json,
    Out,
    Root,
    Selection,
    Strict,
    Threads,
    crop_size,
    out_path,
    parse_assignments,
    print_json,
    verb,
)
from facebench.cli.progress import make_progress


@app.command("pack", epilog="Example: facebench pack lfw --root LFW --out lfw.h5")
@verb
def pack_command(
    dataset: Annotated[str, typer.Argument(help="See: facebench list datasets.")],
    root: Root,
    out: Out = None,
    detector: Detector = "",
    detector_option: DetectorOption = None,
    selection: Selection = "",
    crop: Crop = "",
    size: CropSize = "0",
    exclude: Exclude = None,
    strict: Strict = False,
    threads: Threads = 0,
    json: Json = False,
) -> None:
    """Detect, crop, store: one file, ready for training and embedding."""
    summary = facebench.pack(
        dataset,
        root,
        out_path(out, "pack", dataset, ".h5"),
        detector=detector,
        detector_options=parse_assignments(detector_option or []),
        selection=selection,
        crop=crop,
        crop_size=crop_size(size),
        exclude=exclude,
        threads=threads,
        progress=make_progress(),
    )
    if json:
        print_json(
            {
                "path": str(summary.path),
                "images": summary.images,
                "counts": summary.counts,
                "tree_sha256": summary.tree_sha256,
                "failures": [
                    {"id": f.id, "status": str(f.status), "reason": f.reason}
                    for f in summary.failures
                ],
            }
        )
    else:
        counts = ", ".join(f"{n} {name}" for name, n in summary.counts.items() if n)
        print(f"{summary.path}: {summary.images} images ({counts})")
        for failure in summary.failures:
            print(f"  {failure.id}: {failure.status}: {failure.reason}")
    if strict and summary.failures:
        raise typer.Exit(1)
