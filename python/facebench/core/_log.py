"""The logger ``facebench``, silent unless a program asks for it (docs/conventions.md)."""

import logging
import warnings

logger = logging.getLogger("facebench")
logger.addHandler(logging.NullHandler())


def warn(text: str, stacklevel: int = 2) -> None:
    """A UserWarning of the caller's caller, as `warnings.warn` gives it, which is logged as well:
    Python shows a warning once for a place, the log has each."""
    logger.warning("%s", text)
    warnings.warn(text, stacklevel=stacklevel + 1)
