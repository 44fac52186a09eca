"""The commands that a page shows in its blocks of code."""

import re
import shlex


def shown(text, starters=r"(?:torchrun .*-m )?"):
    """The words of each behind `facebench`: whole commands, lines that go on joined, comments taken
    off; with another program before it that starts it."""
    joined = re.sub(r"\\\n\s*", " ", text)
    for line in joined.splitlines():
        if found := re.match(rf"\s{{4,}}{starters}(facebench .*)", line):
            yield shlex.split(found[1], comments=True)[1:]
