"""``facebench detect``: the faces of image files."""

import sys
from pathlib import Path
from typing import Annotated

import typer

import facebench
from facebench.cli.app import app
from facebench.cli.common import (
    Detector,
    DetectorOption,
    Json,
    Threads,
    parse_assignments,
    print_json,
    verb,
)
from facebench.cli.progress import make_progress

# Images that are in memory at a time.
_BATCH = 64


def _read(path: Path):
    """The pixels, or None; and what became of the file."""
    if not path.exists():
        return None, "missing"
    try:
        return facebench.images.read(path), "ok"
    except facebench.Error as error:
        print(f"facebench: {error}", file=sys.stderr)
        return None, "unreadable"


def _row(path: Path, status: str, faces: list) -> dict:
    return {
        "image": str(path),
        "status": "no_face" if status == "ok" and not faces else status,
        "faces": [
            {
                "box": [float(v) for v in face.box],
                "score": float(face.score),
                "landmarks": None if face.landmarks is None else face.landmarks.tolist(),
            }
            for face in faces
        ],
    }


@app.command("detect", epilog="Example: facebench detect photo.jpg --draw drawn")
@verb
def detect_command(
    images: Annotated[list[Path], typer.Argument(help="Image files (JPEG, PNG, PNM).")],
    detector: Detector = "mtcnn",
    detector_option: DetectorOption = None,
    draw: Annotated[
        Path | None, typer.Option("--draw", help="Write the images with faces drawn on them here.")
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="An image without a face is a failure.")
    ] = False,
    threads: Threads = 0,
    json: Json = False,
) -> None:
    """Find faces: boxes, landmarks and scores, as CSV or JSON, best face first."""
    options = parse_assignments(detector_option or [])
    finder = facebench.detection.make_detector(detector, **options)
    if draw is not None:
        draw.mkdir(parents=True, exist_ok=True)
    rows = []
    progress = make_progress()
    progress.begin("detect", len(images), "images")
    for start in range(0, len(images), _BATCH):
        paths = images[start : start + _BATCH]
        read = [_read(path) for path in paths]
        readable = [
            (path, pixels)
            for path, (pixels, _) in zip(paths, read, strict=True)
            if pixels is not None
        ]
        found = finder.detect_all(
            [pixels for _, pixels in readable], [str(path) for path, _ in readable], "rgb", threads
        )
        answers = iter(found)
        for path, (pixels, status) in zip(paths, read, strict=True):
            faces = next(answers) if pixels is not None else []
            rows.append((path, _row(path, status, faces), faces))
            if draw is not None and pixels is not None:
                drawn = facebench.detection.draw_faces(pixels, faces)
                facebench.images.write(draw / f"{path.stem}.png", drawn)
        progress.update(len(rows), "")
    progress.end()

    if json:
        print_json([row for _, row, _ in rows])
    else:
        print(facebench.detection.face_csv_header().rstrip("\n"))
        for path, _, faces in rows:
            for face in faces:
                print(facebench.detection.face_csv_record(str(path), face).rstrip("\n"))
    failed = [row for _, row, _ in rows if row["status"] != "ok"]
    for row in failed:
        print(f"facebench: {row['image']}: {row['status']}", file=sys.stderr)
    if strict and failed:
        raise typer.Exit(1)
