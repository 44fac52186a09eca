"""Many models under many protocols: runs, one page, exports; see docs/suite.md.

>>> from facebench.suites import SuiteDescription, SuiteModel, SuiteSet
>>> suite = SuiteDescription([SuiteModel("raw", "mine:embed")], [SuiteSet("LFW", "lfw")])
>>> suite.models[0].name
'raw'
"""

from facebench.suites.costs import measure_cost
from facebench.suites.description import (
    SuiteDescription,
    SuiteModel,
    SuiteSet,
    read_suite,
)
from facebench.suites.exports import model_card, model_index
from facebench.suites.whole import Suite, suite

__all__ = [
    "Suite",
    "SuiteDescription",
    "SuiteModel",
    "SuiteSet",
    "measure_cost",
    "model_card",
    "model_index",
    "read_suite",
    "suite",
]
