"""The pairs, people and labels behind a run's error rates, with their crops."""

import math
import os
from importlib.util import find_spec
from pathlib import Path
from typing import Unpack

import numpy as np

from facebench import _eval
from facebench._eval import InspectionOptions
from facebench.core._arguments import listed, path_text
from facebench.core._finding import Finding
from facebench.core._options import takes
from facebench.reports.drawn import draws
from facebench.reports.page import (
    Section,
    data_url,
    heading,
    percent,
    table_block,
    text,
    write_text,
)

KINDS = {
    "genuine_pairs": "Genuine pairs with the lowest scores",
    "impostor_pairs": "Impostor pairs with the highest scores",
    "disagreements": "",  # named after the other run
}


class Inspection(Finding):
    """What :func:`inspect` found. Its fields are those of :meth:`to_dict`.

    ``genuine_pairs``, ``impostor_pairs``, ``disagreements``: first, second, score, ...;
    ``influence``: people without whom a rate changes most; ``suspects``: samples whose scores speak
    against their labels, with the evidence.
    """

    def __init__(self, fields, exclusion):
        super().__init__(fields)
        self.exclusion, self._crops = exclusion, None

    def pairs(self):
        """(title, pairs) of each kind that there is."""
        decided = f"Decided otherwise by {self.other_run} (threshold {self.other_threshold:.6g})"
        titles = KINDS | {"disagreements": decided} if self.other_run else KINDS
        return [(title, self._fields[kind]) for kind, title in titles.items() if self._fields[kind]]

    def write_html(self, path, crops=None):
        """Write the report as a page, with the crops of the samples where they are given."""
        self._crops = crops
        try:
            super().write_html(path)
        finally:
            self._crops = None


@takes(InspectionOptions)
def inspect(
    run,
    *,
    against=None,
    person=None,
    attributes=None,
    column=None,
    group=None,
    qualities=None,
    quality_below=None,
    pack=None,
    out=None,
    sheet=None,
    suspects=None,
    **options: "Unpack[_eval.InspectionOptionsKeywords]",
):
    """The worst pairs of a run, the people its rates hang on, and labels that may be wrong.

    ``against``: a run of the same comparisons; pairs that the two decide differently are listed.
    Pairs can be confined to those with a ``person`` (names), with a person or photograph of a
    ``group`` of ``attributes`` (a CSV file whose first column has names, ``column`` the groups), or
    with a photograph of which ``qualities`` (a CSV file, ``column`` its quality) are below
    ``quality_below``. ``out``: a page with the crops of ``pack`` (default: the run's own);
    ``sheet``: the same pairs as a picture; ``suspects``: a list for ``exclude`` of
    :func:`facebench.evaluate`. Keywords: ``count``, ``track``, ``threshold``, ``far``.

    >>> found = inspect("runs/lfw", suspects="suspects.txt")  # doctest: +SKIP
    >>> found.suspects[0]["samples"], found.suspects[0]["evidence"]  # doctest: +SKIP
    (['Ann/Ann_0002.jpg'], 5.1)
    """
    of_runs = os.fspath(run), path_text(against, "against"), listed(person, "person")
    of_groups = path_text(attributes, "attributes"), group
    of_qualities = path_text(qualities, "qualities"), quality_below
    options = InspectionOptions(**options)
    inspection = Inspection(
        *_eval.inspect_run(*of_runs, *of_groups, *of_qualities, column, options)
    )
    if suspects is not None:
        write_text(suspects, inspection.exclusion)
    if out is not None or sheet is not None:
        crops = _Crops(Path(run) / "pack.h5" if pack is None else pack)
        if out is not None:
            inspection.write_html(out, crops)
        if sheet is not None:
            _write_sheet(sheet, inspection, crops)
    return inspection


class _Crops:
    """The crops of a pack by the samples' names."""

    def __init__(self, path):
        from facebench import datasets, images

        self._images = images
        self._pack = datasets.Pack(path)
        self._index = {name: i for i, name in enumerate(self._pack.names)}
        self.shape = self._pack.images.shape[1:]

    def pixels(self, name):
        """uint8 (H, W, 3), or None where there is no crop."""
        i = self._index.get(name)
        if i is None or self._pack.statuses[i] != 0:
            return None
        return self._pack.images[i]

    def source(self, name):
        """The crop as the source of an HTML picture, "" where there is none."""
        pixels = self.pixels(name)
        if pixels is None:
            return ""
        return data_url("image/jpeg", self._images.encode_jpeg(np.ascontiguousarray(pixels)))


def _pairs_block(pairs, crops):
    """Pairs as pictures, or as a table where there are no crops."""
    if crops is None:
        rows = [[_score(p), p["first"], p["second"]] for p in pairs]
        return table_block(["score", "first", "second"], rows)
    items = [_item(crops, p, f"{_score(p)}: {p['first']} and {p['second']}") for p in pairs]
    return {"kind": "sheet", "pairs": items}


def worst_pairs(run, title, count=6):
    """The worst pairs of a run as a section of a page; None where its crops are not at hand, or its
    comparisons are not a list."""
    pack = Path(run) / "pack.h5"
    if find_spec("facebench._full") is None or not os.path.isfile(pack):
        return None
    try:
        inspection = inspect(run, count=count)
    except _eval.Error:
        return None
    crops = _Crops(pack)
    section = Section(f"Worst pairs: {title}")
    for kind, pairs in inspection.pairs():
        section.blocks += [heading(kind), _pairs_block(pairs, crops)]
    return section


def _write_sheet(path, inspection, crops):
    """All pairs as one picture: a row of pairs after another, kinds apart by a grey line."""
    height, width, _ = crops.shape
    across, gap = 5, 4
    bands = []
    for _, pairs in inspection.pairs():
        rows = math.ceil(len(pairs) / across)
        band = np.full((rows * (height + gap), across * (2 * width + 2 * gap), 3), 255, np.uint8)
        for k, pair in enumerate(pairs):
            top, left = k // across * (height + gap), k % across * (2 * width + 2 * gap)
            for side, name in enumerate((pair["first"], pair["second"])):
                pixels = crops.pixels(name)
                if pixels is not None:
                    x = left + side * width
                    band[top : top + height, x : x + width] = pixels
        bands += [band, np.full((2 * gap, band.shape[1], 3), 128, np.uint8)]
    if not bands:
        raise _eval.Error(f"{path}: there is no pair to show")
    from facebench import images

    images.write(os.fspath(path), np.concatenate(bands[:-1]))


@draws
def draw_inspection(found: Inspection):
    title = f"{found.protocol} inspected"
    rates = (
        f"Threshold {found.threshold:.6g}. {found.threshold_from} FMR {percent(found.fmr)} % of "
        f"{found.impostor} impostor comparisons, FNMR {percent(found.fnmr)} % of {found.genuine} "
        "genuine ones."
    )
    blocks = [text(rates)]
    for title, pairs in found.pairs():
        blocks += [heading(title), _pairs_block(pairs, found._crops)]
    if found.influence:
        rows = [
            [p["person"], p["comparisons"], p["errors"], percent(p["fmr"]), percent(p["fnmr"])]
            for p in found.influence
        ]
        names = ["person", "comparisons", "errors", "FMR without, %", "FNMR without, %"]
        blocks += [heading("People without whom a rate changes most"), table_block(names, rows)]
    if found.suspects:
        blocks += [
            heading("Labels that the scores speak against"),
            _suspects(found),
            text("A hard photograph looks like a wrong label: look at each before it is left out."),
        ]
    return title, [Section(title, blocks)]


def _suspects(found):
    if found._crops is None:
        rows = [
            [
                " or ".join(s["samples"]),
                f"{s['evidence']:.2f}",
                f"{s['against']} of {s['comparisons']}",
                f"{s['worst']['score']:.4f}",
            ]
            for s in found.suspects
        ]
        names = ["sample", "log10 of the evidence", "comparisons against it", "worst score"]
        return table_block(names, rows)
    items = [
        _item(
            found._crops,
            s["worst"],
            f"{' or '.join(s['samples'])}: 10^{s['evidence']:.1f} to 1 against the label, "
            f"{s['against']} of {s['comparisons']} comparisons",
        )
        for s in found.suspects
    ]
    return {"kind": "sheet", "pairs": items}


def _item(crops, pair, text):
    """A pair of a sheet."""
    sides = [(crops.source(pair[side]), pair[side]) for side in ("first", "second")]
    return {"images": sides, "caption": text}


def _score(pair):
    return f"{pair['score']:.4f}" + ("" if pair["other"] is None else f" / {pair['other']:.4f}")
