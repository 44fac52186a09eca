"""What happens where this process may start only few threads (`ulimit -u`, a container's limit).

Our own pools take what they get; OpenMP, under torch and numpy, ends the process.
"""

import os
import warnings

from facebench import _eval

_ENOUGH = 64


def _few() -> bool:
    """Whether OpenMP may have no threads of its own; says so, and keeps it from trying."""
    # Two pools, a loader of images and a display of progress.
    enough = min(2 * (os.cpu_count() or 1) + 3, _ENOUGH)
    startable = _eval.startable_threads(enough)
    if startable == enough:
        return False
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = "1"
    warnings.warn_explicit(
        f"only {startable} further threads may be started here (ulimit -u, or a container's limit "
        "on processes): some steps use one thread and take longer",
        RuntimeWarning,
        "facebench",
        1,
    )
    return True


#: Found out once, before numpy or torch is imported.
few = _few()
