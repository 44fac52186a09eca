"""`facebench.lab.timing`, by its short name."""

from facebench.lab.timing import *  # noqa: F403
from facebench.lab.timing import __all__ as __all__
