"""Error rates of a run by groups of people."""

import os

from facebench import _eval
from facebench._eval import GroupRatesOptions, GroupReportOptions
from facebench._fields import Fields


class GroupReport(Fields):
    """Error rates by groups. Its fields are those of :meth:`to_dict`.

    ``groups``: name and number of people; ``fmr_cells`` and ``fnmr_cells``: of every pair of groups
    that is compared; ``measures``: inequality, each with an interval and the p of its permutation
    test.
    """

    def __init__(self, text, fields):
        super().__init__(fields)
        self._text = text

    def __getitem__(self, measure):
        """The measure of that name."""
        for m in self.measures:
            if m["name"] == measure:
                return m
        raise KeyError(f"{measure!r}; there are: {', '.join(m['name'] for m in self.measures)}")

    def __repr__(self):
        return self._text.rstrip()

    def _repr_markdown_(self):
        return self._text


def groups(run, attributes, *, threshold_from=None, threads=0, progress=None, **options):
    """FMR and FNMR of groups of people at one threshold, and how unequal they are.

    ``run``: a run folder whose track is a list of pairs. ``attributes``: a CSV file with a header;
    one column names people (or photographs), another gives their group. ``threshold_from``: a run
    folder on whose comparisons the threshold is chosen, so that it is tested on others. Keywords:
    ``column``, ``key``, ``track``, ``threshold``, ``far`` (of :class:`GroupReportOptions`);
    ``replicates``, ``level``, ``seed``, ``permutations`` (of
    :class:`facebench.metrics.GroupRatesOptions`).

    Sources: ISO/IEC 19795-10; Grother, NIST IR 8429, 2022.

    >>> report = groups("runs/lfw", "people.csv", column="sex", far=0.001)  # doctest: +SKIP
    >>> report["fmr_ratio"]["value"]  # doctest: +SKIP
    2.1
    """
    rates = {
        f: options.pop(f) for f in ("replicates", "level", "seed", "permutations") if f in options
    }
    return GroupReport(
        *_eval.group_report(
            os.fspath(run),
            os.fspath(attributes),
            GroupReportOptions(**options),
            GroupRatesOptions(**rates),
            os.fspath(threshold_from or ""),
            threads,
            progress,
        )
    )
