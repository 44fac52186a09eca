"""People and images that a training set shares with a test set."""

import os
from typing import Unpack

from facebench import _library
from facebench._full import OverlapOptions
from facebench.core import Error
from facebench.core._above import from_above
from facebench.core._arguments import path_text
from facebench.core._fields import Fields
from facebench.core._files import read_text
from facebench.core._options import takes
from facebench.io import _text_tables


class Overlap(Fields):
    """What two sets have in common. Its fields are those of :meth:`to_dict`.

    ``entries``: one a pair of people who seem to be one, with why, the number of similar pairs of
    images and the most alike two; ``dropped``: how many people and images of the training set that
    is; ``threshold`` and ``threshold_reason``. ``csv`` is the audit list, ``exclusion`` the list
    for ``exclude=`` of :func:`facebench.pack`.
    """

    def __init__(self, fields, csv, exclusion):
        super().__init__(fields)
        self.csv, self.exclusion = csv, exclusion

    def clusters(self):
        """The entries in groups that share a person of either set, the largest first."""
        return _clusters(self.entries)

    def __repr__(self):
        train, test, dropped = self.train, self.test, self.dropped
        lines = [
            f"{train['name']}: {train['people']} people, {train['images']} images; "
            f"{test['name']}: {test['people']} people, {test['images']} images",
            f"in both: {dropped['people']} people with {dropped['images']} training images",
        ]
        if train["identifiers"] or test["identifiers"]:
            lines.append(
                f"names that are identifiers, not compared: {train['identifiers']} of "
                f"{train['people']} and {test['identifiers']} of {test['people']}; give a table of "
                "names, or embeddings of both sets"
            )
        if self.compared_images:
            lines.append(f"threshold {self.threshold:.4f}: {self.threshold_reason}")
        for e in self.entries[:20]:
            score = "" if e["score"] is None else f", most alike {e['score']:.4f}"
            lines.append(f"  {e['person']} = {e['match']}: {e['why']}{score}")
        if len(self.entries) > 20:
            lines.append(f"  ... and {len(self.entries) - 20} more")
        return "\n".join(lines)


def _clusters(entries):
    """Hits that share a person of either set, together: lists of entries, the largest first."""
    root: dict[tuple[str, str], tuple[str, str]] = {}

    def find(key):
        root.setdefault(key, key)
        while root[key] != key:
            root[key] = root[root[key]]
            key = root[key]
        return key

    for entry in entries:
        root[find(("test", entry["match"]))] = find(("train", entry["person"]))
    groups: dict[tuple[str, str], list] = {}
    for entry in entries:
        groups.setdefault(find(("train", entry["person"])), []).append(entry)
    return sorted(groups.values(), key=len, reverse=True)


def read_person_names(path):
    """A table of names, {identifier: name}, for `find_overlap`.

    Text in UTF-8 with a person in each row: the identifier in the first column, the name in the
    second; commas or tabs between them, more columns are not looked at. ``identity_meta.csv`` of
    VGGFace2 and ``Top1M_MidList.Name.tsv`` of MS-Celeb-1M are such tables. Of an identifier with
    several names the first counts. facebench.Error for a row without a name, with file and line.

    >>> import pathlib, tempfile
    >>> from facebench.datasets import read_person_names
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "names.tsv"
    >>> _ = path.write_text('m.0107_f\\t"Jane Doe"@en\\nm.0108\\tPetr Škoda\\n')
    >>> read_person_names(path)
    {'m.0107_f': 'Jane Doe', 'm.0108': 'Petr Škoda'}
    """
    path = os.fspath(path)
    text = read_text(path)
    separator = "\t" if "\t" in text.partition("\n")[0] else ","
    names: dict[str, str] = {}
    for line, row in _text_tables.rows(path, text, separator, skipinitialspace=True):
        if len(row) < 2 or not row[0].strip() or not row[1].strip():
            raise Error(f"{path}:{line}: an identifier and a name are expected")
        # MS-Celeb-1M gives the language behind the name.
        name, _, language = row[1].rpartition("@")
        names.setdefault(row[0].strip(), (name if name and language.isalpha() else row[1]).strip())
    return names


def _table(names):
    if names is None or isinstance(names, dict):
        return names or {}
    return read_person_names(names)


@takes(OverlapOptions)
def find_overlap(
    train,
    test,
    *,
    train_embeddings=None,
    test_embeddings=None,
    train_names=None,
    test_names=None,
    threads=0,
    progress=None,
    **options: "Unpack[_library.full.OverlapOptionsKeywords]",
):
    """People of a training set who are in a test set too: by name, and by similar images.

    ``train`` and ``test``: a pack, a folder with a folder for each person, or an embeddings file
    whose samples lie in folders named after people. ``train_embeddings``, ``test_embeddings``:
    embeddings of a pack or a folder, by the same model. ``train_names``, ``test_names``: where
    people are called by identifiers, their names as {identifier: name}, or a file of them
    (`read_person_names`). ``options`` are fields of `OverlapOptions`:
    names, similarity, threshold, false_alarms. Returns an :class:`Overlap`.

    >>> import pathlib, tempfile, numpy as np
    >>> from facebench.datasets import find_overlap
    >>> from facebench import io
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> values = np.eye(4, dtype=np.float32)
    >>> ours = ["Doe_Jane/1.jpg", "Škoda_Petr/1.jpg", "Someone/1.jpg", "Nobody/1.jpg"]
    >>> theirs = ["Jane_Doe/1.jpg", "Petr_Skoda/1.jpg", "Else/1.jpg", "Other/1.jpg"]
    >>> io.write_embeddings(folder / "ours.h5", io.EmbeddingSet(values, ours))
    >>> io.write_embeddings(folder / "theirs.h5", io.EmbeddingSet(values[[0, 3, 2, 1]], theirs))
    >>> found = find_overlap(folder / "ours.h5", folder / "theirs.h5", threshold=0.9)
    >>> [(e["person"], e["match"], e["name_rule"], e["similar_pairs"]) for e in found.entries][:2]
    [('Doe_Jane', 'Jane_Doe', 'reordered', 1), ('Škoda_Petr', 'Other', '', 1)]
    """
    found = _library.full.find_overlap(
        os.fspath(train),
        os.fspath(test),
        path_text(train_embeddings, "train_embeddings"),
        path_text(test_embeddings, "test_embeddings"),
        _table(train_names),
        _table(test_names),
        OverlapOptions(**options),
        threads,
        progress,
    )
    return Overlap(*found)


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
    return from_above("audit_sheet")(overlap, train, test)
