"""What is there of a data set, before anything is run."""

from facebench import _eval
from facebench.core._arguments import path_text
from facebench.protocols._load import load_protocol


class DataCheck:
    """What is there of a data set, as far as a protocol asks for it; prints itself as text.

    ``complete``: all images are there and the lists are the official ones, as far as is known.
    ``lists``, ``images``: the folders found; ``images`` is None where no image is there, and
    ``no_images`` then says where they were looked for.
    ``listed``, ``missing``, ``first_missing``: images that the lists name, and those not there.
    ``tracks``: name -> count -> ``found`` and ``official`` (None = not known).
    ``differences``: how the lists differ from the official ones. ``notes``: what the reader says.
    ``blemishes``: what is odd in the lists, one dict a kind.
    """

    protocol: str
    complete: bool
    lists: str
    images: str | None
    no_images: str
    listed: int
    missing: int
    first_missing: list[str]
    tracks: dict[str, dict[str, dict]]
    differences: list[str]
    notes: list[str]
    blemishes: list[dict]

    def __init__(self, fields, sentences):
        self._fields, self._sentences = fields, sentences
        self.__dict__.update(fields)

    def to_dict(self):
        return self._fields

    def _track(self, name):
        words = {c["name"]: c["doc"] for c in _eval.expected_count_names()}
        counts = []
        for key, count in self.tracks[name].items():
            text = f"{count['found']:,} {words[key]}"
            if count["official"] not in (None, count["found"]):
                text += f" (official: {count['official']:,})"
            counts.append(text)
        return f"track {name}: " + ", ".join(counts)

    def __repr__(self):
        return f"DataCheck({self.listed - self.missing:,} of {self.listed:,} images)"

    def __str__(self):
        there = self.listed - self.missing
        lines = [
            f"{self.protocol}: {'complete' if self.complete else 'not complete'}",
            f"lists: {self.lists}",
            *(self._track(name) for name in self.tracks),
            *self.differences,
            f"images: {there:,} of {self.listed:,} are there"
            + (f", in {self.images}" if self.images else f": {self.no_images}"),
        ]
        if self.missing:
            unnamed = self.missing - len(self.first_missing)
            lines.append(
                "missing: "
                + ", ".join(self.first_missing)
                + (f" and {unnamed:,} more" if unnamed else "")
            )
        return "\n".join([*lines, *self.notes, *self._sentences])


def check_data(protocol, root=None, images=None, lists=None):
    """What is there of a data set, what is missing, and what differs from the official lists.

    Nothing is run and no image is opened: LFW takes a second. ``protocol``: a name, a TOML file or
    a :class:`ProtocolSpec`; the folders as for ``run``. Lists that are missing or malformed raise
    :class:`facebench.Error`.

    >>> import pathlib, tempfile
    >>> from facebench.protocols import check_data
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "pairs.txt").write_text("1\\t1\\nAnn\\t1\\t2\\nAnn\\t1\\tBob\\t1\\n")
    >>> (folder / "Ann").mkdir()
    >>> _ = (folder / "Ann/Ann_0001.jpg").write_bytes(b"")
    >>> check = check_data("lfw", folder)
    >>> check.listed, check.first_missing
    (3, ['Ann/Ann_0002.jpg', 'Bob/Bob_0001.jpg'])
    """
    if not isinstance(protocol, _eval.ProtocolSpec):
        protocol = load_protocol(protocol)
    places = [path_text(v, n) for v, n in ((root, "root"), (images, "images"), (lists, "lists"))]
    return DataCheck(*_eval.check_data(protocol, *places))
