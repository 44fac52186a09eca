"""Error rates of a run by groups of people."""

import os

from facebench import _eval
from facebench._eval import GroupRatesOptions, GroupReportOptions
from facebench.core._arguments import path_text
from facebench.core._finding import Finding


class GroupReport(Finding):
    """Error rates by groups. Its fields are those of :meth:`to_dict`.

    ``groups``: name and number of people; ``fmr_cells`` and ``fnmr_cells``: of every pair of groups
    that is compared; ``measures``: inequality, each with an interval and the p of its permutation
    test. The page has the figures of NIST's FRTE: FMR by group, FNMR against FMR, and FMR of every
    pair of groups.
    """

    def __getitem__(self, measure):
        """The measure of that name."""
        return self._by_name("measures", measure)


def groups(run, attributes, *, threshold_from=None, out=None, threads=0, progress=None, **options):
    """FMR and FNMR of groups of people at one threshold, and how unequal they are.

    ``run``: a run folder whose track is a list of pairs. ``attributes``: a CSV file with a header;
    one column names people (or photographs), another gives their group. ``threshold_from``: a run
    folder on whose comparisons the threshold is chosen, so that it is tested on others. ``out``:
    also write a page with figures. Keywords:
    ``column``, ``key``, ``track``, ``threshold``, ``far``, ``impostors`` (of
    :class:`GroupReportOptions`);
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
    where = os.fspath(run), os.fspath(attributes)
    how = GroupReportOptions(**options), GroupRatesOptions(**rates)
    chosen_on = path_text(threshold_from, "threshold_from")
    fields = _eval.group_report(*where, *how, chosen_on, threads, progress)
    return GroupReport(fields).with_page(out)
