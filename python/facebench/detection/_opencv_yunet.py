"""YuNet by OpenCV's own FaceDetectorYN, which runs a file of fixed size on a photograph's own."""

import threading

import numpy as np

from facebench._library import full
from facebench.core import Error
from facebench.core._arguments import cut


class OpenCvYunet:
    """`OnnxDetector` of YuNet, with FaceDetectorYN of the installed cv2 as its engine."""

    described = True

    def __init__(self, file: str, copy, sha256: str, threshold: float, suppress: float, most: int):
        """``copy``: of the file, which is opened; ``file``: as it is called."""
        try:
            import cv2
        except ImportError:
            raise ImportError(
                "engine=opencv needs OpenCV for Python: pip install opencv-python-headless"
            ) from None
        if not hasattr(cv2, "FaceDetectorYN"):
            raise ImportError(f"engine=opencv: OpenCV {cv2.__version__} has no FaceDetectorYN")
        self._file, self._sha256 = file, sha256
        self._options = {"engine": "opencv", "nms": suppress, "threshold": threshold}
        self._version = cv2.__version__
        self._lock = threading.Lock()  # its input has one size at a time
        log = cv2.utils.logging  # of the process; what failed stands in its exception
        before = log.setLogLevel(log.LOG_LEVEL_SILENT)
        try:
            self._detector = cv2.FaceDetectorYN.create(
                str(copy), "", (32, 32), threshold, suppress, most
            )
        except cv2.error as e:
            raise Error(f"{copy}: OpenCV refuses it: {cut(e)}") from None
        finally:
            log.setLogLevel(before)

    def description(self) -> dict:
        """All that decides what it finds, for manifests."""
        return {
            "detector": "yunet",
            "options": self._options,
            "model_sha256": self._sha256,
            "opencv": self._version,
        }

    def find(self, image: np.ndarray) -> list:
        """The faces of an image RGB, best first."""
        import cv2

        with self._lock:
            try:
                self._detector.setInputSize((image.shape[1], image.shape[0]))
                _, rows = self._detector.detect(np.ascontiguousarray(image[..., ::-1]))
            except cv2.error as e:
                raise Error(f"{self._file}: OpenCV cannot run it: {cut(e)}") from None
        found = np.empty((0, 15), np.float32) if rows is None else rows
        if not np.isfinite(found).all():
            raise Error(f"{self._file}: gives numbers that are not finite")
        order = np.argsort(-found[:, 14], kind="stable")
        return [
            full.Face([*row[:2], *(row[:2] + row[2:4])], float(row[14]), row[4:14].reshape(5, 2))
            for row in found[order]
        ]
