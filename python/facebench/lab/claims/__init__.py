"""Claims: what papers printed, what a number can be, what a run must have.

>>> from facebench import claims
>>> claims.check_claim("99.64", "lfw").exists
False
"""

from facebench._eval import ClaimOptions
from facebench.lab.claims import claim_pages as claim_pages  # which says how claims are drawn
from facebench.lab.claims.comparison import against
from facebench.lab.claims.printed_numbers import check_claim
from facebench.lab.claims.published import (
    Publication,
    PublishedTable,
    find_published,
    list_published,
    load_published,
    training_sets,
)
from facebench.lab.claims.rules import check, read_rules, rule_sets

__all__ = [
    "ClaimOptions",
    "Publication",
    "PublishedTable",
    "against",
    "check",
    "check_claim",
    "find_published",
    "list_published",
    "load_published",
    "read_rules",
    "rule_sets",
    "training_sets",
]


def __dir__():
    return __all__
