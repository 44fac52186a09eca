"""The pairs, people and labels behind a run's error rates, with their crops."""

import math
import os
from importlib.util import find_spec
from pathlib import Path
from typing import Unpack
from urllib.parse import quote

import numpy as np

from facebench import _eval
from facebench._eval import InspectionOptions
from facebench.analysis.runs import model_name, read_run
from facebench.core._arguments import listed, path_text
from facebench.core._files import read_text
from facebench.core._finding import Finding
from facebench.core._options import takes
from facebench.io import _text_tables
from facebench.reports.drawn import draws
from facebench.reports.page import (
    Cell,
    Section,
    data_url,
    heading,
    pairs_block,
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

    def __init__(self, fields, exclusion, run=None, known=None):
        super().__init__(fields)
        self.exclusion, self._run, self._known = exclusion, run, known or _Known()
        self._crops = self._place = None

    def pairs(self):
        """(title, pairs) of each kind that there is."""
        decided = f"Decided otherwise by {self.other_run} (threshold {self.other_threshold:.6g})"
        titles = KINDS | {"disagreements": decided} if self.other_run else KINDS
        return [(title, self._fields[kind]) for kind, title in titles.items() if self._fields[kind]]

    def write_html(self, path, crops=None):
        """Write the report as a page, with the crops of the samples where they are given."""
        self._crops, self._place = crops, Path(path).absolute().parent
        try:
            super().write_html(path)
        finally:
            self._crops = self._place = None


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
    :func:`facebench.evaluate`. The page filters and sorts the pairs by person, kind of error,
    score, and the groups and qualities of ``attributes`` and ``qualities``, shows the photographs
    where they are on this machine, and saves what is ticked there as ``suspects.csv``, a list for
    ``exclude``. Keywords: ``count``, ``track``, ``threshold``, ``far``.

    >>> found = inspect("runs/lfw", suspects="suspects.txt")  # doctest: +SKIP
    >>> found.suspects[0]["samples"], found.suspects[0]["evidence"]  # doctest: +SKIP
    (['Ann/Ann_0002.jpg'], 5.1)
    """
    of_runs = os.fspath(run), path_text(against, "against"), listed(person, "person")
    known = _Known(attributes, qualities, column)
    # A table without a value to choose by says what the page can filter by.
    of_groups = "" if group is None else path_text(attributes, "attributes"), group
    of_qualities = "" if quality_below is None else path_text(qualities, "qualities"), quality_below
    confined = column if group is not None or quality_below is not None else None
    options = InspectionOptions(**options)
    found, exclusion = _eval.inspect_run(*of_runs, *of_groups, *of_qualities, confined, options)
    inspection = Inspection(found, exclusion, run, known)
    if suspects is not None:
        write_text(suspects, inspection.exclusion)
    if out is not None or sheet is not None:
        crops = _Crops(Path(run) / "pack.h5" if pack is None else pack)
        if out is not None:
            inspection.write_html(out, crops)
        if sheet is not None:
            _write_sheet(sheet, inspection, crops)
    return inspection


class _Known:
    """What tables say of photographs and people: their groups, and the qualities of photographs."""

    def __init__(self, attributes=None, qualities=None, column=None):
        self._groups, self._qualities = (
            {} if table is None else _read_column(table, column)
            for table in (attributes, qualities)
        )

    def groups(self, pair):
        """The groups of a pair's photographs or people."""
        sides = [(pair[s], pair[f"{s}_person"]) for s in ("first", "second")]
        found = (self._groups.get(_bare(n)) for side in sides for n in side)
        return list(dict.fromkeys(filter(None, found)))

    def quality(self, pair):
        """The lower quality of a pair's photographs; None where a table has none."""
        found = [self._qualities.get(_bare(pair[s])) for s in ("first", "second")]
        try:
            numbers = [float(q) for q in found if q]
        except ValueError:
            return None
        return min(numbers, default=None)


def _bare(name):
    return os.path.splitext(name)[0]


def _read_column(table, column):
    """{name without extension: value} of a CSV file whose first column has the names."""
    where = os.fspath(table)
    rows = [row for _, row in _text_tables.rows(where, read_text(table))]
    head = rows[0] if rows else []
    if not head or (column is not None and column not in head):
        known = ", ".join(head[1:]) or "nothing"
        raise _eval.Error(f"{where}: no column is called '{column}'; there are: {known}")
    number = 1 if column is None else head.index(column)
    return {_bare(row[0]): row[number] for row in reversed(rows[1:]) if len(row) > number}


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
    items = [
        {
            "images": [(crops.source(p[side]), p[side]) for side in ("first", "second")],
            "caption": _pair_text(p),
        }
        for p in pairs
    ]
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


_DECIDED = 12  # pairs that two runs decide differently, as a page shows them


def disagreements(first, second, first_title, second_title):
    """The pairs that two runs decide differently as a section of a page, with the crops that either
    has; None where their comparisons are not a list, or not the same."""
    most = 20000
    try:
        inspection = inspect(second, against=first, count=most)
    except _eval.Error:
        return None
    pairs = inspection.disagreements
    section = Section("Pairs that the two decide differently")
    if not pairs:
        section.blocks.append(text("None at a FAR of 0.1 % of either."))
        return section
    if len(pairs) < most:
        by_second = sum((p["score"] >= inspection.threshold) == p["genuine"] for p in pairs)
        counts = (
            f"{len(pairs)} at a FAR of 0.1 % of either: {second_title} alone decides {by_second} "
            f"of them rightly, {first_title} alone {len(pairs) - by_second}."
        )
    else:
        counts = f"{most} or more at a FAR of 0.1 % of either."
    shown = (
        f" Shown are the {min(_DECIDED, len(pairs))} clearest, with the scores of {second_title} / "
        f"{first_title} (thresholds {inspection.threshold:.4g} / {inspection.other_threshold:.4g})."
    )
    section.blocks.append(text(counts + shown))
    packs = (Path(run) / "pack.h5" for run in (second, first))
    pack = next((p for p in packs if p.is_file()), None)
    has_crops = pack is not None and find_spec("facebench._full") is not None
    crops = _Crops(pack) if has_crops else None
    section.blocks.append(_pairs_block(pairs[:_DECIDED], crops))
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
    blocks[:0] = _head(found)
    kinds = found.pairs()
    if found._crops is None:
        for title_of_kind, pairs in kinds:
            blocks += [heading(title_of_kind), _pairs_block(pairs, None)]
    else:
        suspects = [(s["worst"], _suspect_text(s)) for s in found.suspects]
        shown = [(t, [(p, _pair_text(p)) for p in pairs]) for t, pairs in kinds]
        if suspects:
            shown.append((_SUSPECTED, suspects))
        photographs = _Photographs(found._run, found._place)
        blocks.append(
            pairs_block(
                [(t, [_item(found, photographs, *pair) for pair in pairs]) for t, pairs in shown]
            )
        )
    if found.influence:
        rows = [
            [p["person"], p["comparisons"], p["errors"], percent(p["fmr"]), percent(p["fnmr"])]
            for p in found.influence
        ]
        names = ["person", "comparisons", "errors", "FMR without, %", "FNMR without, %"]
        blocks += [heading("People without whom a rate changes most"), table_block(names, rows)]
    if found.suspects:
        if found._crops is None:
            blocks += [heading(_SUSPECTED), _suspects(found)]
        hard = "A hard photograph looks like a wrong label: look at each before it is left out."
        blocks.append(text(hard))
    return title, [Section(title, blocks)]


_SUSPECTED = "Labels that the scores speak against"


def _head(found):
    """Whose run it is, of when, at which threshold, and where its own page is."""
    if found._run is None or found._place is None:
        return []
    data = read_run(found._run)
    folder = os.path.relpath(os.path.abspath(found._run), found._place)
    page = quote(f"{folder}/report.html")
    model = model_name(data["content"]) or "embeddings from elsewhere"
    day = data["circumstance"].get("started", "")[:10] or "–"
    row = [model, day, f"{found.threshold:.6g}", Cell(os.path.basename(folder), href=page)]
    return [table_block(["model", "run of", "threshold", "its page"], [row])]


def _suspects(found):
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


def _suspect_text(suspect):
    return (
        f"{' or '.join(suspect['samples'])}: 10^{suspect['evidence']:.1f} to 1 against the label, "
        f"{suspect['against']} of {suspect['comparisons']} comparisons"
    )


def _pair_text(pair):
    return f"{_score(pair)}: {pair['first']} and {pair['second']}"


class _Photographs:
    """Where the photographs of a run are on this machine, as a page in a folder links to them."""

    def __init__(self, run, folder):
        data = {} if run is None else read_run(run)["circumstance"]
        places = [data.get(key) for key in ("images", "root")]
        self._roots = [Path(p) for p in dict.fromkeys(filter(None, places))]
        self._folder = folder

    def link(self, name):
        """The photograph of a sample as a link; "" where there is no file of it."""
        for root in self._roots if self._folder is not None else []:
            for path in (root / name, root / "images" / name):
                # A name in a list may lead anywhere; what is linked lies below the root.
                inside = os.path.abspath(path).startswith(os.path.abspath(root) + os.sep)
                if inside and path.is_file():
                    return quote(os.path.relpath(path.absolute(), self._folder))
        return ""


def _item(found, photographs, pair, caption):
    """A pair as the page filters and shows it."""
    names = [pair[side] for side in ("first", "second")]
    sides = [
        {"name": n, "crop": found._crops.source(n), "photo": photographs.link(n)} for n in names
    ]
    return {
        "score": f"{pair['score']:.6g}",
        "names": " ".join([*names, pair["first_person"], pair["second_person"]]),
        "groups": "\t".join(found._known.groups(pair)),
        "quality": found._known.quality(pair),
        "caption": caption,
        "sides": sides,
    }


def _score(pair):
    return f"{pair['score']:.4f}" + ("" if pair["other"] is None else f" / {pair['other']:.4f}")
