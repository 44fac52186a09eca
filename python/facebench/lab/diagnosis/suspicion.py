"""What is suspicious in a run folder."""

import os

import numpy as np

from facebench import _eval
from facebench.analysis.runs import read_run
from facebench.core._files import read_json

MANY_FAILED = 0.01  # of the images
LOW_GENUINE = 0.01  # of the genuine scores, below most impostor scores
GREY = 0.02  # of the crops


def suspicions(run) -> list[dict]:
    """{"sign", "text"} of each."""
    content = read_run(run)["content"]
    measured = read_json(run / "metrics.json")
    findings = [("warning", w) for w in content.get("warnings", [])]
    for name, track in measured["tracks"].items():
        findings += _of_rates(name, track)
    for name in measured["tracks"]:
        findings += _of_scores(run, name)
    findings += _of_preparation(content)
    findings += _of_crops(run)
    return [{"sign": sign, "text": text} for sign, text in findings]


def _of_rates(name, track):
    cell = track["metrics"].get("auc")
    if cell and cell["value"] is not None and cell["value"] < 0.5:
        yield (
            "AUC below one half",
            f"{name}: {100 * cell['value']:.2f} %. Distances taken for similarities (--distance), "
            "or labels the other way round.",
        )
    failed, samples = track.get("failed_enrolments", 0), track.get("samples", 0)
    failed = len(failed) if isinstance(failed, list) else failed
    if samples and failed > MANY_FAILED * samples:
        yield (
            "Failed enrolments",
            f"{name}: {failed} of {samples} images. Tight crops are not photographs for a "
            "detector: --detector none, if they are cropped already.",
        )


def _of_scores(run, name):
    try:
        listed = _eval.listed_run(run, name)
    except (_eval.Error, ValueError):  # a search, or its scores are not all kept
        return
    scores, labels = np.asarray(listed["scores"]), np.asarray(listed["labels"])
    genuine, impostor = (scores[labels == kind] for kind in (1, 0))
    if min(len(genuine), len(impostor)) < 20:
        return
    if np.ptp(scores) < 1e-3 * max(1e-12, np.abs(scores).max()):
        yield "Scores all alike", f"{name}: the network gives nearly one vector for every face."
        return
    low = float(np.mean(genuine < np.median(impostor)))
    if low > LOW_GENUINE and np.median(genuine) > np.quantile(impostor, 0.99):
        yield (
            "Genuine scores in two heaps",
            f"{name}: {100 * low:.1f} % of them are below half of the impostor scores, most others "
            "above nearly all: wrong faces of photographs with several, failed crops, or wrong "
            "labels. `facebench inspect` shows them.",
        )


def _of_preparation(content):
    preparation = content.get("preparation") or {}
    outside = preparation.get("outside")
    if outside:
        yield (
            "Faces beyond their images",
            f"{outside['boxes']} boxes and {outside['landmarks']} landmarks lie outside: the "
            "images look cropped already (--detector none).",
        )
    tagged = preparation.get("exif_tagged")
    if tagged and not preparation.get("decode", {}).get("exif_orientation"):
        yield (
            "Photographs that ask to be turned",
            f"{tagged['images']} of {tagged['decoded']} have an Exif tag that asks for it, and "
            "were taken as they lie (--exif-orientation turns them).",
        )


def _of_crops(run):
    try:
        from facebench import datasets
    except ImportError:  # the light package has no crops
        return
    if not os.path.isfile(run / "pack.h5"):
        return
    pack = datasets.Pack(run / "pack.h5")
    there = np.flatnonzero(np.asarray(pack.statuses) == 0)
    some = there[:: max(1, len(there) // 500)]
    if not len(some):
        return
    crops = pack.images[np.sort(some)]
    grey = float(np.mean(np.ptp(crops, 3).reshape(len(crops), -1).max(1) == 0))
    if grey > GREY:
        yield "Grey images", f"{100 * grey:.0f} % of the crops have no colour."
