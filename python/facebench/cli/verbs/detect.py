"""``facebench detect``: the faces of image files."""

import shutil
import sys
import tempfile
from pathlib import Path

import click

import facebench
from facebench.cli import common
from facebench.cli.options import argument, flag, option
from facebench.cli.verb import Answer, verb
from facebench.core._arguments import number_and_first, printable
from facebench.core._files import open_file


@verb("facebench detect photos --out faces.csv --draw drawn")
def detect(
    images: argument(
        "Image files (JPEG, PNG, PNM, BMP, TIFF, WebP), and folders of them.", list[Path]
    ),
    detector: option("See: facebench list detectors.") = "mtcnn",
    detector_option: common.DetectorOption = None,
    draw: option("Write the images with faces drawn on them below this folder.", Path) = None,
    exif_orientation: common.ExifOrientation = False,
    strict: flag(
        "--strict", "A file without a face, or that is not an image, is a failure."
    ) = False,
    out: option("Write here (.csv or .json) instead of printing the faces.", Path) = None,
    threads: common.Threads = 0,
    device: common.Device = "cpu",
    json: common.Json = False,
):
    """Find faces, as CSV or JSON. Boxes, landmarks and scores, best face first.

    A file without a face, or that cannot be read, is a row with a status. Boxes are x0 y0 x1 y1 in
    pixels. The CSV file is what the detector 'given' reads.
    """
    form = "json" if json else "csv"
    if out is not None:
        form = out.suffix.lstrip(".").lower()
        if form not in facebench.detection.face_formats():
            raise ValueError(f"--out {out}: the name ends with .csv or .json")
    options = common.parse_assignments(detector_option)
    if common.check_device(device) != "cpu":
        options["device"] = device
    finder = facebench.detection.make_detector(detector, **options)
    files, skipped = facebench.detection.list_image_files(images, draw or "")
    if skipped:
        names = number_and_first([path.name for path in skipped])
        common.complain(f"skipped, no {facebench.images.known_formats()}: {names}")
    with tempfile.TemporaryDirectory(prefix="facebench-") as folder:
        target = out or Path(folder) / "faces"
        summary = facebench.detection.detect_to_file(
            files,
            target,
            finder,
            format=form,
            exif_orientation=exif_orientation,
            threads=threads,
        )
        if out is None:
            with open_file(target) as faces:
                if sys.stdout.isatty():
                    for line in faces:
                        print(printable(line.decode("utf-8", "surrogateescape")), end="")
                else:
                    shutil.copyfileobj(faces, sys.stdout.buffer)
    for row in summary.failures:
        common.complain(row.reason if row.status == "unreadable" else f"{row.name}: {row.status}")
    code = common.EXIT_FAILED if strict and summary.failures else 0
    if out is None:  # the faces have been printed
        raise click.exceptions.Exit(code)
    fields = {
        "path": str(out),
        **common.fields_of(summary, "images", "faces", "counts", "tagged"),
        "skipped": [str(path) for path in skipped],
    }
    counts = common.counts_text(summary.counts)
    text = f"{out}: {summary.faces} faces on {summary.images} images ({counts})"
    return Answer(fields, text, code)
