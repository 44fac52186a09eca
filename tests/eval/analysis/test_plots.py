"""Plots as SVG: matrices, curves of identification, steps."""

import re

import pytest
from facebench.reports.plots import cmc_svg, det_svg, matrix_svg, steps_svg


def test_matrices_are_heat_maps():
    svg = matrix_svg(["a", "b<"], ["c", "d"], [[0.9, 0.1], [-0.2, 0.4]], [["i"] * 2] * 2)
    assert svg.count("<rect") == 4
    assert "b&lt;" in svg
    assert ">-0.200<" in svg
    assert ">undefined<" in matrix_svg(["a"], ["b"], [[None]])
    # Numbers above 1 (d') have a scale of their own.
    svg_above_1 = matrix_svg(["a"], ["b", "c"], [[1.0, 5.0]])
    assert re.findall(r'fill-opacity="([\d.]+)"', svg_above_1) == ["0.142", "0.550"]
    strengths = [float(v) for v in re.findall(r'fill-opacity="([\d.]+)"', svg)]
    assert strengths[0] > strengths[3] > strengths[1] > strengths[2] > 0
    assert max(strengths) < 0.6  # text stays readable on it


def test_a_matrix_of_many_groups_is_wide_enough_for_its_numbers():
    """Eight groups stood on top of one another in the width of a curve."""
    names = [f"group {i}" for i in range(8)]
    svg = matrix_svg(names, names, [[0.5] * 8] * 8, [["0.480 – 0.520"] * 8] * 8)
    widths = {float(w) for w in re.findall(r'<rect [^>]*width="([\d.]+)"', svg)}
    assert min(widths) > 140
    view = float(re.search(r'viewBox="0 0 (\d+) ', svg)[1])
    assert view == pytest.approx(170 + 8 * (min(widths) + 3))
    assert 'class="plot matrix wide"' in svg
    assert "wide" not in matrix_svg(["a"], ["b", "c", "d"], [[1, 2, 3]])


def test_curves_of_identification():
    svg = cmc_svg([("one", [0.92, 0.95, 1.0]), ("two", [0.91, 0.95, 0.97])])
    assert ">90 %<" in svg
    assert ">0 %<" not in svg
    # An axis of open-set identification begins with the lowest rate that there is.
    assert ">1 %<" in det_svg([("one", [0, 0.01, 1], [0, 0.5, 1])])


def test_a_step_alone_is_marked_and_what_cannot_be_negative_begins_at_zero():
    svg = steps_svg([("one", 0, [20], [3.2])], "Loss", "loss")
    assert svg.count("<circle") == 1 and ">-" not in svg
    below = steps_svg([("one", 0, [20, 40], [-0.1, 0.2])], "Cosine", "cosine", signed=True)
    assert "<circle" not in below and ">-0.1" in below
