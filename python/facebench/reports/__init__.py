"""Reports: tables, plots and pages made of run folders; why two runs differ.

>>> from facebench.reports import report_formats
>>> report_formats()
['markdown', 'csv', 'latex', 'text']
"""

from facebench._eval import (
    GalleryOptions,
    InspectionOptions,
    read_run,
    verify_scores,
    why_not_comparable,
)
from facebench.reports.explanations import explain
from facebench.reports.group_reports import GroupReportOptions, groups
from facebench.reports.operating_points import (
    CalibrationOptions,
    ThresholdReportOptions,
    calibrate,
    read_calibrator,
    threshold,
)
from facebench.reports.page import report_html, report_markdown, write_html, write_text
from facebench.reports.paper import system_table
from facebench.reports.quality_reports import quality_report
from facebench.reports.ranking import holm_adjusted, rank_runs
from facebench.reports.runs import curves, frame, rows, verify_inputs
from facebench.reports.tables import report_formats, table
from facebench.reports.trainings import training_rows
from facebench.reports.variance_budget import budget

__all__ = [
    "CalibrationOptions",
    "GalleryOptions",
    "GroupReportOptions",
    "InspectionOptions",
    "ThresholdReportOptions",
    "budget",
    "calibrate",
    "curves",
    "explain",
    "frame",
    "groups",
    "holm_adjusted",
    "quality_report",
    "rank_runs",
    "read_calibrator",
    "read_run",
    "report_formats",
    "report_html",
    "report_markdown",
    "rows",
    "system_table",
    "table",
    "threshold",
    "training_rows",
    "verify_inputs",
    "verify_scores",
    "why_not_comparable",
    "write_html",
    "write_text",
]


def __dir__():
    return __all__
