"""Bands of ROC and DET: pointwise intervals of the TAR along the curve."""

import facebench
import numpy as np
import pytest
from facebench import _eval, metrics, plots, reports


@pytest.fixture(scope="module")
def lists(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bands")
    lines = ["2\t60"]
    for fold in range(2):
        lines += [f"P{fold}{k:02}\t1\t2" for k in range(60)]
        lines += [f"P{fold}{k:02}\t1\tP{fold}{(k + 1) % 60:02}\t1" for k in range(60)]
    (folder / "pairs.txt").write_text("\n".join(lines) + "\n")
    labels = np.tile(np.repeat([1, 0], 60), 2)
    scores = labels + np.random.default_rng(2).normal(size=240)
    people = np.array(
        [[fold * 60 + k, fold * 60 + (k + shift) % 60]
         for fold in range(2) for shift in (0, 1) for k in range(60)]
    ).T  # fmt: skip
    return folder, scores, labels, people


def test_a_band_is_the_interval_at_each_far(lists):
    folder, scores, labels, people = lists
    result = facebench.evaluate("lfw", scores=scores, root=folder, replicates=200,
                                out=folder / "run")  # fmt: skip
    far, low, high = result["view2"].roc_band()
    # Eight a decade, down to one of 120 false accepts.
    assert far == pytest.approx(10.0 ** -(np.arange(16, -1, -1) / 8))
    comparisons = metrics.Comparisons(scores, labels)
    options = metrics.BootstrapOptions(replicates=200)
    assert (low[-1], high[-1]) == (1, 1)  # where everything is accepted
    for k in (3, 8, 13):
        statistic = _eval.tar_at_far_statistic(comparisons, far[k])
        interval = metrics.dyadic_bootstrap(statistic, *people, options=options)
        assert (low[k], high[k]) == (interval.low, interval.high)
    curves = reports.curves(folder / "run")["view2"]
    assert all(np.array_equal(a, b) for a, b in zip(curves["band"], (far, low, high), strict=True))
    page = (folder / "run" / "report.html").read_text()
    assert page.count('<polygon class="area') >= 2 + 2  # ROC, DET, and the scores' two
    assert "bands: 95 %, pointwise, over draws of people" in page


def test_without_intervals_there_is_no_band(lists):
    folder, scores, *_ = lists
    result = facebench.evaluate("lfw", scores=scores, root=folder, interval="none")
    assert [len(part) for part in result["view2"].roc_band()] == [0, 0, 0]


def test_plots_have_bands(lists):
    pytest.importorskip("matplotlib").use("agg")
    folder, scores, *_ = lists
    result = facebench.evaluate("lfw", scores=scores, root=folder)
    for plot in (plots.plot_roc, plots.plot_det):
        # The table's numbers are collections, too.
        assert len(plot(result, marks=False).collections) == 1
        assert not plot(result, bands=False, marks=False).collections
        assert len(plot(result, bands=False).collections) > 1


def test_several_results_are_a_list(lists, tmp_path):
    pytest.importorskip("matplotlib").use("agg")
    folder, scores, *_ = lists
    out = tmp_path / "mine"
    result = facebench.evaluate("lfw", scores=scores, root=folder, interval="none", out=out)
    axes = plots.plot_roc([out, result])
    assert [line.get_label() for line in axes.lines] == ["mine", "result 2"]
