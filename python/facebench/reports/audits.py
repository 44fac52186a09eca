"""The hits of a search for shared people, for a person to look at: a sheet."""

import os

from facebench import datasets, images
from facebench.core import Error
from facebench.core._arguments import of_kind
from facebench.datasets._overlap import Overlap
from facebench.datasets._pictures import Pictures
from facebench.reports.page import data_url, script, written

_SIDE = 112  # pixels of a picture on the sheet


class _Set:
    """The pictures of one set, by the ids of its samples; of embeddings alone there are none."""

    def __init__(self, path):
        try:
            self._pictures = Pictures(path)
        except Error:
            if os.path.isdir(path) or datasets.find_image_archive(path) is not None:
                raise
            self._rows = {}
        else:
            self._rows = {name: k for k, name in enumerate(self._pictures.names)}

    def shown(self, name):
        """What the page shows of a sample: its picture, or why there is none."""
        if name not in self._rows:
            return {"words": "no picture"}
        try:
            pixels = self._pictures.pixels(self._rows[name])
        except Error as error:
            return {"words": "cannot be read", "why": str(error)}
        height, width = pixels.shape[:2]
        scale = _SIDE / max(height, width)
        if scale < 1:
            size = max(1, round(width * scale)), max(1, round(height * scale))
            pixels = images.resize(pixels, *size, "area")
        return {"source": data_url("image/png", images.encode_png(pixels))}


def _hit(entry, train, test):
    score = "" if entry["score"] is None else f", most alike {entry['score']:.4f}"
    return entry | {
        "picture": train.shown(entry["sample"]),
        "match_picture": test.shown(entry["match_sample"]),
        "most_alike": score,
        # A name alone, with no images alike, may be a namesake's.
        "ticked": entry["similar_pairs"] > 0 or entry["score"] is None,
    }


def audit_sheet(overlap, train, test):
    """See `facebench.datasets.audit_sheet`."""
    of_kind(overlap, Overlap, "found")
    pictures = _Set(os.fspath(train)), _Set(os.fspath(test))
    names = overlap.train["name"], overlap.test["name"]
    groups = [
        {
            "people": len({e["person"] for e in group}),
            "matches": len({e["match"] for e in group}),
            "hits": [_hit(entry, *pictures) for entry in group],
        }
        for group in overlap.clusters()
    ]
    why = ""
    if overlap.threshold:
        why = f"Threshold {overlap.threshold:.4f}: {overlap.threshold_reason}."
    return written(
        "audit.html",
        title=" and ".join(names),
        train=names[0],
        test=names[1],
        side=_SIDE,
        groups=groups,
        hits=len(overlap.entries),
        why=why,
        marking=script("marking.js"),
    )
