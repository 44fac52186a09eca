"""``facebench check``: whether a run folder meets a set of rules."""

from pathlib import Path

import facebench
from facebench.cli import common
from facebench.cli.options import argument, option
from facebench.cli.verb import Answer, verb


@verb(
    "facebench check runs/run-lfw-1 --rules frte-1-1.",
    codes={common.EXIT_VERDICT: "a rule is not met"},
)
def check(
    run: argument("Run folder.", Path),
    rules: option("A TOML file, or a name: see facebench list rule-sets.", metavar="NAME|FILE"),
):
    """Whether a run has what a set of rules asks for, rule by rule."""
    result = facebench.check(run, rules)
    return Answer(result.to_dict(), str(result), 0 if result.passed else common.EXIT_VERDICT)
