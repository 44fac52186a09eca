"""`facebench.lab.claims`, by its short name; with what it had of `facebench.lab.planning`."""

from facebench.lab.claims import *  # noqa: F403
from facebench.lab.claims import __all__ as __all__
from facebench.lab.planning import PlanOptions as PlanOptions
from facebench.lab.planning import plan as plan
