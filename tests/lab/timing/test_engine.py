"""What engines share: the nodes that are built, the noise they are given."""

import numpy as np
import pytest

pytest.importorskip("torch")
from facebench.lab.engines.engine import needed_nodes, noise


def test_only_what_the_embedding_rests_on_is_built():
    graph = {
        "nodes": [{"inputs": []}, {"inputs": [0]}, {"inputs": [0]}, {"inputs": [1]}],
        "embedding": 3,
    }
    assert needed_nodes(graph) == [0, 1, 3]


def test_noise_is_the_same_in_every_engine():
    spec = {"seed": 1, "batch": 3, "classes": 5, "graph": {"input": [3, 4, 4], "vocabulary": 0}}
    one, two = noise(spec), noise(spec)
    assert np.array_equal(one[0], two[0]) and np.array_equal(one[1], two[1])
    assert one[0].shape == (3, 3, 4, 4) and one[0].min() >= -1 and one[0].max() <= 1
