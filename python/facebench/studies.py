"""`facebench.lab.studies`, by its short name."""

from facebench.lab.studies import *  # noqa: F403
from facebench.lab.studies import __all__ as __all__
