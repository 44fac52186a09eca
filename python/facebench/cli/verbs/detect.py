"""``facebench detect``: the faces of image files."""

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

import facebench
from facebench.cli.app import app
from facebench.cli.common import (
    Detector,
    DetectorOption,
    Device,
    Json,
    Threads,
    check_device,
    complain,
    parse_assignments,
    print_json,
    verb,
)
from facebench.cli.progress import make_progress


def _counts(summary) -> str:
    return ", ".join(f"{n} {name}" for name, n in summary.counts.items() if n)


@app.command(
    "detect",
    epilog="Example: facebench detect photos --out faces.csv --draw drawn",
)
@verb
def detect_command(
    images: Annotated[
        list[Path],
        typer.Argument(help="Image files (JPEG, PNG, PNM), and folders: all images below them."),
    ],
    detector: Detector = "mtcnn",
    detector_option: DetectorOption = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Write here (.csv or .json) instead of printing the faces."),
    ] = None,
    draw: Annotated[
        Path | None,
        typer.Option("--draw", help="Write the images with faces drawn on them below this folder."),
    ] = None,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="An image without a face, or that is no image, is a failure."
        ),
    ] = False,
    device: Device = "cpu",
    threads: Threads = 0,
    json: Json = False,
) -> None:
    """Find faces, as CSV or JSON. Boxes, landmarks and scores, best face first.

    A file without a face, or that cannot be read, is a row with a status. Boxes are x0 y0 x1 y1 in
    pixels. The CSV file is what the detector 'given' reads.
    """
    form = "json" if json else "csv"
    if out is not None:
        form = out.suffix.lstrip(".").lower()
        if form not in facebench.detection.face_formats():
            raise ValueError(f"--out {out}: the name ends with .csv or .json")
    options = parse_assignments(detector_option or [])
    if check_device(device) != "cpu":
        options["device"] = device
    finder = facebench.detection.make_detector(detector, **options)
    files, skipped = facebench.detection.list_image_files(images, draw or "")
    if skipped:
        some = ", ".join(path.name for path in skipped[:3]) + (", ..." if len(skipped) > 3 else "")
        complain(f"skipped, no JPEG, PNG or PNM: {len(skipped)} ({some})")
    with tempfile.TemporaryDirectory(prefix="facebench-") as folder:
        target = out or Path(folder) / "faces"
        summary = facebench.detection.detect_to_file(
            files, target, finder, format=form, threads=threads, progress=make_progress()
        )
        if out is None:
            with open(target, "rb") as faces:
                shutil.copyfileobj(faces, sys.stdout.buffer)
    for row in summary.failures:
        complain(row.reason if row.status == "unreadable" else f"{row.name}: {row.status}")
    if out is not None and json:
        print_json(
            {
                "path": str(out),
                "images": summary.images,
                "faces": summary.faces,
                "counts": summary.counts,
                "skipped": [str(path) for path in skipped],
            }
        )
    elif out is not None:
        print(f"{out}: {summary.faces} faces on {summary.images} images ({_counts(summary)})")
    if strict and summary.failures:
        raise typer.Exit(1)
