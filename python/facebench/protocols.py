"""Protocols: evaluate embeddings or scores from anywhere under a published protocol.

Needs neither torch nor OpenCV.

>>> "ijba_quality" in [p["name"] for p in list_protocols()]
True
>>> load_protocol("lfw").title
'LFW View 2'
"""

import html
import os

from facebench import _eval
from facebench._data_check import DataCheck, check_data
from facebench._eval import EmbeddingSet, EvaluationOptions, ProtocolSpec, TrialSet
from facebench._published import (
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
    "TrackResult",
    "TrialSet",
    "blemish_rules",
    "check_data",
    "convention_rules",
    "conventions",
    "evaluate",
    "find_images",
    "find_published",
    "list_protocols",
    "list_published",
    "load_protocol",
    "load_published",
    "read_trials",
    "template_fusions",
]


def list_protocols():
    """Every embedded protocol: name, title, one line, list files, metrics.

    >>> "LFW View 2" in [p["title"] for p in list_protocols()]
    True
    """
    result = []
    for name in _eval.protocol_names():
        spec = _eval.load_protocol(name)
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


def conventions():
    """The named ways of computing published numbers: name, one line, and the rule of each metric.

    ``accuracy``, ``tar_at_far``, ``identification``: a name in the table of that metric (see
    `facebench.metrics.accuracy_conventions` and its like), "" where there is no rule; a protocol
    that asks for that metric then refuses the convention, unless the metric gets a rule of its own
    (``accuracy_convention``, ``tar_at_far_convention``, ``identification_convention``).

    >>> next(c for c in conventions() if c["name"] == "ijb_1n")["identification"]
    'ijb_1n'
    """
    return _eval.conventions()


def convention_rules():
    """The rules that single metrics can follow: option, name, and one line each.

    ``option``: the field of `EvaluationOptions`, the option of ``facebench eval`` and the key in
    the table [evaluation] of a protocol.

    >>> [r["name"] for r in convention_rules() if r["option"] == "rank_ties"]
    ['pessimistic', 'optimistic', 'expected']
    """
    tables = {
        "accuracy_convention": _eval.accuracy_conventions(),
        "tar_at_far_convention": _eval.tar_at_far_conventions(),
        "identification_convention": _eval.identification_conventions(),
        "rank_ties": _eval.rank_ties(),
    }
    return [
        {"option": option, "name": rule["name"], "doc": rule["doc"]}
        for option, rules in tables.items()
        for rule in rules
    ]


def template_fusions():
    """The ways in which the samples of a template become one embedding: name and one line each.

    >>> "mean_raw" in [f["name"] for f in template_fusions()]
    True
    """
    return _eval.template_fusions()


def blemish_rules():
    """What lists may have wrong and are evaluated all the same: name, what it is, and the rule.

    >>> [r["rule"] for r in blemish_rules() if r["name"] == "repeated_pair"]
    ['every row counts']
    """
    return _eval.blemish_rules()


def load_protocol(name_or_path):
    """An embedded protocol by name, or your own ``.toml`` file.

    >>> load_protocol("lfw").convention
    'exact'
    """
    return _eval.load_protocol(os.fspath(name_or_path))


def _spec(protocol):
    return protocol if isinstance(protocol, ProtocolSpec) else load_protocol(protocol)


def read_trials(protocol, root=None, lists=None, strict=False):
    """Read the lists of a protocol: samples, identities, comparisons.

    ``root`` is the data set as its authors distribute it; ``lists`` names the folder of the lists
    itself. What is odd but clear is counted (``blemishes``; :func:`blemish_rules`), and with
    ``strict`` it raises :class:`facebench.Error`, as anything malformed does, with file and line.
    """
    spec = _spec(protocol)
    trials = _eval.read_trials(spec, root or "", lists or "")
    if strict:
        _eval.refuse_blemishes(trials, spec.id)
    return trials


def find_images(protocol, trials, root=None, images=None):
    """The image folder of a data set: the first that holds one of the samples."""
    return _eval.find_images(_spec(protocol), trials, root or "", images or "")


def rests_on(cell):
    """The counts behind a number at a false accept (or false positive identification) rate, as
    text.

    ``cell``: the number as in ``metrics.json``; "" for numbers of another kind.

    >>> rests_on({"far_achieved": 0.001, "false_accepts": 3})
    'FAR 0.1 %, 3 false accepts'
    """
    for rate, achieved, errors in (
        ("FAR", "far_achieved", "false_accepts"),
        ("FPIR", "fpir_achieved", "false_positives"),
    ):
        if cell.get(achieved) is not None:
            return f"{rate} {100 * cell[achieved]:.4g} %, {cell[errors]} {errors.replace('_', ' ')}"
    return ""


class MetricResult(_eval.MetricCell):
    """One number: ``value``, ``low``, ``high``, ``level``, ``method``, and the counts behind it.

    Of a matrix ``value``, ``low`` and ``high`` are arrays, ``rows`` and ``columns`` their labels.
    """

    def __getattr__(self, name):
        details = self.details
        if name in details:
            return details[name]
        raise AttributeError(f"metric {self.name!r} has no {name!r}")

    @property
    def is_matrix(self):
        return bool(self.rows)

    def __float__(self):
        if self.is_matrix:
            raise TypeError(f"{self.name} is a matrix, not a number")
        return self.value

    def __repr__(self):
        if self.is_matrix:
            lines = [f"{self.name} ({' '.join(self.columns)})"]
            for label, row in zip(self.rows, self.value, strict=True):
                lines.append(f"{label}: " + " ".join(f"{x:.3f}" for x in row))
            return "\n    ".join(lines)
        unit = " %" if self.is_rate else ""
        text = f"{self.name} = {self._text(self.value)}{unit}"
        if self.low is not None:
            text += f" [{self._text(self.low)}, {self._text(self.high)}]"
        notes = [self.rests_on] if self.rests_on else []
        if "bounds" in self.details:
            notes.append("between {} and {}".format(*map(self._text, self.details["bounds"])))
        if self.details.get("reliable") is False:
            notes.append("fewer than ten expected")
        return f"{text} ({'; '.join(notes)})" if notes else text

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
        interval = "" if self.low is None else f"[{self._text(self.low)}, {self._text(self.high)}]"
        mark = "*" if self.details.get("reliable") is False else ""
        yield _eval.metric_title(self.name), f"{self._text(self.value)}{mark}", interval


class TrackResult(_eval.TrackResult):
    """The numbers of one track. Metrics are attributes where their names allow it, and items.

    ``scores`` has the shape of the track's ``kind``: (N,) of a list, (rows, columns) of a dense
    track, (groups, subjects, groups, subjects) of a matrix, (probes, gallery) of an identification;
    ``trials`` says what the axes are.
    """

    def __init__(self, raw, index):
        super().__init__(raw.tracks[index])
        self._raw, self._index = raw, index
        self.metrics = {c.name: MetricResult(c) for c in self.cells}
        # A summary over tracks has no trials of its own.
        own = raw.trials.tracks[index : index + 1]
        self.trials = own[0].trials if own else None

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
        try:
            return self.metrics[metric]
        except KeyError:
            raise KeyError(f"{metric!r}; there are: {', '.join(self.metrics)}") from None

    def __getattr__(self, name):
        metrics = self.__dict__.get("metrics", {})
        if name in metrics:
            return metrics[name]
        raise AttributeError(f"track has no {name!r}; metrics: {', '.join(metrics)}")

    def roc(self, count=500):
        """``(far, tar)``: at most ``count`` exact points of the curve, ends included.

        Every comparison is in it, failed ones with the lowest score.
        """
        return _eval.roc_points(*self.labelled_scores(), count)

    def __repr__(self):
        lines = [
            f"{self.name}: {self.genuine} genuine + {self.impostor} impostor comparisons, "
            f"{len(self.failed)} failed enrolments ({100 * self.failure_to_enrol_rate:.2f} %)"
        ]
        return "\n  ".join(lines + [repr(m) for m in self.metrics.values()])


class Result:
    """The result of an evaluation; Jupyter shows it as a table."""

    def __init__(self, raw, root="", threads=0):
        self._raw, self._root, self._threads = raw, root, threads
        self.protocol = raw.spec
        self.options = raw.options
        self.notes = raw.notes
        self.tracks = {t.name: TrackResult(raw, i) for i, t in enumerate(raw.tracks)}

    def __getitem__(self, track):
        return self.tracks[track]

    def __getattr__(self, name):
        """The metrics of the only track, for protocols that have one."""
        tracks = self.__dict__.get("tracks", {})
        if len(tracks) == 1:
            return getattr(next(iter(tracks.values())), name)
        raise AttributeError(f"result has no {name!r}; tracks: {', '.join(tracks)}")

    def to_dict(self):
        """The content of ``metrics.json``."""
        return self._raw.metrics()

    def save(self, path, overwrite=False, command="", more=None):
        """Write a run folder: run.json, scores.h5, metrics.json, report.md; whole or not at all.

        ``more``: called with the folder before it appears under its name, to write further files.
        """
        _eval.save_run(self._raw, path, overwrite, command, self._root, self._threads, more)

    def _convention(self):
        return f"convention {_eval.convention_text(self.options.to_dict())}"

    def __repr__(self):
        head = f"{self.protocol.title} (version {self.protocol.version}), {self._convention()}"
        return "\n".join([head, *(repr(t) for t in self.tracks.values()), *self.notes])

    def _repr_html_(self):
        rows = []
        for track in self.tracks.values():
            for m in track.metrics.values():
                for title, value, interval in m.rows_of_text():
                    cells = (track.name, title, value, interval, m.rests_on, m.method)
                    rows.append(
                        "<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in cells) + "</tr>"
                    )
        failed = ", ".join(
            f"{t.name}: {len(t.failed)} failed enrolments ({100 * t.failure_to_enrol_rate:.2f} %)"
            for t in self.tracks.values()
        )
        notes = "".join(f"<p>{html.escape(n)}</p>" for n in self.notes)
        return (
            f"<p><b>{html.escape(self.protocol.title)}</b>, "
            f"{html.escape(self._convention())}; {html.escape(failed)}</p>"
            "<table><tr><th>track</th><th>metric</th><th>%</th><th>interval</th>"
            "<th>rests on</th><th>method</th></tr>" + "".join(rows) + "</table>" + notes
        )


def _embedding_set(embeddings, names, status):
    """An EmbeddingSet, and the file it came from, if any."""
    if isinstance(embeddings, EmbeddingSet):
        return embeddings, None
    if isinstance(embeddings, (str, os.PathLike)):
        return _eval.read_embeddings(embeddings), embeddings
    if names is None:
        raise ValueError("embeddings given as an array need names=, one a row")
    if hasattr(embeddings, "detach"):  # a torch tensor, without importing torch
        embeddings = embeddings.detach().cpu().numpy()
    return EmbeddingSet(embeddings, list(names), status), None


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
    options=None,
    threads=0,
    progress=None,
    **more,
):
    """Evaluate embeddings or scores under a protocol.

    ``embeddings``: an array or tensor (N, D) with ``names`` (paths relative to the image folder),
    an :class:`EmbeddingSet`, or the path of an ``.h5`` file. Or ``scores``: one number a
    comparison in the order of the lists (an array, or the path of a CSV file with a column
    ``score``). Lists are looked for below ``root``, or in ``lists``, or given as ``trials``.
    Further keywords are those of :class:`EvaluationOptions`: convention, seed, replicates, ...

    >>> import pathlib, tempfile, numpy as np
    >>> folder = tempfile.TemporaryDirectory()
    >>> text = "2\\t1\\nAnn\\t1\\t2\\nAnn\\t1\\tBob\\t1\\nCat\\t1\\t2\\nCat\\t1\\tDan\\t1\\n"
    >>> _ = pathlib.Path(folder.name, "pairs.txt").write_text(text)
    >>> result = evaluate("lfw", scores=[0.9, 0.1, 0.8, 0.2], root=folder.name, interval="none")
    >>> result.accuracy.value, result.auc.value
    (1.0, 1.0)
    """
    if (embeddings is None) == (scores is None):
        raise ValueError("give either embeddings or scores")
    if options is not None and more:
        raise ValueError("give options or keywords, not both")
    options = options or EvaluationOptions(**more)
    spec = _spec(protocol)
    if trials is None:
        if root is None and lists is None:
            raise ValueError("give root= (the data set) or lists= (the folder of its lists)")
        trials = read_trials(spec, root, lists, options.strict)
    if embeddings is not None:
        data, file = _embedding_set(embeddings, names, status)
        raw = _eval.evaluate_embeddings(spec, trials, data, options, threads, progress)
        role = "embeddings"
    else:
        file = scores if isinstance(scores, (str, os.PathLike)) else None
        if file is not None:
            scores = _eval.read_scores_csv(file, trials)
        sample_status = [] if status is None else [int(s) for s in status]
        raw = _eval.evaluate_scores(spec, trials, scores, sample_status, options, threads, progress)
        role = "scores"
    if file is not None:
        raw.add_input(role, file)
    return Result(raw, root or "", threads)
