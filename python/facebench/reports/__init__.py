"""Reports: tables, plots and pages made of run folders; why two runs differ; what claims can be.

>>> from facebench.reports import report_formats
>>> report_formats()
['markdown', 'csv', 'latex', 'text']
"""

from facebench._eval import GalleryOptions, InspectionOptions
from facebench.reports.claims import Claim, ClaimOptions, check_claim
from facebench.reports.explanations import Explanation, explain
from facebench.reports.group_reports import GroupReport, GroupReportOptions, groups
from facebench.reports.markdown import align_tables
from facebench.reports.operating_points import (
    CalibrationOptions,
    CalibrationReport,
    PlanOptions,
    PlanReport,
    ThresholdReport,
    ThresholdReportOptions,
    calibrate,
    plan,
    read_calibrator,
    threshold,
)
from facebench.reports.page import (
    image_section,
    report_html,
    report_markdown,
    table_section,
    text_section,
    write_html,
    write_text,
)
from facebench.reports.paper import system_table
from facebench.reports.plots import (
    cmc_svg,
    det_svg,
    discard_svg,
    gallery_svg,
    histogram_svg,
    matrix_svg,
    roc_svg,
    steps_svg,
    tippett_svg,
)
from facebench.reports.quality_reports import QualityReport, quality_report
from facebench.reports.ranking import holm_adjusted, rank_runs, why_not_comparable
from facebench.reports.rate_plots import bars_svg, lines_svg, points_svg
from facebench.reports.results import (
    folders_section,
    run_report,
    runs_section,
    verify_pages,
    write_run_pages,
)
from facebench.reports.rules import RunCheck, check, read_rules, rule_sets
from facebench.reports.runs import (
    as_list,
    curves,
    frame,
    read_run,
    rows,
    verify_inputs,
    verify_scores,
)
from facebench.reports.tables import against, against_section, report_formats, table
from facebench.reports.trainings import (
    is_training,
    read_training,
    training_rows,
    trainings_sections,
    trainings_table,
    write_training_page,
    write_training_table,
)
from facebench.reports.variance_budget import Budget, budget

__all__ = [
    "Budget",
    "CalibrationOptions",
    "CalibrationReport",
    "Claim",
    "ClaimOptions",
    "Explanation",
    "GalleryOptions",
    "GroupReport",
    "GroupReportOptions",
    "InspectionOptions",
    "PlanOptions",
    "PlanReport",
    "QualityReport",
    "RunCheck",
    "ThresholdReport",
    "ThresholdReportOptions",
    "against",
    "against_section",
    "align_tables",
    "as_list",
    "bars_svg",
    "budget",
    "calibrate",
    "check",
    "check_claim",
    "cmc_svg",
    "curves",
    "det_svg",
    "discard_svg",
    "explain",
    "folders_section",
    "frame",
    "gallery_svg",
    "groups",
    "histogram_svg",
    "holm_adjusted",
    "image_section",
    "is_training",
    "lines_svg",
    "matrix_svg",
    "plan",
    "points_svg",
    "quality_report",
    "rank_runs",
    "read_calibrator",
    "read_rules",
    "read_run",
    "read_training",
    "report_formats",
    "report_html",
    "report_markdown",
    "roc_svg",
    "rows",
    "rule_sets",
    "run_report",
    "runs_section",
    "steps_svg",
    "system_table",
    "table",
    "table_section",
    "text_section",
    "threshold",
    "tippett_svg",
    "training_rows",
    "trainings_sections",
    "trainings_table",
    "verify_inputs",
    "verify_pages",
    "verify_scores",
    "why_not_comparable",
    "write_html",
    "write_run_pages",
    "write_text",
    "write_training_page",
    "write_training_table",
]


def __dir__():
    return __all__
