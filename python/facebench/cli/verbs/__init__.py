"""One module a verb; importing this package adds them all to the command line, in this order."""

from facebench.cli.verbs import (  # isort: skip
    demo,
    listing,
    detect,
    pack,
    train,
    convert,
    embed,
    evaluate,
    run,
    report,
    explain,
    verify,
    data,
    bench,
)

__all__ = [
    "bench",
    "convert",
    "data",
    "demo",
    "detect",
    "embed",
    "evaluate",
    "explain",
    "listing",
    "pack",
    "report",
    "run",
    "train",
    "verify",
]
