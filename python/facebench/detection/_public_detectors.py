"""Public files of detectors by name, as `facebench.embedding.list_models` has them of models."""

from facebench.core._public_files import PublicFile

_INSIGHTFACE = "insightface's release v0.7 (github.com/deepinsight/insightface/releases)"
_RESEARCH = "non-commercial research only"
_YAKHYO = "github.com/yakhyo/retinaface-pytorch/releases"

PUBLIC_DETECTORS: list[PublicFile] = [
    PublicFile(
        "scrfd_10g",
        "det_10g.onnx",
        "SCRFD-10GF, of buffalo_l",
        _RESEARCH,
        _INSIGHTFACE,
        sha256="5838f7fe053675b1c7a08b633df49e7af5495cee0493c7dcf6697200b85b5b91",
        packs=("buffalo_l",),
        hub=(("immich-app/buffalo_l", "detection/model.onnx"),),
        other_files=("antelopev2/scrfd_10g_bnkps.onnx", "auraface/scrfd_10g_bnkps.onnx"),
    ),
    PublicFile(
        "scrfd_2.5g",
        "det_2.5g.onnx",
        "SCRFD-2.5GF, of buffalo_m",
        _RESEARCH,
        _INSIGHTFACE,
        sha256="041f73f47371333d1d17a6fee6c8ab4e6aecabefe398ff32cca4e2d5eaee0af9",
        packs=("buffalo_m",),
        hub=(("immich-app/buffalo_m", "detection/model.onnx"),),
    ),
    PublicFile(
        "scrfd_500m",
        "det_500m.onnx",
        "SCRFD-500MF, of buffalo_s and buffalo_sc",
        _RESEARCH,
        _INSIGHTFACE,
        sha256="5e4447f50245bbd7966bd6c0fa52938c61474a04ec7def48753668a9d8b4ea3a",
        packs=("buffalo_s", "buffalo_sc"),
        hub=(("immich-app/buffalo_s", "detection/model.onnx"),),
    ),
    PublicFile(
        "retinaface_mv2",
        "retinaface_mv2.onnx",
        "RetinaFace, MobileNetV2",
        "MIT",
        _YAKHYO,
        sha256="3ca44c045651cabeed1193a1fae8946ad1f3a55da8fa74b341feab5a8319f757",
    ),
    PublicFile(
        "retinaface_r34",
        "retinaface_r34.onnx",
        "RetinaFace, ResNet-34",
        "MIT",
        _YAKHYO,
        sha256="bd0263dc2a465d32859555cb1741f2d98991eb0053696e8ee33fec583d30e630",
    ),
    PublicFile(
        "yunet_2023mar",
        "face_detection_yunet_2023mar.onnx",
        "YuNet",
        "MIT",
        "models/face_detection_yunet of github.com/opencv/opencv_zoo (git lfs pull)",
        sha256="8f2383e4dd3cfbb4553ea8718107fc0423210dc964f9f4280604804ed2552fa4",
        hub=(
            (
                "opencv/opencv_zoo",
                "models/face_detection_yunet/face_detection_yunet_2023mar.onnx",
            ),
        ),
        published={"WIDER easy": 0.8844, "WIDER medium": 0.8656, "WIDER hard": 0.7503},
        source="models/face_detection_yunet/README.md of opencv/opencv_zoo, commit 966be4c",
    ),
]


def public_detector(name: str) -> PublicFile | None:
    """The row of the table of that name."""
    return next((row for row in PUBLIC_DETECTORS if row.name == name), None)
