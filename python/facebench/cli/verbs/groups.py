"""``facebench groups``: for whom a system fails."""

from pathlib import Path

import facebench
from facebench.cli import common
from facebench.cli.options import argument, fields, keywords, option
from facebench.cli.verb import verb


@verb(
    "facebench groups runs/run-lfw-1 --attributes people.csv --column sex --far 0.001",
    lambda: [
        *keywords(
            facebench.groups,
            threshold_from=option("Choose the threshold on this run instead.", Path),
            out=option("Also write a page with figures (.html).", Path),
            threads=common.Threads,
        ),
        *fields(facebench.analysis.GroupReportOptions),
        *fields(facebench.metrics.GroupRatesOptions),
    ],
)
def groups(
    run: argument("A run folder.", Path),
    attributes: option("CSV with a header: names, and a column of groups.", Path),
    **options,
):
    """Error rates by groups of people. FMR and FNMR at one threshold, and how unequal they are."""
    return facebench.groups(run, attributes, **options)
