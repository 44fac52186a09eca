"""Timing: measuring time as papers on frameworks do.

>>> from facebench import timing
>>> times = [0.9] + [0.1, 0.1, 0.1, 0.2] * 4
>>> summary = timing.summarize_times(times, skip=1)
>>> summary["first"], summary["count"], round(summary["mean"], 3), summary["median"]
(0.9, 16, 0.125, 0.1)
"""

from typing import Unpack

from facebench._torch import full
from facebench.core._options import takes

StepBench = full.StepBench
StepOptions = full.StepOptions
SeriesOptions = full.SeriesOptions
ProcessMeter = full.ProcessMeter
busy_share = full.busy_share
decode_rate = full.decode_rate
iteration_model = full.iteration_model
machine_facts = full.machine_facts
parse_cpuinfo = full.parse_cpuinfo
predict_step_memory = full.predict_step_memory
repeat_spread = full.repeat_spread
scaling_speedup = full.scaling_speedup
step_inputs = full.step_inputs
time_input = full.time_input

STEP_FIELDS = tuple(field["name"] for field in StepOptions.fields())


@takes(SeriesOptions)
def summarize_times(seconds, **options: "Unpack[full.SeriesOptionsKeywords]") -> dict:
    """A series of times in seconds: first ones apart, mean, median, p95, intervals.

    ``options`` are the fields of `SeriesOptions`: skip, level, replicates, seed. The intervals are
    percentiles of a block bootstrap; None where they cannot be computed. ValueError for no times.
    """
    return full.summarize_times([float(s) for s in seconds], SeriesOptions(**options))


from facebench.lab.timing.layers import bench_layers  # noqa: E402
from facebench.lab.timing.rates import bench_detect, bench_eval, bench_load  # noqa: E402
from facebench.lab.timing.results import write_bench  # noqa: E402
from facebench.lab.timing.scale import bench_scale  # noqa: E402
from facebench.lab.timing.step import bench_step  # noqa: E402

__all__ = [
    "STEP_FIELDS",
    "ProcessMeter",
    "SeriesOptions",
    "StepBench",
    "StepOptions",
    "bench_detect",
    "bench_eval",
    "bench_layers",
    "bench_load",
    "bench_scale",
    "bench_step",
    "busy_share",
    "decode_rate",
    "iteration_model",
    "machine_facts",
    "parse_cpuinfo",
    "predict_step_memory",
    "repeat_spread",
    "scaling_speedup",
    "step_inputs",
    "summarize_times",
    "time_input",
    "write_bench",
]
