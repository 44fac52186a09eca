"""How what was found is drawn: the table of all kinds of findings."""

import functools
from importlib import import_module

from facebench.reports.page import report_markdown, write_html

# The module of this room that draws a kind of finding; those of `lab` are drawn beside their kind.
_DRAWN_IN = {
    "CalibrationReport": "operating_points",
    "Description": "descriptions",
    "Explanation": "explanations",
    "FusionReport": "fusions",
    "GroupReport": "group_reports",
    "QualityReport": "quality_reports",
    "ThresholdReport": "operating_points",
}


@functools.singledispatch
def _draw(found):
    raise TypeError(f"nothing says how a {type(found).__name__} is drawn")


draws = _draw.register  # a function of a finding that gives (title, sections)


def drawing(found) -> tuple[str, list]:
    """(title, sections) of what was found."""
    for kind in type(found).__mro__:
        if kind.__name__ in _DRAWN_IN:
            import_module(f"facebench.reports.{_DRAWN_IN[kind.__name__]}")
    return _draw(found)


def text_of(found) -> str:
    """What was found as Markdown."""
    _, sections = drawing(found)
    return report_markdown(sections).rstrip()


def write_page(found, path) -> None:
    """Write what was found as a page."""
    title, sections = drawing(found)
    write_html(path, title, sections)
