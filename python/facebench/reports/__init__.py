"""Reports: how runs and what was found of them are drawn, as tables, texts and pages.

>>> from facebench.reports import report_formats
>>> report_formats()
['markdown', 'csv', 'latex', 'text']
"""

from typing import TYPE_CHECKING

from facebench.core._when_asked import when_asked

if TYPE_CHECKING:
    # What is asked of runs was here before `analysis` was a room of its own.
    from facebench.analysis import *  # noqa: F403
    from facebench.core._files import write_text
    from facebench.reports.page import report_html, report_markdown, write_html
    from facebench.reports.paper import system_table
    from facebench.reports.summaries import summary_text
    from facebench.reports.tables import report_formats, table
    from facebench.reports.trainings import training_rows

__getattr__ = when_asked(__name__)
__all__ = [
    "report_formats",
    "report_html",
    "report_markdown",
    "summary_text",
    "system_table",
    "table",
    "training_rows",
    "write_html",
    "write_text",
]


def __dir__():
    return __all__
