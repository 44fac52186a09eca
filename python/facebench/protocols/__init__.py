"""Protocols: evaluate embeddings or scores from anywhere under a published protocol.

Needs neither torch nor OpenCV.

>>> from facebench.protocols import list_protocols, load_protocol
>>> "ijba_quality" in [p["name"] for p in list_protocols()]
True
>>> load_protocol("lfw").title
'LFW View 2'
"""

import html
import os
from typing import Any, Unpack

from facebench import _eval, plots
from facebench._eval import (
    EmbeddingSet,
    EvaluationOptions,
    ProtocolSpec,
    SyntheticIjbOptions,
    TrialSet,
    write_synthetic_ijb,
)
from facebench.core import _entry_points
from facebench.core._arguments import of_kind, path_text, tensor_array
from facebench.core._fields import NamedValues
from facebench.core._options import takes
from facebench.core._rows import frame, rests_on, rows_of
from facebench.io import _embedding_files
from facebench.protocols import _pairs
from facebench.protocols._data_check import DataCheck, check_data
from facebench.protocols._load import load_protocol
from facebench.protocols._protocol_tables import (
    blemish_rules,
    convention_rules,
    failure_policies,
    ijb_label,
    ijb_scripts,
    interval_methods,
    list_conventions,
    protocol_metrics,
    score_forms,
    template_fusions,
)
from facebench.protocols._published import (
    Publication,
    PublishedTable,
    find_published,
    list_published,
    load_published,
)

__all__ = [
    "DataCheck",
    "EmbeddingSet",
    "EvaluationOptions",
    "MetricResult",
    "ProtocolSpec",
    "Publication",
    "PublishedTable",
    "Result",
    "SyntheticIjbOptions",
    "TrackResult",
    "TrialSet",
    "blemish_rules",
    "check_data",
    "convention_rules",
    "evaluate",
    "failure_policies",
    "find_images",
    "find_published",
    "ijb_label",
    "ijb_scripts",
    "interval_methods",
    "list_conventions",
    "list_protocols",
    "list_published",
    "load",
    "load_protocol",
    "load_published",
    "protocol_metrics",
    "read_trials",
    "score_forms",
    "template_fusions",
    "write_pairs",
    "write_synthetic_ijb",
]


def list_protocols():
    """Every embedded protocol, and those that installed packages bring: name, title, one line, list
    files, metrics.

    >>> from facebench.protocols import list_protocols
    >>> "LFW View 2" in [p["title"] for p in list_protocols()]
    True
    """
    result = []
    for name in [*_eval.protocol_names(), *_entry_points.brought(_entry_points.PROTOCOLS)]:
        spec = load_protocol(name)
        result.append(
            {
                "name": spec.id,
                "title": spec.title,
                "doc": spec.description.strip(),
                "version": spec.version,
                "files": spec.files,
                "metrics": [m["name"] for m in spec.metrics],
                "convention": spec.convention,
            }
        )
    return result


def _spec(protocol):
    return protocol if isinstance(protocol, ProtocolSpec) else load_protocol(protocol)


def read_trials(protocol, root=None, lists=None, strict=False):
    """Read the lists of a protocol: samples, identities, comparisons.

    ``root`` is the data set as its authors distribute it; ``lists`` names the folder of the lists
    itself. What is odd but clear is counted (``blemishes``; :func:`blemish_rules`), and with
    ``strict`` it raises :class:`facebench.Error`, as anything malformed does, with file and line.
    """
    spec = _spec(protocol)
    trials = _eval.read_trials(spec, path_text(root, "root"), path_text(lists, "lists"))
    if of_kind(strict, bool, "strict"):
        _eval.refuse_blemishes(trials, spec.id)
    return trials


def write_pairs(protocol, out, root=None, lists=None):
    """Write the distinct pairs of a protocol as CSV (``first``, ``second``), for others to score.

    With a further column ``score`` (or ``distance``) it is what :func:`evaluate` reads, in any
    order of the rows. Returns how many pairs there are. facebench.Error for a protocol whose
    comparisons are no list.
    """
    spec = _spec(protocol)
    return _pairs.write(read_trials(spec, root, lists), out, f"protocol {spec.id}")


def find_images(protocol, trials, root=None, images=None):
    """The image folder of a data set: the first that holds one of the samples."""
    places = (path_text(root, "root"), path_text(images, "images"))
    return _eval.find_images(_spec(protocol), trials, *places)


def _is_number(value):
    return hasattr(value, "__float__") or hasattr(value, "__index__")


class MetricResult(_eval.Number, NamedValues):
    """One number: ``value``, ``low``, ``high``, ``level``, ``method``, and the counts behind it.

    ``no_interval`` says why there is none where one was asked for; the bounds are then None or NaN.
    ``interval_note`` says where the level is not what it seems: "at least", or of few people.
    Of a matrix ``value``, ``low`` and ``high`` are arrays, ``rows`` and ``columns`` their labels.
    """

    def _named(self):
        return self.details

    @property
    def is_matrix(self):
        return bool(self.rows)

    def __float__(self):
        if self.is_matrix:
            raise TypeError(f"{self.name} is a matrix, not a number")
        return self.value

    def __format__(self, spec):
        return format(float(self), spec) if spec else str(self)

    def __eq__(self, other):
        return self is other or (
            not self.is_matrix and _is_number(other) and self.value == float(other)
        )

    def __hash__(self):
        return id(self) if self.is_matrix else hash(self.value)

    def __lt__(self, other):
        return float(self) < float(other)

    def __le__(self, other):
        return float(self) <= float(other)

    def __gt__(self, other):
        return float(self) > float(other)

    def __ge__(self, other):
        return float(self) >= float(other)

    def __repr__(self):
        if self.is_matrix:
            lines = [f"{self.name} ({' '.join(self.columns)})"]
            for label, row in zip(self.rows, self.value, strict=True):
                lines.append(f"{label}: " + " ".join(f"{x:.3f}" for x in row))
            return "\n    ".join(lines)
        unit = " %" if self.is_rate else ""
        text = f"{self.name} = {self._text(self.value)}{unit}"
        interval = self._interval()
        text += f" {interval}" if interval.startswith("[") else ""
        notes = [interval] if interval.startswith("no") else []
        if self.rests_on:
            notes.append(self.rests_on)
        if "bounds" in self.details:
            notes.append("between {} and {}".format(*map(self._text, self.details["bounds"])))
        if self.details.get("reliable") is False:
            notes.append("fewer than ten expected")
        if self.interval_note:
            notes.append(self.interval_note)
        return f"{text} ({'; '.join(notes)})" if notes else text

    def _interval(self):
        if self.low is None:
            return ""
        if self.low != self.low and self.no_interval:
            return f"no interval: {self.no_interval}"
        mark = "+" if self.interval_note else ""
        return f"[{self._text(self.low)}, {self._text(self.high)}]{mark}"

    @property
    def is_rate(self):
        """Whether it is printed in percent; a threshold or a similarity is not."""
        return _eval.metric_is_rate(self.name)

    def _text(self, value):
        return _eval.metric_text(self.name, value)

    @property
    def rests_on(self):
        """The error rate achieved and its number of errors; "" for other numbers."""
        return rests_on(self.details)

    def rows_of_text(self):
        """(title, value, interval) of each number, rates in percent."""
        if self.is_matrix:
            for i, row in enumerate(self.rows):
                for j, column in enumerate(self.columns):
                    interval = (
                        "" if self.low is None else f"[{self.low[i, j]:.3f}, {self.high[i, j]:.3f}]"
                    )
                    title = f"{_eval.metric_title(self.name)}: {row} / {column}"
                    yield title, f"{self.value[i, j]:.3f}", interval
            return
        mark = "*" if self.details.get("reliable") is False else ""
        yield _eval.metric_title(self.name), f"{self._text(self.value)}{mark}", self._interval()


class TrackResult(_eval.TrackResult, NamedValues):
    """The numbers of one track. Metrics are attributes where their names allow it, and items.

    ``scores`` has the shape of the track's ``kind``: (N,) of a list, (rows, columns) of a dense
    track, (groups, subjects, groups, subjects) of a matrix, (probes, gallery) of an identification;
    ``trials`` says what the axes are.
    """

    def __init__(self, raw, index):
        super().__init__(of_kind(raw, _eval.Result, "raw").tracks[index])
        self._raw, self._index = raw, index
        self.metrics = {n.name: MetricResult(n) for n in self.numbers}
        # A summary over tracks has no trials of its own.
        track = raw.trials.tracks[index : index + 1]
        self.trials: Any = track[0].trials if track else None

    @property
    def scores(self):
        return self._raw.scores[self._index]

    @property
    def labels(self):
        """1 = genuine, of every comparison in order (``labelled_scores()`` has both)."""
        return self.labelled_scores()[1]

    def labelled_scores(self):
        """``(scores, labels)`` of every comparison, in the order of the lists, row by row."""
        return self._raw.labelled_scores(self._index)

    def __getitem__(self, metric):
        of_kind(metric, str, "metric")
        try:
            return self.metrics[metric]
        except KeyError:
            raise KeyError(f"{metric!r}; there are: {', '.join(self.metrics)}") from None

    def _named(self):
        return self.__dict__.get("metrics", {})

    def __reduce__(self):
        return TrackResult, (self._raw, self._index)

    def roc(self, count=500):
        """``(far, tar)``: at most ``count`` exact points of the curve, ends included.

        Every comparison is in it, failed ones with the lowest score.
        """
        return _eval.roc_points(*self.labelled_scores(), count)

    def roc_band(self):
        """``(far, low, high)``: intervals of the TAR at eight FARs a decade, down to that of one
        false accept, from the draws of the result's intervals; the threshold is chosen again in
        each. They are pointwise, at the level of the result; empty arrays where it has none.
        """
        import numpy as np

        return _eval.curves_of(self._raw, self._index).get("band", (np.empty(0),) * 3)

    def cmc(self):
        """Of an identification: the share of mated probes found at rank k or better, for each k.

        ValueError for a track of another kind.
        """
        if self.kind != "identification":
            raise ValueError(f"track {self.name} is no identification but {self.kind}")
        searches = self.scores
        if not isinstance(searches, _eval.Searches):
            trials = self._raw.trials
            identity = (trials.templates if len(trials.templates) else trials).identity
            probes, gallery = (
                identity[units] for units in (self.trials.probes, self.trials.gallery)
            )
            searches = _eval.Searches(searches, probes, gallery)
        return _eval.cmc(searches, self._raw.options.rank_ties).rate

    def _failures(self):
        text = f"{len(self.failed)} failed enrolments ({100 * self.failure_to_enrol_rate:.2f} %)"
        if self.left_out:
            text += f", {len(self.left_out)} of {self.samples} images left out of templates"
        return text

    def __repr__(self):
        lines = [
            f"{self.name}: {self.genuine} genuine + {self.impostor} impostor comparisons, "
            f"{self._failures()}"
        ]
        return "\n  ".join(lines + [repr(m) for m in self.metrics.values()])


class Result(NamedValues):
    """The result of an evaluation; Jupyter shows it as a table."""

    def __init__(self, raw, root="", threads=0):
        self._raw, self._root, self._threads = of_kind(raw, _eval.Result, "raw"), root, threads
        self.protocol = raw.spec
        self.options = raw.options
        self.notes = raw.notes
        self.warnings = raw.warnings
        self.folder = ""  # that it was loaded from
        self.reused = []  # what a run took from its cache: "pack", "embeddings"
        self.tracks = {t.name: TrackResult(raw, i) for i, t in enumerate(raw.tracks)}

    def __getitem__(self, name) -> Any:
        """A track by its name, or, of a protocol with one track, a metric."""
        of_kind(name, str, "track or metric")
        if name in self.tracks:
            return self.tracks[name]
        if len(self.tracks) == 1:
            return next(iter(self.tracks.values()))[name]
        raise KeyError(f"{name!r}; tracks: {', '.join(self.tracks)}")

    def __getstate__(self):
        return self._raw, self._root, self._threads

    def __setstate__(self, state):
        self.__init__(*state)

    def to_rows(self):
        """A dict for each number: protocol, track, metric, value, low, high, level, method.

        Of a matrix ``row`` and ``column`` say which of its numbers it is.
        """
        return rows_of(self.to_dict())

    def to_frame(self):
        """`to_rows` as a pandas DataFrame."""
        return frame(self.to_rows())

    def plot_roc(self, ax=None, *, bands=True, **line):
        """TAR over FAR of each track; see `facebench.plots.plot_roc`."""
        return plots.plot_roc(self, ax, bands=bands, **line)

    def plot_det(self, ax=None, *, bands=True, **line):
        """FNMR over FMR of each track; see `facebench.plots.plot_det`."""
        return plots.plot_det(self, ax, bands=bands, **line)

    def plot_cmc(self, ax=None, **line):
        """Identification rate over rank of each search; see `facebench.plots.plot_cmc`."""
        return plots.plot_cmc(self, ax, **line)

    def plot_scores(self, ax=None, **line):
        """Histograms of genuine and impostor scores; see `facebench.plots.plot_scores`."""
        return plots.plot_scores(self, ax, **line)

    def _named(self):
        """The tracks; of a single one its metrics."""
        tracks = self.__dict__.get("tracks", {})
        return next(iter(tracks.values())).metrics if len(tracks) == 1 else tracks

    @property
    def all_failed(self):
        """Whether nothing at all could be enrolled: then the numbers say nothing."""
        return all(t.failure_to_enrol_rate == 1 for t in self.tracks.values())

    def to_dict(self):
        """The content of ``metrics.json``."""
        return self._raw.metrics()

    def save(self, path, overwrite=False, command=""):
        """Write a run folder: run.json, scores.h5, metrics.json, curves.json, report.md and
        report.html, whole or not at all. ValueError for a result that `facebench.load` gave.
        """
        if self.folder:
            raise ValueError(f"this result is that of {self.folder}: copy the folder")
        from facebench.verbs._light import write_run_pages

        how = (overwrite, command, self._root, self._threads)
        _eval.save_run(self._raw, path, *how, write_run_pages)

    def _convention(self):
        return f"convention {_eval.convention_text(self.options.to_dict())}"

    def __repr__(self):
        head = f"{self.protocol.title} (version {self.protocol.version}), {self._convention()}"
        warnings = [f"WARNING: {w}" for w in self.warnings]
        return "\n".join([*warnings, head, *map(repr, self.tracks.values()), *self.notes])

    def _repr_html_(self):
        rows = []
        for track in self.tracks.values():
            for m in track.metrics.values():
                for title, value, interval in m.rows_of_text():
                    method = "; ".join(filter(None, [m.method, m.interval_note]))
                    cells = (track.name, title, value, interval, m.rests_on, method)
                    rows.append(
                        "<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in cells) + "</tr>"
                    )
        failed = ", ".join(f"{t.name}: {t._failures()}" for t in self.tracks.values())
        notes = "".join(f"<p>{html.escape(n)}</p>" for n in self.notes)
        warnings = "".join(f"<p><b>Warning:</b> {html.escape(w)}</p>" for w in self.warnings)
        return (
            f"{warnings}<p><b>{html.escape(self.protocol.title)}</b>, "
            f"{html.escape(self._convention())}; {html.escape(failed)}</p>"
            "<table><tr><th>track</th><th>metric</th><th>%</th><th>interval</th>"
            "<th>rests on</th><th>method</th></tr>" + "".join(rows) + "</table>" + notes
        )


def _scored_list(spec, files, form, strict, distance):
    """The comparisons and scores of files that say which scores are genuine."""
    trials, scores, turned = _eval.read_scored_list(files, form or "")
    if turned and distance:
        raise ValueError(f"{files[0]} says itself that it holds distances: leave distance out")
    if of_kind(strict, bool, "strict"):
        _eval.refuse_blemishes(trials, spec.id)
    return trials, scores


def _turned(distances):
    """Their negatives; what is no array of numbers as it is, for the check of scores to refuse."""
    import numpy as np

    array = np.asanyarray(distances)
    return -array.astype(float) if array.dtype.kind in "fiu" else distances


def _sample_status(status):
    numbers = [int(s) for s in status]
    for i, (given, number) in enumerate(zip(status, numbers, strict=True)):
        if not isinstance(given, _eval.SampleStatus) and given != number:
            raise ValueError(f"status[{i}] must be a whole number, not {given}")
    return numbers


def _embedding_set(embeddings, names, status):
    """An EmbeddingSet, or the file to read it from."""
    if isinstance(embeddings, EmbeddingSet):
        return embeddings, None
    if isinstance(embeddings, (str, os.PathLike)):
        if _embedding_files.is_ours(embeddings):
            return None, embeddings
        return _embedding_files.read(embeddings, names), embeddings
    if isinstance(embeddings, dict):
        return _embedding_files.of_mapping(embeddings), None
    if names is None:
        raise ValueError("embeddings given as an array need names=, one a row")
    if hasattr(embeddings, "detach"):  # a torch tensor, without importing torch
        embeddings = tensor_array(embeddings, "embeddings")
    return _embedding_files.make(embeddings, names, status), None


def load(folder, threads=0) -> Result:
    """The result of a run folder, with all that `facebench.evaluate` gives: metrics, plots, frames.

    Its numbers are computed again from the folder's scores. facebench.Error where it is no run
    folder, or a file is not the one that the run wrote.

    >>> import pathlib, tempfile, facebench
    >>> folder = tempfile.TemporaryDirectory()
    >>> text = "2\\t1\\nAnn\\t1\\t2\\nAnn\\t1\\tBob\\t1\\nCat\\t1\\t2\\nCat\\t1\\tDan\\t1\\n"
    >>> _ = pathlib.Path(folder.name, "pairs.txt").write_text(text)
    >>> run = pathlib.Path(folder.name, "run")
    >>> _ = facebench.evaluate("lfw", scores=[0.9, 0.1, 0.8, 0.2], root=folder.name, out=run)
    >>> facebench.load(run).auc.value
    1.0
    >>> folder.cleanup()
    """
    result = Result(_eval.read_result(os.fspath(folder), threads), threads=threads)
    result.folder = os.fspath(folder)
    return result


@takes(EvaluationOptions)
def evaluate(
    protocol,
    embeddings=None,
    names=None,
    *,
    scores=None,
    status=None,
    root=None,
    lists=None,
    trials=None,
    exclude=None,
    limit: int | None = None,
    options: EvaluationOptions | None = None,
    distance=False,
    columns=None,
    form: str | None = None,
    out=None,
    overwrite=False,
    command="",
    threads=0,
    progress=None,
    **more: "Unpack[_eval.EvaluationOptionsKeywords]",
) -> Result:
    """Evaluate embeddings or scores under a protocol; writes the run folder ``out`` where given.

    ``embeddings``: an array or tensor (N, D) with ``names`` (paths relative to the image folder), a
    dict {name: vector}, an :class:`EmbeddingSet`, or the path of a file that
    `facebench.io.read_embeddings` knows. ``match`` says how names are those of the lists: exact,
    stem (the file name alone) or suffix (given names end with those of the lists).

    Or ``scores``: one number a comparison in the order of the lists (an array, or the path of a CSV
    file with a column ``score``); or a CSV file with the names of each pair in any order
    (``first``, ``second``; or ``columns``, the headers of both and of the score), as
    :func:`write_pairs` makes it. ``distance``: low scores are alike, so their signs are turned.

    Without lists, ``scores`` is the path of a file, or of two, that say themselves which scores are
    genuine: ``["genuine.txt", "impostor.txt"]``, bob's four or five columns, a BEE matrix with its
    mask and others (`score_forms`; ``form`` is one by name, by default what they look like).

    Lists are looked for below ``root``, or in ``lists``, or given as ``trials``. ``exclude``: a
    list of people and samples whose comparisons are left out, as `facebench.inspect` writes it;
    scores are then those of the comparisons that are left. ``limit``: for a quick look at
    embeddings, at most so many comparisons of a list, spread evenly, or so many images of a
    protocol without lists; the result and its report say so.
    Further keywords are those of :class:`EvaluationOptions`: convention, seed, replicates, ... (or
    ``options`` is one). ``command``: what was typed, for the run's manifest.

    >>> import pathlib, tempfile, numpy as np
    >>> from facebench.protocols import evaluate
    >>> folder = tempfile.TemporaryDirectory()
    >>> text = "2\\t1\\nAnn\\t1\\t2\\nAnn\\t1\\tBob\\t1\\nCat\\t1\\t2\\nCat\\t1\\tDan\\t1\\n"
    >>> _ = pathlib.Path(folder.name, "pairs.txt").write_text(text)
    >>> run = pathlib.Path(folder.name, "run")
    >>> result = evaluate(
    ...     "lfw", scores=[0.9, 0.1, 0.8, 0.2], root=folder.name, interval="none", out=run
    ... )
    >>> result.accuracy.value, result.auc.value
    (1.0, 1.0)
    >>> sorted(p.name for p in run.iterdir())
    ['curves.json', 'metrics.json', 'report.html', 'report.md', 'run.json', 'scores.h5']
    >>> folder.cleanup()
    """
    if (embeddings is None) == (scores is None):
        raise ValueError("give either embeddings or scores")
    if options is not None and more:
        raise ValueError("give options or keywords, not both")
    options = EvaluationOptions(**more) if options is None else options
    if (of_kind(distance, bool, "distance") or columns is not None) and scores is None:
        raise ValueError("distance and columns are said of scores, and none are given")
    spec = _spec(protocol)
    files = _pairs.score_files(scores)
    listed = not (root is None and lists is None and trials is None)
    if listed and (form is not None or len(files) > 1):
        raise ValueError(
            "files of scores that say which are genuine (form) go without root=, lists=, trials="
        )
    if not listed and files:
        if exclude is not None or columns is not None:
            raise ValueError("exclude and columns go with the lists of a protocol (root)")
        trials, scores = _scored_list(spec, files, form, options.strict, distance)
    elif trials is None:
        if not listed:
            raise ValueError("give root= (the data set) or lists= (the folder of its lists)")
        trials = read_trials(spec, root, lists, options.strict)
    if limit is not None and scores is not None:
        raise ValueError("limit: goes with embeddings; scores are those of every comparison")
    if exclude is not None:
        trials = _eval.without(trials, os.fspath(exclude))
    if limit is not None:
        trials = _eval.limited(trials, limit)
    if embeddings is not None:
        data, file = _embedding_set(embeddings, names, status)
        if data is None:
            raw = _eval.evaluate_file(spec, trials, file, options, threads, progress)
        else:
            raw = _eval.evaluate_embeddings(spec, trials, data, options, threads, progress)
        role = "embeddings"
    else:
        file = files[0] if files and listed else None
        if file is not None:
            scores = _pairs.read_scores(file, trials, columns)
        if distance:
            scores = _turned(scores)
        sample_status = [] if status is None else _sample_status(status)
        raw = _eval.evaluate_scores(spec, trials, scores, sample_status, options, threads, progress)
        role = "scores"
    if limit is not None:
        raw.add_warning(_eval.quick_look_warning(limit))
    if distance:
        raw.add_note("The scores given are distances: their signs were turned.")
    if file is not None:
        raw.add_input(role, file)
    result = Result(raw, path_text(root, "root"), threads)
    if out is not None:
        result.save(out, overwrite=overwrite, command=command)
    return result
