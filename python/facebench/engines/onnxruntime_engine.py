"""ONNX Runtime: inference of the exported network."""

import os

import onnxruntime

from facebench.engines.engine import SteppedEngine, noise
from facebench.engines.libraries import loaded_libraries
from facebench.engines.numpy_files import batches_of_files


def load(name: str, threads: int) -> dict:
    return {"onnxruntime": onnxruntime.__version__} | loaded_libraries()


class Engine(SteppedEngine):
    """A session on the file that the measuring process exported (``spec["onnx"]``)."""

    loader = staticmethod(batches_of_files)

    def __init__(self, spec, weights):
        super().__init__(spec, weights)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = spec["threads"] or len(os.sched_getaffinity(0))
        options.inter_op_num_threads = 1
        provider = "CPUExecutionProvider"
        if spec["device"] != "cpu":
            provider = "CUDAExecutionProvider"
            if provider not in onnxruntime.get_available_providers():
                raise RuntimeError("this ONNX Runtime has no CUDA")
        self._session = onnxruntime.InferenceSession(spec["onnx"], options, providers=[provider])
        self._input = self._session.get_inputs()[0].name
        self._batch = noise(spec)[0]

    def infer(self, images):
        return self._session.run(["embedding"], {self._input: images})[0]

    def step(self, mark):
        batch = self._batch
        if self._files:
            batch = next(self._files)
            mark("data")
        self._session.run(["embedding"], {self._input: batch})
        mark("forward")
