"""Points by two rates, and their front."""

import re

import numpy as np
from facebench.reports import rate_plots
from facebench.reports.rate_plots import points_svg


def test_the_front_of_points_by_brute_force():
    random = np.random.default_rng(2)
    points = [tuple(p) for p in random.integers(0, 6, (40, 2)).tolist()]
    kept = {p for p, best in zip(points, rate_plots.front(points), strict=True) if best}
    for x, y in points:
        beaten = any(a >= x and b >= y and (a, b) != (x, y) for a, b in points)
        assert ((x, y) in kept) == (not beaten)
    assert re.search(r"<polyline", points_svg([("a", 1, 2, None)] * 2, "t", "x", "y"))
