"""Reports: tables, plots and pages made of run folders; why two runs differ; what claims can be.

>>> report_formats()
['markdown', 'csv', 'latex']
"""

from facebench.reports.beside import against, against_section
from facebench.reports.claims import Claim, ClaimOptions, check_claim
from facebench.reports.explanations import Explanation, explain
from facebench.reports.group_reports import GroupReport, GroupReportOptions, groups
from facebench.reports.page import (
    image_section,
    report_html,
    table_section,
    text_section,
    write_html,
    write_text,
)
from facebench.reports.plots import cmc_svg, det_svg, histogram_svg, matrix_svg, roc_svg
from facebench.reports.rate_plots import bars_svg, lines_svg
from facebench.reports.results import runs_section
from facebench.reports.runs import (
    as_list,
    curves,
    frame,
    read_run,
    report_formats,
    rows,
    run_report,
    table,
    verify_inputs,
    verify_scores,
)

__all__ = [
    "Claim",
    "ClaimOptions",
    "Explanation",
    "GroupReport",
    "GroupReportOptions",
    "against",
    "against_section",
    "as_list",
    "bars_svg",
    "check_claim",
    "cmc_svg",
    "curves",
    "det_svg",
    "explain",
    "frame",
    "groups",
    "histogram_svg",
    "image_section",
    "lines_svg",
    "matrix_svg",
    "read_run",
    "report_formats",
    "report_html",
    "roc_svg",
    "rows",
    "run_report",
    "runs_section",
    "table",
    "table_section",
    "text_section",
    "verify_inputs",
    "verify_scores",
    "write_html",
    "write_text",
]


def __dir__():
    return __all__
