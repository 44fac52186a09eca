"""Embeddings of people who do not exist."""

import numpy as np


def drawn_people(count, dim, people):
    """(count, dim) float32, near the middle of each person; and whose each is."""
    random = np.random.default_rng(3)
    who = np.arange(count, dtype=np.int32) % people
    middles = random.normal(size=(people, dim))
    return (middles[who] + 1.3 * random.normal(size=(count, dim))).astype(np.float32), who
