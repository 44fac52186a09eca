"""Plots for papers, drawn with matplotlib: of one result or run folder, or of several as
{title: result} or as a list, whose titles are the folders' names.

Each function draws on ``ax`` (default: a new one) and returns it, so that axes can be shared, set
and saved as vector graphics: ``plot_roc(result).figure.savefig("roc.pdf")``. Further keywords are
those of matplotlib's ``plot``.
"""

import os

from facebench.core._arguments import of_kind, type_text
from facebench.protocols import Result, load

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


def plot_roc(results, ax=None, *, bands=True, **line):
    """TAR over FAR, the FAR on a logarithmic axis.

    ``bands``: shaded, the interval of the TAR at each FAR (pointwise, over draws of people), where
    the result has intervals.
    """
    curves = [(label, track, *track.roc()) for label, track in _curves(results)]
    ax = _axes(ax)
    for label, track, far, tar in curves:
        (drawn,) = ax.plot(far, tar, **{"label": label, "drawstyle": "steps-post", **line})
        if of_kind(bands, bool, "bands"):
            at, low, high = track.roc_band()
            ax.fill_between(at, low, high, color=drawn.get_color(), alpha=0.2, linewidth=0)
    ax.set(xscale="log", xlabel="false accept rate", ylabel="true accept rate")
    ax.legend()
    return ax


def plot_det(results, ax=None, *, bands=True, **line):
    """FNMR over FMR, both on logarithmic axes. ``bands``: as of `plot_roc`."""
    curves = [(label, track, *track.roc()) for label, track in _curves(results)]
    ax = _axes(ax)
    for label, track, far, tar in curves:
        style = {"label": label, "drawstyle": "steps-post", **line}
        (drawn,) = ax.plot(far, [1 - t for t in tar], **style)
        if of_kind(bands, bool, "bands"):
            at, low, high = track.roc_band()
            ax.fill_between(at, 1 - high, 1 - low, color=drawn.get_color(), alpha=0.2, linewidth=0)
    ax.set(xscale="log", yscale="log", xlabel="false match rate", ylabel="false non-match rate")
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
