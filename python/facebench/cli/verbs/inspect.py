"""``facebench inspect``: the pairs, people and labels behind a run's error rates."""

from pathlib import Path

import facebench
from facebench.cli.options import argument, fields, keywords, option
from facebench.cli.verb import verb


@verb(
    "facebench inspect runs/run-lfw-1 --out worst.html --suspects suspects.txt",
    lambda: [
        *keywords(
            facebench.inspect,
            against=option("A run of the same pairs: list those decided differently.", Path),
            person=option("Only pairs with this person; may be repeated.", list[str]),
            attributes=option("CSV with a header: names, and a column of groups.", Path),
            column=option("The column of --attributes or --qualities. Default: the second."),
            group=option("Only pairs with one of this group of --attributes."),
            qualities=option("CSV with a header: names of photographs, and a quality.", Path),
            quality_below=option("Only pairs with a quality below this.", float),
            pack=option("The crops. Default: the run's own.", Path),
            out=option("Also write a page with the crops (.html).", Path),
            sheet=option("Also write the pairs as a picture (.png, .jpg).", Path),
            suspects=option("Write the suspects as a list for --exclude of eval and run.", Path),
        ),
        *fields(facebench.analysis.InspectionOptions),
    ],
)
def inspect(run: argument("A run folder.", Path), **options):
    """The pairs behind a run's errors. Worst pairs, influential people, suspected labels."""
    return facebench.inspect(run, **options)
