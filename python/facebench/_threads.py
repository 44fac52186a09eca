"""How the threads of torch, numpy and our own pools share the machine; set before these are loaded.

Where this process may start only few threads (`ulimit -u`, a container's limit), our own pools take
what they get; OpenMP, under torch and numpy, ends the process. And OpenMP's threads look for work
before they sleep: on a machine that others use, each look is time that nobody has.
"""

import os
import sys
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

# How often a waiting thread looks before it sleeps: some .1 ms. On an idle machine as fast as the
# 300,000 looks that GNU's OpenMP takes by itself (without any, a network of many small layers takes
# three times as long), and beside other programs nearly as fast as without (docs/timing.md).
_LOOKS = "2000"


def _wait_briefly() -> bool:
    """Says how long torch's threads look for work, unless the user does; whether it is too late,
    since OpenMP reads this once, when torch is loaded."""
    if "OMP_WAIT_POLICY" in os.environ or "GOMP_SPINCOUNT" in os.environ:
        return False
    os.environ["GOMP_SPINCOUNT"] = _LOOKS
    return "torch" in sys.modules


_too_late = _wait_briefly()


def tell_of_waiting() -> None:
    """A RuntimeWarning where torch's threads wait without bound on a machine that others use."""
    processors = len(os.sched_getaffinity(0))
    load = os.getloadavg()[0]
    if _too_late and load > processors:
        warnings.warn_explicit(
            f"torch was imported before facebench, so that its threads keep processors busy while "
            f"they wait, and others use this machine (load {load:.0f}, processors {processors}): "
            "import facebench first, or set OMP_WAIT_POLICY=passive",
            RuntimeWarning,
            "facebench",
            1,
        )
