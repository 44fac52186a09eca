"""Error versus discard of a run: its qualities gathered from files, packs and embeddings."""

import os
from pathlib import Path
from typing import Unpack

import numpy as np

from facebench import _eval, analysis
from facebench.core._arguments import listed, mapping
from facebench.core._options import takes
from facebench.io import read_embeddings
from facebench.protocols import load
from facebench.verbs import _ofiq

NORM = "norm"


@takes(_eval.DiscardOptions)
def quality(
    run,
    *,
    qualities=None,
    csv=None,
    column=None,
    key=None,
    measure=None,
    pack=None,
    embeddings=None,
    embedding_column=None,
    reversed=None,
    track=None,
    threshold_from=None,
    out=None,
    threads=0,
    progress=None,
    **options: "Unpack[_eval.DiscardOptionsKeywords]",
):
    """The FNMR of a run as images of low quality are discarded, for several qualities at once.

    ``qualities``: {name: (names of samples, values)}, higher = better. ``csv``: a file with a
    header; ``column``: its columns of qualities (default: all), ``key``: the one that names samples
    (default: the first). Of several rows with one name the first counts. A file of OFIQ is known by
    its columns: UnifiedQualityScore (0 to 100), or others by ``column``; its paths end with the
    names of the run. ``measure``: names of
    :func:`facebench.datasets.sample_measures`, taken from ``pack`` (default: the run's own),
    "norm", the length of the embeddings, or "ofiq", by the package python-ofiq of the run's
    photographs (UnifiedQualityScore, or its others by ``column``).
    ``embedding_column``: a number, the value of each embedding that is its quality.
    ``embeddings``: their file (default: the run's own).
    ``reversed``: qualities whose low values are good. With none of them all measures of the run's
    pack are taken. ``out``: also write a page with figures. ``options``: see
    :class:`facebench.metrics.DiscardOptions`.

    Sources: Grother & Tabassi, IEEE TPAMI 2007; Schlett et al., 2023.

    >>> report = quality("runs/lfw", far=0.001)  # doctest: +SKIP
    >>> report["sharpness"]["areas"][0]["gain"]  # doctest: +SKIP
    0.21
    """
    folder = Path(run)
    measured = dict(mapping(qualities, "qualities"))
    columns = listed(column, "column")
    if csv is not None:
        if key is None and _ofiq.is_ofiq(csv):
            measured |= _ofiq.read(os.fspath(csv), columns, load(run)._raw.trials.names)
        else:
            measured |= _eval.read_qualities(os.fspath(csv), columns, key)
    measures = listed(measure, "measure")
    if _ofiq.MEASURE in measures:
        measures.remove(_ofiq.MEASURE)
        of_file = [] if csv is not None else columns
        measured |= _ofiq.measure(run, list(load(run)._raw.trials.names), of_file)
    elif csv is None and (columns or key is not None):
        raise ValueError("columns are those of a CSV file; give csv")
    if not measured and not measures and embedding_column is None:
        measures = None
    measured |= _of_pack(measures, folder / "pack.h5" if pack is None else pack, threads)
    if NORM in (measures or []) or embedding_column is not None:
        path = folder / "embeddings.h5" if embeddings is None else embeddings
        measured |= _of_embeddings(path, NORM in (measures or []), embedding_column)
    for name in listed(reversed, "reversed"):
        if name not in measured:
            raise ValueError(f"there is no quality {name!r} to reverse: {', '.join(measured)}")
        samples, values = measured[name]
        measured[name] = (samples, -np.asarray(values))
    how = {"track": track, "threshold_from": threshold_from, "threads": threads}
    report = analysis.quality_report(run, measured, **how, progress=progress, **options)
    return report.with_page(out)


def _of_pack(measures, path, threads):
    """{measure: (names, values)}; of all measures where ``wanted`` is None."""
    names = None if measures is None else [name for name in measures if name != NORM]
    if names == []:
        return {}
    from facebench import datasets

    pack = datasets.Pack(path)
    if names is None:
        names = list(datasets.sample_measures())
    return {
        name: (list(pack.names), datasets.measure_samples(pack, name, threads)) for name in names
    }


def _of_embeddings(path, norm, column):
    rows = read_embeddings(path)
    ok = np.asarray(rows.status) == 0
    values = np.where(ok[:, None], np.asarray(rows.values, np.float64), np.nan)
    measured = {}
    if norm:
        lengths = np.linalg.norm(values, axis=1)
        if np.ptp(lengths[ok]) < 1e-4 * np.mean(lengths[ok]):
            raise _eval.Error(
                f"{path}: all embeddings have the same length, so it is not a quality. "
                "Embed again with --normalization none"
            )
        measured[NORM] = (list(rows.names), lengths)
    if column is not None:
        if not 0 <= column < values.shape[1]:
            raise ValueError(f"embeddings of {values.shape[1]} values have no column {column}")
        measured[f"embedding {column}"] = (list(rows.names), values[:, column])
    return measured
