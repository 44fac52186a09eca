"""FNIR at an FPIR by gallery size: draws of the gallery, and where the trend leads."""

import math
import os
from pathlib import Path

import numpy as np

from facebench import _eval, reports
from facebench._fields import Fields
from facebench.io import read_embeddings
from facebench.reports.markdown import markdown_table
from facebench.reports.page import Section, table_block, write_html

# Scores that are held at once, float32: 2 GiB.
_MOST_SCORES = 2**29
_COLUMNS = ["FPIR", "people", "FNIR, %", "draws, %", "mated", "non-mated"]


class GallerySizes(Fields):
    """FNIR by gallery size. Its fields are those of :meth:`to_dict`.

    ``points``: fpir, size, fnir (mean over the draws), low and high (of the draws at ``level``),
    searches (mated and non-mated, means), reliable (ten false positives expected), extrapolated.
    """

    def __init__(self, fields):
        super().__init__(fields)

    def __repr__(self):
        title = f"## FNIR by gallery size, {self.draws} draws of the gallery"
        rows = [list(map(str, row)) for row in self._rows()]
        return "\n".join([title, "", markdown_table(_COLUMNS, rows), "", self.note])

    _repr_markdown_ = __repr__

    def _rows(self):
        for p in self.points:
            mark = "" if p["reliable"] or p["extrapolated"] else "*"
            yield [
                f"{100 * p['fpir']:g} %",
                f"{p['size']}" + (" (extrapolated)" if p["extrapolated"] else ""),
                f"{100 * p['fnir']:.4g}{mark}",
                f"{100 * p['low']:.4g} – {100 * p['high']:.4g}",
                "" if p["extrapolated"] else round(p["mated"]),
                "" if p["extrapolated"] else round(p["non_mated"]),
            ]

    def write_html(self, path):
        """Write the table and the figure as a page."""
        curves = []
        for fpir in dict.fromkeys(p["fpir"] for p in self.points):
            own = [p for p in self.points if p["fpir"] == fpir]
            measured = [p for p in own if not p["extrapolated"]]
            curves.append((f"FPIR {100 * fpir:g} %", measured))
            beyond = measured[-1:] + [p for p in own if p["extrapolated"]]
            if len(beyond) > 1:
                curves.append((f"FPIR {100 * fpir:g} %, extrapolated", beyond))
        svg = reports.gallery_svg(
            [
                (title, *([p[k] for p in points] for k in ("size", "fnir", "low", "high")))
                for title, points in curves
            ]
        )
        caption = "FNIR over people in the gallery; bands: draws of the gallery"
        blocks = [
            {"kind": "plots", "plots": [{"svg": svg, "caption": caption}]},
            table_block(_COLUMNS, list(self._rows())),
            {"kind": "text", "text": self.note},
        ]
        write_html(path, "FNIR by gallery size", [Section("Searches", blocks)])


def gallery(
    run,
    *,
    sizes=None,
    fpir=(0.01, 0.1),
    draws=50,
    extrapolate=None,
    level=0.95,
    pack=None,
    embeddings=None,
    seed=0,
    out=None,
):
    """The FNIR of searches in galleries of different size, drawn from a run's people.

    Of everybody with two images or more the first image is enrolled. In each draw the first
    ``sizes`` people of a random order are the gallery (default: a sixteenth, an eighth, a quarter
    and half of them, so that a draw's galleries lie in each other and draws differ); their other
    images are mated searches, all images of everybody else non-mated ones. The threshold is that
    whose FPIR is not above ``fpir``; a search is a miss where the mate is not first or lies below
    it (ISO/IEC 19795-1). Failed enrolments are left out and counted.

    ``extrapolate``: larger sizes, by the straight line through log FNIR over log size of each draw
    (the form in which NIST's FRTE 1:N reports show it). It is no measurement, and is marked.
    ``run``: a run folder with its ``pack`` (people) and ``embeddings``. ``out``: a page with the
    figure.

    >>> gallery("runs/run-att-1", sizes=[5, 10, 20], extrapolate=[100])  # doctest: +SKIP
    """
    values, people, failed = _of_run(Path(run), pack, embeddings)
    enrolled = np.flatnonzero(_first_of_several(people))
    sizes = sorted(sizes or {max(2, len(enrolled) // d) for d in (16, 8, 4, 2)})
    if not 2 <= sizes[0] <= sizes[-1] < len(enrolled):
        raise ValueError(
            f"galleries of {sizes[0]} to {sizes[-1]} people; {len(enrolled)} people have two "
            "images or more, and somebody must be left for non-mated searches"
        )
    extrapolate = sorted(extrapolate or [])
    if extrapolate and (len(sizes) < 3 or extrapolate[0] <= sizes[-1]):
        raise ValueError("extrapolation needs three sizes that are measured, all of them smaller")
    if len(values) * sizes[-1] > _MOST_SCORES:
        raise ValueError(f"{len(values)} images and {sizes[-1]} people are too many scores")
    rng = np.random.default_rng(seed)
    found = {(f, n): [] for f in fpir for n in sizes}
    counts = {n: [] for n in sizes}
    for _ in range(draws):
        order = rng.permutation(enrolled)
        scores = values @ values[order[: sizes[-1]]].T
        for n in sizes:
            searching = np.setdiff1d(np.arange(len(values)), order[:n])
            searches = _eval.Searches(scores[searching, :n], people[searching], people[order[:n]])
            counts[n].append((searches.mated, searches.non_mated))
            for f in fpir:
                found[f, n].append(_eval.dir_at_fpir(searches, f).fnir)
    points, too_few = [], []
    for f in fpir:
        measured = np.array([found[f, n] for n in sizes])
        for n, own in zip(sizes, measured, strict=True):
            mated, non_mated = np.mean(counts[n], axis=0)
            more = {"mated": float(mated), "non_mated": float(non_mated)}
            points.append(_point(f, n, own, level, False, reliable=f * non_mated >= 10, **more))
        # Half an error more, so that a draw without any has a logarithm.
        mated = np.array([[m for m, _ in counts[n]] for n in sizes])
        if extrapolate and np.min(np.mean(measured * mated, axis=1)) < 1:
            too_few.append(f"{100 * f:g} %")
            continue
        lines = np.polyfit(np.log(sizes), np.log((measured * mated + 0.5) / (mated + 1)), 1)
        for n in extrapolate:
            own = np.minimum(np.exp(lines[0] * math.log(n) + lines[1]), 1)
            points.append(_point(f, n, own, level, True))
    note = (
        f"{len(enrolled)} people with two images or more, {failed} images without an embedding "
        f"left out. Ranges hold {100 * level:g} % of the draws: they say what the choice of the "
        "gallery among these people does, not what other people would."
    )
    if any(not p["reliable"] for p in points if not p["extrapolated"]):
        note += " *: fewer than ten false positives are expected at this FPIR."
    if too_few:
        note += f" Nothing is extrapolated at an FPIR of {', '.join(too_few)}: too few misses."
    if any(p["extrapolated"] for p in points):
        note += (
            " Extrapolated values continue the straight line of log FNIR over log size; nobody "
            "measured them."
        )
    result = GallerySizes({"points": points, "draws": draws, "level": level, "note": note})
    if out is not None:
        result.write_html(out)
    return result


def _point(fpir, size, values, level, extrapolated, **more):
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return {
        "fpir": fpir,
        "size": int(size),
        "fnir": float(np.mean(values)),
        "low": float(low),
        "high": float(high),
        "extrapolated": extrapolated,
        "reliable": bool(more.pop("reliable", False)),
        **more,
    }


def _of_run(folder, pack, embeddings):
    """Unit embeddings, a number for the person of each, and how many images have none."""
    from facebench import datasets

    faces = datasets.Pack(os.fspath(pack or folder / "pack.h5"))
    rows = read_embeddings(os.fspath(embeddings or folder / "embeddings.h5"))
    person = dict(zip(faces.names, np.asarray(faces.labels).tolist(), strict=True))
    ok = np.asarray(rows.status) == 0
    values = np.asarray(rows.values, np.float32)[ok]
    names = [name for name, good in zip(rows.names, ok, strict=True) if good]
    missing = [name for name in names if name not in person]
    if missing:
        raise _eval.Error(f"{folder}: the pack has no image {missing[0]!r}; is it the run's own?")
    values = values / np.linalg.norm(values, axis=1, keepdims=True)
    return values, np.array([person[name] for name in names], np.int32), int(np.sum(~ok))


def _first_of_several(people):
    """Whether an image is the first of a person with two or more."""
    _, first, number = np.unique(people, return_index=True, return_counts=True)
    chosen = np.zeros(len(people), bool)
    chosen[first[number > 1]] = True
    return chosen
