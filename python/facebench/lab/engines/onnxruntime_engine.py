"""ONNX Runtime: inference of the exported network."""

import os

import onnxruntime

from facebench._onnx import sessions
from facebench.lab.engines.engine import SteppedEngine, noise
from facebench.lab.engines.libraries import loaded_libraries
from facebench.lab.engines.numpy_files import batches_of_files


def load(name: str, threads: int) -> dict:
    return {"onnxruntime": onnxruntime.__version__} | loaded_libraries()


class Engine(SteppedEngine):
    """A session on the file that the measuring process exported (``spec["onnx"]``). On a card its
    batch of noise lies there, as those of torch do."""

    loader = staticmethod(batches_of_files)

    def __init__(self, spec, weights):
        super().__init__(spec, weights)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = spec["threads"] or len(os.sched_getaffinity(0))
        options.inter_op_num_threads = 1
        kind, _, number = spec["device"].partition(":")
        card = None if kind == "cpu" else int(number or 0)
        if card is not None and not sessions.has_cuda():
            raise RuntimeError("this ONNX Runtime has no CUDA")
        self._session = sessions.session(spec["onnx"], options, card)
        self._input = self._session.get_inputs()[0].name
        place = (kind, card or 0)
        self._batch = onnxruntime.OrtValue.ortvalue_from_numpy(noise(spec)[0], *place)
        self._bound = self._session.io_binding()
        self._bound.bind_ortvalue_input(self._input, self._batch)
        self._bound.bind_output("embedding", *place)

    def infer(self, images):
        return self._session.run(["embedding"], {self._input: images})[0]

    def step(self, mark):
        if self._files:
            batch = next(self._files)
            self._bound.bind_cpu_input(self._input, batch)
            mark("data")
        self._session.run_with_iobinding(self._bound)
        self._bound.synchronize_outputs()
        mark("forward")
