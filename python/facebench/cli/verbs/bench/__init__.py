"""``facebench bench``: the papers' timing methods; its verbs in this order."""

from facebench.cli.verbs.bench import (  # isort: skip
    steps,
    throughput,
    studies,
)

__all__ = ["steps", "studies", "throughput"]
