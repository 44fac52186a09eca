"""Data sets: folders of images, packs, and synthetic faces.

A synthetic face with everything that is known about it:

>>> from facebench import datasets
>>> person = datasets.make_identity(seed=1, index=0)
>>> photo = datasets.make_nuisance("yaw30", seed=1)
>>> face = datasets.render_face(person, photo, size=112)
>>> face.image.shape, face.landmarks.shape
((112, 112, 3), (5, 2))

A data set of them, read back and packed without a detector:

>>> import pathlib, tempfile
>>> folder = pathlib.Path(tempfile.mkdtemp())
>>> options = datasets.SyntheticOptions(people=20, images=2, size=64)
>>> summary = datasets.write_synthetic_dataset(options, folder / "faces")
>>> faces = datasets.read_dataset("lfw", folder / "faces")
>>> len(faces)
40
>>> packed = datasets.pack_dataset(faces, folder / "faces.h5")
>>> packed.counts["ok"]
40
>>> datasets.Pack(folder / "faces.h5").images.shape
(40, 112, 112, 3)
"""

from typing import TYPE_CHECKING

from facebench import _library  # noqa: F401
from facebench._full import (
    CheckOptions,
    ConvertOptions,
    Dataset,
    DecodedImages,
    ImageSource,
    OverlapOptions,
    Pack,
    PackOptions,
    Sample,
    SheetOptions,
    SyntheticOptions,
    check_dataset,
    convert_dataset,
    dataset_readers,
    exclude,
    find_image_archive,
    image_archive_writers,
    image_archives,
    make_identity,
    make_nuisance,
    measure_samples,
    nuisance_kinds,
    pack_dataset,
    read_archive,
    read_dataset,
    read_exclusion,
    read_image_folder,
    read_lfw_folder,
    render_face,
    render_sheet,
    sample_measures,
    select_samples,
    synthetic_layouts,
    write_synthetic_dataset,
)
from facebench._full import (
    FaceNuisance as FaceNuisance,
)
from facebench.core._when_asked import when_asked

if TYPE_CHECKING:
    from facebench.datasets._croissant import write_croissant
    from facebench.datasets._description import describe
    from facebench.datasets._keeping import keep
    from facebench.datasets._overlap import audit_sheet, find_overlap, read_person_names

__getattr__ = when_asked(__name__)
__all__ = [
    "CheckOptions",
    "ConvertOptions",
    "Dataset",
    "DecodedImages",
    "ImageSource",
    "OverlapOptions",
    "Pack",
    "PackOptions",
    "Sample",
    "SheetOptions",
    "SyntheticOptions",
    "audit_sheet",
    "check_dataset",
    "convert_dataset",
    "dataset_readers",
    "describe",
    "exclude",
    "find_image_archive",
    "find_overlap",
    "image_archive_writers",
    "image_archives",
    "keep",
    "make_identity",
    "make_nuisance",
    "measure_samples",
    "nuisance_kinds",
    "pack_dataset",
    "read_archive",
    "read_dataset",
    "read_exclusion",
    "read_image_folder",
    "read_lfw_folder",
    "read_person_names",
    "render_face",
    "render_sheet",
    "sample_measures",
    "select_samples",
    "synthetic_layouts",
    "write_croissant",
    "write_synthetic_dataset",
]
