"""This library itself."""

import numpy as np

from facebench.lab.engines import engine
from facebench.lab.engines.libraries import torch_libraries


def load(name: str, threads: int) -> dict:
    import facebench
    from facebench._torch import torch

    versions = {"facebench": facebench.__version__, "torch": torch.__version__}
    return versions | torch_libraries()


class Engine(engine.Engine):
    """The C++ step, driven as any other engine."""

    def __init__(self, spec, weights):
        super().__init__(spec, weights)
        from facebench import nn
        from facebench._library import full

        fields = (field["name"] for field in full.StepOptions.fields())
        options = {k: spec[k] for k in fields if k in spec}
        self._bench = full.StepBench(
            full.StepOptions(**options),
            nn.NetworkOptions(**spec["network_options"]),
            spec.get("loss_options", {}),
        )

    def export(self, path):
        from safetensors.torch import save_file

        tensors = self._bench.tensors()
        save_file({n: t.detach().cpu().float().contiguous() for n, t in tensors.items()}, path)

    def infer(self, images):
        from facebench._torch import torch

        return self._bench.infer(torch.from_numpy(images)).numpy()

    def losses(self, images, labels, steps):
        from facebench._torch import torch

        labels = torch.from_numpy(labels.astype(np.int64))
        return self._bench.losses(torch.from_numpy(images), labels, steps)

    def run(self, iterations):
        return self._bench.run(iterations)

    def device_memory(self):
        if self.spec["device"] == "cpu":
            return None
        now, peak = self._bench.device_memory()
        return {"now": now, "peak": peak}

    def extras(self):
        return {
            "recording_seconds": self._bench.recording_seconds(),
            "data_alone": self._bench.data_alone(),
            "aggregate_alone": self._bench.aggregate_alone(),
            "device_memory": self.device_memory(),
        }
