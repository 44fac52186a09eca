"""What becomes of a run's FNMR when samples of low quality are left out."""

import os

from facebench import _eval
from facebench._eval import DiscardOptions
from facebench.core._arguments import path_text
from facebench.core._finding import Finding


class QualityReport(Finding):
    """Error versus discard of several qualities. Its fields are those of :meth:`to_dict`.

    ``measures``: of each quality its ``areas`` (limit, value, interval, oracle, gain) and ``curve``
    (discarded, fnmr); ``oracle``: a curve; ``differences`` of every two qualities.
    """

    def __getitem__(self, name):
        """The quality of that name."""
        return self._by_name("measures", name)


def quality_report(
    run, qualities, *, track=None, threshold_from=None, threads=0, progress=None, **options
):
    """Error versus discard of a run; :func:`facebench.quality` gathers qualities from files.

    ``qualities``: {name: (names of samples, values)}, higher = better. ``threshold_from``: a run
    folder on whose comparisons the threshold is chosen. ``options``: see
    :class:`facebench.metrics.DiscardOptions`.
    """
    chosen_on = path_text(threshold_from, "threshold_from")
    what = (os.fspath(run), qualities, track, DiscardOptions(**options), chosen_on)
    return QualityReport(_eval.quality_report(*what, threads, progress))
