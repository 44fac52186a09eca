"""The hits of a search for shared people, for a person to look at: groups of them, and a sheet."""

import os

from facebench._library import full
from facebench.core import Error
from facebench.core._arguments import of_kind
from facebench.datasets._pictures import Pictures
from facebench.reports.page import data_url, written

_SIDE = 112  # pixels of a picture on the sheet


def clusters(entries):
    """Hits that share a person of either set, together: lists of entries, the largest first."""
    root = {}

    def find(key):
        root.setdefault(key, key)
        while root[key] != key:
            root[key] = root[root[key]]
            key = root[key]
        return key

    for entry in entries:
        root[find(("test", entry["match"]))] = find(("train", entry["person"]))
    groups = {}
    for entry in entries:
        groups.setdefault(find(("train", entry["person"])), []).append(entry)
    return sorted(groups.values(), key=len, reverse=True)


class _Set:
    """The pictures of one set, by the ids of its samples; of embeddings alone there are none."""

    def __init__(self, path):
        try:
            self._pictures = Pictures(path)
        except Error:
            if os.path.isdir(path) or full.find_image_archive(path) is not None:
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
            pixels = full.resize(pixels, *size, "area")
        return {"source": data_url("image/png", full.encode_png(pixels))}


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
    """An HTML page of an :class:`Overlap`: each hit with the two most alike pictures side by side.

    ``train``, ``test``: where their pictures are, the packs, folders or archives of the two sets.
    Hits that share a person stand together. Whoever looks ticks those who are one person, and saves
    the list that ``exclude=`` of packing, training and comparing takes. Ticked at first are hits
    with similar images, and hits by name where no images were compared. The page is complete in
    itself and loads nothing. Returns its text. Error where a set cannot be read.

    >>> import pathlib, tempfile
    >>> from facebench import datasets
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for name, first in (("ours", 0), ("theirs", 19)):
    ...     faces = datasets.SyntheticOptions(people=20, images=2, size=32, first_person=first)
    ...     _ = datasets.write_synthetic_dataset(faces, folder / name)
    >>> sets = folder / "ours" / "images", folder / "theirs" / "images"
    >>> found = datasets.find_overlap(*sets)
    >>> [len(group) for group in found.clusters()]
    [1]
    >>> page = datasets.audit_sheet(found, *sets)
    >>> page.count('data-person="Person_00020"')
    1
    """
    from facebench.datasets._overlap import Overlap  # which shows this function

    of_kind(overlap, Overlap, "found")
    pictures = _Set(os.fspath(train)), _Set(os.fspath(test))
    names = overlap.train["name"], overlap.test["name"]
    groups = [
        {
            "people": len({e["person"] for e in group}),
            "matches": len({e["match"] for e in group}),
            "hits": [_hit(entry, *pictures) for entry in group],
        }
        for group in clusters(overlap.entries)
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
    )
