"""FNIR at an FPIR by gallery size: draws of the gallery, and where the trend leads."""

from pathlib import Path

from facebench import _eval
from facebench._eval import GalleryOptions
from facebench.core._arguments import path_text
from facebench.core._finding import Finding
from facebench.io import read_embeddings
from facebench.reports.drawn import draws
from facebench.reports.page import Section, plots, table_block, text
from facebench.reports.plots import gallery_svg


class GallerySizes(Finding):
    """FNIR by gallery size. Its fields are those of :meth:`to_dict`.

    ``points``: fpir, size, fnir (mean over the draws), low and high (of the draws at ``level``),
    mated and non_mated searches (means), reliable (ten false positives expected), extrapolated.
    The page has the figure.
    """

    @property
    def note(self):
        """What the numbers are of, and what they are not."""
        text = (
            f"{self.people} people with two images or more, {self.failed} images without an "
            f"embedding left out. Ranges hold {100 * self.level:g} % of the draws: they say what "
            "the choice of the gallery among these people does, not what other people would."
        )
        if any(not (p["reliable"] or p["extrapolated"]) for p in self.points):
            text += " *: fewer than ten false positives are expected at this FPIR."
        if self.too_few:
            rates = ", ".join(f"{100 * f:g} %" for f in self.too_few)
            text += f" Nothing is extrapolated at an FPIR of {rates}: too few misses."
        if any(p["extrapolated"] for p in self.points):
            text += (
                " Extrapolated values continue the straight line of log FNIR over log size; nobody "
                "measured them."
            )
        return text


def gallery(run, *, pack=None, embeddings=None, out=None, threads=0, progress=None, **options):
    """The FNIR of searches in galleries of different size, drawn from a run's people.

    Of everybody with two images or more the first image is enrolled. In each draw the first
    ``sizes`` people of a random order are the gallery (default: a sixteenth, an eighth, a quarter
    and half of them, so that a draw's galleries lie in each other and draws differ); their other
    images are mated searches, all images of everybody else non-mated ones. The threshold is that
    whose FPIR is not above ``fpir``; a search is a miss where the mate is not first or lies below
    it (ISO/IEC 19795-1). Failed enrolments are left out and counted.

    ``extrapolate``: larger sizes, by the straight line through log FNIR over log size of each draw
    (the form in which NIST's FRTE 1:N reports show it). It is not a measurement, and is marked.
    ``run``: a run folder with its ``pack`` (people) and ``embeddings``. ``out``: a page with the
    figure. Further keywords: ``draws``, ``level``, ``seed``.

    >>> gallery("runs/run-att-1", sizes=[5, 10, 20], extrapolate=[100])  # doctest: +SKIP
    """
    rows = read_embeddings(path_text(embeddings, "embeddings") or Path(run) / "embeddings.h5")
    people = _people_of(rows.names, run, pack)
    options = GalleryOptions(**{name: v for name, v in options.items() if v is not None})
    fields = _eval.gallery_sizes(rows, people, options, threads, progress)
    return GallerySizes(fields).with_page(out)


def _people_of(names, run, pack):
    """A number for the person of each image."""
    from facebench import datasets

    faces = datasets.Pack(path_text(pack, "pack") or Path(run) / "pack.h5")
    person = dict(zip(map(_eval.nfc, faces.names), faces.labels.tolist(), strict=True))
    missing = [name for name in names if _eval.nfc(name) not in person]
    if missing:
        raise _eval.Error(f"{run}: the pack has no image {missing[0]!r}; is it the run's own?")
    return [person[_eval.nfc(name)] for name in names]


@draws
def draw_gallery_sizes(sizes: GallerySizes):
    title = f"FNIR by gallery size, {sizes.draws} draws of the gallery"
    columns = ["FPIR", "people", "FNIR, %", "draws, %", "mated", "non-mated"]
    caption = "FNIR over people in the gallery; bands: draws of the gallery"
    blocks = [
        plots((gallery_svg(list(_curves(sizes))), caption)),
        table_block(columns, list(map(_row, sizes.points))),
        text(sizes.note),
    ]
    return title, [Section(title, blocks)]


def _curves(sizes):
    for fpir in dict.fromkeys(p["fpir"] for p in sizes.points):
        at_fpir = [p for p in sizes.points if p["fpir"] == fpir]
        measured = [p for p in at_fpir if not p["extrapolated"]]
        title = f"FPIR {100 * fpir:g} %"
        yield _curve(title, measured)
        if len(measured) < len(at_fpir):
            beyond = [measured[-1], *at_fpir[len(measured) :]]
            yield _curve(f"{title}, extrapolated", beyond)


def _curve(title, points):
    return title, *([p[k] for p in points] for k in ("size", "fnir", "low", "high"))


def _row(p):
    measured = not p["extrapolated"]
    return [
        f"{100 * p['fpir']:g} %",
        f"{p['size']}" + ("" if measured else " (extrapolated)"),
        f"{100 * p['fnir']:.4g}" + ("*" if measured and not p["reliable"] else ""),
        f"{100 * p['low']:.4g} – {100 * p['high']:.4g}",
        f"{p['mated']:.0f}" if measured else "",
        f"{p['non_mated']:.0f}" if measured else "",
    ]
