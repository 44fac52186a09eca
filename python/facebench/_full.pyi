# Made by scripts/stubs.py from the compiled module.
"""
facebench: images, detection, datasets, networks, training
"""

from __future__ import annotations
import collections.abc
import facebench._eval
import numpy
import numpy.typing
import os
import pathlib
import torch
import torch.distributed.distributed_c10d
import typing

__all__: list[str] = [
    "AugmentationOptions",
    "BatchModel",
    "CheckOptions",
    "Communicator",
    "ConvertOptions",
    "ConvertSummary",
    "CropOptions",
    "Dataset",
    "DatasetFinding",
    "DatasetReport",
    "DecodeOptions",
    "DecodedImages",
    "DemoOptions",
    "DetectedFile",
    "DetectionSummary",
    "Detector",
    "ExtractOptions",
    "Face",
    "FaceIdentity",
    "FaceNuisance",
    "GivenOptions",
    "Graph",
    "Head",
    "HogOptions",
    "ImageFile",
    "ImageSource",
    "InferenceNetwork",
    "InputOptions",
    "MemoryReuse",
    "Model",
    "ModelOptions",
    "MtcnnOptions",
    "Network",
    "NetworkOptions",
    "Optimizer",
    "OptimizerOptions",
    "OutsideFaces",
    "OverlapOptions",
    "Pack",
    "PackFailure",
    "PackOptions",
    "PackSummary",
    "PreparationOptions",
    "ProcessMeter",
    "PythonModel",
    "Recipe",
    "Sample",
    "ScheduleOptions",
    "SeriesOptions",
    "SheetOptions",
    "StepBench",
    "StepOptions",
    "SyntheticFace",
    "SyntheticOptions",
    "SyntheticSummary",
    "TrainOptions",
    "TrainingOptions",
    "Validation",
    "ValidationOptions",
    "area_mean",
    "array_validation",
    "build_graph",
    "build_network",
    "busy_share",
    "check_dataset",
    "communicator",
    "conversion_defaults",
    "convert_color",
    "convert_dataset",
    "convert_weights",
    "count_rules",
    "crop_face",
    "crop_window",
    "crops",
    "dataset_readers",
    "decode_image",
    "decode_rate",
    "default_mtcnn_weights",
    "demo",
    "detect_files",
    "detect_to_file",
    "detectors",
    "draw_faces",
    "encode_jpeg",
    "encode_png",
    "encode_pnm",
    "exclude",
    "extract",
    "extract_array",
    "face_csv_header",
    "face_csv_record",
    "face_formats",
    "find_image_archive",
    "find_overlap",
    "fit_similarity",
    "head_memory",
    "image_archive_writers",
    "image_archives",
    "imported_model",
    "initializers",
    "interpolations",
    "intersection_over_union",
    "iteration_model",
    "learning_rate",
    "list_image_files",
    "load_model",
    "load_recipe",
    "losses",
    "machine_facts",
    "make_detector",
    "make_head",
    "make_identity",
    "make_model",
    "make_nuisance",
    "match_names",
    "measure_input_ranges",
    "measure_samples",
    "mtcnn_modes",
    "name_words",
    "networks",
    "normalized_name",
    "nuisance_kinds",
    "open_validation",
    "pack_dataset",
    "parse_cpuinfo",
    "parse_model_description",
    "parse_recipe",
    "predict_step_memory",
    "prepare",
    "protocol_dataset",
    "read_archive",
    "read_dataset",
    "read_exclusion",
    "read_image",
    "read_image_folder",
    "read_lfw_folder",
    "recipe_names",
    "render_face",
    "render_sheet",
    "repeat_spread",
    "require_pixels",
    "resize",
    "resolve_crop",
    "run",
    "sample_measures",
    "samplers",
    "scaling_speedup",
    "schedule_policies",
    "select_face",
    "select_samples",
    "selection_rules",
    "step_inputs",
    "summarize_times",
    "synthetic_layouts",
    "time_input",
    "torch_version",
    "train_arrays",
    "train_pack",
    "training_inputs",
    "training_views",
    "verify",
    "warp_affine",
    "write_image",
    "write_synthetic_dataset",
]

class DecodeOptions:
    """
    How an image file becomes pixels.

    Fields:
        color (text, default rgb): colour order of the result
        max_pixels (integer, default 200000000): largest width x height that is accepted; checked before anything is allocated
        exif_orientation (boolean, default false): turn a JPEG the way its Exif tag says (the references do not)
    """

    @staticmethod
    def fields() -> list:
        """
        The description of every field: name, type, default, doc, low, high, choices, optional.
        """

    def __eq__(self, arg0: object) -> bool: ...
    def __init__(
        self, *, color: str = ..., max_pixels: int = ..., exif_orientation: bool = ...
    ) -> None: ...
    def __reduce__(self) -> tuple: ...
    def __repr__(self) -> str: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """
    color: str
    "colour order of the result"
    max_pixels: int
    "largest width x height that is accepted; checked before anything is allocated"
    exif_orientation: bool
    "turn a JPEG the way its Exif tag says (the references do not)"

class MtcnnOptions:
    """
    The MTCNN cascade.

    Fields:
        mode (text, default facenet): whose implementation it follows
        weights (text, optional): mtcnn.safetensors; default: the file installed with the library
        min_face (number, default 20): smallest face that is looked for, pixels
        max_face (number, optional): largest face that the pyramid looks for, pixels; default: no bound
        factor (number, default 0.709): from one level of the pyramid to the next
        thresholds (numbers, default [0.6, 0.7, 0.7]): least scores of P-Net, R-Net and O-Net
        nms (numbers, default [0.5, 0.7, 0.7, 0.7]): overlap that suppresses: within a level, over all levels, after R-Net, after O-Net
        second_look (boolean, optional): an image without a face is searched again, within a grey border, for one that fills it; default: in mode facenet, whose program does not
        box_offset (number, default 0): added to boxes and landmarks at the end, pixels (-1 turns the 1-based numbers of all modes into 0-based ones)
        path (text, default fast): kernels for the processor, or the clear loops that they are compared with
        device (text, default cpu): the processor, or the first CUDA device (modes facenet and facenet_pytorch)
    """

    @staticmethod
    def fields() -> list:
        """
        The description of every field: name, type, default, doc, low, high, choices, optional.
        """

    def __eq__(self, arg0: object) -> bool: ...
    def __init__(
        self,
        *,
        mode: str = ...,
        weights: str | None = ...,
        min_face: float = ...,
        max_face: float | None = ...,
        factor: float = ...,
        thresholds: collections.abc.Sequence[float] = ...,
        nms: collections.abc.Sequence[float] = ...,
        second_look: bool | None = ...,
        box_offset: float = ...,
        path: str = ...,
        device: str = ...,
    ) -> None: ...
    def __reduce__(self) -> tuple: ...
    def __repr__(self) -> str: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """
    mode: str
    "whose implementation it follows"
    weights: str | None
    "mtcnn.safetensors; default: the file installed with the library"
    min_face: float
    "smallest face that is looked for, pixels"
    max_face: float | None
    "largest face that the pyramid looks for, pixels; default: no bound"
    factor: float
    "from one level of the pyramid to the next"
    thresholds: collections.abc.Sequence[float]
    "least scores of P-Net, R-Net and O-Net"
    nms: collections.abc.Sequence[float]
    "overlap that suppresses: within a level, over all levels, after R-Net, after O-Net"
    second_look: bool | None
    "an image without a face is searched again, within a grey border, for one that fills it; default: in mode facenet, whose program does not"
    box_offset: float
    "added to boxes and landmarks at the end, pixels (-1 turns the 1-based numbers of all modes into 0-based ones)"
    path: str
    "kernels for the processor, or the clear loops that they are compared with"
    device: str
    "the processor, or the first CUDA device (modes facenet and facenet_pytorch)"

class HogOptions:
    """
    dlib's frontal face detector.

    Fields:
        upsample (integer, default 1): times that the image is doubled first
        threshold (number, default 0): least distance from the decision; lower finds more and errs more
    """

    @staticmethod
    def fields() -> list:
        """
        The description of every field: name, type, default, doc, low, high, choices, optional.
        """

    def __eq__(self, arg0: object) -> bool: ...
    def __init__(self, *, upsample: int = ..., threshold: float = ...) -> None: ...
    def __reduce__(self) -> tuple: ...
    def __repr__(self) -> str: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """
    upsample: int
    "times that the image is doubled first"
    threshold: float
    "least distance from the decision; lower finds more and errs more"

class GivenOptions:
    """
    Boxes and landmarks from a file.

    Fields:
        file (text, default ): the file
        columns (texts, default []): names of the columns of a file without a header line; empty = the first line has them
        rename (texts, default []): columns that the file calls otherwise, as OURS=THEIRS: name=FILE, x=FACE_X
        separator (text, default comma): between cells
        match (text, default exact): names: exact, or stem = without extension (and without any #k)
        scale (number, default 1): coordinates are multiplied by it (0.6 for a 250-pixel list on 150-pixel images)
    """

    @staticmethod
    def fields() -> list:
        """
        The description of every field: name, type, default, doc, low, high, choices, optional.
        """

    def __eq__(self, arg0: object) -> bool: ...
    def __init__(
        self,
        *,
        file: str = ...,
        columns: collections.abc.Sequence[str] = ...,
        rename: collections.abc.Sequence[str] = ...,
        separator: str = ...,
        match: str = ...,
        scale: float = ...,
    ) -> None: ...
    def __reduce__(self) -> tuple: ...
    def __repr__(self) -> str: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """
    file: str
    "the file"
    columns: collections.abc.Sequence[str]
    "names of the columns of a file without a header line; empty = the first line has them"
    rename: collections.abc.Sequence[str]
    "columns that the file calls otherwise, as OURS=THEIRS: name=FILE, x=FACE_X"
    separator: str
    "between cells"
    match: str
    "names: exact, or stem = without extension (and without any #k)"
    scale: float
    "coordinates are multiplied by it (0.6 for a 250-pixel list on 150-pixel images)"

class Face:
    """
    A face: box, score and, where the detector gives them, landmarks.
    """

    def __eq__(self, arg0: object) -> bool: ...
    def __getstate__(self) -> tuple: ...
    def __init__(
        self,
        box: typing.Annotated[collections.abc.Sequence[typing.SupportsFloat], "FixedSize(4)"],
        score: typing.SupportsFloat = 1.0,
        landmarks: typing.Annotated[
            collections.abc.Sequence[
                typing.Annotated[collections.abc.Sequence[typing.SupportsFloat], "FixedSize(2)"]
            ],
            "FixedSize(5)",
        ]
        | None = None,
    ) -> None: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, arg0: tuple) -> None: ...
    @property
    def box(self) -> numpy.typing.NDArray[numpy.float32]:
        """
        x0, y0, x1, y1 in pixels, float32
        """

    @property
    def landmarks(self) -> typing.Any:
        """
        (5, 2) float32: left eye, right eye, nose, left and right mouth corner as seen in the image; None where there are none
        """

    @property
    def score(self) -> float: ...

class Detector:
    """
    Finds the faces of images. Thread-safe; made by make_detector().
    """

    def description(self) -> str:
        """
        Everything that decides the result, as JSON text.
        """

    def detect(self, image: numpy.ndarray, sample_id: str = "", color: str = "rgb") -> list[Face]:
        """
        The faces of one image (height, width, 3), best first.
        """

    def detect_all(
        self,
        images: collections.abc.Sequence[numpy.ndarray],
        sample_ids: collections.abc.Sequence[str] = [],
        color: str = "rgb",
        threads: typing.SupportsInt = 0,
        progress: typing.Any | None = None,
    ) -> list[list[Face]]:
        """
        A list of faces for each image, whatever their sizes, on several threads.
        """

class DetectedFile:
    """
    The result for one image file.
    """

    def __eq__(self, arg0: object) -> bool: ...
    def __repr__(self) -> str: ...
    @property
    def faces(self) -> list[Face]:
        """
        the faces, best first
        """

    @property
    def name(self) -> str:
        """
        the sample id
        """

    @property
    def reason(self) -> str:
        """
        what is wrong with the file; often empty
        """

    @property
    def status(self) -> str:
        """
        'ok', 'no_face', 'unreadable' or 'missing'
        """

class DetectionSummary:
    """
    What detect_to_file() found.
    """

    @property
    def counts(self) -> dict:
        """
        images by status
        """

    @property
    def faces(self) -> int: ...
    @property
    def failures(self) -> list[DetectedFile]:
        """
        the DetectedFile that are not ok
        """

    @property
    def images(self) -> int: ...

class ImageFile:
    """
    An image file: its name, where it lies, its drawing.
    """

    @property
    def drawing(self) -> pathlib.Path:
        """
        where its faces are drawn; '.' = nowhere
        """

    @property
    def name(self) -> str:
        """
        the sample id
        """

    @property
    def path(self) -> pathlib.Path:
        """
        the file, or the archive
        """

class CropOptions:
    """
    How a face is cut out of its image.

    Fields:
        name (text, default arcface112): which crop
        width (integer, optional): pixels; default: the crop's own
        height (integer, optional): pixels; default: the crop's own
        interpolation (text, optional): of box crops; default: the crop's own; aligned crops are always bilinear
        margin (number, optional): added on each side of the box, as a share of the box's side; default: the crop's own
        margin_pixels (number, optional): added on each side of the box, pixels of the image; default: the crop's own
        border (integer, default 0): value outside the image, for aligned crops
    """

    @staticmethod
    def fields() -> list:
        """
        The description of every field: name, type, default, doc, low, high, choices, optional.
        """

    def __eq__(self, arg0: object) -> bool: ...
    def __init__(
        self,
        *,
        name: str = ...,
        width: int | None = ...,
        height: int | None = ...,
        interpolation: str | None = ...,
        margin: float | None = ...,
        margin_pixels: float | None = ...,
        border: int = ...,
    ) -> None: ...
    def __reduce__(self) -> tuple: ...
    def __repr__(self) -> str: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """
    name: str
    "which crop"
    width: int | None
    "pixels; default: the crop's own"
    height: int | None
    "pixels; default: the crop's own"
    interpolation: str | None
    "of box crops; default: the crop's own; aligned crops are always bilinear"
    margin: float | None
    "added on each side of the box, as a share of the box's side; default: the crop's own"
    margin_pixels: float | None
    "added on each side of the box, pixels of the image; default: the crop's own"
    border: int
    "value outside the image, for aligned crops"

class Sample:
    """
    One image of a data set: id, path, label.
    """

    def __repr__(self) -> str: ...
    def read(self) -> bytes:
        """
        the bytes of the image file
        """

    @property
    def id(self) -> str:
        """
        path relative to the data set's root
        """

    @property
    def label(self) -> int:
        """
        index into Dataset.label_names
        """

    @property
    def path(self) -> pathlib.Path:
        """
        the file, or the archive
        """

    @property
    def where(self) -> str:
        """
        the file, or the archive and its record
        """

class Dataset:
    """
    Images of people, in a fixed order.
    """

    def __len__(self) -> int: ...
    def __repr__(self) -> str: ...
    @property
    def damaged(self) -> list[str]:
        """
        entries of an archive that were left out
        """

    @property
    def label_names(self) -> list[str]: ...
    @property
    def name(self) -> str: ...
    @property
    def notes(self) -> list[str]:
        """
        what is odd about it, a sentence each
        """

    @property
    def passed_over(self) -> list[str]:
        """
        files of a folder that are not read: no JPEG, PNG or PNM, or outside of the people's folders
        """

    @property
    def root(self) -> pathlib.Path: ...
    @property
    def samples(self) -> list[Sample]: ...

class CheckOptions:
    """
    What is looked for in a data set.

    Fields:
        decode (boolean, default true): decode every image
        duplicates (boolean, default true): look for files with the same bytes
        min_images (integer, default 1): images that every person should have
        listed_by_stem (boolean, default true): names in lists match whatever their extension
    """

    @staticmethod
    def fields() -> list:
        """
        The description of every field: name, type, default, doc, low, high, choices, optional.
        """

    def __eq__(self, arg0: object) -> bool: ...
    def __init__(
        self,
        *,
        decode: bool = ...,
        duplicates: bool = ...,
        min_images: int = ...,
        listed_by_stem: bool = ...,
    ) -> None: ...
    def __reduce__(self) -> tuple: ...
    def __repr__(self) -> str: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """
    decode: bool
    "decode every image"
    duplicates: bool
    "look for files with the same bytes"
    min_images: int
    "images that every person should have"
    listed_by_stem: bool
    "names in lists match whatever their extension"

class DatasetFinding:
    """
    Something wrong in a data set.
    """

    def __repr__(self) -> str: ...
    @property
    def detail(self) -> str: ...
    @property
    def id(self) -> str: ...
    @property
    def kind(self) -> str:
        """
        missing, empty, unreadable, duplicate or too_few_images
        """

class DatasetReport:
    """
    What check_dataset found.
    """

    def count(self, kind: str) -> int: ...
    @property
    def findings(self) -> list[DatasetFinding]: ...
    @property
    def images(self) -> int: ...
    @property
    def listed(self) -> int: ...
    @property
    def people(self) -> int: ...

class ImageSource:
    """
    Equally large RGB crops, by index.
    """

    def __len__(self) -> int: ...
    def name(self, index: typing.SupportsInt) -> str:
        """
        The sample's id.
        """

    def pixels(self, index: typing.SupportsInt) -> numpy.ndarray:
        """
        uint8 (H, W, 3), a read-only view.
        """

    def status(self, index: typing.SupportsInt) -> int:
        """
        The status of the sample; a number of SampleStatus.
        """

    @property
    def shape(self) -> tuple:
        """
        (N, H, W, 3).
        """

class DecodedImages(ImageSource):
    """
    The images of a data set, decoded each time they are asked for.
    """

    def __init__(
        self, dataset: Dataset, size: tuple[typing.SupportsInt, typing.SupportsInt] | None = None
    ) -> None: ...
    def pixels(self, index: typing.SupportsInt) -> numpy.typing.NDArray[numpy.uint8]:
        """
        uint8 (H, W, 3), a copy.
        """

class ConvertOptions:
    """
    How a data set is written as an archive.

    Fields:
        shard_images (integer, default 10000): images in each shard of a pattern without an end, {000..}
    """

    @staticmethod
    def fields() -> list:
        """
        The description of every field: name, type, default, doc, low, high, choices, optional.
        """

    def __eq__(self, arg0: object) -> bool: ...
    def __init__(self, *, shard_images: int = ...) -> None: ...
    def __reduce__(self) -> tuple: ...
    def __repr__(self) -> str: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """
    shard_images: int
    "images in each shard of a pattern without an end, {000..}"

class ConvertSummary:
    """
    What convert_dataset wrote.
    """

    @property
    def files(self) -> list[pathlib.Path]: ...
    @property
    def images(self) -> int: ...
    @property
    def notes(self) -> list[str]: ...
    @property
    def people(self) -> int: ...
    @property
    def source_sha256(self) -> str: ...
    @property
    def tree_sha256(self) -> str:
        """
        of a pack, else empty
        """

    @property
    def written_sha256(self) -> str: ...

class PackOptions:
    """
    How image files become a pack.

    Fields:
        max_pixels (integer, default 200000000): larger images are unreadable; checked before anything is allocated
        exif_orientation (boolean, default false): turn a JPEG the way its Exif tag says
    """

    @staticmethod
    def fields() -> list:
        """
        The description of every field: name, type, default, doc, low, high, choices, optional.
        """

    def __eq__(self, arg0: object) -> bool: ...
    def __init__(self, *, max_pixels: int = ..., exif_orientation: bool = ...) -> None: ...
    def __reduce__(self) -> tuple: ...
    def __repr__(self) -> str: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """
    max_pixels: int
    "larger images are unreadable; checked before anything is allocated"
    exif_orientation: bool
    "turn a JPEG the way its Exif tag says"

class PackFailure:
    """
    A sample that is a row without a face.
    """

    @property
    def id(self) -> str: ...
    @property
    def reason(self) -> str: ...
    @property
    def status(self) -> str: ...

class OutsideFaces:
    """
    Faces that reach beyond their image.
    """

    @property
    def boxes(self) -> int:
        """
        with a box that leaves by more than a fifth of its side
        """

    @property
    def faces(self) -> int:
        """
        that were cut out
        """

    @property
    def landmarks(self) -> int:
        """
        with a landmark outside
        """

    @property
    def names(self) -> list[str]:
        """
        of both, in the order of the samples
        """

    @property
    def warning(self) -> str:
        """
        a sentence, where more than one face in a hundred is outside; else empty
        """

class PackSummary:
    """
    What pack_dataset wrote.
    """

    @property
    def counts(self) -> dict: ...
    @property
    def damaged(self) -> list[str]:
        """
        entries of an archive that were left out
        """

    @property
    def failures(self) -> list[PackFailure]: ...
    @property
    def images(self) -> int: ...
    @property
    def notes(self) -> list[str]:
        """
        Dataset.notes
        """

    @property
    def outside(self) -> OutsideFaces: ...
    @property
    def passed_over(self) -> list[str]:
        """
        Dataset.passed_over
        """

    @property
    def path(self) -> pathlib.Path: ...
    @property
    def tree_sha256(self) -> str: ...

class Pack(ImageSource):
    """
    A pack, mapped into memory.
    """

    def __init__(self, path: os.PathLike | str | bytes) -> None: ...
    def __len__(self) -> int: ...
    @property
    def boxes(self) -> numpy.ndarray: ...
    @property
    def images(self) -> numpy.ndarray:
        """
        uint8 (N, H, W, 3), a view of the file
        """

    @property
    def label_names(self) -> list[str]: ...
    @property
    def labels(self) -> numpy.ndarray: ...
    @property
    def landmarks(self) -> numpy.ndarray: ...
    @property
    def manifest(self) -> typing.Any: ...
    @property
    def names(self) -> list[str]: ...
    @property
    def path(self) -> pathlib.Path: ...
    @property
    def statuses(self) -> numpy.ndarray: ...

class FaceNuisance:
    """
    Everything that differs between two images of one synthetic person.

    Fields:
        yaw (number, default 0): degrees, positive turns the nose to the right of the image
        pitch (number, default 0): degrees, positive raises the chin
        roll (number, default 0): degrees, positive turns clockwise
        light_azimuth (number, default 20): degrees, positive comes from the right
        light_elevation (number, default 30): degrees above the horizon
        key_light (number, default 0.8): strength of the main light
        ambient_light (number, default 0.35): strength of the light from everywhere
        exposure (number, default 1): exposure of the camera
        warmth (number, default 0): colour of the main light, cold to warm
        smile (number, default 0): corners of the mouth down to up
        mouth_open (number, default 0): closed to open mouth
        brow_raise (number, default 0): frown to raised brows
        eyelids (number, default 0): open to closed eyes
        gaze_x (number, default 0): eyes to the left or right
        gaze_y (number, default 0): eyes up or down
        age (number, default 0.3): 0 child, 0.3 adult, 1 old
        disguise (text, default none): what covers the face
        face_size (number, default 0.22): half the head's width in parts of the image's
        center_x (number, default 0.5): point between the eyes, in parts of the width
        center_y (number, default 0.47): point between the eyes, in parts of the height
        background_seed (integer, default 0): background and clothing
        disguise_seed (integer, default 0): shape and colour of the disguise
        blur (number, default 0.5): standard deviation, pixels of a 160-pixel image
        resolution (number, default 1): scale to which detail was lost
        noise (number, default 2): standard deviation in 8-bit steps
        noise_seed (integer, default 0): which noise
        jpeg_quality (integer, default 90): of the file that is written
    """

    @staticmethod
    def fields() -> list:
        """
        The description of every field: name, type, default, doc, low, high, choices, optional.
        """

    def __eq__(self, arg0: object) -> bool: ...
    def __init__(
        self,
        *,
        yaw: float = ...,
        pitch: float = ...,
        roll: float = ...,
        light_azimuth: float = ...,
        light_elevation: float = ...,
        key_light: float = ...,
        ambient_light: float = ...,
        exposure: float = ...,
        warmth: float = ...,
        smile: float = ...,
        mouth_open: float = ...,
        brow_raise: float = ...,
        eyelids: float = ...,
        gaze_x: float = ...,
        gaze_y: float = ...,
        age: float = ...,
        disguise: str = ...,
        face_size: float = ...,
        center_x: float = ...,
        center_y: float = ...,
        background_seed: int = ...,
        disguise_seed: int = ...,
        blur: float = ...,
        resolution: float = ...,
        noise: float = ...,
        noise_seed: int = ...,
        jpeg_quality: int = ...,
    ) -> None: ...
    def __reduce__(self) -> tuple: ...
    def __repr__(self) -> str: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """
    yaw: float
    "degrees, positive turns the nose to the right of the image"
    pitch: float
    "degrees, positive raises the chin"
    roll: float
    "degrees, positive turns clockwise"
    light_azimuth: float
    "degrees, positive comes from the right"
    light_elevation: float
    "degrees above the horizon"
    key_light: float
    "strength of the main light"
    ambient_light: float
    "strength of the light from everywhere"
    exposure: float
    "exposure of the camera"
    warmth: float
    "colour of the main light, cold to warm"
    smile: float
    "corners of the mouth down to up"
    mouth_open: float
    "closed to open mouth"
    brow_raise: float
    "frown to raised brows"
    eyelids: float
    "open to closed eyes"
    gaze_x: float
    "eyes to the left or right"
    gaze_y: float
    "eyes up or down"
    age: float
    "0 child, 0.3 adult, 1 old"
    disguise: str
    "what covers the face"
    face_size: float
    "half the head's width in parts of the image's"
    center_x: float
    "point between the eyes, in parts of the width"
    center_y: float
    "point between the eyes, in parts of the height"
    background_seed: int
    "background and clothing"
    disguise_seed: int
    "shape and colour of the disguise"
    blur: float
    "standard deviation, pixels of a 160-pixel image"
    resolution: float
    "scale to which detail was lost"
    noise: float
    "standard deviation in 8-bit steps"
    noise_seed: int
    "which noise"
    jpeg_quality: int
    "of the file that is written"

class SyntheticOptions:
    """
    A data set of synthetic faces.

    Fields:
        people (integer, default 150): number of people
        images (integer, default 12): images of each person
        size (integer, default 160): side of the images, pixels
        spread (number, default 0.6): differences between people: 0 none, 1 so large that recognition is easy
        supersampling (integer, default 2): samples a pixel along each side
        seed (integer, default 0): which population and which photographs
        first_person (integer, default 0): index of the first person: sets that do not overlap in index share nobody
        protocol (text, default lfw): layout and lists
        kind (text, default wild): of photograph, where the protocol does not say
        pairs_per_fold (integer, default 300): genuine, and as many impostor, pairs in a fold; fewer where the people do not give them
    """

    @staticmethod
    def fields() -> list:
        """
        The description of every field: name, type, default, doc, low, high, choices, optional.
        """

    def __eq__(self, arg0: object) -> bool: ...
    def __init__(
        self,
        *,
        people: int = ...,
        images: int = ...,
        size: int = ...,
        spread: float = ...,
        supersampling: int = ...,
        seed: int = ...,
        first_person: int = ...,
        protocol: str = ...,
        kind: str = ...,
        pairs_per_fold: int = ...,
    ) -> None: ...
    def __reduce__(self) -> tuple: ...
    def __repr__(self) -> str: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """
    people: int
    "number of people"
    images: int
    "images of each person"
    size: int
    "side of the images, pixels"
    spread: float
    "differences between people: 0 none, 1 so large that recognition is easy"
    supersampling: int
    "samples a pixel along each side"
    seed: int
    "which population and which photographs"
    first_person: int
    "index of the first person: sets that do not overlap in index share nobody"
    protocol: str
    "layout and lists"
    kind: str
    "of photograph, where the protocol does not say"
    pairs_per_fold: int
    "genuine, and as many impostor, pairs in a fold; fewer where the people do not give them"

class SheetOptions:
    """
    A contact sheet of synthetic faces.

    Fields:
        people (integer, default 6): rows
        size (integer, default 140): side of one image, pixels
        spread (number, default 0.6): differences between people; see SyntheticOptions
        supersampling (integer, default 2): samples a pixel along each side
        seed (integer, default 0): which people
    """

    @staticmethod
    def fields() -> list:
        """
        The description of every field: name, type, default, doc, low, high, choices, optional.
        """

    def __eq__(self, arg0: object) -> bool: ...
    def __init__(
        self,
        *,
        people: int = ...,
        size: int = ...,
        spread: float = ...,
        supersampling: int = ...,
        seed: int = ...,
    ) -> None: ...
    def __reduce__(self) -> tuple: ...
    def __repr__(self) -> str: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """
    people: int
    "rows"
    size: int
    "side of one image, pixels"
    spread: float
    "differences between people; see SyntheticOptions"
    supersampling: int
    "samples a pixel along each side"
    seed: int
    "which people"

class FaceIdentity:
    """
    What makes one synthetic person.
    """

    @property
    def index(self) -> int: ...
    @property
    def traits(self) -> dict: ...

class SyntheticFace:
    """
    A picture and everything known about it.
    """

    @property
    def age_group(self) -> str: ...
    @property
    def box(self) -> tuple: ...
    @property
    def disguise(self) -> str: ...
    @property
    def image(self) -> numpy.ndarray:
        """
        uint8 (size, size, 3) RGB
        """

    @property
    def landmarks(self) -> numpy.typing.NDArray[numpy.float32]: ...
    @property
    def quality(self) -> float: ...
    @property
    def yaw(self) -> float: ...

class SyntheticSummary:
    """
    What write_synthetic_dataset wrote.
    """

    @property
    def folder(self) -> pathlib.Path: ...
    @property
    def images(self) -> int: ...
    @property
    def people(self) -> int: ...
    @property
    def tree_sha256(self) -> str: ...

class OverlapOptions:
    """
    How people and images in common are looked for.

    Fields:
        names (boolean, default true): compare the people's names
        similarity (boolean, default true): compare every image with every image, where both sets have embeddings
        threshold (number, optional): cosine from which two images count as of one person; default: chosen by the scores of different people in the test set
        false_alarms (number, default 1): how many pairs of images of different people may pass a chosen threshold, of all that are compared
    """

    @staticmethod
    def fields() -> list:
        """
        The description of every field: name, type, default, doc, low, high, choices, optional.
        """

    def __eq__(self, arg0: object) -> bool: ...
    def __init__(
        self,
        *,
        names: bool = ...,
        similarity: bool = ...,
        threshold: float | None = ...,
        false_alarms: float = ...,
    ) -> None: ...
    def __reduce__(self) -> tuple: ...
    def __repr__(self) -> str: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """
    names: bool
    "compare the people's names"
    similarity: bool
    "compare every image with every image, where both sets have embeddings"
    threshold: float | None
    "cosine from which two images count as of one person; default: chosen by the scores of different people in the test set"
    false_alarms: float
    "how many pairs of images of different people may pass a chosen threshold, of all that are compared"

class NetworkOptions:
    """
    What a network is built for; unset: its own default.

    Fields:
        height (integer, optional): height of the input, pixels
        width (integer, optional): width of the input, pixels
        channels (integer, default 3): channels of the input
        embedding (integer, optional): length of the embedding
        classes (integer, default 0): classes of the classifier; 0: none
        channel_multiplier (number, default 1): factor on the number of channels, where the network allows it
        auxiliary (integer, optional): auxiliary classifiers: 1 with, 0 without; default: the network's
        batch_norm_eps (number, optional): added to the variance in batch norm; default: what the network has
        words (integer, optional): words of a sequence, where the network reads words
        vocabulary (integer, optional): how many different words there are
    """

    @staticmethod
    def fields() -> list:
        """
        The description of every field: name, type, default, doc, low, high, choices, optional.
        """

    def __eq__(self, arg0: object) -> bool: ...
    def __init__(
        self,
        *,
        height: int | None = ...,
        width: int | None = ...,
        channels: int = ...,
        embedding: int | None = ...,
        classes: int = ...,
        channel_multiplier: float = ...,
        auxiliary: int | None = ...,
        batch_norm_eps: float | None = ...,
        words: int | None = ...,
        vocabulary: int | None = ...,
    ) -> None: ...
    def __reduce__(self) -> tuple: ...
    def __repr__(self) -> str: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """
    height: int | None
    "height of the input, pixels"
    width: int | None
    "width of the input, pixels"
    channels: int
    "channels of the input"
    embedding: int | None
    "length of the embedding"
    classes: int
    "classes of the classifier; 0: none"
    channel_multiplier: float
    "factor on the number of channels, where the network allows it"
    auxiliary: int | None
    "auxiliary classifiers: 1 with, 0 without; default: the network's"
    batch_norm_eps: float | None
    "added to the variance in batch norm; default: what the network has"
    words: int | None
    "words of a sequence, where the network reads words"
    vocabulary: int | None
    "how many different words there are"

class Graph:
    """
    A network as data: layers, shapes, taps. Read-only.
    """

    def __str__(self) -> str: ...
    def count_activations(self) -> int:
        """
        Numbers that all layers put out for one image.
        """

    def count_macs(self) -> int:
        """
        Multiply-accumulates for one image.
        """

    def count_parameters(self, rule: str = "parameters") -> int:
        """
        Numbers of the network by a counting rule: 'parameters' (all), 'caffe_first_blob', 'weights'.
        """

    def peak_activations(self) -> int:
        """
        The most numbers alive at once for one image, in inference.
        """

    def summary(self) -> str:
        """
        A table of the layers, the taps and the totals.
        """

    def tap_node(self, tap: str) -> int:
        """
        The index of the node that a tap names.
        """

    def training_activation_bytes(self, element: typing.SupportsInt = 4) -> int:
        """
        Bytes for one image that a training step keeps for the backward pass.
        """

    @property
    def input_shape(self) -> list[int]:
        """
        [C, H, W] of one image, [T] of a sequence of words.
        """

    @property
    def nodes(self) -> list:
        """
        Every node: name, op, inputs (indices of nodes), shape, options (those of the operation), tensors (names).
        """

    @property
    def taps(self) -> dict[str, list[int]]:
        """
        Name -> shape (without the batch) of every tapped value.
        """

    @property
    def tensors(self) -> dict:
        """
        Name -> shape of every parameter and buffer, in the order of the layers.
        """

    @property
    def vocabulary(self) -> int:
        """
        How many words there are, of a graph that reads words; 0: it reads images.
        """

class Network:
    """
    A network run by torch; see facebench.nn.build_network.
    """

    def __call__(self, images: torch.Tensor, tap: str = "embedding") -> torch.Tensor: ...
    def buffers(self) -> list[torch.Tensor]: ...
    def channels_last(self, on: bool = True) -> Network:
        """
        Lay values out as NHWC: the same numbers, faster.
        """

    def clone(self) -> Network: ...
    def eval(self) -> Network: ...
    def fold_batch_norm(self) -> Network:
        """
        The same network for inference with its batch norms folded into the layers before.
        """

    def forward(self, images: torch.Tensor, tap: str = "embedding") -> torch.Tensor:
        """
        The tapped value for images (N, C, H, W); recorded by autograd.
        """

    def forward_taps(
        self, images: torch.Tensor, taps: collections.abc.Sequence[str]
    ) -> list[torch.Tensor]:
        """
        Several tapped values of one pass.
        """

    def infer(self, images: torch.Tensor, tap: str = "embedding") -> torch.Tensor:
        """
        The tapped value in evaluation mode, without gradients, whatever `training` says.
        """

    def load_state_dict(
        self, tensors: collections.abc.Mapping[str, torch.Tensor], where: str = "state dict"
    ) -> None:
        """
        Copy numbers in. facebench.Error names a tensor that is missing, unexpected or of another shape.
        """

    def named_buffers(self) -> typing.Any: ...
    def named_parameters(self) -> typing.Any: ...
    def parameters(self) -> list[torch.Tensor]: ...
    def set_dropout(self, seed: typing.SupportsInt, step: typing.SupportsInt) -> None:
        """
        Dropout's masks depend on these and the layer alone.
        """

    def state_dict(self) -> dict:
        """
        Name -> tensor (sharing memory) of every parameter and buffer.
        """

    def to(self, device: typing.Any | None = None, dtype: typing.Any | None = None) -> Network:
        """
        Move every tensor (each keeps its identity; gradients are dropped).
        """

    def train(self, mode: bool = True) -> Network: ...
    def use_dropout(self, on: bool = True) -> Network:
        """
        Whether dropout drops in training mode.
        """

    @property
    def device(self) -> torch.device: ...
    @property
    def dtype(self) -> torch.dtype: ...
    @property
    def graph(self) -> Graph: ...
    @property
    def training(self) -> bool: ...

class InferenceNetwork:
    """
    A network frozen for inference: batch norms folded, NHWC, packed weights. Its numbers differ from Network.infer by rounding alone.
    """

    def __init__(
        self,
        network: Network,
        batch: typing.SupportsInt = 8,
        precision: str = "float32",
        input_ranges: collections.abc.Mapping[
            str, tuple[typing.SupportsFloat, typing.SupportsFloat]
        ] = {},
    ) -> None: ...
    def infer(self, images: torch.Tensor, tap: str = "embedding") -> torch.Tensor:
        """
        The tapped value for images (N, C, H, W).
        """

    def input_ranges(
        self, images: torch.Tensor, tap: str = "embedding"
    ) -> list[dict[str, tuple[float, float]]]:
        """
        For each image (low, high) of what the layers read of it, by layer.
        """

class Communicator:
    """
    Processes that train together.
    """

    @property
    def rank(self) -> int: ...
    @property
    def size(self) -> int: ...

class Head:
    """
    A loss and its parameters; see facebench.losses.make_head.
    """

    training: bool

    def buffers(self) -> dict: ...
    def loss(
        self, features: torch.Tensor, labels: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]: ...
    def parameters(self) -> dict: ...
    def set_buffer(self, name: str, value: torch.Tensor) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def options(self) -> typing.Any: ...
    @property
    def sampled_classes(self) -> torch.Tensor: ...

class ModelOptions:
    """
    What a model expects of its images and does with its outputs.

    Fields:
        tap (text, default embedding): the value of the network that is the embedding
        image_height (integer, optional): height of the crops; default: the network's input
        image_width (integer, optional): width of the crops; default: the network's input
        view (text, default whole): how the input is cut out of a crop
        view_fraction (number, default 0.875): of center_fraction
        interpolation (text, default bilinear): between pixels, where the view changes size
        color (text, default rgb): order of the input's channels
        mean (numbers, default [127.5]): subtracted from pixels 0..255: one number, or one for each channel
        std (numbers, default [128]): divides after that: one number, or one for each channel
        detector (text, default mtcnn): detector of the training images
        detector_mode (text, default facenet): its conformance mode; may be empty
        selection (text, default nearest_center): which of several faces
        crop (text, default arcface112): crop of the training images
        flip (text, default none): none, or the mirrored image's output added (sum) or appended (concat)
        normalization (text, default unit): embeddings of unit length, or as is
        training_run (text, default ): hash of the run that trained it
        origin (text, default ): where the weights come from
    """

    @staticmethod
    def fields() -> list:
        """
        The description of every field: name, type, default, doc, low, high, choices, optional.
        """

    def __eq__(self, arg0: object) -> bool: ...
    def __init__(
        self,
        *,
        tap: str = ...,
        image_height: int | None = ...,
        image_width: int | None = ...,
        view: str = ...,
        view_fraction: float = ...,
        interpolation: str = ...,
        color: str = ...,
        mean: collections.abc.Sequence[float] = ...,
        std: collections.abc.Sequence[float] = ...,
        detector: str = ...,
        detector_mode: str = ...,
        selection: str = ...,
        crop: str = ...,
        flip: str = ...,
        normalization: str = ...,
        training_run: str = ...,
        origin: str = ...,
    ) -> None: ...
    def __reduce__(self) -> tuple: ...
    def __repr__(self) -> str: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """
    tap: str
    "the value of the network that is the embedding"
    image_height: int | None
    "height of the crops; default: the network's input"
    image_width: int | None
    "width of the crops; default: the network's input"
    view: str
    "how the input is cut out of a crop"
    view_fraction: float
    "of center_fraction"
    interpolation: str
    "between pixels, where the view changes size"
    color: str
    "order of the input's channels"
    mean: collections.abc.Sequence[float]
    "subtracted from pixels 0..255: one number, or one for each channel"
    std: collections.abc.Sequence[float]
    "divides after that: one number, or one for each channel"
    detector: str
    "detector of the training images"
    detector_mode: str
    "its conformance mode; may be empty"
    selection: str
    "which of several faces"
    crop: str
    "crop of the training images"
    flip: str
    "none, or the mirrored image's output added (sum) or appended (concat)"
    normalization: str
    "embeddings of unit length, or as is"
    training_run: str
    "hash of the run that trained it"
    origin: str
    "where the weights come from"

class ExtractOptions:
    """
    How images become embeddings.

    Fields:
        flip (text, optional): what becomes of the mirrored image's output: left out, added (sum) or appended (concat); default: what the model says
        normalization (text, optional): embeddings of unit length, or as they are (none); default: what the model says
        micro_batch (integer, default 8): images that go through the network together; decides the last bits of a model whose operations are not all this library's own
        precision (text, default float32): what the layers of a network of this library multiply: float32 as trained, bfloat16, or int8 of a model that 'facebench quantize' wrote; the lower, the faster where the processor has AVX-512 BF16
    """

    @staticmethod
    def fields() -> list:
        """
        The description of every field: name, type, default, doc, low, high, choices, optional.
        """

    def __eq__(self, arg0: object) -> bool: ...
    def __init__(
        self,
        *,
        flip: str | None = ...,
        normalization: str | None = ...,
        micro_batch: int = ...,
        precision: str = ...,
    ) -> None: ...
    def __reduce__(self) -> tuple: ...
    def __repr__(self) -> str: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """
    flip: str | None
    "what becomes of the mirrored image's output: left out, added (sum) or appended (concat); default: what the model says"
    normalization: str | None
    "embeddings of unit length, or as they are (none); default: what the model says"
    micro_batch: int
    "images that go through the network together; decides the last bits of a model whose operations are not all this library's own"
    precision: str
    "what the layers of a network of this library multiply: float32 as trained, bfloat16, or int8 of a model that 'facebench quantize' wrote; the lower, the faster where the processor has AVX-512 BF16"

class Model:
    """
    A network with its weights and all that is needed to use it.
    """

    def description(self) -> typing.Any:
        """
        Everything but the weights, as a dict.
        """

    def save(self, path: os.PathLike | str | bytes) -> None:
        """
        Write a model file (safetensors), whole or not at all.
        """

    @property
    def embedding_size(self) -> int:
        """
        Values of one embedding, before flips.
        """

    @property
    def input_ranges(self) -> dict[str, tuple[float, float]]:
        """
        What its layers read, (low, high) by layer, for precision int8; empty: unknown.
        """

    @input_ranges.setter
    def input_ranges(
        self, arg1: collections.abc.Mapping[str, tuple[typing.SupportsFloat, typing.SupportsFloat]]
    ) -> None: ...
    @property
    def network(self) -> str:
        """
        The network's name.
        """

    @property
    def network_options(self) -> NetworkOptions:
        """
        What the network was built for.
        """

    @property
    def options(self) -> ModelOptions:
        """
        What it expects of images; see ModelOptions.
        """

    @options.setter
    def options(self, arg0: ModelOptions) -> None: ...
    @property
    def sha256(self) -> str:
        """
        Of the file it was loaded from, or ''.
        """

    @property
    def weights(self) -> Network:
        """
        The Network.
        """

class BatchModel:
    """
    A model as the extractor sees it.
    """

class PythonModel(BatchModel):
    """
    A callable, batch in, batch out.
    """

    def __init__(
        self,
        function: collections.abc.Callable,
        *,
        name: str,
        options: ModelOptions,
        height: typing.SupportsInt = 0,
        width: typing.SupportsInt = 0,
        raw_bytes: bool = False,
        prepared: bool = False,
        description: dict,
        file: os.PathLike | str | bytes = "",
        sha256: str = "",
    ) -> None: ...

class TrainingOptions:
    """
    Length, batches and numbers of a training.

    Fields:
        epochs (integer, default 18): passes over the images
        iterations (integer, default 0): steps in all; 0: what `epochs` take
        batch (integer, default 64): images in a step, over all processes
        accumulate (integer, default 1): micro-batches that a process cuts its share of a batch into, to save memory; their gradients are added up
        sampler (text, default shuffle): how images are put into batches
        images_per_person (integer, default 4): of the samplers 'balanced' and 'people': images of each person in a batch; 'people': at most
        last_batch (text, default drop): what becomes of images left over at the end of an epoch
        split_classes (boolean, default false): each process holds the loss's parameters of a part of the classes alone
        sample_rate (number, default 1): with split_classes: share of the classes that a step computes with, those of its images among them (Partial FC)
        seed (integer, default 0): of initial weights, order, augmentation, dropout
        initializer (text, default torch): initial weights of the network
        dtype (text, default float32): numbers of weights and activations; bfloat16: weights of float32, and torch's autocast in the network
        channels_last (boolean, default true): lay images out NHWC (faster)
        aux_weight (number, optional): factor of each auxiliary classifier's loss; 0: trained without them; default: the network's own
        ema (number, default 0): decay of the weights' moving average, which then is the model; 0: no average
        patience (integer, default 0): epochs without a better validation score after which training stops; 0: never
        min_delta (number, default 0): what a score must be better by to count
        batch_norm_decay (number, optional): share of batch norm's running statistics kept in a step; default: what the network has
        batch_norm_average (text, default moving): moving: running statistics start at mean 0 and variance 1, which fade; corrected: divided by the sum of the weights, as in Caffe, so that the start has no share
    """

    @staticmethod
    def fields() -> list:
        """
        The description of every field: name, type, default, doc, low, high, choices, optional.
        """

    def __eq__(self, arg0: object) -> bool: ...
    def __init__(
        self,
        *,
        epochs: int = ...,
        iterations: int = ...,
        batch: int = ...,
        accumulate: int = ...,
        sampler: str = ...,
        images_per_person: int = ...,
        last_batch: str = ...,
        split_classes: bool = ...,
        sample_rate: float = ...,
        seed: int = ...,
        initializer: str = ...,
        dtype: str = ...,
        channels_last: bool = ...,
        aux_weight: float | None = ...,
        ema: float = ...,
        patience: int = ...,
        min_delta: float = ...,
        batch_norm_decay: float | None = ...,
        batch_norm_average: str = ...,
    ) -> None: ...
    def __reduce__(self) -> tuple: ...
    def __repr__(self) -> str: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """
    epochs: int
    "passes over the images"
    iterations: int
    "steps in all; 0: what `epochs` take"
    batch: int
    "images in a step, over all processes"
    accumulate: int
    "micro-batches that a process cuts its share of a batch into, to save memory; their gradients are added up"
    sampler: str
    "how images are put into batches"
    images_per_person: int
    "of the samplers 'balanced' and 'people': images of each person in a batch; 'people': at most"
    last_batch: str
    "what becomes of images left over at the end of an epoch"
    split_classes: bool
    "each process holds the loss's parameters of a part of the classes alone"
    sample_rate: float
    "with split_classes: share of the classes that a step computes with, those of its images among them (Partial FC)"
    seed: int
    "of initial weights, order, augmentation, dropout"
    initializer: str
    "initial weights of the network"
    dtype: str
    "numbers of weights and activations; bfloat16: weights of float32, and torch's autocast in the network"
    channels_last: bool
    "lay images out NHWC (faster)"
    aux_weight: float | None
    "factor of each auxiliary classifier's loss; 0: trained without them; default: the network's own"
    ema: float
    "decay of the weights' moving average, which then is the model; 0: no average"
    patience: int
    "epochs without a better validation score after which training stops; 0: never"
    min_delta: float
    "what a score must be better by to count"
    batch_norm_decay: float | None
    "share of batch norm's running statistics kept in a step; default: what the network has"
    batch_norm_average: str
    "moving: running statistics start at mean 0 and variance 1, which fade; corrected: divided by the sum of the weights, as in Caffe, so that the start has no share"

class OptimizerOptions:
    """
    How the weights follow from the gradients.

    Fields:
        name (text, default sgd): sgd: gradient descent with momentum; adam: by moments, decay as part of the gradient; adamw: decay apart from it
        lr (number, default 0.1): learning rate that the schedule starts from
        momentum (number, default 0.9): share of the last step kept (sgd)
        momentum_rule (text, default torch): sgd: torch: the rate multiplies the momentum, w -= lr v; caffe: the momentum holds steps, v = momentum v + lr g
        weight_decay (number, default 0.0005): factor of the squared norm's half
        decay_biases (boolean, default true): whether biases are decayed too
        decay_norms (boolean, default true): whether batch norm's scale and shift are decayed too
        decay_slopes (boolean, default true): whether the slopes of PReLU are decayed too
        bias_lr_mult (number, default 1): factor of the learning rate for biases; 0: they keep their initial values
        residual_bias_lr_mult (number, optional): the same for biases of convolutions with as many outputs as inputs; default: as other biases
        nesterov (boolean, default false): Nesterov's momentum (sgd)
        beta1 (number, default 0.9): share of the first moment kept (adam, adamw)
        beta2 (number, default 0.999): share of the second moment kept (adam, adamw)
        eps (number, default 1e-08): added to the second moment's root (adam, adamw)
        clip_norm (number, default 0): largest Euclidean norm of all gradients together; 0: any
    """

    @staticmethod
    def fields() -> list:
        """
        The description of every field: name, type, default, doc, low, high, choices, optional.
        """

    def __eq__(self, arg0: object) -> bool: ...
    def __init__(
        self,
        *,
        name: str = ...,
        lr: float = ...,
        momentum: float = ...,
        momentum_rule: str = ...,
        weight_decay: float = ...,
        decay_biases: bool = ...,
        decay_norms: bool = ...,
        decay_slopes: bool = ...,
        bias_lr_mult: float = ...,
        residual_bias_lr_mult: float | None = ...,
        nesterov: bool = ...,
        beta1: float = ...,
        beta2: float = ...,
        eps: float = ...,
        clip_norm: float = ...,
    ) -> None: ...
    def __reduce__(self) -> tuple: ...
    def __repr__(self) -> str: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """
    name: str
    "sgd: gradient descent with momentum; adam: by moments, decay as part of the gradient; adamw: decay apart from it"
    lr: float
    "learning rate that the schedule starts from"
    momentum: float
    "share of the last step kept (sgd)"
    momentum_rule: str
    "sgd: torch: the rate multiplies the momentum, w -= lr v; caffe: the momentum holds steps, v = momentum v + lr g"
    weight_decay: float
    "factor of the squared norm's half"
    decay_biases: bool
    "whether biases are decayed too"
    decay_norms: bool
    "whether batch norm's scale and shift are decayed too"
    decay_slopes: bool
    "whether the slopes of PReLU are decayed too"
    bias_lr_mult: float
    "factor of the learning rate for biases; 0: they keep their initial values"
    residual_bias_lr_mult: float | None
    "the same for biases of convolutions with as many outputs as inputs; default: as other biases"
    nesterov: bool
    "Nesterov's momentum (sgd)"
    beta1: float
    "share of the first moment kept (adam, adamw)"
    beta2: float
    "share of the second moment kept (adam, adamw)"
    eps: float
    "added to the second moment's root (adam, adamw)"
    clip_norm: float
    "largest Euclidean norm of all gradients together; 0: any"

class ScheduleOptions:
    """
    How the learning rate runs over a training.

    Fields:
        policy (text, default cosine): rule of the learning rate
        gamma (number, default 0.1): factor of step, multistep, exponential and inverse
        step (number, default 1): length of a step
        milestones (numbers, default []): ends of the steps of multistep
        power (number, default 1): exponent of polynomial and inverse
        final_lr (number, default 0): where polynomial and cosine end
        warmup (number, default 0): length of the warm-up
        warmup_start (number, default 0.1): factor at the start of warm-up
        unit (text, default epochs): unit of lengths
    """

    @staticmethod
    def fields() -> list:
        """
        The description of every field: name, type, default, doc, low, high, choices, optional.
        """

    def __eq__(self, arg0: object) -> bool: ...
    def __init__(
        self,
        *,
        policy: str = ...,
        gamma: float = ...,
        step: float = ...,
        milestones: collections.abc.Sequence[float] = ...,
        power: float = ...,
        final_lr: float = ...,
        warmup: float = ...,
        warmup_start: float = ...,
        unit: str = ...,
    ) -> None: ...
    def __reduce__(self) -> tuple: ...
    def __repr__(self) -> str: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """
    policy: str
    "rule of the learning rate"
    gamma: float
    "factor of step, multistep, exponential and inverse"
    step: float
    "length of a step"
    milestones: collections.abc.Sequence[float]
    "ends of the steps of multistep"
    power: float
    "exponent of polynomial and inverse"
    final_lr: float
    "where polynomial and cosine end"
    warmup: float
    "length of the warm-up"
    warmup_start: float
    "factor at the start of warm-up"
    unit: str
    "unit of lengths"

class AugmentationOptions:
    """
    How training images are varied.

    Fields:
        view (text, default input): the part of an image that is seen
        area (numbers, default [0.08, 1]): of random_resized_crop and distorted_box: least and greatest share of the image
        aspect (numbers, default [0.75, 1.3333333333333333]): of the same: least and greatest width / height
        side (integers, default [256, 512]): of random_side_crop: least and greatest smaller side, pixels
        flip (number, default 0.5): probability of mirroring left and right
        shift (integer, default 0): largest move in each direction, pixels; the edge is repeated
        color (text, default none): how colours are changed
    """

    @staticmethod
    def fields() -> list:
        """
        The description of every field: name, type, default, doc, low, high, choices, optional.
        """

    def __eq__(self, arg0: object) -> bool: ...
    def __init__(
        self,
        *,
        view: str = ...,
        area: collections.abc.Sequence[float] = ...,
        aspect: collections.abc.Sequence[float] = ...,
        side: collections.abc.Sequence[int] = ...,
        flip: float = ...,
        shift: int = ...,
        color: str = ...,
    ) -> None: ...
    def __reduce__(self) -> tuple: ...
    def __repr__(self) -> str: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """
    view: str
    "the part of an image that is seen"
    area: collections.abc.Sequence[float]
    "of random_resized_crop and distorted_box: least and greatest share of the image"
    aspect: collections.abc.Sequence[float]
    "of the same: least and greatest width / height"
    side: collections.abc.Sequence[int]
    "of random_side_crop: least and greatest smaller side, pixels"
    flip: float
    "probability of mirroring left and right"
    shift: int
    "largest move in each direction, pixels; the edge is repeated"
    color: str
    "how colours are changed"

class InputOptions:
    """
    How a crop becomes input, and how the trained model embeds.

    Fields:
        image_height (integer, optional): height that the crops must have; default: any that fits the view
        image_width (integer, optional): width that the crops must have; default: any that fits the view
        view (text, default whole): how the input is cut out of a crop, in embedding
        view_fraction (number, default 0.875): of center_fraction
        interpolation (text, default bilinear): between pixels, where a view changes size
        color (text, default rgb): order of the input's channels
        mean (numbers, default [127.5]): subtracted from pixels 0..255: one number, or one for each channel
        std (numbers, default [128]): divides after that: one number, or one for each channel
        tap (text, default embedding): the value of the network that the trained model gives
        flip (text, default sum): of the trained model: the mirrored image's output is not used, added or appended
    """

    @staticmethod
    def fields() -> list:
        """
        The description of every field: name, type, default, doc, low, high, choices, optional.
        """

    def __eq__(self, arg0: object) -> bool: ...
    def __init__(
        self,
        *,
        image_height: int | None = ...,
        image_width: int | None = ...,
        view: str = ...,
        view_fraction: float = ...,
        interpolation: str = ...,
        color: str = ...,
        mean: collections.abc.Sequence[float] = ...,
        std: collections.abc.Sequence[float] = ...,
        tap: str = ...,
        flip: str = ...,
    ) -> None: ...
    def __reduce__(self) -> tuple: ...
    def __repr__(self) -> str: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """
    image_height: int | None
    "height that the crops must have; default: any that fits the view"
    image_width: int | None
    "width that the crops must have; default: any that fits the view"
    view: str
    "how the input is cut out of a crop, in embedding"
    view_fraction: float
    "of center_fraction"
    interpolation: str
    "between pixels, where a view changes size"
    color: str
    "order of the input's channels"
    mean: collections.abc.Sequence[float]
    "subtracted from pixels 0..255: one number, or one for each channel"
    std: collections.abc.Sequence[float]
    "divides after that: one number, or one for each channel"
    tap: str
    "the value of the network that the trained model gives"
    flip: str
    "of the trained model: the mirrored image's output is not used, added or appended"

class TrainOptions:
    """
    How a training is run.

    Fields:
        resume (boolean, default false): go on from the newest checkpoint
        threads (integer, default 0): threads of the arithmetic, they decide the last bits; 0: the checkpoint's in a resume, otherwise one for each processor
        data_threads (integer, default 1): threads that make batches
        checkpoint_every (integer, optional): steps between checkpoints; default: one at the end of each epoch
        keep (integer, default 2): checkpoints kept, the newest
        log_every (integer, default 20): steps between lines of the log
        device (text, default cpu): where it runs: cpu, cuda or cuda:N
        deterministic (boolean, default false): on CUDA, only kernels that give the same bits each time
    """

    @staticmethod
    def fields() -> list:
        """
        The description of every field: name, type, default, doc, low, high, choices, optional.
        """

    def __eq__(self, arg0: object) -> bool: ...
    def __init__(
        self,
        *,
        resume: bool = ...,
        threads: int = ...,
        data_threads: int = ...,
        checkpoint_every: int | None = ...,
        keep: int = ...,
        log_every: int = ...,
        device: str = ...,
        deterministic: bool = ...,
    ) -> None: ...
    def __reduce__(self) -> tuple: ...
    def __repr__(self) -> str: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """
    resume: bool
    "go on from the newest checkpoint"
    threads: int
    "threads of the arithmetic, they decide the last bits; 0: the checkpoint's in a resume, otherwise one for each processor"
    data_threads: int
    "threads that make batches"
    checkpoint_every: int | None
    "steps between checkpoints; default: one at the end of each epoch"
    keep: int
    "checkpoints kept, the newest"
    log_every: int
    "steps between lines of the log"
    device: str
    "where it runs: cpu, cuda or cuda:N"
    deterministic: bool
    "on CUDA, only kernels that give the same bits each time"

class Recipe:
    """
    A training as its TOML states it; see facebench.training.
    """

    def __eq__(self, arg0: object) -> bool: ...
    def __repr__(self) -> str: ...
    def copy(self) -> Recipe: ...
    def keys(self) -> list[str]:
        """
        All keys that set() knows, as 'table.option'.
        """

    def set(self, key: str, value: str) -> None:
        """
        Change one value, as --set does: set('optimizer.lr', '0.05'), or set('lr', '0.05') where only one table has the key. ValueError for an unknown key (did you mean).
        """

    def to_dict(self) -> typing.Any:
        """
        Everything that decides the result, defaults filled in.
        """

    @property
    def citations(self) -> list[str]: ...
    @property
    def id(self) -> str: ...
    @property
    def loss(self) -> str: ...
    @property
    def network(self) -> str: ...
    @property
    def not_modelled(self) -> list[str]:
        """
        What the framework or the authors did and this training does not.
        """

    @property
    def notes(self) -> list[str]:
        """
        Notes for readers of the numbers.
        """

    @property
    def title(self) -> str: ...

class Optimizer:
    """
    See facebench.training.Optimizer.
    """

    def __init__(
        self, parameters: collections.abc.Mapping[str, torch.Tensor], options: OptimizerOptions
    ) -> None: ...
    def backward(self, loss: torch.Tensor, head: Head, lr: typing.SupportsFloat) -> None: ...
    def step(self, lr: typing.SupportsFloat) -> None: ...
    def zero_grad(self) -> None: ...

class MemoryReuse:
    """
    See facebench.training.reuse_memory.
    """

    def __init__(self) -> None: ...

class ValidationOptions:
    """
    Which number judges a model while it is trained.

    Fields:
        metric (text, optional): as it stands in metrics.json, e.g. tar@far=0.001; default: the track's first
        track (text, optional): track of the protocol; default: the mean over tracks where there is one, else the first
        every (integer, default 1): epochs between validations
        steps (integer, optional): steps between further ones, which are logged and shown and choose no model
    """

    @staticmethod
    def fields() -> list:
        """
        The description of every field: name, type, default, doc, low, high, choices, optional.
        """

    def __eq__(self, arg0: object) -> bool: ...
    def __init__(
        self,
        *,
        metric: str | None = ...,
        track: str | None = ...,
        every: int = ...,
        steps: int | None = ...,
    ) -> None: ...
    def __reduce__(self) -> tuple: ...
    def __repr__(self) -> str: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """
    metric: str | None
    "as it stands in metrics.json, e.g. tar@far=0.001; default: the track's first"
    track: str | None
    "track of the protocol; default: the mean over tracks where there is one, else the first"
    every: int
    "epochs between validations"
    steps: int | None
    "steps between further ones, which are logged and shown and choose no model"

class Validation:
    """
    See facebench.training.validation.
    """

    def __call__(self, model: typing.Any, threads: typing.SupportsInt = 0) -> dict:
        """
        Judge a model or an embedder: dict of track, metric, value, score (higher is better), failed_enrolments.
        """

    def to_dict(self) -> typing.Any: ...

class SeriesOptions:
    """
    How a series of times is summed up.

    Fields:
        skip (integer, default 10): first iterations that are reported apart
        level (number, default 0.95): level of the intervals
        replicates (integer, default 1000): bootstrap replicates
        seed (integer, default 0): of the bootstrap
    """

    @staticmethod
    def fields() -> list:
        """
        The description of every field: name, type, default, doc, low, high, choices, optional.
        """

    def __eq__(self, arg0: object) -> bool: ...
    def __init__(
        self, *, skip: int = ..., level: float = ..., replicates: int = ..., seed: int = ...
    ) -> None: ...
    def __reduce__(self) -> tuple: ...
    def __repr__(self) -> str: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """
    skip: int
    "first iterations that are reported apart"
    level: float
    "level of the intervals"
    replicates: int
    "bootstrap replicates"
    seed: int
    "of the bootstrap"

class ProcessMeter:
    """
    Watches a process (pid 0: this one): memory, processors, other load.
    """

    def __init__(
        self,
        pid: typing.SupportsInt = 0,
        interval: typing.SupportsFloat = 0.05,
        gpu: typing.SupportsInt = -1,
    ) -> None: ...
    def stop(self) -> typing.Any:
        """
        Ends watching and returns what was used.
        """

class StepOptions:
    """
    What an iteration that is timed consists of.

    Fields:
        network (text, default resnet50): see facebench list networks
        mode (text, default training): what an iteration does
        batch (integer, default 16): images (or sequences of words) of an iteration, of all processes together
        classes (integer, default 10575): classes of the loss, where input or network do not say (WebFace has 10,575)
        loss (text, default softmax): see facebench list losses
        input (text, default synthetic): where images come from
        path (text, optional): a pack or a folder of images; unset where the input needs none
        threads (integer, default 0): threads of the arithmetic; 0: one a processor
        data_threads (integer, default 1): threads that make batches ahead; 0: the step itself does the work
        device (text, default cpu): where it runs: cpu, cuda or cuda:N
        precision (text, default float32): arithmetic; bfloat16 is mixed precision
        channels_last (boolean, default true): values laid out NHWC
        lr (number, default 0.01): learning rate
        momentum (number, default 0.9): of the optimizer
        weight_decay (number, default 0): of the optimizer
        seed (integer, default 0): of weights and input
    """

    @staticmethod
    def fields() -> list:
        """
        The description of every field: name, type, default, doc, low, high, choices, optional.
        """

    def __eq__(self, arg0: object) -> bool: ...
    def __init__(
        self,
        *,
        network: str = ...,
        mode: str = ...,
        batch: int = ...,
        classes: int = ...,
        loss: str = ...,
        input: str = ...,
        path: str | None = ...,
        threads: int = ...,
        data_threads: int = ...,
        device: str = ...,
        precision: str = ...,
        channels_last: bool = ...,
        lr: float = ...,
        momentum: float = ...,
        weight_decay: float = ...,
        seed: int = ...,
    ) -> None: ...
    def __reduce__(self) -> tuple: ...
    def __repr__(self) -> str: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """
    network: str
    "see facebench list networks"
    mode: str
    "what an iteration does"
    batch: int
    "images (or sequences of words) of an iteration, of all processes together"
    classes: int
    "classes of the loss, where input or network do not say (WebFace has 10,575)"
    loss: str
    "see facebench list losses"
    input: str
    "where images come from"
    path: str | None
    "a pack or a folder of images; unset where the input needs none"
    threads: int
    "threads of the arithmetic; 0: one a processor"
    data_threads: int
    "threads that make batches ahead; 0: the step itself does the work"
    device: str
    "where it runs: cpu, cuda or cuda:N"
    precision: str
    "arithmetic; bfloat16 is mixed precision"
    channels_last: bool
    "values laid out NHWC"
    lr: float
    "learning rate"
    momentum: float
    "of the optimizer"
    weight_decay: float
    "of the optimizer"
    seed: int
    "of weights and input"

class StepBench:
    """
    One iteration, ready to be timed.
    """

    def __init__(
        self,
        options: StepOptions,
        network: NetworkOptions,
        loss_options: dict = {},
        process_group: typing.Any | None = None,
    ) -> None: ...
    def aggregate_alone(self, times: typing.SupportsInt = 4) -> float: ...
    def data_alone(self, batches: typing.SupportsInt = 8) -> float: ...
    def device_memory(self) -> tuple[int, int]: ...
    def infer(self, images: torch.Tensor) -> torch.Tensor: ...
    def losses(
        self, images: torch.Tensor, labels: torch.Tensor, steps: typing.SupportsInt
    ) -> list[float]: ...
    def recording_seconds(self) -> float: ...
    def run(self, iterations: typing.SupportsInt) -> dict: ...
    def tensors(self) -> dict: ...
    @property
    def graph(self) -> Graph: ...

class PreparationOptions:
    """
    From a photograph to a crop; what is unset is left to the model.

    Fields:
        detector (text, optional): what finds the faces, or 'none': the whole image (see: facebench list detectors)
        detector_options (texts, default []): options of the detector as key=value, e.g. mode=facenet
        selection (text, optional): which of several faces (see: facebench list selections)
        crop (text, optional): how the face is cut out (see: facebench list crops)
        crop_width (integer, optional): width of the crop, pixels
        crop_height (integer, optional): height of the crop, pixels
    """

    @staticmethod
    def fields() -> list:
        """
        The description of every field: name, type, default, doc, low, high, choices, optional.
        """

    def __eq__(self, arg0: object) -> bool: ...
    def __init__(
        self,
        *,
        detector: str | None = ...,
        detector_options: collections.abc.Sequence[str] = ...,
        selection: str | None = ...,
        crop: str | None = ...,
        crop_width: int | None = ...,
        crop_height: int | None = ...,
    ) -> None: ...
    def __reduce__(self) -> tuple: ...
    def __repr__(self) -> str: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """
    detector: str | None
    "what finds the faces, or 'none': the whole image (see: facebench list detectors)"
    detector_options: collections.abc.Sequence[str]
    "options of the detector as key=value, e.g. mode=facenet"
    selection: str | None
    "which of several faces (see: facebench list selections)"
    crop: str | None
    "how the face is cut out (see: facebench list crops)"
    crop_width: int | None
    "width of the crop, pixels"
    crop_height: int | None
    "height of the crop, pixels"

class DemoOptions:
    """
    The main job on synthetic faces.

    Fields:
        train_people (integer, default 200): people to train on
        train_images (integer, default 16): images of each of them
        test_people (integer, default 100): other people, to test on; the protocols beside lfw take a part as many
        test_images (integer, default 8): images of each of them, for lfw
        protocols (texts, default [lfw, vggface2_pose, vggface2_age, ijba_quality, dfw, umdfaces]): protocols to evaluate, of those of the paper
        recipe (text, default demo): training recipe: a name or a TOML file
        replicates (integer, default 1000): bootstrap replicates
        seed (integer, default 0): of faces, training and resampling
    """

    @staticmethod
    def fields() -> list:
        """
        The description of every field: name, type, default, doc, low, high, choices, optional.
        """

    def __eq__(self, arg0: object) -> bool: ...
    def __init__(
        self,
        *,
        train_people: int = ...,
        train_images: int = ...,
        test_people: int = ...,
        test_images: int = ...,
        protocols: collections.abc.Sequence[str] = ...,
        recipe: str = ...,
        replicates: int = ...,
        seed: int = ...,
    ) -> None: ...
    def __reduce__(self) -> tuple: ...
    def __repr__(self) -> str: ...
    def to_dict(self) -> dict:
        """
        All fields as a dict.
        """
    train_people: int
    "people to train on"
    train_images: int
    "images of each of them"
    test_people: int
    "other people, to test on; the protocols beside lfw take a part as many"
    test_images: int
    "images of each of them, for lfw"
    protocols: collections.abc.Sequence[str]
    "protocols to evaluate, of those of the paper"
    recipe: str
    "training recipe: a name or a TOML file"
    replicates: int
    "bootstrap replicates"
    seed: int
    "of faces, training and resampling"

def area_mean(
    image: numpy.ndarray, width: typing.SupportsInt, height: typing.SupportsInt
) -> numpy.typing.NDArray[numpy.float32]: ...
def array_validation(
    protocol: str,
    root: os.PathLike | str | bytes,
    lists: os.PathLike | str | bytes,
    images: typing.Annotated[numpy.typing.ArrayLike, numpy.uint8],
    names: collections.abc.Sequence[str],
    options: ValidationOptions,
) -> Validation: ...
def build_graph(name: str, options: NetworkOptions) -> Graph: ...
def build_network(
    name: str, options: NetworkOptions, initializer: str, seed: typing.SupportsInt
) -> Network: ...
def check_dataset(
    dataset: Dataset,
    listed: collections.abc.Sequence[str] = [],
    options: CheckOptions = ...,
    threads: typing.SupportsInt = 0,
    progress: typing.Any | None = None,
) -> DatasetReport: ...
def communicator(
    process_group: torch.distributed.distributed_c10d.ProcessGroup, device: str
) -> Communicator: ...
def conversion_defaults(network: str) -> ModelOptions: ...
def convert_color(
    image: numpy.ndarray, to: str, from_: str = "rgb"
) -> numpy.typing.NDArray[numpy.uint8]: ...
def convert_dataset(
    dataset: Dataset,
    out: os.PathLike | str | bytes,
    options: ConvertOptions = ...,
    threads: typing.SupportsInt = 0,
    progress: typing.Any | None = None,
) -> ConvertSummary: ...
def convert_weights(
    network: str,
    tensors: collections.abc.Mapping[str, torch.Tensor],
    network_options: NetworkOptions,
    options: ModelOptions,
    drop: collections.abc.Sequence[str],
    where: str,
) -> Model: ...
def count_rules() -> list[str]:
    """
    The counting rules of Graph.count_parameters.
    """

def crop_face(image: numpy.ndarray, face: Face, options: CropOptions = ...) -> tuple: ...
def crop_window(
    width: typing.SupportsInt, height: typing.SupportsInt, face: Face, options: CropOptions = ...
) -> typing.Annotated[list[int], "FixedSize(4)"] | None: ...
def crops() -> dict: ...
def dataset_readers() -> dict: ...
def decode_image(
    data: bytes, options: DecodeOptions = ..., where: str = "image"
) -> numpy.typing.NDArray[numpy.uint8]: ...
def decode_rate(
    files: collections.abc.Sequence[os.PathLike | str | bytes],
    threads: typing.SupportsInt,
    rounds: typing.SupportsInt = 1,
) -> float:
    """
    Images decoded a second, the files in memory already.
    """

def default_mtcnn_weights() -> pathlib.Path: ...
def demo(
    options: DemoOptions,
    out: os.PathLike | str | bytes,
    threads: typing.SupportsInt = 0,
    progress: typing.Any | None = None,
) -> dict:
    """
    See facebench.demo.
    """

def detect_files(
    detector: Detector,
    files: collections.abc.Sequence[ImageFile],
    threads: typing.SupportsInt = 0,
    progress: typing.Any | None = None,
) -> list[DetectedFile]: ...
def detect_to_file(
    detector: Detector,
    files: collections.abc.Sequence[ImageFile],
    out: os.PathLike | str | bytes,
    format: str,
    threads: typing.SupportsInt = 0,
    progress: typing.Any | None = None,
) -> DetectionSummary: ...
def detectors() -> dict: ...
def draw_faces(
    image: numpy.ndarray, faces: collections.abc.Sequence[Face], selected: typing.SupportsInt = -1
) -> numpy.typing.NDArray[numpy.uint8]: ...
def encode_jpeg(
    image: numpy.ndarray, quality: typing.SupportsInt = 95, color: str = "rgb"
) -> bytes: ...
def encode_png(image: numpy.ndarray, color: str = "rgb") -> bytes: ...
def encode_pnm(image: numpy.ndarray, color: str = "rgb") -> bytes: ...
def exclude(dataset: Dataset, list: os.PathLike | str | bytes) -> Dataset: ...
@typing.overload
def extract(
    model: Model,
    images: ImageSource,
    options: ExtractOptions,
    threads: typing.SupportsInt,
    progress: typing.Any,
) -> facebench._eval.EmbeddingSet: ...
@typing.overload
def extract(
    model: BatchModel,
    images: ImageSource,
    options: ExtractOptions,
    threads: typing.SupportsInt,
    progress: typing.Any,
) -> facebench._eval.EmbeddingSet: ...
@typing.overload
def extract_array(
    model: Model,
    images: typing.Annotated[numpy.typing.ArrayLike, numpy.uint8],
    options: ExtractOptions,
    threads: typing.SupportsInt = 0,
    progress: typing.Any | None = None,
    names: collections.abc.Sequence[str] = [],
    status: collections.abc.Sequence[typing.SupportsInt] = [],
) -> facebench._eval.EmbeddingSet: ...
@typing.overload
def extract_array(
    model: BatchModel,
    images: typing.Annotated[numpy.typing.ArrayLike, numpy.uint8],
    options: ExtractOptions,
    threads: typing.SupportsInt = 0,
    progress: typing.Any | None = None,
    names: collections.abc.Sequence[str] = [],
    status: collections.abc.Sequence[typing.SupportsInt] = [],
) -> facebench._eval.EmbeddingSet: ...
def face_csv_header() -> str: ...
def face_csv_record(name: str, face: Face) -> str: ...
def face_formats() -> dict: ...
def find_image_archive(path: os.PathLike | str | bytes) -> str | None: ...
def find_overlap(
    train: os.PathLike | str | bytes,
    test: os.PathLike | str | bytes,
    train_embeddings: os.PathLike | str | bytes,
    test_embeddings: os.PathLike | str | bytes,
    train_names: collections.abc.Mapping[str, str],
    test_names: collections.abc.Mapping[str, str],
    options: OverlapOptions,
    threads: typing.SupportsInt,
    progress: typing.Any,
) -> tuple: ...
def fit_similarity(
    from_: collections.abc.Sequence[
        typing.Annotated[collections.abc.Sequence[typing.SupportsFloat], "FixedSize(2)"]
    ],
    to: collections.abc.Sequence[
        typing.Annotated[collections.abc.Sequence[typing.SupportsFloat], "FixedSize(2)"]
    ],
) -> numpy.typing.NDArray[numpy.float64]: ...
def head_memory(
    head: Head, images: typing.SupportsInt, optimizer: OptimizerOptions, early: bool
) -> dict: ...
def image_archive_writers() -> dict: ...
def image_archives() -> dict: ...
def imported_model(
    graph: str,
    tensors: collections.abc.Mapping[str, torch.Tensor],
    options: ModelOptions,
    where: str,
) -> Model: ...
def initializers() -> list:
    """
    Every initialiser: name, doc, source.
    """

def interpolations() -> dict: ...
def intersection_over_union(a: Face, b: Face) -> float: ...
def iteration_model(
    data: typing.SupportsFloat,
    compute: typing.SupportsFloat,
    aggregate: typing.SupportsFloat,
    measured: typing.SupportsFloat,
) -> dict:
    """
    Equations 7 (sequential) and 8 (overlapped) beside the measured iteration; overlap is the
    share of what could be hidden that was.
    """

def learning_rate(
    base: typing.SupportsFloat,
    options: ScheduleOptions,
    iteration: typing.SupportsInt,
    total: typing.SupportsInt,
    iterations_per_epoch: typing.SupportsFloat = 1.0,
) -> float:
    """
    The learning rate of one iteration (0 is the first).
    """

def list_image_files(
    paths: collections.abc.Sequence[os.PathLike | str | bytes], draw: os.PathLike | str | bytes = ""
) -> tuple: ...
def load_model(path: os.PathLike | str | bytes) -> Model: ...
def load_recipe(name_or_path: str) -> Recipe: ...
def losses() -> list:
    """
    Every loss: name, doc, source, its options with their defaults, and as `fields` the
    description of each: name, type, default, doc, low, high, choices.
    """

def machine_facts() -> typing.Any:
    """
    The machine: cpu (model, cores, caches, clocks), memory_bytes, isa, gpu; None where unknown.
    """

def make_detector(name: str, **kwargs) -> Detector: ...
def make_head(
    name: str,
    options: dict,
    features: typing.SupportsInt,
    classes: typing.SupportsInt,
    seed: typing.SupportsInt,
    float64: bool,
    processes: Communicator,
    split_classes: bool,
    sample_rate: typing.SupportsFloat,
) -> Head: ...
def make_identity(
    seed: typing.SupportsInt, index: typing.SupportsInt, spread: typing.SupportsFloat = 0.6
) -> FaceIdentity: ...
def make_model(
    network: str,
    network_options: NetworkOptions,
    options: ModelOptions,
    initializer: str,
    seed: typing.SupportsInt,
) -> Model: ...
def make_nuisance(
    kind: str, seed: typing.SupportsInt = 0, number: typing.SupportsInt = 0
) -> FaceNuisance: ...
def match_names(
    first: collections.abc.Sequence[str], second: collections.abc.Sequence[str]
) -> list[tuple[str, str, str]]: ...
@typing.overload
def measure_input_ranges(
    model: Model,
    images: ImageSource,
    count: typing.SupportsInt,
    threads: typing.SupportsInt,
    progress: typing.Any,
) -> dict[str, tuple[float, float]]: ...
@typing.overload
def measure_input_ranges(
    model: Model,
    images: typing.Annotated[numpy.typing.ArrayLike, numpy.uint8],
    count: typing.SupportsInt,
    threads: typing.SupportsInt,
    progress: typing.Any,
) -> dict[str, tuple[float, float]]: ...
def measure_samples(
    pack: Pack, measure: str, threads: typing.SupportsInt = 0
) -> numpy.typing.NDArray[numpy.float64]:
    """
    A quality of each sample of a pack (see sample_measures), NaN where the sample failed.

    >>> from facebench.datasets import sample_measures
    >>> list(sample_measures())
    ['box_size', 'eye_distance', 'sharpness', 'frontality']
    """

def mtcnn_modes() -> dict: ...
def name_words(name: str) -> list[str]: ...
def networks() -> list:
    """
    Every network: name, doc, source, options (its defaults).
    """

def normalized_name(name: str) -> str: ...
def nuisance_kinds() -> dict: ...
def open_validation(
    protocol: str,
    root: os.PathLike | str | bytes,
    lists: os.PathLike | str | bytes,
    pack: os.PathLike | str | bytes,
    options: ValidationOptions,
) -> Validation: ...
def pack_dataset(
    dataset: Dataset,
    out: os.PathLike | str | bytes,
    detector: Detector | None = None,
    selection: str = "nearest_center",
    crop: CropOptions = ...,
    options: PackOptions = ...,
    threads: typing.SupportsInt = 0,
    progress: typing.Any | None = None,
) -> PackSummary: ...
def parse_cpuinfo(text: str) -> dict:
    """
    What a text as /proc/cpuinfo says (the model as bytes).
    """

def parse_model_description(text: str, where: str, key: str) -> tuple: ...
def parse_recipe(text: str, file: str = "recipe.toml") -> Recipe: ...
def predict_step_memory(options: StepOptions, network: NetworkOptions) -> dict:
    """
    Bytes that the graph says a step needs.
    """

def prepare(
    dataset: Dataset,
    out: os.PathLike | str | bytes,
    preparation: PreparationOptions = ...,
    options: PackOptions = ...,
    threads: typing.SupportsInt = 0,
    progress: typing.Any | None = None,
) -> PackSummary:
    """
    See facebench.pack.
    """

def protocol_dataset(
    protocol: str,
    root: os.PathLike | str | bytes = "",
    images: os.PathLike | str | bytes = "",
    lists: os.PathLike | str | bytes = "",
) -> Dataset:
    """
    The images that the lists of a protocol name, as a data set.
    """

def read_archive(
    path: os.PathLike | str | bytes, skip_damaged: typing.SupportsInt = 0, format: str = ""
) -> Dataset: ...
def read_dataset(
    name: str, root: os.PathLike | str | bytes, skip_damaged: typing.SupportsInt = 0
) -> Dataset: ...
def read_exclusion(path: os.PathLike | str | bytes) -> dict:
    """
    A list of people and samples to leave out, as `facebench data overlap --out` writes it: a
    dict of people, samples and the file's sha256. facebench.Error with file and line.

    >>> import pathlib, tempfile
    >>> from facebench.datasets import read_exclusion
    >>> path = pathlib.Path(tempfile.mkdtemp()) / 'list.txt'
    >>> _ = path.write_text('person\\tJane_Doe\\n')
    >>> read_exclusion(path)['people']
    ['Jane_Doe']
    """

def read_image(
    path: os.PathLike | str | bytes, options: DecodeOptions = ...
) -> numpy.typing.NDArray[numpy.uint8]: ...
def read_image_folder(root: os.PathLike | str | bytes) -> Dataset: ...
def read_lfw_folder(root: os.PathLike | str | bytes) -> Dataset: ...
def recipe_names() -> list[str]:
    """
    The built-in recipes.
    """

def render_face(
    identity: FaceIdentity,
    nuisance: FaceNuisance,
    size: typing.SupportsInt = 160,
    supersampling: typing.SupportsInt = 2,
) -> SyntheticFace: ...
def render_sheet(
    options: SheetOptions = ..., threads: typing.SupportsInt = 0, progress: typing.Any | None = None
) -> numpy.typing.NDArray[numpy.uint8]: ...
def repeat_spread(figures: collections.abc.Sequence[typing.SupportsFloat]) -> float | None:
    """
    (largest - smallest) / median of the repeats' figures; None for fewer than two.
    """

def require_pixels(
    network: str, sha256: str, stated: collections.abc.Sequence[str], where: str
) -> None: ...
def resize(
    image: numpy.ndarray,
    width: typing.SupportsInt,
    height: typing.SupportsInt,
    interpolation: str = "bilinear",
) -> numpy.typing.NDArray[numpy.uint8]: ...
def resolve_crop(options: CropOptions) -> CropOptions: ...
def run(
    protocol: str,
    model: BatchModel | Model,
    out: os.PathLike | str | bytes,
    *,
    root: os.PathLike | str | bytes = "",
    images: os.PathLike | str | bytes = "",
    lists: os.PathLike | str | bytes = "",
    preparation: PreparationOptions = ...,
    pack: PackOptions = ...,
    extract: ExtractOptions = ...,
    evaluation: facebench._eval.EvaluationOptions = ...,
    discard: bool = False,
    overwrite: bool = False,
    cache: os.PathLike | str | bytes = "",
    reused: typing.Any | None = None,
    command: str = "",
    exclude: os.PathLike | str | bytes | None = None,
    limit: typing.SupportsInt | None = None,
    threads: typing.SupportsInt = 0,
    progress: typing.Any | None = None,
) -> facebench._eval.Result:
    """
    See facebench.run.
    """

def sample_measures() -> dict: ...
def samplers() -> list:
    """
    Every way of putting images into batches: name, doc.
    """

def scaling_speedup(
    throughput: typing.SupportsFloat, throughput_of_twice_as_many: typing.SupportsFloat
) -> float:
    """
    Equation 6; ideally 1.
    """

def schedule_policies() -> list:
    """
    Every learning-rate policy: name, doc, formula.
    """

def select_face(
    faces: collections.abc.Sequence[Face],
    width: typing.SupportsInt,
    height: typing.SupportsInt,
    rule: str = "largest",
) -> int | None: ...
def select_samples(
    dataset: Dataset, names: collections.abc.Sequence[str], by_stem: bool = False
) -> Dataset: ...
def selection_rules() -> dict: ...
def step_inputs() -> list:
    """
    Every source of images: name, doc.
    """

def summarize_times(
    seconds: collections.abc.Sequence[typing.SupportsFloat], options: SeriesOptions
) -> dict: ...
def synthetic_layouts() -> dict: ...
def time_input(
    source: str,
    path: str,
    batch: typing.SupportsInt,
    height: typing.SupportsInt,
    width: typing.SupportsInt,
    data_threads: typing.SupportsInt,
    batches: typing.SupportsInt,
) -> list[float]: ...
def train_arrays(
    recipe: Recipe,
    images: typing.Annotated[numpy.typing.ArrayLike, numpy.uint8],
    labels: collections.abc.Sequence[typing.SupportsInt],
    preparation: dict,
    out: os.PathLike | str | bytes,
    options: TrainOptions,
    network: typing.Any,
    loss: typing.Any,
    progress: typing.Any,
    on_start: typing.Any,
    on_epoch: typing.Any,
    on_step: typing.Any,
    on_checkpoint: typing.Any,
    validation: Validation,
    process_group: typing.Any,
) -> dict: ...
def train_pack(
    recipe: Recipe,
    pack: os.PathLike | str | bytes,
    exclude: os.PathLike | str | bytes | None,
    out: os.PathLike | str | bytes,
    options: TrainOptions,
    network: typing.Any,
    loss: typing.Any,
    progress: typing.Any,
    on_start: typing.Any,
    on_epoch: typing.Any,
    on_step: typing.Any,
    on_checkpoint: typing.Any,
    validation: Validation,
    process_group: typing.Any,
) -> dict: ...
def training_inputs(
    recipe: Recipe,
    images: typing.Annotated[numpy.typing.ArrayLike, numpy.uint8],
    epoch: typing.SupportsInt,
) -> tuple[numpy.typing.NDArray[numpy.float32], list]: ...
def training_views() -> list: ...
def verify(
    run: os.PathLike | str | bytes,
    root: os.PathLike | str | bytes = "",
    threads: typing.SupportsInt = 0,
    progress: typing.Any | None = None,
) -> list:
    """
    See facebench.verify.
    """

def warp_affine(
    image: numpy.ndarray,
    matrix: typing.Annotated[
        collections.abc.Sequence[
            typing.Annotated[collections.abc.Sequence[typing.SupportsFloat], "FixedSize(3)"]
        ],
        "FixedSize(2)",
    ],
    width: typing.SupportsInt,
    height: typing.SupportsInt,
    border: typing.SupportsInt = 0,
) -> numpy.typing.NDArray[numpy.uint8]: ...
def write_image(
    path: os.PathLike | str | bytes,
    image: numpy.ndarray,
    color: str = "rgb",
    jpeg_quality: typing.SupportsInt = 95,
) -> None: ...
def write_synthetic_dataset(
    options: SyntheticOptions,
    folder: os.PathLike | str | bytes,
    threads: typing.SupportsInt = 0,
    progress: typing.Any | None = None,
) -> SyntheticSummary: ...

busy_share: float
torch_version: str
