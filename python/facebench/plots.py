"""Plots for papers, drawn with matplotlib: of one result or run folder, or of several as
{title: result} or as a list, whose titles are the folders' names.

Each function draws on ``ax`` (default: a new one) and returns it, so that axes can be shared, set
and saved as vector graphics: ``plot_roc(result).figure.savefig("roc.pdf")``. Further keywords are
those of matplotlib's ``plot``.
"""

import os
from statistics import NormalDist

from facebench.core._arguments import of_kind, one_of, type_text
from facebench.protocols import Result, load
from facebench.reports.error_curves import AXES, ErrorCurve, Mark, det_shown, roc_shown

__all__ = ["plot_cmc", "plot_det", "plot_roc", "plot_scores"]


def _axes(ax):
    if ax is not None:
        if not (hasattr(ax, "plot") and hasattr(ax, "hist")):
            raise TypeError(f"ax: expected axes of matplotlib, found {type_text(ax)}")
        return ax
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError("plots need matplotlib: pip install matplotlib") from None
    return pyplot.figure().add_subplot()


def _curves(results):
    """(label, track) of every track that has a curve."""
    for title, result in _named(results):
        if isinstance(result, (str, os.PathLike)):
            result = load(result)
        of_kind(result, Result, "results")
        tracks = [t for t in result.tracks.values() if t.trials is not None]
        for track in tracks:
            label = ", ".join(filter(None, [title, track.name if len(tracks) > 1 else ""]))
            yield label or track.name, track


def _named(results):
    """(title, result) of each."""
    if isinstance(results, dict):
        return results.items()
    if not isinstance(results, list | tuple):
        return [("", results)]
    return [(_title(result, number), result) for number, result in enumerate(results, 1)]


def _title(result, number):
    folder = result if isinstance(result, str | os.PathLike) else getattr(result, "folder", "")
    return os.path.basename(os.path.abspath(folder)) if folder else f"result {number}"


def _error_curve(label, track, bands, marks):
    """A track as pages draw it, too."""
    band = track.roc_band() if of_kind(bands, bool, "bands") else None
    numbers = [n for n in track.metrics.values() if n.name.startswith("tar@far=")]
    numbers = [n for n in numbers if n.value is not None and n.far_target is not None]
    shown = tuple(
        Mark(n.far_target, n.value, None if n.low is None else (n.low, n.high), not n.reliable)
        for n in (numbers if of_kind(marks, bool, "marks") else [])
    )
    far, tar = track.roc()
    band = band if band and len(band[0]) else None
    return ErrorCurve(label, far, tar, band, track.genuine, track.impostor, shown)


def _draw_errors(ax, shown, scales, line):
    """Curves, bands and marks on axes whose ranges grow where others were drawn before."""
    drawn, *ranges = shown
    before = [ax.get_xlim(), ax.get_ylim()] if ax.lines else None
    for one in drawn:
        style = {"label": one.title, "drawstyle": "steps-post", **line}
        (curve,) = ax.plot(one.xs, one.ys, **style)
        colour, (at, low, high) = curve.get_color(), one.band
        if at:
            ax.fill_between(at, low, high, color=colour, alpha=0.2, linewidth=0)
        for mark in one.marks:
            if mark.interval:
                ax.vlines(mark.far, *mark.interval, color="0.3", linewidth=1)
            inside = "white" if mark.few else colour
            ax.scatter([mark.far], [mark.tar], s=25, color=inside, edgecolors=colour, zorder=3)
    for name, scale, axis, limits in zip(
        ("x", "y"), scales, ranges, before or (None, None), strict=True
    ):
        low, high = axis.low, axis.high
        if limits:
            low, high = min(low, limits[0]), max(high, limits[1])
        if scale == "normal":
            getattr(ax, f"set_{name}scale")("function", functions=_deviates())
            ticks = [(v, text) for v, text in axis.ticks if text]
            getattr(ax, f"set_{name}ticks")([v for v, _ in ticks], [text for _, text in ticks])
        else:
            getattr(ax, f"set_{name}scale")(scale)
        getattr(ax, f"set_{name}lim")(low, high)


def _deviates():
    """The scale of normal deviates and its inverse, of arrays."""
    import numpy as np

    normal = NormalDist()
    least = 1e-12  # of what the ends of an axis, 0 and 1, have none
    deviate = np.vectorize(lambda v: normal.inv_cdf(min(max(v, least), 1 - least)), otypes=[float])
    return deviate, np.vectorize(normal.cdf, otypes=[float])


def plot_roc(results, ax=None, *, bands=True, marks=True, **line):
    """TAR over FAR, the FAR on a logarithmic axis that begins at one false accept.

    ``bands``: shaded, the interval of the TAR at each FAR (pointwise, over draws of people), where
    the result has intervals. ``marks``: the result's TARs at a FAR with their intervals, hollow
    where they rest on a handful of errors. The same as on the page of a run.
    """
    curves = [_error_curve(label, track, bands, marks) for label, track in _curves(results)]
    ax = _axes(ax)
    _draw_errors(ax, roc_shown(curves), ("log", "linear"), line)
    ax.set(xlabel="false accept rate", ylabel="true accept rate")
    ax.legend()
    return ax


def plot_det(results, ax=None, *, bands=True, marks=True, axes="normal", **line):
    """FNMR over FMR, both on axes of normal deviates, or ``axes="log"``. ``bands`` and ``marks``:
    as of `plot_roc`."""
    one_of(axes, AXES, "axes")
    curves = [_error_curve(label, track, bands, marks) for label, track in _curves(results)]
    ax = _axes(ax)
    _draw_errors(ax, det_shown(curves, axes), (axes, axes), line)
    ax.set(xlabel="false match rate", ylabel="false non-match rate")
    ax.legend()
    return ax


def plot_cmc(results, ax=None, **line):
    """Identification rate over rank of every search; ValueError where there is none."""
    curves = [
        (label, track.cmc()) for label, track in _curves(results) if track.kind == "identification"
    ]
    if not curves:
        raise ValueError("no track is an identification; see plot_roc")
    ax = _axes(ax)
    for label, rates in curves:
        ax.plot(range(1, len(rates) + 1), rates, **{"label": label, "marker": ".", **line})
    ax.set(xlabel="rank", ylabel="identification rate")
    ax.legend()
    return ax


def plot_scores(results, ax=None, *, bins=60, **patches):
    """Histograms of genuine and impostor scores, each of area one."""
    tracks = [(label, *track.labelled_scores()) for label, track in _curves(results)]
    ax = _axes(ax)
    for label, scores, labels in tracks:
        for name, kind in (("genuine", 1), ("impostor", 0)):
            how = {"histtype": "step", "density": True, "label": f"{label}: {name}", **patches}
            ax.hist(scores[labels == kind], bins=bins, **how)
    ax.set(xlabel="score", ylabel="density")
    ax.legend()
    return ax
