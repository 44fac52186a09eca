"""The hits of a search for shared people, for a person to look at: groups of them, and a sheet."""

import base64
import html
import os
from pathlib import Path

from facebench import _library
from facebench.core import Error
from facebench.core._arguments import of_kind

_SIDE = 112  # pixels of a picture on the sheet

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<style>
body {{ font: 14px sans-serif; margin: 2em auto; max-width: 60em; }}
section {{ border: 1px solid #bbb; margin: 1em 0; padding: .5em 1em; }}
h2 {{ font-size: 1em; }}
label {{ display: flex; gap: 1em; align-items: center; padding: .3em 0; }}
img, .none {{ width: {side}px; height: {side}px; object-fit: contain; background: #eee; }}
.none {{ text-align: center; color: #888; }}
header {{ position: sticky; top: 0; background: white; padding: .5em 0; }}
</style></head><body>
<header><b>{title}</b>: {count}.
Tick those who are one person.
<button id="save">Save the list</button> <span id="number"></span></header>
<p>{why}</p>
{sections}
<script>
const boxes = [...document.querySelectorAll("input[data-person]")];
const chosen = () => [...new Set(boxes.filter(b => b.checked).map(b => b.dataset.person))];
const count = () => document.getElementById("number").textContent = chosen().length + " people";
boxes.forEach(b => b.addEventListener("change", count));
count();
document.getElementById("save").addEventListener("click", () => {{
  const lines = ["# " + document.title + ": confirmed by eye."];
  chosen().forEach(p => lines.push("person\\t" + p));
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([lines.join("\\n") + "\\n"], {{type: "text/plain"}}));
  link.download = "confirmed.txt";
  link.click();
}});
</script></body></html>
"""


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


class _Pictures:
    """The pictures of one set, by the ids of its samples; without images there are none."""

    def __init__(self, path):
        full = _library.full
        path = Path(path)
        self._pack, self._rows, self._samples = None, {}, {}
        if full.find_image_archive(path) is not None or os.path.isdir(path):
            archive = full.find_image_archive(path) is not None
            dataset = full.read_archive(path) if archive else full.read_image_folder(path)
            self._samples = {sample.id: sample for sample in dataset.samples}
        else:
            try:
                self._pack = full.Pack(path)
            except Error:  # embeddings alone
                return
            self._rows = {name: k for k, name in enumerate(self._pack.names)}

    def tag(self, name):
        """<img> of a sample; a field that says so where it cannot be shown."""
        try:
            if name in self._samples:
                sample = self._samples[name]
                pixels = _library.full.decode_image(
                    sample.read(), _library.full.DecodeOptions(), sample.where
                )
            elif name in self._rows:
                pixels = self._pack.images[self._rows[name]]
            else:
                return '<div class="none">no picture</div>'
        except Error as error:
            return f'<div class="none" title="{html.escape(str(error))}">cannot be read</div>'
        height, width = pixels.shape[:2]
        scale = _SIDE / max(height, width)
        if scale < 1:
            pixels = _library.full.resize(
                pixels, max(1, round(width * scale)), max(1, round(height * scale)), "area"
            )
        data = base64.b64encode(bytes(_library.full.encode_png(pixels))).decode()
        return f'<img loading="lazy" alt="" src="data:image/png;base64,{data}">'


def _row(entry, train, test):
    def text(key):
        return html.escape(str(entry[key]))

    score = "" if entry["score"] is None else f", most alike {entry['score']:.4f}"
    # A name alone, with no images alike, may be a namesake's.
    ticked = " checked" if entry["similar_pairs"] > 0 or entry["score"] is None else ""
    return (
        f'<label><input type="checkbox" data-person="{text("person")}"{ticked}>'
        f"{train.tag(entry['sample'])}{test.tag(entry['match_sample'])}"
        f"<span><b>{text('person')}</b> = <b>{text('match')}</b><br>{text('why')}{score}<br>"
        f"{entry['similar_pairs']} similar pairs; {entry['images']} training images<br>"
        f"{text('sample')}<br>{text('match_sample')}</span></label>"
    )


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
    train, test = _Pictures(os.fspath(train)), _Pictures(os.fspath(test))
    title = f"{overlap.train['name']} and {overlap.test['name']}"
    groups = clusters(overlap.entries)
    sections = []
    for number, group in enumerate(groups, 1):
        people = len({e["person"] for e in group}), len({e["match"] for e in group})
        rows = "\n".join(_row(entry, train, test) for entry in group)
        sections.append(
            f"<section><h2>Group {number}: {people[0]} of {html.escape(overlap.train['name'])}, "
            f"{people[1]} of {html.escape(overlap.test['name'])}</h2>\n{rows}</section>"
        )
    why = (
        f"Threshold {overlap.threshold:.4f}: {overlap.threshold_reason}."
        if overlap.threshold
        else ""
    )
    return _PAGE.format(
        title=html.escape(title),
        side=_SIDE,
        count=f"{len(overlap.entries)} hits in {len(groups)} groups",
        why=html.escape(why),
        sections="\n".join(sections),
    )
