"""Analysis: what is asked of finished runs: their numbers, groups, thresholds, why two differ.

>>> from facebench.analysis import holm_adjusted
>>> holm_adjusted([0.01, 0.04])
[0.02, 0.04]
"""

from typing import TYPE_CHECKING

from facebench._eval import InspectionOptions, read_run, verify_scores, why_not_comparable
from facebench.core._when_asked import when_asked

if TYPE_CHECKING:
    from facebench.analysis.explanations import explain
    from facebench.analysis.fusion import FusionOptions, fuse
    from facebench.analysis.group_rates import GroupReportOptions, groups
    from facebench.analysis.operating_points import (
        CalibrationOptions,
        ThresholdReportOptions,
        calibrate,
        read_calibrator,
        threshold,
    )
    from facebench.analysis.quality import quality_report
    from facebench.analysis.ranking import holm_adjusted, rank_runs
    from facebench.analysis.runs import curves, frame, rows, schema, verify_inputs

__getattr__ = when_asked(__name__)
__all__ = [
    "CalibrationOptions",
    "FusionOptions",
    "GroupReportOptions",
    "InspectionOptions",
    "ThresholdReportOptions",
    "calibrate",
    "curves",
    "explain",
    "frame",
    "fuse",
    "groups",
    "holm_adjusted",
    "quality_report",
    "rank_runs",
    "read_calibrator",
    "read_run",
    "rows",
    "schema",
    "threshold",
    "verify_inputs",
    "verify_scores",
    "why_not_comparable",
]


def __dir__():
    return __all__
