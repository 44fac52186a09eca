"""Metadata of packs in the Croissant format 1.0 of MLCommons (JSON-LD)."""

import csv
import io
import json
import os
from importlib.resources import files
from pathlib import Path

import numpy as np

from facebench.core._arguments import of_kind
from facebench.core._files import write_text
from facebench.io import SampleStatus, sha256_file

_POINTS = ("left_eye", "right_eye", "nose", "left_mouth", "right_mouth")
_COLUMNS = {
    "row": ("sc:Integer", "row of the pack's data sets, from 0"),
    "name": ("sc:Text", "the photograph's name below the data set's folder"),
    "person": ("sc:Text", "who it shows, by the data set"),
    "status": ("sc:Text", "ok, or why there is no crop"),
    **{
        side: ("sc:Float", f"{side} of the face's box in the photograph, pixels")
        for side in ("x0", "y0", "x1", "y1")
    },
    **{
        f"{point}_{axis}": ("sc:Float", f"{point.replace('_', ' ')} in the photograph, pixels")
        for point in _POINTS
        for axis in "xy"
    },
}


def write_croissant(pack, folder, *, name=None, description=None, url=None, license=None):
    """Describe a pack: ``folder``/croissant.json and the table faces.csv that it names.

    The pack is named with its SHA-256 and stays where it is; publish it beside the two files. Its
    crops are in HDF5, which Croissant can name but not read; what it can read is the table: name,
    person, status, box and landmarks of each row. ``license``, ``url``: of the photographs, as
    their authors state them; without them the fields say that nobody stated any. Returns the path
    of croissant.json. Source: Croissant Format Specification 1.0, MLCommons 2024.

    >>> write_croissant("faces.h5", "published", license="research only")  # doctest: +SKIP
    """
    from facebench import datasets

    stated = {"name": name, "description": description, "url": url, "license": license}
    for field, value in stated.items():
        of_kind(value, (str, type(None)), field)
    path, folder = Path(pack), Path(folder)
    faces = datasets.Pack(os.fspath(path))
    manifest = faces.manifest
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / "faces.csv", _table(faces))
    prepared = f"crop {manifest['crop']['name']}, {faces.shape[1]}x{faces.shape[0]} pixels"
    description_of = {
        "@context": _context(),
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": name or manifest["dataset"]["name"],
        "description": description
        or f"Faces of the data set {manifest['dataset']['name']}: {prepared}. "
        f"{manifest['counts']['ok']} of {len(faces.names)} images have a face.",
        "url": url or "none was stated",
        "license": license or "none was stated",
        "version": "1.0.0",
        "personalSensitiveInformation": "Photographs of faces, and who they show.",
        "dataCollection": "Not by the makers of this file: see the data set's own documents.",
        "distribution": [
            _file(path, "application/x-hdf5", "the pack: crops, boxes, landmarks, people"),
            _file(folder / "faces.csv", "text/csv", "the pack's rows without their pixels"),
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": "faces",
                "name": "faces",
                "key": {"@id": "faces/row"},
                "field": [_field(column, *_COLUMNS[column]) for column in _COLUMNS],
            }
        ],
    }
    write_text(
        folder / "croissant.json", json.dumps(description_of, indent=1, ensure_ascii=False) + "\n"
    )
    return folder / "croissant.json"


def _context() -> dict:
    """What the specification prescribes (docs.mlcommons.org/croissant/docs/croissant-spec)."""
    return json.loads(
        files("facebench").joinpath("templates", "croissant_context.json").read_text("utf-8")
    )


def _file(path, kind, description):
    return {
        "@type": "cr:FileObject",
        "@id": path.name,
        "name": path.name,
        "description": description,
        "contentUrl": path.name,
        "encodingFormat": kind,
        "sha256": sha256_file(path),
    }


def _field(column, kind, description):
    return {
        "@type": "cr:Field",
        "@id": f"faces/{column}",
        "name": f"faces/{column}",
        "description": description,
        "dataType": kind,
        "source": {"fileObject": {"@id": "faces.csv"}, "extract": {"column": column}},
    }


def _table(faces):
    people, labels = faces.label_names, np.asarray(faces.labels)
    numbers = np.hstack([np.asarray(faces.boxes), np.asarray(faces.landmarks).reshape(-1, 10)])
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(_COLUMNS)
    for row, (name, label) in enumerate(zip(faces.names, labels, strict=True)):
        cells = ["" if np.isnan(x) else f"{x:.7g}" for x in numbers[row].astype(float)]
        status = SampleStatus(int(faces.statuses[row])).name
        table.writerow([row, name, people[label], status, *cells])
    return text.getvalue()
