"""ROC and DET as pages and matplotlib draw them: axes from the data, no stroke that is not data."""

import re

import facebench
import numpy as np
import pytest
from facebench import plots
from facebench.reports.error_curves import ErrorCurve, Mark, det_shown, roc_shown
from facebench.reports.plots import det_svg, histogram_svg, roc_svg
from facebench.reports.run_plots import _thresholds


def curve_of(genuine, impostor, **more):
    """The curve by counting, threshold after threshold."""
    thresholds = np.unique(np.concatenate([genuine, impostor]))[::-1]
    far = [0.0, *((impostor >= t).mean() for t in thresholds)]
    tar = [0.0, *((genuine >= t).mean() for t in thresholds)]
    return ErrorCurve("one", far, tar, None, len(genuine), len(impostor), **more)


def drawn(distance, genuine=300, impostor=300, **more):
    rng = np.random.default_rng(4)
    return curve_of(rng.normal(distance, size=genuine), rng.normal(size=impostor), **more)


def points(svg):
    text = re.search(r'<polyline [^>]*points="([^"]*)"', svg)[1]
    return [tuple(map(float, p.split(","))) for p in text.split()]


def test_a_good_models_curve_fills_its_axes():
    mark = Mark(0.01, 0.97, (0.95, 0.99))
    (one,), across, up = roc_shown([drawn(4.2, marks=(mark,))])
    assert across.low == pytest.approx(1 / 300) and across.high == 1
    lowest = min(*one.ys, 0.95)
    assert up.low <= lowest - 0.05 + 1e-9 and up.low > lowest - 0.1 and up.high == 1
    # What is reached at one false accept, and not the way up to it.
    assert one.xs[0] == pytest.approx(1 / 300) and one.ys[0] > 0.8
    places = points(roc_svg([drawn(4.2)]))
    assert [x for x, _ in places].count(places[0][0]) == 1
    svg = roc_svg([drawn(4.2, marks=(mark,))])
    assert 'class="broken"' in svg and svg.count('class="whisker"') == 1
    assert "one: true accept rate 97.00 % [95.00, 99.00] at false accept rate 1 %" in svg


def test_a_weak_models_axis_begins_at_zero():
    svg = roc_svg([drawn(0.1)])
    assert 'class="broken"' not in svg and ">0 %<" in svg


def test_scores_of_normal_distributions_lie_on_a_line_of_a_det_curve():
    normal = drawn(2, 4000, 4000)
    (one,), across, up = det_shown([normal])
    inside = [(across(x), up(y)) for x, y in zip(one.xs, one.ys, strict=True) if 0.005 < x < 0.3]
    xs, ys = np.array(inside).T
    assert np.corrcoef(xs, ys)[0, 1] < -0.998
    assert across.scale == up.scale == "normal" and across.low == 1 / 4000
    logarithmic = det_shown([normal], "log")
    assert {axis.scale for axis in logarithmic[1:]} == {"log"}


def test_a_det_curve_ends_with_its_last_error():
    for axes in ("normal", "log"):
        (one,), _, up = det_shown([drawn(4)], axes)
        assert min(one.ys) > 0 and up.low <= 1 / 300
        places = points(det_svg([drawn(4)], axes=axes))
        assert places[-1][1] == places[-2][1]  # it ends flat, with no way down to the edge


@pytest.mark.parametrize(
    "curve",
    [
        drawn(40),  # apart altogether
        drawn(0),
        drawn(-3),  # the wrong way round
        drawn(2, 5, 1),  # one impostor
        drawn(2, 1, 5),
        drawn(3, 50, 9000),
        curve_of(np.ones(9), np.ones(7)),  # a tie of all
        ErrorCurve("one", [0, 0.2, 1], [0, 0.5, 1]),  # nobody says how many
        ErrorCurve("a tail", [1e-6, 1e-5], [0.5, 0.7], None, 100, 10**7),
    ],
)
def test_any_curve_can_be_drawn(curve):
    for svg in (roc_svg([curve]), det_svg([curve]), det_svg([curve], axes="log")):
        numbers = [float(n) for n in re.findall(r'[xy][12]?="(-?[\d.]+|nan|inf)"', svg)]
        assert np.isfinite(numbers).all() and "<text" in svg


def test_pages_and_matplotlib_draw_the_same(tmp_path):
    pytest.importorskip("matplotlib").use("agg")
    lines = ["2\t60"]
    for fold in range(2):
        lines += [f"P{fold}{k:02}\t1\t2" for k in range(60)]
        lines += [f"P{fold}{k:02}\t1\tP{fold}{(k + 1) % 60:02}\t1" for k in range(60)]
    (tmp_path / "pairs.txt").write_text("\n".join(lines) + "\n")
    labels = np.tile(np.repeat([1, 0], 60), 2)
    scores = 3 * labels + np.random.default_rng(2).normal(size=240)
    result = facebench.evaluate("lfw", scores=scores, root=tmp_path, replicates=50,
                                out=tmp_path / "run")  # fmt: skip
    page = (tmp_path / "run/report.html").read_text()
    ax = plots.plot_roc(result)
    low, high = ax.get_xlim()
    assert low == pytest.approx(1 / 120) and high == 1
    assert f'data-x="log {low:.9g} 1 ' in page
    assert f'data-y="linear {ax.get_ylim()[0]:.9g} 1 ' in page
    tars = [m for name, m in result["view2"].metrics.items() if name.startswith("tar@")]
    assert page.count("true accept rate ") >= len([t for t in tars if t.far_target >= 1 / 120])
    assert plots.plot_det(result).get_xscale() == "function"
    assert plots.plot_det(result, axes="log").get_xscale() == "log"
    with pytest.raises(ValueError, match="axes"):
        plots.plot_det(result, axes="linear")
    # What was drawn before stays in view.
    both = plots.plot_roc(result, plots.plot_roc(result))
    assert both.get_xlim() == ax.get_xlim()
    facebench.report(tmp_path / "run", format="html", axes="log", out=tmp_path / "log.html")
    assert "normal" not in re.findall(r'data-y="(\w+)', (tmp_path / "log.html").read_text())


def test_a_histogram_shows_thresholds():
    rng = np.random.default_rng(0)
    genuine, impostor = rng.normal(2, size=4000), rng.normal(size=4000)
    edges = np.linspace(-4, 6, 61)
    bins = [np.histogram(s, edges)[0] for s in (genuine, impostor)]
    metrics = {"tar@far=0.01": {"threshold": 2.3}, "eer": {"value": 0.16}}
    levels = {name: at for at, name in _thresholds(metrics, (edges, *bins))}
    assert levels["FAR 1 %"] == 2.3
    # By counting: where both errors are the same.
    errors = [((genuine < t).mean() - (impostor >= t).mean(), t) for t in np.arange(0, 2, 0.001)]
    assert levels["EER"] == pytest.approx(min(errors, key=lambda e: abs(e[0]))[1], abs=0.03)
    svg = histogram_svg(edges, *bins, [(at, name) for name, at in levels.items()])
    assert svg.count('class="level"') == 2 and ">EER<" in svg
    assert 'class="level"' not in histogram_svg(edges, *bins, [(9.0, "beyond")])
    assert _thresholds(metrics, (edges, np.zeros(60, int), bins[1])) == [(2.3, "FAR 1 %")]
