#!/usr/bin/env python3
"""Writes one set of scores under every convention into docs/metrics.md. With --check it writes
nothing and fails where the page is old.

Needs the light package alone: `PYTHONPATH=build/python python scripts/convention_table.py`.
"""

import generated_page
import numpy as np
from facebench import metrics
from generated_page import table

PAGE = generated_page.ROOT / "docs/metrics.md"
FARS = (0.01, 0.001, 0.0001)


def scores():
    """5,000 genuine and 5,000 impostor cosines in ten folds, by plain arithmetic.

    Logistic quantiles in a fixed shuffle: the same on every machine, where a random normal number
    may differ in its last bit.
    """
    n = 5000
    order = np.arange(n) * 1237 % n  # 1237 and 5000 share no factor
    quantile = (order + 0.5) / n
    spread = np.round(0.06 * np.log(quantile / (1 - quantile)), 4)
    genuine = np.clip(0.62 + 1.3 * spread, -1, 1)
    impostor = np.clip(0.1 + spread, -1, 1)
    return (
        np.r_[genuine, impostor],
        np.repeat([1, 0], n),
        np.tile(np.arange(n) % 10, 2),
    )


def cell(comparisons, far, convention):
    try:
        result = metrics.tar_at_far(comparisons, far, convention)
    except ValueError:
        return "undefined"
    return f"{100 * result.value:.2f} ({result.false_accepts})"


def tars(comparisons):
    heads = [f"FAR {100 * far:g} % ({far * comparisons.impostor:g} expected)" for far in FARS]
    rows = [
        [f"`{c['name']}`", *(cell(comparisons, far, c["name"]) for far in FARS)]
        for c in metrics.tar_at_far_conventions()
    ]
    return table(["TAR [%] (false accepts)", *heads], rows)


def accuracies(comparisons):
    rows = []
    for c in metrics.accuracy_conventions():
        a = metrics.accuracy(comparisons, c["name"])
        spread = "" if np.isnan(a.spread) else f"{100 * a.spread:.3f}"
        rows.append([f"`{c['name']}`", f"{100 * a.value:.2f}", a.wrong, spread])
    return table(["accuracy [%]", "value", "wrong of 10,000", "spread printed"], rows)


def generated():
    """The page with both tables made anew."""
    comparisons = metrics.Comparisons(*scores())
    lines = [*tars(comparisons), "", *accuracies(comparisons)]
    return generated_page.page_with(PAGE, {"conventions": lines})


if __name__ == "__main__":
    generated_page.main(__doc__, generated)
