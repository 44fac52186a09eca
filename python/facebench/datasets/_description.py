"""What a training set is like: its breadth and depth, its pictures, and how sure its labels are."""

import os

import numpy as np

from facebench import _eval, _library
from facebench.core import Error
from facebench.core._arguments import of_kind, path_text
from facebench.core._finding import Finding
from facebench.datasets._pictures import Pictures
from facebench.io import EmbeddingSet, SampleStatus, read_embeddings

SHARES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
_WORST = 10  # people and images that are named
_BLOCK = 1 << 24  # similarities at once


class Description(Finding):
    """What a training set is like. Its fields are those of :meth:`to_dict`.

    ``people`` and ``images`` that can be trained on, ``left_out`` by status; ``depth``: images a
    person (mean, quantiles by share, people of one image, share of the images that belong to the
    tenth of people with the most); ``looked``: how many pictures were decoded, with their ``sizes``
    and the share that is ``grey``; ``measures``: quantiles of what is known of each image, by name;
    ``labels``: how alike images are within and between people (None without embeddings);
    ``printed``: people, images and images a person of published sets.
    """


def _quantiles(values, shares=SHARES):
    return {str(s): float(v) for s, v in zip(shares, np.quantile(values, shares), strict=True)}


class _Source(Pictures):
    """Pictures, and which of them have a face."""

    def __init__(self, path):
        super().__init__(path)
        self.used = np.flatnonzero(self.statuses == int(SampleStatus.ok))
        if not len(self.used):
            raise Error(f"{self.path}: holds no image with a face")


def _depth(labels):
    counts = np.unique(labels, return_counts=True)[1]
    most = np.sort(counts)[::-1][: max(1, round(len(counts) / 10))]
    shares = (0, 0.25, 0.5, 0.75, 1)
    levels = np.quantile(counts, shares, method="inverted_cdf")
    return {
        "mean": float(counts.mean()),
        "quantiles": {str(s): int(n) for s, n in zip(shares, levels, strict=True)},
        "single": int(np.sum(counts == 1)),
        "top_tenth": float(most.sum() / counts.sum()),
    }


def _evenly(indices, limit):
    return indices[np.arange(min(limit, len(indices))) * len(indices) // min(limit, len(indices))]


def _look(source, limit):
    """Sizes and colours of pictures; those that cannot be read are none."""
    sizes, grey, unreadable = [], 0, 0
    for index in _evenly(source.used, limit):
        try:
            pixels = source.pixels(int(index))
        except Error:
            unreadable += 1
            continue
        sizes.append(pixels.shape[:2])
        grey += int(np.ptp(pixels, 2).max() == 0)
    if not sizes:
        raise Error(f"{source.path}: none of {unreadable} pictures can be read")
    height, width = np.array(sizes).T
    three = {
        name: [float(f(side)) for f in (np.min, np.median, np.max)]
        for name, side in (("width", width), ("height", height))
    }
    return {
        "looked": len(sizes),
        "unreadable": unreadable,
        "sizes": three,
        "grey": grey / len(sizes),
    }


def _measured(source, csv, column, key, threads):
    """What a pack, and a table of the caller's, say of each image."""
    full = _library.full
    measures = {}
    if source.pack is not None:
        for name in full.sample_measures():
            measures[name] = np.asarray(full.measure_samples(source.pack, name, threads))[
                source.used
            ]
    if csv is not None:
        at = {name: i for i, name in enumerate(source.names)}
        used = set(source.used.tolist())
        columns = [column] if isinstance(column, str) else list(column or ())
        for name, (names, values) in _eval.read_qualities(os.fspath(csv), columns, key).items():
            known = [k for k, n in enumerate(names) if at.get(n) in used]
            if not known:
                raise Error(f"{csv}: names no image of {source.path}; the first is '{names[0]}'")
            measures[name] = np.asarray(values, float)[known]
    rows = []
    for name, values in measures.items():
        values = values[np.isfinite(values)]
        if len(values):
            rows.append({"name": name, "images": len(values), "quantiles": _quantiles(values)})
    return rows


def _unit(rows):
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1)


def _labels(source, images, rows, limit):
    """How alike images are to their own person and to others, of at most ``limit`` of these
    ``images``, whose embeddings are ``rows``. None for one person, or where nobody has two."""
    people, labels = np.unique(source.labels[images], return_inverse=True)
    rows = _unit(np.asarray(rows, np.float32))
    sums = np.zeros((len(people), rows.shape[1]))
    np.add.at(sums, labels, rows)
    counts = np.bincount(labels)
    means = _unit(sums).astype(np.float32)
    looked = _evenly(np.flatnonzero(counts[labels] > 1), limit)
    if len(people) < 2 or not len(looked):
        return None
    others = _unit(sums[labels[looked]] - rows[looked])
    within = np.sum(others * rows[looked], 1)
    between, nearest = _nearest(rows[looked], means, labels[looked])
    alike, partner = _nearest(means, means, np.arange(len(people)))
    name = [source.people[p] for p in people]
    doubt = np.argsort(within - between, kind="stable")[:_WORST]
    pairs = dict.fromkeys(
        tuple(sorted((int(i), int(partner[i])))) for i in np.argsort(-alike, kind="stable")
    )
    return {
        "images": len(looked),
        "within": _quantiles(within),
        "between": _quantiles(between),
        "nearer_to_another": float(np.mean(between > within)),
        "doubtful_images": [
            {
                "image": source.names[images[looked[k]]],
                "own": float(within[k]),
                "other": float(between[k]),
                "person": name[nearest[k]],
            }
            for k in doubt
            if between[k] > within[k]
        ],
        "alike_people": [
            {"people": [name[i], name[j]], "cosine": float(means[i] @ means[j])}
            for i, j in list(pairs)[:_WORST]
        ],
    }


def _nearest(rows, means, classes):
    """The largest cosine of each row to a mean other than its own, and whose it is."""
    best, whose = np.empty(len(rows)), np.empty(len(rows), int)
    step = max(1, _BLOCK // len(means))
    for at in range(0, len(rows), step):
        cosines = rows[at : at + step] @ means.T
        cosines[np.arange(len(cosines)), classes[at : at + step]] = -2
        whose[at : at + step] = cosines.argmax(1)
        best[at : at + step] = cosines.max(1)
    return best, whose


def describe(
    source,
    *,
    embeddings=None,
    csv=None,
    column=None,
    key=None,
    limit=5000,
    printed=(),
    threads=0,
) -> Description:
    """What a training set is like, a :class:`Description`.

    ``source``: a pack, a folder with a folder for each person, or an archive. Of a pack the
    qualities of its faces are measured too (:func:`sample_measures`). ``csv``: a table of numbers
    of the images, such as age or yaw; ``column``: those of its columns (default: all), ``key``: the
    one that names images (default: the first). ``embeddings`` of the images, a file or an
    `facebench.io.EmbeddingSet`, tell how sure the labels are. ``limit``: at most so many pictures
    are decoded, and so many images compared with the means of all people. ``printed``: published
    sets to stand beside it, as ``facebench.claims.training_sets`` has them.

    >>> import pathlib, tempfile
    >>> from facebench import datasets
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> options = datasets.SyntheticOptions(people=20, images=2, size=64)
    >>> _ = datasets.write_synthetic_dataset(options, folder / "faces")
    >>> found = datasets.describe(folder / "faces" / "images")
    >>> found.people, found.images, found.depth["mean"], found.grey
    (20, 40, 2.0, 0.0)
    """
    if of_kind(limit, int, "limit") < 1:
        raise ValueError("limit must be at least 1")
    held = _Source(source)
    statuses, counts = np.unique(held.statuses, return_counts=True)
    fields = {
        "name": os.path.basename(os.path.normpath(held.path)),
        "people": len(np.unique(held.labels[held.used])),
        "images": len(held.used),
        "left_out": {
            SampleStatus(s).name: int(n)
            for s, n in zip(statuses.tolist(), counts, strict=True)
            if s != int(SampleStatus.ok)
        },
        "depth": _depth(held.labels[held.used]),
        **_look(held, limit),
        "measures": _measured(held, csv, column, key, threads),
        "labels": None,
        "printed": list(printed),
    }
    if embeddings is not None:
        known, rows = _rows(held, embeddings)
        fields["labels"] = _labels(held, known, rows, limit)
    return Description(fields)


def _rows(held, embeddings):
    """Which images have an embedding, and the embeddings."""
    is_set = isinstance(embeddings, EmbeddingSet)
    read = embeddings if is_set else read_embeddings(path_text(embeddings, "embeddings"))
    place = "embeddings" if is_set else embeddings
    good = np.flatnonzero(np.asarray(read.status) == int(SampleStatus.ok))
    at = {_eval.nfc(read.names[i]): i for i in good}
    known = [i for i in held.used if _eval.nfc(held.names[i]) in at]
    if not known:
        raise Error(
            f"{place}: has no embedding of an image of {held.path}; the first of these is "
            f"'{held.names[held.used[0]]}'"
        )
    return np.array(known), read.values[[at[_eval.nfc(held.names[i])] for i in known]]
