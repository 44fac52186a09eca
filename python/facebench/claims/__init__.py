"""Claims: what papers printed, what a number can be, what a run must have, how much data it takes.

>>> from facebench import claims
>>> claims.check_claim("99.64", "lfw").exists
False
"""

from facebench._eval import ClaimOptions, PlanOptions
from facebench.claims.comparison import against
from facebench.claims.planning import plan
from facebench.claims.printed_numbers import check_claim
from facebench.claims.published import (
    Publication,
    PublishedTable,
    find_published,
    list_published,
    load_published,
    training_sets,
)
from facebench.claims.rules import check, read_rules, rule_sets

__all__ = [
    "ClaimOptions",
    "PlanOptions",
    "Publication",
    "PublishedTable",
    "against",
    "check",
    "check_claim",
    "find_published",
    "list_published",
    "load_published",
    "plan",
    "read_rules",
    "rule_sets",
    "training_sets",
]


def __dir__():
    return __all__
