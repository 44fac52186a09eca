"""The pairs, people and labels behind a run's error rates, with their crops."""

import base64
import math
import os
from importlib.util import find_spec
from pathlib import Path
from typing import Unpack

import numpy as np

from facebench import _eval
from facebench._eval import InspectionOptions
from facebench._fields import Fields
from facebench._options import takes
from facebench.reports.page import Section, table_block, write_html, write_text

KINDS = {
    "genuine_pairs": "Genuine pairs with the lowest scores",
    "impostor_pairs": "Impostor pairs with the highest scores",
    "disagreements": "Pairs that the runs decide differently",
}


class Inspection(Fields):
    """What :func:`inspect` found. Its fields are those of :meth:`to_dict`.

    ``genuine_pairs``, ``impostor_pairs``, ``disagreements``: first, second, score, ...;
    ``influence``: people without whom a rate changes most; ``suspects``: samples whose scores speak
    against their labels, with the evidence.
    """

    def __init__(self, text, fields, exclusion):
        super().__init__(fields)
        self._text, self.exclusion = text, exclusion

    def __repr__(self):
        return self._text.rstrip()

    def _repr_markdown_(self):
        return self._text

    def pairs(self):
        """(title, pairs) of each kind that there is."""
        return [(title, self._fields[kind]) for kind, title in KINDS.items() if self._fields[kind]]


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
    among = _among(person, attributes, column, group, qualities, quality_below)
    found = Inspection(
        *_eval.inspect_run(
            os.fspath(run), among or [], os.fspath(against or ""), InspectionOptions(**options)
        )
    )
    if suspects is not None:
        write_text(suspects, found.exclusion)
    if out is not None or sheet is not None:
        crops = _Crops(pack or Path(run) / "pack.h5")
        if out is not None:
            _write_page(out, found, crops)
        if sheet is not None:
            _write_sheet(sheet, found, crops)
    return found


def _among(person, attributes, column, group, qualities, below):
    """The names that a pair must have one of; None for all pairs."""
    if (attributes is None) != (group is None):
        raise ValueError("a group is one of a table of attributes: give both")
    if (qualities is None) != (below is None):
        raise ValueError("quality_below is of a table of qualities: give both")
    chosen = [] if person is None else [set(person)]
    if attributes is not None:
        cells = _eval.read_column(os.fspath(attributes), column)
        chosen.append(_some(attributes, {name for name, cell in cells if cell == group}))
    if qualities is not None:
        columns = [] if column is None else [column]
        named = _eval.read_qualities(os.fspath(qualities), columns, None)
        samples, values = next(iter(named.values()))
        low = {name for name, value in zip(samples, values, strict=True) if value < below}
        chosen.append(_some(qualities, low))
    if not chosen:
        return None
    names = set.intersection(*chosen)
    if not names:
        raise ValueError("nothing is all that was asked for")
    return sorted(names)


def _some(path, names):
    if not names:
        raise _eval.Error(f"{path}: no row is what was asked for")
    return names


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
        data = self._images.encode_jpeg(np.ascontiguousarray(pixels))
        return f"data:image/jpeg;base64,{base64.b64encode(bytes(data)).decode('ascii')}"


def _item(crops, pair, text):
    """A pair of a sheet."""
    sides = [(crops.source(pair[side]), pair[side]) for side in ("first", "second")]
    return {"images": sides, "caption": text}


def _scores(pair):
    other = "" if pair["other"] is None else f" / {pair['other']:.4f}"
    return f"{pair['score']:.4f}{other}: {pair['first']} and {pair['second']}"


def worst_pairs(run, title, count=6):
    """The worst pairs of a run as a section of a page; None where its crops are not at hand, or its
    comparisons are no list."""
    pack = Path(run) / "pack.h5"
    if find_spec("facebench._full") is None or not pack.is_file():
        return None
    try:
        found = inspect(run, count=count)
    except _eval.Error:
        return None
    crops = _Crops(pack)
    section = Section(f"Worst pairs: {title}")
    for heading, pairs in found.pairs():
        section.blocks += [
            {"kind": "heading", "text": heading},
            {"kind": "sheet", "pairs": [_item(crops, p, _scores(p)) for p in pairs]},
        ]
    return section


def _write_page(path, found, crops):
    rates = (
        f"Threshold {found.threshold:.6g}. {found.threshold_from} "
        f"FMR {_percent(found.fmr)} of {found.impostor} impostor comparisons, "
        f"FNMR {_percent(found.fnmr)} of {found.genuine} genuine ones."
    )
    sections = [Section("Rates", [{"kind": "text", "text": rates}])]
    for title, pairs in found.pairs():
        sections.append(
            Section(
                title, [{"kind": "sheet", "pairs": [_item(crops, p, _scores(p)) for p in pairs]}]
            )
        )
    if found.influence:
        rows = [
            [p["person"], p["comparisons"], p["errors"], _percent(p["fmr"]), _percent(p["fnmr"])]
            for p in found.influence
        ]
        names = ["person", "comparisons", "errors", "FMR without", "FNMR without"]
        sections.append(
            Section("People without whom a rate changes most", [table_block(names, rows)])
        )
    if found.suspects:
        items = [
            _item(
                crops,
                s["worst"],
                f"{' or '.join(s['samples'])}: 10^{s['evidence']:.1f} to 1 against the label, "
                f"{s['against']} of {s['comparisons']} comparisons",
            )
            for s in found.suspects
        ]
        note = "A hard photograph looks like a wrong label: look at each before it is left out."
        sections.append(
            Section(
                "Labels that the scores speak against",
                [{"kind": "text", "text": note}, {"kind": "sheet", "pairs": items}],
            )
        )
    write_html(path, f"{found.protocol} inspected", sections)


def _percent(rate):
    return "" if rate is None else f"{100 * rate:.4g} %"


def _write_sheet(path, found, crops):
    """All pairs as one picture: a row of pairs after another, kinds apart by a grey line."""
    height, width, _ = crops.shape
    across, gap = 5, 4
    bands = []
    for _, pairs in found.pairs():
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
